//! A solver chosen at run time, and `auto`, which chooses by itself.

mod choice;
mod load;
mod patches;

use super::offer::{NotOffered, Offer, Solvable};
use super::{Apgd, DeSaxce, Friction, Jacobi, Report, Solve, Solver, SolverName, SolverOptions, Status};
use std::convert::Infallible;

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
    /// For `auto`: the best impulses while it tries others, and what it tries them with.
    best: I,
    shift: I,
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
        Ok(Self {
            name,
            chosen,
            de_saxce: DeSaxce::default(),
            interior_point: None,
            best: I::default(),
            shift: I::default(),
        })
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
}
