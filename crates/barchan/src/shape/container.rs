//! The outside of a box: bodies live within its inner walls, some of which may be missing.

use glam::DVec3;
use serde::{Deserialize, Serialize};

/// A wall of a [`Container`], named by the side of the box on which it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Face {
    /// The wall at the smallest x.
    #[serde(rename = "-x")]
    LowX,
    /// The wall at the largest x.
    #[serde(rename = "+x")]
    HighX,
    /// The wall at the smallest y.
    #[serde(rename = "-y")]
    LowY,
    /// The wall at the largest y.
    #[serde(rename = "+y")]
    HighY,
    /// The wall at the smallest z.
    #[serde(rename = "-z")]
    LowZ,
    /// The wall at the largest z.
    #[serde(rename = "+z")]
    HighZ,
}

impl Face {
    /// All six, in the order of contact features.
    pub const ALL: [Face; 6] = [Face::LowX, Face::HighX, Face::LowY, Face::HighY, Face::LowZ, Face::HighZ];

    /// The axis and the side (−1 or +1) of this wall.
    #[inline]
    pub fn axis_and_side(self) -> (usize, f64) {
        let k = self as usize;
        (k / 2, if k.is_multiple_of(2) { -1.0 } else { 1.0 })
    }
}

/// The outside of a box about the body's origin.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Container {
    /// Half the inner edge lengths.
    pub half_extents: DVec3,
    /// Walls that are missing.
    #[serde(default)]
    pub open: Vec<Face>,
}

impl Container {
    /// The walls that are there.
    #[inline]
    pub fn walls(&self) -> impl Iterator<Item = Face> + '_ {
        Face::ALL.into_iter().filter(|face| !self.open.contains(face))
    }
}
