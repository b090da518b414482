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
    /// Fraction of a penetration that is removed a step.
    pub recovery: f64,
    /// Cap of that removal a step, as a fraction of the smaller radius: error correction must
    /// not become a launch (S4 section 3).
    pub recovery_cap: f64,
    /// Approach speed below which a contact does not bounce, in units of |gravity|·step.
    pub restitution_threshold: f64,
    /// Speed ε below which Coulomb's law is rounded off, in units of what forces change velocities by in a step: a
    /// contact that slides more slowly opens by up to hμε. Zero for the exact law, which takes more iterations.
    pub slip_rounding: f64,
}

impl Default for ContactOptions {
    fn default() -> Self {
        Self { margin: 0.02, recovery: 0.2, recovery_cap: 0.01, restitution_threshold: 2.0, slip_rounding: 0.0 }
    }
}
