//! Exact Coulomb friction by any solver of the associated law.
//!
//! With s = μ|u_t| added to the normal velocities, the cone complementarity problem has Coulomb's
//! solution (De Saxcé). The outer loop solves it for a fixed s and takes s from the solution, until
//! the residual of the exact law is small. The plain iteration may wander, so s is extrapolated
//! from the last few (Anderson 1965) as long as the residual falls, and the inner solves are only
//! as exact as the outer residual deserves.

use super::{Report, Solve, Solver, SolverOptions, Status};
use crate::{ConeProblem, Friction};

/// Steps that the extrapolation looks back.
const MEMORY: usize = 4;
/// The inner residual against the last outer one.
const FINER: f64 = 0.2;
/// Outer steps without a better residual after which a solve counts as stalled.
const PATIENCE: u32 = 60;

/// The memory of the outer loop, kept between solves.
pub struct DeSaxce<I> {
    shift: I,
    slip: I,
    change: I,
    scratch: I,
    spare: I,
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
            change: I::default(),
            scratch: I::default(),
            spare: I::default(),
            best: I::default(),
            changes: Default::default(),
            slips: Default::default(),
        }
    }
}

impl<I: Default> DeSaxce<I> {
    /// Solves `problem` under Coulomb's law by `inner`.
    pub fn solve<P: ConeProblem<Impulses = I>>(
        &mut self,
        inner: &mut impl Solver<P>,
        mut solve: Solve<'_, P>,
    ) -> Report {
        let Solve { problem, γ, response, options, keep_history } = solve.reborrow();
        let mut total = Report::default();
        if problem.is_empty() {
            problem.clear_velocities(response);
            return total;
        }
        problem.set_shift(None);
        problem.shape_impulses(γ);
        problem.project(γ);
        problem.respond_to(γ, response);
        problem.slip(response, &mut self.shift);
        let mut inner_options =
            SolverOptions { friction: Some(Friction::Associated), criterion: super::Criterion::Natural, ..*options };
        inner_options.tolerance = 0.1;
        let (mut best, mut best_step, mut last, mut past) = (f64::INFINITY, 0, f64::INFINITY, Past::default());
        let mut step = 0;
        let status = loop {
            inner_options.max_iterations = options.max_iterations - total.iterations;
            problem.set_shift(Some(&self.shift));
            let report = inner.solve(Solve::new(problem, γ, response, &inner_options));
            problem.set_shift(None);
            total.iterations += report.iterations;
            total.operator_applications += report.operator_applications;
            if report.status == Status::BadProblem {
                break Status::BadProblem;
            }

            // The residual of the exact law.
            problem.set_law(Friction::Coulomb);
            total.judge(&mut Solve { problem, γ, response, options, keep_history });
            let (residual, natural) = (total.residual, total.residuals.natural);
            if keep_history {
                total.remember(residual);
            }
            if residual < best {
                (best, best_step) = (residual, step);
                problem.combine(1.0, γ, 0.0, γ, &mut self.best);
            }
            if residual <= options.tolerance {
                break Status::Converged;
            } else if total.iterations >= options.max_iterations {
                break Status::IterationLimit;
            } else if step - best_step > PATIENCE {
                break Status::Stalled;
            }

            // The next shift.
            problem.slip(response, &mut self.scratch);
            self.extrapolate(problem, &mut past, natural <= last);
            last = natural;
            inner_options.tolerance = inner_options.tolerance.min(FINER * natural);
            if report.iterations == 0 {
                inner_options.tolerance *= FINER;
            }
            step += 1;
        };
        if best < total.residual {
            problem.combine(1.0, &self.best, 0.0, &self.best, γ);
            problem.respond_to(γ, response);
            problem.set_law(Friction::Coulomb);
            total.judge(&mut Solve { problem, γ, response, options, keep_history });
        }
        total.status = status;
        total
    }

    /// The shift after the present one, whose solution has the slip in `scratch`.
    ///
    /// It is that slip g, less the combination of past differences of g that, taken of the change
    /// f = g − shift, leaves the least of it. Where the last step is not `trusted` the past is
    /// forgotten.
    fn extrapolate<P: ConeProblem<Impulses = I>>(&mut self, problem: &mut P, past: &mut Past, trusted: bool) {
        let (mut f, slot) = (I::default(), past.next);
        std::mem::swap(&mut f, &mut self.spare);
        problem.combine(1.0, &self.scratch, -1.0, &self.shift, &mut f);
        if past.known {
            problem.combine(1.0, &f, -1.0, &self.change, &mut self.changes[slot]);
            problem.combine(1.0, &self.scratch, -1.0, &self.slip, &mut self.slips[slot]);
            past.next = (slot + 1) % MEMORY;
            past.count = (past.count + 1).min(MEMORY);
        }
        if !trusted {
            past.count = 0;
        }
        past.known = true;
        std::mem::swap(&mut self.spare, &mut self.change);
        self.change = f;
        std::mem::swap(&mut self.slip, &mut self.scratch);

        problem.combine(1.0, &self.slip, 0.0, &self.slip, &mut self.shift);
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
            let (pivot, factor) = (a[j], a[r][j] / a[j][j]);
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
