//! What steps, integrators, friction laws and tolerances do to flows, and what they cost.
//!
//! Four flows, each with one or two numbers that a user would take from it. Grains are chaotic, so every number is the
//! mean over several seeds, with its standard error; errors are against runs with short steps and a tight tolerance.
//! Runs are on one thread each, several side by side. docs/accuracy.md has the tables.

use super::{Context, Figures};
use crate::failure::{Failure, note};
use barchan::DVec3;
use barchan::scenario;
use barchan::step::{Simulation, StepError};
use barchan::world::{Bodies, Ownership};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// Runs of each kind, with seeds from 1 on.
const SEEDS: u64 = 8;

/// Keys of scenes with their values.
type Settings = &'static [(&'static str, &'static str)];

/// A flow, and what is taken from it.
struct Flow {
    name: &'static str,
    set: Settings,
    /// Names of the numbers.
    measures: &'static [&'static str],
    /// Begins to measure.
    start: fn() -> Box<dyn Measure>,
}

/// What is taken from a run.
trait Measure {
    /// After every step.
    fn look(&mut self, simulation: &Simulation);
    /// At the end.
    fn values(&self, simulation: &Simulation) -> Vec<f64>;
}

const FLOWS: &[Flow] = &[
    Flow {
        name: "silo",
        set: &[("nx", "14"), ("ny", "3"), ("nz", "16"), ("slit", "5"), ("time.end", "0.3")],
        measures: &["share of the grains that has run out after 0.3 s"],
        start: || Box::new(Discharge::default()),
    },
    Flow {
        name: "slope",
        set: &[("nx", "8"), ("ny", "6"), ("time.end", "2.5")],
        measures: &["mean speed from 1.5 to 2.5 s, m/s"],
        start: || Box::new(Mean::new(1.5, |bodies| mean(bodies, |i| bodies.velocity[i].x))),
    },
    Flow {
        name: "column-collapse",
        set: &[("nx", "10"), ("ny", "3"), ("nz", "20")],
        measures: &["run-out at the end, m", "height at the end, m"],
        start: || Box::new(Extent),
    },
    Flow {
        name: "drum",
        set: &[("time.end", "4")],
        measures: &["mean angle from 1.5 to 4 s, degrees"],
        start: || Box::new(Mean::new(1.5, angle)),
    },
];

/// A way to step, and the name of its row.
struct Variant {
    name: &'static str,
    set: Settings,
}

/// The runs that errors are measured against.
const REFERENCE: Variant = Variant {
    name: "reference: steps of 0.2 ms, tolerance 0.01",
    set: &[("time.step", "2e-4"), ("solver.tolerance", "0.01")],
};

const AUTO: (&str, &str) = ("time.step", "\"auto\"");

const VARIANTS: &[Variant] = &[
    Variant { name: "auto (accuracy 0.01): the default", set: &[AUTO] },
    Variant { name: "auto, accuracy 0.02", set: &[AUTO, ("time.accuracy", "0.02")] },
    Variant { name: "auto, accuracy 0.04", set: &[AUTO, ("time.accuracy", "0.04")] },
    Variant { name: "auto, tolerance 0.1", set: &[AUTO, ("solver.tolerance", "0.1")] },
    Variant { name: "auto, tolerance 0.01", set: &[AUTO, ("solver.tolerance", "0.01")] },
    Variant { name: "1 ms, middle", set: &[("time.step", "1e-3")] },
    Variant { name: "2 ms, middle", set: &[("time.step", "2e-3")] },
    Variant { name: "4 ms, middle", set: &[("time.step", "4e-3")] },
    Variant { name: "1 ms, euler", set: &[("time.step", "1e-3"), ("time.integrator", "euler")] },
    Variant { name: "2 ms, euler", set: &[("time.step", "2e-3"), ("time.integrator", "euler")] },
    Variant { name: "4 ms, euler", set: &[("time.step", "4e-3"), ("time.integrator", "euler")] },
    Variant { name: "1 ms, associated law", set: &[("time.step", "1e-3"), ("solver.friction", "associated")] },
    Variant { name: "2 ms, associated law", set: &[("time.step", "2e-3"), ("solver.friction", "associated")] },
];

/// What came of a run.
struct Outcome {
    values: Vec<f64>,
    steps: f64,
    sweeps: f64,
    missed: u64,
    overlap: f64,
    seconds: f64,
}

pub(super) fn run(_: &Context) -> Result<Figures, Failure> {
    let mut figures = Figures::new();
    for flow in FLOWS {
        let reference = ensemble(flow, &REFERENCE)?;
        let mut rows = Vec::new();
        for variant in [&REFERENCE].into_iter().chain(VARIANTS) {
            let outcomes = if std::ptr::eq(variant, &REFERENCE) { None } else { Some(ensemble(flow, variant)?) };
            let row = row(flow, variant, outcomes.as_ref().unwrap_or(&reference), &reference);
            note(format_args!("  {}: {row}", flow.name));
            rows.push(row);
        }
        figures.insert(flow.name.into(), Value::Array(rows));
    }
    Ok(figures)
}

/// The same flow with all seeds: as many side by side as there are threads.
fn ensemble(flow: &Flow, variant: &Variant) -> Result<Vec<Outcome>, Failure> {
    let next = AtomicU64::new(1);
    // A worker has a pool of one thread, in which its simulations run one after the other.
    let work = || {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build();
        let pool = pool.map_err(|error| Failure::Failed(error.to_string()))?;
        let seeds = std::iter::repeat_with(|| next.fetch_add(1, Ordering::Relaxed)).take_while(|&seed| seed <= SEEDS);
        seeds.map(|seed| pool.install(|| outcome(flow, variant, seed))).collect::<Result<Vec<_>, Failure>>()
    };
    let parts: Result<Vec<_>, Failure> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..rayon::current_num_threads()).map(|_| scope.spawn(work)).collect();
        let lost = || Failure::Failed("a run has panicked".into());
        workers.into_iter().map(|worker| worker.join().map_err(|_| lost())?).collect()
    });
    Ok(parts?.into_iter().flatten().collect())
}

fn outcome(flow: &Flow, variant: &Variant, seed: u64) -> Result<Outcome, Failure> {
    let seed = seed.to_string();
    let all = flow.set.iter().chain(variant.set).copied().chain([("seed", seed.as_str())]);
    let set: Vec<_> = all.map(|(key, value)| (key.to_owned(), value.to_owned())).collect();
    let scene = scenario::find(flow.name)?.scene(&set)?;
    let mut simulation = Simulation::from_scene(&scene)?;
    let mut measure = (flow.start)();
    let [mut sweeps, mut overlap, mut missed] = [0.0, 0.0f64, 0.0];
    let start = Instant::now();
    while !scene.time.is_over(simulation.steps(), simulation.world.time) {
        let report = simulation.step().map_err(|error: StepError| Failure::Failed(error.to_string()))?;
        sweeps += f64::from(report.solver.iterations);
        missed += f64::from(u8::from(report.solver.residual > scene.solver.tolerance));
        overlap = overlap.max(report.penetration.relative);
        measure.look(&simulation);
    }
    let seconds = start.elapsed().as_secs_f64();
    let steps = simulation.steps() as f64;
    let values = measure.values(&simulation);
    Ok(Outcome { values, steps, sweeps: sweeps / steps, missed: missed as u64, overlap, seconds })
}

/// The mean over runs and its standard error.
fn mean_and_error(values: impl Iterator<Item = f64> + Clone) -> [f64; 2] {
    let n = values.clone().count() as f64;
    let mean = values.clone().sum::<f64>() / n;
    let variance = values.map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0);
    [mean, (variance / n).sqrt()]
}

fn row(flow: &Flow, variant: &Variant, outcomes: &[Outcome], reference: &[Outcome]) -> Value {
    let of = |take: &dyn Fn(&Outcome) -> f64| mean_and_error(outcomes.iter().map(take))[0];
    let mut row = json!({
        "": variant.name,
        "steps": of(&|o| o.steps).round(),
        "sweeps a step": (10.0 * of(&|o| o.sweeps)).round() / 10.0,
        "sweeps, thousands": (of(&|o| o.steps * o.sweeps) / 100.0).round() / 10.0,
        "seconds": (100.0 * of(&|o| o.seconds)).round() / 100.0,
        "missed": outcomes.iter().map(|o| o.missed).sum::<u64>(),
        "overlap, radii": (1e4 * outcomes.iter().map(|o| o.overlap).fold(0.0, f64::max)).round() / 1e4,
    });
    for (k, name) in flow.measures.iter().enumerate() {
        let [seen, scatter] = mean_and_error(outcomes.iter().map(|o| o.values[k]));
        let [right, _] = mean_and_error(reference.iter().map(|o| o.values[k]));
        let percent = |x: f64| (1000.0 * x / right).round() / 10.0;
        row[*name] = json!((1e4 * seen).round() / 1e4);
        row[format!("error {k}, %")] = json!(percent(seen - right));
        row[format!("± {k}, %")] = json!(percent(scatter));
    }
    row
}

/// Grains of this rank.
fn grains(bodies: &Bodies) -> impl Iterator<Item = usize> + Clone + '_ {
    let own = |i: &usize| bodies.inverse_mass()[*i] > 0.0 && bodies.ownership()[*i] == Ownership::Owned;
    (0..bodies.len()).filter(own)
}

fn mean(bodies: &Bodies, value: impl Fn(usize) -> f64) -> f64 {
    let [sum, count] = grains(bodies).fold([0.0; 2], |[sum, count], i| [sum + value(i), count + 1.0]);
    sum / count
}

/// The angle of the line through the centres of mass of all grains and of the drum.
fn angle(bodies: &Bodies) -> f64 {
    let centre: DVec3 = grains(bodies).map(|i| bodies.position[i] / bodies.inverse_mass()[i]).sum();
    (centre.x / -centre.z).atan().to_degrees().abs()
}

/// The mean of a number over time.
struct Mean {
    from: f64,
    of: fn(&Bodies) -> f64,
    sum: f64,
    time: f64,
}

impl Mean {
    fn new(from: f64, of: fn(&Bodies) -> f64) -> Self {
        Self { from, of, sum: 0.0, time: 0.0 }
    }
}

impl Measure for Mean {
    fn look(&mut self, simulation: &Simulation) {
        if simulation.world.time > self.from {
            self.sum += simulation.h() * (self.of)(&simulation.world.bodies);
            self.time += simulation.h();
        }
    }

    fn values(&self, _: &Simulation) -> Vec<f64> {
        vec![self.sum / self.time]
    }
}

/// How far and how high a heap is: single grains beyond a twentieth do not count.
struct Extent;

impl Measure for Extent {
    fn look(&mut self, _: &Simulation) {}

    fn values(&self, simulation: &Simulation) -> Vec<f64> {
        let bodies = &simulation.world.bodies;
        let far = |axis: fn(DVec3) -> f64| {
            let mut all: Vec<f64> = grains(bodies).map(|i| axis(bodies.position[i])).collect();
            all.sort_by(f64::total_cmp);
            all[all.len() * 19 / 20]
        };
        vec![far(|x| x.x), far(|x| x.z)]
    }
}

/// How much has run out of a silo: what is below its floor, the level of which the first look tells.
#[derive(Default)]
struct Discharge {
    floor: Option<f64>,
}

impl Measure for Discharge {
    fn look(&mut self, simulation: &Simulation) {
        let bodies = &simulation.world.bodies;
        let fixed = |i: &usize| bodies.inverse_mass()[*i] == 0.0 && !bodies.is_wall(*i);
        self.floor.get_or_insert_with(|| {
            (0..bodies.len()).filter(fixed).map(|i| bodies.position[i].z).fold(f64::INFINITY, f64::min)
        });
    }

    fn values(&self, simulation: &Simulation) -> Vec<f64> {
        let bodies = &simulation.world.bodies;
        let floor = self.floor.unwrap_or(0.0);
        vec![mean(bodies, |i| f64::from(u8::from(bodies.position[i].z < floor)))]
    }
}
