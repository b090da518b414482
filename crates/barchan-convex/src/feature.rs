//! What of a shape faces a direction: a corner, an edge or a face.

use crate::core::farthest_corner;
use crate::{Core, Hull, Placed};
use glam::DVec3;

/// Corners of a face at most; of larger ones some are left out.
pub(crate) const CORNERS: usize = 8;
/// Corners of the end of a cylinder or a cone.
const RIM: usize = 8;
/// A face counts if its normal makes a larger cosine with the direction, an edge if it makes a smaller one.
pub(crate) const FACING: f64 = 0.9;
const ACROSS: f64 = 0.3;
/// Numbers of points that are not corners.
const RIM_POINT: u32 = 200;

/// The part of a core that faces a direction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Feature {
    points: [DVec3; CORNERS],
    ids: [u32; CORNERS],
    len: usize,
    /// Unit normal of a face.
    pub(crate) normal: DVec3,
    /// The radii with which an edge is curved at its two ends: of the side of a cylinder or a cone.
    pub(crate) curvature: [f64; 2],
}

impl Feature {
    /// A corner, or an edge by its two ends.
    #[inline]
    fn new(corners: impl IntoIterator<Item = (DVec3, u32)>) -> Self {
        Self::with(corners, DVec3::ZERO, [0.0; 2])
    }

    /// A face.
    #[inline]
    fn face(corners: impl IntoIterator<Item = (DVec3, u32)>, normal: DVec3) -> Self {
        Self::with(corners, normal, [0.0; 2])
    }

    /// In one go: it is too large to be moved around.
    #[inline]
    fn with(corners: impl IntoIterator<Item = (DVec3, u32)>, normal: DVec3, curvature: [f64; 2]) -> Self {
        let mut feature = Self { points: [DVec3::ZERO; CORNERS], ids: [0; CORNERS], len: 0, normal, curvature };
        for (point, id) in corners.into_iter().take(CORNERS) {
            feature.points[feature.len] = point;
            feature.ids[feature.len] = id;
            feature.len += 1;
        }
        feature
    }

    /// Its corners in order: one, the two ends of an edge, or those of a face as seen from outside.
    pub(crate) fn points(&self) -> &[DVec3] {
        &self.points[..self.len]
    }

    /// Numbers of the corners, which tell them apart.
    pub(crate) fn ids(&self) -> &[u32] {
        &self.ids[..self.len]
    }
}

impl Core<'_> {
    /// The part that faces a direction of unit length.
    pub(crate) fn feature(&self, d: DVec3) -> Feature {
        match *self {
            Self::Point | Self::Ellipsoid { .. } => Feature::new([(self.support(d), 0)]),
            Self::Segment { half } => {
                let end = |k: u32| (DVec3::new(0.0, 0.0, if k == 0 { -half } else { half }), k);
                if d.z.abs() < 1.0 - FACING {
                    Feature::new([end(0), end(1)])
                } else {
                    Feature::new([end((d.z > 0.0).into())])
                }
            }
            Self::Cuboid { half } => cuboid(half, d),
            Self::Cylinder { radius, half } => {
                if d.z.abs() > FACING {
                    rim(radius, half.copysign(d.z), d.z > 0.0)
                } else if d.z.abs() < ACROSS {
                    let side = self.support(d).with_z(0.0);
                    let end = |k: u32| (side.with_z(if k == 0 { -half } else { half }), k);
                    Feature::with([end(0), end(1)], DVec3::ZERO, [radius; 2])
                } else {
                    Feature::new([(self.support(d), RIM_POINT + u32::from(d.z > 0.0))])
                }
            }
            Self::Cone { radius, half } => {
                // How far the normal of the side leans towards the tip.
                let slope = DVec3::new(2.0 * half, 0.0, radius).normalize();
                let flat = d.truncate().length();
                if -d.z > FACING {
                    rim(radius, -half, false)
                } else if flat * slope.x + d.z * slope.z > 1.0 - ACROSS * ACROSS && flat > 0.0 {
                    let foot = (d.truncate() * (radius / flat)).extend(-half);
                    // A straight line, less and less curved across from the tip down.
                    let curvature = [radius / slope.x, 0.0];
                    Feature::with([(foot, 0), (DVec3::new(0.0, 0.0, half), 1)], DVec3::ZERO, curvature)
                } else {
                    let point = self.support(d);
                    Feature::new([(point, if point.z > 0.0 { 1 } else { RIM_POINT })])
                }
            }
            Self::Hull { hull, scale } => polyhedron(hull, scale, d),
            Self::Triangle(corners) => triangle(&corners, d),
        }
    }
}

/// The part of a polyhedron that faces a direction. Corners are numbered as its points are.
fn polyhedron(hull: &Hull, scale: f64, d: DVec3) -> Feature {
    let points = hull.points();
    let corner = |k: u32| (points[k as usize] * scale, k);
    let face = hull.facing(d);
    if hull.normal(face).dot(d) > FACING {
        let corners = hull.corners(face);
        // Every so many of a face that has too many.
        let stride = corners.len().div_ceil(CORNERS);
        let some = corners.iter().step_by(stride).map(|&k| corner(k));
        return Feature::face(some, hull.normal(face));
    }
    let point = hull.farthest(d);
    match hull.edge_across(point, d) {
        Some(other) if (points[other] - points[point]).normalize_or_zero().dot(d).abs() < ACROSS => {
            // Ends in an order that does not depend on where the search began.
            Feature::new([corner(point.min(other) as u32), corner(point.max(other) as u32)])
        }
        _ => Feature::new([corner(point as u32)]),
    }
}

/// The part of a triangle that faces a direction: either side of it, an edge or a corner.
fn triangle(corners: &[DVec3; 3], d: DVec3) -> Feature {
    let corner = |k: usize| (corners[k], k as u32);
    let normal = (corners[1] - corners[0]).cross(corners[2] - corners[0]).normalize_or_zero();
    let rise = normal.dot(d);
    if rise.abs() > FACING {
        // In order as seen from the side that faces the direction.
        let order = if rise > 0.0 { [0, 1, 2] } else { [0, 2, 1] };
        return Feature::face(order.map(corner), normal * 1f64.copysign(rise));
    }
    let point = farthest_corner(corners, d);
    let along = |other: usize| (corners[other] - corners[point]).normalize_or_zero().dot(d).abs();
    let [next, last] = [(point + 1) % 3, (point + 2) % 3];
    let other = if along(next) <= along(last) { next } else { last };
    if along(other) < ACROSS {
        Feature::new([corner(point.min(other)), corner(point.max(other))])
    } else {
        Feature::new([corner(point)])
    }
}

/// Which part of a box faces a direction. Corners are numbered by their signs, a bit an axis.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Part {
    /// The face across an axis, and the bit of its side.
    Face(usize, u32),
    /// The edge along an axis, and the bits of the two others.
    Edge(usize, u32),
    Corner(u32),
}

impl Part {
    #[inline]
    pub(crate) fn facing(d: DVec3) -> Self {
        let size = d.abs();
        let bit = |axis: usize| u32::from(d[axis] > 0.0) << axis;
        let largest = size.max_position();
        if size[largest] > FACING {
            return Self::Face(largest, bit(largest));
        }
        let smallest = size.min_position();
        let others = bit((smallest + 1) % 3) | bit((smallest + 2) % 3);
        if size[smallest] < ACROSS { Self::Edge(smallest, others) } else { Self::Corner(others | bit(smallest)) }
    }
}

/// The corners of a face of a box in order as seen from outside.
#[inline]
pub(crate) fn around(axis: usize, side: u32) -> [u32; 4] {
    let (u, v) = (1u32 << ((axis + 1) % 3), 1u32 << ((axis + 2) % 3));
    if side != 0 { [side, side | u, side | u | v, side | v] } else { [0, v, u | v, u] }
}

/// The part of a box that faces a direction.
#[inline]
fn cuboid(half: DVec3, d: DVec3) -> Feature {
    let corner = |k: u32| {
        let sign = |axis: u32| if k >> axis & 1 == 0 { -1.0 } else { 1.0 };
        (half * DVec3::new(sign(0), sign(1), sign(2)), k)
    };
    match Part::facing(d) {
        Part::Face(axis, side) => {
            Feature::face(around(axis, side).map(corner), DVec3::AXES[axis] * 1f64.copysign(d[axis]))
        }
        Part::Edge(axis, others) => Feature::new([corner(others), corner(others | 1 << axis)]),
        Part::Corner(k) => Feature::new([corner(k)]),
    }
}

/// The round end of a cylinder or a cone, as a polygon within it.
fn rim(radius: f64, z: f64, is_up: bool) -> Feature {
    const DIAGONAL: f64 = std::f64::consts::FRAC_1_SQRT_2;
    const AROUND: [[f64; 2]; RIM] = [
        [1.0, 0.0],
        [DIAGONAL, DIAGONAL],
        [0.0, 1.0],
        [-DIAGONAL, DIAGONAL],
        [-1.0, 0.0],
        [-DIAGONAL, -DIAGONAL],
        [0.0, -1.0],
        [DIAGONAL, -DIAGONAL],
    ];
    let corner = |k: usize| {
        let k = if is_up { k } else { RIM - 1 - k };
        let id = 10 + k as u32 + if is_up { RIM as u32 } else { 0 };
        (DVec3::new(radius * AROUND[k][0], radius * AROUND[k][1], z), id)
    };
    let normal = DVec3::new(0.0, 0.0, if is_up { 1.0 } else { -1.0 });
    Feature::face((0..RIM).map(corner), normal)
}

impl Placed<'_> {
    /// The part of the core that faces a direction of unit length, in the world frame less an origin.
    #[inline]
    pub(crate) fn feature(&self, direction: DVec3, origin: DVec3) -> Feature {
        let mut feature = self.core.feature(self.rotation.transpose() * direction);
        let offset = self.position - origin;
        for point in &mut feature.points[..feature.len] {
            *point = offset + self.rotation * *point;
        }
        feature.normal = self.rotation * feature.normal;
        feature
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Hull;

    #[test]
    fn faces_face_their_direction_in_order() {
        let tetrahedron =
            Hull::new(vec![DVec3::X, DVec3::Y, DVec3::Z, -DVec3::ONE], [[0, 1, 2], [0, 3, 1], [0, 2, 3], [1, 3, 2]]);
        let cores = [
            Core::Cuboid { half: DVec3::new(0.3, 0.5, 0.9) },
            Core::Cylinder { radius: 0.4, half: 0.6 },
            Core::Cone { radius: 0.4, half: 0.6 },
            Core::Hull { hull: &tetrahedron, scale: 2.0 },
            Core::Triangle([DVec3::X, DVec3::new(0.1, 1.0, 0.0), DVec3::new(-0.7, -0.6, 0.3)]),
        ];
        for core in cores {
            for k in 0..200 {
                // Directions all over the sphere.
                let z = 1.0 - (2.0 * f64::from(k) + 1.0) / 200.0;
                let angle = 2.4 * f64::from(k);
                let d = (DVec3::new(angle.cos(), angle.sin(), 0.0) * (1.0 - z * z).sqrt()).with_z(z);
                let feature = core.feature(d);
                let points = feature.points();
                assert_eq!(points.len(), feature.ids().len());
                if points.len() >= 3 {
                    let area = (points[1] - points[0]).cross(points[2] - points[0]);
                    assert!(area.normalize().dot(feature.normal) > 1.0 - 1e-12 && feature.normal.dot(d) > FACING);
                }
                // What faces the direction is near to what is farthest along it.
                let farthest = core.support(d).dot(d);
                assert!(points.iter().any(|p| p.dot(d) > farthest - 0.1), "{core:?} {d}: {points:?}");
            }
        }
    }
}
