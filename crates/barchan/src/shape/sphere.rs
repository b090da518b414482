//! A ball about the body's origin.

use super::{Convex, Form, MassProperties, Solid, Surface, close};
use barchan_convex::Core;
use barchan_mesh::Moments;
use glam::{DMat3, DVec3};
use serde::{Deserialize, Serialize};
use std::f64::consts::PI;

/// A ball about the body's origin.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sphere {
    /// Radius.
    pub radius: f64,
}

impl Sphere {
    /// Mass 4πr³ρ/3 and moment 2mr²/5 about every axis.
    pub fn mass_properties(&self, density: f64) -> MassProperties {
        let mass = 4.0 / 3.0 * PI * self.radius.powi(3) * density;
        MassProperties { mass, inertia: DVec3::splat(0.4 * mass * self.radius * self.radius) }
    }
}

impl Form for Sphere {
    fn faults(&self) -> Vec<(&'static str, String)> {
        let mut faults = Vec::new();
        close::positive("radius", self.radius, &mut faults);
        faults
    }

    fn solid(&self) -> Solid<'_> {
        Solid::One(Convex { core: Core::Point, rounding: self.radius, centre: DVec3::ZERO })
    }

    fn reach(&self) -> f64 {
        self.radius
    }

    fn size(&self) -> f64 {
        self.radius
    }

    fn half_box(&self, _: &DMat3) -> [DVec3; 2] {
        [DVec3::splat(-self.radius), DVec3::splat(self.radius)]
    }

    fn moments(&self) -> Option<Moments> {
        Some(Moments::sphere(self.radius))
    }

    fn surface(&self) -> Surface {
        Surface::sphere(self.radius, close::SUBDIVISIONS)
    }
}
