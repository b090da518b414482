//! The Newton system on the side of the contacts, where A is given by its blocks.
//!
//! With H = LLᵀ, Δ = q − HAΔ is solved by
//!
//! Kv = LᵀAq with K = 1 + LᵀAL, then Δ = q − Lv,
//!
//! 3 numbers a contact. No eigenvalue of K is below 1, whatever A and H lack.

use super::blocks::{Block, Pattern, Values, root, symmetric};
use super::conjugate::{BlockJacobi, Conjugate, Stop, dot};
use super::{NewtonOptions, System};
use crate::ContactVec;
use barchan_cholesky::Cholesky;
use barchan_parallel::{Disjoint, for_chunks};
use glam::{DMat3, DVec3};

/// Columns a task.
const CHUNK: usize = 256;
/// Numbers in a factor above which systems are solved iteratively by default. A settled bed of
/// 25 000 spheres has 85 million; an iteration of the interior point takes 3.6 s with them, and
/// 5.2 s with conjugate gradients, whose time grows with the number of bodies and no faster.
pub(crate) const LARGEST_FACTOR: usize = 150_000_000;

/// A with the system's values.
#[derive(Default)]
pub(crate) struct ContactSide {
    pattern: Pattern,
    /// The blocks of A.
    a: Values<3>,
    /// Roots of H.
    l: Vec<DMat3>,
    k: Values<3>,
    cholesky: Cholesky,
    is_analysed: bool,
    is_direct: bool,
    jacobi: BlockJacobi,
    conjugate: Conjugate,
    stop: Stop,
    v: Vec<f64>,
    rest: Vec<f64>,
}

impl ContactSide {
    /// Takes up a matrix. Its pattern is compared with that of the last.
    pub(crate) fn prepare(&mut self, pattern: Pattern, a: Values<3>) {
        if self.pattern != pattern {
            self.pattern = pattern;
            self.is_analysed = false;
        }
        self.a = a;
    }

    /// Prepares to solve with this H. Says whether it could.
    pub(crate) fn factor(&mut self, h: [&ContactVec; 2], options: &NewtonOptions) -> bool {
        let n = self.pattern.nodes();
        self.l.clear();
        self.l.extend((0..n).map(|i| root(symmetric(h[0].get(i), h[1].get(i)))));
        self.scale();
        self.stop = Stop { tolerance: options.tolerance, max_iterations: options.max_iterations };
        self.is_direct = options.system != System::Iterative;
        if self.is_direct && !self.is_analysed {
            self.is_analysed = self.cholesky.analyse::<3>(&self.pattern);
        }
        if self.is_direct && options.system == System::Auto && self.cholesky.fill() > LARGEST_FACTOR {
            self.is_direct = false;
        }
        if self.is_direct && self.cholesky.factor(&self.pattern, &self.k) {
            return true;
        }
        // What could not be factored may still be solved.
        self.is_direct = false;
        self.jacobi.prepare(&self.k.diagonal)
    }

    /// K = 1 + LᵀAL.
    fn scale(&mut self) {
        let Self { pattern, a, l, k, .. } = self;
        k.shape(pattern);
        let (diagonal, below) = (Disjoint::new(&mut k.diagonal), Disjoint::new(&mut k.below));
        let scaled = |block: &Block<3>, row: usize, column: usize| l[row].transpose() * matrix(block) * l[column];
        for_chunks(pattern.nodes(), CHUNK, |range| {
            for j in range {
                // SAFETY: each column belongs to one task.
                unsafe { diagonal.write(j, (DMat3::IDENTITY + scaled(&a.diagonal[j], j, j)).to_cols_array_2d()) };
                for b in pattern.column(j) {
                    let block = scaled(&a.below[b], pattern.row[b] as usize, j);
                    // SAFETY: as above.
                    unsafe { below.write(b, block.to_cols_array_2d()) };
                }
            }
        });
    }

    /// Solves δ = q − HAδ: u ← Aδ. Returns how many times A was applied.
    pub(crate) fn solve(&mut self, q: &ContactVec, δ: &mut ContactVec, u: &mut ContactVec) -> u32 {
        let n = self.pattern.nodes();
        δ.reshape(n);
        u.reshape(n);
        let Self { pattern, a, l, k, cholesky, jacobi, conjugate, v, rest, .. } = self;
        v.clear();
        v.resize(3 * n, 0.0);
        rest.resize(3 * n, 0.0);
        // u ← A(q − Lv) and what is left, Lᵀu − v.
        let left = |v: &[f64], rest: &mut [f64], δ: &mut ContactVec, u: &mut ContactVec| {
            (0..n).for_each(|i| δ.set(i, q.get(i) - l[i] * DVec3::from_slice(&v[3 * i..])));
            times(pattern, a, δ, u);
            for i in 0..n {
                let r = l[i].transpose() * u.get(i) - DVec3::from_slice(&v[3 * i..]);
                r.write_to_slice(&mut rest[3 * i..3 * i + 3]);
            }
        };
        left(v, rest, δ, u);
        let apply = |x: &[f64], y: &mut [f64]| k.times(pattern, x, y);
        let applications = if self.is_direct {
            let inverse = |r: &[f64], z: &mut [f64]| {
                z.copy_from_slice(r);
                cholesky.solve(z);
            };
            conjugate.solve(rest, v, Stop::EXACT, inverse, apply, dot)
        } else {
            conjugate.solve(rest, v, self.stop, |r, z| jacobi.apply(r, z), apply, dot)
        };
        left(v, rest, δ, u);
        applications + 1
    }
}

#[inline(always)]
fn matrix(block: &Block<3>) -> DMat3 {
    DMat3::from_cols_array_2d(block)
}

/// y ← Ax.
fn times(pattern: &Pattern, a: &Values<3>, x: &ContactVec, y: &mut ContactVec) {
    for j in 0..pattern.nodes() {
        y.set(j, matrix(&a.diagonal[j]) * x.get(j));
    }
    for j in 0..pattern.nodes() {
        let mut sum = y.get(j);
        for b in pattern.column(j) {
            let (block, row) = (matrix(&a.below[b]), pattern.row[b] as usize);
            y.set(row, y.get(row) + block * x.get(j));
            sum += block.transpose() * x.get(row);
        }
        y.set(j, sum);
    }
}
