//! Candidate pairs in canonical order: grouped by the smaller index, ascending.
//!
//! Every broad phase emits pairs in an order of its own; this brings them into one order, so
//! that all that follows, to the last bit, does not depend on which broad phase found them.

use barchan_parallel::{CHUNK, Disjoint, ScratchPool, chunk_range, exclusive_scan, reserve_with_slack, reshape};
use rayon::prelude::*;
use std::ops::Range;

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
    /// The pieces of each list once it is sorted by buckets.
    pieces: Vec<Vec<Piece>>,
    /// The pieces of each bucket: `placed[starts[b]..starts[b + 1]]`, with the list that each is of.
    placed: Vec<(u32, Piece)>,
    starts: Vec<u32>,
    /// Where the pairs of each bucket begin among all.
    firsts: Vec<u32>,
    scratch: ScratchPool<ListScratch>,
}

/// Pairs of one bucket that follow each other in a list.
#[derive(Clone, Copy, Default)]
struct Piece {
    bucket: u32,
    from: u32,
    to: u32,
}

impl Piece {
    fn range(&self) -> Range<usize> {
        self.from as usize..self.to as usize
    }

    fn len(&self) -> u32 {
        self.to - self.from
    }
}

/// What sorting a list needs on its way.
#[derive(Default)]
struct ListScratch {
    runs: Vec<Piece>,
    pairs: Vec<u64>,
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

    /// Sorts every list by buckets of bodies, finds the pieces of each bucket, and returns how many pairs there are.
    fn sort_lists(&mut self, buckets: usize) -> usize {
        let Self { lists, pieces, placed, starts, firsts, scratch } = self;
        let longest = lists.iter().map(Vec::len).max().unwrap_or(0);
        scratch.prepare(|scratch| scratch.reserve(longest));
        pieces.resize_with(lists.len(), Vec::new);
        lists.par_iter_mut().zip(&mut *pieces).for_each(|(list, pieces)| {
            scratch.lend(|scratch| sort_by_bucket(list, pieces, scratch));
        });

        // Pieces and pairs of each bucket are counted, and those before it give its place.
        starts.clear();
        starts.resize(buckets + 1, 0);
        firsts.clear();
        firsts.resize(buckets + 1, 0);
        for piece in pieces.iter().flatten() {
            starts[piece.bucket as usize] += 1;
            firsts[piece.bucket as usize] += piece.len();
        }
        reshape(placed, exclusive_scan(starts));
        for (list, pieces) in (0..).zip(&*pieces) {
            for &piece in pieces {
                let place = &mut starts[piece.bucket as usize];
                placed[*place as usize] = (list, piece);
                *place += 1;
            }
        }
        // Starts have become ends: each is the start of the next bucket.
        starts.rotate_right(1);
        starts[0] = 0;
        exclusive_scan(firsts)
    }

    /// The pairs of a bucket, in pieces.
    fn of_bucket(&self, b: usize) -> impl Iterator<Item = &[u64]> {
        let placed = &self.placed[self.starts[b] as usize..self.starts[b + 1] as usize];
        placed.iter().map(|(list, piece)| &self.lists[*list as usize][piece.range()])
    }
}

impl ListScratch {
    fn reserve(&mut self, pairs: usize) {
        reserve_with_slack(&mut self.runs, pairs);
        reserve_with_slack(&mut self.pairs, pairs);
    }
}

/// Sorts a list by buckets and finds its pieces. Lists are short enough for the cache and nearly in order, so
/// that pairs are moved in runs.
fn sort_by_bucket(list: &mut [u64], pieces: &mut Vec<Piece>, scratch: &mut ListScratch) {
    let ListScratch { runs, pairs } = scratch;
    let bucket = |pair: u64| (pair >> 32) as u32 / BUCKET as u32;
    runs.clear();
    let mut from = 0;
    for run in list.chunk_by(|&a, &b| bucket(a) == bucket(b)) {
        let to = from + run.len() as u32;
        runs.push(Piece { bucket: bucket(run[0]), from, to });
        from = to;
    }
    if !runs.is_sorted_by_key(|run| run.bucket) {
        runs.sort_unstable_by_key(|run| (run.bucket, run.from));
        pairs.clear();
        runs.iter().for_each(|run| pairs.extend_from_slice(&list[run.range()]));
        list.copy_from_slice(pairs);
    }
    pieces.clear();
    let mut from = 0;
    for same in runs.chunk_by(|a, b| a.bucket == b.bucket) {
        let to = from + same.iter().map(Piece::len).sum::<u32>();
        pieces.push(Piece { bucket: same[0].bucket, from, to });
        from = to;
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
        let buckets = bodies.div_ceil(BUCKET).max(1);
        let total = emitted.sort_lists(buckets);
        reshape(&mut self.start, bodies + 1);
        reshape(&mut self.second, total);
        self.sort_buckets(bodies, buckets, emitted);
        self.start[bodies] = u32::try_from(total).expect("fewer than 2^32 pairs");
    }

    /// Sorts the pairs of each bucket by counting, then each body's few partners by insertion.
    fn sort_buckets(&mut self, bodies: usize, buckets: usize, emitted: &Emitted) {
        let starts = Disjoint::new(&mut self.start);
        let seconds = Disjoint::new(&mut self.second);
        (0..buckets).into_par_iter().for_each(|b| {
            let [first, end] = [b, b + 1].map(|b| emitted.firsts[b] as usize);
            let mine = chunk_range(b, BUCKET, bodies);
            let mut place = [0u32; BUCKET + 1];
            for &pair in emitted.of_bucket(b).flatten() {
                place[(pair >> 32) as usize - mine.start + 1] += 1;
            }
            for a in 0..mine.len() {
                place[a + 1] += place[a];
            }
            // SAFETY: buckets are disjoint, in bodies and in pairs.
            let (starts, seconds) = unsafe { (starts.range(mine.clone()), seconds.range(first..end)) };
            for (a, start) in starts.iter_mut().enumerate() {
                *start = first as u32 + place[a];
            }
            for &pair in emitted.of_bucket(b).flatten() {
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
