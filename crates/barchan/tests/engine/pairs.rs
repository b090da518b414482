//! Every pair of shapes, where they are near and where they overlap: none is missing, none depends on which of the two
//! comes first, how the world is turned, or how large everything is.

use super::heap::shapes;
use barchan::narrow::{self, ContactPoint};
use barchan::shape::{Shape, Surface};
use barchan::world::{Bodies, Body};
use barchan::{DMat3, DQuat, DVec3};

const SIZES: [f64; 3] = [1e-4, 1.0, 1e3];

/// Random numbers from −1 to 1.
pub(crate) fn random(seed: u64) -> impl FnMut() -> f64 {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }
}

pub(crate) fn turn(random: &mut impl FnMut() -> f64) -> DQuat {
    let mut part = || random() + 1e-9;
    DQuat::from_xyzw(part(), part(), part(), part()).normalize()
}

/// Two bodies that stand still.
pub(crate) fn pair(a: &Shape, b: &Shape, [xa, xb]: [DVec3; 2], [qa, qb]: [DQuat; 2]) -> Bodies {
    let mut bodies = Bodies::default();
    bodies.push(Body::fixed(a.clone(), xa).with_orientation(qa), 1.0);
    bodies.push(Body::fixed(b.clone(), xb).with_orientation(qb), 1.0);
    bodies
}

pub(crate) fn contacts(bodies: &Bodies, [a, b]: [usize; 2], reach: f64) -> Vec<ContactPoint> {
    let mut found = Vec::new();
    narrow::visit(bodies, a, b, reach, |contact| found.push(contact));
    found
}

pub(crate) fn deepest(found: &[ContactPoint]) -> f64 {
    found.iter().map(|contact| contact.gap).fold(f64::INFINITY, f64::min)
}

/// Whether contacts of two bodies in either order are the same, mirrored, with the same features.
pub(crate) fn are_mirrored(found: &[ContactPoint], back: &[ContactPoint]) -> bool {
    let is_twin = |own: &ContactPoint, other: &ContactPoint| {
        other.key.reversed() == own.key && (own.normal + other.normal).length() < 1e-9
    };
    found.len() == back.len() && found.iter().all(|own| back.iter().any(|other| is_twin(own, other)))
}

/// Two shapes at random, near to each other or overlapping.
fn poses(seed: u64, size: f64, a: &Shape, b: &Shape) -> Bodies {
    let mut random = random(seed);
    let turns = [turn(&mut random), turn(&mut random)];
    let way = DVec3::new(random(), random(), random()).normalize_or(DVec3::X);
    let apart = 0.055 * size * (1.0 + 0.6 * random());
    pair(a, b, [way * apart, DVec3::ZERO], turns)
}

#[test]
fn no_pair_depends_on_order_nor_on_the_frame() {
    let mut near = 0;
    for (i, a) in shapes().iter().enumerate() {
        for (j, b) in shapes().iter().enumerate() {
            for k in 0..30u64 {
                let size = SIZES[(k % 3) as usize];
                let [a, b] = [a.scaled(size), b.scaled(size)];
                let bodies = poses(1 + k + 100 * (i as u64 + 20 * j as u64), size, &a, &b);
                let reach = 0.01 * size;
                let found = contacts(&bodies, [0, 1], reach);
                let case = format!("{} and {}, {k}: {found:?}", a.name(), b.name());
                for contact in &found {
                    assert!((contact.normal.length() - 1.0).abs() < 1e-9 && contact.gap <= reach, "{case}");
                    assert!(contact.point.is_finite(), "{case}");
                }
                near += usize::from(!found.is_empty());
                // The other way round they are the same, mirrored.
                let back = contacts(&bodies, [1, 0], reach);
                assert!(are_mirrored(&found, &back), "{case}, back {back:?}");
                // In a world that is turned they are turned. Ties may be broken otherwise; depths are no such matter.
                let world = turn(&mut random(k + 7));
                let place = [0, 1].map(|n| world * bodies.position[n]);
                let turned = pair(&a, &b, place, [0, 1].map(|n| world * bodies.orientation[n]));
                let there = contacts(&turned, [0, 1], reach);
                // What is at the limit of the reach may fall on either side of it, and overlaps of triangles jump.
                let is_mesh = [&a, &b].iter().any(|shape| matches!(shape, Shape::Mesh(_)));
                let (here, there) = (deepest(&found), deepest(&there));
                if here.min(there) < 0.99 * reach && !(is_mesh && here < 0.0) {
                    assert!((here - there).abs() < 1e-5 * size, "{case}, turned {there}");
                }
            }
        }
    }
    assert!(near > 1000, "{near} pairs were near");
}

/// The table names every shape, says how two of them meet, and is what the document has.
#[test]
fn the_table_of_pairs_is_complete_and_documented() {
    let table = narrow::table();
    let names: Vec<&str> = table.lines().skip(2).map(|row| row.split('|').nth(1).unwrap().trim()).collect();
    for (name, _) in Shape::FORMS {
        assert!(names.contains(name), "{name} has no row in\n{table}");
    }
    assert_eq!(names.len(), Shape::FORMS.len(), "{table}");
    for (row, line) in table.lines().skip(2).enumerate() {
        let cells: Vec<&str> = line.split('|').skip(2).map(str::trim).collect();
        assert!(cells[..=row].iter().all(|cell| !cell.is_empty()), "a pair is missing in\n{table}");
    }
    let text = include_str!("../../../../docs/shapes.md");
    assert!(text.contains(&format!("\n\n{table}\n")), "docs/shapes.md has another table than `barchan list pairs`");
}

/// Every pair that the table has a function for makes contacts where the two touch, and no other pair does.
#[test]
fn every_pair_of_the_table_makes_contacts() {
    let walls = [Shape::half_space(), Shape::container(DVec3::splat(0.2))];
    let all: Vec<Shape> = shapes().into_iter().chain(walls).collect();
    let mut random = random(11);
    for a in &all {
        for b in &all {
            let case = format!("{} and {}", a.name(), b.name());
            assert_eq!(narrow::handler(a, b), narrow::handler(b, a), "{case}");
            // Walls stand second.
            let order = if a.is_unbounded() { [1, 0] } else { [0, 1] };
            // Bodies that come nearer along a line, down to a wall, touch somewhere on the way.
            let turns = [a, b].map(|shape| if shape.is_unbounded() { DQuat::IDENTITY } else { turn(&mut random) });
            let way = DVec3::new(0.1, 0.2, 0.9).normalize() * if a.is_unbounded() { -1.0 } else { 1.0 };
            let touches = (0..60).any(|k| {
                let bodies = pair(a, b, [way * (0.2 - 0.005 * f64::from(k)), DVec3::ZERO], turns);
                !contacts(&bodies, order, 0.005).is_empty()
            });
            assert_eq!(touches, narrow::handler(a, b).is_some(), "{case}");
        }
    }
}

/// A box of triangles is a box: the same gap where others are apart from it, and no contact less where they overlap by
/// little.
#[test]
fn a_mesh_is_what_it_is_cut_from() {
    let half = DVec3::new(0.03, 0.05, 0.04);
    let solid = Shape::cuboid(half);
    let cut = Shape::mesh(Surface::cuboid(half));
    let mut counts = [0; 2];
    for (i, shape) in shapes().iter().enumerate() {
        for k in 0..300u64 {
            let size = SIZES[(k % 3) as usize];
            let shape = shape.scaled(size);
            let reach = 0.02 * size;
            let seed = 1 + k + 1000 * i as u64;
            let to_solid = contacts(&poses(seed, size, &shape, &solid.scaled(size)), [0, 1], reach);
            let to_cut = contacts(&poses(seed, size, &shape, &cut.scaled(size)), [0, 1], reach);
            let case = format!("{} {k}: {to_solid:?} and {to_cut:?}", shape.name());
            let (expected, found) = (deepest(&to_solid), deepest(&to_cut));
            let is_apart = expected > 0.0 || found > 0.0 && expected > -1e-6 * size;
            if is_apart && expected.min(found) < 0.99 * reach {
                counts[0] += 1;
                assert!((found - expected).abs() < 1e-5 * size, "{case}");
            } else if expected < -1e-6 * size && expected > -0.005 * size {
                counts[1] += 1;
                assert!(found < 0.0, "{case}");
            }
        }
    }
    assert!(counts[0] > 100 && counts[1] > 20, "{counts:?}");
}

/// Boxes about turned shapes hold them, and touch them.
#[test]
fn boxes_about_shapes_are_tight() {
    let mut random = random(3);
    for shape in shapes() {
        let form = shape.form().expect("a bounded shape");
        let surface = form.surface();
        for _ in 0..50 {
            let r = DMat3::from_quat(turn(&mut random));
            let [low, high] = form.half_box(&r);
            let points = || surface.vertices.iter().map(|&p| r * p);
            let (least, most) = points().fold((DVec3::INFINITY, DVec3::NEG_INFINITY), |(l, h), p| (l.min(p), h.max(p)));
            let slack = 1e-9 + 0.02 * form.reach();
            assert!((least - low).min_element() > -1e-9 && (high - most).min_element() > -1e-9, "{}", shape.name());
            // Round surfaces are drawn within themselves, and the box of a mesh is that of its own box.
            if !matches!(shape, Shape::Mesh(_)) {
                assert!((least - low).max_element() < slack && (high - most).max_element() < slack, "{}", shape.name());
            }
            assert!(points().all(|p| p.length() <= form.reach() * (1.0 + 1e-9)), "{}", shape.name());
        }
    }
}
