//! What every solve tells about itself.

use super::{Solve, SolverName, SolverOptions};
use crate::{ConeProblem, Residuals};
use serde::{Deserialize, Serialize};
use std::time::Instant;

/// How a solve ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// The residual fell below the tolerance.
    #[default]
    Converged,
    /// The iterations ran out first.
    #[serde(rename = "iteration limit")]
    IterationLimit,
    /// Further iterations would not help.
    Stalled,
    /// It ended short of its tolerance with impulses that are worse than none: none are handed out.
    #[serde(rename = "gave up")]
    GaveUp,
    /// The problem holds something that is not a number, or makes no sense.
    #[serde(rename = "bad problem")]
    BadProblem,
}

/// One entry of a history.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct HistoryEntry {
    /// Iterations so far.
    pub iterations: u32,
    /// Operator applications so far.
    pub operator_applications: u32,
    /// Wall-clock seconds since the solve began.
    #[serde(default)]
    pub seconds: f64,
    /// The residual that decides.
    pub residual: f64,
}

/// The same solve gives the same moments, bit for bit, and takes another time: seconds take no
/// part.
impl PartialEq for HistoryEntry {
    fn eq(&self, other: &Self) -> bool {
        let parts = |moment: &Self| (moment.iterations, moment.operator_applications, moment.residual);
        parts(self) == parts(other)
    }
}

/// When a solve began. Reports are compared by what was computed, so all watches are equal.
#[derive(Clone, Copy, Debug)]
struct Watch(Instant);

impl Default for Watch {
    fn default() -> Self {
        Self(Instant::now())
    }
}

impl PartialEq for Watch {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// The result of a solve beside the impulses. Two are equal if they tell of the same computation,
/// whatever time it took.
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
    /// How often the impulses to start from were dropped, because none at all are the better start.
    #[serde(default)]
    pub cold_starts: u32,
    /// The residual that decided.
    pub residual: f64,
    /// Every residual of the impulses returned.
    pub residuals: Residuals,
    /// The objective ½γᵀAγ + bᵀγ of the impulses returned.
    pub objective: f64,
    /// The residual after every iteration (after every step of the outer loop, where there is
    /// one), if asked for.
    pub history: Vec<HistoryEntry>,
    /// Started with the report, which every solve makes first.
    #[serde(skip)]
    watch: Watch,
}

impl Report {
    /// The same, ended by this solver.
    pub(crate) fn by(mut self, solver: SolverName) -> Report {
        self.taken = Some(solver);
        self
    }

    /// Whether there is nothing left to do for a solve with these options, or nothing left to do it with.
    pub(crate) fn is_final(&self, options: &SolverOptions) -> bool {
        matches!(self.status, Status::Converged | Status::BadProblem) || self.iterations >= options.max_iterations
    }

    /// Adds the present state, with this residual, to the history.
    pub(crate) fn record(&mut self, residual: f64) {
        let Report { iterations, operator_applications, watch, .. } = *self;
        let seconds = watch.0.elapsed().as_secs_f64();
        self.history.push(HistoryEntry { iterations, operator_applications, seconds, residual });
    }

    /// Records the residuals and the objective of the impulses that a solve hands out.
    /// Returns the parts γᵀ(Aγ + b) and bᵀγ of the objective.
    pub(crate) fn record_residuals<P: ConeProblem>(&mut self, solve: &mut Solve<'_, P>) -> (f64, f64) {
        let (residuals, work) = solve.problem.residuals(solve.γ, solve.response);
        let of_bias = solve.problem.dot_bias(solve.γ);
        self.residuals = residuals;
        self.residual = residuals.by(solve.options.criterion);
        // ½γᵀAγ + bᵀγ = ½(γᵀ(Aγ + b) + bᵀγ).
        self.objective = 0.5 * (work + of_bias);
        (work, of_bias)
    }

    /// Adds the history of a solve that went on where this one had stopped.
    pub(crate) fn append_history(&mut self, next: &Report) {
        let pause = next.watch.0.duration_since(self.watch.0).as_secs_f64();
        self.history.extend(next.history.iter().map(|moment| HistoryEntry {
            iterations: moment.iterations + self.iterations,
            operator_applications: moment.operator_applications + self.operator_applications,
            seconds: moment.seconds + pause,
            ..*moment
        }));
    }

    /// The report of two solves of which the second went on where the first had stopped.
    pub(crate) fn followed_by(mut self, next: Report) -> Report {
        self.append_history(&next);
        Report {
            iterations: self.iterations + next.iterations,
            operator_applications: self.operator_applications + next.operator_applications,
            cold_starts: self.cold_starts + next.cold_starts,
            history: self.history,
            watch: self.watch,
            ..next
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread::sleep;
    use std::time::Duration;

    /// A report of two iterations that took their time.
    fn slow() -> Report {
        let mut report = Report::default();
        for iteration in 1..=2 {
            sleep(Duration::from_millis(2));
            report.iterations = iteration;
            report.record(1.0 / f64::from(iteration));
        }
        report
    }

    #[test]
    fn reports_are_equal_whatever_time_they_took() {
        let (a, b) = (slow(), slow());
        assert!(a.history[0].seconds >= 2e-3 && a.history[1].seconds >= 4e-3);
        assert_ne!(a.history[1].seconds, b.history[1].seconds);
        assert_eq!(a, b);
        let mut other = b.clone();
        other.history[1].residual = 0.4;
        assert_ne!(b, other);
    }

    #[test]
    fn a_history_goes_on_in_the_next_solve() {
        let first = slow();
        let report = first.followed_by(slow());
        let iterations: Vec<_> = report.history.iter().map(|moment| moment.iterations).collect();
        assert_eq!((report.iterations, iterations), (4, vec![1, 2, 3, 4]));
        assert!(report.history.windows(2).all(|pair| pair[0].seconds + 2e-3 <= pair[1].seconds + 1e-9));
    }
}
