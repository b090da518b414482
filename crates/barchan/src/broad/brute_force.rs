//! Every pair of hulls: the slow twin of the other broad phases.

use super::{Aabb, BroadPhase, Emitted, Pairs, pack};

/// Tests every pair of hulls.
#[derive(Default)]
pub struct BruteForce {
    emitted: Emitted,
}

impl BroadPhase for BruteForce {
    fn find(&mut self, hulls: &[Aabb], pairs: &mut Pairs) {
        self.emitted.reset(1);
        let list = &mut self.emitted.lists[0];
        for (i, a) in hulls.iter().enumerate() {
            for (j, b) in hulls.iter().enumerate().skip(i + 1) {
                if a.meets(b) {
                    list.push(pack(i as u32, j as u32));
                }
            }
        }
        pairs.collect(hulls.len(), &mut self.emitted);
    }
}
