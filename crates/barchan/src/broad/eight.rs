//! Boxes in single precision, rounded outwards, and the comparison of one with eight at once.
//!
//! A quarter of the memory and a fraction of the instructions of the exact comparison, and never
//! a miss: a pair of boxes that meet also meet here.

use super::Aabb;
use glam::DVec3;

/// Boxes of an [`Eight`].
pub(super) const LEAF: usize = 8;

/// A box in single precision.
#[derive(Clone, Copy, Debug)]
pub(super) struct Box32 {
    low: [f32; 3],
    high: [f32; 3],
}

impl Box32 {
    /// The box of nothing.
    pub(super) const EMPTY: Self = Self { low: [f32::INFINITY; 3], high: [f32::NEG_INFINITY; 3] };

    /// A box that just holds `hull`, which is moved by `-origin` and scaled.
    #[inline]
    pub(super) fn around(hull: &Aabb, origin: DVec3, scale: f64) -> Self {
        // Rounding errs by less than the step to the next number on either side.
        let low = (hull.low - origin) * scale;
        let high = (hull.high - origin) * scale;
        Self {
            low: low.to_array().map(|x| (x as f32).next_down()),
            high: high.to_array().map(|x| (x as f32).next_up()),
        }
    }

    /// Where it begins along an axis.
    #[inline(always)]
    pub(super) fn low(&self, axis: usize) -> f32 {
        self.low[axis]
    }

    /// Where it ends along an axis.
    #[inline(always)]
    pub(super) fn high(&self, axis: usize) -> f32 {
        self.high[axis]
    }

    /// Whether two boxes share a point.
    #[inline(always)]
    pub(super) fn meets(&self, o: &Self) -> bool {
        (self.low[0] <= o.high[0])
            & (o.low[0] <= self.high[0])
            & (self.low[1] <= o.high[1])
            & (o.low[1] <= self.high[1])
            & (self.low[2] <= o.high[2])
            & (o.low[2] <= self.high[2])
    }

    /// The smallest box that holds both.
    #[inline(always)]
    pub(super) fn join(&self, o: &Self) -> Self {
        let min = |a: f32, b: f32| if a < b { a } else { b };
        let max = |a: f32, b: f32| if a > b { a } else { b };
        Self {
            low: std::array::from_fn(|k| min(self.low[k], o.low[k])),
            high: std::array::from_fn(|k| max(self.high[k], o.high[k])),
        }
    }
}

impl Default for Box32 {
    fn default() -> Self {
        Self::EMPTY
    }
}

/// Eight boxes, axis by axis.
#[derive(Clone, Copy)]
#[repr(C, align(32))]
pub(super) struct Eight {
    low: [[f32; LEAF]; 3],
    high: [[f32; LEAF]; 3],
}

impl Eight {
    /// Eight boxes of nothing. Not infinities: a box that has outgrown single precision would meet them.
    pub(super) const EMPTY: Self = Self { low: [[f32::NAN; LEAF]; 3], high: [[f32::NAN; LEAF]; 3] };

    /// Sets box `k`.
    pub(super) fn set(&mut self, k: usize, one: &Box32) {
        for axis in 0..3 {
            self.low[axis][k] = one.low[axis];
            self.high[axis][k] = one.high[axis];
        }
    }

    /// Box `k`.
    #[inline(always)]
    pub(super) fn get(&self, k: usize) -> Box32 {
        Box32 {
            low: [self.low[0][k], self.low[1][k], self.low[2][k]],
            high: [self.high[0][k], self.high[1][k], self.high[2][k]],
        }
    }

    /// Where the first of them begins along an axis.
    #[inline(always)]
    pub(super) fn first_low(&self, axis: usize) -> f32 {
        self.low[axis][0]
    }

    /// Which of the eight share a point with `one`: a bit each.
    ///
    /// With `WIDE`, in registers of eight, which the caller must know the machine to have
    /// (`Octree::walk_all`).
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    pub(super) fn meets<const WIDE: bool>(&self, one: &Box32) -> u32 {
        use std::arch::x86_64::*;
        if WIDE {
            // SAFETY: the caller has AVX; rows are aligned.
            return unsafe {
                let below = |row: &[f32; LEAF], x: f32| {
                    _mm256_cmp_ps::<_CMP_LE_OQ>(_mm256_load_ps(row.as_ptr()), _mm256_set1_ps(x))
                };
                let above = |row: &[f32; LEAF], x: f32| {
                    _mm256_cmp_ps::<_CMP_GE_OQ>(_mm256_load_ps(row.as_ptr()), _mm256_set1_ps(x))
                };
                let axis = |k: usize| _mm256_and_ps(below(&self.low[k], one.high[k]), above(&self.high[k], one.low[k]));
                _mm256_movemask_ps(_mm256_and_ps(_mm256_and_ps(axis(0), axis(1)), axis(2))) as u32
            };
        }
        let mut bits = 0;
        for half in 0..2 {
            // SAFETY: SSE2 is part of x86-64; both halves of a row of eight are aligned and in bounds.
            unsafe {
                let below =
                    |row: &[f32; LEAF], x: f32| _mm_cmple_ps(_mm_load_ps(row.as_ptr().add(4 * half)), _mm_set1_ps(x));
                let above =
                    |row: &[f32; LEAF], x: f32| _mm_cmpge_ps(_mm_load_ps(row.as_ptr().add(4 * half)), _mm_set1_ps(x));
                let axis = |k: usize| _mm_and_ps(below(&self.low[k], one.high[k]), above(&self.high[k], one.low[k]));
                bits |= (_mm_movemask_ps(_mm_and_ps(_mm_and_ps(axis(0), axis(1)), axis(2))) as u32) << (4 * half);
            }
        }
        bits
    }

    /// Which of the eight share a point with `one`: a bit each.
    #[cfg(not(target_arch = "x86_64"))]
    #[inline(always)]
    pub(super) fn meets<const WIDE: bool>(&self, one: &Box32) -> u32 {
        (0..LEAF).fold(0, |bits, k| bits | u32::from(self.get(k).meets(one)) << k)
    }
}

/// The indices of the bits that are set, ascending.
#[inline(always)]
pub(super) fn bits(mut mask: u32) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let bit = (mask != 0).then(|| mask.trailing_zeros() as usize);
        mask &= mask.wrapping_sub(1);
        bit
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounding_outwards_never_misses() {
        let cube = |x: f64, r: f64| Aabb { low: DVec3::splat(x - r), high: DVec3::splat(x + r) };
        let mut eight = Eight::EMPTY;
        let at = |k: usize| cube(0.1 + 0.2 * k as f64, 0.1);
        for k in 0..6 {
            eight.set(k, &Box32::around(&at(k), DVec3::ZERO, 1.0 / 1.7));
        }
        for k in 0..6 {
            let one = Box32::around(&at(k), DVec3::ZERO, 1.0 / 1.7);
            let mask = eight.meets::<false>(&one);
            #[cfg(target_arch = "x86_64")]
            if std::arch::is_x86_feature_detected!("avx") {
                assert_eq!(eight.meets::<true>(&one), mask);
            }
            for l in 0..LEAF {
                assert_eq!(mask >> l & 1 == 1, l < 6 && eight.get(l).meets(&eight.get(k)));
                assert!(l >= 6 || !at(l).meets(&at(k)) || mask >> l & 1 == 1);
            }
        }
        assert_eq!(eight.meets::<false>(&Box32::EMPTY), 0);
        let all = Box32::around(&cube(0.0, 1e300), DVec3::ZERO, 1.0);
        assert_eq!(eight.meets::<false>(&all), 0b11_1111);
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx") {
            assert_eq!(eight.meets::<true>(&all), 0b11_1111);
        }
    }
}
