//! What `barchan check` takes.

use super::numbers::whole;
use super::overrides::Overrides;
use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    /// A scene file, or the name of a scenario.
    #[arg(value_name = "SCENE.TOML")]
    pub(crate) target: String,
    #[command(flatten)]
    pub(crate) overrides: Overrides,
    /// Tells what each of so many ranks would have, of any kind. What is given by rank (per_rank)
    /// grows with them.
    #[arg(long, value_name = "N", value_parser = whole::<u32, 1, 10_000_000>, allow_negative_numbers = true)]
    pub(crate) ranks: Option<u32>,
}
