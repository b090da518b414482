//! A box filled with spheres at random, one after another and none overlapping (random
//! sequential addition).
//!
//! The radii are drawn first and the largest are placed first, while there is room; ids follow
//! the order of drawing all the same. A place is drawn until it is free or the attempts are used
//! up. Equal spheres can be placed so up to about 38 % by volume (the jamming limit of the
//! method); in practice plan for 30 %.

use super::Radius;
use super::cells::Cells;
use super::random::{Entry, Purpose, Stream};
use glam::DVec3;
use serde::{Deserialize, Serialize};
use std::f64::consts::PI;

/// A box filled with spheres at random.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fill {
    /// Lowest corner of the box, m; spheres lie wholly inside.
    pub min: DVec3,
    /// Highest corner of the box, m.
    pub max: DVec3,
    /// How many spheres.
    pub count: u64,
    /// Radii, m.
    pub radius: Radius,
    /// Smallest gap between two spheres, m.
    #[serde(default)]
    pub gap: f64,
    /// Velocity of all, m/s.
    #[serde(default)]
    pub velocity: DVec3,
    /// Largest random addition to each component of the velocity, m/s.
    #[serde(default)]
    pub velocity_jitter: f64,
    /// Name of the material; empty for the first.
    #[serde(default)]
    pub material: String,
    /// Places tried for one sphere before giving up.
    #[serde(default = "default_attempts")]
    pub attempts: u32,
}

fn default_attempts() -> u32 {
    10_000
}

/// How many spheres a fill that ran out of attempts had placed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Placed(pub(crate) u64);

impl Fill {
    /// Spheres at rest, of the first material.
    pub fn new(min: DVec3, max: DVec3, count: u64, radius: impl Into<Radius>) -> Self {
        Self {
            min,
            max,
            count,
            radius: radius.into(),
            gap: 0.0,
            velocity: DVec3::ZERO,
            velocity_jitter: 0.0,
            material: String::new(),
            attempts: default_attempts(),
        }
    }

    /// Fraction of the box that the spheres fill, estimated from the first hundred thousand.
    pub(crate) fn volume_fraction(&self, seed: u64, index: usize) -> f64 {
        let stream = Stream::new(seed, Entry::Fill, index);
        let sample = self.count.min(100_000);
        let cubes: f64 = (0..sample).map(|k| self.radius.draw(&mut stream.draws(k, Purpose::Radius)).powi(3)).sum();
        let size = self.max - self.min;
        4.0 / 3.0 * PI * cubes * (self.count as f64 / sample.max(1) as f64) / (size.x * size.y * size.z)
    }

    /// Centre, radius and velocity of every sphere, clear of each other and of the balls
    /// `there`. Needs a box that holds the largest sphere.
    pub(crate) fn spheres(
        &self,
        seed: u64,
        index: usize,
        there: impl Iterator<Item = (DVec3, f64)> + Clone,
    ) -> Result<Vec<(DVec3, f64, DVec3)>, Placed> {
        let stream = Stream::new(seed, Entry::Fill, index);
        let mut spheres: Vec<(DVec3, f64, DVec3)> = (0..self.count)
            .map(|k| (DVec3::NAN, self.radius.draw(&mut stream.draws(k, Purpose::Radius)), self.velocity))
            .collect();
        let mut order: Vec<u32> = (0..spheres.len() as u32).collect();
        // Stable: equal radii keep the order of drawing.
        order.sort_by(|&a, &b| spheres[b as usize].1.total_cmp(&spheres[a as usize].1));

        let bounds = |(small, large): (f64, f64), r: f64| (small.min(r), large.max(r));
        let (small, large) = there.clone().map(|ball| ball.1).fold((self.radius.min(), self.radius.max()), bounds);
        let mut cells = Cells::new(self.min, self.max, small, large, spheres.len());
        for (x, r) in there {
            if cells.concerns(x, r + self.gap) {
                cells.insert(x, r);
            }
        }

        for (placed, &k) in order.iter().enumerate() {
            let radius = spheres[k as usize].1;
            let mut draws = stream.draws(k.into(), Purpose::Position);
            let (low, high) = (self.min + radius, self.max - radius);
            let mut place = || {
                let x = DVec3::new(
                    draws.between(low.x, high.x),
                    draws.between(low.y, high.y),
                    draws.between(low.z, high.z),
                );
                (!cells.overlaps(x, radius, self.gap)).then_some(x)
            };
            let x = (0..self.attempts).find_map(|_| place()).ok_or(Placed(placed as u64))?;
            cells.insert(x, radius);
            spheres[k as usize].0 = x;
            if self.velocity_jitter > 0.0 {
                spheres[k as usize].2 += stream.draws(k.into(), Purpose::Velocity).cube(self.velocity_jitter);
            }
        }
        Ok(spheres)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The smallest gap between two of the spheres, by looking at every pair.
    fn smallest_gap(spheres: &[(DVec3, f64, DVec3)]) -> f64 {
        let mut least = f64::INFINITY;
        for (i, a) in spheres.iter().enumerate() {
            for b in &spheres[..i] {
                least = least.min(a.0.distance(b.0) - a.1 - b.1);
            }
        }
        least
    }

    #[test]
    fn spheres_keep_clear_of_each_other_and_the_walls() {
        let fill = Fill { gap: 1e-3, ..Fill::new(DVec3::ZERO, DVec3::ONE, 400, Radius::Uniform([0.02, 0.06])) };
        let spheres = fill.spheres(1, 0, std::iter::empty()).unwrap();
        assert_eq!(spheres.len(), 400);
        assert!(smallest_gap(&spheres) >= 1e-3 * (1.0 - 1e-9));
        assert!(spheres.iter().all(|(x, r, _)| (x - *r).min_element() >= 0.0 && (x + *r).max_element() <= 1.0));
        assert_eq!(spheres, fill.spheres(1, 0, std::iter::empty()).unwrap());
        assert_ne!(spheres, fill.spheres(2, 0, std::iter::empty()).unwrap());
        // What was there before is kept clear of.
        let second = fill.spheres(1, 1, spheres.iter().map(|s| (s.0, s.1))).unwrap();
        assert!(smallest_gap(&[spheres, second].concat()) >= 1e-3 * (1.0 - 1e-9));
    }

    #[test]
    fn a_range_of_radii_of_fifty_fills() {
        let radius = Radius::PowerLaw(crate::scene::PowerLaw { min: 0.004, max: 0.2, exponent: -3.0 });
        let fill = Fill::new(DVec3::ZERO, DVec3::ONE, 20_000, radius);
        let spheres = fill.spheres(3, 0, std::iter::empty()).unwrap();
        let largest = spheres.iter().map(|s| s.1).fold(0.0, f64::max);
        assert!(largest > 0.1, "{largest}");
        assert!(smallest_gap(&spheres) >= 0.0);
    }

    #[test]
    fn a_crowded_box_says_how_far_it_got() {
        let fill = Fill { attempts: 200, ..Fill::new(DVec3::ZERO, DVec3::ONE, 1000, 0.05) };
        assert!((fill.volume_fraction(0, 0) - PI / 6.0).abs() < 1e-9);
        let Err(Placed(placed)) = fill.spheres(0, 0, std::iter::empty()) else { panic!("52 % cannot be reached") };
        assert!((300..800).contains(&placed), "{placed}");
    }
}
