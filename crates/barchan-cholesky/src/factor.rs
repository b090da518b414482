//! A sparse Cholesky factorisation of symmetric block matrices, by `faer`.
//!
//! The symbolic part (ordering, elimination tree, supernodes) is kept while the pattern is the
//! same: between the iterations of a solve, and between solves. The factorisation runs on one
//! thread, so that its result does not depend on how many there are.

use crate::blocks::{Pattern, Values};
use crate::{dissection, minimum_degree};
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt::factor::LltRegularization;
use faer::perm::PermRef;
use faer::sparse::linalg::SupernodalThreshold;
use faer::sparse::linalg::cholesky::{
    CholeskySymbolicParams, LltRef, SymbolicCholesky, SymmetricOrdering, factorize_symbolic_cholesky,
};
use faer::sparse::{SparseColMatRef, SymbolicSparseColMatRef};
use faer::{Conj, MatMut, Par, Side};

/// A factorisation with its memory.
#[derive(Default)]
pub struct Cholesky {
    /// The matrix, column by column, lower half.
    column_start: Vec<usize>,
    row: Vec<usize>,
    value: Vec<f64>,
    symbolic: Option<SymbolicCholesky<usize>>,
    factor: Vec<f64>,
    scratch: Option<MemBuffer>,
}

/// The better of two orders, by the fill that they lead to.
fn best_order(pattern: &Pattern) -> Vec<u32> {
    let graph = pattern.neighbours();
    let plain = minimum_degree::order(&graph);
    if pattern.nodes() <= dissection::LEAF {
        return plain;
    }
    let nested = dissection::order(&graph);
    if fill_in_blocks(pattern, &nested) < fill_in_blocks(pattern, &plain) { nested } else { plain }
}

/// Blocks in the factor, if nodes are eliminated in this order.
fn fill_in_blocks(pattern: &Pattern, order: &[u32]) -> usize {
    let n = pattern.nodes();
    let row: Vec<usize> = pattern.row.iter().map(|&row| row as usize).collect();
    let forward: Vec<usize> = order.iter().map(|&node| node as usize).collect();
    let mut inverse = vec![0; n];
    forward.iter().enumerate().for_each(|(k, &node)| inverse[node] = k);
    let matrix = SymbolicSparseColMatRef::new_checked(n, n, &pattern.start, None, &row);
    let ordering = SymmetricOrdering::Custom(PermRef::new_checked(&forward, &inverse, n));
    let params = CholeskySymbolicParams {
        supernodal_flop_ratio_threshold: SupernodalThreshold::FORCE_SIMPLICIAL,
        ..Default::default()
    };
    factorize_symbolic_cholesky(matrix, Side::Lower, ordering, params).map_or(usize::MAX, |s| s.len_val())
}

impl Cholesky {
    /// Analyses a pattern of blocks of size `B`. Says whether it could.
    pub fn analyse<const B: usize>(&mut self, pattern: &Pattern) -> bool {
        self.analyse_blocks(pattern, B)
    }

    fn analyse_blocks(&mut self, pattern: &Pattern, block: usize) -> bool {
        let n = pattern.nodes();
        (self.column_start, self.row) = (vec![0; block * n + 1], Vec::new());
        for j in 0..n {
            for c in 0..block {
                self.row.extend(block * j + c..block * (j + 1));
                for k in pattern.column(j) {
                    let first = block * pattern.row[k] as usize;
                    self.row.extend(first..first + block);
                }
                self.column_start[block * j + c + 1] = self.row.len();
            }
        }
        let order = best_order(pattern);
        let mut forward = vec![0; block * n];
        let mut inverse = vec![0; block * n];
        for (k, &node) in order.iter().enumerate() {
            for c in 0..block {
                forward[block * k + c] = block * node as usize + c;
                inverse[block * node as usize + c] = block * k + c;
            }
        }
        let matrix = SymbolicSparseColMatRef::new_checked(block * n, block * n, &self.column_start, None, &self.row);
        let ordering = SymmetricOrdering::Custom(PermRef::new_checked(&forward, &inverse, block * n));
        let params = CholeskySymbolicParams {
            supernodal_flop_ratio_threshold: SupernodalThreshold::FORCE_SUPERNODAL,
            ..Default::default()
        };
        self.symbolic = factorize_symbolic_cholesky(matrix, Side::Lower, ordering, params).ok();
        self.scratch = self.symbolic.as_ref().and_then(|s| {
            let factor = s.factorize_numeric_llt_scratch::<f64>(Par::Seq, Default::default());
            MemBuffer::try_new(factor.or(s.solve_in_place_scratch::<f64>(1, Par::Seq))).ok()
        });
        self.value.resize(self.row.len(), 0.0);
        self.scratch.is_some()
    }

    /// Numbers in the factor.
    pub fn fill(&self) -> usize {
        self.symbolic.as_ref().map_or(0, SymbolicCholesky::len_val)
    }

    /// Factors a matrix of the pattern analysed last, none of whose eigenvalues is below 1. Says
    /// whether it could.
    pub fn factor<const B: usize>(&mut self, pattern: &Pattern, values: &Values<B>) -> bool {
        let mut at = 0;
        let mut largest = 0.0f64;
        for j in 0..pattern.nodes() {
            for c in 0..B {
                let column = &values.diagonal[j][c];
                largest = largest.max(column[c]);
                for part in std::iter::once(&column[c..]).chain(pattern.column(j).map(|k| &values.below[k][c][..])) {
                    self.value[at..at + part.len()].copy_from_slice(part);
                    at += part.len();
                }
            }
        }
        largest.is_finite() && self.factor_values(largest)
    }

    /// Factors the values, of which the largest on the diagonal is given.
    fn factor_values(&mut self, largest: f64) -> bool {
        let (Some(symbolic), Some(scratch)) = (&self.symbolic, &mut self.scratch) else { return false };
        self.factor.resize(symbolic.len_val(), 0.0);
        let n = self.column_start.len() - 1;
        let shape = SymbolicSparseColMatRef::new_checked(n, n, &self.column_start, None, &self.row);
        // No eigenvalue is below 1: a smaller pivot is made of rounding errors.
        let regularization = LltRegularization {
            dynamic_regularization_epsilon: 0.1,
            dynamic_regularization_delta: (1e-13 * largest).max(1.0),
        };
        let stack = MemStack::new(scratch);
        let matrix = SparseColMatRef::new(shape, &self.value);
        symbolic
            .factorize_numeric_llt(
                &mut self.factor,
                matrix,
                Side::Lower,
                regularization,
                Par::Seq,
                stack,
                Default::default(),
            )
            .is_ok()
    }

    /// x ← K⁻¹x with the factor made last.
    pub fn solve(&mut self, x: &mut [f64]) {
        let (Some(symbolic), Some(scratch)) = (&self.symbolic, &mut self.scratch) else { return };
        let n = x.len();
        let x = MatMut::from_column_major_slice_mut(x, n, 1);
        let stack = MemStack::new(scratch);
        LltRef::new(symbolic, &self.factor).solve_in_place_with_conj(Conj::No, x, Par::Seq, stack);
    }
}
