//! Who holds which body, and who treats which contact (S4 6.2).
//!
//! A body's holders are listed in full on each of them: the owner's list, sent to all. Who treats a
//! contact follows from the two lists and from nothing else, so that every holder comes to the same
//! answer: not from the place of the contact, which rounding would move over a border on one rank
//! and not on another.

use crate::partition::Seat;
use crate::util::bulk::Keep;
use crate::util::pack::{Pack, Unpacker};
use crate::world::{Bodies, Standing};

/// No entry: only this rank has the body, and once.
pub(super) const NONE: u32 = u32::MAX;
/// No entry either: every rank has the body.
pub(super) const EVERYWHERE: u32 = u32::MAX - 1;

/// A body with more than one holder.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Entry {
    /// Its id.
    pub(super) id: u64,
    /// Its index on this rank.
    pub(super) body: u32,
    /// The rank that owns it.
    pub(super) owner: u32,
    /// By how many periods this rank has it shifted.
    pub(super) shift: [i8; 3],
    /// Its seats, as a range.
    from: u32,
    to: u32,
}

/// The holders of all bodies that have more than one.
#[derive(Clone, Debug, Default)]
pub(super) struct Seats {
    /// Ascending by id once sorted.
    pub(super) entries: Vec<Entry>,
    seats: Vec<Seat>,
    /// The entry of each body, or [`NONE`], or [`EVERYWHERE`].
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

impl Seats {
    /// Forgets everybody.
    pub(super) fn clear(&mut self) {
        self.entries.clear();
        self.seats.clear();
        self.of_body.clear();
    }

    /// Notes a body with its seats, which ascend. This rank has it at the first of its own seats, or
    /// where the owner has it.
    pub(super) fn add(&mut self, id: u64, body: u32, owner: u32, seats: &[Seat], rank: u32) {
        let from = self.seats.len() as u32;
        self.seats.extend_from_slice(seats);
        let here = seats.iter().find(|seat| seat.rank == rank);
        let shift = if owner == rank { [0; 3] } else { here.map_or([0; 3], |seat| seat.shift) };
        self.entries.push(Entry { id, body, owner, shift, from, to: self.seats.len() as u32 });
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
    pub(super) fn follow(&mut self, place: impl Fn(u32) -> Option<u32>, bodies: usize) {
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
    pub(super) fn keep(&self, out: &mut Vec<u8>) {
        (self.entries.len() as u64).pack(out);
        for entry in &self.entries {
            entry.id.pack(out);
            [entry.body, entry.owner].pack(out);
            entry.shift.pack(out);
            (self.of(entry).len() as u32).pack(out);
            for seat in self.of(entry) {
                seat.rank.pack(out);
                seat.shift.pack(out);
            }
        }
        self.of_body.keep(out);
    }

    /// Takes back what [`Seats::keep`] wrote, for so many bodies.
    pub(super) fn restore(from: &mut Unpacker<'_>, bodies: usize) -> Option<Self> {
        let mut this = Self::default();
        for _ in 0..from.take::<u64>()? {
            let (id, [body, owner], shift) = (from.take()?, from.take::<[u32; 2]>()?, from.take()?);
            let start = this.seats.len() as u32;
            for _ in 0..from.take::<u32>()? {
                this.seats.push(Seat { rank: from.take()?, shift: from.take()? });
            }
            this.entries.push(Entry { id, body, owner, shift, from: start, to: this.seats.len() as u32 });
        }
        this.of_body = Vec::restore(from)?;
        let count = this.entries.len();
        let is_listed = |(k, entry): (usize, &Entry)| this.of_body.get(entry.body as usize) == Some(&(k as u32));
        let is_sound = this.of_body.len() <= bodies
            && this.of_body.iter().all(|&k| k == NONE || k == EVERYWHERE || (k as usize) < count)
            && this.entries.iter().enumerate().all(is_listed)
            && this.entries.iter().all(|entry| is_near(entry.shift) && this.of(entry).is_sorted())
            && this.seats.iter().all(|seat| is_near(seat.shift))
            && this.entries.is_sorted_by_key(|entry| entry.id);
        is_sound.then_some(this)
    }

    /// Whether they can be the lists of a rank of so many, whose bodies these are: it owns what is its own.
    pub(super) fn suit(&self, [rank, ranks]: [u32; 2], bodies: &Bodies) -> bool {
        self.entries.iter().all(|entry| {
            let is_own = bodies.standing[entry.body as usize] == Standing::Own;
            entry.owner < ranks && is_own == (entry.owner == rank)
        }) && self.seats.iter().all(|seat| seat.rank < ranks)
    }

    /// The seats of an entry, ascending.
    #[inline]
    pub(super) fn of(&self, entry: &Entry) -> &[Seat] {
        &self.seats[entry.from as usize..entry.to as usize]
    }

    /// The entry of a body.
    #[inline]
    pub(super) fn entry(&self, body: u32) -> Option<&Entry> {
        self.of_body.get(body as usize).and_then(|&k| self.entries.get(k as usize))
    }

    /// The entry of an id.
    pub(super) fn find(&self, id: u64) -> Option<&Entry> {
        self.entries.binary_search_by_key(&id, |entry| entry.id).ok().map(|k| &self.entries[k])
    }

    /// The seat that treats the contact of two bodies, where the first has it: of all ranks that hold
    /// both at this distance, one that owns a body rather than another, then the smallest. The first
    /// body is that of the smaller id; `apart` is the shift of the second less that of the first.
    pub(super) fn treater(&self, a: &Entry, b: &Entry, apart: [i8; 3]) -> Option<Seat> {
        let owns = |seat: &Seat, entry: &Entry| seat.rank == entry.owner && seat.shift == [0; 3];
        let theirs = self.of(b);
        let witness = |seat: &Seat| {
            let other = Seat { rank: seat.rank, shift: plus(seat.shift, apart) };
            theirs.binary_search(&other).is_ok().then(|| (!(owns(seat, a) || owns(&other, b)), *seat))
        };
        self.of(a).iter().filter_map(witness).min().map(|(_, seat)| seat)
    }

    /// Whether this rank treats the contact of two bodies that it has at these shifts.
    pub(super) fn treats(&self, rank: u32, a: (&Entry, [i8; 3]), b: (&Entry, [i8; 3])) -> bool {
        let (a, b) = if a.0.id < b.0.id { (a, b) } else { (b, a) };
        self.treater(a.0, b.0, minus(b.1, a.1)) == Some(Seat { rank, shift: a.1 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seat(rank: u32, x: i8) -> Seat {
        Seat { rank, shift: [x, 0, 0] }
    }

    #[test]
    fn every_contact_has_one_treater() {
        let mut seats = Seats::default();
        seats.add(4, 0, 2, &[seat(1, 0), seat(2, 0)], 2);
        seats.add(7, 1, 1, &[seat(1, 0), seat(2, 0), seat(3, 0)], 2);
        seats.add(9, 2, 3, &[seat(0, 0), seat(1, 0), seat(3, 0)], 2);
        seats.sort(3);
        let entry = |body| *seats.entry(body).unwrap();
        let treater = |a, b| seats.treater(&entry(a), &entry(b), [0; 3]).map(|seat| seat.rank);
        // Both owners hold both: the smaller. One owner does: it. None does: the smallest.
        assert_eq!(treater(0, 1), Some(1));
        assert_eq!(treater(1, 2), Some(1));
        assert_eq!(treater(0, 2), Some(1));
        let treats = |rank, a, b| seats.treats(rank, (&entry(a), [0; 3]), (&entry(b), [0; 3]));
        for (a, b) in [(0, 1), (1, 2), (0, 2)] {
            assert_eq!((0..4).filter(|&rank| treats(rank, a, b)).count(), 1);
            assert!((0..4).all(|rank| treats(rank, a, b) == treats(rank, b, a)));
        }
    }

    #[test]
    fn a_contact_across_a_periodic_border_is_treated_once() {
        // One rank, a period long: the first at its low end, the second at its high end.
        let mut seats = Seats::default();
        seats.add(1, 0, 0, &[seat(0, 0), seat(0, 1)], 0);
        seats.add(2, 1, 0, &[seat(0, -1), seat(0, 0)], 0);
        seats.sort(2);
        let (a, b) = (*seats.entry(0).unwrap(), *seats.entry(1).unwrap());
        let pairs = [(0, -1), (1, 0), (0, 0), (1, -1)];
        let treated: Vec<_> =
            pairs.into_iter().filter(|&(s, t)| seats.treats(0, (&a, [s, 0, 0]), (&b, [t, 0, 0]))).collect();
        // Across the border once, seen from either side. Within the cell, and two periods apart where
        // they never touch, it would be another contact.
        assert_eq!(treated, [(0, -1), (0, 0), (1, -1)]);
    }

    #[test]
    fn entries_follow_their_bodies() {
        let mut seats = Seats::default();
        seats.add(5, 0, 0, &[seat(0, 0), seat(1, 0)], 0);
        seats.add(3, 1, 0, &[seat(0, 0), seat(1, 0)], 0);
        seats.sort(4);
        seats.follow(|body| (body == 1).then_some(2), 3);
        assert_eq!((seats.find(3).map(|e| e.body), seats.find(5)), (Some(2), None));
        assert!(seats.entry(0).is_none() && seats.entry(2).is_some());
    }
}
