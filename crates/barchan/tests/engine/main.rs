//! The engine as a whole: known answers, invariants, the same bits, the module graph and the documents.

#[path = "../common/mod.rs"]
mod common;

mod analytic;
mod architecture;
mod determinism;
mod documentation;
mod outside;
mod properties;
mod recorded;
