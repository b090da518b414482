//! Morton-ordered linear octree (S1 IV-B): the sort that orders bodies also prunes pairs.
//!
//! A body belongs to the octree cell that holds the centre of its hull, on the level whose cells
//! are just large enough for the hull; so large bodies stay near the root and do not spoil the
//! boxes of small ones. Bodies sorted by (first key of their cell, level) stand in the order in
//! which a walk over the tree meets them. The tree is a flat list of nodes in that order, each
//! with the box of all hulls below it and the index to skip to. For every leaf the walk goes
//! over the rest of the list, so that each pair of leaves is met once.

use super::{Aabb, BroadPhase, Emitted, Pairs, pack};
use crate::util::parallel::{CHUNK, Disjoint, chunk_range, for_chunks};
use crate::util::reserve_with_slack;
use crate::util::sort::{SortScratch, sort};
use crate::world::reorder::{MortonFrame, morton_key};
use rayon::prelude::*;

/// Bits an axis; three axes and the level fill 62.
const BITS: u32 = 19;
/// Bodies a leaf, at most (but for bodies that share their smallest cell).
const LEAF: usize = 8;
/// Leaves a task.
const LEAF_CHUNK: usize = 256;
/// Subtrees are built in parallel below this size.
const SUBTREE: usize = 1 << 14;

/// A node of the flat tree: an inner cell, or a leaf with bodies.
#[derive(Clone, Copy)]
struct Node {
    hull: Aabb,
    /// Where the walk goes on if the hull is missed.
    skip: u32,
    /// Bodies of a leaf, as a range of the sorted list; empty for inner nodes.
    bodies: [u32; 2],
}

/// The octree and its memory.
#[derive(Default)]
pub struct Octree {
    /// (first key of the cell, level) and body, sorted.
    keys: Vec<(u64, u32)>,
    sort: SortScratch<(u64, u32)>,
    /// Hulls in sorted order.
    hulls: Vec<Aabb>,
    nodes: Vec<Node>,
    leaves: Vec<u32>,
    /// Subtrees that are built each by one task: (from, to, level).
    tops: Vec<(usize, usize, u32)>,
    subtrees: Vec<Vec<Node>>,
    emitted: Emitted,
}

impl Octree {
    /// Sorts bodies by cell and level.
    fn sort_bodies(&mut self, hulls: &[Aabb]) {
        let bounded = |h: &&Aabb| h.low.x <= h.high.x;
        let frame = MortonFrame::around(hulls.iter().filter(bounded).map(Aabb::centre));
        let cells = f64::from(1u32 << BITS);
        let scale = cells / frame.edge;
        self.keys.clear();
        reserve_with_slack(&mut self.keys, hulls.len());
        self.keys.resize(hulls.len(), (u64::MAX, u32::MAX));
        let out = Disjoint::new(&mut self.keys);
        for_chunks(hulls.len(), CHUNK, |range| {
            // SAFETY: chunks are disjoint.
            let keys = unsafe { out.range(range.clone()) };
            for (key, i) in keys.iter_mut().zip(range) {
                let hull = &hulls[i];
                if !bounded(&hull) {
                    continue;
                }
                // The deepest level whose cells are not smaller than the hull.
                let level = (frame.edge / hull.extent()).log2().floor().clamp(0.0, f64::from(BITS)) as u32;
                let t = (hull.centre() - frame.origin) * scale;
                let cell = |c: f64| c.clamp(0.0, cells - 1.0) as u32 >> (BITS - level) << (BITS - level);
                *key = (morton_key([cell(t.x), cell(t.y), cell(t.z)]) << 5 | u64::from(level), i as u32);
            }
        });
        sort(&mut self.keys, &mut self.sort, |k| k.0);
        let bounded = self.keys.partition_point(|k| k.0 != u64::MAX);
        self.keys.truncate(bounded);

        self.hulls.clear();
        reserve_with_slack(&mut self.hulls, bounded);
        self.hulls.resize(bounded, Aabb::EMPTY);
        let (out, keys) = (Disjoint::new(&mut self.hulls), &self.keys);
        for_chunks(bounded, CHUNK, |range| {
            // SAFETY: chunks are disjoint.
            let sorted = unsafe { out.range(range.clone()) };
            for (hull, k) in sorted.iter_mut().zip(range) {
                *hull = hulls[keys[k].1 as usize];
            }
        });
    }

    /// Builds the flat tree: large subtrees in parallel, then joined in order.
    fn build(&mut self) {
        let tops = &mut self.tops;
        tops.clear();
        list_subtrees(&self.keys, 0, self.keys.len(), 0, tops);
        self.subtrees.resize_with(tops.len().max(self.subtrees.len()), Vec::new);
        let (keys, hulls) = (&self.keys, &self.hulls);
        self.subtrees[..tops.len()].par_iter_mut().zip(&*tops).for_each(|(nodes, &(from, to, level))| {
            nodes.clear();
            add_cell(keys, hulls, from, to, level, nodes);
        });
        self.nodes.clear();
        for subtree in &self.subtrees[..tops.len()] {
            let offset = self.nodes.len() as u32;
            self.nodes.extend(subtree.iter().map(|n| Node { skip: n.skip + offset, ..*n }));
        }
        self.leaves.clear();
        let is_leaf = |n: &Node| n.bodies[0] < n.bodies[1];
        self.leaves.extend(self.nodes.iter().enumerate().filter(|(_, n)| is_leaf(n)).map(|(k, _)| k as u32));
    }

    /// Emits the pairs within a leaf and with all leaves behind it.
    fn walk(&self, leaf: u32, list: &mut Vec<u64>) {
        let node = &self.nodes[leaf as usize];
        let mine = node.bodies[0] as usize..node.bodies[1] as usize;
        for k in mine.clone() {
            for l in k + 1..mine.end {
                if self.hulls[k].meets(&self.hulls[l]) {
                    list.push(pack(self.keys[k].1, self.keys[l].1));
                }
            }
        }
        let mut next = leaf as usize + 1;
        while let Some(other) = self.nodes.get(next) {
            if !node.hull.meets(&other.hull) {
                next = other.skip as usize;
                continue;
            }
            for l in other.bodies[0] as usize..other.bodies[1] as usize {
                let hull = &self.hulls[l];
                if node.hull.meets(hull) {
                    for k in mine.clone() {
                        if self.hulls[k].meets(hull) {
                            list.push(pack(self.keys[k].1, self.keys[l].1));
                        }
                    }
                }
            }
            next += 1;
        }
    }
}

/// Splits a range of sorted bodies into subtrees small enough for one task each: (from, to, level).
fn list_subtrees(keys: &[(u64, u32)], from: usize, to: usize, level: u32, out: &mut Vec<(usize, usize, u32)>) {
    if to - from <= SUBTREE || level == BITS {
        if from < to {
            out.push((from, to, level));
        }
        return;
    }
    let own = own_bodies(keys, from, to, level);
    if own > 0 {
        // As a subtree at the deepest level: leaves only.
        out.push((from, from + own, BITS));
    }
    for (from, to) in octants(keys, from + own, to, level) {
        list_subtrees(keys, from, to, level + 1, out);
    }
}

/// How many bodies at the head of a cell's range belong to the cell itself: too large for its
/// octants, they come first.
fn own_bodies(keys: &[(u64, u32)], from: usize, to: usize, level: u32) -> usize {
    keys[from..to].iter().take_while(|k| k.0 as u32 & 31 <= level).count()
}

/// The non-empty octants of a cell as ranges of sorted bodies.
fn octants(keys: &[(u64, u32)], from: usize, to: usize, level: u32) -> impl Iterator<Item = (usize, usize)> + '_ {
    let shift = 5 + 3 * (BITS - level - 1);
    let mut from = from;
    std::iter::from_fn(move || {
        if from == to {
            return None;
        }
        let octant = keys[from].0 >> shift;
        let start = from;
        // Octants are met in order; short ranges are scanned, long ones bisected.
        from = if to - from <= 32 {
            (from..to).find(|&k| keys[k].0 >> shift != octant).unwrap_or(to)
        } else {
            from + keys[from..to].partition_point(|k| k.0 >> shift == octant)
        };
        Some((start, from))
    })
}

/// Appends the subtree of a cell and returns the box of all hulls in it.
fn add_cell(keys: &[(u64, u32)], hulls: &[Aabb], from: usize, to: usize, level: u32, nodes: &mut Vec<Node>) -> Aabb {
    if to - from <= LEAF || level == BITS {
        let mut all = Aabb::EMPTY;
        let mut k = from;
        while k < to {
            let end = (k + LEAF).min(to);
            all = all.join(&add_leaf(hulls, k, end, nodes));
            k = end;
        }
        return all;
    }
    let here = nodes.len();
    nodes.push(Node { hull: Aabb::EMPTY, skip: 0, bodies: [0, 0] });
    let mut hull = Aabb::EMPTY;
    let own = own_bodies(keys, from, to, level);
    let mut k = from;
    while k < from + own {
        let end = (k + LEAF).min(from + own);
        hull = hull.join(&add_leaf(hulls, k, end, nodes));
        k = end;
    }
    for (from, to) in octants(keys, from + own, to, level) {
        hull = hull.join(&add_cell(keys, hulls, from, to, level + 1, nodes));
    }
    nodes[here].hull = hull;
    nodes[here].skip = nodes.len() as u32;
    hull
}

fn add_leaf(hulls: &[Aabb], from: usize, to: usize, nodes: &mut Vec<Node>) -> Aabb {
    let hull = hulls[from..to].iter().fold(Aabb::EMPTY, |all, h| all.join(h));
    nodes.push(Node { hull, skip: nodes.len() as u32 + 1, bodies: [from as u32, to as u32] });
    hull
}

impl BroadPhase for Octree {
    fn find(&mut self, hulls: &[Aabb], pairs: &mut Pairs) {
        self.sort_bodies(hulls);
        self.build();
        let tasks = self.leaves.len().div_ceil(LEAF_CHUNK);
        let mut emitted = std::mem::take(&mut self.emitted);
        emitted.reset(tasks);
        emitted.lists[..tasks].par_iter_mut().enumerate().for_each(|(t, list)| {
            for &leaf in &self.leaves[chunk_range(t, LEAF_CHUNK, self.leaves.len())] {
                self.walk(leaf, list);
            }
        });
        pairs.collect(hulls.len(), &mut emitted);
        self.emitted = emitted;
    }
}
