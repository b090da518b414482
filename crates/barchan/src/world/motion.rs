//! Prescribed motion of kinematic bodies.

use glam::DVec3;
use serde::{Deserialize, Serialize};
use std::f64::consts::TAU;

/// A shaking motion amplitude·sin(2π·frequency·t + phase).
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

/// Motion of a kinematic body: steady, with a shake on top if wanted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prescribed {
    /// Steady velocity.
    pub velocity: DVec3,
    /// Steady angular velocity.
    pub angular_velocity: DVec3,
    /// A shake on top.
    pub oscillation: Option<Oscillation>,
}

impl Prescribed {
    /// Mean velocity between `time` and `time + h`: stepping with it keeps the position exact.
    pub fn mean_velocity(&self, time: f64, h: f64) -> DVec3 {
        let shake = self.oscillation.map_or(DVec3::ZERO, |o| {
            let at = |t: f64| (TAU * o.frequency * t + o.phase).sin();
            o.amplitude * ((at(time + h) - at(time)) / h)
        });
        self.velocity + shake
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_add_up_to_the_prescribed_place() {
        let shake = Oscillation { amplitude: DVec3::X, frequency: 2.0, phase: 0.3 };
        let motion = Prescribed { velocity: DVec3::Y, angular_velocity: DVec3::ZERO, oscillation: Some(shake) };
        let h = 1e-3;
        let x: DVec3 = (0..333).map(|k| h * motion.mean_velocity(f64::from(k) * h, h)).sum();
        let expected = (TAU * 2.0 * 0.333 + 0.3).sin() - 0.3f64.sin();
        assert!((x - DVec3::new(expected, 0.333, 0.0)).length() < 1e-12);
    }
}
