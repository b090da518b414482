//! What impulses are worth where none have met the tolerance.
//!
//! The residual counts the velocities that contacts have wrong, light bodies' as much as heavy ones'. It may be small while
//! a heavy body falls as if nothing were under it: the grains below it are a little wrong each. The objective
//! ½γᵀAγ + bᵀγ sees the load: the more of it impulses carry, the lower it is.

/// Impulses that lower the objective this many times as far carry a load that others do not.
const CARRIES: f64 = 2.0;

/// The residual and the objective of some impulses.
pub(super) struct Worth {
    pub(super) residual: f64,
    pub(super) objective: f64,
}

impl Worth {
    /// Whether these are better: by their residual, unless one of the two carries far more than the other.
    pub(super) fn is_better_than(&self, other: &Self) -> bool {
        let carries_more = self.objective < CARRIES * other.objective;
        let carries_less = other.objective < CARRIES * self.objective;
        carries_more || (self.residual < other.residual && !carries_less)
    }
}

#[cfg(test)]
mod tests {
    use super::Worth;

    #[test]
    fn a_load_counts_for_more_than_a_residual() {
        let worth = |residual, objective| Worth { residual, objective };
        let (light, loaded) = (worth(0.06, -1.0), worth(0.3, -1e4));
        assert!(loaded.is_better_than(&light) && !light.is_better_than(&loaded));
        let finer = worth(0.1, -0.9e4);
        assert!(finer.is_better_than(&loaded) && !loaded.is_better_than(&finer));
        assert!(!loaded.is_better_than(&loaded));
    }
}
