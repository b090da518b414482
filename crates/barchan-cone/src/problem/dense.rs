//! The dense twin of the operator: A assembled entry by entry from the definition of D.
//!
//! Slow and plain on purpose; tests compare the matrix-free operator with it.

use crate::Problem;
use glam::{DMat3, DVec3};

/// A and b of a problem, in world-frame components, row by row.
#[derive(Clone, Debug)]
pub struct Dense {
    /// A = DᵀM⁻¹D, 3m × 3m.
    pub a: Vec<Vec<f64>>,
    /// b, 3m.
    pub b: Vec<f64>,
}

fn cross_matrix(r: DVec3) -> DMat3 {
    DMat3::from_cols(DVec3::new(0.0, r.z, -r.y), DVec3::new(-r.z, 0.0, r.x), DVec3::new(r.y, -r.x, 0.0))
}

impl Dense {
    /// Assembles the operator of `problem`.
    pub fn assemble(problem: &Problem) -> Self {
        let m = problem.contacts();
        // Block (i, body) of Dᵀ: velocity part ±1 and spin part ∓[r×].
        let jacobian = |i: usize, body: u32| {
            let (pair, arms) = (problem.pairs[i], problem.arms(i));
            pair.iter().position(|&j| j == body).map(|side| {
                let sign = if side == 0 { 1.0 } else { -1.0 };
                (DMat3::IDENTITY * sign, cross_matrix(arms[side]) * -sign)
            })
        };
        let mut a = vec![vec![0.0; 3 * m]; 3 * m];
        for i in 0..m {
            for k in 0..m {
                let mut block = DMat3::ZERO;
                for &body in &problem.pairs[i] {
                    let (Some((iv, iw)), Some((kv, kw))) = (jacobian(i, body), jacobian(k, body)) else { continue };
                    let j = body as usize;
                    let [xx, yy, zz, xy, xz, yz] = problem.inverse_inertia(j);
                    let inertia =
                        DMat3::from_cols(DVec3::new(xx, xy, xz), DVec3::new(xy, yy, yz), DVec3::new(xz, yz, zz));
                    block += iv * problem.inverse_mass[j] * kv.transpose() + iw * inertia * kw.transpose();
                }
                for r in 0..3 {
                    for c in 0..3 {
                        a[3 * i + r][3 * k + c] = block.col(c)[r];
                    }
                }
            }
        }
        Self { a, b: problem.bias.iter().flat_map(|b| b.to_array()).collect() }
    }

    /// Aγ + b.
    pub fn gradient(&self, γ: &[f64]) -> Vec<f64> {
        self.a.iter().zip(&self.b).map(|(row, b)| row.iter().zip(γ).map(|(a, x)| a * x).sum::<f64>() + b).collect()
    }
}
