//! What a user can choose about the solver.

use crate::{Borders, Criterion, Friction, Metric, NewtonOptions, Order, System};
use serde::{Deserialize, Serialize};

macro_rules! solvers {
    ($($(#[$doc:meta])* $variant:ident = $name:literal, $line:literal;)*) => {
        /// The solvers there are. Declared once: the scene language, the command line and the
        /// documentation read this list.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(rename_all = "kebab-case")]
        pub enum SolverName {
            $($(#[$doc])* $variant,)*
        }

        impl SolverName {
            /// Every solver with its name in scene files and a line on what it does.
            pub const ALL: &'static [(SolverName, &'static str, &'static str)] =
                &[$((SolverName::$variant, $name, $line),)*];
        }
    };
}

solvers! {
    /// What suits the problem.
    #[default]
    Auto = "auto", "accelerated-gs, and scip for small problems, or parts of large ones, that take it too long";
    /// Accelerated projected gradient descent (S1 III-A).
    Apgd = "apgd", "accelerated projected gradient descent on the cone complementarity problem";
    /// Symmetric-cone interior point (S1 III-B).
    Scip = "scip", "symmetric-cone interior point: few iterations, each with a linear system";
    /// Accelerated Gauss–Seidel.
    AcceleratedGs = "accelerated-gs", "Gauss-Seidel sweeps of exact one-contact solves, with momentum";
    /// Non-linear block Gauss–Seidel for exact Coulomb friction (S4 Alg. 1).
    Nbgs = "nbgs", "non-linear block Gauss-Seidel for exact Coulomb friction";
    /// The fixed point of S3 (eq. 12–14), contact after contact.
    GaussSeidel = "gauss-seidel", "projected fixed-point iteration, contact after contact";
    /// The fixed point of S3 (eq. 12–14), all contacts at once.
    Jacobi = "jacobi", "projected fixed-point iteration, all contacts at once";
}

impl SolverName {
    /// The name that scene files use.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|s| s.0 == self).map_or("", |s| s.1)
    }

    /// The friction laws that the solver can do; the first is the default.
    pub fn laws(self) -> &'static [Friction] {
        match self {
            Self::Nbgs => &[Friction::Coulomb],
            Self::Auto | Self::Apgd | Self::Scip | Self::AcceleratedGs | Self::GaussSeidel | Self::Jacobi => {
                &[Friction::Coulomb, Friction::Associated]
            }
        }
    }

    /// Whether it relaxes contacts one after the other; `auto` can do without.
    pub(crate) fn needs_sweeps(self) -> bool {
        match self {
            Self::AcceleratedGs | Self::Nbgs | Self::GaussSeidel => true,
            Self::Auto | Self::Apgd | Self::Scip | Self::Jacobi => false,
        }
    }

    /// Whether it solves Newton systems; `auto` can do without.
    pub(crate) fn needs_newton_systems(self) -> bool {
        self == Self::Scip
    }

    /// Whether its own iteration solves Coulomb's law; others need the outer loop of De Saxcé.
    pub(crate) fn knows_coulomb(self) -> bool {
        match self {
            Self::Nbgs | Self::GaussSeidel | Self::AcceleratedGs | Self::Scip => true,
            Self::Auto | Self::Apgd | Self::Jacobi => false,
        }
    }
}

/// Options of APGD.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ApgdOptions {
    /// The metric in which steps are measured.
    pub metric: Metric,
    /// Whether momentum is dropped when it points uphill.
    pub restart: bool,
    /// Whether the Lipschitz estimate may shrink again; only with `restart`.
    pub shrink: bool,
}

impl Default for ApgdOptions {
    fn default() -> Self {
        Self { metric: Metric::Contact, restart: true, shrink: true }
    }
}

impl ApgdOptions {
    /// The algorithm as printed in S1: no metric, no restart, L only grows.
    pub const PLAIN: Self = Self { metric: Metric::Identity, restart: false, shrink: false };
}

/// Options of the interior point.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ScipOptions {
    /// How linear systems are solved.
    pub system: System,
    /// Relative residual at which conjugate gradients stop.
    pub system_tolerance: f64,
    /// Conjugate gradients at most, a linear system.
    pub system_iterations: u32,
}

impl Default for ScipOptions {
    fn default() -> Self {
        Self { system: System::Auto, system_tolerance: 1e-8, system_iterations: 2000 }
    }
}

impl ScipOptions {
    /// What the problem is told.
    pub(crate) fn newton(&self) -> NewtonOptions {
        NewtonOptions { system: self.system, tolerance: self.system_tolerance, max_iterations: self.system_iterations }
    }
}

/// Options of accelerated Gauss–Seidel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct AcceleratedGsOptions {
    /// The order of sweeps.
    pub order: Order,
    /// Whether momentum is dropped when it points uphill.
    pub restart: bool,
    /// Bodies that several ranks hold; where they are whole, sweeps are relaxed by 0.75.
    pub borders: Borders,
}

impl Default for AcceleratedGsOptions {
    fn default() -> Self {
        Self { order: Order::Coloured, restart: true, borders: Borders::Split }
    }
}

/// Options of non-linear block Gauss–Seidel.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct NbgsOptions {
    /// The order of sweeps.
    pub order: Order,
    /// Relaxation ω, above 0 and up to 1.
    pub relaxation: f64,
    /// Bodies that several ranks hold; where they are whole, ω should be 0.75 (S4).
    pub borders: Borders,
}

impl Default for NbgsOptions {
    fn default() -> Self {
        Self { order: Order::Coloured, relaxation: 1.0, borders: Borders::Split }
    }
}

/// Options of the fixed point of S3: γ ← λΠ(γ − ωη(Aγ + b)) + (1 − λ)γ, with η three over the
/// trace of a contact's diagonal block.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct GaussSeidelOptions {
    /// The order of sweeps.
    pub order: Order,
    /// Length ω of a step. Up to 2/3 no contact overshoots, whatever its block; round bodies bear
    /// more.
    pub relaxation: f64,
    /// The part λ of the new value.
    pub blend: f64,
}

impl Default for GaussSeidelOptions {
    fn default() -> Self {
        Self { order: Order::Coloured, relaxation: 0.65, blend: 1.0 }
    }
}

/// Options of the fixed point of S3 with all contacts at once; see [`GaussSeidelOptions`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct JacobiOptions {
    /// Length ω of a step. Too long a step diverges: contacts that share a body do not know of
    /// each other.
    pub relaxation: f64,
    /// The part λ of the new value.
    pub blend: f64,
}

impl Default for JacobiOptions {
    fn default() -> Self {
        Self { relaxation: 0.2, blend: 1.0 }
    }
}

/// Solver and stopping rule.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SolverOptions {
    /// Which solver.
    pub name: SolverName,
    /// The friction law; the solver's own by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub friction: Option<Friction>,
    /// Residual at which a solve counts as converged.
    pub tolerance: f64,
    /// Which residual that is.
    pub criterion: Criterion,
    /// Iterations after which a solve gives up and says so.
    pub max_iterations: u32,
    /// Whether a step starts from the impulses of the last.
    pub warm_start: bool,
    /// Whether sweeps go on for a little after they have met the tolerance: steps that start from the impulses of
    /// the last converge together, so that what rests comes to rest, and small problems are solved to many digits.
    pub polish: bool,
    /// Options of APGD.
    pub apgd: ApgdOptions,
    /// Options of the interior point.
    pub scip: ScipOptions,
    /// Options of accelerated Gauss–Seidel.
    #[serde(rename = "accelerated-gs")]
    pub accelerated_gs: AcceleratedGsOptions,
    /// Options of non-linear block Gauss–Seidel.
    pub nbgs: NbgsOptions,
    /// Options of the fixed point, contact after contact.
    #[serde(rename = "gauss-seidel")]
    pub gauss_seidel: GaussSeidelOptions,
    /// Options of the fixed point, all contacts at once.
    pub jacobi: JacobiOptions,
}

impl Default for SolverOptions {
    fn default() -> Self {
        Self {
            name: SolverName::Auto,
            friction: None,
            tolerance: 5e-2,
            criterion: Criterion::Natural,
            max_iterations: 1000,
            warm_start: true,
            polish: true,
            apgd: ApgdOptions::default(),
            scip: ScipOptions::default(),
            accelerated_gs: AcceleratedGsOptions::default(),
            nbgs: NbgsOptions::default(),
            gauss_seidel: GaussSeidelOptions::default(),
            jacobi: JacobiOptions::default(),
        }
    }
}

impl SolverOptions {
    /// The friction law that a solve obeys.
    pub fn law(&self) -> Friction {
        self.friction.unwrap_or(self.name.laws()[0])
    }

    /// The same for a solve that goes on after so many iterations.
    pub(crate) fn after(&self, iterations: u32) -> Self {
        Self { max_iterations: self.max_iterations - iterations, ..*self }
    }
}
