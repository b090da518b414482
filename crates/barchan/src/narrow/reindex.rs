//! Contacts follow their bodies: when these are re-ordered, added, removed, or turn out to be images.

use super::{Contacts, FeatureKey};
use crate::world::Bodies;
use barchan_cone::ContactVec;
use glam::DVec3;

/// Where a contact goes: general ones behind round ones, then by bodies and key.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Move {
    is_general: bool,
    pair: [u32; 2],
    key: FeatureKey,
    /// Where it was, and whether its bodies have changed places.
    from: u32,
    is_reversed: bool,
}

impl Contacts {
    /// Follows a re-ordering of bodies, of which there were `before`: the body at `order[i]` has moved to
    /// index `i`, and those that are not in the order are gone. `bodies` are in their new order already.
    /// Contacts of bodies that are gone go with them.
    pub(crate) fn reindex(&mut self, order: &[u32], before: usize, bodies: &Bodies) {
        let mut place = vec![u32::MAX; before];
        for (new, &old) in order.iter().enumerate() {
            place[old as usize] = new as u32;
        }
        let round = self.round();
        let moved = (0..self.len()).filter_map(|k| {
            let [a, b] = self.pairs[k].map(|j| place.get(j as usize).copied().unwrap_or(u32::MAX));
            if a.max(b) == u32::MAX {
                return None;
            }
            // A is the body of smaller index, and never a wall.
            let is_reversed = a > b && !bodies.is_wall(b as usize);
            let (pair, key) = if is_reversed { ([b, a], self.keys[k].reversed()) } else { ([a, b], self.keys[k]) };
            Some(Move { is_general: k >= round, pair, key, from: k as u32, is_reversed })
        });
        let mut moved: Vec<Move> = moved.collect();
        moved.sort_unstable();
        self.rearrange(&moved, order.len());
    }

    /// Gives other indices to bodies: those from `count` on are others by another name.
    pub(crate) fn map_bodies(&mut self, name: impl Fn(u32) -> u32, count: usize) {
        let starts = self.start.iter_mut().filter(|start| !start.is_empty());
        let in_order = starts.map(|start| {
            let end = start.last().copied();
            start.truncate(count + 1);
            start.last().copied() == end
        });
        let in_order = in_order.fold(true, |all, one| all & one);
        for pair in &mut self.pairs {
            *pair = pair.map(&name);
        }
        if in_order {
            return;
        }
        // Bodies A with another name: rare.
        let round = self.round();
        let all = self.pairs.iter().zip(&self.keys).enumerate();
        let mut moved: Vec<Move> = all
            .map(|(k, (&pair, &key))| Move { is_general: k >= round, pair, key, from: k as u32, is_reversed: false })
            .collect();
        moved.sort_by_key(|contact| (contact.is_general, contact.pair[0]));
        self.rearrange(&moved, count);
    }

    /// Brings all columns into a new order, among so many bodies.
    fn rearrange(&mut self, moved: &[Move], bodies: usize) {
        let round = self.round();
        let turned = |v: DVec3, contact: &Move| if contact.is_reversed { -v } else { v };
        let vectors = |from: &ContactVec| {
            let values: Vec<_> = moved.iter().map(|contact| turned(from.get(contact.from as usize), contact)).collect();
            ContactVec::from_slice(&values)
        };
        self.normals = vectors(&self.normals);
        if self.impulses.len() == self.pairs.len() {
            self.impulses = vectors(&self.impulses);
        }
        let general = || moved.iter().filter(|contact| contact.is_general);
        let arms = [0, 1].map(|side| {
            let arm =
                |contact: &Move| self.arms[side ^ usize::from(contact.is_reversed)].get(contact.from as usize - round);
            ContactVec::from_slice(&general().map(arm).collect::<Vec<_>>())
        });
        self.arms = arms;
        if self.gaps.len() == self.pairs.len() {
            self.gaps = moved.iter().map(|contact| self.gaps[contact.from as usize]).collect();
        }
        let shift = |(i, contact): (u32, &Move)| {
            let shift = self.shift(contact.from as usize)?;
            Some((i, if contact.is_reversed { shift.map(|x| -x) } else { shift }))
        };
        self.shifts = if self.shifts.is_empty() { Vec::new() } else { (0..).zip(moved).filter_map(shift).collect() };
        self.pairs = moved.iter().map(|contact| contact.pair).collect();
        self.keys = moved.iter().map(|contact| contact.key).collect();
        self.list_by_body(bodies);
    }

    /// Finds the lists of contacts by body A from the pairs.
    pub(super) fn list_by_body(&mut self, bodies: usize) {
        let round = self.round();
        let sections = [(0, &self.pairs[..round]), (round, &self.pairs[round..])];
        for (start, (first, pairs)) in self.start.iter_mut().zip(sections) {
            start.clear();
            if first > 0 && pairs.is_empty() || bodies == 0 {
                continue;
            }
            start.resize(bodies + 1, 0);
            pairs.iter().for_each(|pair| start[pair[0] as usize + 1] += 1);
            start[0] = first as u32;
            for a in 0..bodies {
                start[a + 1] += start[a];
            }
        }
        if self.arms[0].is_empty() {
            self.start[1].clear();
        }
    }
}
