//! Bodies of every shape on ranks against the same in one process.

use crate::heap::heap;
use crate::ranks::{fastest, largest_difference, scene_on_ranks};
use barchan::cone::solver::{Friction, SolverName};
use barchan::dynamics::Integrator;
use barchan::partition::{PartitionName, Periods};
use barchan::scene::Scene;

/// The heap, with the law under which velocities are unique, and solved to many digits.
fn exact_heap() -> Scene {
    let mut scene = heap(30);
    scene.time.step = 1e-3.into();
    scene.time.integrator = Integrator::Euler;
    scene.contact.slip_rounding = 0.0;
    scene.solver.name = SolverName::Apgd;
    scene.solver.friction = Some(Friction::Associated);
    scene.solver.tolerance = 1e-10;
    scene.solver.max_iterations = 20_000;
    scene
}

#[test]
fn every_shape_is_the_same_on_any_number_of_ranks() {
    let mut scene = exact_heap();
    let steps = 150;
    let one = scene_on_ranks(&scene, 1, 1, steps, |_, _| ());
    assert!(one.contacts.len() > 3 && one.converged, "{} contacts", one.contacts.len());
    for partition in [PartitionName::Cartesian, PartitionName::Morton] {
        scene.domain.partition = partition;
        for ranks in [2, 3, 5, 8] {
            let there = scene_on_ranks(&scene, ranks, 1, steps, |_, _| ());
            let (position, velocity) = largest_difference(&one, &there, &Periods::default());
            println!("{partition:?} {ranks}: {position:.1e}, {velocity:.1e}, {} migrations", there.migrations);
            assert_eq!(there.contacts, one.contacts, "{partition:?} {ranks}");
            assert!(position < 1e-6 && velocity < 1e-4 * fastest(&one), "{partition:?} {ranks}: {velocity:e}");
        }
    }
}
