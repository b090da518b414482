//! Prescribed force fields, and forces and torques on single bodies.
//!
//! Forces that depend on the place are taken where a step begins. Two of them need more than that. Drag is solved
//! exactly over the step, whatever its rate ([`Drag`]). A central field grows without bound towards its centre,
//! where no step is short enough; within the distance (GM h²)^⅓, where a body would fall to the centre in about a
//! step, it falls to zero instead as inside of a ball of even density. There a body swings with ωh ≤ 1, which a step
//! follows, and beyond it the field is that of a point.

use glam::DVec3;
use serde::{Deserialize, Serialize};

/// A force on one body, applied at its centre of mass, and a torque.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ExternalForce {
    /// Force.
    pub force: DVec3,
    /// Torque.
    pub torque: DVec3,
}

/// A field that acts on every dynamic body. (Uniform gravity is the world's own.)
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum ForceField {
    /// Acceleration −strength·(x − centre)/|x − centre|³: the pull of a point mass GM = strength. Within the
    /// softening length or (GM h²)^⅓, whichever is longer, it is that inside of a ball of even density.
    Central {
        /// The point that attracts.
        centre: DVec3,
        /// GM.
        strength: f64,
        /// The radius of the ball that attracts.
        #[serde(default, skip_serializing_if = "is_zero")]
        softening: f64,
    },
    /// Acceleration −rate·(v − wind), and −rate·ω on the spin: linear drag towards a steady wind.
    Drag {
        /// Inverse relaxation time.
        rate: f64,
        /// Velocity of the medium.
        #[serde(default)]
        wind: DVec3,
    },
    /// Acceleration −stiffness·(x − centre): a harmonic well.
    Well {
        /// The lowest point.
        centre: DVec3,
        /// Square of the angular frequency.
        stiffness: f64,
    },
}

/// Smaller than any distance that matters, and its cube is still a number.
const LEAST_DISTANCE: f64 = 1e-100;

fn is_zero(x: &f64) -> bool {
    *x == 0.0
}

impl ForceField {
    /// Acceleration of a body at `x` in a step of length `h`, without drag, which depends on the velocity.
    #[inline]
    pub fn acceleration(&self, x: DVec3, h: f64) -> DVec3 {
        match *self {
            Self::Central { centre, strength, softening } => {
                let d = x - centre;
                let resolved = (strength.abs() * h * h).cbrt();
                let r = d.length().max(softening).max(resolved).max(LEAST_DISTANCE);
                -strength / (r * r * r) * d
            }
            Self::Drag { .. } => DVec3::ZERO,
            Self::Well { centre, stiffness } => -stiffness * (x - centre),
        }
    }
}

/// What drag does in a step, exactly: v′ = a − k(v − wind) with a constant acceleration a takes v to
/// wind + (v − wind)e^(−kh) + a(1 − e^(−kh))/k.
///
/// So a body never passes the velocity of the wind, however large kh is, and with other forces it comes to rest at
/// wind + a/k. Several fields act as one with the sum of their rates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Drag {
    /// e^(−kh).
    decay: f64,
    /// (1 − e^(−kh))/k: the time for which other forces count, h without drag.
    time: f64,
    /// Velocity of the medium, with each field's by its rate.
    wind: DVec3,
}

impl Drag {
    /// The drag of all fields in a step of length `h`.
    pub fn over(fields: &[ForceField], h: f64) -> Self {
        let mut rate = 0.0;
        let mut wind = DVec3::ZERO;
        for field in fields {
            if let ForceField::Drag { rate: k, wind: v } = *field
                && k > 0.0
            {
                // Means one by one: sums of rates times winds might not be numbers.
                rate += k;
                wind += (v - wind) * (k / rate);
            }
        }
        let x = rate * h;
        let time = if x > 0.0 { h * (-(-x).exp_m1() / x) } else { h };
        Self { decay: (-x).exp(), time, wind }
    }

    /// The velocity after the step, of one that is dragged towards the wind.
    #[inline]
    pub fn velocity(&self, v: DVec3, acceleration: DVec3) -> DVec3 {
        self.wind + (v - self.wind) * self.decay + self.time * acceleration
    }

    /// The angular velocity after the step: the medium does not turn.
    #[inline]
    pub fn spin(&self, w: DVec3) -> DVec3 {
        w * self.decay
    }

    /// For how long other forces count.
    pub fn time(&self) -> f64 {
        self.time
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drag(rate: f64, wind: DVec3) -> ForceField {
        ForceField::Drag { rate, wind }
    }

    #[test]
    fn without_drag_a_step_is_that_of_other_forces() {
        let well = ForceField::Well { centre: DVec3::ZERO, stiffness: 1.0 };
        for fields in [&[][..], &[well], &[drag(0.0, DVec3::X)]] {
            let none = Drag::over(fields, 1e-3);
            let v = DVec3::new(0.1, -0.3, 7.0);
            assert_eq!(none.velocity(v, -9.81 * DVec3::Z), v - 1e-3 * 9.81 * DVec3::Z);
            assert_eq!((none.spin(v), none.time()), (v, 1e-3));
        }
    }

    #[test]
    fn drag_is_exact_for_any_rate_and_does_not_pass_the_wind() {
        let wind = DVec3::new(2.0, 0.0, -1.0);
        let v = DVec3::new(-3.0, 1.0, 50.0);
        for kh in [1e-9, 0.1, 1.0, 2.0, 10.0, 1e6, 1e300] {
            let h = 1e-3;
            let after = Drag::over(&[drag(kh / h, wind)], h).velocity(v, DVec3::ZERO);
            let exact = wind + (v - wind) * (-kh).exp();
            assert!((after - exact).length() < 1e-12 * v.length(), "{kh}: {after}");
            // Twice half a step is the same.
            let half = Drag::over(&[drag(kh / h, wind)], 0.5 * h);
            let twice = half.velocity(half.velocity(v, DVec3::X), DVec3::X);
            let once = Drag::over(&[drag(kh / h, wind)], h).velocity(v, DVec3::X);
            assert!((once - twice).length() < 1e-12 * v.length(), "{kh}: {once} and {twice}");
        }
        let sum = Drag::over(&[drag(1.0, DVec3::X), drag(3.0, -DVec3::X)], 0.1);
        let one = Drag::over(&[drag(4.0, -0.5 * DVec3::X)], 0.1);
        assert!((sum.velocity(v, DVec3::Y) - one.velocity(v, DVec3::Y)).length() < 1e-12);
        let endless = Drag::over(&[drag(f64::MAX, wind), drag(f64::MAX, wind)], 1.0);
        assert_eq!(endless.velocity(v, DVec3::Z), wind);
    }

    #[test]
    fn a_central_field_is_that_of_a_point_beyond_its_softening() {
        let field = |softening| ForceField::Central { centre: DVec3::ONE, strength: 10.0, softening };
        let at = |softening, r: f64| field(softening).acceleration(DVec3::ONE + r * DVec3::X, 1e-3).x;
        // (GM h²)^⅓ is 0.0215.
        for r in [0.022, 1.0, 1e9] {
            assert!((at(0.0, r) * r * r / -10.0 - 1.0).abs() < 1e-12, "{r}");
        }
        assert!((at(0.5, 0.25) / -(10.0 * 0.25 / 0.125) - 1.0).abs() < 1e-12);
        assert_eq!(at(0.0, 0.0), 0.0);
        assert!(at(0.0, 1e-160).abs() < 1e-150);
        assert_eq!(field(0.0).acceleration(DVec3::splat(1e200), 1e-3), DVec3::ZERO);
        let none = ForceField::Central { centre: DVec3::ZERO, strength: 0.0, softening: 0.0 };
        assert_eq!(none.acceleration(DVec3::ZERO, 1e-3), DVec3::ZERO);
    }
}
