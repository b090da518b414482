//! Sparse Cholesky factorisations of symmetric matrices made of small dense blocks.
//!
//! The numerical work is that of `faer`; the order of elimination is our own (`dissection`). A
//! crate of its own, because `faer` is generic and long to compile: this is where it is compiled,
//! once.
#![allow(non_ascii_idents)]

mod blocks;
mod dissection;
mod factor;
#[cfg(test)]
mod fixtures;
mod minimum_degree;
mod quotient;

pub use blocks::{Block, Neighbours, Pattern, Values};
pub use factor::Cholesky;
