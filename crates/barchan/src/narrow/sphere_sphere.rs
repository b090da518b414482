//! Two spheres: along the line of centres.

use super::{ContactPoint, FeatureKey};
use glam::DVec3;

/// Whether the gap is no wider than `reach`.
#[inline(always)]
pub(super) fn within(xa: DVec3, ra: f64, xb: DVec3, rb: f64, reach: f64) -> bool {
    let limit = ra + rb + reach;
    (xa - xb).length_squared() <= limit * limit
}

#[inline(always)]
pub(super) fn visit(xa: DVec3, ra: f64, xb: DVec3, rb: f64, reach: f64, mut found: impl FnMut(ContactPoint)) {
    if !within(xa, ra, xb, rb, reach) {
        return;
    }
    let d = xa - xb;
    let distance = d.length();
    // Centres in one point have no direction: any will part them.
    let normal = if distance > 0.0 { d / distance } else { DVec3::Z };
    let gap = distance - ra - rb;
    found(ContactPoint { point: xa - normal * (ra + 0.5 * gap), normal, gap, key: FeatureKey::ONLY });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gap_and_normal() {
        let mut seen = Vec::new();
        visit(DVec3::new(3.0, 0.0, 0.0), 1.0, DVec3::ZERO, 1.5, 0.6, |t| seen.push(t));
        let point = DVec3::new(1.75, 0.0, 0.0);
        assert_eq!(seen, [ContactPoint { point, normal: DVec3::X, gap: 0.5, key: FeatureKey::ONLY }]);
        visit(DVec3::new(3.0, 0.0, 0.0), 1.0, DVec3::ZERO, 1.5, 0.4, |t| seen.push(t));
        assert_eq!(seen.len(), 1);
        visit(DVec3::ZERO, 1.0, DVec3::ZERO, 1.0, 0.0, |t| seen.push(t));
        assert!(seen[1].normal.is_normalized() && seen[1].gap == -2.0);
    }
}
