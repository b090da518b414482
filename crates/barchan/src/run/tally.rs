//! What the summary says about all steps together.

use crate::narrow::Penetration;
use crate::output::{SolverSummary, StageSeconds, Summary, hash_text, peak_rss_bytes};
use crate::scene::Scene;
use crate::solver::Status;
use crate::step::{Simulation, StepReport};
use std::collections::BTreeMap;

/// Sums and extremes over the steps so far, and what the last of them had.
#[derive(Clone, Debug, Default)]
pub(super) struct Tally {
    pub(super) steps: u64,
    /// Simulated time after the last step that went well.
    pub(super) time: f64,
    contacts: usize,
    /// Steps by the solver that ended them.
    taken: BTreeMap<&'static str, u64>,
    penetration: Penetration,
    iterations: u64,
    iterations_max: u32,
    operator_applications: u64,
    residual_max: f64,
    converged: u64,
    seconds: StageSeconds,
}

impl Tally {
    /// Adds a step.
    pub(super) fn add(&mut self, report: &StepReport, time: f64) {
        let solver = &report.solver;
        self.steps += 1;
        self.time = time;
        self.contacts = report.contacts;
        if let Some(name) = solver.taken {
            *self.taken.entry(name.name()).or_default() += 1;
        }
        self.penetration = report.penetration;
        self.iterations += u64::from(solver.iterations);
        self.iterations_max = self.iterations_max.max(solver.iterations);
        self.operator_applications += u64::from(solver.operator_applications);
        self.residual_max = self.residual_max.max(solver.residual);
        self.converged += u64::from(solver.status == Status::Converged);
        self.seconds.broad += report.seconds.broad;
        self.seconds.narrow += report.seconds.narrow;
        self.seconds.solve += report.seconds.solve;
        self.seconds.integrate += report.seconds.integrate;
    }

    /// Steps that missed the solver's tolerance.
    pub(super) fn missed(&self) -> u64 {
        self.steps - self.converged
    }

    /// The run in numbers, but for what only the run itself knows: time of output and in all,
    /// and whether it was interrupted.
    pub(super) fn summary(&self, scene: &Scene, simulation: &mut Simulation) -> Summary {
        let solver = SolverSummary {
            name: scene.solver.name.name().into(),
            taken: self.taken.iter().map(|(&name, &steps)| (name.into(), steps)).collect(),
            tolerance: scene.solver.tolerance,
            iterations_mean: self.iterations as f64 / self.steps.max(1) as f64,
            iterations_max: self.iterations_max.into(),
            operator_applications: self.operator_applications,
            residual_max: self.residual_max,
            steps_converged: self.converged,
        };
        Summary {
            version: env!("CARGO_PKG_VERSION").into(),
            scenario: scene.name.clone(),
            bodies: simulation.world.bodies.bounded_len() as u64,
            contacts: self.contacts as u64,
            steps: self.steps,
            time: self.time,
            threads: rayon::current_num_threads() as u64,
            ranks: 1,
            state_hash: hash_text(simulation.world.state_hash()),
            energy: simulation.energy(),
            max_penetration: self.penetration.max,
            mean_penetration: self.penetration.mean,
            solver,
            seconds: self.seconds,
            peak_rss_bytes: peak_rss_bytes(),
            interrupted: false,
        }
    }
}
