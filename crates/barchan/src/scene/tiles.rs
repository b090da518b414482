//! A box cut into tiles, so that a part of a fill can be made alone.
//!
//! Every body is dealt to a tile by its number, and looks for a place about that tile only. Tiles
//! are worked off by colour, as on a chequered board in three dimensions: those of one colour are so
//! far apart that they do not know of each other. What stands in a tile thus depends on tiles a few
//! colours away and on nothing beyond, whoever computes it.
//!
//! Three measures keep the borders of tiles out of sight. A place is drawn evenly from the tile and
//! then shifted at random, as far as tiles of one colour stay apart: all places of the box are
//! equally likely, and spheres of neighbouring tiles mix. Tiles take turns: each places a share of
//! its spheres, by volume and the largest first, before any places the next. So those of the last
//! colour do not find all room taken. And tiles are large:
//! that each gets the same number of spheres shows less, the more they are.

use super::Fill;
use super::random::{Draws, EntryKind, Stream};
use super::stock::Stock;
use crate::broad::Aabb;
use glam::DVec3;

/// How often the tiles take turns. More turns hide borders better, and reach farther.
const TURNS: usize = 3;

/// Equal spheres a tile, at least.
const CROWD: f64 = 64.0;

/// Width of a tile at least, in the largest distance at which two spheres can touch.
const WIDTH: f64 = 3.0;

/// The colours in the order of a turn: the parity of a tile along each axis. From one to the next
/// a single axis changes, so that a turn carries dependences 4, 2 and 1 tiles along x, y and z, not
/// 7, 3 and 1.
const COLOURS: [[u64; 3]; 8] = [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 1, 1], [1, 1, 1], [1, 0, 1], [0, 0, 1]];

/// A block of tiles, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Block {
    pub(crate) low: [u64; 3],
    pub(crate) high: [u64; 3],
}

impl Block {
    /// The tiles of one colour among them, x fastest.
    pub(crate) fn of_colour(self, colour: [u64; 3]) -> impl Iterator<Item = [u64; 3]> {
        let along = move |axis: usize| {
            let first = self.low[axis] + (self.low[axis] + colour[axis]) % 2;
            (first..=self.high[axis]).step_by(2)
        };
        along(2).flat_map(move |k| along(1).flat_map(move |j| along(0).map(move |i| [i, j, k])))
    }

    /// All of them, x fastest.
    pub(crate) fn tiles(self) -> impl Iterator<Item = [u64; 3]> {
        let along = move |axis: usize| self.low[axis]..=self.high[axis];
        along(2).flat_map(move |k| along(1).flat_map(move |j| along(0).map(move |i| [i, j, k])))
    }

    /// Whether a tile is one of them.
    pub(crate) fn holds(&self, tile: [u64; 3]) -> bool {
        (0..3).all(|axis| (self.low[axis]..=self.high[axis]).contains(&tile[axis]))
    }

    /// The place of a tile in the order of [`Self::tiles`].
    pub(crate) fn index(&self, tile: [u64; 3]) -> usize {
        let [nx, ny] = [0, 1].map(|axis| self.high[axis] - self.low[axis] + 1);
        let [i, j, k] = [0, 1, 2].map(|axis| tile[axis] - self.low[axis]);
        (i + nx * (j + ny * k)) as usize
    }
}

/// One colour's part of a turn.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stage {
    pub(crate) turn: usize,
    pub(crate) colour: [u64; 3],
    /// The tiles that must be right after this stage; those of the colour act in it.
    pub(crate) block: Block,
}

/// A fill's box, cut into tiles.
#[derive(Clone, Debug)]
pub(crate) struct Tiles {
    low: DVec3,
    high: DVec3,
    /// How far a body reaches from its centre along an axis: from, and up to down and up each axis.
    least: f64,
    down: DVec3,
    up: DVec3,
    counts: [u64; 3],
    /// Largest random shift of a place, in tiles.
    blur: DVec3,
    spheres: u64,
    /// Sphere k goes to tile k·stride modulo the number of tiles, and `back` undoes the stride.
    stride: u64,
    back: u64,
}

impl Tiles {
    pub(crate) fn new(fill: &Fill, stock: &Stock, seed: u64, index: usize) -> Self {
        let largest = stock.max_radius();
        let [down, up] = stock.reach();
        // Centres of bodies that reach differently far may be nearer to each other by the difference.
        let (least, shift) = if stock.is_of_spheres() { (stock.min_radius(), 0.0) } else { (0.0, largest) };
        // A hair more than the distance of centres at which two spheres no longer mind each other.
        let reach = (2.0 * largest + shift + fill.gap) * (1.0 + 1e-9);
        let room = fill.max - fill.min - (down + up);
        let most = (fill.count as f64 / (CROWD * crowding(fill, stock, seed, index))).max(1.0);
        let mut width = WIDTH * reach;
        let cut = |width: f64| room.to_array().map(|room| (room / width).floor().clamp(1.0, 1e6));
        while cut(width).iter().product::<f64>() > most {
            width *= 1.05;
        }
        let counts = cut(width);
        let blur = |axis: usize| if counts[axis] > 1.0 { 0.5 * (1.0 - reach * counts[axis] / room[axis]) } else { 0.0 };
        let total = counts.iter().product::<f64>() as u64;
        let (stride, back) = scatter(total);
        Self {
            low: fill.min,
            high: fill.max,
            least,
            down,
            up,
            counts: counts.map(|n| n as u64),
            blur: DVec3::new(blur(0), blur(1), blur(2)),
            spheres: fill.count,
            stride,
            back,
        }
    }

    /// The extremes of how far bodies reach down and up an axis.
    fn reaches(&self, axis: usize) -> [[f64; 2]; 4] {
        let down = [self.least.min(self.down[axis]), self.down[axis]];
        let up = [self.least.min(self.up[axis]), self.up[axis]];
        [[down[0], up[0]], [down[0], up[1]], [down[1], up[0]], [down[1], up[1]]]
    }

    /// How many tiles there are.
    fn total(&self) -> u64 {
        self.counts.iter().product()
    }

    /// The numbers of the spheres of a tile: as many for each, or one more.
    pub(crate) fn members(&self, tile: [u64; 3]) -> impl Iterator<Item = u64> {
        let [nx, ny, _] = self.counts;
        let index = tile[0] + nx * (tile[1] + ny * tile[2]);
        debug_assert!(index * self.back % self.total() * self.stride % self.total() == index);
        (index * self.back % self.total()..self.spheres).step_by(self.total() as usize)
    }

    /// Draws a place for a body of a tile that reaches so far down and up each axis.
    pub(crate) fn place(&self, tile: [u64; 3], [down, up]: [DVec3; 2], draws: &mut Draws) -> DVec3 {
        let mut x = DVec3::ZERO;
        for axis in 0..3 {
            let low = self.low[axis] + down[axis];
            let high = (self.high[axis] - up[axis]).max(low);
            x[axis] = if self.counts[axis] == 1 {
                draws.between(low, high)
            } else {
                let n = self.counts[axis] as f64;
                let inside = tile[axis] as f64 + draws.unit();
                let shifted = inside + draws.between(-self.blur[axis], self.blur[axis]);
                // What would leave the box is reflected: its rim is as likely as any other place.
                let t = if shifted < 0.0 { -shifted } else { shifted.min(2.0 * n - shifted) };
                (low + (high - low) * (t / n)).clamp(low, high)
            };
        }
        x
    }

    /// The place that is nearest to another one, of those that a body of a tile may have.
    pub(crate) fn confined(&self, tile: [u64; 3], [down, up]: [DVec3; 2], x: DVec3) -> DVec3 {
        let low = self.low + down;
        let high = (self.high - up).max(low);
        let at = |axis: usize, t: f64| {
            let n = self.counts[axis] as f64;
            low[axis] + (high[axis] - low[axis]) * (t.clamp(0.0, n) / n)
        };
        let confined = |axis: usize| {
            let first = tile[axis] as f64 - self.blur[axis];
            let last = (tile[axis] + 1) as f64 + self.blur[axis];
            x[axis].clamp(at(axis, first), at(axis, last))
        };
        DVec3::new(confined(0), confined(1), confined(2))
    }

    /// The tiles whose spheres may have their centres in a box.
    pub(crate) fn about(&self, region: &Aabb) -> Option<Block> {
        let mut block = Block { low: [0; 3], high: [0; 3] };
        for axis in 0..3 {
            let n = self.counts[axis] as f64;
            let low = region.low[axis];
            let high = region.high[axis];
            if high < self.low[axis] || low > self.high[axis] {
                return None;
            }
            if self.counts[axis] == 1 {
                continue;
            }
            // Where a point stands among the tiles depends on how far a body reaches down and up, monotonically.
            let t = |x: f64| {
                self.reaches(axis)
                    .map(|[a, b]| n * (x - self.low[axis] - a) / (self.high[axis] - self.low[axis] - a - b))
            };
            let reach = self.blur[axis] + 1e-6;
            let first = t(low).into_iter().fold(f64::INFINITY, f64::min);
            let last = t(high).into_iter().fold(f64::NEG_INFINITY, f64::max);
            let first = (first - 1.0 - reach).ceil().clamp(0.0, n);
            let last = (last + reach).floor().clamp(-1.0, n - 1.0);
            if first > last {
                return None;
            }
            (block.low[axis], block.high[axis]) = (first as u64, last as u64);
        }
        Some(block)
    }

    /// A box that holds the centres of all spheres of a block.
    pub(crate) fn extent(&self, block: &Block) -> Aabb {
        let at = |axis: usize, t: f64, fold: fn(f64, f64) -> f64| {
            let n = self.counts[axis] as f64;
            let t = t.clamp(0.0, n) / n;
            let at = |[a, b]: [f64; 2]| self.low[axis] + a + t * (self.high[axis] - self.low[axis] - a - b);
            self.reaches(axis).map(at).into_iter().reduce(fold).unwrap_or(t)
        };
        let low = |axis: usize| at(axis, block.low[axis] as f64 - self.blur[axis] - 1e-6, f64::min);
        let high = |axis: usize| at(axis, (block.high[axis] + 1) as f64 + self.blur[axis] + 1e-6, f64::max);
        Aabb { low: DVec3::new(low(0), low(1), low(2)), high: DVec3::new(high(0), high(1), high(2)) }
    }

    /// What must be done, in order, for the tiles of a block to be right; and the block of all tiles
    /// that take part.
    pub(crate) fn stages(&self, wanted: Block) -> (Vec<Stage>, Block) {
        let mut stages = Vec::with_capacity(TURNS * COLOURS.len());
        let mut need = wanted;
        // From the last stage back: a tile that acts needs its neighbours as they were before.
        for turn in (0..TURNS).rev() {
            for step in (0..COLOURS.len()).rev() {
                // There and back: the colour that ended a turn starts the next.
                let colour = COLOURS[if turn.is_multiple_of(2) { step } else { COLOURS.len() - 1 - step }];
                let first: [u64; 3] = std::array::from_fn(|axis| need.low[axis] + (need.low[axis] + colour[axis]) % 2);
                if (0..3).any(|axis| first[axis] > need.high[axis]) {
                    continue;
                }
                stages.push(Stage { turn, colour, block: need });
                for axis in 0..3 {
                    let last = need.high[axis] - (need.high[axis] + colour[axis]) % 2;
                    need.low[axis] = need.low[axis].min(first[axis].saturating_sub(1));
                    need.high[axis] = need.high[axis].max((last + 1).min(self.counts[axis] - 1));
                }
            }
        }
        stages.reverse();
        // Before the first stage there is nothing to know.
        let margin = stages.first().map_or(wanted, |stage| stage.block);
        (stages, margin)
    }

    /// In which turn each sphere of a tile has its go. The shares of the volume fall from turn to
    /// turn, 5 to 3 to 1: the fuller the box, the more it matters who comes first.
    pub(crate) fn turns(radii: &[f64]) -> Vec<usize> {
        let total: f64 = radii.iter().map(|r| r.powi(3)).sum();
        let mut before = 0.0;
        let turn = |r: &f64| {
            let turn = (TURNS as f64 * (1.0 - (1.0 - before / total).max(0.0).sqrt())) as usize;
            before += r.powi(3);
            turn.min(TURNS - 1)
        };
        radii.iter().map(turn).collect()
    }
}

/// How many spheres of a fill are worth one of equal ones: the volume of n spheres varies from tile
/// to tile as if they were so many times fewer.
fn crowding(fill: &Fill, stock: &Stock, seed: u64, index: usize) -> f64 {
    let stream = Stream::new(seed, EntryKind::Fill, index);
    let sample = fill.count.clamp(1, 4096);
    let largest = stock.max_radius();
    let mut mean = 0.0;
    let mut square = 0.0;
    for k in 0..sample {
        let volume = (stock.draw(&stream, k).radius / largest).powi(3);
        mean += volume / sample as f64;
        square += volume * volume / sample as f64;
    }
    1.0 + 4.0 * (square / (mean * mean) - 1.0).max(0.0)
}

/// A stride that visits all of `total` tiles in a scattered order, and its inverse.
fn scatter(total: u64) -> (u64, u64) {
    let gcd = |mut a: u64, mut b: u64| {
        while b > 0 {
            (a, b) = (b, a % b);
        }
        a
    };
    let golden = (total as f64 * 0.618_033_988_749_895) as u64;
    let stride = (golden.max(1)..).find(|&s| gcd(s, total) == 1).unwrap_or(1) % total.max(2);
    // Extended Euclid: back·stride ≡ 1.
    let mut r = (total as i64, stride as i64);
    let mut s = (0i64, 1i64);
    while r.1 != 0 {
        let q = r.0 / r.1;
        r = (r.1, r.0 - q * r.1);
        s = (s.1, s.0 - q * s.1);
    }
    (stride, s.0.rem_euclid(total as i64) as u64)
}

#[cfg(test)]
mod tests {
    use super::super::Grain;
    use super::super::crowd::Obstacles;
    use super::super::random::Purpose;
    use super::*;
    use crate::partition::Periods;
    use crate::scene::Radius;
    use proptest::prelude::*;
    use std::f64::consts::PI;

    const EVERYWHERE: Aabb = Aabb { low: DVec3::NEG_INFINITY, high: DVec3::INFINITY };

    fn tiles_of(fill: &Fill, seed: u64) -> Tiles {
        Tiles::new(fill, &Stock::new(&fill.assortment()), seed, 0)
    }

    /// Spheres of diameter 1 in a cube of this volume fraction.
    fn cube(count: u64, fraction: f64) -> Fill {
        let edge = (count as f64 * PI / 6.0 / fraction).cbrt();
        Fill::new(DVec3::ZERO, DVec3::splat(edge), count, 0.5)
    }

    #[test]
    fn every_sphere_is_dealt_once_and_tiles_get_equal_shares() {
        for count in [1, 127, 128, 5_000, 100_003] {
            let tiles = tiles_of(&cube(count, 0.2), 0);
            let mut seen = vec![false; count as usize];
            for tile in tiles.about(&EVERYWHERE).unwrap().tiles() {
                let members: Vec<u64> = tiles.members(tile).collect();
                assert!((count / tiles.total()..=count / tiles.total() + 1).contains(&(members.len() as u64)));
                members.iter().for_each(|&k| assert!(!std::mem::replace(&mut seen[k as usize], true)));
            }
            assert!(seen.iter().all(|&seen| seen));
            assert!(count < 5_000 || tiles.total() > 20, "{count}: {:?}", tiles.counts);
        }
    }

    #[test]
    fn dependences_reach_few_tiles() {
        let tiles = tiles_of(&cube(2_000_000, 0.2), 0);
        assert!(tiles.counts.iter().all(|&n| n > 20), "{:?}", tiles.counts);
        let one = Block { low: [13; 3], high: [13; 3] };
        let (stages, margin) = tiles.stages(one);
        let turns = TURNS as u64;
        for (axis, reach) in [4 * turns, 2 * turns + 1, turns + 1].into_iter().enumerate() {
            assert!(margin.low[axis] >= 13 - reach && margin.high[axis] <= 13 + reach, "{margin:?}");
        }
        // Whoever acts in a stage finds all its neighbours right as of the stages before.
        for (i, stage) in stages.iter().enumerate() {
            for tile in stage.block.of_colour(stage.colour) {
                for before in &stages[..i] {
                    let near = |axis: usize| tile[axis] - 1..=tile[axis] + 1;
                    for (z, y, x) in near(2).flat_map(|z| near(1).flat_map(move |y| near(0).map(move |x| (z, y, x)))) {
                        let acts = (0..3).all(|axis| ([x, y, z][axis] + before.colour[axis]).is_multiple_of(2));
                        assert!(!acts || before.block.holds([x, y, z]));
                    }
                }
            }
        }
    }

    proptest! {
        /// Tiles of one colour never mind each other, and every place is where it is looked for.
        #[test]
        fn places_lie_about_their_tile(seed in any::<u64>(), small in 0.1..0.5f64, gap in 0.0..0.5f64) {
            let fill = Fill { gap, radius: Some(Radius::Uniform([small, 0.5])), ..cube(30_000, 0.1) };
            let tiles = tiles_of(&fill, seed);
            prop_assume!(tiles.counts.iter().all(|&n| n > 3));
            let mut draws = Stream::new(seed, EntryKind::Fill, 0).draws(0, Purpose::Position);
            for _ in 0..100 {
                let [a, b] = [0, 1].map(|_| [0, 1, 2].map(|axis| (draws.unit() * tiles.counts[axis] as f64) as u64));
                let [r, s] = [0, 1].map(|_| draws.between(small, 0.5));
                let x = tiles.place(a, [DVec3::splat(r); 2], &mut draws);
                let y = tiles.place(b, [DVec3::splat(s); 2], &mut draws);
                let apart = (0..3).any(|axis| a[axis].abs_diff(b[axis]) > 1);
                prop_assert!(!apart || x.distance(y) >= r + s + gap);
                let point = Aabb { low: x, high: x };
                prop_assert!(tiles.about(&point).unwrap().holds(a));
                let block = Block { low: a, high: a };
                prop_assert!(tiles.extent(&block).meets(&point));
            }
        }
    }

    /// What can be told of a fill near borders of tiles, as a multiple of what is seen away from them:
    /// the number of centres in a volume, and the number of neighbours of a sphere.
    fn seams(count: u64, fraction: f64, seeds: u64) -> [f64; 2] {
        let fill = cube(count, fraction);
        let mut centres = [0.0; 2];
        let mut neighbours = [0.0; 2];
        let mut volume = [0.0; 2];
        for seed in 0..seeds {
            let tiles = tiles_of(&fill, seed);
            let mut x: Vec<DVec3> = (fill.plan(seed, 0, &EVERYWHERE, &Periods::default()).unwrap())
                .grains(&Obstacles::default(), &Periods::default())
                .unwrap()
                .iter()
                .map(|grain: &Grain| grain.x)
                .collect();
            x.sort_by(|a, b| a.x.total_cmp(&b.x));
            let edge = fill.max.x;
            let n = tiles.counts[0] as f64;
            let width = (edge - 1.0) / n;
            assert!(n >= 3.0 && tiles.counts == [n as u64; 3]);
            // Walls of the box order the spheres at them: keep away.
            let inner = 2.5..edge - 2.5;
            let near = |x: f64| {
                let t = (x - 0.5) / width;
                (t - t.round()).abs() * width < 0.5
            };
            for (i, a) in x.iter().enumerate().filter(|(_, a)| a.to_array().iter().all(|x| inner.contains(x))) {
                let close = |b: &&DVec3| a.distance_squared(**b) < 1.5 * 1.5;
                let after = x[i + 1..].iter().take_while(|b| b.x - a.x < 1.5).filter(close).count();
                let before = x[..i].iter().rev().take_while(|b| a.x - b.x < 1.5).filter(close).count();
                for axis in 0..3 {
                    let side = usize::from(!near(a[axis]));
                    centres[side] += 1.0;
                    neighbours[side] += (before + after) as f64;
                }
            }
            // By the same rule, evenly over the inner part.
            for i in 0..100_000 {
                let at = inner.start + (inner.end - inner.start) * (f64::from(i) + 0.5) / 1e5;
                volume[usize::from(!near(at))] += 1.0;
            }
        }
        [centres[0] / volume[0] / (centres[1] / volume[1]), neighbours[0] / centres[0] / (neighbours[1] / centres[1])]
    }

    #[test]
    fn borders_of_tiles_do_not_show() {
        let [density, neighbours] = seams(8000, 0.3, 3);
        assert!((density - 1.0).abs() < 0.02, "{density}");
        assert!((neighbours - 1.0).abs() < 0.03, "{neighbours}");
    }
}
