//! How a run goes: what `barchan run` and `barchan restart` take alike.

use super::numbers::{count, interval, moment, ordinal, whole};
use barchan::run::RunOptions;
use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct RunControlArgs {
    /// Steps of the whole run, counted from its beginning, for scenes with a fixed time.step. [default: as many as reach the
    /// scene's end]
    #[arg(long, value_name = "N", conflicts_with = "time", value_parser = count::<u64>, allow_negative_numbers = true)]
    pub(crate) steps: Option<u64>,
    /// Simulated time at the end of the whole run, in seconds. [default: the scene's]
    #[arg(long, value_name = "T", value_parser = moment, allow_negative_numbers = true)]
    pub(crate) time: Option<f64>,
    /// Threads of each rank. The result does not depend on it. [default: all there are, and 1 with --ranks]
    #[arg(long, value_name = "N", value_parser = whole::<u32, 1, 4096>, allow_negative_numbers = true)]
    pub(crate) threads: Option<u32>,
    /// Spreads the run over so many ranks inside this process, to try or test what it does across
    /// ranks without MPI. For speed use --threads, or mpirun.
    #[arg(long, value_name = "N", value_parser = whole::<u32, 1, 4096>, allow_negative_numbers = true)]
    pub(crate) ranks: Option<u32>,
    /// Prints one JSON object on standard output, everything else on standard error.
    #[arg(long)]
    pub(crate) json: bool,
    /// Shows no progress.
    #[arg(long)]
    pub(crate) quiet: bool,
    /// Fails (after writing everything) if any step of the run missed the solver's tolerance.
    #[arg(long)]
    pub(crate) strict: bool,
    /// Takes a checkpoint every so many steps, to go on from with `barchan restart`: the scene's key
    /// checkpoint.steps. 0 for none by steps. [default: the scene's, which is 0 if it does not say]
    #[arg(long, value_name = "N", value_parser = count::<u64>, allow_negative_numbers = true)]
    pub(crate) checkpoint_steps: Option<u64>,
    /// Takes one when so many seconds have passed since the last: the scene's key
    /// checkpoint.seconds. The first comes after 3 s, and waits double until they are that long. 0 for none by
    /// time. [default: the scene's, which is 600 if it does not say]
    #[arg(long, value_name = "S", value_parser = interval, allow_negative_numbers = true)]
    pub(crate) checkpoint_seconds: Option<f64>,
    /// Writes no report.html; `barchan report` can do so later.
    #[arg(long)]
    pub(crate) no_report: bool,
    /// Writes the contact problem of this step, from 1, to problem-STEP.txt in the run directory,
    /// before it is solved; may be repeated. `barchan solve` reads it.
    #[arg(long, value_name = "STEP", value_parser = ordinal::<u64>, allow_negative_numbers = true)]
    pub(crate) dump_problem: Vec<u64>,
    /// Serves a page on this machine that shows the run, and lets viewers hold it, step it and slow it
    /// down; its address goes to standard error. The result does not depend on it. A short run waits up to ten
    /// seconds at its end for a browser to come. Port 0 is any that is free. [default port: 8737, or any that is
    /// free if that is taken]
    #[arg(long, value_name = "PORT", num_args = 0..=1, require_equals = true)]
    pub(crate) view: Option<Option<u16>>,
}

impl RunControlArgs {
    /// How the run departs from what its scene says.
    pub(crate) fn options(&self) -> RunOptions {
        RunOptions {
            steps: self.steps,
            end: self.time,
            checkpoint_steps: self.checkpoint_steps,
            checkpoint_seconds: self.checkpoint_seconds,
            strict: self.strict,
        }
    }

    /// The option that asks for checkpoints, if one does.
    pub(crate) fn asks_for_checkpoints(&self) -> Option<&'static str> {
        match (self.checkpoint_steps, self.checkpoint_seconds) {
            (Some(1..), _) => Some("--checkpoint-steps"),
            (_, Some(seconds)) if seconds > 0.0 => Some("--checkpoint-seconds"),
            _ => None,
        }
    }
}
