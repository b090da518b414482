//! Solvers: problem in, impulses and a report out.
//!
//! A solver sees mathematics only: it is generic over the interface [`ConeProblem`] and never meets
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

pub use crate::{Borders, Criterion, Friction, Metric, Order};
pub use apgd::Apgd;
pub use de_saxce::DeSaxce;
pub use jacobi::Jacobi;
pub use options::{
    AcceleratedGsOptions, ApgdOptions, GaussSeidelOptions, JacobiOptions, NbgsOptions, ScipOptions, SolverName,
    SolverOptions,
};
pub use report::{HistoryEntry, Report, Status};
pub use scip::Scip;
pub use sweeping::Sweeping;

use crate::{ConeProblem, NewtonProblem, Relaxation};

/// Contacts up to which `auto` thinks of the interior point,
const SMALL: usize = 1000;
/// and the sweeps after which it does.
const SWEEPS_OF_SMALL: u32 = 1000;

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
        record_history: bool,
    ) -> Report;
}

/// A solver chosen at run time, with its memory.
pub struct AnySolver<I, V, S> {
    name: SolverName,
    kind: Kind<I, V, S>,
    /// For solvers of the associated law that are asked for the exact one.
    outer: DeSaxce<I>,
    /// For `auto`, where sweeps take too long.
    second: Option<Box<Scip<I, V>>>,
}

enum Kind<I, V, S> {
    Apgd(Apgd<I, V>),
    Scip(Box<Scip<I, V>>),
    Sweeping(Sweeping<S>),
    Jacobi(Jacobi<I>),
}

impl<I: Default, V: Default, S: Default> AnySolver<I, V, S> {
    /// The solver of this name, whatever the options of a solve call it.
    pub fn new(name: SolverName) -> Self {
        let kind = match name {
            SolverName::Apgd => Kind::Apgd(Apgd::default()),
            SolverName::Scip => Kind::Scip(Box::default()),
            SolverName::Jacobi => Kind::Jacobi(Jacobi::default()),
            SolverName::Auto | SolverName::AcceleratedGs | SolverName::Nbgs | SolverName::GaussSeidel => {
                Kind::Sweeping(Sweeping::default())
            }
        };
        Self { name, kind, outer: DeSaxce::default(), second: None }
    }

    /// Numbers that a solve takes over from the one before, beside the impulses: with them a solver of
    /// the same name goes on as this one would. Sweeps and fixed points take over none.
    pub fn lipschitz_estimates(&mut self) -> [Option<f64>; 2] {
        let first = match &mut self.kind {
            Kind::Apgd(solver) => *solver.estimate(),
            Kind::Scip(solver) => *solver.estimate(),
            Kind::Sweeping(_) | Kind::Jacobi(_) => None,
        };
        [first, self.second.as_mut().and_then(|solver| *solver.estimate())]
    }

    /// Takes over what [`AnySolver::lipschitz_estimates`] gave.
    pub fn set_lipschitz_estimates(&mut self, [first, second]: [Option<f64>; 2]) {
        match &mut self.kind {
            Kind::Apgd(solver) => *solver.estimate() = first,
            Kind::Scip(solver) => *solver.estimate() = first,
            Kind::Sweeping(_) | Kind::Jacobi(_) => {}
        }
        if second.is_some() {
            *self.second.get_or_insert_default().estimate() = second;
        }
    }
}

impl<P: NewtonProblem + Relaxation> Solver<P> for Kind<P::Impulses, P::Velocities, P::Iterate> {
    fn solve(
        &mut self,
        problem: &mut P,
        γ: &mut P::Impulses,
        response: &mut P::Velocities,
        options: &SolverOptions,
        record_history: bool,
    ) -> Report {
        match self {
            Self::Apgd(solver) => solver.solve(problem, γ, response, options, record_history),
            Self::Scip(solver) => solver.solve(problem, γ, response, options, record_history),
            Self::Sweeping(solver) => solver.solve(problem, γ, response, options, record_history),
            Self::Jacobi(solver) => solver.solve(problem, γ, response, options, record_history),
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
        record_history: bool,
    ) -> Report {
        let options = SolverOptions { name: self.name, ..*options };
        let solve = if self.name == SolverName::Auto { Self::solve_by_choice } else { Self::solve_as_told };
        solve(self, problem, γ, response, &options, record_history)
    }
}

impl<I: Default, V: Default, S: Default> AnySolver<I, V, S> {
    fn solve_as_told<P: NewtonProblem + Relaxation<Impulses = I, Velocities = V, Iterate = S>>(
        &mut self,
        problem: &mut P,
        γ: &mut I,
        response: &mut V,
        options: &SolverOptions,
        record_history: bool,
    ) -> Report {
        if options.law() == Friction::Coulomb && !options.name.knows_coulomb() {
            let report = self.outer.solve(&mut self.kind, problem, γ, response, options, record_history);
            return report.by(options.name);
        }
        let mut report = self.kind.solve(problem, γ, response, options, record_history);
        let is_coulomb = options.law() == Friction::Coulomb;
        if report.status == Status::Stalled && is_coulomb && options.name == SolverName::AcceleratedGs {
            // Where momentum under the exact law leads nowhere, the convex problems do.
            let rest = options.after(report.iterations);
            report = report.followed_by(self.outer.solve(&mut self.kind, problem, γ, response, &rest, record_history));
        }
        report.by(options.name)
    }

    /// `auto`. Accelerated Gauss–Seidel is the fastest for either law and any size and tolerance but
    /// one: small problems to many digits, which it may be long in finding (`BENCHMARKS.md`). Which
    /// those are shows by trying. The interior point takes them over, under the associated law.
    fn solve_by_choice<P: NewtonProblem + Relaxation<Impulses = I, Velocities = V, Iterate = S>>(
        &mut self,
        problem: &mut P,
        γ: &mut I,
        response: &mut V,
        options: &SolverOptions,
        record_history: bool,
    ) -> Report {
        let is_small = options.law() == Friction::Associated && problem.contacts() <= SMALL;
        let limit = if is_small { SWEEPS_OF_SMALL } else { u32::MAX };
        let sweeps = SolverOptions {
            name: SolverName::AcceleratedGs,
            max_iterations: options.max_iterations.min(limit),
            ..*options
        };
        let report = self.solve_as_told(problem, γ, response, &sweeps, record_history);
        let is_over = matches!(report.status, Status::Converged | Status::BadProblem);
        if is_over || !is_small || report.iterations >= options.max_iterations {
            return report;
        }
        let rest = SolverOptions { name: SolverName::Scip, ..options.after(report.iterations) };
        let second = self.second.get_or_insert_default();
        let next = second.solve(problem, γ, response, &rest, record_history);
        report.followed_by(next).by(SolverName::Scip)
    }
}
