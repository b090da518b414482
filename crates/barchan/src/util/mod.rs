//! What every stage leans on and none owns: values and columns as bytes, processor time, and coordinates without
//! gaps.

pub mod bulk;
pub mod cpu;
pub mod gaps;
pub mod pack;
