//! What a step tells about itself.

use crate::narrow::Penetration;
use barchan_cone::solver::Report;
use serde::{Deserialize, Serialize};

/// Wall-clock seconds of each stage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StageSeconds {
    /// Messages about bodies between ranks, and images.
    pub exchange: f64,
    /// Re-ordering, hulls and broad phase.
    pub broad: f64,
    /// Narrow phase.
    pub narrow: f64,
    /// Forces, assembly of the problem, and the solver.
    pub solve: f64,
    /// Motion.
    pub integrate: f64,
}

/// Bodies that have left the cell and were removed.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Lost {
    /// How many.
    pub bodies: u64,
    /// Their mass.
    pub mass: f64,
}

/// What a step tells about itself.
#[derive(Clone, Debug, Default)]
pub struct StepReport {
    /// The length of the step, s.
    pub length: f64,
    /// How long it should have been at most, where a fixed length was compared with what happens; done now and then.
    pub advised: Option<f64>,
    /// Bodies that are not walls, over all ranks.
    pub bodies: usize,
    /// Contacts of the step, over all ranks.
    pub contacts: usize,
    /// Overlap of bodies before the step.
    pub penetration: Penetration,
    /// The solver's report.
    pub solver: Report,
    /// Bodies that left the cell in this step and were removed at its end, of all ranks.
    pub lost: Lost,
    /// Time a stage, each of the rank that took longest.
    pub seconds: StageSeconds,
}

/// The stages whose time is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    Exchange,
    Broad,
    Narrow,
    Solve,
    Integrate,
}

impl StageSeconds {
    /// The seconds of a stage.
    pub(super) fn of(&mut self, stage: Stage) -> &mut f64 {
        match stage {
            Stage::Exchange => &mut self.exchange,
            Stage::Broad => &mut self.broad,
            Stage::Narrow => &mut self.narrow,
            Stage::Solve => &mut self.solve,
            Stage::Integrate => &mut self.integrate,
        }
    }
}
