//! Counts manifolds a second on random poses of a settled bed, against those of parry.
//!
//! About half of the pairs touch, most of them with an overlap of 1e-4 to 1e-2 of their size; the others are apart, within
//! reach. The same poses are given to both: to parry cold, with a fresh manifold each call, and with coherence, where the
//! manifold of a pair is kept while the pair is moved by a little each call, and from time to time by more.
//!
//! `cargo run --release -p barchan-convex --example pairs_per_second [pair]`

use barchan_convex::{Core, Hull, Placed, manifold};
use glam::{DMat3, DQuat, DVec3, Vec3Swizzles};
use parry3d_f64::query::{ContactManifold, DefaultQueryDispatcher, PersistentQueryDispatcher};
use parry3d_f64::shape::{Ball, Capsule, ConvexPolyhedron, Cuboid, Cylinder, SharedShape};
use std::hint::black_box;
use std::time::Instant;

const POSES: usize = 1000;
const REACH: f64 = 0.02;
/// How far a pair moves from call to call: what a body of size 1 does in a millisecond at a millimetre a second.
const MOTION: f64 = 1e-6;

/// A generator of numbers (Steele, Lea and Flood 2014).
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }

    fn unit(&mut self) -> DVec3 {
        loop {
            let v = DVec3::new(self.next(), self.next(), self.next()) * 2.0 - 1.0;
            if (0.01..=1.0).contains(&v.length_squared()) {
                return v.normalize();
            }
        }
    }
}

/// A shape in both libraries. Roundings are spheres and capsules here.
struct Shape<'a> {
    core: Core<'a>,
    rounding: f64,
    parry: SharedShape,
}

impl Shape<'_> {
    fn placed(&self, position: DVec3, turn: DQuat) -> Placed<'_> {
        Placed { core: self.core, rounding: self.rounding, position, rotation: DMat3::from_quat(turn) }
    }
}

struct Pose {
    turns: [DQuat; 2],
    /// From A to B.
    offset: DVec3,
}

/// A pose with a gap that a settled bed has.
fn pose(a: &Shape<'_>, b: &Shape<'_>, numbers: &mut Numbers, flush: bool) -> Pose {
    let mut turns = [(); 2].map(|()| DQuat::from_axis_angle(numbers.unit(), 6.3 * numbers.next()));
    let mut direction = numbers.unit();
    if flush {
        // On each other's faces, or beside each other along their axes.
        let tilt = DQuat::from_axis_angle(numbers.unit(), 1e-3 * numbers.next());
        turns[1] = turns[0] * DQuat::from_rotation_z(6.3 * numbers.next()) * tilt;
        let side = DVec3::new(0.3 * numbers.next(), 0.3 * numbers.next(), 1.0);
        direction = turns[0] * if a.rounding > 0.0 { side.zxy() } else { side };
    }
    let gap = if numbers.next() < 0.5 { -(10f64.powf(-4.0 + 2.0 * numbers.next())) } else { REACH * numbers.next() };
    // Along the direction until the gap is right.
    let mut far = [0.0, 4.0];
    for _ in 0..50 {
        let middle = 0.5 * (far[0] + far[1]);
        let placed = [a.placed(DVec3::ZERO, turns[0]), b.placed(direction * middle, turns[1])];
        let found = barchan_convex::closest(&placed[0], &placed[1], 10.0).expect("within reach");
        far[usize::from(found.gap > gap)] = middle;
    }
    Pose { turns, offset: direction * far[0] }
}

fn small(pose: &Pose, round: usize) -> (DVec3, DQuat) {
    let phase = round as f64;
    let turn = DQuat::from_axis_angle(DVec3::new(0.6, 0.0, 0.8), MOTION * phase.sin());
    (pose.offset + DVec3::new(phase.sin(), (1.3 * phase).cos(), (0.7 * phase).sin()) * MOTION, pose.turns[1] * turn)
}

/// Calls a second, the best of a few: of what is made ready for a round, outside of the clock.
fn rate<T>(mut ready: impl FnMut(usize, usize) -> T, mut call: impl FnMut(usize, &T)) -> f64 {
    let mut best = f64::INFINITY;
    for turn in 0..5 {
        let mut seconds = 0.0;
        let mut rounds = 0;
        while seconds < 0.04 {
            let poses: Vec<T> = (0..POSES).map(|k| ready(k, turn * 100_000 + rounds)).collect();
            let start = Instant::now();
            poses.iter().enumerate().for_each(|(k, pose)| call(k, pose));
            seconds += start.elapsed().as_secs_f64();
            rounds += 1;
        }
        best = best.min(seconds / (rounds * POSES) as f64);
    }
    1.0 / best
}

fn compare(name: &str, a: &Shape<'_>, b: &Shape<'_>) {
    let mut numbers = Numbers(7);
    let poses: Vec<_> = (0..POSES).map(|k| pose(a, b, &mut numbers, k % 4 == 0)).collect();
    let mut points = 0;
    let own = rate(
        |k, round| {
            let (offset, turn) = small(&poses[k], round);
            (a.placed(DVec3::ZERO, poses[k].turns[0]), b.placed(offset, turn))
        },
        |k, (a, b)| {
            let found = black_box(manifold(a, b, REACH));
            points = found.touches().len() + if k == 0 { 0 } else { points };
        },
    );
    let relative = |k: usize, round: usize| {
        let (offset, turn) = small(&poses[k], round);
        let back = poses[k].turns[0].inverse();
        let mut isometry = parry3d_f64::math::Pose::identity();
        isometry.translation = back * offset;
        isometry.rotation = back * turn;
        isometry
    };
    let mut kept: Vec<_> = (0..POSES).map(|_| (Vec::new(), None)).collect();
    let mut update = |k: usize, pose: &parry3d_f64::math::Pose, fresh: bool| {
        let (manifolds, space): &mut (Vec<ContactManifold<(), ()>>, _) = &mut kept[k];
        if fresh {
            manifolds.clear();
            *space = None;
        }
        let done = DefaultQueryDispatcher.contact_manifolds(pose, &*a.parry, &*b.parry, REACH, manifolds, space);
        assert!(done.is_ok());
    };
    let cold = rate(relative, |k, pose| update(k, pose, true));
    let warm = rate(relative, |k, pose| update(k, pose, false));
    println!(
        "{name:22} {:>9.0} {:>9.0} {:>9.0}   {:>6.2} {:>6.2}   {:.2}",
        own / 1e3,
        cold / 1e3,
        warm / 1e3,
        own / cold,
        own / warm,
        points as f64 / POSES as f64
    );
}

/// Points on a sphere, as its hull in both libraries.
fn pebble(count: usize) -> (Hull, SharedShape) {
    let mut numbers = Numbers(3);
    let points: Vec<_> = (0..count).map(|_| numbers.unit() * DVec3::new(0.5, 0.4, 0.45)).collect();
    let hull = ConvexPolyhedron::from_convex_hull(&points).expect("points with a volume");
    let faces: Vec<_> = hull
        .faces()
        .iter()
        .map(|face| {
            let first = face.first_vertex_or_edge as usize;
            hull.vertices_adj_to_face()[first..first + face.num_vertices_or_edges as usize].to_vec()
        })
        .collect();
    (Hull::new(hull.points().to_vec(), faces), SharedShape::new(hull))
}

fn main() {
    let (hull, polyhedron) = pebble(40);
    // Parry has no ellipsoids: a polyhedron of many points is what it would be there.
    let (_, many) = pebble(400);
    let half = DVec3::new(0.3, 0.4, 0.5);
    let shape = |core, rounding, parry| Shape { core, rounding, parry };
    let cuboid = shape(Core::Cuboid { half }, 0.0, SharedShape::new(Cuboid::new(half)));
    let capsule = shape(Core::Segment { half: 0.4 }, 0.25, SharedShape::new(Capsule::new_z(0.4, 0.25)));
    let cylinder = shape(Core::Cylinder { radius: 0.3, half: 0.4 }, 0.0, SharedShape::new(Cylinder::new(0.4, 0.3)));
    let convex = shape(Core::Hull { hull: &hull, scale: 1.0 }, 0.0, polyhedron);
    let ellipsoid = shape(Core::Ellipsoid { radii: DVec3::new(0.5, 0.4, 0.45) }, 0.0, many);
    let sphere = shape(Core::Point, 0.4, SharedShape::new(Ball::new(0.4)));
    let pairs = [
        ("box–box", &cuboid, &cuboid),
        ("capsule–capsule", &capsule, &capsule),
        ("cylinder–cylinder", &cylinder, &cylinder),
        ("convex–convex", &convex, &convex),
        ("ellipsoid–ellipsoid", &ellipsoid, &ellipsoid),
        ("sphere–box", &sphere, &cuboid),
        ("sphere–cylinder", &sphere, &cylinder),
        ("sphere–convex", &sphere, &convex),
        ("capsule–box", &capsule, &cuboid),
        ("capsule–cylinder", &capsule, &cylinder),
        ("capsule–convex", &capsule, &convex),
        ("box–cylinder", &cuboid, &cylinder),
        ("box–convex", &cuboid, &convex),
    ];
    let wanted = std::env::args().nth(1).unwrap_or_default();
    println!(
        "{:22} {:>9} {:>9} {:>9}   {:>6} {:>6}   points",
        "thousands a second", "own", "cold", "warm", "cold", "warm"
    );
    for (name, a, b) in pairs.into_iter().filter(|pair| pair.0.contains(&wanted)) {
        compare(name, a, b);
    }
}
