//! Numbers for tests that look random and are always the same.

use glam::{DQuat, DVec3};

/// A generator: xorshift64*.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(crate) fn bits(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// From 0 to 1.
    pub(crate) fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// From −1 to 1 in each coordinate.
    pub(crate) fn point(&mut self) -> DVec3 {
        DVec3::new(self.unit(), self.unit(), self.unit()) * 2.0 - 1.0
    }

    /// A direction.
    pub(crate) fn direction(&mut self) -> DVec3 {
        loop {
            let p = self.point();
            if (0.01..1.0).contains(&p.length_squared()) {
                return p.normalize();
            }
        }
    }

    /// A turn.
    pub(crate) fn turn(&mut self) -> DQuat {
        DQuat::from_axis_angle(self.direction(), std::f64::consts::TAU * self.unit())
    }
}
