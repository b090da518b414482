//! Frictional contact problems and their solvers: the mathematics of Barchan.
//!
//! Find impulses γ ∈ C with g = Aγ + b ∈ C*, γᵢ·gᵢ = 0, where A = DᵀM⁻¹D. C is a product of friction
//! cones |γ_t| ≤ μγ_n, one a contact, and C* its dual (the associated law); or the same with
//! De Saxcé's term μ|g_t| in the normal velocity (Coulomb's law). What Siconos calls a
//! `FrictionContactProblem` in its local form is an [`Assembled`] here, and its global form, by bodies
//! and lever arms, a [`Problem`].
//!
//! | folder | holds |
//! |---|---|
//! | [`problem`] | the problem as a value, its cones, residuals, bilateral rows, a dense twin for tests |
//! | [`file`](mod@file) | file formats: our own text, matrices as text, FCLIB's HDF5 |
//! | [`operator`] | the interface [`ConeProblem`], by bodies without a matrix and by a block-sparse matrix |
//! | [`sweep`] | Gauss–Seidel sweeps, planned once for any number of threads, and exact one-contact solves |
//! | [`newton`] | linear systems of the interior point |
//! | [`solver`] | solvers, their options and reports |
//!
//! Read a file of any known format and solve it:
//!
//! ```no_run
//! use barchan_cone::{AnyProblem, solver::SolverOptions};
//!
//! let problem = AnyProblem::load("Capsules-i100-889.hdf5")?;
//! let solution = problem.solve(&SolverOptions::default());
//! println!("{:?}, residual {:.1e}", solution.report.status, solution.report.residual);
//! for [impulse, velocity] in solution.contacts() {
//!     println!("{impulse} {velocity}");
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Papers are cited by number, as in the engine. S0 and S1: De, Corona, Jayakumar, Veerapaneni,
//! *Scalable solvers for cone complementarity problems in frictional multibody dynamics*, the earlier
//! and the later text. S3: Tasora, Negrut, Anitescu, *GPU-based parallel computing for the simulation of
//! complex multibody systems with unilateral and bilateral constraints*. S4: Preclik, Rüde,
//! *Ultrascale simulations of non-smooth granular dynamics*.

pub mod file;
pub mod lanes;
pub mod newton;
pub mod operator;
pub mod problem;
mod solution;
pub mod solver;
pub mod sweep;
mod vector;

pub use file::load::AnyProblem;
pub use file::text::ProblemFileError;
pub use newton::{Fold, NewtonOptions, NewtonProblem, System, Unknown};
pub use operator::block_sparse::{BlockSparse, Response};
pub use operator::communicator::ProblemCommunicator;
pub use operator::cone_problem::{ConeProblem, Descent, DescentStep, Extrapolation, Metric};
pub use operator::matrix_free::{BodyVec, MatrixFree, Workspace};
pub use operator::patch::Around;
pub use problem::assembled::{Assembled, BadAssembled};
pub use problem::geometry::{Arms, Geometry, Symmetric, Tensors};
pub use problem::law::{Friction, MOST_FRICTION};
pub use problem::residual::{Criterion, Residuals};
pub use problem::rows::Row;
pub use problem::tangents::contact_frame;
pub use problem::{BadProblem, Problem, ProblemRef};
pub use solution::Solution;
pub use sweep::{Borders, Lag, Order, Relaxation, RowsIterate, Rule, SweepIterate, Swept};
pub use vector::{ContactScalars, ContactVec};

/// The README's example is a test too.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
