//! Bodies on a regular lattice, with a random shift if wanted.
//!
//! Sites are numbered with x fastest, then y, then z. A site's place is a function of its number
//! alone, so a lattice of ten million bodies costs no memory until it is built, and a rank of a
//! distributed run visits the sites in its part of space only.

use super::kind::{Assortment, Kind, Orientation};
use super::random::{EntryKind, Purpose, Stream};
use super::stock::Stock;
use super::{Grain, Radius};
use crate::broad::Aabb;
use crate::narrow::Standing;
use crate::partition::Periods;
use crate::shape::Shape;
use crate::world::Motion;
use glam::DVec3;
use serde::de::{Error, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::ops;

/// The kinds of lattice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LatticeKind {
    /// Simple cubic, or rectangular with a spacing each axis.
    #[default]
    Cubic,
    /// Hexagonal close packing, layers A B A B along z. Spheres that touch (spacing = 2·radius)
    /// fill π/√18 = 74.05 % of space.
    Hexagonal,
}

impl LatticeKind {
    /// Every one with the name that scene files use, and a few words where that is not enough.
    pub const ALL: &'static [(Self, &'static str, &'static str)] =
        &[(Self::Cubic, "cubic", ""), (Self::Hexagonal, "hexagonal", "close packing")];
}

/// Distance of neighbouring sites: one number, or one an axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Spacing {
    /// The same along every axis.
    Equal(f64),
    /// One an axis; for the cubic kind only.
    PerAxis(DVec3),
}

impl Spacing {
    /// Along each axis.
    pub fn axes(self) -> DVec3 {
        match self {
            Self::Equal(d) => DVec3::splat(d),
            Self::PerAxis(d) => d,
        }
    }
}

impl From<f64> for Spacing {
    fn from(d: f64) -> Self {
        Self::Equal(d)
    }
}

impl From<DVec3> for Spacing {
    fn from(d: DVec3) -> Self {
        Self::PerAxis(d)
    }
}

/// Bodies on a regular lattice.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lattice {
    /// Cubic or hexagonal.
    #[serde(default)]
    pub kind: LatticeKind,
    /// Centre of mass of the first body, m.
    #[serde(default)]
    pub origin: DVec3,
    /// Sites along x, y and z.
    pub counts: [u32; 3],
    /// Distance of neighbouring centres, m.
    pub spacing: Spacing,
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
    /// How bodies are turned; aligned if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub orientation: Option<Orientation>,
    /// Largest random shift along each axis, m.
    #[serde(default)]
    pub jitter: f64,
    /// Use the first so many sites only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
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
    /// How their motion comes about.
    #[serde(default)]
    pub motion: Motion,
}

impl Lattice {
    /// A cubic lattice at rest, of the first material, with its first sphere at the origin.
    pub fn cubic(counts: [u32; 3], spacing: impl Into<Spacing>, radius: impl Into<Radius>) -> Self {
        Self {
            kind: LatticeKind::Cubic,
            origin: DVec3::ZERO,
            counts,
            spacing: spacing.into(),
            radius: Some(radius.into()),
            shape: None,
            scale: None,
            mixture: Vec::new(),
            orientation: None,
            jitter: 0.0,
            count: None,
            velocity: DVec3::ZERO,
            velocity_jitter: 0.0,
            material: String::new(),
            group: 0,
            motion: Motion::Dynamic,
        }
    }

    /// A hexagonal close packing at rest, of the first material, with its first sphere at the origin.
    pub fn hexagonal(counts: [u32; 3], spacing: f64, radius: impl Into<Radius>) -> Self {
        Self { kind: LatticeKind::Hexagonal, ..Self::cubic(counts, spacing, radius) }
    }

    /// What the bodies are.
    pub fn assortment(&self) -> Assortment<'_> {
        Assortment {
            radius: self.radius.as_ref(),
            shape: self.shape.as_ref(),
            scale: self.scale.as_ref(),
            mixture: &self.mixture,
            orientation: self.orientation.unwrap_or(Orientation::Aligned),
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

    /// All sites, used or not.
    pub fn site_count(&self) -> u64 {
        self.counts.iter().fold(1, |product, &n| product.saturating_mul(n.into()))
    }

    /// How many bodies stand on it.
    pub fn body_count(&self) -> u64 {
        self.site_count().min(self.count.unwrap_or(u64::MAX))
    }

    /// The place of a site, before any shift.
    pub fn site(&self, number: u64) -> DVec3 {
        let [nx, ny] = [u64::from(self.counts[0]), u64::from(self.counts[1])];
        self.place(number % nx, number / nx % ny, number / (nx * ny))
    }

    /// The place of the site with these indices.
    fn place(&self, i: u64, j: u64, k: u64) -> DVec3 {
        let x = i as f64;
        let y = j as f64;
        let z = k as f64;
        let d = self.spacing.axes();
        self.origin
            + match self.kind {
                LatticeKind::Cubic => d * DVec3::new(x, y, z),
                LatticeKind::Hexagonal => {
                    // Rows shift by half a distance, layers by a third of a row.
                    let x = x + 0.5 * ((j + k) % 2) as f64;
                    let y = 0.75f64.sqrt() * (y + (k % 2) as f64 / 3.0);
                    let z = (2.0f64 / 3.0).sqrt() * z;
                    d * DVec3::new(x, y, z)
                }
            }
    }

    /// From one index to the next along each axis, and how much farther than its index a site may
    /// stand, in such steps.
    fn pitch(&self) -> (DVec3, DVec3) {
        let d = self.spacing.axes();
        match self.kind {
            LatticeKind::Cubic => (d, DVec3::ZERO),
            LatticeKind::Hexagonal => {
                (d * DVec3::new(1.0, 0.75f64.sqrt(), (2.0f64 / 3.0).sqrt()), DVec3::new(0.5, 1.0 / 3.0, 0.0))
            }
        }
    }

    /// The box of all places that a centre can have.
    pub(crate) fn extent(&self) -> Aabb {
        let (step, beyond) = self.pitch();
        let last = DVec3::from(self.counts.map(|n| f64::from(n) - 1.0)) + beyond;
        Aabb { low: self.origin - self.jitter, high: self.origin + step * last + self.jitter }
    }

    /// The smallest distance that shifts leave between two centres; infinite for a single site.
    pub fn closest(&self) -> f64 {
        let d = self.spacing.axes();
        match self.kind {
            // Two sites differ along some axis by a spacing at least, less two shifts.
            LatticeKind::Cubic => (0..3)
                .filter(|&axis| self.counts[axis] > 1)
                .map(|axis| d[axis] - 2.0 * self.jitter)
                .fold(f64::INFINITY, f64::min),
            // Neighbours lie in any direction: the shifts may add up along a diagonal.
            LatticeKind::Hexagonal if self.site_count() > 1 => d.x - 2.0 * 3.0f64.sqrt() * self.jitter,
            LatticeKind::Hexagonal => f64::INFINITY,
        }
    }

    /// The smallest distance between two centres, one of which is seen across a periodic border.
    pub(crate) fn closest_image(&self, periods: &Periods) -> f64 {
        let mut least = f64::INFINITY;
        self.visit_images(periods, [2; 3], |offset| {
            least = least.min(match self.kind {
                // Shifts act along each axis, and one axis is enough to be apart.
                LatticeKind::Cubic => offset.abs().max_element() - 2.0 * self.jitter,
                LatticeKind::Hexagonal => offset.length() - 2.0 * 3.0f64.sqrt() * self.jitter,
            });
        });
        least
    }

    /// Calls `found` with the offsets of images across periodic borders from sites: of so many sites at either end of each
    /// axis.
    fn visit_images(&self, periods: &Periods, depth: [u64; 3], mut found: impl FnMut(DVec3)) {
        let length = periods.length();
        let offset = |shift: i32, axis: usize| if shift == 0 { 0.0 } else { f64::from(shift) * length[axis] };
        let shifts = |axis: usize| if periods.repeats(axis) { -1..=1 } else { 0..=0 };
        // Sites at either end, with the parities of rows and layers.
        let ends = |axis: usize| {
            let n = u64::from(self.counts[axis]);
            let depth = depth[axis].max(2).min(n);
            (0..depth).chain(depth.max(n - depth)..n)
        };
        let sites: Vec<DVec3> = ends(2)
            .flat_map(|k| ends(1).flat_map(move |j| ends(0).map(move |i| (i, j, k))))
            .map(|(i, j, k)| self.place(i, j, k))
            .collect();
        for z in shifts(2) {
            for y in shifts(1) {
                for x in shifts(0).filter(|&x| [x, y, z] != [0; 3]) {
                    let offset = DVec3::new(offset(x, 0), offset(y, 1), offset(z, 2));
                    for a in &sites {
                        sites.iter().for_each(|b| found(*a + offset - *b));
                    }
                }
            }
        }
    }

    /// The offset of two neighbours that overlap by their true surfaces, if all bodies are turned alike.
    pub(crate) fn overlap(&self, stock: &Stock) -> Option<DVec3> {
        let alike = Alike::new(self, stock);
        let [x, y, z] = self.within_reach(stock);
        // Neighbours lie differently for each parity of rows and layers.
        let parities = (0..2u64).flat_map(|k| (0..2u64).map(move |j| (j, k)));
        parities.into_iter().find_map(|(j, k)| {
            let j = y + (y + j) % 2;
            let around = (0..=z).flat_map(|dz| (0..=2 * y).flat_map(move |dy| (0..=2 * x).map(move |dx| [dx, dy, dz])));
            let others = around.filter(|&site| site != [x, y, 0]);
            let mut offsets = others.map(|[dx, dy, dz]| self.place(dx, j + dy - y, k + dz) - self.place(x, j, k));
            offsets.find(|&offset| alike.overlap_at(offset))
        })
    }

    /// The same of two of which one is seen across a periodic border.
    pub(crate) fn overlap_of_images(&self, stock: &Stock, periods: &Periods) -> Option<DVec3> {
        let alike = Alike::new(self, stock);
        let mut overlap = None;
        self.visit_images(periods, self.within_reach(stock), |offset| {
            if overlap.is_none() && alike.overlap_at(offset) {
                overlap = Some(offset);
            }
        });
        overlap
    }

    /// How many sites away, along each axis, a body may be that another one touches.
    fn within_reach(&self, stock: &Stock) -> [u64; 3] {
        let reach = 2.0 * (stock.max_radius() + self.jitter);
        let pitch = self.pitch().0;
        // Convex bodies that are farther away are behind others.
        [0, 1, 2].map(|axis| ((reach / pitch[axis]).ceil() as u64 + 1).min(32).min(u64::from(self.counts[axis]) - 1))
    }

    /// The random numbers of this lattice, entry number `index` of its kind.
    pub(crate) fn stream(seed: u64, index: usize) -> Stream {
        Stream::new(seed, EntryKind::Lattice, index)
    }

    /// The body on a site.
    pub(crate) fn grain(&self, stock: &Stock, stream: &Stream, number: u64) -> Grain {
        let drawn = stock.draw(stream, number);
        let orientation = stock.attitude(drawn.kind, &mut stream.draws(number, Purpose::Orientation));
        let mut x = self.site(number);
        if self.jitter > 0.0 {
            x += stream.draws(number, Purpose::Position).cube(self.jitter);
        }
        let mut velocity = self.velocity;
        if self.velocity_jitter > 0.0 {
            velocity += stream.draws(number, Purpose::Velocity).cube(self.velocity_jitter);
        }
        Grain { number, x, drawn, orientation, velocity }
    }

    /// The numbers of the sites in use whose spheres may have their centres in a region once they
    /// are brought into the periodic cell, ascending; those of a few more may be among them.
    pub(crate) fn numbers_in(&self, region: &Aabb, periods: &Periods) -> impl Iterator<Item = u64> + use<> {
        let [nx, ny] = [u64::from(self.counts[0]), u64::from(self.counts[1])];
        let [x, y, z] = [0, 1, 2].map(|axis| self.indices_in(axis, region, periods));
        let end = self.body_count();
        let layers = z.into_iter().flatten().take_while(move |k| k * nx * ny < end);
        let rows = layers.flat_map(move |k| y.clone().into_iter().flatten().map(move |j| j + ny * k));
        rows.flat_map(move |row| x.clone().into_iter().flatten().map(move |i| i + nx * row))
            .take_while(move |&k| k < end)
    }

    /// The same along one axis: ranges of indices, ascending and apart.
    fn indices_in(&self, axis: usize, region: &Aabb, periods: &Periods) -> Vec<ops::Range<u64>> {
        let (step, beyond) = self.pitch();
        let step = step[axis];
        let beyond = beyond[axis];
        let origin = self.origin[axis];
        let n = f64::from(self.counts[axis]);
        // By how many periods a site may be away from the cell.
        let (period, away) = if periods.repeats(axis) {
            let period = periods.length()[axis];
            let extent = self.extent();
            let least = ((periods.low[axis] - extent.high[axis]) / period).floor() as i64;
            (period, least..=((periods.high[axis] - extent.low[axis]) / period).ceil() as i64)
        } else {
            (0.0, 0..=0)
        };
        let mut ranges: Vec<ops::Range<u64>> = Vec::new();
        // The farther the way home, the lower the indices.
        for shift in away.rev() {
            let offset = shift as f64 * period;
            // Rounding must not lose a site.
            let slack = 0.01 + 1e-12 * (n + (origin.abs() + offset.abs()) / step);
            let first = (region.low[axis] - offset - self.jitter - origin) / step - beyond - slack;
            let last = (region.high[axis] - offset + self.jitter - origin) / step + slack;
            let first = first.ceil().clamp(0.0, n) as u64;
            let end = (last.floor() + 1.0).clamp(0.0, n) as u64;
            match ranges.last_mut() {
                _ if first >= end => {}
                Some(before) if first <= before.end => before.end = before.end.max(end),
                _ => ranges.push(first..end),
            }
        }
        ranges
    }
}

/// Bodies that are all turned alike, the largest of each kind.
struct Alike {
    jitter: f64,
    bodies: Vec<(Standing, [DVec3; 2])>,
}

impl Alike {
    fn new(lattice: &Lattice, stock: &Stock) -> Self {
        let body = |kind: usize| {
            let (shape, r) = stock.largest(kind);
            // Touching is fine, and so is the rounding of a spacing that means to touch.
            let shape = shape.scaled(1.0 - 1e-9);
            let half_box = shape.half_box(&r);
            (Standing { shape, x: DVec3::ZERO, r }, half_box)
        };
        Self { jitter: lattice.jitter, bodies: (0..stock.kinds.len()).map(body).collect() }
    }

    /// Whether a body at an offset from another one may overlap it.
    fn overlap_at(&self, offset: DVec3) -> bool {
        let pair = |(a, box_a): &(Standing, [DVec3; 2]), (b, box_b): &(Standing, [DVec3; 2])| {
            let above = offset + box_b[0] - box_a[1];
            let below = box_a[0] - (offset + box_b[1]);
            // Along an axis two shifts count, in any direction their lengths.
            let is_apart = above.max(below).max_element() >= 2.0 * self.jitter;
            let b = Standing { x: offset, ..b.clone() };
            !is_apart && !a.is_clear_of(&b, 2.0 * 3.0f64.sqrt() * self.jitter)
        };
        self.bodies.iter().any(|a| self.bodies.iter().any(|b| pair(a, b)))
    }
}

impl Serialize for Spacing {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Equal(d) => serializer.serialize_f64(*d),
            Self::PerAxis(d) => d.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Spacing {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct NumberOrVector;

        impl<'de> Visitor<'de> for NumberOrVector {
            type Value = Spacing;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number or an array of 3 numbers")
            }

            fn visit_f64<E: Error>(self, d: f64) -> Result<Spacing, E> {
                Ok(Spacing::Equal(d))
            }

            fn visit_i64<E: Error>(self, d: i64) -> Result<Spacing, E> {
                Ok(Spacing::Equal(d as f64))
            }

            fn visit_u64<E: Error>(self, d: u64) -> Result<Spacing, E> {
                Ok(Spacing::Equal(d as f64))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Spacing, A::Error> {
                let mut d = DVec3::ZERO;
                for axis in 0..3 {
                    d[axis] = seq.next_element()?.ok_or_else(|| A::Error::invalid_length(axis, &self))?;
                }
                Ok(Spacing::PerAxis(d))
            }
        }

        deserializer.deserialize_any(NumberOrVector)
    }
}

#[cfg(test)]
mod tests {
    use super::super::home::home;
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn close_packing_has_its_contacts_and_density() {
        // Interior spheres have twelve neighbours at exactly one diameter and none nearer.
        let lattice = Lattice::hexagonal([5, 5, 5], 2.0, 1.0);
        let sites: Vec<DVec3> = (0..lattice.site_count()).map(|k| lattice.site(k)).collect();
        let centre = sites[2 + 5 * (2 + 5 * 2)];
        let distances: Vec<f64> = sites.iter().map(|x| x.distance(centre)).filter(|d| *d > 0.0).collect();
        assert_eq!(distances.iter().filter(|d| (**d - 2.0).abs() < 1e-12).count(), 12);
        assert!(distances.iter().all(|d| *d > 2.0 - 1e-12));
        // One site a cell of 2 × √3 × √(8/3).
        let cell = 2.0 * 3.0f64.sqrt() * (8.0f64 / 3.0).sqrt();
        let density = 4.0 / 3.0 * std::f64::consts::PI / cell;
        assert!((density - std::f64::consts::PI / 18.0f64.sqrt()).abs() < 1e-12);
    }

    #[test]
    fn sites_run_x_first_and_stop_at_the_count() {
        let lattice = Lattice { count: Some(7), ..Lattice::cubic([3, 2, 4], DVec3::new(1.0, 2.0, 3.0), 0.1) };
        assert_eq!(lattice.body_count(), 7);
        let everywhere = Aabb { low: DVec3::NEG_INFINITY, high: DVec3::INFINITY };
        let stock = Stock::new(&lattice.assortment());
        let numbers = lattice.numbers_in(&everywhere, &Periods::default());
        let sites: Vec<DVec3> = numbers.map(|k| lattice.grain(&stock, &Lattice::stream(0, 0), k).x).collect();
        assert_eq!(sites.len(), 7);
        assert_eq!(sites[2], DVec3::new(2.0, 0.0, 0.0));
        assert_eq!(sites[3], DVec3::new(0.0, 2.0, 0.0));
        assert_eq!(sites[6], DVec3::new(0.0, 0.0, 3.0));
    }

    #[test]
    fn shifts_never_exceed_their_bound() {
        let lattice = Lattice { jitter: 0.2, velocity_jitter: 0.5, ..Lattice::cubic([9, 9, 9], 1.0, 0.1) };
        let mut largest = 0.0f64;
        let extent = lattice.extent();
        let stock = Stock::new(&lattice.assortment());
        for k in 0..lattice.body_count() {
            let Grain { x, velocity, .. } = lattice.grain(&stock, &Lattice::stream(5, 2), k);
            let shift = (x - lattice.site(k)).abs().max_element();
            largest = largest.max(shift);
            assert!(shift <= 0.2 + 1e-12 && velocity.abs().max_element() <= 0.5);
            assert!(extent.meets(&Aabb { low: x, high: x }));
        }
        assert!(largest > 0.19);
    }

    proptest! {
        /// Every sphere of a region is found, in order, and far ones are not visited.
        #[test]
        fn regions_find_their_sites(
            hexagonal in any::<bool>(),
            counts in [1u32..9, 1u32..9, 1u32..9],
            part in 0.0..1.0f64,
            origin in [-3.0..3.0f64, -3.0..3.0, -3.0..3.0],
            low in [-2.0..8.0f64, -2.0..8.0, -2.0..8.0],
            size in [0.0..4.0f64, 0.0..4.0, 0.0..4.0],
            jitter in prop_oneof![Just(0.0), Just(0.2)],
            repeats in any::<[bool; 3]>(),
        ) {
            let mut lattice = Lattice { jitter, origin: origin.into(), ..Lattice::hexagonal(counts, 1.0, 0.1) };
            lattice.kind = if hexagonal { LatticeKind::Hexagonal } else { LatticeKind::Cubic };
            lattice.count = Some((part * lattice.site_count() as f64) as u64);
            let periods = Periods::new(DVec3::splat(-1.0), DVec3::splat(9.0), repeats);
            let region = Aabb { low: low.into(), high: DVec3::from(low) + DVec3::from(size) };
            let stream = Lattice::stream(1, 0);
            let stock = Stock::new(&lattice.assortment());
            let within = |k: &u64| {
                let x = home(&periods, lattice.grain(&stock, &stream, *k).x);
                region.meets(&Aabb { low: x, high: x })
            };
            let all: Vec<u64> = (0..lattice.body_count()).filter(within).collect();
            let visited: Vec<u64> = lattice.numbers_in(&region, &periods).collect();
            let found: Vec<u64> = visited.iter().copied().filter(within).collect();
            prop_assert_eq!(found, all);
            // Half a step and the jitter on either side, where nothing repeats.
            if !periods.any() {
                let most: f64 = size.iter().map(|s| s / 0.8 + 2.9).product();
                prop_assert!(visited.len() as f64 <= most, "{} of {most}", visited.len());
            }
        }
    }

    #[test]
    fn images_across_a_border_touch_where_the_packing_goes_on() {
        let lattice = Lattice::hexagonal([5, 4, 3], 2.0, 1.0);
        let period = |x: f64, y: f64| Periods::new(DVec3::ZERO, DVec3::new(x, y, 0.0), [true, true, false]);
        let rows = 4.0 * 3.0f64.sqrt();
        assert!((lattice.closest_image(&period(10.0, rows)) - 2.0).abs() < 1e-12);
        assert!(lattice.closest_image(&period(9.9, rows)) < 1.95);
        assert!(lattice.closest_image(&period(10.0, rows - 0.1)) < 1.97);
        // An odd number of rows does not go on.
        let odd = Lattice::hexagonal([5, 3, 3], 2.0, 1.0);
        assert!(odd.closest_image(&period(10.0, 3.0 * 3.0f64.sqrt())) < 1.8);
        let cubic = Lattice { jitter: 0.25, ..Lattice::cubic([4, 4, 4], 1.0, 0.1) };
        assert!((cubic.closest_image(&period(4.0, 4.0)) - 0.5).abs() < 1e-12);
    }
}
