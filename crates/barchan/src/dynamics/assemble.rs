//! From contacts to the contact problem: cones, lever arms and the right-hand side
//! b = Dᵀv̂ + slip − (target, 0, 0), where the slip is that of belts (`surface.rs`).
//!
//! The target is the normal velocity that a contact must at least have after the step:
//!
//! - an open gap may close and no more: −φ/h (S1 eq. 2b), and if impulses act at the middle of the step −2φ/h with
//!   the gap that is left there;
//! - an overlap must not grow: 0. It is undone by `recover.rs`, which changes no velocity.
//!
//! Bounces are over before that (`impact.rs`).

use super::arms::{ContactArms, relative_velocity};
use super::{ContactOptions, Impacts, Integrator, JointRows, SurfaceMotion};
use crate::narrow::{Contacts, has_tensor};
use crate::world::World;
use barchan_cone::lanes::LANES;
use barchan_cone::{ContactScalars, ContactVec, Geometry, ProblemRef, Row, Symmetric};
use barchan_parallel::{CHUNK, for_chunks_mut};
use glam::{DMat3, DQuat, DVec3};

/// Velocities at the end of the step if there were no contacts: v̂ and ω̂ of each body.
pub type FreeMotion = [[DVec3; 2]];

/// What the contact problem of a step has beside the contacts themselves. Memory is kept between steps.
#[derive(Clone, Debug, Default)]
pub struct Assembly {
    inverse_mass: Vec<f64>,
    geometry: Geometry,
    friction: ContactScalars,
    rows: Vec<Row>,
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
    /// The contacts and their lever arms.
    pub arms: ContactArms<'a>,
    /// Joints, and whether their rows are solved on this rank.
    pub joints: (&'a JointRows, bool),
    /// What impacts have done to bodies.
    pub impacts: &'a Impacts,
    /// How surfaces move along themselves.
    pub surfaces: &'a SurfaceMotion,
    /// How positions follow from velocities.
    pub integrator: Integrator,
    /// Gaps, penetration and bounces.
    pub options: &'a ContactOptions,
    /// The length of the step.
    pub h: f64,
    /// The mean change of velocity by forces in it.
    pub force_speed: f64,
}

impl AssemblyInput<'_> {
    /// The normal velocity that a contact must at least have after the step.
    #[inline]
    fn target(&self, i: usize, arms: [DVec3; 2]) -> f64 {
        let bodies = &self.world.bodies;
        let pair = self.arms.contacts.pairs()[i];
        let normal = self.arms.contacts.normals().get(i);
        let gap = self.arms.contacts.gaps()[i] + self.impacts.widening(pair, normal);
        match self.integrator {
            Integrator::Euler => -gap.max(0.0) / self.h,
            Integrator::Middle => {
                let now = |j: u32| [bodies.velocity[j as usize], bodies.angular_velocity[j as usize]];
                let closing = relative_velocity(now(pair[0]), now(pair[1]), arms).dot(normal);
                -(gap + 0.5 * self.h * closing).max(0.0) / (0.5 * self.h)
            }
        }
    }
}

impl Assembly {
    /// Assembles the contact problem of a step.
    pub fn fill(&mut self, from: &AssemblyInput<'_>) {
        let AssemblyInput { world, free, options, surfaces, .. } = *from;
        let contacts = from.arms.contacts;
        let (bodies, m) = (&world.bodies, contacts.len());
        self.slip_rounding = options.slip_rounding * from.force_speed;
        self.inverse_mass.clone_from(&bodies.inverse_mass);
        self.friction.resize(m);
        self.bias.resize(m);
        let normals = contacts.normals();
        let both = (self.friction.blocks_mut(), self.bias.blocks_mut());
        for_chunks_mut(both, CHUNK / LANES, |blocks, (friction, bias)| {
            for i in blocks.start * LANES..(blocks.end * LANES).min(m) {
                let (block, lane) = (i / LANES - blocks.start, i % LANES);
                let pair = contacts.pairs()[i];
                let [a, b] = pair.map(|j| j as usize);
                let (normal, arms) = (normals.get(i), from.arms.of(i));
                let û = relative_velocity(free[a], free[b], arms) + surfaces.slip(pair, normal);
                let target = from.target(i, arms);
                friction[block].0[lane] = world.materials.pair(bodies.material[a], bodies.material[b]).friction;
                bias[block].set_lane(lane, û - normal * target);
            }
        });
        self.rows.clear();
        self.bias.rows.clear();
        if let (joints, true) = from.joints {
            self.rows.extend_from_slice(&joints.rows);
            self.bias.rows.extend_from_slice(&joints.bias);
        }
        self.fill_geometry(from);
    }

    /// Inertia of bodies, and lever arms of general contacts over the lengths of their bodies.
    fn fill_geometry(&mut self, from: &AssemblyInput<'_>) {
        let (bodies, contacts, joints) = (&from.world.bodies, from.arms.contacts, from.joints.0);
        let Geometry { radius, inverse_inertia, tensors, arms } = &mut self.geometry;
        radius.clear();
        radius.extend(bodies.shape.iter().map(|shape| shape.bounding_radius().unwrap_or(0.0)));
        inverse_inertia.clear();
        inverse_inertia.extend(bodies.inverse_inertia.iter().map(|i| i.x));
        joints.slow_bodies().for_each(|j| inverse_inertia[j] = joints.inverse_inertia(bodies, j).x);
        tensors.clear();
        arms.shape(contacts.round(), contacts.len());
        if !contacts.has_general() && self.rows.is_empty() {
            return;
        }
        for j in (0..bodies.len()).filter(|&j| has_tensor(bodies, j)) {
            tensors.push(j as u32, world_inverse_inertia(bodies.orientation[j], joints.inverse_inertia(bodies, j)));
        }
        if !contacts.has_general() {
            return;
        }
        for i in arms.start()..contacts.len() {
            let (n, pair) = (contacts.normals().get(i), contacts.pairs()[i]);
            if i < contacts.round() {
                arms.set(i, [-n, n]);
                continue;
            }
            // What cannot move has no spin that an arm could be measured with.
            let [arm_a, arm_b] = from.arms.of(i);
            let over = |arm: DVec3, j: u32| {
                let moves = bodies.inverse_mass[j as usize] > 0.0;
                if moves { arm / radius[j as usize] } else { DVec3::ZERO }
            };
            arms.set(i, [over(arm_a, pair[0]), over(arm_b, pair[1])]);
        }
    }

    /// Whether there are rows of joints to solve here.
    pub(crate) fn has_rows(&self) -> bool {
        !self.rows.is_empty()
    }

    /// The problem that was assembled from these contacts.
    pub fn problem<'a>(&'a self, contacts: &'a Contacts) -> ProblemRef<'a> {
        self.with(contacts.pairs(), contacts.normals())
    }

    /// The same from pairs and normals of the contacts.
    pub(crate) fn with<'a>(&'a self, pairs: &'a [[u32; 2]], normals: &'a ContactVec) -> ProblemRef<'a> {
        let Self { inverse_mass, geometry, friction, rows, bias, slip_rounding } = self;
        let slip_rounding = *slip_rounding;
        ProblemRef { inverse_mass, geometry, pairs, normals, friction, rows, bias, slip_rounding }
    }
}

/// R·I⁰⁻¹·Rᵀ.
fn world_inverse_inertia(turn: DQuat, inverse_inertia: DVec3) -> Symmetric {
    let r = DMat3::from_quat(turn);
    let i = r * DMat3::from_diagonal(inverse_inertia) * r.transpose();
    [i.x_axis.x, i.y_axis.y, i.z_axis.z, i.y_axis.x, i.z_axis.x, i.z_axis.y]
}
