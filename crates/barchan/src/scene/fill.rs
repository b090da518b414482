//! A box filled with bodies at random, one after another and none overlapping (random
//! sequential addition).
//!
//! A place is drawn until it is free or the attempts are used up, the largest bodies first while
//! there is room; ids follow the order of drawing all the same. With every place that is tried for
//! a body that is no sphere, it is turned anew, and what is overlapped is told by true surfaces
//! ([`Crowd`]). Which bodies look for places where,
//! and in which order, is decided by [`Tiles`], so that a rank of a distributed run makes its own
//! part and a margin about it, and finds what one process finds, to the last bit. Equal spheres can
//! be placed up to about 38 % by volume (the jamming limit of the method), and cubes up to 37 % (Cieśla
//! and Kubala 2018); in practice plan for 30 %.

use super::cells::Cells;
use super::crowd::{Crowd, Newcomer, Obstacles, PLACES};
use super::kind::{Assortment, Kind, Orientation};
use super::random::{EntryKind, Purpose, Stream};
use super::stock::{Drawn, Stock};
use super::tiles::{Block, Stage, Tiles};
use super::{Grain, Radius};
use crate::broad::Aabb;
use crate::narrow::Standing;
use crate::partition::Periods;
use crate::shape::Shape;
use glam::DVec3;
use serde::{Deserialize, Serialize};

/// A box filled with bodies at random.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fill {
    /// Lowest corner of the box, m; bodies lie wholly inside.
    pub min: DVec3,
    /// Highest corner of the box, m.
    pub max: DVec3,
    /// How many bodies.
    pub count: u64,
    /// Radii of spheres, m. An entry has radii, a shape or a mixture.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub radius: Option<Radius>,
    /// The shape that all bodies have, about its centre of mass.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shape: Option<Shape>,
    /// A factor on the shape, or a distribution of factors; 1 if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scale: Option<Radius>,
    /// Kinds of bodies that are mixed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mixture: Vec<Kind>,
    /// How bodies are turned; at random if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub orientation: Option<Orientation>,
    /// Smallest gap between two bodies, m, also across a periodic border.
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
    /// A number to tell bodies apart by in what a run writes, and by which some pass through others.
    #[serde(default)]
    pub group: u16,
    /// Places tried for one body before giving up.
    #[serde(default = "default_attempts")]
    pub attempts: u32,
}

/// So many places are tried for a body that is no sphere before it is pushed to where there is room.
const PLAIN: u32 = 50;

fn default_attempts() -> u32 {
    30_000
}

/// How far a fill came that ran out of attempts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Crowded {
    /// Bodies that had found a place.
    pub(crate) placed: u64,
    /// Bodies that were to be placed here.
    pub(crate) of: u64,
}

/// How a part of a fill is made.
pub(crate) struct Plan {
    /// What is to be filled, clear of its own images.
    fill: Fill,
    stock: Stock,
    stream: Stream,
    tiles: Tiles,
    /// The tiles that are asked for.
    wanted: Block,
    stages: Vec<Stage>,
    /// The tiles that take part.
    margin: Block,
}

/// A body that waits for its place.
struct Waiting {
    number: u64,
    drawn: Drawn,
    turn: usize,
}

impl Fill {
    /// Spheres at rest, of the first material.
    pub fn new(min: DVec3, max: DVec3, count: u64, radius: impl Into<Radius>) -> Self {
        Self {
            min,
            max,
            count,
            radius: Some(radius.into()),
            shape: None,
            scale: None,
            mixture: Vec::new(),
            orientation: None,
            gap: 0.0,
            velocity: DVec3::ZERO,
            velocity_jitter: 0.0,
            material: String::new(),
            group: 0,
            attempts: default_attempts(),
        }
    }

    /// What the bodies are.
    pub fn assortment(&self) -> Assortment<'_> {
        Assortment {
            radius: self.radius.as_ref(),
            shape: self.shape.as_ref(),
            scale: self.scale.as_ref(),
            mixture: &self.mixture,
            orientation: self.orientation.unwrap_or(Orientation::Random),
            material: &self.material,
            group: self.group,
        }
    }

    /// The same places with copies of a shape.
    #[must_use]
    pub fn of(self, shape: Shape) -> Self {
        Self { radius: None, shape: Some(shape), ..self }
    }

    /// The same places with a mixture of kinds.
    #[must_use]
    pub fn mixed(self, mixture: Vec<Kind>) -> Self {
        Self { radius: None, mixture, ..self }
    }

    /// Fraction of the box that the bodies fill, estimated from the first hundred thousand.
    pub(crate) fn volume_fraction(&self, stock: &Stock, seed: u64, index: usize) -> f64 {
        let stream = Stream::new(seed, EntryKind::Fill, index);
        let sample = self.count.min(100_000);
        let volume: f64 = (0..sample).map(|k| stock.volume(&stock.draw(&stream, k))).sum();
        let size = self.max - self.min;
        volume * (self.count as f64 / sample.max(1) as f64) / (size.x * size.y * size.z)
    }

    /// The same fill, in a box that is so much shorter than a period that its bodies keep the gap to
    /// the images of others. They lie wholly inside, so nothing else is needed.
    pub(crate) fn clear_of_images(&self, periods: &Periods) -> Self {
        let excess = 0.5 * (self.max - self.min - (periods.length() - self.gap)).max(DVec3::ZERO);
        Self { min: self.min + excess, max: self.max - excess, ..self.clone() }
    }

    /// How to make the bodies whose centres may lie in a region, and maybe some more; `None` if
    /// there are none. Needs a box that holds the largest body.
    pub(crate) fn plan(&self, seed: u64, index: usize, region: &Aabb, periods: &Periods) -> Option<Plan> {
        let fill = self.clear_of_images(periods);
        let stock = Stock::new(&fill.assortment());
        let tiles = Tiles::new(&fill, &stock, seed, index);
        let wanted = tiles.about(region)?;
        let (stages, margin) = tiles.stages(wanted);
        Some(Plan { fill, stock, stream: Stream::new(seed, EntryKind::Fill, index), tiles, wanted, stages, margin })
    }
}

impl Plan {
    /// A box that holds the centres of all bodies that the plan places.
    pub(crate) fn extent(&self) -> Aabb {
        self.tiles.extent(&self.margin)
    }

    /// What its bodies are made from.
    pub(crate) fn stock(&self) -> &Stock {
        &self.stock
    }

    /// The bodies in the order of their numbers, clear of each other and of what is `there`, which
    /// must be known as far as it comes near to [`Self::extent`].
    pub(crate) fn grains(&self, there: &Obstacles, periods: &Periods) -> Result<Vec<Grain>, Crowded> {
        let mut waiting: Vec<Vec<Waiting>> = self.margin.tiles().map(|tile| self.dealt_to(tile)).collect();
        let count: usize = waiting.iter().map(Vec::len).sum();
        let mut crowd = self.crowd(there, periods, count);
        let mut grains = Vec::with_capacity(count);
        let mut placed = 0;
        for stage in &self.stages {
            for tile in stage.block.of_colour(stage.colour) {
                let here = &mut waiting[self.margin.index(tile)];
                // The first of them have their turn; those of later turns stay.
                let later = here.iter().position(|body| body.turn > stage.turn).unwrap_or(here.len());
                for body in here.drain(..later) {
                    let grain = self.place(&body, tile, &mut crowd);
                    let grain = grain.ok_or(Crowded { placed, of: count as u64 })?;
                    placed += 1;
                    if self.wanted.holds(tile) {
                        grains.push(grain);
                    }
                }
            }
        }
        grains.sort_unstable_by_key(|grain| grain.number);
        Ok(grains)
    }

    /// What is there before the first body is placed.
    fn crowd(&self, there: &Obstacles, periods: &Periods, count: usize) -> Crowd {
        let radii = there.balls.iter().map(|ball| ball.1).chain(there.solids.iter().map(|solid| solid.1));
        let bounds = |(small, large): (f64, f64), r: f64| (small.min(r), large.max(r));
        let (small, large) = radii.fold((self.stock.min_radius(), self.stock.max_radius()), bounds);
        let Aabb { low, high } = self.extent();
        let low = low - self.stock.max_radius();
        let high = high + self.stock.max_radius();
        let mut crowd = Crowd::new(Cells::new(low, high, small, large, count), self.fill.gap);
        for &(x, radius) in &there.balls {
            images(periods, x).for_each(|x| crowd.insert_ball(x, radius));
        }
        for (standing, radius) in &there.solids {
            images(periods, standing.x).for_each(|x| {
                crowd.insert_solid(Standing { x, ..standing.clone() }, *radius, 0.0);
            });
        }
        crowd
    }

    /// Finds a place for a body of a tile, where it stays.
    fn place(&self, body: &Waiting, tile: [u64; 3], crowd: &mut Crowd) -> Option<Grain> {
        let Waiting { number, drawn, .. } = *body;
        let mut newcomer = Newcomer::new(self.stock.shape(&drawn), drawn.radius, self.stock.inner_radius(&drawn));
        let mut places = self.stream.draws(number, Purpose::Position);
        let mut turns = self.stream.draws(number, Purpose::Orientation);
        let is_round = self.stock.is_of_spheres();
        let is_turned = !self.stock.is_aligned();
        let confined = |x: DVec3, reach: [DVec3; 2]| self.tiles.confined(tile, reach, x);
        let mut attempt = 0;
        while attempt < self.fill.attempts {
            // Another turn with every place; if it is to be pushed, from the one of several that is the least crowded.
            let may_push = !is_round && attempt >= PLAIN;
            newcomer.turn_to(self.stock.attitude(drawn.kind, &mut turns));
            let reach = newcomer.reach();
            let mut place = || self.tiles.place(tile, reach, &mut places);
            newcomer.standing.x = if may_push { crowd.emptiest(&newcomer, &mut place) } else { place() };
            attempt += if may_push { PLACES } else { 1 };
            if crowd.has_room_for(&newcomer) || may_push && crowd.push(&mut newcomer, is_turned, confined) {
                crowd.insert(&newcomer);
                let Newcomer { standing, orientation, .. } = newcomer;
                return Some(Grain { number, x: standing.x, drawn, orientation, velocity: self.velocity(number) });
            }
        }
        None
    }

    /// The bodies of a tile in the order in which they are placed: the largest first, equal ones
    /// by their numbers.
    fn dealt_to(&self, tile: [u64; 3]) -> Vec<Waiting> {
        let drawn = |number| self.stock.draw(&self.stream, number);
        let mut dealt: Vec<Waiting> =
            self.tiles.members(tile).map(|number| Waiting { number, drawn: drawn(number), turn: 0 }).collect();
        dealt.sort_by(|a, b| b.drawn.radius.total_cmp(&a.drawn.radius));
        let turns = Tiles::turns(&dealt.iter().map(|body| body.drawn.radius).collect::<Vec<_>>());
        dealt.iter_mut().zip(turns).for_each(|(body, turn)| body.turn = turn);
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

/// A point and where it is seen across periodic borders.
fn images(periods: &Periods, x: DVec3) -> impl Iterator<Item = DVec3> + use<> {
    let length = periods.length();
    let along = |axis: usize| if periods.repeats(axis) { -1..=1 } else { 0..=0 };
    let i = along(0);
    let j = along(1);
    let k = along(2);
    let offset = move |n: i32, axis: usize| if n == 0 { 0.0 } else { f64::from(n) * length[axis] };
    let offsets = k.flat_map(move |k| {
        j.clone().flat_map({
            let i = i.clone();
            move |j| i.clone().map(move |i| DVec3::new(offset(i, 0), offset(j, 1), offset(k, 2)))
        })
    });
    offsets.map(move |offset| x + offset)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shape::{Part, Solid};
    use barchan_convex::closest;
    use glam::{DMat3, DQuat};
    use std::f64::consts::PI;

    const EVERYWHERE: Aabb = Aabb { low: DVec3::NEG_INFINITY, high: DVec3::INFINITY };

    /// All spheres of a fill.
    fn whole(fill: &Fill, seed: u64, index: usize, there: &[Grain]) -> Result<Vec<Grain>, Crowded> {
        let balls = there.iter().map(|grain| (grain.x, grain.drawn.radius)).collect();
        let there = Obstacles { balls, ..Obstacles::default() };
        fill.plan(seed, index, &EVERYWHERE, &Periods::default()).unwrap().grains(&there, &Periods::default())
    }

    /// The smallest gap between two of the spheres, by looking at every pair.
    fn smallest_gap(spheres: &[Grain]) -> f64 {
        let mut least = f64::INFINITY;
        for (i, a) in spheres.iter().enumerate() {
            for b in &spheres[..i] {
                least = least.min(a.x.distance(b.x) - a.drawn.radius - b.drawn.radius);
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
        let inside =
            |b: &Grain| (b.x - b.drawn.radius).min_element() >= 0.0 && (b.x + b.drawn.radius).max_element() <= 1.0;
        assert!(spheres.iter().all(inside));
        let places = |seed| whole(&fill, seed, 0, &[]).unwrap().iter().map(|b| b.x).collect::<Vec<_>>();
        assert!(spheres.iter().map(|b| b.x).eq(places(1)));
        assert_ne!(places(1), places(2));
        // What was there before is kept clear of.
        let second = whole(&Fill { count: 500, ..fill }, 1, 1, &spheres).unwrap();
        assert!(smallest_gap(&[spheres, second].concat()) >= 1e-3 * (1.0 - 1e-9));
    }

    #[test]
    fn a_range_of_radii_of_fifty_fills() {
        let radius = Radius::PowerLaw(crate::scene::PowerLaw { min: 0.004, max: 0.2, exponent: -3.0 });
        let fill = Fill::new(DVec3::ZERO, DVec3::ONE, 20_000, radius);
        let spheres = whole(&fill, 3, 0, &[]).unwrap();
        let largest = spheres.iter().map(|ball| ball.drawn.radius).fold(0.0, f64::max);
        assert!(largest > 0.1, "{largest}");
        assert!(smallest_gap(&spheres) >= 0.0);
    }

    #[test]
    fn a_crowded_box_says_how_far_it_got() {
        let fill = Fill { attempts: 200, ..Fill::new(DVec3::ZERO, DVec3::ONE, 1000, 0.05) };
        assert!((fill.volume_fraction(&Stock::new(&fill.assortment()), 0, 0) - PI / 6.0).abs() < 1e-9);
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

    /// The deepest overlap of any two bodies, by their true surfaces, and how far one reaches out of the box at most.
    fn faults(fill: &Fill, grains: &[Grain]) -> [f64; 2] {
        let stock = Stock::new(&fill.assortment());
        let stand = |grain: &Grain| {
            let r = DMat3::from_quat(grain.orientation);
            (stock.shape(&grain.drawn), grain.x, r)
        };
        let bodies: Vec<_> = grains.iter().map(stand).collect();
        let parts = |(shape, x, r): &(Shape, DVec3, DMat3)| -> Vec<(Shape, DVec3, DMat3)> {
            match shape {
                Shape::Composite(composite) => {
                    let part = |p: &Part| (p.shape.clone(), *x + *r * p.position, *r * DMat3::from_quat(p.orientation));
                    composite.parts.iter().map(part).collect()
                }
                _ => vec![(shape.clone(), *x, *r)],
            }
        };
        let gap = |a: &(Shape, DVec3, DMat3), b: &(Shape, DVec3, DMat3)| match (a.0.solid(), b.0.solid()) {
            (Some(Solid::One(own)), Some(Solid::One(other))) => {
                closest(&own.placed(a.1, &a.2), &other.placed(b.1, &b.2), 1.0).map_or(1.0, |found| found.gap)
            }
            _ => panic!("parts are convex"),
        };
        let mut overlap = 0.0f64;
        let mut outside = 0.0f64;
        for (i, a) in bodies.iter().enumerate() {
            let [low, high] = a.0.half_box(&a.2);
            outside = outside.max((fill.min - (a.1 + low)).max(a.1 + high - fill.max).max_element());
            for (j, b) in bodies[..i].iter().enumerate() {
                if a.1.distance(b.1) < grains[i].drawn.radius + grains[j].drawn.radius + fill.gap {
                    for own in parts(a) {
                        overlap = parts(b).iter().map(|other| fill.gap - gap(&own, other)).fold(overlap, f64::max);
                    }
                }
            }
        }
        [overlap, outside]
    }

    fn clump() -> Shape {
        let ball = |x: DVec3| Part::new(Shape::sphere(0.3)).at(x * 0.18, DQuat::IDENTITY);
        let corners = [[1.0, 1.0, 1.0], [-1.0, -1.0, 1.0], [-1.0, 1.0, -1.0], [1.0, -1.0, -1.0]];
        Shape::composite(corners.map(|x| ball(DVec3::from_array(x))).to_vec())
    }

    #[test]
    fn any_shape_fills_thirty_percent() {
        let shapes = [
            Shape::cuboid(DVec3::splat(0.5)),
            Shape::cuboid(DVec3::new(1.0, 0.5, 0.5)),
            clump(),
            Shape::capsule(0.5, 0.5),
            Shape::cone(0.5, 0.5),
        ];
        for shape in shapes {
            let volume = shape.moments().unwrap().volume;
            let edge = (1000.0 * volume / 0.3).cbrt();
            let fill = Fill::new(DVec3::ZERO, DVec3::splat(edge), 1000, 1.0).of(shape);
            let fraction = fill.volume_fraction(&Stock::new(&fill.assortment()), 1, 0);
            assert!((fraction - 0.3).abs() < 1e-9, "{fraction}");
            let start = std::time::Instant::now();
            let grains = whole(&fill, 1, 0, &[]).unwrap_or_else(|crowded| panic!("{:?}: {crowded:?}", fill.shape));
            println!("{}: {:.2} s", fill.shape.as_ref().unwrap().name(), start.elapsed().as_secs_f64());
            let [overlap, outside] = faults(&fill, &grains);
            // Room is looked for by another function than contacts are found by: they agree to rounding.
            assert!(overlap <= 1e-12 && outside <= 1e-9, "{:?}: {overlap} {outside}", fill.shape);
        }
    }

    #[test]
    fn kinds_mix_by_their_weights_and_keep_their_gap() {
        let kinds = vec![
            Kind {
                weight: 3.0,
                scale: Some(Radius::Uniform([0.5, 1.0])),
                ..Kind::of(Shape::cuboid(DVec3::splat(0.04)))
            },
            Kind { scale: Some(0.1.into()), ..Kind::of(clump()) },
            Kind::spheres(Radius::Uniform([0.02, 0.05])),
        ];
        let fill = Fill { gap: 2e-3, ..Fill::new(DVec3::ZERO, DVec3::ONE, 500, 1.0).mixed(kinds) };
        let grains = whole(&fill, 4, 0, &[]).unwrap();
        let count = |kind| grains.iter().filter(|grain| grain.drawn.kind == kind).count();
        let counts = [0, 1, 2].map(count);
        assert!((260..340).contains(&counts[0]) && (70..130).contains(&counts[1]), "{counts:?}");
        let [overlap, outside] = faults(&fill, &grains);
        assert!(overlap <= 1e-12 && outside <= 1e-12, "{overlap} {outside}");
        // As many are turned one way as the other.
        let up = grains.iter().filter(|g| g.drawn.kind == 0 && (g.orientation * DVec3::new(0.3, 0.5, 0.8)).z > 0.0);
        assert!((counts[0] / 3..2 * counts[0] / 3).contains(&up.count()));
        let aligned = Fill { orientation: Some(Orientation::Aligned), ..fill };
        let grains = whole(&aligned, 4, 0, &[]).unwrap();
        assert!(grains.iter().filter(|g| g.drawn.kind != 1).all(|g| g.orientation == DQuat::IDENTITY));
        assert!(faults(&aligned, &grains)[0] <= 1e-12);
    }
}
