//! Starting a step from the impulses of the last, matched by body pair and feature.
//!
//! Impulses are vectors of the world frame, so a contact that has turned needs no more than
//! the projection that every solver starts with.

use crate::narrow::Contacts;
use crate::util::lanes::ContactVec;
use crate::util::parallel::{CHUNK, Disjoint, for_chunks};
use crate::world::Bodies;

/// The impulses of the last step with the contacts that they belong to.
#[derive(Clone, Debug, Default)]
pub struct WarmStart {
    /// Contacts of body A are `start[a]..start[a + 1]`.
    start: Vec<u32>,
    pairs: Vec<[u32; 2]>,
    features: Vec<u8>,
    impulses: ContactVec,
}

impl WarmStart {
    /// Writes the remembered impulse of every contact to `γ`, zero where there is none.
    pub fn recall(&self, contacts: &Contacts, γ: &mut ContactVec) {
        γ.resize(contacts.len());
        let bodies = (self.start.len().min(contacts.start.len())).saturating_sub(1);
        let out = Disjoint::new(γ.flat_mut());
        for_chunks(bodies, CHUNK, |range| {
            for a in range {
                let old = self.start[a] as usize..self.start[a + 1] as usize;
                for i in contacts.start[a] as usize..contacts.start[a + 1] as usize {
                    let same =
                        |k: &usize| self.pairs[*k] == contacts.pairs[i] && self.features[*k] == contacts.features[i];
                    if let Some(k) = old.clone().find(same) {
                        let p = self.impulses.get(k);
                        for component in 0..3 {
                            // SAFETY: contact i belongs to body a alone.
                            unsafe { out.write(ContactVec::flat_index(i, component), p[component]) };
                        }
                    }
                }
            }
        });
    }

    /// Remembers the impulses of a step. Takes the vectors over; what it held before goes back
    /// for re-use.
    pub fn remember(&mut self, contacts: &mut Contacts, γ: &mut ContactVec) {
        std::mem::swap(&mut self.start, &mut contacts.start);
        std::mem::swap(&mut self.pairs, &mut contacts.pairs);
        std::mem::swap(&mut self.features, &mut contacts.features);
        std::mem::swap(&mut self.impulses, γ);
    }

    /// Forgets everything.
    pub fn forget(&mut self) {
        *self = Self::default();
    }

    /// The remembered contacts with their impulses: bodies A and B and the impulse on A.
    pub fn iter(&self) -> impl Iterator<Item = ([u32; 2], glam::DVec3)> + '_ {
        self.pairs.iter().zip(self.impulses.iter()).map(|(&pair, p)| (pair, p))
    }

    /// Follows a re-ordering of bodies, where the body at `order[i]` has moved to index `i`;
    /// `bodies` are in their new order already.
    pub fn permute(&mut self, order: &[u32], bodies: &Bodies) {
        let mut place = vec![0u32; order.len()];
        for (new, &old) in order.iter().enumerate() {
            place[old as usize] = new as u32;
        }
        let unbounded = |j: u32| bodies.shape[j as usize].bounding_radius().is_none();
        let mut moved: Vec<([u32; 2], u8, bool, usize)> = (0..self.pairs.len())
            .map(|k| {
                let [a, b] = self.pairs[k].map(|j| place[j as usize]);
                let swap = a > b && !unbounded(b);
                (if swap { [b, a] } else { [a, b] }, self.features[k], swap, k)
            })
            .collect();
        moved.sort_unstable();
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
