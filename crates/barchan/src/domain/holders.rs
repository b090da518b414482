//! Which ranks hold which body, and to which of them each contact is assigned (S4 6.2).
//!
//! A body's holders are listed in full on each of them: the owner's list, sent to all. To whom a
//! contact is assigned follows from the two lists and from nothing else, so that every holder comes to the same
//! answer: not from the place of the contact, which rounding would move over a border on one rank
//! and not on another.

use crate::partition::Holder;
use crate::util::bulk::PackColumn;
use crate::util::pack::{Pack, Unpacker};
use crate::world::{Bodies, Ownership};

/// No entry: only this rank has the body, and once.
pub(super) const NONE: u32 = u32::MAX;
/// No entry either: every rank has the body.
pub(super) const GLOBAL: u32 = u32::MAX - 1;

/// A body with more than one holder.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct SharedEntry {
    /// Its id.
    pub(super) id: u64,
    /// Its index on this rank.
    pub(super) body: u32,
    /// The rank that owns it.
    pub(super) owner: u32,
    /// By how many periods this rank has it shifted.
    pub(super) shift: [i8; 3],
    /// Its holders, as a range.
    from: u32,
    to: u32,
}

/// The holders of all bodies that have more than one.
#[derive(Clone, Debug, Default)]
pub(super) struct HolderLists {
    /// Ascending by id once sorted.
    pub(super) entries: Vec<SharedEntry>,
    holders: Vec<Holder>,
    /// The entry of each body, or [`NONE`], or [`GLOBAL`].
    pub(super) of_body: Vec<u32>,
}

/// Whether a shift is as small as shifts and differences of shifts are: no sum of some of them overflows.
pub(super) fn is_near(shift: [i8; 3]) -> bool {
    shift.iter().all(|periods| (-4..=4).contains(periods))
}

/// The difference of two shifts.
#[inline]
pub(super) fn minus(a: [i8; 3], b: [i8; 3]) -> [i8; 3] {
    std::array::from_fn(|k| a[k] - b[k])
}

/// The sum of two shifts.
#[inline]
pub(super) fn plus(a: [i8; 3], b: [i8; 3]) -> [i8; 3] {
    std::array::from_fn(|k| a[k] + b[k])
}

impl HolderLists {
    /// Forgets everybody.
    pub(super) fn clear(&mut self) {
        self.entries.clear();
        self.holders.clear();
        self.of_body.clear();
    }

    /// Notes a body with its holders, which ascend. This rank has it where the first of the holders that it is has it, or
    /// where the owner has it.
    pub(super) fn add(&mut self, id: u64, body: u32, owner: u32, holders: &[Holder], rank: u32) {
        let from = self.holders.len() as u32;
        self.holders.extend_from_slice(holders);
        let here = holders.iter().find(|holder| holder.rank == rank);
        let shift = if owner == rank { [0; 3] } else { here.map_or([0; 3], |holder| holder.shift) };
        self.entries.push(SharedEntry { id, body, owner, shift, from, to: self.holders.len() as u32 });
    }

    /// Sorts entries by id, and lists them by body.
    pub(super) fn sort(&mut self, bodies: usize) {
        self.entries.sort_unstable_by_key(|entry| entry.id);
        self.list_bodies(bodies);
    }

    fn list_bodies(&mut self, bodies: usize) {
        self.of_body.clear();
        self.of_body.resize(bodies, NONE);
        for (k, entry) in self.entries.iter().enumerate() {
            self.of_body[entry.body as usize] = k as u32;
        }
    }

    /// Follows bodies to their new places. Those that have none are forgotten.
    pub(super) fn reindex(&mut self, place: impl Fn(u32) -> Option<u32>, bodies: usize) {
        self.entries.retain_mut(|entry| match place(entry.body) {
            Some(body) => {
                entry.body = body;
                true
            }
            None => false,
        });
        self.list_bodies(bodies);
    }

    /// Appends all lists.
    pub(super) fn write_snapshot(&self, out: &mut Vec<u8>) {
        (self.entries.len() as u64).pack(out);
        for entry in &self.entries {
            entry.id.pack(out);
            [entry.body, entry.owner].pack(out);
            entry.shift.pack(out);
            (self.of(entry).len() as u32).pack(out);
            for holder in self.of(entry) {
                holder.rank.pack(out);
                holder.shift.pack(out);
            }
        }
        self.of_body.pack_column(out);
    }

    /// Takes back what [`HolderLists::write_snapshot`] wrote, for so many bodies.
    pub(super) fn read_snapshot(from: &mut Unpacker<'_>, bodies: usize) -> Option<Self> {
        let mut this = Self::default();
        for _ in 0..from.take::<u64>()? {
            let (id, [body, owner], shift) = (from.take()?, from.take::<[u32; 2]>()?, from.take()?);
            let start = this.holders.len() as u32;
            for _ in 0..from.take::<u32>()? {
                this.holders.push(Holder { rank: from.take()?, shift: from.take()? });
            }
            this.entries.push(SharedEntry { id, body, owner, shift, from: start, to: this.holders.len() as u32 });
        }
        this.of_body = Vec::unpack_column(from)?;
        let count = this.entries.len();
        let is_listed = |(k, entry): (usize, &SharedEntry)| this.of_body.get(entry.body as usize) == Some(&(k as u32));
        let is_valid = this.of_body.len() <= bodies
            && this.of_body.iter().all(|&k| k == NONE || k == GLOBAL || (k as usize) < count)
            && this.entries.iter().enumerate().all(is_listed)
            && this.entries.iter().all(|entry| is_near(entry.shift) && this.of(entry).is_sorted())
            && this.holders.iter().all(|holder| is_near(holder.shift))
            && this.entries.is_sorted_by_key(|entry| entry.id);
        is_valid.then_some(this)
    }

    /// Whether they can be the lists of a rank of so many, whose bodies these are: it owns what is its own.
    pub(super) fn is_valid_for(&self, [rank, ranks]: [u32; 2], bodies: &Bodies) -> bool {
        self.entries.iter().all(|entry| {
            let is_own = bodies.ownership[entry.body as usize] == Ownership::Owned;
            entry.owner < ranks && is_own == (entry.owner == rank)
        }) && self.holders.iter().all(|holder| holder.rank < ranks)
    }

    /// The holders of an entry, ascending.
    #[inline]
    pub(super) fn of(&self, entry: &SharedEntry) -> &[Holder] {
        &self.holders[entry.from as usize..entry.to as usize]
    }

    /// The entry of a body.
    #[inline]
    pub(super) fn entry(&self, body: u32) -> Option<&SharedEntry> {
        self.of_body.get(body as usize).and_then(|&k| self.entries.get(k as usize))
    }

    /// The entry of an id.
    pub(super) fn find(&self, id: u64) -> Option<&SharedEntry> {
        self.entries.binary_search_by_key(&id, |entry| entry.id).ok().map(|k| &self.entries[k])
    }

    /// The holder to which the contact of two bodies is assigned, where the first has it: of all ranks that hold
    /// both at this distance, one that owns a body rather than another, then the smallest. The first
    /// body is that of the smaller id; `relative_shift` is the shift of the second less that of the first.
    pub(super) fn assignee(&self, a: &SharedEntry, b: &SharedEntry, relative_shift: [i8; 3]) -> Option<Holder> {
        let owns = |holder: &Holder, entry: &SharedEntry| holder.rank == entry.owner && holder.shift == [0; 3];
        let theirs = self.of(b);
        let witness = |holder: &Holder| {
            let other = Holder { rank: holder.rank, shift: plus(holder.shift, relative_shift) };
            theirs.binary_search(&other).is_ok().then(|| (!(owns(holder, a) || owns(&other, b)), *holder))
        };
        self.of(a).iter().filter_map(witness).min().map(|(_, holder)| holder)
    }

    /// Whether the contact of two bodies is assigned to this rank, which has them at these shifts.
    pub(super) fn is_assigned_to(&self, rank: u32, a: (&SharedEntry, [i8; 3]), b: (&SharedEntry, [i8; 3])) -> bool {
        let (a, b) = if a.0.id < b.0.id { (a, b) } else { (b, a) };
        self.assignee(a.0, b.0, minus(b.1, a.1)) == Some(Holder { rank, shift: a.1 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn holder(rank: u32, x: i8) -> Holder {
        Holder { rank, shift: [x, 0, 0] }
    }

    #[test]
    fn every_contact_has_one_assignee() {
        let mut holders = HolderLists::default();
        holders.add(4, 0, 2, &[holder(1, 0), holder(2, 0)], 2);
        holders.add(7, 1, 1, &[holder(1, 0), holder(2, 0), holder(3, 0)], 2);
        holders.add(9, 2, 3, &[holder(0, 0), holder(1, 0), holder(3, 0)], 2);
        holders.sort(3);
        let entry = |body| *holders.entry(body).unwrap();
        let assignee = |a, b| holders.assignee(&entry(a), &entry(b), [0; 3]).map(|holder| holder.rank);
        // Both owners hold both: the smaller. One owner does: it. None does: the smallest.
        assert_eq!(assignee(0, 1), Some(1));
        assert_eq!(assignee(1, 2), Some(1));
        assert_eq!(assignee(0, 2), Some(1));
        let is_assigned_to = |rank, a, b| holders.is_assigned_to(rank, (&entry(a), [0; 3]), (&entry(b), [0; 3]));
        for (a, b) in [(0, 1), (1, 2), (0, 2)] {
            assert_eq!((0..4).filter(|&rank| is_assigned_to(rank, a, b)).count(), 1);
            assert!((0..4).all(|rank| is_assigned_to(rank, a, b) == is_assigned_to(rank, b, a)));
        }
    }

    #[test]
    fn a_contact_across_a_periodic_border_is_treated_once() {
        // One rank, a period long: the first at its low end, the second at its high end.
        let mut holders = HolderLists::default();
        holders.add(1, 0, 0, &[holder(0, 0), holder(0, 1)], 0);
        holders.add(2, 1, 0, &[holder(0, -1), holder(0, 0)], 0);
        holders.sort(2);
        let (a, b) = (*holders.entry(0).unwrap(), *holders.entry(1).unwrap());
        let pairs = [(0, -1), (1, 0), (0, 0), (1, -1)];
        let assigned: Vec<_> =
            pairs.into_iter().filter(|&(s, t)| holders.is_assigned_to(0, (&a, [s, 0, 0]), (&b, [t, 0, 0]))).collect();
        // Across the border once, seen from either side. Within the cell, and two periods apart where
        // they never touch, it would be another contact.
        assert_eq!(assigned, [(0, -1), (0, 0), (1, -1)]);
    }

    #[test]
    fn entries_follow_their_bodies() {
        let mut holders = HolderLists::default();
        holders.add(5, 0, 0, &[holder(0, 0), holder(1, 0)], 0);
        holders.add(3, 1, 0, &[holder(0, 0), holder(1, 0)], 0);
        holders.sort(4);
        holders.reindex(|body| (body == 1).then_some(2), 3);
        assert_eq!((holders.find(3).map(|e| e.body), holders.find(5)), (Some(2), None));
        assert!(holders.entry(0).is_none() && holders.entry(2).is_some());
    }
}
