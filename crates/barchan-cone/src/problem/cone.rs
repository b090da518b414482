//! Projections onto the friction cone C = {γ : |γ_t| ≤ μγ_n}, in vector form: the normal is
//! given, tangents are never needed because the cone is round.

use crate::lanes::{Lanes, V3};
use glam::DVec3;

/// The orthogonal projection of `z` onto the cone about the unit vector `n`.
pub fn project(z: DVec3, n: DVec3, friction: f64) -> DVec3 {
    project_in_metric(z, n, friction, 1.0)
}

/// The impulse of the exact Coulomb law from an unconstrained one: an open contact has none, a
/// sliding one as much friction as it can bear.
pub fn clip(z: DVec3, n: DVec3, friction: f64) -> DVec3 {
    let zn = z.dot(n);
    if zn <= 0.0 {
        return DVec3::ZERO;
    }
    let zt = z - n * zn;
    let (t, bound) = (zt.length(), friction * zn);
    if t <= bound { z } else { n * zn + zt * (bound / t) }
}

/// The projection in the metric H = diag(a_n, a_t, a_t) with κ = a_t/a_n:
/// `z` itself if inside; else z_n' = (z_n + μκ|z_t|)/(1 + μ²κ), the origin if that is not
/// positive, else (z_n', μz_n'·z_t/|z_t|).
pub fn project_in_metric(z: DVec3, n: DVec3, friction: f64, kappa: f64) -> DVec3 {
    let zn = z.dot(n);
    let zt = z - n * zn;
    let t = zt.length();
    // Without friction the bound is −0 for a pull along the normal, which t = 0 would meet.
    if zn >= 0.0 && t <= friction * zn {
        return z;
    }
    let pn = (zn + friction * kappa * t) / (1.0 + friction * friction * kappa);
    if pn <= 0.0 {
        return DVec3::ZERO;
    }
    if t > 0.0 { n * pn + zt * (friction * pn / t) } else { n * pn }
}

/// [`project_in_metric`] for four contacts at once, without branches.
#[inline(always)]
pub(crate) fn project4<T: Lanes>(z: V3<T>, n: V3<T>, friction: T, kappa: T) -> V3<T> {
    let (zero, one) = (T::splat(0.0), T::splat(1.0));
    let zn = z.dot(n);
    let zt = z - n * zn;
    let t = zt.dot(zt).sqrt();
    // One division serves both parts: z_n' = num/d and the tangential factor μz_n'/|z_t|.
    let num = (zn + friction * kappa * t).max(zero);
    let inverse = one / ((one + friction * friction * kappa) * t.max(T::splat(f64::MIN_POSITIVE)));
    let limit = friction * zn;
    // Inside the cone both parts stay as they are. (A pull straight along the normal of a contact
    // without friction passes for inside: 0 ≤ −0. Its normal part is cut off all the same.)
    let normal = T::select_le(t, limit, zn, num * (t * inverse)).max(zero);
    let tangential = T::select_le(t, limit, one, friction * (num * inverse));
    n * normal + zt * tangential
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lanes::{F4, V4};
    use proptest::prelude::*;

    fn vector(scale: f64) -> impl Strategy<Value = DVec3> {
        [-scale..scale, -scale..scale, -scale..scale].prop_map(DVec3::from_array)
    }

    fn unit() -> impl Strategy<Value = DVec3> {
        vector(1.0).prop_filter("a direction", |v| v.length() > 1e-3).prop_map(|v| v.normalize())
    }

    proptest! {
        /// A projection lands in the cone, leaves what is inside alone, and no point of the
        /// cone is closer in its metric.
        #[test]
        fn projection_is_one(z in vector(10.0), n in unit(), mu in 0.0..2.0f64, kappa in 0.1..5.0f64, other in vector(10.0)) {
            let p = project_in_metric(z, n, mu, kappa);
            let tangent = |v: DVec3| (v - n * v.dot(n)).length();
            prop_assert!(tangent(p) <= mu * p.dot(n) + 1e-12);
            prop_assert!((project_in_metric(p, n, mu, kappa) - p).length() < 1e-12);
            let distance = |v: DVec3| { let d = v - z; d.dot(n).powi(2) + kappa * tangent(d).powi(2) };
            let feasible = project(other, n, mu);
            prop_assert!(distance(p) <= distance(feasible) + 1e-9);
        }

        /// The projections of Moreau: z = Π_C(z) + Π_C°(z), orthogonal to each other.
        #[test]
        fn moreau(z in vector(10.0), n in unit(), mu in 0.01..2.0f64) {
            let p = project(z, n, mu);
            prop_assert!(p.dot(z - p).abs() < 1e-9);
        }

        /// Four at once is the same as one at a time.
        #[test]
        fn lanes_agree(z in vector(10.0), n in unit(), mu in 0.0..2.0f64, kappa in 0.1..5.0f64) {
            let mut z4 = V4::default();
            let mut n4 = V4::default();
            for k in 0..4 {
                z4.set_lane(k, z * (k as f64 - 1.5));
                n4.set_lane(k, n);
            }
            let p4 = project4(V3::<F4>::load(&z4), V3::load(&n4), F4::splat(mu), F4::splat(kappa)).store();
            for k in 0..4 {
                let p = project_in_metric(z * (k as f64 - 1.5), n, mu, kappa);
                prop_assert!((p4.lane(k) - p).length() <= 1e-13 * (1.0 + z.length()));
            }
        }
    }

    #[test]
    fn frictionless_cone_is_a_ray() {
        let z = DVec3::new(3.0, 4.0, 5.0);
        assert_eq!(project(z, DVec3::X, 0.0), DVec3::new(3.0, 0.0, 0.0));
        assert_eq!(project(-z, DVec3::X, 0.0), DVec3::ZERO);
    }

    /// A pull straight along the normal once passed for inside the cone, and glued bodies together.
    #[test]
    fn a_pull_along_the_normal_is_no_impulse() {
        for friction in [0.0, 0.5] {
            assert_eq!(project(-3.0 * DVec3::X, DVec3::X, friction), DVec3::ZERO);
            let mut block = V4::default();
            block.set_lane(0, -3.0 * DVec3::X);
            let mut normal = V4::default();
            normal.set_lane(0, DVec3::X);
            let p = project4(V3::<F4>::load(&block), V3::load(&normal), F4::splat(friction), F4::splat(1.0)).store();
            assert_eq!(p.lane(0), DVec3::ZERO);
        }
    }
}
