//! What a user can choose about the cell and its division among ranks.

use super::OutsideRule;
use glam::DVec3;
use serde::{Deserialize, Serialize};

/// The partitions there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PartitionName {
    /// Cartesian where `blocks` are given, Morton otherwise.
    #[default]
    Auto,
    /// Blocks, equal in size (S2, S4).
    Cartesian,
    /// Ranges of the Morton curve, equal in work (S1 IV-A).
    Morton,
}

impl PartitionName {
    /// Every one with the name that scene files use, and a few words where that is not enough.
    pub const ALL: &'static [(Self, &'static str, &'static str)] =
        &[(Self::Auto, "auto", ""), (Self::Cartesian, "cartesian", ""), (Self::Morton, "morton", "")];

    /// The name that scene files use.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|entry| entry.0 == self).map_or("", |entry| entry.1)
    }
}

/// What counts as work when it is shared equally.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WorkMeasure {
    /// Bodies, and contacts times iterations: the same cuts in every run.
    #[default]
    Count,
    /// Processor time: what counts in the end, but no two runs have the same cuts, nor the same
    /// rounding.
    Time,
}

impl WorkMeasure {
    /// Every one with the name that scene files use, and a few words where that is not enough.
    pub const ALL: &'static [(Self, &'static str, &'static str)] =
        &[(Self::Count, "count", "bodies, contacts times iterations"), (Self::Time, "time", "of the processor")];
}

/// The cell, and how ranks share it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct DomainOptions {
    /// Lowest corner of the cell. Needed if space repeats along any axis; where it is missing, the
    /// extent of the scene is taken.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min: Option<DVec3>,
    /// Highest corner of the cell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max: Option<DVec3>,
    /// Along which axes space repeats itself.
    pub periodic: [bool; 3],
    /// What becomes of bodies that leave the cell along the other axes.
    pub outside: OutsideRule,
    /// Which partition. What a run converges to does not depend on it.
    pub partition: PartitionName,
    /// Cartesian blocks along each axis; where missing, those with the least surface.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blocks: Option<[u32; 3]>,
    /// Morton ranges are cut anew once the largest work of a rank passes this multiple of the mean.
    pub imbalance: f64,
    /// Most steps between two looks at the balance; while it changes, there are up to five times as many
    /// looks. 0 for never.
    pub balance_interval: u32,
    /// What counts as work.
    pub work: WorkMeasure,
}

impl Default for DomainOptions {
    fn default() -> Self {
        Self {
            min: None,
            max: None,
            periodic: [false; 3],
            outside: OutsideRule::Keep,
            partition: PartitionName::Auto,
            blocks: None,
            imbalance: 1.05,
            balance_interval: 20,
            work: WorkMeasure::Count,
        }
    }
}
