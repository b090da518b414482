//! Which solvers a problem offers.
//!
//! APGD and the fixed point of all contacts at once need [`ConeProblem`] and nothing else: every
//! problem offers them. Sweeps need [`crate::Relaxation`], the interior point
//! [`crate::NewtonProblem`]. A problem names the solvers of these two kinds that it offers in
//! [`Solvable`], or [`NoSolver`] in their place, which has no values: a solver that is not offered
//! cannot be made, and so cannot be asked to solve anything.

use super::{AnySolver, Report, Scip, Solve, Solver, SolverName, Sweeping};
use crate::ConeProblem;
use crate::operator::patch::Around;
use std::fmt;

/// A problem that [`AnySolver`] can solve.
///
/// To plug in a problem that offers gradients only:
///
/// ```ignore
/// impl Solvable for OnDevice {
///     type Sweeping = NoSolver;
///     type InteriorPoint = NoSolver;
/// }
/// ```
pub trait Solvable: ConeProblem + Sized {
    /// [`Sweeping`], where contacts can be relaxed one after the other.
    type Sweeping: Offer + Solver<Self>;

    /// [`Scip`], where Newton systems can be solved.
    type InteriorPoint: Offer + Solver<Self>;

    /// Solves by a solver that was chosen at run time.
    ///
    /// A type of problem that writes this method out, with the same body, has all solvers compiled once,
    /// in its own crate; otherwise they are compiled in every crate that calls them.
    fn solve_by(solver: &mut SolverFor<Self>, solve: Solve<'_, Self>) -> Report {
        solver.run(solve)
    }

    /// Solves the contacts by themselves, at most `most`, that hold up a solve which has come to the impulses given, and
    /// copies these into `before`. None if they are more than that or too far apart, or if the problem has no such parts.
    fn solve_patch(_: &mut Solve<'_, Self>, _: Around, _most: usize, _before: &mut Self::Impulses) -> Option<Report> {
        None
    }
}

/// Any solver of a type of problem, whatever the problem borrows.
pub type SolverFor<P> = AnySolver<
    <P as ConeProblem>::Impulses,
    <P as ConeProblem>::Velocities,
    <P as Solvable>::Sweeping,
    <P as Solvable>::InteriorPoint,
>;

/// A solver that a problem may offer or not.
pub trait Offer: Sized {
    /// A new one, if there is such a thing.
    fn offer() -> Option<Self>;

    /// The number that the next solve takes over from the last, where there is one.
    fn estimate(&mut self) -> Option<&mut Option<f64>> {
        None
    }
}

/// In place of a solver that a problem does not offer.
#[derive(Clone, Copy, Debug)]
pub enum NoSolver {}

impl Offer for NoSolver {
    fn offer() -> Option<Self> {
        None
    }
}

impl<P: ConeProblem> Solver<P> for NoSolver {
    fn solve(&mut self, _: Solve<'_, P>) -> Report {
        match *self {}
    }
}

impl<S: Default> Offer for Sweeping<S> {
    fn offer() -> Option<Self> {
        Some(Self::default())
    }
}

impl<I: Default, V: Default> Offer for Scip<I, V> {
    fn offer() -> Option<Self> {
        Some(Self::default())
    }

    fn estimate(&mut self) -> Option<&mut Option<f64>> {
        Some(self.lipschitz())
    }
}

/// A solver was asked for that a problem does not offer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotOffered {
    /// The solver.
    pub solver: SolverName,
    /// Those that the problem offers.
    pub offered: Vec<SolverName>,
}

impl fmt::Display for NotOffered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let needs = if self.solver.needs_newton_systems() { "Newton systems" } else { "sweeps over contacts" };
        let offered: Vec<_> = self.offered.iter().map(|solver| solver.name()).collect();
        let solver = self.solver.name();
        write!(f, "solver \"{solver}\" needs {needs}, which this problem does not offer: use one of ")?;
        write!(f, "{}", offered.join(", "))
    }
}

impl std::error::Error for NotOffered {}
