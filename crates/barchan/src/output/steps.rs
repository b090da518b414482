//! `steps.csv`: a line a step.

use super::OutputError;
use super::human::counted;
use super::table::{TableWriter, step_of, whole_lines};
use crate::step::StepReport;
use crate::world::Energy;
use barchan_cone::solver::Status;
use serde::Serialize;
use std::fmt::Write as _;
use std::fs::File;
use std::path::{Path, PathBuf};

/// How a value stands in the table.
trait Cell {
    fn put(&self, line: &mut String);
    fn number(&self) -> f64;
}

impl Cell for u64 {
    fn put(&self, line: &mut String) {
        let _ = write!(line, "{self}");
    }

    fn number(&self) -> f64 {
        *self as f64
    }
}

impl Cell for f64 {
    // The shortest digits that read back to the same number, with an exponent where it helps.
    fn put(&self, line: &mut String) {
        let _ = write!(line, "{self:?}");
    }

    fn number(&self) -> f64 {
        *self
    }
}

impl Cell for bool {
    fn put(&self, line: &mut String) {
        line.push(if *self { '1' } else { '0' });
    }

    fn number(&self) -> f64 {
        f64::from(u8::from(*self))
    }
}

/// Declares the columns once: the struct, the header and the row.
macro_rules! columns {
    ($($(#[$doc:meta])* $name:ident: $type:ty,)*) => {
        /// What is recorded of a step.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
        pub struct StepRow {
            $($(#[$doc])* pub $name: $type,)*
        }

        impl StepRow {
            /// The names of the columns, in order.
            pub const COLUMNS: &'static [&'static str] = &[$(stringify!($name)),*];

            /// The row as numbers, in the order of the columns.
            pub fn numbers(&self) -> Vec<f64> {
                vec![$(self.$name.number()),*]
            }

            /// Appends the row without an end of line.
            fn put(&self, line: &mut String) {
                $(
                    self.$name.put(line);
                    line.push(',');
                )*
                line.pop();
            }
        }
    };
}

columns! {
    /// Number of the step, from one.
    step: u64,
    /// Simulated time at its end.
    time: f64,
    /// Length of the step.
    length: f64,
    /// Bodies in the world.
    bodies: u64,
    /// Contacts handed to the solver.
    contacts: u64,
    /// Iterations of the solver.
    iterations: u64,
    /// Applications of the contact operator.
    operator_applications: u64,
    /// Starts that the solver dropped, because no impulses were a better one.
    cold_starts: u64,
    /// Whether the solver reached its tolerance (0 or 1 in the table).
    converged: bool,
    /// The residual that decided when to stop.
    residual: f64,
    /// Residual of the natural map.
    residual_natural: f64,
    /// Violation of the cone of impulses.
    residual_primal: f64,
    /// Violation of the dual cone by the velocities.
    residual_dual: f64,
    /// Violation of complementarity.
    residual_complementarity: f64,
    /// Kinetic energy.
    kinetic: f64,
    /// Potential energy.
    potential: f64,
    /// Deepest penetration.
    max_penetration: f64,
    /// Mean penetration of the contacts that overlap.
    mean_penetration: f64,
    /// Bodies that left the cell and were removed at the end of the step.
    lost: u64,
    /// Seconds spent on messages about bodies between ranks.
    seconds_exchange: f64,
    /// Seconds spent on finding pairs.
    seconds_broad: f64,
    /// Seconds spent on finding contacts.
    seconds_narrow: f64,
    /// Seconds spent on forces, the contact problem and the solver.
    seconds_solve: f64,
    /// Seconds spent on moving bodies.
    seconds_integrate: f64,
    /// Seconds spent on writing.
    seconds_output: f64,
    /// Seconds spent on waiting for checkpoints.
    seconds_checkpoint: f64,
}

impl StepRow {
    /// What is told of a step that ended at this time, with this energy. Seconds of output and
    /// checkpoints are not known here.
    pub fn of(step: u64, time: f64, report: &StepReport, energy: Energy) -> Self {
        let solver = &report.solver;
        let seconds = &report.seconds;
        Self {
            step,
            time,
            length: report.length,
            bodies: report.bodies as u64,
            contacts: report.contacts as u64,
            iterations: solver.iterations.into(),
            operator_applications: solver.operator_applications.into(),
            cold_starts: solver.cold_starts.into(),
            converged: solver.status == Status::Converged,
            residual: solver.residual,
            residual_natural: solver.residuals.natural,
            residual_primal: solver.residuals.primal,
            residual_dual: solver.residuals.dual,
            residual_complementarity: solver.residuals.complementarity,
            kinetic: energy.kinetic,
            potential: energy.potential,
            max_penetration: report.penetration.max,
            mean_penetration: report.penetration.mean,
            lost: report.lost.bodies,
            seconds_exchange: seconds.exchange,
            seconds_broad: seconds.broad,
            seconds_narrow: seconds.narrow,
            seconds_solve: seconds.solve,
            seconds_integrate: seconds.integrate,
            seconds_output: 0.0,
            seconds_checkpoint: 0.0,
        }
    }
}

/// Writes `steps.csv` row by row.
#[derive(Debug)]
pub struct StepsWriter(TableWriter);

impl StepsWriter {
    /// Starts the table with its header.
    pub fn create(path: impl Into<PathBuf>) -> Result<Self, OutputError> {
        TableWriter::create(path, &StepRow::COLUMNS.join(",")).map(Self)
    }

    /// Goes on after the row of step `steps`. What follows it is cut off.
    ///
    /// # Errors
    /// If the table does not have the rows up to there.
    pub fn resume(path: impl Into<PathBuf>, steps: u64) -> Result<Self, OutputError> {
        let path = path.into();
        Self::check(&path, steps)?;
        TableWriter::resume(path, &StepRow::COLUMNS.join(","), |line| step_of(line).is_some_and(|k| k <= steps))
            .map(Self)
    }

    /// Whether a table has a row for each of so many steps.
    ///
    /// # Errors
    /// If it has not.
    pub fn check(path: &Path, steps: u64) -> Result<(), OutputError> {
        let found = Self::count(path)?;
        if found >= steps {
            return Ok(());
        }
        let found = counted(found, "step", "steps");
        let found = format!("it has the rows of {found}, where {steps} are expected");
        Err(OutputError::Table { path: path.to_owned(), found })
    }

    /// Steps of which a table has rows, from the first on and without a gap.
    ///
    /// # Errors
    /// If it is not such a table.
    pub fn count(path: &Path) -> Result<u64, OutputError> {
        let mut next = 1;
        let belongs = |line: &str| {
            let is_next = step_of(line) == Some(next);
            next += 1;
            is_next
        };
        whole_lines(path, &StepRow::COLUMNS.join(","), belongs).map(|(_, rows)| rows)
    }

    /// A second handle to the file, to bring it to the disk elsewhere.
    pub(crate) fn handle(&self) -> Result<(File, PathBuf), OutputError> {
        self.0.handle()
    }

    /// Adds a row.
    pub fn push(&mut self, row: &StepRow) -> Result<(), OutputError> {
        self.0.push(|line| row.put(line))
    }

    /// Brings all rows so far to the file.
    pub fn flush(&mut self) -> Result<(), OutputError> {
        self.0.flush()
    }

    /// Brings the last rows to the file and reports whether that worked.
    pub fn finish(mut self) -> Result<(), OutputError> {
        self.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::scratch::Scratch;
    use crate::output::table::FLUSH_BYTES;

    #[test]
    fn header_and_rows_agree() {
        let scratch = Scratch::new();
        let path = scratch.path().join("steps.csv");
        let mut writer = StepsWriter::create(&path).unwrap();
        let row = StepRow {
            step: 3,
            time: 0.1 + 0.2,
            converged: true,
            kinetic: 1e-300,
            seconds_output: 7.0,
            ..StepRow::default()
        };
        for step in 0..2000 {
            writer.push(&StepRow { step, ..row }).unwrap();
        }
        writer.finish().unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.ends_with('\n'));
        let mut lines = text.lines().map(|l| l.split(',').collect::<Vec<_>>());
        let header = lines.next().unwrap();
        assert_eq!(header.len(), 26);
        assert_eq!((header[0], header[25]), ("step", "seconds_checkpoint"));
        let rows: Vec<_> = lines.collect();
        assert_eq!(rows.len(), 2000);
        assert!(rows.iter().all(|r| r.len() == header.len()));
        let cell = |name: &str| rows[3][header.iter().position(|h| *h == name).unwrap()];
        assert_eq!(cell("step"), "3");
        assert_eq!(cell("converged"), "1");
        assert_eq!(cell("kinetic"), "1e-300");
        assert_eq!(cell("seconds_output"), "7.0");
        assert_eq!(cell("time").parse::<f64>().unwrap().to_bits(), (0.1f64 + 0.2).to_bits());
    }

    #[test]
    fn the_columns_are_the_fields() {
        let json = serde_json::to_value(StepRow::default()).unwrap();
        assert_eq!(json.as_object().unwrap().len(), StepRow::COLUMNS.len());
        assert!(StepRow::COLUMNS.iter().all(|c| json.get(c).is_some()));
    }

    #[test]
    fn rows_reach_the_file_before_the_end_and_whole() {
        let scratch = Scratch::new();
        let path = scratch.path().join("steps.csv");
        let mut writer = StepsWriter::create(&path).unwrap();
        for step in 0..2000 {
            writer.push(&StepRow { step, ..StepRow::default() }).unwrap();
        }
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.len() > FLUSH_BYTES && text.ends_with('\n'));
        drop(writer);
        assert_eq!(std::fs::read_to_string(&path).unwrap().lines().count(), 2001);
    }

    #[test]
    fn a_table_goes_on_after_any_of_its_rows() {
        let scratch = Scratch::new();
        let path = scratch.path().join("steps.csv");
        let row = |step| StepRow { step, ..StepRow::default() };
        let mut writer = StepsWriter::create(&path).unwrap();
        (1..=9).for_each(|step| writer.push(&row(step)).unwrap());
        drop(writer);
        let whole = std::fs::read_to_string(&path).unwrap();
        // Half a row at the end, as a power cut may leave it.
        for (cut, from) in [(0, 9), (1, 8), (0, 4), (30, 0)] {
            std::fs::write(&path, &whole[..whole.len() - cut]).unwrap();
            let mut writer = StepsWriter::resume(&path, from).unwrap();
            (from + 1..=9).for_each(|step| writer.push(&row(step)).unwrap());
            drop(writer);
            assert_eq!(std::fs::read_to_string(&path).unwrap(), whole, "{from}");
        }
        let error = StepsWriter::resume(&path, 10).unwrap_err().to_string();
        assert!(error.ends_with("steps.csv cannot be continued: it has the rows of 9 steps, where 10 are expected"));
        std::fs::write(&path, "step,colour\n1,red\n").unwrap();
        assert!(StepsWriter::resume(&path, 1).unwrap_err().to_string().contains("other columns"));
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_full_disk_is_reported() {
        let error = StepsWriter::create("/dev/full").unwrap_err().to_string();
        assert!(error.contains("cannot write /dev/full"), "{error}");
    }
}
