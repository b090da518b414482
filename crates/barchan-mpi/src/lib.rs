//! Ranks of Barchan as processes of an MPI job.
//!
//! `MpiCommunicator` is all there is. The feature `mpi` switches it on; without it this crate is
//! empty, so that machines without MPI build all the rest.

#[cfg(feature = "mpi")]
mod communicator;
#[cfg(feature = "mpi")]
mod idle;
#[cfg(feature = "mpi")]
mod last_words;

#[cfg(feature = "mpi")]
pub use communicator::{MpiCommunicator, MpiError};
