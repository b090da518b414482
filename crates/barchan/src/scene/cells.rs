//! Cells for the question "which balls does this one overlap?", at any mix of sizes.
//!
//! One grid a factor of two of radius: a ball lies in the grid of its size, in the cell of its
//! centre, and a query looks in each grid at the few cells that its reach covers. A single grid
//! would have cells as large as the largest ball and crowds of small ones in each of them.

use glam::DVec3;

/// No ball.
const NONE: u32 = u32::MAX;

/// One grid over the region: heads of linked lists of balls.
struct Level {
    /// Largest radius in this level so far.
    reach: f64,
    cell: DVec3,
    counts: [usize; 3],
    heads: Vec<u32>,
}

/// Balls in and about a box.
pub(crate) struct Cells {
    low: DVec3,
    high: DVec3,
    smallest: f64,
    levels: Vec<Level>,
    balls: Vec<(DVec3, f64)>,
    next: Vec<u32>,
}

impl Cells {
    /// An empty set for about `count` balls with radii between `smallest` and `largest` and
    /// centres in the box; the box and the radii must not be empty.
    pub(crate) fn new(low: DVec3, high: DVec3, smallest: f64, largest: f64, count: usize) -> Self {
        let levels = level_of(largest, smallest) + 1;
        let size = (high - low).max(DVec3::splat(f64::MIN_POSITIVE));
        let counts_for = |edge: f64| size.to_array().map(|s| (s / edge).floor().clamp(1.0, 1e6) as usize);
        // Cells of a diameter at least, and no more of them than a few a ball.
        let limit = 4 * count + 64;
        let make = |level: usize| {
            let mut edge = 4.0 * smallest * 2f64.powi(level as i32);
            while counts_for(edge).iter().product::<usize>() > limit {
                edge *= 1.25;
            }
            let counts = counts_for(edge);
            let cell = size / DVec3::new(counts[0] as f64, counts[1] as f64, counts[2] as f64);
            Level { reach: 0.0, cell, counts, heads: vec![NONE; counts.iter().product()] }
        };
        let levels = (0..levels).map(make).collect();
        Self { low, high, smallest, levels, balls: Vec::with_capacity(count), next: Vec::with_capacity(count) }
    }

    /// Adds a ball.
    pub(crate) fn insert(&mut self, x: DVec3, radius: f64) {
        let index = level_of(radius, self.smallest).min(self.levels.len() - 1);
        let level = &mut self.levels[index];
        level.reach = level.reach.max(radius);
        let [i, j, k] = level.cell_of(x - self.low);
        let head = &mut level.heads[i + level.counts[0] * (j + level.counts[1] * k)];
        self.next.push(std::mem::replace(head, self.balls.len() as u32));
        self.balls.push((x, radius));
    }

    /// Whether a ball comes nearer than `gap` to one that is already there, and `decides` on it by its number in the
    /// order of insertion.
    pub(crate) fn any(&self, x: DVec3, radius: f64, gap: f64, mut decides: impl FnMut(usize) -> bool) -> bool {
        self.levels.iter().filter(|level| level.reach > 0.0).any(|level| {
            let reach = DVec3::splat(radius + level.reach + gap);
            // Clamping to the grid keeps the order of cells, so balls beyond the box are found too.
            let a = level.cell_of(x - reach - self.low);
            let b = level.cell_of(x + reach - self.low);
            (a[2]..=b[2]).any(|k| {
                (a[1]..=b[1]).any(|j| {
                    (a[0]..=b[0]).any(|i| {
                        let mut ball = level.heads[i + level.counts[0] * (j + level.counts[1] * k)];
                        while ball != NONE {
                            let (y, r) = self.balls[ball as usize];
                            let least = radius + r + gap;
                            if y.distance_squared(x) < least * least && decides(ball as usize) {
                                return true;
                            }
                            ball = self.next[ball as usize];
                        }
                        false
                    })
                })
            })
        })
    }

    /// A ball, by its number.
    pub(crate) fn ball(&self, number: usize) -> (DVec3, f64) {
        self.balls[number]
    }

    /// Whether a ball can matter to anything within the box at all.
    pub(crate) fn concerns(&self, x: DVec3, radius: f64) -> bool {
        (x + radius).cmpge(self.low).all() && (x - radius).cmple(self.high).all()
    }
}

impl Level {
    /// The cell of a point relative to the low corner; the nearest one for points outside.
    #[inline]
    fn cell_of(&self, x: DVec3) -> [usize; 3] {
        let t = x / self.cell;
        let clamp = |t: f64, n: usize| (t.max(0.0) as usize).min(n - 1);
        [clamp(t.x, self.counts[0]), clamp(t.y, self.counts[1]), clamp(t.z, self.counts[2])]
    }
}

/// Which factor of two above the smallest radius.
fn level_of(radius: f64, smallest: f64) -> usize {
    (radius / smallest).log2().floor().clamp(0.0, 31.0) as usize
}

#[cfg(test)]
mod tests {
    use super::super::random::{EntryKind, Purpose, Stream};
    use super::*;

    #[test]
    fn agrees_with_looking_at_every_ball() {
        let low = DVec3::new(-1.0, 0.0, 2.0);
        let high = DVec3::new(1.0, 3.0, 2.5);
        let mut cells = Cells::new(low, high, 0.002, 0.2, 600);
        let stream = Stream::new(1, EntryKind::Fill, 0);
        let mut balls: Vec<(DVec3, f64)> = Vec::new();
        let mut hits = 0;
        for k in 0..600 {
            let mut draws = stream.draws(k, Purpose::Position);
            // Some centres lie beyond the box.
            let x = low - 0.3 + (high - low + 0.6) * DVec3::new(draws.unit(), draws.unit(), draws.unit());
            let r = 0.002 * 100f64.powf(draws.unit());
            let slow = balls.iter().any(|(y, s)| y.distance(x) < r + s + 0.01);
            assert_eq!(cells.any(x, r, 0.01, |_| true), slow, "ball {k}");
            hits += usize::from(slow);
            cells.insert(x, r);
            balls.push((x, r));
        }
        assert!((100..550).contains(&hits), "{hits}");
    }
}
