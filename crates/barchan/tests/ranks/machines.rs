//! Machines on ranks against the same in one process: bodies of joints are on every rank, and contacts where they are.

use crate::ranks::{fastest, largest_difference, scene_on_ranks};
use barchan::cone::solver::Friction;
use barchan::partition::{PartitionName, Periods};
use barchan::scenario;
use std::sync::Mutex;

#[test]
fn a_machine_digs_the_same_on_any_number_of_ranks() {
    let set = [("bodies", "250"), ("radius", "0.035"), ("speed", "2")].map(|(key, value)| (key.into(), value.into()));
    let mut scene = scenario::find("excavator").unwrap().scene(&set).unwrap();
    scene.time.step = 1e-3.into();
    scene.contact.slip_rounding = 0.0;
    scene.solver.friction = Some(Friction::Associated);
    scene.solver.tolerance = 1e-9;
    scene.solver.max_iterations = 20_000;
    scene.solver.name = barchan::cone::solver::SolverName::AcceleratedGs;
    // The bucket is in the bed from the first step on.
    for body in scene.body.iter_mut().skip(1) {
        body.position.z -= 0.25;
    }
    for joint in &mut scene.joint {
        joint.anchor.z -= 0.25;
    }
    let steps = 60;
    let loads = Mutex::new(Vec::new());
    let each = |simulation: &mut barchan::step::Simulation, _: &barchan::step::StepReport| {
        if simulation.steps() == steps as u64 {
            let loads_here = simulation.world.joints.iter().map(|joint| (joint.state.force, joint.state.effort));
            loads.lock().unwrap().push(loads_here.collect::<Vec<_>>());
        }
    };
    let one = scene_on_ranks(&scene, 1, 1, steps, each);
    let expected = loads.lock().unwrap().remove(0);
    assert!(expected.iter().all(|load| load.0.length() > 10.0), "{expected:?}");
    let touches = |id: u64| one.contacts.iter().any(|pair| pair.contains(&id));
    assert!(touches(3), "the bucket touches nothing");
    for partition in [PartitionName::Cartesian, PartitionName::Morton] {
        scene.domain.partition = partition;
        for ranks in [2, 3, 5] {
            let there = scene_on_ranks(&scene, ranks, 1, steps, each);
            assert!(there.converged, "{partition:?} {ranks}");
            let (position, velocity) = largest_difference(&one, &there, &Periods::default());
            println!("{partition:?} {ranks}: {position:.1e}, {velocity:.1e}");
            assert_eq!(there.contacts, one.contacts, "{partition:?} {ranks}");
            assert!(position < 1e-6 && velocity < 1e-4 * fastest(&one), "{partition:?} {ranks}: {velocity:e}");
            // Every rank knows what the joints bear.
            for loads in loads.lock().unwrap().drain(..) {
                for (found, expected) in loads.iter().zip(&expected) {
                    let off = (found.0 - expected.0).length() + (found.1 - expected.1).abs();
                    assert!(off < 1e-3 * (expected.0.length() + expected.1.abs()), "{found:?} is not {expected:?}");
                }
            }
        }
    }
}
