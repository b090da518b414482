//! A box filled with spheres at random, one after another and none overlapping (random
//! sequential addition).
//!
//! A place is drawn until it is free or the attempts are used up, the largest spheres first while
//! there is room; ids follow the order of drawing all the same. Which spheres look for places where,
//! and in which order, is decided by [`Tiles`], so that a rank of a distributed run makes its own
//! part and a margin about it, and finds what one process finds, to the last bit. Equal spheres can
//! be placed up to about 38 % by volume (the jamming limit of the method); in practice plan for 30 %.

use super::cells::Cells;
use super::random::{EntryKind, Purpose, Stream};
use super::tiles::{Block, Stage, Tiles};
use super::{Ball, Radius};
use crate::broad::Aabb;
use crate::partition::Periods;
use glam::DVec3;
use serde::{Deserialize, Serialize};
use std::f64::consts::PI;

/// A box filled with spheres at random.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fill {
    /// Lowest corner of the box, m; spheres lie wholly inside.
    pub min: DVec3,
    /// Highest corner of the box, m.
    pub max: DVec3,
    /// How many spheres.
    pub count: u64,
    /// Radii, m.
    pub radius: Radius,
    /// Smallest gap between two spheres, m, also across a periodic border.
    #[serde(default)]
    pub gap: f64,
    /// Velocity of all, m/s.
    #[serde(default)]
    pub velocity: DVec3,
    /// Largest random addition to each component of the velocity, m/s.
    #[serde(default)]
    pub velocity_jitter: f64,
    /// Name of the material; empty for the first.
    #[serde(default)]
    pub material: String,
    /// A number to tell bodies apart by in what a run writes; physics does not ask for it.
    #[serde(default)]
    pub group: u16,
    /// Places tried for one sphere before giving up.
    #[serde(default = "default_attempts")]
    pub attempts: u32,
}

fn default_attempts() -> u32 {
    30_000
}

/// How far a fill came that ran out of attempts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Crowded {
    /// Spheres that had found a place.
    pub(crate) placed: u64,
    /// Spheres that were to be placed here.
    pub(crate) of: u64,
}

/// How a part of a fill is made.
pub(crate) struct Plan {
    /// What is to be filled, clear of its own images.
    fill: Fill,
    stream: Stream,
    tiles: Tiles,
    /// The tiles that are asked for.
    wanted: Block,
    stages: Vec<Stage>,
    /// The tiles that take part.
    margin: Block,
}

/// A sphere that waits for its place.
struct Waiting {
    number: u64,
    radius: f64,
    turn: usize,
}

impl Fill {
    /// Spheres at rest, of the first material.
    pub fn new(min: DVec3, max: DVec3, count: u64, radius: impl Into<Radius>) -> Self {
        Self {
            min,
            max,
            count,
            radius: radius.into(),
            gap: 0.0,
            velocity: DVec3::ZERO,
            velocity_jitter: 0.0,
            material: String::new(),
            group: 0,
            attempts: default_attempts(),
        }
    }

    /// Fraction of the box that the spheres fill, estimated from the first hundred thousand.
    pub(crate) fn volume_fraction(&self, seed: u64, index: usize) -> f64 {
        let stream = Stream::new(seed, EntryKind::Fill, index);
        let sample = self.count.min(100_000);
        let cubes: f64 = (0..sample).map(|k| self.radius.draw(&mut stream.draws(k, Purpose::Radius)).powi(3)).sum();
        let size = self.max - self.min;
        4.0 / 3.0 * PI * cubes * (self.count as f64 / sample.max(1) as f64) / (size.x * size.y * size.z)
    }

    /// The same fill, in a box that is so much shorter than a period that its spheres keep the gap to
    /// the images of others. They lie wholly inside, so nothing else is needed.
    pub(crate) fn clear_of_images(&self, periods: &Periods) -> Self {
        let excess = 0.5 * (self.max - self.min - (periods.length() - self.gap)).max(DVec3::ZERO);
        Self { min: self.min + excess, max: self.max - excess, ..self.clone() }
    }

    /// How to make the spheres whose centres may lie in a region, and maybe some more; `None` if
    /// there are none. Needs a box that holds the largest sphere.
    pub(crate) fn plan(&self, seed: u64, index: usize, region: &Aabb, periods: &Periods) -> Option<Plan> {
        let fill = self.clear_of_images(periods);
        let tiles = Tiles::new(&fill, seed, index);
        let wanted = tiles.about(region)?;
        let (stages, margin) = tiles.stages(wanted);
        Some(Plan { fill, stream: Stream::new(seed, EntryKind::Fill, index), tiles, wanted, stages, margin })
    }
}

impl Plan {
    /// A box that holds the centres of all spheres that the plan places.
    pub(crate) fn extent(&self) -> Aabb {
        self.tiles.extent(&self.margin)
    }

    /// The spheres in the order of their numbers, clear of each other and of the balls `there`,
    /// which must be known as far as they come near to [`Self::extent`].
    pub(crate) fn spheres(&self, there: impl Iterator<Item = (DVec3, f64)> + Clone) -> Result<Vec<Ball>, Crowded> {
        let fill = &self.fill;
        let mut waiting: Vec<Vec<Waiting>> = self.margin.tiles().map(|tile| self.dealt_to(tile)).collect();
        let count: usize = waiting.iter().map(Vec::len).sum();

        let bounds = |(small, large): (f64, f64), r: f64| (small.min(r), large.max(r));
        let (small, large) = there.clone().map(|ball| ball.1).fold((fill.radius.min(), fill.radius.max()), bounds);
        let Aabb { low, high } = self.extent();
        let low = low - fill.radius.max();
        let high = high + fill.radius.max();
        let mut cells = Cells::new(low, high, small, large, count);
        for (x, r) in there {
            if cells.concerns(x, r + fill.gap) {
                cells.insert(x, r);
            }
        }

        let mut spheres = Vec::with_capacity(count);
        let mut placed = 0;
        for stage in &self.stages {
            for tile in stage.block.of_colour(stage.colour) {
                let here = &mut waiting[self.margin.index(tile)];
                // The first of them have their turn; those of later turns stay.
                let later = here.iter().position(|sphere| sphere.turn > stage.turn).unwrap_or(here.len());
                for Waiting { number, radius, .. } in here.drain(..later) {
                    let mut draws = self.stream.draws(number, Purpose::Position);
                    let free = |x: &DVec3| !cells.overlaps(*x, radius, fill.gap);
                    let place = (0..fill.attempts).map(|_| self.tiles.place(tile, radius, &mut draws)).find(free);
                    let x = place.ok_or(Crowded { placed, of: count as u64 })?;
                    cells.insert(x, radius);
                    placed += 1;
                    if self.wanted.holds(tile) {
                        spheres.push(Ball { number, x, radius, velocity: self.velocity(number) });
                    }
                }
            }
        }
        spheres.sort_unstable_by_key(|ball| ball.number);
        Ok(spheres)
    }

    /// The spheres of a tile in the order in which they are placed: the largest first, equal ones
    /// by their numbers.
    fn dealt_to(&self, tile: [u64; 3]) -> Vec<Waiting> {
        let radius = |number| self.fill.radius.draw(&mut self.stream.draws(number, Purpose::Radius));
        let mut dealt: Vec<Waiting> =
            self.tiles.members(tile).map(|number| Waiting { number, radius: radius(number), turn: 0 }).collect();
        dealt.sort_by(|a, b| b.radius.total_cmp(&a.radius));
        let turns = Tiles::turns(&dealt.iter().map(|sphere| sphere.radius).collect::<Vec<_>>());
        dealt.iter_mut().zip(turns).for_each(|(sphere, turn)| sphere.turn = turn);
        dealt
    }

    fn velocity(&self, number: u64) -> DVec3 {
        let Fill { velocity, velocity_jitter, .. } = self.fill;
        if velocity_jitter > 0.0 {
            velocity + self.stream.draws(number, Purpose::Velocity).cube(velocity_jitter)
        } else {
            velocity
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EVERYWHERE: Aabb = Aabb { low: DVec3::NEG_INFINITY, high: DVec3::INFINITY };

    /// All spheres of a fill.
    fn whole(fill: &Fill, seed: u64, index: usize, there: &[Ball]) -> Result<Vec<Ball>, Crowded> {
        fill.plan(seed, index, &EVERYWHERE, &Periods::default())
            .unwrap()
            .spheres(there.iter().map(|ball| (ball.x, ball.radius)))
    }

    /// The smallest gap between two of the spheres, by looking at every pair.
    fn smallest_gap(spheres: &[Ball]) -> f64 {
        let mut least = f64::INFINITY;
        for (i, a) in spheres.iter().enumerate() {
            for b in &spheres[..i] {
                least = least.min(a.x.distance(b.x) - a.radius - b.radius);
            }
        }
        least
    }

    #[test]
    fn spheres_keep_clear_of_each_other_and_the_walls() {
        let fill = Fill { gap: 1e-3, ..Fill::new(DVec3::ZERO, DVec3::ONE, 1500, Radius::Uniform([0.02, 0.04])) };
        let spheres = whole(&fill, 1, 0, &[]).unwrap();
        assert!(spheres.iter().map(|ball| ball.number).eq(0..1500));
        assert!(smallest_gap(&spheres) >= 1e-3 * (1.0 - 1e-9));
        let inside = |b: &Ball| (b.x - b.radius).min_element() >= 0.0 && (b.x + b.radius).max_element() <= 1.0;
        assert!(spheres.iter().all(inside));
        assert_eq!(spheres, whole(&fill, 1, 0, &[]).unwrap());
        assert_ne!(spheres, whole(&fill, 2, 0, &[]).unwrap());
        // What was there before is kept clear of.
        let second = whole(&Fill { count: 500, ..fill }, 1, 1, &spheres).unwrap();
        assert!(smallest_gap(&[spheres, second].concat()) >= 1e-3 * (1.0 - 1e-9));
    }

    #[test]
    fn a_range_of_radii_of_fifty_fills() {
        let radius = Radius::PowerLaw(crate::scene::PowerLaw { min: 0.004, max: 0.2, exponent: -3.0 });
        let fill = Fill::new(DVec3::ZERO, DVec3::ONE, 20_000, radius);
        let spheres = whole(&fill, 3, 0, &[]).unwrap();
        let largest = spheres.iter().map(|ball| ball.radius).fold(0.0, f64::max);
        assert!(largest > 0.1, "{largest}");
        assert!(smallest_gap(&spheres) >= 0.0);
    }

    #[test]
    fn a_crowded_box_says_how_far_it_got() {
        let fill = Fill { attempts: 200, ..Fill::new(DVec3::ZERO, DVec3::ONE, 1000, 0.05) };
        assert!((fill.volume_fraction(0, 0) - PI / 6.0).abs() < 1e-9);
        let Err(Crowded { placed, of }) = whole(&fill, 0, 0, &[]) else { panic!("52 % cannot be reached") };
        assert!((200..800).contains(&placed) && of == 1000, "{placed} of {of}");
    }

    /// A fill of equal spheres of diameter 1 in a cube, of this volume fraction.
    fn cube(count: u64, fraction: f64) -> Fill {
        let edge = (count as f64 * PI / 6.0 / fraction).cbrt();
        Fill::new(DVec3::ZERO, DVec3::splat(edge), count, 0.5)
    }

    #[test]
    fn equal_spheres_fill_thirty_percent() {
        for (count, seeds) in [(1000, 4), (20_000, 1)] {
            for seed in 0..seeds {
                assert!(whole(&cube(count, 0.3), seed, 0, &[]).is_ok(), "{count} spheres, seed {seed}");
            }
        }
    }
}
