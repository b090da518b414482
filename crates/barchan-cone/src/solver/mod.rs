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
mod pool;
pub mod report;
pub mod scip;
mod stopping;
pub mod sweeping;

pub use crate::{Borders, Criterion, Friction, Metric, Order};
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

use crate::{ConeProblem, NewtonProblem, Relaxation};

/// Contacts up to which `auto` thinks of the interior point,
const SMALL: usize = 1000;
/// and the sweeps after which it does.
const SWEEPS_OF_SMALL: u32 = 1000;

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
    pub keep_history: bool,
}

impl<'a, P: ConeProblem> Solve<'a, P> {
    /// A solve without a history.
    pub fn new(
        problem: &'a mut P,
        γ: &'a mut P::Impulses,
        response: &'a mut P::Velocities,
        options: &'a SolverOptions,
    ) -> Self {
        Self { problem, γ, response, options, keep_history: false }
    }

    /// The same with a history, if `keep_history` says so.
    #[must_use]
    pub fn with_history(self, keep_history: bool) -> Self {
        Self { keep_history, ..self }
    }

    /// The same, borrowed for a shorter time.
    pub fn reborrow(&mut self) -> Solve<'_, P> {
        let Self { problem, γ, response, options, keep_history } = self;
        Solve { problem, γ, response, options, keep_history: *keep_history }
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
    pub fn memory(&mut self) -> [Option<f64>; 2] {
        let first = match &mut self.kind {
            Kind::Apgd(solver) => *solver.estimate(),
            Kind::Scip(solver) => *solver.estimate(),
            Kind::Sweeping(_) | Kind::Jacobi(_) => None,
        };
        [first, self.second.as_mut().and_then(|solver| *solver.estimate())]
    }

    /// Takes over what [`AnySolver::memory`] gave.
    pub fn remember(&mut self, [first, second]: [Option<f64>; 2]) {
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
    fn solve(&mut self, solve: Solve<'_, P>) -> Report {
        match self {
            Self::Apgd(solver) => solver.solve(solve),
            Self::Scip(solver) => solver.solve(solve),
            Self::Sweeping(solver) => solver.solve(solve),
            Self::Jacobi(solver) => solver.solve(solve),
        }
    }
}

impl<P: NewtonProblem + Relaxation> Solver<P> for AnySolver<P::Impulses, P::Velocities, P::Iterate> {
    fn solve(&mut self, mut solve: Solve<'_, P>) -> Report {
        let options = SolverOptions { name: self.name, ..*solve.options };
        let solve = solve.with(&options);
        if self.name == SolverName::Auto { self.solve_by_choice(solve) } else { self.solve_as_told(solve) }
    }
}

impl<I: Default, V: Default, S: Default> AnySolver<I, V, S> {
    fn solve_as_told<P: NewtonProblem + Relaxation<Impulses = I, Velocities = V, Iterate = S>>(
        &mut self,
        mut solve: Solve<'_, P>,
    ) -> Report {
        let options = solve.options;
        if options.law() == Friction::Coulomb && !options.name.knows_coulomb() {
            let report = self.outer.solve(&mut self.kind, solve);
            return report.by(options.name);
        }
        let mut report = self.kind.solve(solve.reborrow());
        let is_coulomb = options.law() == Friction::Coulomb;
        if report.status == Status::Stalled && is_coulomb && options.name == SolverName::AcceleratedGs {
            // Where momentum under the exact law leads nowhere, the convex problems do.
            let rest = options.after(report.iterations);
            report = report.followed_by(self.outer.solve(&mut self.kind, solve.with(&rest)));
        }
        report.by(options.name)
    }

    /// `auto`. Accelerated Gauss–Seidel is the fastest for either law and any size and tolerance but
    /// one: small problems to many digits, which it may be long in finding (`BENCHMARKS.md`). Which
    /// those are shows by trying. The interior point takes them over, under the associated law.
    fn solve_by_choice<P: NewtonProblem + Relaxation<Impulses = I, Velocities = V, Iterate = S>>(
        &mut self,
        mut solve: Solve<'_, P>,
    ) -> Report {
        let options = solve.options;
        let is_small = options.law() == Friction::Associated && solve.problem.contacts() <= SMALL;
        let limit = if is_small { SWEEPS_OF_SMALL } else { u32::MAX };
        let sweeps = SolverOptions {
            name: SolverName::AcceleratedGs,
            max_iterations: options.max_iterations.min(limit),
            ..*options
        };
        let report = self.solve_as_told(solve.with(&sweeps));
        let is_over = matches!(report.status, Status::Converged | Status::BadProblem);
        if is_over || !is_small || report.iterations >= options.max_iterations {
            return report;
        }
        let rest = SolverOptions { name: SolverName::Scip, ..options.after(report.iterations) };
        let second = self.second.get_or_insert_default();
        let next = second.solve(solve.with(&rest));
        report.followed_by(next).by(SolverName::Scip)
    }
}
