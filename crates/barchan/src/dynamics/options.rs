//! What a user can choose about contacts. All are ratios, so that one default serves sand and
//! boulders.

use serde::{Deserialize, Serialize};

/// Rules for gaps, penetration and bounces.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ContactOptions {
    /// Gap up to which two bodies count as neighbours even at rest, as a fraction of their
    /// radii (the τ of S4 eq. 6).
    pub margin: f64,
    /// Fraction of a penetration that is removed a step, by moving bodies apart: their velocities stay.
    pub recovery: f64,
    /// How fast a body moves by that at most, in radii a second.
    pub recovery_speed: f64,
    /// Approach speed below which a contact does not bounce, in units of |gravity|·step.
    pub restitution_threshold: f64,
    /// Speed ε below which Coulomb's law is rounded off, in units of what forces change velocities by in a step: a
    /// contact that slides more slowly opens by up to hμε. Zero for the exact law, which takes more iterations.
    pub slip_rounding: f64,
}

impl Default for ContactOptions {
    fn default() -> Self {
        Self { margin: 0.02, recovery: 0.2, recovery_speed: 5.0, restitution_threshold: 2.0, slip_rounding: 1.0 }
    }
}

/// How positions follow from velocities.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Integrator {
    /// With the mean of the velocities before and after the step: forces and impulses act at its middle (Moreau).
    #[default]
    Middle,
    /// With the velocity after the step: forces and impulses act at its start (semi-implicit Euler).
    Euler,
}

impl Integrator {
    /// How far ahead in time of a step's start its forces and normals are taken.
    pub fn ahead(self, h: f64) -> f64 {
        match self {
            Self::Middle => 0.5 * h,
            Self::Euler => 0.0,
        }
    }

    /// The name that scene files use.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|entry| entry.0 == self).map_or("", |entry| entry.1)
    }

    /// Every one with the name that scene files use, and a few words where that is not enough.
    pub const ALL: &'static [(Self, &'static str, &'static str)] =
        &[(Self::Middle, "middle", "impulses at half a step"), (Self::Euler, "euler", "at its start")];
}
