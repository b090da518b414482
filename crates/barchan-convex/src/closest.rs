//! How far two shapes are apart, or how deep they overlap, and where.

use crate::Placed;
use crate::gjk::{Difference, Found};
use glam::DVec3;

/// Where two shapes A and B are nearest to each other, or overlap the most.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Closest {
    /// The distance of the surfaces; negative where they overlap.
    pub gap: f64,
    /// Unit normal, from B towards A.
    pub normal: DVec3,
    /// The point of A's surface.
    pub on_a: DVec3,
    /// The point of B's surface: `on_a` less the gap along the normal.
    pub on_b: DVec3,
}

/// Finds where two shapes are nearest to each other; `None` if they are farther apart than `reach`.
///
/// A small motion changes the gap by little, overlapping or not. Normals and points may jump, where two are as near.
pub fn closest(a: &Placed<'_>, b: &Placed<'_>, reach: f64) -> Option<Closest> {
    let difference = Difference::new(a, b);
    let rounding = a.rounding + b.rounding;
    let (distance, normal, point) = match difference.nearest(reach + rounding) {
        Found::Far => return None,
        Found::Apart(vertex) => {
            let distance = vertex.w.length();
            (distance, vertex.w / distance, vertex.a)
        }
        Found::Meet => {
            let deepest = difference.depth();
            (-deepest.depth, -deepest.outward, deepest.a)
        }
    };
    let gap = distance - rounding;
    if gap > reach {
        return None;
    }
    let on_a = a.position + point - normal * a.rounding;
    Some(Closest { gap, normal, on_a, on_b: on_a - normal * gap })
}
