//! A sphere above a half-space: along the plane's normal.

use super::Touch;
use crate::shape::HalfSpace;
use glam::{DQuat, DVec3};

#[inline]
pub(super) fn visit(x: DVec3, radius: f64, plane: DVec3, turn: DQuat, reach: f64, mut found: impl FnMut(Touch)) {
    let normal = HalfSpace::normal(turn);
    let gap = (x - plane).dot(normal) - radius;
    if gap <= reach {
        found(Touch { normal, gap, feature: 0 });
    }
}
