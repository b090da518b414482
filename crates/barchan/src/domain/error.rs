//! Why the ranks cannot go on.

/// A body that the ranks cannot follow.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum DomainError {
    /// A hull that reaches beyond the neighbours (S4 eq. 7).
    #[error(
        "body {body} reaches {reach:.3e} m from its centre in a step, and the domains of ranks allow {limit:.3e} m \
         (radius, way and margin together). Use fewer ranks or other blocks (domain.blocks), a larger periodic cell, \
         or a smaller time step (time.step)"
    )]
    Reach {
        /// The id of the body.
        body: u64,
        /// How far it reaches: r̄ + |v|h + τ.
        reach: f64,
        /// How far it may: l_dd.
        limit: f64,
    },
    /// A body that has crossed a whole domain in one step.
    #[error(
        "body {body} has moved to a domain that is no neighbour of the one it was in. Use a smaller time step \
         (time.step) or fewer ranks"
    )]
    Crossed {
        /// The id of the body.
        body: u64,
    },
    /// Space cannot be divided anew.
    #[error("the work cannot be shared anew: {message}")]
    Division {
        /// Why.
        message: String,
    },
    /// Another rank has failed; it says why itself.
    #[error("another rank has failed")]
    Elsewhere,
}
