//! Solvers: problem in, impulses and a report out.
//!
//! A solver sees mathematics only: it is generic over the interface [`ConeProblem`] and never meets
//! shapes, files or ranks. To add one: write its file, add a line to [`SolverName::ALL`] and an arm to
//! [`AnySolver`]; when it ends is the business of `stopping.rs`. What solvers need beyond gradients, a
//! problem offers or does not: see [`Solvable`].

mod any;
pub mod apgd;
pub mod de_saxce;
mod duo;
pub mod jacobi;
mod jordan;
mod nothing;
mod offer;
pub mod options;
mod patch;
mod pool;
pub mod report;
pub mod scip;
mod stopping;
pub mod sweeping;
mod worth;

pub use crate::{Borders, Criterion, Friction, Metric, Order};
pub use any::AnySolver;
pub use apgd::Apgd;
pub use de_saxce::DeSaxce;
pub use jacobi::Jacobi;
pub use offer::{NoSolver, NotOffered, Offer, Solvable, SolverFor};
pub use options::{
    AcceleratedGsOptions, ApgdOptions, GaussSeidelOptions, JacobiOptions, NbgsOptions, ScipOptions, SolverName,
    SolverOptions,
};
pub(crate) use patch::solve_patch;
pub use report::{HistoryEntry, Report, Status};
pub use scip::Scip;
pub use sweeping::Sweeping;

use crate::ConeProblem;

/// What one solve is given: a problem, the vectors to work on, and the options.
pub struct Solve<'a, P: ConeProblem> {
    /// The problem.
    pub problem: &'a mut P,
    /// The impulses to start from, of the problem's length; zeros for a cold start. Afterwards the best
    /// found.
    pub γ: &'a mut P::Impulses,
    /// Afterwards M⁻¹Dγ.
    pub response: &'a mut P::Velocities,
    /// Tolerance, limits, and options of the solver.
    pub options: &'a SolverOptions,
    /// Whether the report keeps the residual of every iteration.
    pub record_history: bool,
}

impl<'a, P: ConeProblem> Solve<'a, P> {
    /// A solve without a history.
    pub fn new(
        problem: &'a mut P,
        γ: &'a mut P::Impulses,
        response: &'a mut P::Velocities,
        options: &'a SolverOptions,
    ) -> Self {
        Self { problem, γ, response, options, record_history: false }
    }

    /// The same with a history, if `record_history` says so.
    #[must_use]
    pub fn with_history(self, record_history: bool) -> Self {
        Self { record_history, ..self }
    }

    /// The same, borrowed for a shorter time.
    pub fn reborrow(&mut self) -> Solve<'_, P> {
        let Self { problem, γ, response, options, record_history } = self;
        Solve { problem, γ, response, options, record_history: *record_history }
    }

    /// The same with other options.
    pub fn with<'b>(&'b mut self, options: &'b SolverOptions) -> Solve<'b, P> {
        Solve { options, ..self.reborrow() }
    }

    /// Where there is nothing to solve: no response, and the report of that.
    fn report_if_empty(&mut self) -> Option<Report> {
        self.problem.is_empty().then(|| {
            self.problem.clear_velocities(self.response);
            Report::default()
        })
    }

    /// Gives γ the shape of the problem, projects it onto the cones and finds its response.
    fn project_start(&mut self) {
        self.problem.shape_impulses(self.γ);
        self.problem.project(self.γ);
        self.problem.respond_to(self.γ, self.response);
    }
}

/// A solver of cone complementarity problems. Its memory is kept between solves.
pub trait Solver<P: ConeProblem> {
    /// Solves a problem.
    fn solve(&mut self, solve: Solve<'_, P>) -> Report;
}
