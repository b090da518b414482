//! Levels of size: the longest edges of boxes on a level differ by at most a factor of two.
//!
//! Level 0 starts with the smallest box. What is measured is by axis: a level of rods that lie alike is
//! long along one axis and thin along the others.

use super::Aabb;
use barchan_parallel::{CHUNK, fold_chunks};
use glam::DVec3;
use std::ops::Range;

/// Levels at most; what is larger joins the last.
pub(super) const LEVELS: usize = 32;
/// The first level starts below the smallest box by this part of it: sizes change a little from step to step.
const ROOM: f64 = 0.06;

/// The boxes of a level: the box of all of them, and their largest extent along each axis.
#[derive(Clone, Copy)]
pub(super) struct Extent {
    pub(super) all: Aabb,
    pub(super) largest: DVec3,
}

const NONE: [Extent; LEVELS] = [Extent { all: Aabb::EMPTY, largest: DVec3::ZERO }; LEVELS];

/// The scale of levels, and memory for measuring them.
#[derive(Default)]
pub(super) struct Levels {
    /// Where the first level starts.
    unit: f64,
    smallest: Vec<f64>,
    slots: Vec<[Extent; LEVELS]>,
}

impl Levels {
    /// Measures boxes by levels; `None` if all are empty. The scale stays while it fits.
    pub(super) fn measure(&mut self, boxes: &[Aabb]) -> Option<[Extent; LEVELS]> {
        let smallest = |range: Range<usize>| {
            boxes[range].iter().filter(|hull| !hull.is_empty()).map(Aabb::extent).fold(f64::INFINITY, f64::min)
        };
        let smallest = fold_chunks(boxes.len(), 16 * CHUNK, &mut self.smallest, f64::INFINITY, smallest, f64::min);
        if smallest == f64::INFINITY {
            return None;
        }
        let is_fit = self.unit <= smallest && smallest * (1.0 - 2.0 * ROOM) <= self.unit;
        if !is_fit {
            self.unit = (smallest * (1.0 - ROOM)).max(f64::MIN_POSITIVE);
        }
        let mut slots = std::mem::take(&mut self.slots);
        let measure = |range: Range<usize>| {
            let mut extents = NONE;
            for hull in boxes[range].iter().filter(|hull| !hull.is_empty()) {
                let extent = &mut extents[self.of(hull)];
                extent.all = extent.all.join(hull);
                extent.largest = extent.largest.max(hull.high - hull.low);
            }
            extents
        };
        let join = |a: [Extent; LEVELS], b: [Extent; LEVELS]| {
            std::array::from_fn(|k| Extent { all: a[k].all.join(&b[k].all), largest: a[k].largest.max(b[k].largest) })
        };
        let extents = fold_chunks(boxes.len(), 16 * CHUNK, &mut slots, NONE, measure, join);
        self.slots = slots;
        Some(extents)
    }

    /// The level of a box.
    #[inline]
    pub(super) fn of(&self, hull: &Aabb) -> usize {
        // The exponent of the ratio is the floor of its logarithm.
        let ratio = (hull.extent() / self.unit).max(1.0);
        ((ratio.to_bits() >> 52) as usize - 1023).min(LEVELS - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn boxes(extents: &[[f64; 3]]) -> Vec<Aabb> {
        extents.iter().map(|e| Aabb { low: DVec3::ONE, high: DVec3::ONE + DVec3::from(*e) }).collect()
    }

    #[test]
    fn levels_are_measured_by_axis() {
        let mut levels = Levels::default();
        assert!(levels.measure(&[Aabb::EMPTY]).is_none());
        let all = boxes(&[[1.0, 1.0, 1.0], [0.1, 1.2, 0.3], [35.0, 0.5, 0.5], [0.25, 40.0, 0.5], [1e300; 3]]);
        let extents = levels.measure(&all).expect("some");
        let of: Vec<usize> = all.iter().map(|hull| levels.of(hull)).collect();
        assert!(of[0] == of[1] && of[2] == of[3] && of[0] < of[2] && of[2] < of[4], "{of:?}");
        assert!((extents[of[2]].largest - DVec3::new(35.0, 40.0, 0.5)).length() < 1e-9);
        assert_eq!(extents[of[0]].all, all[0].join(&all[1]));
        assert!(extents[of[0] + 1].all.is_empty());
    }

    #[test]
    fn small_changes_leave_the_scale() {
        let mut levels = Levels::default();
        levels.measure(&boxes(&[[1.0; 3], [2.5; 3]]));
        let unit = levels.unit;
        for scale in [0.95, 1.05, 1.0] {
            levels.measure(&boxes(&[[scale; 3], [2.5; 3]]));
            assert_eq!(levels.unit, unit);
        }
        levels.measure(&boxes(&[[0.5; 3], [2.5; 3]]));
        assert!(levels.unit < unit);
    }
}
