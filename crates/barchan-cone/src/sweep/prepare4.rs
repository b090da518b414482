//! Preparation of one-contact solves for four contacts at once.
//!
//! What [`ContactBlock::new`] does for one contact, in the same order of operations, so that the numbers are the same
//! to the last bit. It is done anew in every step for every general contact, and there are but a few sweeps to a
//! step: one by one it took more than a third of the time of a solve. A lane that is out of the ordinary, of which
//! the scalar way makes a contact without impulses or for which numbers leave their range, is left to it.

use super::one_contact::{ContactBlock, LEAST_FRICTION, MOST_FRICTION};
use super::solve4::{Local, abs, choose};
use crate::lanes::{F4, LANES, Lanes, V3, V4};
use glam::{DMat3, DVec3};
use std::ops::Add;

/// The blocks W of four contacts, by columns.
#[derive(Clone, Copy)]
pub(crate) struct Blocks<T>(pub(crate) [V3<T>; 3]);

impl<T: Lanes> Add for Blocks<T> {
    type Output = Self;
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        let ([x, y, z], [to_x, to_y, to_z]) = (self.0, other.0);
        Self([x + to_x, y + to_y, z + to_z])
    }
}

impl<T: Lanes> Blocks<T> {
    /// Wv.
    #[inline(always)]
    fn times(&self, v: V3<T>) -> V3<T> {
        let [x, y, z] = self.0;
        x * v.x + y * v.y + z * v.z
    }

    /// The block of one lane.
    fn lane(&self, lane: usize) -> DMat3 {
        let [x, y, z] = self.0.map(|column| column.store().lane(lane));
        DMat3::from_cols(x, y, z)
    }
}

/// First tangents and solves of the contacts in the wanted lanes, from their blocks, normals and friction. The other
/// lanes have no impulses.
#[inline(always)]
pub(crate) fn prepare4<T: Lanes>(w: &Blocks<T>, n: V3<T>, μ: T, wanted: u8) -> (V4, Local<F4>) {
    let (tangent, local, ordinary) = ordinary(w, n, μ);
    let (mut tangent, mut local) = (tangent.store(), local.store());
    for lane in (0..LANES).filter(|lane| wanted >> lane & 1 == 0) {
        tangent.set_lane(lane, DVec3::ZERO);
        local.clear_lane(lane);
    }
    if wanted & !ordinary != 0 {
        mend(w, n, μ, wanted & !ordinary, &mut tangent, &mut local);
    }
    (tangent, local)
}

/// Lets the scalar way do some of the lanes.
#[cold]
#[inline(never)]
fn mend<T: Lanes>(w: &Blocks<T>, n: V3<T>, μ: T, lanes: u8, tangent: &mut V4, local: &mut Local<F4>) {
    let (n, μ) = (n.store(), μ.store());
    for lane in (0..LANES).filter(|lane| lanes >> lane & 1 == 1) {
        let block = ContactBlock::new(w.lane(lane), n.lane(lane), μ.0[lane]);
        tangent.set_lane(lane, block.tangent());
        local.set_lane(lane, &block);
    }
}

/// The same for all lanes, and in which of them it is right.
#[inline(always)]
fn ordinary<T: Lanes>(w: &Blocks<T>, normal: V3<T>, friction: T) -> (V3<T>, Local<T>, u8) {
    let (zero, one, half) = (T::splat(0.0), T::splat(1.0), T::splat(0.5));
    let (n, mut right) = unit(normal);
    let trace = w.0[0].x + w.0[1].y + w.0[2].z;
    let scale = T::splat(3.0) / trace;
    right &= !T::le_bits(trace, zero);
    let [x, y, z] = w.0;
    let w = Blocks([x * scale, y * scale, z * scale]);

    // Tangents: a Jacobi rotation of any pair, so that the first has the smaller eigenvalue.
    let (t, b) = any_tangents(n);
    let (wt, wb) = (w.times(t), w.times(b));
    let (split, mixed) = (half * (wt.dot(t) - wb.dot(b)), half * (wt.dot(b) + wb.dot(t)));
    let root = (split * split + mixed * mixed).sqrt();
    let along_t = T::select_le(zero, split, split + root, mixed);
    let along_b = T::select_le(zero, split, mixed, root - split);
    let (mut tangent, turned) = unit(n.cross(t * along_t + b * along_b));
    if turned != 0xf {
        // Any pair will do.
        let keep = |turned_to: T, from: T| choose(turned, turned_to, from);
        tangent = V3 { x: keep(tangent.x, t.x), y: keep(tangent.y, t.y), z: keep(tangent.z, t.z) };
    }
    let second = n.cross(tangent);
    let (wn, wt, wb) = (w.times(n), w.times(tangent), w.times(second));
    let [nn, tt, bb] = [wn.dot(n), wt.dot(tangent), wb.dot(second)];
    let nt = half * (wn.dot(tangent) + wt.dot(n));
    let nb = half * (wn.dot(second) + wb.dot(n));

    // A pivot of elimination that rounding may have made of zero: lift the diagonal.
    let pivot = nn - nt * nt / tt - nb * nb / bb;
    let (least_pivot, raised) = (T::splat(1e-13), T::splat(4.0 * f64::EPSILON));
    let lift = T::select_le(tt, least_pivot, raised, T::select_le(pivot, least_pivot, raised, zero));
    let ω = tt.max(zero) + lift;
    let (delta, w1, w2) = ((bb - tt).max(zero) / ω, nt / ω, nb / ω);
    // In the worst case s stays positive.
    let least = (w1 * w1 + w2 * w2 / (one + delta)) * T::splat(1.0 + 4.0 * f64::EPSILON) + lift / ω;
    let a = ((nn + lift) / ω).max(least);
    let (least, most) = (T::splat(LEAST_FRICTION), T::splat(MOST_FRICTION));
    let μ = T::select_le(least, friction, T::select_le(friction, most, friction, most), zero);
    let λ = flip(a, μ * μ, w1, w2, delta);
    let unit = scale / ω;
    let local = Local { unit, ω: one / unit, a, w1, w2, delta, apex: one / (one + λ) };
    // What is infinite or not a number, here or on the way, is so in the sum.
    let all = (unit + local.ω) + (a + delta) + (w1 + w2) + local.apex;
    (tangent, local, right & T::le_bits(abs(all), T::splat(f64::MAX)) & T::le_bits(zero, unit))
}

/// Vectors of unit length along others, and the lanes where there are such.
#[inline(always)]
fn unit<T: Lanes>(v: V3<T>) -> (V3<T>, u8) {
    let over = T::splat(1.0) / v.dot(v).sqrt();
    (v * over, !T::le_bits(over, T::splat(0.0)) & T::le_bits(over, T::splat(f64::MAX)))
}

/// Two tangents to each of four normals, as glam's `any_orthonormal_pair` has them.
#[inline(always)]
fn any_tangents<T: Lanes>(n: V3<T>) -> (V3<T>, V3<T>) {
    let (zero, one, sign) = (T::splat(0.0), T::splat(1.0), n.z.signum());
    let a = (zero - one) / (sign + n.z);
    let b = n.x * n.y * a;
    let first = V3 { x: one + sign * n.x * n.x * a, y: sign * b, z: (zero - sign) * n.x };
    (first, V3 { x: b, y: sign + n.y * n.y * a, z: zero - n.y })
}

/// Newton's method for λ*, as the scalar way has it: a lane that has arrived stays where it is.
#[inline(always)]
fn flip<T: Lanes>(a: T, m: T, w1: T, w2: T, delta: T) -> T {
    let (zero, one, less) = (T::splat(0.0), T::splat(1.0), T::splat(1.0 - f64::EPSILON));
    let (square1, square2, across) = (w1 * w1, w2 * w2, one + delta);
    let mut λ = a / m;
    for _ in 0..60 {
        let (κ1, κ2) = (one / (one + λ), one / (across + λ));
        let s = a - m * λ - square1 * κ1 - square2 * κ2;
        let slope = square1 * κ1 * κ1 + square2 * κ2 * κ2 - m;
        let next = λ - s / slope;
        // What is not a number is not below.
        let limit = λ * less;
        let positive = T::select_le(next, zero, λ, next);
        let below = T::select_le(limit, positive, λ, T::select_le(positive, limit, positive, λ));
        let moves = T::le_bits(below, λ) & !T::le_bits(λ, below);
        λ = below;
        if moves == 0 {
            break;
        }
    }
    λ
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    type Contact = (DMat3, DVec3, f64);

    fn vector(scale: f64) -> impl Strategy<Value = DVec3> {
        [-1.0..1.0f64, -1.0..1.0, -1.0..1.0].prop_map(move |x| DVec3::from_array(x) * scale)
    }

    /// Normals in any direction, and along axes with zeros of either sign.
    fn normal() -> impl Strategy<Value = DVec3> {
        let any = vector(1.0).prop_filter("a direction", |n| n.length() > 0.1).prop_map(DVec3::normalize);
        let axes = prop::sample::select(vec![DVec3::X, -DVec3::X, DVec3::Y, -DVec3::Y, DVec3::Z, -DVec3::Z]);
        prop_oneof![3 => any, 1 => axes]
    }

    /// Blocks as contacts have them, of all sizes, regular and singular; and what is no block.
    fn contact() -> impl Strategy<Value = Contact> {
        let friction = prop_oneof![
            8 => 0.01..2.0f64,
            1 => prop::sample::select(vec![0.0, -1.0, 1e-30, 1e-9, 1e6, 1e30, f64::INFINITY, f64::NAN])
        ];
        let arm = || prop_oneof![4 => vector(1.5), 1 => Just(DVec3::ZERO), 1 => vector(300.0)];
        let scale = prop_oneof![8 => 0.1..10.0f64, 1 => prop::sample::select(vec![1e-300, 1e-20, 1e20, 1e300])];
        let odd = prop::sample::select(vec![0.0, f64::NAN, f64::INFINITY, -1.0]);
        let mass = prop_oneof![4 => Just(2.0), 1 => Just(0.0)];
        let numbers = (arm(), arm(), 0.1..10.0f64, mass, scale, normal(), friction);
        let usual = numbers
            .prop_map(|(r, s, spin, mass, scale, n, μ)| {
                let cross = |r: DVec3| {
                    DMat3::from_cols(DVec3::new(0.0, r.z, -r.y), DVec3::new(-r.z, 0.0, r.x), DVec3::new(r.y, -r.x, 0.0))
                };
                ((DMat3::IDENTITY * mass - cross(r) * cross(r) * spin - cross(s) * cross(s)) * scale, n, μ)
            })
            .boxed();
        let strange = (usual.clone(), odd, any::<bool>())
            .prop_map(|((w, n, μ), factor, of_normal)| if of_normal { (w, n * factor, μ) } else { (w * factor, n, μ) });
        prop_oneof![16 => usual, 1 => strange]
    }

    /// Tangents and numbers by lanes of one kind of registers.
    fn prepared<T: Lanes>(contacts: &[Contact; LANES], wanted: u8) -> (V4, Local<F4>) {
        let (mut w, mut n, mut μ) = ([V4::default(); 3], V4::default(), F4::default());
        for (lane, (block, normal, friction)) in contacts.iter().enumerate() {
            (0..3).for_each(|k| w[k].set_lane(lane, block.col(k)));
            n.set_lane(lane, *normal);
            μ.0[lane] = *friction;
        }
        let w = Blocks([V3::load(&w[0]), V3::load(&w[1]), V3::load(&w[2])]);
        prepare4::<T>(&w, V3::load(&n), T::load(&μ), wanted)
    }

    /// # Safety
    /// The machine has AVX2.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    unsafe fn with_avx(contacts: &[Contact; LANES], wanted: u8) -> (V4, Local<F4>) {
        prepared::<crate::lanes::Avx>(contacts, wanted)
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 20_000, ..ProptestConfig::default() })]
        #[test]
        fn four_at_once_as_one_by_one(
            contacts in [contact(), contact(), contact(), contact()],
            wanted in prop_oneof![3 => Just(0xf), 1 => 0..0xfu8],
        ) {
            let found = prepared::<F4>(&contacts, wanted);
            #[cfg(target_arch = "x86_64")]
            if std::arch::is_x86_feature_detected!("avx2") {
                // SAFETY: the machine has AVX2.
                prop_assert_eq!(found, unsafe { with_avx(&contacts, wanted) }, "registers change no bit");
            }
            let (mut tangent, mut local) = (V4::default(), Local::<F4>::default());
            for lane in (0..LANES).filter(|lane| wanted >> lane & 1 == 1) {
                let (w, n, μ) = contacts[lane];
                let block = ContactBlock::new(w, n, μ);
                tangent.set_lane(lane, block.tangent());
                local.set_lane(lane, &block);
            }
            prop_assert_eq!(found, (tangent, local));
        }
    }
}
