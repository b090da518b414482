//! What can be typed: a file a command, and those for what several take. The comments are the help texts.

mod bench;
mod check;
mod compare;
mod export;
mod names;
mod numbers;
mod overrides;
mod render;
mod report;
mod restart;
mod run;
mod run_control;
mod scenarios;
mod solve;
mod view;

pub(crate) use bench::BenchArgs;
pub(crate) use check::CheckArgs;
pub(crate) use compare::CompareArgs;
pub(crate) use export::ExportArgs;
pub(crate) use render::RenderArgs;
pub(crate) use report::ReportArgs;
pub(crate) use restart::RestartArgs;
pub(crate) use run::RunArgs;
pub(crate) use run_control::RunControlArgs;
pub(crate) use scenarios::{ListArgs, NewArgs};
pub(crate) use solve::SolveArgs;
pub(crate) use view::ViewArgs;

use clap::{Parser, Subcommand};

/// Very many rigid bodies in hard frictional contact.
#[derive(Debug, Parser)]
#[command(name = "barchan", version, arg_required_else_help = true)]
#[command(after_help = "A good first minute:  barchan run sedimentation")]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Names the scenarios, a line each.
    List(ListArgs),
    /// Prints a commented scene, ready to edit.
    New(NewArgs),
    /// Runs a scenario or a scene file.
    Run(RunArgs),
    /// Goes on with a run that was ended: by Ctrl-C, by a crash, by a power cut.
    Restart(RestartArgs),
    /// Makes the page that shows a run, from its directory: report.html.
    Report(ReportArgs),
    /// Runs a scene in the browser, to watch and to steer; or shows a run that is written down.
    View(ViewArgs),
    /// Validates and explains a scene; simulates nothing.
    Check(CheckArgs),
    /// Solves one contact problem from a file.
    Solve(SolveArgs),
    /// Runs several solvers on the same contact problems: a table, and plots.
    Compare(CompareArgs),
    /// Draws a frame of a run, or all of them as a video.
    Render(RenderArgs),
    /// Writes frames of a run as tables, or all of them as one VTKHDF file.
    Export(ExportArgs),
    /// Measures the engine on this machine.
    Bench(BenchArgs),
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_arguments_are_consistent() {
        Arguments::command().debug_assert();
    }
}
