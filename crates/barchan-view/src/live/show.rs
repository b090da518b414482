//! A scene that is run to be looked at: stepped, held, reset and changed as viewers ask.

use super::watch::{Next, Watch};
use barchan::cone::solver::Status;
use barchan::scene::{Scene, SceneError};
use barchan::step::Simulation;
use std::collections::BTreeMap;

/// A scene under way.
pub struct Show {
    scene: Scene,
    simulation: Simulation,
    /// Steps since the last start that missed the solver's tolerance.
    missed: u64,
    changed: BTreeMap<String, f64>,
}

/// What a show came to.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// Steps since the last start.
    pub steps: u64,
    /// Simulated time.
    pub time: f64,
    /// Steps since the last start that missed the solver's tolerance.
    pub missed: u64,
    /// See [`barchan::world::World::state_hash`].
    pub state_hash: u64,
    /// Numbers that viewers have changed.
    pub changed: BTreeMap<String, f64>,
}

impl Show {
    /// Builds the scene.
    ///
    /// # Errors
    /// If it cannot be built.
    pub fn new(scene: &Scene) -> Result<Self, SceneError> {
        let simulation = Simulation::from_scene(scene)?;
        Ok(Self { scene: scene.clone(), simulation, missed: 0, changed: BTreeMap::new() })
    }

    /// Runs until `stop` says so. At its end the scene rests, and can be reset. A reset goes back to the
    /// first state, with the numbers that viewers have set by then.
    ///
    /// # Errors
    /// If the scene cannot be built once more.
    pub fn run(mut self, watch: &mut Watch, stop: impl Fn() -> bool) -> Result<Outcome, SceneError> {
        watch.set_scene(&self.scene);
        loop {
            match watch.next(&self.simulation, &stop) {
                Next::Step => match self.simulation.step() {
                    Ok(report) => {
                        self.missed += u64::from(report.solver.status != Status::Converged);
                        watch.stepped(&self.simulation, &report, self.missed);
                    }
                    Err(error) => watch.failed(error.to_string()),
                },
                Next::Adjust(numbers) => {
                    self.adjust(numbers);
                    watch.set_scene(&self.scene);
                }
                Next::Reset => {
                    self.simulation = Simulation::from_scene(&self.scene)?;
                    self.missed = 0;
                    watch.restarted();
                }
                Next::Stop => break,
            }
        }
        let world = &self.simulation.world;
        Ok(Outcome {
            steps: self.simulation.steps(),
            time: world.time,
            missed: self.missed,
            state_hash: world.state_hash(),
            changed: self.changed,
        })
    }

    fn adjust(&mut self, numbers: BTreeMap<String, f64>) {
        for (key, value) in numbers {
            // What is out of range has been refused before.
            if self.scene.set_adjustable(&key, value).is_ok() {
                self.changed.insert(key, value);
            }
        }
        self.scene.adjust(&mut self.simulation.world);
    }
}
