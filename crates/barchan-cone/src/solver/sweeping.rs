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

mod momentum;

use super::duo::Duo;
use super::nothing::{RESIDUAL_OF_NONE, is_bad_start};
use super::stopping::{Next, NotFinite, Stopping};
use super::{Criterion, Report, Solve, Solver, SolverName, SolverOptions, Status};
use crate::{Borders, Friction, Lag, Order, Relaxation, Rule};
use momentum::{Acceleration, Momentum};

/// Sweeps between looks at the residual, each of which costs half a sweep: the first time, and at most.
const FIRST_INTERVAL: u32 = 2;
const LONGEST_INTERVAL: u32 = 16;
/// The same under Coulomb's law, where a look tells as well whether momentum has led astray.
const LONGEST_INTERVAL_COULOMB: u32 = 8;
/// Sweeps without a better residual after which a solve counts as stalled.
const PATIENCE: u32 = 10_000;
/// The same where the outer loop of De Saxcé waits to take over.
const SHORT_PATIENCE: u32 = 1_000;
/// How often a solve goes on after its result, computed afresh, has missed the tolerance.
const SECOND_LOOKS: u32 = 3;
/// Without momentum: how far the residual may rise before sweeps count as diverging.
const RISES: f64 = 10.0;
/// Relaxation of sweeps that act on whole bodies from several ranks (S4 7.2).
const RELAXED: f64 = 0.75;

/// A solve that has met its tolerance is polished: until its residual is this part of the tolerance,
const POLISHED: f64 = 1e-3;
/// for so many sweeps at least, which a large bed at rest needs from step to step,
const POLISHING_SWEEPS: u32 = 4;
/// and for so many relaxations of contacts, which cost next to nothing: small problems are solved to many digits.
const POLISHING_RELAXATIONS: usize = 20_000;
/// What a row takes in a sweep, in relaxations of contacts. All of them are solved at once, and gain nothing by many sweeps.
const ROW: usize = 200;

/// How fast De Saxcé's terms follow the sweeps, where these have momentum.
const FOLLOW: f64 = 0.5;

/// The memory of sweeping solvers, kept between solves.
pub struct Sweeping<S> {
    iterates: Duo<S>,
}

impl<S: Default> Default for Sweeping<S> {
    fn default() -> Self {
        Self { iterates: Duo::default() }
    }
}

/// What distinguishes the solvers of this file.
struct Method {
    order: Order,
    borders: Borders,
    rule: Rule,
    acceleration: Acceleration,
}

impl Method {
    /// The method that options name, for a problem whose slip is rounded off below a speed.
    fn of(options: &SolverOptions, rounding: f64) -> Self {
        let acceleration = Acceleration::None;
        let is_rounded = options.law() == Friction::Coulomb && rounding > 0.0;
        let follow = if options.name == SolverName::AcceleratedGs { FOLLOW } else { 1.0 };
        let lag = is_rounded.then_some(Lag { follow, rounding });
        let exact = |relaxation| Rule { law: options.law(), exact: true, relaxation, blend: 1.0, lag };
        match options.name {
            SolverName::Nbgs => {
                let o = options.nbgs;
                Self { order: o.order, borders: o.borders, rule: exact(o.relaxation), acceleration }
            }
            SolverName::GaussSeidel => {
                let o = options.gauss_seidel;
                let rule = Rule { exact: false, blend: o.blend, ..exact(o.relaxation) };
                Self { order: o.order, borders: Borders::Split, rule, acceleration }
            }
            SolverName::AcceleratedGs | SolverName::Auto => {
                let o = options.accelerated_gs;
                let relaxation = if o.borders == Borders::Whole { RELAXED } else { 1.0 };
                let acceleration = Acceleration::Nesterov { restart: o.restart };
                Self { order: o.order, borders: o.borders, rule: exact(relaxation), acceleration }
            }
            SolverName::Apgd | SolverName::Scip | SolverName::Jacobi => {
                unreachable!("{} does not sweep", options.name.name())
            }
        }
    }

    fn is_coulomb(&self) -> bool {
        self.rule.law == Friction::Coulomb
    }

    /// Makes ready for sweeps from an iterate.
    fn start_lag<P: Relaxation>(&self, problem: &mut P, from: &P::Iterate) {
        if let Some(lag) = &self.rule.lag {
            problem.start_lag(from, lag);
        }
    }

    fn is_accelerated(&self) -> bool {
        self.acceleration != Acceleration::None
    }

    fn patience(&self) -> u32 {
        if self.is_coulomb() && self.is_accelerated() { SHORT_PATIENCE } else { PATIENCE }
    }
}

/// When to look at the residual: where a sweep makes it likely that the tolerance is met, and at
/// intervals that double up to a longest.
struct Looks {
    interval: u32,
    longest: u32,
    /// The sweeps done at the last look.
    last: u32,
    /// The residual as the last sweep makes it likely; zero before the first.
    likely: f64,
    /// How the true one compared with it.
    ratio: f64,
}

impl Looks {
    fn new(method: &Method, sweeps: u32) -> Self {
        let longest = if method.is_coulomb() { LONGEST_INTERVAL_COULOMB } else { LONGEST_INTERVAL };
        Self { interval: FIRST_INTERVAL, longest, last: sweeps, likely: 0.0, ratio: f64::INFINITY }
    }

    fn is_due(&self, polish: &Polish, tolerance: f64, sweeps: u32) -> bool {
        let likely = self.ratio * self.likely;
        // While a result is polished, a look is due where that ends.
        let is_met = match polish.until {
            Some(until) => sweeps >= until || likely <= polish.goal,
            None => likely <= tolerance,
        };
        self.likely == 0.0 || is_met || sweeps - self.last >= self.interval
    }

    /// At a look: the next may be later.
    fn lengthen(&mut self, sweeps: u32) {
        if sweeps > 0 {
            self.interval = self.longest.min(2 * self.interval);
        }
    }

    /// After a look.
    fn compare(&mut self, residual: f64, sweeps: u32) {
        self.ratio = if self.likely > 0.0 { residual / self.likely } else { f64::INFINITY };
        self.last = sweeps;
    }
}

/// Sweeps that go on after the tolerance is met.
struct Polish {
    is_wanted: bool,
    /// The residual at which it ends.
    goal: f64,
    /// Sweeps that it may take after the tolerance is met.
    extra: u32,
    /// The sweep at which it ends, once the tolerance is met.
    until: Option<u32>,
}

impl Polish {
    fn new(options: &SolverOptions, relaxations: usize) -> Self {
        let is_wanted = options.polish && options.tolerance > 0.0;
        let extra = (POLISHING_RELAXATIONS / relaxations.max(1)) as u32;
        Self { is_wanted, goal: POLISHED * options.tolerance, extra, until: None }
    }

    /// What follows from the stopping rule's word on a residual after so many sweeps.
    fn judge(&mut self, next: Next, residual: f64, sweeps: u32) -> Next {
        if !self.is_wanted {
            return next;
        }
        if next == Next::End(Status::Converged) {
            let until = *self.until.get_or_insert(POLISHING_SWEEPS.max(sweeps + self.extra));
            return if residual <= self.goal || sweeps >= until { next } else { Next::GoOn };
        }
        // The tolerance has been met before: whatever ends the solve now, its result is good.
        match (next, self.until) {
            (Next::End(_), Some(_)) => Next::End(Status::Converged),
            (Next::GoOn, Some(until)) if sweeps >= until => Next::End(Status::Converged),
            _ => next,
        }
    }
}

impl<P: Relaxation> Solver<P> for Sweeping<P::Iterate> {
    fn solve(&mut self, mut solve: Solve<'_, P>) -> Report {
        if let Some(report) = solve.report_if_empty() {
            return report;
        }
        let mut report = Report::default();
        let method = Method::of(solve.options, solve.problem.slip_rounding());
        solve.problem.set_law(method.rule.law);
        solve.problem.prepare(method.order, method.borders);
        for _ in 0..=SECOND_LOOKS {
            report.status = self.iterate(&mut solve, &method, &mut report);
            // A response that owes nothing to the sums of sweeps.
            solve.problem.respond_to(solve.γ, solve.response);
            report.operator_applications += 1;
            report.finish(&mut solve);
            if report.status != Status::Converged || report.residual <= solve.options.tolerance {
                return report;
            }
        }
        report.status = Status::Stalled;
        report.finish(&mut solve);
        report
    }
}

impl<S: Default + Clone> Sweeping<S> {
    /// Sweeps from γ until something ends it. γ and the response are then those of the best iterate.
    fn iterate<P: Relaxation<Iterate = S>>(
        &mut self,
        solve: &mut Solve<'_, P>,
        method: &Method,
        report: &mut Report,
    ) -> Status {
        let mut stopping = Stopping::new(solve, method.patience(), NotFinite::Diverged);
        let mut momentum = Momentum::new(method.acceleration, &method.rule, report.iterations);
        let mut looks = Looks::new(method, report.iterations);
        let mut polish = Polish::new(solve.options, solve.problem.contacts() + ROW * solve.problem.rows());
        let mut is_still = false;
        let Solve { problem, γ, response, options, record_history } = solve.reborrow();
        let iterates = &mut self.iterates;
        problem.enter(γ, response, iterates.restart());
        method.start_lag(problem, iterates.present());
        report.operator_applications += 1;

        loop {
            // A look at the residual, where one is due.
            let is_last = report.iterations >= options.max_iterations;
            let is_due = looks.is_due(&polish, options.tolerance, report.iterations);
            if record_history || is_last || is_due {
                looks.lengthen(report.iterations);
                let residual = problem.iterate_residual(iterates.present(), options.criterion);
                let next = polish.judge(stopping.observe(residual, is_still, report), residual, report.iterations);
                if stopping.is_best() {
                    problem.store(iterates.present(), γ, response);
                    momentum.reward(residual, report.iterations);
                }
                match next {
                    Next::GoOn => looks.compare(residual, report.iterations),
                    Next::DoubtStart => {
                        if is_bad_start(problem, γ, response, report) {
                            problem.clear_impulses(γ);
                            problem.enter(γ, response, iterates.restart());
                            method.start_lag(problem, iterates.present());
                        }
                        continue;
                    }
                    Next::End(status) => {
                        // Sweeps without momentum make their way where the residual first rises, from a
                        // cold start: what the last has reached counts, as in S4.
                        let is_natural = options.criterion == Criterion::Natural;
                        let rises_little = residual <= RISES * stopping.best_residual()
                            && !(is_natural && residual > RESIDUAL_OF_NONE);
                        if status == Status::IterationLimit && !method.is_accelerated() && rises_little {
                            problem.store(iterates.present(), γ, response);
                        }
                        return status;
                    }
                }
                // Too much momentum: go on from the best, with less.
                if momentum.drop_if_astray(residual, report.iterations, &stopping) {
                    problem.load(γ, response, iterates.restart());
                    method.start_lag(problem, iterates.present());
                }
            }

            // One sweep from y.
            let (present, last) = iterates.free_last();
            let swept = problem.sweep(present, last, momentum.β(), &method.rule);
            iterates.advance();
            report.operator_applications += 1;
            report.iterations += 1;
            looks.likely = swept.likely_residual;
            is_still = swept.step_in_metric == 0.0;
            momentum.advance(&swept);
        }
    }
}
