//! A sparse Cholesky factorisation of symmetric block matrices.
//!
//! The symbolic part (order, elimination tree, supernodes) is kept while the pattern is the same:
//! between the iterations of a solve, and between solves. The numerical part goes through the
//! supernodes from the leaves of the tree to its roots. A supernode is factored in panels of some
//! columns, and each panel subtracts what it makes from everything right of it as soon as it is
//! factored (right-looking). There is no memory but the factor and one packed panel.
//!
//! The factorisation runs on one thread, so that its result does not depend on how many there are.

use crate::blocks::{Neighbours, Pattern, Values};
use crate::dense::{Any, Machine, Task};
use crate::panel::{Corner, GROUP, Panel, Pivots};
use crate::solve::Solve;
use crate::symbolic::Symbolic;
use crate::tree::Tree;
use crate::update::Update;
use crate::{dissection, minimum_degree};

/// Columns of a panel at most: whole groups.
const WIDTH: usize = 192;

/// A factorisation with its memory.
#[derive(Default)]
pub struct Cholesky {
    machine: Any,
    symbolic: Option<Symbolic>,
    /// Where the blocks of the matrix go: those on the diagonal, and those below it.
    diagonal: Vec<Place>,
    below: Vec<Place>,
    factor: Vec<f64>,
    update: Update,
    packed: Vec<f64>,
    corners: Vec<Corner>,
    permuted: Vec<f64>,
    local: Vec<f64>,
}

/// Where a block of the matrix goes in the factor.
#[derive(Clone, Copy)]
struct Place {
    start: usize,
    /// Numbers from column to column.
    stride: u32,
    is_transposed: bool,
}

/// The better of two orders, by the fill that they lead to.
fn best_tree(graph: &Neighbours) -> Tree {
    let plain = Tree::new(graph, &minimum_degree::order(graph));
    if graph.nodes() <= dissection::LEAF {
        return plain;
    }
    let nested = Tree::new(graph, &dissection::order(graph));
    if nested.blocks() < plain.blocks() { nested } else { plain }
}

/// Columns of each panel of so many columns, all about as wide.
fn panel_width(columns: usize) -> usize {
    columns.div_ceil(columns.div_ceil(WIDTH)).next_multiple_of(GROUP)
}

impl Cholesky {
    /// Analyses a pattern of blocks of size `B`. Says whether it could.
    pub fn analyse<const B: usize>(&mut self, pattern: &Pattern) -> bool {
        self.analyse_blocks(pattern, B)
    }

    fn analyse_blocks(&mut self, pattern: &Pattern, block: usize) -> bool {
        let graph = pattern.neighbours();
        let symbolic = Symbolic::new(&graph, &best_tree(&graph), block);
        self.find_places(pattern, &symbolic);
        let (mut packed, mut longest) = (0, 0);
        for s in 0..symbolic.len() {
            let (columns, rows) = symbolic.shape(s);
            packed = packed.max(panel_width(columns) * rows.next_multiple_of(GROUP));
            longest = longest.max(rows);
        }
        self.corners.resize(WIDTH / GROUP, Corner::default());
        self.symbolic = None;
        // One line of the cache more, to begin where one begins.
        let could = grow(&mut self.packed, packed + GROUP)
            && grow(&mut self.permuted, block * pattern.nodes())
            && grow(&mut self.local, longest);
        if could {
            self.symbolic = Some(symbolic);
        }
        could
    }

    fn find_places(&mut self, pattern: &Pattern, symbolic: &Symbolic) {
        let place = |i: usize, j: usize| {
            let (a, b) = (symbolic.place[i], symbolic.place[j]);
            let (row, column) = (a.max(b), a.min(b));
            let (start, stride) = symbolic.locate(row, column);
            Place { start, stride: stride as u32, is_transposed: a < b }
        };
        let n = pattern.nodes();
        self.diagonal.clear();
        self.diagonal.extend((0..n).map(|j| place(j, j)));
        self.below.clear();
        self.below.extend(
            (0..n).flat_map(|j| pattern.column(j).map(move |k| (k, j))).map(|(k, j)| place(pattern.row[k] as usize, j)),
        );
    }

    /// Numbers in the factor: those that are stored, which are more than those that are not zero.
    /// Supernodes are stored as full rectangles.
    pub fn fill(&self) -> usize {
        self.symbolic.as_ref().map_or(0, Symbolic::values)
    }

    /// Factors a matrix of the pattern analysed last, none of whose eigenvalues is below 1. Says
    /// whether it could.
    pub fn factor<const B: usize>(&mut self, pattern: &Pattern, values: &Values<B>) -> bool {
        let diagonal = values.diagonal.iter().flat_map(|block| (0..B).map(|c| block[c][c]));
        let largest = diagonal.fold(0.0, f64::max);
        let fill = self.fill();
        let could = self.symbolic.as_ref().is_some_and(|s| s.block == B && s.place.len() == pattern.nodes());
        if !(could && largest.is_finite() && grow(&mut self.factor, fill)) {
            return false;
        }
        self.factor.fill(0.0);
        for (block, place) in values.diagonal.iter().zip(&self.diagonal) {
            for c in 0..B {
                let column = &mut self.factor[place.start + c * place.stride as usize..][c..B];
                column.copy_from_slice(&block[c][c..]);
            }
        }
        for (block, place) in values.below.iter().zip(&self.below) {
            for c in 0..B {
                let column = &mut self.factor[place.start + c * place.stride as usize..][..B];
                for r in 0..B {
                    column[r] = if place.is_transposed { block[r][c] } else { block[c][r] };
                }
            }
        }
        self.factor_values(largest)
    }

    /// Factors the values, of which the largest on the diagonal is given.
    fn factor_values(&mut self, largest: f64) -> bool {
        let Some(symbolic) = &self.symbolic else { return false };
        let skip = self.packed.as_ptr().align_offset(64).min(GROUP);
        self.machine.run(Factorise {
            symbolic,
            factor: &mut self.factor,
            update: &mut self.update,
            packed: &mut self.packed[skip..],
            corners: &mut self.corners,
            // No eigenvalue is below 1: a smaller pivot is made of rounding errors.
            pivots: Pivots { least: 0.1, instead: (1e-13 * largest).max(1.0) },
        })
    }

    /// x ← K⁻¹x with the factor made last.
    pub fn solve(&mut self, x: &mut [f64]) {
        let Some(symbolic) = self.symbolic.as_ref().filter(|symbolic| symbolic.values() == self.factor.len()) else {
            return;
        };
        let (permuted, local) = (&mut self.permuted[..], &mut self.local[..]);
        self.machine.run(Solve { symbolic, factor: &self.factor, x, permuted, local });
    }
}

/// Gives a vector another length. Says whether there is memory for it.
fn grow(vector: &mut Vec<f64>, length: usize) -> bool {
    let could = vector.try_reserve_exact(length.saturating_sub(vector.len())).is_ok();
    if could {
        vector.resize(length, 0.0);
    }
    could
}

/// Factors what is in the factor.
struct Factorise<'a> {
    symbolic: &'a Symbolic,
    factor: &'a mut [f64],
    update: &'a mut Update,
    packed: &'a mut [f64],
    corners: &'a mut [Corner],
    pivots: Pivots,
}

impl Task for Factorise<'_> {
    type Output = bool;

    #[inline(always)]
    fn on<const L: usize, M: Machine<L>>(self, machine: M) -> bool {
        let Self { symbolic, factor, update, packed, corners, pivots } = self;
        let packed = packed.as_chunks_mut::<L>().0;
        for s in 0..symbolic.len() {
            let (columns, rows) = symbolic.shape(s);
            let (start, width) = (symbolic.value_start[s], panel_width(columns));
            update.route(symbolic, s);
            for first in (0..columns).step_by(width) {
                let panel = Panel::new::<L>(first, width.min(columns - first), rows - first);
                let values = &mut factor[start..start + columns * rows];
                panel.pack(values, packed);
                if !panel.factor(machine, packed, corners, pivots) {
                    return false;
                }
                panel.unpack(packed, values);
                update.apply(machine, symbolic.block, panel, packed, factor);
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{dense, graphs, grid, values};

    /// x ← K⁻¹x by a dense factorisation.
    fn solve_dense(mut a: Vec<Vec<f64>>, x: &mut [f64]) {
        let n = x.len();
        for j in 0..n {
            for i in j..n {
                let sum: f64 = (0..j).map(|k| a[i][k] * a[j][k]).sum();
                a[i][j] = if i == j { (a[j][j] - sum).sqrt() } else { (a[i][j] - sum) / a[j][j] };
            }
            x[j] = (x[j] - (0..j).map(|k| a[j][k] * x[k]).sum::<f64>()) / a[j][j];
        }
        for j in (0..n).rev() {
            x[j] = (x[j] - (j + 1..n).map(|k| a[k][j] * x[k]).sum::<f64>()) / a[j][j];
        }
    }

    fn compare<const B: usize>(cholesky: &mut Cholesky, pattern: &Pattern) -> Vec<u64> {
        let matrix = values::<B>(pattern, 5);
        let b: Vec<f64> = (0..B * pattern.nodes()).map(|i| (1.0 + i as f64).sin()).collect();
        assert!(cholesky.analyse::<B>(pattern) && cholesky.factor(pattern, &matrix));
        let mut x = b.clone();
        cholesky.solve(&mut x);
        let mut y = b.clone();
        matrix.times(pattern, &x, &mut y);
        assert!(y.iter().zip(&b).all(|(y, b)| (y - b).abs() < 1e-10), "{:?}", pattern.start);
        if x.len() < 400 {
            let mut z = b;
            solve_dense(dense(pattern, &matrix), &mut z);
            assert!(x.iter().zip(&z).all(|(x, z)| (x - z).abs() < 1e-10));
        }
        x.iter().map(|x| x.to_bits()).collect()
    }

    #[test]
    fn all_machines_solve_all_graphs() {
        for machine in Any::all() {
            let mut cholesky = Cholesky { machine, ..Default::default() };
            for pattern in graphs() {
                compare::<6>(&mut cholesky, &pattern);
                compare::<3>(&mut cholesky, &pattern);
                compare::<1>(&mut cholesky, &pattern);
            }
        }
    }

    /// Several panels a supernode, several parts of a panel in the cache, targets of all kinds.
    #[test]
    fn wide_supernodes_are_solved_for() {
        let pattern = grid(15, 15, 15);
        let bits: Vec<Vec<u64>> =
            Any::all().map(|machine| compare::<3>(&mut Cholesky { machine, ..Default::default() }, &pattern)).collect();
        // Vectors of eight and of four lanes are summed alike; without them only to rounding.
        assert!(bits.len() < 3 || bits[0] == bits[1]);
    }

    #[test]
    fn bits_are_always_the_same() {
        let pattern = grid(9, 8, 7);
        let mut cholesky = Cholesky::default();
        let first = compare::<6>(&mut cholesky, &pattern);
        let factor = cholesky.factor.clone();
        compare::<6>(&mut cholesky, &grid(5, 3, 2));
        assert!(first == compare::<6>(&mut cholesky, &pattern) && factor == cholesky.factor);
        let memory = [cholesky.factor.as_ptr(), cholesky.packed.as_ptr(), cholesky.local.as_ptr()];
        assert!(cholesky.factor(&pattern, &values::<6>(&pattern, 5)) && factor == cholesky.factor);
        assert_eq!(memory, [cholesky.factor.as_ptr(), cholesky.packed.as_ptr(), cholesky.local.as_ptr()]);
    }

    /// A matrix of rank one, plus nothing: pivots after the first are rounding errors.
    #[test]
    fn small_pivots_are_replaced() {
        let pattern = grid(2, 1, 1);
        let mut matrix = values::<3>(&pattern, 1);
        matrix.diagonal.fill([[1e20; 3]; 3]);
        matrix.below.fill([[1e20; 3]; 3]);
        let mut cholesky = Cholesky::default();
        assert!(cholesky.analyse::<3>(&pattern) && cholesky.factor(&pattern, &matrix));
        let roots: Vec<f64> = (0..6).map(|i| cholesky.factor[7 * i]).collect();
        let other = (1e-13f64 * 1e20).sqrt();
        assert_eq!(roots, [1e10, other, other, other, other, other]);
        matrix.diagonal.fill([[0.0; 3]; 3]);
        matrix.below.fill([[0.0; 3]; 3]);
        assert!(cholesky.factor(&pattern, &matrix));
        assert!((0..6).all(|i| cholesky.factor[7 * i] == 1.0));
    }

    #[test]
    fn what_is_not_finite_is_refused() {
        let pattern = grid(4, 4, 1);
        let mut cholesky = Cholesky::default();
        assert!(!cholesky.factor(&pattern, &values::<3>(&pattern, 1)), "nothing was analysed");
        assert!(cholesky.analyse::<3>(&pattern));
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            for at in [0, 7, 15] {
                let mut matrix = values::<3>(&pattern, 1);
                matrix.diagonal[at][1][1] = bad;
                assert!(!cholesky.factor(&pattern, &matrix));
                let mut matrix = values::<3>(&pattern, 1);
                matrix.below[at][2][0] = bad;
                assert!(!cholesky.factor(&pattern, &matrix));
            }
        }
        assert!(cholesky.factor(&pattern, &values::<3>(&pattern, 1)));
    }
}
