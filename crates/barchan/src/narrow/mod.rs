//! The narrow phase: where, and how far apart, two bodies touch.
//!
//! One file a pair of shapes, named for it; the table is [`visit`]. Contacts come out in the
//! order of the candidate pairs: grouped by body A, ascending, a body's walls after its
//! neighbours.

mod apart;
mod balls;
mod capsule_capsule;
mod clearance;
pub mod contacts;
mod convex_mesh;
pub mod detect;
mod key;
mod mesh_mesh;
pub mod overlap;
mod planes;
mod reduce;
mod reindex;
mod snapshot;
mod solids;
mod sphere_container;
mod sphere_half_space;
mod sphere_sphere;
mod table;
mod triangles;

pub use apart::Apart;
pub(crate) use clearance::Standing;
pub(crate) use contacts::ContactShift;
pub use contacts::{Contact, Contacts};
pub(crate) use detect::has_tensor;
pub use detect::{ContactAssignment, Detection};
pub use key::FeatureKey;
pub use overlap::{OverlapSums, Penetration};
pub use table::{handler, table};

use crate::shape::{HalfSpace, Shape};
use crate::world::Bodies;
use glam::{DQuat, DVec3};
use solids::Stand;

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

/// Where two bodies are looked at: their positions and orientations.
pub(crate) type Poses = [(DVec3, DQuat); 2];

impl Bodies {
    /// Where two of them are.
    #[inline]
    fn poses(&self, a: usize, b: usize) -> Poses {
        [a, b].map(|j| (self.position[j], self.orientation[j]))
    }
}

/// Calls `found` for every contact between bodies `a` and `b`, where they are, with a gap up to `reach`.
///
/// Which function does so for which two shapes is told by [`handler`], and for all of them by [`table()`]. Unbounded shapes
/// stand second and never meet each other.
#[inline(always)]
pub fn visit(bodies: &Bodies, a: usize, b: usize, reach: f64, mut found: impl FnMut(ContactPoint)) {
    let xa = bodies.position[a];
    let xb = bodies.position[b];
    match (&bodies.shape[a], &bodies.shape[b]) {
        (Shape::Sphere(s), Shape::Sphere(t)) => sphere_sphere::visit(xa, s.radius, xb, t.radius, reach, found),
        (Shape::Sphere(s), Shape::HalfSpace(_)) => {
            sphere_half_space::visit(xa, s.radius, xb, bodies.orientation[b], reach, found);
        }
        (Shape::Sphere(s), Shape::Container(c)) => {
            sphere_container::visit(xa, s.radius, xb, bodies.orientation[b], c, reach, &mut found);
        }
        (own, other) => visit_others(own, other, &bodies.poses(a, b), reach, &mut found),
    }
}

/// The same of two shapes in these poses, one of which is neither a sphere nor a wall.
#[inline(never)]
pub(super) fn visit_others(a: &Shape, b: &Shape, poses: &Poses, reach: f64, found: &mut dyn FnMut(ContactPoint)) {
    let [(xa, qa), (xb, qb)] = *poses;
    if let (Shape::Capsule(s), Shape::Capsule(t)) = (a, b) {
        let placed = [(xa, qa, s), (xb, qb, t)].map(|(x, q, capsule)| capsule_capsule::placed(x, q, capsule));
        return capsule_capsule::visit(&placed[0], &placed[1], reach, found);
    }
    let Some(own) = Stand::new(a, xa, qa) else { return };
    match b {
        Shape::HalfSpace(_) => planes::visit(&own, (xb, HalfSpace::normal(qb), 0), reach, found),
        Shape::Container(container) => planes::container(&own, (xb, qb, container), reach, found),
        _ => {
            if let Some(other) = Stand::new(b, xb, qb) {
                solids::visit(&own, &other, reach, found);
            }
        }
    }
}

/// Whether two bodies can have no more than one contact.
#[inline(always)]
pub fn at_most_one(bodies: &Bodies, a: usize, b: usize) -> bool {
    matches!((&bodies.shape[a], &bodies.shape[b]), (Shape::Sphere(_), Shape::Sphere(_) | Shape::HalfSpace(_)))
}
