//! The fixed point of S3 (eq. 12–14), all contacts at once:
//! γ ← λΠ(γ − ωη(Aγ + b)) + (1 − λ)γ, with η three over the trace of a contact's diagonal block.
//!
//! It converges only where ω is small enough for the number of contacts that bodies share; the
//! report tells.

use super::{Report, Solve, Solver, Status};
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
    fn solve(&mut self, solve: Solve<'_, P>) -> Report {
        let Solve { problem, γ, response, options, keep_history } = solve;
        let mut report = Report::default();
        if problem.is_empty() {
            problem.clear_velocities(response);
            return report;
        }
        problem.set_metric(Metric::Scalar);
        problem.set_law(Friction::Associated);
        let (ω, λ) = (options.jacobi.relaxation, options.jacobi.blend);
        let step = DescentStep { lipschitz: 1.0 / ω, criterion: options.criterion };
        for vector in [&mut *γ, &mut self.step, &mut self.next, &mut self.best] {
            problem.shape_impulses(vector);
        }
        problem.project(γ);
        problem.respond_to(γ, response);
        report.operator_applications = 1;
        let (mut best, mut best_iteration, mut cold) = (f64::INFINITY, 0, false);
        report.status = loop {
            let here = Extrapolation { γ, γ_last: γ, w: response, w_last: response, β: 0.0 };
            let descent = problem.descend(&here, &step, &mut self.step);
            let residual = descent.residual;
            if residual == f64::INFINITY && !cold {
                // No impulse solves this problem, those to start from do not: start from none.
                cold = true;
                problem.clear_impulses(γ);
                problem.clear_velocities(response);
                continue;
            }
            if keep_history {
                report.remember(residual);
            }
            if residual < best {
                (best, best_iteration) = (residual, report.iterations);
                problem.combine(1.0, γ, 0.0, γ, &mut self.best);
            }
            if !residual.is_finite() {
                // What was a number once has grown beyond all bounds.
                break if best.is_finite() { Status::Stalled } else { Status::BadProblem };
            } else if residual <= options.tolerance {
                break Status::Converged;
            } else if report.iterations >= options.max_iterations {
                break Status::IterationLimit;
            } else if descent.step_in_metric == 0.0 || report.iterations - best_iteration > PATIENCE {
                break Status::Stalled;
            }
            problem.combine(λ, &self.step, 1.0 - λ, γ, &mut self.next);
            std::mem::swap(γ, &mut self.next);
            problem.respond_to(γ, response);
            report.iterations += 1;
            report.operator_applications += 1;
        };
        if best.is_finite() {
            std::mem::swap(γ, &mut self.best);
        } else {
            problem.clear_impulses(γ);
        }
        problem.respond_to(γ, response);
        report.judge(&mut Solve { problem, γ, response, options, keep_history });
        report
    }
}
