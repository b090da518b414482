//! A box about the body's origin, with edges that may be rounded.

use super::{Convex, Form, Solid, Surface, close};
use barchan_convex::Core;
use barchan_mesh::Moments;
use glam::{DMat3, DVec3};
use serde::{Deserialize, Serialize};

/// A box about the body's origin.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cuboid {
    /// Half the edge lengths, rounding included.
    pub half_extents: DVec3,
    /// The radius by which edges and corners are rounded.
    #[serde(default)]
    pub margin: f64,
}

impl Form for Cuboid {
    fn faults(&self) -> Vec<(&'static str, String)> {
        let mut faults = Vec::new();
        close::all_positive("half_extents", self.half_extents, &mut faults);
        close::margin(self.margin, self.half_extents.min_element(), &mut faults);
        faults
    }

    fn solid(&self) -> Solid<'_> {
        let core = Core::Cuboid { half: self.half_extents - self.margin };
        Solid::One(Convex { core, rounding: self.margin, centre: DVec3::ZERO })
    }

    fn reach(&self) -> f64 {
        (self.half_extents - self.margin).length() + self.margin
    }

    fn size(&self) -> f64 {
        self.half_extents.min_element()
    }

    fn half_box(&self, r: &DMat3) -> [DVec3; 2] {
        let half = self.half_extents - self.margin;
        let high = r.x_axis.abs() * half.x + r.y_axis.abs() * half.y + r.z_axis.abs() * half.z + self.margin;
        [-high, high]
    }

    fn moments(&self) -> Option<Moments> {
        Some(Moments::rounded_cuboid(self.half_extents, self.margin))
    }

    fn surface(&self) -> Surface {
        if self.margin > 0.0 {
            Surface::rounded_cuboid(self.half_extents, self.margin, close::SEGMENTS)
        } else {
            Surface::cuboid(self.half_extents)
        }
    }
}
