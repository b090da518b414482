//! Contact points: what they have to do with the distance, and with the world around them.

use crate::poses::{CORES, config, core, hull, turn, unit};
use barchan_convex::{Core, Manifold, Placed, Touch, above_plane, closest, manifold};
use glam::{DMat3, DQuat, DVec3};
use proptest::prelude::*;

fn place(core: Core<'_>, position: DVec3) -> Placed<'_> {
    Placed { core, rounding: 0.0, position, rotation: DMat3::IDENTITY }
}

/// How far a point is from a shape: outside of it only.
fn outside(shape: &Placed<'_>, point: DVec3) -> f64 {
    let point = place(Core::Point, point);
    closest(&point, shape, f64::INFINITY).expect("within infinity").gap.max(0.0)
}

fn gaps(manifold: &Manifold) -> Vec<f64> {
    manifold.touches().iter().map(|touch| touch.gap).collect()
}

proptest! {
    #![proptest_config(config())]

    /// The deepest point has the gap of the two shapes, the others are no deeper, and all lie on the shapes.
    #[test]
    fn points_are_where_the_shapes_are_near(
        which in (0..CORES, 0..CORES),
        scale in 0..3usize,
        turns in (turn(), turn()),
        (direction, distance) in (unit(), 0.3..2.0f64),
        rounding in prop_oneof![Just(0.0), 0.0..0.3f64],
        reach in 0.0..0.5f64,
        world in (unit(), 0.0..6.3f64),
    ) {
        let size = [1e-4, 1.0, 1e3][scale];
        let hull = hull();
        let place = |which, rotation, position: DVec3| {
            Placed { core: core(which, size, &hull), rounding: rounding * size, position: position * size, rotation }
        };
        let a = place(which.0, turns.0, 10.0 * DVec3::X);
        let b = place(which.1, turns.1, 10.0 * DVec3::X + direction * distance);
        let reach = reach * size;
        let found = manifold(&a, &b, reach);
        let case = format!("{a:?} and {b:?} within {reach}: {found:?}");
        let Some(nearest) = closest(&a, &b, reach) else {
            prop_assert!(found.touches().is_empty(), "{case}");
            return Ok(());
        };
        prop_assert!(!found.touches().is_empty(), "{case}");
        prop_assert!((found.touches()[0].gap - nearest.gap).abs() < 2e-5 * size, "{case}, but {nearest:?}");
        for touch in found.touches() {
            prop_assert!(touch.gap <= reach && touch.gap > nearest.gap - 1e-6 * size, "{case}, but {nearest:?}");
            prop_assert!((touch.normal.length() - 1.0).abs() < 1e-9, "{case}");
            // The surfaces lie to either side of the point. How a cone is
            // curved along its side is not asked for.
            let depth = 0.5 * touch.gap;
            let slack = 1e-3 * size;
            let is_cone = which.0 == 4 || which.1 == 4;
            for (shape, sign) in [(&a, 1.0), (&b, -1.0)] {
                let off = outside(shape, touch.point + sign * touch.normal * depth);
                prop_assert!(is_cone || off <= slack, "{case}: {touch:?} is off by {off}");
            }
        }
        let keys: Vec<_> = found.touches().iter().map(|touch| touch.key).collect();
        for (k, key) in keys.iter().enumerate() {
            prop_assert!(!keys[..k].contains(key), "{case}: a key twice");
        }

        // The other way round it is the same, mirrored, to the last bit.
        let back = manifold(&b, &a, reach);
        let mirrored = back.touches().iter().map(|t| Touch { normal: -t.normal, key: [t.key[1], t.key[0]], ..*t });
        prop_assert!(mirrored.eq(found.touches().iter().copied()), "{case}, but back {back:?}");

        // In a world that is turned it is turned. Ties may be broken otherwise; what is deepest is not a matter of that.
        let turned = DMat3::from_quat(DQuat::from_axis_angle(world.0, world.1));
        let turn = |p: &Placed<'_>| {
            let position = turned * p.position;
            Placed { position, rotation: turned * p.rotation, core: which_core(p, &a, which, size, &hull), rounding: p.rounding }
        };
        let other = manifold(&turn(&a), &turn(&b), reach);
        if reach - nearest.gap > 1e-6 * size {
            prop_assert!((other.touches()[0].gap - found.touches()[0].gap).abs() < 3e-5 * size, "{case}, turned {other:?}");
        }
    }
}

/// The core of one of two shapes.
fn which_core<'a>(
    p: &Placed<'_>,
    a: &Placed<'_>,
    which: (usize, usize),
    size: f64,
    hull: &'a barchan_convex::Hull,
) -> Core<'a> {
    core(if std::ptr::eq(p, a) { which.0 } else { which.1 }, size, hull)
}

#[test]
fn boxes_that_lie_on_each_other_touch_in_four_corners() {
    let cube = Core::Cuboid { half: DVec3::ONE };
    let below = place(cube, DVec3::ZERO);
    for (aside, turn) in [(0.0, 0.0), (1e-6, 0.0), (0.5, 0.0), (0.3, 0.4), (0.0, 0.78)] {
        let above =
            Placed { rotation: DMat3::from_rotation_z(turn), ..place(cube, DVec3::new(aside, -0.3 * aside, 1.999)) };
        let found = manifold(&above, &below, 0.01);
        assert_eq!(found.touches().len(), 4, "{aside} {turn}: {found:?}");
        for touch in found.touches() {
            assert!((touch.gap + 0.001).abs() < 1e-9 && (touch.normal - DVec3::Z).length() < 1e-9, "{touch:?}");
        }
        // A small motion changes no name.
        let moved = Placed { position: above.position + DVec3::new(1e-7, -2e-7, 1e-6), ..above };
        let names = |found: &Manifold| found.touches().iter().map(|t| t.key).collect::<std::collections::BTreeSet<_>>();
        assert_eq!(names(&manifold(&moved, &below, 0.01)), names(&found), "{aside} {turn}");
    }
    // Edge on edge: one point.
    let tilted = DMat3::from_rotation_z(0.7) * DMat3::from_rotation_x(std::f64::consts::FRAC_PI_4);
    let upper = Placed { rotation: DMat3::from_rotation_z(1.5) * tilted, ..place(cube, DVec3::Z * 2.0 * 2f64.sqrt()) };
    let found = manifold(&upper, &Placed { rotation: tilted, ..below }, 0.01);
    assert_eq!(found.touches().len(), 1, "{found:?}");
}

#[test]
fn what_lies_along_touches_in_two_points() {
    let capsule = Placed { rounding: 0.2, ..place(Core::Segment { half: 1.0 }, DVec3::ZERO) };
    let lying = DMat3::from_rotation_y(std::f64::consts::FRAC_PI_2);
    let floor = place(Core::Cuboid { half: DVec3::new(5.0, 5.0, 1.0) }, -DVec3::Z);
    let cylinder = place(Core::Cylinder { radius: 0.2, half: 1.0 }, DVec3::ZERO);
    for shape in [capsule, cylinder] {
        let low = Placed { rotation: lying, position: DVec3::Z * 0.2, ..shape };
        assert_eq!(gaps(&manifold(&low, &floor, 0.01)).len(), 2);
        assert_eq!(gaps(&above_plane(&low, DVec3::ZERO, DVec3::Z, 0.01)).len(), 2);
        // On each other, along and nearly so: the ends of what they share.
        let high = Placed { position: DVec3::new(0.3, 0.0, 0.6), ..low };
        let found = manifold(&high, &low, 0.01);
        assert_eq!(found.touches().len(), 2, "{found:?}");
        assert!(found.touches().iter().all(|touch| (touch.gap).abs() < 1e-9), "{found:?}");
        let mut ends: Vec<f64> = found.touches().iter().map(|touch| touch.point.x).collect();
        ends.sort_by(f64::total_cmp);
        assert!((ends[0] + 0.7).abs() < 1e-6 && (ends[1] - 1.0).abs() < 1e-6, "{found:?}");
        // At an angle the ends part as those of round bodies do.
        let across = Placed { rotation: DMat3::from_rotation_z(0.2) * lying, position: DVec3::Z * 0.6, ..low };
        let found = manifold(&across, &low, 1.0);
        assert!((found.touches()[0].gap).abs() < 1e-9, "{found:?}");
        for touch in &found.touches()[1..] {
            let exact = 0.4f64.hypot(0.2f64.sin()) - 0.4;
            assert!((touch.gap - exact).abs() < 3e-3, "{touch:?} and {exact}");
        }
    }
    // Standing on its end, a cylinder has four; tilted by a little, the deepest is where it tilts to.
    for tilt in [0.0, 0.003] {
        let rotation = DMat3::from_rotation_z(0.3) * DMat3::from_rotation_y(tilt);
        let found = manifold(&Placed { position: DVec3::Z, rotation, ..cylinder }, &floor, 0.01);
        assert_eq!(found.touches().len(), 4, "{tilt}: {found:?}");
        let plane = above_plane(&Placed { position: DVec3::Z, rotation, ..cylinder }, DVec3::ZERO, DVec3::Z, 0.01);
        assert_eq!(plane.touches().len(), 4, "{tilt}: {plane:?}");
        assert!((plane.touches()[0].gap - found.touches()[0].gap).abs() < 1e-9, "{plane:?} and {found:?}");
    }
}
