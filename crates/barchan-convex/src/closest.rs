//! How far two shapes are apart, or how deep they overlap, and where.

use crate::Placed;
use crate::gjk::{Difference, Found};
use glam::DVec3;

/// Cores that are nearer to each other than this, in their size, have their normal found once more, from an overlap of a
/// little more.
const THIN: f64 = 1e-7;
const NEARER: f64 = 1e-6;
/// That is not asked for if the cores are apart by all of their distance along the way, but for this, in their size: no
/// other normal has more, and the way is the one that neighbours in a surface agree on.
const ENOUGH: f64 = 1e-7;

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
            let mut normal = vertex.w / distance;
            if distance < THIN * difference.size {
                // Rounding has a say in the direction of so short a way: that of the same two, a little nearer to each
                // other until they overlap, may have more between them.
                let between = |normal: DVec3| difference.support(-normal).w.dot(normal);
                let own = between(normal);
                if own < distance - ENOUGH * difference.size {
                    let other = -difference.moved(normal * (NEARER * difference.size)).depth(None).outward;
                    if between(other) > own {
                        normal = other;
                    }
                }
            }
            (distance, normal, vertex.a)
        }
        Found::Meet(simplex) => {
            let deepest = difference.depth(Some(&simplex));
            (-deepest.depth, -deepest.outward, deepest.a)
        }
    };
    let gap = distance - rounding;
    if gap > reach {
        return None;
    }
    let normal = a.rotation * normal;
    let on_a = a.position + a.rotation * point - normal * a.rounding;
    Some(Closest { gap, normal, on_a, on_b: on_a - normal * gap })
}
