//! Iterations of the interior point to S1's residuals (S1 Table II), and how they grow with the
//! number of bodies.

use super::{Context, Figures, iterations, settled};
use crate::failure::Failure;
use barchan::cone::solver::{SolverName, SolverOptions};
use barchan::cone::{ContactVec, Friction};
use barchan::step::Simulation;
use barchan::world::World;
use serde_json::json;
use std::time::Instant;

pub(super) fn run(context: &Context) -> Result<Figures, Failure> {
    let mut out = Figures::new();
    let options =
        SolverOptions { name: SolverName::Scip, friction: Some(Friction::Associated), ..SolverOptions::default() };
    for bodies in [25_000usize, 100_000] {
        let world: World = match bodies {
            25_000 => settled::bed(bodies, &context.cache)?,
            _ => settled::tiled(2, 2, &context.cache, false)?,
        };
        let mut simulation = Simulation::new(world, settled::options()?);
        for _ in 0..iterations::STEPS {
            simulation.step()?;
        }
        let (problem, _) = simulation.pose();
        let start = Instant::now();
        let report = iterations::solve(problem, &ContactVec::zeros(problem.contacts()), options);
        let seconds = start.elapsed().as_secs_f64();
        let (iterations, applications) = iterations::table(&report);
        let figures = json!({
            "contacts": problem.contacts(),
            "iterations": iterations,
            "operator_applications": applications,
            "seconds": seconds,
        });
        out.insert(bodies.to_string(), figures);
    }
    Ok(out)
}
