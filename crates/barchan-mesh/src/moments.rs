//! Volume, centre and second moments of bodies, at unit density.
//!
//! The second moments about the centre c are S = ∫ (x − c)(x − c)ᵀ dV. They are easier to add, turn and scale than the
//! inertia tensor, which is I = ρ (tr S · 1 − S).
//!
//! A closed surface is a sum of tetrahedra from a reference point to each triangle, with the sign of their volume. With the
//! corners 0, a, b, c, s = a + b + c and V = a · (b × c) / 6,
//!
//! ```text
//! ∫ x dV = V s / 4        ∫ x xᵀ dV = V (s sᵀ + a aᵀ + b bᵀ + c cᵀ) / 20
//! ```
//!
//! The reference point is the middle of the bounding box: nothing is lost far from the origin.

mod rounded;

use std::f64::consts::PI;

use glam::{DMat3, DQuat, DVec3};

use crate::{Polyhedron, Surface};

/// Moments of volume of a body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moments {
    /// Volume.
    pub volume: f64,
    /// Centre of volume.
    pub centre: DVec3,
    /// Second moments about the centre, ∫ (x − c)(x − c)ᵀ dV.
    pub second: DMat3,
}

/// x yᵀ.
fn outer(x: DVec3, y: DVec3) -> DMat3 {
    DMat3::from_cols(x * y.x, x * y.y, x * y.z)
}

impl Moments {
    /// Those of nothing.
    pub const ZERO: Self = Self { volume: 0.0, centre: DVec3::ZERO, second: DMat3::ZERO };

    /// With the axes of symmetry along x, y and z.
    fn symmetric(volume: f64, centre: DVec3, second: DVec3) -> Self {
        Self { volume, centre, second: DMat3::from_diagonal(second) }
    }

    /// What a closed surface encloses. Of one that is inside out the volume and the second moments are negative; what several
    /// of its parts enclose counts several times.
    pub fn of_surface(surface: &Surface) -> Self {
        let Some((low, high)) = surface.bounds() else { return Self::ZERO };
        let reference = low + 0.5 * (high - low);
        let mut volume = 0.0;
        let mut first = DVec3::ZERO;
        let mut second = DMat3::ZERO;
        for t in 0..surface.triangles.len() {
            let [a, b, c] = surface.corners(t).map(|p| p - reference);
            let v = a.dot(b.cross(c)) / 6.0;
            let s = a + b + c;
            volume += v;
            first += v / 4.0 * s;
            second += (outer(s, s) + outer(a, a) + outer(b, b) + outer(c, c)) * (v / 20.0);
        }
        if volume == 0.0 {
            return Self { volume, centre: reference, second };
        }
        let arm = first / volume;
        Self { volume, centre: reference + arm, second: second - volume * outer(arm, arm) }
    }

    /// A convex polyhedron.
    pub fn polyhedron(polyhedron: &Polyhedron) -> Self {
        Self::of_surface(&Surface::from_faces(&polyhedron.points, &polyhedron.faces))
    }

    /// A box with half of its edges given.
    pub fn cuboid(half: DVec3) -> Self {
        let volume = 8.0 * half.element_product();
        Self::symmetric(volume, DVec3::ZERO, volume / 3.0 * half * half)
    }

    /// A sphere.
    pub fn sphere(radius: f64) -> Self {
        Self::ellipsoid(DVec3::splat(radius))
    }

    /// An ellipsoid with its axes along x, y and z.
    pub fn ellipsoid(radii: DVec3) -> Self {
        let volume = 4.0 / 3.0 * PI * radii.element_product();
        Self::symmetric(volume, DVec3::ZERO, volume / 5.0 * radii * radii)
    }

    /// A cylinder about the z axis, from −half to +half.
    pub fn cylinder(radius: f64, half: f64) -> Self {
        let volume = 2.0 * PI * radius * radius * half;
        let across = volume * radius * radius / 4.0;
        Self::symmetric(volume, DVec3::ZERO, DVec3::new(across, across, volume * half * half / 3.0))
    }

    /// A cone about the z axis with its base at −half and its tip at +half.
    pub fn cone(radius: f64, half: f64) -> Self {
        let height = 2.0 * half;
        let volume = PI * radius * radius * height / 3.0;
        let across = 3.0 / 20.0 * volume * radius * radius;
        let second = DVec3::new(across, across, 3.0 / 80.0 * volume * height * height);
        Self::symmetric(volume, DVec3::new(0.0, 0.0, -0.5 * half), second)
    }

    /// A capsule about the z axis: a cylinder from −half to +half with half spheres beyond.
    pub fn capsule(radius: f64, half: f64) -> Self {
        Self::rounded_cylinder(radius, half + radius, radius)
    }

    /// A box with half of its outer edges given, whose edges are rounded by a radius: the box within, six slabs, twelve
    /// quarters of cylinders and eight eighths of a sphere.
    pub fn rounded_cuboid(half: DVec3, edge: f64) -> Self {
        let c = (half - edge).max(DVec3::ZERO);
        let core = 8.0 * c.element_product();
        // All slabs, quarters and eighths that belong to an axis: slabs across it, quarters along it.
        let slabs = 8.0 * edge * DVec3::new(c.y * c.z, c.z * c.x, c.x * c.y);
        let quarters = 2.0 * PI * edge * edge * c;
        let eighths = 4.0 / 3.0 * PI * edge.powi(3);
        let moment = |k: usize| {
            // Means of (c + u)² over a slab, a quarter of a disc and an eighth of a ball that begin at c.
            let c = c[k];
            let slab = c * c + c * edge + edge * edge / 3.0;
            let quarter = c * c + 8.0 / (3.0 * PI) * c * edge + edge * edge / 4.0;
            let eighth = c * c + 0.75 * c * edge + edge * edge / 5.0;
            let others = [(k + 1) % 3, (k + 2) % 3];
            let level = core + others.map(|j| slabs[j]).iter().sum::<f64>() + quarters[k];
            level * c * c / 3.0
                + slabs[k] * slab
                + others.map(|j| quarters[j]).iter().sum::<f64>() * quarter
                + eighths * eighth
        };
        let volume = core + slabs.element_sum() + quarters.element_sum() + eighths;
        Self::symmetric(volume, DVec3::ZERO, DVec3::from_array([0, 1, 2].map(moment)))
    }

    /// A cylinder about the z axis of this outer radius and half length, whose edges are rounded by a radius m. With the core
    /// R = radius − m and t the height above the straight part, its radius is r(t) = R + √(m² − t²) there, and
    ///
    /// ```text
    /// V = π ∫ r² dz        ∫ x² dV = π/4 ∫ r⁴ dz        ∫ z² dV = π ∫ z² r² dz
    /// ```
    pub fn rounded_cylinder(radius: f64, half: f64, edge: f64) -> Self {
        let m = edge;
        let r = radius - m;
        let straight = (half - m).max(0.0);
        // ∫ sⁿ dt, ∫ t sⁿ dt and ∫ t² sⁿ dt over 0 ≤ t ≤ m with s = √(m² − t²).
        let plain =
            [m, PI / 4.0 * m.powi(2), 2.0 / 3.0 * m.powi(3), 3.0 / 16.0 * PI * m.powi(4), 8.0 / 15.0 * m.powi(5)];
        let linear = [m.powi(2) / 2.0, m.powi(3) / 3.0, m.powi(4) / 4.0];
        let square = [m.powi(3) / 3.0, PI / 16.0 * m.powi(4), 2.0 / 15.0 * m.powi(5)];
        // ∫ r² dt, ∫ t r² dt, ∫ t² r² dt, and ∫ r⁴ dt.
        let squared = |of: &[f64]| r * r * of[0] + 2.0 * r * of[1] + of[2];
        let fourth =
            r.powi(4) * plain[0] + 4.0 * r.powi(3) * plain[1] + 6.0 * r * r * plain[2] + 4.0 * r * plain[3] + plain[4];
        let volume = 2.0 * PI * (radius * radius * straight + squared(&plain));
        let across = PI / 2.0 * (radius.powi(4) * straight + fourth);
        let rim = straight * straight * squared(&plain) + 2.0 * straight * squared(&linear) + squared(&square);
        let along = 2.0 * PI * (radius * radius * straight.powi(3) / 3.0 + rim);
        Self::symmetric(volume, DVec3::ZERO, DVec3::new(across, across, along))
    }

    /// Those of the body turned about the origin, then shifted.
    #[must_use]
    pub fn moved(&self, turn: DQuat, shift: DVec3) -> Self {
        let turned = DMat3::from_quat(turn);
        Self {
            volume: self.volume,
            centre: turn * self.centre + shift,
            second: turned * self.second * turned.transpose(),
        }
    }

    /// Those of the body with all lengths multiplied by a factor.
    #[must_use]
    pub fn scaled(&self, factor: f64) -> Self {
        Self {
            volume: self.volume * factor.powi(3),
            centre: self.centre * factor,
            second: self.second * factor.powi(5),
        }
    }

    /// Those of the body at another density: with a density ρ, `volume` is the mass. A negative one cuts the body out of a sum.
    #[must_use]
    pub fn times(&self, density: f64) -> Self {
        Self { volume: self.volume * density, centre: self.centre, second: self.second * density }
    }

    /// Those of two bodies together; what both have counts twice.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        let volume = self.volume + other.volume;
        if volume == 0.0 {
            return Self { volume, centre: self.centre, second: self.second + other.second };
        }
        let apart = other.centre - self.centre;
        let reduced = self.volume * other.volume / volume;
        Self {
            volume,
            centre: self.centre + other.volume / volume * apart,
            second: self.second + other.second + reduced * outer(apart, apart),
        }
    }

    /// The inertia tensor about the centre, at unit density.
    pub fn inertia(&self) -> DMat3 {
        let trace = self.second.x_axis.x + self.second.y_axis.y + self.second.z_axis.z;
        DMat3::from_diagonal(DVec3::splat(trace)) - self.second
    }
}

impl std::iter::Sum for Moments {
    fn sum<I: Iterator<Item = Self>>(parts: I) -> Self {
        parts.fold(Self::ZERO, |sum, part| sum.plus(&part))
    }
}

#[cfg(test)]
mod tests;
