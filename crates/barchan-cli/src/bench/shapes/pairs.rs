//! Manifolds a second on random poses as a settled bed has them, one thread, against those of parry.
//!
//! About half of the pairs touch, most of them with an overlap of 1e-4 to 1e-2 of their size; the others are apart, within
//! reach. A quarter lie flush on each other. The same poses are given to both: to parry cold, with a fresh manifold each
//! call, and with coherence, where the manifold of a pair is kept while the pair is moved by a little each call.

use crate::failure::Failure;
use barchan::narrow::visit;
use barchan::shape::{Shape, Surface};
use barchan::world::{Bodies, Body};
use barchan::{DQuat, DVec3};
use parry3d_f64::math::Pose;
use parry3d_f64::query::{ContactManifold, DefaultQueryDispatcher, PersistentQueryDispatcher};
use parry3d_f64::shape::{Ball, Capsule, ConvexPolyhedron, Cuboid, Cylinder, SharedShape, TriMesh};
use serde_json::{Value, json};
use std::f64::consts::FRAC_PI_2;
use std::hint::black_box;
use std::time::Instant;

const POSES: usize = 1000;
/// The gap up to which contacts are asked for, and sizes are about 1.
const REACH: f64 = 0.02;
/// How far a pair moves from call to call: what a body of size 1 does in a millisecond at a millimetre a second.
const MOTION: f64 = 1e-6;
/// Measurements of which the best counts, and how long each is, s.
const REPEATS: usize = 5;
const SECONDS: f64 = 0.04;

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

    fn turn(&mut self) -> DQuat {
        DQuat::from_axis_angle(self.unit(), 6.3 * self.next())
    }
}

/// A shape in both libraries.
struct Twin {
    own: Shape,
    theirs: SharedShape,
    /// How parry's is turned in the frame of our own.
    turn: DQuat,
    /// Which way of its own frame is up when it lies flush on another.
    up: DVec3,
}

impl Twin {
    fn new(own: Shape, theirs: SharedShape) -> Self {
        Self { own, theirs, turn: DQuat::IDENTITY, up: DVec3::Z }
    }
}

/// Where B stands, as A sees it from the origin, and how both are turned.
struct Stance {
    turns: [DQuat; 2],
    offset: DVec3,
}

impl Stance {
    /// Two shapes with a gap that a settled bed has.
    fn new([a, b]: [&Twin; 2], numbers: &mut Numbers, is_flush: bool) -> Self {
        let mut turns = [numbers.turn(), numbers.turn()];
        let mut direction = numbers.unit();
        let is_mesh = matches!(b.own, Shape::Mesh(_));
        if is_mesh {
            // A is above B, which lies level.
            turns[1] = DQuat::IDENTITY;
            direction = DVec3::new(0.6 * (numbers.next() - 0.5), 0.6 * (numbers.next() - 0.5), -1.0);
            if is_flush {
                turns[0] = DQuat::from_rotation_z(6.3 * numbers.next());
            }
        } else if is_flush {
            let tilt = DQuat::from_axis_angle(numbers.unit(), 1e-3 * numbers.next());
            turns[1] = turns[0] * DQuat::from_axis_angle(a.up, 6.3 * numbers.next()) * tilt;
            let side = a.up.any_orthonormal_vector() * (0.3 * numbers.next());
            direction = turns[0] * (a.up + side);
        }
        let gap =
            if numbers.next() < 0.5 { -(10f64.powf(-4.0 + 2.0 * numbers.next())) } else { REACH * numbers.next() };
        // Along the direction until the gap is right. Meshes are asked no farther than they must be.
        let mut range = [0.0, 4.0];
        for _ in 0..40 {
            let middle = 0.5 * (range[0] + range[1]);
            let bodies = pair([a, b], turns, direction * middle);
            let mut least = f64::INFINITY;
            visit(&bodies, 0, 1, if is_mesh { 0.1 } else { 5.0 }, |touch| least = least.min(touch.gap));
            range[usize::from(least > gap)] = middle;
        }
        Self { turns, offset: direction * range[0] }
    }

    /// Offset and turn of B in a round: moved by a little.
    fn moved(&self, round: usize) -> (DVec3, DQuat) {
        let phase = round as f64;
        let turn = DQuat::from_axis_angle(DVec3::new(0.6, 0.0, 0.8), MOTION * phase.sin());
        let by = DVec3::new(phase.sin(), (1.3 * phase).cos(), (0.7 * phase).sin()) * MOTION;
        (self.offset + by, self.turns[1] * turn)
    }
}

/// Two bodies, A at the origin.
fn pair([a, b]: [&Twin; 2], turns: [DQuat; 2], offset: DVec3) -> Bodies {
    let mut bodies = Bodies::default();
    bodies.push(Body::fixed(a.own.clone(), DVec3::ZERO).with_orientation(turns[0]), 1.0);
    bodies.push(Body::fixed(b.own.clone(), offset).with_orientation(turns[1]), 1.0);
    bodies
}

/// Calls a second, the best of a few: of what is made ready for a round, outside of the clock.
fn rate<T>(mut ready: impl FnMut(usize) -> T, mut call: impl FnMut(&T)) -> f64 {
    let mut best = f64::INFINITY;
    let mut round = 0;
    for _ in 0..REPEATS {
        let mut seconds = 0.0;
        let before = round;
        while seconds < SECONDS {
            let poses = ready(round);
            let start = Instant::now();
            call(&poses);
            seconds += start.elapsed().as_secs_f64();
            round += 1;
        }
        best = best.min(seconds / ((round - before) * POSES) as f64);
    }
    1.0 / best
}

/// Our own calls a second, and points a manifold.
fn own(twins: [&Twin; 2], stances: &[Stance]) -> (f64, f64) {
    let mut bodies = Bodies::default();
    for stance in stances {
        for (twin, turn) in twins.iter().zip(stance.turns) {
            bodies.push(Body::fixed(twin.own.clone(), DVec3::ZERO).with_orientation(turn), 1.0);
        }
    }
    let mut points = 0;
    let ready = |round: usize| {
        let mut bodies = bodies.clone();
        for (k, stance) in stances.iter().enumerate() {
            let (offset, turn) = stance.moved(round);
            bodies.position[2 * k + 1] = offset;
            bodies.orientation[2 * k + 1] = turn;
        }
        bodies
    };
    let rate = rate(ready, |bodies| {
        points = 0;
        for k in 0..stances.len() {
            visit(bodies, 2 * k, 2 * k + 1, REACH, |touch| {
                points += 1;
                black_box(touch);
            });
        }
    });
    (rate, points as f64 / stances.len() as f64)
}

/// Parry's calls a second, each with a fresh manifold or with that of the round before.
fn parrys(twins: [&Twin; 2], stances: &[Stance], is_fresh: bool) -> f64 {
    let mut kept: Vec<(Vec<ContactManifold<(), ()>>, _)> = stances.iter().map(|_| (Vec::new(), None)).collect();
    let ready = |round: usize| -> Vec<Pose> {
        let pose = |stance: &Stance| {
            let (offset, turn) = stance.moved(round);
            let back = (stance.turns[0] * twins[0].turn).inverse();
            let mut pose = Pose::identity();
            pose.translation = back * offset;
            pose.rotation = back * (turn * twins[1].turn);
            pose
        };
        stances.iter().map(pose).collect()
    };
    rate(ready, |poses| {
        for (pose, (manifolds, space)) in poses.iter().zip(&mut kept) {
            if is_fresh {
                manifolds.clear();
                *space = None;
            }
            let [a, b] = twins.map(|twin| &*twin.theirs);
            let done = DefaultQueryDispatcher.contact_manifolds(pose, a, b, REACH, manifolds, space);
            let _ = black_box(done);
        }
    })
}

/// A pebble of so many points in both libraries.
fn pebble(count: usize) -> Result<Twin, Failure> {
    let mut numbers = Numbers(3);
    let points: Vec<_> = (0..count).map(|_| numbers.unit() * DVec3::new(0.5, 0.4, 0.45)).collect();
    let hull = ConvexPolyhedron::from_convex_hull(&points)
        .ok_or_else(|| Failure::Failed("parry makes no hull of a pebble".into()))?;
    Ok(Twin::new(Shape::polyhedron(points), SharedShape::new(hull)))
}

/// A level surface with bumps, 8 by 8 in size, with cells of this length.
fn ground(cell: f64) -> Result<Twin, Failure> {
    let cells = (8.0 / cell).round() as u32;
    let height = |x: f64, y: f64| 0.05 * (1.7 * x).sin() * (1.3 * y).cos();
    let mut surface = Surface::default();
    for j in 0..=cells {
        for i in 0..=cells {
            let [x, y] = [i, j].map(|k| f64::from(k) * cell - 4.0);
            surface.vertices.push(DVec3::new(x, y, height(x, y)));
        }
    }
    for j in 0..cells {
        for i in 0..cells {
            let k = j * (cells + 1) + i;
            surface.triangles.push([k, k + 1, k + cells + 2]);
            surface.triangles.push([k, k + cells + 2, k + cells + 1]);
        }
    }
    let mesh = TriMesh::new(surface.vertices.clone(), surface.triangles.clone())
        .map_err(|error| Failure::Failed(format!("parry refuses a mesh: {error}")))?;
    Ok(Twin::new(Shape::mesh(surface), SharedShape::new(mesh)))
}

pub(super) fn run() -> Result<Value, Failure> {
    let half = DVec3::new(0.3, 0.4, 0.5);
    let radii = DVec3::new(0.5, 0.4, 0.45);
    let sphere = Twin::new(Shape::sphere(0.4), SharedShape::new(Ball::new(0.4)));
    let cuboid = Twin::new(Shape::cuboid(half), SharedShape::new(Cuboid::new(half)));
    // Capsules lie beside each other.
    let capsule =
        Twin { up: DVec3::X, ..Twin::new(Shape::capsule(0.25, 0.4), SharedShape::new(Capsule::new_z(0.4, 0.25))) };
    // What is about z here is about y there.
    let turn = DQuat::from_rotation_x(FRAC_PI_2);
    let cylinder = Twin { turn, ..Twin::new(Shape::cylinder(0.3, 0.4), SharedShape::new(Cylinder::new(0.4, 0.3))) };
    let convex = pebble(40)?;
    // Parry has no ellipsoids: a polyhedron of many points is what one would be there.
    let ellipsoid = Twin { own: Shape::ellipsoid(radii), ..pebble(400)? };
    // Triangles as large as the bodies, and a fifth of that.
    let coarse = ground(0.8)?;
    let fine = ground(0.16)?;
    let all = [
        ("sphere, sphere", [&sphere, &sphere]),
        ("box, box", [&cuboid, &cuboid]),
        ("capsule, capsule", [&capsule, &capsule]),
        ("cylinder, cylinder", [&cylinder, &cylinder]),
        ("convex, convex (40 points)", [&convex, &convex]),
        ("ellipsoid, ellipsoid (parry: 400 points)", [&ellipsoid, &ellipsoid]),
        ("sphere, mesh", [&sphere, &coarse]),
        ("sphere, fine mesh", [&sphere, &fine]),
        ("box, mesh", [&cuboid, &coarse]),
        ("box, fine mesh", [&cuboid, &fine]),
        ("sphere, box", [&sphere, &cuboid]),
        ("sphere, cylinder", [&sphere, &cylinder]),
        ("sphere, convex", [&sphere, &convex]),
        ("capsule, box", [&capsule, &cuboid]),
        ("capsule, cylinder", [&capsule, &cylinder]),
        ("capsule, convex", [&capsule, &convex]),
        ("box, cylinder", [&cuboid, &cylinder]),
        ("box, convex", [&cuboid, &convex]),
        ("box, ellipsoid", [&cuboid, &ellipsoid]),
        ("cylinder, convex", [&cylinder, &convex]),
    ];
    let mut table =
        vec![json!(["pair", "own", "points", "parry, cold", "with coherence", "own / cold", "own / coherence"])];
    for (name, twins) in all {
        let mut numbers = Numbers(7);
        let stances: Vec<_> = (0..POSES).map(|k| Stance::new(twins, &mut numbers, k % 4 == 0)).collect();
        let (own, points) = own(twins, &stances);
        let [cold, warm] = [true, false].map(|is_fresh| parrys(twins, &stances, is_fresh));
        let thousands = |x: f64| (x * 1e-3).round();
        table.push(json!([name, thousands(own), points, thousands(cold), thousands(warm), own / cold, own / warm]));
    }
    Ok(json!(table))
}
