//! Solvers.
pub mod options;
pub use options::{ApgdOptions, Criterion, Metric, SolverName, SolverOptions};
