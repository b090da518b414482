//! What `barchan run` takes.

use super::names::Solver;
use super::overrides::Overrides;
use clap::{Args, value_parser};
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// Name of a scenario, or a scene file (what exists as a file or ends in .toml).
    #[arg(value_name = "SCENARIO|SCENE.TOML")]
    pub(crate) target: String,
    #[command(flatten)]
    pub(crate) overrides: Overrides,
    /// Takes so many steps, whatever the scene says about its end.
    #[arg(long, value_name = "N", conflicts_with = "time")]
    pub(crate) steps: Option<u64>,
    /// Ends at this simulated time, in seconds.
    #[arg(long, value_name = "T")]
    pub(crate) time: Option<String>,
    /// Threads of each rank; all there are unless told, and 1 with --ranks. The result does not
    /// depend on it.
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..=4096))]
    pub(crate) threads: Option<u32>,
    /// Spreads the run over so many ranks inside this process, to try or test what it does across
    /// ranks without MPI. For speed use --threads, or mpirun.
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..=4096))]
    pub(crate) ranks: Option<u32>,
    /// Solver to use: shorthand for --set solver.name=NAME.
    #[arg(long, value_name = "NAME")]
    pub(crate) solver: Option<Solver>,
    /// Directory for the results; runs/NAME or the next free number unless told.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Replaces the run that stands in the directory.
    #[arg(long)]
    pub(crate) force: bool,
    /// Prints one JSON object on standard output, everything else on standard error.
    #[arg(long)]
    pub(crate) json: bool,
    /// Shows no progress.
    #[arg(long)]
    pub(crate) quiet: bool,
    /// Fails (after writing everything) if a step missed the solver's tolerance.
    #[arg(long)]
    pub(crate) strict: bool,
    /// Takes a checkpoint every so many steps, to go on from with `barchan restart`: shorthand for
    /// --set checkpoint.steps=N. 0 for none by steps.
    #[arg(long, value_name = "N")]
    pub(crate) checkpoint_steps: Option<u64>,
    /// Takes one when so many seconds have passed since the last: shorthand for
    /// --set checkpoint.seconds=S. 600 unless told; 0 for none by time.
    #[arg(long, value_name = "S", allow_negative_numbers = true)]
    pub(crate) checkpoint_seconds: Option<String>,
    /// Writes no report.html; `barchan report` can do so later.
    #[arg(long)]
    pub(crate) no_report: bool,
    /// Writes the contact problem of this step, from 1, to problem-STEP.txt in the run directory,
    /// before it is solved; may be repeated. `barchan solve` reads it.
    #[arg(long, value_name = "STEP", value_parser = value_parser!(u64).range(1..))]
    pub(crate) dump_problem: Vec<u64>,
    /// Serves a page on this machine that shows the run, and lets viewers hold it, step it and slow it
    /// down; its address goes to standard error. The result does not depend on it.
    #[arg(long, value_name = "PORT", num_args = 0..=1, require_equals = true, default_missing_value = "0")]
    pub(crate) view: Option<u16>,
}
