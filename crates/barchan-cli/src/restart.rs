//! `barchan restart`: a run that was ended, however that came about, goes on.

use crate::args::RestartArgs;
use crate::drive::{Voice, announce, cannot_dump, drive, on_ranks, over, refuse, tell};
use crate::failure::{Failure, note};
use crate::interrupt;
use crate::ranks;
use crate::watched::Watched;
use barchan::comm::Communicator;
use barchan::output::Summary;
use barchan::output::human::{counted, grouped};
use barchan::run::{DumpError, Readiness, Ready, ResumeError, Run, strictly};

/// Goes on with the run in a directory.
pub(crate) fn run(args: &RestartArgs) -> Result<(), Failure> {
    on_ranks(&args.control, |comm| on_rank(args, comm))
}

/// One rank of the run, which may be the only one.
fn on_rank(args: &RestartArgs, comm: Box<dyn Communicator>) -> Result<(), Failure> {
    let control = &args.control;
    let voice = Voice::of(control, &*comm);
    if voice.speaks() {
        interrupt::answer();
    }
    let found = Ready::find(&args.directory, &control.options(), comm).map_err(cannot)?;
    let mut ready = match found {
        Readiness::Ready(ready) => ready,
        Readiness::AtEnd(summary) => {
            if let Some(&step) = control.dump_problem.first() {
                return Err(cannot_dump(DumpError::Done { step, done: summary.steps }));
            }
            return at_end(args, &voice, &summary);
        }
    };
    // All that can be wrong comes before the directory is touched.
    let watched = prepare(args, &voice, &ready);
    let watched = ranks::agree(ready.comm(), watched).map_err(over)?;
    let run = ready.go().map_err(cannot)?;
    let run = run.dump_problems(control.dump_problem.iter().copied()).map_err(cannot_dump)?;
    if voice.speaks() {
        tell_origin(&run, voice.ranks);
    }
    announce(&voice, run.scene(), run.steps_total());
    drive(run, &voice, &args.directory, &control.dump_problem, watched)
}

/// Viewers, if the run can go on as it was asked to.
fn prepare(args: &RestartArgs, voice: &Voice, ready: &Ready) -> Result<Option<Watched>, Failure> {
    let control = &args.control;
    refuse(control, ready.scene(), voice.ranks)?;
    ready.check_dumps(&control.dump_problem).map_err(cannot_dump)?;
    Watched::start(control.view, ready.scene())
}

/// There is nothing left to do.
fn at_end(args: &RestartArgs, voice: &Voice, summary: &Summary) -> Result<(), Failure> {
    interrupt::be_quiet();
    if !voice.speaks() {
        return Ok(());
    }
    note(format_args!(
        "{} is at its end, after step {}; --steps N or --time T takes it further",
        args.directory.display(),
        grouped(summary.steps)
    ));
    tell(voice, summary, &args.directory)?;
    let strict = strictly(summary);
    // That it was strict is not remembered; what else went wrong at its end is.
    let verdict = strict.as_ref().err().map(ToString::to_string);
    match &summary.failure {
        Some(failure) if verdict.as_ref() != Some(failure) => {
            Err(Failure::Failed(format!("it failed at its end: {failure}")))
        }
        _ if args.control.strict => Ok(strict?),
        _ => Ok(()),
    }
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
            "NOTE: the run was on {}, and goes on with {ranks}: rounding changes, so its end will differ in the last bits \
             from one that never changed",
            counted(before as u64, "rank", "ranks")
        ));
    }
    note(match run.origin().step {
        Some(step @ 1..) => {
            let total = run.steps_total().map_or_else(String::new, |total| format!(" of {}", grouped(total)));
            format!("going on after step {}{total}", grouped(step))
        }
        _ => "there is no checkpoint to go on from: beginning anew".into(),
    });
}

/// Why a run cannot go on. Told before the rank leaves, and with it the communicator.
fn cannot(error: ResumeError) -> Failure {
    let failure = match error {
        ResumeError::Output(error) => error.into(),
        ResumeError::Scene(error) => error.into(),
        ResumeError::Elsewhere => Failure::Told(2),
        error => Failure::Input(error.to_string()),
    };
    over(failure).told()
}
