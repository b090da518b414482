//! A sphere above a half-space: along the plane's normal.

use super::{ContactPoint, FeatureKey};
use crate::shape::HalfSpace;
use glam::{DQuat, DVec3};

#[inline]
pub(super) fn visit(x: DVec3, radius: f64, plane: DVec3, turn: DQuat, reach: f64, mut found: impl FnMut(ContactPoint)) {
    let normal = HalfSpace::normal(turn);
    let gap = (x - plane).dot(normal) - radius;
    if gap <= reach {
        found(ContactPoint { point: x - normal * (radius + 0.5 * gap), normal, gap, key: FeatureKey::ONLY });
    }
}
