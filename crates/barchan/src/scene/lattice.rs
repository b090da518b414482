//! Spheres on a regular lattice, with a random shift if wanted.
//!
//! Sites are numbered with x fastest, then y, then z. A site's place is a function of its number
//! alone, so a lattice of ten million spheres costs no memory until it is built.

use super::Radius;
use super::random::{Entry, Purpose, Stream};
use glam::DVec3;
use serde::de::{Error, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

/// The kinds of lattice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LatticeKind {
    /// Simple cubic, or rectangular with a spacing each axis.
    #[default]
    Cubic,
    /// Hexagonal close packing, layers A B A B along z. Spheres that touch (spacing = 2·radius)
    /// fill π/√18 = 74.05 % of space.
    Hexagonal,
}

/// Distance of neighbouring sites: one number, or one an axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Spacing {
    /// The same along every axis.
    Equal(f64),
    /// One an axis; for the cubic kind only.
    PerAxis(DVec3),
}

impl Spacing {
    /// Along each axis.
    pub fn axes(self) -> DVec3 {
        match self {
            Self::Equal(d) => DVec3::splat(d),
            Self::PerAxis(d) => d,
        }
    }
}

impl From<f64> for Spacing {
    fn from(d: f64) -> Self {
        Self::Equal(d)
    }
}

impl From<DVec3> for Spacing {
    fn from(d: DVec3) -> Self {
        Self::PerAxis(d)
    }
}

/// Spheres on a regular lattice.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lattice {
    /// Cubic or hexagonal.
    #[serde(default)]
    pub kind: LatticeKind,
    /// Centre of the first sphere, m.
    #[serde(default)]
    pub origin: DVec3,
    /// Sites along x, y and z.
    pub counts: [u32; 3],
    /// Distance of neighbouring centres, m.
    pub spacing: Spacing,
    /// Radii, m.
    pub radius: Radius,
    /// Largest random shift along each axis, m.
    #[serde(default)]
    pub jitter: f64,
    /// Use the first so many sites only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
    /// Velocity of all, m/s.
    #[serde(default)]
    pub velocity: DVec3,
    /// Largest random addition to each component of the velocity, m/s.
    #[serde(default)]
    pub velocity_jitter: f64,
    /// Name of the material; empty for the first.
    #[serde(default)]
    pub material: String,
}

impl Lattice {
    /// A cubic lattice at rest, of the first material, with its first sphere at the origin.
    pub fn cubic(counts: [u32; 3], spacing: impl Into<Spacing>, radius: impl Into<Radius>) -> Self {
        Self {
            kind: LatticeKind::Cubic,
            origin: DVec3::ZERO,
            counts,
            spacing: spacing.into(),
            radius: radius.into(),
            jitter: 0.0,
            count: None,
            velocity: DVec3::ZERO,
            velocity_jitter: 0.0,
            material: String::new(),
        }
    }

    /// A hexagonal close packing at rest, of the first material, with its first sphere at the origin.
    pub fn hexagonal(counts: [u32; 3], spacing: f64, radius: impl Into<Radius>) -> Self {
        Self { kind: LatticeKind::Hexagonal, ..Self::cubic(counts, spacing, radius) }
    }

    /// All sites, used or not.
    pub fn site_count(&self) -> u64 {
        self.counts.iter().fold(1, |product, &n| product.saturating_mul(n.into()))
    }

    /// How many spheres stand on it.
    pub fn body_count(&self) -> u64 {
        self.site_count().min(self.count.unwrap_or(u64::MAX))
    }

    /// The place of a site, before any shift.
    pub fn site(&self, number: u64) -> DVec3 {
        let [nx, ny] = [u64::from(self.counts[0]), u64::from(self.counts[1])];
        let (i, j, k) = (number % nx, number / nx % ny, number / (nx * ny));
        let (x, y, z) = (i as f64, j as f64, k as f64);
        let d = self.spacing.axes();
        self.origin
            + match self.kind {
                LatticeKind::Cubic => d * DVec3::new(x, y, z),
                LatticeKind::Hexagonal => {
                    // Rows shift by half a distance, layers by a third of a row.
                    let x = x + 0.5 * ((j + k) % 2) as f64;
                    let y = 0.75f64.sqrt() * (y + (k % 2) as f64 / 3.0);
                    let z = (2.0f64 / 3.0).sqrt() * z;
                    d * DVec3::new(x, y, z)
                }
            }
    }

    /// The smallest distance that shifts leave between two centres; infinite for a single site.
    pub fn closest(&self) -> f64 {
        let d = self.spacing.axes();
        match self.kind {
            // Two sites differ along some axis by a spacing at least, less two shifts.
            LatticeKind::Cubic => (0..3)
                .filter(|&axis| self.counts[axis] > 1)
                .map(|axis| d[axis] - 2.0 * self.jitter)
                .fold(f64::INFINITY, f64::min),
            // Neighbours lie in any direction: the shifts may add up along a diagonal.
            LatticeKind::Hexagonal if self.site_count() > 1 => d.x - 2.0 * 3.0f64.sqrt() * self.jitter,
            LatticeKind::Hexagonal => f64::INFINITY,
        }
    }

    /// Centre, radius and velocity of every sphere, in the order of the sites.
    pub(crate) fn spheres(&self, seed: u64, index: usize) -> impl Iterator<Item = (DVec3, f64, DVec3)> + '_ {
        let stream = Stream::new(seed, Entry::Lattice, index);
        (0..self.body_count()).map(move |k| {
            let radius = self.radius.draw(&mut stream.draws(k, Purpose::Radius));
            let mut x = self.site(k);
            if self.jitter > 0.0 {
                x += stream.draws(k, Purpose::Position).cube(self.jitter);
            }
            let mut v = self.velocity;
            if self.velocity_jitter > 0.0 {
                v += stream.draws(k, Purpose::Velocity).cube(self.velocity_jitter);
            }
            (x, radius, v)
        })
    }
}

impl Serialize for Spacing {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Equal(d) => serializer.serialize_f64(*d),
            Self::PerAxis(d) => d.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Spacing {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct NumberOrVector;

        impl<'de> Visitor<'de> for NumberOrVector {
            type Value = Spacing;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number or an array of 3 numbers")
            }

            fn visit_f64<E: Error>(self, d: f64) -> Result<Spacing, E> {
                Ok(Spacing::Equal(d))
            }

            fn visit_i64<E: Error>(self, d: i64) -> Result<Spacing, E> {
                Ok(Spacing::Equal(d as f64))
            }

            fn visit_u64<E: Error>(self, d: u64) -> Result<Spacing, E> {
                Ok(Spacing::Equal(d as f64))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Spacing, A::Error> {
                let mut d = DVec3::ZERO;
                for axis in 0..3 {
                    d[axis] = seq.next_element()?.ok_or_else(|| A::Error::invalid_length(axis, &self))?;
                }
                Ok(Spacing::PerAxis(d))
            }
        }

        deserializer.deserialize_any(NumberOrVector)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn close_packing_has_its_contacts_and_density() {
        // Interior spheres have twelve neighbours at exactly one diameter and none nearer.
        let lattice = Lattice::hexagonal([5, 5, 5], 2.0, 1.0);
        let sites: Vec<DVec3> = (0..lattice.site_count()).map(|k| lattice.site(k)).collect();
        let centre = sites[2 + 5 * (2 + 5 * 2)];
        let distances: Vec<f64> = sites.iter().map(|x| x.distance(centre)).filter(|d| *d > 0.0).collect();
        assert_eq!(distances.iter().filter(|d| (**d - 2.0).abs() < 1e-12).count(), 12);
        assert!(distances.iter().all(|d| *d > 2.0 - 1e-12));
        // One site a cell of 2 × √3 × √(8/3).
        let cell = 2.0 * 3.0f64.sqrt() * (8.0f64 / 3.0).sqrt();
        let density = 4.0 / 3.0 * std::f64::consts::PI / cell;
        assert!((density - std::f64::consts::PI / 18.0f64.sqrt()).abs() < 1e-12);
    }

    #[test]
    fn sites_run_x_first_and_stop_at_the_count() {
        let lattice = Lattice { count: Some(7), ..Lattice::cubic([3, 2, 4], DVec3::new(1.0, 2.0, 3.0), 0.1) };
        assert_eq!(lattice.body_count(), 7);
        let sites: Vec<DVec3> = lattice.spheres(0, 0).map(|s| s.0).collect();
        assert_eq!(sites.len(), 7);
        assert_eq!(sites[2], DVec3::new(2.0, 0.0, 0.0));
        assert_eq!(sites[3], DVec3::new(0.0, 2.0, 0.0));
        assert_eq!(sites[6], DVec3::new(0.0, 0.0, 3.0));
    }

    #[test]
    fn shifts_never_exceed_their_bound() {
        let lattice = Lattice { jitter: 0.2, velocity_jitter: 0.5, ..Lattice::cubic([9, 9, 9], 1.0, 0.1) };
        let mut largest = 0.0f64;
        for (k, (x, _, v)) in lattice.spheres(5, 2).enumerate() {
            let shift = (x - lattice.site(k as u64)).abs().max_element();
            largest = largest.max(shift);
            assert!(shift <= 0.2 + 1e-12 && v.abs().max_element() <= 0.5);
        }
        assert!(largest > 0.19);
    }
}
