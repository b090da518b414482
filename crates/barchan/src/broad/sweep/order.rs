//! The order of the sweep, kept from search to search and repaired.
//!
//! Between two steps most bodies keep their place. Some pass their neighbour in a column, which insertion mends at
//! the cost of a few moves; a few go to another column, far away in the list, and are taken out and merged back
//! (`sort_again`). Work is bounded: insertion moves nobody farther than `REACH`, and where too much is out of
//! order, as after bodies have been re-ordered in memory, all of it is sorted by digits. Keys with their
//! bodies are a total order, so the past leaves no trace.

use barchan_parallel::{CHUNK, SortScratch, for_chunks_mut, reserve_with_slack, sort_again};

/// How far insertion moves a body at most.
const REACH: usize = 8;
/// Moves that insertion makes at most, per body of a chunk: in a list without order it gives up.
const MOVES: usize = 2;

/// Level, column and beginning of a box (`frame.rs`), and its body. Boxes of nothing have `NOTHING`.
pub(super) type Key = (u64, u32);

/// The key of a box of nothing, behind all others.
pub(super) const NOTHING: u64 = u64::MAX;

/// Every body in the order of the last sweep.
#[derive(Default)]
pub(super) struct Order {
    pub(super) keys: Vec<Key>,
    sort: SortScratch<Key>,
    bounded: usize,
}

impl Order {
    /// Makes sure that it holds each of `bodies` bodies once, those that it knows in the order that they have.
    pub(super) fn start(&mut self, bodies: usize) {
        let known = self.keys.len();
        if known > bodies {
            self.keys.retain(|key| (key.1 as usize) < bodies);
        } else {
            reserve_with_slack(&mut self.keys, bodies);
            self.keys.extend((known..bodies).map(|i| (NOTHING, i as u32)));
        }
    }

    /// Sorts keys that have changed.
    pub(super) fn repair(&mut self) {
        for_chunks_mut(&mut self.keys[..], CHUNK, |_, keys| insert(keys));
        sort_again(&mut self.keys, &mut self.sort, |key| key.0);
        self.bounded = self.keys.partition_point(|key| key.0 != NOTHING);
    }

    /// Those that have a box, in order.
    pub(super) fn bounded(&self) -> &[Key] {
        &self.keys[..self.bounded]
    }
}

/// Sorts by insertion what does not have to move far.
fn insert(keys: &mut [Key]) {
    let mut left = MOVES * keys.len();
    for k in 1..keys.len() {
        let key = keys[k];
        if keys[k - 1] <= key {
            continue;
        }
        let reach = k.saturating_sub(REACH)..k;
        let to = reach.clone().rev().take_while(|&j| keys[j] > key).last().unwrap_or(k);
        let belongs_here = to > reach.start || to == 0 || keys[to - 1] <= key;
        let moves = if belongs_here { k - to } else { REACH };
        if moves > left {
            return;
        }
        left -= moves;
        if belongs_here {
            keys.copy_within(to..k, to + 1);
            keys[to] = key;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn random(state: &mut u64, n: usize) -> usize {
        *state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (*state >> 33) as usize % n
    }

    #[test]
    fn insertion_mends_what_has_passed_its_neighbour() {
        let mut state = 1;
        let sorted: Vec<Key> = (0..1000u32).map(|i| (u64::from(i / 2), i)).collect();
        let mut keys = sorted.clone();
        for _ in 0..200 {
            let k = random(&mut state, 995);
            keys.swap(k, k + random(&mut state, 5));
        }
        insert(&mut keys);
        assert_eq!(keys, sorted);
    }

    /// Whatever has happened, repairing gives the sorted list, and insertion alone loses nobody.
    #[test]
    fn any_change_is_repaired() {
        let mut state = 5;
        let mut order = Order::default();
        for (bodies, changes) in
            [(3000, 3000), (3000, 10), (3000, 300), (2000, 2), (40_000, 100), (40_000, 9_000), (0, 0)]
        {
            order.start(bodies);
            for _ in 0..changes {
                let k = random(&mut state, bodies);
                order.keys[k].0 = if changes % 7 == 0 { NOTHING } else { random(&mut state, 10_000) as u64 };
            }
            let mut expected = order.keys.clone();
            expected.sort_unstable();
            let mut inserted = order.keys.clone();
            inserted.chunks_mut(CHUNK).for_each(insert);
            inserted.sort_unstable();
            assert_eq!(inserted, expected);
            order.repair();
            assert_eq!(order.keys, expected);
            let mut known: Vec<u32> = order.keys.iter().map(|key| key.1).collect();
            known.sort_unstable();
            assert!(known.into_iter().eq(0..bodies as u32));
            assert!(order.bounded().iter().all(|key| key.0 != NOTHING));
        }
    }
}
