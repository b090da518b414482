//! One full APGD iteration: operator, projection, momentum and residual.

use super::{Context, Figures, figures, pool, settled};
use crate::failure::Failure;
use barchan::cone::solver::{AnySolver, Solve, Solver, SolverName, SolverOptions};
use barchan::cone::{BodyVec, ContactVec, Friction, MatrixFree, ProblemRef, Workspace};
use barchan::step::Simulation;
use serde_json::json;
use std::time::Instant;

const REPEATS: usize = 4;

/// APGD as it is by default.
pub(super) fn apgd() -> SolverOptions {
    SolverOptions { name: SolverName::Apgd, friction: Some(Friction::Associated), ..SolverOptions::default() }
}

/// Seconds a contact for one operator application with all that belongs to it, and for one
/// iteration, which may backtrack.
pub(super) fn seconds_per_contact_iteration(
    problem: ProblemRef<'_>,
    options: SolverOptions,
    repeats: usize,
) -> (f64, f64) {
    let mut workspace = Workspace::default();
    let mut solver = AnySolver::new(options.name);
    let mut γ = ContactVec::default();
    let mut response = BodyVec::default();
    let mut solve = |max_iterations| {
        γ.resize(problem.contacts());
        let mut operator = MatrixFree::new(problem, &mut workspace);
        let options = SolverOptions { tolerance: 0.0, max_iterations, ..options };
        let start = Instant::now();
        let report = solver.solve(Solve::new(&mut operator, &mut γ, &mut response, &options));
        (start.elapsed().as_secs_f64(), report)
    };
    solve(5);
    // The difference of a long and a short solve leaves out what is done once a solve.
    let mut best = (f64::INFINITY, f64::INFINITY);
    for _ in 0..repeats {
        let short = solve(5);
        let long = solve(45);
        let seconds = (long.0 - short.0) / problem.contacts() as f64;
        let applications = long.1.operator_applications - short.1.operator_applications;
        best.0 = best.0.min(seconds / f64::from(applications));
        best.1 = best.1.min(seconds / f64::from(long.1.iterations - short.1.iterations));
    }
    best
}

pub(super) fn run(context: &Context) -> Result<Figures, Failure> {
    let mut simulation = Simulation::new(settled::tiled(8, 5, &context.cache, false)?, settled::options()?);
    let bodies = simulation.world.bodies.len();
    let (problem, _) = simulation.pose();
    let one = pool(1)?.install(|| seconds_per_contact_iteration(problem, apgd(), REPEATS));
    let all = seconds_per_contact_iteration(problem, apgd(), REPEATS);
    Ok(figures(json!({
        "bodies": bodies,
        "contacts": problem.contacts(),
        "nanoseconds_per_contact_iteration": one.0 * 1e9,
        "nanoseconds_per_contact_iteration_all_threads": all.0 * 1e9,
        "million_contact_iterations_per_second": 1e-6 / one.0,
        "bandwidth_bytes_per_contact_iteration": context.bandwidth_bytes(one.0),
        "bandwidth_bytes_per_contact_iteration_all_threads": context.bandwidth_bytes(all.0),
        "bandwidth_bytes_with_backtracking": context.bandwidth_bytes(one.1),
    })))
}
