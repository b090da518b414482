//! Accelerated projected gradient descent (S1 III-A) on min ½γᵀAγ + bᵀγ over the cones.
//!
//! The Nesterov recurrence of S1 with what is known to pay: steps and
//! projections in a metric a contact, a Lipschitz estimate that shrinks as well as grows,
//! momentum dropped when it points uphill, and the best iterate kept.
//!
//! One iteration is two passes. `descend` goes over contacts: it measures the residual of the last
//! iterate and takes the step x from the extrapolated y, whose gradient follows from those of the last
//! two iterates by linearity. `respond` goes over bodies: it applies the operator to x. Whether the
//! Lipschitz estimate L held is told by dᵀAd ≤ L·dᵀHd for the step d = x − y, which for a quadratic is
//! the line search of S1 exactly, without its cancellation.

use super::nothing::is_bad_start;
use super::pool::Pool;
use super::stopping::{Next, NotFinite, Stopping};
use super::{ApgdOptions, Report, Solve, Solver, Status};
use crate::{ConeProblem, Descent, DescentStep, Extrapolation, Friction};

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
    pool: Pool<Iterate<I, V>>,
    /// The estimate at the end of the last solve.
    lipschitz: Option<f64>,
}

impl<I: Default, V: Default> Default for Apgd<I, V> {
    fn default() -> Self {
        Self { pool: Pool::default(), lipschitz: None }
    }
}

impl<I, V> Apgd<I, V> {
    /// The estimate that the next solve starts from: all that it takes over from the last.
    pub(super) fn lipschitz(&mut self) -> &mut Option<f64> {
        &mut self.lipschitz
    }
}

/// Nesterov's momentum: the β of the next extrapolation, and θ of the sequence.
struct Momentum {
    β: f64,
    θ: f64,
}

impl Momentum {
    const NONE: Self = Self { β: 0.0, θ: 1.0 };

    /// The next β of the sequence.
    fn advance(&mut self) {
        let θ = self.θ;
        let next = 0.5 * (θ * (θ * θ + 4.0).sqrt() - θ * θ);
        self.β = θ * (1.0 - θ) / (θ * θ + next);
        self.θ = next;
    }
}

impl<P: ConeProblem> Solver<P> for Apgd<P::Impulses, P::Velocities> {
    fn solve(&mut self, mut solve: Solve<'_, P>) -> Report {
        if let Some(report) = solve.report_if_empty() {
            return report;
        }
        let mut report = Report::default();
        self.start(&mut solve);
        report.operator_applications = 1;
        report.status = self.iterate(&mut solve, &mut report);
        // Hand out the best iterate with its response.
        Iterate { γ: *solve.γ, w: *solve.response } = self.pool.take_best();
        report.finish(&mut solve);
        report
    }
}

impl<I: Default, V: Default> Apgd<I, V> {
    /// After it: the pool holds the impulses to start from, in their cones, with their response.
    fn start<P: ConeProblem<Impulses = I, Velocities = V>>(&mut self, solve: &mut Solve<'_, P>) {
        let Solve { problem, γ, response, options, .. } = solve;
        problem.set_metric(options.apgd.metric);
        problem.set_law(Friction::Associated);
        *self.pool.restart() = Iterate { γ: std::mem::take(γ), w: std::mem::take(response) };
        for iterate in self.pool.iter_mut() {
            problem.shape_impulses(&mut iterate.γ);
            problem.shape_velocities(&mut iterate.w);
        }
        let start = self.pool.present_mut();
        problem.project(&mut start.γ);
        problem.respond_to(&start.γ, &mut start.w);
    }

    /// Iterates until something ends it. The best iterate is then that of the pool.
    fn iterate<P: ConeProblem<Impulses = I, Velocities = V>>(
        &mut self,
        solve: &mut Solve<'_, P>,
        report: &mut Report,
    ) -> Status {
        let mut stopping = Stopping::new(solve, PATIENCE, NotFinite::BadProblem);
        let Solve { problem, options, .. } = solve;
        let ApgdOptions { restart, shrink, .. } = options.apgd;
        // Larger steps upset the momentum: only restarts make them safe.
        let shrink = shrink && restart;
        let pool = &mut self.pool;
        let mut momentum = Momentum::NONE;
        let mut lipschitz = self.lipschitz.filter(|_| shrink).unwrap_or_else(|| problem.mean_scale());

        let status = loop {
            // A step from y, and the residual of the present iterate.
            let mut x = pool.take_next();
            let mut step = DescentStep { lipschitz, criterion: options.criterion };
            let mut descent = problem.descend(&extrapolation(pool, momentum.β), &step, &mut x.γ);
            let is_still = descent.step_in_metric == 0.0;
            let next = stopping.observe(descent.residual, is_still, report);
            if stopping.is_best() {
                pool.keep_present();
            }
            match next {
                Next::GoOn => {}
                Next::DoubtStart => {
                    pool.put_back(x);
                    let start = pool.present_mut();
                    if is_bad_start(*problem, &start.γ, &start.w, report) {
                        problem.clear_impulses(&mut start.γ);
                        problem.clear_velocities(&mut start.w);
                    }
                    continue;
                }
                Next::End(status) => {
                    pool.put_back(x);
                    break status;
                }
            }

            // Its response; smaller steps until L holds.
            let y = extrapolation(pool, momentum.β);
            loop {
                let step_in_operator = problem.respond(&x.γ, &y, &mut x.w);
                report.operator_applications += 1;
                if holds(&step, &descent, step_in_operator) {
                    break;
                }
                step.lipschitz = larger(&step, &descent, step_in_operator, shrink);
                descent = problem.descend(&y, &step, &mut x.γ);
            }
            lipschitz = if shrink { SHRINK * step.lipschitz } else { step.lipschitz };

            // The momentum of the next step.
            if restart && descent.uphill > 0.0 {
                momentum = Momentum::NONE;
            } else if restart && report.iterations >= GENTLE {
                momentum.β = 1.0;
            } else {
                momentum.advance();
            }
            pool.advance(x);
            report.iterations += 1;
        };
        self.lipschitz = lipschitz.is_finite().then_some(lipschitz);
        status
    }
}

/// Whether L is large enough for a step.
fn holds(step: &DescentStep, descent: &Descent, step_in_operator: f64) -> bool {
    step_in_operator <= step.lipschitz * descent.step_in_metric || !step.lipschitz.is_finite()
}

/// The estimate after one that was too small for a step.
fn larger(step: &DescentStep, descent: &Descent, step_in_operator: f64, shrink: bool) -> f64 {
    if shrink {
        // The step itself tells how large L has to be.
        (GROW * step.lipschitz).max(step_in_operator / descent.step_in_metric)
    } else {
        DOUBLE * step.lipschitz
    }
}

/// The point y = γ + β(γ − γ⁻) of the present and the last iterate.
fn extrapolation<P>(pool: &Pool<Iterate<P::Impulses, P::Velocities>>, β: f64) -> Extrapolation<'_, P>
where
    P: ConeProblem,
{
    let here = pool.present();
    let before = pool.last();
    Extrapolation { γ: &here.γ, γ_last: &before.γ, w: &here.w, w_last: &before.w, β }
}
