//! Which triangles of a surface go through each other.
//!
//! Each triangle looks through the tree for others whose boxes meet its own. A box on one side of the triangle's plane holds
//! none that goes through it, so that of a face of many slivers or of a convex body next to nothing is visited. What is left
//! may still be quadratic, of slivers about one line for example: the search ends after so many crossings, which are too many
//! to be looked at one by one, and after so many visits. Both are counted, not timed, so that the answer is always the same.

use glam::{DVec3, Vec3};

use super::MeshFault;
use crate::{Surface, Tree, triangle};

/// Triangles cross if they do by more than this part of the surface's size.
pub(super) const CROSSING: f64 = 1e-9;
/// The search ends after so many pairs that cross.
const MOST_PAIRS: usize = 10_000;
/// It also ends after so many boxes and triangles are visited, and so many more for each triangle. Surfaces as bodies have
/// them need about a hundred for each.
const MOST_VISITS: usize = 10_000_000;
const MOST_VISITS_EACH: usize = 1000;
/// A pair that is held against each other takes as long as so many visits.
const TEST: usize = 20;

/// What a search has found, and what it took.
#[derive(Default)]
pub(super) struct Search {
    /// Pairs that cross.
    pub(super) count: usize,
    /// The first one of them.
    example: Option<(usize, usize)>,
    /// Boxes and triangles that were visited, and tests by their weight.
    pub(super) visits: usize,
    /// Triangles that were held against all others.
    pub(super) searched: usize,
}

impl Search {
    /// Through all triangles of a surface, or until there were enough pairs or visits.
    pub(super) fn of(surface: &Surface) -> Self {
        let tree = Tree::build(surface);
        let length = CROSSING * surface.size();
        let most = MOST_VISITS + MOST_VISITS_EACH * surface.triangles.len();
        let mut search = Self::default();
        for t in 0..surface.triangles.len() {
            search.around(surface, &tree, t, length);
            if search.count >= MOST_PAIRS || search.visits >= most {
                break;
            }
            search.searched += 1;
        }
        search
    }

    /// Finds the triangles with higher numbers that go through one.
    fn around(&mut self, surface: &Surface, tree: &Tree, t: usize, length: f64) {
        let normal = surface.doubled_area(t).normalize_or_zero();
        if normal == DVec3::ZERO {
            return;
        }
        let places = surface.corners(t);
        let low = places[0].min(places[1]).min(places[2]) - tree.middle();
        let high = places[0].max(places[1]).max(places[2]) - tree.middle();
        let height = (places[0] - tree.middle()).dot(normal);
        let boxes = std::cell::Cell::new(0);
        // Whether a box meets the triangle's, and has corners on both sides of its plane. Half the length is for rounding.
        let hit = |l: Vec3, h: Vec3| {
            boxes.set(boxes.get() + 1);
            let l = l.as_dvec3();
            let h = h.as_dvec3();
            let above = (0.5 * (l + h)).dot(normal) - height;
            let reach = (0.5 * (h - l)).dot(normal.abs());
            l.cmple(high).all() && low.cmple(h).all() && reach - above.abs() > 0.5 * length
        };
        tree.walk(hit, |other| {
            self.visits += 1;
            let other = other as usize;
            // Once there are enough, the rest of this triangle's is only walked over.
            if other <= t || self.count >= MOST_PAIRS || surface.share_a_corner(t, other) {
                return;
            }
            self.visits += TEST;
            if triangle::cross(places, surface.corners(other), length) {
                self.count += 1;
                self.example = Some(self.example.map_or((t, other), |first| first.min((t, other))));
            }
        });
        self.visits += boxes.get();
    }
}

impl Surface {
    /// Triangles that go through each other, or that this is not known.
    pub(super) fn crossings(&self) -> Option<MeshFault> {
        let Search { count, example, searched, .. } = Search::of(self);
        let all = self.triangles.len();
        match example {
            Some((triangle, other)) => {
                let at = self.corners(triangle)[0];
                Some(MeshFault::Crossing { count, is_all: searched == all, triangle, other, at })
            }
            None if searched < all => Some(MeshFault::Unsearched { triangle: searched, all }),
            None => None,
        }
    }

    /// Whether two triangles share a vertex.
    pub(super) fn share_a_corner(&self, a: usize, b: usize) -> bool {
        self.triangles[a].iter().any(|k| self.triangles[b].contains(k))
    }
}
