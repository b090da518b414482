//! From contacts to the contact problem: cones, lever arms and the right-hand side
//! b = Dᵀv̂ − (target, 0, 0).
//!
//! The target is the normal velocity that a contact must at least have after the step:
//!
//! - an open gap may close and no more: −φ/h (S1 eq. 2b);
//! - an overlap is undone by the fraction `recovery` a step, with a cap, or the correction
//!   would inject energy (S4 section 3);
//! - a bounce, if bodies approach faster than a threshold and the gap closes in this step (or is
//!   closed): −e·u_n⁻, by Newton's law with the velocity before the step, in place of the gap; an
//!   overlap that asks for more gets it.

use super::ContactOptions;
use crate::narrow::{Contacts, has_tensor};
use crate::shape::Shape;
use crate::world::{Bodies, World};
use barchan_cone::lanes::LANES;
use barchan_cone::{ContactScalars, ContactVec, Geometry, ProblemRef, Symmetric};
use barchan_parallel::{CHUNK, for_chunks_mut};
use glam::{DMat3, DVec3};

/// Velocities at the end of the step if there were no contacts: v̂ and ω̂ of each body.
pub type FreeMotion = [[DVec3; 2]];

/// What the contact problem of a step has beside the contacts themselves. Memory is kept between steps.
#[derive(Clone, Debug, Default)]
pub struct Assembly {
    inverse_mass: Vec<f64>,
    geometry: Geometry,
    friction: ContactScalars,
    bias: ContactVec,
    slip_rounding: f64,
}

/// What assembly reads.
#[derive(Clone, Copy)]
pub struct AssemblyInput<'a> {
    /// Velocities before the step, and materials.
    pub world: &'a World,
    /// Velocities at its end without contacts.
    pub free: &'a FreeMotion,
    /// The contacts.
    pub contacts: &'a Contacts,
    /// Offsets of bodies B of general contacts across a periodic border, ascending by contact.
    pub offsets: &'a [(u32, DVec3)],
    /// Gaps, penetration and bounces.
    pub options: &'a ContactOptions,
    /// The length of the step.
    pub h: f64,
    /// The mean change of velocity by forces in it.
    pub force_speed: f64,
}

/// Velocity of the point at `arm` from the centre.
#[inline]
fn point_velocity([v, w]: [DVec3; 2], arm: DVec3) -> DVec3 {
    v + w.cross(arm)
}

/// Lever arms of a round contact: each from its centre to its own surface. What is not round does not move
/// there, and has its arm from A's surface.
#[inline]
fn round_arms(bodies: &Bodies, [a, b]: [u32; 2], n: DVec3) -> [DVec3; 2] {
    let radius = |j: u32| match &bodies.shape[j as usize] {
        Shape::Sphere(sphere) => Some(sphere.radius),
        Shape::HalfSpace(_) | Shape::Container(_) => None,
    };
    let arm_a = n * -radius(a).unwrap_or(0.0);
    let arm_b = match radius(b) {
        Some(r) => n * r,
        None => bodies.position[a as usize] + arm_a - bodies.position[b as usize],
    };
    [arm_a, arm_b]
}

impl AssemblyInput<'_> {
    /// Lever arms of a contact, from the centres of its bodies.
    #[inline]
    fn arms(&self, i: usize) -> [DVec3; 2] {
        let (bodies, pair) = (&self.world.bodies, self.contacts.pairs()[i]);
        let Some(k) = i.checked_sub(self.contacts.round()) else {
            return round_arms(bodies, pair, self.contacts.normals().get(i));
        };
        let point = self.contacts.general_points().get(k);
        let [arm_a, arm_b] = pair.map(|j| point - bodies.position[j as usize]);
        let offset = self.offsets.binary_search_by_key(&(i as u32), |entry| entry.0);
        [arm_a, offset.map_or(arm_b, |at| arm_b - self.offsets[at].1)]
    }

    /// The normal velocity that a contact must at least have after the step, where `û` is its velocity
    /// without impulses.
    #[inline]
    fn target(&self, i: usize, [arm_a, arm_b]: [DVec3; 2], û: DVec3, restitution: f64, threshold: f64) -> f64 {
        let (bodies, h) = (&self.world.bodies, self.h);
        let [a, b] = self.contacts.pairs()[i].map(|j| j as usize);
        let (n, gap) = (self.contacts.normals().get(i), self.contacts.gaps()[i]);
        let mut target = if gap > 0.0 {
            -gap / h
        } else {
            let size = |j: usize| bodies.shape[j].bounding_radius().unwrap_or(f64::INFINITY);
            let cap = self.options.recovery_cap * size(a).min(size(b));
            (self.options.recovery * -gap).min(cap) / h
        };
        if restitution > 0.0 && gap + h * û.dot(n) <= 0.0 {
            let now = |j: usize| [bodies.velocity[j], bodies.angular_velocity[j]];
            let approach = -(point_velocity(now(a), arm_a) - point_velocity(now(b), arm_b)).dot(n);
            if approach > threshold {
                target = target.max(restitution * approach);
            }
        }
        target
    }
}

impl Assembly {
    /// Assembles the contact problem of a step.
    pub fn fill(&mut self, from: &AssemblyInput<'_>) {
        let AssemblyInput { world, free, contacts, options, h, .. } = *from;
        let (bodies, m) = (&world.bodies, contacts.len());
        self.slip_rounding = options.slip_rounding * from.force_speed;
        self.inverse_mass.clone_from(&bodies.inverse_mass);
        self.friction.resize(m);
        self.bias.resize(m);
        let threshold = options.restitution_threshold * world.gravity.length() * h;
        let normals = contacts.normals();
        let both = (self.friction.blocks_mut(), self.bias.blocks_mut());
        for_chunks_mut(both, CHUNK / LANES, |blocks, (friction, bias)| {
            for i in blocks.start * LANES..(blocks.end * LANES).min(m) {
                let (block, lane) = (i / LANES - blocks.start, i % LANES);
                let [a, b] = contacts.pairs()[i].map(|j| j as usize);
                let arms = from.arms(i);
                let law = world.materials.pair(bodies.material[a], bodies.material[b]);
                let û = point_velocity(free[a], arms[0]) - point_velocity(free[b], arms[1]);
                let target = from.target(i, arms, û, law.restitution, threshold);
                friction[block].0[lane] = law.friction;
                bias[block].set_lane(lane, û - normals.get(i) * target);
            }
        });
        self.fill_geometry(from);
    }

    /// Inertia of bodies, and lever arms of general contacts over the lengths of their bodies.
    fn fill_geometry(&mut self, from: &AssemblyInput<'_>) {
        let (bodies, contacts) = (&from.world.bodies, from.contacts);
        let Geometry { radius, inverse_inertia, tensors, arms } = &mut self.geometry;
        radius.clear();
        radius.extend(bodies.shape.iter().map(|shape| shape.bounding_radius().unwrap_or(0.0)));
        inverse_inertia.clear();
        inverse_inertia.extend(bodies.inverse_inertia.iter().map(|i| i.x));
        tensors.clear();
        arms.shape(contacts.round(), contacts.len());
        if !contacts.has_general() {
            return;
        }
        for j in (0..bodies.len()).filter(|&j| has_tensor(bodies, j)) {
            tensors.push(j as u32, world_inverse_inertia(bodies, j));
        }
        for i in arms.start()..contacts.len() {
            let (n, pair) = (contacts.normals().get(i), contacts.pairs()[i]);
            if i < contacts.round() {
                arms.set(i, [-n, n]);
                continue;
            }
            // What cannot move has no spin that an arm could be measured with.
            let [arm_a, arm_b] = from.arms(i);
            let over = |arm: DVec3, j: u32| {
                let moves = bodies.inverse_mass[j as usize] > 0.0;
                if moves { arm / radius[j as usize] } else { DVec3::ZERO }
            };
            arms.set(i, [over(arm_a, pair[0]), over(arm_b, pair[1])]);
        }
    }

    /// The problem that was assembled from these contacts.
    pub fn problem<'a>(&'a self, contacts: &'a Contacts) -> ProblemRef<'a> {
        self.with(contacts.pairs(), contacts.normals())
    }

    /// The same from pairs and normals of the contacts.
    pub(crate) fn with<'a>(&'a self, pairs: &'a [[u32; 2]], normals: &'a ContactVec) -> ProblemRef<'a> {
        let Self { inverse_mass, geometry, friction, bias, slip_rounding } = self;
        let slip_rounding = *slip_rounding;
        ProblemRef { inverse_mass, geometry, pairs, normals, friction, rows: &[], bias, slip_rounding }
    }
}

/// R·I⁰⁻¹·Rᵀ.
fn world_inverse_inertia(bodies: &Bodies, j: usize) -> Symmetric {
    let r = DMat3::from_quat(bodies.orientation[j]);
    let i = r * DMat3::from_diagonal(bodies.inverse_inertia[j]) * r.transpose();
    [i.x_axis.x, i.y_axis.y, i.z_axis.z, i.y_axis.x, i.z_axis.x, i.z_axis.y]
}
