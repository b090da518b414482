//! What bodies do at the default settings, beside what they should do: each case with its bar.
//!
//! A case is a small scene with a known answer and one number that says how far off it is. The quick ones are tests as
//! well. What cases show is written down in docs/accuracy.md.

mod cases;

use super::{Context, Figures};
use crate::failure::{Failure, note};
use barchan::scene::SceneError;
use barchan::step::{ChangeError, StepError};
use serde_json::json;

/// A case with a known answer.
struct Case {
    /// What it shows.
    name: &'static str,
    /// The number that is measured.
    measures: &'static str,
    /// What it must not exceed.
    bar: f64,
    /// Whether it takes less than a few seconds.
    is_quick: bool,
    run: fn() -> Result<f64, Trouble>,
}

/// Why a case could not be measured.
#[derive(Debug)]
enum Trouble {
    Scene(SceneError),
    Step(StepError),
    Change(ChangeError),
}

impl From<SceneError> for Trouble {
    fn from(error: SceneError) -> Self {
        Self::Scene(error)
    }
}

impl From<StepError> for Trouble {
    fn from(error: StepError) -> Self {
        Self::Step(error)
    }
}

impl From<ChangeError> for Trouble {
    fn from(error: ChangeError) -> Self {
        Self::Change(error)
    }
}

impl Trouble {
    fn words(&self) -> String {
        match self {
            Self::Scene(error) => error.to_string(),
            Self::Step(error) => error.to_string(),
            Self::Change(error) => error.to_string(),
        }
    }
}

pub(super) fn run(_: &Context) -> Result<Figures, Failure> {
    let mut figures = Figures::new();
    for case in cases::CASES {
        let seen = (case.run)();
        let verdict = match &seen {
            Ok(seen) if *seen <= case.bar => "ok".to_owned(),
            Ok(_) => "MISSED".to_owned(),
            Err(trouble) => trouble.words(),
        };
        let seen = seen.ok();
        note(format_args!("  {}: {seen:?}, bar {}, {verdict}", case.name, case.bar));
        let figure = json!({ "measures": case.measures, "seen": seen, "bar": case.bar, "quick": case.is_quick, "verdict": verdict });
        figures.insert(case.name.into(), figure);
    }
    Ok(figures)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_quick_case_is_right_by_default() {
        let mut wrong = Vec::new();
        for case in cases::CASES.iter().filter(|case| case.is_quick) {
            let seen = (case.run)().map_err(|trouble| trouble.words());
            println!("{}: {seen:?}, bar {}", case.name, case.bar);
            if !seen.as_ref().is_ok_and(|seen| *seen <= case.bar) {
                wrong.push(format!("{}: {} {seen:?}, bar {}", case.name, case.measures, case.bar));
            }
        }
        assert!(wrong.is_empty(), "{wrong:#?}");
    }
}
