//! A whole run: a scene is stepped to its end, watched, and written down.
//!
//! This is what the command line and the bindings drive. The order of things is chosen so that
//! neither work nor results are lost: the world is built before any directory is touched, the
//! scene is on the disk before the first step, and however a run ends (at its end, stopped by
//! its observer, by a state that is not a number, by a full disk) what there is gets written,
//! the summary last.
//!
//! Ranks run together: each steps its part, values are those of all of them, and rank 0 writes. They
//! stop together and fail together, and one of them says why.
//!
//! ```
//! use barchan::run::{Run, RunOptions};
//! use barchan::scenario;
//! use std::ops::ControlFlow;
//!
//! let scene = scenario::find("bounce")?.scene(&[])?;
//! let run = Run::start(&scene, &RunOptions { steps: Some(100), ..RunOptions::default() })?;
//! // .record_in(RunDirectory::create("runs/bounce", false)?)? would leave files behind.
//! let summary = run.to_end(|progress| {
//!     assert!(progress.share <= 1.0);
//!     ControlFlow::Continue(())
//! })?;
//! assert_eq!(summary.steps, 100);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod background;
mod checkpoints;
mod failure;
mod frames;
mod options;
mod ready;
mod recorder;
mod resume;
mod spent;
mod tally;

pub use failure::{DumpError, RunError, RunFailure, strictly};
pub use frames::frame_count;
pub use options::RunOptions;
pub use ready::{Readiness, Ready};
pub use resume::{Origin, ResumeError, Resumption};

use crate::checkpoint::CheckpointWriter;
use crate::comm::{Communicator, Reduction, Solo};
use crate::output::{Attach, OutputError, RunDirectory, Summary, agree};
use crate::scene::{Scene, SceneError};
use crate::step::{Simulation, StepError, StepReport};
use crate::world::World;
use checkpoints::Votes;
use failure::check_dumps;
use recorder::Recorder;
use spent::Spent;
use std::collections::BTreeSet;
use std::io;
use std::ops::ControlFlow;
use std::time::Instant;
use tally::Tally;

/// What an observer is told after every step.
#[derive(Clone, Copy)]
pub struct Progress<'a> {
    /// Steps done.
    pub step: u64,
    /// Steps of the whole run; `None` where their length is chosen on the way.
    pub steps_total: Option<u64>,
    /// How much of the run is done, from 0 to 1.
    pub share: f64,
    /// Whether this was the last step.
    pub is_last: bool,
    /// Simulated time now.
    pub time: f64,
    /// Simulated time at the end of the run.
    pub end: f64,
    /// Steps so far that missed the solver's tolerance.
    pub missed: u64,
    /// The deepest overlap so far, in the smaller radius of its two bodies.
    pub worst_overlap: f64,
    /// Whether steps of a fixed length are too long for what happens.
    pub is_coarse: bool,
    /// Bodies so far that have left the cell and were removed.
    pub lost: u64,
    /// Bodies, contacts, iterations and residuals of this step, over all ranks, and the seconds of the
    /// slowest rank in each stage.
    pub report: &'a StepReport,
    /// This rank's state after it.
    pub world: &'a World,
    /// What has gone wrong since the step before without ending the run: a checkpoint could not be
    /// written. Known to rank 0.
    pub trouble: Option<&'a str>,
    /// This rank's simulation, to take frames of.
    pub simulation: &'a Simulation,
}

/// A run under way.
pub struct Run {
    scene: Scene,
    strict: bool,
    started: Instant,
    simulation: Simulation,
    tally: Tally,
    recorder: Option<Recorder>,
    /// Takes checkpoints, where there is a directory for them.
    writer: Option<CheckpointWriter>,
    /// Seconds of the run before it has gone on.
    seconds_before: f64,
    /// Seconds of building the world, or of going on.
    seconds_start: f64,
    origin: Origin,
    trouble: Option<String>,
    /// Steps whose problems are still to be written.
    dumps: BTreeSet<u64>,
}

impl Run {
    /// Builds the world. Nothing is written unless [`Run::record_in`] is called.
    ///
    /// # Errors
    /// If the scene cannot be used, or a fill finds no room.
    pub fn start(scene: &Scene, options: &RunOptions) -> Result<Self, SceneError> {
        Self::start_on(scene, options, Box::new(Solo))
    }

    /// Builds this rank's part of the world. From here on all ranks make the same calls.
    ///
    /// # Errors
    /// As for one rank, or if the ranks have different scenes, or if space cannot be divided as the
    /// scene says, or if the solver cannot work across ranks; on all ranks then, and the first that has
    /// found something says what.
    pub fn start_on(scene: &Scene, options: &RunOptions, comm: Box<dyn Communicator>) -> Result<Self, SceneError> {
        let started = Instant::now();
        options.fit(scene)?;
        let mut scene = scene.clone();
        options.apply(&mut scene);
        let simulation = Simulation::on_ranks(&scene, comm)?;
        let seconds_start = started.elapsed().as_secs_f64();
        Ok(Self { started, seconds_start, ..Self::of(&scene, options, simulation) })
    }

    /// A run of a simulation that has taken no step yet and was made in another way, of the materials and
    /// with the options of `scene`. That says how far it goes and what is written. The run goes on from its
    /// checkpoints as any other, but its scene alone cannot repeat it. All ranks call this.
    pub fn of(scene: &Scene, options: &RunOptions, mut simulation: Simulation) -> Self {
        let mut scene = scene.clone();
        options.apply(&mut scene);
        Self {
            strict: resume::all_strict(options, simulation.comm()),
            started: Instant::now(),
            tally: Tally::default(),
            recorder: None,
            writer: None,
            seconds_before: 0.0,
            seconds_start: 0.0,
            origin: Origin::default(),
            trouble: None,
            dumps: BTreeSet::new(),
            simulation,
            scene,
        }
    }

    /// Writes down the scene and the first frame, and from then on everything. For one rank alone.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub fn record_in(mut self, directory: RunDirectory) -> Result<Self, OutputError> {
        self.record_by(|| Ok(directory))?;
        Ok(self)
    }

    /// As [`Run::record_in`], for any number of ranks: rank 0 makes the directory, and all write into
    /// it.
    ///
    /// # Errors
    /// If a file cannot be written; on all ranks then.
    pub fn record_by(&mut self, make: impl FnOnce() -> Result<RunDirectory, OutputError>) -> Result<(), OutputError> {
        let comm = self.simulation.comm();
        comm.stage("output");
        let directory = make_together(comm, make)?;
        let folder = directory.checkpoints();
        self.recorder = Some(Recorder::start(directory, &self.scene, &mut self.simulation)?);
        self.writer = Some(CheckpointWriter::new(folder, self.scene.checkpoint, None));
        Ok(())
    }

    /// Writes the contact problems of these steps, counted from 1, before they are solved: to
    /// `problem-STEP.txt` in the directory of [`Run::record_in`].
    ///
    /// # Errors
    /// If the run does not have such a step, or has done it before it went on, or has several ranks.
    pub fn dump_problems(mut self, steps: impl IntoIterator<Item = u64>) -> Result<Self, DumpError> {
        self.dumps.extend(steps);
        let done = self.tally.steps;
        let total = self.steps_total();
        let ranks = self.simulation.comm().size();
        check_dumps(&self.dumps, done, total, ranks)?;
        Ok(self)
    }

    /// Where it is written down, on every rank; `None` if it is not.
    pub fn directory(&self) -> Option<&RunDirectory> {
        self.recorder.as_ref().map(Recorder::directory)
    }

    /// Steps of the whole run; `None` where their length is chosen on the way.
    pub fn steps_total(&self) -> Option<u64> {
        self.scene.time.steps()
    }

    /// How much of it is done, from 0 to 1.
    pub fn share(&self) -> f64 {
        self.scene.time.share(self.tally.steps, self.tally.time)
    }

    /// Whether it has come to its end.
    fn is_over(&self) -> bool {
        self.scene.time.is_over(self.tally.steps, self.tally.time)
    }

    /// Steps to the end, or until `observe`, which is called after every step, breaks off on any
    /// rank.
    ///
    /// # Errors
    /// If the state stops being finite, a file cannot be written, or a strict run has steps
    /// that missed the tolerance. The summary of what was done comes with the error. If a rank
    /// fails, all do, and one of them says why (see [`RunError::is_elsewhere`]).
    pub fn to_end(mut self, observe: impl FnMut(&Progress<'_>) -> ControlFlow<()>) -> Result<Summary, RunFailure> {
        self.complete(observe)
    }

    /// As [`Run::to_end`], and keeps the communicator: the ranks stay together until the run is
    /// dropped, so that each can say what it has to say before the first of them leaves.
    ///
    /// # Errors
    /// As for [`Run::to_end`].
    pub fn complete(&mut self, observe: impl FnMut(&Progress<'_>) -> ControlFlow<()>) -> Result<Summary, RunFailure> {
        let advanced = self.advance(observe);
        if let (Err(_), Some(recorder)) = (&advanced, &mut self.recorder) {
            recorder.finish_after_failure(&mut self.simulation);
        }
        let result = advanced.and_then(|()| self.end());
        self.finish_pending_checkpoint();
        let mut summary = self.summary();
        let strict_result = self.check_strict(&summary);
        let failure = result.as_ref().err().or(strict_result.as_ref().err());
        summary.failure = failure.map(|error| error.in_words(self.simulation.comm()));
        let written = self.recorder.as_ref().map_or(Ok(()), |recorder| recorder.write_summary(&summary));
        let written = agree(self.simulation.comm(), written);
        // The first error is the one to report.
        let result = result.and_then(|()| Ok(written?)).and(strict_result);
        match failure::one_speaks(result, self.simulation.comm()) {
            Ok(()) => Ok(summary),
            Err(error) => Err(RunFailure { summary: Box::new(summary), error }),
        }
    }

    fn advance(&mut self, mut observe: impl FnMut(&Progress<'_>) -> ControlFlow<()>) -> Result<(), RunError> {
        while !self.is_over() {
            self.dump_problem()?;
            let report = self.step()?;
            self.tally.add(&report, self.simulation.world.time);
            let written = match &mut self.recorder {
                Some(recorder) => recorder.step(&self.tally, &report, &mut self.simulation),
                None => Ok(()),
            };
            self.trouble = self.writer.as_mut().and_then(CheckpointWriter::trouble);
            let stop = written.is_ok() && observe(&self.progress(&report)).is_break();
            let votes = self.vote(stop, written)?;
            if votes.stop {
                break;
            }
            self.update_checkpoints(&votes)?;
        }
        Ok(())
    }

    /// A step of all ranks. What this one was not waiting, it was busy.
    fn step(&mut self) -> Result<StepReport, StepError> {
        let waiting = |simulation: &mut Simulation| simulation.comm().traffic().waiting;
        let before = waiting(&mut self.simulation);
        let start = Instant::now();
        let report = self.simulation.step()?;
        let waited = waiting(&mut self.simulation) - before;
        self.tally.busy += (start.elapsed().as_secs_f64() - waited).max(0.0);
        Ok(report)
    }

    /// Whether any rank wants to stop, whether rank 0's clock asks for a checkpoint, and whether any rank
    /// is busy with one. If one could not write, all fail. And frames of which all ranks have written
    /// their parts are completed.
    fn vote(&mut self, stop: bool, written: Result<(), OutputError>) -> Result<Votes, OutputError> {
        let comm = self.simulation.comm();
        comm.stage("output");
        let due = comm.rank() == 0 && self.writer.as_ref().is_some_and(CheckpointWriter::due_by_time);
        let busy = self.writer.as_ref().is_some_and(CheckpointWriter::is_busy);
        let [stop, failed, due, busy] = [stop, written.is_err(), due, busy].map(|vote| f64::from(u8::from(vote)));
        // The fewest, by way of the most.
        let frames = -(self.recorder.as_ref().map_or(0, Recorder::frames_written) as f64);
        let mut votes = [stop, failed, due, busy, frames];
        comm.all_reduce(Reduction::Max, &mut votes);
        written?;
        if let Some(recorder) = &mut self.recorder {
            recorder.complete_frames(-votes[4] as usize);
        }
        let [stop, failed, due, busy, _] = votes.map(|vote| vote > 0.0);
        if failed { Err(OutputError::Elsewhere { is_input: false }) } else { Ok(Votes { stop, due, busy }) }
    }

    /// Writes the problem of the next step, if it was asked for. Posing it changes nothing: the step
    /// poses the same once more.
    fn dump_problem(&mut self) -> Result<(), OutputError> {
        let step = self.tally.steps + 1;
        match &mut self.recorder {
            Some(recorder) if self.dumps.contains(&step) => recorder.problem(step, self.simulation.pose().0),
            _ => Ok(()),
        }
    }

    fn progress<'a>(&'a self, report: &'a StepReport) -> Progress<'a> {
        Progress {
            step: self.tally.steps,
            steps_total: self.steps_total(),
            share: self.share(),
            is_last: self.is_over(),
            time: self.tally.time,
            end: self.scene.time.last(),
            missed: self.tally.missed(),
            worst_overlap: self.tally.worst_overlap.radii,
            is_coarse: self.tally.lengths.is_coarse(),
            lost: self.tally.lost.bodies,
            report,
            world: &self.simulation.world,
            trouble: self.trouble.as_deref(),
            simulation: &self.simulation,
        }
    }

    /// The last frame and the picture.
    fn record_end(&mut self) -> Result<(), RunError> {
        self.simulation.comm().stage("output");
        let simulation = &mut self.simulation;
        self.recorder.as_mut().map_or(Ok(()), |recorder| recorder.finish(self.tally.steps, simulation))?;
        Ok(())
    }

    fn summary(&mut self) -> Summary {
        let mut summary = self.tally.summary(&self.scene, &mut self.simulation);
        summary.interrupted = !self.is_over();
        let spent = self.spent();
        summary.seconds = spent.stages(summary.seconds, spent.total);
        let Origin { restarts, step, passed_over, .. } = self.origin.clone();
        (summary.restarts, summary.restarted_at, summary.passed_over) = (restarts, step, passed_over);
        summary.checkpoints = self.writer.as_ref().map(CheckpointWriter::summary).unwrap_or_default();
        summary
    }

    /// What the run has spent so far.
    fn spent(&self) -> Spent {
        let total = self.seconds_before + self.started.elapsed().as_secs_f64();
        let recorded = self.recorder.as_ref().map_or_else(Spent::default, |recorder| recorder.spent);
        Spent { start: self.seconds_start, total, ..recorded }
    }

    fn check_strict(&self, summary: &Summary) -> Result<(), RunError> {
        if self.strict { strictly(summary) } else { Ok(()) }
    }
}

/// Rank 0 makes the directory, and tells the others where it is.
fn make_together(
    comm: &mut dyn Communicator,
    make: impl FnOnce() -> Result<RunDirectory, OutputError>,
) -> Result<RunDirectory, OutputError> {
    if comm.size() == 1 {
        return make();
    }
    let made =
        if comm.rank() == 0 { make().and_then(|made| Ok((path_text(&made)?, made))).map(Some) } else { Ok(None) };
    let made = agree(comm, made)?;
    let mut path = made.as_ref().map(|(path, _)| path.clone().into_bytes()).unwrap_or_default();
    comm.broadcast(&mut path);
    Ok(made.map_or_else(|| RunDirectory::join(String::from_utf8_lossy(&path).as_ref()), |(_, directory)| directory))
}

/// A path that can be told to other machines.
fn path_text(directory: &RunDirectory) -> Result<String, OutputError> {
    let path = directory.path();
    let unreadable = || io::Error::new(io::ErrorKind::InvalidInput, "its name is not UTF-8");
    path.to_str().map(String::from).ok_or_else(unreadable).attach("tell other ranks of", path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::StoredFrames;
    use crate::output::scratch::{Scratch, names};
    use crate::scenario;
    use barchan_cone::Problem;
    use std::fs;

    fn scene(name: &str, set: &[(&str, &str)]) -> Scene {
        let set: Vec<_> = set.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        scenario::find(name).unwrap().scene(&set).unwrap()
    }

    fn steps(steps: u64) -> RunOptions {
        RunOptions { steps: Some(steps), ..RunOptions::default() }
    }

    fn carry_on(_: &Progress<'_>) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    #[test]
    fn a_run_leaves_all_its_files() {
        let scratch = Scratch::new();
        let scene = scene("sedimentation", &[("bodies", "50"), ("output.frame_interval", "0.004")]);
        let directory = RunDirectory::create(scratch.path(), true).unwrap();
        let run = Run::start(&scene, &steps(10)).unwrap().record_in(directory).unwrap();
        let mut seen = Vec::new();
        let summary = run
            .to_end(|progress| {
                seen.push((progress.step, progress.steps_total));
                ControlFlow::Continue(())
            })
            .unwrap();
        assert_eq!(seen, (1..=10).map(|k| (k, Some(10))).collect::<Vec<_>>());
        assert_eq!((summary.steps, summary.bodies, summary.interrupted), (10, 50, false));
        let frames = ["checkpoints", "contacts.pvd", "frames", "frames.pvd"];
        let others = ["open_in_paraview.py", "picture.png", "scene.toml", "steps.csv", "summary.json", "walls.pvd"];
        assert_eq!(scratch.names(), [&frames[..], &others[..]].concat());
        // Bodies and contacts at 0, 4 and 8 ms, and the end; walls that stand still.
        assert_eq!(names(&scratch.path().join("frames")).len(), 9);
        let stored = StoredFrames::open(scratch.path()).unwrap();
        let steps: Vec<_> = (0..4).map(|k| stored.read(k).unwrap().step).collect();
        assert_eq!(steps, [0, 4, 8, 10]);
        assert_eq!(fs::read_to_string(scratch.path().join("steps.csv")).unwrap().lines().count(), 11);
        let written = fs::read_to_string(scratch.path().join("summary.json")).unwrap();
        assert_eq!(serde_json::from_str::<Summary>(&written).unwrap().state_hash, summary.state_hash);
        // The scene ends where the run did, and repeats it.
        let again = Scene::from_toml(&fs::read_to_string(scratch.path().join("scene.toml")).unwrap(), "text").unwrap();
        let again = Run::start(&again, &RunOptions::default()).unwrap().to_end(carry_on).unwrap();
        assert_eq!((again.steps, again.state_hash), (10, summary.state_hash));
    }

    #[test]
    fn an_observer_can_stop_it() {
        let scratch = Scratch::new();
        let directory = RunDirectory::create(scratch.path(), true).unwrap();
        let run = Run::start(&scene("bounce", &[]), &steps(100)).unwrap().record_in(directory).unwrap();
        let stop = |p: &Progress<'_>| if p.step == 7 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
        let summary = run.to_end(stop).unwrap();
        assert!(summary.interrupted && summary.steps == 7);
        assert!(scratch.path().join("picture.png").exists() && scratch.path().join("summary.json").exists());
        // At its very end there is nothing left to interrupt.
        let run = Run::start(&scene("bounce", &[]), &steps(7)).unwrap();
        assert!(!run.to_end(stop).unwrap().interrupted);
    }

    #[test]
    fn no_steps_are_a_run_too() {
        let summary = Run::start(&scene("bounce", &[]), &steps(0)).unwrap().to_end(carry_on).unwrap();
        assert_eq!((summary.steps, summary.time, summary.solver.iterations_mean), (0, 0.0, 0.0));
        assert!(!summary.interrupted);
    }

    #[test]
    fn problems_are_written_and_the_run_does_not_notice() {
        let scratch = Scratch::new();
        let scene = scene("sedimentation", &[("bodies", "150"), ("broad_phase.reorder_interval", "7")]);
        let plain = Run::start(&scene, &steps(150)).unwrap().to_end(carry_on).unwrap();
        let directory = RunDirectory::create(scratch.path(), true).unwrap();
        let run = Run::start(&scene, &steps(150)).unwrap().record_in(directory).unwrap();
        let summary = run.dump_problems([141, 150, 1, 150]).unwrap().to_end(carry_on).unwrap();
        assert_eq!(summary.state_hash, plain.state_hash);
        let names = scratch.names();
        let names: Vec<_> = names.iter().filter(|name| name.starts_with("problem")).collect();
        assert_eq!(names, ["problem-1.txt", "problem-141.txt", "problem-150.txt"]);
        let file = fs::File::open(scratch.path().join("problem-141.txt")).unwrap();
        let problem = Problem::read(std::io::BufReader::new(file), "dump").unwrap();
        // The very problem that the step solved, though bodies are re-ordered at its beginning.
        let mut simulation = Simulation::from_scene(&scene).unwrap();
        (0..141).for_each(|_| drop(simulation.step().unwrap()));
        assert!(problem.contacts() > 100);
        assert_eq!(Some(problem), simulation.problem().map(|problem| problem.to_problem()));

        let run = Run::start(&scene, &steps(150)).unwrap();
        let error = run.dump_problems([7, 151]).err().unwrap();
        assert_eq!(error.to_string(), "there is no step 151: the run has 150, counted from 1");
        assert!(Run::start(&scene, &steps(150)).unwrap().dump_problems([0]).is_err());
    }

    #[test]
    fn strict_runs_fail_at_their_end() {
        let scene =
            scene("packing", &[("bodies", "60"), ("solver.tolerance", "1e-14"), ("solver.max_iterations", "1")]);
        let options = RunOptions { strict: true, ..steps(150) };
        let failure = Run::start(&scene, &options).unwrap().to_end(carry_on).unwrap_err();
        assert_eq!(failure.summary.steps, 150);
        assert!(failure.to_string().contains("of 150 steps missed the tolerance 1e-14"), "{failure}");
    }

    #[test]
    fn numbers_out_of_range_stop_it_and_leave_a_summary() {
        let scratch = Scratch::new();
        let directory = RunDirectory::create(scratch.path(), true).unwrap();
        let mut run = Run::start(&scene("bounce", &[]), &steps(100)).unwrap().record_in(directory).unwrap();
        run.simulation.world.gravity.z = -f64::MAX;
        let failure = run.to_end(carry_on).unwrap_err();
        assert!(matches!(failure.error, RunError::Step(StepError::Overflow { step: 1, body: 1 })), "{failure}");
        assert!(failure.summary.interrupted && failure.summary.steps == 0);
        assert_eq!(failure.summary.failure, Some(failure.error.to_string()));
        assert!(scratch.path().join("summary.json").exists() && !scratch.path().join("picture.png").exists());
    }
}
