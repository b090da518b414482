//! Whether two shapes keep a distance: the question of those who look for a free place, for which the depth of an overlap
//! does not matter.

use crate::Placed;
use crate::gjk::{Difference, Found};

/// Whether two shapes are at least `gap` apart, which must not be negative.
pub fn are_apart(a: &Placed<'_>, b: &Placed<'_>, gap: f64) -> bool {
    let least = gap + a.rounding + b.rounding;
    match Difference::new(a, b).nearest(least) {
        Found::Far => true,
        Found::Apart(vertex) => vertex.w.length() >= least,
        // Cores without an extent meet where they have the same place.
        Found::Meet(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Core, closest};
    use glam::{DMat3, DQuat, DVec3};

    /// It says what the distance says, wherever the two are.
    #[test]
    fn apart_is_where_the_gap_is_wide() {
        let a = Placed {
            core: Core::Cuboid { half: DVec3::new(0.3, 0.5, 0.7) },
            rounding: 0.1,
            position: DVec3::ZERO,
            rotation: DMat3::IDENTITY,
        };
        let mut counts = [0; 2];
        for k in 0..2000u32 {
            let t = f64::from(k);
            let position = DVec3::new((0.7 * t).sin(), (1.1 * t).cos(), (1.7 * t).sin());
            let rotation = DMat3::from_quat(DQuat::from_xyzw(t.sin(), t.cos(), (0.3 * t).sin(), 0.5).normalize());
            let b = Placed { core: Core::Cylinder { radius: 0.2, half: 0.4 }, rounding: 0.0, position, rotation };
            let gap = closest(&a, &b, f64::INFINITY).map_or(f64::INFINITY, |found| found.gap);
            if (gap - 0.05).abs() > 1e-6 {
                assert_eq!(are_apart(&a, &b, 0.05), gap > 0.05, "{gap}");
                counts[usize::from(gap > 0.05)] += 1;
            }
        }
        assert!(counts.iter().all(|&n| n > 300), "{counts:?}");
    }
}
