//! How a simulation is stepped.

use crate::broad::BroadPhaseOptions;
use crate::dynamics::ContactOptions;
use crate::scene::Scene;
use barchan_cone::solver::SolverOptions;

/// How a simulation is stepped.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StepOptions {
    /// Length of a step.
    pub h: f64,
    /// Gaps, penetration and bounces.
    pub contact: ContactOptions,
    /// The broad phase.
    pub broad_phase: BroadPhaseOptions,
    /// The solver.
    pub solver: SolverOptions,
    /// Whether reports carry the history of residuals.
    pub history: bool,
}

impl Default for StepOptions {
    fn default() -> Self {
        Self {
            h: 1e-3,
            contact: ContactOptions::default(),
            broad_phase: BroadPhaseOptions::default(),
            solver: SolverOptions::default(),
            history: false,
        }
    }
}

impl From<&Scene> for StepOptions {
    fn from(scene: &Scene) -> Self {
        Self {
            h: scene.time.step,
            contact: scene.contact,
            broad_phase: scene.broad_phase,
            solver: scene.solver,
            history: scene.output.history,
        }
    }
}
