//! The broad phase.
pub mod options;
pub use options::{BroadPhaseName, BroadPhaseOptions};
