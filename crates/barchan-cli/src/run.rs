//! `barchan run`: a scene to its end, with something to watch and a summary.

use crate::args::RunArgs;
use crate::failure::{Failure, note, print};
use crate::interrupt;
use crate::progress::Display;
use crate::ranks;
use crate::report;
use crate::target::Target;
use crate::watched::Watched;
use barchan::comm::Communicator;
use barchan::output::human::{grouped, short};
use barchan::output::{OutputError, RunDirectory, Summary, default_path};
use barchan::run::{DumpError, Run, RunError, RunFailure, RunOptions};
use barchan::scene::Scene;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

/// Runs a scenario or a scene file.
pub(crate) fn run(args: &RunArgs) -> Result<(), Failure> {
    interrupt::listen()?;
    ranks::on_each(args.ranks, args.threads, |comm| on_rank(args, comm))
}

/// One rank of the run, which may be the only one.
fn on_rank(args: &RunArgs, mut comm: Box<dyn Communicator>) -> Result<(), Failure> {
    let target = prepare(args, comm.size());
    let target = ranks::agree(&mut *comm, target)?;
    simulate(args, &target, comm)
}

/// The scene, if it can be run so.
fn prepare(args: &RunArgs, ranks: usize) -> Result<Target, Failure> {
    let target = Target::load(&args.target, overrides(args, ranks))?;
    if ranks > 1 && !args.dump_problem.is_empty() {
        return Err(cannot_dump(DumpError::Ranks { ranks }));
    }
    if ranks > 1 && args.view.is_some() {
        return Err(Failure::Input(format!(
            "--view is for a run on one rank, and this one has {ranks}; barchan view DIR shows the frames of a run on \
             any number of them while they are written"
        )));
    }
    Ok(target)
}

fn cannot_dump(error: DumpError) -> Failure {
    Failure::Input(format!("--dump-problem: {error}"))
}

/// What is set, with the options that are short for a key.
fn overrides(args: &RunArgs, ranks: usize) -> Vec<(String, String)> {
    let mut set = args.overrides.on_ranks(ranks);
    if let Some(solver) = args.solver {
        set.push(("solver.name".into(), solver.0.name().into()));
    }
    if let Some(end) = &args.time {
        set.push(("time.end".into(), end.clone()));
    }
    if let Some(steps) = args.checkpoint_steps {
        set.push(("checkpoint.steps".into(), steps.to_string()));
    }
    if let Some(seconds) = &args.checkpoint_seconds {
        set.push(("checkpoint.seconds".into(), seconds.clone()));
    }
    set
}

fn simulate(args: &RunArgs, target: &Target, comm: Box<dyn Communicator>) -> Result<(), Failure> {
    let scene = &target.scene;
    let options = RunOptions { steps: args.steps, strict: args.strict };
    let (rank, ranks) = (comm.rank(), comm.size());
    let speaks = rank == 0;
    let quiet = args.quiet || !speaks;
    if speaks {
        interrupt::answer();
    }
    if !quiet {
        announce(scene, args.steps.unwrap_or_else(|| scene.time.steps()), ranks);
    }
    // The world first: a scene that cannot be built must not cost an earlier run its directory,
    let run = Run::start_on(scene, &options, comm).map_err(|error| over(target.blame(error)))?;
    let mut run = run.dump_problems(args.dump_problem.iter().copied()).map_err(cannot_dump)?;
    // and neither must a port that is taken.
    let watched = args.view.map(|port| Watched::start(scene, run.steps_total(), port)).transpose().map_err(over)?;
    let mut path = PathBuf::new();
    let recorded = run.record_by(|| {
        let directory = match &args.out {
            Some(path) => RunDirectory::create(path, args.force)?,
            None => RunDirectory::create(default_path(&scene.name)?, false)?,
        };
        path = directory.path().to_owned();
        Ok(directory)
    });
    // Failures are told before the run goes, and with it the line that keeps the ranks together.
    recorded.map_err(|error| over(unwritten(error, rank, ranks)).told())?;

    let voice = Voice { rank, ranks, quiet: args.quiet, json: args.json, report: !args.no_report };
    drive(&mut run, &voice, &path, &args.dump_problem, watched)
}

/// How a rank speaks to the user, if it does.
pub(crate) struct Voice {
    pub(crate) rank: usize,
    pub(crate) ranks: usize,
    pub(crate) quiet: bool,
    pub(crate) json: bool,
    /// Whether a page is made of the run.
    pub(crate) report: bool,
}

impl Voice {
    /// One rank speaks for all.
    pub(crate) fn speaks(&self) -> bool {
        self.rank == 0
    }
}

/// Steps a run to its end, with something to watch, and tells what came out.
pub(crate) fn drive(
    run: &mut Run,
    voice: &Voice,
    path: &Path,
    dumps: &[u64],
    mut watched: Option<Watched>,
) -> Result<(), Failure> {
    let &Voice { rank, ranks, .. } = voice;
    let speaks = voice.speaks();
    let mut display = Display::new(voice.quiet || !speaks, run.steps_total());
    let result = run.complete(|progress| {
        display.show(progress);
        if let Some(trouble) = progress.trouble {
            display.interject(format_args!("WARNING: {trouble}"));
        }
        let stops = watched.as_mut().map_or_else(interrupt::requested, |watched| watched.stepped(progress));
        if stops { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    display.clear();
    interrupt::be_quiet();
    let (summary, failure) = match result {
        Ok(summary) => (summary, None),
        Err(RunFailure { summary, error: RunError::Output(error) }) => (*summary, Some(unwritten(error, rank, ranks))),
        Err(failure) => (*failure.summary, Some(Failure::from(failure.error))),
    };
    for step in dumps.iter().filter(|step| **step > summary.steps + u64::from(failure.is_some())) {
        note(format_args!("the problem of step {step} is not written: the run did not get there"));
    }
    if speaks && voice.report {
        report::after_run(path, failure.as_ref());
    }
    let printed = if speaks { tell(voice.json, &summary, path) } else { Ok(()) };
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
    // When everything is written and told: nobody waits for viewers but this.
    if let Some(watched) = watched {
        watched.end(path, voice.quiet);
    }
    outcome
}

/// What to say after an interrupt, and how to go on.
fn interrupted(summary: &Summary, path: &Path) -> String {
    let mut text = format!("interrupted after step {}; everything up to there is written", summary.steps);
    match summary.checkpoints.last {
        Some(step) if step == summary.steps => text += &format!(", and `barchan restart {}` goes on", path.display()),
        Some(step) => text += &format!(", and `barchan restart {}` goes on after step {step}", path.display()),
        None => {}
    }
    text
}

/// A file that could not be written. Disks are full and files are missing on one machine of many, so it
/// counts which rank has found it so.
fn unwritten(error: OutputError, rank: usize, ranks: usize) -> Failure {
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
pub(crate) fn announce(scene: &Scene, steps: u64, ranks: usize) {
    let threads = rayon::current_num_threads();
    let walls = scene.body.iter().filter(|body| body.shape.bounding_radius().is_none()).count();
    let bodies = scene.body_count() - walls as u64;
    note(format_args!(
        "{}: {} {}, {} steps of {} s, {}{threads} thread{}",
        scene.name,
        grouped(bodies),
        if bodies == 1 { "body" } else { "bodies" },
        grouped(steps),
        short(scene.time.step),
        if ranks == 1 { String::new() } else { format!("{ranks} ranks of ") },
        if threads == 1 { "" } else { "s" },
    ));
}

/// The results, and where they are.
pub(crate) fn tell(json: bool, summary: &Summary, path: &Path) -> Result<(), Failure> {
    let files = whereabouts(path);
    if json {
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
