//! The seam between solvers and problems.
//!
//! A solver sees vectors that it cannot look into and these operations, and nothing else: no
//! bodies, no ranks, no device. One implementation works on the memory of one machine
//! ([`super::MatrixFree`]); others will work across ranks, on a GPU, or on an assembled matrix.
//! `Impulses` are contact-side vectors γ ∈ R^{3m}; `Velocities` are body-side: for some γ, the
//! response w = M⁻¹Dγ, and beside it the response w_y of an extrapolated y.

use super::residual::{Criterion, Residuals};
use serde::{Deserialize, Serialize};

/// The metric in which APGD measures steps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Metric {
    /// Normal and tangential scale of each contact, from its 3×3 diagonal block.
    #[default]
    Contact,
    /// One scale a contact.
    Scalar,
    /// None: the algorithm as printed in S1.
    Identity,
}

/// What [`ConeProblem::descend`] measured on its way.
#[derive(Clone, Copy, Debug, Default)]
pub struct Descent {
    /// dᵀHd of the step d = x − y.
    pub step_in_metric: f64,
    /// (y − x)ᵀH(x − γ): positive when momentum and step disagree.
    pub uphill: f64,
    /// The residual of γ, by the criterion asked for.
    pub residual: f64,
}

/// A cone complementarity problem, as a solver sees it.
pub trait ConeProblem {
    /// Contact-side vector.
    type Impulses: Default;
    /// Body-side velocities of an iterate and of an extrapolation.
    type Velocities: Default;

    /// Number of contacts, over all ranks.
    fn contacts(&self) -> usize;

    /// Makes `γ` a vector of this problem, all zero.
    fn reset_impulses(&self, γ: &mut Self::Impulses);

    /// Makes `w` belong to this problem, all zero.
    fn reset_velocities(&self, w: &mut Self::Velocities);

    /// Chooses the metric H for projections and steps.
    fn set_metric(&mut self, metric: Metric);

    /// The mean diagonal of H⁻¹A: where to start looking for its Lipschitz constant.
    fn mean_scale(&self) -> f64;

    /// γ ← Π_C(γ).
    fn project(&mut self, γ: &mut Self::Impulses);

    /// out ← Aγ + b.
    fn gradient(&mut self, γ: &Self::Impulses, out: &mut Self::Impulses);

    /// Scalar product.
    fn dot(&mut self, a: &Self::Impulses, b: &Self::Impulses) -> f64;

    /// bᵀγ.
    fn dot_bias(&mut self, γ: &Self::Impulses) -> f64;

    /// x ← Π_H(y − H⁻¹(Dᵀw_y + b)/L) with y = γ + β(γ − γ⁻): a projected gradient step from the
    /// extrapolated point, and the residual of γ in the same pass.
    ///
    /// Needs in `at` the responses w of γ and w_y of y.
    #[allow(clippy::too_many_arguments)]
    fn descend(
        &mut self,
        γ: &Self::Impulses,
        γ_last: &Self::Impulses,
        β: f64,
        at: &Self::Velocities,
        lipschitz: f64,
        criterion: Criterion,
        x: &mut Self::Impulses,
    ) -> Descent;

    /// The operator: `to` ← response w = M⁻¹Dx of x, and w_y = w + β(w − w of `from`). Returns
    /// dᵀAd of the step d = x − y, where y is what `from` was extrapolated to.
    fn respond(&mut self, x: &Self::Impulses, from: &Self::Velocities, β: f64, to: &mut Self::Velocities) -> f64;

    /// Replaces w_y in `at` by w: forgets the momentum.
    fn forget_momentum(&mut self, at: &mut Self::Velocities);

    /// All residuals of γ, whose response stands in `at`, and γᵀ(Aγ + b).
    fn residuals(&mut self, γ: &Self::Impulses, at: &Self::Velocities) -> (Residuals, f64);
}
