//! The friction law: what is asked of a contact that slides.

use serde::{Deserialize, Serialize};

/// The largest coefficient of friction that solvers compute with: cones of 89.94 degrees. What is above it counts
/// as this, which is to stick: a contact slides only if it is pushed along the surface a thousand times harder than
/// onto it.
///
/// Solvers compare impulses along the normal with those along the surface times μ, and divide by 1 + μ²: much above
/// this the normal part drowns in the rounding of the others, and from 1e154 on μ² is no number.
pub const MOST_FRICTION: f64 = 1e3;

/// A coefficient of friction from a file, brought down to the largest. What is no number, or infinite, stays so and is
/// refused by the check of the problem.
pub(crate) fn bounded(friction: f64) -> f64 {
    if friction > MOST_FRICTION && friction.is_finite() { MOST_FRICTION } else { friction }
}

/// How friction acts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Friction {
    /// The cone complementarity problem (S1 eq. 3): convex; a sliding contact opens by about
    /// hμ|u_t|.
    #[default]
    Associated,
    /// Exact Coulomb friction (S4 section 3), by the term μ|u_t| that De Saxcé adds to the normal
    /// velocity. A problem may round the term off below a speed ε, to μ(√(|u_t|² + ε²) − ε): contacts that
    /// hardly move, whose noise is what makes the exact law slow, are then left to the associated law, and open
    /// by at most hμε.
    Coulomb,
}

impl Friction {
    /// Both, with the names that scene files use and a few words on each.
    pub const ALL: &'static [(Self, &'static str, &'static str)] = &[
        (Self::Associated, "associated", "the cone complementarity problem, which is convex"),
        (Self::Coulomb, "coulomb", "exact Coulomb friction"),
    ];

    /// The name that scene files use.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|f| f.0 == self).map_or("", |f| f.1)
    }
}
