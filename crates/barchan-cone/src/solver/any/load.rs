//! Heavy bodies on light ones under Coulomb's law: first the load, then how contacts slide.
//!
//! Sweeps are fast in finding how light bodies slide and turn, and take as many rounds to build up the load of a body
//! that is a million times as heavy. The interior point finds any load in a few dozen linear systems, but under the
//! associated law alone: there the problem is convex. From its solution a few dozen sweeps under Coulomb's law lead to
//! Coulomb's solution, for the load hardly changes. Where they do not, the interior point goes again with the term that De
//! Saxcé adds to the normal velocities, taken from where the sweeps have come to.

use super::AnySolver;
use super::choice::SYSTEMS;
use crate::solver::{Criterion, Friction, Offer, Report, Solvable, Solve, Solver, SolverName, SolverOptions, Status};

/// Loads that are tried,
const ROUNDS: u32 = 4;
/// and sweeps from each.
const SWEEPS: u32 = 100;
/// The residual to which a load is found, and the part that it is of what the last sweeps have left.
const LOAD_TOLERANCE: f64 = 0.1;
const FINER: f64 = 0.2;

impl<I: Default, V: Default, S: Offer, N: Offer> AnySolver<I, V, S, N> {
    /// Goes on from the impulses given by loads and sweeps, and ends with the best found.
    pub(super) fn carry_load<P>(&mut self, mut solve: Solve<'_, P>, mut report: Report) -> Report
    where
        P: Solvable<Impulses = I, Velocities = V, Sweeping = S, InteriorPoint = N>,
        N: Solver<P>,
    {
        // The rest is for those that come after.
        let left = solve.options.max_iterations - report.iterations;
        let own = SolverOptions { max_iterations: report.iterations + left / 3 * 2, ..*solve.options };
        let (options, mut solve) = (&own, solve.with(&own));
        let name = self.first_of_auto();
        let mut tolerance = LOAD_TOLERANCE;
        for round in 0..ROUNDS {
            if report.is_final(options) {
                break;
            }
            self.keep(&mut solve);
            let rest = SolverOptions { tolerance, ..options.after(report.iterations) };
            let Some(load) = self.find_load(solve.with(&rest), round > 0) else { break };
            solve.problem.slip(solve.response, &mut self.shift);
            let left = options.max_iterations.saturating_sub(report.iterations + load.iterations);
            let sweeps = SolverOptions { name, max_iterations: left.min(SWEEPS), ..*options };
            let next = load.followed_by(self.solve_as_told(solve.with(&sweeps)));
            // Sweeps that have led nowhere have nothing to tell of slip.
            if next.status != Status::GaveUp {
                solve.problem.slip(solve.response, &mut self.shift);
            }
            tolerance = (FINER * next.residuals.natural).clamp(FINER * options.tolerance, LOAD_TOLERANCE);
            let is_better = next.is_better_than(&report);
            report = self.better_of(report, next, is_better, solve.reborrow());
        }
        report
    }

    /// The associated law by the interior point, with the shift if it is there already. None without an interior point.
    fn find_load<P>(&mut self, mut solve: Solve<'_, P>, is_shifted: bool) -> Option<Report>
    where
        P: Solvable<Impulses = I, Velocities = V, Sweeping = S, InteriorPoint = N>,
        N: Solver<P>,
    {
        let friction = Some(Friction::Associated);
        let max_iterations = solve.options.max_iterations.min(SYSTEMS);
        let criterion = Criterion::Natural;
        let options = SolverOptions { name: SolverName::Scip, friction, max_iterations, criterion, ..*solve.options };
        self.interior_point_of_auto()?;
        let interior_point = self.interior_point.as_deref_mut()?;
        solve.problem.set_shift(is_shifted.then_some(&self.shift));
        solve.problem.clear_impulses(solve.γ);
        let report = interior_point.solve(solve.with(&options).with_history(false));
        solve.problem.set_shift(None);
        solve.problem.set_law(Friction::Coulomb);
        Some(report.by(SolverName::Scip))
    }
}
