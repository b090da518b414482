//! What the tests of partitions share: a slow twin that knows everything, and ranks on threads.

use super::{Holder, Partition, Periods};
use crate::broad::Aabb;
use crate::comm::{Communicator, threads};
use glam::DVec3;
use std::collections::BTreeSet;

/// Random numbers from 0 to 1.
pub(super) fn random(seed: u64) -> impl FnMut() -> f64 {
    let mut state = seed;
    move || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// Which part of space each rank has, as boxes: slow, and all of it known.
pub(super) struct Atlas {
    /// Whose box, and the box; half-open for points and closed for boxes.
    pub(super) boxes: Vec<(u32, Aabb)>,
}

impl Atlas {
    /// The one owner of a point.
    fn owner(&self, x: DVec3) -> u32 {
        let owns = |b: &Aabb| b.low.cmple(x).all() && x.cmplt(b.high).all();
        let mut owners = self.boxes.iter().filter(|b| owns(&b.1)).map(|b| b.0);
        let owner = owners.next().expect("an owner");
        assert_eq!(owners.next(), None, "{x} has two owners");
        owner
    }

    /// All ranks whose closed regions a box meets.
    fn ranks_of(&self, hull: &Aabb) -> BTreeSet<u32> {
        self.boxes.iter().filter(|b| b.1.meets(hull)).map(|b| b.0).collect()
    }

    /// All holders of a box, by trying every image.
    fn holders(&self, periods: &Periods, hull: &Aabb) -> BTreeSet<Holder> {
        let mut holders = BTreeSet::new();
        for image in 0..27i8 {
            let shift = [image % 3 - 1, image / 3 % 3 - 1, image / 9 - 1];
            if (0..3).any(|axis| shift[axis] != 0 && !periods.repeats(axis)) {
                continue;
            }
            let offset = periods.offset(shift);
            let here = Aabb { low: (hull.low + offset).max(periods.low), high: (hull.high + offset).min(periods.high) };
            if here.low.cmple(here.high).all() {
                holders.extend(self.ranks_of(&here).into_iter().map(|rank| Holder { rank, shift }));
            }
        }
        holders
    }
}

/// Checks what all ranks see against the twin. Coordinates are taken from a lattice, so that
/// borders are hit. They lie in the cell along axes that repeat, and far beyond it along others.
pub(super) fn check(views: &[Box<dyn Partition>], periods: &Periods, atlas: &Atlas, lattice: f64, seed: u64) {
    let mut random = random(seed);
    for (view, rank) in views.iter().zip(0..) {
        let neighbours = view.neighbours();
        assert_eq!((view.ranks(), view.rank()), (views.len(), rank));
        assert!(neighbours.is_sorted_by(|a, b| a < b) && !neighbours.contains(&rank));
        for &other in neighbours {
            assert!(views[other as usize].neighbours().contains(&rank), "{other} is no neighbour of {rank}");
        }
    }
    let knows = |view: &dyn Partition, rank: u32| rank == view.rank() || view.neighbours().contains(&rank);
    for _ in 0..60 {
        let mut coordinate = |axis: usize| {
            let (low, high) =
                if periods.repeats(axis) { (periods.low[axis], periods.high[axis]) } else { (-3.0, 19.0) };
            let at = low + (high - low) * random();
            ((at / lattice).floor() * lattice).max(low)
        };
        let x = DVec3::new(coordinate(0), coordinate(1), coordinate(2));
        let y = DVec3::new(coordinate(0), coordinate(1), coordinate(2));
        let owner = atlas.owner(x);
        let large = Aabb { low: x.min(y), high: x.max(y) };
        let small = Aabb { low: x, high: (x + lattice).min(periods.high) };
        for view in views {
            assert_eq!(view.owner(x), knows(&**view, owner).then_some(owner), "owner of {x} for {}", view.rank());
            for hull in [large, small, Aabb { low: x, high: x }] {
                let all = atlas.ranks_of(&hull);
                let mut seen = Vec::new();
                view.ranks_of(&hull, &mut |rank| seen.push(rank));
                let known: Vec<u32> = all.iter().copied().filter(|&rank| knows(&**view, rank)).collect();
                assert_eq!(seen, known, "{hull:?} for {}", view.rank());
                assert_eq!(view.knows(&hull), known.len() == all.len(), "{hull:?} for {}", view.rank());
                if view.holds(&hull) {
                    assert!(all.len() == 1 && all.contains(&view.rank()));
                    assert_eq!(atlas.holders(periods, &hull).len(), 1);
                }
            }
            view.ranks_of(&Aabb::EMPTY, &mut |_| panic!("nothing is nowhere"));
            assert!(view.knows(&Aabb::EMPTY));
        }
        // A body at x that reaches less far than l_dd: its owner knows all that it meets.
        let view = &*views[owner as usize];
        assert!(view.bounds().meets(&Aabb { low: x, high: x }));
        let mut half = || (view.reach().min(6.0) * random() * 0.999 / lattice * 4.0).floor() * lattice / 4.0;
        let half = DVec3::new(half(), half(), half());
        let hull = Aabb { low: x - half, high: x + half };
        let mut holders = Vec::new();
        periods.holders(view, &hull, &mut holders);
        let all: Vec<Holder> = atlas.holders(periods, &hull).into_iter().collect();
        assert_eq!(holders, all, "holders of {hull:?}");
        assert!(holders.contains(&Holder { rank: owner, shift: [0; 3] }));
    }
}

/// Runs `work` on several ranks and lists what each comes to.
pub(super) fn crowd<T: Send>(size: usize, work: impl Fn(&mut dyn Communicator) -> T + Sync) -> Vec<T> {
    threads::run(size, 1, |mut comm| work(&mut *comm)).expect("ranks that end")
}
