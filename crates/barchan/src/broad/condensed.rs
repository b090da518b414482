//! Boxes to search with: hulls, moved together where some of them have escaped (`util/gaps.rs`).
//!
//! Boxes that meet still meet after that, so a search loses no pair; what it finds is compared as it is.

use super::Aabb;
use crate::util::gaps::{Gaps, stride};
use barchan_parallel::{CHUNK, for_chunks_mut, reserve_with_slack};

/// Boxes that have been moved together, and memory for it.
#[derive(Default)]
pub(super) struct Condensed {
    gaps: Gaps,
    boxes: Vec<Aabb>,
}

impl Condensed {
    /// The boxes to search with, and the box of all: the hulls themselves where none is far away. `all` holds
    /// what the frame of the search is to hold.
    pub(super) fn boxes<'a>(&'a mut self, hulls: &'a [Aabb], all: Aabb) -> (&'a [Aabb], Aabb) {
        let sample = hulls.iter().step_by(stride(hulls.len())).filter(|hull| !hull.is_empty());
        self.gaps.find(sample.map(|hull| (hull.centre(), hull.extent())), all.low, all.high);
        if !self.gaps.is_any_closed() {
            return (hulls, all);
        }
        let gaps = &self.gaps;
        let moved = |hull: &Aabb| Aabb { low: gaps.map(hull.low), high: gaps.map(hull.high) };
        reserve_with_slack(&mut self.boxes, hulls.len());
        self.boxes.resize(hulls.len(), Aabb::EMPTY);
        for_chunks_mut(&mut self.boxes[..], CHUNK, |range, boxes| {
            for (to, hull) in boxes.iter_mut().zip(&hulls[range]) {
                *to = if hull.is_empty() { *hull } else { moved(hull) };
            }
        });
        (&self.boxes, moved(&all))
    }
}

#[cfg(test)]
mod tests {
    use super::super::hull::centres;
    use super::*;
    use glam::DVec3;

    /// A cube of 8 000 hulls. With one of them far away all others fell into one cell of the search.
    #[test]
    fn the_frame_of_a_search_follows_the_bulk() {
        let mut hulls: Vec<Aabb> = (0..8000)
            .map(|k| {
                let x = 0.02 * DVec3::new(f64::from(k % 20), f64::from(k / 20 % 20), f64::from(k / 400));
                Aabb { low: x - 0.01, high: x + 0.01 }
            })
            .collect();
        let mut condensed = Condensed::default();
        let usual = centres(&hulls, &mut Vec::new());
        assert_eq!(condensed.boxes(&hulls, usual), (&hulls[..], usual));
        for far in [1e4, 1e6, 1e9, 1e12] {
            let x = DVec3::new(far, 0.1, -far);
            hulls[4321] = Aabb { low: x - 0.01, high: x + 0.01 };
            let all = centres(&hulls, &mut Vec::new());
            let (boxes, all) = condensed.boxes(&hulls, all);
            assert!(all.extent() < 2.0 * usual.extent(), "{far}: {all:?}");
            // The others are where they are.
            assert!((0..8000).all(|k| k == 4321 || boxes[k] == hulls[k]), "{far}");
        }
    }
}
