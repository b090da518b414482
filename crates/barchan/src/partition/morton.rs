//! Ranges of the Morton curve as regions (S1 IV-A).
//!
//! A rank's region is the set of cells whose keys lie in its range. All of it is kept as keys; a
//! rank knows its own range and those of its neighbours, and no others. Neighbours are the ranks
//! whose regions lie within a given length of its own along each axis, because hulls are boxes;
//! also across periodic borders. Distances are counted in cells, in whole numbers and rounded up,
//! so that both of two ranks come to the same answer.
//!
//! A range may be empty, if there are more ranks than bodies. Such a rank has no region and no
//! neighbours, and knows no owner of any point.

use super::curve::{Cells, Curve, END};
use super::error::PartitionError;
use super::ranges::Ranges;
use super::{CurveRange, Cuts, Partition};
use crate::broad::Aabb;
use crate::comm::Communicator;
use crate::world::reorder::{MORTON_BITS, morton_key};
use glam::DVec3;
use std::collections::BTreeSet;

/// Ranges of the Morton curve, as one rank sees them.
#[derive(Clone, Debug)]
pub struct Morton {
    curve: Curve,
    ranks: usize,
    rank: u32,
    /// This rank's keys, from the first up to the one behind the last.
    own: [u64; 2],
    /// These, and those of the neighbours.
    known: Ranges,
    neighbours: Vec<u32>,
    reach: f64,
    bounds: Aabb,
    /// The inside of the largest box of this rank's cells, where most bodies are.
    inside: Aabb,
}

impl Morton {
    /// The regions between cuts as `rank` sees them. Bodies reach less far than `reach` from
    /// their centres; along axes that repeat at most half a period, so that none meets itself.
    pub fn new(cuts: &Cuts, rank: u32, reach: f64) -> Result<Self, PartitionError> {
        if reach.is_nan() || reach <= 0.0 {
            return Err(PartitionError::Reach { reach });
        }
        let curve = *cuts.curve();
        // A rank alone has nobody to reach.
        let reach = if cuts.ranks() == 1 { f64::INFINITY } else { reach };
        let reach = reach.min(0.5 * curve.periods().length().min_element());
        let (_, start, end) = cuts.ranges().nth(rank as usize).unwrap_or((rank, 0, 0));
        let blocks = blocks_of(start, end, &curve.cells());
        let neighbours = neighbours_of(rank, &blocks, cuts, reach);
        let mut known: Vec<u32> = neighbours.clone();
        known.insert(known.partition_point(|&r| r < rank), rank);
        let known = Ranges::new(cuts.ranges().filter(|range| known.binary_search(&range.0).is_ok()));
        let bounds = blocks.iter().fold(Aabb::EMPTY, |bounds, block| bounds.join(&curve.outside(block)));
        let inside = blocks.iter().max_by_key(|block| block.count()).map_or(Aabb::EMPTY, |block| curve.inside(block));
        Ok(Self { curve, ranks: cuts.ranks(), rank, own: [start, end], known, neighbours, reach, bounds, inside })
    }

    /// Regions of equal work: [`Cuts::balanced`], of which this rank keeps what it needs.
    pub fn balanced(
        comm: &mut dyn Communicator,
        curve: Curve,
        reach: f64,
        work: impl IntoIterator<Item = (DVec3, f64)>,
    ) -> Result<Self, PartitionError> {
        let cuts = Cuts::balanced(comm, curve, work);
        Self::new(&cuts, comm.rank() as u32, reach)
    }
}

/// The fewest aligned boxes of cells that make up a range of keys, without those that hold no
/// points.
fn blocks_of(start: u64, end: u64, holding: &Cells) -> Vec<Cells> {
    let mut blocks = Vec::new();
    let mut at = start;
    while at < end {
        let bits = (at | END).trailing_zeros().min((end - at).ilog2());
        blocks.extend(clipped(Cells::of_keys(at, bits), holding));
        at += 1 << bits;
    }
    blocks
}

/// The cells of a box that are in another.
fn clipped(cells: Cells, within: &Cells) -> Option<Cells> {
    let low: [u32; 3] = std::array::from_fn(|axis| cells.low[axis].max(within.low[axis]));
    let high: [u32; 3] = std::array::from_fn(|axis| cells.high[axis].min(within.high[axis]));
    (0..3).all(|axis| low[axis] <= high[axis]).then_some(Cells { low, high })
}

/// The ranks with cells within `reach` of these blocks, across periodic borders too.
fn neighbours_of(rank: u32, blocks: &[Cells], cuts: &Cuts, reach: f64) -> Vec<u32> {
    let curve = cuts.curve();
    let all = Ranges::new(cuts.ranges());
    // One more for the rounding of a body's own numbers.
    let margin = curve.count(reach).ceil().min(f64::from(1u32 << MORTON_BITS)) as i64 + 1;
    let mut found = BTreeSet::new();
    let images = |axis: usize| if curve.periods().repeats(axis) { -1..=1 } else { 0..=0 };
    for block in blocks {
        for shift in images(0).flat_map(|x| images(1).flat_map(move |y| images(2).map(move |z| [x, y, z]))) {
            let near = std::array::from_fn(|axis| shifted(curve, block, axis, shift[axis], margin));
            let [Some([lx, hx]), Some([ly, hy]), Some([lz, hz])] = near else { continue };
            all.meeting(Cells { low: [lx, ly, lz], high: [hx, hy, hz] }, &mut |r| {
                found.insert(r);
            });
        }
    }
    found.remove(&rank);
    found.into_iter().collect()
}

/// The cells along an axis within a margin of a block that is shifted by whole periods, if any.
fn shifted(curve: &Curve, block: &Cells, axis: usize, shift: i64, margin: i64) -> Option<[u32; 2]> {
    // A period is no whole number of cells: take both. Backwards they change places, so that who
    // sees the other so is seen so.
    let mut least = 0;
    let mut most = 0;
    if shift != 0 {
        let cells = curve.count(curve.periods().length()[axis]);
        (least, most) = (cells.floor() as i64, cells.ceil() as i64);
        if shift < 0 {
            (least, most) = (-most, -least);
        }
    }
    let all = curve.cells();
    let low = (i64::from(block.low[axis]) + least - margin).max(i64::from(all.low[axis]));
    let high = (i64::from(block.high[axis]) + most + margin).min(i64::from(all.high[axis]));
    (low <= high).then_some([low as u32, high as u32])
}

impl Partition for Morton {
    fn ranks(&self) -> usize {
        self.ranks
    }

    fn rank(&self) -> u32 {
        self.rank
    }

    fn neighbours(&self) -> &[u32] {
        &self.neighbours
    }

    fn reach(&self) -> f64 {
        self.reach
    }

    fn owner(&self, x: DVec3) -> Option<u32> {
        self.known.owner(self.curve.key(x))
    }

    fn ranks_of(&self, hull: &Aabb, found: &mut dyn FnMut(u32)) {
        if !hull.is_empty() {
            self.known.meeting(self.curve.cells_of(hull), found);
        }
    }

    fn knows(&self, hull: &Aabb) -> bool {
        hull.is_empty() || self.known.cover(self.curve.cells_of(hull))
    }

    fn holds(&self, hull: &Aabb) -> bool {
        if self.inside.low.cmplt(hull.low).all() && hull.high.cmplt(self.inside.high).all() {
            return true;
        }
        // Keys of a box lie between those of its corners. Touching the end of a period, it is met
        // from the other side.
        let periods = self.curve.periods();
        let inside = periods.low.cmplt(hull.low).all() && hull.high.cmplt(periods.high).all();
        let cells = self.curve.cells_of(hull);
        inside && self.own[0] <= morton_key(cells.low) && morton_key(cells.high) < self.own[1]
    }

    fn bounds(&self) -> Aabb {
        self.bounds
    }

    fn range(&self) -> Option<CurveRange> {
        Some(CurveRange { curve: self.curve, keys: self.own })
    }
}

#[cfg(test)]
mod tests {
    use super::super::Periods;
    use super::super::testing::{Atlas, check, crowd, random};
    use super::*;
    use proptest::prelude::*;

    const LOW: DVec3 = DVec3::new(0.5, 0.0, 1.0);
    const HIGH: DVec3 = DVec3::new(7.25, 8.0, 9.0);
    /// The frame goes from 0 to 16. Tests cut it into this many cells an axis.
    const COARSE: u32 = 16;

    fn periods(repeats: [bool; 3]) -> Periods {
        Periods::new(LOW, HIGH, repeats)
    }

    fn curve(repeats: [bool; 3]) -> Curve {
        Curve::around(&Aabb { low: LOW, high: HIGH }, &periods(repeats))
    }

    fn views(between: &[u64], repeats: [bool; 3], reach: f64) -> Vec<Box<dyn Partition>> {
        let cuts = Cuts::new(curve(repeats), between);
        let view = |rank| Box::new(Morton::new(&cuts, rank as u32, reach).unwrap()) as Box<dyn Partition>;
        (0..cuts.ranks()).map(view).collect()
    }

    /// The key of a coarse cell, bit by bit.
    fn coarse_key(cell: [u32; 3]) -> u64 {
        let bit = |i: u32, axis: usize| u64::from(cell[axis] >> i & 1) << (3 * i + axis as u32);
        (0..4).map(|i| bit(i, 0) | bit(i, 1) | bit(i, 2)).sum()
    }

    /// All coarse cells that hold points, the outermost out to infinity.
    fn atlas(between: &[u64], periods: &Periods) -> Atlas {
        let ends: [[u32; 2]; 3] = std::array::from_fn(|axis| {
            if periods.repeats(axis) {
                [periods.low[axis].floor() as u32, periods.high[axis].ceil() as u32 - 1]
            } else {
                [0, COARSE - 1]
            }
        });
        let mut boxes = Vec::new();
        for z in ends[2][0]..=ends[2][1] {
            for y in ends[1][0]..=ends[1][1] {
                for x in ends[0][0]..=ends[0][1] {
                    let cell = [x, y, z];
                    let mut region = Aabb { low: DVec3::NEG_INFINITY, high: DVec3::INFINITY };
                    for axis in 0..3 {
                        if cell[axis] > ends[axis][0] {
                            region.low[axis] = f64::from(cell[axis]);
                        }
                        if cell[axis] < ends[axis][1] {
                            region.high[axis] = f64::from(cell[axis] + 1);
                        }
                    }
                    let key = coarse_key(cell) << 51;
                    boxes.push((between.iter().filter(|&&cut| cut <= key).count() as u32, region));
                }
            }
        }
        Atlas { boxes }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(96))]
        #[test]
        fn every_rank_sees_the_same_regions(
            between in prop::collection::vec(0u64..=4096, 0..12),
            narrow in prop::collection::vec(0u64..=512, 0..12),
            repeats in prop::array::uniform3(any::<bool>()),
            reach in 0.1f64..4.0,
            seed in any::<u64>(),
        ) {
            let mut between: Vec<u64> = between.into_iter().chain(narrow).map(|cut| cut << 51).collect();
            between.sort_unstable();
            let periods = periods(repeats);
            check(&views(&between, repeats, reach), &periods, &atlas(&between, &periods), 0.25, seed);
        }

        /// Cuts as fine as keys are: neighbours stay symmetric, and know all that bodies meet.
        #[test]
        fn fine_cuts_are_seen_alike(
            mut between in prop::collection::vec(0u64..=END, 0..20),
            near in prop::collection::vec(0u64..=END >> 3, 0..20),
            repeats in prop::array::uniform3(any::<bool>()),
            reach in 0.01f64..4.0,
            seed in any::<u64>(),
        ) {
            between.extend(near);
            let cuts = Cuts::new(curve(repeats), &between);
            let views = views(&between, repeats, reach);
            let periods = periods(repeats);
            for (view, rank) in views.iter().zip(0..) {
                for &other in view.neighbours() {
                    prop_assert!(views[other as usize].neighbours().contains(&rank));
                }
            }
            let mut random = random(seed);
            let mut holders = Vec::new();
            for _ in 0..200 {
                let mut within = |low: f64, high: f64| low + (high - low) * random();
                let x = DVec3::new(within(0.5, 7.25), within(0.0, 8.0), within(1.0, 9.0));
                let view = &views[cuts.owner(x) as usize];
                prop_assert_eq!(view.owner(x), Some(view.rank()));
                let point = Aabb { low: x, high: x };
                prop_assert!(view.bounds().meets(&point));
                let offset = DVec3::new(within(-1.0, 1.0), within(-1.0, 1.0), within(-1.0, 1.0)) * view.reach() * 0.999;
                let hull = Aabb { low: x - offset.abs(), high: x + offset.abs() };
                // Any point of the body is in a region that its owner knows, and is listed with.
                periods.holders(&**view, &hull, &mut holders);
                let shift = periods.wrap_shift(x + offset);
                let rank = cuts.owner(x + offset + periods.offset(shift));
                prop_assert!(holders.iter().any(|holder| holder.rank == rank && holder.shift == shift), "{:?}", hull);
                if view.holds(&hull) {
                    prop_assert!(rank == view.rank() && holders.len() == 1);
                }
            }
        }
    }

    #[test]
    fn an_empty_range_has_no_region() {
        let cut = 5 << 51;
        let views = views(&[cut, cut], [false; 3], 1.0);
        assert_eq!(views[0].neighbours(), [2]);
        assert_eq!(views[2].neighbours(), [0]);
        assert!(views[1].neighbours().is_empty() && views[1].bounds().is_empty());
        assert_eq!(views[1].owner(DVec3::ONE), None);
        assert!(!views[1].holds(&Aabb { low: DVec3::ONE, high: DVec3::ONE }));
    }

    #[test]
    fn far_regions_are_not_known() {
        // Cubes of edges 1, 2, 4 and 8 in the corner of the frame, each without those before it.
        let between = [1u64, 8, 64, 512].map(|cells| cells << 51);
        let neighbours = |repeats, reach| views(&between, repeats, reach)[0].neighbours().to_vec();
        assert_eq!(neighbours([false; 3], 0.5), [1]);
        assert_eq!(neighbours([false; 3], 1.5), [1, 2]);
        assert_eq!(neighbours([false; 3], 3.5), [1, 2, 3]);
        assert_eq!(neighbours([false; 3], 100.0), [1, 2, 3, 4]);
        // From the other end of the period.
        assert_eq!(neighbours([true, false, false], 0.5), [1, 3]);
        assert_eq!(views(&[], [false; 3], 0.5)[0].reach(), f64::INFINITY);
        assert_eq!(views(&[], [true; 3], 0.5)[0].reach(), 3.375);
        assert_eq!(views(&between, [true; 3], 100.0)[0].reach(), 3.375);
        assert!(Morton::new(&Cuts::new(curve([false; 3]), &between), 0, 0.0).is_err());
    }

    #[test]
    fn balanced_regions_are_those_of_the_cuts() {
        let mut random = random(3);
        let work: Vec<_> = (0..3000).map(|_| (8.0 * DVec3::new(random(), random(), random()), 1.0)).collect();
        let views = crowd(8, |comm| {
            let own = work.iter().skip(comm.rank()).step_by(8).copied();
            Morton::balanced(comm, curve([true; 3]), 0.5, own).unwrap()
        });
        for &(x, _) in &work {
            let x = x + periods([true; 3]).offset(periods([true; 3]).wrap_shift(x));
            let owners: Vec<_> = views.iter().filter(|view| view.owner(x) == Some(view.rank())).collect();
            assert_eq!(owners.len(), 1);
        }
    }
}
