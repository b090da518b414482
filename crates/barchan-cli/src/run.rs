//! `barchan run`: a scene to its end, with something to watch and a summary.

use crate::args::RunArgs;
use crate::failure::{Failure, note, print};
use crate::interrupt;
use crate::progress::Display;
use crate::target::Target;
use barchan::output::human::{grouped, short};
use barchan::output::{RunDirectory, Summary, default_path};
use barchan::run::{Run, RunOptions, frame_count};
use barchan::scene::Scene;
use rayon::ThreadPoolBuilder;
use std::ops::ControlFlow;
use std::path::Path;

/// Runs a scenario or a scene file.
pub(crate) fn run(args: &RunArgs) -> Result<(), Failure> {
    let target = Target::load(&args.target, overrides(args))?;
    interrupt::listen()?;
    // All of it inside the pool: a parallel loop that is started from outside costs a change of
    // threads, and there are hundreds a step.
    let threads = args.threads.map_or(0, |n| n as usize);
    let pool = ThreadPoolBuilder::new().num_threads(threads).build();
    let pool = pool.map_err(|error| Failure::Failed(format!("cannot start the threads: {error}")))?;
    pool.install(|| simulate(args, &target))
}

/// What is set, with the options that are short for a key.
fn overrides(args: &RunArgs) -> Vec<(String, String)> {
    let mut set = args.overrides.set.clone();
    if let Some(solver) = args.solver {
        set.push(("solver.name".into(), solver.0.name().into()));
    }
    if let Some(end) = &args.time {
        set.push(("time.end".into(), end.clone()));
    }
    set
}

fn simulate(args: &RunArgs, target: &Target) -> Result<(), Failure> {
    let scene = &target.scene;
    let options = RunOptions { steps: args.steps, strict: args.strict };
    if !args.quiet {
        announce(scene, args.steps.unwrap_or_else(|| scene.time.steps()));
    }
    // The world first: a scene that cannot be built must not cost an earlier run its directory.
    let run = Run::start(scene, &options).map_err(|error| target.blame(error))?;
    let run = run.dump_problems(args.dump_problem.iter().copied());
    let run = run.map_err(|error| Failure::Input(format!("--dump-problem: {error}")))?;
    let directory = match &args.out {
        Some(path) => RunDirectory::create(path, args.force)?,
        None => RunDirectory::create(default_path(&scene.name)?, false)?,
    };
    let path = directory.path().to_owned();
    let run = run.record_in(directory)?;

    let mut display = Display::new(args.quiet, run.steps_total());
    let result = run.to_end(|progress| {
        display.show(progress);
        if interrupt::requested() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    display.clear();
    let (summary, failure) = match result {
        Ok(summary) => (summary, None),
        Err(failure) => (*failure.summary, Some(Failure::Failed(failure.error.to_string()))),
    };
    for step in args.dump_problem.iter().filter(|step| **step > summary.steps + u64::from(failure.is_some())) {
        note(format_args!("the problem of step {step} is not written: the run did not get there"));
    }
    let printed = tell(args, scene, &summary, &path);
    match failure {
        Some(failure) => Err(failure),
        None if summary.interrupted => {
            note(format_args!("interrupted after step {}; everything up to there is written", summary.steps));
            Err(Failure::Interrupted)
        }
        None => printed,
    }
}

/// A line before anything is done: large scenes take a while to build.
fn announce(scene: &Scene, steps: u64) {
    let threads = rayon::current_num_threads();
    let walls = scene.body.iter().filter(|body| body.shape.bounding_radius().is_none()).count();
    let bodies = scene.body_count() - walls as u64;
    note(format_args!(
        "{}: {} {}, {} steps of {} s, {threads} thread{}",
        scene.name,
        grouped(bodies),
        if bodies == 1 { "body" } else { "bodies" },
        grouped(steps),
        short(scene.time.step),
        if threads == 1 { "" } else { "s" },
    ));
}

/// The results, and where they are.
fn tell(args: &RunArgs, scene: &Scene, summary: &Summary, path: &Path) -> Result<(), Failure> {
    let files = whereabouts(scene, path);
    if args.json {
        let json = serde_json::to_string(summary);
        let json = json.map_err(|error| Failure::Failed(format!("cannot write the summary as JSON: {error}")))?;
        note(files);
        print(&(json + "\n"))
    } else {
        print(&format!("{}{files}\n", summary.table()))
    }
}

/// Only names files that are there: a run that failed early has no picture.
fn whereabouts(scene: &Scene, path: &Path) -> String {
    let mut text = format!("files        {}", path.display());
    let mut open = Vec::new();
    if path.join("picture.png").exists() {
        open.push("picture.png");
    }
    if frame_count(scene) > 0 && path.join("frames.pvd").exists() {
        open.push("frames.pvd in ParaView");
    }
    if !open.is_empty() {
        text += &format!(": open {}", open.join(", or "));
    }
    text
}
