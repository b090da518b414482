//! A sphere, whose core is a point, against every other core: in closed form, or nearly so.
//!
//! What is needed of a core is how far a point is from its surface, negative within, and the unit vector along which that
//! distance grows.

use crate::{Closest, Core, Hull, Placed};
use glam::{DVec2, DVec3};

/// A point is on a surface, or in the middle of a core, if it is nearer to it than this in sizes of the core: there, the
/// difference of the two has no direction.
const ON: f64 = 1e-9;
/// Steps and precision of the iteration for ellipsoids.
const STEPS: usize = 60;
const PRECISION: f64 = 1e-14;

/// Distance from the surface of a core and the direction away from it.
type Away = (f64, DVec3);

/// What a closed form says.
pub(crate) enum Distance {
    /// Farther than the reach.
    Far,
    /// Where the two are nearest to each other.
    Nearest(Closest),
    /// It does not hold here.
    Other,
}

/// Where a sphere A is nearest to B, whatever that is.
pub(crate) fn sphere(a: &Placed<'_>, b: &Placed<'_>, reach: f64) -> Distance {
    let rounding = a.rounding + b.rounding;
    let p = b.rotation.transpose() * (a.position - b.position);
    let away = match b.core {
        Core::Point => Some(point(p)),
        Core::Segment { half } => Some(segment(half, p)),
        Core::Cuboid { half } => cuboid(half, p),
        Core::Cylinder { radius, half } => cylinder(radius, half, p),
        Core::Cone { radius, half } => cone(radius, half, p),
        Core::Ellipsoid { radii } => ellipsoid(radii, p),
        Core::Hull { hull, scale } => polyhedron(hull, scale, p, reach + rounding),
        Core::Triangle(corners) => triangle(&corners, p),
    };
    let Some((distance, direction)) = away else { return Distance::Other };
    let gap = distance - rounding;
    if gap > reach {
        return Distance::Far;
    }
    let normal = b.rotation * direction;
    let on_a = a.position - normal * a.rounding;
    Distance::Nearest(Closest { gap, normal, on_a, on_b: on_a - normal * gap })
}

fn point(p: DVec3) -> Away {
    let distance = p.length();
    (distance, if distance > 0.0 { p / distance } else { DVec3::X })
}

fn segment(half: f64, p: DVec3) -> Away {
    let from = p - DVec3::Z * p.z.clamp(-half, half);
    let distance = from.length();
    (distance, if distance > ON * half { from / distance } else { DVec3::X })
}

fn cuboid(half: DVec3, p: DVec3) -> Option<Away> {
    let outside = p - p.clamp(-half, half);
    let distance = outside.length();
    if distance > ON * half.max_element() {
        return Some((distance, outside / distance));
    }
    let beyond = p.abs() - half;
    let k = beyond.max_position();
    Some((beyond[k], DVec3::AXES[k] * 1f64.copysign(p[k])))
}

/// Turns a distance in the half-plane of the distance from the axis and the height into one in space.
fn around(p: DVec3, flat: f64, (distance, direction): (f64, DVec2)) -> Away {
    let side = if flat > 0.0 { p.truncate() / flat } else { DVec2::X };
    (distance, (side * direction.x).extend(direction.y))
}

fn cylinder(radius: f64, half: f64, p: DVec3) -> Option<Away> {
    let flat = p.truncate().length();
    let outside = DVec2::new((flat - radius).max(0.0), (p.z.abs() - half).max(0.0));
    let distance = outside.length();
    let up = 1f64.copysign(p.z);
    let away = if distance > ON * (radius + half) {
        (distance, DVec2::new(outside.x, outside.y * up) / distance)
    } else if flat - radius > p.z.abs() - half {
        (flat - radius, DVec2::X)
    } else {
        (p.z.abs() - half, DVec2::Y * up)
    };
    Some(around(p, flat, away))
}

fn cone(radius: f64, half: f64, p: DVec3) -> Option<Away> {
    let flat = p.truncate().length();
    let q = DVec2::new(flat, p.z);
    // Base and side, as planes; the side from its rim up to its tip.
    let base = -half - p.z;
    let rim = DVec2::new(radius, -half);
    let edge = DVec2::new(-radius, 2.0 * half);
    let outward = DVec2::new(2.0 * half, radius) / edge.length();
    let side = (q - rim).dot(outward);
    let slack = ON * (radius + half);
    if base.max(side) <= slack {
        // Within: the nearer of the two.
        let away = if side > base { (side, outward) } else { (base, -DVec2::Y) };
        return Some(around(p, flat, away));
    }
    // The nearest point of either.
    let on_side = rim + edge * ((q - rim).dot(edge) / edge.length_squared()).clamp(0.0, 1.0);
    let on_base = DVec2::new(flat.min(radius), -half);
    let near = if q.distance_squared(on_base) < q.distance_squared(on_side) { on_base } else { on_side };
    let distance = q.distance(near);
    (distance > slack).then(|| around(p, flat, (distance, (q - near) / distance)))
}

/// The nearest point x of an ellipsoid has p = x + t ∇f/2 with f = Σ (x/r)² = 1, so that x = r² p / (r² + t) and t is the
/// largest root of Σ (r p / (r² + t))² = 1, a convex function: Newton's steps from its left run up to it.
fn ellipsoid(radii: DVec3, p: DVec3) -> Option<Away> {
    let least = radii.min_element();
    let r = radii / least;
    let q = (p / least).abs();
    let squares = r * r;
    let rq = r * q;
    let on_axis = rq[r.min_position()];
    let value = |t: f64| (rq / (squares + t)).length_squared() - 1.0;
    let mut t = if value(0.0) >= 0.0 { 0.0 } else { on_axis - 1.0 };
    // On the middle plane of the shortest axis there may be two roots.
    if t < 0.0 && on_axis < 1e-6 {
        return None;
    }
    for _ in 0..STEPS {
        let scaled = rq / (squares + t);
        let value = scaled.length_squared() - 1.0;
        let slope = -2.0 * (scaled * scaled / (squares + t)).element_sum();
        let step = -value / slope;
        t += step;
        if step <= PRECISION * (1.0 + t).abs() {
            break;
        }
    }
    let on = squares * p / (squares + t);
    let direction = (on / (radii * radii)).normalize_or_zero();
    let is_sound = direction != DVec3::ZERO && t > -1.0;
    is_sound.then(|| ((p - on).dot(direction), direction))
}

/// Within, or over a face: the plane that is farthest out. Over an edge or a corner it is not known.
fn polyhedron(hull: &Hull, scale: f64, p: DVec3, reach: f64) -> Option<Away> {
    let q = p / scale;
    let (distance, face) = hull.above(q);
    let normal = hull.normal(face);
    let away = (distance * scale, normal);
    if distance <= 0.0 || distance * scale > reach {
        return Some(away);
    }
    let corners = hull.corners(face);
    let mut from = hull.points()[corners[corners.len() - 1] as usize];
    for &k in corners {
        let to = hull.points()[k as usize];
        if (to - from).cross(q - from).dot(normal) < 0.0 {
            return None;
        }
        from = to;
    }
    Some(away)
}

/// The nearest point of a triangle, by the region that a point is in.
fn triangle(corners: &[DVec3; 3], p: DVec3) -> Option<Away> {
    let [a, b, c] = *corners;
    let normal = (b - a).cross(c - a).normalize_or_zero();
    let height = (p - a).dot(normal);
    let on_edge = |from: DVec3, to: DVec3| {
        let edge = to - from;
        let square = edge.length_squared();
        let t = if square > 0.0 { ((p - from).dot(edge) / square).clamp(0.0, 1.0) } else { 0.0 };
        p - (from + edge * t)
    };
    let size = (b - a).abs().max_element().max((c - a).abs().max_element());
    let is_inside = |from: DVec3, to: DVec3| (to - from).cross(p - from).dot(normal) >= 0.0;
    if normal != DVec3::ZERO && is_inside(a, b) && is_inside(b, c) && is_inside(c, a) {
        return Some((height.abs(), normal * 1f64.copysign(height)));
    }
    let mut near = on_edge(a, b);
    for other in [on_edge(b, c), on_edge(c, a)] {
        if other.length_squared() < near.length_squared() {
            near = other;
        }
    }
    let distance = near.length();
    (distance > ON * size).then(|| (distance, near / distance))
}
