//! The solvers that both operators offer: all of them.
//!
//! `solve_by` is written out for each, so that solvers are compiled for them in this crate, once, and
//! not again in every program that calls them.

use crate::operator::patch::Around;
use crate::solver::{Report, Scip, Solvable, Solve, SolverFor, Sweeping, solve_patch};
use crate::{BlockSparse, BodyVec, ContactVec, MatrixFree, Response, RowsIterate, SweepIterate};

impl Solvable for MatrixFree<'_> {
    type Sweeping = Sweeping<SweepIterate>;
    type InteriorPoint = Scip<ContactVec, BodyVec>;

    #[inline(never)]
    fn solve_by(solver: &mut SolverFor<Self>, solve: Solve<'_, Self>) -> Report {
        solver.run(solve)
    }

    fn solve_patch(
        solve: &mut Solve<'_, Self>,
        around: Around,
        most: usize,
        before: &mut ContactVec,
    ) -> Option<Report> {
        solve_patch(solve, around, most, before)
    }
}

impl Solvable for BlockSparse<'_> {
    type Sweeping = Sweeping<RowsIterate>;
    type InteriorPoint = Scip<ContactVec, Response>;

    #[inline(never)]
    fn solve_by(solver: &mut SolverFor<Self>, solve: Solve<'_, Self>) -> Report {
        solver.run(solve)
    }
}
