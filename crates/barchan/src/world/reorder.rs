//! Re-ordering bodies along the Morton curve, so that neighbours in space are neighbours in
//! memory (S1 IV-A). Ids stay; indices change. The curve does not care about a few bodies far away
//! (`util/gaps.rs`).

use super::{Bodies, Ownership};
use crate::util::gaps::{Gaps, stride};
use barchan_parallel::{SortScratch, sort};
use glam::DVec3;

/// Bits an axis of a Morton key; three axes fill 63.
pub const MORTON_BITS: u32 = 21;

/// Spreads the low 21 bits of `x` to every third bit.
#[inline]
fn spread(x: u64) -> u64 {
    let x = x & 0x1f_ffff;
    let x = (x | x << 32) & 0x001f_0000_0000_ffff;
    let x = (x | x << 16) & 0x001f_0000_ff00_00ff;
    let x = (x | x << 8) & 0x100f_00f0_0f00_f00f;
    let x = (x | x << 4) & 0x10c3_0c30_c30c_30c3;
    (x | x << 2) & 0x1249_2492_4924_9249
}

/// Interleaves three 21-bit coordinates (S1 Fig. 1).
#[inline]
pub fn morton_key(cell: [u32; 3]) -> u64 {
    spread(u64::from(cell[0])) | spread(u64::from(cell[1])) << 1 | spread(u64::from(cell[2])) << 2
}

/// A cube cut into 2²¹ cells an axis, on which Morton keys are taken.
#[derive(Clone, Copy, Debug)]
pub struct MortonFrame {
    /// Lowest corner.
    pub origin: DVec3,
    /// Edge of the cube.
    pub edge: f64,
}

impl MortonFrame {
    /// A cube that holds a box. Its edge is a power of two and its corner a multiple of an
    /// eighth of that, so it stays the same while the box changes little, and so do the keys.
    pub fn around(low: DVec3, high: DVec3) -> Self {
        let size = (high - low).max_element() * (8.0 / 7.0);
        // An empty or a single-point world still needs a frame.
        if !(size > f64::MIN_POSITIVE && size < f64::MAX / 2.0 && low.is_finite()) {
            return Self { origin: if low.is_finite() { low } else { DVec3::ZERO }, edge: 1.0 };
        }
        // Dropping the fraction bits leaves the power of two below.
        let edge = 2.0 * f64::from_bits(size.to_bits() >> 52 << 52);
        let step = edge / 8.0;
        Self { origin: (low / step).floor() * step, edge }
    }

    /// The key of a point; points outside go to the nearest cell.
    #[inline]
    pub fn key(&self, x: DVec3) -> u64 {
        let cells = f64::from(1u32 << MORTON_BITS);
        let t = (x - self.origin) * (cells / self.edge);
        let cell = |c: f64| c.clamp(0.0, cells - 1.0) as u32;
        morton_key([cell(t.x), cell(t.y), cell(t.z)])
    }
}

/// Reusable memory of [`morton_order`].
#[derive(Default)]
pub struct ReorderScratch {
    keys: Vec<(u64, u32)>,
    sort: SortScratch<(u64, u32)>,
    gaps: Gaps,
}

/// The order that puts bodies along the Morton curve; unbounded ones (walls) come last, and those
/// that are gone not at all. `None` if they already lie so.
pub fn morton_order(bodies: &Bodies, scratch: &mut ReorderScratch) -> Option<Vec<u32>> {
    let bounded = |i: &usize| !bodies.is_wall(*i);
    let there = |i: &usize| bodies.ownership[*i] != Ownership::Removed;
    let ReorderScratch { keys, gaps, sort: sorting } = scratch;
    let (low, high) = (0..bodies.len())
        .filter(there)
        .filter(bounded)
        .map(|i| bodies.position[i])
        .fold((DVec3::INFINITY, DVec3::NEG_INFINITY), |(low, high), x| (low.min(x), high.max(x)));
    let sample = (0..bodies.len()).step_by(stride(bodies.len())).filter(there).filter(bounded);
    let size = |i: usize| 2.0 * bodies.shape[i].bounding_radius().unwrap_or(0.0);
    gaps.find(sample.map(|i| (bodies.position[i], size(i))), low, high);
    let frame = MortonFrame::around(gaps.map(low), gaps.map(high));
    keys.clear();
    keys.extend((0..bodies.len()).filter(there).map(|i| {
        let key = if bounded(&i) { frame.key(gaps.map(bodies.position[i])) } else { u64::MAX };
        (key, i as u32)
    }));
    sort(keys, sorting, |k| k.0);
    let sorted = keys.len() == bodies.len() && keys.iter().enumerate().all(|(i, k)| k.1 as usize == i);
    (!sorted).then(|| keys.iter().map(|k| k.1).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shape::Shape;
    use crate::world::Body;

    #[test]
    fn keys_interleave() {
        assert_eq!(morton_key([1, 0, 0]), 1);
        assert_eq!(morton_key([0, 1, 0]), 2);
        assert_eq!(morton_key([0, 0, 1]), 4);
        assert_eq!(morton_key([3, 3, 3]), 63);
        assert_eq!(morton_key([0x1f_ffff; 3]), (1 << 63) - 1);
    }

    /// Neighbours in memory stay neighbours in space when a body has escaped.
    #[test]
    fn the_order_does_not_care_about_a_body_far_away() {
        let stroll = |far: Option<f64>| {
            let mut bodies = Bodies::default();
            for i in 0..3000u64 {
                // Scattered, and in no order.
                let k = i * 1237 % 3000;
                let x = 0.02 * DVec3::new((k % 15) as f64, (k / 15 % 15) as f64, (k / 225) as f64);
                bodies.push_with_id(i, Body::dynamic(Shape::sphere(0.01), x), 1.0);
            }
            if let Some(far) = far {
                bodies.position[1500] = DVec3::new(far, 0.0, -far);
            }
            let order = morton_order(&bodies, &mut ReorderScratch::default()).expect("an order");
            let places: Vec<DVec3> =
                order.iter().filter(|&&i| i != 1500).map(|&i| bodies.position[i as usize]).collect();
            places.windows(2).map(|pair| pair[0].distance(pair[1])).sum::<f64>()
        };
        let usual = stroll(None);
        for far in [1e4, 1e6, 1e9, 1e12] {
            assert!(stroll(Some(far)) < 1.05 * usual, "{far}: {} against {usual}", stroll(Some(far)));
        }
    }

    #[test]
    fn a_frame_holds_its_box_and_stays_when_it_changes_little() {
        for (low, size) in [(-3.7, 7.4), (0.1, 1e-3), (1e6, 2.0), (-1e-9, 1e12)] {
            let around = |size: f64| MortonFrame::around(DVec3::splat(low), DVec3::splat(low + size));
            let frame = around(size);
            assert!(frame.origin.x <= low && low + size <= frame.origin.x + frame.edge);
            assert!(frame.edge < 2.5 * size);
            let again = around(1.0001 * size);
            assert_eq!((frame.origin, frame.edge), (again.origin, again.edge));
        }
        for (low, high) in [(DVec3::INFINITY, DVec3::NEG_INFINITY), (DVec3::ONE, DVec3::ONE)] {
            let frame = MortonFrame::around(low, high);
            assert!(frame.origin.is_finite() && frame.edge == 1.0);
        }
    }
}
