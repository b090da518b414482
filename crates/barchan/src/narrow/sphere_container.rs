//! A sphere within the inner walls of a container: one contact a wall.
//!
//! Walls are taken as whole planes, so a sphere in a corner has three contacts. A sphere that
//! has left through a missing wall is no longer held by the others once it is wholly beyond.

use super::{ContactPoint, FeatureKey};
use crate::shape::Container;
use glam::{DQuat, DVec3};

#[inline]
pub(super) fn visit(
    x: DVec3,
    radius: f64,
    centre: DVec3,
    turn: DQuat,
    container: &Container,
    reach: f64,
    found: &mut impl FnMut(ContactPoint),
) {
    let local = turn.conjugate() * (x - centre);
    let half = container.half_extents;
    // Most spheres are far from every wall.
    let near = half - DVec3::splat(radius + reach);
    if local.abs().cmple(near).all() {
        return;
    }
    let beyond_opening = container.open.iter().any(|face| {
        let (axis, side) = face.axis_and_side();
        side * local[axis] > half[axis] + radius
    });
    if beyond_opening {
        return;
    }
    for face in container.walls() {
        let (axis, side) = face.axis_and_side();
        let gap = half[axis] - side * local[axis] - radius;
        if gap <= reach {
            let normal = turn * (DVec3::AXES[axis] * -side);
            let point = x - normal * (radius + 0.5 * gap);
            found(ContactPoint { point, normal, gap, key: FeatureKey::on_b(face as u32) });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shape::Face;

    fn touches(x: DVec3, open: Vec<Face>, turn: DQuat) -> Vec<ContactPoint> {
        let container = Container { half_extents: DVec3::new(1.0, 2.0, 3.0), open };
        let mut seen = Vec::new();
        visit(x, 0.5, DVec3::ZERO, turn, &container, 0.1, &mut |t| seen.push(t));
        seen
    }

    #[test]
    fn walls_corners_and_openings() {
        assert!(touches(DVec3::ZERO, vec![], DQuat::IDENTITY).is_empty());
        let wall = touches(DVec3::new(0.45, 0.0, 0.0), vec![], DQuat::IDENTITY);
        assert_eq!(wall.len(), 1);
        assert_eq!(wall[0].normal, -DVec3::X);
        assert!((wall[0].gap - 0.05).abs() < 1e-15 && wall[0].key == FeatureKey::on_b(1));
        assert_eq!(touches(DVec3::new(0.5, 1.5, -2.5), vec![], DQuat::IDENTITY).len(), 3);
        assert!(touches(DVec3::new(0.0, 0.0, 2.9), vec![Face::HighZ], DQuat::IDENTITY).is_empty());
        assert!(touches(DVec3::new(0.5, 0.0, 3.6), vec![Face::HighZ], DQuat::IDENTITY).is_empty());
    }

    #[test]
    fn a_turned_container_turns_its_walls() {
        let quarter = DQuat::from_rotation_z(std::f64::consts::FRAC_PI_2);
        let wall = touches(DVec3::new(0.0, 0.45, 0.0), vec![], quarter);
        assert_eq!(wall.len(), 1);
        assert!((wall[0].normal + DVec3::Y).length() < 1e-12);
    }
}
