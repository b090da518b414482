//! Turning by a formula.

use crate::util::formula::Formula;
use glam::{DQuat, DVec3};
use serde::{Deserialize, Serialize};

/// A turn of a kinematic body about an axis through its centre.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Turn {
    /// The axis in the world frame; need not be of unit length.
    pub axis: DVec3,
    /// The angle from the orientation that the body is given, radians.
    pub angle: Formula,
}

impl Turn {
    /// The rotation at a time.
    pub fn at(&self, time: f64) -> DQuat {
        DQuat::from_scaled_axis(self.angle.at(time) * self.axis.normalize_or_zero())
    }

    /// Mean angular velocity between `time` and `time + h`.
    pub fn mean_angular_velocity(&self, time: f64, h: f64) -> DVec3 {
        (self.angle.at(time + h) - self.angle.at(time)) / h * self.axis.normalize_or_zero()
    }
}
