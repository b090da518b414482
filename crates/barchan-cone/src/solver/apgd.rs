//! Accelerated projected gradient descent (S1 III-A) on min ½γᵀAγ + bᵀγ over the cones.
//!
//! The Nesterov recurrence of S1 with what is known to pay: steps and
//! projections in a metric a contact, a Lipschitz estimate that shrinks as well as grows,
//! momentum dropped when it points uphill, and the best iterate kept.
//!
//! One iteration is two passes. `descend` goes over contacts: it judges the last iterate and
//! takes the step x from the extrapolated y, whose gradient follows from those of the last two
//! iterates by linearity. `respond` goes over bodies: it applies the operator to x. Whether the Lipschitz
//! estimate L held is told by dᵀAd ≤ L·dᵀHd for the step d = x − y, which for a quadratic is the
//! line search of S1 exactly, without its cancellation.

use super::{ApgdOptions, Report, Solve, Solver, Status};
use crate::{ConeProblem, DescentStep, Extrapolation, Friction};

/// Factor by which L grows at least when a step fails.
const GROW: f64 = 1.5;
/// Factor of the line search as printed, where L only grows.
const DOUBLE: f64 = 2.0;
/// Factor by which L shrinks after a step that held.
const SHRINK: f64 = 0.99;
/// Iterations with the momentum of Nesterov's sequence; after them, where restarts guard it, the
/// whole of it.
const GENTLE: u32 = 60;
/// Iterations without a better residual after which a solve counts as stalled.
const PATIENCE: u32 = 10_000;

/// Impulses and the velocities with which bodies respond to them.
#[derive(Default)]
struct Iterate<I, V> {
    γ: I,
    w: V,
}

/// The solver's memory, kept between solves.
pub struct Apgd<I, V> {
    /// Last, present and next iterate and the best one; which is which changes.
    pool: [Iterate<I, V>; 4],
    /// Which of the pool was handed out by the last solve, and is empty.
    handed_out: usize,
    /// The estimate at the end of the last solve.
    lipschitz: Option<f64>,
}

impl<I: Default, V: Default> Default for Apgd<I, V> {
    fn default() -> Self {
        Self { pool: Default::default(), handed_out: 0, lipschitz: None }
    }
}

impl<I, V> Apgd<I, V> {
    /// The estimate that the next solve starts from: all that it takes over from the last.
    pub(crate) fn estimate(&mut self) -> &mut Option<f64> {
        &mut self.lipschitz
    }
}

/// Nesterov's sequence: θ, and from it the momentum β.
#[derive(Clone, Copy)]
struct Momentum(f64);

impl Momentum {
    const NONE: Self = Self(1.0);

    /// The momentum β of the next extrapolation, and the sequence after it.
    fn advance(self) -> (f64, Self) {
        let θ = self.0;
        let next = 0.5 * (θ * (θ * θ + 4.0).sqrt() - θ * θ);
        (θ * (1.0 - θ) / (θ * θ + next), Self(next))
    }
}

/// The smallest index below four that is none of the three.
fn spare(taken: [usize; 3]) -> usize {
    (0..4).find(|k| !taken.contains(k)).unwrap_or(0)
}

impl<P: ConeProblem> Solver<P> for Apgd<P::Impulses, P::Velocities> {
    fn solve(&mut self, solve: Solve<'_, P>) -> Report {
        let Solve { problem, γ, response, options, keep_history } = solve;
        let ApgdOptions { metric, restart, shrink } = options.apgd;
        // Larger steps upset the momentum: only restarts make them safe.
        let shrink = shrink && restart;
        problem.set_metric(metric);
        problem.set_law(Friction::Associated);
        let mut report = Report::default();
        if problem.is_empty() {
            problem.clear_velocities(response);
            return report;
        }

        // Start at γ, without momentum.
        let pool = &mut self.pool;
        let (mut last, mut present, mut best) = (self.handed_out, self.handed_out, self.handed_out);
        pool[present] = Iterate { γ: std::mem::take(γ), w: std::mem::take(response) };
        for iterate in pool.iter_mut() {
            problem.shape_impulses(&mut iterate.γ);
            problem.shape_velocities(&mut iterate.w);
        }
        let start = &mut pool[present];
        problem.project(&mut start.γ);
        problem.respond_to(&start.γ, &mut start.w);
        report.operator_applications = 1;
        let (mut β, mut momentum) = (0.0, Momentum::NONE);
        let mut lipschitz = self.lipschitz.filter(|_| shrink).unwrap_or_else(|| problem.mean_scale());
        let (mut best_residual, mut best_iteration) = (f64::INFINITY, 0);
        let mut cold = false;

        report.status = loop {
            // A step from y, and the residual of the present iterate.
            let next = spare([last, present, best]);
            let mut x = std::mem::take(&mut pool[next]);
            let y = extrapolation::<P>(pool, present, last, β);
            let mut step = DescentStep { lipschitz, criterion: options.criterion };
            let mut descent = problem.descend(&y, &step, &mut x.γ);

            let residual = descent.residual;
            if residual == f64::INFINITY && !cold {
                // No impulse solves this problem, those to start from do not: start from none.
                cold = true;
                pool[next] = x;
                problem.clear_impulses(&mut pool[present].γ);
                problem.clear_velocities(&mut pool[present].w);
                continue;
            }
            if keep_history {
                report.remember(residual);
            }
            if residual < best_residual {
                (best_residual, best, best_iteration) = (residual, present, report.iterations);
            }
            let status = if !residual.is_finite() {
                Some(Status::BadProblem)
            } else if residual <= options.tolerance {
                Some(Status::Converged)
            } else if report.iterations >= options.max_iterations {
                Some(Status::IterationLimit)
            } else if descent.step_in_metric == 0.0 || report.iterations - best_iteration > PATIENCE {
                Some(Status::Stalled)
            } else {
                None
            };
            if let Some(status) = status {
                pool[next] = x;
                break status;
            }

            // Its response; smaller steps until L holds.
            loop {
                let step_in_operator = problem.respond(&x.γ, &y, &mut x.w);
                report.operator_applications += 1;
                if step_in_operator <= step.lipschitz * descent.step_in_metric || !step.lipschitz.is_finite() {
                    break;
                }
                step.lipschitz = if shrink {
                    // The step itself tells how large L has to be.
                    (GROW * step.lipschitz).max(step_in_operator / descent.step_in_metric)
                } else {
                    DOUBLE * step.lipschitz
                };
                descent = problem.descend(&y, &step, &mut x.γ);
            }
            lipschitz = if shrink { SHRINK * step.lipschitz } else { step.lipschitz };

            let uphill = restart && descent.uphill > 0.0;
            (β, momentum) = if uphill {
                (0.0, Momentum::NONE)
            } else if restart && report.iterations >= GENTLE {
                (1.0, momentum)
            } else {
                momentum.advance()
            };
            pool[next] = x;
            (last, present) = (present, next);
            report.iterations += 1;
        };
        self.lipschitz = lipschitz.is_finite().then_some(lipschitz);

        // Hand out the best iterate with its response.
        Iterate { γ: *γ, w: *response } = std::mem::take(&mut pool[best]);
        self.handed_out = best;
        report.judge(&mut Solve { problem, γ, response, options, keep_history });
        report
    }
}

/// The point y = γ + β(γ − γ⁻) of two iterates of the pool.
fn extrapolation<P: ConeProblem>(
    pool: &[Iterate<P::Impulses, P::Velocities>; 4],
    present: usize,
    last: usize,
    β: f64,
) -> Extrapolation<'_, P> {
    let (here, before) = (&pool[present], &pool[last]);
    Extrapolation { γ: &here.γ, γ_last: &before.γ, w: &here.w, w_last: &before.w, β }
}
