//! The operator A = DᵀM⁻¹D and all that solvers ask of a problem, behind one interface.

pub mod block_sparse;
pub(crate) mod communicator;
pub mod cone_problem;
pub(crate) mod contactwise;
pub(crate) mod kernels;
pub mod matrix_free;
pub(crate) mod patch;
mod solvers;
