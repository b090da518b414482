//! Bodies that come, go and change while a simulation runs, on ranks and on one process.

use crate::ranks::{CONVEX, largest_difference, scene, scene_on_ranks};
use barchan::checkpoint::{Part, go_on};
use barchan::partition::Periods;
use barchan::shape::{Cuboid, Part as Glued, Shape, Surface};
use barchan::step::{ChangeError, Simulation};
use barchan::world::{Body, ExternalForce, Motion};
use barchan::{DQuat, DVec3};

const STEPS: usize = 65;

/// What happens before some steps: the same calls on all ranks. The first bodies of the scene are 0 to 300.
fn change(simulation: &mut Simulation) {
    let ball = |x: f64, y: f64| Body::dynamic(Shape::sphere(0.012), DVec3::new(x, y, 0.2));
    match simulation.steps() {
        10 => {
            let uneven = ball(0.03, 0.0).with_mass(0.02, DVec3::new(1e-6, 2e-6, 2.5e-6));
            let post = Body::fixed(Shape::sphere(0.02), DVec3::new(0.0, 0.03, 0.03));
            let ids = simulation.add_all(vec![ball(-0.03, 0.01), uneven, post]).unwrap();
            assert_eq!(ids, [301, 302, 303]);
            let force = DVec3::new(0.0, 0.0, -0.5);
            simulation.world.external.insert(302, ExternalForce { force, torque: DVec3::ZERO });
        }
        20 => simulation.remove(&[7, 301, 100]).unwrap(),
        30 => {
            simulation.set_motion(303, Motion::Dynamic).unwrap();
            simulation.set_motion(50, Motion::Fixed).unwrap();
        }
        40 => simulation.set_shape(60, Shape::sphere(0.008)).unwrap(),
        // A second floor, above the first, that everybody stands below.
        50 => assert_eq!(simulation.add(Body::fixed(Shape::half_space(), DVec3::new(0.0, 0.0, -1.0))), Ok(304)),
        60 => simulation.remove(&[304, 302]).unwrap(),
        _ => {}
    }
}

#[test]
fn changes_are_the_same_on_any_number_of_ranks() {
    let bed = |partition: &str| {
        // Sharply solved, so that rounding does not decide whether an iteration is the last.
        let solver = [("solver.name", "apgd"), ("solver.tolerance", "1e-4"), ("solver.max_iterations", "5000")];
        let set = [("bodies", "300"), ("domain.partition", partition)];
        scene("sedimentation", &[&set[..], &solver[..], &CONVEX[..]].concat())
    };
    let alone = scene_on_ranks(&bed("cartesian"), 1, 1, STEPS, |simulation, _| change(simulation));
    let ids: Vec<u64> = alone.bodies.keys().copied().collect();
    assert!(ids.contains(&303) && ![7, 100, 301, 302, 304].iter().any(|id| ids.contains(id)));
    for (partition, ranks) in [("cartesian", 2), ("cartesian", 4), ("morton", 3)] {
        let there = scene_on_ranks(&bed(partition), ranks, 1, STEPS, |simulation, _| change(simulation));
        assert_eq!(there.bodies.keys().copied().collect::<Vec<_>>(), ids, "{partition} {ranks}");
        let (position, _) = largest_difference(&alone, &there, &Periods::default());
        println!("{partition} {ranks}: {position:.1e} after {STEPS} steps, {} contacts", there.contacts.len());
        assert!(position < 1e-4, "{partition} {ranks}: {position:e}");
    }
}

#[test]
fn changes_in_periodic_space() {
    let crowd = [("nx", "6"), ("ny", "6"), ("nz", "6"), ("periodic", "1"), ("spacing", "0.0101"), ("speed", "1")];
    let gas = |partition: &str| {
        let set: Vec<_> = crowd.into_iter().chain([("solver.name", "apgd"), ("domain.partition", partition)]).collect();
        scene("granular-gas", &set)
    };
    let change = |simulation: &mut Simulation| match simulation.steps() {
        5 => {
            // Far outside: it is brought home. And one at the border, which has images at once.
            let far = Body::dynamic(Shape::sphere(0.001), DVec3::new(10.0, 0.0, 0.0)).with_velocity(DVec3::X);
            simulation.add(far.clone()).unwrap();
            simulation.add(Body { position: DVec3::ZERO, ..far }).unwrap();
        }
        10 => simulation.remove(&[3, 4, 5, 100]).unwrap(),
        15 => simulation.set_motion(20, Motion::Fixed).unwrap(),
        _ => {}
    };
    let alone = scene_on_ranks(&gas("cartesian"), 1, 1, 25, |simulation, _| change(simulation));
    assert_eq!(alone.bodies.len(), 216 + 2 - 4);
    for (partition, ranks) in [("cartesian", 4), ("morton", 3)] {
        let scene = gas(partition);
        let there = scene_on_ranks(&scene, ranks, 1, 25, |simulation, _| change(simulation));
        let (position, _) = largest_difference(&alone, &there, &scene.periods());
        println!("{partition} {ranks}: {position:.1e} after 25 steps, {} contacts", there.contacts.len());
        assert!(position < 1e-9, "{partition} {ranks}: {position:e}");
    }
}

#[test]
fn a_changed_simulation_goes_on_from_a_checkpoint_to_the_bit() {
    let scene = scene("sedimentation", &[("bodies", "300")]);
    let mut simulation = Simulation::from_scene(&scene).unwrap();
    let step = |simulation: &mut Simulation, end: u64| {
        while simulation.steps() < end {
            change(simulation);
            simulation.step().unwrap();
        }
    };
    step(&mut simulation, 35);
    let bytes = Part::gather(&mut simulation, [0, 1], &[]);
    let mut bytes = bytes;
    Part::seal(&mut bytes);
    let mut again = go_on(&scene, &[Part::read(&bytes).unwrap()]).unwrap();
    step(&mut simulation, 80);
    step(&mut again, 80);
    assert_eq!(again.world.state_hash(), simulation.world.state_hash());
}

/// The impulses of what stays are not lost when bodies come and go.
#[test]
fn warm_starts_survive_changes() {
    let mut simulation = Simulation::from_scene(&scene("sedimentation", &[("bodies", "300")])).unwrap();
    for _ in 0..400 {
        simulation.step().unwrap();
    }
    let usual = simulation.step().unwrap().solver.iterations;
    let pressing = |simulation: &Simulation| simulation.contacts().impulses().iter().map(DVec3::length).sum::<f64>();
    let before = pressing(&simulation);
    simulation.add(Body::dynamic(Shape::sphere(0.01), DVec3::new(0.0, 0.0, 0.4))).unwrap();
    let top = (0..simulation.world.bodies.len()).filter(|&i| simulation.world.bodies.inverse_mass()[i] > 0.0);
    let top = top.max_by(|&i, &j| {
        let z = |i: usize| {
            simulation.world.bodies.position[i].z * f64::from(u8::from(simulation.world.bodies.id()[i] < 300))
        };
        z(i).total_cmp(&z(j))
    });
    let id = simulation.world.bodies.id()[top.unwrap()];
    simulation.remove(&[id]).unwrap();
    assert!(pressing(&simulation) > 0.9 * before);
    assert!(simulation.problem().is_none());
    let report = simulation.step().unwrap();
    assert!(simulation.problem().is_some());
    assert!(report.solver.iterations <= 3 * usual.max(5), "{} and {usual} iterations", report.solver.iterations);
}

#[test]
fn changes_that_cannot_be_made_are_refused() {
    let mut simulation = Simulation::from_scene(&scene("sedimentation", &[("bodies", "20")])).unwrap();
    let hash = simulation.world.state_hash();
    assert_eq!(simulation.remove(&[3, 77]), Err(ChangeError::NoSuchBody { id: 77 }));
    assert_eq!(simulation.set_motion(99, Motion::Fixed), Err(ChangeError::NoSuchBody { id: 99 }));
    let floor = Body::dynamic(Shape::half_space(), DVec3::ZERO);
    assert_eq!(simulation.add(floor), Err(ChangeError::NoMass { id: 21, shape: "half-space" }));
    let refused = simulation.set_shape(3, Shape::half_space());
    assert_eq!(refused, Err(ChangeError::NoMass { id: 3, shape: "half-space" }));
    assert_eq!(
        refused.unwrap_err().to_string(),
        "body 3: a dynamic body needs a shape with a finite mass, and a half-space has none"
    );
    // A shape with faults is refused before anything is asked of it.
    let line = Surface { vertices: vec![DVec3::ZERO, DVec3::X, DVec3::Y], triangles: vec![[0, 1, 3]] };
    let part = |x: f64| Glued::new(Shape::sphere(0.1)).at(DVec3::X * x, DQuat::IDENTITY);
    let unsound = [
        (Shape::sphere(-0.1), "radius"),
        (Shape::cuboid(DVec3::new(0.1, f64::NAN, 0.1)), "half_extents"),
        (Shape::ellipsoid(DVec3::new(0.1, 0.1, f64::INFINITY)), "radii"),
        (Cuboid { half_extents: DVec3::ONE, margin: f64::NAN }.into(), "margin"),
        (Shape::container(DVec3::ZERO), "half_extents"),
        (Shape::polyhedron(vec![DVec3::ZERO, DVec3::X, DVec3::Y]), "points"),
        (Shape::mesh(line), "triangles"),
        (Shape::composite(vec![part(0.0), part(f64::NAN)]), "parts"),
        (Shape::composite(Vec::new()), "parts"),
    ];
    for (shape, expected) in unsound {
        for motion in [Motion::Dynamic, Motion::Fixed] {
            let body = Body { motion, ..Body::dynamic(shape.clone(), DVec3::Z) };
            for refused in [simulation.add(body).map(|_| ()), simulation.set_shape(3, shape.clone())] {
                let is_named = matches!(&refused, Err(ChangeError::Unsound { key, .. }) if *key == expected);
                assert!(is_named, "{refused:?} is not about {expected}");
            }
        }
    }
    assert_eq!(simulation.world.state_hash(), hash);
}
