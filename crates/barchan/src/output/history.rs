//! `history.csv`, on request: a line an iteration of every step, to see how the solver went.

use super::OutputError;
use super::table::{TableWriter, step_of, whole_lines};
use barchan_cone::solver::HistoryEntry;
use std::fmt::Write as _;
use std::fs::File;
use std::path::{Path, PathBuf};

/// Writes `history.csv`.
#[derive(Debug)]
pub struct HistoryWriter(TableWriter);

impl HistoryWriter {
    /// The columns.
    pub const COLUMNS: [&'static str; 4] = ["step", "iteration", "operator_applications", "residual"];

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

    /// Adds the history of a step.
    pub fn push(&mut self, step: u64, history: &[HistoryEntry]) -> Result<(), OutputError> {
        for HistoryEntry { iterations, operator_applications, residual, .. } in history {
            self.0.push(|line| {
                let _ = write!(line, "{step},{iterations},{operator_applications},{residual:?}");
            })?;
        }
        Ok(())
    }

    /// Brings all lines so far to the file.
    pub fn flush(&mut self) -> Result<(), OutputError> {
        self.0.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::scratch::Scratch;

    #[test]
    fn a_line_an_iteration() {
        let scratch = Scratch::new();
        let path = scratch.path().join("history.csv");
        let mut writer = HistoryWriter::create(&path).unwrap();
        let history = [(0, 1, 1.0), (1, 3, 0.25)].map(|(iterations, operator_applications, residual)| HistoryEntry {
            iterations,
            operator_applications,
            seconds: 0.0,
            residual,
        });
        writer.push(7, &history).unwrap();
        drop(writer);
        let text = std::fs::read_to_string(path).unwrap();
        assert_eq!(text, "step,iteration,operator_applications,residual\n7,0,1,1.0\n7,1,3,0.25\n");
    }
}
