//! Solvers: problem in, impulses and a report out.
//!
//! A solver sees mathematics only: it is generic over the seam [`ConeProblem`] and never meets
//! shapes, files or ranks. To add one: write its file, add a line to [`SolverName::ALL`] and to
//! [`AnySolver`].

pub mod apgd;
pub mod options;
pub mod report;

pub use crate::problem::{Criterion, Metric};
pub use apgd::Apgd;
pub use options::{ApgdOptions, SolverName, SolverOptions};
pub use report::{Moment, Report, Status};

use crate::problem::ConeProblem;

/// A solver of cone complementarity problems. Its memory is kept between solves.
pub trait Solver<P: ConeProblem> {
    /// Solves `problem`.
    ///
    /// `γ` holds the impulses to start from (of the problem's length; zeros for a cold start)
    /// and afterwards the best found; `response` afterwards holds M⁻¹Dγ.
    fn solve(
        &mut self,
        problem: &mut P,
        γ: &mut P::Impulses,
        response: &mut P::Velocities,
        options: &SolverOptions,
        keep_history: bool,
    ) -> Report;
}

/// A solver chosen at run time, with its memory.
pub enum AnySolver<I, V> {
    /// Accelerated projected gradient descent.
    Apgd(Apgd<I, V>),
}

impl<I: Default, V: Default> AnySolver<I, V> {
    /// The solver of this name.
    pub fn new(name: SolverName) -> Self {
        match name {
            SolverName::Apgd => Self::Apgd(Apgd::default()),
        }
    }
}

impl<P: ConeProblem> Solver<P> for AnySolver<P::Impulses, P::Velocities> {
    fn solve(
        &mut self,
        problem: &mut P,
        γ: &mut P::Impulses,
        response: &mut P::Velocities,
        options: &SolverOptions,
        keep_history: bool,
    ) -> Report {
        match self {
            Self::Apgd(solver) => solver.solve(problem, γ, response, options, keep_history),
        }
    }
}
