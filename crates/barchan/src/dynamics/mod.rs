//! From contacts to motion: the contact problem of a step, and the time integration.
//!
//! The problem itself and its solvers are a crate of their own, [`crate::cone`], which knows nothing of
//! bodies, shapes and scenes.

pub mod assemble;
pub mod integrate;
pub mod options;

pub use assemble::{Assembly, AssemblyInput, FreeMotion};
pub use options::ContactOptions;
