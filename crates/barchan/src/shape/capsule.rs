//! A cylinder with round caps about the z axis of the body: all that is near to a segment.

use super::{Convex, Form, Solid, Surface, close};
use barchan_convex::Core;
use barchan_mesh::Moments;
use glam::{DMat3, DVec3};
use serde::{Deserialize, Serialize};

/// All that is within a radius of a segment along z.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Capsule {
    /// Radius.
    pub radius: f64,
    /// Half the length of the segment: caps are beyond.
    pub half_height: f64,
}

impl Form for Capsule {
    fn faults(&self) -> Vec<(&'static str, String)> {
        let mut faults = Vec::new();
        close::positive("radius", self.radius, &mut faults);
        close::positive("half_height", self.half_height, &mut faults);
        faults
    }

    fn solid(&self) -> Solid<'_> {
        let core = Core::Segment { half: self.half_height };
        Solid::One(Convex { core, rounding: self.radius, centre: DVec3::ZERO })
    }

    fn reach(&self) -> f64 {
        self.half_height + self.radius
    }

    fn size(&self) -> f64 {
        self.radius
    }

    fn half_box(&self, r: &DMat3) -> [DVec3; 2] {
        let high = r.z_axis.abs() * self.half_height + self.radius;
        [-high, high]
    }

    fn moments(&self) -> Option<Moments> {
        Some(Moments::capsule(self.radius, self.half_height))
    }

    fn surface(&self) -> Surface {
        Surface::capsule(self.radius, self.half_height, close::AROUND)
    }
}
