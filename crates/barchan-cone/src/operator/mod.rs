//! The operator A = DᵀM⁻¹D and all that solvers ask of a problem, behind one seam.

pub(crate) mod agreement;
pub mod block_sparse;
pub(crate) mod contactwise;
pub(crate) mod kernels;
pub mod matrix_free;
pub mod seam;
mod solvers;
