//! What checkpoints of a million bodies cost a run: how long its steps wait for one, though the frame before
//! it is still on its way to the disk. And how long the same bytes take to the disk, beside writing them
//! plainly, and back.

use super::{Context, Figures, figures, settled};
use crate::failure::Failure;
use barchan::checkpoint::{read_head, read_part};
use barchan::output::{CheckpointFolder, RunDirectory, Summary};
use barchan::run::{Run, RunFailure, RunOptions};
use barchan::step::{Simulation, StepOptions};
use serde_json::json;
use std::fs;
use std::io::Write;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::Instant;

/// Steps between checkpoints: enough for one to be on the disk before the next.
const INTERVAL: u64 = 5;
/// Checkpoints; the longest pause counts.
const CHECKPOINTS: u64 = 3;
/// Writing is measured so often, and the best counts.
const TIMES: usize = 3;

pub(super) fn run(context: &Context) -> Result<Figures, Failure> {
    let directory = context.cache.join("checkpoint-bench");
    let measured = measure(context, &directory);
    let _ = fs::remove_dir_all(&directory);
    measured
}

fn measure(context: &Context, directory: &Path) -> Result<Figures, Failure> {
    let summary = kept_run(context, directory)?;
    let folder = CheckpointFolder::of_run(directory);
    let damaged = |damage| Failure::Failed(format!("the checkpoint cannot be read back: {damage}"));
    let start = Instant::now();
    let head = read_head(&folder, summary.steps).map_err(damaged)?;
    drop(read_part(&folder, &head, 0).map_err(damaged)?);
    let read = start.elapsed().as_secs_f64();
    let path = folder.part(summary.steps, 0);
    let bytes = fs::read(&path).map_err(|error| Failure::Failed(format!("cannot read {}: {error}", path.display())))?;
    let mut disk = f64::INFINITY;
    let mut raw = f64::INFINITY;
    for _ in 0..TIMES {
        let start = Instant::now();
        folder.write(&path, &bytes)?;
        disk = disk.min(start.elapsed().as_secs_f64());
        let start = Instant::now();
        plain(&directory.join("raw"), &bytes)?;
        raw = raw.min(start.elapsed().as_secs_f64());
    }
    Ok(figures(json!({
        "bodies": summary.bodies,
        "contacts": summary.contacts,
        "bytes": bytes.len(),
        "bytes_per_body": bytes.len() as f64 / summary.bodies as f64,
        "seconds_a_step": summary.seconds.total / summary.steps as f64,
        "longest_pause": summary.checkpoints.longest_pause,
        "seconds_to_the_disk": disk,
        "seconds_of_raw_bytes": raw,
        "against_raw_bytes": disk / raw,
        "seconds_to_read": read,
    })))
}

/// A short run of the bed, with a frame at every step that is kept.
fn kept_run(context: &Context, directory: &Path) -> Result<Summary, Failure> {
    let mut scene = settled::scene(1000)?;
    (scene.checkpoint.steps, scene.checkpoint.seconds) = (INTERVAL, 0.0);
    scene.output.frame_interval = Some(INTERVAL as f64 * settled::length(&StepOptions::from(&scene)));
    let simulation = Simulation::new(settled::tiled(8, 5, &context.cache, false)?, StepOptions::from(&scene));
    // One less, so that the end is not one of them: there everything is waited for.
    let options = RunOptions { steps: Some((CHECKPOINTS + 1) * INTERVAL - 1), ..RunOptions::default() };
    let run = Run::of(&scene, &options, simulation).record_in(RunDirectory::create(directory, true)?)?;
    run.to_end(|_| ControlFlow::Continue(())).map_err(|RunFailure { error, .. }| error.into())
}

/// The same bytes as they are, and with the same care that they are on the disk.
fn plain(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let written = fs::File::create(path).and_then(|mut file| {
        file.write_all(bytes)?;
        file.sync_data()
    });
    written.map_err(|error| Failure::Failed(format!("cannot write {}: {error}", path.display())))
}
