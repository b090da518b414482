//! Seconds a body and step of each stage as the number of bodies grows.

use super::{Context, Figures, detect, figures, operator, settled};
use crate::failure::Failure;
use barchan::step::Simulation;
use barchan::world::World;
use serde_json::json;

const STEPS: usize = 6;

pub(super) fn run(context: &Context) -> Result<Figures, Failure> {
    let mut out = Figures::new();
    for bodies in [10_000usize, 100_000, 1_000_000] {
        let world: World = match bodies {
            10_000 => settled::bed(bodies, &context.cache)?,
            100_000 => settled::tiled(2, 2, &context.cache, false)?,
            _ => settled::tiled(8, 5, &context.cache, false)?,
        };
        let options = settled::options()?;
        let mut simulation = Simulation::new(detect::in_order(world), options);
        let n = simulation.world.bodies.len() as f64;
        let mut best = [f64::INFINITY; 3];
        let mut iterations = 0;
        for _ in 0..STEPS {
            let report = simulation.step()?;
            let s = report.seconds;
            for (best, seconds) in best.iter_mut().zip([s.broad, s.narrow, s.integrate]) {
                *best = best.min(seconds / n);
            }
            iterations = report.solver.iterations;
        }
        let (problem, _) = simulation.pose();
        let contacts = problem.contacts();
        let (iteration, _) = operator::seconds_per_contact_iteration(problem, operator::apgd(), 3);
        let value = json!({
            "contacts": contacts,
            "broad_seconds_per_body": best[0],
            "narrow_seconds_per_body": best[1],
            "integrate_seconds_per_body": best[2],
            "solve_seconds_per_body_iteration": iteration * contacts as f64 / n,
            "solver_iterations": iterations,
        });
        out.insert(bodies.to_string(), value);
    }
    let ratio = |key: &str| out["1000000"][key].as_f64().zip(out["100000"][key].as_f64()).map(|(a, b)| a / b);
    let keys = [
        "broad_seconds_per_body",
        "narrow_seconds_per_body",
        "integrate_seconds_per_body",
        "solve_seconds_per_body_iteration",
    ];
    let ratios: Vec<_> = keys.iter().map(|key| ratio(key)).collect();
    out.extend(figures(json!({ "ratio_1000000_to_100000": ratios })));
    Ok(out)
}
