//! Convex cores and where they stand.

use crate::Hull;
use glam::{DMat3, DVec3};

/// A convex shape about its origin, known by its support function.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Core<'a> {
    /// The origin: the core of a sphere.
    Point,
    /// From −half to +half along z: the core of a capsule.
    Segment {
        /// Half its length.
        half: f64,
    },
    /// A box.
    Cuboid {
        /// Half its edges.
        half: DVec3,
    },
    /// A cylinder about z.
    Cylinder {
        /// Its radius.
        radius: f64,
        /// Half its height.
        half: f64,
    },
    /// A cone about z: its base at −half, its tip at +half.
    Cone {
        /// The radius of its base.
        radius: f64,
        /// Half its height.
        half: f64,
    },
    /// An ellipsoid with these semi-axes.
    Ellipsoid {
        /// Along x, y and z.
        radii: DVec3,
    },
    /// A convex polyhedron. The origin lies inside of it.
    Hull {
        /// Its points and faces, which many bodies share.
        hull: &'a Hull,
        /// By how much it is scaled.
        scale: f64,
    },
    /// A flat triangle, which counts on both sides: a part of a mesh.
    Triangle([DVec3; 3]),
}

impl Core<'_> {
    /// The point farthest along a direction, which need not be of unit length.
    #[inline]
    pub fn support(&self, direction: DVec3) -> DVec3 {
        let d = direction;
        match *self {
            Self::Point => DVec3::ZERO,
            Self::Segment { half } => DVec3::new(0.0, 0.0, half.copysign(d.z)),
            Self::Cuboid { half } => half.copysign(d),
            Self::Cylinder { radius, half } => rim(d, radius).extend_z(half.copysign(d.z)),
            Self::Cone { radius, half } => {
                // The tip, or the rim: whichever is farther.
                let rim = rim(d, radius).extend_z(-half);
                let tip = DVec3::new(0.0, 0.0, half);
                if tip.dot(d) >= rim.dot(d) { tip } else { rim }
            }
            Self::Ellipsoid { radii } => {
                let scaled = radii * d;
                let length = scaled.length();
                if length > 0.0 { radii * scaled / length } else { DVec3::new(radii.x, 0.0, 0.0) }
            }
            Self::Hull { hull, scale } => hull.points()[hull.farthest(d)] * scale,
            Self::Triangle(corners) => corners[farthest_corner(&corners, d)],
        }
    }

    /// Its place in the order of cores, which is that of a pair's two.
    #[inline]
    pub(crate) fn rank(&self) -> u8 {
        match self {
            Self::Point => 0,
            Self::Segment { .. } => 1,
            Self::Cuboid { .. } => 2,
            Self::Cylinder { .. } => 3,
            Self::Cone { .. } => 4,
            Self::Ellipsoid { .. } => 5,
            Self::Hull { .. } => 6,
            Self::Triangle(_) => 7,
        }
    }

    /// Whether it has a surface that is curved.
    pub(crate) fn is_curved(&self) -> bool {
        matches!(self, Self::Cylinder { .. } | Self::Cone { .. } | Self::Ellipsoid { .. })
    }

    /// The radius of a ball about the origin that holds it.
    #[inline]
    pub fn reach(&self) -> f64 {
        match *self {
            Self::Point => 0.0,
            Self::Segment { half } => half,
            Self::Cuboid { half } => half.length(),
            Self::Cylinder { radius, half } | Self::Cone { radius, half } => (radius * radius + half * half).sqrt(),
            Self::Ellipsoid { radii } => radii.max_element(),
            Self::Hull { hull, scale } => hull.reach() * scale,
            Self::Triangle(corners) => corners.map(|p| p.length_squared()).into_iter().fold(0.0, f64::max).sqrt(),
        }
    }
}

impl Core<'_> {
    /// The radius of a ball about the origin that holds it, found without a root: not the smallest.
    #[inline]
    pub(crate) fn bound(&self) -> f64 {
        match *self {
            Self::Cuboid { half } => half.element_sum(),
            Self::Cylinder { radius, half } | Self::Cone { radius, half } => radius + half,
            _ => self.reach(),
        }
    }

    /// Half of the edges of a box about the origin, along the axes of the core, that holds it.
    #[inline]
    pub fn extent(&self) -> DVec3 {
        match *self {
            Self::Point => DVec3::ZERO,
            Self::Segment { half } => DVec3::new(0.0, 0.0, half),
            Self::Cuboid { half } => half,
            Self::Cylinder { radius, half } | Self::Cone { radius, half } => DVec3::new(radius, radius, half),
            Self::Ellipsoid { radii } => radii,
            Self::Hull { hull, scale } => DVec3::splat(hull.reach() * scale),
            Self::Triangle(corners) => corners[0].abs().max(corners[1].abs()).max(corners[2].abs()),
        }
    }
}

/// The corner of a triangle that is farthest along a direction; the first one of several.
#[inline]
pub(crate) fn farthest_corner(corners: &[DVec3; 3], d: DVec3) -> usize {
    let along = corners.map(|p| p.dot(d));
    if along[0] >= along[1] && along[0] >= along[2] {
        0
    } else if along[1] >= along[2] {
        1
    } else {
        2
    }
}

/// The point of a circle about z that is farthest along a direction, as x and y.
#[inline]
fn rim(d: DVec3, radius: f64) -> Flat {
    let length = (d.x * d.x + d.y * d.y).sqrt();
    if length > 0.0 { Flat([radius * d.x / length, radius * d.y / length]) } else { Flat([radius, 0.0]) }
}

struct Flat([f64; 2]);

impl Flat {
    #[inline]
    fn extend_z(self, z: f64) -> DVec3 {
        DVec3::new(self.0[0], self.0[1], z)
    }
}

/// A core with its rounding, where it stands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Placed<'a> {
    /// The core.
    pub core: Core<'a>,
    /// By how much it is rounded.
    pub rounding: f64,
    /// Where its origin is.
    pub position: DVec3,
    /// How it is turned.
    pub rotation: DMat3,
}

impl Placed<'_> {
    /// The point of the core farthest along a direction, from its own origin.
    #[inline]
    pub(crate) fn support(&self, direction: DVec3) -> DVec3 {
        self.rotation * self.core.support(self.rotation.transpose() * direction)
    }

    /// The radius of a ball about its origin that holds it, rounding included.
    pub fn reach(&self) -> f64 {
        self.core.reach() + self.rounding
    }

    /// The smallest box along the axes that holds it, as its low and its high corner.
    pub fn aabb(&self) -> [DVec3; 2] {
        // Along each axis by the support point there, all in the core's frame.
        let back = self.rotation.transpose();
        let along = |k: usize| self.core.support(back.col(k)).dot(back.col(k));
        let against = |k: usize| self.core.support(-back.col(k)).dot(back.col(k));
        let high = DVec3::new(along(0), along(1), along(2));
        let is_symmetric = !matches!(self.core, Core::Cone { .. } | Core::Hull { .. } | Core::Triangle(_));
        let low = if is_symmetric { -high } else { DVec3::new(against(0), against(1), against(2)) };
        [self.position + low - self.rounding, self.position + high + self.rounding]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn vector() -> impl Strategy<Value = DVec3> {
        [-1.0..1.0f64, -1.0..1.0, -1.0..1.0].prop_map(DVec3::from_array)
    }

    /// Whether a point lies in a core, by its definition.
    fn holds(core: &Core<'_>, p: DVec3) -> bool {
        let slack = 1e-12;
        let flat = p.x.hypot(p.y);
        match *core {
            Core::Point => p.length() <= slack,
            Core::Segment { half } => flat <= slack && p.z.abs() <= half + slack,
            Core::Cuboid { half } => (p.abs() - half).max_element() <= slack,
            Core::Cylinder { radius, half } => flat <= radius + slack && p.z.abs() <= half + slack,
            Core::Cone { radius, half } => p.z >= -half - slack && flat <= radius * (half - p.z) / (2.0 * half) + slack,
            Core::Ellipsoid { radii } => (p / radii).length() <= 1.0 + slack,
            Core::Hull { hull, scale } => hull.points().iter().any(|q| *q * scale == p),
            Core::Triangle(corners) => corners.contains(&p),
        }
    }

    proptest! {
        /// A box around a shape touches it on every side, and holds its support points.
        #[test]
        fn boxes_around_shapes_are_tight(axis in vector(), angle in 0.0..6.3f64, d in vector()) {
            prop_assume!(axis.length() > 0.1);
            let rotation = DMat3::from_axis_angle(axis.normalize(), angle);
            for core in [
                Core::Segment { half: 0.7 },
                Core::Cuboid { half: DVec3::new(0.3, 0.5, 0.9) },
                Core::Cylinder { radius: 0.4, half: 0.6 },
                Core::Cone { radius: 0.4, half: 0.6 },
                Core::Ellipsoid { radii: DVec3::new(0.3, 0.5, 0.9) },
                Core::Triangle([DVec3::X, DVec3::Y, DVec3::Z]),
            ] {
                let shape = Placed { core, rounding: 0.1, position: DVec3::new(5.0, 6.0, 7.0), rotation };
                let [low, high] = shape.aabb();
                for axis in DVec3::AXES {
                    let top = (shape.position + shape.support(axis)).dot(axis) + 0.1;
                    let bottom = (shape.position + shape.support(-axis)).dot(axis) - 0.1;
                    prop_assert!((top - high.dot(axis)).abs() < 1e-12 && (bottom - low.dot(axis)).abs() < 1e-12);
                }
                let p = shape.position + shape.support(d);
                prop_assert!((p - high).max_element() < 0.0 && (low - p).max_element() < 0.0, "{core:?}");
            }
        }

        /// A support point belongs to the core, no point of it is farther along, and the ball holds it.
        #[test]
        fn support_points_are_farthest(d in vector(), other in vector()) {
            let hull = Hull::new(vec![DVec3::X, DVec3::Y, DVec3::Z, -DVec3::ONE], [[0, 1, 2], [0, 3, 1], [0, 2, 3], [1, 3, 2]]);
            for core in [
                Core::Point,
                Core::Segment { half: 0.7 },
                Core::Cuboid { half: DVec3::new(0.3, 0.5, 0.9) },
                Core::Cylinder { radius: 0.4, half: 0.6 },
                Core::Cone { radius: 0.4, half: 0.6 },
                Core::Ellipsoid { radii: DVec3::new(0.3, 0.5, 0.9) },
                Core::Hull { hull: &hull, scale: 1.5 },
                Core::Triangle([DVec3::X, DVec3::Y, DVec3::Z]),
            ] {
                let p = core.support(d);
                prop_assert!(holds(&core, p), "{core:?}: {p}");
                prop_assert!(p.length() <= core.reach() + 1e-12);
                if holds(&core, other) {
                    prop_assert!(other.dot(d) <= p.dot(d) + 1e-12, "{core:?}: {other} is farther than {p}");
                }
                let q = core.support(other);
                prop_assert!(q.dot(d) <= p.dot(d) + 1e-12, "{core:?}: {q} is farther than {p}");
            }
        }
    }
}
