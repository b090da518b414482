//! A scene with every shape in it.

use barchan::scene::{BodySpec, Scene};
use barchan::shape::{Container, Cylinder, Face, Part, Polyhedron, Shape, Surface};
use barchan::world::Motion;
use barchan::{DQuat, DVec3};

/// One body of every bounded shape that forces can move.
pub(crate) fn shapes() -> Vec<Shape> {
    let corners: Vec<DVec3> = [DVec3::X, DVec3::Y, DVec3::Z, -DVec3::ONE].map(|p| p * 0.05).to_vec();
    let ball = |x: f64| Part::new(Shape::sphere(0.03)).at(DVec3::X * x, DQuat::IDENTITY);
    vec![
        Shape::sphere(0.04),
        Shape::cuboid(DVec3::new(0.03, 0.04, 0.05)),
        Shape::capsule(0.025, 0.03),
        Cylinder { radius: 0.035, half_height: 0.03, margin: 0.005 }.into(),
        Shape::cone(0.04, 0.04),
        Shape::ellipsoid(DVec3::new(0.03, 0.04, 0.05)),
        Shape::polyhedron(corners.clone()),
        Polyhedron::new(corners, 0.002).into(),
        Shape::mesh(Surface::cuboid(DVec3::new(0.03, 0.05, 0.03))),
        Shape::composite(vec![ball(-0.025), ball(0.025)]),
    ]
}

/// Bodies of every shape that fall onto each other, onto a block and a plate of triangles, in an open container.
pub(crate) fn heap(count: usize) -> Scene {
    let container = Container { half_extents: DVec3::new(0.15, 0.15, 1.5), open: vec![Face::HighZ] };
    let block = Shape::cuboid(DVec3::new(0.15, 0.02, 0.03));
    let plate = Surface { vertices: corners(0.15), triangles: vec![[0, 1, 2], [0, 2, 3]] };
    let mut scene = Scene { name: "heap".into(), ..Scene::default() };
    scene.body = vec![
        BodySpec::new(container.into(), DVec3::Z * 1.5),
        BodySpec { motion: Motion::Fixed, ..BodySpec::new(block, DVec3::new(0.0, 0.1, 0.03)) },
        BodySpec::new(Shape::mesh(plate), DVec3::Z * 0.01),
    ];
    for (k, shape) in shapes().iter().cycle().take(count).enumerate() {
        let angle = 2.4 * k as f64;
        let place = DVec3::new(0.06 * angle.cos(), 0.06 * angle.sin(), 0.09 + 0.09 * k as f64);
        let turn = DQuat::from_axis_angle(DVec3::new(angle.sin(), 0.4, angle.cos()).normalize(), 0.8 + angle);
        scene.body.push(BodySpec {
            orientation: Some(turn),
            motion: Motion::Dynamic,
            velocity: DVec3::new(0.0, 0.0, -0.5 - 0.5 * (k % 3) as f64),
            ..BodySpec::new(shape.clone(), place)
        });
    }
    scene
}

/// The corners of a square, anticlockwise.
fn corners(half: f64) -> Vec<DVec3> {
    [[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]].map(|[x, y]| DVec3::new(x, y, 0.0) * half).to_vec()
}
