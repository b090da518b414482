//! A settling bed of 25 000 spheres on two threads: what a step costs once it rests, and how good it
//! is. By APGD, and by the default solver under both friction laws, with the default tolerance, twice that and a fifth.

use super::{Context, Figures, figures, pool, settled};
use crate::failure::Failure;
use barchan::cone::Friction;
use barchan::cone::solver::{SolverName, Status};
use barchan::step::{Simulation, StepReport};
use serde_json::json;
use std::time::Instant;

const BODIES: usize = 25_000;
/// Steps until the bed is at rest, and steps that are measured: 0.4 s and 0.1 s.
const FALL: usize = 400;
const MEASURED: usize = 100;
const REPEATS: usize = 2;

/// One run, from rest to the end.
#[derive(Default)]
struct Run {
    wall: f64,
    measured: f64,
    max_penetration: f64,
    mean_penetration: f64,
    kinetic: f64,
    iterations: f64,
    missed: usize,
    contacts: usize,
    hash: u64,
}

/// How it is solved: the solver, the law, and the tolerance in units of the default.
#[derive(Clone, Copy)]
struct Way(SolverName, Friction, f64);

fn once(Way(solver, law, slack): Way) -> Result<Run, Failure> {
    let mut scene = settled::scene(BODIES)?;
    scene.solver.name = solver;
    scene.solver.friction = Some(law);
    scene.solver.tolerance *= slack;
    let mut simulation = Simulation::from_scene(&scene)?;
    let mut run = Run::default();
    let start = Instant::now();
    let mut missed = |report: &StepReport| run.missed += usize::from(report.solver.status != Status::Converged);
    for _ in 0..FALL {
        missed(&simulation.step()?);
    }
    let settled = Instant::now();
    for _ in 0..MEASURED {
        let report = simulation.step()?;
        missed(&report);
        run.max_penetration = run.max_penetration.max(report.penetration.max);
        run.mean_penetration += report.penetration.mean / MEASURED as f64;
        run.iterations += f64::from(report.solver.iterations) / MEASURED as f64;
        run.contacts = report.contacts;
    }
    run.measured = settled.elapsed().as_secs_f64();
    run.wall = start.elapsed().as_secs_f64();
    run.kinetic = simulation.energy().kinetic;
    run.hash = simulation.world.state_hash();
    Ok(run)
}

pub(super) fn run(_: &Context) -> Result<Figures, Failure> {
    let mut out = figures(json!({ "bodies": BODIES, "threads": 2 }));
    use Friction::{Associated, Coulomb};
    use SolverName::{Apgd, Auto};
    for (key, way) in [
        ("apgd", Way(Apgd, Associated, 1.0)),
        ("auto", Way(Auto, Coulomb, 1.0)),
        ("auto_associated", Way(Auto, Associated, 1.0)),
        ("auto_loose", Way(Auto, Coulomb, 2.0)),
        ("auto_tight", Way(Auto, Coulomb, 0.2)),
        ("auto_tight_associated", Way(Auto, Associated, 0.2)),
    ] {
        out.insert(key.into(), measure(way)?.into());
    }
    Ok(out)
}

fn measure(way: Way) -> Result<Figures, Failure> {
    let two = pool(2)?;
    let mut best = two.install(|| once(way))?;
    for _ in 1..REPEATS {
        let next = two.install(|| once(way))?;
        if next.hash != best.hash {
            return Err(Failure::Failed("two runs of the same scene ended in different states".into()));
        }
        if next.measured < best.measured {
            best = next;
        }
    }
    let radius = 0.01;
    Ok(figures(json!({
        "contacts": best.contacts,
        "milliseconds_per_step": best.measured * 1e3 / MEASURED as f64,
        "max_penetration_of_radius": best.max_penetration / radius,
        "mean_penetration_of_radius": best.mean_penetration / radius,
        "kinetic_energy": best.kinetic,
        "iterations_mean": best.iterations,
        "steps_missed": best.missed,
        "wall_seconds_per_simulated_second": best.wall / (1e-3 * (FALL + MEASURED) as f64),
    })))
}
