//! The box that bodies are meant to stay in, and what becomes of those that leave it.

use super::{DomainOptions, Periods};
use glam::DVec3;
use serde::{Deserialize, Serialize};

/// What becomes of dynamic bodies whose centres have left the cell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OutsideRule {
    /// They go on.
    #[default]
    Keep,
    /// They are taken away, and counted.
    Remove,
    /// The run ends with an error.
    Stop,
}

impl OutsideRule {
    /// Every one with the name that scene files use, and a few words where that is not enough.
    pub const ALL: &'static [(Self, &'static str, &'static str)] = &[
        (Self::Keep, "keep", ""),
        (Self::Remove, "remove", "and count them"),
        (Self::Stop, "stop", "the run with an error"),
    ];
}

/// The rule with its box. Along axes that repeat, nothing can leave.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outside {
    /// What becomes of bodies that leave.
    pub rule: OutsideRule,
    /// Lowest corner.
    pub low: DVec3,
    /// Highest corner.
    pub high: DVec3,
}

impl Default for Outside {
    fn default() -> Self {
        Self { rule: OutsideRule::Keep, low: DVec3::NEG_INFINITY, high: DVec3::INFINITY }
    }
}

impl Outside {
    /// Whether a point lies in the box, its surface included.
    #[inline]
    pub fn holds(&self, x: DVec3) -> bool {
        self.low.cmple(x).all() && x.cmple(self.high).all()
    }
}

impl From<&DomainOptions> for Outside {
    fn from(options: &DomainOptions) -> Self {
        let (Some(low), Some(high)) = (options.min, options.max) else { return Self::default() };
        let open = Periods::new(low, high, options.periodic.map(|repeats| !repeats));
        Self { rule: options.outside, low: open.low, high: open.high }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_leaves_along_axes_that_repeat() {
        let options = DomainOptions {
            min: Some(DVec3::ZERO),
            max: Some(DVec3::ONE),
            periodic: [true, false, false],
            outside: OutsideRule::Stop,
            ..DomainOptions::default()
        };
        let outside = Outside::from(&options);
        assert_eq!(outside.rule, OutsideRule::Stop);
        assert!(outside.holds(DVec3::new(7.0, 0.0, 1.0)));
        assert!(!outside.holds(DVec3::new(0.5, 1.0 + 1e-15, 0.5)));
        assert!(!outside.holds(DVec3::new(0.5, 0.5, -1e-300)));
        assert!(!outside.holds(DVec3::new(0.5, 0.5, f64::NAN)));
        assert!(Outside::from(&DomainOptions::default()).holds(DVec3::splat(1e300)));
    }
}
