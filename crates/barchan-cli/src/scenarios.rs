//! `barchan list` and `barchan new`: what there is, and a scene to start from.

use crate::args::{ListArgs, NewArgs};
use crate::failure::{Failure, print};
use barchan::scenario::{self, SCENARIOS, Scenario};
use std::fmt::Write;

/// Prints a line a scenario, or the parameters of those named.
pub(crate) fn list(args: &ListArgs) -> Result<(), Failure> {
    if args.names.is_empty() {
        let width = SCENARIOS.iter().map(|scenario| scenario.name.len()).max().unwrap_or(0);
        let line = |s: &&Scenario| format!("{:width$}  {}\n", s.name, s.summary);
        return print(&SCENARIOS.iter().map(line).collect::<String>());
    }
    let mut text = String::new();
    for name in &args.names {
        describe(&mut text, scenario::find(name)?);
    }
    print(&text)
}

fn describe(text: &mut String, scenario: &Scenario) {
    let _ = writeln!(text, "{}: {}", scenario.name, scenario.summary);
    for p in scenario.parameters {
        let _ = writeln!(text, "  --set {:<18} {}", format!("{}={}", p.name, p.default), p.help);
    }
}

/// Prints the scene of a scenario.
pub(crate) fn new(args: &NewArgs) -> Result<(), Failure> {
    print(&scenario::find(&args.scenario)?.to_toml(&args.overrides.set)?)
}
