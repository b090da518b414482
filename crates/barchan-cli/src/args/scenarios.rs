//! What `barchan list` and `barchan new` take.

use super::overrides::Overrides;
use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// Tells the parameters of these scenarios instead; `pairs` prints which function finds the contacts of which two shapes.
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
    /// Writes the triangles of meshes to binary STL files in this directory, which the scene then names. Put the scene into
    /// the directory from which you call this.
    #[arg(long, value_name = "DIR")]
    pub(crate) meshes: Option<PathBuf>,
}
