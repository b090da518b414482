//! Bodies of every shape, at the default settings unless a test says otherwise: what rests stays, what falls comes to
//! rest as it must, and what slides catches on nothing.

use barchan::cone::solver::Status;
use barchan::scene::{BodySpec, Scene, Time};
use barchan::shape::{Part, Shape, Surface};
use barchan::step::Simulation;
use barchan::world::{Material, Motion};
use barchan::{DQuat, DVec3};
use std::f64::consts::{FRAC_PI_2, FRAC_PI_4};

const G: f64 = 9.81;

fn floor() -> BodySpec {
    BodySpec::new(Shape::half_space(), DVec3::ZERO)
}

pub(crate) fn scene(friction: f64, body: Vec<BodySpec>) -> Scene {
    let material = vec![Material { friction, ..Material::default() }];
    Scene { material, body, time: Time { end: 1e9, ..Time::default() }, ..Scene::default() }
}

pub(crate) fn start(scene: &Scene) -> Simulation {
    Simulation::from_scene(scene).expect("a sound scene")
}

/// Steps until a time; every step must be solved.
fn run_until(simulation: &mut Simulation, time: f64) {
    while simulation.world.time < time {
        let report = simulation.step().expect("a finite state");
        assert!(report.solver.status == Status::Converged, "{:?} at {}", report.solver.status, simulation.world.time);
    }
}

fn at(simulation: &Simulation, id: u64) -> usize {
    simulation.world.bodies.index_of(id).expect("a body of the scene")
}

fn position(simulation: &Simulation, id: u64) -> DVec3 {
    simulation.world.bodies.position[at(simulation, id)]
}

fn orientation(simulation: &Simulation, id: u64) -> DQuat {
    simulation.world.bodies.orientation[at(simulation, id)]
}

fn velocity(simulation: &Simulation, id: u64) -> DVec3 {
    simulation.world.bodies.velocity[at(simulation, id)]
}

// ---------------------------------------------------------------- what rests

/// Creep below 1 % of their size in ten seconds.
#[test]
fn ten_boxes_stay_where_they_are_stacked() {
    let half = 0.05;
    let cube = |k: u32| BodySpec::new(Shape::cuboid(DVec3::splat(half)), DVec3::Z * half * f64::from(2 * k + 1));
    let mut stack = start(&scene(0.5, std::iter::once(floor()).chain((0..10).map(cube)).collect()));
    run_until(&mut stack, 10.0);
    for k in 0..10u32 {
        let id = u64::from(k) + 1;
        let moved = position(&stack, id) - DVec3::Z * half * f64::from(2 * k + 1);
        assert!(moved.length() < 0.01 * 2.0 * half, "box {k} has moved by {moved}");
        assert!(orientation(&stack, id).angle_between(DQuat::IDENTITY) < 0.01, "box {k} has turned");
    }
}

/// The angle between an axis of the body and the vertical, and how fast the body still is.
fn attitude(simulation: &Simulation, axis: DVec3) -> (f64, f64) {
    let upright = (orientation(simulation, 1) * axis).z.abs().min(1.0);
    let spin = simulation.world.bodies.angular_velocity[at(simulation, 1)].length();
    (upright.acos(), velocity(simulation, 1).length() + 0.05 * spin)
}

#[test]
fn what_is_dropped_askew_comes_to_rest_flat() {
    let drop = |shape: Shape, turn: DQuat| {
        let body = BodySpec { orientation: Some(turn), ..BodySpec::new(shape, DVec3::Z * 0.12) };
        let mut simulation = start(&scene(0.4, vec![floor(), body]));
        run_until(&mut simulation, 3.0);
        simulation
    };
    let askew = DQuat::from_axis_angle(DVec3::new(1.0, 0.3, 0.2).normalize(), 0.7);
    let lying = |simulation: &Simulation, what: &str| {
        let (angle, speed) = attitude(simulation, DVec3::Z);
        assert!((angle - FRAC_PI_2).abs() < 0.02, "{what} does not lie: {angle}");
        // It may still roll.
        assert!(speed < 0.2 && velocity(simulation, 1).z.abs() < 1e-3, "{what}: {speed}");
    };
    lying(&drop(Shape::capsule(0.02, 0.05), askew), "the capsule");
    lying(&drop(Shape::cylinder(0.02, 0.06), askew), "the cylinder");
    let ellipsoid = drop(Shape::ellipsoid(DVec3::new(0.06, 0.05, 0.02)), askew);
    let (angle, _) = attitude(&ellipsoid, DVec3::Z);
    assert!(angle < 0.2, "the ellipsoid stands on its edge: {angle}");
    assert!((position(&ellipsoid, 1).z - 0.02).abs() < 2e-3, "{}", position(&ellipsoid, 1));
    // Nothing brakes what rolls, so that it rocks for ever; dropped level it has nothing to rock with.
    let level = drop(Shape::ellipsoid(DVec3::new(0.06, 0.05, 0.02)), DQuat::from_rotation_z(0.7));
    let (angle, speed) = attitude(&level, DVec3::Z);
    assert!(angle < 1e-6 && speed < 1e-6, "the ellipsoid does not lie still: {angle}, {speed}");
    assert!((position(&level, 1).z - 0.02).abs() < 1e-5, "{}", position(&level, 1));
    let cube = drop(Shape::cuboid(DVec3::new(0.03, 0.04, 0.05)), askew);
    let flat = [DVec3::X, DVec3::Y, DVec3::Z].map(|axis| attitude(&cube, axis).0).into_iter().fold(1.0, f64::min);
    let speed = attitude(&cube, DVec3::X).1;
    assert!(flat < 2e-3 && speed < 1e-4, "the box: {flat}, {speed}");
}

/// Nothing drives it, and nothing brakes what rolls: as it rocks, the point at which it touches wanders over it.
#[test]
fn an_ellipsoid_that_rocks_gains_no_energy() {
    let cases = [
        (DVec3::new(0.06, 0.05, 0.02), DQuat::from_axis_angle(DVec3::new(1.0, 0.3, 0.2).normalize(), 0.7)),
        (DVec3::new(0.02, 0.07, 0.03), DQuat::from_axis_angle(DVec3::new(0.2, 0.5, 1.0).normalize(), 1.2)),
        (DVec3::new(0.05, 0.05, 0.03), DQuat::from_axis_angle(DVec3::new(0.4, -1.0, 0.1).normalize(), 0.4)),
    ];
    for (radii, turn) in cases {
        let body = BodySpec { orientation: Some(turn), ..BodySpec::new(Shape::ellipsoid(radii), DVec3::Z * 0.08) };
        let mut simulation = start(&scene(0.4, vec![floor(), body]));
        let energy = |simulation: &mut Simulation| {
            let energy = simulation.energy();
            energy.kinetic + energy.potential
        };
        // What it has beyond lying flat, once it has landed.
        run_until(&mut simulation, 1.0);
        let mass = 1.0 / simulation.world.bodies.inverse_mass()[at(&simulation, 1)];
        let least = mass * G * radii.min_element();
        let landed = energy(&mut simulation) - least;
        let mut most = landed;
        while simulation.world.time < 6.0 {
            let soon = simulation.world.time + 0.01;
            run_until(&mut simulation, soon);
            most = most.max(energy(&mut simulation) - least);
        }
        assert!(landed > 0.02 * least, "{radii}: it has nothing to rock with: {landed}");
        assert!(most < landed * 1.005, "{radii}: from {landed} to {most} J above rest");
    }
}

// ---------------------------------------------------------------- what slides

/// A floor of triangles, finely and unevenly cut.
fn fine_floor(cells: u32) -> Surface {
    let at = |i: u32, j: u32| DVec3::new(f64::from(i) - 0.3 * f64::from(j % 3), f64::from(j), 0.0) * 0.037;
    let mut floor = Surface::default();
    for j in 0..=cells {
        for i in 0..=cells {
            floor.vertices.push(at(i, j) - 0.5 * at(cells, cells));
        }
    }
    let number = |i: u32, j: u32| j * (cells + 1) + i;
    for j in 0..cells {
        for i in 0..cells {
            let [p, q, r, s] = [number(i, j), number(i + 1, j), number(i + 1, j + 1), number(i, j + 1)];
            let halves = if (i + j) % 2 == 0 { [[p, q, r], [p, r, s]] } else { [[p, q, s], [q, r, s]] };
            floor.triangles.extend(halves);
        }
    }
    floor
}

/// Velocities within 1e-3 of those on the half-space, all the way.
fn slides_as_on_a_plane(surface: Surface, what: &str) {
    let mesh = BodySpec::new(Shape::mesh(surface), DVec3::ZERO);
    for shape in [Shape::sphere(0.05), Shape::cuboid(DVec3::new(0.06, 0.05, 0.04)), Shape::cylinder(0.05, 0.04)] {
        let height = if let Shape::Sphere(_) = shape { 0.05 } else { 0.04 };
        let body = BodySpec { velocity: DVec3::new(1.0, 0.37, 0.0), ..BodySpec::new(shape, DVec3::Z * height) };
        let on = |ground: BodySpec| {
            let mut scene = scene(0.1, vec![ground, body.clone()]);
            scene.time.step = 1e-3.into();
            start(&scene)
        };
        let mut smooth = on(floor());
        let mut cut = on(mesh.clone());
        for step in 0..600 {
            smooth.step().expect("a finite state");
            cut.step().expect("a finite state");
            let apart = velocity(&cut, 1) - velocity(&smooth, 1);
            assert!(apart.length() < 1e-3, "{} on {what}: step {step}, {apart}", body.shape.name());
        }
        assert!(position(&cut, 1).x > 0.3);
    }
}

#[test]
fn inner_edges_of_a_flat_mesh_are_not_felt() {
    slides_as_on_a_plane(fine_floor(60), "a fine floor");
}

/// Every third triangle seen from below.
fn flipped_in_part(mut floor: Surface) -> Surface {
    floor.triangles.iter_mut().step_by(3).for_each(|t| t.swap(1, 2));
    floor
}

/// Each triangle with vertices of its own.
fn torn(floor: &Surface) -> Surface {
    let vertices = (0..floor.triangles.len()).flat_map(|t| floor.corners(t)).collect();
    let triangles = (0..floor.triangles.len() as u32).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]).collect();
    Surface { vertices, triangles }
}

/// Every third triangle cut in two at the middle of a side, off the line by a height, with a sliver beside it or a gap.
fn cut_unevenly(mut floor: Surface, height: f64, has_slivers: bool) -> Surface {
    for t in (0..floor.triangles.len()).step_by(3) {
        let [p, q, r] = floor.triangles[t];
        let [x, y, _] = floor.corners(t);
        let middle = floor.vertices.len() as u32;
        floor.vertices.push(0.5 * (x + y) + DVec3::Z * height);
        floor.triangles[t] = [p, middle, r];
        floor.triangles.push([middle, q, r]);
        if has_slivers {
            floor.triangles.push([p, q, middle]);
        }
    }
    floor
}

/// Triangles that are seen from the other side, are there twice, share no vertices, or have no area.
#[test]
fn inner_edges_of_a_flat_mesh_in_disorder_are_not_felt() {
    let floor = || fine_floor(60);
    slides_as_on_a_plane(flipped_in_part(floor()), "a floor with flipped triangles");
    slides_as_on_a_plane(torn(&floor()), "a floor without common vertices");
    slides_as_on_a_plane(flipped_in_part(torn(&floor())), "both");
    slides_as_on_a_plane(Surface::merged([&floor(), &floor().flipped()]), "a floor that is there twice");
    slides_as_on_a_plane(cut_unevenly(floor(), 0.0, true), "a floor with slivers");
    slides_as_on_a_plane(cut_unevenly(floor(), 1e-11, true), "a floor with slivers that stand upright");
    slides_as_on_a_plane(cut_unevenly(floor(), 0.0, false), "a floor that is cut unevenly");
}

/// A block rests iff μ ≥ tan θ; else it slides at g (sin θ − μ cos θ).
#[test]
fn a_block_on_an_incline_sticks_or_slides() {
    let angle: f64 = 0.4;
    let (sin, cos) = angle.sin_cos();
    let half = DVec3::new(0.05, 0.05, 0.02);
    for factor in [0.5, 0.95, 1.05, 2.0] {
        let friction = factor * angle.tan();
        let turn = DQuat::from_rotation_y(angle);
        let plane = BodySpec { orientation: Some(turn), ..floor() };
        let block =
            BodySpec { orientation: Some(turn), ..BodySpec::new(Shape::cuboid(half), turn * DVec3::Z * half.z) };
        let mut simulation = start(&scene(friction, vec![plane, block]));
        run_until(&mut simulation, 0.5);
        let speed = velocity(&simulation, 1).dot(turn * DVec3::X);
        let expected = (G * (sin - friction * cos)).max(0.0) * simulation.world.time;
        assert!((speed - expected).abs() < 1e-3 * G * 0.5, "{factor}: {speed}, not {expected}");
    }
}

/// A spheroid that lies across rolls down as a ball does: its inertia about the long axis is (2/5)mr².
#[test]
fn an_ellipsoid_rolls_down_an_incline() {
    let angle: f64 = 0.2;
    let turn = DQuat::from_rotation_y(angle);
    let plane = BodySpec { orientation: Some(turn), ..floor() };
    let spheroid = Shape::ellipsoid(DVec3::new(0.05, 0.12, 0.05));
    let roller = BodySpec { orientation: Some(turn), ..BodySpec::new(spheroid, turn * DVec3::Z * 0.05) };
    let mut simulation = start(&scene(0.5, vec![plane, roller]));
    run_until(&mut simulation, 0.5);
    let speed = velocity(&simulation, 1).dot(turn * DVec3::X);
    let expected = 5.0 / 7.0 * G * angle.sin() * simulation.world.time;
    assert!((speed / expected - 1.0).abs() < 0.01, "{speed}, not {expected}");
    assert!((position(&simulation, 1).dot(turn * DVec3::Z) - 0.05).abs() < 1e-4);
}

/// Rotation about the intermediate axis flips again and again, at constant momentum.
#[test]
fn the_intermediate_axis_of_a_box_is_unstable() {
    let spin = DVec3::new(0.01, 5.0, 0.01);
    let shape = Shape::cuboid(DVec3::new(0.03, 0.05, 0.08));
    let body = BodySpec { angular_velocity: spin, ..BodySpec::new(shape, DVec3::Z) };
    let mut simulation = start(&Scene { gravity: DVec3::ZERO, ..scene(0.5, vec![body]) });
    let momentum = |simulation: &Simulation| {
        let bodies = &simulation.world.bodies;
        let q = bodies.orientation[0];
        q * ((q.conjugate() * bodies.angular_velocity[0]) / bodies.inverse_inertia()[0])
    };
    let before = momentum(&simulation);
    let mut flips = 0;
    let mut side = 1.0;
    while simulation.world.time < 20.0 {
        simulation.step().expect("a finite state");
        let bodies = &simulation.world.bodies;
        let about = (bodies.orientation[0].conjugate() * bodies.angular_velocity[0]).y;
        if about * side < -3.0 {
            side = -side;
            flips += 1;
        }
    }
    assert!(flips >= 2, "{flips} flips");
    assert!((momentum(&simulation) - before).length() < 1e-9 * before.length());
}

// ---------------------------------------------------------------- meshes and composites

#[test]
fn a_ball_on_a_fine_ball_of_triangles_has_few_contacts() {
    let globe = BodySpec::new(Shape::mesh(Surface::sphere(0.5, 5)), DVec3::ZERO);
    let ball = BodySpec::new(Shape::sphere(0.1), DVec3::new(0.003, 0.002, 0.6));
    let mut simulation = start(&scene(0.5, vec![globe, ball]));
    let mut contacts = 0;
    for _ in 0..50 {
        contacts = contacts.max(simulation.step().expect("a finite state").contacts);
    }
    assert!((1..=4).contains(&contacts), "{contacts} contacts");
    assert!((position(&simulation, 1).length() - 0.6).abs() < 2e-3);
}

/// A dumb-bell stands about its centre of mass, wherever the scene puts its origin.
#[test]
fn a_composite_turns_about_its_centre_of_mass() {
    let ball = |x: f64, r: f64| Part::new(Shape::sphere(r)).at(DVec3::X * x, DQuat::IDENTITY);
    let shape = Shape::composite(vec![ball(0.0, 0.1), ball(1.0, 0.1)]);
    let spec = BodySpec { angular_velocity: DVec3::Z, ..BodySpec::new(shape, DVec3::Z * 2.0) };
    let mut simulation = start(&Scene { gravity: DVec3::ZERO, ..scene(0.5, vec![spec]) });
    assert!((position(&simulation, 0) - DVec3::new(0.5, 0.0, 2.0)).length() < 1e-6);
    let own = 0.4 * 0.01;
    let expected = 2.0 * (own + 0.25);
    let mass = 1.0 / simulation.world.bodies.inverse_mass()[0];
    let inertia = simulation.world.bodies.inverse_inertia()[0].recip() / (0.5 * mass);
    assert!((inertia.max_element() / expected - 1.0).abs() < 1e-3, "{inertia}");
    run_until(&mut simulation, 1.0);
    assert!((position(&simulation, 0) - DVec3::new(0.5, 0.0, 2.0)).length() < 1e-9);
}

/// Every shape on every other, dropped in a heap: nothing passes through the floor or is shot away.
#[test]
fn a_heap_of_every_shape_comes_to_rest() {
    let tetrahedron = [DVec3::X, DVec3::Y, DVec3::Z, -DVec3::ONE].map(|p| p * 0.05).to_vec();
    let part = |x: f64| Part::new(Shape::sphere(0.03)).at(DVec3::X * x, DQuat::IDENTITY);
    let shapes = [
        Shape::sphere(0.04),
        Shape::cuboid(DVec3::new(0.03, 0.04, 0.05)),
        Shape::capsule(0.025, 0.03),
        Shape::cylinder(0.035, 0.03),
        Shape::cone(0.04, 0.04),
        Shape::ellipsoid(DVec3::new(0.03, 0.04, 0.05)),
        Shape::polyhedron(tetrahedron),
        Shape::mesh(Surface::cuboid(DVec3::new(0.03, 0.05, 0.03))),
        Shape::composite(vec![part(-0.025), part(0.025)]),
    ];
    let mut bodies = vec![BodySpec::new(Shape::container(DVec3::new(0.15, 0.15, 1.5)), DVec3::Z * 1.5)];
    for (k, shape) in shapes.iter().cycle().take(27).enumerate() {
        let angle = 2.4 * k as f64;
        let place = DVec3::new(0.06 * angle.cos(), 0.06 * angle.sin(), 0.08 + 0.1 * k as f64);
        let turn = DQuat::from_axis_angle(DVec3::new(angle.sin(), 0.4, angle.cos()).normalize(), FRAC_PI_4 + angle);
        let body = BodySpec::new(shape.clone(), place);
        bodies.push(BodySpec { orientation: Some(turn), motion: Motion::Dynamic, ..body });
    }
    let mut simulation = start(&scene(0.5, bodies));
    let mut deepest = (0.0, String::new());
    while simulation.world.time < 3.0 {
        simulation.step().expect("a finite state");
        let (bodies, contacts) = (&simulation.world.bodies, simulation.contacts());
        for (gap, pair) in contacts.gaps().iter().zip(contacts.pairs()) {
            let shapes = pair.map(|i| &bodies.shape()[i as usize]);
            let relative = -gap / shapes[0].size().min(shapes[1].size());
            if relative > deepest.0 {
                let what = format!("{} and {} at {}", shapes[0].name(), shapes[1].name(), simulation.world.time);
                deepest = (relative, what);
            }
        }
    }
    let kinetic = simulation.energy().kinetic;
    for id in 1..28 {
        let x = position(&simulation, id);
        assert!(x.x.abs() < 0.15 && x.y.abs() < 0.15 && x.z > 0.0 && x.z < 1.0, "body {id} is at {x}");
    }
    assert!(deepest.0 < 0.1, "overlaps up to {deepest:?} of a size");
    assert!(kinetic < 1e-3, "kinetic energy {kinetic}");
}
