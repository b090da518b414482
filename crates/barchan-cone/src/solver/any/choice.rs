//! `auto`: the solver that suits the problem, found by trying.

use super::super::worth::Worth;
use super::{AnySolver, Chosen};
use crate::solver::{Friction, Offer, Report, Solvable, Solve, Solver, SolverName, SolverOptions, Status};

/// Contacts up to which `auto` thinks of the interior point,
pub(super) const SMALL: usize = 2500;
/// and the iterations after which it does, unless a quarter of all that it has are fewer (a linear system takes as long as
/// a hundred sweeps).
const ITERATIONS_OF_SMALL: u32 = 1000;
/// The linear systems that it leaves to the interior point.
pub(super) const SYSTEMS: u32 = 100;

impl<I: Default, V: Default, S: Offer, N: Offer> AnySolver<I, V, S, N> {
    /// `auto`. Accelerated Gauss–Seidel is the fastest for either law and any size and tolerance but two kinds of
    /// problems: small ones to many digits, and heavy bodies on light ones, whose load sweeps are long in building up.
    /// Which those are shows by trying. The interior point takes them over: the whole of a small problem, the part of a
    /// large one that holds sweeps up.
    ///
    /// A problem without sweeps begins with APGD instead, one without Newton systems ends there.
    pub(super) fn solve_by_choice<P>(&mut self, mut solve: Solve<'_, P>) -> Report
    where
        P: Solvable<Impulses = I, Velocities = V, Sweeping = S, InteriorPoint = N>,
        N: Solver<P>,
    {
        let options = solve.options;
        if self.interior_point_of_auto().is_none() {
            let only = SolverOptions { name: self.first_of_auto(), ..*options };
            return self.solve_as_told(solve.with(&only));
        }
        if solve.problem.contacts() > SMALL {
            return self.solve_in_patches(solve);
        }
        let max_iterations = ITERATIONS_OF_SMALL.min(options.max_iterations.div_ceil(4));
        let first = SolverOptions { name: self.first_of_auto(), max_iterations, ..*options };
        let report = self.solve_as_told(solve.with(&first));
        if report.is_final(options) { report } else { self.solve_hard(solve, report) }
    }

    /// The solver that `auto` tries first.
    pub(super) fn first_of_auto(&self) -> SolverName {
        match self.chosen {
            Chosen::Sweeping(_) => SolverName::AcceleratedGs,
            _ => SolverName::Apgd,
        }
    }

    /// A small problem that sweeps could not solve, which have come to the impulses given: the interior point, and sweeps
    /// again with what iterations are left.
    pub(in crate::solver) fn solve_hard<P>(&mut self, mut solve: Solve<'_, P>, mut report: Report) -> Report
    where
        P: Solvable<Impulses = I, Velocities = V, Sweeping = S, InteriorPoint = N>,
        N: Solver<P>,
    {
        let options = solve.options;
        let is_coulomb = options.law() == Friction::Coulomb;
        if is_coulomb {
            report = self.carry_load(solve.reborrow(), report);
        }
        if !report.is_final(options)
            && let Some(interior_point) = self.interior_point_of_auto()
        {
            let left = options.max_iterations - report.iterations;
            let second = SolverOptions { name: SolverName::Scip, max_iterations: left.min(SYSTEMS), ..*options };
            report = report.followed_by(interior_point.solve(solve.with(&second)).by(SolverName::Scip));
        }
        if report.is_final(options) {
            return report;
        }
        let is_rounded = is_coulomb && solve.problem.slip_rounding() > 0.0;
        let name = self.first_of_auto();
        let left = options.max_iterations - report.iterations;
        let max_iterations = if is_rounded { left.div_ceil(2) } else { left };
        let third = SolverOptions { name, max_iterations, ..*options };
        report = report.followed_by(self.solve_as_told(solve.with(&third)));
        if report.is_final(options) || !is_rounded {
            return report;
        }
        let rest = SolverOptions { name, ..options.after(report.iterations) };
        self.solve_without_rounding(solve.with(&rest), report)
    }

    /// The last resort of `auto` under Coulomb's law that is rounded off: the exact law, from no impulses. A body that
    /// slides between surfaces which cannot part has a solution by that law alone: the rounded one lets any sliding
    /// contact open at up to με. What it finds counts if it meets the tolerance.
    fn solve_without_rounding<P>(&mut self, mut solve: Solve<'_, P>, report: Report) -> Report
    where
        P: Solvable<Impulses = I, Velocities = V, Sweeping = S, InteriorPoint = N>,
    {
        let rounding = solve.problem.slip_rounding();
        if !solve.problem.set_slip_rounding(0.0) {
            return report;
        }
        self.keep(&mut solve);
        solve.problem.clear_impulses(solve.γ);
        let next = self.solve_as_told(solve.reborrow());
        solve.problem.set_slip_rounding(rounding);
        let is_solved = next.status == Status::Converged;
        self.better_of(report, next, is_solved, solve)
    }

    /// Notes the impulses found so far.
    pub(super) fn keep<P>(&mut self, solve: &mut Solve<'_, P>)
    where
        P: Solvable<Impulses = I, Velocities = V, Sweeping = S, InteriorPoint = N>,
    {
        solve.problem.copy(solve.γ, &mut self.best);
    }

    /// After another solve: its impulses if they are better, or those kept before it. The report counts both.
    pub(super) fn better_of<P>(&mut self, report: Report, next: Report, is_better: bool, solve: Solve<'_, P>) -> Report
    where
        P: Solvable<Impulses = I, Velocities = V, Sweeping = S, InteriorPoint = N>,
    {
        let Report { taken, status, residual, residuals, objective, .. } = report;
        let mut both = report.followed_by(next);
        if !is_better {
            solve.problem.copy(&self.best, solve.γ);
            solve.problem.respond_to(solve.γ, solve.response);
            (both.taken, both.status) = (taken, status);
            (both.residual, both.residuals, both.objective) = (residual, residuals, objective);
        }
        both
    }
}

impl Report {
    /// Whether what was found met its tolerance, or is better than no impulses and than what another solve found.
    pub(super) fn is_better_than(&self, other: &Report) -> bool {
        let worth = |report: &Report| Worth { residual: report.residual, objective: report.objective };
        let is_better = self.residuals.natural < 1.0 && worth(self).is_better_than(&worth(other));
        is_better || self.status == Status::Converged
    }
}
