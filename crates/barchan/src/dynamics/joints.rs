//! Joints as rows of the contact problem (S3 eq. 5 and 13).
//!
//! Where impulses act at the middle of the step, so do those of joints, along the gradients of then. Velocities carry
//! bodies from middle to middle, and the one after the step is to end with Ψ = 0: that is the SHAKE method, of second
//! order, without drift, and a pendulum keeps its energy. One linear step from the place to which the present velocities v
//! lead does it: J(u − v) = −Ψ/h, with Ψ of that place.
//!
//! Under a tension F a body with an arm r swings back to the line of it, with ω² = Fr/I. Light links of a chain that holds a
//! heavy weight do so too fast for the step, and the method would blow up (hω > 2; Tournier et al. 2015). Of these, and of no
//! others, the moment of inertia is raised to what the step can follow: they swing more slowly, about the same place.
//!
//! A spring is taken as the mean of three middles, −k(s + h/4·(u⁺ − u⁻)) − d(u⁻ + u⁺)/2 (Newmark's average acceleration):
//! as a compliance in its row, so that it never blows up, however stiff, and without damping keeps its energy. With the
//! step of semi-implicit Euler both are taken at the end of the step instead.

use super::integrate::turn;
use super::{FreeMotion, Integrator};
use crate::partition::Periods;
use crate::world::joint::{Coordinate, Drive, Joint, JointKind, JointState, angle_about};
use crate::world::{Bodies, Motion, World};
use arrayvec::ArrayVec;
use barchan_cone::Row;
use glam::{DMat3, DQuat, DVec3};

/// The rows of all joints of a step; memory is kept.
#[derive(Clone, Debug, Default)]
pub struct JointRows {
    pub(super) rows: Vec<Row>,
    pub(super) bias: Vec<f64>,
    /// Rows of joint k are `start[k]..start[k + 1]`.
    start: Vec<usize>,
    /// The row of each joint's motor, and its velocity before the step.
    motors: Vec<Option<(usize, f64)>>,
    /// Bodies with moments of inertia that the step cannot follow, ascending, and the least that it can.
    slow: Vec<(u32, f64)>,
}

/// A row as it is being made: its gradient with respect to the motion of the second body and of the first.
type Gradient = [[DVec3; 2]; 2];

/// What a joint does not allow: its gradient, and its violation.
type Constraint = (Gradient, f64);

/// The largest (hω)² of what swings about the line of a tension: half of what would be stable for one joint alone.
const STABLE: f64 = 1.0;
/// What is left of a tension after a step without one: light links under a load hum, and it comes and goes.
const FORGETTING: f64 = 0.95;

/// The interval of impulses that may pull and push.
const EVERYTHING: [f64; 2] = [f64::NEG_INFINITY, f64::INFINITY];

/// One side of a joint at some time.
#[derive(Clone, Copy)]
struct Side {
    /// The anchor, and from the centre to it.
    place: DVec3,
    arm: DVec3,
    axes: DMat3,
    turn: DQuat,
}

/// A joint at some time.
struct Posed<'a> {
    joint: &'a Joint,
    first: Side,
    second: Side,
    /// From the anchor on the first to that on the second.
    offset: DVec3,
}

/// What the rows of a step are made of.
#[derive(Clone, Copy)]
pub struct JointInput<'a> {
    /// Velocities at the end of the step without contacts.
    pub free: &'a FreeMotion,
    /// How positions follow from velocities.
    pub integrator: Integrator,
    /// The length of the step.
    pub h: f64,
    /// The time at its start.
    pub time: f64,
    /// How space repeats itself: bodies of a joint may lie on two sides of a border.
    pub periods: Periods,
}

impl JointRows {
    /// Number of rows.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Makes the rows of all joints of the world, and notes their coordinates in it.
    pub fn fill(&mut self, world: &mut World, from: &JointInput<'_>) {
        self.rows.clear();
        self.bias.clear();
        self.start.clear();
        self.motors.clear();
        let World { bodies, joints, .. } = world;
        for joint in joints.iter_mut() {
            self.start.push(self.rows.len());
            let whole = !joint.state.is_broken;
            let Some(indices) = indices(joint, bodies).filter(|_| whole) else {
                self.motors.push(None);
                continue;
            };
            let ahead = from.integrator.ahead(from.h);
            let posed = Posed::new(joint, bodies, indices, ahead, from);
            let (position, angles) = posed.coordinate();
            let later = Posed::new(joint, bodies, indices, ahead + from.h, from);
            let motor = RowMaker { to: self, bodies, indices, from }.add_all(&posed, &later);
            self.motors.push(motor);
            (joint.state.position, joint.state.angles) = (position, angles);
        }
        self.start.push(self.rows.len());
        self.find_slow(joints, bodies, from.h);
    }

    /// After it: `slow` has the bodies that their joints turn too fast.
    fn find_slow(&mut self, joints: &[Joint], bodies: &Bodies, h: f64) {
        self.slow.clear();
        for joint in joints.iter().filter(|joint| !joint.state.is_broken) {
            let sides = [(joint.bodies.0, joint.frames[0]), (Some(joint.bodies.1), joint.frames[1])];
            for (id, frame) in sides {
                if let Some(j) = id.and_then(|id| bodies.index_of(id)) {
                    self.slow.push((j as u32, joint.state.tension * frame.place.length()));
                }
            }
        }
        self.slow.sort_unstable_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
        self.slow.dedup_by(|next, sum| {
            let same = next.0 == sum.0;
            sum.1 += if same { next.1 } else { 0.0 };
            same
        });
        self.slow.iter_mut().for_each(|entry| entry.1 *= h * h / STABLE);
        self.slow.retain(|&(j, least)| bodies.inverse_inertia[j as usize].max_element() * least > 1.0);
    }

    /// The bodies whose inertia is not their own.
    pub(super) fn slow_bodies(&self) -> impl Iterator<Item = usize> + '_ {
        self.slow.iter().map(|entry| entry.0 as usize)
    }

    /// Inverse moments of inertia of a body in its own frame, as the step can follow them.
    #[inline]
    pub(super) fn inverse_inertia(&self, bodies: &Bodies, j: usize) -> DVec3 {
        let inverse = bodies.inverse_inertia[j];
        match self.slow.binary_search_by_key(&(j as u32), |entry| entry.0) {
            Ok(k) => inverse.min(DVec3::splat(self.slow[k].1.recip())),
            Err(_) => inverse,
        }
    }

    /// Impulses to start from in a step of length h: the loads of the step before.
    pub fn starts(&self, joints: &[Joint], h: f64, out: &mut Vec<f64>) {
        out.clear();
        out.resize(self.rows.len(), 0.0);
        for (joint, range) in joints.iter().zip(self.start.windows(2)) {
            let range = range[0]..range[1];
            if joint.state.loads.len() == range.len() {
                out[range].iter_mut().zip(&joint.state.loads).for_each(|(out, load)| *out = h * load);
            }
        }
    }

    /// Notes in the joints what impulses have done in a step of length h, after it.
    pub fn finish(&self, joints: &mut [Joint], bodies: &Bodies, impulses: &[f64], h: f64) {
        let of_each = joints.iter_mut().zip(self.start.windows(2)).zip(&self.motors);
        for ((joint, range), motor) in of_each {
            let range = range[0]..range[1];
            let state = &mut joint.state;
            state.loads.clear();
            state.loads.extend(impulses[range.clone()].iter().map(|λ| λ / h));
            (state.force, state.torque, state.effort) = (DVec3::ZERO, DVec3::ZERO, 0.0);
            let (Some(second), false) = (bodies.index_of(joint.bodies.1), range.is_empty()) else { continue };
            let mut moment = DVec3::ZERO;
            for i in range {
                let [force, torque] = self.rows[i].jacobian[0].map(|x| x * (impulses[i] / h));
                state.force += force;
                moment += torque;
            }
            state.tension = state.force.length().max(state.tension * FORGETTING);
            let arm = bodies.orientation[second] * joint.frames[1].place;
            state.torque = moment - arm.cross(state.force);
            if let Some((row, before)) = *motor {
                let after = velocity(&self.rows[row], bodies);
                state.effort = impulses[row] / h;
                state.speed = after;
                state.work += impulses[row] * 0.5 * (before + after);
            }
            let is_above = |load: DVec3, limit: Option<f64>| limit.is_some_and(|limit| load.length() > limit);
            let strength = joint.strength.unwrap_or_default();
            state.is_broken = is_above(state.force, strength.force) || is_above(state.torque, strength.torque);
        }
    }
}

/// The velocity along a row.
fn velocity(row: &Row, bodies: &Bodies) -> f64 {
    let side = |k: usize| {
        let j = row.bodies[k] as usize;
        row.jacobian[k][0].dot(bodies.velocity[j]) + row.jacobian[k][1].dot(bodies.angular_velocity[j])
    };
    side(0) + side(1)
}

/// The indices of the second body and of the first; the second twice where the first is the world. None if a body is gone,
/// or neither can move.
fn indices(joint: &Joint, bodies: &Bodies) -> Option<[usize; 2]> {
    let second = bodies.index_of(joint.bodies.1)?;
    let first = match joint.bodies.0 {
        Some(id) => bodies.index_of(id)?,
        None => second,
    };
    (bodies.inverse_mass[second] > 0.0 || bodies.inverse_mass[first] > 0.0).then_some([second, first])
}

impl<'a> Posed<'a> {
    fn new(joint: &'a Joint, bodies: &Bodies, [second, first]: [usize; 2], ahead: f64, from: &JointInput<'_>) -> Self {
        let side = |j: usize, frame: usize, is_world: bool| {
            let frame = joint.frames[frame];
            if is_world {
                let axes = DMat3::from_quat(frame.turn);
                return Side { place: frame.place, arm: DVec3::ZERO, axes, turn: frame.turn };
            }
            let (x, q) = pose(bodies, j, ahead);
            let (arm, turn) = (q * frame.place, q * frame.turn);
            Side { place: x + arm, arm, axes: DMat3::from_quat(turn), turn }
        };
        let first = side(first, 0, joint.bodies.0.is_none());
        let second = side(second, 1, false);
        Self { joint, first, second, offset: from.periods.shortest(second.place - first.place) }
    }

    /// The coordinate of the joint now, and the angles of a gear; turns are counted.
    fn coordinate(&self) -> (f64, [f64; 2]) {
        let JointState { position: last, angles, .. } = self.joint.state;
        let position = match self.joint.kind.coordinate() {
            Some(Coordinate::Angle) => {
                let angle = angle_about(self.first.turn.conjugate() * self.second.turn, DVec3::Z);
                JointState::unwound(angle, last)
            }
            Some(Coordinate::Way) => self.first.axes.z_axis.dot(self.offset),
            Some(Coordinate::Length) => self.offset.length() - self.joint.measure,
            None if self.joint.kind == JointKind::Gear => {
                let sides = [self.first.turn, self.second.turn];
                let angle = |k: usize| angle_about(self.joint.frames[k].home.conjugate() * sides[k], DVec3::Z);
                let angles = [0, 1].map(|k| JointState::unwound(angle(k), angles[k]));
                return (angles[1] - self.joint.measure * angles[0], angles);
            }
            None => 0.0,
        };
        (position, angles)
    }

    /// What the joint does not allow: each with its gradient and its violation. Which there are, and in which order, is the
    /// same at all times.
    fn constraints(&self) -> ArrayVec<Constraint, 6> {
        let axes = self.first.axes;
        let [x, y] = [axes.x_axis, axes.y_axis];
        let mut all = ArrayVec::new();
        // Anchors stay together: everywhere, or across the axis.
        match self.joint.kind {
            JointKind::Fixed | JointKind::Spherical | JointKind::Revolute | JointKind::Universal => {
                all.extend(DVec3::AXES.map(|e| (self.along(e, false), e.dot(self.offset))));
            }
            JointKind::Prismatic | JointKind::Cylindrical => {
                all.extend([x, y].map(|e| (self.along(e, true), e.dot(self.offset))));
            }
            // A rope or a spring where something else acts along it.
            JointKind::Distance if self.joint.limits.is_none() && self.joint.spring.is_none() => {
                all.push((self.along(self.offset.normalize_or_zero(), false), self.coordinate().0));
            }
            JointKind::Distance | JointKind::Gear => {}
        }
        match self.joint.kind {
            JointKind::Fixed | JointKind::Prismatic => {
                let q = self.second.turn * self.first.turn.conjugate();
                let off = 2.0 * q.w.signum() * DVec3::new(q.x, q.y, q.z);
                all.extend(DVec3::AXES.map(|e| (Self::about(e), e.dot(off))));
            }
            JointKind::Revolute | JointKind::Cylindrical => {
                let off = axes.z_axis.cross(self.second.axes.z_axis);
                all.extend([x, y].map(|e| (Self::about(e), e.dot(off))));
            }
            JointKind::Universal => {
                // The axis of the first stays perpendicular to that of the second.
                let [u, w] = [self.second.axes.x_axis, axes.z_axis];
                all.push((Self::about(u.cross(w)), u.dot(w)));
            }
            JointKind::Gear => {
                let ratio = self.joint.measure;
                let turns = [[DVec3::ZERO, self.second.axes.z_axis], [DVec3::ZERO, -ratio * axes.z_axis]];
                all.push((turns, self.coordinate().0));
            }
            JointKind::Spherical | JointKind::Distance => {}
        }
        all
    }

    /// The gradient of the coordinate.
    fn free_way(&self) -> Option<Gradient> {
        Some(match self.joint.kind.coordinate()? {
            Coordinate::Angle => Self::about(self.first.axes.z_axis),
            Coordinate::Way => self.along(self.first.axes.z_axis, true),
            Coordinate::Length => self.along(self.offset.normalize_or_zero(), false),
        })
    }

    /// That two points stay together along a direction, which the first body carries if `is_carried`.
    fn along(&self, e: DVec3, is_carried: bool) -> Gradient {
        let arm = if is_carried { self.first.arm + self.offset } else { self.first.arm };
        [[e, self.second.arm.cross(e)], [-e, -arm.cross(e)]]
    }

    /// That the second body does not turn about a direction as the first sees it.
    fn about(e: DVec3) -> Gradient {
        [[DVec3::ZERO, e], [DVec3::ZERO, -e]]
    }
}

/// Where a body is that much later at its present velocities, as the integrator takes it there.
fn pose(bodies: &Bodies, j: usize, ahead: f64) -> (DVec3, DQuat) {
    let (x, q) = (bodies.position[j], bodies.orientation[j]);
    let place = x + ahead * bodies.velocity[j];
    let spin = bodies.angular_velocity[j];
    match bodies.motion[j] {
        Motion::Dynamic => (place, turn(q, spin, bodies.inverse_inertia[j], ahead).0),
        Motion::Kinematic | Motion::Fixed => (place, turn(q, spin, DVec3::ZERO, ahead).0),
    }
}

/// Adds the rows of one joint.
struct RowMaker<'a> {
    to: &'a mut JointRows,
    bodies: &'a Bodies,
    indices: [usize; 2],
    from: &'a JointInput<'a>,
}

impl RowMaker<'_> {
    /// Adds the rows of a joint in the middle of the step, which will be at another place a step later. Returns the row of
    /// the motor, and its velocity before the step.
    fn add_all(&mut self, posed: &Posed<'_>, later: &Posed<'_>) -> Option<(usize, f64)> {
        let h = self.from.h;
        for ((gradient, _), (_, violation)) in posed.constraints().into_iter().zip(later.constraints()) {
            let change = violation / h - self.velocity(gradient);
            self.push(gradient, change, EVERYTHING, 0.0);
        }
        let along = posed.free_way()?;
        self.along_coordinate(posed.joint, along, [posed.coordinate().0, later.coordinate().0])
    }

    /// Limits, motor, spring and brake along a coordinate that is there in the middle of the step, and a step later.
    fn along_coordinate(&mut self, joint: &Joint, along: Gradient, [s, later]: [f64; 2]) -> Option<(usize, f64)> {
        let h = self.from.h;
        let before = self.velocity(along);
        if let Some([low, high]) = joint.limits {
            let back = along.map(|side| side.map(|x| -x));
            self.push(along, (later - low) / h - before, [0.0, f64::INFINITY], 0.0);
            self.push(back, (high - later) / h + before, [0.0, f64::INFINITY], 0.0);
        }
        if let Some(spring) = joint.spring {
            let (k, d) = (spring.stiffness, spring.damping);
            let (answer, load) = match self.from.integrator {
                Integrator::Middle => {
                    let quarter = 0.25 * h * h * k;
                    (quarter + 0.5 * h * d, h * k * (s - spring.rest) - (quarter - 0.5 * h * d) * before)
                }
                Integrator::Euler => (h * h * k + h * d, h * k * (s - spring.rest)),
            };
            if answer > 0.0 {
                self.push(along, load / answer, EVERYTHING, answer.recip());
            }
        }
        if joint.friction > 0.0 {
            let most = h * joint.friction;
            self.push(along, 0.0, [-most, most], 0.0);
        }
        let motor = joint.motor.as_ref()?;
        let end = self.from.time + h;
        let change = match &motor.drive {
            Drive::Speed(speed) => -speed.at(end),
            // At once, or as fast as what is left of the way asks for.
            Drive::Position(position) if motor.response <= h => {
                (later - position.at(end + self.from.integrator.ahead(h))) / h - before
            }
            Drive::Position(position) => (s - position.at(end)) / motor.response,
        };
        let most = h * motor.effort;
        self.push(along, change, [-most, most], 0.0);
        Some((self.to.len() - 1, before))
    }

    fn push(&mut self, jacobian: Gradient, bias: f64, limits: [f64; 2], compliance: f64) {
        let [second, first] = self.indices;
        // The world does not move, and what is fixed to it has one body.
        let jacobian = if first == second { [jacobian[0], [DVec3::ZERO; 2]] } else { jacobian };
        let row = Row { bodies: [second as u32, first as u32], jacobian, limits, compliance };
        let of = |side: usize, j: usize| {
            let [v, w] = self.from.free[j];
            jacobian[side][0].dot(v) + jacobian[side][1].dot(w)
        };
        let free = of(0, second) + of(1, first);
        self.to.bias.push(free + bias);
        self.to.rows.push(row);
    }

    /// The velocity along a gradient before the step.
    fn velocity(&self, gradient: Gradient) -> f64 {
        let [second, first] = self.indices;
        let of = |side: usize, j: usize| {
            gradient[side][0].dot(self.bodies.velocity[j]) + gradient[side][1].dot(self.bodies.angular_velocity[j])
        };
        of(0, second) + if first == second { 0.0 } else { of(1, first) }
    }
}
