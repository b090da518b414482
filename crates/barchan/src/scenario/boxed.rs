//! What scenarios of shapes have in common: a floor, an open box, and how long a fall takes.

use super::{Parameter, ParameterRange};
use crate::scene::BodySpec;
use crate::shape::{Container, Face, Shape};
use glam::DVec3;
use std::sync::Arc;

pub(super) const fn friction(default: f64) -> Parameter {
    Parameter { name: "friction", default, range: ParameterRange::NotNegative, help: "coefficient of friction" }
}

pub(super) const fn length(name: &'static str, default: f64, help: &'static str) -> Parameter {
    Parameter { name, default, range: ParameterRange::Positive, help }
}

pub(super) const fn count(name: &'static str, default: f64, help: &'static str) -> Parameter {
    Parameter { name, default, range: ParameterRange::Count, help }
}

/// A count that has a least.
pub(super) const fn count_from(name: &'static str, least: u32, default: f64, help: &'static str) -> Parameter {
    Parameter { name, default, range: ParameterRange::CountFrom(least), help }
}

/// The plane z = 0.
pub(super) fn floor() -> BodySpec {
    BodySpec::new(Shape::half_space(), DVec3::ZERO)
}

/// The walls of a box without a lid, which stands on z = 0 about the z axis.
pub(super) fn open_box(half: DVec3) -> BodySpec {
    let walls = Shape::Container(Arc::new(Container { half_extents: half, open: vec![Face::HighZ] }));
    BodySpec::new(walls, DVec3::new(0.0, 0.0, half.z))
}

/// The time of a fall, s.
pub(super) fn fall(height: f64) -> f64 {
    (2.0 * height / 9.81).sqrt()
}
