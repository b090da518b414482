//! A cylinder about the z axis of the body, with edges that may be rounded.

use super::{Convex, Form, Solid, Surface, close};
use barchan_convex::Core;
use barchan_mesh::Moments;
use glam::{DMat3, DVec3};
use serde::{Deserialize, Serialize};

/// A cylinder about z.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cylinder {
    /// Radius, rounding included.
    pub radius: f64,
    /// Half the height, rounding included.
    pub half_height: f64,
    /// The radius by which the two edges are rounded.
    #[serde(default)]
    pub margin: f64,
}

impl Form for Cylinder {
    fn faults(&self) -> Vec<(&'static str, String)> {
        let mut faults = Vec::new();
        close::positive("radius", self.radius, &mut faults);
        close::positive("half_height", self.half_height, &mut faults);
        close::margin(self.margin, self.size(), &mut faults);
        faults
    }

    fn solid(&self) -> Solid<'_> {
        let core = Core::Cylinder { radius: self.radius - self.margin, half: self.half_height - self.margin };
        Solid::One(Convex { core, rounding: self.margin, centre: DVec3::ZERO })
    }

    fn reach(&self) -> f64 {
        (self.radius - self.margin).hypot(self.half_height - self.margin) + self.margin
    }

    fn size(&self) -> f64 {
        self.radius.min(self.half_height)
    }

    fn half_box(&self, r: &DMat3) -> [DVec3; 2] {
        let across = (DVec3::ONE - r.z_axis * r.z_axis).max(DVec3::ZERO).map(f64::sqrt);
        let half = self.half_height - self.margin;
        let high = r.z_axis.abs() * half + across * (self.radius - self.margin) + self.margin;
        [-high, high]
    }

    fn moments(&self) -> Option<Moments> {
        Some(Moments::rounded_cylinder(self.radius, self.half_height, self.margin))
    }

    fn surface(&self) -> Surface {
        if self.margin > 0.0 {
            Surface::rounded_cylinder(self.radius, self.half_height, self.margin, close::AROUND)
        } else {
            Surface::cylinder(self.radius, self.half_height, close::AROUND)
        }
    }
}
