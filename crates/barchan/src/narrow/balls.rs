//! Bodies that are spheres, or glued of a few of them: sphere by sphere, in closed form.
//!
//! Of two such bodies that are neighbours most spheres are far from each other. Only those are tried that come near the
//! ball that holds the whole other body.

use super::solids::{Stand, keyed};
use super::{ContactPoint, FeatureKey, sphere_sphere};
use crate::shape::{Shape, Solid};
use arrayvec::ArrayVec;
use barchan_convex::Core;
use glam::DVec3;

/// Spheres of a body at most; bodies of more are left to the general way, part by part.
const ROOM: usize = 8;
/// The part of its radius that the ball about a body is made larger by, so that rounding leaves out no sphere.
const ROUNDING: f64 = 1e-9;

/// A sphere of a body, and its number as [`keyed`] takes it.
#[derive(Clone, Copy)]
struct Ball {
    x: DVec3,
    radius: f64,
    part: u32,
}

/// Whether a body consists of spheres, and of few.
#[inline]
pub(super) fn are_all(solid: Solid<'_>) -> bool {
    match solid {
        Solid::One(convex) => convex.core == Core::Point,
        Solid::Parts(parts) => parts.len() <= ROOM && parts.iter().all(|part| matches!(part.shape, Shape::Sphere(_))),
        Solid::Triangles(_) => false,
    }
}

/// Calls `each` with the spheres of a body that consists of such.
#[inline(always)]
fn each(stand: &Stand<'_>, mut each: impl FnMut(Ball)) {
    match stand.solid {
        Solid::One(convex) => each(Ball { x: stand.x, radius: convex.rounding, part: 0 }),
        Solid::Parts(parts) => {
            for (part, number) in parts.iter().zip(1..) {
                if let Shape::Sphere(sphere) = &part.shape {
                    each(Ball { x: stand.x + stand.r * part.position, radius: sphere.radius, part: number });
                }
            }
        }
        Solid::Triangles(_) => {}
    }
}

/// Calls `found` for every contact of two bodies of spheres with a gap up to `reach`.
pub(super) fn visit(a: &Stand<'_>, b: &Stand<'_>, reach: f64, found: &mut dyn FnMut(ContactPoint)) {
    let [bound_a, bound_b] = [a, b].map(|stand| stand.bound() * (1.0 + ROUNDING));
    let mut near: ArrayVec<Ball, ROOM> = ArrayVec::new();
    each(b, |other| {
        if sphere_sphere::within(a.x, bound_a, other.x, other.radius, reach) {
            near.push(other);
        }
    });
    if near.is_empty() {
        return;
    }
    each(a, |own| {
        if !sphere_sphere::within(own.x, own.radius, b.x, bound_b, reach) {
            return;
        }
        for other in &near {
            sphere_sphere::visit(own.x, own.radius, other.x, other.radius, reach, |touch| {
                let key = FeatureKey { on_a: keyed(own.part, 0), on_b: keyed(other.part, 0) };
                found(ContactPoint { key, ..touch });
            });
        }
    });
}

/// Calls `found` for every contact of a body of spheres above a plane with a gap up to `reach`. The plane passes through
/// a point, has a unit normal towards the body, and is feature number `wall` of its own.
pub(super) fn above_plane(
    a: &Stand<'_>,
    (point, normal, wall): (DVec3, DVec3, u32),
    reach: f64,
    found: &mut dyn FnMut(ContactPoint),
) {
    each(a, |own| {
        let gap = (own.x - point).dot(normal) - own.radius;
        if gap <= reach {
            let key = FeatureKey { on_a: keyed(own.part, 1), on_b: wall };
            found(ContactPoint { point: own.x - normal * (own.radius + 0.5 * gap), normal, gap, key });
        }
    });
}

#[cfg(test)]
mod tests {
    use super::super::solids::contact;
    use super::*;
    use crate::shape::Part;
    use glam::DQuat;
    use proptest::prelude::*;

    /// Every sphere against every other.
    fn all_pairs(a: &Stand<'_>, b: &Stand<'_>, reach: f64) -> Vec<ContactPoint> {
        let mut found = Vec::new();
        each(a, |own| {
            each(b, |other| {
                sphere_sphere::visit(own.x, own.radius, other.x, other.radius, reach, |touch| {
                    let key = FeatureKey { on_a: keyed(own.part, 0), on_b: keyed(other.part, 0) };
                    found.push(ContactPoint { key, ..touch });
                });
            });
        });
        found
    }

    fn vector(scale: f64) -> impl Strategy<Value = DVec3> {
        [-1.0..1.0f64, -1.0..1.0, -1.0..1.0].prop_map(move |x| DVec3::from_array(x) * scale)
    }

    fn body() -> impl Strategy<Value = Shape> {
        let balls = prop::collection::vec((vector(1.0), 0.1..0.8f64), 1..=ROOM);
        let part = |(x, radius)| Part::new(Shape::sphere(radius)).at(x, DQuat::IDENTITY);
        balls.prop_map(move |balls| Shape::composite(balls.into_iter().map(part).collect()))
    }

    proptest! {
        #[test]
        fn as_every_sphere_against_every_other(
            shapes in [body(), body()], x in vector(3.0), turns in [vector(3.0), vector(3.0)], reach in -0.1..0.5f64,
        ) {
            let [qa, qb] = turns.map(DQuat::from_scaled_axis);
            let stands = (Stand::new(&shapes[0], x, qa), Stand::new(&shapes[1], DVec3::ZERO, qb));
            let (Some(a), Some(b)) = stands else { return Err(TestCaseError::fail("they are bounded")) };
            prop_assert!(are_all(a.solid) && are_all(b.solid));
            let mut found = Vec::new();
            visit(&a, &b, reach, &mut |touch| found.push(touch));
            prop_assert_eq!(found, all_pairs(&a, &b, reach));
        }

        #[test]
        fn at_a_plane_as_any_convex_solids(
            shape in body(), x in vector(1.0), turn in vector(3.0), point in vector(1.0), normal in vector(1.0),
            reach in -0.1..0.5f64,
        ) {
            let normal = normal.normalize_or(DVec3::Z);
            let stand = Stand::new(&shape, x, DQuat::from_scaled_axis(turn));
            let Some(a) = stand else { return Err(TestCaseError::fail("it is bounded")) };
            let (mut found, mut twin) = (Vec::new(), Vec::new());
            above_plane(&a, (point, normal, 3), reach, &mut |touch| found.push(touch));
            a.convex_parts(|part, solid| {
                for touch in barchan_convex::above_plane(&solid, point, normal, reach).touches() {
                    let touch = contact(touch, [part, 0]);
                    twin.push(ContactPoint { key: FeatureKey { on_b: 3, ..touch.key }, ..touch });
                }
            });
            prop_assert_eq!(found, twin);
        }
    }
}
