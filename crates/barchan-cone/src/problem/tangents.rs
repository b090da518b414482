//! Tangents for those who need them: files and assembled matrices. The engine itself does not.

use glam::{DMat3, DVec3};

/// The contact frame of a unit normal, as columns: n, t₁, t₂, right-handed.
///
/// The rule is fixed, so that every program that knows it names the same components: e is the
/// axis along which the normal has its smallest component by size (of equal ones the first of X,
/// Y, Z), t₁ = e × n made a unit vector, and t₂ = n × t₁.
pub fn contact_frame(n: DVec3) -> DMat3 {
    let size = n.abs();
    let e = if size.x <= size.y && size.x <= size.z {
        DVec3::X
    } else if size.y <= size.z {
        DVec3::Y
    } else {
        DVec3::Z
    };
    let t1 = e.cross(n).normalize();
    DMat3::from_cols(n, t1, n.cross(t1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_right_handed_and_follow_the_rule() {
        assert_eq!(contact_frame(DVec3::Z), DMat3::from_cols(DVec3::Z, -DVec3::Y, DVec3::X));
        assert_eq!(contact_frame(DVec3::X).x_axis, DVec3::X);
        for k in 0..200 {
            let n = DVec3::new((f64::from(k) * 1.7).sin(), (f64::from(k) * 0.3).cos(), f64::from(k % 7) / 7.0);
            let frame = contact_frame(n.normalize());
            assert!((frame * frame.transpose()).abs_diff_eq(DMat3::IDENTITY, 1e-14), "{n}");
            assert!((frame.determinant() - 1.0).abs() < 1e-14, "{n}");
        }
    }
}
