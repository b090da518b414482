//! The engine as a whole: known answers, invariants, the same bits, the module graph and the documents.

#[path = "../common/mod.rs"]
mod common;
#[path = "../common/heap.rs"]
mod heap;

mod analytic;
mod architecture;
mod determinism;
mod documentation;
mod joints;
mod masses;
mod meshes;
mod motions;
mod outside;
mod pairs;
mod properties;
mod recorded;
mod sampled;
mod shapes;
