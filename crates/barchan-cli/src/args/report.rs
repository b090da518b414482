//! What `barchan report` takes.

use super::numbers::whole;
use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    /// Directory of a run, which may have failed or be under way.
    #[arg(value_name = "DIR")]
    pub(crate) directory: PathBuf,
    /// Where the page goes. [default: report.html in the directory]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Megabytes for frames, about; the first and the last are always there.
    #[arg(long, value_name = "MB", default_value = "20", value_parser = whole::<u32, 0, 10_000>, allow_negative_numbers = true)]
    pub(crate) megabytes: u32,
    /// Prints one JSON object on standard output: path, bytes, frames and frames_total.
    #[arg(long)]
    pub(crate) json: bool,
}
