//! All that lies below the plane z = 0 of the body frame.
//!
//! The body's orientation turns the plane, its position shifts it: the normal is the third
//! column of the rotation.

use glam::{DQuat, DVec3};
use serde::{Deserialize, Serialize};

/// All that lies below the plane z = 0 of the body frame.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HalfSpace {}

impl HalfSpace {
    /// The outward normal in the world frame.
    #[inline]
    pub fn normal(orientation: DQuat) -> DVec3 {
        orientation * DVec3::Z
    }

    /// An orientation whose normal is `normal` (which need not be of unit length).
    pub fn orientation_for(normal: DVec3) -> DQuat {
        DQuat::from_rotation_arc(DVec3::Z, normal.normalize())
    }
}
