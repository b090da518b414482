//! What a viewer costs: steps of 100 000 spheres without one, and with one that asks for frames as fast as
//! they come.

use super::{Context, Figures, figures, settled};
use crate::failure::Failure;
use crate::view::no_thread;
use barchan::scene::Time;
use barchan::step::Simulation;
use barchan_view::live::{Next, Spectator, Watch, WatchOptions};
use barchan_view::server::{Controls, Hub, Limits, ListenAddress, Server};
use serde_json::json;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

/// Steps before the first that counts.
const BEFORE: usize = 5;
/// Steps that are timed at a time.
const TIMED: usize = 15;
/// Times that each is timed, in turn; the best counts.
const REPEATS: usize = 5;

pub(super) fn run(context: &Context) -> Result<Figures, Failure> {
    let world = settled::tiled(2, 2, &context.cache, false)?;
    let bodies = world.bodies.owned_bounded_len();
    let mut simulation = Simulation::new(world, settled::options()?);
    (0..BEFORE).try_for_each(|_| simulation.step().map(drop))?;

    let hub = Arc::new(Hub::new(&json!({ "name": "bench" }), Controls::default()));
    let place = ListenAddress { port: Some(0), ..ListenAddress::default() };
    let server = Server::start(place, String::new(), Arc::clone(&hub), Limits::default()).map_err(no_thread)?;
    let options = WatchOptions { time: Time { end: f64::INFINITY, ..Time::default() }, ..WatchOptions::default() };
    let mut watch = Watch::new(hub, BTreeMap::new(), options).map_err(no_thread)?;

    let mut plain = Vec::new();
    let mut alone = Vec::new();
    let mut watched = Vec::new();
    let mut frames = 0;
    let mut bytes = 0;
    let mut seconds = 0.0;
    for _ in 0..REPEATS {
        plain.push(seconds_a_step(|| simulation.step().map(drop))?);
        alone.push(seconds_a_step(|| step(&mut simulation, &mut watch))?);
        let viewer = Spectator::join(&server).map_err(no_thread)?;
        let each = seconds_a_step(|| step(&mut simulation, &mut watch))?;
        let [count, size] = viewer.leave();
        (frames, bytes, seconds) = (frames + count, bytes + size, seconds + TIMED as f64 * each);
        watched.push(each);
    }
    let best = |times: &[f64]| times.iter().copied().fold(f64::INFINITY, f64::min);
    Ok(figures(json!({
        "bodies": bodies,
        "contacts": simulation.contacts().len(),
        "plain_ms": 1e3 * best(&plain),
        "no_viewer_ms": 1e3 * best(&alone),
        "viewer_ms": 1e3 * best(&watched),
        "no_viewer_against_plain": best(&alone) / best(&plain),
        "viewer_against_plain": best(&watched) / best(&plain),
        "mean_viewer_against_plain": watched.iter().sum::<f64>() / plain.iter().sum::<f64>(),
        "frames_a_second": frames as f64 / seconds,
        "megabytes_a_frame": bytes as f64 / 1e6 / frames.max(1) as f64,
    })))
}

fn seconds_a_step(mut step: impl FnMut() -> Result<(), barchan::step::StepError>) -> Result<f64, Failure> {
    let start = Instant::now();
    (0..TIMED).try_for_each(|_| step())?;
    Ok(start.elapsed().as_secs_f64() / TIMED as f64)
}

/// A step as the live view takes it.
fn step(simulation: &mut Simulation, watch: &mut Watch) -> Result<(), barchan::step::StepError> {
    if watch.next(simulation, || false) == Next::Step {
        let report = simulation.step()?;
        watch.stepped(simulation, &report, 0);
    }
    Ok(())
}
