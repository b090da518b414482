//! Where a shape touches a plane: up to four points of the part that faces it.

use crate::feature::CORNERS;
use crate::manifold::{FLUSH, Spot, spread};
use crate::{Manifold, Placed, Touch};
use arrayvec::ArrayVec;
use glam::{DVec2, DVec3};

/// Finds where a shape A above a plane B touches it, or comes nearer to it than `reach`. The plane passes through a point
/// and has a unit normal, which points towards A.
pub fn above_plane(a: &Placed<'_>, point: DVec3, normal: DVec3, reach: f64) -> Manifold {
    let mut manifold = Manifold::default();
    let height = (a.position - point).dot(normal) - a.rounding;
    let size = a.core.reach();
    if height - size > reach {
        return manifold;
    }
    let lowest = a.support(-normal);
    let gap = |p: DVec3| height + p.dot(normal);
    let deepest = gap(lowest);
    if deepest > reach {
        return manifold;
    }
    let touch = |p: DVec3, key: u32| {
        let gap = gap(p);
        Touch { point: a.position + p - normal * (a.rounding + 0.5 * gap), normal, gap, key: [key, 0] }
    };
    let feature = a.feature(-normal, a.position);
    if feature.points().len() == 1 {
        manifold.push(touch(lowest, 1 + feature.ids()[0]));
        return manifold;
    }
    let (t, u) = normal.any_orthonormal_pair();
    let flat = |p: DVec3| DVec2::new(p.dot(t), p.dot(u));
    let mut spots: ArrayVec<Spot, CORNERS> = ArrayVec::new();
    let mut which: ArrayVec<usize, CORNERS> = ArrayVec::new();
    for (k, &p) in feature.points().iter().enumerate().filter(|(_, p)| gap(**p) <= reach) {
        spots.push(Spot { flat: flat(p), gap: gap(p), ..Spot::default() });
        which.push(k);
    }
    let last = Spot { flat: flat(lowest), gap: deepest, ..Spot::default() };
    let size = size + a.rounding;
    for choice in spread(&spots, &last, FLUSH * size, size) {
        manifold.push(match choice {
            None => touch(lowest, 0),
            Some(k) => touch(feature.points()[which[k]], 1 + feature.ids()[which[k]]),
        });
    }
    manifold.deepen(deepest);
    manifold
}
