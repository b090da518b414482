//! What `barchan solve` takes.

use super::names::{Law, SolverArg};
use super::numbers::{count, tolerance, whole};
use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(after_help = "Exit codes: 0 converged; 1 a file could not be written; 2 bad input; 3 not solved: the \
                        iterations ran out or the solver stalled. The report is printed and the solution written \
                        in that case too.")]
pub(crate) struct SolveArgs {
    /// A problem file: one that `barchan run --dump-problem` wrote, or the text format with the
    /// matrix.
    #[arg(value_name = "PROBLEM")]
    pub(crate) problem: PathBuf,
    /// Solver to use.
    #[arg(long, value_name = "NAME")]
    pub(crate) solver: Option<SolverArg>,
    /// Friction law. [default: the solver's own]
    #[arg(long, value_name = "LAW")]
    pub(crate) friction: Option<Law>,
    /// Residual at which the problem counts as solved: the scale-free one, 1 without impulses.
    #[arg(long, value_name = "X", default_value = "1e-6", value_parser = tolerance, allow_negative_numbers = true)]
    pub(crate) tol: f64,
    /// Iterations after which the solver gives up.
    #[arg(long, value_name = "N", default_value_t = 100_000, value_parser = count::<u32>, allow_negative_numbers = true)]
    pub(crate) max_iterations: u32,
    /// Prints one JSON object on standard output, everything else on standard error.
    #[arg(long)]
    pub(crate) json: bool,
    /// Writes the solution, a contact a line: r_N r_T1 r_T2 u_N u_T1 u_T2.
    #[arg(long, value_name = "FILE")]
    pub(crate) solution: Option<PathBuf>,
    /// Threads to use. The result does not depend on it. [default: all there are]
    #[arg(long, value_name = "N", value_parser = whole::<u32, 1, 4096>, allow_negative_numbers = true)]
    pub(crate) threads: Option<u32>,
}
