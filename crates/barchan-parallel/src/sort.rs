//! A parallel sort for records that carry an integer key.
//!
//! One most-significant-digit pass deals the records into buckets, every chunk of the input
//! writing to its own places, and each bucket is then sorted on its own. The order is total,
//! so the result does not depend on the number of threads; scratch is reused between calls.

use crate::chunks::{Disjoint, chunk_range};
use rayon::prelude::*;

/// Records shorter than this are sorted by the standard library on one thread.
const SMALL: usize = 1 << 14;
/// Up to one descent in so many records, a list counts as nearly sorted.
const FEW: usize = 16;
const DIGIT_BITS: u32 = 8;
const BUCKETS: usize = 1 << DIGIT_BITS;

/// Reusable memory of [`sort`].
#[derive(Default)]
pub struct SortScratch<T> {
    dealt: Vec<T>,
    counts: Vec<u32>,
}

/// Sorts `items` by their natural order; `key` must be monotone in it.
pub fn sort<T>(items: &mut Vec<T>, scratch: &mut SortScratch<T>, key: impl Fn(&T) -> u64 + Sync)
where
    T: Copy + Ord + Send + Sync,
{
    let n = items.len();
    if n < SMALL {
        items.sort_unstable();
        return;
    }
    let (low, high) = items
        .par_iter()
        .with_min_len(SMALL)
        .fold(|| (u64::MAX, 0), |(l, h), t| (l.min(key(t)), h.max(key(t))))
        .reduce(|| (u64::MAX, 0), |a, b| (a.0.min(b.0), a.1.max(b.1)));
    let shift = (u64::BITS - (high - low).leading_zeros()).saturating_sub(DIGIT_BITS);
    let digit = |t: &T| ((key(t) - low) >> shift) as usize;

    // Count each chunk's digits, digit-major so that one scan gives every chunk its places.
    let chunks = 64.min(n / 1024);
    let length = n.div_ceil(chunks);
    let counts = &mut scratch.counts;
    counts.clear();
    counts.resize(BUCKETS * chunks, 0);
    {
        let cells = Disjoint::new(counts);
        let items = &*items;
        (0..chunks).into_par_iter().for_each(|c| {
            let mut local = [0u32; BUCKETS];
            for t in &items[chunk_range(c, length, n)] {
                local[digit(t)] += 1;
            }
            for (d, &count) in local.iter().enumerate() {
                // SAFETY: cell (d, c) belongs to chunk c alone.
                unsafe { cells.write(d * chunks + c, count) };
            }
        });
    }
    crate::chunks::exclusive_scan(counts);

    // Deal.
    let dealt = &mut scratch.dealt;
    dealt.clear();
    dealt.resize(n, items[0]);
    {
        let out = Disjoint::new(dealt);
        let (items, counts) = (&*items, &*counts);
        (0..chunks).into_par_iter().for_each(|c| {
            let mut next = [0u32; BUCKETS];
            for (d, next) in next.iter_mut().enumerate() {
                *next = counts[d * chunks + c];
            }
            for t in &items[chunk_range(c, length, n)] {
                let place = &mut next[digit(t)];
                // SAFETY: the scan gave chunk c these places of bucket d, and no one else.
                unsafe { out.write(*place as usize, *t) };
                *place += 1;
            }
        });
    }

    // Sort each bucket.
    {
        let out = Disjoint::new(dealt);
        let counts = &*counts;
        (0..BUCKETS).into_par_iter().for_each(|d| {
            let start = counts[d * chunks] as usize;
            let end = counts.get((d + 1) * chunks).map_or(n, |&e| e as usize);
            // SAFETY: buckets are disjoint.
            unsafe { out.range(start..end) }.sort_unstable();
        });
    }
    std::mem::swap(items, dealt);
}

/// Sorts what is likely to be nearly sorted, as after a small change: takes out what is out of
/// order, sorts that alone, and merges it back. Where too much is out of order it is as [`sort`].
pub fn sort_again<T>(items: &mut Vec<T>, scratch: &mut SortScratch<T>, key: impl Fn(&T) -> u64 + Sync)
where
    T: Copy + Ord + Send + Sync,
{
    let descents = items.par_windows(2).with_min_len(SMALL).filter(|w| w[1] < w[0]).count();
    if descents == 0 {
        return;
    }
    if descents > items.len() / FEW {
        return sort(items, scratch, key);
    }
    // Of every two that are out of order both are taken out: one of them is at fault.
    let (n, taken) = (items.len(), &mut scratch.dealt);
    taken.clear();
    let mut kept = 0;
    for i in 0..n {
        let item = items[i];
        if kept > 0 && item < items[kept - 1] {
            kept -= 1;
            taken.push(items[kept]);
            taken.push(item);
        } else {
            items[kept] = item;
            kept += 1;
        }
    }
    taken.sort_unstable();
    // Merge from the back: the free places are there.
    let mut to = n;
    for item in taken.iter().rev() {
        while kept > 0 && items[kept - 1] > *item {
            (to, kept) = (to - 1, kept - 1);
            items[to] = items[kept];
        }
        to -= 1;
        items[to] = *item;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sorts_like_the_standard_library() {
        let mut state = 1u64;
        for n in [0, 1, 1000, SMALL, 100_000] {
            for bits in [0, 3, 20, 63] {
                let mut items: Vec<(u64, u32)> = (0..n)
                    .map(|i| {
                        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                        (if bits == 0 { 7 } else { state >> (64 - bits) }, i as u32)
                    })
                    .collect();
                let mut expected = items.clone();
                expected.sort();
                sort(&mut items, &mut SortScratch::default(), |t| t.0);
                assert_eq!(items, expected);
            }
        }
    }

    #[test]
    fn a_nearly_sorted_list_is_sorted_again() {
        let mut state = 1u64;
        let mut random = move |n: usize| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 33) as usize % n
        };
        for n in [1, 2, 50, 40_000] {
            for swaps in [0, 1, n / 100, n / 10, n] {
                let mut items: Vec<(u64, u32)> = (0..n).map(|i| (i as u64 / 3, i as u32)).collect();
                let expected = items.clone();
                for _ in 0..swaps {
                    items.swap(random(n), random(n));
                }
                sort_again(&mut items, &mut SortScratch::default(), |t| t.0);
                assert_eq!(items, expected, "{n} records, {swaps} swaps");
            }
        }
    }
}
