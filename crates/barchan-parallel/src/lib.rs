//! Parallel loops, folds and sorts whose results do not depend on the number of threads.

mod chunks;
mod memory;
mod sort;

pub use chunks::{
    CHUNK, Columns, Disjoint, chunk_range, exclusive_scan, fold_chunks, fold_chunks_mut, for_chunks, for_chunks_mut,
};
pub use memory::{ScratchPool, prefetch, reserve_with_slack, reshape};
pub use sort::{SortScratch, sort, sort_again};
