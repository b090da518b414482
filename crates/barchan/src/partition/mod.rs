//! Which rank has which part of space.
//!
//! A rank owns the bodies whose centres lie in its region, and holds copies of those whose hulls
//! meet it (S4 6.2). Regions cover all of space, without gaps: a point has exactly one owner. What a
//! rank knows is local: its own region and those of its neighbours.

mod build;
mod bulk;
mod cartesian;
mod curve;
mod cuts;
mod error;
mod morton;
pub mod options;
mod outside;
mod periods;
mod ranges;
#[cfg(test)]
mod testing;

pub use build::build;
pub use bulk::bulk;
pub use cartesian::Cartesian;
pub use curve::Curve;
pub use cuts::{Cuts, imbalance};
pub use error::PartitionError;
pub use morton::Morton;
pub use options::{DomainOptions, PartitionName, WorkMeasure};
pub use outside::{Outside, OutsideRule};
pub use periods::Periods;

use crate::broad::Aabb;
use glam::DVec3;

/// Where a body is held: a rank, and by how many periods it is shifted there from where its owner
/// has it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Holder {
    /// The rank.
    pub rank: u32,
    /// Periods along each axis.
    pub shift: [i8; 3],
}

/// A division of space among ranks, as one of them sees it.
///
/// Points and boxes are those of the periodic cell, where there is one: callers shift them there
/// first ([`Periods`]).
pub trait Partition: Send + Sync {
    /// How many ranks there are.
    fn ranks(&self) -> usize;

    /// The rank that sees it so.
    fn rank(&self) -> u32;

    /// The other ranks whose regions the hulls of this rank's bodies may meet, also across
    /// periodic borders; ascending. Who is my neighbour has me as one.
    fn neighbours(&self) -> &[u32];

    /// The length l_dd (S4 eq. 7): a body that reaches less far than this from its centre meets
    /// regions of its owner and of the owner's neighbours only.
    fn reach(&self) -> f64;

    /// The rank whose region holds the point; `None` if that is neither this one nor a neighbour.
    fn owner(&self, x: DVec3) -> Option<u32>;

    /// Calls `found` once for each rank whose closed region meets the box, out of this one and its
    /// neighbours, ascending.
    fn ranks_of(&self, hull: &Aabb, found: &mut dyn FnMut(u32));

    /// Whether all that a box meets is known: this rank's region and those of its neighbours.
    fn knows(&self, hull: &Aabb) -> bool;

    /// Whether a box lies inside this rank's region, so that it meets no other. A quick answer: it
    /// may be "no" for boxes that do.
    fn holds(&self, hull: &Aabb) -> bool;

    /// Whether bodies of this radius are too large to stay among neighbours, so that every rank has
    /// them.
    fn is_large(&self, radius: f64) -> bool {
        radius >= 0.5 * self.reach()
    }

    /// A box that this rank's region lies in; infinite where the region is.
    fn bounds(&self) -> Aabb;

    /// This rank's part of a curve that is cut anew now and then; `None` where regions stay.
    fn range(&self) -> Option<CurveRange> {
        None
    }
}

/// A part of a Morton curve.
#[derive(Clone, Copy, Debug)]
pub struct CurveRange {
    /// The curve.
    pub curve: Curve,
    /// From the first key up to the one behind the last.
    pub keys: [u64; 2],
}
