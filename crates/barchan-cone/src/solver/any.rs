//! A solver chosen at run time, and `auto`, which chooses by itself.

use super::offer::{NotOffered, Offer, Solvable};
use super::{Apgd, DeSaxce, Friction, Jacobi, Report, Solve, Solver, SolverName, SolverOptions, Status};
use std::convert::Infallible;

/// Contacts up to which `auto` thinks of the interior point,
const SMALL: usize = 2500;
/// the iterations after which it does, unless four fifths of all that it has are fewer (a linear system takes as long as
/// a hundred sweeps),
const ITERATIONS_OF_SMALL: u32 = 1000;
/// and the linear systems that it leaves to the interior point.
const SYSTEMS: u32 = 100;
/// Impulses that lower the objective this many times as far carry a load that the others do not.
const CARRIES: f64 = 2.0;

/// A solver chosen at run time, with its memory: [`SolverFor`](super::SolverFor) a type of problem.
///
/// `I` and `V` are the problem's vectors, `S` and `N` its solvers by sweeps and by Newton systems.
pub struct AnySolver<I, V, S, N> {
    name: SolverName,
    chosen: Chosen<I, V, S, N>,
    /// For solvers of the associated law that are asked for the exact one.
    de_saxce: DeSaxce<I>,
    /// For `auto`, where its first choice takes too long.
    interior_point: Option<Box<N>>,
    /// For `auto`: the best impulses while it tries others.
    best: I,
}

enum Chosen<I, V, S, N> {
    Apgd(Apgd<I, V>),
    Jacobi(Jacobi<I>),
    Sweeping(S),
    InteriorPoint(Box<N>),
}

impl<I: Default, V: Default, S: Default, N: Default> AnySolver<I, V, S, N> {
    /// The solver of this name, whatever the options of a solve call it, for problems that offer all.
    pub fn new(name: SolverName) -> Self {
        let Ok(solver) = Self::choose::<Infallible>(name, || Ok(S::default()), || Ok(N::default()));
        solver
    }
}

impl<I: Default, V: Default, S: Offer, N: Offer> AnySolver<I, V, S, N> {
    /// The solver of this name, whatever the options of a solve call it, if the problem offers it.
    pub fn try_new(name: SolverName) -> Result<Self, NotOffered> {
        let refusal = || NotOffered { solver: name, offered: Self::offered() };
        Self::choose(name, || S::offer().ok_or_else(refusal), || N::offer().ok_or_else(refusal))
    }

    /// The solvers that the problem offers.
    pub fn offered() -> Vec<SolverName> {
        let is_offered = |name: &SolverName| {
            (!name.needs_sweeps() || S::offer().is_some()) && (!name.needs_newton_systems() || N::offer().is_some())
        };
        SolverName::ALL.iter().map(|solver| solver.0).filter(is_offered).collect()
    }

    /// Numbers that a solve takes over from the one before, beside the impulses: with them a solver of
    /// the same name goes on as this one would. Sweeps and fixed points take over none.
    pub fn lipschitz_estimates(&mut self) -> [Option<f64>; 2] {
        let of_auto = self.interior_point.as_mut().and_then(|solver| solver.estimate());
        [self.chosen.estimate().and_then(|estimate| *estimate), of_auto.and_then(|estimate| *estimate)]
    }

    /// Takes over what [`AnySolver::lipschitz_estimates`] gave.
    pub fn set_lipschitz_estimates(&mut self, [of_chosen, of_auto]: [Option<f64>; 2]) {
        if let Some(estimate) = self.chosen.estimate() {
            *estimate = of_chosen;
        }
        if of_auto.is_some()
            && let Some(estimate) = self.interior_point_of_auto().and_then(|solver| solver.estimate())
        {
            *estimate = of_auto;
        }
    }

    /// The interior point of `auto`, made when it is first needed.
    fn interior_point_of_auto(&mut self) -> Option<&mut N> {
        if self.interior_point.is_none() {
            self.interior_point = N::offer().map(Box::new);
        }
        self.interior_point.as_deref_mut()
    }
}

impl<I: Default, V: Default, S, N> AnySolver<I, V, S, N> {
    /// The solver of this name, made by the functions given where it needs more than gradients.
    fn choose<E>(
        name: SolverName,
        sweeping: impl FnOnce() -> Result<S, E>,
        interior_point: impl FnOnce() -> Result<N, E>,
    ) -> Result<Self, E> {
        let chosen = match name {
            SolverName::Apgd => Chosen::Apgd(Apgd::default()),
            SolverName::Jacobi => Chosen::Jacobi(Jacobi::default()),
            SolverName::Scip => Chosen::InteriorPoint(Box::new(interior_point()?)),
            SolverName::AcceleratedGs | SolverName::Nbgs | SolverName::GaussSeidel => Chosen::Sweeping(sweeping()?),
            // The best that is offered.
            SolverName::Auto => sweeping().map_or_else(|_| Chosen::Apgd(Apgd::default()), Chosen::Sweeping),
        };
        Ok(Self { name, chosen, de_saxce: DeSaxce::default(), interior_point: None, best: I::default() })
    }
}

impl<I, V, S: Offer, N: Offer> Chosen<I, V, S, N> {
    fn estimate(&mut self) -> Option<&mut Option<f64>> {
        match self {
            Self::Apgd(solver) => Some(solver.lipschitz()),
            Self::Jacobi(_) => None,
            Self::Sweeping(solver) => solver.estimate(),
            Self::InteriorPoint(solver) => solver.estimate(),
        }
    }
}

impl<P: Solvable> Solver<P> for Chosen<P::Impulses, P::Velocities, P::Sweeping, P::InteriorPoint> {
    fn solve(&mut self, solve: Solve<'_, P>) -> Report {
        match self {
            Self::Apgd(solver) => solver.solve(solve),
            Self::Jacobi(solver) => solver.solve(solve),
            Self::Sweeping(solver) => solver.solve(solve),
            Self::InteriorPoint(solver) => solver.solve(solve),
        }
    }
}

impl<P: Solvable> Solver<P> for AnySolver<P::Impulses, P::Velocities, P::Sweeping, P::InteriorPoint> {
    fn solve(&mut self, solve: Solve<'_, P>) -> Report {
        P::solve_by(self, solve)
    }
}

impl<I: Default, V: Default, S: Offer, N: Offer> AnySolver<I, V, S, N> {
    /// The body of [`Solvable::solve_by`].
    pub fn run<P>(&mut self, mut solve: Solve<'_, P>) -> Report
    where
        P: Solvable<Impulses = I, Velocities = V, Sweeping = S, InteriorPoint = N>,
        N: Solver<P>,
    {
        let options = SolverOptions { name: self.name, ..*solve.options };
        let solve = solve.with(&options);
        if self.name == SolverName::Auto { self.solve_by_choice(solve) } else { self.solve_as_told(solve) }
    }

    fn solve_as_told<P>(&mut self, mut solve: Solve<'_, P>) -> Report
    where
        P: Solvable<Impulses = I, Velocities = V, Sweeping = S, InteriorPoint = N>,
    {
        let options = solve.options;
        let is_coulomb = options.law() == Friction::Coulomb;
        if is_coulomb && !options.name.knows_coulomb() {
            let report = self.de_saxce.solve(&mut self.chosen, solve);
            return report.by(options.name);
        }
        let mut report = self.chosen.solve(solve.reborrow());
        let is_stuck = matches!(report.status, Status::Stalled | Status::GaveUp);
        let may_go_on = report.iterations < options.max_iterations;
        let has_outer_loop = matches!(options.name, SolverName::AcceleratedGs | SolverName::Scip);
        if is_stuck && may_go_on && is_coulomb && has_outer_loop {
            // Where momentum under the exact law leads nowhere, the convex problems do.
            let rest = options.after(report.iterations);
            report = report.followed_by(self.de_saxce.solve(&mut self.chosen, solve.with(&rest)));
        }
        report.by(options.name)
    }

    /// `auto`. Accelerated Gauss–Seidel is the fastest for either law and any size and tolerance but two kinds of
    /// problems: small ones to many digits, and heavy bodies on light ones, whose load sweeps are long in building up.
    /// Which those are shows by trying. The interior point takes them over, up to a size, and leaves what iterations
    /// remain to sweeps again, which mend what it has left of the velocities of light bodies.
    ///
    /// A problem without sweeps begins with APGD instead, one without Newton systems ends there.
    fn solve_by_choice<P>(&mut self, mut solve: Solve<'_, P>) -> Report
    where
        P: Solvable<Impulses = I, Velocities = V, Sweeping = S, InteriorPoint = N>,
        N: Solver<P>,
    {
        let options = solve.options;
        let has_second = solve.problem.contacts() <= SMALL && self.interior_point_of_auto().is_some();
        let name = match self.chosen {
            Chosen::Sweeping(_) => SolverName::AcceleratedGs,
            _ => SolverName::Apgd,
        };
        let limit = if has_second {
            ITERATIONS_OF_SMALL.min(options.max_iterations - options.max_iterations / 5)
        } else {
            u32::MAX
        };
        let first = SolverOptions { name, max_iterations: options.max_iterations.min(limit), ..*options };
        let is_over = |report: &Report| {
            matches!(report.status, Status::Converged | Status::BadProblem)
                || report.iterations >= options.max_iterations
        };
        let mut report = self.solve_as_told(solve.with(&first));
        if is_over(&report) || !has_second {
            return report;
        }
        if let Some(interior_point) = self.interior_point_of_auto() {
            let left = options.max_iterations - report.iterations;
            let second = SolverOptions { name: SolverName::Scip, max_iterations: left.min(SYSTEMS), ..*options };
            report = report.followed_by(interior_point.solve(solve.with(&second)).by(SolverName::Scip));
        }
        if is_over(&report) {
            return report;
        }
        if options.law() == Friction::Coulomb {
            report = self.carry_load(solve.reborrow(), report);
        }
        if is_over(&report) {
            return report;
        }
        let is_rounded = options.law() == Friction::Coulomb && solve.problem.slip_rounding() > 0.0;
        let left = options.max_iterations - report.iterations;
        let max_iterations = if is_rounded { left.div_ceil(2) } else { left };
        let third = SolverOptions { name, max_iterations, ..*options };
        report = report.followed_by(self.solve_as_told(solve.with(&third)));
        if is_over(&report) || !is_rounded {
            return report;
        }
        let rest = SolverOptions { name, ..options.after(report.iterations) };
        self.solve_without_rounding(solve.with(&rest), report)
    }

    /// The associated law where Coulomb's could not be solved. What sweeps have found of it may carry next to nothing of a
    /// heavy body, whatever the residual says, for which light ones count as much. The objective sees that: the
    /// associated law's solution is where it is lowest, so that its impulses carry what there is to carry. They are taken
    /// if they carry far more, and if the residual of Coulomb's law says that they are better than none.
    fn carry_load<P>(&mut self, mut solve: Solve<'_, P>, report: Report) -> Report
    where
        P: Solvable<Impulses = I, Velocities = V, Sweeping = S, InteriorPoint = N>,
        N: Solver<P>,
    {
        let options = solve.options;
        let max_iterations = SYSTEMS.min(options.max_iterations - report.iterations);
        let friction = Some(Friction::Associated);
        let convex = SolverOptions { name: SolverName::Scip, friction, max_iterations, ..*options };
        self.keep(solve.problem, solve.γ);
        let Some(interior_point) = self.interior_point_of_auto() else { return report };
        let mut next = interior_point.solve(solve.with(&convex)).by(SolverName::Scip);
        solve.problem.set_law(Friction::Coulomb);
        next.record_residuals(&mut solve);
        let is_solved = next.residual <= options.tolerance;
        next.status = if is_solved { Status::Converged } else { Status::IterationLimit };
        let carries_more = next.objective < CARRIES * report.objective && next.residuals.natural < 1.0;
        self.better_of(report, next, is_solved || carries_more, solve)
    }

    /// Notes the impulses found so far.
    fn keep<P>(&mut self, problem: &mut P, γ: &P::Impulses)
    where
        P: Solvable<Impulses = I, Velocities = V, Sweeping = S, InteriorPoint = N>,
    {
        problem.copy(γ, &mut self.best);
    }

    /// After another solve: its impulses if they are better, or those kept before it. The report counts both.
    fn better_of<P>(&mut self, report: Report, next: Report, is_better: bool, solve: Solve<'_, P>) -> Report
    where
        P: Solvable<Impulses = I, Velocities = V, Sweeping = S, InteriorPoint = N>,
    {
        let Report { taken, status, residual, residuals, objective, .. } = report;
        let mut both = report.followed_by(next);
        if !is_better {
            solve.problem.copy(&self.best, solve.γ);
            solve.problem.respond_to(solve.γ, solve.response);
            (both.taken, both.status) = (taken, status);
            (both.residual, both.residuals, both.objective) = (residual, residuals, objective);
        }
        both
    }

    /// The last resort of `auto` under Coulomb's law that is rounded off: the exact law, from no impulses. A body that
    /// slides between surfaces which cannot part has a solution by that law alone: the rounded one lets any sliding
    /// contact open at up to με. What it finds counts if it meets the tolerance.
    fn solve_without_rounding<P>(&mut self, mut solve: Solve<'_, P>, report: Report) -> Report
    where
        P: Solvable<Impulses = I, Velocities = V, Sweeping = S, InteriorPoint = N>,
    {
        let rounding = solve.problem.slip_rounding();
        if !solve.problem.set_slip_rounding(0.0) {
            return report;
        }
        self.keep(solve.problem, solve.γ);
        solve.problem.clear_impulses(solve.γ);
        let next = self.solve_as_told(solve.reborrow());
        solve.problem.set_slip_rounding(rounding);
        let is_solved = next.status == Status::Converged;
        self.better_of(report, next, is_solved, solve)
    }
}
