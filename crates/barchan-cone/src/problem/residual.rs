//! The residuals that measure a solution (S1 III-C, the earlier S0, and a scale-free one).

use serde::{Deserialize, Serialize};

/// The residual that decides when a solve has converged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Criterion {
    /// The scale-free natural map: 1 without impulses, 0 at the solution.
    #[default]
    Natural,
    /// S1 III-C: largest violation of the cones, mean complementarity. Depends on units.
    S1,
    /// The earlier text's: complementarity by its largest entry. Depends on units.
    S0,
}

impl Criterion {
    /// Every one with the name that scene files use, and a few words where that is not enough.
    pub const ALL: &'static [(Self, &'static str, &'static str)] = &[
        (Self::Natural, "natural", "scale-free"),
        (Self::S1, "s1", "as in the paper"),
        (Self::S0, "s0", "as in its earlier text"),
    ];
}

/// How far impulses are from the solution, by every measure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Residuals {
    /// max |γ_t| − μγ_n: the impulses leave their cones.
    pub primal: f64,
    /// max |g_t| − g_n/μ: the velocities leave the dual cones.
    pub dual: f64,
    /// |γ·g|/m, the mean complementarity of S1.
    pub complementarity: f64,
    /// max |γᵢ·gᵢ|, the largest complementarity of S0.
    pub complementarity_max: f64,
    /// ‖γ − Π(γ − ηg)‖/‖Π(−ηb)‖, without units: 1 at γ = 0, 0 at the solution; infinite for
    /// impulses where none are needed.
    pub natural: f64,
}

impl Residuals {
    /// The one that a criterion watches. Not a number if anything in the problem is not.
    pub fn by(&self, criterion: Criterion) -> f64 {
        // A maximum loses what is not a number; the sum of γ·g keeps it.
        let violation = if self.complementarity.is_nan() { f64::NAN } else { self.primal.max(self.dual) };
        match criterion {
            Criterion::Natural => self.natural,
            Criterion::S1 | Criterion::S0 if violation.is_nan() => violation,
            Criterion::S1 => violation.max(self.complementarity),
            Criterion::S0 => violation.max(self.complementarity_max),
        }
    }
}
