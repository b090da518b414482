//! The scenario `well` with 20 000 spheres and boxes, on two threads: what a step costs once it is full, how deep bodies
//! overlap and how far they creep; beside rapier3d on the same scene, with the same step and threads.
//!
//! Poses of both engines are judged by the same function, our narrow phase. Rapier is told how large bodies are
//! (`length_unit`), that none may sleep, and nothing else: it runs with its defaults, and once more with so many iterations
//! more that it holds the stones as well as it can in our time.

use crate::bench::{named, pool};
use crate::failure::{Failure, note};
use barchan::cone::solver::Status;
use barchan::scene::Scene;
use barchan::step::{Simulation, StepOptions};
use barchan::world::Motion;
use barchan::{DQuat, DVec3};
use serde_json::{Value, json};
use std::time::Instant;

const BODIES: &str = "20000";
const STEP: f64 = 1e-3;
/// Steps that are measured at the end.
const MEASURED: usize = 200;

/// Where a body is, and how it is turned, by ids.
pub(super) type Pose = (DVec3, DQuat);

/// What a step took, in seconds by stage, and whether it missed its tolerance.
#[derive(Default)]
pub(super) struct Step {
    pub(super) seconds: Vec<(&'static str, f64)>,
    pub(super) is_missed: bool,
}

/// What is asked of an engine.
pub(super) trait Engine {
    /// Advances by a step.
    fn step(&mut self) -> Result<Step, Failure>;
    /// All bodies by their ids.
    fn poses(&self) -> Vec<Pose>;
}

impl Engine for Simulation {
    fn step(&mut self) -> Result<Step, Failure> {
        let report = Simulation::step(self)?;
        let s = report.seconds;
        let seconds = vec![
            ("broad phase", s.broad),
            ("narrow phase", s.narrow),
            ("solve", s.solve),
            ("integrate", s.integrate + s.exchange),
        ];
        Ok(Step { seconds, is_missed: report.solver.status != Status::Converged })
    }

    fn poses(&self) -> Vec<Pose> {
        let bodies = &self.world.bodies;
        let mut poses = vec![(DVec3::ZERO, DQuat::IDENTITY); bodies.len()];
        for i in 0..bodies.len() {
            poses[bodies.id()[i] as usize] = (bodies.position[i], bodies.orientation[i]);
        }
        poses
    }
}

/// Overlaps of bodies in these poses, in the size of the smaller: the deepest, the deepest but for a hundredth of the
/// contacts that overlap, and the mean.
fn overlaps(scene: &Scene, poses: &[Pose]) -> Result<[f64; 3], Failure> {
    let mut world = scene.build()?;
    for i in 0..world.bodies.len() {
        (world.bodies.position[i], world.bodies.orientation[i]) = poses[world.bodies.id()[i] as usize];
    }
    let mut simulation = Simulation::new(world, StepOptions::from(scene));
    simulation.pose();
    let bodies = &simulation.world.bodies;
    let size = |i: u32| bodies.shape()[i as usize].size();
    let contacts = simulation.contacts();
    let overlap = |(&gap, &[a, b]): (&f64, &[u32; 2])| (gap < 0.0).then(|| -gap / size(a).min(size(b)));
    let mut all: Vec<f64> = contacts.gaps().iter().zip(contacts.pairs()).filter_map(overlap).collect();
    all.sort_by(f64::total_cmp);
    let at = |part: f64| all.get(((all.len() as f64 - 1.0) * part) as usize).copied().unwrap_or(0.0);
    Ok([at(1.0), at(0.99), all.iter().sum::<f64>() / all.len().max(1) as f64])
}

/// Runs an engine until the well is full, and measures the last steps.
pub(super) fn measure(scene: &Scene, engine: &mut dyn Engine) -> Result<Value, Failure> {
    let steps = (scene.time.end / STEP).round() as usize;
    let start = Instant::now();
    for _ in MEASURED..steps {
        engine.step()?;
    }
    let before = engine.poses();
    let mut missed = 0;
    let mut stages: Vec<(&str, f64)> = Vec::new();
    let full = Instant::now();
    for _ in 0..MEASURED {
        let Step { seconds, is_missed } = engine.step()?;
        missed += usize::from(is_missed);
        stages.resize(seconds.len(), ("", 0.0));
        for (sum, (name, seconds)) in stages.iter_mut().zip(seconds) {
            *sum = (name, sum.1 + seconds * 1e3 / MEASURED as f64);
        }
    }
    let milliseconds = full.elapsed().as_secs_f64() * 1e3 / MEASURED as f64;
    let whole = start.elapsed().as_secs_f64();
    let after = engine.poses();
    let [deepest, most, mean] = overlaps(scene, &after)?;
    // How far bodies have crept, in the size of the smallest, each second.
    let world = scene.build()?;
    let bodies = &world.bodies;
    let mut creep: Vec<f64> = (0..bodies.len())
        .filter(|&i| bodies.motion()[i] == Motion::Dynamic)
        .map(|i| {
            let id = bodies.id()[i] as usize;
            before[id].0.distance(after[id].0) / bodies.shape()[i].size() / (STEP * MEASURED as f64)
        })
        .collect();
    creep.sort_by(f64::total_cmp);
    let stages: Vec<Value> = stages.iter().map(|(name, ms)| json!({ *name: ms })).collect();
    Ok(json!({
        "milliseconds_a_step": milliseconds,
        "milliseconds_by_stage": stages,
        "milliseconds_a_step_from_the_start": whole * 1e3 / steps as f64,
        "steps_missed": missed,
        "overlap_deepest": deepest,
        "overlap_deepest_but_for_a_hundredth": most,
        "overlap_mean": mean,
        "creep_median_sizes_a_second": creep[creep.len() / 2],
        "creep_deepest_but_for_a_hundredth": creep[creep.len() * 99 / 100],
    }))
}

pub(super) fn run() -> Result<Value, Failure> {
    let mut scene = named("well", &[("bodies", BODIES)])?;
    scene.time.step = STEP.into();
    let two = pool(2)?;
    note("    barchan");
    let own = two.install(|| measure(&scene, &mut Simulation::from_scene(&scene)?))?;
    let peer = peer(&scene)?;
    Ok(json!({ "bodies": BODIES, "threads": 2, "step": STEP, "barchan": own, "rapier3d": peer }))
}

#[cfg(feature = "rapier")]
fn peer(scene: &Scene) -> Result<Value, Failure> {
    super::rapier::run(scene)
}

#[cfg(not(feature = "rapier"))]
fn peer(_: &Scene) -> Result<Value, Failure> {
    Ok(json!("not in this build: cargo run --release --features rapier -- bench shapes"))
}
