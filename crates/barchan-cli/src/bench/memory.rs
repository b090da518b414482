//! Peak memory a body, contacts included, measured in a process that does nothing else.

use super::{Context, Figures, figures, settled};
use crate::failure::{Failure, print};
use barchan::output::peak_rss_bytes;
use barchan::step::Simulation;
use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;

/// The names under which the bench calls itself: for spheres, and for spheres that count as general bodies.
pub(super) const CHILD: &str = "memory-child";
pub(super) const GENERAL_CHILD: &str = "memory-child-general";

const STEPS: usize = 3;

pub(super) fn run(context: &Context) -> Result<Figures, Failure> {
    measure(context, CHILD).map(figures)
}

/// What a child process of this name measures.
pub(super) fn measure(context: &Context, child: &str) -> Result<Value, Failure> {
    // The bed is settled here, so that its making does not count.
    settled::bed(25_000, &context.cache)?;
    let own = std::env::current_exe().map_err(|e| Failure::Failed(format!("cannot find this program: {e}")))?;
    let output = Command::new(own)
        .args(["bench", child, "--cache"])
        .arg(&context.cache)
        .output()
        .map_err(|e| Failure::Failed(format!("cannot start a second process: {e}")))?;
    if !output.status.success() {
        return Err(Failure::Failed(format!("the second process failed: {}", String::from_utf8_lossy(&output.stderr))));
    }
    serde_json::from_slice(&output.stdout)
        .map_err(|e| Failure::Failed(format!("the second process wrote no JSON: {e}")))
}

/// Steps the million and prints what it took.
pub(super) fn child(cache: &Path, are_general: bool) -> Result<(), Failure> {
    let mut simulation = Simulation::new(settled::tiled(8, 5, cache, are_general)?, settled::options()?);
    let mut contacts = 0;
    for _ in 0..STEPS {
        contacts = simulation.step()?.contacts;
    }
    let bodies = simulation.world.bodies.len();
    let peak = peak_rss_bytes();
    let value = json!({
        "bodies": bodies,
        "contacts": contacts,
        "steps": STEPS,
        "peak_rss_bytes": peak,
        "bytes_per_body": peak as f64 / bodies as f64,
    });
    print(&format!("{value}\n"))
}
