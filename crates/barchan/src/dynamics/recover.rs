//! Recovery: bodies that overlap are moved apart at the end of a step, and their velocities stay.
//!
//! Overlaps come from residuals that are not zero, from the curvature of surfaces, and from scenes that begin with
//! them. If the contact problem had to remove them it would have to push, and what is pushed keeps its speed. So
//! the problem only keeps an overlap from growing, and afterwards one relaxation of all contacts at once moves the
//! bodies: a displacement c along the normal, shared as an impulse c/a_n would share it. c is a fraction of the
//! overlap, small enough for bodies with many contacts not to overshoot: that is a step down the sum of squares of
//! all overlaps. No body at rest moves faster than a speed in radii a second, whatever the step. (A cap on
//! each contact would not do: in a row of deep overlaps all would push alike, and nothing would even them out.)

use super::arms::{ContactArms, relative_velocity};
use super::{ContactOptions, FreeMotion, Integrator};
use crate::narrow::{Contacts, OverlapSums};
use crate::world::{Bodies, Motion};
use barchan_cone::lanes::{F4, LANES};
use barchan_cone::{ContactScalars, ContactVec};
use barchan_parallel::{CHUNK, fold_chunks_mut, for_chunks_mut};
use glam::{DQuat, DVec3};
use std::ops::Range;

/// Overlaps up to this part of the smaller radius are left alone: what rests must not be stirred by corrections.
pub const SLACK: f64 = 1e-3;
/// What is nothing beside that.
const ROUNDING: f64 = 1e-6;

/// What recovery reads, before bodies are moved to the end of the step.
#[derive(Clone, Copy)]
pub struct Recovery<'a> {
    /// The contacts and their bodies.
    pub arms: ContactArms<'a>,
    /// How much is removed a step.
    pub options: &'a ContactOptions,
    /// How positions follow from velocities.
    pub integrator: Integrator,
    /// The length of the step.
    pub h: f64,
}

/// Overlaps of contacts.
#[derive(Clone, Copy, Debug, Default)]
pub struct Overlaps {
    /// How far bodies overlapped at the start of the step.
    pub sums: OverlapSums,
    /// How many overlaps are to be removed.
    pub deep: usize,
}

impl Recovery<'_> {
    /// By how much a gap is to grow in this step; zero for most contacts.
    ///
    /// Of what overlapped before, that is a fraction. What has closed in the first half of the step, before
    /// impulses acted at its middle, would have been stopped when it touched: that is taken back whole.
    #[inline]
    fn growth(&self, i: usize) -> f64 {
        let contacts = self.arms.contacts;
        let bodies = self.arms.bodies;
        let gap = contacts.gaps()[i];
        let pair = contacts.pairs()[i];
        let radius = |j: u32| bodies.size(j as usize);
        let slack = SLACK * radius(pair[0]).min(radius(pair[1]));
        let new = match self.integrator {
            Integrator::Euler => 0.0,
            Integrator::Middle => {
                let now = |j: u32| [bodies.velocity[j as usize], bodies.angular_velocity[j as usize]];
                let velocity = relative_velocity(now(pair[0]), now(pair[1]), self.arms.of(i));
                let middle = gap + 0.5 * self.h * velocity.dot(contacts.normals().get(i));
                let closed = -middle - (-gap).max(0.0);
                if closed > ROUNDING * slack { closed } else { 0.0 }
            }
        };
        self.options.recovery * (-gap - slack).max(0.0) + new
    }

    /// Overlaps of contacts, and in `growths` by how much each gap is to grow. `slots` is scratch.
    pub fn overlaps(&self, growths: &mut ContactScalars, slots: &mut Vec<[f64; 2]>) -> Overlaps {
        let contacts = self.arms.contacts;
        growths.resize(contacts.len());
        let find = |blocks: Range<usize>, growths: &mut [F4]| {
            let mut deep = 0;
            for i in blocks.start * LANES..(blocks.end * LANES).min(contacts.len()) {
                let growth = self.growth(i);
                growths[i / LANES - blocks.start].0[i % LANES] = growth;
                deep += usize::from(growth > 0.0);
            }
            [deep as f64, 0.0]
        };
        let add = |a: [f64; 2], b: [f64; 2]| [a[0] + b[0], 0.0];
        let [deep, _] = fold_chunks_mut(growths.blocks_mut(), CHUNK / LANES, slots, [0.0; 2], find, add);
        Overlaps { sums: contacts.overlap(self.arms.bodies), deep: deep as usize }
    }
}

/// Writes to `out` the impulses along the normals whose response makes gaps grow by so much in this step; `scale` is a_n
/// of a contact.
///
/// Points of a manifold share the work: if each did all of it, a long body that rocks on its four corners would be turned
/// by more than twice of what is asked for, and rock ever more.
pub fn impulses(
    growths: &ContactScalars,
    contacts: &Contacts,
    scale: impl Fn(usize) -> f64 + Sync,
    out: &mut ContactVec,
) {
    let normals = contacts.normals();
    let pairs = contacts.pairs();
    // Contacts of a pair stand side by side.
    let sharers = |i: usize| {
        let is_mate = |j: &usize| pairs[*j] == pairs[i];
        let before = (contacts.round()..i).rev().take_while(is_mate);
        let after = (i..pairs.len()).take_while(is_mate);
        before.chain(after).filter(|&j| growths[j] > 0.0).count()
    };
    out.resize(growths.len());
    for_chunks_mut(out.blocks_mut(), CHUNK / LANES, |blocks, out| {
        for i in blocks.start * LANES..(blocks.end * LANES).min(growths.len()) {
            if growths[i] > 0.0 {
                let share = if i < contacts.round() { 1.0 } else { sharers(i) as f64 };
                out[i / LANES - blocks.start].set_lane(i % LANES, normals.get(i) * (growths[i] / (share * scale(i))));
            }
        }
    });
}

/// Moves and turns every dynamic body by its displacement, or as much of it as its motion in the step and `longest`,
/// a length in radii, allow; `free` are the velocities without contacts.
pub fn displace(
    bodies: &mut Bodies,
    free: &FreeMotion,
    [h, longest]: [f64; 2],
    displacement: impl Fn(usize) -> [DVec3; 2] + Sync,
) {
    let Bodies { position, orientation, velocity, motion, shape, .. } = bodies;
    for_chunks_mut((&mut position[..], &mut orientation[..]), CHUNK, |range, (x, q)| {
        for (k, i) in range.enumerate().filter(|&(_, i)| motion[i] == Motion::Dynamic) {
            let [shift, turn] = displacement(i);
            let radius = shape[i].bounding_radius().unwrap_or(0.0);
            let length = shift.length() + radius * turn.length();
            let limit = longest * radius + h * free[i][0].length().max(velocity[i].length());
            let part = if length > limit { limit / length } else { 1.0 };
            x[k] += part * shift;
            if turn != DVec3::ZERO {
                q[k] = (DQuat::from_scaled_axis(part * turn) * q[k]).normalize();
            }
        }
    });
}
