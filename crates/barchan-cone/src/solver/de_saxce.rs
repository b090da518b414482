//! Exact Coulomb friction by any solver of the associated law.
//!
//! With s = μ|u_t| added to the normal velocities, the cone complementarity problem has Coulomb's
//! solution (De Saxcé). The outer loop solves it for a fixed s and takes s from the solution, until
//! the residual of the exact law is small. The plain iteration may wander, so s is extrapolated
//! from the last few (Anderson 1965) as long as the residual falls, and the inner solves are only
//! as exact as the outer residual deserves.

use super::nothing::is_bad_start;
use super::stopping::{Next, NotFinite, Stopping};
use super::{Criterion, Report, Solve, Solver, SolverOptions, Status};
use crate::{ConeProblem, Friction};

/// Steps that the extrapolation looks back.
const MEMORY: usize = 4;
/// The tolerance of the first inner solve.
const FIRST_TOLERANCE: f64 = 0.1;
/// The inner residual against the last outer one.
const FINER: f64 = 0.2;
/// Outer steps without a better residual after which a solve counts as stalled.
const PATIENCE: u32 = 60;

/// The memory of the outer loop, kept between solves.
pub struct DeSaxce<I> {
    /// The shift s of the inner problem.
    shift: I,
    /// The slip μ|u_t| of its solution, and the one before.
    slip: I,
    last_slip: I,
    /// The change slip − shift, and the one before.
    change: I,
    last_change: I,
    scratch: I,
    best: I,
    /// Differences of the changes and of the slips of the last steps.
    changes: [I; MEMORY],
    slips: [I; MEMORY],
}

impl<I: Default> Default for DeSaxce<I> {
    fn default() -> Self {
        Self {
            shift: I::default(),
            slip: I::default(),
            last_slip: I::default(),
            change: I::default(),
            last_change: I::default(),
            scratch: I::default(),
            best: I::default(),
            changes: Default::default(),
            slips: Default::default(),
        }
    }
}

impl<I: Default> DeSaxce<I> {
    /// Solves under Coulomb's law by `inner`, a solver of the associated one.
    pub fn solve<P: ConeProblem<Impulses = I>>(
        &mut self,
        inner: &mut impl Solver<P>,
        mut solve: Solve<'_, P>,
    ) -> Report {
        if let Some(report) = solve.report_if_empty() {
            return report;
        }
        let mut total = Report::default();
        solve.problem.set_shift(None);
        self.start(&mut solve, &mut total);
        let (best_residual, status) = self.iterate(inner, &mut solve, &mut total);
        total.status = status;
        // Hand out the best impulses with their response.
        solve.problem.set_law(Friction::Coulomb);
        if best_residual < total.residual {
            solve.problem.copy(&self.best, solve.γ);
            solve.problem.respond_to(solve.γ, solve.response);
        }
        total.finish(&mut solve);
        total
    }

    /// Finds the response of the start, or starts cold if it is worse than nothing. After it the report has the residual.
    fn start<P: ConeProblem<Impulses = I>>(&mut self, solve: &mut Solve<'_, P>, total: &mut Report) {
        solve.project_start();
        solve.problem.set_law(Friction::Coulomb);
        if is_bad_start(solve.problem, solve.γ, solve.response, total) {
            solve.problem.clear_impulses(solve.γ);
            solve.problem.clear_velocities(solve.response);
        }
        solve.problem.copy(solve.γ, &mut self.best);
        total.record_residuals(solve);
    }

    /// The outer loop, until something ends it: the best residual, and how it ended.
    fn iterate<P: ConeProblem<Impulses = I>>(
        &mut self,
        inner: &mut impl Solver<P>,
        solve: &mut Solve<'_, P>,
        total: &mut Report,
    ) -> (f64, Status) {
        // The patience of this loop is counted in its own steps.
        let mut stopping = Stopping::new(solve, u32::MAX, NotFinite::Nothing);
        let mut step = 0;
        let mut best_step = 0;
        let mut last_natural = f64::INFINITY;
        let mut past = Past::default();
        let mut options = SolverOptions {
            friction: Some(Friction::Associated),
            criterion: Criterion::Natural,
            tolerance: FIRST_TOLERANCE,
            ..*solve.options
        };
        // The start is the best so far, and perhaps good enough.
        if let Next::End(status) = stopping.observe(total.residual, false, total) {
            return (stopping.best_residual(), status);
        }
        solve.problem.slip(solve.response, &mut self.shift);
        let status = loop {
            // The inner problem, with its shift fixed.
            options.max_iterations = solve.options.max_iterations - total.iterations;
            solve.problem.set_shift(Some(&self.shift));
            let report = inner.solve(solve.with(&options).with_history(false));
            solve.problem.set_shift(None);
            total.iterations += report.iterations;
            total.operator_applications += report.operator_applications;
            if report.status == Status::BadProblem {
                break Status::BadProblem;
            }

            // The residual of the exact law.
            solve.problem.set_law(Friction::Coulomb);
            total.record_residuals(solve);
            let natural = total.residuals.natural;
            let next = stopping.observe(total.residual, false, total);
            if stopping.is_best() {
                best_step = step;
                solve.problem.copy(solve.γ, &mut self.best);
            }
            match next {
                Next::End(status) => break status,
                _ if step - best_step > PATIENCE => break Status::Stalled,
                _ => {}
            }

            // The next shift, and how exactly its problem is to be solved.
            std::mem::swap(&mut self.slip, &mut self.last_slip);
            solve.problem.slip(solve.response, &mut self.slip);
            self.extrapolate(solve.problem, &mut past, natural <= last_natural);
            last_natural = natural;
            options.tolerance = options.tolerance.min(FINER * natural);
            if report.iterations == 0 {
                options.tolerance *= FINER;
            }
            step += 1;
        };
        (stopping.best_residual(), status)
    }

    /// The shift after the present one, whose solution has the slip g in `slip`.
    ///
    /// It is g, less the combination of past differences of g that, taken of the change f = g − shift,
    /// leaves the least of it. Where the last step is not `trusted` the past is forgotten.
    fn extrapolate<P: ConeProblem<Impulses = I>>(&mut self, problem: &mut P, past: &mut Past, trusted: bool) {
        std::mem::swap(&mut self.change, &mut self.last_change);
        problem.combine(1.0, &self.slip, -1.0, &self.shift, &mut self.change);
        if past.known {
            let slot = past.next;
            problem.combine(1.0, &self.change, -1.0, &self.last_change, &mut self.changes[slot]);
            problem.combine(1.0, &self.slip, -1.0, &self.last_slip, &mut self.slips[slot]);
            past.next = (slot + 1) % MEMORY;
            past.count = (past.count + 1).min(MEMORY);
        }
        if !trusted {
            past.count = 0;
        }
        past.known = true;

        // Least squares over the differences, the latest first.
        let recent: [usize; MEMORY] = std::array::from_fn(|j| (past.next + MEMORY - 1 - j) % MEMORY);
        let mut gram = [[0.0; MEMORY]; MEMORY];
        let mut right = [0.0; MEMORY];
        for j in 0..past.count {
            right[j] = problem.dot(&self.changes[recent[j]], &self.change);
            for k in 0..=j {
                gram[j][k] = problem.dot(&self.changes[recent[j]], &self.changes[recent[k]]);
                gram[k][j] = gram[j][k];
            }
        }
        problem.copy(&self.slip, &mut self.shift);
        for (j, θ) in least_squares(gram, right, past.count).into_iter().enumerate().take(past.count) {
            problem.combine(1.0, &self.shift, -θ, &self.slips[recent[j]], &mut self.scratch);
            std::mem::swap(&mut self.shift, &mut self.scratch);
        }
    }
}

/// How much of the past the extrapolation can use.
#[derive(Default)]
struct Past {
    /// Whether there is a step before this one.
    known: bool,
    count: usize,
    next: usize,
}

/// Solves the normal equations of the first `count` unknowns, a little regularised.
fn least_squares(mut a: [[f64; MEMORY]; MEMORY], mut b: [f64; MEMORY], count: usize) -> [f64; MEMORY] {
    let trace: f64 = (0..count).map(|j| a[j][j]).sum();
    (0..count).for_each(|j| a[j][j] += 1e-10 * trace);
    // Elimination and substitution; the matrix is positive definite, so pivots are.
    for j in 0..count {
        if a[j][j] <= 0.0 || !a[j][j].is_finite() {
            return [0.0; MEMORY];
        }
        for r in j + 1..count {
            let pivot = a[j];
            let factor = a[r][j] / a[j][j];
            a[r].iter_mut().zip(pivot).for_each(|(x, p)| *x -= factor * p);
            b[r] -= factor * b[j];
        }
    }
    let mut x = [0.0; MEMORY];
    for j in (0..count).rev() {
        x[j] = (b[j] - (j + 1..count).map(|c| a[j][c] * x[c]).sum::<f64>()) / a[j][j];
    }
    x
}
