//! `auto` for large problems: sweeps over all contacts, and those that hold them up by themselves.

use super::AnySolver;
use super::choice::SMALL;
use crate::operator::patch::Around;
use crate::solver::{Offer, Report, Solvable, Solve, Solver, SolverOptions, Status};

/// Sweeps before the first patch is looked for,
const SWEEPS: u32 = 250;
/// and between patches,
const SWEEPS_BETWEEN: u32 = 100;
/// of which there are at most so many.
const PATCHES: u32 = 4;

impl<I: Default, V: Default, S: Offer, N: Offer> AnySolver<I, V, S, N> {
    /// Sweeps over all contacts. Where they take long and few contacts are to blame, these are solved by themselves
    /// ([`Solvable::solve_patch`]), in turn with more sweeps, as long as that helps. So are the contacts around heavy bodies
    /// if they are far from solved when all together are solved.
    pub(super) fn solve_in_patches<P>(&mut self, mut solve: Solve<'_, P>) -> Report
    where
        P: Solvable<Impulses = I, Velocities = V, Sweeping = S, InteriorPoint = N>,
        N: Solver<P>,
    {
        let options = solve.options;
        let name = self.first_of_auto();
        let sweeps = |max_iterations| SolverOptions { name, max_iterations, ..*options };
        let mut report = self.solve_as_told(solve.with(&sweeps(options.max_iterations.min(SWEEPS))));
        for _ in 0..PATCHES {
            if report.status == Status::BadProblem || report.iterations >= options.max_iterations {
                return report;
            }
            let is_solved = report.status == Status::Converged;
            let around = if is_solved { Around::Heavy(options.tolerance) } else { Around::Errors };
            let rest = options.after(report.iterations);
            let Some(patch) = P::solve_patch(&mut solve.with(&rest), around, SMALL, &mut self.best) else { break };
            let helps = patch.is_better_than(&report);
            report = self.better_of(report, patch, helps, solve.reborrow());
            if !helps || report.iterations >= options.max_iterations {
                break;
            }
            let left = options.max_iterations - report.iterations;
            report = report.followed_by(self.solve_as_told(solve.with(&sweeps(left.min(SWEEPS_BETWEEN)))));
        }
        if report.is_final(options) {
            return report;
        }
        let left = options.max_iterations - report.iterations;
        report.followed_by(self.solve_as_told(solve.with(&sweeps(left))))
    }
}
