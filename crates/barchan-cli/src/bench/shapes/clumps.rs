//! A settled bed of clumps of four spheres against a settled bed of as many loose spheres of the same radius: what a
//! contact costs, on one thread.

use crate::bench::{pool, settled};
use crate::failure::Failure;
use barchan::cone::solver::Status;
use barchan::scene::Scene;
use barchan::shape::{Part, Shape};
use barchan::step::Simulation;
use barchan::{DQuat, DVec3};
use serde_json::{Value, json};

const SPHERES: usize = 20_000;
const RADIUS: f64 = 0.01;
/// How far the spheres of a clump are from its centre, in their radii: they overlap by a tenth of a diameter.
const OUT: f64 = 1.1;
/// Steps of a millisecond until both beds rest, and steps that are measured.
const FALL: usize = 900;
const MEASURED: usize = 100;
const STEP: f64 = 1e-3;

/// What the measured steps took, s, with contacts and iterations a step.
#[derive(Default)]
struct Cost {
    contacts: f64,
    iterations: f64,
    detection: f64,
    solve: f64,
    whole: f64,
    missed: usize,
}

fn clump() -> Shape {
    let corners = [[1.0, 1.0, 1.0], [1.0, -1.0, -1.0], [-1.0, 1.0, -1.0], [-1.0, -1.0, 1.0]];
    let place = |corner: [f64; 3]| DVec3::from(corner).normalize() * (OUT * RADIUS);
    let parts = corners.map(|corner| Part::new(Shape::sphere(RADIUS)).at(place(corner), DQuat::IDENTITY));
    Shape::composite(parts.to_vec())
}

fn cost(mut scene: Scene) -> Result<Cost, Failure> {
    scene.time.step = STEP.into();
    let mut simulation = Simulation::from_scene(&scene)?;
    for _ in 0..FALL {
        simulation.step()?;
    }
    let mut cost = Cost::default();
    let share = 1.0 / MEASURED as f64;
    for _ in 0..MEASURED {
        let report = simulation.step()?;
        let seconds = report.seconds;
        cost.contacts += report.contacts as f64 * share;
        cost.iterations += f64::from(report.solver.iterations) * share;
        cost.detection += (seconds.broad + seconds.narrow) * share;
        cost.solve += seconds.solve * share;
        cost.whole += (seconds.broad + seconds.narrow + seconds.solve + seconds.integrate) * share;
        cost.missed += usize::from(report.solver.status != Status::Converged);
    }
    Ok(cost)
}

pub(super) fn run() -> Result<Value, Failure> {
    let reach = RADIUS * (1.0 + OUT) * (1.0 + 1e-9);
    let spheres = settled::scene(SPHERES)?;
    let clumps = settled::scene_of(&clump(), SPHERES / 4, reach)?;
    let one = pool(1)?;
    let spheres = one.install(|| cost(spheres))?;
    let clumps = one.install(|| cost(clumps))?;
    let row = |name: &str, value: &dyn Fn(&Cost) -> f64| {
        let [loose, glued] = [&spheres, &clumps].map(value);
        json!([name, loose, glued, glued / loose])
    };
    Ok(json!([
        json!(["", "spheres", "clumps", "ratio"]),
        row("contacts", &|cost| cost.contacts),
        row("iterations a step", &|cost| cost.iterations),
        row("steps missed", &|cost| cost.missed as f64),
        row("a step, microseconds a contact", &|cost| cost.whole / cost.contacts * 1e6),
        row("detection, microseconds a contact", &|cost| cost.detection / cost.contacts * 1e6),
        row("solve, microseconds a contact and iteration", &|cost| {
            cost.solve / cost.contacts / cost.iterations * 1e6
        }),
    ]))
}
