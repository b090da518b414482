//! What a checkpoint of a million bodies costs: how long the simulation waits for it, and how long it
//! takes until it is on the disk, beside the same bytes written plainly.

use super::{Context, Figures, figures, settled};
use crate::failure::Failure;
use barchan::checkpoint::Part;
use barchan::output::{AtomicFile, CheckpointFolder, OutputError};
use barchan::step::Simulation;
use serde_json::json;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::time::Instant;

const STEPS: usize = 2;
/// Each is measured so often, and the best counts.
const TIMES: usize = 3;

pub(super) fn run(context: &Context) -> Result<Figures, Failure> {
    let mut simulation = Simulation::new(settled::tiled(8, 5, &context.cache)?, settled::options()?);
    let mut contacts = 0;
    for _ in 0..STEPS {
        contacts = simulation.step()?.contacts;
    }
    let directory = context.cache.join("checkpoint-bench");
    let folder = CheckpointFolder::of_run(&directory);
    folder.make()?;
    let (mut pause, mut disk, mut raw, mut bytes) = (f64::INFINITY, f64::INFINITY, f64::INFINITY, 0);
    for _ in 0..TIMES {
        let start = Instant::now();
        let mut part = Part::gather(&mut simulation, [0, 1], &[]);
        pause = pause.min(start.elapsed().as_secs_f64());
        // What the thread does.
        let start = Instant::now();
        Part::seal(&mut part);
        write(&folder.part(1, 0), &part)?;
        disk = disk.min(start.elapsed().as_secs_f64());
        let start = Instant::now();
        plain(&directory.join("raw"), &part)?;
        raw = raw.min(start.elapsed().as_secs_f64());
        bytes = part.len();
    }
    let start = Instant::now();
    let read = Part::read(&fs::read(folder.part(1, 0)).map_err(|error| unread(&error))?);
    let read_seconds = start.elapsed().as_secs_f64();
    read.map_err(|damage| Failure::Failed(format!("the checkpoint cannot be read back: {damage}")))?;
    let _ = fs::remove_dir_all(&directory);
    let bodies = simulation.world.bodies.len();
    Ok(figures(json!({
        "bodies": bodies,
        "contacts": contacts,
        "bytes": bytes,
        "bytes_per_body": bytes as f64 / bodies as f64,
        "seconds_of_pause": pause,
        "seconds_to_the_disk": disk,
        "seconds_of_raw_bytes": raw,
        "against_raw_bytes": disk / raw,
        "seconds_to_read": read_seconds,
    })))
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), OutputError> {
    let mut file = AtomicFile::create(path)?;
    let written = file.write_all(bytes);
    written.map_err(|source| OutputError::Io { operation: "write", path: path.to_owned(), source })?;
    file.finish()
}

/// The same bytes without a seal, and with the same care that they are on the disk.
fn plain(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let written = fs::File::create(path).and_then(|mut file| {
        file.write_all(bytes)?;
        file.sync_data()
    });
    written.map_err(|error| Failure::Failed(format!("cannot write {}: {error}", path.display())))
}

fn unread(error: &std::io::Error) -> Failure {
    Failure::Failed(format!("cannot read the checkpoint: {error}"))
}
