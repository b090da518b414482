//! A triangle against a point, a ray, and another triangle.

use glam::DVec3;

/// Where a ray meets a triangle.
pub(crate) struct Met {
    /// How far, in lengths of the ray's direction.
    pub(crate) far: f64,
    /// Whether the ray goes the way of the triangle's normal.
    pub(crate) outwards: bool,
    /// Whether that is away from the edges by more than rounding.
    pub(crate) clear: bool,
}

/// Part of the length within which a ray is at an edge.
const EDGE: f64 = 1e-9;

/// Where a ray meets a triangle; none for rays along it. Rays at an edge meet the triangles on both sides.
pub(crate) fn ray([a, b, c]: [DVec3; 3], origin: DVec3, direction: DVec3) -> Option<Met> {
    let p = a - origin;
    let q = b - origin;
    let r = c - origin;
    let normal = (b - a).cross(c - a);
    let across = normal.dot(direction);
    // Volumes between the ray and each edge have the sign of their sum if the ray goes through.
    let weights = DVec3::new(direction.dot(q.cross(r)), direction.dot(r.cross(p)), direction.dot(p.cross(q)));
    let sum = weights.element_sum();
    let longest = (b - a).length_squared().max((c - a).length_squared()).max((c - b).length_squared());
    let reach = p.length_squared().max(q.length_squared()).max(r.length_squared());
    let rounding = 1e-15 * direction.length() * reach;
    if sum.abs() <= 1e-14 * direction.length() * longest {
        // Along the plane: what it may touch, it touches at an edge, and neighbours see that.
        return None;
    }
    let parts = weights / sum;
    let slack = EDGE + rounding / sum.abs();
    if parts.min_element() < -slack {
        return None;
    }
    let far = normal.dot(p) / across;
    if far < 0.0 || !far.is_finite() {
        return None;
    }
    Some(Met { far, outwards: across > 0.0, clear: parts.min_element() > slack })
}

/// The solid angle of a triangle as seen from a point, positive from behind: van Oosterom and Strackee 1983.
pub(crate) fn solid_angle(corners: [DVec3; 3], point: DVec3) -> f64 {
    let [a, b, c] = corners.map(|p| p - point);
    let lengths = [a.length(), b.length(), c.length()];
    let volume = a.dot(b.cross(c));
    let whole =
        lengths[0] * lengths[1] * lengths[2] + a.dot(b) * lengths[2] + b.dot(c) * lengths[0] + c.dot(a) * lengths[1];
    2.0 * volume.atan2(whole)
}

/// The point of a triangle that is nearest to a point.
pub(crate) fn nearest([a, b, c]: [DVec3; 3], point: DVec3) -> DVec3 {
    let on_edge = |p: DVec3, q: DVec3| {
        let along = q - p;
        let length = along.length_squared();
        if length > 0.0 { p + ((point - p).dot(along) / length).clamp(0.0, 1.0) * along } else { p }
    };
    // Above the face, if on the inner side of all edges.
    let normal = (b - a).cross(c - a);
    let inner = |p: DVec3, q: DVec3| normal.cross(q - p).dot(point - p) >= 0.0;
    if normal != DVec3::ZERO && inner(a, b) && inner(b, c) && inner(c, a) {
        return point - normal * ((point - a).dot(normal) / normal.length_squared());
    }
    let mut best = on_edge(a, b);
    for other in [on_edge(b, c), on_edge(c, a)] {
        if other.distance_squared(point) < best.distance_squared(point) {
            best = other;
        }
    }
    best
}

/// Whether two triangles go through each other: both have corners on both sides of the other's plane, and they have a segment
/// in common, all by more than a length (Möller 1997). Triangles that only touch do not cross, and neither do those in one
/// plane.
pub(crate) fn cross(a: [DVec3; 3], b: [DVec3; 3], length: f64) -> bool {
    let normal = |t: [DVec3; 3]| (t[1] - t[0]).cross(t[2] - t[0]).normalize_or_zero();
    let line = normal(a).cross(normal(b)).normalize_or_zero();
    let Some(first) = cut(a, b[0], normal(b), line, length) else { return false };
    let Some(second) = cut(b, a[0], normal(a), line, length) else { return false };
    first[1].min(second[1]) - first[0].max(second[0]) > length
}

/// From where to where along a line a plane cuts a triangle that is on both sides of it.
fn cut(corners: [DVec3; 3], on: DVec3, normal: DVec3, line: DVec3, length: f64) -> Option<[f64; 2]> {
    let heights = corners.map(|p| (p - on).dot(normal));
    let low = heights[0].min(heights[1]).min(heights[2]);
    let high = heights[0].max(heights[1]).max(heights[2]);
    if low >= -length || high <= length {
        return None;
    }
    let mut ends = [f64::INFINITY, f64::NEG_INFINITY];
    for k in 0..3 {
        let from = heights[k];
        let to = heights[(k + 1) % 3];
        if (from < 0.0) != (to < 0.0) {
            let at = corners[k] + (corners[(k + 1) % 3] - corners[k]) * (from / (from - to)) - on;
            let along = at.dot(line) + on.dot(line);
            ends = [ends[0].min(along), ends[1].max(along)];
        }
    }
    Some(ends)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn no_point_of_a_triangle_is_nearer() {
        let mut random = Random::new(1);
        for _ in 0..2000 {
            let corners = [random.point(), random.point(), random.point()];
            let point = 2.0 * random.point();
            let best = nearest(corners, point).distance(point);
            for i in 0..=20 {
                for j in 0..=20 - i {
                    let parts = DVec3::new(f64::from(i), f64::from(j), f64::from(20 - i - j)) / 20.0;
                    let on = parts.x * corners[0] + parts.y * corners[1] + parts.z * corners[2];
                    assert!(on.distance(point) >= best - 1e-12);
                }
            }
        }
    }

    #[test]
    fn angles_around_a_point_are_a_full_one() {
        let sphere = crate::Surface::sphere(1.0, 2);
        let around = |p| (0..sphere.triangles.len()).map(|t| solid_angle(sphere.corners(t), p)).sum::<f64>();
        assert!((around(DVec3::splat(0.3)) - 4.0 * std::f64::consts::PI).abs() < 1e-12);
        assert!(around(DVec3::splat(1.3)).abs() < 1e-12);
    }

    #[test]
    fn triangles_cross_or_touch() {
        let flat = [DVec3::ZERO, DVec3::X, DVec3::Y];
        let upright = |shift: DVec3| {
            [DVec3::new(0.2, 0.2, -1.0), DVec3::new(0.2, 0.2, 1.0), DVec3::new(0.3, -2.0, 0.0)].map(|p| p + shift)
        };
        assert!(cross(flat, upright(DVec3::ZERO), 1e-9));
        assert!(cross(upright(DVec3::ZERO), flat, 1e-9));
        assert!(!cross(flat, upright(DVec3::new(2.0, 0.0, 0.0)), 1e-9));
        assert!(!cross(flat, upright(DVec3::Z), 1e-9), "touching with a corner");
        assert!(!cross(flat, flat, 1e-9));
    }
}
