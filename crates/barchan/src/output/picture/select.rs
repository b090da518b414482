//! The k-th smallest number of all ranks, where nobody holds all numbers.
//!
//! Numbers are narrowed down byte by byte, from the highest: ranks count theirs by the next byte,
//! add up the counts, and keep those with the byte in which the k-th lies. Eight reductions find it
//! to the last bit, and after the first of them few numbers are left to look at.

use crate::comm::{Communicator, Reduction};

/// Bits that sort like the number (the order of `f64::total_cmp`).
fn key(x: f64) -> u64 {
    let bits = x.to_bits();
    if bits >> 63 == 1 { !bits } else { bits | 1 << 63 }
}

fn number(key: u64) -> f64 {
    f64::from_bits(if key >> 63 == 1 { key & !(1 << 63) } else { !key })
}

/// The number of index `k` in the sorted list of all ranks' `values`; `k` is less than their number.
pub(super) fn nth(comm: &mut dyn Communicator, values: impl Iterator<Item = f64>, mut k: u64) -> f64 {
    let mut left: Vec<u64> = values.map(key).collect();
    let mut found = 0;
    for shift in (0..8).rev().map(|byte| 8 * byte) {
        let mut counts = [0.0; 256];
        left.iter().for_each(|key| counts[(key >> shift & 0xff) as usize] += 1.0);
        comm.all_reduce(Reduction::Sum, &mut counts);
        let mut byte = 0;
        while byte < 255 && k >= counts[byte as usize] as u64 {
            k -= counts[byte as usize] as u64;
            byte += 1;
        }
        left.retain(|key| key >> shift & 0xff == byte);
        found |= byte << shift;
    }
    number(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::comm::{Solo, threads};

    #[test]
    fn it_is_what_sorting_all_would_give() {
        let mut values: Vec<f64> = (0..500u32).map(|k| f64::from(k.wrapping_mul(2_654_435_761)) * 1e-9 - 2.0).collect();
        values.extend([0.0, -0.0, 1.5, 1.5, f64::INFINITY, f64::NEG_INFINITY, 1e-310]);
        let mut sorted = values.clone();
        sorted.sort_by(f64::total_cmp);
        for k in (0..values.len()).step_by(23).chain([values.len() - 1]) {
            let expected = sorted[k].to_bits();
            assert_eq!(nth(&mut Solo, values.iter().copied(), k as u64).to_bits(), expected);
            let found = threads::run(3, 1, |mut comm| {
                // One rank has nothing.
                let mine = |i: &usize| if i.is_multiple_of(7) { 0 } else { 2 };
                let rank = comm.rank();
                let own = (0..values.len()).filter(|i| mine(i) == rank).map(|i| values[i]);
                nth(&mut *comm, own, k as u64).to_bits()
            });
            assert_eq!(found, Ok(vec![expected; 3]));
        }
    }
}
