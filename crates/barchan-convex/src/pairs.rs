//! Which function handles which pair of cores.
//!
//! | A \\ B     | point    | segment    | cuboid   | cylinder | cone     | ellipsoid    | hull      | triangle |
//! |-----------|----------|------------|----------|----------|----------|--------------|-----------|----------|
//! | point     | `sphere` | `sphere`   | `sphere` | `sphere` | `sphere` | `sphere` ¹   | `sphere` ² | `sphere` |
//! | segment   |          | `segments` | general  | general  | general  | general      | general   | general  |
//! | cuboid    |          |            | `boxes` ³ | general | general  | general      | general   | general  |
//! | cylinder, cone | | | | general | general | general | general | general |
//! | ellipsoid |          |            |          |          |          | `ellipsoids` ¹ | general | general  |
//! | hull, triangle | | | | | | | general | general |
//!
//! General is [`closest`]: the distance by `gjk`, the depth by `epa`. It is also what is asked ¹ in deep overlaps in which
//! another direction might be better, ² over edges and corners of a hull, ³ of boxes that are apart and whose nearest parts
//! are not across one of the fifteen axes. Two shapes come in the order of the rows, whichever order they are given in.
//!
//! All of them find where the two are nearest to each other; where that is one point of several, `clip` finds the others. A
//! sphere and an ellipsoid touch anything in one point. A plane is no core: see [`above_plane`](crate::above_plane).

use crate::boxes::{Axes, boxes};
use crate::clip::touches;
use crate::ellipsoids::{Search, ellipsoids};
use crate::segments::segments;
use crate::sphere::{Distance, sphere};
use crate::{Closest, Core, Manifold, Placed, Touch, closest};

/// Finds where two shapes touch, or come nearer to each other than `reach`.
pub fn manifold(a: &Placed<'_>, b: &Placed<'_>, reach: f64) -> Manifold {
    if is_far(a, b, reach) {
        return Manifold::default();
    }
    if is_in_order(a, b) { in_order(a, b, reach) } else { in_order(b, a, reach).swapped() }
}

/// The gap of two shapes: negative where they overlap, `None` if they are farther apart than `reach`.
pub fn gap(a: &Placed<'_>, b: &Placed<'_>, reach: f64) -> Option<f64> {
    if is_far(a, b, reach) {
        return None;
    }
    let nearest = if is_in_order(a, b) { nearest(a, b, reach) } else { nearest(b, a, reach) };
    nearest.map(|nearest| nearest.gap)
}

fn in_order(a: &Placed<'_>, b: &Placed<'_>, reach: f64) -> Manifold {
    match nearest(a, b, reach) {
        Some(nearest) => manifold_along(a, b, &nearest, reach),
        None => Manifold::default(),
    }
}

/// Finds where two shapes touch if it is known which of their points are nearest to each other, or along which normal they
/// are to be parted.
pub fn manifold_along(a: &Placed<'_>, b: &Placed<'_>, nearest: &Closest, reach: f64) -> Manifold {
    if let Core::Point | Core::Ellipsoid { .. } = a.core {
        return one(nearest);
    }
    if let Core::Ellipsoid { .. } = b.core {
        return one(nearest);
    }
    touches(a, b, nearest, reach)
}

/// The one point of a shape that has neither edges nor faces.
fn one(nearest: &Closest) -> Manifold {
    let point = 0.5 * (nearest.on_a + nearest.on_b);
    let mut manifold = Manifold::default();
    manifold.push(Touch { point, normal: nearest.normal, gap: nearest.gap, key: [0, 0] });
    manifold
}

/// Where two shapes, in order, are nearest to each other.
fn nearest(a: &Placed<'_>, b: &Placed<'_>, reach: f64) -> Option<Closest> {
    match (a.core, b.core) {
        (Core::Point, _) => match sphere(a, b, reach) {
            Distance::Far => None,
            Distance::Nearest(nearest) => Some(nearest),
            Distance::Other => closest(a, b, reach),
        },
        (Core::Segment { half: p }, Core::Segment { half: q }) => segments(a, b, [p, q], reach),
        (Core::Cuboid { half: p }, Core::Cuboid { half: q }) => match boxes(a, b, [p, q], reach) {
            Axes::Far => None,
            Axes::Nearest(nearest) => Some(nearest),
            Axes::Other => closest(a, b, reach),
        },
        (Core::Ellipsoid { radii: p }, Core::Ellipsoid { radii: q }) => match ellipsoids(a, b, [p, q], reach) {
            Search::Far => None,
            Search::Nearest(nearest) => Some(nearest),
            Search::Other => closest(a, b, reach),
        },
        _ => closest(a, b, reach),
    }
}

/// Whether the balls around them say enough.
#[inline]
fn is_far(a: &Placed<'_>, b: &Placed<'_>, reach: f64) -> bool {
    let far = a.reach() + b.reach() + reach;
    (b.position - a.position).length_squared() > far * far
}

/// An order that is the same whichever comes first, so that the arithmetic is as well.
#[inline]
fn is_in_order(a: &Placed<'_>, b: &Placed<'_>) -> bool {
    let ranks = [a.core.rank(), b.core.rank()];
    if ranks[0] != ranks[1] {
        return ranks[0] < ranks[1];
    }
    let offset = b.position - a.position;
    offset[offset.abs().max_position()] >= 0.0
}
