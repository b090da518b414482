//! The contacts of a step: one value that holds them from detection to the frame.
//!
//! A contact has its two bodies, a feature key, a point, a normal, a gap, and after the solve an impulse.
//! Whoever needs them borrows this value: assembly, solver, frames, checkpoints, ranks. Round contacts
//! come first, then general ones (`barchan_cone::Geometry`), each section grouped by body A, ascending, in
//! the order of the candidate pairs, a body's walls after its neighbours.
//!
//! The lever arms of a round contact follow from its normal and need no memory; general contacts have theirs
//! stored. When the next step's contacts are found, what identifies the old ones and
//! their impulses are kept beside them, for the warm start.

use super::FeatureKey;
use super::detect::Scratch;
use crate::world::Bodies;
use barchan_cone::ContactVec;
use barchan_cone::lanes::LANES;
use barchan_parallel::for_chunks_mut;
use glam::DVec3;

/// Blocks of contacts a task.
const BLOCK_CHUNK: usize = 256;

/// One contact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contact {
    /// Indices of bodies A and B.
    pub bodies: [u32; 2],
    /// Which of several contacts of the same two bodies it is.
    pub key: FeatureKey,
    /// Where it is, in the world frame, near body A.
    pub point: DVec3,
    /// Unit normal, from B towards A.
    pub normal: DVec3,
    /// The impulse on A; the one on B is opposite.
    pub impulse: DVec3,
}

/// The shift, in periods, between the bodies of a contact across a periodic border: of B less that of A.
pub(crate) type ContactShift = (u32, [i8; 3]);

/// The contacts of a step.
#[derive(Clone, Debug, Default)]
pub struct Contacts {
    /// Contacts of body A are `start[a]..start[a + 1]`: in the first list round ones, in the second general
    /// ones. The second is empty if there are none.
    pub(crate) start: [Vec<u32>; 2],
    pub(super) pairs: Vec<[u32; 2]>,
    pub(super) keys: Vec<FeatureKey>,
    pub(super) normals: ContactVec,
    /// From the centres of bodies A and B to where they touch, for general contacts.
    pub(super) arms: [ContactVec; 2],
    /// Distances between the surfaces; negative where they overlap. Known until the end of the step.
    pub(super) gaps: Vec<f64>,
    pub(super) impulses: ContactVec,
    pub(super) shifts: Vec<ContactShift>,
    pub(super) previous: Previous,
    /// Impulses of contacts that another rank has treated.
    pub(super) received: Vec<([u32; 2], FeatureKey, DVec3)>,
    pub(super) scratch: Scratch,
}

/// What the warm start needs of the step before.
#[derive(Clone, Debug, Default)]
pub(super) struct Previous {
    start: [Vec<u32>; 2],
    pairs: Vec<[u32; 2]>,
    keys: Vec<FeatureKey>,
    impulses: ContactVec,
}

impl Previous {
    /// The impulse of a contact.
    #[inline]
    fn find(&self, pair: [u32; 2], key: FeatureKey) -> Option<DVec3> {
        let a = pair[0] as usize;
        let own = |start: &Vec<u32>| Some(*start.get(a)? as usize..*start.get(a + 1)? as usize);
        let is_it = |&k: &usize| self.pairs[k] == pair && self.keys[k] == key;
        self.start.iter().filter_map(own).find_map(|mut own| own.find(is_it)).map(|k| self.impulses.get(k))
    }
}

impl Contacts {
    /// Number of contacts.
    pub fn len(&self) -> usize {
        self.pairs.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }

    /// How many are round; the general ones come after them.
    pub fn round(&self) -> usize {
        self.len() - self.arms[0].len()
    }

    /// Bodies A and B of each contact.
    pub fn pairs(&self) -> &[[u32; 2]] {
        &self.pairs
    }

    /// Which of several contacts of the same two bodies each is.
    pub fn keys(&self) -> &[FeatureKey] {
        &self.keys
    }

    /// Unit normals, from B towards A.
    pub fn normals(&self) -> &ContactVec {
        &self.normals
    }

    /// Lever arms of the k-th general contact, from the centres of bodies A and B.
    #[inline]
    pub fn general_arms(&self, k: usize) -> [DVec3; 2] {
        self.arms.each_ref().map(|arms| arms.get(k))
    }

    /// Distances between the surfaces before the step; negative where they overlap.
    pub fn gaps(&self) -> &[f64] {
        &self.gaps
    }

    /// Impulses on bodies A.
    pub fn impulses(&self) -> &ContactVec {
        &self.impulses
    }

    /// Impulses of the rows of joints, while a step is solved.
    pub(crate) fn joint_impulses(&mut self) -> &mut Vec<f64> {
        &mut self.impulses.rows
    }

    /// What a solve reads and writes: pairs and normals, and the impulses.
    pub(crate) fn for_solve(&mut self) -> (&[[u32; 2]], &ContactVec, &mut ContactVec) {
        (&self.pairs, &self.normals, &mut self.impulses)
    }

    /// Whether there are contacts of bodies that can move and are not round.
    pub(crate) fn has_general(&self) -> bool {
        !self.arms[0].is_empty()
    }

    /// Sets the shifts of contacts across a periodic border, ascending by contact.
    pub(crate) fn set_shifts(&mut self, shifts: impl Iterator<Item = ContactShift>) {
        self.shifts.clear();
        self.shifts.extend(shifts);
    }

    /// Shifts between the bodies of contacts across a periodic border, ascending by contact.
    pub(crate) fn shifts(&self) -> &[ContactShift] {
        &self.shifts
    }

    /// The shift between the bodies of a contact, if it is across a periodic border.
    pub(crate) fn shift(&self, contact: usize) -> Option<[i8; 3]> {
        self.shifts.binary_search_by_key(&(contact as u32), |entry| entry.0).ok().map(|k| self.shifts[k].1)
    }

    /// A contact of a world of these bodies.
    pub fn get(&self, i: usize, bodies: &Bodies) -> Contact {
        let (pair, normal) = (self.pairs[i], self.normals.get(i));
        let a = pair[0] as usize;
        let arm = match i.checked_sub(self.round()) {
            Some(k) => self.arms[0].get(k),
            None => -normal * bodies.shape[a].bounding_radius().unwrap_or(0.0),
        };
        let point = bodies.position[a] + arm;
        Contact { bodies: pair, key: self.keys[i], point, normal, impulse: self.impulses.get(i) }
    }

    /// All contacts of a world of these bodies.
    pub fn iter<'a>(&'a self, bodies: &'a Bodies) -> impl Iterator<Item = Contact> + 'a {
        (0..self.len()).map(|i| self.get(i, bodies))
    }

    /// Forgets the contacts and all that was remembered.
    pub fn clear(&mut self) {
        *self = Self { scratch: std::mem::take(&mut self.scratch), ..Self::default() };
    }

    /// Makes room for the contacts of a new step: those here become the previous ones.
    pub(super) fn begin_step(&mut self) {
        let Self { start, pairs, keys, impulses, previous, shifts, .. } = self;
        // Two sets of the same vectors take turns, so that no step asks for memory.
        std::mem::swap(start, &mut previous.start);
        std::mem::swap(pairs, &mut previous.pairs);
        std::mem::swap(keys, &mut previous.keys);
        std::mem::swap(impulses, &mut previous.impulses);
        shifts.clear();
    }

    /// After detection: sets impulses to those of the step before, matched by bodies and key; zero where there
    /// was no such contact. Vectors of the world frame need no turning: every solver projects them onto the cones.
    pub fn warm_start(&mut self) {
        let Self { pairs, keys, impulses, previous, .. } = self;
        for_chunks_mut(impulses.blocks_mut(), BLOCK_CHUNK, |range, blocks| {
            for i in range.start * LANES..(range.end * LANES).min(pairs.len()) {
                let ([a, b], key) = (pairs[i], keys[i]);
                // Contacts across a periodic border may come the other way round.
                let known = previous.find([a, b], key);
                let known = known.or_else(|| previous.find([b, a], key.reversed()).map(|impulse| -impulse));
                if let Some(impulse) = known {
                    blocks[i / LANES - range.start].set_lane(i % LANES, impulse);
                }
            }
        });
        let mut received = std::mem::take(&mut self.received);
        for (pair, key, impulse) in received.drain(..) {
            if let Some(i) = self.find(pair, key) {
                self.impulses.set(i, impulse);
            } else if let Some(i) = self.find([pair[1], pair[0]], key.reversed()) {
                self.impulses.set(i, -impulse);
            }
        }
        self.received = received;
    }

    /// Takes impulses of the last step from other ranks, for the next [`Contacts::warm_start`]: bodies A and
    /// B, which of their contacts, and the impulse on A.
    pub fn receive(&mut self, impulses: impl Iterator<Item = ([u32; 2], FeatureKey, DVec3)>) {
        self.received.clear();
        self.received.extend(impulses);
    }

    /// The contacts with their impulses: bodies A and B, the key, and the impulse on A.
    pub(crate) fn entries(&self) -> impl Iterator<Item = ([u32; 2], FeatureKey, DVec3)> + '_ {
        (0..self.len()).map(|i| (self.pairs[i], self.keys[i], self.impulses.get(i)))
    }

    /// Sets all impulses to zero, and forgets those that have come from other ranks.
    pub fn cold_start(&mut self) {
        self.received.clear();
        self.impulses.resize(self.pairs.len());
    }

    /// The contact of these bodies with this key.
    fn find(&self, pair: [u32; 2], key: FeatureKey) -> Option<usize> {
        let a = pair[0] as usize;
        let own = |start: &Vec<u32>| Some(*start.get(a)? as usize..*start.get(a + 1)? as usize);
        let is_it = |&k: &usize| self.pairs[k] == pair && self.keys[k] == key;
        self.start.iter().filter_map(own).find_map(|mut own| own.find(is_it))
    }
}
