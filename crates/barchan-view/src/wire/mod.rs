//! A frame as the page reads it: a head of text, then arrays of numbers that a browser looks at in place.
//!
//! | bytes | what |
//! |---|---|
//! | 0..4 | `BFRM` |
//! | 4..8 | the version of this format, u32 |
//! | 8..12 | length of the head in bytes, u32, a multiple of 8 with the 16 bytes before it |
//! | 12..16 | nothing |
//! | 16.. | the head: a JSON object, filled up with spaces |
//! | | the columns that the head names, each from a multiple of 8 |
//!
//! Everything is little-endian. The head has one entry for spheres and one for each other look of the bodies, each with
//! columns of its own. What looks are like stands in messages of their own (`looks`), which are sent once. Places are 16 bits an axis within the box of
//! the frame where that is fine enough for the smallest body, and 32 otherwise. Bodies that are not
//! finite are left out and counted.

mod column;
mod half;
mod looks;
#[cfg(test)]
mod tests;

use barchan::frame::{Frame, Looks, SPHERE, Worn};
use barchan::shape::Shape;
use barchan::world::Motion;
use barchan::{DQuat, DVec3};
use column::{Array, Column, Columns, Type};
use serde::Serialize;
use std::collections::HashMap;

pub use looks::{MAGIC as LOOKS_MAGIC, encode as encode_looks};

/// The first bytes of a frame.
pub const MAGIC: &[u8; 4] = b"BFRM";
/// The version of the format. The page refuses any other.
pub const VERSION: u32 = 2;

/// Bytes before the head.
const PREFIX: usize = 16;
/// The coarsest place that is not seen, as a part of the smallest radius.
const FINE: f64 = 0.02;

/// What the head tells.
#[derive(Debug, Serialize)]
struct Head {
    step: u64,
    time: f64,
    /// Lowest and highest corner of a box about all bodies that are finite.
    bounds: Option<[DVec3; 2]>,
    /// All bodies.
    bodies: usize,
    /// Those in the columns.
    shown: usize,
    /// Those left out because they are not finite.
    not_finite: usize,
    kinds: Vec<Kind>,
    chains: Chains,
    walls: Vec<Wall>,
}

/// The bodies that look alike.
#[derive(Debug, Serialize)]
struct Kind {
    kind: &'static str,
    /// The number of the look of what is not a sphere.
    #[serde(skip_serializing_if = "Option::is_none")]
    look: Option<u64>,
    count: usize,
    columns: BodyColumns,
}

#[derive(Debug, Serialize)]
struct BodyColumns {
    /// Centre and radius.
    place: Array,
    speed: Array,
    id: Column,
    contacts: Column,
    rank: Column,
    material: Column,
    group: Column,
    /// For shapes that are not round.
    #[serde(skip_serializing_if = "Option::is_none")]
    orientation: Option<Array>,
    /// Factors on the axes of their look.
    #[serde(skip_serializing_if = "Option::is_none")]
    scale: Option<Array>,
}

/// Contacts that carry a force: lines.
#[derive(Debug, Serialize)]
struct Chains {
    /// All contacts.
    contacts: usize,
    /// Those in the columns: the strongest.
    count: usize,
    /// The largest force.
    force_max: f64,
    /// Both ends.
    ends: Array,
    /// A part of the largest.
    force: Array,
}

#[derive(Debug, Serialize)]
struct Wall {
    id: u64,
    shape: Shape,
    position: DVec3,
    orientation: DQuat,
    material: u16,
}

/// Appends `frame` to `out`, with at most `limit` bodies and as many contacts. Beyond that, bodies are
/// taken by a hash of their id, so that the same are taken from every frame, and the strongest contacts. What bodies look
/// like is among `looks` from then on.
pub fn encode(frame: &Frame, limit: usize, looks: &mut Looks, out: &mut Vec<u8>) {
    encode_with(frame, [limit; 2], looks, out);
}

/// As [`encode`], with a limit for bodies and one for contacts.
pub(crate) fn encode_with(frame: &Frame, [limit, contact_limit]: [usize; 2], looks: &mut Looks, out: &mut Vec<u8>) {
    let bodies = &frame.bodies;
    let finite: Vec<u32> = (0..bodies.len() as u32).filter(|&i| is_finite(frame, i as usize)).collect();
    let not_finite = bodies.len() - finite.len();
    let shown = thin(frame, finite, limit);
    let contacts = strongest(frame, contact_limit);
    let grid = Grid::about(frame, &shown, &contacts);

    let mut columns = Columns::default();
    let counts = frame.contact_counts();
    let kinds = by_kind(frame, &shown, looks);
    let head = Head {
        step: frame.step,
        time: frame.time,
        bounds: frame.bounds(),
        bodies: bodies.len(),
        shown: shown.len(),
        not_finite,
        kinds: kinds.into_iter().map(|kind| encode_kind(frame, &kind, &counts, &grid, &mut columns)).collect(),
        chains: encode_chains(frame, &contacts, &grid, &mut columns),
        walls: walls(frame),
    };
    write(MAGIC, &head, &columns, out);
}

/// Writes a message: its first bytes, the version, its head, its columns.
fn write(magic: &[u8; 4], head: &impl Serialize, columns: &Columns, out: &mut Vec<u8>) {
    let mut text = serde_json::to_vec(head).expect("a head is plain data");
    text.resize((PREFIX + text.len()).next_multiple_of(8) - PREFIX, b' ');
    out.reserve(PREFIX + text.len() + columns.bytes.len());
    out.extend(magic);
    out.extend(VERSION.to_le_bytes());
    out.extend((text.len() as u32).to_le_bytes());
    out.extend([0; 4]);
    out.extend(&text);
    out.extend(&columns.bytes);
}

fn is_finite(frame: &Frame, i: usize) -> bool {
    let bodies = &frame.bodies;
    bodies.position[i].is_finite() && bodies.velocity[i].is_finite() && bodies.orientation[i].is_finite()
}

/// At most `limit` of these bodies: those with the smallest hashes of their ids, in the order they had.
fn thin(frame: &Frame, mut bodies: Vec<u32>, limit: usize) -> Vec<u32> {
    if bodies.len() <= limit {
        return bodies;
    }
    if limit == 0 {
        return Vec::new();
    }
    // Machines are few, and nothing is understood without them.
    let is_machine =
        |i: usize| matches!(frame.bodies.shape[i], Shape::Mesh(_)) && frame.bodies.motion[i] != Motion::Dynamic;
    let hash = |i: u32| if is_machine(i as usize) { 0 } else { mix(frame.bodies.id[i as usize]) };
    let mut hashes: Vec<u64> = bodies.iter().map(|&i| hash(i)).collect();
    let (_, &mut last, _) = hashes.select_nth_unstable(limit - 1);
    bodies.retain(|&i| hash(i) <= last);
    // Ids are not used twice; should they be, the limit holds all the same.
    bodies.truncate(limit);
    bodies
}

/// Different numbers for different ids, spread over all of them (SplitMix64).
fn mix(id: u64) -> u64 {
    let mut z = id.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// At most `limit` contacts, those with the largest forces, in the order they had.
fn strongest(frame: &Frame, limit: usize) -> Vec<u32> {
    let contacts = &frame.contacts;
    let finite = |k: usize| contacts.force[k].is_finite() && contacts.ends[k].iter().all(|end| end.is_finite());
    let mut kept: Vec<u32> = (0..contacts.len() as u32).filter(|&k| finite(k as usize)).collect();
    if kept.len() > limit {
        let force = |k: u32| contacts.force[k as usize].length_squared();
        kept.select_nth_unstable_by(limit, |&a, &b| force(b).total_cmp(&force(a)));
        kept.truncate(limit);
        kept.sort_unstable();
    }
    kept
}

/// Bodies that look alike, with their factors if they are not spheres.
struct Group {
    kind: &'static str,
    look: u64,
    bodies: Vec<u32>,
    scales: Vec<DVec3>,
}

/// The bodies of each look, looks in the order in which they first appear.
fn by_kind(frame: &Frame, shown: &[u32], looks: &mut Looks) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    let mut places = HashMap::new();
    for &i in shown {
        let shape = &frame.bodies.shape[i as usize];
        let Worn { look, scale } = looks.wear(shape);
        // What found no room among the looks is a ball like spheres.
        let kind = if look == SPHERE { "sphere" } else { shape.name() };
        let place = *places.entry(look).or_insert_with(|| {
            groups.push(Group { kind, look, bodies: Vec::new(), scales: Vec::new() });
            groups.len() - 1
        });
        let group = &mut groups[place];
        group.bodies.push(i);
        if look != SPHERE {
            group.scales.push(scale);
        }
    }
    groups
}

/// How places become numbers: low corner and extent of a box about all of them.
#[derive(Debug)]
struct Grid {
    low: DVec3,
    span: DVec3,
    radius: f64,
    /// Whether 16 bits are enough.
    coarse: bool,
}

impl Grid {
    fn about(frame: &Frame, shown: &[u32], contacts: &[u32]) -> Self {
        let bodies = &frame.bodies;
        let centres = shown.iter().map(|&i| bodies.position[i as usize]);
        let ends = contacts.iter().flat_map(|&k| frame.contacts.ends[k as usize]);
        let none = (DVec3::INFINITY, DVec3::NEG_INFINITY);
        let (low, high) = centres.chain(ends).fold(none, |(low, high), x| (low.min(x), high.max(x)));
        let (low, span) = if low.is_finite() { (low, high - low) } else { (DVec3::ZERO, DVec3::ZERO) };
        let radii = shown.iter().map(|&i| bodies.radius(i as usize));
        let (least, radius) = radii.fold((f64::INFINITY, 0.0f64), |(a, b), r| (a.min(r), b.max(r)));
        let coarse = span.max_element().max(radius) / f64::from(u16::MAX) <= FINE * least;
        Self { low, span, radius, coarse }
    }

    /// A column of places, `width` numbers a row: the axes in turn, and radii after them if there are four.
    fn column(&self, columns: &mut Columns, width: usize, rows: impl Iterator<Item = (DVec3, f64)>) -> Array {
        let axes = width.min(4);
        let low: Vec<f64> = [self.low.x, self.low.y, self.low.z, 0.0][..axes].into();
        let span: Vec<f64> = [self.span.x, self.span.y, self.span.z, self.radius][..axes].into();
        let values = rows.flat_map(|(x, r)| [x.x, x.y, x.z, r].into_iter().take(axes).enumerate());
        if self.coarse {
            let numbers = values.map(|(k, x)| unit(x - low[k], span[k]));
            Array { low: low.clone(), span: span.clone(), ..columns.sixteen(Type::U16, width, numbers) }
        } else {
            let numbers = values.map(|(k, x)| (x - low[k]) as f32);
            Array { low: low.clone(), span: vec![1.0; axes], ..columns.floats(width, numbers) }
        }
    }
}

/// `x` as a part of `span` in 16 bits.
fn unit(x: f64, span: f64) -> u16 {
    if span > 0.0 { (x / span * f64::from(u16::MAX)).round() as u16 } else { 0 }
}

fn encode_kind(
    frame: &Frame,
    Group { kind, look, bodies: shown, scales }: &Group,
    counts: &[u32],
    grid: &Grid,
    columns: &mut Columns,
) -> Kind {
    let bodies = &frame.bodies;
    let of = || shown.iter().map(|&i| i as usize);
    let is_round = *look == SPHERE;
    let columns = BodyColumns {
        place: grid.column(columns, 4, of().map(|i| (bodies.position[i], bodies.radius(i)))),
        speed: columns.sixteen(Type::F16, 1, of().map(|i| half::from_f64(bodies.velocity[i].length()))),
        id: columns.whole(of().map(|i| bodies.id[i])),
        contacts: columns.whole(of().map(|i| counts[i].into())),
        rank: columns.whole(of().map(|i| bodies.rank[i].into())),
        material: columns.whole(of().map(|i| bodies.material[i].into())),
        group: columns.whole(of().map(|i| bodies.group[i].into())),
        orientation: (!is_round).then(|| {
            let parts = of().flat_map(|i| bodies.orientation[i].to_array());
            let signed = |x: f64| (x * f64::from(i16::MAX)).round() as i16 as u16;
            columns.sixteen(Type::I16, 4, parts.map(signed))
        }),
        scale: (!is_round).then(|| factors(scales, columns)),
    };
    Kind { kind, look: (!is_round).then_some(*look), count: shown.len(), columns }
}

/// Factors on axes, with 16 bits where that is fine enough for the smallest.
fn factors(scales: &[DVec3], columns: &mut Columns) -> Array {
    let largest = scales.iter().fold(0.0, |largest: f64, scale| largest.max(scale.max_element()));
    let least = scales.iter().fold(f64::INFINITY, |least, scale| least.min(scale.min_element()));
    let numbers = scales.iter().flat_map(|scale| scale.to_array());
    let is_coarse = largest / f64::from(u16::MAX) <= FINE * least;
    let span = if is_coarse { largest } else { 1.0 };
    let array = if is_coarse {
        columns.sixteen(Type::U16, 3, numbers.map(|x| unit(x, largest)))
    } else {
        columns.floats(3, numbers.map(|x| x as f32))
    };
    Array { low: vec![0.0; 3], span: vec![span; 3], ..array }
}

fn encode_chains(frame: &Frame, shown: &[u32], grid: &Grid, columns: &mut Columns) -> Chains {
    let contacts = &frame.contacts;
    let force = |k: &u32| contacts.force[*k as usize].length();
    let force_max = shown.iter().map(force).fold(0.0, f64::max);
    let ends = shown.iter().flat_map(|&k| contacts.ends[k as usize].map(|end| (end, 0.0)));
    let ends = grid.column(columns, 3, ends);
    let force = columns.sixteen(Type::U16, 1, shown.iter().map(|k| unit(force(k), force_max)));
    Chains { contacts: contacts.len(), count: shown.len(), force_max, ends: Array { width: 6, ..ends }, force }
}

fn walls(frame: &Frame) -> Vec<Wall> {
    let walls = frame.walls.iter().filter(|wall| wall.position.is_finite() && wall.orientation.is_finite());
    walls
        .map(|wall| Wall {
            id: wall.id,
            shape: wall.shape.clone(),
            position: wall.position,
            orientation: wall.orientation,
            material: wall.material,
        })
        .collect()
}
