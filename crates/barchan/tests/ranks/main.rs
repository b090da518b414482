//! Worlds on ranks against the same worlds in one process.

#[path = "../common/bounds.rs"]
mod bounds;
#[path = "../common/heap.rs"]
mod heap;
#[path = "../common/ranks.rs"]
mod ranks;
#[path = "../common/ranks_check.rs"]
mod ranks_check;
#[path = "../common/solving.rs"]
mod solving;

mod balance;
mod change;
mod contacts;
mod edges;
mod gas;
mod machines;
mod momentum;
mod protocol;
mod runs;
mod shapes;
mod solvers;
mod steps;
