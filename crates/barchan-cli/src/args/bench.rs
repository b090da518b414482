//! What `barchan bench` takes.

use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct BenchArgs {
    /// Benches to run. [default: all]
    #[arg(value_name = "NAME")]
    pub(crate) names: Vec<String>,
    /// Prints one JSON object on standard output, everything else on standard error.
    #[arg(long)]
    pub(crate) json: bool,
    /// Directory for settled beds, which take minutes to prepare.
    #[arg(long, value_name = "DIR")]
    pub(crate) cache: Option<PathBuf>,
}
