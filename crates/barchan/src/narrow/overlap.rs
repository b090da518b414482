//! How far bodies overlap.

use super::Contacts;

/// How far bodies overlap.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Penetration {
    /// The deepest overlap.
    pub max: f64,
    /// The mean over contacts that overlap.
    pub mean: f64,
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
}

impl OverlapSums {
    /// The deepest and the mean.
    pub fn penetration(&self) -> Penetration {
        Penetration { max: self.max, mean: if self.count > 0 { self.sum / self.count as f64 } else { 0.0 } }
    }
}

impl Contacts {
    /// How far bodies overlapped before the step.
    pub fn penetration(&self) -> Penetration {
        self.overlap().penetration()
    }

    /// What the overlaps of all contacts add up to.
    pub fn overlap(&self) -> OverlapSums {
        let mut overlap = OverlapSums::default();
        for &gap in self.gaps.iter().filter(|&&gap| gap < 0.0) {
            overlap.max = overlap.max.max(-gap);
            overlap.sum -= gap;
            overlap.count += 1;
        }
        overlap
    }
}
