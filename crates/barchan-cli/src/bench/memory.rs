//! Peak memory a body, contacts included, measured in a process that does nothing else.

use super::{Context, Figures, figures, settled};
use crate::failure::{Failure, print};
use barchan::cone::solver::Status;
use barchan::output::peak_rss_bytes;
use barchan::step::Simulation;
use barchan::world::World;
use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;
use std::time::Instant;

/// The names under which the bench calls itself: for spheres, for spheres that count as general bodies, and for boxes.
pub(super) const CHILD: &str = "memory-child";
pub(super) const GENERAL_CHILD: &str = "memory-child-general";
pub(super) const BOXES_CHILD: &str = "memory-child-boxes";

/// Makes the bed of a child from the folder of settled beds.
type Make = fn(&Path) -> Result<World, Failure>;

/// Every child with its bed of a million bodies, and how many steps it does.
const CHILDREN: &[(&str, Make, usize)] = &[
    (CHILD, |cache| settled::tiled(8, 5, cache, false), 3),
    (GENERAL_CHILD, |cache| settled::tiled(8, 5, cache, true), 3),
    (BOXES_CHILD, |cache| settled::tiled_boxes(8, 5, cache), 10),
];

pub(super) fn run(context: &Context) -> Result<Figures, Failure> {
    measure(context, CHILD).map(figures)
}

/// What a child process of this name measures.
pub(super) fn measure(context: &Context, child: &str) -> Result<Value, Failure> {
    // The bed is settled here, so that its making does not count.
    if child == BOXES_CHILD {
        settled::boxes(25_000, &context.cache)?;
    } else {
        settled::bed(25_000, &context.cache)?;
    }
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

/// Steps the million of a child and prints what it took; `None` if no child has this name.
pub(super) fn child(name: &str, cache: &Path) -> Option<Result<(), Failure>> {
    let &(_, make, steps) = CHILDREN.iter().find(|child| child.0 == name)?;
    Some(make(cache).and_then(|world| step_and_print(world, steps)))
}

fn step_and_print(world: World, steps: usize) -> Result<(), Failure> {
    let mut simulation = Simulation::new(world, settled::options()?);
    let mut contacts = 0;
    let mut missed = 0;
    let start = Instant::now();
    for _ in 0..steps {
        let report = simulation.step()?;
        contacts = report.contacts;
        missed += usize::from(report.solver.status != Status::Converged);
    }
    let bodies = simulation.world.bodies.len();
    let peak = peak_rss_bytes();
    let value = json!({
        "bodies": bodies,
        "contacts": contacts,
        "steps": steps,
        "steps_missed": missed,
        "seconds_per_step": start.elapsed().as_secs_f64() / steps as f64,
        "peak_rss_bytes": peak,
        "bytes_per_body": peak as f64 / bodies as f64,
    });
    print(&format!("{value}\n"))
}
