//! Impacts: bounces within a step, before the contact problem of what is left.
//!
//! The contact problem knows one velocity a step, so it cannot bounce a body that hits two others one after the
//! other, nor one that another bounce of the same step has set in motion. Impacts are therefore found and solved
//! first, in passes. Bodies fly with the velocities of the middle of the step, half of the forces' work done. A pass
//! takes the contacts that close before the end of the step faster than a threshold, and of these the ones that come
//! first for both of their bodies; it gives each the relative velocity −e·u_n (Newton) within Coulomb's friction, all of
//! them together where several come at once. Then the next pass looks again, until nothing closes. What is left is
//! slow and belongs to the contact problem; so does what a pass too many would have to solve (a ball that rattles in
//! a slot), without a bounce.
//!
//! An impact at the time t of the step changes a velocity by δv from then on. Bodies are moved by −tδv, so that the
//! whole step with the new velocity ends where the two parts of the flight would: gaps and positions are exact for
//! any sequence of impacts, and a gas loses no energy and no time. Under a constant force, too: with the velocity of the
//! middle of the step as the unknown, the velocity at t has (t − h/2)·a more, before the impact and after it, so that a
//! ball that bounces under gravity keeps its energy whatever the step.
//!
//! Energy never grows: of a pass that would add any, only the part is taken that does not.

use super::arms::{ContactArms, relative_velocity};
use super::{ContactOptions, SurfaceMotion};
use crate::world::{Bodies, World};
use barchan_cone::sweep::one_contact::ContactBlock;
use barchan_parallel::{CHUNK, for_chunks_mut};
use glam::{DMat3, DVec3};

/// Passes of a step at most.
pub const PASSES: usize = 64;
/// Impacts of one body this near in time, in steps, count as one.
const TOGETHER: f64 = 1e-3;
/// Approach that is rounding, in speeds of the bodies.
const ROUNDING: f64 = 1e-9;
/// Sweeps of a pass over impacts that act on the same bodies, and the change at which they end, of the largest.
const SWEEPS: usize = 200;
const STILL: f64 = 1e-10;
/// Work of all passes of a step, in sweeps over all contacts, and the sweeps that each pass has beyond it: bodies that
/// are pressed into each other, all of whose contacts close in every pass, would otherwise sweep for ever over impacts
/// that do not agree.
const SWEEPS_OF_STEP: usize = 1000;
const LEAST_SWEEPS: usize = 4;

/// What the passes read.
#[derive(Clone, Copy)]
pub struct ImpactInput<'a> {
    /// The world, with the velocities before the step.
    pub world: &'a World,
    /// The contacts and their lever arms.
    pub arms: ContactArms<'a>,
    /// How surfaces move along themselves.
    pub surfaces: &'a SurfaceMotion,
    /// The threshold.
    pub options: &'a ContactOptions,
    /// The length of the step.
    pub h: f64,
}

/// A contact that closes in this step.
#[derive(Clone, Copy, Debug)]
struct Closing {
    contact: u32,
    time: f64,
}

/// An impact of a pass.
#[derive(Clone, Debug)]
struct Impact {
    bodies: [usize; 2],
    normal: DVec3,
    arms: [DVec3; 2],
    time: f64,
    friction: f64,
    /// What the velocity then has beyond that of the middle of the step, and what belts add to it.
    drift: DVec3,
    /// The velocity before, and the normal one that it shall have after.
    before: DVec3,
    rebound: f64,
    /// a_n and a_t of a round contact, and the block of a general one.
    scales: [f64; 2],
    block: Option<ContactBlock>,
    impulse: DVec3,
}

/// A body in the passes.
#[derive(Clone, Copy, Debug)]
pub struct BodyState {
    velocity: DVec3,
    spin: DVec3,
    shift: DVec3,
}

/// Memory of the passes, kept between steps. Empty in worlds where nothing bounces.
#[derive(Default)]
pub struct Impacts {
    /// Velocities of the middle of the step.
    velocity: Vec<[DVec3; 2]>,
    /// What forces change velocities by in the step.
    kick: Vec<DVec3>,
    /// How far bodies are moved so that the step ends where it should.
    shift: Vec<DVec3>,
    /// When the first impact of each body comes.
    earliest: Vec<f64>,
    /// How many impacts of this pass act on each body.
    load: Vec<u32>,
    closing: Vec<Vec<Closing>>,
    impacts: Vec<Impact>,
    /// Impacts that the passes of this step have solved again.
    work: usize,
}

impl Impacts {
    /// Before the first pass: bodies fly with the mean of the velocities before and after all forces.
    pub fn start(&mut self, bodies: &Bodies, free: &[[DVec3; 2]]) {
        let n = bodies.len();
        let half = |j: usize, k: usize, v: DVec3| 0.5 * (v + free[j][k]);
        self.velocity.clear();
        self.velocity.extend((0..n).map(|j| [half(j, 0, bodies.velocity[j]), half(j, 1, bodies.angular_velocity[j])]));
        self.kick.clear();
        self.kick.extend((0..n).map(|j| free[j][0] - bodies.velocity[j]));
        self.shift.clear();
        self.shift.resize(n, DVec3::ZERO);
        self.earliest.clear();
        self.earliest.resize(n, f64::INFINITY);
        self.load.clear();
        self.load.resize(n, 0);
        self.closing.iter_mut().for_each(Vec::clear);
        self.impacts.clear();
        self.work = 0;
    }

    /// Nothing bounces in this step.
    pub fn clear(&mut self) {
        self.shift.clear();
    }

    /// By how much the displacements of its bodies widen the gap of a contact.
    #[inline]
    pub fn widening(&self, [a, b]: [u32; 2], normal: DVec3) -> f64 {
        if self.shift.is_empty() { 0.0 } else { normal.dot(self.shift[a as usize] - self.shift[b as usize]) }
    }

    /// Finds the contacts that close, and when the first of each body does. Returns how many close.
    pub fn find(&mut self, from: &ImpactInput<'_>) -> usize {
        for closing in self.closing.iter().flatten() {
            for j in from.arms.contacts.pairs()[closing.contact as usize] {
                self.earliest[j as usize] = f64::INFINITY;
            }
        }
        let m = from.arms.contacts.len();
        let mut lists = std::mem::take(&mut self.closing);
        lists.iter_mut().for_each(Vec::clear);
        lists.resize_with(m.div_ceil(CHUNK).max(lists.len()), Vec::new);
        let this = &*self;
        for_chunks_mut(&mut lists[..], 1, |which, lists| {
            let contacts = which.start * CHUNK..((which.start + 1) * CHUNK).min(m);
            lists[0].extend(contacts.filter_map(|i| this.closing(from, i)));
        });
        self.closing = lists;
        for closing in self.closing.iter().flatten() {
            for j in from.arms.contacts.pairs()[closing.contact as usize].map(|j| j as usize) {
                self.earliest[j] = self.earliest[j].min(closing.time);
            }
        }
        self.closing.iter().map(Vec::len).sum()
    }

    /// The contact, if it closes in this step and is fast enough to bounce.
    #[inline]
    fn closing(&self, from: &ImpactInput<'_>, i: usize) -> Option<Closing> {
        let contacts = from.arms.contacts;
        let pair = contacts.pairs()[i];
        let [a, b] = pair.map(|j| j as usize);
        let normal = contacts.normals().get(i);
        let velocity = relative_velocity(self.velocity[a], self.velocity[b], from.arms.of(i));
        let approach = -velocity.dot(normal);
        let gap = contacts.gaps()[i] + self.widening(pair, normal);
        if approach <= 0.0 || gap >= from.h * approach {
            return None;
        }
        let slow = from.options.restitution_threshold * self.kick[a].length().max(self.kick[b].length());
        let rounding = ROUNDING * (self.velocity[a][0].length() + self.velocity[b][0].length());
        let time = (gap / approach).max(0.0);
        (approach > slow.max(rounding)).then_some(Closing { contact: i as u32, time })
    }

    /// When the first impact of a body comes; infinite if there is none.
    pub fn earliest(&self, body: usize) -> f64 {
        self.earliest[body]
    }

    /// Another rank knows of an earlier impact.
    pub fn set_earliest(&mut self, body: usize, time: f64) {
        self.earliest[body] = time;
    }

    /// What this rank's last pass has done to a body: the change of its velocity, of its spin and of its place, and
    /// whether it has done anything. `before` was its state before the pass.
    pub fn change(&self, body: usize, before: &BodyState) -> [[f64; 6]; 2] {
        let [v, w] = self.velocity[body];
        let dv = v - before.velocity;
        let dw = w - before.spin;
        let dx = self.shift[body] - before.shift;
        let acts = f64::from(u8::from(self.load[body] > 0));
        [[dv.x, dv.y, dv.z, dw.x, dw.y, dw.z], [dx.x, dx.y, dx.z, acts, 0.0, 0.0]]
    }

    /// The state of a body in the passes.
    pub fn state(&self, body: usize) -> BodyState {
        let [velocity, spin] = self.velocity[body];
        BodyState { velocity, spin, shift: self.shift[body] }
    }

    /// Sets it to `before` and the mean of what all ranks have done, whose sums are `changes`: each of them has solved
    /// for the whole body, so that the mean never adds energy.
    pub fn set_change(&mut self, body: usize, before: &BodyState, changes: &[[f64; 6]; 2]) {
        let [[vx, vy, vz, wx, wy, wz], [x, y, z, acts, _, _]] = *changes;
        let part = 1.0 / acts.max(1.0);
        self.velocity[body][0] = before.velocity + part * DVec3::new(vx, vy, vz);
        self.velocity[body][1] = before.spin + part * DVec3::new(wx, wy, wz);
        self.shift[body] = before.shift + part * DVec3::new(x, y, z);
    }

    /// Solves the impacts that come first for both of their bodies, all at once.
    pub fn collide(&mut self, from: &ImpactInput<'_>) {
        self.choose(from);
        // Every impact once; then those that share a body again, until they agree.
        let mut impacts = std::mem::take(&mut self.impacts);
        let bodies = &from.world.bodies;
        let mut largest = impacts.iter_mut().map(|impact| self.relax(bodies, impact)).fold(0.0, f64::max);
        let shares =
            |load: &[u32], impact: &Impact| impact.bodies.iter().any(|&j| load[j] > 1 && bodies.inverse_mass[j] > 0.0);
        let is_jammed = self.work > SWEEPS_OF_STEP * from.arms.contacts.len();
        for _ in 0..if is_jammed { LEAST_SWEEPS } else { SWEEPS } {
            let mut change = 0.0f64;
            for impact in impacts.iter_mut() {
                if shares(&self.load, impact) {
                    change = change.max(self.relax(bodies, impact));
                    self.work += 1;
                }
            }
            largest = largest.max(change);
            if change <= STILL * largest {
                break;
            }
        }
        self.keep_energy(bodies, &mut impacts);
        // The flight before each impact.
        for impact in &impacts {
            for (&j, sign) in impact.bodies.iter().zip([-1.0, 1.0]) {
                self.shift[j] += sign * impact.time * bodies.inverse_mass[j] * impact.impulse;
            }
        }
        self.impacts = impacts;
    }

    /// Lists the impacts of a pass.
    fn choose(&mut self, from: &ImpactInput<'_>) {
        let bodies = &from.world.bodies;
        for impact in &self.impacts {
            impact.bodies.iter().for_each(|&j| self.load[j] = 0);
        }
        let mut impacts = std::mem::take(&mut self.impacts);
        impacts.clear();
        for &Closing { contact, time } in self.closing.iter().flatten() {
            let i = contact as usize;
            let pair = from.arms.contacts.pairs()[i].map(|j| j as usize);
            let is_first = |&j: &usize| bodies.inverse_mass[j] == 0.0 || time <= self.earliest[j] + TOGETHER * from.h;
            if pair.iter().all(is_first) {
                impacts.push(self.impact(from, i, time));
                pair.iter().for_each(|&j| self.load[j] += 1);
            }
        }
        self.impacts = impacts;
    }

    fn impact(&self, from: &ImpactInput<'_>, i: usize, time: f64) -> Impact {
        let (bodies, contacts) = (&from.world.bodies, from.arms.contacts);
        let pair = contacts.pairs()[i];
        let [a, b] = pair.map(|j| j as usize);
        let law = from.world.materials.pair(bodies.material[a], bodies.material[b]);
        let normal = contacts.normals().get(i);
        let arms = from.arms.of(i);
        // Forces go on for all of the step: velocities at the impact are those of its own time.
        let drift = (time / from.h - 0.5) * (self.kick[a] - self.kick[b]) + from.surfaces.slip(pair, normal);
        let before = relative_velocity(self.velocity[a], self.velocity[b], arms) + drift;
        let mass = bodies.inverse_mass[a] + bodies.inverse_mass[b];
        let is_round = i < contacts.round();
        let turning = |j: usize, arm: DVec3| bodies.inverse_inertia[j].x * arm.length_squared();
        let scales = [mass, mass + turning(a, arms[0]) + turning(b, arms[1])];
        let block = (!is_round).then(|| ContactBlock::new(answer(bodies, [a, b], arms), normal, law.friction));
        let rebound = -law.restitution * before.dot(normal);
        Impact {
            bodies: [a, b],
            normal,
            arms,
            time,
            friction: law.friction,
            drift,
            before,
            rebound,
            scales,
            block,
            impulse: DVec3::ZERO,
        }
    }

    /// Solves one impact with the others held. Returns the change of its impulse.
    fn relax(&mut self, bodies: &Bodies, impact: &mut Impact) -> f64 {
        let [a, b] = impact.bodies;
        let velocity = relative_velocity(self.velocity[a], self.velocity[b], impact.arms);
        let n = impact.normal;
        let excess = velocity + impact.drift - n * impact.rebound;
        let impulse = match &impact.block {
            Some(block) => block.coulomb(excess - answer(bodies, [a, b], impact.arms) * impact.impulse),
            None => {
                let [a_n, a_t] = impact.scales;
                let wanted = impact.impulse - n * (excess.dot(n) / a_n);
                let normal = wanted.dot(n).max(0.0);
                let slip = excess.reject_from_normalized(n);
                let tangential = impact.impulse.reject_from_normalized(n) - slip / a_t;
                n * normal + tangential.clamp_length_max(impact.friction * normal)
            }
        };
        let change = impulse - impact.impulse;
        impact.impulse = impulse;
        self.push(bodies, impact, change);
        change.length()
    }

    /// Changes the velocities of the bodies of an impact.
    fn push(&mut self, bodies: &Bodies, impact: &Impact, impulse: DVec3) {
        for ((&j, arm), sign) in impact.bodies.iter().zip(impact.arms).zip([1.0, -1.0]) {
            let [v, w] = &mut self.velocity[j];
            *v += sign * bodies.inverse_mass[j] * impulse;
            *w += sign * turn(bodies, j, arm.cross(impulse));
        }
    }

    /// Takes back the part of all impulses with which energy would grow.
    fn keep_energy(&mut self, bodies: &Bodies, impacts: &mut [Impact]) {
        let [mut work, mut square] = [0.0; 2];
        for impact in impacts.iter() {
            let [a, b] = impact.bodies;
            let after = relative_velocity(self.velocity[a], self.velocity[b], impact.arms) + impact.drift;
            work += impact.impulse.dot(impact.before);
            square += impact.impulse.dot(after - impact.before);
        }
        // The change of energy is work + square/2 for all of the impulses, and none for this part.
        let part = -2.0 * work / square;
        if square > 0.0 && part < 1.0 {
            for impact in impacts.iter_mut() {
                let less = impact.impulse * (part.max(0.0) - 1.0);
                impact.impulse += less;
                self.push(bodies, impact, less);
            }
        }
    }

    /// After the last pass: velocities before the step and without contacts, and positions, as if all of it had
    /// happened at its start.
    pub fn finish(&self, bodies: &mut Bodies, free: &mut [[DVec3; 2]]) {
        for (j, free) in free.iter_mut().enumerate() {
            if bodies.inverse_mass[j] == 0.0 {
                continue;
            }
            let [v, w] = self.velocity[j];
            let dv = v - 0.5 * (bodies.velocity[j] + free[0]);
            let dw = w - 0.5 * (bodies.angular_velocity[j] + free[1]);
            bodies.velocity[j] += dv;
            bodies.angular_velocity[j] += dw;
            bodies.position[j] += self.shift[j];
            *free = [free[0] + dv, free[1] + dw];
        }
    }
}

/// The change of spin by an impulsive moment.
#[inline]
fn turn(bodies: &Bodies, j: usize, moment: DVec3) -> DVec3 {
    let q = bodies.orientation[j];
    let inertia = bodies.inverse_inertia[j];
    if inertia.x == inertia.y && inertia.y == inertia.z {
        return inertia.x * moment;
    }
    q * (inertia * (q.conjugate() * moment))
}

/// How the velocity at a contact answers to an impulse.
fn answer(bodies: &Bodies, pair: [usize; 2], arms: [DVec3; 2]) -> DMat3 {
    let column = |axis: DVec3| {
        let of = |side: usize| {
            let (j, arm) = (pair[side], arms[side]);
            bodies.inverse_mass[j] * axis + turn(bodies, j, arm.cross(axis)).cross(arm)
        };
        of(0) + of(1)
    };
    DMat3::from_cols(column(DVec3::X), column(DVec3::Y), column(DVec3::Z))
}
