//! What ranks cost: sweeps, messages, copies, time and balance, on ranks of this process.

use super::parts::{failed, on_ranks};
use super::{Context, Figures, figures, named, settled, weak};
use crate::failure::Failure;
use barchan::broad::{Growth, hull};
use barchan::comm::threads;
use barchan::cone::solver::SolverName;
use barchan::partition::{DomainOptions, PartitionName};
use barchan::scene::Scene;
use barchan::step::Simulation;
use barchan::world::World;
use serde_json::{Value, json};
use std::time::Instant;

/// Steps that are timed.
const TIMED: usize = 20;
/// Times that a pair of timings is taken; the best counts.
const REPEATS: usize = 3;

pub(super) fn run(context: &Context) -> Result<Figures, Failure> {
    let bed = settled::bed(25_000, &context.cache)?;
    Ok(figures(json!({
        "sweeps_to_1e-3": sweeps(&bed)?,
        "messages_a_neighbour_and_sweep": messages(&bed)?,
        "copies": copies(&bed)?,
        "two_ranks_against_two_threads": pairs(&bed)?,
        "weak_scaling": weak::run()?,
        "balance": balance()?,
    })))
}

/// Space divided in one way or the other.
fn divided(partition: PartitionName) -> DomainOptions {
    DomainOptions { partition, ..DomainOptions::default() }
}

/// Sweeps of accelerated Gauss–Seidel to a natural residual of 1e-3, from a cold start.
fn sweeps(bed: &World) -> Result<Value, Failure> {
    let mut options = settled::options()?;
    options.solver.name = SolverName::AcceleratedGs;
    options.solver.tolerance = 1e-3;
    options.solver.max_iterations = 10_000;
    options.solver.warm_start = false;
    let mut table = serde_json::Map::new();
    for (text, partition) in [("morton", PartitionName::Morton), ("cartesian", PartitionName::Cartesian)] {
        let mut row = serde_json::Map::new();
        for ranks in [1usize, 2, 8, 64] {
            let found = on_ranks(bed, &divided(partition), options, ranks, |simulation| {
                simulation.step().map(|report| report.solver.iterations).map_err(|e| e.to_string())
            })?;
            row.insert(ranks.to_string(), json!(found[0].clone().map_err(failed)?));
        }
        table.insert(text.into(), row.into());
    }
    Ok(table.into())
}

/// Messages a neighbour and sweep: what ten sweeps more have sent.
fn messages(bed: &World) -> Result<Value, Failure> {
    let mut options = settled::options()?;
    options.solver.name = SolverName::Nbgs;
    options.solver.tolerance = 1e-12;
    let mut sent = Vec::new();
    for sweeps in [10, 20] {
        options.solver.max_iterations = sweeps;
        sent.push(on_ranks(bed, &divided(PartitionName::Cartesian), options, 8, |simulation| {
            let step = simulation.step().map(drop).map_err(|e| e.to_string());
            let domain = simulation.domain().map(|domain| (domain.traffic().messages, domain.links()));
            step.map(|()| domain.unwrap_or_default())
        })?);
    }
    let few = &sent[0];
    let many = &sent[1];
    let mut ratios = Vec::new();
    for (few, many) in few.iter().zip(many) {
        let (few, links) = few.clone().map_err(failed)?;
        let (many, _) = many.clone().map_err(failed)?;
        ratios.push((many - few) as f64 / (10.0 * links as f64));
    }
    Ok(json!(ratios))
}

/// Copies against the bodies whose hulls meet another rank's block.
fn copies(bed: &World) -> Result<Value, Failure> {
    let options = settled::options()?;
    let h = settled::length(&options);
    let margin = options.contact.margin;
    let mut table = serde_json::Map::new();
    for ranks in [2usize, 8, 64] {
        let parts = on_ranks(bed, &divided(PartitionName::Cartesian), options, ranks, |simulation| {
            let step = simulation.step().map(drop).map_err(|e| e.to_string());
            let own = simulation.world.bodies.owned_bounded_len();
            let domain = simulation.domain().map(|domain| (domain.ghosts(), domain.bounds()));
            step.map(|()| (own, domain))
        })?;
        let mut copies = 0;
        let mut ideal = 0;
        let mut own = 0;
        for part in parts {
            let (bodies, domain) = part.map_err(failed)?;
            let Some((held, region)) = domain else { continue };
            copies += held;
            own += bodies;
            let meets = |i: &usize| {
                bed.bodies.is_owned_and_bounded(*i)
                    && hull::of(&bed.bodies, *i, Growth { h, margin, kick: 0.0 }).meets(&region)
            };
            ideal += (0..bed.bodies.len()).filter(meets).count();
        }
        let ideal = ideal - own;
        let a_body = copies as f64 / own as f64;
        table.insert(ranks.to_string(), json!({ "a_body": a_body, "against_ideal": copies as f64 / ideal as f64 }));
    }
    Ok(table.into())
}

/// Seconds a step of two ranks of one thread each, and of one rank of two threads.
fn pairs(bed: &World) -> Result<Value, Failure> {
    let gas = named("granular-gas", &[("per_rank", "25"), ("ranks", "2"), ("clumps", "0")])?;
    let packing = named("hexagonal-packing", &[("per_rank", "20"), ("ranks", "2")])?;
    let mut table = serde_json::Map::new();
    // A gas has its contacts from there on.
    for (text, scene, before) in
        [("granular-gas", Some(&gas), 200), ("hexagonal-packing", Some(&packing), 5), ("bed", None, 5)]
    {
        let mut ranks = f64::INFINITY;
        let mut threads = f64::INFINITY;
        for _ in 0..REPEATS {
            ranks = ranks.min(seconds_a_step(scene, before, bed, 2, 1)?);
            threads = threads.min(seconds_a_step(scene, before, bed, 1, 2)?);
        }
        table.insert(
            text.into(),
            json!({ "ranks_ms": 1e3 * ranks, "threads_ms": 1e3 * threads, "ratio": ranks / threads }),
        );
    }
    Ok(table.into())
}

fn seconds_a_step(
    scene: Option<&Scene>,
    before: usize,
    bed: &World,
    ranks: usize,
    threads_each: usize,
) -> Result<f64, Failure> {
    let time = |simulation: &mut Simulation| -> Result<f64, String> {
        let mut steps = |count: usize| (0..count).try_for_each(|_| simulation.step().map(drop));
        steps(before).map_err(|e| e.to_string())?;
        let start = Instant::now();
        steps(TIMED).map_err(|e| e.to_string())?;
        Ok(start.elapsed().as_secs_f64() / TIMED as f64)
    };
    let times = match scene {
        Some(scene) => threads::run(ranks, threads_each, |comm| {
            Simulation::on_ranks(scene, comm)
                .map_err(|e| e.to_string())
                .and_then(|mut simulation| time(&mut simulation))
        })
        .map_err(failed)?,
        None if ranks == 1 => {
            let mut simulation = Simulation::new(bed.clone(), settled::options()?);
            vec![super::pool(threads_each)?.install(|| time(&mut simulation))]
        }
        None => on_ranks(bed, &divided(PartitionName::Cartesian), settled::options()?, ranks, time)?,
    };
    times.into_iter().try_fold(0.0, |longest: f64, time| time.map(|time| longest.max(time))).map_err(failed)
}

/// Work of the busiest of eight ranks against the mean, in windows of twenty steps while a column
/// collapses: with cuts that follow the work, and with the first ones.
fn balance() -> Result<Value, Failure> {
    const WINDOW: usize = 20;
    const WINDOWS: usize = 40;
    let mut table = serde_json::Map::new();
    for (text, imbalance) in [("following", "1.02"), ("fixed", "1000")] {
        let set = [("domain.partition", "morton"), ("domain.work", "time"), ("domain.imbalance", imbalance)];
        let scene = named("column-collapse", &set)?;
        let parts = threads::run(8, 1, |comm| {
            let mut simulation = Simulation::on_ranks(&scene, comm).map_err(|e| e.to_string())?;
            let mut work = vec![0.0];
            for _ in 0..WINDOWS {
                (0..WINDOW).try_for_each(|_| simulation.step().map(drop)).map_err(|e| e.to_string())?;
                work.extend(simulation.domain().and_then(|domain| domain.work()));
            }
            let windows: Vec<f64> = work.windows(2).map(|ends| ends[1] - ends[0]).collect();
            Ok::<_, String>((windows, simulation.domain().map_or(0, |domain| domain.repartitions())))
        })
        .map_err(failed)?;
        let parts: Vec<_> = parts.into_iter().collect::<Result<_, _>>().map_err(failed)?;
        let of_window = |k: usize| {
            let largest = parts.iter().map(|part| part.0[k]).fold(0.0, f64::max);
            largest * parts.len() as f64 / parts.iter().map(|part| part.0[k]).sum::<f64>()
        };
        let seen: Vec<f64> = (0..WINDOWS).map(of_window).collect();
        let mean = seen.iter().sum::<f64>() / WINDOWS as f64;
        let worst = seen.iter().copied().fold(0.0, f64::max);
        table.insert(text.into(), json!({ "mean": mean, "worst": worst, "divisions": parts[0].1, "windows": seen }));
    }
    Ok(table.into())
}
