//! The figures of a comparison: as a table for people, and as CSV for programs.

use super::race::{Result, Verdict};
use barchan::cone::solver::{HistoryEntry, SolverName};
use barchan::output::human::{duration, grouped, short};
use serde::Serialize;
use std::fmt::Write as _;
use std::io::{self, Write};

/// One solver on one problem.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Entry {
    pub(super) problem: String,
    pub(super) source: String,
    pub(super) contacts: usize,
    pub(super) solver: &'static str,
    #[serde(skip)]
    pub(super) name: SolverName,
    pub(super) status: Verdict,
    pub(super) iterations: u32,
    pub(super) operator_applications: u32,
    pub(super) seconds: f64,
    pub(super) timings: u32,
    pub(super) residual: f64,
    /// The time, in times of the fastest that converged; none if this one did not.
    pub(super) ratio: Option<f64>,
    #[serde(skip)]
    pub(super) history: Vec<HistoryEntry>,
}

/// The columns of `comparison.csv`.
pub(super) const COLUMNS: [&str; 11] = [
    "problem",
    "source",
    "contacts",
    "solver",
    "status",
    "iterations",
    "operator_applications",
    "seconds",
    "timings",
    "residual",
    "ratio",
];

/// The columns of `history.csv`.
pub(super) const HISTORY_COLUMNS: [&str; 6] =
    ["problem", "solver", "iteration", "operator_applications", "seconds", "residual"];

impl Entry {
    /// What a race came to; the ratio is not known yet.
    pub(super) fn new(problem: &super::problems::Named, name: SolverName, result: Result) -> Self {
        Self {
            problem: problem.name.clone(),
            source: problem.source.clone(),
            contacts: problem.problem.contacts(),
            solver: name.name(),
            name,
            status: result.verdict,
            iterations: result.iterations,
            operator_applications: result.operator_applications,
            seconds: result.seconds,
            timings: result.timings,
            residual: result.residual,
            ratio: None,
            history: result.history,
        }
    }

    /// The time if it is one in which the problem was solved.
    pub(super) fn time_to_solve(&self) -> Option<f64> {
        (self.status == Verdict::Converged).then_some(self.seconds)
    }
}

/// The head of the table, for problems with names of up to `width` characters.
pub(super) fn head(width: usize) -> String {
    format!(
        "{:<width$} {:>9}  {:<14}  {:<15} {:>10} {:>10} {:>9} {:>8}\n",
        "problem", "contacts", "solver", "status", "iterations", "time", "residual", "ratio"
    )
}

/// A line a solver.
pub(super) fn lines(entries: &[Entry], width: usize) -> String {
    let mut text = String::new();
    for entry in entries {
        let _ = writeln!(
            text,
            "{:<width$} {:>9}  {:<14}  {:<15} {:>10} {:>10} {:>9} {:>8}",
            entry.problem,
            grouped(entry.contacts as u64),
            entry.solver,
            entry.status.words(),
            grouped(entry.iterations.into()),
            duration(entry.seconds),
            format!("{:.1e}", entry.residual),
            entry.ratio.map_or("-".into(), rounded),
        );
    }
    text
}

/// A ratio with about three digits.
fn rounded(ratio: f64) -> String {
    match ratio {
        r if r < 10.0 => format!("{r:.2}"),
        r if r < 100.0 => format!("{r:.1}"),
        r if r < 1e6 => grouped(r.round() as u64),
        r => short(r),
    }
}

/// Writes `comparison.csv`.
pub(super) fn write_csv(out: &mut impl Write, entries: &[Entry]) -> io::Result<()> {
    writeln!(out, "{}", COLUMNS.join(","))?;
    for e in entries {
        let status = e.status.words();
        let ratio = e.ratio.map_or(String::new(), |ratio| format!("{ratio:?}"));
        writeln!(
            out,
            "{},{},{},{},{status},{},{},{:?},{},{:?},{ratio}",
            e.problem,
            quoted(&e.source),
            e.contacts,
            e.solver,
            e.iterations,
            e.operator_applications,
            e.seconds,
            e.timings,
            e.residual,
        )?;
    }
    Ok(())
}

/// Writes `history.csv`.
pub(super) fn write_history(out: &mut impl Write, entries: &[Entry]) -> io::Result<()> {
    writeln!(out, "{}", HISTORY_COLUMNS.join(","))?;
    for e in entries {
        for m in &e.history {
            let HistoryEntry { iterations, operator_applications, seconds, residual } = m;
            writeln!(out, "{},{},{iterations},{operator_applications},{seconds:?},{residual:?}", e.problem, e.solver)?;
        }
    }
    Ok(())
}

/// A field that may hold commas.
fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_and_fields() {
        assert_eq!([1.0, 12.345, 1234.5, 2.5e7].map(rounded), ["1.00", "12.3", "1 235", "2.5e7"]);
        assert_eq!([quoted("a b"), quoted("a,\"b\"")], ["a b", "\"a,\"\"b\"\"\""]);
    }
}
