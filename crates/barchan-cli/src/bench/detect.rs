//! Broad and narrow phase together, for every broad phase; and the broad phase once more with a body that has escaped.

use super::{Context, Figures, figures, pool, settled};
use crate::failure::Failure;
use barchan::DVec3;
use barchan::broad::{BroadPhaseName, Growth, Pairs, by_name, hull};
use barchan::narrow::{Apart, Contacts, Detection};
use barchan::step::StepOptions;
use barchan::world::World;
use barchan::world::reorder::{ReorderScratch, morton_order};
use serde_json::json;
use std::time::Instant;

/// How far a body has escaped, m.
const FAR: f64 = 1e9;

const REPEATS: usize = 5;

/// Seconds of hulls and broad phase, and of the narrow phase: best of several.
pub(super) fn seconds(world: &World, options: &StepOptions, name: BroadPhaseName) -> (f64, f64) {
    let h = settled::length(options);
    let growth = Growth { h, margin: options.contact.margin, kick: 9.81 * h };
    let mut hulls = Vec::new();
    let mut walls = Vec::new();
    let mut broad = by_name(name);
    let mut pairs = Pairs::default();
    let mut contacts = Contacts::default();
    let mut best = (f64::INFINITY, f64::INFINITY);
    for _ in 0..=REPEATS {
        let start = Instant::now();
        hull::compute(&world.bodies, growth, &mut hulls, &mut walls);
        broad.find(&hulls, &mut pairs);
        let middle = Instant::now();
        let (bodies, apart) = (&world.bodies, &Apart::default());
        let detection = Detection { bodies, walls: &walls, growth, ahead: 0.0, apart, assignment: None };
        contacts.detect(&detection, &mut pairs);
        best.0 = best.0.min((middle - start).as_secs_f64());
        best.1 = best.1.min(middle.elapsed().as_secs_f64());
    }
    best
}

/// Puts bodies along the Morton curve, as a simulation does.
pub(super) fn in_order(mut world: World) -> World {
    if let Some(order) = morton_order(&world.bodies, &mut ReorderScratch::default()) {
        world.bodies.permute(&order);
    }
    world
}

pub(super) fn run(context: &Context) -> Result<Figures, Failure> {
    let world = in_order(settled::tiled(8, 5, &context.cache, false)?);
    let options = settled::options()?;
    let n = world.bodies.len() as f64;
    let one = pool(1)?;
    let mut out = figures(json!({ "bodies": n }));
    let phases = [(BroadPhaseName::Octree, ""), (BroadPhaseName::Grid, "grid_"), (BroadPhaseName::Sweep, "sweep_")];
    for (name, key) in phases {
        let single = one.install(|| seconds(&world, &options, name));
        let all = seconds(&world, &options, name);
        out.insert(format!("{key}broad_nanoseconds_per_body"), json!(single.0 * 1e9 / n));
        out.insert(format!("{key}narrow_nanoseconds_per_body"), json!(single.1 * 1e9 / n));
        out.insert(format!("{key}bandwidth_bytes_per_body"), json!(context.bandwidth_bytes((single.0 + single.1) / n)));
        out.insert(
            format!("{key}bandwidth_bytes_per_body_all_threads"),
            json!(context.bandwidth_bytes((all.0 + all.1) / n)),
        );
    }
    let far = in_order(with_escaped(world));
    for (name, key) in phases {
        let single = one.install(|| seconds(&far, &options, name));
        out.insert(format!("far_{key}broad_nanoseconds_per_body"), json!(single.0 * 1e9 / n));
    }
    Ok(out)
}

/// The world with one of its bodies far away.
fn with_escaped(mut world: World) -> World {
    let bodies = &world.bodies;
    let escaped = (0..bodies.len()).filter(|&i| !bodies.is_wall(i)).nth(bodies.len() / 2);
    if let Some(i) = escaped {
        world.bodies.position[i] = DVec3::new(0.0, FAR, FAR);
    }
    world
}
