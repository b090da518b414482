//! Two ellipsoids, by Newton's method for the direction along which they are apart the most.
//!
//! What lies between the planes across a unit vector n that touch A and B, n from A towards B, is
//!
//! g(n) = n · c − |P n| − |Q n|
//!
//! with c the way from A to B, and P and Q the matrices that make ellipsoids of the unit ball, symmetric. Where g is largest
//! its gradient is along n. Ellipsoids that are apart have one such direction with g > 0. Of those that overlap, the
//! largest g is found for certain where the overlap is less than the least radius of curvature of the difference A − B: a
//! ball with that radius that touches its surface from within lies within all of it (Blaschke 1916), and so does the ball
//! about the origin that touches it where g is stationary. What is deeper than that is left to the general algorithm.

use crate::{Closest, Placed};
use glam::{DMat3, DVec3};

const STEPS: usize = 30;
/// The part of the gradient across n at which the steps end, in sizes.
const SETTLED: f64 = 1e-9;

/// What is found of two ellipsoids.
pub(crate) enum Search {
    /// They are farther apart than the reach.
    Far,
    /// Where they are nearest to each other.
    Nearest(Closest),
    /// It is not certain.
    Other,
}

/// Where two ellipsoids with these semi-axes are nearest to each other.
pub(crate) fn ellipsoids(a: &Placed<'_>, b: &Placed<'_>, [p, q]: [DVec3; 2], reach: f64) -> Search {
    let offset = b.position - a.position;
    let rounding = a.rounding + b.rounding;
    let size = p.max_element() + q.max_element();
    // Squares of the matrices: what the gradients of the two lengths need.
    let square = |shape: &Placed<'_>, radii: DVec3| {
        let turn = shape.rotation;
        turn * DMat3::from_diagonal(radii * radii) * turn.transpose()
    };
    let [m, k] = [square(a, p), square(b, q)];
    let value = |n: DVec3| {
        let [x, y] = [m * n, k * n];
        let [s, t] = [x.dot(n).sqrt(), y.dot(n).sqrt()];
        (n.dot(offset) - s - t, [x, y], [s, t])
    };
    let Some(mut n) = offset.try_normalize() else { return Search::Other };
    let (mut best, mut grown, mut lengths) = value(n);
    for _ in 0..STEPS {
        // Any direction bounds the distance from below.
        if best > reach + rounding {
            return Search::Far;
        }
        let [x, y] = grown;
        let [s, t] = lengths;
        let gradient = offset - x / s - y / t;
        let across = gradient - n * best;
        if across.length_squared() <= (SETTLED * size).powi(2) {
            return certain(a, b, n, best, x / s, reach, [p, q]);
        }
        // Second derivatives within the plane across n, from those of the lengths and of the sphere: −H.
        let (u, v) = n.any_orthonormal_pair();
        let [mu, mv] = [m * u, m * v];
        let [ku, kv] = [k * u, k * v];
        let second = |e: DVec3, f: DVec3, me: DVec3, ke: DVec3| {
            (me.dot(f) - x.dot(e) * x.dot(f) / (s * s)) / s + (ke.dot(f) - y.dot(e) * y.dot(f) / (t * t)) / t
        };
        let [uu, uv, vv] = [second(u, u, mu, ku) + best, second(u, v, mu, ku), second(v, v, mv, kv) + best];
        let [gu, gv] = [across.dot(u), across.dot(v)];
        let determinant = uu * vv - uv * uv;
        // Up the gradient where it is not concave.
        let step = if determinant > 0.0 && uu > 0.0 {
            (u * (vv * gu - uv * gv) + v * (uu * gv - uv * gu)) / determinant
        } else {
            across / size
        };
        // Half of it, and half of that, until there is more between them.
        let mut length = 1.0;
        loop {
            let next = (n + step * length).normalize();
            let (found, x, l) = value(next);
            if found > best {
                (n, best, grown, lengths) = (next, found, x, l);
                break;
            }
            length *= 0.5;
            if length < 1e-3 {
                // Rounding has the last word, if the gradient is small.
                let is_small = across.length_squared() <= (1e3 * SETTLED * size).powi(2);
                return if is_small {
                    certain(a, b, n, best, grown[0] / lengths[0], reach, [p, q])
                } else {
                    Search::Other
                };
            }
        }
    }
    Search::Other
}

/// What is stationary, if it is the largest.
fn certain(
    a: &Placed<'_>,
    b: &Placed<'_>,
    outward: DVec3,
    distance: f64,
    on_a: DVec3,
    reach: f64,
    radii: [DVec3; 2],
) -> Search {
    let curvature = radii.map(|r| r.min_element().powi(2) / r.max_element());
    if -distance >= curvature[0] + curvature[1] {
        return Search::Other;
    }
    let gap = distance - a.rounding - b.rounding;
    if gap > reach {
        return Search::Far;
    }
    let normal = -outward;
    let on_a = a.position + on_a - normal * a.rounding;
    Search::Nearest(Closest { gap, normal, on_a, on_b: on_a - normal * gap })
}
