//! What `barchan compare` takes.

use super::names::{Law, SolverArg};
use super::numbers::{ordinal, seconds, tolerance, whole};
use super::overrides::key_value;
use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(
    after_help = "Exit codes: 0 compared, whether or not every solver converged; 1 a file could not be written; \
                        2 bad input."
)]
pub(crate) struct CompareArgs {
    /// Problem files: those that `barchan run --dump-problem` wrote, or the text format with the
    /// matrix.
    #[arg(value_name = "PROBLEM", required_unless_present = "scene")]
    pub(crate) problems: Vec<PathBuf>,
    /// Takes the contact problem of a step of this scene too.
    #[arg(long, value_name = "SCENARIO|SCENE.TOML")]
    pub(crate) scene: Option<String>,
    /// The step, from 1. [default: 300, or the scene's last if that is sooner]
    #[arg(long, value_name = "N", requires = "scene", value_parser = ordinal::<u64>, allow_negative_numbers = true)]
    pub(crate) step: Option<u64>,
    /// Sets a parameter of the scenario or a key of the scene; may be repeated.
    #[arg(long = "set", value_name = "KEY=VALUE", requires = "scene", value_parser = key_value)]
    pub(crate) set: Vec<(String, String)>,
    /// Solvers to compare, separated by commas. [default: all that can do the friction law]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub(crate) solvers: Vec<SolverArg>,
    /// Friction law, the same for all.
    #[arg(long, value_name = "LAW", default_value = "associated")]
    pub(crate) friction: Law,
    /// Residual at which a problem counts as solved: the scale-free one, 1 without impulses.
    #[arg(long, value_name = "X", default_value = "1e-6", value_parser = tolerance, allow_negative_numbers = true)]
    pub(crate) tol: f64,
    /// Iterations after which a solver gives up.
    #[arg(long, value_name = "N", default_value_t = 100_000, value_parser = ordinal::<u32>, allow_negative_numbers = true)]
    pub(crate) max_iterations: u32,
    /// Seconds after which a solve is given up, about.
    #[arg(long, value_name = "S", default_value = "10", value_parser = seconds, allow_negative_numbers = true)]
    pub(crate) max_seconds: f64,
    /// Threads to use. [default: all there are]
    #[arg(long, value_name = "N", value_parser = whole::<u32, 1, 4096>, allow_negative_numbers = true)]
    pub(crate) threads: Option<u32>,
    /// Directory for the plots and tables. [default: comparison, or the next free number]
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Replaces the comparison that stands in the directory.
    #[arg(long)]
    pub(crate) force: bool,
    /// Prints one JSON object on standard output, everything else on standard error.
    #[arg(long)]
    pub(crate) json: bool,
}
