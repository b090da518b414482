//! Bodies by their ids, in constant time.

use super::{Bodies, Ownership};
use std::collections::HashMap;
use std::sync::OnceLock;

/// No body.
const NONE: u32 = u32::MAX;

/// Where each id stands. It is made when somebody asks, and forgotten when bodies change places.
#[derive(Clone, Debug, Default)]
pub(super) struct IdIndex(OnceLock<Places>);

#[derive(Clone, Debug)]
enum Places {
    /// Ids are numbered with few gaps: the index of each, or [`NONE`].
    Dense(Vec<u32>),
    /// Ids are far apart.
    Sparse(HashMap<u64, u32>),
}

impl IdIndex {
    /// Forgets all: bodies have changed places, or ids.
    pub(super) fn clear(&mut self) {
        self.0 = OnceLock::new();
    }

    /// Takes note of a body that was added behind all others.
    pub(super) fn push(&mut self, id: u64, index: usize) {
        match self.0.get_mut() {
            Some(Places::Dense(places)) if id as usize == places.len() => places.push(index as u32),
            Some(Places::Sparse(places)) => {
                places.insert(id, index as u32);
            }
            Some(Places::Dense(_)) => self.clear(),
            None => {}
        }
    }

    /// The index of an id among these bodies.
    pub(super) fn find(&self, id: u64, bodies: &Bodies) -> Option<usize> {
        let place = match self.0.get_or_init(|| Places::of(bodies)) {
            Places::Dense(places) => *places.get(usize::try_from(id).ok()?)?,
            Places::Sparse(places) => *places.get(&id)?,
        };
        (place != NONE).then_some(place as usize)
    }
}

impl Places {
    fn of(bodies: &Bodies) -> Self {
        // An image has the id of its body, and what was removed has none.
        let is_there = |i: &usize| !matches!(bodies.ownership[*i], Ownership::Image | Ownership::Removed);
        let present = || (0..bodies.len()).filter(is_there);
        let end = present().map(|i| bodies.id[i]).max().map_or(0, |id| id.saturating_add(1));
        if end <= 4 * bodies.len() as u64 + 1024 {
            let mut places = vec![NONE; end as usize];
            present().for_each(|i| places[bodies.id[i] as usize] = i as u32);
            Self::Dense(places)
        } else {
            Self::Sparse(present().map(|i| (bodies.id[i], i as u32)).collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shape::Shape;
    use crate::world::Body;
    use glam::DVec3;

    #[test]
    fn ids_are_found_after_every_change() {
        let ball = || Body::dynamic(Shape::sphere(1.0), DVec3::ZERO);
        for scale in [1, 1 << 40] {
            let mut bodies = Bodies::default();
            (0..50).for_each(|k| bodies.push_with_id(scale * k, ball(), 1.0));
            let check = |bodies: &Bodies| {
                for i in 0..bodies.len() {
                    assert_eq!(bodies.index_of(bodies.id[i]), Some(i));
                }
                assert_eq!(bodies.index_of(u64::MAX), None);
            };
            check(&bodies);
            bodies.permute(&(0..50).rev().collect::<Vec<_>>());
            check(&bodies);
            bodies.remove(7);
            check(&bodies);
            bodies.push(ball(), 1.0);
            check(&bodies);
            assert_eq!(bodies.index_of(scale * 42), None, "it was removed");
        }
    }
}
