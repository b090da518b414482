//! Never worse than nothing.
//!
//! No impulses at all are an answer that everybody understands: bodies move on as their forces tell them. A solve that
//! misses its tolerance may have found something worse. Under a load far heavier than the bodies that carry it, impulses
//! that are wrong by a millionth of the load send these off at any speed, and the next solve starts from such impulses.
//! So impulses are measured against none, by two numbers.
//!
//! - The natural residual, 1 without impulses. Its step η is the inverse of the mean of A's diagonal, which light bodies
//!   dominate: it measures the velocities that contacts have wrong, in units of those that there are without impulses,
//!   however little mass moves at them. Nothing light flies away unseen.
//! - The objective ½γᵀAγ + bᵀγ, 0 without impulses: the kinetic energy that impulses add, but for gaps and rebounds,
//!   which b contains. It sees what is heavy. Solutions of either law have none above zero: one of Coulomb's law has
//!   γᵀ(Aγ + b) = −Σμ|u_t|γ_n, so that its objective is −½γᵀAγ less the work of friction.
//!
//! What is handed out must be no worse by either. A start is judged by the objective alone, and only where its residual
//! is above that of none: it has to be near the solution, not to be one. With a load of 10⁶ grains on a bed, the
//! impulses of the step before have a residual of hundreds, and are right to many digits.

use super::{Report, Solve, Status};
use crate::ConeProblem;

/// The natural residual of no impulses, and what rounding may add to it.
pub(super) const RESIDUAL_OF_NONE: f64 = 1.0 + SLACK;
const SLACK: f64 = 1e-9;
/// What of |bᵀγ| the objective may be above zero by rounding.
const ROUNDING: f64 = 1e-12;

/// Whether impulses with these parts of the objective, γᵀ(Aγ + b) and bᵀγ, add energy. What is not a number does.
fn adds_energy(work: f64, of_bias: f64) -> bool {
    let is_lower = 0.5 * (work + of_bias) <= ROUNDING * of_bias.abs();
    !is_lower
}

/// Whether no impulses are a better start than γ, whose response is `w`; counted, unless there is nothing to solve.
pub(super) fn is_bad_start<P: ConeProblem>(
    problem: &mut P,
    γ: &P::Impulses,
    w: &P::Velocities,
    report: &mut Report,
) -> bool {
    let (residuals, work) = problem.residuals(γ, w);
    // Where no impulses are needed at all, any are infinitely too much.
    if residuals.natural == f64::INFINITY {
        return true;
    }
    let is_bad = residuals.natural > RESIDUAL_OF_NONE && adds_energy(work, problem.dot_bias(γ));
    report.cold_starts += u32::from(is_bad);
    is_bad
}

impl Report {
    /// Records what a solve hands out: the impulses found, or none where it missed its tolerance and these are worse.
    pub(super) fn finish<P: ConeProblem>(&mut self, solve: &mut Solve<'_, P>) {
        let (work, of_bias) = self.record_residuals(solve);
        let is_missed = self.iterations > 0 && matches!(self.status, Status::IterationLimit | Status::Stalled);
        // What is not a number is worse than anything.
        let is_better = self.residuals.natural < 1.0 - SLACK && !adds_energy(work, of_bias);
        if is_missed && !is_better {
            solve.problem.clear_impulses(solve.γ);
            solve.problem.clear_velocities(solve.response);
            self.record_residuals(solve);
            self.status = Status::GaveUp;
        }
    }
}
