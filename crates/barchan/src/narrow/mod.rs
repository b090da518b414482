//! The narrow phase: where, and how far apart, two bodies touch.
//!
//! One file a pair of shapes, named for it; the table is [`visit`]. Contacts come out in the
//! order of the candidate pairs: grouped by body A, ascending, a body's walls after its
//! neighbours.

pub mod contacts;
pub mod detect;
mod key;
pub mod overlap;
mod reindex;
mod snapshot;
mod sphere_container;
mod sphere_half_space;
mod sphere_sphere;

pub(crate) use contacts::ContactShift;
pub use contacts::{Contact, Contacts};
pub(crate) use detect::has_tensor;
pub use detect::{ContactAssignment, Detection};
pub use key::FeatureKey;
pub use overlap::{OverlapSums, Penetration};

use crate::shape::Shape;
use crate::world::Bodies;
use glam::DVec3;

/// A contact point between two bodies, A and B.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContactPoint {
    /// Where it is: in the middle between the surfaces.
    pub point: DVec3,
    /// Unit normal, from B towards A.
    pub normal: DVec3,
    /// Distance between the surfaces; negative where they overlap.
    pub gap: f64,
    /// Which of several contacts of the same two bodies this is.
    pub key: FeatureKey,
}

/// Calls `found` for every contact between bodies `a` and `b` with a gap up to `reach`.
///
/// | A \ B  | sphere | half-space | container |
/// |--------|--------|------------|-----------|
/// | sphere | yes    | yes        | yes       |
///
/// Unbounded shapes stand second and never meet each other.
#[inline(always)]
pub fn visit(bodies: &Bodies, a: usize, b: usize, reach: f64, mut found: impl FnMut(ContactPoint)) {
    let (xa, xb) = (bodies.position[a], bodies.position[b]);
    match (&bodies.shape[a], &bodies.shape[b]) {
        (Shape::Sphere(s), Shape::Sphere(t)) => sphere_sphere::visit(xa, s.radius, xb, t.radius, reach, found),
        (Shape::Sphere(s), Shape::HalfSpace(_)) => {
            sphere_half_space::visit(xa, s.radius, xb, bodies.orientation[b], reach, found);
        }
        (Shape::Sphere(s), Shape::Container(c)) => {
            sphere_container::visit(xa, s.radius, xb, bodies.orientation[b], c, reach, &mut found);
        }
        (Shape::HalfSpace(_) | Shape::Container(_), _) => {}
    }
}

/// Whether two bodies can have no more than one contact.
#[inline(always)]
pub fn at_most_one(bodies: &Bodies, a: usize, b: usize) -> bool {
    matches!((&bodies.shape[a], &bodies.shape[b]), (Shape::Sphere(_), Shape::Sphere(_) | Shape::HalfSpace(_)))
}
