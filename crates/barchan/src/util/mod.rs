//! What every stage leans on and none owns: values and columns as bytes, formulas of the time, processor time,
//! coordinates without gaps, and names that are like others.

pub mod bulk;
pub mod cpu;
pub mod formula;
pub mod gaps;
pub mod pack;
pub(crate) mod words;
