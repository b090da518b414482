//! How far bodies overlap.

use super::Contacts;
use crate::world::Bodies;

/// How far bodies overlap.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Penetration {
    /// The deepest overlap.
    pub max: f64,
    /// The mean over contacts that overlap.
    pub mean: f64,
    /// The deepest in the smaller radius of its two bodies.
    pub relative: f64,
}

/// Overlaps, added up.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct OverlapSums {
    /// The deepest.
    pub max: f64,
    /// Their sum.
    pub sum: f64,
    /// How many there are.
    pub count: usize,
    /// The deepest in the smaller radius of its two bodies.
    pub relative: f64,
}

impl OverlapSums {
    /// The deepest and the mean.
    pub fn penetration(&self) -> Penetration {
        let mean = if self.count > 0 { self.sum / self.count as f64 } else { 0.0 };
        Penetration { max: self.max, mean, relative: self.relative }
    }
}

impl Contacts {
    /// How far these bodies overlapped before the step.
    pub fn penetration(&self, bodies: &Bodies) -> Penetration {
        self.overlap(bodies).penetration()
    }

    /// What the overlaps of all contacts add up to.
    pub fn overlap(&self, bodies: &Bodies) -> OverlapSums {
        let radius = |j: u32| bodies.size(j as usize);
        let mut overlap = OverlapSums::default();
        for (&gap, &[a, b]) in self.gaps.iter().zip(&self.pairs).filter(|(gap, _)| **gap < 0.0) {
            overlap.max = overlap.max.max(-gap);
            overlap.relative = overlap.relative.max(-gap / radius(a).min(radius(b)));
            overlap.sum -= gap;
            overlap.count += 1;
        }
        overlap
    }
}
