//! The second interface: what second-order solvers need beside [`ConeProblem`].
//!
//! An interior point works on each contact alone, by the algebra of its cone, and meets the
//! others in two places only: in sums and minima over all of them, and in the Newton system
//!
//! (A + P)Δ = r, P block-diagonal with a symmetric positive definite 3×3 block a contact
//!
//! (S1 III-B). So there are two operations here: [`NewtonProblem::map`] runs a function over the
//! contacts and folds what it returns in a fixed order, and [`NewtonProblem::factor`] with
//! [`NewtonProblem::solve`] deals with the system. P is given by its inverse H, which may be
//! singular: a contact without friction has no tangential part at all. The right-hand side is
//! q = Hr and the answer Δ with AΔ. A solver that knows H by its factors can take Δ = q − HAΔ again
//! along the smallest of them, which the matrix has lost to rounding.
//!
//! The system is solved on the side that is cheaper (`body_side`, `contact_side`), by a sparse
//! Cholesky factorisation (`barchan_cholesky`) or by preconditioned conjugate
//! gradients (`conjugate`).

mod blocks;
mod body_side;
mod conjugate;
mod contact_side;
mod copies;
mod local;
mod mapping;
mod of_matrix;
mod overlap;
mod schwarz;

pub(crate) use local::NewtonMemory;
pub(crate) use of_matrix::MatrixMemory;

use crate::operator::cone_problem::ConeProblem;
use glam::DVec3;
use serde::{Deserialize, Serialize};

/// One unknown of the contact side.
#[derive(Clone, Copy, Debug)]
pub enum Unknown {
    /// The impulse of a contact.
    Contact {
        /// Unit normal, the axis of the cone.
        normal: DVec3,
        /// The friction coefficient μ.
        friction: f64,
        /// Normal and mean tangential entry of the diagonal block of A.
        scale: [f64; 2],
    },
    /// The impulse of a row: the first component of its vector; the others are nothing.
    Row {
        /// The diagonal entry of A.
        scale: f64,
        /// Its own compliance, which the diagonal contains.
        compliance: f64,
        /// The interval in which it lies.
        limits: [f64; 2],
    },
}

/// What a function over the unknowns adds up: sums, and one minimum.
#[derive(Clone, Copy, Debug)]
pub struct Fold {
    /// Sums.
    pub sums: [f64; 4],
    /// The smallest.
    pub min: f64,
}

impl Default for Fold {
    fn default() -> Self {
        Self { sums: [0.0; 4], min: f64::INFINITY }
    }
}

impl Fold {
    /// Sums alone.
    pub fn of_sums(sums: [f64; 4]) -> Self {
        Self { sums, ..Self::default() }
    }

    /// Both together. What is not a number stays.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        let min = if self.min.is_nan() || self.min < other.min { self.min } else { other.min };
        Self { sums: std::array::from_fn(|k| self.sums[k] + other.sums[k]), min }
    }
}

/// How Newton systems are solved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum System {
    /// Directly where the factor is of a reasonable size, iteratively above it.
    #[default]
    Auto,
    /// By a sparse Cholesky factorisation.
    Direct,
    /// By preconditioned conjugate gradients.
    Iterative,
}

impl System {
    /// Every one with the name that scene files use, and a few words where that is not enough.
    pub const ALL: &'static [(Self, &'static str, &'static str)] =
        &[(Self::Auto, "auto", "by their size"), (Self::Direct, "direct", ""), (Self::Iterative, "iterative", "")];
}

/// How and how well a Newton system is to be solved.
#[derive(Clone, Copy, Debug)]
pub struct NewtonOptions {
    /// The method.
    pub system: System,
    /// Relative residual at which conjugate gradients stop.
    pub tolerance: f64,
    /// Conjugate gradients at most, a system.
    pub max_iterations: u32,
}

/// A cone complementarity problem whose Newton systems can be solved.
pub trait NewtonProblem: ConeProblem {
    /// Runs `body` on every unknown: what it reads of some vectors, what it finds in others and
    /// leaves there. Returns the folded results, in an order of their own.
    fn map<const N: usize, const M: usize>(
        &mut self,
        read: [&Self::Impulses; N],
        write: [&mut Self::Impulses; M],
        body: impl Fn(&Unknown, [DVec3; N], &mut [DVec3; M]) -> Fold + Sync,
    ) -> Fold;

    /// Prepares to solve systems with this H. Its blocks come as their diagonals xx, yy, zz and
    /// the rest xy, xz, yz; that of a row is the first number. Says whether it could.
    fn factor(&mut self, h: [&Self::Impulses; 2], options: &NewtonOptions) -> bool;

    /// Solves δ = q − HAδ for the H given last: u ← Aδ. Returns how many times the operator was
    /// applied.
    fn solve(&mut self, q: &Self::Impulses, δ: &mut Self::Impulses, u: &mut Self::Impulses) -> u32;
}
