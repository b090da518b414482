//! What general contacts cost beside round ones: one general body on a bed of spheres, and a bed that is
//! posed as if every body were general.

use super::operator::{apgd, seconds_per_contact_iteration};
use super::{Context, Figures, figures, memory, pool, settled};
use crate::failure::Failure;
use barchan::DVec3;
use barchan::cone::solver::{SolverName, SolverOptions};
use barchan::shape::Shape;
use barchan::step::Simulation;
use barchan::world::Body;
use serde_json::{Value, json};
use std::time::Instant;

/// Steps in which the general body comes to lie, and steps that are timed.
const SETTLING: usize = 150;
const TIMED: usize = 60;
const REPEATS: usize = 3;

/// Milliseconds and iterations a step of two simulations, whose steps take turns.
fn in_turn(simulations: &mut [Simulation; 2]) -> Result<[(f64, f64); 2], Failure> {
    let mut figures = [(0.0, 0.0); 2];
    for _ in 0..TIMED {
        for (simulation, figures) in simulations.iter_mut().zip(&mut figures) {
            let start = Instant::now();
            let report = simulation.step()?;
            figures.0 += start.elapsed().as_secs_f64() * 1e3 / TIMED as f64;
            figures.1 += f64::from(report.solver.iterations) / TIMED as f64;
        }
    }
    Ok(figures)
}

/// The settled bed with one general body lying on it, against the bed without it.
fn one_among_many(context: &Context) -> Result<Value, Failure> {
    let options = settled::options()?;
    let bed = settled::bed(25_000, &context.cache)?;
    let surface = bed.bodies.position.iter().map(|x| x.z).fold(f64::NEG_INFINITY, f64::max);
    let mut simulations = [Simulation::new(bed.clone(), options), Simulation::new(bed, options)];
    // A sphere whose moments of inertia differ.
    let mass = 0.01;
    let inertia = DVec3::new(4e-7, 5e-7, 6e-7);
    let body = Body::dynamic(Shape::sphere(0.01), DVec3::new(0.0, 0.0, surface + 0.011)).with_mass(mass, inertia);
    simulations[1].add(body).map_err(|error| Failure::Failed(error.to_string()))?;
    for simulation in &mut simulations {
        for _ in 0..SETTLING {
            simulation.step()?;
        }
    }
    let general = simulations[1].contacts().len() - simulations[1].contacts().round();
    let one = pool(1)?.install(|| in_turn(&mut simulations))?;
    let all = in_turn(&mut simulations)?;
    let figures = |[without, with]: [(f64, f64); 2]| {
        json!({
            "milliseconds_without": without.0,
            "milliseconds_with": with.0,
            "ratio": with.0 / without.0,
            "iterations_without": without.1,
            "iterations_with": with.1,
            "ratio_per_iteration": with.0 / with.1 / (without.0 / without.1),
        })
    };
    Ok(json!({ "general_contacts": general, "one_thread": figures(one), "all_threads": figures(all) }))
}

/// Bandwidth-bytes of the round kernels and of the general ones on the same million.
fn all_general(context: &Context) -> Result<Value, Failure> {
    let mut simulation = Simulation::new(settled::tiled(8, 5, &context.cache, false)?, settled::options()?);
    let round = simulation.pose().0.to_problem();
    drop(simulation);
    let general = round.to_general();
    let sweep = SolverOptions { name: SolverName::AcceleratedGs, ..SolverOptions::default() };
    let mut out = Figures::new();
    for (name, options) in [("apgd_iteration", apgd()), ("accelerated_gs_sweep", sweep)] {
        let seconds = |problem| {
            let (application, iteration) = seconds_per_contact_iteration(problem, options, REPEATS);
            if options.name == SolverName::Apgd { application } else { iteration }
        };
        let single = pool(1)?;
        let one = [&round, &general].map(|problem| single.install(|| seconds(problem.view())));
        let all = [&round, &general].map(|problem| seconds(problem.view()));
        let bytes = |seconds: [f64; 2]| {
            json!({
                "round": context.bandwidth_bytes(seconds[0]),
                "general": context.bandwidth_bytes(seconds[1]),
                "ratio": seconds[1] / seconds[0],
            })
        };
        out.insert(name.into(), json!({ "one_thread": bytes(one), "all_threads": bytes(all) }));
    }
    Ok(Value::Object(out))
}

pub(super) fn run(context: &Context) -> Result<Figures, Failure> {
    let one_body = one_among_many(context)?;
    let [round, general] = [memory::CHILD, memory::GENERAL_CHILD].map(|child| memory::measure(context, child));
    let bytes = |value: Result<Value, Failure>| -> Result<f64, Failure> {
        let value = value?;
        let [peak, contacts] = ["peak_rss_bytes", "contacts"].map(|key| value[key].as_f64().unwrap_or(f64::NAN));
        Ok(peak / contacts)
    };
    let round = bytes(round)?;
    let general = bytes(general)?;
    Ok(figures(json!({
        "one_general_body_on_25000_spheres": one_body,
        "bytes_per_contact": { "round": round, "general": general, "ratio": general / round },
        "bandwidth_bytes_per_contact": all_general(context)?,
    })))
}
