//! A body of a lattice or a fill that has a place, before it is a body of the world.

use super::stock::Drawn;
use glam::{DQuat, DVec3};

/// A body of a lattice or a fill.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Grain {
    /// Which one of its entry.
    pub(crate) number: u64,
    /// Its centre of mass.
    pub(crate) x: DVec3,
    pub(crate) drawn: Drawn,
    /// From its principal axes to those of the world.
    pub(crate) orientation: DQuat,
    pub(crate) velocity: DVec3,
}
