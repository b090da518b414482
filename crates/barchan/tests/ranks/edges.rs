//! Where the protocol of ranks could slip: borders, corners, images, empty ranks, and bodies that are
//! too fast, too large, or moved by others.

use crate::heap::tapered;
use crate::ranks::{
    DIVISIONS, Outcome, Setting, all_contacts, each_part, in_one_piece, keep_own, largest_difference, on_ranks,
    own_balls, own_ids, scene_on_ranks, treated, world_of,
};
use barchan::comm::threads;
use barchan::cone::Friction;
use barchan::cone::solver::SolverName;
use barchan::domain::{Domain, DomainError};
use barchan::dynamics::Integrator;
use barchan::partition::{Cartesian, PartitionName, Periods};
use barchan::scene::{BodySpec, Lattice, Orientation, Scene, Time};
use barchan::shape::{Shape, Surface};
use barchan::step::{Simulation, StepError, StepOptions};
use barchan::util::formula::VectorFormula;
use barchan::world::{
    Body, ExternalForce, ForceField, Motion, Oscillation, Ownership, Prescribed, Turn, Waypoints, World,
};
use barchan::{DQuat, DVec3};
use std::sync::atomic::{AtomicUsize, Ordering};

fn ball(radius: f64, x: [f64; 3]) -> Body {
    Body::dynamic(Shape::sphere(radius), DVec3::from_array(x))
}

/// Steps with APGD, whose iterates do not depend on ranks.
fn options(h: f64) -> StepOptions {
    let mut options = StepOptions { step: h.into(), ..StepOptions::default() };
    options.solver.name = SolverName::Apgd;
    // Unique velocities, so that ranks can be held to more digits than the tolerance has.
    options.solver.friction = Some(Friction::Associated);
    options.integrator = Integrator::Euler;
    options.contact.slip_rounding = 0.0;
    options.broad_phase.reorder_interval = 4;
    options
}

#[track_caller]
fn agree(case: &str, one: &Outcome, there: &Outcome, periods: &Periods) {
    assert_eq!(there.contacts, one.contacts, "{case}");
    let (position, velocity) = largest_difference(one, there, periods);
    assert!(position < 1e-10 && velocity < 1e-8, "{case}: {position:e} {velocity:e}");
}

/// Any number of ranks against one process.
#[track_caller]
fn agrees(world: &World, options: StepOptions, steps: usize) -> Outcome {
    let one = in_one_piece(world, options, steps);
    for division in DIVISIONS {
        for ranks in [2, 3, 4, 8] {
            let there = on_ranks(world, options, steps, Setting::new(ranks, division));
            agree(&format!("{division:?} {ranks}"), &one, &there, &Periods::default());
        }
    }
    one
}

#[test]
fn bodies_on_borders_edges_and_corners() {
    // The corner of eight blocks is at the origin, with a sphere on it and others about it, all
    // pulled there. Some lie on edges, some on faces, some inside.
    let r = 0.1;
    let mut bodies = vec![ball(r, [0.0; 3])];
    for axis in 0..3 {
        for side in [-1.0, 1.0] {
            let mut x = [0.0; 3];
            x[axis] = 2.0 * r * side;
            bodies.push(ball(r, x));
            x[(axis + 1) % 3] = 2.0 * r * side;
            bodies.push(ball(r, x));
        }
    }
    for corner in 0..8 {
        let side = |bit: i32| if corner >> bit & 1 == 1 { 1.0 } else { -1.0 };
        bodies.push(ball(r, [0, 1, 2].map(|bit| 2.0 * r * side(bit))));
        bodies.push(ball(r, [0, 1, 2].map(side)));
    }
    let mut world = world_of(bodies, 0.3, 0.0);
    world.fields.push(ForceField::Well { centre: DVec3::ZERO, stiffness: 4.0 });
    for steps in [1, 25] {
        let one = agrees(&world, options(5e-3), steps);
        assert!(one.contacts.len() >= 30, "{}", one.contacts.len());
    }
}

#[test]
fn more_ranks_than_bodies() {
    let bodies = [
        ball(0.1, [0.0, 0.0, 0.0]).with_velocity(DVec3::X),
        ball(0.1, [0.25, 0.02, 0.0]).with_velocity(-DVec3::X),
        ball(0.1, [0.5, 0.0, 0.03]).with_velocity(-DVec3::X),
        ball(0.1, [-1.0, -1.0, -1.0]),
        ball(0.1, [1.0, 1.0, 1.0]),
    ];
    let world = world_of(bodies, 0.3, 0.0);
    let one = agrees(&world, options(0.01), 15);
    assert!(!one.contacts.is_empty());
    // And nobody at all.
    for name in [PartitionName::Cartesian, PartitionName::Morton] {
        let mut scene = Scene::default();
        scene.domain.partition = name;
        assert!(scene_on_ranks(&scene, 5, 1, 3, |_, _| ()).bodies.is_empty());
    }
}

/// Four blocks in a row along x, each 1 m wide.
fn in_a_row<R: Send>(world: &World, work: impl Fn(Simulation) -> R + Sync) -> Vec<R> {
    let parts = threads::run(4, 1, |comm| {
        let (low, high) = (DVec3::ZERO, DVec3::new(4.0, 1.0, 1.0));
        let blocks = Cartesian::new(4, comm.rank() as u32, [4, 1, 1], low, high, [false; 3]).unwrap();
        let mut own = world.clone();
        keep_own(&mut own, &blocks);
        work(Simulation::part(own, options(0.01), Domain::new(comm, Box::new(blocks), Periods::default())))
    });
    parts.unwrap()
}

#[test]
fn a_body_that_is_too_fast_is_named_on_one_rank_and_all_of_them_stop() {
    let world =
        world_of([ball(0.2, [1.5, 0.5, 0.5]).with_velocity(90.0 * DVec3::X), ball(0.2, [3.5, 0.5, 0.5])], 0.3, 0.0);
    let errors = in_a_row(&world, |mut simulation| simulation.step().unwrap_err());
    let elsewhere = StepError::Domain { step: 1, error: DomainError::Elsewhere };
    for rank in [0, 2, 3] {
        assert_eq!(errors[rank], elsewhere);
    }
    let text = errors[1].to_string();
    assert!(text.contains("step 1: body 0 reaches 1.104e0 m") && text.contains("allow 1.000e0 m"), "{text}");
    assert!(text.contains("time.step") && text.contains("domain.blocks"), "{text}");
    // A little slower, and it may go on.
    let world = world_of([ball(0.2, [1.5, 0.5, 0.5]).with_velocity(70.0 * DVec3::X)], 0.3, 0.0);
    assert!(in_a_row(&world, |mut simulation| simulation.step().is_ok()).into_iter().all(|sound| sound));
}

#[test]
fn a_body_that_crosses_two_domains_stops_all_ranks() {
    let world = world_of([ball(0.2, [0.5, 0.5, 0.5])], 0.3, 0.0);
    let errors = in_a_row(&world, |mut simulation| {
        simulation.step().unwrap();
        if let Some(i) = simulation.world.bodies.index_of(0) {
            simulation.world.bodies.position[i].x = 2.5;
        }
        simulation.step().unwrap_err().to_string()
    });
    assert!(errors[0].contains("step 2: body 0 has moved to a domain that is no neighbour"), "{}", errors[0]);
    assert!(errors[1..].iter().all(|error| error.contains("another rank has failed")), "{errors:?}");
}

/// In the step in which a fast body changes its owner it may reach regions that its old owner does
/// not know.
#[test]
fn a_fast_body_meets_what_its_old_owner_does_not_know() {
    // It comes from the first block, and at 1.71 reaches up to 2.6: into the third, where another waits.
    let bodies = [
        ball(0.2, [0.98, 0.5, 0.5]).with_velocity(73.0 * DVec3::X),
        ball(0.2, [2.21, 0.5, 0.5]),
        ball(0.1, [2.55, 0.5, 0.5]),
    ];
    let world = world_of(bodies, 0.0, 0.0);
    for steps in 1..=4 {
        let one = in_one_piece(&world, options(0.01), steps);
        let parts = in_a_row(&world, |mut simulation| {
            (0..steps).for_each(|_| drop(simulation.step().unwrap()));
            let own = own_balls(&simulation);
            (own, treated(&simulation))
        });
        let mut contacts: Vec<_> = parts.iter().flat_map(|part| part.1.clone()).collect();
        contacts.sort_unstable();
        assert_eq!(contacts, one.contacts, "after {steps} steps");
        for ball in parts.iter().flat_map(|part| &part.0) {
            assert!((ball.x - one.bodies[&ball.id].0).length() < 1e-9, "after {steps} steps: {ball:?}");
        }
    }
}

#[test]
fn a_body_in_the_corner_of_a_periodic_cell_has_seven_images() {
    let periods = Periods::new(DVec3::splat(-1.0), DVec3::splat(1.0), [true; 3]);
    // One in the corner, touched from all sides across the borders.
    let mut bodies = vec![ball(0.1, [-0.999, -0.998, -0.997])];
    for axis in 0..3 {
        for way in [-0.2, 0.2] {
            let mut x = [-0.999, -0.998, -0.997];
            x[axis] += way;
            if x[axis] < -1.0 {
                x[axis] += 2.0;
            }
            bodies.push(ball(0.1, x));
        }
    }
    bodies.push(ball(0.1, [0.9, 0.9, 0.9]));
    let world = world_of(bodies, 0.3, 0.0);
    let options = options(0.01);
    let mut first: Option<Outcome> = None;
    for division in DIVISIONS {
        for ranks in [1, 2, 4, 8] {
            let parts = each_part(&world, options, Setting::periodic(ranks, division, periods), |mut simulation| {
                let balls = own_balls(&simulation);
                simulation.step().unwrap();
                let bodies = &simulation.world.bodies;
                let corner = (0..bodies.len()).filter(|&i| bodies.id()[i] == 0);
                (balls, treated(&simulation), corner.map(|i| bodies.ownership()[i]).collect::<Vec<_>>())
            });
            let balls: Vec<_> = parts.iter().flat_map(|part| part.0.clone()).collect();
            let mut contacts: Vec<_> = parts.iter().flat_map(|part| part.1.clone()).collect();
            contacts.sort_unstable();
            assert_eq!(contacts, all_contacts(&balls, &periods, options.step.fixed().unwrap(), options.contact.margin));
            assert!(contacts.len() >= 6, "{contacts:?}");
            let rows: Vec<_> = parts.iter().flat_map(|part| part.2.clone()).collect();
            assert_eq!(rows.len(), 8, "{division:?} {ranks}: {rows:?}");
            assert_eq!(rows.iter().filter(|&&ownership| ownership == Ownership::Owned).count(), 1);
            assert!(ranks > 1 || rows.iter().filter(|&&ownership| ownership == Ownership::Image).count() == 7);
            let there = on_ranks(&world, options, 20, Setting::periodic(ranks, division, periods));
            agree(&format!("{division:?} {ranks}"), first.get_or_insert_with(|| there.clone()), &there, &periods);
        }
    }
}

/// What is below the cell by less than rounding comes home at its upper end, and not beyond it.
#[test]
fn a_body_that_leaves_by_less_than_rounding_stays() {
    let periods = Periods::new(DVec3::ZERO, DVec3::splat(2.0), [true; 3]);
    let world = world_of([ball(0.1, [1e-300, 0.5, 0.5]), ball(0.1, [1.8, 0.5, 0.5])], 0.3, 0.0);
    for division in DIVISIONS {
        for ranks in [1, 2, 3, 8] {
            let found =
                each_part(&world, options(0.01), Setting::periodic(ranks, division, periods), |mut simulation| {
                    simulation.step().unwrap();
                    let bodies = &mut simulation.world.bodies;
                    if let Some(i) = (0..bodies.len()).find(|&i| bodies.id()[i] == 0 && bodies.is_owned_and_bounded(i))
                    {
                        bodies.position[i].x = -1e-20;
                        bodies.velocity[i] = DVec3::ZERO;
                    }
                    simulation.step().unwrap();
                    simulation.step().unwrap();
                    treated(&simulation)
                });
            assert_eq!(found.concat(), [[0, 1]], "{division:?} {ranks}");
        }
    }
}

/// A program may add bodies between steps; images of others stand at the end of the columns then.
#[test]
fn bodies_are_added_between_steps() {
    let periods = Periods::new(DVec3::ZERO, DVec3::splat(2.0), [true; 3]);
    let world = world_of([ball(0.1, [0.05, 0.05, 0.05]), ball(0.1, [1.86, 0.05, 0.05])], 0.3, 0.0);
    for division in DIVISIONS {
        for ranks in [1, 2, 3] {
            let setting = Setting::periodic(ranks, division, periods);
            let parts = each_part(&world, options(0.01), setting, |mut simulation| {
                simulation.step().unwrap();
                let bodies = &simulation.world.bodies;
                if (0..bodies.len()).any(|i| bodies.id()[i] == 0 && bodies.is_owned_and_bounded(i)) {
                    simulation.world.add_with_id(7, ball(0.1, [0.05, 0.25, 0.05]));
                }
                (0..3).for_each(|_| drop(simulation.step().unwrap()));
                (own_ids(&simulation), treated(&simulation))
            });
            let mut ids: Vec<_> = parts.iter().flat_map(|part| part.0.clone()).collect();
            let mut contacts: Vec<_> = parts.iter().flat_map(|part| part.1.clone()).collect();
            ids.sort_unstable();
            contacts.sort_unstable();
            assert_eq!((ids, contacts), (vec![0, 1, 7], vec![[0, 1], [0, 7]]), "{division:?} {ranks}");
        }
    }
}

/// Ranks that add bodies at the same time have nobody to ask for ids.
#[test]
fn ids_of_new_bodies_do_not_clash() {
    // They wander from rank to rank, with ids that others have given.
    let row = (0..12).map(|k| ball(0.1, [0.25 * f64::from(k), 0.0, 0.0]).with_velocity(DVec3::new(2.0, 0.0, 0.0)));
    let world = world_of(row, 0.3, 0.0);
    let beside = [DVec3::Y, DVec3::Z, -DVec3::Y, -DVec3::Z];
    for division in DIVISIONS {
        for ranks in [1, 2, 3, 7] {
            let parts = each_part(&world, options(0.01), Setting::new(ranks, division), |mut simulation| {
                let mut given = Vec::new();
                for side in beside {
                    let bodies = &simulation.world.bodies;
                    let own = (0..bodies.len()).find(|&i| bodies.is_owned_and_bounded(i) && bodies.id()[i] < 12);
                    if let Some(x) = own.map(|i| bodies.position[i] + 0.15 * side) {
                        given.push(simulation.world.add(ball(0.02, x.into()).with_velocity(2.0 * DVec3::X)));
                    }
                    (0..3).for_each(|_| drop(simulation.step().unwrap()));
                }
                (given, own_ids(&simulation))
            });
            let mut given = parts.iter().flat_map(|part| part.0.clone()).collect::<Vec<_>>();
            let mut there = parts.iter().flat_map(|part| part.1.clone()).collect::<Vec<_>>();
            given.sort_unstable();
            there.sort_unstable();
            assert_eq!(there, (0..12).chain(given.iter().copied()).collect::<Vec<_>>(), "{division:?} {ranks}");
            let count = given.len();
            given.dedup();
            assert!(given.len() == count && count > 2 * ranks && given[0] >= 12, "{division:?} {ranks}: {given:?}");
            if ranks == 1 {
                assert_eq!(given, [12, 13, 14, 15]);
            }
        }
    }
}

#[test]
fn fixed_and_prescribed_spheres_are_copied() {
    // A kinematic sphere ploughs through a row of others, a second one shakes them from below,
    // fixed ones stand about; borders lie anywhere.
    let mut bodies = Vec::new();
    for k in 0..20 {
        let x = 0.21 * f64::from(k);
        bodies.push(ball(0.1, [x, 0.03 * f64::from(k % 3), 0.0]));
        bodies.push(Body::fixed(Shape::sphere(0.1), DVec3::new(x, 0.35, 0.02)));
    }
    let moved = |x: [f64; 3]| Body { motion: Motion::Kinematic, ..ball(0.15, x) };
    bodies.push(moved([-0.3, 0.0, 0.05]).with_velocity(2.0 * DVec3::X));
    bodies.push(moved([1.2, 0.0, -0.3]));
    let mut world = world_of(bodies, 0.3, 0.0);
    let shake = Oscillation { amplitude: DVec3::new(0.3, 0.0, 0.08), frequency: 3.0, phase: 0.2 };
    let drift = Prescribed {
        velocity: 0.8 * DVec3::X,
        angular_velocity: DVec3::Y,
        oscillation: Some(shake),
        ..Prescribed::default()
    };
    world.prescribed.insert(41, drift);
    let one = agrees(&world, options(5e-3), 120);
    let before = world.bodies.position[0];
    assert!((one.bodies[&0].0 - before).length() > 0.1, "nothing was pushed");
    assert!((one.bodies[&40].0.x - 0.9).abs() < 1e-9);
}

/// Motions by formulas, waypoints and turns, and belts: every rank has all of them, and the bodies come and go.
#[test]
fn machines_work_on_ranks() {
    let mut bodies: Vec<Body> =
        (0..24).map(|k| ball(0.1, [0.21 * f64::from(k), 0.03 * f64::from(k % 3), 0.0])).collect();
    let plate = |x: f64, motion: Motion| Body {
        motion,
        ..Body::fixed(Shape::cuboid(DVec3::new(0.25, 0.25, 0.05)), DVec3::new(x, 0.0, -0.15))
    };
    bodies.extend([plate(0.3, Motion::Fixed), plate(2.4, Motion::Kinematic), plate(4.1, Motion::Kinematic)]);
    bodies.push(Body::fixed(Shape::half_space(), DVec3::new(0.0, 0.0, -0.3)));
    let mut world = world_of(bodies, 0.5, 0.0);
    world.gravity = DVec3::new(0.0, 0.0, -9.81);
    let formula = |text: &str| text.parse().unwrap();
    let belt = VectorFormula(["1.5*smooth(4*t)", "0.3*sin(20*t)", "1"].map(formula));
    world.surface_velocities.insert(24, belt);
    world.surface_velocities.insert(27, DVec3::new(0.5, 0.0, 0.0).into());
    let path = Some(VectorFormula(["0.6*t", "0", "0.02*sin(30*t)"].map(formula)));
    world.prescribed.insert(25, Prescribed { path, ..Prescribed::default() });
    let positions = vec![DVec3::ZERO, DVec3::new(0.1, 0.1, 0.0), DVec3::ZERO];
    let waypoints = Some(Waypoints { times: vec![0.0, 0.1, 0.3], positions, repeat: true, smooth: true });
    let turn = Some(Turn { axis: DVec3::X, angle: formula("0.2*sin(10*t)") });
    world.prescribed.insert(26, Prescribed { waypoints, turn, ..Prescribed::default() });
    let one = agrees(&world, options(5e-3), 70);
    let moved = |id: u64| one.bodies[&id].0 - world.bodies.position[id as usize];
    assert!(moved(1).x > 0.05, "the belt carries: {}", moved(1));
    assert!((moved(25).x - 0.21).abs() < 1e-9 && moved(26).length() > 0.01, "{} {}", moved(25), moved(26));
}

#[test]
fn a_force_stays_with_the_body_that_migrates() {
    let bodies = (0..12).map(|k| ball(0.1, [0.3 * f64::from(k), 0.01 * f64::from(k % 2), 0.0]));
    let mut world = world_of(bodies, 0.3, 0.0);
    let mass = 1.0 / world.bodies.inverse_mass()[2];
    let push = ExternalForce { force: mass * DVec3::new(8.0, 0.1, 0.0), torque: 0.01 * mass * DVec3::Z };
    world.external.insert(2, push);
    let one = agrees(&world, options(5e-3), 150);
    assert!(one.bodies[&2].0.x > 1.3, "{}", one.bodies[&2].0);
    assert!(one.bodies[&2].3.length() > 0.0);
}

/// Forces that depend on the place are those of the place where the owner has the body.
#[test]
fn fields_act_alike_on_both_sides_of_a_periodic_border() {
    let periods = Periods::new(DVec3::ZERO, DVec3::splat(2.0), [true, false, false]);
    let bodies = [ball(0.1, [0.05, 0.5, 0.5]), ball(0.1, [1.86, 0.5, 0.52]), ball(0.1, [0.98, 0.5, 0.5])];
    let mut world = world_of(bodies, 0.3, 0.0);
    world.fields.push(ForceField::Well { centre: DVec3::ONE, stiffness: 30.0 });
    let one = on_ranks(&world, options(5e-3), 20, Setting::periodic(1, DIVISIONS[0], periods));
    for ranks in [2, 3, 4] {
        let there = on_ranks(&world, options(5e-3), 20, Setting::periodic(ranks, DIVISIONS[0], periods));
        agree(&format!("{ranks} ranks"), &one, &there, &periods);
    }
}

/// A heavy sphere among small ones: too large to stay among neighbours, so every rank has it.
fn boulder(periodic: [bool; 3], name: PartitionName) -> Scene {
    let half = DVec3::new(0.6, 0.5, 0.5);
    let large = BodySpec { velocity: DVec3::new(1.5, 0.2, -0.6), ..BodySpec::new(Shape::sphere(0.22), DVec3::ZERO) };
    let second = BodySpec {
        velocity: DVec3::new(-1.0, 0.0, 0.7),
        ..BodySpec::new(Shape::sphere(0.21), DVec3::new(0.5, 0.03, 0.0))
    };
    // Two layers of small ones above, and two below.
    let layers = |z: f64| Lattice {
        origin: DVec3::new(-0.55, -0.45, z),
        velocity_jitter: 0.2,
        ..Lattice::cubic([12, 10, 2], 0.1, 0.04)
    };
    let mut scene = Scene {
        gravity: DVec3::ZERO,
        time: Time { step: 2e-3.into(), end: 1.0, ..Time::default() },
        body: vec![large, second],
        lattice: vec![layers(0.32), layers(-0.42)],
        ..Scene::default()
    };
    (scene.domain.min, scene.domain.max) = (Some(-half), Some(half));
    scene.domain.periodic = periodic;
    scene.domain.partition = name;
    scene.solver.name = SolverName::Apgd;
    if periodic == [false; 3] {
        scene.force.push(ForceField::Well { centre: DVec3::ZERO, stiffness: 20.0 });
    }
    scene
}

fn a_large_body_agrees(periodic: [bool; 3]) {
    for name in [PartitionName::Cartesian, PartitionName::Morton] {
        let mut scene = boulder(periodic, name);
        let steps = 60;
        let one = scene_on_ranks(&scene, 1, 1, steps, |_, _| ());
        let touched = one.contacts.iter().filter(|pair| pair[0] < 2).count();
        println!("{periodic:?}: {touched} of {} contacts with large bodies", one.contacts.len());
        assert!(touched > 1, "{touched}");
        for ranks in [2, 4, 8] {
            if name == PartitionName::Cartesian {
                scene.domain.blocks = Some([ranks as u32, 1, 1]);
            }
            let there = scene_on_ranks(&scene, ranks, 1, steps, |_, _| ());
            agree(&format!("{name:?} {ranks} {periodic:?}"), &one, &there, &scene.periods());
        }
    }
}

#[test]
fn a_large_body_is_everywhere() {
    a_large_body_agrees([false; 3]);
}

#[test]
fn a_large_body_is_everywhere_in_a_periodic_cell_too() {
    a_large_body_agrees([true, false, false]);
    a_large_body_agrees([true; 3]);
}

/// The same with a box and a mesh, whose turns are reduced over all ranks too.
fn large_solids(periodic: [bool; 3], name: PartitionName) -> Scene {
    let mut scene = boulder(periodic, name);
    scene.body[0].shape = Shape::cuboid(DVec3::new(0.17, 0.15, 0.19));
    scene.body[0].orientation = Some(DQuat::from_rotation_x(0.3));
    scene.body[1].shape = Shape::mesh(tapered(DVec3::new(0.11, 0.14, 0.12)));
    scene.body[1].motion = Motion::Dynamic;
    scene.body[0].velocity.z = -1.5;
    scene.body[1].velocity.z = 2.0;
    for body in &mut scene.body {
        body.angular_velocity = DVec3::new(1.0, -0.5, 2.0);
    }
    scene
}

#[test]
fn large_boxes_and_meshes_are_everywhere() {
    for (name, periodic) in [
        (PartitionName::Cartesian, [false; 3]),
        (PartitionName::Morton, [false; 3]),
        (PartitionName::Morton, [true, false, false]),
    ] {
        let mut scene = large_solids(periodic, name);
        let steps = 60;
        let one = scene_on_ranks(&scene, 1, 1, steps, |_, _| ());
        for large in 0..2 {
            let touched = one.contacts.iter().filter(|pair| pair[0] == large && pair[1] > 1).count();
            assert!(touched > 1, "{periodic:?}: {touched} contacts with {large}");
        }
        for ranks in [4, 8] {
            if name == PartitionName::Cartesian {
                scene.domain.blocks = Some([ranks as u32, 1, 1]);
            }
            let there = scene_on_ranks(&scene, ranks, 1, steps, |simulation, _| {
                assert!([0, 1].iter().all(|&id| simulation.world.bodies.index_of(id).is_some()));
            });
            agree(&format!("{name:?} {ranks} {periodic:?}"), &one, &there, &scene.periods());
            for (id, state) in there.bodies.range(..2) {
                let turn = (state.3 - one.bodies[id].3).length();
                assert!(turn < 1e-8, "{name:?} {ranks} {periodic:?}: body {id} turns by {turn:e} more");
            }
        }
    }
}

/// A tube of triangles without ends, seen from inside.
fn tube(radius: f64, half: f64, around: u32) -> Surface {
    let corner = |k: u32| {
        let angle = std::f64::consts::TAU * f64::from(k / 2) / f64::from(around);
        DVec3::new(radius * angle.cos(), if k & 1 == 0 { -half } else { half }, radius * angle.sin())
    };
    let sides = (0..around).flat_map(|k| {
        let [a, b, c, d] = [2 * k, 2 * k + 1, 2 * k + 2, 2 * k + 3].map(|k| k % (2 * around));
        [[a, b, c], [b, d, c]]
    });
    Surface { vertices: (0..2 * around).map(corner).collect(), triangles: sides.collect() }
}

#[test]
fn a_drum_of_triangles_turns_on_all_ranks() {
    let mut scene = Scene { time: Time { step: 2e-3.into(), end: 1.0, ..Time::default() }, ..Scene::default() };
    let end = |side: f64| BodySpec {
        normal: Some(DVec3::Y * -side),
        ..BodySpec::new(Shape::half_space(), DVec3::Y * 0.2 * side)
    };
    let drum = BodySpec {
        motion: Motion::Kinematic,
        angular_velocity: 3.0 * DVec3::Y,
        ..BodySpec::new(Shape::mesh(tube(0.4, 0.25, 16)), DVec3::ZERO)
    };
    scene.body = vec![drum, end(-1.0), end(1.0)];
    let grains = |shape: Shape, z: f64| {
        let (origin, velocity) = (DVec3::new(-0.12, -0.12, z), -2.0 * DVec3::Z);
        // At random: where edges lie upon edges, rounding would choose between contacts.
        let orientation = Some(Orientation::Random);
        Lattice { origin, velocity, orientation, jitter: 0.004, ..Lattice::cubic([3, 3, 2], 0.12, 1.0) }.of(shape)
    };
    scene.lattice =
        vec![grains(Shape::cuboid(DVec3::new(0.03, 0.035, 0.025)), -0.29), grains(Shape::sphere(0.04), -0.05)];
    scene.solver.name = SolverName::Apgd;
    scene.solver.friction = Some(Friction::Associated);
    scene.solver.tolerance = 1e-9;
    scene.time.integrator = Integrator::Euler;
    scene.contact.slip_rounding = 0.0;
    let steps = 42;
    for (name, counts) in [(PartitionName::Cartesian, &[2, 5][..]), (PartitionName::Morton, &[3])] {
        scene.domain.partition = name;
        let one = scene_on_ranks(&scene, 1, 1, steps, |_, _| ());
        let touched = one.contacts.iter().filter(|pair| pair[0] == 0).count();
        println!("{name:?}: {touched} of {} contacts with the drum", one.contacts.len());
        assert!(touched > 20, "{touched} contacts with the drum");
        for &ranks in counts {
            let there = scene_on_ranks(&scene, ranks, 1, steps, |_, _| ());
            assert_eq!(there.contacts, one.contacts, "{name:?} {ranks}");
            let (x, v) = largest_difference(&one, &there, &Periods::default());
            println!("{name:?} {ranks}: {x:.1e} {v:.1e}");
            assert!(x < 1e-6 && v < 1e-4, "{name:?} {ranks}: {x:e} {v:e}");
        }
    }
}

/// A body is where its centre of mass is, however far away its shape begins: one of its size has it.
#[test]
fn a_shape_that_begins_far_away_is_no_large_body() {
    for name in [PartitionName::Cartesian, PartitionName::Morton] {
        let mut scene = boulder([false; 3], name);
        let away = DVec3::new(3.0, -4.0, 5.0);
        for (k, x) in [-0.4, -0.1, 0.2, 0.5].into_iter().enumerate() {
            let surface = tapered(DVec3::splat(0.025)).mapped(|p| p + away);
            let corners = surface.vertices.clone();
            let shape = if k % 2 == 0 { Shape::mesh(surface) } else { Shape::polyhedron(corners) };
            let motion = Motion::Dynamic;
            scene.body.push(BodySpec { motion, ..BodySpec::new(shape, DVec3::new(x, 0.4, 0.1) - away) });
        }
        let steps = 30;
        let one = scene_on_ranks(&scene, 1, 1, steps, |_, _| ());
        for ranks in [2, 8] {
            let copies = AtomicUsize::new(0);
            let there = scene_on_ranks(&scene, ranks, 1, steps, |simulation, _| {
                let bodies = &simulation.world.bodies;
                let here = (2..6).filter(|&id| bodies.index_of(id).is_some()).count();
                copies.fetch_add(here, Ordering::Relaxed);
            });
            agree(&format!("{name:?} {ranks}"), &one, &there, &Periods::default());
            let copies = copies.into_inner();
            assert!((4 * steps..4 * steps * ranks).contains(&copies), "{name:?} {ranks}: {copies}");
        }
    }
}

#[test]
fn an_added_body_goes_where_its_centre_of_mass_is() {
    let world = world_of([ball(0.2, [0.5, 0.5, 0.5]), ball(0.2, [3.5, 0.5, 0.5])], 0.3, 0.0);
    let found = in_a_row(&world, |mut simulation| {
        let corners = tapered(DVec3::splat(0.05)).mapped(|p| p + 2.0 * DVec3::X).vertices;
        let id = simulation.add(Body::dynamic(Shape::polyhedron(corners), DVec3::new(0.5, 0.2, 0.2))).unwrap();
        simulation.step().unwrap();
        simulation.world.bodies.index_of(id).is_some()
    });
    assert_eq!(found, [false, false, true, false]);
}

/// Its neighbours are on all ranks, and domains of linear systems do not grow through it.
#[test]
fn the_interior_point_bears_a_large_body() {
    let mut scene = boulder([true, false, false], PartitionName::Morton);
    scene.solver.name = SolverName::Scip;
    scene.solver.tolerance = 1e-7;
    let steps = 60;
    let one = scene_on_ranks(&scene, 1, 1, steps, |_, _| ());
    assert!(one.contacts.iter().filter(|pair| pair[0] < 2).count() > 1);
    for ranks in [2, 8] {
        let there = scene_on_ranks(&scene, ranks, 1, steps, |_, _| ());
        let (x, v) = largest_difference(&one, &there, &scene.periods());
        println!("{ranks} ranks: {x:e} {v:e}");
        assert!(there.converged && x < 1e-6 && v < 1e-4, "{ranks} ranks: {x:e} {v:e}");
    }
}
