//! `barchan bench`: the engine measured on this machine.

use crate::args::BenchArgs;
use crate::failure::{Failure, print};

/// The benches, by name.
const BENCHES: [&str; 7] = ["operator", "bed", "detect", "memory", "iterations", "scale", "huge"];

/// Runs the benches named, or all.
pub(crate) fn run(_args: &BenchArgs) -> Result<(), Failure> {
    print(&(BENCHES.join("\n") + "\n"))
}
