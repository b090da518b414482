//! Principal axes of an inertia tensor, by Jacobi's rotations.
//!
//! A rotation by at most 45° about one axis after the other removes what is off the diagonal. Axes are never reordered, so
//! that a tensor that is diagonal keeps its frame, and one that nearly is gets a frame that is nearly the identity. What is
//! off the diagonal by less than 1e-12 of the trace is rounding, and left: it would turn the axes of equal moments anywhere.

use glam::{DMat3, DQuat, DVec3};

/// Off-diagonal entries below this part of the trace are rounding.
const ROUNDING: f64 = 1e-12;

/// Principal moments of a symmetric tensor and the frame of their axes: tensor = R · diag(moments) · Rᵀ, with R the matrix of
/// the frame, which turns from principal axes to those of the tensor. Moments are in the order of the axes nearest to x, y
/// and z, not sorted. The frame is right-handed, with w ≥ 0.
pub fn principal(tensor: DMat3) -> (DVec3, DQuat) {
    let mut m = [tensor.x_axis.to_array(), tensor.y_axis.to_array(), tensor.z_axis.to_array()];
    // Of a tensor that is symmetric but for rounding, the mean of both halves.
    for (p, q) in [(0, 1), (0, 2), (1, 2)] {
        let mean = 0.5 * (m[p][q] + m[q][p]);
        m[p][q] = mean;
        m[q][p] = mean;
    }
    let small = ROUNDING * (m[0][0].abs() + m[1][1].abs() + m[2][2].abs());
    let mut frame = DMat3::IDENTITY;
    // Convergence is quadratic: a handful of rounds is enough, and more do no harm.
    for _ in 0..16 {
        let mut done = true;
        for (p, q) in [(0, 1), (0, 2), (1, 2)] {
            let off = m[p][q];
            if off.abs() <= small || !off.is_finite() {
                continue;
            }
            done = false;
            // tan of the smaller of the two angles that make entry (p, q) zero.
            let ratio = (m[q][q] - m[p][p]) / (2.0 * off);
            let tan = ratio.signum() / (ratio.abs() + (1.0 + ratio * ratio).sqrt());
            let cos = 1.0 / (1.0 + tan * tan).sqrt();
            let sin = tan * cos;
            let mut turn = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
            turn[p][p] = cos;
            turn[q][q] = cos;
            turn[p][q] = -sin;
            turn[q][p] = sin;
            // Columns p and q of the turn are the new axes.
            let turn = DMat3::from_cols_array_2d(&turn);
            let turned = turn.transpose() * DMat3::from_cols_array_2d(&m) * turn;
            m = turned.to_cols_array_2d();
            m[p][q] = 0.0;
            m[q][p] = 0.0;
            frame *= turn;
        }
        if done {
            break;
        }
    }
    let frame = DQuat::from_mat3(&frame).normalize();
    (DVec3::new(m[0][0], m[1][1], m[2][2]), if frame.w < 0.0 { -frame } else { frame })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    fn tensor(moments: DVec3, frame: DQuat) -> DMat3 {
        let r = DMat3::from_quat(frame);
        r * DMat3::from_diagonal(moments) * r.transpose()
    }

    #[test]
    fn frames_rebuild_their_tensor() {
        let mut random = Random::new(3);
        for k in 0..2000 {
            let mut moments = DVec3::new(random.unit(), random.unit(), random.unit()) + 0.01;
            match k % 4 {
                1 => moments.y = moments.x,
                2 => moments = DVec3::splat(moments.x),
                _ => {}
            }
            let scale = 10f64.powi(k % 21 - 10);
            let given = tensor(scale * moments, random.turn());
            let (found, frame) = principal(given);
            let error = (tensor(found, frame) - given).to_cols_array().map(f64::abs);
            assert!(error.iter().all(|&e| e < 1e-11 * scale), "{k}: {error:?}");
            assert!((frame.length() - 1.0).abs() < 1e-15 && frame.w >= 0.0);
            // Each moment is one of those given.
            let mut sorted = [found.to_array(), (scale * moments).to_array()];
            sorted.iter_mut().for_each(|s| s.sort_by(f64::total_cmp));
            assert!((0..3).all(|i| (sorted[0][i] - sorted[1][i]).abs() < 1e-11 * scale));
        }
    }

    #[test]
    fn diagonal_tensors_keep_their_frame() {
        for moments in [DVec3::new(3.0, 1.0, 2.0), DVec3::new(2.0, 2.0, 1.0), DVec3::splat(1e-20), DVec3::ZERO] {
            assert_eq!(principal(DMat3::from_diagonal(moments)), (moments, DQuat::IDENTITY));
        }
    }

    #[test]
    fn equal_moments_do_not_turn_by_rounding() {
        let mut noisy = DMat3::from_diagonal(DVec3::new(2.0, 2.0, 5.0));
        noisy.x_axis.y = 1e-14;
        noisy.y_axis.x = -3e-15;
        assert_eq!(principal(noisy).1, DQuat::IDENTITY);
        // A cube that is turned has the tensor of one that is not.
        let turned = tensor(DVec3::splat(0.3), DQuat::from_euler(glam::EulerRot::XYZ, 0.4, 1.0, -2.0));
        assert_eq!(principal(turned).1, DQuat::IDENTITY);
    }

    #[test]
    fn a_nearly_diagonal_tensor_turns_little() {
        let small = DQuat::from_rotation_x(1e-4);
        let (moments, frame) = principal(tensor(DVec3::new(1.0, 3.0, 2.0), small));
        assert!((moments - DVec3::new(1.0, 3.0, 2.0)).length() < 1e-14);
        assert!(frame.angle_between(small) < 1e-7);
    }
}
