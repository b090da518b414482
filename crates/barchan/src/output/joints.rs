//! `joints.csv`, of scenes with joints: where they are and what they bear, a line a joint.

use super::OutputError;
use super::table::{TableWriter, step_of, whole_lines};
use crate::world::Joint;
use std::fmt::Write as _;
use std::fs::File;
use std::path::{Path, PathBuf};

/// Joints for which every step has its lines; of so many times as many, every so manieth step has.
const MANY: usize = 4;

/// Writes `joints.csv`.
#[derive(Debug)]
pub struct JointsWriter(TableWriter);

impl JointsWriter {
    /// The columns: the coordinate (rad or m) and its speed where a motor drives it, the force on the second body and the
    /// torque about the anchor, as impulses of the whole step over its length; what the motor exerts, and its work so far.
    pub const COLUMNS: [&'static str; 14] = [
        "step", "time", "joint", "position", "speed", "force_x", "force_y", "force_z", "torque_x", "torque_y",
        "torque_z", "effort", "work", "broken",
    ];

    /// Starts the table with its header.
    pub fn create(path: impl Into<PathBuf>) -> Result<Self, OutputError> {
        TableWriter::create(path, &Self::COLUMNS.join(",")).map(Self)
    }

    /// Goes on after the lines of so many steps. What follows them is cut off.
    ///
    /// # Errors
    /// If it is not such a table.
    pub fn resume(path: impl Into<PathBuf>, steps: u64) -> Result<Self, OutputError> {
        let belongs = |line: &str| step_of(line).is_some_and(|step| step <= steps);
        TableWriter::resume(path, &Self::COLUMNS.join(","), belongs).map(Self)
    }

    /// Whether there is such a table.
    ///
    /// # Errors
    /// If there is not.
    pub fn check(path: &Path) -> Result<(), OutputError> {
        whole_lines(path, &Self::COLUMNS.join(","), |_| false).map(drop)
    }

    /// A second handle to the file, to bring it to the disk elsewhere.
    pub(crate) fn handle(&self) -> Result<(File, PathBuf), OutputError> {
        self.0.handle()
    }

    /// Adds the joints after a step, if it is one that is written.
    pub fn push(&mut self, step: u64, time: f64, joints: &[Joint]) -> Result<(), OutputError> {
        let every = (joints.len() / MANY).max(1) as u64;
        if !step.is_multiple_of(every) {
            return Ok(());
        }
        for joint in joints {
            let state = &joint.state;
            // A name may hold what a table is made of.
            let name = joint.name.replace(['"', '\n', '\r'], "'");
            let numbers = [state.position, state.speed]
                .into_iter()
                .chain(state.force.to_array())
                .chain(state.torque.to_array())
                .chain([state.effort, state.work]);
            self.0.push(|line| {
                let _ = write!(line, "{step},{time:?},\"{name}\"");
                for number in numbers {
                    let _ = write!(line, ",{number:?}");
                }
                let _ = write!(line, ",{}", u8::from(state.is_broken));
            })?;
        }
        Ok(())
    }

    /// Brings all lines so far to the file.
    pub fn flush(&mut self) -> Result<(), OutputError> {
        self.0.flush()
    }
}
