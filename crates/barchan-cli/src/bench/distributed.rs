//! What ranks cost: sweeps, messages, copies, time and balance, on ranks of this process.

use super::{Context, Figures, figures, settled};
use crate::failure::Failure;
use barchan::broad::{Aabb, hull};
use barchan::comm::threads;
use barchan::domain::Domain;
use barchan::partition::{DomainOptions, PartitionName, Periods, build};
use barchan::scenario;
use barchan::scene::Scene;
use barchan::solver::SolverName;
use barchan::step::{Simulation, StepOptions};
use barchan::world::World;
use serde_json::{Value, json};
use std::time::Instant;

/// Steps that are timed, and those before them.
const TIMED: usize = 20;
const BEFORE: usize = 5;
/// Times that a pair of timings is taken; the best counts.
const REPEATS: usize = 3;

pub(super) fn run(context: &Context) -> Result<Figures, Failure> {
    let bed = settled::bed(25_000, &context.cache)?;
    Ok(figures(json!({
        "sweeps_to_1e-3": sweeps(&bed)?,
        "messages_a_neighbour_and_sweep": messages(&bed)?,
        "copies": copies(&bed)?,
        "two_ranks_against_two_threads": pairs(&bed)?,
        "weak_scaling": weak_scaling()?,
        "balance": balance()?,
    })))
}

fn failed(error: impl std::fmt::Display) -> Failure {
    Failure::Failed(error.to_string())
}

/// The box of all spheres.
fn extent(world: &World) -> Aabb {
    let bodies = &world.bodies;
    (0..bodies.len()).filter(|&i| bodies.is_shown(i)).fold(Aabb::EMPTY, |all, i| {
        let x = bodies.position[i];
        all.join(&Aabb { low: x, high: x })
    })
}

/// Runs `body` on every rank's part of a world.
fn on_ranks<R: Send>(
    world: &World,
    options: StepOptions,
    ranks: usize,
    partition: PartitionName,
    body: impl Fn(&mut Simulation) -> R + Sync,
) -> Result<Vec<R>, Failure> {
    let domain = DomainOptions { partition, ..DomainOptions::default() };
    let results = threads::run(ranks, 1, |mut comm| {
        let (rank, bodies) = (comm.rank(), &world.bodies);
        let radius = bodies.shape.iter().filter_map(|shape| shape.bounding_radius()).fold(0.0, f64::max);
        let work =
            (rank..bodies.len()).step_by(ranks).filter(|&i| bodies.is_shown(i)).map(|i| (bodies.position[i], 1.0));
        let partition = build(&domain, &extent(world), 3.0 * radius, work, &mut *comm).map_err(|e| e.to_string())?;
        let mine = |i: &u32| {
            let i = *i as usize;
            !bodies.is_shown(i) || partition.owner(bodies.position[i]) == Some(rank as u32)
        };
        let order: Vec<u32> = (0..bodies.len() as u32).filter(mine).collect();
        let mut own = world.clone();
        own.bodies.permute(&order);
        let mut simulation = Simulation::part(own, options, Domain::new(comm, partition, Periods::default()));
        Ok::<R, String>(body(&mut simulation))
    });
    results.map_err(failed)?.into_iter().collect::<Result<_, _>>().map_err(failed)
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
            let found = on_ranks(bed, options, ranks, partition, |simulation| {
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
        sent.push(on_ranks(bed, options, 8, PartitionName::Cartesian, |simulation| {
            let step = simulation.step().map(drop).map_err(|e| e.to_string());
            let domain = simulation.domain().map(|domain| (domain.traffic().messages, domain.links()));
            step.map(|()| domain.unwrap_or_default())
        })?);
    }
    let (few, many) = (&sent[0], &sent[1]);
    let mut ratios = Vec::new();
    for (few, many) in few.iter().zip(many) {
        let ((few, links), (many, _)) = (few.clone().map_err(failed)?, many.clone().map_err(failed)?);
        ratios.push((many - few) as f64 / (10.0 * links as f64));
    }
    Ok(json!(ratios))
}

/// Copies against the bodies whose hulls meet another rank's block.
fn copies(bed: &World) -> Result<Value, Failure> {
    let options = settled::options()?;
    let (h, margin) = (options.h, options.contact.margin);
    let mut table = serde_json::Map::new();
    for ranks in [2usize, 8, 64] {
        let parts = on_ranks(bed, options, ranks, PartitionName::Cartesian, |simulation| {
            let step = simulation.step().map(drop).map_err(|e| e.to_string());
            let own = simulation.world.bodies.bounded_len();
            let domain = simulation.domain().map(|domain| (domain.copies(), domain.bounds()));
            step.map(|()| (own, domain))
        })?;
        let (mut copies, mut ideal, mut own) = (0, 0, 0);
        for part in parts {
            let (bodies, domain) = part.map_err(failed)?;
            let Some((held, region)) = domain else { continue };
            copies += held;
            own += bodies;
            let meets = |i: &usize| bed.bodies.is_shown(*i) && hull::of(&bed.bodies, *i, h, margin).meets(&region);
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
    let gas = named("granular-gas", &[("per_rank", "25"), ("ranks", "2")])?;
    let packing = named("hexagonal-packing", &[("per_rank", "20"), ("ranks", "2")])?;
    let mut table = serde_json::Map::new();
    for (text, scene) in [("granular-gas", Some(&gas)), ("hexagonal-packing", Some(&packing)), ("bed", None)] {
        let (mut ranks, mut threads) = (f64::INFINITY, f64::INFINITY);
        for _ in 0..REPEATS {
            ranks = ranks.min(seconds_a_step(scene, bed, 2, 1)?);
            threads = threads.min(seconds_a_step(scene, bed, 1, 2)?);
        }
        table.insert(
            text.into(),
            json!({ "ranks_ms": 1e3 * ranks, "threads_ms": 1e3 * threads, "ratio": ranks / threads }),
        );
    }
    Ok(table.into())
}

fn named(name: &str, set: &[(&str, &str)]) -> Result<Scene, Failure> {
    let set: Vec<_> = set.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    Ok(scenario::find(name)?.scene(&set)?)
}

fn seconds_a_step(scene: Option<&Scene>, bed: &World, ranks: usize, threads_each: usize) -> Result<f64, Failure> {
    let time = |simulation: &mut Simulation| -> Result<f64, String> {
        let mut steps = |count: usize| (0..count).try_for_each(|_| simulation.step().map(drop));
        steps(BEFORE).map_err(|e| e.to_string())?;
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
        None => on_ranks(bed, settled::options()?, ranks, PartitionName::Cartesian, time)?,
    };
    times.into_iter().try_fold(0.0, |longest: f64, time| time.map(|time| longest.max(time))).map_err(failed)
}

/// Messages, bytes and copies of the busiest rank, a step, as ranks and bodies grow together.
fn weak_scaling() -> Result<Value, Failure> {
    let mut table = serde_json::Map::new();
    for ranks in [1usize, 2, 4, 8, 16, 32, 64] {
        let mut scene = named("granular-gas", &[("per_rank", "10"), ("ranks", &ranks.to_string())])?;
        scene.domain.partition = PartitionName::Cartesian;
        let steps = 10u64;
        let parts = threads::run(ranks, 1, |comm| {
            let mut simulation = Simulation::on_ranks(&scene, comm).map_err(|e| e.to_string())?;
            for _ in 0..steps {
                simulation.step().map_err(|e| e.to_string())?;
            }
            let domain = simulation.domain().map(|domain| (domain.traffic(), domain.copies()));
            Ok::<_, String>(domain.unwrap_or_default())
        })
        .map_err(failed)?;
        let parts: Vec<_> = parts.into_iter().collect::<Result<_, _>>().map_err(failed)?;
        let most = |of: fn(&(barchan::comm::Traffic, usize)) -> u64| parts.iter().map(of).max().unwrap_or(0);
        table.insert(
            ranks.to_string(),
            json!({
                "messages_a_step": most(|part| part.0.messages) / steps,
                "bytes_a_step": most(|part| part.0.bytes) / steps,
                "copies": most(|part| part.1 as u64),
            }),
        );
    }
    Ok(table.into())
}

/// Work of the busiest of eight ranks against the mean while a column collapses: with cuts that
/// follow the work, and with the first ones.
fn balance() -> Result<Value, Failure> {
    let mut table = serde_json::Map::new();
    for (text, imbalance) in [("following", "1.05"), ("fixed", "1000")] {
        let set = [("domain.partition", "morton"), ("domain.work", "time"), ("domain.imbalance", imbalance)];
        let scene = named("column-collapse", &set)?;
        let parts = threads::run(8, 1, |comm| {
            let mut simulation = Simulation::on_ranks(&scene, comm).map_err(|e| e.to_string())?;
            let mut seen = Vec::new();
            for step in 1..=600u32 {
                simulation.step().map_err(|e| e.to_string())?;
                // The first look has come from how the scene was built.
                if step > 20 {
                    seen.extend(simulation.domain().and_then(|domain| domain.imbalance()));
                }
            }
            Ok::<_, String>(seen)
        })
        .map_err(failed)?;
        let seen = parts.into_iter().next().transpose().map_err(failed)?.unwrap_or_default();
        let mean = seen.iter().sum::<f64>() / seen.len().max(1) as f64;
        let worst = seen.iter().copied().fold(0.0, f64::max);
        table.insert(text.into(), json!({ "mean": mean, "worst": worst, "last": seen.last() }));
    }
    Ok(table.into())
}
