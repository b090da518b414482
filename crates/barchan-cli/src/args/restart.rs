//! What `barchan restart` takes.

use super::run_control::RunControlArgs;
use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(
    after_help = "The run goes on from its newest checkpoint that is sound, or from the beginning where there is \
                        none: with the same results, to the last bit, as if it had never stopped. A number of ranks \
                        other than before changes rounding. What is told of the end and of checkpoints is written to \
                        scene.toml of the run, and holds from here on."
)]
pub(crate) struct RestartArgs {
    /// Directory of the run, as `barchan run` has made it.
    #[arg(value_name = "DIR")]
    pub(crate) directory: PathBuf,
    #[command(flatten)]
    pub(crate) control: RunControlArgs,
}
