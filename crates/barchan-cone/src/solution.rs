//! The shortest way from a problem to its solution.

use crate::solver::{Report, Solvable, Solve, Solver, SolverFor, SolverOptions};
use crate::{AnyProblem, Assembled, BlockSparse, ContactVec, MatrixFree, Problem, Workspace, contact_frame};
use glam::DVec3;

/// Impulses and velocities of every contact, and how they were found.
#[derive(Clone, Debug, PartialEq)]
pub struct Solution {
    /// Impulses as (normal, tangent 1, tangent 2).
    pub impulses: Vec<DVec3>,
    /// Velocities Aγ + b in the same frame.
    pub velocities: Vec<DVec3>,
    /// Status, residuals, iterations.
    pub report: Report,
}

impl Solution {
    /// The impulse and the velocity of each contact.
    pub fn contacts(&self) -> impl Iterator<Item = [DVec3; 2]> + '_ {
        self.impulses.iter().zip(&self.velocities).map(|(γ, u)| [*γ, *u])
    }
}

impl AnyProblem {
    /// Solves the problem from a cold start, by the solver that the options name.
    pub fn solve(&self, options: &SolverOptions) -> Solution {
        match self {
            Self::Bodies(problem) => problem.solve(options),
            Self::Matrix(problem) => problem.solve(options),
        }
    }
}

impl Problem {
    /// Solves the problem from a cold start. Tangents are those of [`contact_frame`].
    pub fn solve(&self, options: &SolverOptions) -> Solution {
        let mut workspace = Workspace::default();
        let (γ, u, report) = solve(&mut MatrixFree::new(self, &mut workspace), options);
        let turned = |v: &ContactVec| {
            let turn = |(v, n): (DVec3, DVec3)| contact_frame(n).transpose() * v;
            v.iter().zip(self.normals.iter()).map(turn).collect()
        };
        Solution { impulses: turned(&γ), velocities: turned(&u), report }
    }
}

impl Assembled {
    /// Solves the problem from a cold start, in the frames of its matrix.
    pub fn solve(&self, options: &SolverOptions) -> Solution {
        let (γ, u, report) = solve(&mut BlockSparse::new(self), options);
        Solution { impulses: γ.iter().collect(), velocities: u.iter().collect(), report }
    }
}

/// Solves through the interface: impulses γ, velocities Aγ + b, and the report.
fn solve<P>(problem: &mut P, options: &SolverOptions) -> (ContactVec, ContactVec, Report)
where
    P: Solvable<Impulses = ContactVec, Sweeping: Default, InteriorPoint: Default>,
{
    let mut γ = ContactVec::default();
    let mut response = P::Velocities::default();
    let mut u = ContactVec::default();
    problem.clear_impulses(&mut γ);
    let mut solver = SolverFor::<P>::new(options.name);
    let report = solver.solve(Solve::new(problem, &mut γ, &mut response, options));
    // The outer loop of De Saxcé may have left its shift.
    problem.set_shift(None);
    problem.gradient(&γ, &mut u);
    (γ, u, report)
}
