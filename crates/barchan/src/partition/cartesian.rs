//! Blocks of equal size in one, two or three dimensions (S2, S4 7.2).
//!
//! Blocks are half-open where points are owned, so that a point on a border, an edge or a corner
//! has one owner: the block above. They are closed where boxes are met, so that whoever touches a
//! border is known on both sides. Every rank takes borders from the same formula and so sees the
//! same numbers. Ranks count blocks along x first, then y, then z.
//!
//! Outer blocks reach to infinity. Along an axis that repeats nothing is asked for out there, but
//! rounding may put a point that comes home just on the upper end of the cell.

use super::error::{AXES, PartitionError};
use super::{Partition, Periods};
use crate::broad::Aabb;
use glam::DVec3;

/// One block's part of an axis.
#[derive(Clone, Copy, Debug)]
struct Slab {
    low: f64,
    high: f64,
    /// What this place along the axis adds to a block's rank.
    offset: u32,
}

impl Slab {
    /// A place that is not taken: no comparison with it holds.
    const NONE: Self = Self { low: f64::NAN, high: f64::NAN, offset: 0 };

    #[inline(always)]
    fn owns(&self, x: f64) -> bool {
        (self.low <= x) & (x < self.high)
    }

    #[inline(always)]
    fn meets(&self, low: f64, high: f64) -> bool {
        (self.low <= high) & (low <= self.high)
    }
}

/// Cartesian blocks, as one rank sees them: its own and those about it.
#[derive(Clone, Debug)]
pub struct Cartesian {
    ranks: usize,
    rank: u32,
    /// Along each axis this rank's own slab and the next ones, ascending.
    slabs: [[Slab; 3]; 3],
    bounds: Aabb,
    neighbours: Vec<u32>,
    reach: f64,
}

/// The ends of an axis, and into how many blocks it is cut.
#[derive(Clone, Copy)]
struct Axis {
    low: f64,
    high: f64,
    blocks: u32,
    repeats: bool,
}

impl Axis {
    /// Where block `i` begins, and the one before it ends.
    fn border(&self, i: u32) -> f64 {
        match i {
            0 => f64::NEG_INFINITY,
            i if i == self.blocks => f64::INFINITY,
            i => self.low + (self.high - self.low) * (f64::from(i) / f64::from(self.blocks)),
        }
    }

    /// The least width of the blocks that a body must not reach across, and half the period. Zero
    /// if numbers cannot tell borders apart.
    fn reach(&self) -> f64 {
        let n = self.blocks;
        let ends = |i: u32| [self.border(i).max(self.low), self.border(i + 1).min(self.high)];
        // Nothing lies behind outer blocks, unless space repeats.
        let between = if self.repeats { 0..n } else { 1..n.max(2) - 1 };
        let least = between.map(|i| ends(i)[1] - ends(i)[0]).fold(f64::INFINITY, f64::min);
        if self.repeats { least.min(0.5 * (self.high - self.low)) } else { least }
    }

    /// This block and the next ones, ascending.
    fn about(&self, own: u32) -> Vec<u32> {
        let n = self.blocks;
        let mut about = vec![own];
        if own > 0 || self.repeats {
            about.push((own + n - 1) % n);
        }
        if own + 1 < n || self.repeats {
            about.push((own + 1) % n);
        }
        about.sort_unstable();
        about.dedup();
        about
    }
}

impl Cartesian {
    /// The blocks of a cell as `rank` sees them. Along axes that do not repeat, the cell's ends
    /// only say where the inner borders are.
    pub fn new(
        ranks: usize,
        rank: u32,
        blocks: [u32; 3],
        low: DVec3,
        high: DVec3,
        repeats: [bool; 3],
    ) -> Result<Self, PartitionError> {
        let product = blocks.iter().map(|&n| u128::from(n)).product();
        if product != ranks as u128 || u128::from(rank) >= product {
            return Err(PartitionError::Blocks { blocks, product, ranks });
        }
        let mut this = Self {
            ranks,
            rank,
            slabs: [[Slab::NONE; 3]; 3],
            bounds: Aabb { low: DVec3::NEG_INFINITY, high: DVec3::INFINITY },
            neighbours: Vec::new(),
            reach: f64::INFINITY,
        };
        let periods = Periods::new(low, high, repeats);
        let strides = [1, blocks[0], blocks[0] * blocks[1]];
        for axis in 0..3 {
            let [low, high] = [low[axis], high[axis]];
            let line = Axis { low, high, blocks: blocks[axis], repeats: repeats[axis] };
            if line.blocks > 1 || line.repeats {
                if !(low.is_finite() && high.is_finite() && low < high) {
                    return Err(PartitionError::Cell { axis: AXES[axis], low, high });
                }
                let ascending = (1..line.blocks).all(|i| line.border(i - 1).max(low) < line.border(i));
                if !(ascending && line.border(line.blocks - 1) < high) {
                    return Err(PartitionError::Narrow { axis: AXES[axis], low, high, blocks: line.blocks });
                }
            }
            let own = rank / strides[axis] % line.blocks;
            let slab = |i: u32| Slab { low: line.border(i), high: line.border(i + 1), offset: i * strides[axis] };
            for (slot, i) in this.slabs[axis].iter_mut().zip(line.about(own)) {
                *slot = slab(i);
            }
            let Slab { low, high, .. } = slab(own);
            this.bounds.low[axis] = low.max(periods.low[axis]);
            this.bounds.high[axis] = high.min(periods.high[axis]);
            this.reach = this.reach.min(line.reach());
        }
        let mut neighbours = Vec::new();
        this.ranks_of(&Aabb { low: DVec3::NEG_INFINITY, high: DVec3::INFINITY }, &mut |r| neighbours.push(r));
        neighbours.retain(|&r| r != rank);
        this.neighbours = neighbours;
        Ok(this)
    }

    /// Blocks for a number of ranks with the least surface between them in a box of this size.
    /// Among equals the widest blocks, then the most cuts across x, then y: beds settle along z.
    pub fn automatic(ranks: usize, size: DVec3, repeats: [bool; 3]) -> [u32; 3] {
        // A flat box is not cut along its plane, and its other faces still count.
        let longest = size.max_element();
        let size = if longest > 0.0 { size.max(DVec3::splat(1e-6 * longest)) / longest } else { DVec3::ONE };
        let faces = [size.y * size.z, size.z * size.x, size.x * size.y];
        let n = ranks.max(1) as u32;
        let divisors: Vec<u32> = (1..=n).rev().filter(|&d| n.is_multiple_of(d)).collect();
        // Rounding is no reason to choose.
        let less = |a: f64, b: f64| a < b * (1.0 - 1e-9);
        let mut best = [n, 1, 1];
        let mut least = f64::INFINITY;
        let mut widest = 0.0;
        for &x in &divisors {
            for &y in divisors.iter().filter(|&&y| (n / x).is_multiple_of(y)) {
                let blocks = [x, y, n / x / y];
                let surface: f64 = (0..3)
                    .map(|axis| {
                        let closing = repeats[axis] && blocks[axis] > 1;
                        f64::from(blocks[axis] - 1 + u32::from(closing)) * faces[axis]
                    })
                    .sum();
                let cut = (0..3).filter(|&axis| blocks[axis] > 1);
                let width = cut.map(|axis| size[axis] / f64::from(blocks[axis])).fold(f64::INFINITY, f64::min);
                if less(surface, least) || !less(least, surface) && less(widest, width) {
                    (best, least, widest) = (blocks, surface, width);
                }
            }
        }
        best
    }
}

impl Partition for Cartesian {
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
        let place = |axis: usize| self.slabs[axis].iter().find(|s| s.owns(x[axis])).map(|s| s.offset);
        Some(place(0)? + place(1)? + place(2)?)
    }

    fn ranks_of(&self, hull: &Aabb, found: &mut dyn FnMut(u32)) {
        if hull.is_empty() {
            return;
        }
        let met = |axis: usize| self.slabs[axis].iter().filter(move |s| s.meets(hull.low[axis], hull.high[axis]));
        for z in met(2) {
            for y in met(1) {
                for x in met(0) {
                    found(x.offset + y.offset + z.offset);
                }
            }
        }
    }

    fn knows(&self, hull: &Aabb) -> bool {
        (0..3).all(|axis| {
            // Known slabs ascend. Where one ends the next must begin, until the box is passed. What it
            // touches from above counts.
            let passed = |at: f64, slab: &Slab| if slab.owns(at) { slab.high } else { at };
            let at = self.slabs[axis].iter().fold(hull.low[axis].next_down(), passed);
            hull.is_empty() || hull.high[axis] < at
        })
    }

    fn holds(&self, hull: &Aabb) -> bool {
        // Not even touching a border: there others meet it, be it across a period.
        self.bounds.low.cmplt(hull.low).all() && hull.high.cmplt(self.bounds.high).all()
    }

    fn bounds(&self) -> Aabb {
        self.bounds
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Atlas, check};
    use super::*;
    use proptest::prelude::*;

    const LOW: DVec3 = DVec3::new(0.0, -1.0, 2.0);
    const HIGH: DVec3 = DVec3::new(16.0, 7.0, 14.0);

    fn views(blocks: [u32; 3], repeats: [bool; 3]) -> Vec<Box<dyn Partition>> {
        let ranks = blocks.iter().product::<u32>();
        let view = |rank| Cartesian::new(ranks as usize, rank, blocks, LOW, HIGH, repeats).unwrap();
        (0..ranks).map(|rank| Box::new(view(rank)) as Box<dyn Partition>).collect()
    }

    /// All blocks, by their definition.
    fn atlas(blocks: [u32; 3]) -> Atlas {
        let border = |axis: usize, i: u32| match i {
            0 => f64::NEG_INFINITY,
            i if i == blocks[axis] => f64::INFINITY,
            i => LOW[axis] + (HIGH[axis] - LOW[axis]) * (f64::from(i) / f64::from(blocks[axis])),
        };
        let mut boxes = Vec::new();
        for z in 0..blocks[2] {
            for y in 0..blocks[1] {
                for x in 0..blocks[0] {
                    let corner = |d| DVec3::new(border(0, x + d), border(1, y + d), border(2, z + d));
                    boxes.push((boxes.len() as u32, Aabb { low: corner(0), high: corner(1) }));
                }
            }
        }
        Atlas { boxes }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(96))]
        #[test]
        fn every_rank_sees_the_same_blocks(
            blocks in prop::array::uniform3(1u32..6),
            repeats in prop::array::uniform3(any::<bool>()),
            seed in any::<u64>(),
        ) {
            let periods = Periods::new(LOW, HIGH, repeats);
            check(&views(blocks, repeats), &periods, &atlas(blocks), 0.25, seed);
        }
    }

    #[test]
    fn a_corner_of_eight_has_one_owner_and_meets_all() {
        let views = views([2, 2, 2], [false; 3]);
        let corner = 0.5 * (LOW + HIGH);
        for view in &views {
            assert_eq!(view.owner(corner), Some(7));
            let mut met = Vec::new();
            view.ranks_of(&Aabb { low: corner, high: corner }, &mut |rank| met.push(rank));
            assert_eq!(met, (0..8).collect::<Vec<_>>());
        }
    }

    #[test]
    fn neighbours_are_counted_once() {
        let count = |blocks, repeats, rank: usize| views(blocks, repeats)[rank].neighbours().len();
        assert_eq!(count([1, 1, 1], [true; 3], 0), 0);
        assert_eq!(count([2, 1, 1], [true; 3], 0), 1);
        assert_eq!(count([3, 3, 3], [false; 3], 0), 7);
        assert_eq!(count([3, 3, 3], [false; 3], 13), 26);
        assert_eq!(count([4, 4, 4], [true; 3], 0), 26);
        assert_eq!(count([4, 2, 1], [true, true, false], 0), 5);
    }

    #[test]
    fn the_reach_is_the_least_width_between_two_others() {
        let reach = |blocks, repeats| views(blocks, repeats)[0].reach();
        assert_eq!(reach([1, 1, 1], [false; 3]), f64::INFINITY);
        assert_eq!(reach([2, 2, 2], [false; 3]), f64::INFINITY);
        assert_eq!(reach([4, 2, 2], [false; 3]), 4.0);
        assert_eq!(reach([4, 8, 2], [false; 3]), 1.0);
        // Not more than half a period, be it one block wide.
        assert_eq!(reach([1, 1, 1], [true, false, false]), 8.0);
        assert_eq!(reach([2, 2, 1], [true, true, true]), 4.0);
        assert_eq!(reach([8, 1, 1], [true, false, false]), 2.0);
    }

    #[test]
    fn a_point_that_rounding_puts_on_the_end_of_a_period_has_an_owner() {
        let views = views([4, 1, 1], [true, false, false]);
        assert_eq!(views[0].owner(HIGH), Some(3));
        assert_eq!(views[3].owner(HIGH), Some(3));
        assert_eq!(views[1].owner(HIGH), None);
    }

    #[test]
    fn blocks_have_the_least_surface() {
        let automatic = |ranks, size: [f64; 3]| Cartesian::automatic(ranks, size.into(), [false; 3]);
        assert_eq!(automatic(1, [1.0; 3]), [1, 1, 1]);
        assert_eq!(automatic(2, [1.0; 3]), [2, 1, 1]);
        assert_eq!(automatic(4, [1.0; 3]), [2, 2, 1]);
        assert_eq!(automatic(8, [1.0; 3]), [2, 2, 2]);
        assert_eq!(automatic(7, [1.0, 3.0, 2.0]), [1, 7, 1]);
        assert_eq!(automatic(12, [1.0, 1.0, 3.0]), [2, 2, 3]);
        assert_eq!(automatic(4, [1.0, 1.0, 100.0]), [1, 1, 4]);
        assert_eq!(automatic(16, [1.0, 1.0, 0.0]), [4, 4, 1]);
        assert_eq!(automatic(64, [0.1, 0.1, 0.1]), [4, 4, 4]);
        // Along an axis that repeats, two blocks have two borders.
        assert_eq!(Cartesian::automatic(2, DVec3::ONE, [true, false, false]), [1, 2, 1]);
        assert_eq!(Cartesian::automatic(8, DVec3::ONE, [true; 3]), [2, 2, 2]);
        for ranks in 1..200 {
            let blocks = automatic(ranks, [1.0, 2.0, 5.0]);
            assert_eq!(blocks.iter().product::<u32>() as usize, ranks);
        }
    }

    #[test]
    fn bad_cells_are_refused() {
        let new = |blocks, low: f64, high: f64, repeats| {
            Cartesian::new(4, 0, blocks, DVec3::splat(low), DVec3::splat(high), repeats).err()
        };
        let none = [false; 3];
        assert_eq!(new([4, 1, 1], 0.0, 1.0, none), None);
        assert_eq!(
            new([3, 1, 1], 0.0, 1.0, none),
            Some(PartitionError::Blocks { blocks: [3, 1, 1], product: 3, ranks: 4 })
        );
        assert!(matches!(new([4, 1, 0], 0.0, 1.0, none), Some(PartitionError::Blocks { .. })));
        assert!(matches!(new([1, 4, 1], 1.0, 1.0, none), Some(PartitionError::Cell { axis: 'y', .. })));
        assert!(matches!(new([1, 4, 1], 0.0, f64::NAN, none), Some(PartitionError::Cell { axis: 'y', .. })));
        assert!(matches!(
            new([1, 4, 1], f64::NEG_INFINITY, 0.0, [true; 3]),
            Some(PartitionError::Cell { axis: 'x', .. })
        ));
        assert!(matches!(new([1, 1, 4], 1.0, 1.0f64.next_up(), none), Some(PartitionError::Narrow { axis: 'z', .. })));
    }
}
