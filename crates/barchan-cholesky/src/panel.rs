//! Some columns of a supernode, from the diagonal down: packed, factored, and put back.
//!
//! The columns are packed in vectors of L rows, as the dense kernel wants them. Eight columns at a
//! time, a group, are updated by those left of them (tiles), and solved for: the rows within the
//! diagonal block group by group, because each group needs the one before it; the rows below it
//! three vectors at a time for all groups, because they then stay in the nearest cache. Groups are
//! as wide whatever L is, so that sums are cut at the same places, and have the same bits.
//!
//! A packed panel holds anything above the diagonal. Nothing there is ever read by what is below,
//! not even to be multiplied by zero: each lane of a sum has its own row and column.

use crate::dense::{Machine, Tile};

/// Columns of a group: a multiple of L.
pub(crate) const GROUP: usize = 8;

/// The corner of a group, where it has the diagonal: column by column, with 1/l on the diagonal.
pub(crate) type Corner = [[f64; GROUP]; GROUP];

/// What to do with pivots that are too small.
#[derive(Clone, Copy)]
pub(crate) struct Pivots {
    /// A pivot up to this...
    pub(crate) least: f64,
    /// ...becomes this.
    pub(crate) instead: f64,
}

/// The shape of a panel.
#[derive(Clone, Copy)]
pub(crate) struct Panel {
    /// The first of its columns in the supernode, which is also its first row.
    pub(crate) first: usize,
    /// How many columns.
    pub(crate) width: usize,
    /// How many rows.
    pub(crate) rows: usize,
    /// Vectors from one row of vectors to the next: those of whole groups.
    pub(crate) stride: usize,
    /// How many rows of vectors.
    pub(crate) vectors: usize,
}

impl Panel {
    pub(crate) fn new<const L: usize>(first: usize, width: usize, rows: usize) -> Self {
        Self { first, width, rows, stride: width.next_multiple_of(GROUP), vectors: rows.div_ceil(L) }
    }

    /// Packs columns of a supernode, of which all rows are given.
    #[inline(always)]
    pub(crate) fn pack<const L: usize>(self, supernode: &[f64], packed: &mut [[f64; L]]) {
        let all = self.first + self.rows;
        for p in 0..self.width {
            let column = &supernode[(self.first + p) * all + self.first..][..self.rows];
            let (whole, rest) = column.as_chunks::<L>();
            for (v, vector) in whole.iter().enumerate() {
                packed[v * self.stride + p] = *vector;
            }
            if !rest.is_empty() {
                let last = &mut packed[whole.len() * self.stride + p];
                *last = [0.0; L];
                last[..rest.len()].copy_from_slice(rest);
            }
        }
    }

    /// Puts the columns back.
    #[inline(always)]
    pub(crate) fn unpack<const L: usize>(self, packed: &[[f64; L]], supernode: &mut [f64]) {
        let all = self.first + self.rows;
        for p in 0..self.width {
            let column = &mut supernode[(self.first + p) * all + self.first..][..self.rows];
            let (whole, rest) = column.as_chunks_mut::<L>();
            let last = whole.len();
            for (v, vector) in whole.iter_mut().enumerate() {
                *vector = packed[v * self.stride + p];
            }
            if !rest.is_empty() {
                rest.copy_from_slice(&packed[last * self.stride + p][..rest.len()]);
            }
        }
    }

    /// Factors the columns: those of the diagonal block by Cholesky, the rest by substitution.
    /// Says whether all pivots were finite.
    #[inline(always)]
    pub(crate) fn factor<const L: usize, M: Machine<L>>(
        self,
        machine: M,
        packed: &mut [[f64; L]],
        corners: &mut [Corner],
        pivots: Pivots,
    ) -> bool {
        let (groups, each) = (self.width.div_ceil(GROUP), GROUP / L);
        let mut tile = [[[0.0; L]; 3]; L];
        for group in 0..groups {
            for v in (each * group..each * groups).step_by(3) {
                self.subtract(machine, packed, v, (each * groups - v).min(3), group, &mut tile);
            }
            if !self.cholesky(machine, packed, group, &mut corners[group], pivots) {
                return false;
            }
            for v in each * (group + 1)..each * groups {
                self.substitute(machine, packed, v, group, &corners[group]);
            }
        }
        for v in (each * groups..self.vectors).step_by(3) {
            let several = (self.vectors - v).min(3);
            for group in 0..groups {
                self.subtract(machine, packed, v, several, group, &mut tile);
                for v in v..v + several {
                    self.substitute(machine, packed, v, group, &corners[group]);
                }
            }
        }
        true
    }

    /// Subtracts from a group of columns what those left of it make, in some rows of vectors.
    #[inline(always)]
    fn subtract<const L: usize, M: Machine<L>>(
        self,
        machine: M,
        packed: &mut [[f64; L]],
        v: usize,
        several: usize,
        group: usize,
        tile: &mut Tile<L>,
    ) {
        let depth = group * GROUP;
        if depth == 0 {
            return;
        }
        for column in (depth..depth + GROUP).step_by(L) {
            let (a, b) = (&packed[v * self.stride..], &packed[column / L * self.stride..]);
            machine.tile(several, a, self.stride, b, depth, tile);
            for k in 0..several {
                let vectors = &mut packed[(v + k) * self.stride + column..][..L];
                for c in 0..L {
                    for r in 0..L {
                        vectors[c][r] -= tile[c][k][r];
                    }
                }
            }
        }
    }

    /// Solves for a group of columns in a row of vectors.
    #[inline(always)]
    fn substitute<const L: usize, M: Machine<L>>(
        self,
        machine: M,
        packed: &mut [[f64; L]],
        v: usize,
        group: usize,
        corner: &Corner,
    ) {
        let columns = (self.width - group * GROUP).min(GROUP);
        let vectors = &mut packed[v * self.stride + group * GROUP..][..GROUP];
        let mut x: [[f64; L]; GROUP] = std::array::from_fn(|c| vectors[c]);
        if columns == GROUP {
            // The usual case, with all lengths known to the compiler.
            for j in 0..GROUP {
                x[j] = x[j].map(|x| x * corner[j][j]);
                for c in j + 1..GROUP {
                    for r in 0..L {
                        x[c][r] = machine.mul_add(-x[j][r], corner[j][c], x[c][r]);
                    }
                }
            }
            vectors.copy_from_slice(&x);
            return;
        }
        for j in 0..columns {
            x[j] = x[j].map(|x| x * corner[j][j]);
            for c in j + 1..columns {
                for r in 0..L {
                    x[c][r] = machine.mul_add(-x[j][r], corner[j][c], x[c][r]);
                }
            }
        }
        vectors.copy_from_slice(&x);
    }

    /// Factors the corner of a group, and keeps it. Its rows beyond the columns are solved for.
    #[inline(always)]
    fn cholesky<const L: usize, M: Machine<L>>(
        self,
        machine: M,
        packed: &mut [[f64; L]],
        group: usize,
        corner: &mut Corner,
        pivots: Pivots,
    ) -> bool {
        let columns = (self.width - group * GROUP).min(GROUP);
        let at = |c: usize, k: usize| (group * (GROUP / L) + k) * self.stride + group * GROUP + c;
        let mut x = [[0.0; GROUP]; GROUP];
        for c in 0..columns {
            for k in 0..GROUP / L {
                x[c][k * L..(k + 1) * L].copy_from_slice(&packed[at(c, k)]);
            }
        }
        for j in 0..columns {
            let pivot = x[j][j];
            if !pivot.is_finite() {
                return false;
            }
            let root = if pivot <= pivots.least { pivots.instead } else { pivot }.sqrt();
            let inverse = 1.0 / root;
            let scaled = x[j].map(|x| x * inverse);
            for c in j + 1..columns {
                for r in 0..GROUP {
                    x[c][r] = machine.mul_add(-scaled[r], scaled[c], x[c][r]);
                }
            }
            (x[j], corner[j]) = (scaled, scaled);
            (x[j][j], corner[j][j]) = (root, inverse);
        }
        for c in 0..columns {
            for k in 0..GROUP / L {
                packed[at(c, k)].copy_from_slice(&x[c][k * L..(k + 1) * L]);
            }
        }
        true
    }
}
