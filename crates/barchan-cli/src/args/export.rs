//! What `barchan export` takes.

use super::numbers::count;
use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(after_help = "Tables are comma-separated, with a header; docs/outputs.md tells the columns and their units.")]
pub(crate) struct ExportArgs {
    /// Directory of a run.
    #[arg(value_name = "DIR")]
    pub(crate) run: PathBuf,
    /// Number of the frame, from 0. [default: the last]
    #[arg(long, value_name = "N", conflicts_with = "all", value_parser = count::<usize>, allow_negative_numbers = true)]
    pub(crate) frame: Option<usize>,
    /// All frames, one after another.
    #[arg(long)]
    pub(crate) all: bool,
    /// One row per body; the default.
    #[arg(long, conflicts_with = "contacts")]
    pub(crate) bodies: bool,
    /// A row a contact that carries an impulse.
    #[arg(long)]
    pub(crate) contacts: bool,
    /// One VTKHDF file with the bodies of all frames instead of tables, for ParaView.
    #[arg(long, requires = "output", conflicts_with_all = ["frame", "bodies", "contacts"])]
    pub(crate) vtkhdf: bool,
    /// File to write; - for standard output. [default: -]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}
