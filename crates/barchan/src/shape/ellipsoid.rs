//! An ellipsoid about the body's origin.

use super::{Convex, Form, Solid, Surface, close};
use barchan_convex::Core;
use barchan_mesh::Moments;
use glam::{DMat3, DVec3};
use serde::{Deserialize, Serialize};

/// An ellipsoid about the body's origin.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ellipsoid {
    /// Semi-axes along x, y and z.
    pub radii: DVec3,
}

impl Form for Ellipsoid {
    fn faults(&self) -> Vec<(&'static str, String)> {
        let mut faults = Vec::new();
        close::all_positive("radii", self.radii, &mut faults);
        faults
    }

    fn solid(&self) -> Solid<'_> {
        Solid::One(Convex { core: Core::Ellipsoid { radii: self.radii }, rounding: 0.0, centre: DVec3::ZERO })
    }

    fn reach(&self) -> f64 {
        self.radii.max_element()
    }

    fn size(&self) -> f64 {
        self.radii.min_element()
    }

    fn half_box(&self, r: &DMat3) -> [DVec3; 2] {
        let scaled = *r * DMat3::from_diagonal(self.radii);
        let high = scaled.transpose();
        let high = DVec3::new(high.x_axis.length(), high.y_axis.length(), high.z_axis.length());
        [-high, high]
    }

    fn moments(&self) -> Option<Moments> {
        Some(Moments::ellipsoid(self.radii))
    }

    fn surface(&self) -> Surface {
        Surface::ellipsoid(self.radii, close::SUBDIVISIONS)
    }
}
