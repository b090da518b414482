//! The world: bodies in columns, materials, prescribed forces and motions.

pub mod bodies;
pub mod forces;
mod index;
pub mod joint;
pub mod material;
pub mod motion;
pub mod reorder;
mod snapshot;
pub mod turn;
pub mod waypoints;

pub use bodies::{Bodies, Body, Column, Motion, Ownership, Rotation, Sharing};
pub use forces::{Drag, ExternalForce, ForceField};
pub use joint::{Joint, JointKind};
pub use material::{Combine, Material, Materials, PairException, PairLaw, PairRule};
pub use motion::{Oscillation, Prescribed};
pub use turn::Turn;
pub use waypoints::Waypoints;

use crate::shape::Shape;
use crate::util::formula::VectorFormula;
use glam::DVec3;
use std::collections::BTreeMap;
use xxhash_rust::xxh3::Xxh3Default;

/// Everything that has a state, and the laws that act on it.
#[derive(Clone, Debug, Default)]
pub struct World {
    /// The bodies, a column each property.
    pub bodies: Bodies,
    /// Materials and the laws of their pairs.
    pub materials: Materials,
    /// Acceleration that acts on every dynamic body.
    pub gravity: DVec3,
    /// Further prescribed fields.
    pub fields: Vec<ForceField>,
    /// Forces and torques on single bodies, by id; they act until they are removed.
    pub external: BTreeMap<u64, ExternalForce>,
    /// Motions of kinematic bodies, by id; one that is not listed keeps its velocity.
    pub prescribed: BTreeMap<u64, Prescribed>,
    /// Pairs of groups whose bodies pass through each other; a pair of twice the same for bodies of one group.
    pub no_contact: Vec<[u16; 2]>,
    /// Joints between bodies; on every rank, as their bodies are.
    pub joints: Vec<Joint>,
    /// Velocities at which the material of surfaces moves along them, by id, in the frames of their bodies: belts.
    pub surface_velocities: BTreeMap<u64, VectorFormula>,
    /// Simulated time.
    pub time: f64,
}

/// Kinetic and potential energy of the dynamic bodies.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Energy {
    /// ½mv² + ½ω·Iω.
    pub kinetic: f64,
    /// −mg·x: zero at the origin.
    pub potential: f64,
}

impl World {
    /// Adds a body and returns its id.
    pub fn add(&mut self, body: Body) -> u64 {
        let density = self.materials.get(body.material).density;
        self.bodies.push(body, density)
    }

    /// Adds a body that has an id already; no other body here may have it.
    pub fn add_with_id(&mut self, id: u64, body: Body) {
        let density = self.materials.get(body.material).density;
        self.bodies.push_with_id(id, body, density);
    }

    /// Changes the motion of the body at an index; it has no mass but as a dynamic body.
    pub(crate) fn set_motion(&mut self, index: usize, motion: Motion) {
        let density = self.materials.get(self.bodies.material[index]).density;
        self.bodies.set_motion(index, motion, density);
    }

    /// Changes the shape of the body at an index, and its mass with it.
    pub(crate) fn set_shape(&mut self, index: usize, shape: Shape) {
        let density = self.materials.get(self.bodies.material[index]).density;
        self.bodies.set_shape(index, shape, density);
    }

    /// A hash of position, orientation and velocities of all bodies: equal for equal bits, however
    /// the bodies lie in memory. It is a sum over bodies, so that of a world spread over ranks is
    /// the sum of theirs.
    pub fn state_hash(&self) -> u64 {
        let b = &self.bodies;
        let mut sum = 0u64;
        for i in (0..b.len()).filter(|&i| b.ownership[i] == Ownership::Owned) {
            let mut hash = Xxh3Default::new();
            hash.update(&b.id[i].to_le_bytes());
            let x = b.position[i];
            let q = b.orientation[i];
            let v = b.velocity[i];
            let w = b.angular_velocity[i];
            for value in [x.x, x.y, x.z, q.x, q.y, q.z, q.w, v.x, v.y, v.z, w.x, w.y, w.z] {
                hash.update(&value.to_bits().to_le_bytes());
            }
            sum = sum.wrapping_add(hash.digest());
        }
        sum
    }

    /// Kinetic and potential energy of the rank's own dynamic bodies among these, by memory order.
    pub fn energy_of(&self, bodies: std::ops::Range<usize>) -> Energy {
        let b = &self.bodies;
        let mut sum = Energy::default();
        for i in bodies.filter(|&i| b.inverse_mass[i] > 0.0 && b.ownership[i] == Ownership::Owned) {
            let w = b.orientation[i].conjugate() * b.angular_velocity[i];
            let mass = 1.0 / b.inverse_mass[i];
            // A body whose rotation is locked has no spin, and no inertia to divide by.
            let turning = if w == DVec3::ZERO { 0.0 } else { (w * w / b.inverse_inertia[i]).element_sum() };
            sum.kinetic += 0.5 * (mass * b.velocity[i].length_squared() + turning);
            sum.potential -= mass * self.gravity.dot(b.position[i]);
        }
        sum
    }

    /// The first body (by memory order) whose state is not finite, with its id.
    pub fn first_non_finite(&self) -> Option<u64> {
        let b = &self.bodies;
        (0..b.len())
            .find(|&i| {
                let sum = b.position[i] + b.velocity[i] + b.angular_velocity[i];
                !(sum.is_finite() && b.orientation[i].is_finite())
            })
            .map(|i| b.id[i])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_sees_the_state_and_not_the_order() {
        let mut world = World::default();
        for k in 0..5 {
            world.add(Body::dynamic(Shape::sphere(0.1), DVec3::new(f64::from(k), 0.0, 0.0)));
        }
        let before = world.state_hash();
        world.bodies.permute(&[4, 2, 0, 1, 3]);
        assert_eq!(world.state_hash(), before);
        world.bodies.velocity[2].x = 1e-300;
        assert_ne!(world.state_hash(), before);
    }

    #[test]
    fn a_nan_is_found_with_its_id() {
        let mut world = World::default();
        for _ in 0..3 {
            world.add(Body::dynamic(Shape::sphere(0.1), DVec3::ZERO));
        }
        assert_eq!(world.first_non_finite(), None);
        world.bodies.velocity[1].y = f64::NAN;
        assert_eq!(world.first_non_finite(), Some(1));
    }
}
