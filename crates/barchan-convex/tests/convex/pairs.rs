//! Functions of single pairs against the general algorithm, and against an independent narrow phase.

use crate::poses::{CORES, config, core, hull, turn, unit};
use barchan_convex::{Closest, Core, Placed, closest, gap, manifold};
use glam::{DMat3, DQuat, DVec3};
use parry3d_f64::shape::{Ball, Capsule, Cone, ConvexPolyhedron, Cuboid, Cylinder, SharedShape, Triangle};
use proptest::prelude::*;

/// The same shape in parry, which has no ellipsoids, and cones and cylinders about y.
fn theirs(core: &Core<'_>, rounding: f64) -> Option<SharedShape> {
    Some(match *core {
        Core::Point => SharedShape::new(Ball::new(rounding)),
        Core::Segment { half } => SharedShape::new(Capsule::new_z(half, rounding)),
        Core::Cuboid { half } => SharedShape::new(Cuboid::new(half)),
        Core::Cylinder { radius, half } => SharedShape::new(Cylinder::new(half, radius)),
        Core::Cone { radius, half } => SharedShape::new(Cone::new(half, radius)),
        Core::Ellipsoid { .. } => return None,
        Core::Hull { hull, scale } => {
            let points: Vec<_> = hull.points().iter().map(|p| *p * scale).collect();
            SharedShape::new(ConvexPolyhedron::from_convex_hull(&points)?)
        }
        Core::Triangle([a, b, c]) => SharedShape::new(Triangle::new(a, b, c)),
    })
}

fn pose(shape: &Placed<'_>) -> parry3d_f64::math::Pose {
    let mut pose = parry3d_f64::math::Pose::identity();
    // What is about z here is about y there.
    let is_round = matches!(shape.core, Core::Cylinder { .. } | Core::Cone { .. });
    let own = if is_round { DMat3::from_rotation_x(std::f64::consts::FRAC_PI_2) } else { DMat3::IDENTITY };
    pose.translation = shape.position;
    pose.rotation = DQuat::from_mat3(&(shape.rotation * own));
    pose
}

proptest! {
    #![proptest_config(config())]

    /// Every pair has the gap that the general algorithm finds, and the first point of its manifold lies there.
    #[test]
    fn gaps_are_those_of_the_general_algorithm(
        which in (0..CORES, 0..CORES),
        scale in 0..3usize,
        turns in (turn(), turn()),
        (direction, distance) in (unit(), 0.0..2.0f64),
        rounding in prop_oneof![Just(0.0), 0.0..0.3f64],
    ) {
        let size = [1e-4, 1.0, 1e3][scale];
        let hull = hull();
        let place = |which, rotation, position: DVec3| {
            Placed { core: core(which, size, &hull), rounding: rounding * size, position: position * size, rotation }
        };
        let a = place(which.0, turns.0, DVec3::X);
        let b = place(which.1, turns.1, DVec3::X + direction * distance);
        let slow: Closest = closest(&a, &b, f64::INFINITY).expect("within infinity");
        let fast = gap(&a, &b, f64::INFINITY).expect("within infinity");
        prop_assert!((fast - slow.gap).abs() < 1e-6 * size, "{a:?} and {b:?}: {fast}, but {slow:?}");
        // Just within reach, and just not.
        prop_assert!(gap(&a, &b, fast + 1e-6 * size).is_some(), "{a:?} and {b:?}: {fast}");
        prop_assert!(gap(&a, &b, fast - 1e-6 * size).is_none(), "{a:?} and {b:?}: {fast}");
        prop_assert!(!manifold(&a, &b, fast + 1e-6 * size).touches().is_empty(), "{a:?} and {b:?}: {fast}");
    }

    /// The distance of shapes that are apart is what parry says of them, at a size its tolerance is made for.
    #[test]
    fn distances_are_those_of_parry(
        which in (0..CORES, 0..CORES),
        turns in (turn(), turn()),
        (direction, distance) in (unit(), 0.5..3.0f64),
    ) {
        let hull = hull();
        let place = |which, rotation, position: DVec3| {
            let rounding = if which < 2 { 0.2 } else { 0.0 };
            Placed { core: core(which, 1.0, &hull), rounding, position, rotation }
        };
        let a = place(which.0, turns.0, DVec3::ZERO);
        let b = place(which.1, turns.1, direction * distance);
        let shapes = (theirs(&a.core, a.rounding), theirs(&b.core, b.rounding));
        if let (Some(p), Some(q)) = shapes {
            let other = parry3d_f64::query::distance(&pose(&a), &*p, &pose(&b), &*q).expect("a pair that is known").distance;
            let own = gap(&a, &b, f64::INFINITY).expect("within infinity").max(0.0);
            // Its points are points of the shapes, and so never nearer than the shapes; within its tolerance they are not
            // always the nearest ones.
            prop_assert!(own < other + 1e-6, "{a:?} and {b:?}: {own}, but {other}");
            prop_assert!(own > other - 1e-4, "{a:?} and {b:?}: {own}, but {other}");
        }
    }
}
