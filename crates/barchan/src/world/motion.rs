//! Prescribed motion of kinematic bodies.
//!
//! A motion is a place and an angle for every time. What a step needs of it are mean velocities: the body is moved by
//! them, and stands where it should at the end of any step, however long.

use super::{Turn, Waypoints};
use crate::util::formula::VectorFormula;
use glam::{DQuat, DVec3};
use serde::{Deserialize, Serialize};
use std::f64::consts::TAU;

/// A shaking motion amplitude·(sin(2π·frequency·t + phase) − sin(phase)).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Oscillation {
    /// Largest displacement.
    pub amplitude: DVec3,
    /// Cycles a second.
    pub frequency: f64,
    /// Phase at time zero, radians.
    #[serde(default)]
    pub phase: f64,
}

/// Motion of a kinematic body: steady, with any of these on top.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Prescribed {
    /// Steady velocity.
    pub velocity: DVec3,
    /// Steady angular velocity.
    pub angular_velocity: DVec3,
    /// A shake about the place at time zero.
    pub oscillation: Option<Oscillation>,
    /// A displacement by formulas.
    pub path: Option<VectorFormula>,
    /// A displacement from waypoint to waypoint.
    pub waypoints: Option<Waypoints>,
    /// A turn by a formula.
    pub turn: Option<Turn>,
}

/// Where in a step the speed of a motion is looked at. The parts differ in length, so that no vibration is in step
/// with all of them.
const PARTS: [f64; 5] = [0.0, 0.19, 0.5, 0.71, 1.0];

impl Prescribed {
    /// Mean velocity between `time` and `time + h`: stepping with it keeps the position exact.
    pub fn mean_velocity(&self, time: f64, h: f64) -> DVec3 {
        let shake = self.oscillation.map_or(DVec3::ZERO, |o| {
            let at = |t: f64| (TAU * o.frequency * t + o.phase).sin();
            o.amplitude * ((at(time + h) - at(time)) / h)
        });
        let steady = self.velocity + shake;
        if self.path.is_none() && self.waypoints.is_none() {
            return steady;
        }
        steady + (self.displacement(time + h) - self.displacement(time)) / h
    }

    /// Mean angular velocity between `time` and `time + h`: turning with it keeps the angle exact.
    pub fn mean_angular_velocity(&self, time: f64, h: f64) -> DVec3 {
        let turn = self.turn.as_ref().map_or(DVec3::ZERO, |turn| turn.mean_angular_velocity(time, h));
        self.angular_velocity + turn
    }

    /// Displacement by path and waypoints.
    pub fn displacement(&self, time: f64) -> DVec3 {
        let path = self.path.as_ref().map_or(DVec3::ZERO, |path| path.at(time));
        path + self.waypoints.as_ref().map_or(DVec3::ZERO, |waypoints| waypoints.at(time))
    }

    /// The turn by a formula.
    pub fn rotation(&self, time: f64) -> DQuat {
        self.turn.as_ref().map_or(DQuat::IDENTITY, |turn| turn.at(time))
    }

    /// The largest acceleration and angular acceleration by path, waypoints and turn, as the mean velocities of parts
    /// of a step from `time` to `time + h` show them.
    pub fn accelerations(&self, time: f64, h: f64) -> [f64; 2] {
        let linear = self.path.is_some() || self.waypoints.is_some();
        let place = |t: f64| if linear { self.displacement(t) } else { DVec3::ZERO };
        let angle = |t: f64| self.turn.as_ref().map_or(0.0, |turn| turn.angle.at(t));
        let times = PARTS.map(|part| time + part * h);
        let (places, angles) = (times.map(place), times.map(angle));
        let mut largest = [0.0f64; 2];
        for k in 1..PARTS.len() - 1 {
            let [before, after] = [k - 1, k].map(|k| h * (PARTS[k + 1] - PARTS[k]));
            let change = (places[k + 1] - places[k]) / after - (places[k] - places[k - 1]) / before;
            let turning = (angles[k + 1] - angles[k]) / after - (angles[k] - angles[k - 1]) / before;
            let between = 0.5 * (before + after);
            largest = [largest[0].max(change.length() / between), largest[1].max(turning.abs() / between)];
        }
        largest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_add_up_to_the_prescribed_place() {
        let shake = Oscillation { amplitude: DVec3::X, frequency: 2.0, phase: 0.3 };
        let motion = Prescribed { velocity: DVec3::Y, oscillation: Some(shake), ..Prescribed::default() };
        let h = 1e-3;
        let x: DVec3 = (0..333).map(|k| h * motion.mean_velocity(f64::from(k) * h, h)).sum();
        let expected = (TAU * 2.0 * 0.333 + 0.3).sin() - 0.3f64.sin();
        assert!((x - DVec3::new(expected, 0.333, 0.0)).length() < 1e-12);
    }

    #[test]
    fn accelerations_are_those_of_the_formulas() {
        let formula = |text: &str| text.parse().unwrap();
        let path = VectorFormula(["3*t^2", "0", "-4*t^2 + t"].map(formula));
        let turn = Turn { axis: DVec3::Z, angle: formula("t^2") };
        let motion = Prescribed { path: Some(path), turn: Some(turn), ..Prescribed::default() };
        let [linear, angular] = motion.accelerations(0.3, 1e-3);
        assert!((linear - 10.0).abs() < 1e-6 && (angular - 2.0).abs() < 1e-6, "{linear} {angular}");
        assert_eq!(Prescribed::default().accelerations(0.3, 1e-3), [0.0; 2]);
        // A vibration whose period is the step, or a part of it, is seen.
        for frequency in [1e3, 2e3, 4e3, 1e4] {
            let path = VectorFormula([formula(&format!("0.001*sin(2*pi*{frequency}*t)")), 0.0.into(), 0.0.into()]);
            let [linear, _] = Prescribed { path: Some(path), ..Prescribed::default() }.accelerations(0.0, 1e-3);
            assert!(linear > 1e3, "{frequency}: {linear}");
        }
    }
}
