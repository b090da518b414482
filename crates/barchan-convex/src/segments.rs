//! Two segments in closed form (Lumelsky 1985), and where capsules about them touch.
//!
//! Capsules that cross touch in one point. Those that run beside each other do so at both ends of what they share, along the
//! line that they make when seen along the normal. Nothing is to be laid over anything for either.

use crate::feature::FACING;
use crate::manifold::{CROSSING, DEEPER, DEEPEST, FACE, FLUSH};
use crate::pairs::is_before;
use crate::{Closest, Placed, Touch};
use glam::DVec3;

/// Segments that are nearer than this, in their size, cross: their normal is across both.
const CROSSED: f64 = 1e-7;
/// Segments whose angle has a smaller square of the sine are parallel.
const PARALLEL: f64 = 1e-14;

/// All that is within a radius of a segment, where it stands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Capsule {
    /// The middle of the segment.
    pub position: DVec3,
    /// Its direction, of unit length.
    pub axis: DVec3,
    /// Half its length.
    pub half: f64,
    /// The radius.
    pub radius: f64,
}

impl Capsule {
    /// A rounded segment about z where it stands.
    #[inline]
    pub(crate) fn new(placed: &Placed<'_>, half: f64) -> Self {
        Self { position: placed.position, axis: placed.rotation.z_axis, half, radius: placed.rounding }
    }

    /// Calls `found` for every point where it touches another one, the deepest first, or comes nearer to it than `reach`:
    /// what [`manifold`](crate::manifold) finds, without the detour over shapes of any kind.
    #[inline]
    pub fn touches(&self, other: &Self, reach: f64, mut found: impl FnMut(Touch)) {
        if is_before(self.position, other.position) {
            capsules(self, other, reach, found);
        } else {
            capsules(other, self, reach, |touch| found(touch.swapped()));
        }
    }
}

/// Where two segments are nearest to each other, with the radii about them, unless farther apart than `reach`.
#[inline]
pub(crate) fn segments(a: &Capsule, b: &Capsule, reach: f64) -> Option<Closest> {
    let [d, e] = [a.axis, b.axis];
    let [p, q] = [a.half, b.half];
    let offset = b.position - a.position;
    let cosine = d.dot(e);
    let [along_a, along_b] = [offset.dot(d), offset.dot(e)];
    let across = d.cross(e);
    let sine_squared = across.length_squared();
    // Where the lines are nearest, then the ends: of A, of B for that, and of A again.
    let free = if sine_squared > PARALLEL {
        (along_a - along_b * cosine) / sine_squared
    } else {
        // Anywhere where they are beside each other: in the middle of that.
        let low = (along_a - q).max(-p);
        let high = (along_a + q).min(p);
        0.5 * (low + high)
    };
    let t = (free.clamp(-p, p) * cosine - along_b).clamp(-q, q);
    let s = (t * cosine + along_a).clamp(-p, p);
    let between = d * s - (offset + e * t);
    let square = between.length_squared();
    let far = reach + a.radius + b.radius;
    if square > far * far {
        return None;
    }
    let distance = square.sqrt();
    let gap = distance - (a.radius + b.radius);
    if gap > reach {
        return None;
    }
    let normal = if distance > CROSSED * (p + q) {
        between / distance
    } else {
        // Across both; of lines that lie on each other, any way out is as good.
        let any = across.try_normalize().filter(|_| sine_squared > PARALLEL);
        let any = any.unwrap_or_else(|| if d.length_squared() > 0.0 { d.any_orthonormal_vector() } else { DVec3::X });
        if any.dot(between) < 0.0 { -any } else { any }
    };
    let on_a = a.position + d * s - normal * a.radius;
    Some(Closest { gap, normal, on_a, on_b: on_a - normal * gap })
}

/// Finds the points where two capsules, in order, touch.
#[inline]
pub(crate) fn capsules(a: &Capsule, b: &Capsule, reach: f64, mut found: impl FnMut(Touch)) {
    let Some(Closest { gap, normal, on_a, on_b }) = segments(a, b, reach) else { return };
    let rises = [a.axis.dot(normal), b.axis.dot(normal)];
    let one = |key| Touch { point: 0.5 * (on_a + on_b), normal, gap, key };
    let is_end = rises.map(|rise| rise.abs() >= 1.0 - FACING);
    if is_end[0] || is_end[1] {
        // An end has one point, which is named for what it touches.
        let name = |own: usize, is_upper: bool| if is_end[own] { is_upper.into() } else { FACE };
        return found(one([name(0, rises[0] < 0.0), name(1, rises[1] > 0.0)]));
    }
    // Squares of the lengths with which the axes are seen along the normal.
    let seen = rises.map(|rise| 1.0 - rise * rise);
    let deepest = one([DEEPEST; 2]);
    if normal.dot(a.axis.cross(b.axis)).powi(2) > CROSSING * CROSSING * seen[0] * seen[1] {
        return found(deepest);
    }
    let beside = Beside { a, b, offset: b.position - a.position, normal, rise: rises[0], seen: seen[0] };
    beside.points(deepest, reach).into_iter().flatten().for_each(found);
}

/// Two capsules that run beside each other, seen along the normal from the middle of A.
struct Beside<'a> {
    a: &'a Capsule,
    b: &'a Capsule,
    /// Where B's middle is.
    offset: DVec3,
    normal: DVec3,
    /// How steep A is along the normal, and the square of the length with which its axis is seen.
    rise: f64,
    seen: f64,
}

impl Beside<'_> {
    /// Where along A a point is seen.
    fn along(&self, p: DVec3) -> f64 {
        (p.dot(self.a.axis) - p.dot(self.normal) * self.rise) / self.seen
    }

    /// The ends of what they share; the deepest point instead of one if it is neither of them.
    fn points(&self, deepest: Touch, reach: f64) -> [Option<Touch>; 2] {
        let [p, q] = [self.a.half, self.b.half];
        // B's middle, and how far along A one goes with B.
        let middle = self.along(self.offset);
        let pace = self.along(self.b.axis);
        let extent = q * pace.abs();
        let shared = [(middle - extent).max(-p), (middle + extent).min(p)];
        let flush = 2.0 * FLUSH * p.min(q);
        // One behind the other.
        if shared[1] - shared[0] <= flush {
            return [Some(deepest), None];
        }
        // Ends that lie on each other are A's, whichever is a rounding error farther out.
        let is_of_a = [-p + flush >= middle - extent, p - flush <= middle + extent];
        let end = |k: usize| {
            let t = ((shared[k] - middle) / pace).clamp(-q, q);
            let name = (k ^ usize::from(pace < 0.0)) as u32;
            let key = if is_of_a[k] { [k as u32, FACE] } else { [FACE, name] };
            self.between(shared[k], t, flush, key).filter(|touch| touch.gap <= reach)
        };
        let ends = [end(0), end(1)];
        let gaps = ends.map(|end| end.map_or(f64::INFINITY, |touch| touch.gap));
        let lower = usize::from(gaps[1] < gaps[0]);
        let size = (p + self.a.radius).min(q + self.b.radius);
        if gaps[lower] <= deepest.gap + DEEPER * size {
            return [ends[lower], ends[1 - lower]];
        }
        // The deepest one, and the end that is farther from it.
        let from = self.along(deepest.point - self.a.position);
        let away = [0, 1].map(|k| if ends[k].is_some() { (shared[k] - from).abs() } else { 0.0 });
        let farther = usize::from(away[1] > away[0]);
        [Some(deepest), ends[farther].filter(|_| away[farther] > flush)]
    }

    /// The point between two points of the axes; none if these have passed each other there, aside of each other.
    fn between(&self, s: f64, t: f64, flush: f64, key: [u32; 2]) -> Option<Touch> {
        let on_b = self.offset + self.b.axis * t;
        let way = self.a.axis * s - on_b;
        let upright = way.dot(self.normal);
        let radius = self.a.radius + self.b.radius;
        let (normal, distance) = if radius > 0.0 && upright > CROSSED * (self.a.half + self.b.half) {
            let distance = way.length();
            (way / distance, distance)
        } else if (way - self.normal * upright).length_squared() <= flush * flush {
            (self.normal, upright)
        } else {
            return None;
        };
        let gap = distance - radius;
        let point = self.a.position + on_b + normal * (self.b.radius + 0.5 * gap);
        Some(Touch { point, normal, gap, key })
    }
}
