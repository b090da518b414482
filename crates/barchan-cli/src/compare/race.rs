//! One solver on one problem: how it ended, in what time, and how its residual fell.
//!
//! What makes it fair: every solve starts from no impulses with a solver, an operator and a
//! workspace that remember nothing, and its time includes what they prepare. The residual of the
//! impulses handed out is computed afresh, in the same way for all, and that alone says whether
//! the problem is solved. A solve that is short is timed several times, and the best counts.
//!
//! A solver has no clock. To keep a solve within a limit of time it is first given few iterations,
//! then more, as the time that they took allows; only the last of these solves counts.
//!
//! The history comes from solves of its own, of which the quickest counts: some solvers look at the
//! residual less often when nobody asks. Its times are scaled so that its end falls on the time
//! measured without.

use barchan::cone::solver::{
    HistoryEntry, Report, Solvable, Solve, Solver, SolverFor, SolverName, SolverOptions, Status,
};
use barchan::cone::{AnyProblem, BlockSparse, ContactVec, MatrixFree, Workspace};
use serde::Serialize;
use std::time::Instant;

/// Iterations of the first try.
const FIRST: u32 = 16;
/// The same of `auto`: as many as a step has by default.
const FIRST_OF_AUTO: u32 = 1000;
/// Factor by which the next try may have more.
const MORE: f64 = 8.0;
/// A try that took this part of the limit is the last.
const ENOUGH: f64 = 0.8;
/// A solve is timed again until this many seconds are spent, ...
const SPEND: f64 = 1.0;
/// ... and at most so often.
const TIMINGS: u32 = 10;
/// What rounding may add to a residual that is computed afresh.
const ROUNDING: f64 = 1.001;

/// How a solve ended, as the comparison sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Verdict {
    /// The residual, computed afresh, is within the tolerance.
    Converged,
    /// The iterations ran out.
    #[serde(rename = "iteration limit")]
    IterationLimit,
    /// The time ran out.
    #[serde(rename = "time limit")]
    TimeLimit,
    /// The solver saw no way forward, or took for solved what is not.
    Stalled,
    /// Something was not a number.
    #[serde(rename = "bad problem")]
    BadProblem,
}

impl Verdict {
    /// In words.
    pub(super) fn words(self) -> &'static str {
        match self {
            Self::Converged => "converged",
            Self::IterationLimit => "iteration limit",
            Self::TimeLimit => "time limit",
            Self::Stalled => "stalled",
            Self::BadProblem => "bad problem",
        }
    }
}

/// What came of one solver on one problem.
#[derive(Clone, Debug)]
pub(super) struct Result {
    pub(super) verdict: Verdict,
    pub(super) iterations: u32,
    pub(super) operator_applications: u32,
    /// The best time.
    pub(super) seconds: f64,
    /// How many times it was taken.
    pub(super) timings: u32,
    /// The natural residual of the impulses, computed afresh.
    pub(super) residual: f64,
    pub(super) history: Vec<HistoryEntry>,
}

/// One solve, timed.
struct Timed {
    report: Report,
    seconds: f64,
    residual: f64,
}

impl Timed {
    /// Whether more iterations might have helped. A solver that calls itself stalled may have had
    /// none left to get over it.
    fn is_cut_short(&self, options: &SolverOptions) -> bool {
        let unfinished = matches!(self.report.status, Status::IterationLimit | Status::Stalled | Status::GaveUp);
        unfinished && self.report.iterations >= options.max_iterations
    }
}

/// Runs the solver of `options`, at most about `max_seconds` a solve.
pub(super) fn race(problem: &AnyProblem, options: &SolverOptions, max_seconds: f64) -> Result {
    let mut options = *options;
    let max_iterations = options.max_iterations;
    // What auto does depends on how many iterations it has in all: with few it passes on early.
    let first = if options.name == SolverName::Auto { FIRST_OF_AUTO } else { FIRST };
    let first = first.min(options.max_iterations);
    options.max_iterations = first;
    let mut tried = solve(problem, &options, false);
    while tried.is_cut_short(&options)
        && options.max_iterations < max_iterations
        && tried.seconds < ENOUGH * max_seconds
    {
        let factor = (max_seconds / tried.seconds).min(MORE);
        let next = (factor * f64::from(options.max_iterations)).ceil();
        options.max_iterations = max_iterations.min(next as u32);
        tried = solve(problem, &options, false);
    }
    let (best, timings) = quickest(tried, || solve(problem, &options, false));
    let (watched, _) = quickest(solve(problem, &options, true), || solve(problem, &options, true));

    let verdict = match best.report.status {
        _ if best.residual <= ROUNDING * options.tolerance => Verdict::Converged,
        _ if best.is_cut_short(&options) && options.max_iterations < max_iterations => Verdict::TimeLimit,
        Status::IterationLimit => Verdict::IterationLimit,
        // Nothing better than no impulses, for want of iterations.
        Status::GaveUp if best.is_cut_short(&options) => Verdict::IterationLimit,
        Status::BadProblem => Verdict::BadProblem,
        Status::Converged | Status::Stalled | Status::GaveUp => Verdict::Stalled,
    };
    let scale = if watched.seconds > 0.0 { best.seconds / watched.seconds } else { 1.0 };
    let history = watched.report.history.into_iter();
    Result {
        verdict,
        iterations: best.report.iterations,
        operator_applications: best.report.operator_applications,
        seconds: best.seconds,
        timings,
        residual: best.residual,
        history: history.map(|moment| HistoryEntry { seconds: scale * moment.seconds, ..moment }).collect(),
    }
}

/// The quickest of several solves that differ in nothing but their time, and how many there were.
fn quickest(first: Timed, mut again: impl FnMut() -> Timed) -> (Timed, u32) {
    let mut spent = first.seconds;
    let mut best = first;
    let mut timings = 1;
    while spent < SPEND && timings < TIMINGS {
        let next = again();
        (spent, timings) = (spent + next.seconds, timings + 1);
        if next.seconds < best.seconds {
            best = next;
        }
    }
    (best, timings)
}

/// Solves from no impulses, by the operator that fits the form of the problem.
fn solve(problem: &AnyProblem, options: &SolverOptions, history: bool) -> Timed {
    let start = Instant::now();
    match problem {
        AnyProblem::Bodies(problem) => {
            let mut workspace = Workspace::default();
            solve_with(&mut MatrixFree::new(problem, &mut workspace), options, history, start)
        }
        AnyProblem::Matrix(problem) => solve_with(&mut BlockSparse::new(problem), options, history, start),
    }
}

fn solve_with<P>(problem: &mut P, options: &SolverOptions, history: bool, start: Instant) -> Timed
where
    P: Solvable<Impulses = ContactVec, Sweeping: Default, InteriorPoint: Default>,
{
    let mut γ = ContactVec::default();
    let mut response = P::Velocities::default();
    problem.clear_impulses(&mut γ);
    let mut solver = SolverFor::<P>::new(options.name);
    let report = solver.solve(Solve::new(problem, &mut γ, &mut response, options).with_history(history));
    let seconds = start.elapsed().as_secs_f64();
    // Nothing that the solver has left behind takes part.
    problem.set_shift(None);
    problem.set_law(options.law());
    problem.respond_to(&γ, &mut response);
    let residual = problem.residuals(&γ, &response).0.natural;
    Timed { report, seconds, residual }
}
