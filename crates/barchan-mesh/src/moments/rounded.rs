//! Moments of a convex polyhedron grown by a radius r, in closed form (Steiner).
//!
//! Every point that is nearer to the polyhedron than r lies in one of its pieces: the polyhedron itself, a slab over each
//! face, a wedge along each edge, and a sector of a ball at each corner. With the unit normals n and n' of the faces beside an
//! edge, θ the angle between them, m the unit vector between them, and t across m in their plane, a section of the wedge has
//!
//! ```text
//! A = θ r²/2     ∫ρ dA = 2/3 r³ sin(θ/2) m     ∫ρρᵀ dA = r⁴/8 ((θ + sin θ) m mᵀ + (θ − sin θ) t tᵀ)
//! ```
//!
//! The directions u of a sector are those of a spherical polygon, whose sides are the arcs between the normals of faces that
//! meet in an edge of the corner. Its solid angle Ω is what the angles of faces leave of a full turn. With e the direction in
//! which the edge leaves the corner, which is the normal of the side, Gauss' theorem on the sphere gives
//!
//! ```text
//! ∫u dΩ = −½ Σ θ e          ∫u uᵀ dΩ = Ω/3 · 1 − ⅓ Σ e (2 sin(θ/2) m)ᵀ
//! ```

use std::collections::HashMap;
use std::f64::consts::TAU;

use glam::{DMat3, DVec3};

use super::{Moments, outer};
use crate::Polyhedron;

/// What a corner's edges and faces add up to.
#[derive(Clone, Copy)]
struct Corner {
    /// The solid angle of its normals.
    angle: f64,
    /// Σ θ e.
    first: DVec3,
    /// Σ e (2 sin(θ/2) m)ᵀ.
    second: DMat3,
}

impl Moments {
    /// A convex polyhedron grown by a radius: every point that is nearer to it than that.
    pub fn grown(core: &Polyhedron, radius: f64) -> Self {
        let mut sum = Self::polyhedron(core);
        if radius <= 0.0 {
            return sum;
        }
        let mut corners = vec![Corner { angle: TAU, first: DVec3::ZERO, second: DMat3::ZERO }; core.points.len()];
        let planes = core.planes();
        let mut left = HashMap::new();
        for (f, face) in core.faces.iter().enumerate() {
            sum = sum.plus(&slab(core, face, planes[f].0, radius));
            for (k, &here) in face.iter().enumerate() {
                let next = face[(k + 1) % face.len()];
                let before = face[(k + face.len() - 1) % face.len()];
                left.insert((here, next), f);
                let at = core.points[here as usize];
                corners[here as usize].angle -=
                    (core.points[next as usize] - at).angle_between(core.points[before as usize] - at);
            }
        }
        // Each edge once, in the order of faces and their corners.
        for (f, face) in core.faces.iter().enumerate() {
            for (k, &a) in face.iter().enumerate() {
                let b = face[(k + 1) % face.len()];
                let Some(&other) = left.get(&(b, a)).filter(|&&other| f < other) else { continue };
                let edge = Edge::new([a, b].map(|k| core.points[k as usize]), [planes[f].0, planes[other].0]);
                sum = sum.plus(&edge.wedge(radius));
                edge.add_to(&mut corners[a as usize], 1.0);
                edge.add_to(&mut corners[b as usize], -1.0);
            }
        }
        corners.iter().zip(&core.points).fold(sum, |sum, (corner, &at)| sum.plus(&corner.sector(at, radius)))
    }
}

/// The prism over a face, as high as the radius.
fn slab(core: &Polyhedron, face: &[u32], normal: DVec3, radius: f64) -> Moments {
    let origin = core.points[face[0] as usize];
    let mut area = 0.0;
    let mut first = DVec3::ZERO;
    let mut second = DMat3::ZERO;
    for pair in face[1..].windows(2) {
        let [a, b] = [pair[0], pair[1]].map(|k| core.points[k as usize] - origin);
        let part = 0.5 * a.cross(b).dot(normal);
        let s = a + b;
        area += part;
        first += part / 3.0 * s;
        second += (outer(s, s) + outer(a, a) + outer(b, b)) * (part / 12.0);
    }
    if area <= 0.0 {
        return Moments::ZERO;
    }
    let middle = first / area;
    let flat = second - area * outer(middle, middle);
    Moments {
        volume: area * radius,
        centre: origin + middle + 0.5 * radius * normal,
        second: flat * radius + outer(normal, normal) * (area * radius.powi(3) / 12.0),
    }
}

/// An edge between two faces.
struct Edge {
    ends: [DVec3; 2],
    along: DVec3,
    /// Between the normals of its faces.
    middle: DVec3,
    /// The angle between them.
    angle: f64,
}

impl Edge {
    fn new(ends: [DVec3; 2], [n, o]: [DVec3; 2]) -> Self {
        let along = (ends[1] - ends[0]).normalize_or_zero();
        let angle = n.cross(o).length().atan2(n.dot(o));
        Self { ends, along, middle: (n + o).normalize_or_zero(), angle }
    }

    /// The wedge between the slabs of its faces.
    fn wedge(&self, radius: f64) -> Moments {
        let Self { ends: [a, b], along, middle, angle } = *self;
        let area = 0.5 * angle * radius * radius;
        if area <= 0.0 {
            return Moments::ZERO;
        }
        let length = a.distance(b);
        let out = 2.0 / 3.0 * radius.powi(3) * (0.5 * angle).sin() / area;
        let across = along.cross(middle);
        let wide = outer(middle, middle) * (angle + angle.sin()) + outer(across, across) * (angle - angle.sin());
        let section = wide * (radius.powi(4) / 8.0) - outer(middle, middle) * (area * out * out);
        Moments {
            volume: area * length,
            centre: 0.5 * (a + b) + out * middle,
            second: section * length + outer(along, along) * (area * length.powi(3) / 12.0),
        }
    }

    /// Adds the edge to a corner, from which it leaves along its direction or against it.
    fn add_to(&self, corner: &mut Corner, sign: f64) {
        let leaving = sign * self.along;
        corner.first += self.angle * leaving;
        corner.second += outer(leaving, self.middle) * (2.0 * (0.5 * self.angle).sin());
    }
}

impl Corner {
    /// The sector of a ball that the normals span.
    fn sector(&self, at: DVec3, radius: f64) -> Moments {
        if self.angle <= 0.0 {
            return Moments::ZERO;
        }
        let volume = self.angle * radius.powi(3) / 3.0;
        let arm = -0.5 * self.first * (radius.powi(4) / 4.0) / volume;
        let directions = (DMat3::from_diagonal(DVec3::splat(self.angle)) - self.second) * (1.0 / 3.0);
        // The sum is symmetric but for rounding.
        let directions = (directions + directions.transpose()) * 0.5;
        Moments { volume, centre: at + arm, second: directions * (radius.powi(5) / 5.0) - volume * outer(arm, arm) }
    }
}
