//! Matrices of one contact, and roots of them.

pub(crate) use barchan_cholesky::{Block, Pattern, Values};
use glam::{DMat3, DVec3};

/// The symmetric matrix with diagonal xx, yy, zz and rest xy, xz, yz.
#[inline(always)]
pub(crate) fn symmetric(d: DVec3, o: DVec3) -> DMat3 {
    DMat3::from_cols(DVec3::new(d.x, o.x, o.y), DVec3::new(o.x, d.y, o.z), DVec3::new(o.y, o.z, d.z))
}

/// [r×], the matrix of the vector product.
#[inline(always)]
pub(crate) fn cross(r: DVec3) -> DMat3 {
    DMat3::from_cols(DVec3::new(0.0, r.z, -r.y), DVec3::new(-r.z, 0.0, r.x), DVec3::new(r.y, -r.x, 0.0))
}

/// A lower triangular L with LLᵀ = `m`, which is positive semi-definite up to rounding.
pub(crate) fn root(m: DMat3) -> DMat3 {
    let (mut a, mut l) = (m, DMat3::ZERO);
    let nothing = 1e-14 * (m.x_axis.x + m.y_axis.y + m.z_axis.z);
    for k in 0..3 {
        let pivot = a.col(k)[k];
        if pivot.is_nan() || pivot > nothing {
            let mut column = a.col(k) / pivot.sqrt();
            (0..k).for_each(|r| column[r] = 0.0);
            *l.col_mut(k) = column;
            for c in 0..3 {
                *a.col_mut(c) -= column * column[c];
            }
        }
    }
    l
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roots_of_full_and_singular_matrices() {
        let l = DMat3::from_cols(DVec3::new(2.0, 0.3, -1.0), DVec3::new(0.0, 0.5, 0.7), DVec3::new(0.0, 0.0, 3.0));
        let n = DVec3::new(0.6, 0.0, -0.8);
        let ray = DMat3::from_cols(n * n.x, n * n.y, n * n.z) * 5.0;
        for m in [l * l.transpose(), ray, DMat3::ZERO, DMat3::from_diagonal(DVec3::new(0.0, 2.0, 0.0))] {
            let r = root(m);
            assert!((r * r.transpose() - m).abs_diff_eq(DMat3::ZERO, 1e-12), "{m} has root {r}");
        }
    }
}
