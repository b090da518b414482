//! Bodies that are spheres, or glued of a few of them: sphere by sphere, in closed form.

use super::solids::{Stand, keyed};
use super::{ContactPoint, FeatureKey, sphere_sphere};
use crate::shape::{Shape, Solid};
use barchan_convex::Core;
use glam::DVec3;

/// Spheres of a body at most; bodies of more are left to the general way, part by part.
const ROOM: usize = 8;

/// A sphere of a body, and its number as [`keyed`] takes it.
#[derive(Clone, Copy)]
struct Ball {
    x: DVec3,
    radius: f64,
    part: u32,
}

/// The spheres that a body consists of.
pub(super) struct Balls {
    all: [Ball; ROOM],
    len: usize,
}

impl Balls {
    /// Those of a body; `None` if it is something else, or has too many.
    #[inline]
    pub(super) fn of(stand: &Stand<'_>) -> Option<Self> {
        let mut balls = Self { all: [Ball { x: stand.x, radius: 0.0, part: 0 }; ROOM], len: 1 };
        match stand.solid {
            Solid::One(convex) if convex.core == Core::Point => balls.all[0].radius = convex.rounding,
            Solid::Parts(parts) if parts.len() <= ROOM => {
                balls.len = parts.len();
                for ((ball, part), number) in balls.all.iter_mut().zip(parts).zip(1..) {
                    let Shape::Sphere(sphere) = &part.shape else { return None };
                    *ball = Ball { x: stand.x + stand.r * part.position, radius: sphere.radius, part: number };
                }
            }
            _ => return None,
        }
        Some(balls)
    }

    fn iter(&self) -> impl Iterator<Item = &Ball> {
        self.all[..self.len].iter()
    }
}

/// Calls `found` for every contact of two bodies of spheres with a gap up to `reach`.
pub(super) fn visit(a: &Balls, b: &Balls, reach: f64, found: &mut dyn FnMut(ContactPoint)) {
    for own in a.iter() {
        for other in b.iter() {
            sphere_sphere::visit(own.x, own.radius, other.x, other.radius, reach, |touch| {
                let key = FeatureKey { on_a: keyed(own.part, 0), on_b: keyed(other.part, 0) };
                found(ContactPoint { key, ..touch });
            });
        }
    }
}
