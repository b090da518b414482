//! The sweep over round bodies, four contacts at a time, and the residuals of an iterate.
//!
//! With σ = rω the diagonal block of a contact is a_n along the normal and a_t across it, so the
//! exact one-contact solve is closed: the associated law projects the unconstrained solution in
//! the metric of the block, Coulomb's clips its tangential part.

use super::general::Detail;
use super::plan::Record;
use super::{BodyRecord, Lag, Rule};
use crate::Friction;
use crate::lanes::{F4, LANES, Lanes, V3, V4};
use crate::operator::contactwise::{LaneSums, Sums, slip};
use crate::operator::kernels::{Twist, gather};
use crate::problem::cone::project4;
use barchan_parallel::Disjoint;
use std::ops::Range;

/// What a sweep reads.
pub(crate) struct Pass<'a> {
    pub(crate) lanes: &'a [[[u32; LANES]; 2]],
    pub(crate) normals: &'a [V4],
    pub(crate) bias: &'a [V4],
    pub(crate) friction: &'a [F4],
    /// De Saxcé's terms: each group writes its own slots.
    pub(crate) slip: Disjoint<'a, F4>,
    pub(crate) γ: &'a [V4],
    pub(crate) β: f64,
    pub(crate) rule: Rule,
}

/// Four bodies: velocity, spin and scales.
pub(crate) struct Bodies<T> {
    pub(crate) v: V3<T>,
    pub(crate) s: V3<T>,
    pub(crate) mass: T,
    spin: T,
}

impl<T: Lanes> Bodies<T> {
    /// # Safety
    /// No other thread writes these records.
    #[inline(always)]
    pub(crate) unsafe fn load(from: &Disjoint<'_, BodyRecord>, ids: &[u32; LANES]) -> Self {
        // SAFETY: the caller's promise.
        let record = |k: usize| unsafe { from.get(ids[k] as usize) };
        let [a, b, c, d] = [record(0), record(1), record(2), record(3)];
        let low = T::transpose4([T::load(&a[0]), T::load(&b[0]), T::load(&c[0]), T::load(&d[0])]);
        let high = T::transpose4([T::load(&a[1]), T::load(&b[1]), T::load(&c[1]), T::load(&d[1])]);
        Self {
            v: V3 { x: low[0], y: low[1], z: low[2] },
            s: V3 { x: low[3], y: high[0], z: high[1] },
            mass: high[2],
            spin: high[3],
        }
    }

    /// # Safety
    /// No other thread reads or writes these records.
    #[inline(always)]
    pub(crate) unsafe fn store(self, to: &Disjoint<'_, BodyRecord>, ids: &[u32; LANES]) {
        let low = T::transpose4([self.v.x, self.v.y, self.v.z, self.s.x]);
        let high = T::transpose4([self.s.y, self.s.z, self.mass, self.spin]);
        for k in 0..LANES {
            // SAFETY: the caller's promise.
            unsafe { to.write(ids[k] as usize, [low[k].store(), high[k].store()]) };
        }
    }
}

/// The laws that kernels are compiled for: the associated one, Coulomb's by exact one-contact solves, and Coulomb's
/// by the associated one with De Saxcé's term lagging behind.
pub(crate) const ASSOCIATED: u8 = 0;
pub(crate) const COULOMB: u8 = 1;
pub(crate) const LAGGED: u8 = 2;

impl Rule {
    /// The law for which a kernel is compiled.
    pub(crate) fn kind(&self) -> u8 {
        match (self.law, self.lag) {
            (Friction::Coulomb, None) => COULOMB,
            (Friction::Coulomb, Some(_)) => LAGGED,
            (Friction::Associated, _) => ASSOCIATED,
        }
    }

    /// De Saxcé's terms after a relaxation that has left the velocities u.
    #[inline(always)]
    pub(crate) fn follow<T: Lanes>(&self, s: T, u: V3<T>, n: V3<T>, μ: T) -> T {
        let lag = self.lag.unwrap_or(Lag { follow: 1.0, rounding: 0.0 });
        s + T::splat(lag.follow) * (slip(u, n, μ, lag.rounding) - s)
    }
}

/// The impulse of the exact Coulomb law from the unconstrained one: an open contact has none, a
/// sliding one as much friction as it can bear.
#[inline(always)]
pub(crate) fn clip4<T: Lanes>(z: V3<T>, n: V3<T>, μ: T) -> V3<T> {
    let zero = T::splat(0.0);
    let zn = z.dot(n);
    let t = z - n * zn;
    let bound = μ * zn.max(zero);
    let length = t.dot(t).sqrt();
    let scale = T::select_le(length, bound, T::splat(1.0), bound / length);
    let scale = T::select_le(zn, zero, zero, scale);
    n * zn.max(zero) + t * scale
}

/// # Safety
/// As [`sweep`].
#[inline(always)]
unsafe fn sweep_batches<T: Lanes, const LAW: u8, const EXACT: bool>(
    pass: &Pass<'_>,
    range: Range<usize>,
    bodies: &Disjoint<'_, BodyRecord>,
    x: &mut [V4],
) -> Sums {
    let (β, one) = (T::splat(pass.β), T::splat(1.0));
    let (ω, blend) = (T::splat(pass.rule.relaxation), T::splat(pass.rule.blend));
    let mut sums = LaneSums::<T>::zero();
    for (x, k) in x.iter_mut().zip(range) {
        let [ids_a, ids_b] = &pass.lanes[k];
        // SAFETY: the caller's promise.
        let (mut a, mut b) = unsafe { (Bodies::<T>::load(bodies, ids_a), Bodies::<T>::load(bodies, ids_b)) };
        let n = V3::<T>::load(&pass.normals[k]);
        let μ = T::load(&pass.friction[k]);
        let γ = V3::load(&pass.γ[k]);
        let y = γ + (γ - V3::load(x)) * β;
        let g = a.v - b.v + n.cross(a.s + b.s) + V3::load(&pass.bias[k]);

        // The step against g: to the bottom of the one-contact problem, or with a scalar scale.
        let mut a_n = a.mass + b.mass;
        let mut a_t = a_n + a.spin + b.spin;
        if !EXACT {
            a_n = (a_n + a_t + a_t) * T::splat(1.0 / 3.0);
            a_t = a_n;
        }
        let along_t = (if EXACT { one } else { ω }) / a_t;
        let κ = a_t / a_n;
        let mut z = y - g * along_t - n * (g.dot(n) * (along_t * κ - along_t));
        // SAFETY: the caller's promise: slots belong to one group.
        let s = if LAW == LAGGED { T::load(unsafe { pass.slip.get(k) }) } else { T::splat(0.0) };
        if LAW == LAGGED {
            z = z - n * (s * along_t * κ);
        }
        let solved = if LAW == COULOMB { clip4(z, n, μ) } else { project4(z, n, μ, κ) };
        let d = (solved - y) * (if EXACT { ω * blend } else { blend });
        let next = y + d;
        *x = next.store();
        if LAW == LAGGED {
            let u = g + d * a_t;
            // SAFETY: as above.
            unsafe { pass.slip.write(k, pass.rule.follow(s, u, n, μ).store()) };
        }

        // What it does to the bodies.
        let m = n.cross(d);
        a.v = a.v + d * a.mass;
        b.v = b.v - d * b.mass;
        a.s = a.s - m * a.spin;
        b.s = b.s - m * b.spin;
        // SAFETY: the caller's promise; lanes share nothing but the ground, which stays as it is.
        unsafe {
            b.store(bodies, ids_b);
            a.store(bodies, ids_a);
        }

        let e = next - γ;
        let (dn, en) = (d.dot(n), e.dot(n));
        sums.step = sums.step + a_n * (κ * d.dot(d) + (one - κ) * dn * dn);
        sums.uphill = sums.uphill - a_n * (κ * d.dot(e) + (one - κ) * dn * en);
        sums.natural = sums.natural + d.dot(d);
    }
    sums.total()
}

/// Sweeps over some batches in order.
///
/// # Safety
/// No other thread touches the records of these batches.
pub(crate) unsafe fn sweep(
    pass: &Pass<'_>,
    range: Range<usize>,
    bodies: &Disjoint<'_, BodyRecord>,
    x: &mut [V4],
) -> Sums {
    /// # Safety
    /// As above.
    #[inline(always)]
    unsafe fn by_rule<T: Lanes>(
        pass: &Pass<'_>,
        range: Range<usize>,
        bodies: &Disjoint<'_, BodyRecord>,
        x: &mut [V4],
    ) -> Sums {
        // SAFETY: the caller's promise.
        unsafe {
            match (pass.rule.kind(), pass.rule.exact) {
                (COULOMB, true) => sweep_batches::<T, COULOMB, true>(pass, range, bodies, x),
                (COULOMB, false) => sweep_batches::<T, COULOMB, false>(pass, range, bodies, x),
                (LAGGED, true) => sweep_batches::<T, LAGGED, true>(pass, range, bodies, x),
                (LAGGED, false) => sweep_batches::<T, LAGGED, false>(pass, range, bodies, x),
                (_, true) => sweep_batches::<T, ASSOCIATED, true>(pass, range, bodies, x),
                (_, false) => sweep_batches::<T, ASSOCIATED, false>(pass, range, bodies, x),
            }
        }
    }
    #[cfg(target_arch = "x86_64")]
    {
        /// # Safety
        /// As above.
        #[target_feature(enable = "avx2")]
        unsafe fn with_avx(
            pass: &Pass<'_>,
            range: Range<usize>,
            bodies: &Disjoint<'_, BodyRecord>,
            x: &mut [V4],
        ) -> Sums {
            // SAFETY: the caller's promise.
            unsafe { by_rule::<crate::lanes::Avx>(pass, range, bodies, x) }
        }
        if std::arch::is_x86_feature_detected!("avx2") {
            // SAFETY: the machine has AVX2, and the caller's promise.
            return unsafe { with_avx(pass, range, bodies, x) };
        }
    }
    // SAFETY: the caller's promise.
    unsafe { by_rule::<F4>(pass, range, bodies, x) }
}

/// What the residuals of an iterate are computed from.
pub(crate) struct ResidualPass<'a> {
    pub(crate) lanes: &'a [[[u32; LANES]; 2]],
    pub(crate) records: &'a [Record],
    pub(crate) normals: &'a [V4],
    pub(crate) bias: &'a [V4],
    pub(crate) friction: &'a [F4],
    /// The number of round slots, and what general ones have beside.
    pub(crate) round: usize,
    pub(crate) details: &'a [Detail],
    pub(crate) γ: &'a [V4],
    pub(crate) w: &'a [Twist],
    pub(crate) η: f64,
    pub(crate) coulomb: Option<f64>,
}

impl ResidualPass<'_> {
    /// The velocities Aγ + b of a slot.
    #[inline(always)]
    fn velocity<T: Lanes>(&self, k: usize) -> V3<T> {
        let [ids_a, ids_b] = &self.lanes[k];
        let bodies = |ids: &[u32; LANES]| ids.map(|id| self.records[id as usize].body);
        let (a, b) = (gather::<T>(self.w, bodies(ids_a)), gather::<T>(self.w, bodies(ids_b)));
        let g = V3::load(&self.bias[k]) + a[0] - b[0];
        match k.checked_sub(self.round) {
            None => g + V3::load(&self.normals[k]).cross(a[1] + b[1]),
            Some(general) => {
                let [arm_a, arm_b] = &self.details[general].arms;
                g + a[1].cross(V3::load(arm_a)) - b[1].cross(V3::load(arm_b))
            }
        }
    }
}

/// De Saxcé's terms of some batches.
pub(crate) fn slips(pass: &ResidualPass<'_>, lag: &Lag, range: Range<usize>, to: &mut [F4]) {
    for (to, k) in to.iter_mut().zip(range) {
        let n = V3::<F4>::load(&pass.normals[k]);
        *to = slip(pass.velocity(k), n, pass.friction[k], lag.rounding).store();
    }
}

/// The residuals of some batches.
pub(crate) fn residuals(pass: &ResidualPass<'_>, range: Range<usize>) -> Sums {
    #[cfg(target_arch = "x86_64")]
    {
        #[target_feature(enable = "avx2")]
        fn with_avx(pass: &ResidualPass<'_>, range: Range<usize>) -> Sums {
            residual_batches::<crate::lanes::Avx>(pass, range)
        }
        if std::arch::is_x86_feature_detected!("avx2") {
            // SAFETY: the machine has AVX2.
            return unsafe { with_avx(pass, range) };
        }
    }
    residual_batches::<F4>(pass, range)
}

#[inline(always)]
fn residual_batches<T: Lanes>(pass: &ResidualPass<'_>, range: Range<usize>) -> Sums {
    let mut sums = LaneSums::<T>::zero();
    for k in range {
        let n = V3::<T>::load(&pass.normals[k]);
        let mut g = pass.velocity::<T>(k);
        let (γ, μ) = (V3::load(&pass.γ[k]), T::load(&pass.friction[k]));
        if let Some(ε) = pass.coulomb {
            g = g + n * slip(g, n, μ, ε);
        }
        sums.add_natural(γ, g, n, μ, pass.η);
        sums.add_violations(γ, g, n, μ);
    }
    sums.total()
}
