//! The interface between solvers and problems.
//!
//! A solver sees vectors that it cannot look into and these operations, and nothing else: no
//! bodies, no ranks, no device. One implementation works on the memory of one machine
//! ([`crate::MatrixFree`]); others will work across ranks, on a GPU, or on an assembled matrix.
//! `Impulses` are contact-side vectors γ ∈ R^{3m}; `Velocities` are body-side: the response
//! w = M⁻¹Dγ of some γ.

use crate::problem::law::Friction;
use crate::problem::residual::{Criterion, Residuals};
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

impl Metric {
    /// Every one with the name that scene files use, and a few words where that is not enough.
    pub const ALL: &'static [(Self, &'static str, &'static str)] = &[
        (Self::Contact, "contact", "normal and tangential"),
        (Self::Scalar, "scalar", "one a contact"),
        (Self::Identity, "identity", "none, as printed"),
    ];

    /// The mean diagonal of H⁻¹A, where A has this mean diagonal.
    pub fn mean_scale(self, mean_diagonal: f64) -> f64 {
        match self {
            Self::Contact | Self::Scalar => 1.0,
            Self::Identity => mean_diagonal,
        }
    }
}

/// The point y = γ + β(γ − γ⁻), given by two iterates and their responses.
pub struct Extrapolation<'a, P: ConeProblem + ?Sized> {
    /// The present iterate.
    pub γ: &'a P::Impulses,
    /// The one before it.
    pub γ_last: &'a P::Impulses,
    /// Response of γ.
    pub w: &'a P::Velocities,
    /// Response of γ⁻.
    pub w_last: &'a P::Velocities,
    /// Momentum.
    pub β: f64,
}

/// How [`ConeProblem::descend`] steps, and which residual it returns.
#[derive(Clone, Copy, Debug)]
pub struct DescentStep {
    /// The estimate L of the Lipschitz constant.
    pub lipschitz: f64,
    /// Which residual of γ to return.
    pub criterion: Criterion,
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
    /// Body-side velocities.
    type Velocities: Default;

    /// Number of contacts, over all ranks.
    fn contacts(&self) -> usize;

    /// Number of rows beside them: joints, limits, motors.
    fn rows(&self) -> usize {
        0
    }

    /// Whether there is nothing to solve: neither contacts nor bilateral rows.
    fn is_empty(&self) -> bool {
        self.contacts() == 0
    }

    /// Gives `γ` the shape of this problem. What it holds it keeps, if it had the shape; otherwise that
    /// is anything.
    fn shape_impulses(&self, γ: &mut Self::Impulses);

    /// γ ← 0, with the shape of this problem.
    fn clear_impulses(&self, γ: &mut Self::Impulses);

    /// The same for velocities.
    fn shape_velocities(&self, w: &mut Self::Velocities);

    /// w ← 0, with the shape of this problem.
    fn clear_velocities(&self, w: &mut Self::Velocities);

    /// The speed ε below which De Saxcé's term is rounded off, so that it is μ(√(|u_t|² + ε²) − ε); zero for the exact
    /// law.
    fn slip_rounding(&self) -> f64 {
        0.0
    }

    /// Sets that speed, if the problem has one. Says whether it has.
    fn set_slip_rounding(&mut self, _speed: f64) -> bool {
        false
    }

    /// Chooses the law of [`Self::residuals`]. Steps and projections are those of the
    /// associated law always: the exact one is reached through [`Self::set_shift`].
    fn set_law(&mut self, law: Friction);

    /// Adds `shift` to b, in place of the shift before.
    fn set_shift(&mut self, shift: Option<&Self::Impulses>);

    /// out ← μ|g_t|n, the term that De Saxcé adds to g = Aγ + b, rounded off; `w` is the response of γ.
    fn slip(&mut self, w: &Self::Velocities, out: &mut Self::Impulses);

    /// out ← a·x + c·y.
    fn combine(&mut self, a: f64, x: &Self::Impulses, c: f64, y: &Self::Impulses, out: &mut Self::Impulses);

    /// to ← from.
    fn copy(&mut self, from: &Self::Impulses, to: &mut Self::Impulses) {
        self.combine(1.0, from, 0.0, from, to);
    }

    /// Chooses the metric H for projections and steps.
    fn set_metric(&mut self, metric: Metric);

    /// The mean diagonal of H⁻¹A: where to start looking for its Lipschitz constant.
    fn mean_scale(&self) -> f64;

    /// γ ← Π_C(γ).
    fn project(&mut self, γ: &mut Self::Impulses);

    /// out ← Aγ + b, where `w` is the response of γ.
    fn gradient_at(&mut self, γ: &Self::Impulses, w: &Self::Velocities, out: &mut Self::Impulses);

    /// out ← Aγ + b.
    fn gradient(&mut self, γ: &Self::Impulses, out: &mut Self::Impulses) {
        let mut w = Self::Velocities::default();
        self.respond_to(γ, &mut w);
        self.gradient_at(γ, &w, out);
    }

    /// Scalar product.
    fn dot(&mut self, a: &Self::Impulses, b: &Self::Impulses) -> f64;

    /// bᵀγ.
    fn dot_bias(&mut self, γ: &Self::Impulses) -> f64;

    /// x ← Π_H(y − H⁻¹(Ay + b)/L) with y = γ + β(γ − γ⁻): a projected gradient step from the
    /// extrapolated point, and the residual of γ in the same pass.
    fn descend(&mut self, from: &Extrapolation<'_, Self>, step: &DescentStep, x: &mut Self::Impulses) -> Descent;

    /// The operator: w ← M⁻¹Dx. Returns dᵀAd of the step d = x − y from the extrapolated point.
    fn respond(&mut self, x: &Self::Impulses, from: &Extrapolation<'_, Self>, w: &mut Self::Velocities) -> f64;

    /// The operator alone: w ← M⁻¹Dγ.
    fn respond_to(&mut self, γ: &Self::Impulses, w: &mut Self::Velocities);

    /// All residuals of γ, whose response is `w`, by the chosen law, and γᵀ(Aγ + b).
    fn residuals(&mut self, γ: &Self::Impulses, w: &Self::Velocities) -> (Residuals, f64);
}
