//! What `barchan restart` takes.

use clap::{Args, value_parser};
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(
    after_help = "The run goes on from its newest checkpoint that is sound, or from the beginning where there is \
                        none: with the same results, to the last bit, as if it had never stopped. A number of ranks \
                        other than before changes rounding."
)]
pub(crate) struct RestartArgs {
    /// Directory of the run, as `barchan run` has made it.
    #[arg(value_name = "DIR")]
    pub(crate) directory: PathBuf,
    /// Steps of the whole run, counted from its beginning; as many as it was to take unless told.
    #[arg(long, value_name = "N")]
    pub(crate) steps: Option<u64>,
    /// Threads of each rank; all there are unless told, and 1 with --ranks. The result does not
    /// depend on it.
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..=4096))]
    pub(crate) threads: Option<u32>,
    /// Spreads the run over so many ranks inside this process, whatever it was on before.
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..=4096))]
    pub(crate) ranks: Option<u32>,
    /// Prints one JSON object on standard output, everything else on standard error.
    #[arg(long)]
    pub(crate) json: bool,
    /// Shows no progress.
    #[arg(long)]
    pub(crate) quiet: bool,
    /// Fails (after writing everything) if a step missed the solver's tolerance, before or after.
    #[arg(long)]
    pub(crate) strict: bool,
    /// Writes no report.html; `barchan report` can do so later.
    #[arg(long)]
    pub(crate) no_report: bool,
}
