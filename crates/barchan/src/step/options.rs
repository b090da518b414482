//! How a simulation is stepped.

use crate::broad::BroadPhaseOptions;
use crate::dynamics::{ContactOptions, Integrator};
use crate::partition::Outside;
use crate::scene::Scene;
use barchan_cone::solver::SolverOptions;

/// How a simulation is stepped.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StepOptions {
    /// Length of a step.
    pub h: f64,
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
            h: 1e-3,
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
            h: scene.time.step,
            integrator: scene.time.integrator,
            contact: scene.contact,
            broad_phase: scene.broad_phase,
            solver: scene.solver,
            outside: Outside::from(&scene.domain),
            history: scene.output.history,
        }
    }
}
