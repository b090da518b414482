//! Two bounded bodies of any shape: their convex solids and triangles, pair by pair.

use super::convex_mesh::Guest;
use super::{ContactPoint, FeatureKey, balls, convex_mesh, mesh_mesh};
use crate::shape::{Part, Scaled, Shape, Solid};
use barchan_convex::{Core, Manifold, Placed, Touch, manifold};
use glam::{DMat3, DQuat, DVec3};

/// A shape where it stands.
#[derive(Clone, Copy)]
pub(super) struct Stand<'a> {
    pub(super) solid: Solid<'a>,
    pub(super) x: DVec3,
    pub(super) r: DMat3,
    pub(super) shape: &'a Shape,
}

impl<'a> Stand<'a> {
    /// A shape at x, turned by q; `None` if it is unbounded.
    #[inline(always)]
    pub(super) fn new(shape: &'a Shape, x: DVec3, q: DQuat) -> Option<Self> {
        Some(Self { solid: shape.solid()?, x, r: DMat3::from_quat(q), shape })
    }

    /// The radius of a ball about its place that holds it.
    pub(super) fn bound(&self) -> f64 {
        self.shape.bounding_radius().unwrap_or(f64::INFINITY)
    }

    /// Calls `each` with every convex solid, and its number as [`keyed`] takes it; triangles are none.
    pub(super) fn convex_parts(&self, mut each: impl FnMut(u32, Placed<'a>)) {
        match self.solid {
            Solid::One(convex) => each(0, convex.placed(self.x, &self.r)),
            Solid::Parts(parts) => {
                for (k, part) in (1..).zip(parts) {
                    each(k, self.part(part));
                }
            }
            Solid::Triangles(_) => {}
        }
    }

    /// A part where it stands. Parts are convex.
    #[inline]
    fn part(&self, part: &'a Part) -> Placed<'a> {
        if let Shape::Sphere(sphere) = &part.shape {
            let position = self.x + self.r * part.position;
            return Placed { core: Core::Point, rounding: sphere.radius, position, rotation: self.r };
        }
        let r = self.r * part.rotation;
        match part.shape.solid() {
            Some(Solid::One(convex)) => convex.placed(self.x + self.r * part.position, &r),
            _ => unreachable!("a composite of parts that are not convex has faults"),
        }
    }
}

/// The number of a feature of part `part`: that of the feature itself where there is one part only.
#[inline]
pub(super) fn keyed(part: u32, feature: u32) -> u32 {
    feature ^ part.wrapping_mul(0x9e37_79b1)
}

/// A contact of two convex solids, of these parts.
#[inline]
pub(super) fn contact(touch: &Touch, [on_a, on_b]: [u32; 2]) -> ContactPoint {
    let key = FeatureKey { on_a: keyed(on_a, touch.key[0]), on_b: keyed(on_b, touch.key[1]) };
    ContactPoint { point: touch.point, normal: touch.normal, gap: touch.gap, key }
}

/// The same contact with the bodies in the other order.
pub(super) fn mirrored(touch: ContactPoint) -> ContactPoint {
    ContactPoint { normal: -touch.normal, key: touch.key.reversed(), ..touch }
}

/// Calls `found` for every contact between two bodies with a gap up to `reach`.
pub(super) fn visit(a: &Stand<'_>, b: &Stand<'_>, reach: f64, found: &mut dyn FnMut(ContactPoint)) {
    match (a.solid, b.solid) {
        (Solid::Triangles(mesh), Solid::Triangles(other)) => mesh_mesh::visit([(a, mesh), (b, other)], reach, found),
        (_, Solid::Triangles(mesh)) => with_mesh(a, (b, mesh), reach, found),
        (Solid::Triangles(mesh), _) => with_mesh(b, (a, mesh), reach, &mut |touch| found(mirrored(touch))),
        (Solid::One(convex), Solid::One(other)) => {
            let touches = manifold(&convex.placed(a.x, &a.r), &other.placed(b.x, &b.r), reach);
            emit(&touches, [0, 0], found);
        }
        _ if balls::are_all(a.solid) && balls::are_all(b.solid) => balls::visit(a, b, reach, found),
        _ => with_parts(a, b, reach, found),
    }
}

/// Every convex solid of A against every one of B.
fn with_parts(a: &Stand<'_>, b: &Stand<'_>, reach: f64, found: &mut dyn FnMut(ContactPoint)) {
    let mut touches = Manifold::default();
    a.convex_parts(|k, own| {
        b.convex_parts(|l, other| {
            if may_meet(&own, &other, reach) {
                touches.find(&own, &other, reach);
                emit(&touches, [k, l], found);
            }
        });
    });
}

fn emit(manifold: &Manifold, parts: [u32; 2], found: &mut dyn FnMut(ContactPoint)) {
    manifold.touches().iter().for_each(|touch| found(contact(touch, parts)));
}

/// Whether the balls about two solids come that near.
#[inline]
fn may_meet(a: &Placed<'_>, b: &Placed<'_>, reach: f64) -> bool {
    let limit = a.reach() + b.reach() + reach;
    (a.position - b.position).length_squared() <= limit * limit
}

/// Every convex solid of A against the triangles of B.
fn with_mesh(a: &Stand<'_>, (b, mesh): (&Stand<'_>, Scaled<'_>), reach: f64, found: &mut dyn FnMut(ContactPoint)) {
    a.convex_parts(|part, own| {
        let guest = Guest { solid: &own, part, home: own.position, through: 0.0, outward: DVec3::ZERO };
        convex_mesh::visit(&guest, (b, mesh), reach, found);
    });
}
