//! Two boxes laid over each other.
//!
//! Most pairs of boxes touch with a corner or with edges that cross, and nothing is to be laid over anything. A face is a
//! rectangle in its own plane, and what is seen over it along the normal is a parallelogram or an edge there: all that
//! [`crate::clip`] asks of two polygons is found along the axes of the rectangle, without a root. Edges that run beside each
//! other are left to it.

use crate::clip::{Spots, View, edge_name, touches};
use crate::feature::{Part, around};
use crate::manifold::{CROSSING, DEEPEST, FACE, FLUSH};
use crate::{Closest, Manifold, Placed, Touch};
use glam::{DVec2, DVec3};

/// Adds the points where two boxes, with half their edges, touch, given where they are nearest to each other.
pub(crate) fn rectangles(
    [a, b]: [&Placed<'_>; 2],
    halves: [DVec3; 2],
    nearest: &Closest,
    reach: f64,
    manifold: &mut Manifold,
) {
    let normal = nearest.normal;
    let point = 0.5 * (nearest.on_a + nearest.on_b);
    let towards = [a.rotation.transpose() * -normal, b.rotation.transpose() * normal];
    let parts = towards.map(Part::facing);
    let one = |key| Touch { point, normal, gap: nearest.gap, key };
    match parts {
        [Part::Corner(_), _] | [_, Part::Corner(_)] => {
            // One point at most; its name is that of what it touches.
            let name = |part| if let Part::Corner(k) = part { k } else { FACE };
            manifold.push(one(parts.map(name)));
        }
        [Part::Edge(i, _), Part::Edge(j, _)] if is_crossing(normal, [a.rotation.col(i), b.rotation.col(j)]) => {
            manifold.push(one([DEEPEST; 2]));
        }
        _ => {
            // Which of the two is seen as a rectangle.
            let rectangle = |own: usize| match parts[own] {
                Part::Face(axis, side) => Some((own, axis, side)),
                _ => None,
            };
            match rectangle(0).or_else(|| rectangle(1)) {
                Some(face) => {
                    let part = parts[1 - face.0];
                    let deepest = one([DEEPEST; 2]);
                    Overlap::new([a, b], halves, face, &deepest, reach).add(part, deepest, manifold);
                }
                None => touches(a, b, nearest, reach, manifold),
            }
        }
    }
}

/// Whether two edges cross in one point, as seen along the normal.
fn is_crossing(normal: DVec3, [d, e]: [DVec3; 2]) -> bool {
    let seen = |edge: DVec3| 1.0 - edge.dot(normal).powi(2);
    normal.dot(d.cross(e)).powi(2) > CROSSING * CROSSING * seen(d) * seen(e)
}

/// The two axes that are not this one.
#[inline]
fn along(axis: usize) -> [usize; 2] {
    [(axis + 1) % 3, (axis + 2) % 3]
}

/// On which side of the middle of a box a corner is, along an axis.
#[inline]
fn sign(corner: u32, axis: usize) -> f64 {
    if corner >> axis & 1 == 0 { -1.0 } else { 1.0 }
}

/// A rectangle, and a parallelogram or an edge that is seen over it.
struct Overlap {
    view: View,
    /// Which of the two shapes the rectangle is of.
    own: usize,
    /// The face that is the rectangle, and half its edges.
    axis: usize,
    side: u32,
    half: [f64; 2],
    /// Where the deepest point is seen.
    deepest: DVec2,
    /// The middle of the other box, and from there to three of its faces: along the rectangle, and how high.
    centre: DVec3,
    arms: [DVec3; 3],
    lengths: DVec3,
}

impl Overlap {
    fn new(
        shapes: [&Placed<'_>; 2],
        halves: [DVec3; 2],
        (own, axis, side): (usize, usize, u32),
        deepest: &Touch,
        reach: f64,
    ) -> Self {
        let normal = deepest.normal;
        let [rectangle, other] = [shapes[own], shapes[1 - own]];
        let axes = along(axis).map(|k| rectangle.rotation.col(k));
        let outward = rectangle.rotation.col(axis) * sign(side, axis);
        let origin = rectangle.position + outward * halves[own][axis];
        let tilt = DVec2::new(normal.dot(axes[0]), normal.dot(axes[1]));
        let rise = 1.0 / normal.dot(outward);
        let seen = |p: DVec3| {
            let height = p.dot(outward) * rise;
            (DVec2::new(p.dot(axes[0]), p.dot(axes[1])) - tilt * height).extend(height)
        };
        let size = shapes[0].reach().min(shapes[1].reach());
        let rounding = shapes.map(|shape| shape.rounding);
        Self {
            view: View { normal, axes, origin, rounding, reach, size },
            own,
            axis,
            side,
            half: along(axis).map(|k| halves[own][k]),
            centre: seen(other.position - origin),
            deepest: seen(deepest.point - origin).truncate(),
            arms: [0, 1, 2].map(|k| seen(other.rotation.col(k) * halves[1 - own][k])),
            lengths: halves[1 - own],
        }
    }

    /// What belongs to the rectangle and to the parallelogram, as A's and B's.
    fn ordered<T>(&self, own: T, other: T) -> [T; 2] {
        if self.own == 0 { [own, other] } else { [other, own] }
    }

    /// Adds the points where a part of the other box touches the rectangle.
    fn add(&self, part: Part, deepest: Touch, manifold: &mut Manifold) {
        let corner = |name: u32| {
            let [x, y, z] = [0, 1, 2].map(|k| self.arms[k] * sign(name, k));
            (self.centre + x + y + z, name)
        };
        let square = |x: f64, y: f64| x * x + y * y;
        let half = square(self.half[0], self.half[1]);
        match part {
            Part::Face(axis, side) => {
                let arms = along(axis);
                let flush = 2.0 * FLUSH * half.min(square(self.lengths[arms[0]], self.lengths[arms[1]])).sqrt();
                self.lay(&around(axis, side).map(corner), Some(arms), flush, deepest, manifold);
            }
            Part::Edge(axis, others) => {
                let flush = 2.0 * FLUSH * half.min(square(self.lengths[axis], 0.0)).sqrt();
                self.lay(&[others, others | 1 << axis].map(corner), None, flush, deepest, manifold);
            }
            Part::Corner(_) => manifold.push(deepest),
        }
    }

    /// Lays corners in order over the rectangle: those of a parallelogram, along two axes, or the ends of an edge.
    fn lay(
        &self,
        corners: &[(DVec3, u32)],
        axes: Option<[usize; 2]>,
        flush: f64,
        deepest: Touch,
        manifold: &mut Manifold,
    ) {
        let mut spots = Spots::new();
        let put = |spots: &mut Spots, flat: DVec2, height: f64, [own, other]: [u32; 2]| {
            match spots.iter().position(|spot| spot.flat.distance_squared(flat) <= flush * flush) {
                // Corners that lie on each other are one point, with both their names.
                Some(known) if other == FACE => spots[known].key[self.own] = own,
                None if !spots.is_full() => {
                    let heights = self.ordered(0.0, height);
                    spots.push(self.view.spot(flat, heights, self.ordered(own, other)));
                }
                _ => {}
            }
        };
        // Corners that the rectangle holds.
        for &(corner, name) in corners {
            if corner.x.abs() <= self.half[0] + flush && corner.y.abs() <= self.half[1] + flush {
                put(&mut spots, corner.truncate(), corner.z, [FACE, name]);
            }
        }
        if let Some(axes) = axes {
            self.hold(corners, axes, flush, |flat, height, name| put(&mut spots, flat, height, [name, FACE]));
        }
        // Edges across those of the rectangle.
        let count = if axes.is_some() { corners.len() } else { 1 };
        for k in 0..count {
            let [(from, name), (to, next)] = [corners[k], corners[(k + 1) % corners.len()]];
            let edge = to - from;
            let least = (FLUSH * FLUSH) * edge.truncate().length_squared();
            for axis in 0..2 {
                if edge[axis] * edge[axis] <= least {
                    continue;
                }
                for side in [-1.0, 1.0] {
                    let line = side * self.half[axis];
                    if (from[axis] - line) * (to[axis] - line) > 0.0 {
                        continue;
                    }
                    let crossing = from + edge * ((line - from[axis]) / edge[axis]);
                    if crossing[1 - axis].abs() <= self.half[1 - axis] {
                        let own = self.edge_of_rectangle(axis, side);
                        put(&mut spots, crossing.truncate(), crossing.z, [own, edge_name(name, next)]);
                    }
                }
            }
        }
        self.view.choose(&mut spots, deepest, self.deepest, flush, manifold);
    }

    /// Calls `each` with the corners of the rectangle that a parallelogram holds, with its height there. It holds none if it
    /// is a line.
    fn hold(&self, corners: &[(DVec3, u32)], axes: [usize; 2], flush: f64, mut each: impl FnMut(DVec2, f64, u32)) {
        let middle = 0.5 * (corners[0].0 + corners[2].0);
        let arms = axes.map(|k| self.arms[k]);
        let [u, v] = arms.map(DVec3::truncate);
        let area = u.perp_dot(v);
        let most = [axes[1], axes[0]].map(|k| area.abs() + flush * self.lengths[k]);
        for name in around(self.axis, self.side) {
            let [x, y] = along(self.axis).map(|k| sign(name, k));
            let flat = DVec2::new(x * self.half[0], y * self.half[1]);
            let from = flat - middle.truncate();
            let [s, t] = [from.perp_dot(v), u.perp_dot(from)];
            if area != 0.0 && s.abs() <= most[0] && t.abs() <= most[1] {
                each(flat, middle.z + (arms[0].z * s + arms[1].z * t) / area, name);
            }
        }
    }

    /// The name of the edge of the rectangle on a side of one of its two axes.
    fn edge_of_rectangle(&self, axis: usize, side: f64) -> u32 {
        let axes = along(self.axis);
        let from = self.side | if side > 0.0 { 1 << axes[axis] } else { 0 };
        edge_name(from, from | 1 << axes[1 - axis])
    }
}
