//! Solvers that relax contacts one after the other: `nbgs`, `gauss-seidel`, `accelerated-gs`.
//!
//! One loop serves all three; they differ in what a sweep does to a contact, and in momentum.
//!
//! - Non-linear block Gauss–Seidel (S4 Alg. 1): exact one-contact solves of Coulomb's law.
//! - The fixed point of S3 (eq. 12–14) in its Gauss–Seidel form: a projected step a contact.
//! - Accelerated Gauss–Seidel: exact one-contact solves, and Nesterov's momentum between sweeps.
//!   A sweep from y is a step that majorises the objective (it never raises it), so momentum and
//!   its restart carry over from APGD with a far better step. The velocities at
//!   y = γ + β(γ − γ⁻) follow from those of the last two iterates by linearity.

use super::{Report, Solve, Solver, SolverName, SolverOptions, Status};
use crate::{Borders, Friction, Order, Relaxation, Rule};

/// Sweeps without a look at the residual, which costs half a sweep: the first time, and at most.
const FIRST_LOOK: u32 = 2;
const BLIND: u32 = 16;
/// The same under Coulomb's law, where a look tells as well whether momentum has led astray.
const WATCHFUL: u32 = 8;
/// Momentum after k sweeps without restart is β = k/(k + r), where r goes from 2 to 5 in the first
/// hundred sweeps. A small r is best for few digits, and makes the residual swing later. To S1's
/// residual of 1e-3, 3 throughout took 15 to 52 % more sweeps on three settled beds of 25 000.
const EAGER: f64 = 2.0;
const DAMPED: f64 = 5.0;
const EAGER_SWEEPS: f64 = 100.0;
/// After so many sweeps momentum grows with their root. All of it needs up to a fifth more sweeps to
/// 1e-4, and a limit of 0.98 twice as many to 1e-6.
const SWINGING: f64 = 200.0;
/// Sweeps without a better residual after which a solve counts as stalled.
const PATIENCE: u32 = 10_000;
/// The same where the outer loop of De Saxcé waits to take over.
const SHORT_PATIENCE: u32 = 1_000;
/// How often a solve goes on after its result, computed afresh, has missed the tolerance.
const SECOND_LOOKS: u32 = 3;
/// A residual so many times the best under Coulomb's law means that momentum has led astray.
const ASTRAY: f64 = 4.0;
/// And without momentum: how far the residual may rise before sweeps count as diverging.
const RISES: f64 = 10.0;
/// So do so many sweeps without a better one: too much momentum may keep the residual swinging just
/// above the best. Half as many are too few where it swings and still falls.
const SWINGS: u32 = 200;
/// The largest momentum under Coulomb's law, to begin with. A sweep is not a gradient's there, and
/// all of it may be too much: on settled beds 0.9 is best, and 0.95 leads astray. It grows when
/// the residual has halved in not too few sweeps, and shrinks when it has led astray.
const CAUTIOUS: f64 = 0.9;
const BOLDER: f64 = 0.8;
const HUMBLER: f64 = 4.0;
/// Relaxation of sweeps that act on whole bodies from several ranks (S4 7.2).
const RELAXED: f64 = 0.75;
/// Sweeps of progress after which momentum may grow.
const PROGRESS: u32 = 50;

/// The memory of sweeping solvers, kept between solves.
pub struct Sweeping<S> {
    /// Last, present and next iterate and the best one; which is which changes.
    pool: [S; 4],
}

impl<S: Default> Default for Sweeping<S> {
    fn default() -> Self {
        Self { pool: Default::default() }
    }
}

/// What distinguishes the solvers of this file.
struct Style {
    order: Order,
    borders: Borders,
    rule: Rule,
    momentum: bool,
    restart: bool,
}

impl Style {
    fn of(options: &SolverOptions) -> Self {
        let exact = |relaxation| Rule { law: options.law(), exact: true, relaxation, blend: 1.0 };
        match options.name {
            SolverName::Nbgs => {
                let o = options.nbgs;
                Self { order: o.order, borders: o.borders, rule: exact(o.relaxation), momentum: false, restart: false }
            }
            SolverName::GaussSeidel => {
                let o = options.gauss_seidel;
                let rule = Rule { exact: false, blend: o.blend, ..exact(o.relaxation) };
                Self { order: o.order, borders: Borders::Split, rule, momentum: false, restart: false }
            }
            _ => {
                let o = options.accelerated_gs;
                let relaxation = if o.borders == Borders::Whole { RELAXED } else { 1.0 };
                Self { order: o.order, borders: o.borders, rule: exact(relaxation), momentum: true, restart: o.restart }
            }
        }
    }
}

/// The momentum of a sweep that follows `age` others without restart.
fn momentum(age: f64) -> f64 {
    let r = EAGER + (DAMPED - EAGER) * (age / EAGER_SWEEPS).min(1.0);
    let k = if age <= SWINGING { age } else { (SWINGING * age).sqrt() };
    k / (k + r)
}

/// The smallest index below four that is none of the three.
fn spare(taken: [usize; 3]) -> usize {
    (0..4).find(|k| !taken.contains(k)).unwrap_or(0)
}

impl<P: Relaxation> Solver<P> for Sweeping<P::Iterate> {
    fn solve(&mut self, mut solve: Solve<'_, P>) -> Report {
        if let Some(report) = solve.report_if_empty() {
            return report;
        }
        let mut report = Report::default();
        let style = Style::of(solve.options);
        solve.problem.set_law(style.rule.law);
        solve.problem.prepare(style.order, style.borders);
        for _ in 0..=SECOND_LOOKS {
            report.status = self.run(&mut solve, &style, &mut report);
            solve.problem.leave(&self.pool[0], solve.γ, solve.response);
            report.operator_applications += 1;
            report.judge(&mut solve);
            if report.status != Status::Converged || report.residual <= solve.options.tolerance {
                return report;
            }
        }
        report.status = Status::Stalled;
        report
    }
}

impl<S: Default> Sweeping<S> {
    /// Sweeps from γ until something ends it. The best iterate is then the first of the pool.
    fn run<P: Relaxation<Iterate = S>>(
        &mut self,
        solve: &mut Solve<'_, P>,
        style: &Style,
        report: &mut Report,
    ) -> Status {
        let Solve { problem, γ, options, keep_history, .. } = solve;
        let pool = &mut self.pool;
        let (mut last, mut present, mut best) = (0, 0, 0);
        problem.enter(γ, &mut pool[0]);
        report.operator_applications += 1;
        let (mut β, mut age) = (0.0, 0.0f64);
        let (mut best_residual, mut best_iteration) = (f64::INFINITY, report.iterations);
        // How the residual compares with what a sweep makes likely, and when that was last seen.
        let (mut likely, mut ratio, mut seen) = (0.0, f64::INFINITY, report.iterations);
        let (mut cold, mut still) = (false, false);
        let coulomb = style.rule.law == Friction::Coulomb;
        let mut most = if coulomb { CAUTIOUS } else { 1.0 };
        let mut trusted = (report.iterations, 0.0);
        let (mut blind, most_blind) = (FIRST_LOOK, if coulomb { WATCHFUL } else { BLIND });
        let patience = if coulomb && style.momentum { SHORT_PATIENCE } else { PATIENCE };

        let status = loop {
            let due = *keep_history
                || likely == 0.0
                || ratio * likely <= options.tolerance
                || report.iterations - seen >= blind
                || report.iterations >= options.max_iterations;
            if due {
                blind = if report.iterations > 0 { most_blind.min(2 * blind) } else { blind };
                let residual = problem.judge(&pool[present], options.criterion);
                if residual == f64::INFINITY && !cold {
                    // No impulse solves this problem, those to start from do not: start from none.
                    cold = true;
                    problem.clear_impulses(γ);
                    problem.enter(γ, &mut pool[present]);
                    last = present;
                    continue;
                }
                if *keep_history {
                    report.remember(residual);
                }
                (ratio, seen) = (if likely > 0.0 { residual / likely } else { f64::INFINITY }, report.iterations);
                if residual < best_residual {
                    (best_residual, best, best_iteration) = (residual, present, report.iterations);
                    let sweeps = report.iterations - trusted.0;
                    if coulomb && sweeps >= PROGRESS {
                        if sweeps < 2 * PROGRESS && residual <= 0.5 * trusted.1 {
                            most = 1.0 - BOLDER * (1.0 - most);
                        }
                        trusted = (report.iterations, residual);
                    }
                }
                if !residual.is_finite() {
                    // What was a number once has grown beyond all bounds.
                    break if best_residual.is_finite() { Status::Stalled } else { Status::BadProblem };
                } else if residual <= options.tolerance {
                    break Status::Converged;
                } else if report.iterations >= options.max_iterations {
                    // Sweeps without momentum make their way where the residual first rises, from no
                    // impulses at all: what the last has reached counts, as in S4.
                    if !style.momentum && residual <= RISES * best_residual {
                        best = present;
                    }
                    break Status::IterationLimit;
                } else if still || report.iterations - best_iteration > patience {
                    break Status::Stalled;
                }
                // Coulomb's law has no objective whose rise would tell: the residual has to.
                let swings = report.iterations - best_iteration.max(trusted.0) > SWINGS;
                let astray = residual > ASTRAY * best_residual || swings;
                if style.momentum && coulomb && astray && most > 0.0 {
                    (β, age) = (0.0, 0.0);
                    (last, present) = (best, best);
                    most = (1.0 - HUMBLER * (1.0 - most)).max(0.0);
                    trusted = (report.iterations, residual);
                }
            }

            let next = spare([last, present, best]);
            let mut x = std::mem::take(&mut pool[next]);
            let swept = problem.sweep(&pool[present], &pool[last], β, &style.rule, &mut x);
            pool[next] = x;
            report.operator_applications += 1;
            report.iterations += 1;
            likely = swept.likely_residual;
            still = swept.step_in_metric == 0.0;
            if style.momentum {
                age = if style.restart && swept.uphill > 0.0 { 0.0 } else { age + 1.0 };
                β = most.min(momentum(age));
            }
            (last, present) = (present, next);
        };
        pool.swap(0, best);
        status
    }
}
