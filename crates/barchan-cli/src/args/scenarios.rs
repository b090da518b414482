//! What `barchan list` and `barchan new` take.

use super::overrides::Overrides;
use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// Tells the parameters of these scenarios instead.
    #[arg(value_name = "SCENARIO")]
    pub(crate) names: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct NewArgs {
    /// Name of a scenario; `barchan list` shows them. `empty` has no bodies, and examples behind comments.
    #[arg(value_name = "SCENARIO")]
    pub(crate) scenario: String,
    #[command(flatten)]
    pub(crate) overrides: Overrides,
}
