//! What there is to plot, thinned so that a run of any length fits.
//!
//! At first every step has its row. When there are too many, every other row goes, and from then on a
//! row stands for twice as many steps. A row that stands for several has the state of the last of them,
//! and the worst of their residuals and penetrations: what the solver missed is never thinned out.

use barchan::output::StepRow;

/// A step's row as numbers, in the order of [`StepRow::COLUMNS`].
pub type StepNumbers = Vec<f64>;

/// Rows that are kept at most.
const MOST_ROWS: usize = 2000;

/// The rows so far.
#[derive(Debug)]
pub struct History {
    rows: Vec<StepNumbers>,
    /// Steps that a row stands for.
    stride: u64,
    /// The row that is not complete yet.
    open: Option<StepNumbers>,
    columns: Columns,
}

/// Where columns stand that are not simply those of the last step.
#[derive(Clone, Copy, Debug)]
struct Columns {
    step: usize,
    converged: usize,
    residual: usize,
    penetration: usize,
}

impl Default for History {
    fn default() -> Self {
        let at = |name: &str| StepRow::COLUMNS.iter().position(|column| *column == name).unwrap_or(usize::MAX);
        let columns = Columns {
            step: at("step"),
            converged: at("converged"),
            residual: at("residual"),
            penetration: at("max_penetration"),
        };
        Self { rows: Vec::new(), stride: 1, open: None, columns }
    }
}

impl History {
    /// Whether the row of this step would complete one that stands for several: only then all its
    /// columns count.
    pub fn completes(&self, step: u64) -> bool {
        step.is_multiple_of(self.stride)
    }

    /// Adds a step.
    pub fn push(&mut self, mut row: StepNumbers) {
        if row.len() != StepRow::COLUMNS.len() {
            return;
        }
        if let Some(open) = self.open.take() {
            self.columns.worse_of(&open, &mut row);
        }
        if !self.completes(self.columns.step_of(&row)) {
            self.open = Some(row);
            return;
        }
        self.rows.push(row);
        if self.rows.len() >= MOST_ROWS {
            self.thin();
        }
    }

    /// Rows after this step.
    pub fn after(&self, step: u64) -> &[StepNumbers] {
        let start = self.rows.partition_point(|row| self.columns.step_of(row) <= step);
        &self.rows[start..]
    }

    /// The step of the last complete row.
    pub fn last_step(&self) -> Option<u64> {
        self.rows.last().map(|row| self.columns.step_of(row))
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.rows.clear();
        (self.stride, self.open) = (1, None);
    }

    fn thin(&mut self) {
        self.stride *= 2;
        let columns = self.columns;
        let rows = std::mem::take(&mut self.rows);
        let mut carried: Option<StepNumbers> = None;
        for mut row in rows {
            if let Some(before) = carried.take() {
                columns.worse_of(&before, &mut row);
            }
            if self.completes(columns.step_of(&row)) {
                self.rows.push(row);
            } else {
                carried = Some(row);
            }
        }
        self.open = carried;
    }
}

impl Columns {
    fn step_of(self, row: &[f64]) -> u64 {
        row[self.step] as u64
    }

    /// Puts into `row` what was worse before it.
    fn worse_of(self, before: &[f64], row: &mut [f64]) {
        row[self.converged] = row[self.converged].min(before[self.converged]);
        for column in [self.residual, self.penetration] {
            row[column] = row[column].max(before[column]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(step: u64, converged: bool) -> StepNumbers {
        let residual = if converged { 0.01 } else { 0.5 };
        StepRow { step, time: step as f64, converged, residual, ..StepRow::default() }.numbers()
    }

    #[test]
    fn long_runs_are_thinned_and_keep_what_was_missed() {
        let mut history = History::default();
        for step in 1..=100_000 {
            history.push(row(step, step != 777 && step != 99_001));
        }
        let rows = history.after(0);
        assert!((MOST_ROWS / 2..=MOST_ROWS).contains(&rows.len()), "{}", rows.len());
        let converged = StepRow::COLUMNS.iter().position(|name| *name == "converged").unwrap();
        let missed: Vec<u64> = rows.iter().filter(|row| row[converged] == 0.0).map(|row| row[0] as u64).collect();
        assert_eq!(missed.len(), 2, "{missed:?}");
        assert!((777..777 + history.stride).contains(&missed[0]) && missed[1] >= 99_001, "{missed:?}");
        assert!(rows.windows(2).all(|pair| pair[1][0] - pair[0][0] == history.stride as f64));
        assert_eq!(history.after(rows[5][0] as u64).len(), rows.len() - 6);
    }

    #[test]
    fn rows_are_numbers_in_the_order_of_the_columns() {
        let row = row(7, true);
        assert_eq!((row.len(), row[0], row[1]), (StepRow::COLUMNS.len(), 7.0, 7.0));
        let mut history = History::default();
        history.push(vec![1.0]);
        assert!(history.after(0).is_empty());
    }
}
