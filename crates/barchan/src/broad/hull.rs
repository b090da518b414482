//! Hulls: a box about each body that holds it wherever it may go in this step (S4 eq. 6).

use crate::shape::Shape;
use crate::world::{Bodies, Ownership};
use barchan_parallel::{CHUNK, fold_chunks, for_chunks_mut};
use glam::{DMat3, DVec3};

/// An axis-aligned box.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Aabb {
    /// Lowest corner.
    pub low: DVec3,
    /// Highest corner.
    pub high: DVec3,
}

impl Aabb {
    /// The box of nothing.
    pub const EMPTY: Self = Self { low: DVec3::INFINITY, high: DVec3::NEG_INFINITY };

    /// Whether two boxes share a point.
    #[inline(always)]
    pub fn meets(&self, o: &Aabb) -> bool {
        // Without short cuts: six comparisons are cheaper than one mispredicted branch.
        (self.low.x <= o.high.x)
            & (o.low.x <= self.high.x)
            & (self.low.y <= o.high.y)
            & (o.low.y <= self.high.y)
            & (self.low.z <= o.high.z)
            & (o.low.z <= self.high.z)
    }

    /// The smallest box that holds both.
    #[inline(always)]
    pub fn join(&self, o: &Aabb) -> Aabb {
        Aabb { low: self.low.min(o.low), high: self.high.max(o.high) }
    }

    /// Whether it is the box of nothing.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.low.x > self.high.x
    }

    /// The longest edge.
    #[inline]
    pub fn extent(&self) -> f64 {
        (self.high - self.low).max_element()
    }

    /// The middle.
    #[inline]
    pub fn centre(&self) -> DVec3 {
        0.5 * (self.low + self.high)
    }
}

/// How far bodies may come in a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Growth {
    /// The length of the step.
    pub h: f64,
    /// The gap up to which bodies at rest are neighbours, as a fraction of their radii (the τ of S4 eq. 6).
    pub margin: f64,
    /// What forces change a velocity by in the step, at most.
    pub kick: f64,
}

impl Growth {
    /// How far the surface of body `i` may move, and the margin on top: h(|v| + |ω|r̄ + kick) + τ.
    #[inline]
    pub fn of(&self, bodies: &Bodies, i: usize) -> f64 {
        let reach = bodies.shape[i].spin_reach();
        let spin = if reach > 0.0 { bodies.angular_velocity[i].length() * reach } else { 0.0 };
        self.h * (bodies.velocity[i].length() + spin + self.kick) + self.margin * measure(bodies, i)
    }
}

/// The length of which the margin of a body is a part: that of its contacts, and nothing for walls.
#[inline(always)]
pub(crate) fn measure(bodies: &Bodies, i: usize) -> f64 {
    let size = bodies.contact_size(i);
    if size.is_finite() { size } else { 0.0 }
}

/// The hull of body `i`: empty if it is unbounded, gone, or somewhere that is not finite.
#[inline]
pub fn of(bodies: &Bodies, i: usize, growth: Growth) -> Aabb {
    let shape = &bodies.shape[i];
    let (low, high) = match shape {
        Shape::HalfSpace(_) | Shape::Container(_) => return Aabb::EMPTY,
        Shape::Sphere(sphere) => {
            let r = DVec3::splat(sphere.radius + growth.of(bodies, i));
            (bodies.position[i] - r, bodies.position[i] + r)
        }
        _ => {
            let [low, high] = shape.half_box(&DMat3::from_quat(bodies.orientation[i]));
            let more = DVec3::splat(growth.of(bodies, i));
            (bodies.position[i] + low - more, bodies.position[i] + high + more)
        }
    };
    // What is not finite meets nobody; the end of the step reports it.
    if (high - low).is_finite() && bodies.ownership[i] != Ownership::Removed { Aabb { low, high } } else { Aabb::EMPTY }
}

/// Writes the hull of every bounded body to `hulls` and the indices of the unbounded ones
/// (walls, containers) to `unbounded`; an unbounded body's hull is the empty box, so that no
/// broad phase ever pairs it.
pub fn compute(bodies: &Bodies, growth: Growth, hulls: &mut Vec<Aabb>, unbounded: &mut Vec<u32>) {
    let n = bodies.len();
    unbounded.clear();
    unbounded.extend((0..n as u32).filter(|&i| bodies.is_wall(i as usize)));
    hulls.resize(n, Aabb::EMPTY);
    for_chunks_mut(&mut hulls[..], CHUNK, |range, hulls| {
        for (hull, i) in hulls.iter_mut().zip(range) {
            *hull = of(bodies, i, growth);
        }
    });
}

/// The box of all hulls, without the empty ones. `slots` is scratch.
pub fn bounds(hulls: &[Aabb], slots: &mut Vec<Aabb>) -> Aabb {
    let body = |range: std::ops::Range<usize>| hulls[range].iter().fold(Aabb::EMPTY, |all, h| all.join(h));
    fold_chunks(hulls.len(), 16 * CHUNK, slots, Aabb::EMPTY, body, |a, b| a.join(&b))
}

/// The box of the centres of all hulls, without the empty ones. `slots` is scratch.
pub fn centres(hulls: &[Aabb], slots: &mut Vec<Aabb>) -> Aabb {
    let body = |range: std::ops::Range<usize>| {
        hulls[range].iter().filter(|h| !h.is_empty()).fold(Aabb::EMPTY, |all, h| {
            let centre = h.centre();
            all.join(&Aabb { low: centre, high: centre })
        })
    };
    fold_chunks(hulls.len(), 16 * CHUNK, slots, Aabb::EMPTY, body, |a, b| a.join(&b))
}
