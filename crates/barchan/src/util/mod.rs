//! What every stage leans on and none owns: deterministic parallel loops and a parallel sort.

pub mod parallel;
pub mod sort;
