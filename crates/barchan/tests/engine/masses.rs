//! The mass of every shape, and where bodies stand in the frames of their principal axes.

use barchan::scene::{BodySpec, Scene};
use barchan::shape::{
    Composite, Cuboid, Cylinder, GivenMass, Mesh, MeshText, Overlaps, Part, Polyhedron, PolyhedronText, Shape, Solid,
    Surface,
};
use barchan::step::Simulation;
use barchan::world::{Material, Motion};
use barchan::{DMat3, DQuat, DVec3};
use barchan_convex::{Core, Placed, gap};
use barchan_mesh::{Moments, Tree};

/// Cells along an edge of the box about a shape, with a point in each.
const CELLS: u32 = 96;

/// A tetrahedron without any symmetry.
fn tetrahedron() -> Vec<DVec3> {
    [[0.0, 0.0, 0.0], [0.3, 0.02, 0.01], [0.05, 0.2, -0.02], [0.03, 0.06, 0.25]].map(DVec3::from_array).to_vec()
}

/// A prism over an L that is so high.
pub(crate) fn corner(height: f64) -> Surface {
    let outline = [[0.0, 0.0], [3.0, 0.0], [3.0, 1.0], [1.0, 1.0], [1.0, height], [0.0, height]];
    let mut surface = Surface::default();
    for z in [0.0, 1.0] {
        surface.vertices.extend(outline.map(|[x, y]| DVec3::new(x, y, z)));
    }
    for k in [4u32, 5, 0, 1] {
        let next = (k + 1) % 6;
        surface.triangles.extend([[3, next, k], [9, 6 + k, 6 + next]]);
    }
    for k in 0..6u32 {
        let next = (k + 1) % 6;
        surface.triangles.extend([[k, next, 6 + next], [k, 6 + next, 6 + k]]);
    }
    surface
}

/// A mesh, cut into parts or not.
pub(crate) fn cut(surface: Surface, scale: f64, convex_parts: u32) -> Shape {
    let Surface { vertices, triangles } = surface;
    Mesh::from(MeshText { file: None, vertices, triangles, scale, convex_parts }).into()
}

/// Parts that overlap.
fn hammer(overlaps: Overlaps) -> Shape {
    let head = Cuboid { half_extents: DVec3::new(0.2, 0.07, 0.06), margin: 0.02 };
    let parts = vec![
        Part::new(Shape::capsule(0.04, 0.2)),
        Part::new(head.into()).at(DVec3::new(0.03, 0.0, 0.2), DQuat::from_rotation_z(0.3)),
    ];
    let mut composite = Composite::new(parts);
    composite.overlaps = overlaps;
    composite.into()
}

/// Every form, sharp and rounded, that has a volume.
fn forms() -> Vec<Shape> {
    let half_extents = DVec3::new(0.2, 0.1, 0.3);
    vec![
        Shape::sphere(0.3),
        Shape::cuboid(half_extents),
        Cuboid { half_extents, margin: 0.06 }.into(),
        Shape::capsule(0.1, 0.2),
        Shape::cylinder(0.2, 0.1),
        Cylinder { radius: 0.2, half_height: 0.15, margin: 0.06 }.into(),
        Shape::cone(0.2, 0.2),
        Shape::ellipsoid(half_extents),
        Shape::polyhedron(tetrahedron()),
        Polyhedron::new(tetrahedron(), 0.02).into(),
        Polyhedron::from(PolyhedronText { file: None, points: tetrahedron(), scale: 2.0, margin: 0.05 }).into(),
        cut(corner(2.0), 0.2, 0),
        hammer(Overlaps::Once),
        hammer(Overlaps::Each),
    ]
}

/// How often a point's mass counts.
fn count(shape: &Shape, inside_of_mesh: &dyn Fn(DVec3) -> bool, p: DVec3) -> f64 {
    let point = Placed { core: Core::Point, rounding: 0.0, position: p, rotation: DMat3::IDENTITY };
    let holds = |solid: &Placed<'_>| f64::from(gap(&point, solid, 0.0).is_some_and(|gap| gap < 0.0));
    match shape.solid().expect("a bounded shape") {
        Solid::One(convex) => holds(&convex.placed(DVec3::ZERO, &DMat3::IDENTITY)),
        Solid::Triangles(_) => f64::from(inside_of_mesh(p)),
        Solid::Parts(parts) => {
            let sum: f64 = parts.iter().map(|part| count(&part.shape, &|_| false, back(part, p))).sum();
            let is_once = matches!(shape, Shape::Composite(c) if c.overlaps == Overlaps::Once);
            if is_once { sum.min(1.0) } else { sum }
        }
    }
}

/// A point in the frame of a part.
fn back(part: &Part, p: DVec3) -> DVec3 {
    part.orientation.conjugate() * (p - part.position)
}

/// Numbers from 0 to 1, the same on every run.
fn uniform(state: &mut u64) -> f64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*state >> 11) as f64 / (1u64 << 53) as f64
}

/// Moments by points at random, one in each cell of a grid.
fn thrown(shape: &Shape) -> Moments {
    let surface = shape.surface().expect("a bounded shape");
    let tree = Tree::build(&surface);
    let (low, high) = surface.bounds().expect("some points");
    // What is round is cut off a little where it is seen.
    let more = 0.03 * (high - low);
    let (low, size) = (low - more, (high - low) + 2.0 * more);
    let mut state = 7;
    let mut volume = 0.0;
    let mut first = DVec3::ZERO;
    let mut second = DMat3::ZERO;
    let cell = size.element_product() / f64::from(CELLS).powi(3);
    for k in 0..CELLS.pow(3) {
        let corner = DVec3::new(f64::from(k % CELLS), f64::from(k / CELLS % CELLS), f64::from(k / CELLS.pow(2)));
        let within = DVec3::new(uniform(&mut state), uniform(&mut state), uniform(&mut state));
        let p = low + size * (corner + within) / f64::from(CELLS);
        let mass = cell * count(shape, &|p| tree.inside(&surface, p), p);
        volume += mass;
        first += mass * p;
        second += DMat3::from_cols(p * p.x, p * p.y, p * p.z) * mass;
    }
    let centre = first / volume;
    let about = DMat3::from_cols(centre * centre.x, centre * centre.y, centre * centre.z) * volume;
    Moments { volume, centre, second: second - about }
}

/// Volume, centre and inertia of every form are those of the points within.
#[test]
fn every_form_has_the_mass_of_its_solid() {
    for shape in forms() {
        let own = shape.moments().expect("a volume");
        let found = thrown(&shape);
        let name = shape.name();
        assert!((own.volume / found.volume - 1.0).abs() < 2e-3, "{name}: {} and {}", own.volume, found.volume);
        let reach = shape.bounding_radius().expect("a bounded shape");
        assert!(own.centre.distance(found.centre) < 2e-3 * reach, "{name}: {} and {}", own.centre, found.centre);
        let [a, b] = [own, found].map(|moments| moments.inertia());
        let off = (a - b).to_cols_array().into_iter().fold(0.0, |most: f64, x| most.max(x.abs()));
        let size = a.x_axis.x.max(a.y_axis.y).max(a.z_axis.z);
        assert!(off < 3e-3 * size, "{name}: {a} and {b}");
    }
}

// ---------------------------------------------------------------- principal frames

/// Where the body of a scene stands once it is built, and the points of its surface in the world.
struct Stood {
    position: DVec3,
    mass: f64,
    /// In the frame of the world.
    inertia: DMat3,
    points: Vec<DVec3>,
}

fn stand(body: BodySpec) -> Stood {
    let scene = Scene { body: vec![body], material: vec![Material::default()], ..Scene::default() };
    let simulation = Simulation::from_scene(&scene).expect("a sound scene");
    let bodies = &simulation.world.bodies;
    let position = bodies.position[0];
    let turn = DMat3::from_quat(bodies.orientation[0]);
    let inertia = turn * DMat3::from_diagonal(bodies.inverse_inertia()[0].recip()) * turn.transpose();
    let surface = bodies.shape()[0].surface().expect("a bounded shape");
    let points = surface.vertices.iter().map(|&p| position + turn * p).collect();
    Stood { position, mass: bodies.inverse_mass()[0].recip(), inertia, points }
}

/// Points of a shape where a scene puts it.
fn put(body: &BodySpec) -> Vec<DVec3> {
    let turn = body.attitude();
    body.shape.surface().expect("a bounded shape").vertices.iter().map(|&p| body.position + turn * p).collect()
}

fn are_near(a: &[DVec3], b: &[DVec3]) -> bool {
    let is_near = |p: &DVec3, all: &[DVec3]| all.iter().any(|q| p.distance(*q) < 1e-9);
    a.iter().all(|p| is_near(p, b)) && b.iter().all(|p| is_near(p, a))
}

/// A body of a shape somewhere, turned.
fn somewhere(shape: Shape) -> BodySpec {
    let orientation = Some(DQuat::from_axis_angle(DVec3::new(1.0, -2.0, 0.5).normalize(), 1.1));
    BodySpec { motion: Motion::Dynamic, orientation, ..BodySpec::new(shape, DVec3::new(0.4, -0.7, 2.0)) }
}

#[test]
fn bodies_stand_where_the_scene_has_put_them() {
    let density = Material::default().density;
    for shape in [
        Shape::polyhedron(tetrahedron()),
        Polyhedron::new(tetrahedron(), 0.02).into(),
        cut(corner(2.0), 0.1, 0),
        cut(corner(2.0), 0.1, 4),
        hammer(Overlaps::Once),
        hammer(Overlaps::Each),
    ] {
        let name = shape.name();
        let own = shape.moments().expect("a volume");
        let body = somewhere(shape);
        let stood = stand(body.clone());
        assert!(are_near(&stood.points, &put(&body)), "a {name} has moved");
        let expected = own.moved(body.attitude(), body.position);
        assert!(stood.position.distance(expected.centre) < 1e-9, "{name}");
        assert!((stood.mass / (own.volume * density) - 1.0).abs() < 1e-9, "{name}");
        let inertia = expected.inertia() * density;
        assert!(are_same(stood.inertia, inertia), "{name}: {} and {inertia}", stood.inertia);
    }
}

fn are_same(a: DMat3, b: DMat3) -> bool {
    let size = b.x_axis.x.abs().max(b.y_axis.y.abs()).max(b.z_axis.z.abs());
    (a - b).to_cols_array().iter().all(|x| x.abs() < 1e-9 * size)
}

/// Mass, centre and inertia of four points of different mass, which a scene gives in the order xx, yy, zz, xy, xz, yz.
#[test]
fn mass_that_is_given_counts_in_place_of_that_of_the_shape() {
    let weights = [1.0, 2.0, 0.5, 1.5];
    let places = tetrahedron();
    let all = || weights.iter().zip(&places);
    let mass: f64 = weights.iter().sum();
    let centre = all().map(|(&m, &p)| m * p).sum::<DVec3>() / mass;
    let moment = |j: usize, k: usize| -> f64 {
        all()
            .map(|(&m, &p)| {
                let r = p - centre;
                m * (if j == k { r.length_squared() } else { 0.0 } - r[j] * r[k])
            })
            .sum()
    };
    let inertia = [(0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)].map(|(j, k)| moment(j, k));
    let tensor = DMat3::from_cols_array_2d(&[0, 1, 2].map(|j| [0, 1, 2].map(|k| moment(j, k))));
    let given = GivenMass { mass: Some(mass), centre: Some(centre), inertia: Some(inertia) };
    let world = |body: &BodySpec, tensor: DMat3| {
        let turn = DMat3::from_quat(body.attitude());
        turn * tensor * turn.transpose()
    };
    for shape in
        [Shape::sphere(0.2), Shape::polyhedron(tetrahedron()), cut(corner(2.0), 0.1, 0), hammer(Overlaps::Once)]
    {
        let own = shape.moments().expect("a volume");
        let body = BodySpec { mass: Some(given), ..somewhere(shape) };
        let name = body.shape.name();
        let stood = stand(body.clone());
        assert!(are_near(&stood.points, &put(&body)), "a {name} has moved");
        assert!((stood.mass - mass).abs() < 1e-12);
        assert!(stood.position.distance(body.position + body.attitude() * centre) < 1e-12, "{name}");
        let expected = world(&body, tensor);
        assert!(are_same(stood.inertia, expected), "{name}: {} and {expected}", stood.inertia);
        // What is left out is that of the shape, in proportion to the mass.
        let only = |mass, centre| Some(GivenMass { mass, centre, inertia: None });
        let heavier = stand(BodySpec { mass: only(Some(mass), None), ..body.clone() });
        assert!((heavier.mass - mass).abs() < 1e-12);
        assert!(are_same(heavier.inertia, world(&body, own.inertia() * (mass / own.volume))), "{name}");
        assert!(heavier.position.distance(body.position + body.attitude() * own.centre) < 1e-9);
        let shifted = stand(BodySpec { mass: only(None, Some(centre)), ..body.clone() });
        assert!(shifted.position.distance(body.position + body.attitude() * centre) < 1e-9);
        assert!((shifted.mass / (own.volume * Material::default().density) - 1.0).abs() < 1e-9);
        assert!(are_near(&shifted.points, &put(&body)), "a {name} has moved");
    }
}
