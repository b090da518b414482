//! What every stage leans on and none owns: deterministic parallel loops, a parallel sort, and
//! vectors of contact quantities.

pub mod lanes;
pub mod parallel;
pub mod sort;

/// Grows a vector's capacity a little beyond what is needed: the number of contacts creeps up
/// from step to step, and doubling would waste memory where there are millions.
pub(crate) fn reserve_with_slack<T>(v: &mut Vec<T>, needed: usize) {
    if v.capacity() < needed {
        let target = needed + needed / 16;
        v.reserve_exact(target.saturating_sub(v.len()));
    }
}
