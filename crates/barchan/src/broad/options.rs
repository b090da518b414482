//! What a user can choose about the broad phase.

use serde::{Deserialize, Serialize};

/// The broad phases there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BroadPhaseName {
    /// Morton-ordered linear octree (S1 IV-B).
    #[default]
    Octree,
    /// Uniform grids by the nine stages of S3 4.2.1.
    Grid,
    /// Sweep and prune in columns, with the order of the last step (S2).
    #[serde(rename = "sweep-and-prune")]
    Sweep,
    /// Every pair: the slow twin.
    BruteForce,
}

impl BroadPhaseName {
    /// Every one with the name that scene files use, and a few words where that is not enough.
    pub const ALL: &'static [(Self, &'static str, &'static str)] = &[
        (Self::Octree, "octree", ""),
        (Self::Grid, "grid", ""),
        (Self::Sweep, "sweep-and-prune", ""),
        (Self::BruteForce, "brute-force", ""),
    ];
}

/// The broad phase and the order of bodies in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct BroadPhaseOptions {
    /// Which broad phase. The result of a run does not depend on it.
    pub name: BroadPhaseName,
    /// Steps between two re-orderings of bodies along the Morton curve; 0 for never.
    pub reorder_interval: u32,
}

impl Default for BroadPhaseOptions {
    fn default() -> Self {
        Self { name: BroadPhaseName::Octree, reorder_interval: 25 }
    }
}
