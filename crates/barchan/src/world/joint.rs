//! Joints: constraints between two bodies, or a body and the world, with what acts along the motion that they leave.
//!
//! A joint has a frame on either side that coincide (or are as far apart as the kind says) when the joint is whole. Its
//! *coordinates* are the motion of the second body as the first one sees it: an angle about the axis, a way along it, or a
//! length. Limits, motors, springs and brakes act on a coordinate.

use crate::util::formula::Formula;
use crate::util::pack::{Pack, Unpacker};
use glam::{DQuat, DVec3};
use serde::{Deserialize, Serialize};
use std::f64::consts::{PI, TAU};

/// Which motion of the second body a joint leaves, as the first one sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[repr(u8)]
pub enum JointKind {
    /// None.
    Fixed,
    /// Any turn about a point.
    Spherical,
    /// A turn about an axis.
    Revolute,
    /// A way along an axis.
    Prismatic,
    /// A turn about an axis and a way along it.
    Cylindrical,
    /// Turns about two axes that are perpendicular, one fixed to each body: a shaft joint.
    Universal,
    /// Any motion that keeps the distance of two points: a massless rod.
    Distance,
    /// Turns about an axis of each body, as the world sees them, in a fixed ratio.
    Gear,
}

impl JointKind {
    /// Every one with the name that scene files use, and a few words where that is not enough.
    pub const ALL: &'static [(Self, &'static str, &'static str)] = &[
        (Self::Fixed, "fixed", ""),
        (Self::Spherical, "spherical", "turns about a point"),
        (Self::Revolute, "revolute", "a turn about an axis"),
        (Self::Prismatic, "prismatic", "a way along an axis"),
        (Self::Cylindrical, "cylindrical", "a turn about an axis and a way along it"),
        (Self::Universal, "universal", "turns about two crossed axes"),
        (Self::Distance, "distance", "keeps two points as far apart as they are"),
        (Self::Gear, "gear", "couples the turns of two bodies"),
    ];

    /// The name that scene files use.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|entry| entry.0 == self).map_or("", |entry| entry.1)
    }

    /// The coordinate along which motors, limits, springs and brakes act, if there is one: of a cylindrical joint the
    /// turn.
    pub fn coordinate(self) -> Option<Coordinate> {
        match self {
            Self::Revolute | Self::Cylindrical => Some(Coordinate::Angle),
            Self::Prismatic => Some(Coordinate::Way),
            Self::Distance => Some(Coordinate::Length),
            Self::Fixed | Self::Spherical | Self::Universal | Self::Gear => None,
        }
    }

    fn from_code(code: u8) -> Option<Self> {
        Self::ALL.iter().map(|entry| entry.0).find(|kind| *kind as u8 == code)
    }
}

/// What a joint leaves free.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coordinate {
    /// The angle of the second body about the axis, rad; turns are counted.
    Angle,
    /// The way of the second body along the axis, m.
    Way,
    /// How much farther the two points are apart than at the start, m.
    Length,
}

/// What a motor wants, as a formula of the time.
#[derive(Clone, Debug, PartialEq)]
pub enum Drive {
    /// A speed of the coordinate, rad/s or m/s.
    Speed(Formula),
    /// A value of the coordinate, rad or m.
    Position(Formula),
}

/// A motor.
#[derive(Clone, Debug, PartialEq)]
pub struct Motor {
    /// What it wants.
    pub drive: Drive,
    /// The largest torque, N·m, or force, N. Infinite: whatever it takes.
    pub effort: f64,
    /// In what time it goes the way to its position, s, if it went on at the speed at which it starts; zero for at once.
    pub response: f64,
}

/// A spring and a damper side by side.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spring {
    /// N·m/rad or N/m.
    pub stiffness: f64,
    /// N·m·s/rad or N·s/m.
    #[serde(default)]
    pub damping: f64,
    /// The coordinate at which it pulls nowhere.
    #[serde(default)]
    pub rest: f64,
}

/// The load at which a joint breaks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Strength {
    /// Force, N.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub force: Option<f64>,
    /// Torque about its anchor, N·m.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub torque: Option<f64>,
}

/// Where a joint sits on one of its sides, in the frame of that body's principal axes about its centre of mass, or in
/// the world. Its axis is the third of the frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JointFrame {
    /// The anchor.
    pub place: DVec3,
    /// The axes.
    pub turn: DQuat,
    /// The axes as they stood in the world at the start: from there gears count their turns.
    pub home: DQuat,
}

/// A joint.
#[derive(Clone, Debug, PartialEq)]
pub struct Joint {
    /// By which outputs call it.
    pub name: String,
    /// What it leaves free.
    pub kind: JointKind,
    /// The ids of the first body, or none for the world, and of the second.
    pub bodies: (Option<u64>, u64),
    /// Where it sits on the first and on the second.
    pub frames: [JointFrame; 2],
    /// The length of a distance joint, m; the ratio of a gear: turns of the second for a turn of the first.
    pub measure: f64,
    /// The least and the most of the coordinate.
    pub limits: Option<[f64; 2]>,
    /// What drives the coordinate.
    pub motor: Option<Motor>,
    /// What pulls it to a place.
    pub spring: Option<Spring>,
    /// Dry friction: the torque, N·m, or force, N, that holds it, and brakes it where it moves.
    pub friction: f64,
    /// When it breaks.
    pub strength: Option<Strength>,
    /// Whether its two bodies can touch.
    pub collide: bool,
    /// What it has become.
    pub state: JointState,
}

/// What of a joint changes from step to step.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct JointState {
    /// The coordinate (of a gear, how far its turns are from their ratio) in the middle of the last step, or at its start.
    pub position: f64,
    /// Its velocity after the last step.
    pub speed: f64,
    /// The angles of both bodies of a gear, turns counted.
    pub(crate) angles: [f64; 2],
    /// Whether it has broken.
    pub is_broken: bool,
    /// Force on the second body and torque on it about the anchor in the last step, N and N·m, in the world frame: the
    /// impulses of the whole step over its length.
    pub force: DVec3,
    /// See `force`.
    pub torque: DVec3,
    /// The force that it bore of late, N.
    pub(crate) tension: f64,
    /// What the motor exerted in the last step, N·m or N.
    pub effort: f64,
    /// The work of the motor so far, J.
    pub work: f64,
    /// Impulses of the rows over the length of the step, for the next start.
    pub(crate) loads: Vec<f64>,
}

impl JointState {
    /// An angle that is known up to whole turns, as near to the last as can be.
    pub(crate) fn unwound(angle: f64, last: f64) -> f64 {
        let turns = ((last - angle) / TAU).round();
        angle + turns * TAU
    }
}

/// The angle of a turn about an axis of it, in (−π, π].
pub(crate) fn angle_about(q: DQuat, axis: DVec3) -> f64 {
    let angle = 2.0 * DVec3::new(q.x, q.y, q.z).dot(axis).atan2(q.w);
    if angle > PI {
        angle - TAU
    } else if angle <= -PI {
        angle + TAU
    } else {
        angle
    }
}

impl Pack for JointFrame {
    fn pack(&self, out: &mut Vec<u8>) {
        self.place.pack(out);
        [self.turn, self.home].iter().for_each(|q| q.pack(out));
    }

    fn unpack(from: &mut Unpacker<'_>) -> Option<Self> {
        Some(Self { place: from.take()?, turn: from.take()?, home: from.take()? })
    }
}

impl Pack for Motor {
    fn pack(&self, out: &mut Vec<u8>) {
        let (code, aim) = match &self.drive {
            Drive::Speed(speed) => (0u8, speed),
            Drive::Position(position) => (1, position),
        };
        code.pack(out);
        aim.pack(out);
        [self.effort, self.response].pack(out);
    }

    fn unpack(from: &mut Unpacker<'_>) -> Option<Self> {
        let code: u8 = from.take()?;
        let aim = from.take()?;
        let [effort, response] = from.take()?;
        let drive = match code {
            0 => Drive::Speed(aim),
            1 => Drive::Position(aim),
            _ => return None,
        };
        Some(Self { drive, effort, response })
    }
}

impl Pack for Spring {
    fn pack(&self, out: &mut Vec<u8>) {
        [self.stiffness, self.damping, self.rest].pack(out);
    }

    fn unpack(from: &mut Unpacker<'_>) -> Option<Self> {
        let [stiffness, damping, rest] = from.take()?;
        Some(Self { stiffness, damping, rest })
    }
}

impl Pack for Strength {
    fn pack(&self, out: &mut Vec<u8>) {
        self.force.pack(out);
        self.torque.pack(out);
    }

    fn unpack(from: &mut Unpacker<'_>) -> Option<Self> {
        Some(Self { force: from.take()?, torque: from.take()? })
    }
}

impl Pack for JointState {
    fn pack(&self, out: &mut Vec<u8>) {
        let Self { position, speed, angles, is_broken, force, torque, tension, effort, work, loads } = self;
        [*position, *speed, *tension, *effort, *work].pack(out);
        angles.pack(out);
        is_broken.pack(out);
        [*force, *torque].pack(out);
        (loads.len() as u64).pack(out);
        loads.iter().for_each(|load| load.pack(out));
    }

    fn unpack(from: &mut Unpacker<'_>) -> Option<Self> {
        let [position, speed, tension, effort, work] = from.take()?;
        let angles = from.take()?;
        let is_broken = from.take()?;
        let [force, torque] = from.take()?;
        let mut loads = Vec::new();
        for _ in 0..from.take::<u64>()? {
            loads.push(from.take()?);
        }
        Some(Self { position, speed, angles, is_broken, force, torque, tension, effort, work, loads })
    }
}

impl Pack for Joint {
    fn pack(&self, out: &mut Vec<u8>) {
        (self.name.len() as u64).pack(out);
        out.extend_from_slice(self.name.as_bytes());
        (self.kind as u8).pack(out);
        self.bodies.0.pack(out);
        self.bodies.1.pack(out);
        self.frames.pack(out);
        [self.measure, self.friction].pack(out);
        self.limits.pack(out);
        self.motor.pack(out);
        self.spring.pack(out);
        self.strength.pack(out);
        self.collide.pack(out);
        self.state.pack(out);
    }

    fn unpack(from: &mut Unpacker<'_>) -> Option<Self> {
        let length = usize::try_from(from.take::<u64>()?).ok()?;
        let name = String::from_utf8(from.slice(length)?.to_vec()).ok()?;
        let kind = JointKind::from_code(from.take()?)?;
        let bodies = (from.take()?, from.take()?);
        let frames = from.take()?;
        let [measure, friction] = from.take()?;
        Some(Self {
            name,
            kind,
            bodies,
            frames,
            measure,
            limits: from.take()?,
            motor: from.take()?,
            spring: from.take()?,
            friction,
            strength: from.take()?,
            collide: from.take()?,
            state: from.take()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_are_counted() {
        let axis = DVec3::new(0.6, 0.0, 0.8);
        let mut last = 0.0;
        for k in 0..200 {
            let angle = 0.1 * f64::from(k);
            let q = DQuat::from_axis_angle(axis, angle);
            // The same turn has two quaternions.
            for q in [q, -q] {
                last = JointState::unwound(angle_about(q, axis), last);
                assert!((last - angle).abs() < 1e-12, "{last} is not {angle}");
            }
        }
    }
}
