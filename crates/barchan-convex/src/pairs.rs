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
//! All of them find where the two are nearest to each other; where that is one point of several, `clip` finds the others,
//! `segments` itself for two capsules, and `rectangles` for two boxes. A sphere and an ellipsoid touch anything in one
//! point. A plane is no core: see [`above_plane`](crate::above_plane).

use crate::boxes::{Axes, boxes};
use crate::clip::touches;
use crate::ellipsoids::{Search, ellipsoids};
use crate::rectangles::rectangles;
use crate::segments::{Capsule, capsules, segments};
use crate::sphere::{Distance, sphere};
use crate::{Closest, Core, Manifold, Placed, Touch, closest};
use glam::DVec3;

/// Finds where two shapes touch, or come nearer to each other than `reach`.
#[inline]
pub fn manifold(a: &Placed<'_>, b: &Placed<'_>, reach: f64) -> Manifold {
    let mut manifold = Manifold::default();
    manifold.find(a, b, reach);
    manifold
}

impl Manifold {
    /// Makes it that of two shapes: where they touch, or come nearer to each other than `reach`.
    pub fn find(&mut self, a: &Placed<'_>, b: &Placed<'_>, reach: f64) {
        self.clear();
        if is_far(a, b, reach) {
            return;
        }
        if is_in_order(a, b) {
            self.find_in_order(a, b, reach);
        } else {
            self.find_in_order(b, a, reach);
            self.swap();
        }
    }

    fn find_in_order(&mut self, a: &Placed<'_>, b: &Placed<'_>, reach: f64) {
        if let (Core::Segment { half: p }, Core::Segment { half: q }) = (a.core, b.core) {
            capsules(&Capsule::new(a, p), &Capsule::new(b, q), reach, |touch| self.push(touch));
        } else if let Some(nearest) = nearest(a, b, reach) {
            self.add_along(a, b, &nearest, reach);
        }
    }

    /// Adds where two shapes touch if it is known which of their points are nearest to each other, or along which normal
    /// they are to be parted. It must be empty.
    pub fn add_along(&mut self, a: &Placed<'_>, b: &Placed<'_>, nearest: &Closest, reach: f64) {
        match (&a.core, &b.core) {
            (Core::Point | Core::Ellipsoid { .. }, _) | (_, Core::Point | Core::Ellipsoid { .. }) => {
                // They have neither edges nor faces.
                let point = 0.5 * (nearest.on_a + nearest.on_b);
                self.push(Touch { point, normal: nearest.normal, gap: nearest.gap, key: [0, 0] });
            }
            (&Core::Cuboid { half: p }, &Core::Cuboid { half: q }) => rectangles([a, b], [p, q], nearest, reach, self),
            _ => touches(a, b, nearest, reach, self),
        }
    }
}

/// The gap of two shapes: negative where they overlap, `None` if they are farther apart than `reach`.
pub fn gap(a: &Placed<'_>, b: &Placed<'_>, reach: f64) -> Option<f64> {
    if is_far(a, b, reach) {
        return None;
    }
    let nearest = if is_in_order(a, b) { nearest(a, b, reach) } else { nearest(b, a, reach) };
    nearest.map(|nearest| nearest.gap)
}

/// Where two shapes, in order, are nearest to each other.
fn nearest(a: &Placed<'_>, b: &Placed<'_>, reach: f64) -> Option<Closest> {
    match (a.core, b.core) {
        (Core::Point, _) => match sphere(a, b, reach) {
            Distance::Far => None,
            Distance::Nearest(nearest) => Some(nearest),
            Distance::Other => closest(a, b, reach),
        },
        (Core::Segment { half: p }, Core::Segment { half: q }) => {
            segments(&Capsule::new(a, p), &Capsule::new(b, q), reach)
        }
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
    let far = a.core.bound() + a.rounding + b.core.bound() + b.rounding + reach;
    (b.position - a.position).length_squared() > far * far
}

/// An order that is the same whichever comes first, so that the arithmetic is as well.
#[inline]
fn is_in_order(a: &Placed<'_>, b: &Placed<'_>) -> bool {
    let ranks = [a.core.rank(), b.core.rank()];
    if ranks[0] == ranks[1] { is_before(a.position, b.position) } else { ranks[0] < ranks[1] }
}

/// The same of two shapes of one kind.
#[inline]
pub(crate) fn is_before(a: DVec3, b: DVec3) -> bool {
    let offset = b - a;
    offset[offset.abs().max_position()] >= 0.0
}
