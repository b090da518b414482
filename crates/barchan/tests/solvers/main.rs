//! Contact problems and their solvers: against known answers, twins and each other.

#[path = "../common/bounds.rs"]
mod bounds;
#[path = "../common/mod.rs"]
mod common;
#[path = "../common/problems.rs"]
mod problems;
#[path = "../common/solving.rs"]
mod solving;

mod agreement;
mod foreign;
mod nothing;
mod physics_solvers;
mod rows;
mod scip;
mod solver;
mod sweeps;
