//! Preconditioned conjugate gradients.
//!
//! With the factor of the matrix itself as the preconditioner they are what corrects a direct
//! solve: one iteration if the factor is exact, and no harm if rounding has spoilt it.

use super::blocks::Block;

/// When to stop.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Stop {
    /// The residual, in the norm of the preconditioner, against that at the start.
    pub(crate) tolerance: f64,
    pub(crate) max_iterations: u32,
}

impl Stop {
    /// For direct solves.
    pub(crate) const EXACT: Self = Self { tolerance: 1e-14, max_iterations: 5 };
}

/// The scalar product on one machine.
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Memory of the iteration.
#[derive(Debug, Default)]
pub(crate) struct Conjugate {
    p: Vec<f64>,
    kp: Vec<f64>,
    z: Vec<f64>,
}

impl Conjugate {
    /// Solves Kv = c from v = 0, with `rest` = c. Returns the iterations.
    pub(crate) fn solve(
        &mut self,
        rest: &mut [f64],
        v: &mut [f64],
        stop: Stop,
        mut precondition: impl FnMut(&[f64], &mut [f64]),
        mut apply: impl FnMut(&[f64], &mut [f64]),
        mut dot: impl FnMut(&[f64], &[f64]) -> f64,
    ) -> u32 {
        let n = rest.len();
        for x in [&mut self.p, &mut self.kp, &mut self.z] {
            x.resize(n, 0.0);
        }
        let Self { p, kp, z } = self;
        precondition(rest, z);
        p.copy_from_slice(z);
        let mut rz = dot(rest, z);
        let target = stop.tolerance * stop.tolerance * rz;
        for k in 0..stop.max_iterations {
            if rz.is_nan() || rz <= target {
                return k;
            }
            apply(p, kp);
            let curvature = dot(p, kp);
            if curvature.is_nan() || curvature <= 0.0 {
                return k + 1;
            }
            let α = rz / curvature;
            v.iter_mut().zip(&*p).for_each(|(v, p)| *v += α * p);
            rest.iter_mut().zip(&*kp).for_each(|(r, kp)| *r -= α * kp);
            precondition(rest, z);
            let next = dot(rest, z);
            let β = next / rz;
            p.iter_mut().zip(&*z).for_each(|(p, z)| *p = z + β * *p);
            rz = next;
        }
        stop.max_iterations
    }
}

/// The inverse of the diagonal blocks, as a preconditioner.
#[derive(Debug, Default)]
pub(crate) struct BlockJacobi {
    /// Lower triangular roots of the blocks, one after the other, column by column.
    roots: Vec<f64>,
    block: usize,
}

impl BlockJacobi {
    /// Takes the blocks. Says whether they are positive definite.
    pub(crate) fn prepare<const B: usize>(&mut self, diagonal: &[Block<B>]) -> bool {
        self.block = B;
        self.roots.clear();
        for block in diagonal {
            let Some(root) = cholesky(block) else { return false };
            self.roots.extend(root.as_flattened());
        }
        true
    }

    /// z ← the preconditioner times r.
    pub(crate) fn apply(&self, r: &[f64], z: &mut [f64]) {
        let b = self.block;
        z.copy_from_slice(r);
        for (root, z) in self.roots.chunks_exact(b * b).zip(z.chunks_exact_mut(b)) {
            for c in 0..b {
                z[c] /= root[c * b + c];
                for r in c + 1..b {
                    z[r] -= root[c * b + r] * z[c];
                }
            }
            for c in (0..b).rev() {
                for r in c + 1..b {
                    z[c] -= root[c * b + r] * z[r];
                }
                z[c] /= root[c * b + c];
            }
        }
    }
}

/// The lower triangular root of a positive definite block.
fn cholesky<const B: usize>(block: &Block<B>) -> Option<Block<B>> {
    let mut l = *block;
    for c in 0..B {
        let pivot = l[c][c].sqrt();
        if pivot.is_nan() || pivot <= 0.0 {
            return None;
        }
        (0..c).for_each(|r| l[c][r] = 0.0);
        (c..B).for_each(|r| l[c][r] /= pivot);
        for k in c + 1..B {
            for r in k..B {
                l[k][r] -= l[c][r] * l[c][k];
            }
        }
    }
    Some(l)
}
