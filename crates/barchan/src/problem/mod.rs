//! The contact problem.
pub mod options;
pub use options::ContactOptions;
