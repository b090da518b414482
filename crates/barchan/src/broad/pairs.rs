//! Candidate pairs in canonical order: grouped by the smaller index, ascending.
//!
//! Every broad phase emits pairs in an order of its own; this brings them into one order, so
//! that all that follows, to the last bit, does not depend on which broad phase found them.

use barchan_parallel::{CHUNK, Disjoint, chunk_range, exclusive_scan, reshape};
use rayon::prelude::*;

/// Bodies a bucket of the first, coarse sort.
const BUCKET: usize = 1024;

/// Candidate pairs (a, b) with a < b, grouped by a, ascending.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pairs {
    /// `second[start[a]..start[a + 1]]` are the partners of `a`.
    start: Vec<u32>,
    second: Vec<u32>,
}

/// Pairs as tasks emit them, a list a task, and memory for sorting them.
#[derive(Default)]
pub struct Emitted {
    /// One list a task; a pair is packed as `a << 32 | b`.
    pub lists: Vec<Vec<u64>>,
    counts: Vec<u32>,
    dealt: Vec<u64>,
}

/// Packs a pair with the smaller index first.
#[inline(always)]
pub fn pack(i: u32, j: u32) -> u64 {
    let (a, b) = if i < j { (i, j) } else { (j, i) };
    u64::from(a) << 32 | u64::from(b)
}

impl Emitted {
    /// Empties all lists and makes sure there are `tasks` of them.
    pub fn reset(&mut self, tasks: usize) {
        self.lists.resize_with(tasks.max(self.lists.len()), Vec::new);
        self.lists.iter_mut().for_each(Vec::clear);
    }

    /// Deals all pairs into buckets of bodies, and returns how many there are. Lists are nearly in order, so
    /// that they are dealt in runs.
    fn deal(&mut self, buckets: usize) -> usize {
        let lists = &self.lists;
        let bucket = |pair: u64| (pair >> 32) as usize / BUCKET;
        let same_bucket = |a: &u64, b: &u64| bucket(*a) == bucket(*b);

        // How many pairs each list has for each bucket, bucket-major.
        let counts = &mut self.counts;
        counts.clear();
        counts.resize(buckets * lists.len(), 0);
        {
            let cells = Disjoint::new(counts);
            lists.par_iter().enumerate().for_each(|(l, list)| {
                for run in list.chunk_by(same_bucket) {
                    let cell = bucket(run[0]) * lists.len() + l;
                    // SAFETY: column l belongs to list l alone.
                    unsafe { cells.range(cell..cell + 1)[0] += run.len() as u32 };
                }
            });
        }
        let total = exclusive_scan(counts);

        // Deal into buckets.
        let dealt = &mut self.dealt;
        reshape(dealt, total);
        {
            let out = Disjoint::new(dealt);
            let cells = Disjoint::new(counts);
            lists.par_iter().enumerate().for_each(|(l, list)| {
                for run in list.chunk_by(same_bucket) {
                    let cell = bucket(run[0]) * lists.len() + l;
                    // SAFETY: cell and places were given to list l alone.
                    unsafe {
                        let place = &mut cells.range(cell..cell + 1)[0];
                        let first = *place as usize;
                        out.range(first..first + run.len()).copy_from_slice(run);
                        *place += run.len() as u32;
                    }
                }
            });
        }
        total
    }
}

impl Pairs {
    /// Number of pairs.
    pub fn len(&self) -> usize {
        self.second.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.second.is_empty()
    }

    /// The partners of `a` that have a larger index, ascending.
    #[inline]
    pub fn of(&self, a: usize) -> &[u32] {
        &self.second[self.start[a] as usize..self.start[a + 1] as usize]
    }

    /// Drops pairs in place: `filter(memory, a, partners)` moves the partners to keep to the front and
    /// returns what goes to `kept[a]`. Runs in parallel over chunks of `CHUNK` bodies, each in order and with a
    /// memory of its own, which `begin` prepares.
    pub(crate) fn filter<M: Send>(
        &mut self,
        kept: &mut [u32],
        memory: &mut [M],
        begin: impl Fn(&mut M) + Sync,
        filter: impl Fn(&mut M, usize, &mut [u32]) -> u32 + Sync,
    ) {
        let n = self.start.len().saturating_sub(1);
        let start = &self.start;
        let second = Disjoint::new(&mut self.second);
        let chunks = kept[..n].par_chunks_mut(CHUNK).zip(memory).enumerate();
        chunks.for_each(|(c, (kept, memory))| {
            begin(memory);
            for (kept, a) in kept.iter_mut().zip(chunk_range(c, CHUNK, n)) {
                // SAFETY: ranges of different bodies are disjoint.
                let partners = unsafe { second.range(start[a] as usize..start[a + 1] as usize) };
                *kept = filter(memory, a, partners);
            }
        });
    }

    /// All pairs in order.
    pub fn iter(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        (0..self.start.len().saturating_sub(1)).flat_map(|a| self.of(a).iter().map(move |&b| (a as u32, b)))
    }

    /// Brings what was emitted about `bodies` bodies into canonical order.
    pub fn collect(&mut self, bodies: usize, emitted: &mut Emitted) {
        let total = emitted.deal(bodies.div_ceil(BUCKET).max(1));
        reshape(&mut self.start, bodies + 1);
        reshape(&mut self.second, total);
        if emitted.lists.is_empty() {
            self.start.fill(0);
            return;
        }
        self.sort_buckets(bodies, emitted);
        self.start[bodies] = u32::try_from(total).expect("fewer than 2^32 pairs");
    }

    /// Sorts what was dealt into buckets of bodies.
    fn sort_buckets(&mut self, bodies: usize, emitted: &Emitted) {
        // Each cell now holds its end: the end of a bucket is the end of its last list.
        let bucket_end = |b: usize| emitted.counts[(b + 1) * emitted.lists.len() - 1] as usize;

        // Sort each bucket by counting, then each body's few partners by insertion.
        let starts = Disjoint::new(&mut self.start);
        let seconds = Disjoint::new(&mut self.second);
        (0..bodies.div_ceil(BUCKET).max(1)).into_par_iter().for_each(|b| {
            let first = if b == 0 { 0 } else { bucket_end(b - 1) };
            let pairs = &emitted.dealt[first..bucket_end(b)];
            let mine = chunk_range(b, BUCKET, bodies);
            let mut place = [0u32; BUCKET + 1];
            for &pair in pairs {
                place[(pair >> 32) as usize - mine.start + 1] += 1;
            }
            for a in 0..mine.len() {
                place[a + 1] += place[a];
            }
            // SAFETY: buckets are disjoint, in bodies and in pairs.
            let (starts, seconds) = unsafe { (starts.range(mine.clone()), seconds.range(first..bucket_end(b))) };
            for (a, start) in starts.iter_mut().enumerate() {
                *start = first as u32 + place[a];
            }
            for &pair in pairs {
                let place = &mut place[(pair >> 32) as usize - mine.start];
                seconds[*place as usize] = pair as u32;
                *place += 1;
            }
            let mut from = 0;
            for &to in &place[..mine.len()] {
                seconds[from..to as usize].sort_unstable();
                from = to as usize;
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_order_of_emission_gives_the_same_lists() {
        let pairs: Vec<(u32, u32)> =
            (0..5000u32).map(|k| (k * 7919 % 3000, k * 104_729 % 3000)).filter(|p| p.0 != p.1).collect();
        let mut expected: Vec<_> = pairs.iter().map(|&(i, j)| (i.min(j), i.max(j))).collect();
        expected.sort_unstable();
        for lists in [1, 3, 10] {
            let mut emitted = Emitted::default();
            emitted.reset(lists);
            for (k, &(i, j)) in pairs.iter().enumerate() {
                emitted.lists[k % lists].push(pack(i, j));
            }
            let mut sorted = Pairs::default();
            sorted.collect(3000, &mut emitted);
            assert_eq!(sorted.iter().collect::<Vec<_>>(), expected);
        }
    }

    #[test]
    fn nothing_is_fine_too() {
        let mut pairs = Pairs::default();
        pairs.collect(0, &mut Emitted::default());
        pairs.collect(5, &mut Emitted::default());
        assert_eq!(pairs.of(4), [0u32; 0]);
    }
}
