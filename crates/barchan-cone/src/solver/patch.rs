//! A patch of a large problem, solved by itself.

use super::{Report, Solve, Solver, SolverFor, SolverName, SolverOptions, Status};
use crate::operator::patch::{Around, Patch};
use crate::{BodyVec, ConeProblem, ContactVec, MatrixFree, Workspace};

/// The residual to which a patch is solved, as a part of what the whole problem's tolerance allows.
const PART: f64 = 0.3;
/// Iterations that a patch may take.
const ITERATIONS: u32 = 500;

/// [`super::Solvable::solve_patch`] of a problem on the memory of one machine.
pub(crate) fn solve_patch(
    solve: &mut Solve<'_, MatrixFree<'_>>,
    around: Around,
    most: usize,
    before: &mut ContactVec,
) -> Option<Report> {
    solve.problem.set_law(solve.options.law());
    let mut patch = solve.problem.patch(solve.γ, solve.response, around, most)?;
    before.clone_from(solve.γ);
    let mut report = patch.solve(solve.options, around == Around::Errors);
    for (k, &i) in patch.contacts.iter().enumerate() {
        solve.γ.set(i as usize, patch.γ.get(k));
    }
    // From here on the report tells of the whole problem.
    solve.problem.respond_to(solve.γ, solve.response);
    report.record_residuals(solve);
    let is_solved = report.residual <= solve.options.tolerance;
    report.status = if is_solved { Status::Converged } else { Status::IterationLimit };
    Some(report)
}

impl Patch {
    /// Solves it by `auto`; as it solves what sweeps cannot, if that is known already.
    fn solve(&mut self, options: &SolverOptions, is_hard: bool) -> Report {
        let mut workspace = Workspace::default();
        let mut problem = MatrixFree::new(&self.problem, &mut workspace);
        problem.set_law(options.law());
        let tolerance = PART * options.tolerance * self.unit * problem.η / problem.natural_unit;
        let options = SolverOptions {
            name: SolverName::Auto,
            // Some contacts may have nothing to do at all.
            tolerance: if tolerance.is_finite() { tolerance.min(options.tolerance) } else { options.tolerance },
            max_iterations: options.max_iterations.min(ITERATIONS),
            polish: false,
            ..*options
        };
        let mut solver = SolverFor::<MatrixFree<'_>>::new(SolverName::Auto);
        let mut response = BodyVec::default();
        let mut solve = Solve::new(&mut problem, &mut self.γ, &mut response, &options);
        if !is_hard {
            return solver.solve(solve);
        }
        let mut start = Report::default();
        start.status = Status::IterationLimit;
        solve.problem.respond_to(solve.γ, solve.response);
        start.record_residuals(&mut solve);
        solver.solve_hard(solve, start)
    }
}
