//! The fixed point of S3 (eq. 12–14), all contacts at once:
//! γ ← λΠ(γ − ωη(Aγ + b)) + (1 − λ)γ, with η three over the trace of a contact's diagonal block.
//!
//! It converges only where ω is small enough for the number of contacts that bodies share; the
//! report tells.

use super::nothing::is_bad_start;
use super::stopping::{Next, NotFinite, Stopping};
use super::{JacobiOptions, Report, Solve, Solver, Status};
use crate::{ConeProblem, DescentStep, Extrapolation, Friction, Metric};

/// Iterations without a better residual after which a solve counts as stalled.
const PATIENCE: u32 = 10_000;

/// The solver's memory, kept between solves.
pub struct Jacobi<I> {
    step: I,
    next: I,
    best: I,
}

impl<I: Default> Default for Jacobi<I> {
    fn default() -> Self {
        Self { step: I::default(), next: I::default(), best: I::default() }
    }
}

impl<P: ConeProblem> Solver<P> for Jacobi<P::Impulses> {
    fn solve(&mut self, mut solve: Solve<'_, P>) -> Report {
        if let Some(report) = solve.report_if_empty() {
            return report;
        }
        let mut report = Report::default();
        solve.problem.set_metric(Metric::Scalar);
        solve.problem.set_law(Friction::Associated);
        for vector in [&mut self.step, &mut self.next, &mut self.best] {
            solve.problem.shape_impulses(vector);
        }
        solve.project_start();
        report.operator_applications = 1;
        report.status = self.iterate(&mut solve, &mut report);
        report.finish(&mut solve);
        report
    }
}

impl<I> Jacobi<I> {
    /// Iterates until something ends it. γ then holds the best impulses, zeros if there were none.
    fn iterate<P: ConeProblem<Impulses = I>>(&mut self, solve: &mut Solve<'_, P>, report: &mut Report) -> Status {
        let mut stopping = Stopping::new(solve, PATIENCE, NotFinite::Diverged);
        let Solve { problem, γ, response, options, .. } = solve.reborrow();
        let JacobiOptions { relaxation: ω, blend: λ } = options.jacobi;
        let step = DescentStep { lipschitz: 1.0 / ω, criterion: options.criterion };
        let status = loop {
            let here = Extrapolation { γ, γ_last: γ, w: response, w_last: response, β: 0.0 };
            let descent = problem.descend(&here, &step, &mut self.step);
            let is_still = descent.step_in_metric == 0.0;
            let next = stopping.observe(descent.residual, is_still, report);
            if stopping.is_best() {
                problem.copy(γ, &mut self.best);
            }
            match next {
                Next::GoOn => {}
                Next::DoubtStart => {
                    if is_bad_start(problem, γ, response, report) {
                        problem.clear_impulses(γ);
                        problem.clear_velocities(response);
                    }
                    continue;
                }
                Next::End(status) => break status,
            }
            problem.combine(λ, &self.step, 1.0 - λ, γ, &mut self.next);
            std::mem::swap(γ, &mut self.next);
            problem.respond_to(γ, response);
            report.iterations += 1;
            report.operator_applications += 1;
        };
        if stopping.best_residual().is_finite() {
            std::mem::swap(γ, &mut self.best);
        } else {
            problem.clear_impulses(γ);
        }
        problem.respond_to(γ, response);
        status
    }
}
