//! What several test programs start with: a scenario by name, with some of its numbers chosen.

// Each test program takes what it needs.
#![allow(dead_code)]

use barchan::{scenario, step::Simulation};

/// A simulation of the scenario `name`.
pub(crate) fn simulation(name: &str, overrides: &[(&str, String)]) -> Simulation {
    let overrides: Vec<_> = overrides.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect();
    let scene = scenario::find(name).and_then(|s| s.scene(&overrides)).expect("a sound scenario");
    Simulation::from_scene(&scene).expect("a scene that can be built")
}

/// Steps that must succeed.
pub(crate) fn run(simulation: &mut Simulation, steps: usize) {
    for _ in 0..steps {
        simulation.step().expect("a finite state");
    }
}
