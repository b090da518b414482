//! Prescribed force fields, and forces and torques on single bodies.

use glam::DVec3;
use serde::{Deserialize, Serialize};

/// A force on one body, applied at its centre of mass, and a torque.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ExternalForce {
    /// Force.
    pub force: DVec3,
    /// Torque.
    pub torque: DVec3,
}

/// A field that acts on every dynamic body. (Uniform gravity is the world's own.)
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum ForceField {
    /// Acceleration −strength·(x − centre)/|x − centre|³: the pull of a point mass GM = strength.
    Central {
        /// The point that attracts.
        centre: DVec3,
        /// GM.
        strength: f64,
    },
    /// Acceleration −rate·(v − wind), and −rate·ω on the spin: linear drag towards a steady wind.
    Drag {
        /// Inverse relaxation time.
        rate: f64,
        /// Velocity of the medium.
        #[serde(default)]
        wind: DVec3,
    },
    /// Acceleration −stiffness·(x − centre): a harmonic well.
    Well {
        /// The lowest point.
        centre: DVec3,
        /// Square of the angular frequency.
        stiffness: f64,
    },
}

impl ForceField {
    /// Linear and angular acceleration of a body at `x` with velocity `v` and spin `w`.
    #[inline]
    pub fn acceleration(&self, x: DVec3, v: DVec3, w: DVec3) -> (DVec3, DVec3) {
        match *self {
            Self::Central { centre, strength } => {
                let d = x - centre;
                let r2 = d.length_squared().max(f64::MIN_POSITIVE);
                (-strength / (r2 * r2.sqrt()) * d, DVec3::ZERO)
            }
            Self::Drag { rate, wind } => (-rate * (v - wind), -rate * w),
            Self::Well { centre, stiffness } => (-stiffness * (x - centre), DVec3::ZERO),
        }
    }
}
