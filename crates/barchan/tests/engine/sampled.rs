//! Every pair of shapes against what can be said of them by support functions alone: ten thousand poses a pair.
//!
//! For convex solids the gap is the largest over all directions n of what lies between the planes across n that touch
//! the two, apart or overlapping. So every direction bounds it from below, and that of the contact has to attain it; and
//! any two points of the solids bound it from above. Both are found here by formulas of the test's own. A composite is
//! as near as the nearest of its parts, and a closed mesh that is convex as its corners.

use super::heap::{centred_shapes, shapes};
use super::pairs::{are_mirrored, contacts, deepest, pair, random, turn};
use barchan::narrow::ContactPoint;
use barchan::shape::{Face, Shape, Surface};
use barchan::world::Bodies;
use barchan::{DMat3, DQuat, DVec3};
use std::f64::consts::FRAC_PI_2;

/// Poses of each pair.
const POSES: u64 = 10_000;
/// Steps in search of a direction.
const CLIMBS: usize = 40;
/// What a gap may be off, in sizes of the smaller shape.
const EXACT: f64 = 1e-6;

/// The farthest point of a shape in a direction of unit length, in the frame of the shape.
fn support(shape: &Shape, n: DVec3) -> DVec3 {
    let across = |radius: f64| (n * DVec3::new(1.0, 1.0, 0.0)).normalize_or_zero() * radius;
    match shape {
        Shape::Sphere(sphere) => n * sphere.radius,
        Shape::Box(cuboid) => (cuboid.half_extents - cuboid.margin) * n.map(f64::signum) + n * cuboid.margin,
        Shape::Capsule(capsule) => DVec3::Z * capsule.half_height.copysign(n.z) + n * capsule.radius,
        Shape::Cylinder(cylinder) => {
            let half = (cylinder.half_height - cylinder.margin).copysign(n.z);
            DVec3::Z * half + across(cylinder.radius - cylinder.margin) + n * cylinder.margin
        }
        Shape::Cone(cone) => {
            let tip = DVec3::Z * (1.5 * cone.half_height);
            let rim = DVec3::Z * (-0.5 * cone.half_height) + across(cone.radius);
            if tip.dot(n) > rim.dot(n) { tip } else { rim }
        }
        Shape::Ellipsoid(ellipsoid) => {
            let scaled = ellipsoid.radii * n;
            ellipsoid.radii * scaled / scaled.length()
        }
        Shape::Polyhedron(_) | Shape::Mesh(_) => unreachable!("given by corners"),
        Shape::Composite(_) | Shape::HalfSpace(_) | Shape::Container(_) => unreachable!("no convex solid"),
    }
}

/// The corners of a shape without its rounding, and that.
fn corners(shape: &Shape) -> (Vec<DVec3>, f64) {
    match shape {
        Shape::Mesh(_) => (shape.form().expect("a bounded shape").surface().vertices, 0.0),
        Shape::Polyhedron(hull) => {
            let text = hull.text();
            let points: Vec<_> = text.points.iter().map(|&p| p * text.scale).collect();
            if text.margin == 0.0 {
                return (points, 0.0);
            }
            // A tetrahedron shrinks towards the centre of the ball within.
            let &[a, b, c, d] = &points[..] else { unreachable!("a tetrahedron") };
            let area = |p: DVec3, q: DVec3, r: DVec3| 0.5 * (q - p).cross(r - p).length();
            let areas = [area(b, c, d), area(a, c, d), area(a, b, d), area(a, b, c)];
            let total: f64 = areas.iter().sum();
            let centre = points.iter().zip(areas).map(|(&p, area)| p * (area / total)).sum::<DVec3>();
            let radius = 0.5 * (b - a).cross(c - a).dot(d - a).abs() / total;
            let left = 1.0 - text.margin / radius;
            (points.iter().map(|&p| centre + (p - centre) * left).collect(), text.margin)
        }
        _ => (Vec::new(), 0.0),
    }
}

/// A convex solid where it stands.
struct Solid<'a> {
    shape: &'a Shape,
    corners: Vec<DVec3>,
    rounding: f64,
    x: DVec3,
    r: DMat3,
}

impl<'a> Solid<'a> {
    fn new(shape: &'a Shape, x: DVec3, q: DQuat) -> Self {
        let (corners, rounding) = corners(shape);
        Self { shape, corners, rounding, x, r: DMat3::from_quat(q) }
    }

    /// Its farthest point in a direction.
    fn far(&self, n: DVec3) -> DVec3 {
        let n = (self.r.transpose() * n).normalize();
        let corner = self.corners.iter().copied().max_by(|p, q| p.dot(n).total_cmp(&q.dot(n)));
        self.x + self.r * corner.map_or_else(|| support(self.shape, n), |corner| corner + n * self.rounding)
    }
}

impl Solid<'_> {
    /// Whether it is a surface that another solid is wholly within.
    fn holds(&self, other: &Solid<'_>) -> bool {
        let Shape::Mesh(_) = self.shape else { return false };
        let surface = self.shape.form().expect("a bounded shape").surface();
        surface.triangles.iter().all(|corners| {
            let [p, q, r] = corners.map(|k| self.x + self.r * surface.vertices[k as usize]);
            let n = (q - p).cross(r - p).normalize();
            (other.far(n) - p).dot(n) < 0.0
        })
    }
}

/// The solids of a body.
fn solids(bodies: &Bodies, body: usize) -> Vec<Solid<'_>> {
    let (x, q) = (bodies.position[body], bodies.orientation[body]);
    match &bodies.shape()[body] {
        Shape::Composite(composite) => {
            composite.parts.iter().map(|p| Solid::new(&p.shape, x + q * p.position, q * p.orientation)).collect()
        }
        shape => vec![Solid::new(shape, x, q)],
    }
}

/// What lies between the planes across n that touch A and B.
fn between(a: &Solid<'_>, b: &Solid<'_>, n: DVec3) -> f64 {
    a.far(-n).dot(n) - b.far(n).dot(n)
}

/// A bound of the gap from below: climbs from a direction.
fn climb(a: &Solid<'_>, b: &Solid<'_>, mut n: DVec3, mut step: f64) -> f64 {
    let mut best = between(a, b, n);
    // Ridges are climbed slowly: any direction is a bound.
    for _ in 0..CLIMBS {
        if step < 1e-7 {
            break;
        }
        let side = n.any_orthonormal_vector();
        let other = n.cross(side);
        let tries = [side, other, -side, -other, side + other, side - other, other - side, -side - other];
        let better = tries.into_iter().find_map(|d| {
            let m = (n + d * step).normalize();
            let found = between(a, b, m);
            (found > best).then_some((m, found))
        });
        match better {
            Some(found) => (n, best) = found,
            None => step *= 0.25,
        }
    }
    best
}

/// A bound of the distance from above: two points of the solids, ever nearer to each other (Gilbert 1966).
fn approach(a: &Solid<'_>, b: &Solid<'_>, enough: f64) -> f64 {
    let mut way = a.x - b.x;
    for _ in 0..60 {
        let length = way.length();
        if length < enough {
            return length;
        }
        let n = way / length;
        let next = a.far(-n) - b.far(n);
        let chord = next - way;
        let along = (-way.dot(chord) / chord.length_squared()).clamp(0.0, 1.0);
        if !along.is_finite() || along == 0.0 {
            break;
        }
        way += chord * along;
    }
    way.length()
}

/// What the gap along the normal may be off: along an edge that is round, normals that differ by the root of twice the
/// error of the gap have the same gap but for that, and all of what the ends of the edge are apart by that.
const ALLOWED: f64 = 1e-3;

/// How a pose is found.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    /// Anywhere from on each other to apart.
    Any,
    /// Moved until they touch, to the last digits.
    Touching,
    /// Moved until they overlap by little.
    Shallow,
    /// One about the middle of the other.
    Deep,
}

fn pose(seed: u64, size: f64, a: &Shape, b: &Shape, kind: Kind) -> Bodies {
    let mut random = random(seed);
    // One in four has faces along the axes, as in stacks.
    let mut orientation = || match seed % 4 {
        0 => DQuat::from_rotation_x(FRAC_PI_2 * (random() * 2.0).round()),
        _ => turn(&mut random),
    };
    let turns = [orientation(), orientation()];
    let way = DVec3::new(random(), random(), random()).normalize_or(DVec3::X);
    let apart = if kind == Kind::Deep { 0.02 * (1.0 + random()) } else { 0.065 * (1.0 + 0.6 * random()) };
    let at = |x: DVec3| pair(a, b, [x, DVec3::ZERO], turns);
    let first = at(way * apart * size);
    let press = match kind {
        Kind::Any | Kind::Deep => return first,
        Kind::Touching => random() * 1e-9 * size,
        Kind::Shallow => -1e-4 * size * (1.0 + random()),
    };
    let found = contacts(&first, [0, 1], size);
    match found.iter().min_by(|p, q| p.gap.total_cmp(&q.gap)) {
        Some(nearest) => at(first.position[0] + nearest.normal * (press - nearest.gap)),
        None => first,
    }
}

/// What came of the poses of a pair.
#[derive(Default)]
struct Count {
    apart: u32,
    overlapping: u32,
    /// Nothing was found, and it is not proved that nothing is there.
    undecided: u32,
}

/// Bounds of the gap of two bodies: from below, from a direction and others, and from above where they are apart.
fn check(bodies: &Bodies, reach: f64, found: &[ContactPoint], exact: f64, count: &mut Count) -> Result<(), String> {
    let [all_a, all_b] = [0, 1].map(|body| solids(bodies, body));
    let pairs = || all_a.iter().flat_map(|a| all_b.iter().map(move |b| (a, b)));
    let is_mesh = bodies.shape().iter().any(|shape| matches!(shape, Shape::Mesh(_)));
    let centres = |a: &Solid<'_>, b: &Solid<'_>| (a.x - b.x).normalize_or(DVec3::X);
    let Some(nearest) = found.iter().min_by(|p, q| p.gap.total_cmp(&q.gap)) else {
        // What is wholly within a surface does not touch it.
        if is_mesh && pairs().any(|(a, b)| a.holds(b) || b.holds(a)) {
            return Ok(());
        }
        let least = pairs().map(|(a, b)| approach(a, b, reach - exact)).fold(f64::INFINITY, f64::min);
        if least < reach - exact {
            return Err(format!("missed: they are {least} apart"));
        }
        let proved = pairs().all(|(a, b)| climb(a, b, centres(a, b), 0.25) > reach - exact);
        count.undecided += u32::from(!proved);
        return Ok(());
    };
    let (n, gap) = (nearest.normal, nearest.gap);
    if gap > 0.0 {
        count.apart += 1;
        let least = pairs().map(|(a, b)| approach(a, b, gap - exact)).fold(f64::INFINITY, f64::min);
        if least < gap - exact {
            return Err(format!("they are only {least} apart"));
        }
    } else {
        count.overlapping += 1;
    }
    // How deep a surface that is cut lies within a solid is another question.
    if is_mesh && pairs().any(|(a, b)| climb(a, b, n, 0.25).max(climb(a, b, centres(a, b), 0.25)) < -exact) {
        return Ok(());
    }
    // The normal attains the gap, for one of the pairs of parts.
    let off = pairs().map(|(a, b)| (between(a, b, n) - gap).abs()).fold(f64::INFINITY, f64::min);
    if off > ALLOWED * exact / EXACT {
        return Err(format!("along the normal it is off by {off}"));
    }
    // No direction has more, for the pair that has the least.
    let most = |a: &Solid<'_>, b: &Solid<'_>| {
        climb(a, b, n, 0.05).max(if gap < 0.0 { climb(a, b, centres(a, b), 0.25) } else { f64::NEG_INFINITY })
    };
    let least = pairs().map(|(a, b)| most(a, b)).fold(f64::INFINITY, f64::min);
    if least > gap + exact { Err(format!("another direction has {least}")) } else { Ok(()) }
}

/// The poses of two shapes.
fn check_pair(a: &Shape, b: &Shape, seed: u64) -> Count {
    let mut count = Count::default();
    for k in 0..POSES {
        let size = [1e-4, 1.0, 1e3][(k % 3) as usize];
        let kind = [Kind::Any, Kind::Touching, Kind::Shallow, Kind::Deep][(k / 3 % 4) as usize];
        let [p, q] = [a.scaled(size), b.scaled(size)];
        let bodies = pose(1 + k + POSES * seed, size, &p, &q, kind);
        let reach = 0.01 * size;
        let found = contacts(&bodies, [0, 1], reach);
        // Of two surfaces whose edges lie on each other, the normals of thin triangles are what is least certain.
        let are_meshes = matches!((&p, &q), (Shape::Mesh(_), Shape::Mesh(_)));
        let exact = if are_meshes { 20.0 } else { 1.0 } * EXACT * p.size().min(q.size());
        let back = contacts(&bodies, [1, 0], reach);
        assert!(are_mirrored(&found, &back), "{} and {}, pose {k}: {found:?}, back {back:?}", a.name(), b.name());
        if let Err(fault) = check(&bodies, reach, &found, exact, &mut count) {
            panic!("{} and {}, pose {k}, {kind:?}, size {size}: {fault}\n{found:?}\n{bodies:?}", a.name(), b.name());
        }
    }
    count
}

#[test]
fn no_contact_is_missed_in_ten_thousand_poses_of_a_pair() {
    // A mesh of a box that is no cube joins in with the rest.
    let mut all = centred_shapes();
    all.push(Shape::mesh(Surface::cuboid(DVec3::new(0.05, 0.04, 0.03))));
    let pairs: Vec<_> = (0..all.len()).flat_map(|i| (i..all.len()).map(move |j| [i, j])).collect();
    let next = std::sync::atomic::AtomicUsize::new(0);
    let threads = std::thread::available_parallelism().map_or(2, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some(&[i, j]) = pairs.get(next.fetch_add(1, std::sync::atomic::Ordering::Relaxed)) {
                    let count = check_pair(&all[i], &all[j], (i + 20 * j) as u64);
                    let Count { apart, overlapping, undecided } = count;
                    assert!(
                        apart > 500 && overlapping > 2000 && undecided < 200,
                        "{} and {}",
                        all[i].name(),
                        all[j].name()
                    );
                }
            });
        }
    });
}

/// Half-spaces and the walls of containers by the support function.
#[test]
fn no_contact_with_a_wall_is_missed_in_ten_thousand_poses() {
    for (i, shape) in shapes().iter().enumerate() {
        for k in 0..POSES {
            let size = [1e-4, 1.0, 1e3][(k % 3) as usize];
            let own = shape.scaled(size);
            let half = DVec3::new(0.09, 0.1, 0.11) * size;
            let wall = if k % 2 == 0 { Shape::half_space() } else { Shape::container(half) };
            let bodies = pose(1 + k + POSES * i as u64, size, &own, &wall, Kind::Any);
            let reach = 0.01 * size;
            let turned = DMat3::from_quat(bodies.orientation[1]);
            let parts = solids(&bodies, 0);
            let above = |n: DVec3, limit: f64| {
                parts.iter().map(|part| part.far(-n).dot(n)).fold(f64::INFINITY, f64::min) + limit
            };
            let expected = match &wall {
                Shape::Container(_) => Face::ALL
                    .iter()
                    .map(|face| {
                        let (axis, side) = face.axis_and_side();
                        above(turned * (DVec3::AXES[axis] * -side), half[axis])
                    })
                    .fold(f64::INFINITY, f64::min),
                _ => above(turned.z_axis, 0.0),
            };
            let found = deepest(&contacts(&bodies, [0, 1], reach));
            let case = format!("{}, {k}: {found}, but {expected}", shape.name());
            if expected < reach * (1.0 - 1e-9) {
                assert!((found - expected).abs() < EXACT * own.size(), "{case}");
            } else {
                assert!(found > reach * (1.0 - 1e-9), "{case}");
            }
        }
    }
}
