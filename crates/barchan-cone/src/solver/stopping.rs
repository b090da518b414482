//! When a solve ends: one rule for all solvers.
//!
//! A solver shows every residual that it computes and is told to go on, to start cold, or to end with
//! a status. The rule remembers the best residual and writes the history; the iterate that belongs to
//! the best is the solver's to keep.

use super::nothing::RESIDUAL_OF_NONE;
use super::{Criterion, Report, Solve, SolverOptions, Status};
use crate::ConeProblem;

/// What a solver does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// The next iteration.
    GoOn,
    /// The start may be worse than no impulses. Said once a solve, to the first residual: the solver starts cold if it is
    /// ([`super::nothing::is_bad_start`]), and shows its start again.
    DoubtStart,
    /// Nothing more.
    End(Status),
}

/// What a residual that is not finite says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NotFinite {
    /// The problem is bad: the iteration cannot diverge.
    BadProblem,
    /// The iteration has diverged if a finite residual came before; if none did, the problem is bad.
    Diverged,
    /// The iteration has failed: the solver has tried the cold start and found the problem sound.
    Failed,
    /// Nothing: the next iteration may mend it.
    Nothing,
}

/// The stopping rule of one solve.
pub(super) struct Stopping {
    tolerance: f64,
    max_iterations: u32,
    record_history: bool,
    /// Iterations without a better residual after which a solve counts as stalled.
    patience: u32,
    not_finite: NotFinite,
    /// The residual above which a start is doubtful.
    doubtful: f64,
    may_doubt: bool,
    best_residual: f64,
    best_iteration: u32,
    is_best: bool,
}

impl Stopping {
    pub(super) fn new<P: ConeProblem>(solve: &Solve<'_, P>, patience: u32, not_finite: NotFinite) -> Self {
        Self { record_history: solve.record_history, ..Self::of(solve.options, patience, not_finite) }
    }

    fn of(options: &SolverOptions, patience: u32, not_finite: NotFinite) -> Self {
        Self {
            tolerance: options.tolerance,
            max_iterations: options.max_iterations,
            record_history: false,
            patience,
            not_finite,
            // Other residuals tell nothing of that: every start is doubtful, and looked at by the natural one.
            doubtful: if options.criterion == Criterion::Natural { RESIDUAL_OF_NONE } else { f64::NEG_INFINITY },
            may_doubt: matches!(not_finite, NotFinite::BadProblem | NotFinite::Diverged),
            best_residual: f64::INFINITY,
            best_iteration: 0,
            is_best: false,
        }
    }

    /// Takes the residual of the present iterate. `is_still`: the last step has moved nothing.
    pub(super) fn observe(&mut self, residual: f64, is_still: bool, report: &mut Report) -> Next {
        if std::mem::take(&mut self.may_doubt) && residual > self.doubtful {
            self.is_best = false;
            return Next::DoubtStart;
        }
        if self.record_history {
            report.record(residual);
        }
        self.is_best = residual < self.best_residual;
        if self.is_best {
            self.best_residual = residual;
            self.best_iteration = report.iterations;
        }
        if !residual.is_finite() && self.not_finite != NotFinite::Nothing {
            Next::End(self.status_of_not_finite())
        } else if residual <= self.tolerance {
            Next::End(Status::Converged)
        } else if report.iterations >= self.max_iterations {
            Next::End(Status::IterationLimit)
        } else if is_still || report.iterations - self.best_iteration > self.patience {
            Next::End(Status::Stalled)
        } else {
            Next::GoOn
        }
    }

    fn status_of_not_finite(&self) -> Status {
        match self.not_finite {
            NotFinite::Diverged if self.best_residual.is_finite() => Status::Stalled,
            NotFinite::Failed => Status::Stalled,
            _ => Status::BadProblem,
        }
    }

    /// Whether the residual observed last is the best so far.
    pub(super) fn is_best(&self) -> bool {
        self.is_best
    }

    /// The best residual observed, infinite before the first.
    pub(super) fn best_residual(&self) -> f64 {
        self.best_residual
    }

    /// The iteration of the best residual.
    pub(super) fn best_iteration(&self) -> u32 {
        self.best_iteration
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A rule with a tolerance of 0.1, at most ten iterations and a patience of three.
    fn stopping(not_finite: NotFinite) -> Stopping {
        let options = SolverOptions { tolerance: 0.1, max_iterations: 10, ..SolverOptions::default() };
        Stopping { record_history: true, ..Stopping::of(&options, 3, not_finite) }
    }

    /// What the rule says to each of these residuals, an iteration each.
    fn answers(not_finite: NotFinite, residuals: &[f64]) -> (Vec<Next>, Stopping, Report) {
        let mut rule = stopping(not_finite);
        let mut report = Report::default();
        let mut next = Vec::new();
        for &residual in residuals {
            next.push(rule.observe(residual, false, &mut report));
            report.iterations += 1;
        }
        (next, rule, report)
    }

    #[test]
    fn a_solve_ends_by_tolerance_limit_patience_or_a_still_iterate() {
        let (next, rule, report) = answers(NotFinite::BadProblem, &[0.5, 0.7, 0.3, 0.1]);
        assert_eq!(next, [Next::GoOn, Next::GoOn, Next::GoOn, Next::End(Status::Converged)]);
        assert_eq!((rule.best_residual(), rule.best_iteration, rule.is_best()), (0.1, 3, true));
        assert_eq!(report.history.len(), 4);

        let (next, rule, _) = answers(NotFinite::BadProblem, &[0.5; 5]);
        assert_eq!(next[3..], [Next::GoOn, Next::End(Status::Stalled)]);
        assert_eq!((rule.best_iteration, rule.is_best()), (0, false));

        let falling: Vec<f64> = (0..11).map(|k| 1.0 - 0.01 * f64::from(k)).collect();
        let (next, ..) = answers(NotFinite::BadProblem, &falling);
        assert_eq!(next[9..], [Next::GoOn, Next::End(Status::IterationLimit)]);

        let next = stopping(NotFinite::BadProblem).observe(0.5, true, &mut Report::default());
        assert_eq!(next, Next::End(Status::Stalled));
    }

    #[test]
    fn what_is_not_finite_means_what_the_solver_says() {
        let bad = Next::End(Status::BadProblem);
        let stalled = Next::End(Status::Stalled);
        for (rule, at_once, later) in [
            (NotFinite::BadProblem, bad, bad),
            (NotFinite::Diverged, bad, stalled),
            (NotFinite::Failed, stalled, stalled),
            (NotFinite::Nothing, Next::GoOn, Next::GoOn),
        ] {
            assert_eq!(answers(rule, &[f64::NAN]).0, [at_once], "{rule:?}");
            assert_eq!(answers(rule, &[0.5, f64::NAN]).0, [Next::GoOn, later], "{rule:?}");
        }
    }

    #[test]
    fn a_start_is_doubted_once() {
        for bad in [f64::INFINITY, 1.5] {
            let (next, _, report) = answers(NotFinite::Diverged, &[bad, 1.0, bad]);
            assert_eq!(next[..2], [Next::DoubtStart, Next::GoOn]);
            assert_ne!(next[2], Next::DoubtStart);
            // What the cold start replaces is not part of the history.
            assert_eq!(report.history.len(), 2);
        }
        // One that is no worse than none is not, and what comes after it may swing.
        let (next, ..) = answers(NotFinite::Diverged, &[1.0, 1.5]);
        assert_eq!(next, [Next::GoOn; 2]);
    }
}
