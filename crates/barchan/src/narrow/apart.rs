//! Bodies that cannot touch: those that a joint holds together, and those of groups that pass through each other.

use crate::world::{Bodies, World};

/// Pairs of bodies that detection passes over; memory is kept between steps.
#[derive(Clone, Debug, Default)]
pub struct Apart {
    /// Ids of both bodies, the smaller first; ascending.
    pairs: Vec<[u64; 2]>,
    /// The ids of all of them, ascending.
    ids: Vec<u64>,
    /// Whether a body is one of any pair; empty if there are no pairs.
    is_any: Vec<bool>,
    /// Groups that pass through each other, the smaller first; ascending.
    groups: Vec<[u16; 2]>,
}

impl Apart {
    /// Lists the groups, and the bodies of joints that are whole, unless they may touch.
    pub(crate) fn fill(&mut self, World { bodies, joints, no_contact, .. }: &World) {
        let Self { pairs, ids, is_any, groups } = self;
        groups.clear();
        groups.extend(no_contact.iter().map(|&[a, b]| [a.min(b), a.max(b)]));
        groups.sort_unstable();
        pairs.clear();
        is_any.clear();
        let held = joints.iter().filter(|joint| !joint.collide && !joint.state.is_broken);
        pairs.extend(held.filter_map(|joint| {
            let (first, second) = (joint.bodies.0?, joint.bodies.1);
            Some([first.min(second), first.max(second)])
        }));
        if pairs.is_empty() {
            return;
        }
        pairs.sort_unstable();
        pairs.dedup();
        // Images have the ids of their bodies.
        is_any.resize(bodies.len(), false);
        ids.clear();
        ids.extend(pairs.iter().flatten());
        ids.sort_unstable();
        for (is_one, id) in is_any.iter_mut().zip(bodies.id()) {
            *is_one = ids.binary_search(id).is_ok();
        }
    }

    /// Whether two bodies pass through each other.
    #[inline(always)]
    pub(crate) fn holds(&self, bodies: &Bodies, a: usize, b: usize) -> bool {
        !self.is_any.is_empty() && self.is_any[a] && self.is_any[b] && self.is_pair(bodies, a, b)
            || !self.groups.is_empty() && self.are_groups(bodies, a, b)
    }

    #[inline(never)]
    fn are_groups(&self, bodies: &Bodies, a: usize, b: usize) -> bool {
        let (a, b) = (bodies.group[a], bodies.group[b]);
        self.groups.binary_search(&[a.min(b), a.max(b)]).is_ok()
    }

    #[inline(never)]
    fn is_pair(&self, bodies: &Bodies, a: usize, b: usize) -> bool {
        let (a, b) = (bodies.id()[a], bodies.id()[b]);
        self.pairs.binary_search(&[a.min(b), a.max(b)]).is_ok()
    }
}
