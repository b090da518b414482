//! Broad phases where sizes spread by a hundred: a bed of a million grains, without and with boulders in it.
//!
//! A boulder of a hundred grain radii has the volume of a million grains, so they stand in a pile, five by five
//! and as high as their number asks, and the grains make a bed around the lowest of them: as many in both cases,
//! on the places of a jittered lattice that are not inside a boulder, from the bottom up. Every grain below
//! the hull of a boulder makes a pair with it, so that pairs grow as well; their numbers are reported.

use super::{Context, Figures, figures, pool};
use crate::failure::Failure;
use barchan::DVec3;
use barchan::broad::{Aabb, BroadPhaseName, Pairs, by_name};
use serde_json::json;
use std::time::Instant;

/// Grains, boulders, and the radius of a boulder in that of a grain.
const GRAINS: usize = 1_000_000;
const BOULDERS: usize = 100;
const RATIO: f64 = 100.0;
/// Distance of the places of grains, and how far a grain is off its place, in grain radii.
const PITCH: f64 = 1.85;
const JITTER: f64 = 0.2;
/// Hulls are larger than bodies by this part of their radius, and this many grain radii, as in a bed at rest.
const GROWTH: (f64, f64) = (0.02, 0.02);
/// Boulders in a row, and the distance of their centres in boulder radii.
const ROW: usize = 5;
const SPACING: f64 = 2.1;
/// Searches of which the best counts, and how far grains move between two of them, in grain radii.
const REPEATS: usize = 5;
const STEP: f64 = 0.01;

/// Numbers between -1 and 1.
struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    fn point(&mut self) -> DVec3 {
        DVec3::new(self.next(), self.next(), self.next())
    }
}

/// Centres and radii, along the Morton curve of the centres as in a run.
fn bodies(grains: usize, boulders: usize) -> Vec<(DVec3, f64)> {
    let stack: Vec<DVec3> = (0..boulders)
        .map(|k| {
            let place = DVec3::new((k % ROW) as f64, (k / ROW % ROW) as f64, (k / (ROW * ROW)) as f64);
            RATIO * (DVec3::ONE + SPACING * place)
        })
        .collect();
    let side = ((SPACING * (ROW - 1) as f64 + 2.0) * RATIO / PITCH) as usize;
    let mut random = Random(1);
    let mut all: Vec<(DVec3, f64)> = (0..)
        .map(|k| {
            let place = DVec3::new((k % side) as f64, (k / side % side) as f64, (k / (side * side)) as f64);
            PITCH * place + JITTER * random.point()
        })
        .filter(|x| stack.iter().all(|b| b.distance_squared(*x) > (RATIO + 1.0) * (RATIO + 1.0)))
        .take(grains)
        .map(|x| (x, 1.0))
        .chain(stack.iter().map(|x| (*x, RATIO)))
        .collect();
    let frame = barchan::world::reorder::MortonFrame::around(DVec3::splat(-1.0), DVec3::splat(PITCH * side as f64));
    all.sort_by_cached_key(|body| frame.key(body.0));
    all
}

/// Best of several searches, each a step after the one before, and the pairs of the last.
fn seconds(name: BroadPhaseName, bodies: &[(DVec3, f64)]) -> (f64, usize) {
    let mut random = Random(2);
    let mut broad = by_name(name);
    let mut pairs = Pairs::default();
    let mut best = f64::INFINITY;
    let mut hulls = Vec::with_capacity(bodies.len());
    for _ in 0..=REPEATS {
        hulls.clear();
        hulls.extend(bodies.iter().map(|&(x, radius)| {
            let x = x + STEP * random.point();
            let radius = radius * (1.0 + GROWTH.0) + GROWTH.1 * (1.0 + 0.1 * random.next());
            Aabb { low: x - radius, high: x + radius }
        }));
        let start = Instant::now();
        broad.find(&hulls, &mut pairs);
        best = best.min(start.elapsed().as_secs_f64());
    }
    (best, pairs.len())
}

pub(super) fn run(_: &Context) -> Result<Figures, Failure> {
    let one = pool(1)?;
    let plain = bodies(GRAINS, 0);
    let mixed = bodies(GRAINS, BOULDERS);
    let heads = ["broad phase", "threads", "grains, ms", "with boulders, ms", "ratio", "pairs", "with boulders"];
    let mut table = vec![json!(heads)];
    for &(name, words, _) in BroadPhaseName::ALL.iter().filter(|entry| entry.0 != BroadPhaseName::BruteForce) {
        for threads in [1, rayon::current_num_threads()] {
            let time = |bodies: &[(DVec3, f64)]| {
                if threads == 1 { one.install(|| seconds(name, bodies)) } else { seconds(name, bodies) }
            };
            let without = time(&plain);
            let with = time(&mixed);
            let ratio = with.0 / without.0;
            table.push(json!([words, threads, 1e3 * without.0, 1e3 * with.0, ratio, without.1, with.1]));
        }
    }
    Ok(figures(json!({ "grains": GRAINS, "boulders": BOULDERS, "milliseconds": table })))
}
