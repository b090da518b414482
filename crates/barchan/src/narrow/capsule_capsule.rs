//! Two capsules: past all that is asked of shapes of any kind, which takes longer than the contact itself.

use super::{ContactPoint, FeatureKey};
use crate::shape::Capsule;
use glam::{DMat3, DQuat, DVec3};

/// A capsule at x, turned by q.
#[inline]
pub(super) fn placed(x: DVec3, q: DQuat, shape: &Capsule) -> barchan_convex::Capsule {
    let axis = DMat3::from_quat(q).z_axis;
    barchan_convex::Capsule { position: x, axis, half: shape.half_height, radius: shape.radius }
}

/// Calls `found` for every contact between two capsules with a gap up to `reach`.
pub(super) fn visit(
    a: &barchan_convex::Capsule,
    b: &barchan_convex::Capsule,
    reach: f64,
    found: &mut dyn FnMut(ContactPoint),
) {
    a.touches(b, reach, |touch| {
        let key = FeatureKey { on_a: touch.key[0], on_b: touch.key[1] };
        found(ContactPoint { point: touch.point, normal: touch.normal, gap: touch.gap, key });
    });
}
