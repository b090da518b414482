//! Bounded bodies of any shape at half-spaces, and within the walls of containers: only what faces the plane counts,
//! so a mesh touches as its convex hull does.

use super::solids::{Stand, contact};
use super::{ContactPoint, FeatureKey, balls};
use crate::shape::{Container, Solid};
use barchan_convex::{Core, Placed, above_plane};
use glam::{DQuat, DVec3};

/// The part that the ball about a body is taken larger, so that rounding hides no wall.
const ROUNDING: f64 = 1e-9;

/// Calls `found` for every contact of A above a plane with a gap up to `reach`. The plane passes through a point, has a
/// unit normal towards A, and is feature number `wall` of its body.
pub(super) fn visit(
    a: &Stand<'_>,
    (point, normal, wall): (DVec3, DVec3, u32),
    reach: f64,
    found: &mut dyn FnMut(ContactPoint),
) {
    if (a.x - point).dot(normal) > a.bound() + reach {
        return;
    }
    if balls::are_all(a.solid) {
        return balls::above_plane(a, (point, normal, wall), reach, found);
    }
    each_hull(a, |part, solid| {
        for touch in above_plane(&solid, point, normal, reach).touches() {
            let touch = contact(touch, [part, 0]);
            found(ContactPoint { key: FeatureKey { on_b: wall, ..touch.key }, ..touch });
        }
    });
}

/// The same for every wall of a container that stands at x and is turned. What has left through a missing wall, and is
/// wholly beyond, is no longer held by the others.
pub(super) fn container(
    a: &Stand<'_>,
    (x, turn, container): (DVec3, DQuat, &Container),
    reach: f64,
    found: &mut dyn FnMut(ContactPoint),
) {
    // Most bodies are far from every wall.
    let near = container.half_extents - DVec3::splat((a.bound() + reach) * (1.0 + ROUNDING));
    if (turn.conjugate() * (a.x - x)).abs().cmple(near).all() {
        return;
    }
    let beyond = container.open.iter().any(|face| {
        let (axis, side) = face.axis_and_side();
        let outward = turn * (DVec3::AXES[axis] * side);
        let limit = x.dot(outward) + container.half_extents[axis];
        a.x.dot(outward) + a.bound() > limit && low(a, outward) > limit
    });
    if beyond {
        return;
    }
    for face in container.walls() {
        let (axis, side) = face.axis_and_side();
        let inward = turn * (DVec3::AXES[axis] * -side);
        let point = x - inward * container.half_extents[axis];
        visit(a, (point, inward, face as u32), reach, found);
    }
}

/// The least that a body reaches along a direction.
fn low(a: &Stand<'_>, direction: DVec3) -> f64 {
    let mut least = f64::INFINITY;
    each_hull(a, |_, solid| {
        let farthest = solid.core.support(solid.rotation.transpose() * -direction);
        let along = (solid.position + solid.rotation * farthest).dot(direction) - solid.rounding;
        least = least.min(along);
    });
    least
}

/// Calls `each` with the convex solids of a body, and with the convex hull of a mesh.
fn each_hull<'a>(a: &Stand<'a>, mut each: impl FnMut(u32, Placed<'a>)) {
    if let Solid::Triangles(mesh) = a.solid {
        let core = Core::Hull { hull: mesh.triangles.hull(), scale: mesh.scale };
        let position = a.x + a.r * (mesh.triangles.centre * mesh.scale);
        each(0, Placed { core, rounding: 0.0, position, rotation: a.r });
    } else {
        a.convex_parts(each);
    }
}
