//! Global bodies, which every rank has: walls, and bounded bodies that are too large for a region.

use crate::world::Bodies;

/// Where they stand in this step; memory is kept.
#[derive(Default)]
pub(super) struct GlobalBodies {
    /// Ids of the bounded ones, ascending.
    pub(super) ids: Vec<u64>,
    /// The bounded ones.
    pub(super) bounded: Vec<u32>,
    /// Those of them that impulses move.
    pub(super) moving: Vec<u32>,
    /// All, with their ids.
    all: Vec<(u64, u32)>,
}

impl GlobalBodies {
    /// Finds them among the bodies.
    pub(super) fn find(&mut self, bodies: &Bodies) {
        let Self { ids, bounded, moving, all } = self;
        bounded.clear();
        bounded.extend(ids.iter().filter_map(|&id| bodies.index_of(id)).map(|i| i as u32));
        moving.clear();
        moving.extend(bounded.iter().copied().filter(|&body| bodies.inverse_mass[body as usize] > 0.0));
        let walls = (0..bodies.len()).filter(|&i| bodies.is_wall(i));
        all.clear();
        all.extend(walls.map(|i| i as u32).chain(bounded.iter().copied()).map(|i| (bodies.id[i as usize], i)));
    }

    /// The one with an id.
    pub(super) fn body(&self, id: u64) -> Option<u32> {
        self.all.iter().find(|entry| entry.0 == id).map(|entry| entry.1)
    }
}
