//! A sphere of a lattice or a fill, before it is a body.

use crate::shape::Shape;
use crate::world::{Body, Motion};
use glam::DVec3;

/// A sphere of a lattice or a fill.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Ball {
    /// Which one of its entry.
    pub(crate) number: u64,
    pub(crate) x: DVec3,
    pub(crate) radius: f64,
    pub(crate) velocity: DVec3,
}

impl Ball {
    /// The body that it is.
    pub(crate) fn body(&self, material: u16, group: u16, motion: Motion) -> Body {
        Body { velocity: self.velocity, material, group, motion, ..Body::dynamic(Shape::sphere(self.radius), self.x) }
    }
}
