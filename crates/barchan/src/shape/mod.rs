//! The shapes of bodies: a closed enum, one file a shape.
//!
//! To add a shape: write its file, add a variant here, and add its pairs to the table of
//! [`crate::narrow`]. A shape lives in its body's frame; where it stands and how it is turned
//! belongs to the body.

mod container;
mod half_space;
mod sphere;

pub use container::{Container, Face};
pub use half_space::HalfSpace;
pub use sphere::Sphere;

use crate::util::bulk::PackColumn;
use crate::util::pack::{Pack, Unpacker, pack_text, unpack_text};
use glam::DVec3;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Mass and principal moments of inertia of a solid of given density.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MassProperties {
    /// Mass.
    pub mass: f64,
    /// Moments about the axes of the body frame, which are the principal axes.
    pub inertia: DVec3,
}

/// The shape of a body.
///
/// Sixteen bytes, so that a column of a million of them stays small: what is larger than a
/// number or two stands behind a shared pointer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Shape {
    /// A ball.
    Sphere(Sphere),
    /// All that lies below a plane.
    HalfSpace(HalfSpace),
    /// The outside of a box: bodies live within its inner walls.
    Container(Arc<Container>),
}

impl Shape {
    /// A sphere of radius `radius`.
    pub fn sphere(radius: f64) -> Self {
        Self::Sphere(Sphere { radius })
    }

    /// The half-space below the plane z = 0 of the body frame.
    pub fn half_space() -> Self {
        Self::HalfSpace(HalfSpace {})
    }

    /// A closed container with the given inner half extents.
    pub fn container(half_extents: DVec3) -> Self {
        Self::Container(Arc::new(Container { half_extents, open: Vec::new() }))
    }

    /// Every shape by the name that scene files use, with its numbers.
    pub const FORMS: &'static [(&'static str, &'static str)] =
        &[("sphere", "{ radius }"), ("half-space", "{}"), ("container", "{ half_extents, open }")];

    /// The name that scene files use.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Sphere(_) => "sphere",
            Self::HalfSpace(_) => "half-space",
            Self::Container(_) => "container",
        }
    }

    /// Radius about the body's origin of a ball that holds the shape; `None` if unbounded.
    pub fn bounding_radius(&self) -> Option<f64> {
        match self {
            Self::Sphere(s) => Some(s.radius),
            Self::HalfSpace(_) | Self::Container(_) => None,
        }
    }

    /// Whether it fills an unbounded part of space, as walls do.
    #[inline]
    pub fn is_unbounded(&self) -> bool {
        self.bounding_radius().is_none()
    }

    /// How far a turn can carry a point of the surface outwards: zero for what is round about
    /// the body's origin (the r̄ of the |ω|r̄ term of S4 eq. 6).
    pub fn spin_reach(&self) -> f64 {
        match self {
            Self::Sphere(_) => 0.0,
            Self::HalfSpace(_) | Self::Container(_) => f64::INFINITY,
        }
    }

    /// Mass properties at `density`; `None` for shapes without a finite mass.
    pub fn mass_properties(&self, density: f64) -> Option<MassProperties> {
        match self {
            Self::Sphere(s) => Some(s.mass_properties(density)),
            Self::HalfSpace(_) | Self::Container(_) => None,
        }
    }
}

impl Pack for Shape {
    /// Spheres are many and travel as their radius; what is rare travels as text.
    fn pack(&self, out: &mut Vec<u8>) {
        match self {
            Self::Sphere(s) => {
                0u8.pack(out);
                s.radius.pack(out);
            }
            Self::HalfSpace(_) | Self::Container(_) => {
                1u8.pack(out);
                pack_text(self, out);
            }
        }
    }

    fn unpack(from: &mut Unpacker<'_>) -> Option<Self> {
        match from.take::<u8>()? {
            0 => from.take().map(Self::sphere),
            1 => unpack_text(from),
            _ => None,
        }
    }
}

/// Spheres are many: a column of radii, and what is not a sphere behind it.
impl PackColumn for Vec<Shape> {
    fn pack_column(&self, out: &mut Vec<u8>) {
        let radius = |shape: &Shape| match shape {
            Shape::Sphere(sphere) => sphere.radius,
            _ => f64::NAN,
        };
        self.par_iter().map(radius).collect::<Vec<f64>>().pack_column(out);
        self.iter().filter(|shape| !matches!(shape, Shape::Sphere(_))).for_each(|shape| shape.pack(out));
    }

    fn unpack_column(from: &mut Unpacker<'_>) -> Option<Self> {
        let radii = Vec::<f64>::unpack_column(from)?;
        let mut shapes = Self::with_capacity(radii.len());
        for radius in radii {
            let shape = if radius.is_nan() { from.take::<Shape>()? } else { Shape::sphere(radius) };
            let is_valid = shape.bounding_radius().is_none_or(|radius| radius > 0.0 && radius.is_finite());
            shapes.push(is_valid.then_some(shape)?);
        }
        Some(shapes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_travel() {
        let container = Container { half_extents: DVec3::new(1.0, 2.0, 0.1), open: vec![Face::ALL[0]] };
        for shape in [Shape::sphere(0.1), Shape::half_space(), Shape::Container(Arc::new(container))] {
            let mut bytes = Vec::new();
            shape.pack(&mut bytes);
            assert_eq!(Shape::unpack(&mut Unpacker::new(&bytes)), Some(shape));
        }
        // To the last bit, also as text.
        let walls: Vec<Shape> = (1..100).map(|k| Shape::container(DVec3::splat(f64::from(k).sqrt() / 3e-7))).collect();
        let mut bytes = Vec::new();
        walls.pack_column(&mut bytes);
        assert_eq!(Vec::<Shape>::unpack_column(&mut Unpacker::new(&bytes)), Some(walls));
        assert_eq!(Shape::unpack(&mut Unpacker::new(&[9, 9])), None);
    }

    #[test]
    fn a_shape_is_sixteen_bytes() {
        assert_eq!(size_of::<Shape>(), 16);
    }
}
