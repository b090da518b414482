//! Contact problems in files: Barchan's own text format, matrices as text, and FCLIB's HDF5.

pub(crate) mod fclib;
pub mod load;
pub(crate) mod matrix;
pub mod text;
