//! `barchan restart`: a run that was ended, however that came about, goes on.

use crate::args::RestartArgs;
use crate::failure::{Failure, note};
use crate::interrupt;
use crate::ranks;
use crate::run::{Voice, announce, drive, over, tell};
use barchan::comm::Communicator;
use barchan::output::human::grouped;
use barchan::run::{ResumeError, Resumption, Run, RunOptions, strictly};

/// Goes on with the run in a directory.
pub(crate) fn run(args: &RestartArgs) -> Result<(), Failure> {
    interrupt::listen()?;
    ranks::on_each(args.ranks, args.threads, |comm| on_rank(args, comm))
}

/// One rank of the run, which may be the only one.
fn on_rank(args: &RestartArgs, comm: Box<dyn Communicator>) -> Result<(), Failure> {
    let options = RunOptions { steps: args.steps, strict: args.strict };
    let (rank, ranks) = (comm.rank(), comm.size());
    let voice = Voice { rank, ranks, quiet: args.quiet, json: args.json, report: !args.no_report };
    if voice.speaks() {
        interrupt::answer();
    }
    let resumed = Run::resume(&args.directory, &options, comm).map_err(|error| over(cannot(error)).told())?;
    let mut run = match resumed {
        Resumption::Going(run) => run,
        Resumption::AtEnd(summary) => {
            interrupt::be_quiet();
            if !voice.speaks() {
                return Ok(());
            }
            note(format_args!(
                "{} is at its end, after step {}; --steps N takes it further",
                args.directory.display(),
                summary.steps
            ));
            tell(args.json, &summary, &args.directory)?;
            return if args.strict { Ok(strictly(&summary)?) } else { Ok(()) };
        }
    };
    if voice.speaks() {
        tell_origin(&run, ranks);
    }
    if voice.speaks() && !args.quiet {
        announce(run.scene(), run.steps_total(), voice.ranks);
    }
    drive(&mut run, &voice, &args.directory, &[], None)
}

/// Where it goes on from, and what it had to pass over.
fn tell_origin(run: &Run, ranks: usize) {
    for damage in &run.origin().passed_over {
        note(format_args!("WARNING: passed over {damage}"));
    }
    if let Some(engine) = &run.origin().engine {
        note(format_args!(
            "NOTE: the checkpoint was written by Barchan {engine}, and this is {}: results may differ in the last bits \
             from those of one of them alone",
            barchan::checkpoint::engine()
        ));
    }
    if let Some(before) = run.origin().ranks {
        note(format_args!(
            "NOTE: the run was on {before} rank{}, and goes on with {ranks}: rounding changes, so its end will differ in the \
             last bits from one that never changed",
            if before == 1 { "" } else { "s" }
        ));
    }
    note(match run.origin().step {
        Some(step @ 1..) => format!("going on after step {} of {}", grouped(step), grouped(run.steps_total())),
        _ => "there is no checkpoint to go on from: beginning anew".into(),
    });
}

/// Why a run cannot go on.
fn cannot(error: ResumeError) -> Failure {
    match error {
        ResumeError::Output(error) => error.into(),
        ResumeError::Scene(error) => error.into(),
        ResumeError::Elsewhere => Failure::Told(2),
        error => Failure::Input(error.to_string()),
    }
}
