//! Iterations and operator applications to S1's residuals (S1 Table I), cold and warm, beside
//! the plain algorithm as printed there on the same problem.

use super::{Context, Figures, figures, settled};
use crate::failure::Failure;
use barchan::cone::solver::{
    AcceleratedGsOptions, AnySolver, ApgdOptions, Order, Report, Solve, Solver, SolverName, SolverOptions,
};
use barchan::cone::{BodyVec, ContactVec, Criterion, Friction, MatrixFree, ProblemRef, Workspace};
use barchan::step::Simulation;
use serde_json::{Value, json};

/// Steps of a settled bed before its problem is taken: they give the warm start something to start
/// from.
pub(super) const STEPS: usize = 20;

const RESIDUALS: [f64; 4] = [1e-1, 1e-2, 1e-3, 1e-4];

/// Solves to the last of the residuals, with the history.
pub(super) fn solve(problem: ProblemRef<'_>, start: &ContactVec, options: SolverOptions) -> Report {
    let mut workspace = Workspace::default();
    let mut operator = MatrixFree::new(problem, &mut workspace);
    let mut γ = start.clone();
    let mut response = BodyVec::default();
    let options = SolverOptions {
        tolerance: RESIDUALS[3],
        criterion: Criterion::S1,
        max_iterations: 10_000,
        friction: Some(Friction::Associated),
        ..options
    };
    AnySolver::new(options.name).solve(Solve::new(&mut operator, &mut γ, &mut response, &options).with_history(true))
}

/// Iterations and operator applications to each residual; null where it was not reached.
pub(super) fn table(report: &Report) -> (Value, Value) {
    let reached = RESIDUALS.map(|tolerance| report.history.iter().find(|m| m.residual <= tolerance));
    (json!(reached.map(|m| m.map(|m| m.iterations))), json!(reached.map(|m| m.map(|m| m.operator_applications))))
}

pub(super) fn run(context: &Context) -> Result<Figures, Failure> {
    let mut simulation = Simulation::new(settled::bed(25_000, &context.cache)?, settled::options()?);
    for _ in 0..STEPS {
        simulation.step()?;
    }
    let (problem, warm) = simulation.pose();
    let zero = ContactVec::zeros(problem.contacts());
    let mut out = figures(json!({ "contacts": problem.contacts(), "residuals": RESIDUALS }));
    let apgd = |apgd| SolverOptions { name: SolverName::Apgd, apgd, ..SolverOptions::default() };
    let accelerated = |order| SolverOptions {
        name: SolverName::AcceleratedGs,
        accelerated_gs: AcceleratedGsOptions { order, ..AcceleratedGsOptions::default() },
        ..SolverOptions::default()
    };
    let runs = [
        ("cold", &zero, apgd(ApgdOptions::default())),
        ("warm", warm, apgd(ApgdOptions::default())),
        ("plain", &zero, apgd(ApgdOptions::PLAIN)),
        ("accelerated_gs", &zero, accelerated(Order::Coloured)),
        ("accelerated_gs_warm", warm, accelerated(Order::Coloured)),
        ("accelerated_gs_split", &zero, accelerated(Order::Split)),
        ("accelerated_gs_serial", &zero, accelerated(Order::Serial)),
    ];
    for (name, start, options) in runs {
        let (iterations, applications) = table(&solve(problem, start, options));
        out.insert(name.into(), iterations);
        out.insert(format!("{name}_operator_applications"), applications);
    }
    Ok(out)
}
