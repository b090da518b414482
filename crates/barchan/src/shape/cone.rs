//! A cone about the z axis of the body, tip up. Its centre of mass is the body's origin: the base lies a quarter of
//! the height below, the tip three quarters above.

use super::{Convex, Form, Solid, Surface, close};
use barchan_convex::Core;
use barchan_mesh::Moments;
use glam::{DMat3, DVec3};
use serde::{Deserialize, Serialize};

/// A cone about z, with its centre of mass at the origin.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cone {
    /// Radius of the base.
    pub radius: f64,
    /// Half the height.
    pub half_height: f64,
}

impl Cone {
    /// How far the middle of its height is above the centre of mass.
    fn lift(&self) -> f64 {
        0.5 * self.half_height
    }
}

impl Form for Cone {
    fn faults(&self) -> Vec<(&'static str, String)> {
        let mut faults = Vec::new();
        close::positive("radius", self.radius, &mut faults);
        close::positive("half_height", self.half_height, &mut faults);
        faults
    }

    fn solid(&self) -> Solid<'_> {
        let core = Core::Cone { radius: self.radius, half: self.half_height };
        Solid::One(Convex { core, rounding: 0.0, centre: DVec3::Z * self.lift() })
    }

    fn reach(&self) -> f64 {
        (1.5 * self.half_height).max(self.radius.hypot(0.5 * self.half_height))
    }

    /// The radius of the largest ball within: area over half the perimeter of its section.
    fn size(&self) -> f64 {
        let height = 2.0 * self.half_height;
        self.radius * height / (self.radius + self.radius.hypot(height))
    }

    fn half_box(&self, r: &DMat3) -> [DVec3; 2] {
        let across = (DVec3::ONE - r.z_axis * r.z_axis).max(DVec3::ZERO).map(f64::sqrt) * self.radius;
        let base = r.z_axis * (-0.5 * self.half_height);
        let tip = r.z_axis * (1.5 * self.half_height);
        [(base - across).min(tip), (base + across).max(tip)]
    }

    fn moments(&self) -> Option<Moments> {
        let about_middle = Moments::cone(self.radius, self.half_height);
        Some(Moments { centre: DVec3::ZERO, ..about_middle })
    }

    fn surface(&self) -> Surface {
        let lift = DVec3::Z * self.lift();
        Surface::cone(self.radius, self.half_height, close::AROUND).mapped(|p| p + lift)
    }
}
