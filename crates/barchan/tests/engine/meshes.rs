//! Bodies of triangles: what is open and moves, what is cut into convex parts, and floors whose triangles are in disorder.

use super::heap::shapes;
use super::masses::{self, cut};
use super::pairs::{contacts, deepest, pair, random, turn};
use super::shapes::{scene, start};
use barchan::narrow::ContactPoint;
use barchan::scene::BodySpec;
use barchan::shape::{GivenMass, Shape, Solid, Surface};
use barchan::step::Simulation;
use barchan::world::{Material, Motion};
use barchan::{DQuat, DVec3};

fn run_until(simulation: &mut Simulation, time: f64) {
    while simulation.world.time < time {
        simulation.step().expect("a finite state");
    }
}

fn position(simulation: &Simulation, id: u64) -> DVec3 {
    let bodies = &simulation.world.bodies;
    bodies.position[bodies.index_of(id).expect("a body of the scene")]
}

fn fixed(shape: Shape, position: DVec3) -> BodySpec {
    BodySpec { motion: Motion::Fixed, ..BodySpec::new(shape, position) }
}

// ---------------------------------------------------------------- open meshes that move

/// A box without its lid.
fn crate_without_lid(half: DVec3) -> Surface {
    let mut surface = Surface::cuboid(half);
    let triangles = std::mem::take(&mut surface.triangles);
    let is_lid = |t: &[u32; 3]| t.iter().all(|&k| surface.vertices[k as usize].z > 0.0);
    surface.triangles = triangles.into_iter().filter(|t| !is_lid(t)).collect();
    surface
}

/// Whatever it falls on: its hull is finite, so that other bodies meet it.
#[test]
fn an_open_mesh_that_moves_is_met_by_others() {
    let half = DVec3::new(0.1, 0.1, 0.05);
    let mass =
        GivenMass { mass: Some(1.0), centre: Some(DVec3::ZERO), inertia: Some([4e-3, 4e-3, 6e-3, 0.0, 0.0, 0.0]) };
    let body = |mass| BodySpec {
        motion: Motion::Dynamic,
        mass,
        ..BodySpec::new(Shape::mesh(crate_without_lid(half)), DVec3::Z * 0.07)
    };
    let slab = DVec3::new(1.0, 1.0, 0.1);
    for ground in [
        fixed(Shape::half_space(), DVec3::ZERO),
        fixed(Shape::cuboid(slab), DVec3::Z * -0.1),
        fixed(Shape::mesh(Surface::cuboid(slab)), DVec3::Z * -0.1),
    ] {
        let name = ground.shape.name();
        // A ball falls into it.
        let ball = BodySpec::new(Shape::sphere(0.02), DVec3::new(0.01, 0.02, 0.2));
        let mut simulation = start(&scene(0.5, vec![ground, body(Some(mass)), ball]));
        run_until(&mut simulation, 1.0);
        for (id, height) in [(1, 0.05), (2, 0.02)] {
            let at = position(&simulation, id);
            assert!((at.z - height).abs() < 2e-3, "on a {name} body {id} is at {at}");
        }
    }
    // Without all three numbers it is refused, with words that name them.
    for given in [None, Some(GivenMass { centre: None, ..mass })] {
        let problems = scene(0.5, vec![body(given)]).validate();
        assert_eq!(problems.len(), 1);
        assert!(problems[0].path == "body[0].motion" && problems[0].message.contains("mass, centre and inertia"));
    }
}

// ---------------------------------------------------------------- convex parts

/// A prism over an L along y, with the inner corner at (1, 1) in x and z.
fn corner() -> Surface {
    masses::corner(3.0).mapped(|p| DVec3::new(p.x, 1.0 - p.z, p.y))
}

/// A ball falls into the corner, which the hull would fill; the whole falls on the floor.
#[test]
fn a_mesh_of_convex_parts_is_touched_as_its_triangles_are() {
    let small = cut(corner(), 0.1, 4);
    for (scale, shape) in [(1.0, cut(corner(), 1.0, 4)), (0.1, small), (0.1, cut(corner(), 1.0, 4).scaled(0.1))] {
        assert_eq!(shape.faults(), []);
        assert!(matches!(shape.solid(), Some(Solid::Parts(parts)) if (2..=4).contains(&parts.len())));
        let own = shape.moments().expect("a volume");
        assert!((own.volume / (5.0 * scale * scale * scale) - 1.0).abs() < 1e-12);
        let ball = BodySpec::new(Shape::sphere(0.2 * scale), DVec3::new(1.3, 0.5, 1.5) * scale);
        let mut simulation = start(&scene(0.1, vec![fixed(shape.clone(), DVec3::ZERO), ball]));
        run_until(&mut simulation, 0.6);
        let lowest = position(&simulation, 1) / scale;
        assert!((lowest.z - 1.2).abs() < 0.05 && lowest.x > 1.15, "the ball is at {lowest}");
        // On the floor, with all of its mass.
        let floor = fixed(Shape::half_space(), DVec3::ZERO);
        let dropped = BodySpec { motion: Motion::Dynamic, ..BodySpec::new(shape, DVec3::Z * 0.05 * scale) };
        let mut simulation = start(&scene(0.5, vec![floor, dropped]));
        run_until(&mut simulation, 1.0);
        let bodies = &simulation.world.bodies;
        let i = bodies.index_of(1).expect("a body of the scene");
        let density = Material::default().density;
        assert!((bodies.inverse_mass()[i].recip() / (own.volume * density) - 1.0).abs() < 1e-9);
        let height = bodies.position[i].z / scale;
        assert!((height - own.centre.z / scale).abs() < 0.01, "it stands at {height}");
    }
}

// ---------------------------------------------------------------- disorder

/// A hilly sheet.
fn hills() -> Surface {
    let mut random = random(4);
    let count = 12;
    let mut surface = Surface::default();
    for j in 0..=count {
        for i in 0..=count {
            let at = DVec3::new(f64::from(i), f64::from(j), 0.0) - 0.5 * f64::from(count) * DVec3::new(1.0, 1.0, 0.0);
            surface.vertices.push(0.02 * at + DVec3::Z * 0.008 * random());
        }
    }
    for j in 0..count {
        for i in 0..count {
            let [p, s] = [j * (count + 1) + i, (j + 1) * (count + 1) + i];
            surface.triangles.extend([[p, p + 1, s + 1], [p, s + 1, s]]);
        }
    }
    surface
}

/// Each triangle with vertices of its own, every third one from the other side, and every fifth one twice.
fn disordered(surface: &Surface) -> Surface {
    let mut torn = Surface::default();
    for t in 0..surface.triangles.len() {
        for _ in 0..if t % 5 == 0 { 2 } else { 1 } {
            let first = torn.vertices.len() as u32;
            torn.vertices.extend(surface.corners(t));
            torn.triangles.push(if t % 3 == 0 { [first, first + 2, first + 1] } else { [first, first + 1, first + 2] });
        }
    }
    torn
}

/// Contacts do not depend on how triangles are listed.
#[test]
fn a_sheet_in_disorder_is_touched_as_it_is_in_order() {
    let [tidy, wild] = [hills(), disordered(&hills())].map(Shape::mesh);
    let mut count = 0;
    for (i, shape) in shapes().iter().enumerate() {
        let mut random = random(9 + i as u64);
        for k in 0..300 {
            let place = DVec3::new(0.08 * random(), 0.08 * random(), 0.045 + 0.02 * random());
            let turns = [turn(&mut random), DQuat::IDENTITY];
            let [found, other] =
                [&tidy, &wild].map(|sheet| contacts(&pair(shape, sheet, [place, DVec3::ZERO], turns), [0, 1], 5e-3));
            let case = format!("{}, {k}: {found:?} and {other:?}", shape.name());
            assert_eq!(found.is_empty(), other.is_empty(), "{case}");
            // What is deep has more than one way out.
            if found.is_empty() || deepest(&found) < -2e-3 {
                continue;
            }
            count += 1;
            assert!((deepest(&found) - deepest(&other)).abs() < 1e-6, "{case}");
            let is_there = |touch: &ContactPoint, all: &[ContactPoint]| {
                all.iter().any(|twin| twin.normal.dot(touch.normal) > 1.0 - 1e-6)
            };
            assert!(found.iter().all(|touch| is_there(touch, &other)), "{case}");
            assert!(other.iter().all(|touch| is_there(touch, &found)), "{case}");
        }
    }
    assert!(count > 400, "{count}");
}

// ---------------------------------------------------------------- what falls on its faces

/// A tetrahedron leans inwards on all its faces: what it rests on looks the other way, and nothing else does. It is held
/// by a sheet, by a solid and by a surface as a polyhedron is.
#[test]
fn a_sharp_mesh_rests_on_whatever_it_falls_on() {
    let corners = [DVec3::X, DVec3::Y, DVec3::Z, -0.75 * DVec3::ONE].map(|p| p * 0.04);
    let sharp = Surface { vertices: corners.to_vec(), triangles: vec![[0, 1, 2], [0, 2, 3], [0, 3, 1], [1, 3, 2]] };
    let wide = [[-0.3, -0.3], [0.3, -0.3], [0.3, 0.3], [-0.3, 0.3]].map(|[x, y]| DVec3::new(x, y, 0.0));
    let sheet = Surface { vertices: wide.to_vec(), triangles: vec![[0, 1, 2], [0, 2, 3]] };
    let slab = DVec3::new(0.3, 0.3, 0.05);
    let grounds = [
        fixed(Shape::mesh(sheet), DVec3::ZERO),
        fixed(Shape::cuboid(slab), DVec3::Z * -slab.z),
        fixed(Shape::mesh(Surface::cuboid(slab)), DVec3::Z * -slab.z),
    ];
    for (k, ground) in (0..).zip(grounds) {
        let mut random = random(11);
        for _ in 0..5 {
            let orientation = Some(turn(&mut random));
            let body = BodySpec::new(Shape::mesh(sharp.clone()), DVec3::new(0.05, 0.02, 0.08));
            let body = BodySpec { orientation, motion: Motion::Dynamic, ..body };
            let mut simulation = start(&scene(0.5, vec![ground.clone(), body]));
            let mut deepest = 0.0f64;
            while simulation.world.time < 0.5 {
                simulation.step().expect("a finite state");
                let size = Shape::mesh(sharp.clone()).size();
                deepest = simulation.contacts().gaps().iter().fold(deepest, |most, gap| most.max(-gap / size));
            }
            let bodies = &simulation.world.bodies;
            let i = bodies.index_of(1).expect("the mesh");
            let surface = bodies.shape()[i].surface().expect("a mesh");
            let height = |p: &DVec3| (bodies.position[i] + bodies.orientation[i] * *p).z;
            let lowest = surface.vertices.iter().map(height).fold(f64::INFINITY, f64::min);
            assert!(deepest < 0.15 && lowest.abs() < 1e-4, "ground {k}, {orientation:?}: {deepest}, {lowest}");
        }
    }
}
