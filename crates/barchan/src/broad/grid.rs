//! Uniform grids by the nine stages of S3 4.2.1, one grid for each level of size.
//!
//! A level holds hulls that differ by at most a factor of two, in bins twice as wide as the
//! largest of them. A body is entered in the bins that it touches on its own level and on every
//! coarser level that has bodies, so pairs of different size are found in the grid of the
//! larger one. A pair belongs to the bin that holds the midpoint of its overlap and is so
//! found once. All of that is done with hulls that have been moved together where some are far away
//! (`condensed.rs`); what passes is compared as it is.

use super::condensed::Condensed;
use super::eight::{Box32, Eight, LEAF};
use super::hull::bounds;
use super::{Aabb, BroadPhase, Emitted, Pairs, pack};
use crate::world::reorder::morton_key;
use barchan_parallel::{
    CHUNK, Disjoint, SortScratch, chunk_range, exclusive_scan, for_chunks, for_chunks_mut, reserve_with_slack, sort,
};
use glam::DVec3;
use rayon::prelude::*;

/// Bits an axis of a bin's key.
const BITS: u32 = 19;
/// Levels of size at most; what is larger joins the last.
const LEVELS: u32 = 31;
/// Bins a task.
const BIN_CHUNK: usize = 128;

/// The grids and their memory.
#[derive(Default)]
pub struct Grid {
    bounds: Vec<Aabb>,
    condensed: Condensed,
    levels: Vec<u8>,
    offsets: Vec<u32>,
    /// Bin (level, Morton key, whether the body is smaller than the level's) and body.
    entries: Vec<(u64, u32)>,
    sort: SortScratch<(u64, u32)>,
    /// Where each active bin starts and ends in `entries`.
    bins: Vec<[u32; 2]>,
    emitted: Emitted,
}

/// The geometry of all levels.
#[derive(Clone, Copy)]
struct Frame {
    origin: DVec3,
    /// Extent of the smallest hull, or more where keys would not suffice.
    unit: f64,
}

impl Frame {
    fn level(&self, hull: &Aabb) -> u32 {
        (hull.extent() / self.unit).log2().ceil().clamp(0.0, f64::from(LEVELS)) as u32
    }

    /// The bin of a point.
    #[inline]
    fn bin(&self, level: u32, x: DVec3) -> [u32; 3] {
        let t = (x - self.origin) / (2.0 * self.unit * f64::from(1u32 << level));
        [t.x as u32, t.y as u32, t.z as u32]
    }
}

/// What the search of bins reads: boxes to search with, and the hulls that count.
#[derive(Clone, Copy)]
struct Space<'a> {
    frame: Frame,
    boxes: &'a [Aabb],
    hulls: &'a [Aabb],
}

fn key(level: u32, bin: [u32; 3], smaller: bool) -> u64 {
    (u64::from(level) << (3 * BITS) | morton_key(bin)) << 1 | u64::from(smaller)
}

impl Grid {
    fn frame(boxes: &[Aabb], all: &Aabb) -> Frame {
        let smallest = boxes.iter().filter(|h| !h.is_empty()).map(Aabb::extent).fold(f64::INFINITY, f64::min);
        let finest = all.extent() / f64::from(1u32 << BITS);
        Frame { origin: all.low, unit: smallest.max(finest).max(f64::MIN_POSITIVE) }
    }

    /// Calls `visit` with every bin key that body `i` is entered in.
    #[inline]
    fn bins_of(frame: &Frame, populated: u32, own: u32, hull: &Aabb, mut visit: impl FnMut(u64)) {
        for level in own..=LEVELS {
            if populated >> level & 1 == 0 {
                continue;
            }
            let low = frame.bin(level, hull.low);
            let high = frame.bin(level, hull.high);
            for z in low[2]..=high[2] {
                for y in low[1]..=high[1] {
                    for x in low[0]..=high[0] {
                        visit(key(level, [x, y, z], level > own));
                    }
                }
            }
        }
    }

    /// Emits the pairs that belong to one bin. The hulls of the bin are compared eight at a time
    /// in single precision first, and exactly where that finds something.
    fn search(&self, space: &Space<'_>, [from, to]: [u32; 2], list: &mut Vec<u64>) {
        let Space { frame, boxes, hulls } = *space;
        let entries = &self.entries[from as usize..to as usize];
        let bin = entries[0].0 >> 1;
        let level = (bin >> (3 * BITS)) as u32;
        let own = entries.iter().take_while(|e| e.0 & 1 == 0).count();
        let scale = 1.0 / frame.unit;
        // Blocks of eight entries against every body of the level that comes before them.
        for (block, eight) in entries.chunks(LEAF).enumerate() {
            let mut lanes = Eight::EMPTY;
            for (k, entry) in eight.iter().enumerate() {
                lanes.set(k, &Box32::around(&boxes[entry.1 as usize], frame.origin, scale));
            }
            let first = block * LEAF;
            for (k, &(_, i)) in entries[..own.min(first + LEAF)].iter().enumerate() {
                let a = &boxes[i as usize];
                // Within the block only entries behind k.
                let later = if k >= first { !0 << (k - first + 1) } else { !0 };
                let mut mask =
                    lanes.meets::<false>(&Box32::around(a, frame.origin, scale)) & later & ((1 << eight.len()) - 1);
                while mask != 0 {
                    let j = eight[mask.trailing_zeros() as usize].1;
                    mask &= mask - 1;
                    let b = &boxes[j as usize];
                    if hulls[i as usize].meets(&hulls[j as usize]) {
                        let middle = 0.5 * (a.low.max(b.low) + a.high.min(b.high));
                        if key(level, frame.bin(level, middle), false) >> 1 == bin {
                            list.push(pack(i, j));
                        }
                    }
                }
            }
        }
    }
}

impl BroadPhase for Grid {
    fn find(&mut self, hulls: &[Aabb], pairs: &mut Pairs) {
        let n = hulls.len();
        let all = bounds(hulls, &mut self.bounds);
        let mut condensed = std::mem::take(&mut self.condensed);
        let (boxes, all) = condensed.boxes(hulls, all);
        let frame = Self::frame(boxes, &all);
        let bounded = |h: &Aabb| !h.is_empty();

        // Stage 1: count the bins of every body.
        self.levels.clear();
        self.levels.extend(boxes.iter().map(|h| if bounded(h) { frame.level(h) as u8 } else { 0 }));
        let populated =
            boxes.iter().zip(&self.levels).filter(|(h, _)| bounded(h)).fold(0u32, |mask, (_, l)| mask | 1 << l);
        let levels = &self.levels;
        self.offsets.clear();
        self.offsets.resize(n, 0);
        {
            for_chunks_mut(&mut self.offsets[..], CHUNK, |range, counts| {
                for (count, i) in counts.iter_mut().zip(range) {
                    if bounded(&boxes[i]) {
                        Self::bins_of(&frame, populated, u32::from(levels[i]), &boxes[i], |_| *count += 1);
                    }
                }
            });
        }
        // Stage 2: scan.
        let total = exclusive_scan(&mut self.offsets);
        // Stage 3: emit bin–body entries.
        self.entries.clear();
        reserve_with_slack(&mut self.entries, total);
        self.entries.resize(total, (0, 0));
        {
            let out = Disjoint::new(&mut self.entries);
            let offsets = &self.offsets;
            for_chunks(n, CHUNK, |range| {
                for i in range {
                    if bounded(&boxes[i]) {
                        let mut place = offsets[i] as usize;
                        Self::bins_of(&frame, populated, u32::from(levels[i]), &boxes[i], |key| {
                            // SAFETY: the scan gave these places to body i alone.
                            unsafe { out.write(place, (key, i as u32)) };
                            place += 1;
                        });
                    }
                }
            });
        }
        // Stage 4: sort by bin.
        sort(&mut self.entries, &mut self.sort, |e| e.0);
        // Stages 5 and 6: bin starts, without bins that cannot hold a pair.
        self.bins.clear();
        let mut from = 0;
        for run in self.entries.chunk_by(|a, b| a.0 >> 1 == b.0 >> 1) {
            if run.len() > 1 && run[0].0 & 1 == 0 {
                self.bins.push([from, from + run.len() as u32]);
            }
            from += run.len() as u32;
        }
        // Stages 7 to 9: count, scan and write are one here, since every task appends to a
        // list of its own.
        let space = Space { frame, boxes, hulls };
        let tasks = self.bins.len().div_ceil(BIN_CHUNK);
        let mut emitted = std::mem::take(&mut self.emitted);
        emitted.reset(tasks);
        emitted.lists[..tasks].par_iter_mut().enumerate().for_each(|(t, list)| {
            for &bin in &self.bins[chunk_range(t, BIN_CHUNK, self.bins.len())] {
                self.search(&space, bin, list);
            }
        });
        pairs.collect(n, &mut emitted);
        self.emitted = emitted;
        self.condensed = condensed;
    }
}
