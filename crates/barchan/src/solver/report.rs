//! What every solve tells about itself.

use super::SolverName;
use crate::problem::{ConeProblem, Criterion, Residuals};
use serde::{Deserialize, Serialize};

/// How a solve ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// The residual fell below the tolerance.
    #[default]
    Converged,
    /// The iterations ran out first.
    IterationLimit,
    /// Further iterations would not help.
    Stalled,
    /// The problem holds something that is not a number, or makes no sense.
    BadProblem,
}

/// One entry of a history.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Moment {
    /// Iterations so far.
    pub iterations: u32,
    /// Operator applications so far.
    pub operator_applications: u32,
    /// The residual that decides.
    pub residual: f64,
}

/// The result of a solve beside the impulses.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// The solver that ended it, where one was chosen by its name: `auto` leaves the work to others.
    pub taken: Option<SolverName>,
    /// How it ended.
    pub status: Status,
    /// Iterations done.
    pub iterations: u32,
    /// Operator applications done, those of backtracking included.
    pub operator_applications: u32,
    /// The residual that decided.
    pub residual: f64,
    /// Every residual of the impulses returned.
    pub residuals: Residuals,
    /// The objective ½γᵀAγ + bᵀγ of the impulses returned.
    pub objective: f64,
    /// The residual after every iteration (after every step of the outer loop, where there is
    /// one), if asked for.
    pub history: Vec<Moment>,
}

impl Report {
    /// Takes down the residuals and the objective of the impulses that a solve hands out.
    pub(super) fn judge<P: ConeProblem>(
        &mut self, problem: &mut P, γ: &P::Impulses, w: &P::Velocities, by: Criterion
    ) {
        let (residuals, work) = problem.residuals(γ, w);
        self.residuals = residuals;
        self.residual = residuals.by(by);
        // ½γᵀAγ + bᵀγ = ½(γᵀ(Aγ + b) + bᵀγ).
        self.objective = 0.5 * (work + problem.dot_bias(γ));
    }

    /// The report of two solves of which the second went on where the first had stopped.
    pub(super) fn followed_by(mut self, next: Report) -> Report {
        self.history.extend(next.history.iter().map(|moment| Moment {
            iterations: moment.iterations + self.iterations,
            operator_applications: moment.operator_applications + self.operator_applications,
            ..*moment
        }));
        Report {
            iterations: self.iterations + next.iterations,
            operator_applications: self.operator_applications + next.operator_applications,
            history: self.history,
            ..next
        }
    }
}
