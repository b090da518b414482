//! Distances and overlaps against what a separating axis has to say.
//!
//! For convex shapes the gap is the largest over all directions n of what lies between the planes across n that touch
//! them, apart or overlapping. Any direction bounds it from below, and the right one attains it.

use crate::poses::{CORES, config, core, hull, turn, unit};
use barchan_convex::{Closest, Core, Placed, closest};
use glam::{DMat3, DVec3};
use proptest::prelude::*;

/// What lies between the planes across n that touch A and B.
fn between(a: &Placed<'_>, b: &Placed<'_>, n: DVec3) -> f64 {
    let low = |p: &Placed<'_>| p.position + p.rotation * p.core.support(p.rotation.transpose() * -n);
    let high = |p: &Placed<'_>| p.position + p.rotation * p.core.support(p.rotation.transpose() * n);
    (low(a) - high(b)).dot(n) - a.rounding - b.rounding
}

/// The largest of it, by climbing from a direction.
fn climb(a: &Placed<'_>, b: &Placed<'_>, mut n: DVec3) -> f64 {
    let (mut best, mut step) = (between(a, b, n), 0.5);
    while step > 1e-7 {
        let side = n.any_orthonormal_vector();
        let other = n.cross(side);
        let tries = [side, -side, other, -other, side + other, side - other].map(|d| (n + d * step).normalize());
        match tries.into_iter().find(|&m| between(a, b, m) > best) {
            Some(m) => (n, best) = (m, between(a, b, m)),
            None => step *= 0.5,
        }
    }
    best
}

fn check(a: &Placed<'_>, b: &Placed<'_>, size: f64, starts: &[DVec3]) -> Result<Closest, TestCaseError> {
    let case = format!("{:?} and {:?}", a, b);
    let found = closest(a, b, f64::INFINITY).ok_or_else(|| TestCaseError::fail("nothing within infinity"))?;
    prop_assert!((found.normal.length() - 1.0).abs() < 1e-9, "{case}: {found:?}");
    // The normal attains the gap, and no direction has more.
    let attained = between(a, b, found.normal);
    prop_assert!((attained - found.gap).abs() < 1e-6 * size, "{case}: {found:?}, and {attained} along the normal");
    for &start in starts {
        let most = climb(a, b, start);
        prop_assert!(most <= found.gap + 1e-6 * size, "{case}: {found:?}, and {most} by another way");
    }
    prop_assert!((found.on_a - found.on_b - found.normal * found.gap).length() < 1e-9 * size.max(1e-9));
    // The points lie in the shapes. How far along a curved surface is as uncertain as the root of the gap.
    for (p, point, sign) in [(a, found.on_a, -1.0), (b, found.on_b, 1.0)] {
        for n in starts.iter().copied().chain([sign * found.normal]) {
            let face = p.position + p.rotation * p.core.support(p.rotation.transpose() * n) + n * p.rounding;
            prop_assert!((point - face).dot(n) < 1e-3 * size, "{case}: {point} is outside, {found:?}");
        }
    }
    Ok(found)
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn no_direction_separates_better(
        which in (0..CORES, 0..CORES),
        scale in 0..3usize,
        turns in (turn(), turn()),
        (direction, distance) in (unit(), 0.0..3.0f64),
        rounding in prop_oneof![Just(0.0), 0.0..0.3f64],
        starts in proptest::collection::vec(unit(), 4),
    ) {
        let size = [1e-4, 1.0, 1e3][scale];
        let hull = hull();
        let place = |which, rotation, position: DVec3| {
            Placed { core: core(which, size, &hull), rounding: rounding * size, position: position * size, rotation }
        };
        let a = place(which.0, turns.0, 10.0 * DVec3::X);
        let b = place(which.1, turns.1, 10.0 * DVec3::X + direction * distance);
        let found = check(&a, &b, size, &starts)?;
        // Within a reach that is a little too short there is nothing, and the other way round it is the same.
        if found.gap > 0.0 {
            prop_assert!(closest(&a, &b, found.gap - 1e-6 * size).is_none());
        }
        let back = check(&b, &a, size, &starts)?;
        prop_assert!((back.gap - found.gap).abs() < 1e-6 * size, "{a:?} and {b:?}: {found:?} and back {back:?}");
    }

    /// Faces that just touch, or are pressed in by a little.
    #[test]
    fn stacked_shapes(
        which in (2..CORES, 2..CORES),
        press in prop_oneof![Just(0.0), -1e-3..1e-3f64, Just(1e-12), Just(-1e-12)],
        aside in (-0.2..0.2f64, -0.2..0.2f64),
        starts in proptest::collection::vec(unit(), 4),
    ) {
        let hull = hull();
        let place = |which, z: f64| Placed {
            core: core(which, 1.0, &hull),
            rounding: 0.0,
            position: DVec3::new(aside.0, aside.1, 0.0) * z.signum() + DVec3::Z * z,
            rotation: DMat3::IDENTITY,
        };
        let top = |which: usize| core(which, 1.0, &hull).support(DVec3::Z).z;
        let bottom = |which: usize| -core(which, 1.0, &hull).support(-DVec3::Z).z;
        let a = place(which.0, bottom(which.0) + 0.5 * press + 1e-3);
        let b = place(which.1, -top(which.1) - 0.5 * press - 1e-3);
        check(&a, &b, 1.0, &starts)?;
    }
}

#[test]
fn spheres_and_boxes_in_closed_form() {
    let place = |core, rounding, x: f64| Placed { core, rounding, position: x * DVec3::X, rotation: DMat3::IDENTITY };
    for x in [3.0, 2.0, 1.5, 0.1] {
        let found = closest(&place(Core::Point, 1.0, x), &place(Core::Point, 1.0, 0.0), 10.0).expect("within reach");
        assert!((found.gap - (x - 2.0)).abs() < 1e-12 && found.normal == DVec3::X);
        let cube = Core::Cuboid { half: DVec3::ONE };
        let found = closest(&place(Core::Point, 0.25, x), &place(cube, 0.0, 0.0), 10.0).expect("within reach");
        assert!((found.gap - (x - 1.25)).abs() < 1e-9, "{x}: {found:?}");
        let found = closest(&place(cube, 0.0, x), &place(cube, 0.0, 0.0), 10.0).expect("within reach");
        assert!((found.gap - (x - 2.0)).abs() < 1e-9, "{x}: {found:?}");
        assert!((found.normal - DVec3::X).length() < 1e-6 || x < 0.2, "{x}: {found:?}");
    }
    // Segments that cross have no volume between them.
    let cross = Placed { rotation: DMat3::from_rotation_x(1.0), ..place(Core::Segment { half: 1.0 }, 0.2, 0.0) };
    let found = closest(&cross, &place(Core::Segment { half: 1.0 }, 0.2, 0.0), 1.0).expect("they meet");
    assert!((found.gap + 0.4).abs() < 1e-9 && found.normal.x.abs() > 1.0 - 1e-9, "{found:?}");
    assert_eq!(closest(&place(Core::Point, 1.0, 5.0), &place(Core::Point, 1.0, 0.0), 1.0), None);
}
