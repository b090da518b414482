//! Reads and writes arrays of numbers in HDF5 files, without the C library.
//!
//! What other programs write is read: numbers in groups, stored in one piece or in chunks,
//! compressed or not. The whole file is in memory. Nothing in it is trusted: every address,
//! length and count is checked before it is used, so a file that is cut off, damaged or made to
//! do harm is an error that says where and what, never a panic, an endless loop or memory without
//! bounds.
//!
//! ```no_run
//! let file = barchan_hdf5::File::new(std::fs::read("problem.hdf5")?)?;
//! let q: Vec<f64> = file.dataset("fclib_local/vectors/q")?.numbers()?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! What is written is simpler: groups, attributes, and arrays in one piece ([`FilePlan`]).
//!
//! The layout of a file is that of the "HDF5 File Format Specification Version 3.0", whose
//! sections the modules name:
//!
//! | module | what |
//! |---|---|
//! | `superblock` | II: how a file begins, and where its root is |
//! | `header` | IV.A: an object is a list of messages |
//! | `group` | III.A to III.D, IV.A.2: names of objects, as a table of symbols or as links |
//! | `dense` | III.A.2, III.G: links of groups that have many |
//! | `dataspace`, `datatype`, `layout` | IV.A.2: the messages that describe an array |
//! | `chunks` | III.A.1, VII: where the chunks of an array are |
//! | `filters` | what was done to a chunk before it was written |
//! | `allowance` | how much a file may yield when that is undone |
//! | `dataset` | an array from all of these |
//! | `write` | the same from the other side |
//!
//! Deliberately absent: attributes of files that are read, strings and compound types, links to
//! other places and other files, groups of hundreds of links and chunks of arrays that may grow
//! without end (both in their newer forms only), data in other files, and HDF5 files that begin
//! behind something else. Each is refused by name. And writing in chunks, or compressed.

mod allowance;
mod bytes;
mod checksum;
mod chunks;
#[cfg(test)]
mod damage;
mod dataset;
mod dataspace;
mod datatype;
mod dense;
mod error;
mod file;
mod filters;
mod group;
mod header;
mod layout;
mod superblock;
mod write;

pub use dataset::Dataset;
pub use error::Error;
pub use file::File;
pub use superblock::SIGNATURE;
pub use write::{FilePlan, Number, Slot, Writer};
