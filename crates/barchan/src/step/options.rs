//! How a simulation is stepped.

use crate::broad::BroadPhaseOptions;
use crate::dynamics::{ContactOptions, Integrator, StepLength};
use crate::partition::Outside;
use crate::scene::{Scene, Time};
use barchan_cone::solver::SolverOptions;

/// How a simulation is stepped.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StepOptions {
    /// How long steps are.
    pub step: StepLength,
    /// What a step may bring about, where its length is chosen: [`Time::accuracy`].
    pub accuracy: f64,
    /// How positions follow from velocities.
    pub integrator: Integrator,
    /// Gaps, penetration and bounces.
    pub contact: ContactOptions,
    /// The broad phase.
    pub broad_phase: BroadPhaseOptions,
    /// The solver.
    pub solver: SolverOptions,
    /// What becomes of bodies that leave the cell.
    pub outside: Outside,
    /// Whether reports carry the history of residuals.
    pub history: bool,
}

impl Default for StepOptions {
    fn default() -> Self {
        Self {
            step: StepLength::default(),
            accuracy: Time::ACCURACY,
            integrator: Integrator::default(),
            contact: ContactOptions::default(),
            broad_phase: BroadPhaseOptions::default(),
            solver: SolverOptions::default(),
            outside: Outside::default(),
            history: false,
        }
    }
}

impl From<&Scene> for StepOptions {
    fn from(scene: &Scene) -> Self {
        Self {
            step: scene.time.step,
            accuracy: scene.time.accuracy,
            integrator: scene.time.integrator,
            contact: scene.contact,
            broad_phase: scene.broad_phase,
            solver: scene.solver,
            outside: Outside::from(&scene.domain),
            history: scene.output.history,
        }
    }
}
