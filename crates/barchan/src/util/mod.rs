//! What every stage leans on and none owns: values and columns as bytes, and processor time.

pub mod bulk;
pub mod cpu;
pub mod pack;
