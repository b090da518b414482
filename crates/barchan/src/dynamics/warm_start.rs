//! Starting a step from the impulses of the last, matched by body pair and feature.
//!
//! Impulses are vectors of the world frame, so a contact that has turned needs no more than
//! the projection that every solver starts with.

use crate::narrow::Contacts;
use crate::util::bulk::PackColumn;
use crate::util::pack::Unpacker;
use crate::world::Bodies;
use barchan_cone::ContactVec;
use barchan_parallel::{CHUNK, Disjoint, for_chunks};
use glam::DVec3;

/// The impulses of the last step with the contacts that they belong to.
#[derive(Clone, Debug, Default)]
pub struct WarmStart {
    /// Contacts of body A are `start[a]..start[a + 1]`.
    start: Vec<u32>,
    pairs: Vec<[u32; 2]>,
    features: Vec<u8>,
    impulses: ContactVec,
    /// Impulses of contacts that another rank has treated.
    received: Vec<([u32; 2], u8, DVec3)>,
}

impl WarmStart {
    /// Writes the remembered impulse of every contact to `γ`, zero where there is none.
    pub fn initial_guess(&self, contacts: &Contacts, γ: &mut ContactVec) {
        γ.resize(contacts.len());
        let bodies = (self.start.len().min(contacts.start.len())).saturating_sub(1);
        let out = Disjoint::new(γ.flat_mut());
        for_chunks(bodies, CHUNK, |range| {
            for a in range {
                for i in contacts.start[a] as usize..contacts.start[a + 1] as usize {
                    let [a, b] = contacts.pairs[i];
                    let find = |pair| self.find(pair, contacts.features[i]);
                    // Contacts across a periodic border may come the other way round.
                    if let Some(p) = find([a, b]).or_else(|| find([b, a]).map(|p| -p)) {
                        for component in 0..3 {
                            // SAFETY: contact i belongs to body a alone.
                            unsafe { out.write(ContactVec::flat_index(i, component), p[component]) };
                        }
                    }
                }
            }
        });
        for &([a, b], feature, impulse) in &self.received {
            let place = |pair: [u32; 2]| {
                let a = pair[0] as usize;
                let mut own = contacts.start[a] as usize..contacts.start[a + 1] as usize;
                own.find(|&i| contacts.pairs[i] == pair && contacts.features[i] == feature)
            };
            if let Some(i) = place([a, b]) {
                γ.set(i, impulse);
            } else if let Some(i) = place([b, a]) {
                γ.set(i, -impulse);
            }
        }
    }

    /// The remembered impulse of one contact.
    #[inline]
    fn find(&self, pair: [u32; 2], feature: u8) -> Option<DVec3> {
        let a = pair[0] as usize;
        let mut own = *self.start.get(a)? as usize..*self.start.get(a + 1)? as usize;
        own.find(|&k| self.pairs[k] == pair && self.features[k] == feature).map(|k| self.impulses.get(k))
    }

    /// Takes impulses of the last step from other ranks, for the next [`WarmStart::initial_guess`]: bodies
    /// A and B, which of their contacts, and the impulse on A.
    pub fn receive(&mut self, impulses: impl Iterator<Item = ([u32; 2], u8, DVec3)>) {
        self.received.clear();
        self.received.extend(impulses);
    }

    /// Remembers the impulses of a step. Takes the vectors over; what it held before goes back
    /// for re-use.
    pub fn store(&mut self, contacts: &mut Contacts, γ: &mut ContactVec) {
        std::mem::swap(&mut self.start, &mut contacts.start);
        std::mem::swap(&mut self.pairs, &mut contacts.pairs);
        std::mem::swap(&mut self.features, &mut contacts.features);
        std::mem::swap(&mut self.impulses, γ);
        self.received.clear();
    }

    /// The remembered impulses, in the order of their contacts.
    pub fn impulses(&self) -> &ContactVec {
        &self.impulses
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    /// The remembered contacts with their impulses: bodies A and B and the impulse on A.
    pub fn iter(&self) -> impl Iterator<Item = ([u32; 2], DVec3)> + '_ {
        self.entries().map(|(pair, _, impulse)| (pair, impulse))
    }

    /// The same, with which of several contacts of the same bodies it is.
    pub(crate) fn entries(&self) -> impl Iterator<Item = ([u32; 2], u8, DVec3)> + '_ {
        self.pairs.iter().zip(&self.features).zip(self.impulses.iter()).map(|((&pair, &k), p)| (pair, k, p))
    }

    /// Impulses of given contacts among so many bodies: bodies A and B, which of their contacts, and the
    /// impulse on A.
    pub(crate) fn from_entries(mut entries: Vec<([u32; 2], u8, DVec3)>, bodies: usize) -> Self {
        entries.sort_unstable_by_key(|entry| (entry.0, entry.1));
        let mut start = vec![0; bodies + 1];
        for (pair, ..) in &entries {
            start[pair[0] as usize + 1] += 1;
        }
        for a in 0..bodies {
            start[a + 1] += start[a];
        }
        Self {
            start,
            pairs: entries.iter().map(|entry| entry.0).collect(),
            features: entries.iter().map(|entry| entry.1).collect(),
            impulses: ContactVec::from_slice(&entries.iter().map(|entry| entry.2).collect::<Vec<_>>()),
            received: Vec::new(),
        }
    }

    /// Appends all that is remembered between two steps.
    pub(crate) fn write_snapshot(&self, out: &mut Vec<u8>) {
        self.start.pack_column(out);
        self.pairs.pack_column(out);
        self.features.pack_column(out);
        self.impulses.pack_column(out);
    }

    /// Takes back what [`WarmStart::write_snapshot`] wrote, of so many bodies.
    pub(crate) fn read_snapshot(from: &mut Unpacker<'_>, bodies: usize) -> Option<Self> {
        let (start, pairs) = (Vec::<u32>::unpack_column(from)?, Vec::<[u32; 2]>::unpack_column(from)?);
        let (features, impulses) = (Vec::<u8>::unpack_column(from)?, ContactVec::unpack_column(from)?);
        let contacts = pairs.len();
        let is_valid = features.len() == contacts
            && impulses.len() == contacts
            && start.len() <= bodies + 1
            && start.is_sorted()
            && start.last().map_or(contacts == 0, |&end| end as usize == contacts)
            && pairs.iter().flatten().all(|&body| (body as usize) < bodies);
        is_valid.then_some(Self { start, pairs, features, impulses, received: Vec::new() })
    }

    /// Follows a re-ordering of `before` bodies, where the body at `order[i]` has moved to index `i`;
    /// `bodies` are in their new order already. Contacts of bodies that are no longer there are
    /// forgotten. `contact_shifts` are kept with the contacts that they number, and turn with them.
    pub(crate) fn permute(
        &mut self,
        order: &[u32],
        before: usize,
        bodies: &Bodies,
        contact_shifts: Option<&mut Vec<(u32, [i8; 3])>>,
    ) {
        let mut place = vec![u32::MAX; before];
        for (new, &old) in order.iter().enumerate() {
            place[old as usize] = new as u32;
        }
        let unbounded = |j: u32| bodies.is_wall(j as usize);
        let mut moved: Vec<([u32; 2], u8, bool, usize)> = (0..self.pairs.len())
            .filter_map(|k| {
                let [a, b] = self.pairs[k].map(|j| place[j as usize]);
                let swap = a > b && b != u32::MAX && !unbounded(b);
                (a.max(b) != u32::MAX).then(|| (if swap { [b, a] } else { [a, b] }, self.features[k], swap, k))
            })
            .collect();
        moved.sort_unstable();
        if let Some(contact_shifts) = contact_shifts {
            let shift_of = |k: usize| {
                contact_shifts.binary_search_by_key(&k, |entry| entry.0 as usize).ok().map(|m| contact_shifts[m].1)
            };
            let turned = |shift: [i8; 3], swap: bool| if swap { shift.map(|x| -x) } else { shift };
            let follow = |(i, &(_, _, swap, k))| Some((i, turned(shift_of(k)?, swap)));
            *contact_shifts = (0u32..).zip(&moved).filter_map(follow).collect();
        }
        let old = std::mem::take(&mut self.impulses);
        self.impulses.resize(moved.len());
        self.start.clear();
        self.start.resize(order.len() + 1, 0);
        for (i, &(pair, feature, swap, k)) in moved.iter().enumerate() {
            self.pairs[i] = pair;
            self.features[i] = feature;
            self.impulses.set(i, if swap { -old.get(k) } else { old.get(k) });
            self.start[pair[0] as usize + 1] += 1;
        }
        for a in 0..order.len() {
            self.start[a + 1] += self.start[a];
        }
    }
}
