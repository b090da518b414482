//! Solvers: problem in, impulses and a report out.
//!
//! A solver sees mathematics only: it is generic over the seam [`ConeProblem`] and never meets
//! shapes, files or ranks. To add one: write its file, add a line to [`SolverName::ALL`] and to
//! [`AnySolver`].

pub mod apgd;
pub mod de_saxce;
pub mod jacobi;
mod jordan;
pub mod options;
pub mod report;
pub mod scip;
pub mod sweeping;

pub use crate::problem::{Criterion, Friction, Metric, Order};
pub use apgd::Apgd;
pub use de_saxce::DeSaxce;
pub use jacobi::Jacobi;
pub use options::{
    AcceleratedGsOptions, ApgdOptions, GaussSeidelOptions, JacobiOptions, NbgsOptions, ScipOptions, SolverName,
    SolverOptions,
};
pub use report::{Moment, Report, Status};
pub use scip::Scip;
pub use sweeping::Sweeping;

use crate::problem::{ConeProblem, NewtonProblem, Relaxation};

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
pub struct AnySolver<I, V, S> {
    kind: Kind<I, V, S>,
    /// For solvers of the associated law that are asked for the exact one.
    outer: DeSaxce<I>,
}

enum Kind<I, V, S> {
    Apgd(Apgd<I, V>),
    Scip(Box<Scip<I, V>>),
    Sweeping(Sweeping<S>),
    Jacobi(Jacobi<I>),
}

impl<I: Default, V: Default, S: Default> AnySolver<I, V, S> {
    /// The solver of this name.
    pub fn new(name: SolverName) -> Self {
        let kind = match name {
            SolverName::Apgd => Kind::Apgd(Apgd::default()),
            SolverName::Scip => Kind::Scip(Box::default()),
            SolverName::Jacobi => Kind::Jacobi(Jacobi::default()),
            SolverName::AcceleratedGs | SolverName::Nbgs | SolverName::GaussSeidel => {
                Kind::Sweeping(Sweeping::default())
            }
        };
        Self { kind, outer: DeSaxce::default() }
    }
}

impl<P: NewtonProblem + Relaxation> Solver<P> for Kind<P::Impulses, P::Velocities, P::Iterate> {
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
            Self::Scip(solver) => solver.solve(problem, γ, response, options, keep_history),
            Self::Sweeping(solver) => solver.solve(problem, γ, response, options, keep_history),
            Self::Jacobi(solver) => solver.solve(problem, γ, response, options, keep_history),
        }
    }
}

impl<P: NewtonProblem + Relaxation> Solver<P> for AnySolver<P::Impulses, P::Velocities, P::Iterate> {
    fn solve(
        &mut self,
        problem: &mut P,
        γ: &mut P::Impulses,
        response: &mut P::Velocities,
        options: &SolverOptions,
        keep_history: bool,
    ) -> Report {
        if options.law() == Friction::Associated || options.name.knows_coulomb() {
            let mut report = self.kind.solve(problem, γ, response, options, keep_history);
            // Where momentum under the exact law leads nowhere, the convex problems do.
            let astray = report.status == Status::Stalled && options.law() == Friction::Coulomb;
            if astray && options.name == SolverName::AcceleratedGs {
                let max_iterations = options.max_iterations - report.iterations;
                let rest = SolverOptions { max_iterations, ..*options };
                let outer = self.outer.solve(&mut self.kind, problem, γ, response, &rest, keep_history);
                report = report.followed_by(outer);
            }
            return report;
        }
        self.outer.solve(&mut self.kind, problem, γ, response, options, keep_history)
    }
}
