//! A scene with every shape in it.

// Each test program takes what it needs.
#![allow(dead_code)]

use barchan::scene::{BodySpec, Scene};
use barchan::shape::{Container, Cylinder, Face, Part, Polyhedron, Shape, Surface};
use barchan::step::Simulation;
use barchan::world::Motion;
use barchan::{DQuat, DVec3};
use std::collections::BTreeSet;

/// Bodies of a heap before those that fall: a container, a block and a plate.
const STANDING: usize = 3;

/// One body of every bounded shape that forces can move, with its centre of mass at its origin.
pub(crate) fn centred_shapes() -> Vec<Shape> {
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

/// The same, but some have their centre of mass away from their origin, and their principal axes turned.
pub(crate) fn shapes() -> Vec<Shape> {
    let mut shapes = centred_shapes();
    let corners = [DVec3::X, DVec3::Y, DVec3::Z, -DVec3::ONE].map(|p| p * 0.05 + DVec3::new(0.012, -0.006, 0.008));
    let ball = |x: f64, radius: f64| Part::new(Shape::sphere(radius)).at(DVec3::X * x, DQuat::IDENTITY);
    let plank = Shape::cuboid(DVec3::new(0.015, 0.03, 0.01));
    let plank = Part::new(plank).at(DVec3::new(0.03, 0.015, 0.0), DQuat::from_rotation_z(0.4));
    for shape in &mut shapes {
        match shape {
            Shape::Polyhedron(p) if p.text().margin > 0.0 => *shape = Polyhedron::new(corners.to_vec(), 0.002).into(),
            Shape::Mesh(_) => *shape = Shape::mesh(tapered(DVec3::new(0.03, 0.05, 0.03))),
            Shape::Composite(_) => *shape = Shape::composite(vec![ball(-0.025, 0.03), ball(0.01, 0.02), plank.clone()]),
            _ => {}
        }
    }
    shapes
}

/// A box that is wider at its upper end, off its centre: a closed surface whose centre of mass is not its origin.
pub(crate) fn tapered(half: DVec3) -> Surface {
    Surface::cuboid(half).mapped(|p| DVec3::new(p.x * (1.0 + 0.25 * p.z / half.z), p.y, p.z) + 0.25 * half)
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

/// A heap while it comes together: many bodies touch, and all slide over the floor. Bodies have their ids in the order of
/// the scene.
pub(crate) fn moving_heap(count: usize) -> Scene {
    let mut scene = heap(count);
    scene.time.step = 1e-3.into();
    let half = DVec3::new(0.2, 0.2, 1.5);
    scene.body[0].shape = Container { half_extents: half, open: vec![Face::HighZ] }.into();
    for (k, body) in scene.body[STANDING..].iter_mut().enumerate() {
        // Four a layer, thrown down so that they arrive together.
        let [x, y] = [k & 1, k >> 1 & 1].map(|bit| 0.18 * bit as f64 - 0.09);
        body.position = DVec3::new(x, y, 0.12 + 0.12 * (k / 4) as f64);
        body.velocity = DVec3::new(0.0, 0.0, -4.0 * body.position.z);
    }
    let mut simulation = Simulation::from_scene(&scene).expect("a sound scene");
    (0..300).for_each(|_| drop(simulation.step().expect("a finite state")));
    let bodies = &simulation.world.bodies;
    for (id, body) in scene.body.iter_mut().enumerate().skip(STANDING) {
        let i = bodies.index_of(id as u64).expect("a body");
        // From the frame of its principal axes back to that of its shape.
        let settled = body.shape.settle(1.0, None).expect("a mass");
        let turn = (bodies.orientation[i] * settled.turn.conjugate()).normalize();
        (body.position, body.orientation) = (bodies.position[i] - turn * settled.offset, Some(turn));
        body.velocity = bodies.velocity[i] + DVec3::new(0.8, 0.5, 0.0);
        body.angular_velocity = bodies.angular_velocity[i];
    }
    scene
}

/// Which shape of a heap a body has: a number of [`shapes`], or one of its own if it stands.
fn kind(id: u64) -> usize {
    let kinds = shapes().len();
    (id as usize).checked_sub(STANDING).map_or(kinds + id as usize, |k| k % kinds)
}

/// Checks that contacts of a heap, by ids, are between shapes of every kind, and those in many pairs.
#[track_caller]
pub(crate) fn assert_all_kinds(contacts: impl IntoIterator<Item = [u64; 2]>, pairs: usize) {
    let found: BTreeSet<[usize; 2]> = contacts
        .into_iter()
        .map(|ids| {
            let [a, b] = ids.map(kind);
            [a.min(b), a.max(b)]
        })
        .collect();
    let kinds: BTreeSet<usize> = found.iter().flatten().copied().collect();
    assert_eq!(kinds.len(), shapes().len() + STANDING, "{found:?}");
    assert!(found.len() >= pairs, "{} pairs: {found:?}", found.len());
}

/// The bodies of all contacts of a simulation, by ids.
pub(crate) fn contacts_by_id(simulation: &Simulation) -> Vec<[u64; 2]> {
    let ids = simulation.world.bodies.id();
    simulation.contacts().pairs().iter().map(|pair| pair.map(|i| ids[i as usize])).collect()
}

/// The corners of a square, anticlockwise.
fn corners(half: f64) -> Vec<DVec3> {
    [[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]].map(|[x, y]| DVec3::new(x, y, 0.0) * half).to_vec()
}
