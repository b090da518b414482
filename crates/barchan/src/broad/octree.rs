//! Morton-ordered linear octree (S1 IV-B): the sort that orders bodies also prunes pairs.
//!
//! A body belongs to the octree cell that holds the centre of its hull, on the level whose cells
//! are just large enough for the hull; so large bodies stay near the root and do not spoil the
//! boxes of small ones. Bodies sorted by (first key of their cell, level) stand in the order in
//! which a walk over the tree meets them. The tree is cut into subtrees, built side by side; each is
//! a flat list of nodes in that order, each node with the box of all hulls below it and the index
//! to skip to. For every group of leaves the walk goes over the rest of its own list and over all
//! lists behind it, so that each pair of leaves is met once.
//!
//! A cell may have many bodies of its own: rods or plates, of which a cell as long as they are holds many, or a
//! pile of boulders in the cell of the whole scene. They are put in an order of their own, along a Morton
//! curve whose cells have the shape of the bodies, and get a tree of their own above their leaves.
//!
//! The walk compares boxes in single precision, rounded outwards, eight at a time
//! (`eight.rs`); what passes is compared again as it is. Cells and those boxes are made of hulls that
//! have been moved together where some are far away (`condensed.rs`).

use super::condensed::Condensed;
use super::eight::{Box32, Eight, LEAF, bits};
use super::hull::centres;
use super::{Aabb, BroadPhase, Emitted, Pairs, pack};
use crate::world::reorder::{MORTON_BITS, MortonFrame, morton_key};
use barchan_parallel::{CHUNK, SortScratch, chunk_range, for_chunks_mut, reshape, sort_again};
use glam::DVec3;
use rayon::prelude::*;
use std::ops::Range;

/// Bits an axis; three axes and the level fill 62.
const BITS: u32 = 19;
/// Leaves a group, which share one walk.
const GROUP: usize = 16;
/// Leaves a task.
const TASK: usize = 16 * GROUP;
/// Near leaves that are listed at a time.
const NEAR: usize = 128;
/// Subtrees up to this size are built by one task.
const SUBTREE: usize = 1 << 13;

/// Tasks at least for the bodies of a large cell, and leaves a task at least: large bodies have many pairs.
const TASKS: usize = 64;
const SHORTEST: usize = 2;
/// More bodies of one cell than this are put in an order of their own.
const CROWD: usize = 4 * LEAF;
/// More bodies than this in a row of leaves get nodes above them.
const FLAT: usize = LEAF * LEAF;

/// First key of a body's cell and the level, and the body.
type Key = (u64, u32);

/// A node of a subtree: an inner cell, or a leaf with bodies.
#[derive(Clone, Copy)]
struct Node {
    hull: Box32,
    /// Where the walk goes on if the hull is missed.
    skip: u32,
    /// Index of the leaf; `INNER` for inner nodes.
    leaf: u32,
}

const INNER: u32 = u32::MAX;

/// Up to eight bodies, consecutive in the sorted list.
#[derive(Clone, Copy)]
struct Leaf {
    hulls: Eight,
    first: u32,
    count: u32,
    node: u32,
}

/// Part of the tree, built by one task.
#[derive(Default)]
struct Subtree {
    nodes: Vec<Node>,
    leaves: Vec<Leaf>,
    /// The box of all hulls in it.
    hull: Box32,
}

/// Leaves of one subtree, whose pairs one task emits.
struct Task {
    subtree: usize,
    leaves: Range<usize>,
}

/// The octree and its memory.
#[derive(Default)]
pub struct Octree {
    bounds: Vec<Aabb>,
    condensed: Condensed,
    keys: Vec<Key>,
    sort: SortScratch<Key>,
    /// Ranges of sorted bodies that make a subtree each, with their level.
    tops: Vec<(usize, usize, u32)>,
    subtrees: Vec<Subtree>,
    tasks: Vec<Task>,
    emitted: Emitted,
}

fn level_of(key: &Key) -> u32 {
    key.0 as u32 & 31
}

impl Octree {
    /// Sorts bodies by cell and level.
    fn sort_bodies(&mut self, boxes: &[Aabb], frame: &MortonFrame) {
        let cells = f64::from(1u32 << BITS);
        let scale = cells / frame.edge;
        reshape(&mut self.keys, boxes.len());
        for_chunks_mut(&mut self.keys[..], CHUNK, |range, keys| {
            for (key, i) in keys.iter_mut().zip(range) {
                let hull = &boxes[i];
                if hull.is_empty() {
                    *key = (u64::MAX, u32::MAX);
                    continue;
                }
                // The deepest level whose cells are not smaller than the hull: the exponent of
                // the ratio is the floor of its logarithm. What is not a number counts as large.
                let ratio = (frame.edge / hull.extent()).max(1.0).min(cells);
                let level = (ratio.to_bits() >> 52) as u32 - 1023;
                let t = (hull.centre() - frame.origin) * scale;
                let cell = |c: f64| c.clamp(0.0, cells - 1.0) as u32 >> (BITS - level) << (BITS - level);
                *key = (morton_key([cell(t.x), cell(t.y), cell(t.z)]) << 5 | u64::from(level), i as u32);
            }
        });
        sort_again(&mut self.keys, &mut self.sort, |k| k.0);
        let bounded = self.keys.partition_point(|k| k.0 != u64::MAX);
        self.keys.truncate(bounded);
    }

    /// Puts bodies that share a cell and a level in an order in which neighbours follow each other.
    fn order_crowds(&mut self, boxes: &[Aabb]) {
        let crowds = self.keys.par_chunk_by_mut(|a, b| a.0 == b.0).filter(|crowd| crowd.len() > CROWD);
        crowds.for_each(|crowd| {
            let hull_of = |key: &Key| &boxes[key.1 as usize];
            let low = crowd.iter().map(|key| hull_of(key).centre()).fold(DVec3::INFINITY, DVec3::min);
            let sum: DVec3 = crowd.iter().map(|key| hull_of(key).high - hull_of(key).low).sum();
            // Cells as large as a body along each axis; of flat ones, a small part of it.
            let cell = sum.max(DVec3::splat(1e-3 * sum.max_element()).max(DVec3::splat(f64::MIN_POSITIVE)));
            let scale = crowd.len() as f64 / cell;
            let most = f64::from((1u32 << MORTON_BITS) - 1);
            let shared = crowd[0].0;
            for key in &mut *crowd {
                let t = (hull_of(key).centre() - low) * scale;
                key.0 = morton_key(t.to_array().map(|x| x.min(most) as u32));
            }
            crowd.sort_unstable();
            crowd.iter_mut().for_each(|key| key.0 = shared);
        });
    }

    /// Builds the subtrees in parallel, and cuts their leaves into tasks.
    fn build(&mut self, boxes: &[Aabb], frame: &MortonFrame) {
        self.tops.clear();
        list_subtrees(&self.keys, 0, self.keys.len(), 0, &mut self.tops);
        self.subtrees.resize_with(self.tops.len().max(self.subtrees.len()), Subtree::default);
        let builder = Builder { keys: &self.keys, boxes, frame };
        self.subtrees.par_iter_mut().zip(&self.tops).for_each(|(subtree, &(from, to, level))| {
            subtree.nodes.clear();
            subtree.leaves.clear();
            subtree.hull = builder.add_cell(from, to, level, subtree);
        });
        self.tasks.clear();
        for (subtree, part) in self.subtrees[..self.tops.len()].iter().enumerate() {
            let count = part.leaves.len();
            let is_crowd = self.tops[subtree].2 == BITS;
            let length = if is_crowd { (count / TASKS).clamp(SHORTEST, TASK) } else { TASK };
            let chunks = 0..count.div_ceil(length);
            self.tasks.extend(chunks.map(|c| Task { subtree, leaves: chunk_range(c, length, count) }));
        }
    }

    /// The subtrees of this search.
    fn parts(&self) -> &[Subtree] {
        &self.subtrees[..self.tops.len()]
    }

    /// Emits the pairs of a task's leaves, in registers of eight where the machine has them.
    fn walk_all(&self, hulls: &[Aabb], task: &Task, list: &mut Vec<u64>) {
        #[inline(always)]
        fn walk_groups<const WIDE: bool>(tree: &Octree, hulls: &[Aabb], task: &Task, list: &mut Vec<u64>) {
            let leaves = &tree.subtrees[task.subtree].leaves[task.leaves.clone()];
            leaves.chunks(GROUP).for_each(|group| tree.walk::<WIDE>(hulls, task.subtree, group, list));
        }
        #[cfg(target_arch = "x86_64")]
        {
            #[target_feature(enable = "avx2,bmi1")]
            fn wide(tree: &Octree, hulls: &[Aabb], task: &Task, list: &mut Vec<u64>) {
                walk_groups::<true>(tree, hulls, task, list);
            }
            if std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("bmi1") {
                // SAFETY: the machine has them.
                return unsafe { wide(self, hulls, task, list) };
            }
        }
        walk_groups::<false>(self, hulls, task, list);
    }

    /// Emits the pairs within each leaf of a group and with all leaves behind it.
    ///
    /// One walk serves the whole group: it lists the leaves that the group's box meets, eight to
    /// a block, and each leaf then picks its own out of the list.
    #[inline(always)]
    fn walk<const WIDE: bool>(&self, hulls: &[Aabb], subtree: usize, group: &[Leaf], list: &mut Vec<u64>) {
        for leaf in group {
            let mine = self.bodies(leaf);
            for (k, key) in mine.iter().enumerate() {
                // Only the lanes before k: each pair once.
                let mask = leaf.hulls.meets::<WIDE>(&leaf.hulls.get(k)) & ((1 << k) - 1);
                emit(hulls, mine, mask, key.1, list);
            }
        }
        let Some(first) = group.first() else { return };
        let home = &self.subtrees[subtree];
        let hull = group.iter().fold(Box32::EMPTY, |all, leaf| all.join(&home.nodes[leaf.node as usize].hull));
        let group = Group { leaves: group, home };
        let mut near = Near { leaves: [0; NEAR], boxes: [Eight::EMPTY; NEAR / LEAF], len: 0 };
        // The rest of its own subtree: near leaves within the group are there as well.
        let mut next = first.node as usize + 1;
        for (k, part) in self.parts()[subtree..].iter().enumerate() {
            if k > 0 && !hull.meets(&part.hull) {
                continue;
            }
            while let Some(node) = part.nodes.get(next) {
                if !hull.meets(&node.hull) {
                    next = node.skip as usize;
                    continue;
                }
                if node.leaf != INNER {
                    near.boxes[near.len / LEAF].set(near.len % LEAF, &node.hull);
                    near.leaves[near.len] = node.leaf;
                    near.len += 1;
                    if near.len == NEAR {
                        self.pair_up::<WIDE>(hulls, &group, part, &near, list);
                        near.len = 0;
                    }
                }
                next += 1;
            }
            self.pair_up::<WIDE>(hulls, &group, part, &near, list);
            near.len = 0;
            next = 0;
        }
    }

    /// Emits the pairs of every leaf of a group with the near leaves of a subtree that come after it.
    #[inline(always)]
    fn pair_up<const WIDE: bool>(
        &self,
        hulls: &[Aabb],
        group: &Group<'_>,
        part: &Subtree,
        near: &Near,
        list: &mut Vec<u64>,
    ) {
        let is_home = std::ptr::eq(group.home, part);
        for leaf in group.leaves {
            let mine = self.bodies(leaf);
            let hull = &group.home.nodes[leaf.node as usize].hull;
            for (block, boxes) in near.boxes[..near.len.div_ceil(LEAF)].iter().enumerate() {
                for k in bits(boxes.meets::<WIDE>(hull)) {
                    let k = LEAF * block + k;
                    // A block may still hold boxes of an earlier, fuller list.
                    if k >= near.len {
                        break;
                    }
                    let other = &part.leaves[near.leaves[k] as usize];
                    if is_home && other.node <= leaf.node {
                        continue;
                    }
                    let theirs = self.bodies(other);
                    for l in bits(other.hulls.meets::<WIDE>(hull)) {
                        emit(hulls, mine, leaf.hulls.meets::<WIDE>(&other.hulls.get(l)), theirs[l].1, list);
                    }
                }
            }
        }
    }

    fn bodies(&self, leaf: &Leaf) -> &[Key] {
        &self.keys[leaf.first as usize..(leaf.first + leaf.count) as usize]
    }
}

/// Leaves that share a walk, and the subtree that they are of.
struct Group<'a> {
    leaves: &'a [Leaf],
    home: &'a Subtree,
}

/// Leaves near a group, with their boxes.
struct Near {
    leaves: [u32; NEAR],
    boxes: [Eight; NEAR / LEAF],
    len: usize,
}

/// Emits the pairs of body `other` with those of `mine` that the mask names, if the exact hulls meet.
#[inline(always)]
fn emit(hulls: &[Aabb], mine: &[Key], mask: u32, other: u32, list: &mut Vec<u64>) {
    for k in bits(mask) {
        let body = mine[k].1;
        if hulls[body as usize].meets(&hulls[other as usize]) {
            list.push(pack(body, other));
        }
    }
}

/// How many bodies at the head of a cell's range belong to the cell itself: too large for its
/// octants, they come first.
fn own_bodies(keys: &[Key], from: usize, to: usize, level: u32) -> usize {
    keys[from..to].iter().take_while(|k| level_of(k) <= level).count()
}

/// Splits a range of sorted bodies into subtrees small enough for one task each: (from, to, level).
fn list_subtrees(keys: &[Key], from: usize, to: usize, level: u32, out: &mut Vec<(usize, usize, u32)>) {
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

/// The non-empty octants of a cell as ranges of sorted bodies.
fn octants(keys: &[Key], from: usize, to: usize, level: u32) -> impl Iterator<Item = (usize, usize)> + '_ {
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

/// What building a subtree reads.
struct Builder<'a> {
    keys: &'a [Key],
    boxes: &'a [Aabb],
    frame: &'a MortonFrame,
}

impl Builder<'_> {
    /// Appends the subtree of a cell and returns the box of all hulls in it.
    fn add_cell(&self, from: usize, to: usize, level: u32, tree: &mut Subtree) -> Box32 {
        if to - from <= LEAF || level == BITS {
            return self.add_leaves(from, to, tree);
        }
        let here = tree.nodes.len();
        tree.nodes.push(Node { hull: Box32::EMPTY, skip: 0, leaf: INNER });
        let own = own_bodies(self.keys, from, to, level);
        let mut hull = self.add_leaves(from, from + own, tree);
        // Small octants that follow each other share a leaf.
        let mut pending = (from + own, from + own);
        for (from, to) in octants(self.keys, from + own, to, level) {
            if to - pending.0 <= LEAF {
                pending.1 = to;
                continue;
            }
            hull = hull.join(&self.add_leaves(pending.0, pending.1, tree));
            pending = (from, to);
            if to - from > LEAF {
                hull = hull.join(&self.add_cell(from, to, level + 1, tree));
                pending = (to, to);
            }
        }
        hull = hull.join(&self.add_leaves(pending.0, pending.1, tree));
        tree.nodes[here].hull = hull;
        tree.nodes[here].skip = tree.nodes.len() as u32;
        hull
    }

    /// Appends the bodies of a range as leaves, with nodes above many of them, and returns the box of their hulls.
    fn add_leaves(&self, from: usize, to: usize, tree: &mut Subtree) -> Box32 {
        let mut all = Box32::EMPTY;
        if to - from > FLAT {
            let here = tree.nodes.len();
            tree.nodes.push(Node { hull: Box32::EMPTY, skip: 0, leaf: INNER });
            let part = (to - from).div_ceil(LEAF).next_multiple_of(LEAF);
            for from in (from..to).step_by(part) {
                all = all.join(&self.add_leaves(from, to.min(from + part), tree));
            }
            tree.nodes[here].hull = all;
            tree.nodes[here].skip = tree.nodes.len() as u32;
            return all;
        }
        for from in (from..to).step_by(LEAF) {
            let count = LEAF.min(to - from);
            let mut hull = Box32::EMPTY;
            let mut hulls = Eight::EMPTY;
            for k in 0..count {
                let one = Box32::around(
                    &self.boxes[self.keys[from + k].1 as usize],
                    self.frame.origin,
                    1.0 / self.frame.edge,
                );
                hulls.set(k, &one);
                hull = hull.join(&one);
            }
            let node = tree.nodes.len() as u32;
            let leaf = tree.leaves.len() as u32;
            tree.nodes.push(Node { hull, skip: node + 1, leaf });
            tree.leaves.push(Leaf { hulls, first: from as u32, count: count as u32, node });
            all = all.join(&hull);
        }
        all
    }
}

impl BroadPhase for Octree {
    fn find(&mut self, hulls: &[Aabb], pairs: &mut Pairs) {
        // The frame that puts bodies in order elsewhere too: they come nearly sorted.
        let all = centres(hulls, &mut self.bounds);
        let mut condensed = std::mem::take(&mut self.condensed);
        let (boxes, all) = condensed.boxes(hulls, all);
        let frame = MortonFrame::around(all.low, all.high);
        self.sort_bodies(boxes, &frame);
        self.order_crowds(boxes);
        self.build(boxes, &frame);
        self.condensed = condensed;
        let mut emitted = std::mem::take(&mut self.emitted);
        emitted.reset(self.tasks.len());
        emitted.lists.par_iter_mut().zip(&self.tasks).for_each(|(list, task)| self.walk_all(hulls, task, list));
        pairs.collect(hulls.len(), &mut emitted);
        self.emitted = emitted;
    }
}
