//! Two segments in closed form (Lumelsky 1985).

use crate::{Closest, Placed};
use glam::DVec3;

/// Segments that are nearer than this, in their size, cross: their normal is across both.
const CROSSED: f64 = 1e-7;
/// Segments whose angle has a smaller square of the sine are parallel.
const PARALLEL: f64 = 1e-14;

/// Where two segments about z, with half their lengths, are nearest to each other, unless farther apart than `reach`.
pub(crate) fn segments(a: &Placed<'_>, b: &Placed<'_>, [p, q]: [f64; 2], reach: f64) -> Option<Closest> {
    let [d, e] = [a.rotation.z_axis, b.rotation.z_axis];
    let offset = b.position - a.position;
    let rounding = a.rounding + b.rounding;
    let cosine = d.dot(e);
    let [along_a, along_b] = [offset.dot(d), offset.dot(e)];
    let sine_squared = d.cross(e).length_squared();
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
    let distance = between.length();
    let gap = distance - rounding;
    if gap > reach {
        return None;
    }
    let normal = if distance > CROSSED * (p + q) {
        between / distance
    } else {
        // Across both; of lines that lie on each other, any way out is as good.
        let across = d.cross(e);
        let any = across.try_normalize().filter(|_| sine_squared > PARALLEL);
        let any = any.unwrap_or_else(|| if d.length_squared() > 0.0 { d.any_orthonormal_vector() } else { DVec3::X });
        if any.dot(between) < 0.0 { -any } else { any }
    };
    let on_a = a.position + d * s - normal * a.rounding;
    Some(Closest { gap, normal, on_a, on_b: on_a - normal * gap })
}
