//! Accelerated projected gradient descent (S1 III-A) on min ½γᵀAγ + bᵀγ over the cones.
//!
//! The Nesterov recurrence of S1 with what is known to pay (ALGORITHMS 3.1): steps and
//! projections in a metric a contact, a Lipschitz estimate that shrinks as well as grows,
//! momentum dropped when it points uphill, and the best iterate kept.
//!
//! One iteration is two passes. `descend` goes over contacts: it judges the last iterate and
//! takes the step x from the extrapolated y. `respond` goes over bodies: it applies the
//! operator to x, and gets the response of the next y by linearity. Whether the Lipschitz
//! estimate L held is told by dᵀAd ≤ L·dᵀHd for the step d = x − y, which for a quadratic is the
//! line search of S1 exactly, without its cancellation.

use super::{ApgdOptions, Moment, Report, Solver, SolverOptions, Status};
use crate::problem::ConeProblem;

/// Factor by which L grows when a step fails.
const GROW: f64 = 1.5;
/// Factor by which L shrinks after a step that held.
const SHRINK: f64 = 0.97;
/// Iterations without a better residual after which a solve counts as stalled.
const PATIENCE: u32 = 5000;

/// The solver's memory, kept between solves.
pub struct Apgd<I, V> {
    /// Last, present and next iterate and the best one; which is which changes.
    buffers: [I; 4],
    /// Response of the present iterate, and of the next.
    velocities: [V; 2],
    /// The estimate at the end of the last solve.
    lipschitz: Option<f64>,
}

impl<I: Default, V: Default> Default for Apgd<I, V> {
    fn default() -> Self {
        Self { buffers: Default::default(), velocities: Default::default(), lipschitz: None }
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

/// Two elements of an array, mutably.
fn two<T>(pair: &mut [T; 2], first: usize) -> (&mut T, &mut T) {
    let [a, b] = pair;
    if first == 0 { (a, b) } else { (b, a) }
}

impl<P: ConeProblem> Solver<P> for Apgd<P::Impulses, P::Velocities> {
    fn solve(
        &mut self,
        problem: &mut P,
        γ: &mut P::Impulses,
        response: &mut P::Velocities,
        options: &SolverOptions,
        keep_history: bool,
    ) -> Report {
        let ApgdOptions { metric, restart, shrink } = options.apgd;
        problem.set_metric(metric);
        let mut report = Report { status: Status::IterationLimit, ..Report::default() };
        if problem.contacts() == 0 {
            problem.reset_velocities(response);
            return Report { status: Status::Converged, ..report };
        }

        // Start at γ, without momentum.
        for buffer in &mut self.buffers {
            problem.reset_impulses(buffer);
        }
        for velocities in &mut self.velocities {
            problem.reset_velocities(velocities);
        }
        problem.project(γ);
        std::mem::swap(&mut self.buffers[0], γ);
        let (mut last, mut present, mut best) = (0, 0, 0);
        let mut at = 0;
        {
            let (to, from) = two(&mut self.velocities, at);
            problem.respond(&self.buffers[present], from, 0.0, to);
            report.operator_applications = 1;
        }
        let mut momentum = Momentum::NONE;
        let mut β = 0.0;
        let mut lipschitz = self.lipschitz.filter(|_| shrink).unwrap_or_else(|| problem.mean_scale());
        let mut best_residual = f64::INFINITY;
        let mut best_iteration = 0;
        let mut cold = false;

        loop {
            // A step from y, and the residual of the present iterate.
            let next = spare([last, present, best]);
            let mut x = std::mem::take(&mut self.buffers[next]);
            let (γ, γ_last) = (&self.buffers[present], &self.buffers[last]);
            let here = &self.velocities[at];
            let mut descent = problem.descend(γ, γ_last, β, here, lipschitz, options.criterion, &mut x);

            let residual = descent.residual;
            if residual == f64::INFINITY && !cold {
                // No impulse solves this problem, those to start from do not: start from none.
                cold = true;
                self.buffers[next] = x;
                problem.reset_impulses(&mut self.buffers[present]);
                problem.reset_velocities(&mut self.velocities[at]);
                continue;
            }
            if keep_history {
                report.history.push(Moment { operator_applications: report.operator_applications, residual });
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
                self.buffers[next] = x;
                report.status = status;
                break;
            }

            // Its response; smaller steps until L holds.
            let (there, here) = two(&mut self.velocities, 1 - at);
            let (next_β, next_momentum) = loop {
                let drop = restart && descent.uphill > 0.0;
                let (next_β, next_momentum) = if drop { (0.0, Momentum::NONE) } else { momentum.advance() };
                let step_in_operator = problem.respond(&x, here, next_β, there);
                report.operator_applications += 1;
                if step_in_operator <= lipschitz * descent.step_in_metric || !lipschitz.is_finite() {
                    break (next_β, next_momentum);
                }
                lipschitz = (GROW * lipschitz).max(step_in_operator / descent.step_in_metric);
                descent = problem.descend(γ, γ_last, β, here, lipschitz, options.criterion, &mut x);
            };

            self.buffers[next] = x;
            (last, present, at) = (present, next, 1 - at);
            (β, momentum) = (next_β, next_momentum);
            report.iterations += 1;
            if shrink {
                lipschitz *= SHRINK;
            }
        }
        self.lipschitz = lipschitz.is_finite().then_some(lipschitz);

        // Hand back the best iterate with its response.
        std::mem::swap(γ, &mut self.buffers[best]);
        problem.reset_velocities(response);
        let (from, _) = two(&mut self.velocities, 0);
        problem.respond(γ, from, 0.0, response);
        let (residuals, work) = problem.residuals(γ, response);
        report.residuals = residuals;
        report.residual = residuals.by(options.criterion);
        // ½γᵀAγ + bᵀγ = ½(γᵀ(Aγ + b) + bᵀγ).
        report.objective = 0.5 * (work + problem.dot_bias(γ));
        report
    }
}
