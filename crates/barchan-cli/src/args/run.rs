//! What `barchan run` takes.

use super::names::SolverArg;
use super::overrides::Overrides;
use super::run_control::RunControlArgs;
use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// Name of a scenario, or a scene file (what exists as a file or ends in .toml).
    #[arg(value_name = "SCENARIO|SCENE.TOML")]
    pub(crate) target: String,
    #[command(flatten)]
    pub(crate) overrides: Overrides,
    /// Solver to use: shorthand for --set solver.name=NAME.
    #[arg(long, value_name = "NAME")]
    pub(crate) solver: Option<SolverArg>,
    /// Directory for the results. [default: runs/NAME, or the next free number]
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Replaces the run that stands in the directory.
    #[arg(long)]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) control: RunControlArgs,
}
