//! A granular gas over many steps: nobody is lost, nobody is doubled, and runs repeat themselves.

use crate::ranks::{scene, scene_on_ranks};
use barchan::DVec3;
use barchan::cone::solver::SolverName;
use barchan::partition::PartitionName;
use barchan::scene::Scene;
use barchan::step::Simulation;
use barchan::world::Ownership;
use std::sync::Mutex;

/// A small periodic gas that drifts through its cell, so that it migrates all the time.
fn gas(partition: &str) -> Scene {
    let set = [("nx", "5"), ("ny", "5"), ("nz", "5"), ("spacing", "0.0115"), ("periodic", "1"), ("time.step", "4e-4")];
    let mut scene =
        scene("granular-gas", &set.into_iter().chain([("domain.partition", partition)]).collect::<Vec<_>>());
    scene.lattice[0].velocity = DVec3::new(1.0, -0.8, 0.6);
    scene.solver.name = SolverName::Apgd;
    scene
}

#[test]
fn nobody_is_lost_in_a_thousand_steps() {
    for (partition, ranks) in [("cartesian", 8), ("morton", 7)] {
        let scene = gas(partition);
        let mut one = Simulation::from_scene(&scene).unwrap();
        let known: Vec<f64> = (0..40)
            .map(|_| {
                one.step().unwrap();
                one.energy().kinetic
            })
            .collect();
        let energies = Mutex::new(Vec::new());
        let there = scene_on_ranks(&scene, ranks, 1, 1000, |simulation, _| {
            if simulation.steps() <= known.len() as u64 {
                // All ranks take part in the sum.
                let energy = simulation.energy().kinetic;
                if simulation.domain().is_some_and(|domain| domain.rank() == 0) {
                    energies.lock().unwrap().push(energy);
                }
            }
        });
        println!("{partition}, {ranks} ranks: {} migrations, {} copies", there.migrations, there.copies);
        assert!(there.migrations > 3000, "{partition}: {}", there.migrations);
        assert_eq!(there.bodies.keys().copied().collect::<Vec<_>>(), (0..125).collect::<Vec<u64>>());
        let energies = energies.into_inner().unwrap();
        for (step, (here, there)) in known.iter().zip(&energies).enumerate() {
            assert!((here - there).abs() < 1e-8 * here, "{partition}, step {step}: {here} and {there}");
        }
        assert_eq!(energies.len(), known.len());
        // It cools down, so there were contacts.
        assert!(known[39] < 0.9999 * known[0], "{known:?}");
    }
}

/// Without re-ordering nobody tidies up, and still bodies that have left take up no room for long.
#[test]
fn places_of_bodies_that_have_left_are_used_again() {
    let mut scene = gas("cartesian");
    scene.broad_phase.reorder_interval = 0;
    let there = scene_on_ranks(&scene, 4, 1, 500, |simulation, _| {
        let bodies = &simulation.world.bodies;
        let there = (0..bodies.len()).filter(|&i| bodies.ownership()[i] != Ownership::Removed).count();
        assert!(bodies.len() <= 2 * (there + 100), "{} rows for {there} bodies", bodies.len());
    });
    assert!(there.migrations > 1000 && there.bodies.len() == 125, "{}", there.migrations);
}

/// More bodies a rank than one chunk of parallel loops, so that threads share the work.
#[test]
fn the_number_of_threads_leaves_no_trace() {
    for name in [PartitionName::Cartesian, PartitionName::Morton] {
        let mut scene = scene("sedimentation", &[("bodies", "2600")]);
        scene.domain.partition = name;
        let run = |threads: usize| {
            let there = scene_on_ranks(&scene, 2, threads, 80, |_, _| ());
            assert_eq!(there.bodies.len(), 2601);
            (there.hash, there.contacts, there.iterations)
        };
        let first = run(1);
        assert!(first.1.len() > 300, "{} contacts", first.1.len());
        assert_eq!(run(2), first, "{name:?}: two threads a rank");
        assert_eq!(run(1), first, "{name:?}: a second run");
    }
}
