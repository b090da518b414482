//! A ball about the body's origin.

use super::MassProperties;
use glam::DVec3;
use serde::{Deserialize, Serialize};
use std::f64::consts::PI;

/// A ball about the body's origin.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sphere {
    /// Radius.
    pub radius: f64,
}

impl Sphere {
    /// Mass 4πr³ρ/3 and moment 2mr²/5 about every axis.
    pub fn mass_properties(&self, density: f64) -> MassProperties {
        let mass = 4.0 / 3.0 * PI * self.radius.powi(3) * density;
        MassProperties { mass, inertia: DVec3::splat(0.4 * mass * self.radius * self.radius) }
    }
}
