//! Sweep and prune (S2 section 6, after its reference to Ericson and others), in columns and by levels of size.
//!
//! Boxes sorted by where they begin along an axis: a box then meets only those that begin within its own
//! interval, and they follow it in the list. The sort is nearly free, since the order of the last step is nearly
//! that of this one and only has to be repaired (`order.rs`).
//!
//! In a bed of n bodies an interval meets n^(2/3) others, nearly all of them far away across the axis. So space is
//! cut into *columns* along the axis, at least as wide as the boxes in them (`frame.rs`). A box stands once, in
//! the column of its lowest corner, and meets boxes of that column and of the eight around it alone. Boxes are swept
//! in blocks of eight (`eight.rs`) that follow each other in a column: about six comparisons of one box with eight
//! are what a body of a packed bed costs.
//!
//! A large box would widen the columns of all. So there is a set of columns for each *level* of size, and a level
//! holds boxes whose longest edges differ by at most a factor of two; its columns are as wide as its own
//! boxes are along each of the two axes, which keeps them narrow for rods and plates that lie alike. Pairs of
//! different levels are found from the larger box: it visits the columns of the finer level that it covers, and in
//! each of them those that begin not farther before it than boxes of that level are long. The work is that of the
//! pairs that it has, and small boxes do not notice it.
//!
//! Boxes are compared in single precision, rounded outwards, and those that pass again as they are. What has
//! escaped is moved near before (`condensed.rs`).

mod frame;
mod order;

use super::condensed::Condensed;
use super::eight::{Box32, Eight, LEAF, bits};
use super::hull::bounds;
use super::levels::LEVELS;
use super::{Aabb, BroadPhase, Emitted, Pairs, pack};
use barchan_parallel::{CHUNK, for_chunks_mut, prefetch, reserve_with_slack};
use frame::{COLUMN_BITS, Frame, Near};
use order::Order;
use rayon::prelude::*;
use std::ops::Range;

/// Bodies whose boxes are fetched ahead of need: the order of the sweep is not that of memory.
const AHEAD: usize = 16;
/// Tasks that a coarser level is cut into at least, and blocks a task at most: a few large boxes may have more
/// pairs than all others.
const TASKS: usize = 32;
const TASK: usize = CHUNK / LEAF;

/// Up to eight boxes of a column that follow each other.
#[derive(Clone, Copy)]
struct Block {
    hulls: Eight,
    bodies: [u32; LEAF],
    /// The box of all of them.
    hull: Box32,
}

impl Block {
    const EMPTY: Self = Self { hulls: Eight::EMPTY, bodies: [u32::MAX; LEAF], hull: Box32::EMPTY };
}

/// A column that has boxes: `blocks[from..]` up to the next column.
#[derive(Clone, Copy, Default)]
struct Column {
    /// Level, row and place in the row: the upper half of the keys in it.
    key: u32,
    from: u32,
}

/// Sweep and prune, with the order of the last step.
#[derive(Default)]
pub struct Sweep {
    bounds: Vec<Aabb>,
    condensed: Condensed,
    frame: Frame,
    order: Order,
    /// Where blocks begin in the order, and its end.
    cuts: Vec<u32>,
    blocks: Vec<Block>,
    /// Columns in order, and one behind the last.
    columns: Vec<Column>,
    /// The columns of each level.
    levels: [(usize, usize); LEVELS],
    /// Blocks of one level each.
    tasks: Vec<Range<usize>>,
    emitted: Emitted,
}

impl BroadPhase for Sweep {
    fn find(&mut self, hulls: &[Aabb], pairs: &mut Pairs) {
        let all = bounds(hulls, &mut self.bounds);
        let mut condensed = std::mem::take(&mut self.condensed);
        let (boxes, all) = condensed.boxes(hulls, all);
        self.frame.follow(boxes, &all);
        self.sort(boxes);
        self.list_columns();
        self.list_tasks();
        self.fill_blocks(boxes);
        self.condensed = condensed;
        let mut emitted = std::mem::take(&mut self.emitted);
        emitted.reset(self.tasks.len());
        emitted.lists.par_iter_mut().zip(&self.tasks).for_each(|(list, task)| {
            // The sweep of a task, in registers of eight where the machine has them.
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx2,bmi1")]
                fn wide(sweep: &Sweep, hulls: &[Aabb], task: Range<usize>, list: &mut Vec<u64>) {
                    Task::<true> { sweep, hulls, list }.sweep(task);
                }
                if std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("bmi1") {
                    // SAFETY: the machine has them.
                    return unsafe { wide(self, hulls, task.clone(), list) };
                }
            }
            Task::<false> { sweep: self, hulls, list }.sweep(task.clone());
        });
        pairs.collect(hulls.len(), &mut emitted);
        self.emitted = emitted;
    }
}

impl Sweep {
    /// Brings bodies into the order of the sweep, starting from that of the last search.
    fn sort(&mut self, boxes: &[Aabb]) {
        let frame = &self.frame;
        self.order.start(boxes.len());
        for_chunks_mut(&mut self.order.keys[..], CHUNK, |_, keys| {
            for k in 0..keys.len() {
                if let Some(next) = keys.get(k + AHEAD) {
                    prefetch(boxes, next.1 as usize);
                }
                keys[k].0 = frame.key(&boxes[keys[k].1 as usize]);
            }
        });
        self.order.repair();
    }

    /// Finds where columns and their blocks begin.
    fn list_columns(&mut self) {
        let keys = self.order.bounded();
        self.columns.clear();
        reserve_with_slack(&mut self.columns, keys.len() + 1);
        self.cuts.clear();
        reserve_with_slack(&mut self.cuts, keys.len() + 1);
        let mut last = u32::MAX;
        let mut next = 0;
        for (k, key) in keys.iter().enumerate() {
            let column = (key.0 >> 32) as u32;
            if last != column {
                last = column;
                next = k;
                self.columns.push(Column { key: column, from: self.cuts.len() as u32 });
            }
            if k == next {
                next += LEAF;
                self.cuts.push(k as u32);
            }
        }
        self.columns.push(Column { key: u32::MAX, from: self.cuts.len() as u32 });
        self.cuts.push(keys.len() as u32);
    }

    /// Finds where levels begin, and cuts them into tasks.
    fn list_tasks(&mut self) {
        self.tasks.clear();
        let columns = &self.columns[..self.columns.len() - 1];
        let mut from = 0;
        for level in 0..LEVELS {
            let to = from + columns[from..].partition_point(|c| (c.key >> (2 * COLUMN_BITS)) as usize == level);
            self.levels[level] = (from, to);
            let blocks = self.columns[from].from as usize..self.columns[to].from as usize;
            // Nothing is below the finest: its boxes have about as many pairs each.
            let is_finest = from == 0;
            let length = if is_finest { TASK } else { (blocks.len() / TASKS).clamp(1, TASK) };
            self.tasks.extend(blocks.clone().step_by(length).map(|first| first..blocks.end.min(first + length)));
            from = to;
        }
    }

    /// Fetches the boxes of all blocks.
    fn fill_blocks(&mut self, boxes: &[Aabb]) {
        let keys = self.order.bounded();
        let frame = &self.frame;
        let cuts = &self.cuts;
        let count = cuts.len() - 1;
        reserve_with_slack(&mut self.blocks, count);
        self.blocks.resize(count, Block::EMPTY);
        for_chunks_mut(&mut self.blocks[..], TASK, |range, blocks| {
            for (b, block) in range.zip(blocks) {
                *block = Block::EMPTY;
                for (lane, k) in (cuts[b] as usize..cuts[b + 1] as usize).enumerate() {
                    if let Some(next) = keys.get(k + AHEAD) {
                        prefetch(boxes, next.1 as usize);
                    }
                    let one = frame.single(&boxes[keys[k].1 as usize]);
                    block.hulls.set(lane, &one);
                    block.bodies[lane] = keys[k].1;
                    block.hull = block.hull.join(&one);
                }
            }
        });
    }

    /// The blocks of a column.
    fn of(&self, column: usize) -> Range<usize> {
        self.columns[column].from as usize..self.columns[column + 1].from as usize
    }

    /// Where the first box of a block begins along the axis: none in it begins before.
    #[inline(always)]
    fn begin(&self, block: usize) -> f32 {
        self.blocks[block].hulls.first_low(self.frame.axis)
    }

    /// The first of some blocks of a column that may have boxes which begin at `begin` or later.
    #[inline(always)]
    fn first(&self, begin: f32, blocks: &Range<usize>) -> usize {
        let axis = self.frame.axis;
        let before = self.blocks[blocks.clone()].partition_point(|block| block.hulls.first_low(axis) < begin);
        blocks.start + before.saturating_sub(1)
    }

    /// Calls `found` with each of these columns that has boxes, in order.
    #[inline(always)]
    fn visit(&self, near: &Near, mut found: impl FnMut(usize)) {
        let [lowest, highest] = near.places;
        let (mut at, end) = self.levels[near.level];
        let seek = |at: usize, key: u32| at + self.columns[at..end].partition_point(|c| c.key < key);
        at = seek(at, near.column(near.rows[0], lowest));
        while at < end {
            let key = self.columns[at].key;
            let row = Near::row(key);
            if row > near.rows[1] {
                return;
            }
            if key < near.column(row, lowest) {
                at = seek(at, near.column(row, lowest));
            } else if key > near.column(row, highest) {
                at = seek(at, near.column(row + 1, lowest));
            } else {
                found(at);
                at += 1;
            }
        }
    }
}

/// The sweep of a task.
struct Task<'a, const WIDE: bool> {
    sweep: &'a Sweep,
    hulls: &'a [Aabb],
    list: &'a mut Vec<u64>,
}

impl<const WIDE: bool> Task<'_, WIDE> {
    /// Emits the pairs of some blocks with those behind them on their level, and with finer levels.
    #[inline(always)]
    fn sweep(&mut self, blocks: Range<usize>) {
        let sweep = self.sweep;
        let mut column = sweep.columns.partition_point(|c| c.from as usize <= blocks.start) - 1;
        let level = (sweep.columns[column].key >> (2 * COLUMN_BITS)) as usize;
        let mut from = blocks.start;
        while from < blocks.end {
            let to = blocks.end.min(sweep.of(column).end);
            self.sweep_level(column, from..to);
            from = to;
            column += 1;
        }
        for finer in (0..level).filter(|&finer| sweep.levels[finer].0 < sweep.levels[finer].1) {
            blocks.clone().for_each(|block| self.sweep_finer(block, finer));
        }
    }

    /// Emits the pairs of some blocks of a column with what follows on the same level: later in the column, or
    /// in one of the four columns around it that come later.
    #[inline(always)]
    fn sweep_level(&mut self, column: usize, mine: Range<usize>) {
        let sweep = self.sweep;
        for a in mine.clone() {
            let block = &sweep.blocks[a];
            for lane in 1..LEAF {
                // Only the lanes before: each pair once.
                let mask = block.hulls.meets::<WIDE>(&block.hulls.get(lane)) & ((1 << lane) - 1);
                self.emit(block, mask, block.bodies[lane]);
            }
            self.scan(block, a + 1..sweep.of(column).end);
        }
        let near = Near::around(sweep.columns[column].key);
        let reach = sweep.frame.levels[near.level].reach;
        sweep.visit(&near, |other| {
            if other > column {
                self.merge(mine.clone(), sweep.of(other), reach);
            }
        });
    }

    /// Emits the pairs of some blocks of a column with all of another, as in a merge of two lists.
    #[inline(always)]
    fn merge(&mut self, mine: Range<usize>, theirs: Range<usize>, reach: f32) {
        let sweep = self.sweep;
        let begin_of = |block: usize| sweep.begin(block) - reach;
        let mut from = sweep.first(begin_of(mine.start), &theirs);
        for a in mine {
            let block = &sweep.blocks[a];
            while from + 1 < theirs.end && sweep.begin(from + 1) < begin_of(a) {
                from += 1;
            }
            self.scan(block, from..theirs.end);
        }
    }

    /// Emits the pairs of a block with those of a list that begin before it ends.
    #[inline(always)]
    fn scan(&mut self, block: &Block, others: Range<usize>) {
        let axis = self.sweep.frame.axis;
        let end = block.hull.high(axis);
        for other in &self.sweep.blocks[others] {
            if other.hulls.first_low(axis) > end {
                break;
            }
            for lane in bits(other.hulls.meets::<WIDE>(&block.hull)) {
                self.emit(block, block.hulls.meets::<WIDE>(&other.hulls.get(lane)), other.bodies[lane]);
            }
        }
    }

    /// Emits the pairs of the boxes of a block with a finer level.
    #[inline(always)]
    fn sweep_finer(&mut self, block: usize, level: usize) {
        let sweep = self.sweep;
        let axis = sweep.frame.axis;
        let finer = &sweep.frame.levels[level];
        let block = &sweep.blocks[block];
        for lane in bits(block.hulls.meets::<WIDE>(&finer.single)) {
            let one = block.hulls.get(lane);
            let begin = one.low(axis) - finer.reach;
            sweep.visit(&sweep.frame.near(&one, level), |column| {
                let theirs = sweep.of(column);
                for other in &sweep.blocks[sweep.first(begin, &theirs)..theirs.end] {
                    if other.hulls.first_low(axis) > one.high(axis) {
                        break;
                    }
                    self.emit(other, other.hulls.meets::<WIDE>(&one), block.bodies[lane]);
                }
            });
        }
    }

    /// Emits the pairs of a body with those boxes of a block that the mask names, if the exact hulls meet.
    #[inline(always)]
    fn emit(&mut self, block: &Block, mask: u32, body: u32) {
        for lane in bits(mask) {
            let other = block.bodies[lane];
            if self.hulls[body as usize].meets(&self.hulls[other as usize]) {
                self.list.push(pack(body, other));
            }
        }
    }
}
