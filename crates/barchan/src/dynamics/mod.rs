//! From contacts to motion: the contact problem of a step, its warm start, and the time integration.
//!
//! The problem itself and its solvers are a crate of their own, [`crate::cone`], which knows nothing of
//! bodies, shapes and scenes.

pub mod assemble;
pub mod integrate;
pub mod options;
pub mod warm_start;

pub use assemble::{FreeMotion, assemble};
pub use options::ContactOptions;
pub use warm_start::WarmStart;
