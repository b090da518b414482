//! What a frame of a million spheres costs: to take it, for which the steps wait, and to write it, for
//! which they do not, beside writing as many raw bytes to the same disk.

use super::{Context, Figures, figures, settled};
use crate::failure::Failure;
use barchan::DQuat;
use barchan::frame::Frame;
use barchan::output::{write_bodies, write_contacts};
use barchan::scene::Compression;
use barchan::step::Simulation;
use serde_json::json;
use std::fs::{self, File};
use std::io::{self, BufWriter, Cursor, Write};
use std::path::Path;
use std::time::Instant;

const REPEATS: usize = 5;

pub(super) fn run(context: &Context) -> Result<Figures, Failure> {
    let mut simulation = Simulation::new(settled::tiled(8, 5, &context.cache, false)?, settled::options()?);
    let bodies = &mut simulation.world.bodies;
    for i in 0..bodies.len() {
        // Beds are kept without orientations. What never turned would be compressed too well.
        let turn = bodies.id()[i] as f64;
        bodies.orientation[i] = DQuat::from_rotation_z(turn) * DQuat::from_rotation_x(turn.sqrt());
    }
    for _ in 0..2 {
        simulation.step()?;
    }
    let mut frame = Frame::default();
    let mut take = || {
        let start = Instant::now();
        frame.capture(&simulation, 0);
        start.elapsed().as_secs_f64()
    };
    let first = take();
    let again = (0..REPEATS).map(|_| take()).fold(f64::INFINITY, f64::min);

    let path = context.cache.join("frame.bench");
    let measured = measure(&frame, &path);
    // It may never have been made.
    let _ = fs::remove_file(&path);
    let mut out = figures(json!({
        "bodies": frame.bodies.len(),
        "contacts": frame.contacts.len(),
        "steps_wait_seconds": again,
        "steps_wait_seconds_first_time": first,
    }));
    out.extend(measured.map_err(|error| Failure::Failed(format!("cannot write {}: {error}", path.display())))?);
    Ok(out)
}

/// Raw bytes, then the frame in every way, with and without a wait for the disk.
fn measure(frame: &Frame, path: &Path) -> io::Result<Figures> {
    let mut raw = Cursor::new(Vec::new());
    write_bodies(&mut raw, frame, Compression::None)?;
    write_contacts(&mut raw, frame, Compression::None)?;
    let raw = raw.into_inner();
    let plain = |sync: bool| {
        best_of(REPEATS, || {
            let mut file = File::create(path)?;
            file.write_all(&raw)?;
            if sync { file.sync_data() } else { Ok(()) }
        })
    };
    let synced = plain(true)?.0;
    let loose = plain(false)?.0;
    let mut out = figures(json!({
        "raw": { "bytes": raw.len(), "seconds": synced, "seconds_without_sync": loose },
    }));
    for (compression, name) in [(Compression::Lz4, "lz4"), (Compression::Zlib, "zlib"), (Compression::None, "none")] {
        // The slow one is for size.
        let repeats = if compression == Compression::Zlib { 1 } else { REPEATS };
        let written = |sync: bool| {
            best_of(repeats, || {
                let mut file = BufWriter::new(File::create(path)?);
                write_bodies(&mut file, frame, compression)?;
                write_contacts(&mut file, frame, compression)?;
                let file = file.into_inner()?;
                if sync {
                    file.sync_data()?;
                }
                Ok(file.metadata()?.len())
            })
        };
        let (seconds, bytes) = written(true)?;
        let (unsynced, _) = written(false)?;
        let value = json!({
            "bytes": bytes,
            "seconds": seconds,
            "seconds_without_sync": unsynced,
            "against_raw": seconds / synced,
            "against_raw_without_sync": unsynced / loose,
        });
        out.insert(name.into(), value);
    }
    Ok(out)
}

/// The least seconds of several, and what the last gave.
fn best_of<T>(repeats: usize, mut work: impl FnMut() -> io::Result<T>) -> io::Result<(f64, T)> {
    let mut timed = || {
        let start = Instant::now();
        let value = work()?;
        io::Result::Ok((start.elapsed().as_secs_f64(), value))
    };
    (1..repeats).try_fold(timed()?, |(best, _), _| timed().map(|(seconds, value)| (seconds.min(best), value)))
}
