//! Uniform grids by the nine stages of S3 4.2.1, one grid for each level of size.
//!
//! A level holds hulls that differ by at most a factor of two (`levels.rs`), in bins that are along each axis
//! twice as wide as the widest of them: cubes for grains, and long and thin for rods that lie alike. A body is
//! entered in the bins that it touches on its own level and on every coarser level that has bodies near it, so
//! pairs of different size are found in the grid of the larger one. A pair belongs to the bin that holds the
//! midpoint of its overlap and is so found once. All of that is done with hulls that have been moved together
//! where some are far away (`condensed.rs`); what passes is compared as it is.

use super::condensed::Condensed;
use super::eight::{Box32, Eight, LEAF, bits};
use super::hull::bounds;
use super::levels::{LEVELS, Levels};
use super::{Aabb, BroadPhase, Emitted, Pairs, pack};
use crate::world::reorder::morton_key;
use barchan_parallel::{CHUNK, Disjoint, SortScratch, exclusive_scan, for_chunks, for_chunks_mut, reshape, sort};
use glam::DVec3;
use rayon::prelude::*;
use std::ops::Range;

/// Bits an axis of a bin's key.
const BITS: u32 = 19;
/// Entries a task, about: many small bins, or part of a large one.
const TASK: usize = 2048;
/// Bodies of a bin's own level that are compared at a time.
const SLAB: usize = 8 * LEAF;

/// The grids and their memory.
#[derive(Default)]
pub struct Grid {
    bounds: Vec<Aabb>,
    condensed: Condensed,
    levels: Levels,
    offsets: Vec<u32>,
    /// Bin (level, Morton key, whether the body is smaller than the level's) and body.
    entries: Vec<(u64, u32)>,
    sort: SortScratch<(u64, u32)>,
    bins: Vec<Bin>,
    /// Bins that make a task each.
    tasks: Vec<Range<usize>>,
    emitted: Emitted,
}

/// An active bin, or a part of the work of a large one.
#[derive(Clone, Copy)]
struct Bin {
    /// Where it starts in `entries`.
    from: u32,
    /// How many entries of its own level it has.
    own: u32,
    /// The entries that are compared with those before them, counted from its start.
    rows: [u32; 2],
}

/// A grid: the box of all hulls of its level, and bins a unit of length.
#[derive(Clone, Copy)]
struct Mesh {
    all: Aabb,
    density: DVec3,
}

/// The geometry of all levels.
#[derive(Clone, Copy)]
struct Frame<'a> {
    origin: DVec3,
    edge: f64,
    meshes: [Mesh; LEVELS],
    levels: &'a Levels,
}

impl Frame<'_> {
    /// The bin of a point.
    #[inline]
    fn bin(&self, level: usize, x: DVec3) -> [u32; 3] {
        let t = (x - self.origin) * self.meshes[level].density;
        [t.x as u32, t.y as u32, t.z as u32]
    }

    /// A hull in single precision.
    #[inline]
    fn single(&self, hull: &Aabb) -> Box32 {
        Box32::around(hull, self.origin, 1.0 / self.edge)
    }

    /// Calls `visit` with every bin key that a body is entered in.
    #[inline]
    fn bins_of(&self, hull: &Aabb, mut visit: impl FnMut(u64)) {
        if hull.is_empty() {
            return;
        }
        let own = self.levels.of(hull);
        for level in own..LEVELS {
            if !self.meshes[level].all.meets(hull) {
                continue;
            }
            let low = self.bin(level, hull.low);
            let high = self.bin(level, hull.high);
            for z in low[2]..=high[2] {
                for y in low[1]..=high[1] {
                    for x in low[0]..=high[0] {
                        visit(key(level, [x, y, z], level > own));
                    }
                }
            }
        }
    }
}

/// What the search of bins reads: boxes to search with, and the hulls that count.
#[derive(Clone, Copy)]
struct Space<'a> {
    frame: Frame<'a>,
    boxes: &'a [Aabb],
    hulls: &'a [Aabb],
}

fn key(level: usize, bin: [u32; 3], smaller: bool) -> u64 {
    ((level as u64) << (3 * BITS) | morton_key(bin)) << 1 | u64::from(smaller)
}

impl Grid {
    /// Stages 1 to 3: counts the bins of every body, scans, and emits bin–body entries.
    fn enter(&mut self, frame: &Frame<'_>, boxes: &[Aabb]) {
        reshape(&mut self.offsets, boxes.len());
        for_chunks_mut(&mut self.offsets[..], CHUNK, |range, counts| {
            for (count, i) in counts.iter_mut().zip(range) {
                *count = 0;
                frame.bins_of(&boxes[i], |_| *count += 1);
            }
        });
        let total = exclusive_scan(&mut self.offsets);
        reshape(&mut self.entries, total);
        let out = Disjoint::new(&mut self.entries);
        let offsets = &self.offsets;
        for_chunks(boxes.len(), CHUNK, |range| {
            for i in range {
                let mut place = offsets[i] as usize;
                frame.bins_of(&boxes[i], |key| {
                    // SAFETY: the scan gave these places to body i alone.
                    unsafe { out.write(place, (key, i as u32)) };
                    place += 1;
                });
            }
        });
    }

    /// Stages 5 and 6: bin starts, without bins that cannot hold a pair; and tasks of about equal work.
    fn list_bins(&mut self) {
        self.bins.clear();
        self.tasks.clear();
        let mut from = 0;
        let mut first = 0;
        let mut rows = 0;
        for run in self.entries.chunk_by(|a, b| a.0 >> 1 == b.0 >> 1) {
            let own = run.partition_point(|entry| entry.0 & 1 == 0) as u32;
            if run.len() > 1 && own > 0 {
                for start in (0..run.len()).step_by(TASK) {
                    let end = run.len().min(start + TASK);
                    self.bins.push(Bin { from, own, rows: [start as u32, end as u32] });
                    rows += end - start;
                    if rows >= TASK {
                        self.tasks.push(first..self.bins.len());
                        first = self.bins.len();
                        rows = 0;
                    }
                }
            }
            from += run.len() as u32;
        }
        if first < self.bins.len() {
            self.tasks.push(first..self.bins.len());
        }
    }

    /// Emits the pairs that belong to one bin: of each of its rows with the bodies of its own level before it. They
    /// are compared eight at a time in single precision first, and exactly where that finds something.
    fn search(&self, space: &Space<'_>, bin: &Bin, list: &mut Vec<u64>) {
        let Space { frame, boxes, hulls } = space;
        let entries = &self.entries[bin.from as usize..];
        let home = entries[0].0 >> 1;
        let level = (home >> (3 * BITS)) as usize;
        let [first, last] = bin.rows.map(|row| row as usize);
        for (slab, own) in (0..).step_by(SLAB).zip(entries[..last.min(bin.own as usize)].chunks(SLAB)) {
            let mut lanes = [Eight::EMPTY; SLAB / LEAF];
            for (k, entry) in own.iter().enumerate() {
                lanes[k / LEAF].set(k % LEAF, &frame.single(&boxes[entry.1 as usize]));
            }
            for (row, &(_, j)) in entries.iter().enumerate().take(last).skip(first.max(slab + 1)) {
                let b = &boxes[j as usize];
                let one = frame.single(b);
                // Only those before the row: each pair once.
                let before = own.len().min(row - slab);
                for (block, eight) in lanes[..before.div_ceil(LEAF)].iter().enumerate() {
                    let mask = !0 >> (u32::BITS as usize - LEAF.min(before - block * LEAF));
                    for k in bits(eight.meets::<false>(&one) & mask) {
                        let i = own[block * LEAF + k].1;
                        if hulls[i as usize].meets(&hulls[j as usize]) {
                            let a = &boxes[i as usize];
                            let middle = 0.5 * (a.low.max(b.low) + a.high.min(b.high));
                            if key(level, frame.bin(level, middle), false) >> 1 == home {
                                list.push(pack(i, j));
                            }
                        }
                    }
                }
            }
        }
    }
}

impl BroadPhase for Grid {
    fn find(&mut self, hulls: &[Aabb], pairs: &mut Pairs) {
        let all = bounds(hulls, &mut self.bounds);
        let mut condensed = std::mem::take(&mut self.condensed);
        let mut levels = std::mem::take(&mut self.levels);
        let mut emitted = std::mem::take(&mut self.emitted);
        let (boxes, all) = condensed.boxes(hulls, all);
        emitted.reset(0);
        if let Some(extents) = levels.measure(boxes) {
            // Keys suffice for bins of half of this.
            let edge = all.extent().max(f64::MIN_POSITIVE);
            let meshes = extents.map(|extent| Mesh {
                all: extent.all,
                density: 0.5 / extent.largest.max(DVec3::splat(edge / f64::from(1u32 << BITS))),
            });
            let frame = Frame { origin: all.low, edge, meshes, levels: &levels };
            self.enter(&frame, boxes);
            // Stage 4: sort by bin.
            sort(&mut self.entries, &mut self.sort, |e| e.0);
            self.list_bins();
            // Stages 7 to 9: count, scan and write are one here, since every task appends to a list of its own.
            let space = Space { frame, boxes, hulls };
            emitted.reset(self.tasks.len());
            emitted.lists.par_iter_mut().zip(&self.tasks).for_each(|(list, task)| {
                self.bins[task.clone()].iter().for_each(|bin| self.search(&space, bin, list));
            });
        }
        pairs.collect(hulls.len(), &mut emitted);
        self.condensed = condensed;
        self.levels = levels;
        self.emitted = emitted;
    }
}
