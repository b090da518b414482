//! What `barchan view` takes.

use super::overrides::Overrides;
use barchan_view::server::ListenAddress;
use clap::{Args, value_parser};
use std::net::IpAddr;

#[derive(Debug, Args)]
#[command(after_help = "The address is the first line on standard output. Ctrl-C ends it, with a few lines on what \
                        it came to.")]
pub(crate) struct ViewArgs {
    /// Name of a scenario, or a scene file, to run live; or the directory of a run, finished or under
    /// way, to look at.
    #[arg(value_name = "SCENARIO|SCENE.TOML|RUNDIR")]
    pub(crate) target: String,
    #[command(flatten)]
    pub(crate) overrides: Overrides,
    /// Threads to use. The result does not depend on it. [default: all there are]
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..=4096))]
    pub(crate) threads: Option<u32>,
    /// Port to listen on; 0 for any that is free. [default: 8737, or any that is free if that is taken]
    #[arg(long, value_name = "PORT")]
    pub(crate) port: Option<u16>,
    /// Address to listen on. Whoever reaches it and has its token can watch the run and steer it.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1")]
    pub(crate) bind: IpAddr,
    /// Opens no browser.
    #[arg(long)]
    pub(crate) no_open: bool,
    /// Stands still at first.
    #[arg(long)]
    pub(crate) paused: bool,
}

impl ViewArgs {
    /// Where to listen.
    pub(crate) fn place(&self) -> ListenAddress {
        ListenAddress { address: self.bind, port: self.port }
    }
}
