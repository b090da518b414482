//! Lever arms of contacts, and velocities of the points where bodies touch.

use crate::narrow::Contacts;
use crate::shape::Shape;
use crate::world::Bodies;
use glam::DVec3;

/// What lever arms follow from.
#[derive(Clone, Copy)]
pub struct ContactArms<'a> {
    /// Where bodies are.
    pub bodies: &'a Bodies,
    /// The contacts.
    pub contacts: &'a Contacts,
}

impl ContactArms<'_> {
    /// Lever arms of a contact, from the centres of its bodies.
    #[inline]
    pub fn of(&self, contact: usize) -> [DVec3; 2] {
        let pair = self.contacts.pairs()[contact];
        match contact.checked_sub(self.contacts.round()) {
            Some(k) => self.contacts.general_arms(k),
            None => round_arms(self.bodies, pair, self.contacts.normals().get(contact)),
        }
    }
}

/// Lever arms of a round contact: each from its centre to its own surface. What is not round does not move
/// there, and has its arm from A's surface.
#[inline]
fn round_arms(bodies: &Bodies, [a, b]: [u32; 2], n: DVec3) -> [DVec3; 2] {
    let radius = |j: u32| match &bodies.shape[j as usize] {
        Shape::Sphere(sphere) => Some(sphere.radius),
        _ => None,
    };
    let arm_a = n * -radius(a).unwrap_or(0.0);
    let arm_b = match radius(b) {
        Some(r) => n * r,
        None => bodies.position[a as usize] + arm_a - bodies.position[b as usize],
    };
    [arm_a, arm_b]
}

/// Velocity of the point at `arm` from the centre of a body with this velocity and spin.
#[inline]
pub fn point_velocity([v, w]: [DVec3; 2], arm: DVec3) -> DVec3 {
    v + w.cross(arm)
}

/// Velocity of A at a contact as B sees it.
#[inline]
pub fn relative_velocity(a: [DVec3; 2], b: [DVec3; 2], [arm_a, arm_b]: [DVec3; 2]) -> DVec3 {
    point_velocity(a, arm_a) - point_velocity(b, arm_b)
}
