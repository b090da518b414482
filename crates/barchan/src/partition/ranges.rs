//! Ranges of Morton keys, and which of them a box of cells meets.
//!
//! Keys of a box's cells lie between those of its lowest and its highest corner. So a box whose
//! corners are in one range is in it; any other is cut in two at the highest bit in which the
//! corners' keys differ, as the curve's own tree would. Both halves then are boxes again, and
//! all keys of the one come before all of the other.
//!
//! Only octants that a range begins in are cut further, one a level and range: the fineness of
//! cells costs next to nothing.

use super::curve::{Cells, END};
use crate::world::reorder::morton_key;

/// Who has a range that is nobody's, or of someone unknown.
const NOBODY: u32 = u32::MAX;

/// Ranges of keys, one after the other.
#[derive(Clone, Debug)]
pub(super) struct Ranges {
    /// Where ranges begin; the first at 0. Each ends where the next begins.
    starts: Vec<u64>,
    /// Whose they are; ascending but for those of nobody.
    owners: Vec<u32>,
}

impl Ranges {
    /// Ranges (owner, start, end), ascending and disjoint; what is between is nobody's.
    pub(super) fn new(ranges: impl IntoIterator<Item = (u32, u64, u64)>) -> Self {
        let mut this = Self { starts: Vec::new(), owners: Vec::new() };
        let mut end = 0;
        for (owner, start, next) in ranges.into_iter().filter(|(_, start, end)| start < end) {
            if end < start {
                this.push(NOBODY, end);
            }
            this.push(owner, start);
            end = next;
        }
        if end < END {
            this.push(NOBODY, end);
        }
        this
    }

    fn push(&mut self, owner: u32, start: u64) {
        self.owners.push(owner);
        self.starts.push(start);
    }

    /// Which range a key is in.
    #[inline]
    fn at(&self, key: u64) -> usize {
        self.starts.partition_point(|&start| start <= key) - 1
    }

    /// Whose range a key is in.
    #[inline]
    pub(super) fn owner(&self, key: u64) -> Option<u32> {
        let owner = self.owners[self.at(key)];
        (owner != NOBODY).then_some(owner)
    }

    /// Calls `found` once for each owner of a cell of the box, ascending.
    pub(super) fn meeting(&self, cells: Cells, found: &mut dyn FnMut(u32)) {
        self.search(cells, &mut 0, found);
    }

    /// Whether every cell of the box is somebody's.
    pub(super) fn cover(&self, cells: Cells) -> bool {
        let low = morton_key(cells.low);
        let high = morton_key(cells.high);
        let first = self.at(low);
        let last = self.at(high);
        let nobody = |range: usize| self.owners[range] == NOBODY;
        if !(first..=last).any(nobody) {
            return true;
        }
        if nobody(first) || nobody(last) || high - low + 1 == cells.count() {
            return false;
        }
        let [below, above] = halves(cells, low, high);
        self.cover(below) && self.cover(above)
    }

    /// Searches a box. Ranges before `next` were told of, or are not met.
    fn search(&self, cells: Cells, next: &mut usize, found: &mut dyn FnMut(u32)) {
        let low = morton_key(cells.low);
        let high = morton_key(cells.high);
        let first = self.at(low);
        let last = self.at(high);
        // The corners are cells of the box themselves.
        self.tell(first, next, found);
        // Ranges between lie in the box, or in what the curve visits outside of it.
        if ((first + 1).max(*next)..last).any(|range| self.owners[range] != NOBODY) {
            if high - low + 1 > cells.count() {
                let [below, above] = halves(cells, low, high);
                self.search(below, next, found);
                return self.search(above, next, found);
            }
            for range in first + 1..last {
                self.tell(range, next, found);
            }
        }
        self.tell(last, next, found);
    }

    /// Tells of a range that is met, unless it was told of.
    #[inline]
    fn tell(&self, range: usize, next: &mut usize, found: &mut dyn FnMut(u32)) {
        if range >= *next {
            *next = range + 1;
            if self.owners[range] != NOBODY {
                found(self.owners[range]);
            }
        }
    }
}

/// Cuts a box in two where the keys of its corners differ first.
fn halves(cells: Cells, low: u64, high: u64) -> [Cells; 2] {
    let bit = (low ^ high).ilog2();
    let axis = (bit % 3) as usize;
    let mask = (1 << (bit / 3)) - 1;
    let mut below = cells;
    let mut above = cells;
    above.low[axis] = cells.high[axis] & !mask;
    below.high[axis] = above.low[axis] - 1;
    [below, above]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A range of nobody's keys among others, given where each begins.
    fn ranges(starts: &[u64], unknown: u32) -> Ranges {
        let ends = starts.iter().skip(1).copied().chain([END]);
        let all = starts.iter().copied().zip(ends).zip(0..).map(|((start, end), rank)| (rank, start, end));
        Ranges::new(all.filter(|range| range.0 != unknown))
    }

    #[test]
    fn there_may_be_no_ranges() {
        let none = Ranges::new([(0, 0, 0), (1, 5, 5)]);
        assert_eq!(none.owner(5), None);
        none.meeting(Cells { low: [0; 3], high: [9; 3] }, &mut |_| panic!("nobody is there"));
    }

    proptest! {
        #[test]
        fn a_box_meets_the_owners_of_its_cells(
            mut starts in prop::collection::vec(0u64..1 << 12, 0..40),
            unknown in 0u32..40,
            low in prop::array::uniform3(0u32..16),
            size in prop::array::uniform3(0u32..12),
        ) {
            starts.push(0);
            starts.sort_unstable();
            let ranges = ranges(&starts, unknown);
            let cells = Cells { low, high: std::array::from_fn(|axis| low[axis] + size[axis]) };
            let mut slow = std::collections::BTreeSet::new();
            let mut whole = true;
            for z in cells.low[2]..=cells.high[2] {
                for y in cells.low[1]..=cells.high[1] {
                    for x in cells.low[0]..=cells.high[0] {
                        let key = morton_key([x, y, z]);
                        let owner = starts.iter().rposition(|&start| start <= key).unwrap() as u32;
                        prop_assert_eq!(ranges.owner(key), (owner != unknown).then_some(owner));
                        whole &= owner != unknown;
                        slow.extend((owner != unknown).then_some(owner));
                    }
                }
            }
            prop_assert_eq!(ranges.cover(cells), whole);
            let mut fast = Vec::new();
            ranges.meeting(cells, &mut |rank| fast.push(rank));
            prop_assert_eq!(fast, slow.into_iter().collect::<Vec<_>>());
        }
    }
}
