//! Why a simulation cannot go on.

use crate::domain::DomainError;
use glam::DVec3;

/// Why a simulation cannot go on.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum StepError {
    /// The state is no longer a number.
    #[error(
        "step {step}: position or velocity of body {body} is not finite; nothing after it would mean anything \
         (a smaller time step or less extreme forces may help)"
    )]
    NotFinite {
        /// The step, counted from 1.
        step: u64,
        /// The id of the first such body.
        body: u64,
    },
    /// The numbers of a contact have outgrown the floating-point range.
    #[error(
        "step {step}: body {body} is too fast or too far away to compute its contacts \
         (a smaller time step or less extreme forces may help)"
    )]
    Overflow {
        /// The step, counted from 1.
        step: u64,
        /// The id of the first such body.
        body: u64,
    },
    /// The ranks cannot follow a body.
    #[error("step {step}: {error}")]
    Domain {
        /// The step, counted from 1.
        step: u64,
        /// What is wrong.
        error: DomainError,
    },
    /// A body has left the cell, and the scene wants to end then.
    #[error(
        "step {step}: body {body} has left the box between domain.min and domain.max, at [{}, {}, {}] \
         (domain.outside = \"stop\")", position.x, position.y, position.z
    )]
    Outside {
        /// The step, counted from 1.
        step: u64,
        /// The id of the body: the lowest, if several have left.
        body: u64,
        /// Where its centre is.
        position: DVec3,
    },
    /// The solver was handed nonsense.
    #[error("step {step}: the solver met a value that is not a number")]
    BadProblem {
        /// The step, counted from 1.
        step: u64,
    },
}
