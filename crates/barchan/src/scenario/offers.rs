//! What scenarios offer for adjustment while they are watched.

use crate::scene::Adjustable;

/// Gravity along z: from the other way round to twice that of the earth.
pub(super) fn gravity() -> Adjustable {
    Adjustable::new("gravity.2", -20.0, 10.0, "gravity along z, m/s²")
}

/// Gravity along x, which is a tilt.
pub(super) fn tilt() -> Adjustable {
    Adjustable::new("gravity.0", -10.0, 10.0, "gravity along x, m/s²")
}

/// Friction of the first material.
pub(super) fn friction() -> Adjustable {
    Adjustable::new("material.0.friction", 0.0, 1.0, "friction")
}

/// Restitution of the first material.
pub(super) fn restitution() -> Adjustable {
    Adjustable::new("material.0.restitution", 0.0, 1.0, "restitution")
}

/// The shake of the first body, along z.
pub(super) fn shake() -> [Adjustable; 2] {
    [
        Adjustable::new("body.0.oscillation.frequency", 0.0, 40.0, "frequency of the shake, 1/s"),
        Adjustable::new("body.0.oscillation.amplitude.2", 0.0, 0.02, "amplitude of the shake, m"),
    ]
}
