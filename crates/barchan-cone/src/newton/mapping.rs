//! A function over all contacts, in parallel, and the sums of what it returns in a fixed order.

use super::{Fold, Unknown};
use crate::ContactVec;
use crate::lanes::LANES;
use crate::operator::contactwise::BLOCK_CHUNK;
use barchan_parallel::{Disjoint, fold_chunks};
use glam::DVec3;
use std::ops::Range;

/// Runs `body` on every contact; `unknown` tells what stands at an index.
pub(crate) fn over_contacts<const N: usize, const M: usize>(
    unknown: impl Fn(usize) -> Unknown + Sync,
    contacts: usize,
    slots: &mut Vec<Fold>,
    read: [&ContactVec; N],
    write: [&mut ContactVec; M],
    body: impl Fn(&Unknown, [DVec3; N], &mut [DVec3; M]) -> Fold + Sync,
) -> Fold {
    let out = write.map(|v| Disjoint::new(v.blocks_mut()));
    let chunk = |range: Range<usize>| {
        // SAFETY: chunks are disjoint.
        let mut out = out.each_ref().map(|v| unsafe { v.range(range.clone()) });
        let mut sum = Fold::default();
        for i in range.start * LANES..(range.end * LANES).min(contacts) {
            let (block, lane) = (i / LANES - range.start, i % LANES);
            let mut values: [DVec3; M] = std::array::from_fn(|k| out[k][block].lane(lane));
            sum = sum.and(body(&unknown(i), std::array::from_fn(|k| read[k].get(i)), &mut values));
            (0..M).for_each(|k| out[k][block].set_lane(lane, values[k]));
        }
        sum
    };
    fold_chunks(contacts.div_ceil(LANES), BLOCK_CHUNK, slots, Fold::default(), chunk, Fold::and)
}
