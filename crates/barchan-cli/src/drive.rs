//! A run on its way: what `barchan run` and `barchan restart` do alike.

use crate::args::RunControlArgs;
use crate::failure::{Failure, note, print};
use crate::interrupt;
use crate::progress::Display;
use crate::ranks;
use crate::report;
use crate::watched::Watched;
use barchan::comm::Communicator;
use barchan::output::human::{counted, grouped, short, typed};
use barchan::output::{CheckpointFolder, OutputError, Summary};
use barchan::run::{DumpError, Run, RunError, RunFailure};
use barchan::scene::{Scene, Time};
use std::io::ErrorKind;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::Instant;

/// Does `work` on every rank that was asked for. From here on Ctrl-C is heard.
pub(crate) fn on_ranks(
    control: &RunControlArgs,
    work: impl Fn(Box<dyn Communicator>) -> Result<(), Failure> + Sync,
) -> Result<(), Failure> {
    interrupt::listen()?;
    ranks::on_each(control.ranks, control.threads, work)
}

/// Fails where the scene, or the number of ranks, has no room for what was asked for.
pub(crate) fn refuse(control: &RunControlArgs, scene: &Scene, ranks: usize) -> Result<(), Failure> {
    if ranks > 1 && !control.dump_problem.is_empty() {
        return Err(cannot_dump(DumpError::Ranks { ranks }));
    }
    if ranks > 1 && control.view.is_some() {
        return Err(Failure::Input(format!(
            "--view is for a run on one rank, and this one has {ranks}; barchan view DIR shows the frames of a run on \
             any number of them while they are written"
        )));
    }
    control.options().fit(scene).map_err(|error| Failure::Input(format!("--steps: {error}")))?;
    let steps = control.options().steps_of(scene).unwrap_or(0);
    if steps > Time::MOST_STEPS {
        let most = grouped(Time::MOST_STEPS);
        return Err(Failure::Input(format!("the end is {} steps away; a run has at most {most}", grouped(steps))));
    }
    match control.asks_for_checkpoints() {
        Some(option) if scene.checkpoint.keep == 0 => Err(Failure::Input(format!(
            "{option} asks for checkpoints, but the scene keeps none (checkpoint.keep is 0): keep at least one, such as \
             2, or leave {option} out"
        ))),
        _ => Ok(()),
    }
}

pub(crate) fn cannot_dump(error: DumpError) -> Failure {
    over(Failure::Input(format!("--dump-problem: {error}")))
}

/// How a rank speaks to the user, if it does.
pub(crate) struct Voice {
    pub(crate) rank: usize,
    pub(crate) ranks: usize,
    quiet: bool,
    json: bool,
    /// Whether a page is made of the run.
    report: bool,
}

impl Voice {
    /// The voice of this rank.
    pub(crate) fn of(control: &RunControlArgs, comm: &dyn Communicator) -> Self {
        let &RunControlArgs { quiet, json, no_report, .. } = control;
        Self { rank: comm.rank(), ranks: comm.size(), quiet, json, report: !no_report }
    }

    /// One rank speaks for all.
    pub(crate) fn speaks(&self) -> bool {
        self.rank == 0
    }
}

/// Steps a run to its end, with something to watch, and tells what came out.
pub(crate) fn drive(
    mut run: Run,
    voice: &Voice,
    path: &Path,
    dumps: &[u64],
    mut watched: Option<Watched>,
) -> Result<(), Failure> {
    let speaks = voice.speaks();
    let mut display = Display::new(voice.quiet || !speaks, run.origin().step.unwrap_or(0), run.share());
    let result = run.complete(|progress| {
        display.show(progress);
        if let Some(trouble) = progress.trouble {
            display.interject(format_args!("WARNING: {trouble}"));
        }
        let stops = watched.as_mut().map_or_else(interrupt::requested, |watched| watched.stepped(progress));
        if stops { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    interrupt::be_quiet();
    let (mut summary, failure) = match result {
        Ok(summary) => (summary, None),
        Err(RunFailure { summary, error: RunError::Output(error) }) => {
            let remedy = remedy(&error, path);
            let failure = unwritten(error, voice);
            (*summary, Some(remedy.iter().fold(failure, |failure, remedy| failure.with_advice(remedy))))
        }
        Err(failure) => (*failure.summary, Some(Failure::from(failure.error))),
    };
    // Of many bodies the page takes as long as many steps.
    let warning = (speaks && voice.report).then(|| {
        display.after("writing report.html");
        let began = Instant::now();
        let warning = report::after_run(path, failure.as_ref());
        summary.seconds.report = began.elapsed().as_secs_f64();
        warning
    });
    display.clear();
    for step in dumps.iter().filter(|step| **step > summary.steps + u64::from(failure.is_some())) {
        note(format_args!("the problem of step {step} is not written: the run did not get there"));
    }
    warning.flatten().iter().for_each(note);
    // The file is there already, but for the time of the page; a disk that is full by now must not cost it.
    let file = path.join("summary.json");
    if speaks && voice.report && file.exists() {
        let _ = summary.write(&file);
    }
    let printed = if speaks { tell(voice, &summary, path) } else { Ok(()) };
    let outcome = match failure {
        Some(failure) => Err(failure.told()),
        None if summary.interrupted => {
            if speaks {
                note(interrupted(&summary, path));
            }
            Err(Failure::Interrupted)
        }
        None => printed,
    };
    // When everything is written and told. Nobody waits for viewers but this: whoever wants the directory now
    // can have it.
    if let Some(mut watched) = watched {
        watched.over(path);
        drop(run);
        watched.see_off(voice.quiet);
    }
    outcome
}

/// What to say after an interrupt, and how to go on.
fn interrupted(summary: &Summary, path: &Path) -> String {
    let step = grouped(summary.steps);
    let mut text = format!("interrupted after step {step}; everything up to there is written");
    let path = typed(path);
    match summary.checkpoints.last {
        Some(step) if step == summary.steps => text += &format!(", and `barchan restart {path}` goes on"),
        Some(step) => text += &format!(", and `barchan restart {path}` goes on after step {}", grouped(step)),
        None => {}
    }
    text
}

/// A full disk ends a run, and need not be the end of it.
fn remedy(error: &OutputError, path: &Path) -> Option<String> {
    let OutputError::Io { source, .. } = error else { return None };
    if !matches!(source.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded) {
        return None;
    }
    // The disk knows, whatever this rank has heard.
    let last = CheckpointFolder::of_run(path).steps().ok().and_then(|steps| steps.last().copied());
    let path = typed(path);
    Some(match last {
        Some(step) => {
            format!("Free some space, and `barchan restart {path}` goes on after step {}", grouped(step))
        }
        None => format!("Free some space; there is no checkpoint yet, so that `barchan restart {path}` begins anew"),
    })
}

/// A file that could not be written. Disks are full and files are missing on one machine of many, so it
/// counts which rank has found it so.
pub(crate) fn unwritten(error: OutputError, voice: &Voice) -> Failure {
    let &Voice { rank, ranks, .. } = voice;
    let of_rank = ranks > 1 && matches!(error, OutputError::Io { .. });
    let failure = Failure::from(error);
    if of_rank { failure.of_rank(rank, ranks) } else { failure }
}

/// A run that has not come to its first step.
pub(crate) fn over(failure: Failure) -> Failure {
    interrupt::be_quiet();
    failure
}

/// A line before anything is done: large scenes take a while to build.
pub(crate) fn announce(voice: &Voice, scene: &Scene, steps: Option<u64>) {
    if voice.quiet || !voice.speaks() {
        return;
    }
    let walls = scene.body.iter().filter(|body| body.shape.is_unbounded()).count();
    let ranks = if voice.ranks == 1 { String::new() } else { format!("{} ranks of ", voice.ranks) };
    let steps = match steps.zip(scene.time.step.fixed()) {
        Some((steps, h)) => format!("{} of {} s", counted(steps, "step", "steps"), short(h)),
        None => "steps as long as what happens allows".to_owned(),
    };
    note(format_args!(
        "{}: {}, {steps}, {ranks}{}",
        scene.name,
        counted(scene.body_count() - walls as u64, "body", "bodies"),
        counted(rayon::current_num_threads() as u64, "thread", "threads"),
    ));
}

/// The results, and where they are.
pub(crate) fn tell(voice: &Voice, summary: &Summary, path: &Path) -> Result<(), Failure> {
    let files = whereabouts(path);
    if voice.json {
        let json = serde_json::to_string(summary);
        let json = json.map_err(|error| Failure::Failed(format!("cannot write the summary as JSON: {error}")))?;
        note(files);
        print(&(json + "\n"))
    } else {
        print(&format!("{}{files}\n", summary.table()))
    }
}

/// Only names files that are there: a run that failed early has no picture.
fn whereabouts(path: &Path) -> String {
    let mut text = format!("files        {}", path.display());
    let mut open = Vec::new();
    if path.join("report.html").exists() {
        open.push("report.html");
    }
    if path.join("picture.png").exists() {
        open.push("picture.png");
    }
    if path.join("frames.pvd").exists() {
        open.push("frames.pvd in ParaView");
    }
    if !open.is_empty() {
        text += &format!(": open {}", open.join(", or "));
    }
    text
}
