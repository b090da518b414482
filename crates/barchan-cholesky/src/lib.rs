//! Sparse Cholesky factorisations of symmetric matrices made of small dense blocks.
//!
//! An order of elimination that makes little fill is found by nested dissection (`dissection`) or
//! by approximate minimum degree (`minimum_degree`, `quotient`). From its elimination tree (`tree`)
//! follow supernodes (`supernodes`, `symbolic`), dense parts of the factor. They are factored in panels (`panel`), each
//! of which is subtracted from what is right of it (`update`), by a dense kernel (`dense`, `x86`)
//! that all the work comes down to.
//!
//! Nothing but the standard library is needed: what this crate does not do (other kinds of numbers,
//! of matrices, of factorisations; threads) would take longer to compile than all of Barchan.
#![allow(non_ascii_idents)]
// Small dense matrices are written with the indices that they have on paper.
#![allow(clippy::needless_range_loop)]

mod blocks;
mod dense;
mod dissection;
mod factor;
#[cfg(test)]
mod fixtures;
mod minimum_degree;
mod panel;
mod quotient;
mod solve;
mod supernodes;
mod symbolic;
mod tree;
mod update;
#[cfg(target_arch = "x86_64")]
mod x86;

pub use blocks::{Block, Neighbours, Pattern, Values};
pub use factor::Cholesky;
