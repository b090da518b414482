//! What a factored panel subtracts from the columns right of it.
//!
//! With L the rows of a panel below its own columns, LLᵀ is subtracted from the columns that have
//! these rows for their numbers: those of the same supernode, and those of its ancestors. Each tile
//! of LLᵀ is made once, and goes from the registers to where it belongs at once: there are no
//! update matrices to be stored. The columns of a tile may belong to several targets, and its rows
//! may be scattered; most vectors of rows stay together, and are subtracted as vectors.
//!
//! Where the rows are in a target is followed from parent to parent (`Symbolic::up`).

use crate::dense::{Machine, Tile};
use crate::panel::Panel;
use crate::symbolic::Symbolic;
use std::ops::Range;

/// Packed rows of this many numbers are worked through at once: they stay in the second cache.
const NEAR: usize = 96 * 1024;
/// Targets of one tile at most, one for each column, and a power of two.
const RING: usize = 8;

/// A supernode from which something is subtracted.
#[derive(Clone, Copy)]
struct Target {
    /// Where its values begin, and how many rows it has.
    start: usize,
    rows: usize,
    /// Rows of the source that are its columns.
    from: usize,
    to: usize,
    /// Where the map of block rows from `from` on begins; none for the source itself.
    map: Option<usize>,
}

/// The targets of a supernode.
#[derive(Default)]
pub(crate) struct Update {
    targets: Vec<Target>,
    maps: Vec<u32>,
    current: Vec<u32>,
    /// Scalar rows in some targets, of the packed rows worked through now.
    row: [Vec<u32>; RING],
    /// Which targets those are.
    expanded: [usize; RING],
}

/// Some columns of a tile that go to one target.
#[derive(Clone, Copy, Default)]
struct Segment {
    slot: usize,
    first: usize,
    end: usize,
    /// Packed rows above this one are not in the target.
    top: usize,
}

/// Columns of a tile and where they go.
struct Columns<const L: usize> {
    segments: [Segment; L],
    count: usize,
    /// Where the columns of the targets begin.
    start: [usize; L],
}

impl Update {
    /// Finds the targets of a supernode.
    pub(crate) fn route(&mut self, symbolic: &Symbolic, s: usize) {
        let block = symbolic.block;
        let (columns, rows) = symbolic.shape(s);
        self.targets.clear();
        self.maps.clear();
        self.targets.push(Target { start: symbolic.value_start[s], rows, from: 0, to: columns, map: None });
        self.current.clear();
        self.current.extend_from_slice(&symbolic.up[symbolic.below(s)]);
        let (below, mut done, mut ancestor) = (&symbolic.row[symbolic.below(s)], 0, symbolic.parent[s]);
        while done < below.len() {
            let a = symbolic.owner[below[done] as usize] as usize;
            if a != ancestor as usize {
                // Some ancestors have none of the rows for columns: past them at once.
                for (at, &row) in self.current[done..].iter_mut().zip(&below[done..]) {
                    *at = symbolic.row_in(a, row) as u32;
                }
            }
            let width = symbolic.columns(a);
            let (from, map) = (columns + block * done, Some(self.maps.len()));
            self.maps.extend_from_slice(&self.current[done..]);
            done += self.current[done..].iter().take_while(|&&at| (at as usize) < width).count();
            let (start, rows, to) = (symbolic.value_start[a], symbolic.shape(a).1, columns + block * done);
            self.targets.push(Target { start, rows, from, to, map });
            let up = &symbolic.up[symbolic.below(a)];
            for at in &mut self.current[done..] {
                *at = up[*at as usize - width];
            }
            ancestor = symbolic.parent[a];
        }
    }

    /// Subtracts what a panel makes from its supernode and from all targets.
    #[inline(always)]
    pub(crate) fn apply<const L: usize, M: Machine<L>>(
        &mut self,
        machine: M,
        block: usize,
        panel: Panel,
        packed: &[[f64; L]],
        factor: &mut [f64],
    ) {
        let several = (NEAR / (L * panel.stride)).max(3).next_multiple_of(3);
        let first = panel.width / L;
        let mut tile = [[[0.0; L]; 3]; L];
        for low in (first..panel.vectors).step_by(several) {
            let near = low..panel.vectors.min(low + several);
            self.expanded = [usize::MAX; RING];
            let mut target = 0;
            for group in first..near.end {
                let columns = self.columns::<L>(block, panel, group, &mut target, &near);
                let b = &packed[group * panel.stride..];
                for v in (near.start.max(group)..near.end).step_by(3) {
                    let vectors = (near.end - v).min(3);
                    machine.tile(vectors, &packed[v * panel.stride..], panel.stride, b, panel.width, &mut tile);
                    self.scatter(panel, &columns, &tile, v..v + vectors, near.start, factor);
                }
            }
        }
    }

    /// Where the columns of a group go. `target` is that of the last column, and is moved on.
    #[inline(always)]
    fn columns<const L: usize>(
        &mut self,
        block: usize,
        panel: Panel,
        group: usize,
        target: &mut usize,
        near: &Range<usize>,
    ) -> Columns<L> {
        let mut columns = Columns { segments: [Segment::default(); L], count: 0, start: [0; L] };
        let mut c = (group * L).max(panel.width);
        let end = (group * L + L).min(panel.rows);
        while c < end {
            while self.targets[*target].to <= panel.first + c {
                *target += 1;
            }
            let to = self.targets[*target];
            let slot = *target % RING;
            if self.expanded[slot] != *target {
                self.expanded[slot] = *target;
                self.expand::<L>(block, panel, slot, to, near);
            }
            let segment_end = end.min(to.to - panel.first);
            let top = to.from.max(panel.first + panel.width) - panel.first;
            columns.segments[columns.count] = Segment { slot, first: c - group * L, end: segment_end - group * L, top };
            columns.count += 1;
            for c in c..segment_end {
                columns.start[c - group * L] = to.start + to.rows * self.row_in(block, to, panel.first + c);
            }
            c = segment_end;
        }
        columns
    }

    /// Where a row of the source is in a target.
    #[inline(always)]
    fn row_in(&self, block: usize, target: Target, row: usize) -> usize {
        let Some(map) = target.map else { return row };
        let (node, scalar) = ((row - target.from) / block, (row - target.from) % block);
        self.maps[map + node] as usize * block + scalar
    }

    /// Writes down where all rows of some packed vectors are in a target.
    #[inline(always)]
    fn expand<const L: usize>(&mut self, block: usize, panel: Panel, slot: usize, target: Target, near: &Range<usize>) {
        let begin = panel.first + near.start * L;
        let end = (panel.first + near.end * L).min(panel.first + panel.rows);
        let mut rows = std::mem::take(&mut self.row[slot]);
        rows.clear();
        rows.resize((near.end - near.start) * L, 0);
        let mut row = begin.max(target.from);
        match target.map {
            None => (row..end).for_each(|row| rows[row - begin] = row as u32),
            Some(map) => {
                while row < end {
                    let (node, scalar) = ((row - target.from) / block, (row - target.from) % block);
                    let at = self.maps[map + node] as usize * block;
                    let next = end.min(row + block - scalar);
                    for k in row..next {
                        rows[k - begin] = (at + scalar + k - row) as u32;
                    }
                    row = next;
                }
            }
        }
        self.row[slot] = rows;
    }

    /// Subtracts a tile from where it belongs.
    #[inline(always)]
    fn scatter<const L: usize>(
        &self,
        panel: Panel,
        columns: &Columns<L>,
        tile: &Tile<L>,
        vectors: Range<usize>,
        low: usize,
        factor: &mut [f64],
    ) {
        for segment in &columns.segments[..columns.count] {
            let all = &self.row[segment.slot];
            for (k, v) in vectors.clone().enumerate() {
                let rows: &[u32; L] = all[(v - low) * L..].first_chunk().expect("rows are written down for vectors");
                let lanes = segment.top.saturating_sub(v * L)..L.min(panel.rows - v * L);
                if lanes == (0..L) && rows[L - 1] - rows[0] == L as u32 - 1 {
                    for c in segment.first..segment.end {
                        let to = &mut factor[columns.start[c] + rows[0] as usize..][..L];
                        for r in 0..L {
                            to[r] -= tile[c][k][r];
                        }
                    }
                } else {
                    for c in segment.first..segment.end {
                        let to = &mut factor[columns.start[c]..];
                        for r in lanes.clone() {
                            to[rows[r] as usize] -= tile[c][k][r];
                        }
                    }
                }
            }
        }
    }
}
