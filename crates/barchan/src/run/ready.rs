//! A run that can go on, before anything of its directory is touched: whoever wants to watch it, say, can
//! make sure of that first.

use super::recorder::Recorder;
use super::resume::{Found, agree_to_resume, all_strict, blame, find, note_restart, open, record, summary_of_end};
use super::{DumpError, Origin, ResumeError, Run, RunOptions, check_dumps};
use crate::checkpoint::{CheckpointHead, CheckpointWriter, Taken, engine, read_part};
use crate::comm::Communicator;
use crate::output::human::short;
use crate::output::{RunDirectory, Summary};
use crate::scene::Scene;
use crate::step::Simulation;
use std::collections::BTreeSet;
use std::path::Path;
use std::time::Instant;

/// What a look at a run has found.
pub enum Readiness {
    /// It can go on.
    Ready(Box<Ready>),
    /// It has come to its end already: its summary. (On rank 0; others have an empty one.)
    AtEnd(Box<Summary>),
}

/// A run that can go on. Nothing of its directory is touched, but no other process can write it.
pub struct Ready {
    started: Instant,
    comm: Box<dyn Communicator>,
    directory: RunDirectory,
    /// With what the options say.
    scene: Scene,
    options: RunOptions,
    /// `None` where it has to begin anew.
    found: Option<Found>,
    origin: Origin,
}

impl Ready {
    /// Looks for where the run in a directory can go on. All ranks call this.
    ///
    /// # Errors
    /// As for [`Run::resume`].
    pub fn find(path: &Path, options: &RunOptions, mut comm: Box<dyn Communicator>) -> Result<Readiness, ResumeError> {
        let started = Instant::now();
        comm.stage("restart");
        let (directory, mut scene) = open(path, &mut *comm)?;
        options.fit(&scene)?;
        options.apply(&mut scene);
        let mut origin = Origin::default();
        let found = find(&directory, &scene, &mut *comm, &mut origin.passed_over)?;
        let is_at_end = match &found {
            Some(Found { head, .. }) => {
                refuse_to_go_back(&scene, head)?;
                head.is_end && scene.time.is_over(head.step, head.time)
            }
            // A run without checkpoints may have come to its end, too.
            None => true,
        };
        if is_at_end && let Some(summary) = summary_of_end(&directory, &scene, &mut *comm) {
            return Ok(Readiness::AtEnd(Box::new(summary)));
        }
        if found.is_none() {
            refuse_to_lose(&directory, &mut *comm)?;
        }
        let options = *options;
        Ok(Readiness::Ready(Box::new(Self { started, comm, directory, scene, options, found, origin })))
    }

    /// The scene that it runs.
    pub fn scene(&self) -> &Scene {
        &self.scene
    }

    /// The communicator.
    pub fn comm(&mut self) -> &mut dyn Communicator {
        &mut *self.comm
    }

    /// Whether [`Run::dump_problems`] can write the problems of these steps.
    ///
    /// # Errors
    /// As for that.
    pub fn check_dumps(&self, steps: &[u64]) -> Result<(), DumpError> {
        let done = self.found.as_ref().map_or(0, |found| found.head.step);
        check_dumps(steps, done, self.scene.time.steps(), self.comm.size())
    }

    /// Goes on. All ranks call this.
    ///
    /// # Errors
    /// If the directory cannot be written; on all ranks then.
    pub fn go(self) -> Result<Run, ResumeError> {
        let Self { started, mut comm, directory, scene, options, found, mut origin } = self;
        let Some(Found { head, past, part }) = found else {
            return begin_anew(&directory, &scene, &options, comm, origin);
        };
        let folder = directory.checkpoints();
        let (tally, spent) = record(part.as_ref(), &folder, &head, &mut *comm)?;
        let mut simulation = match part {
            Some(part) => Simulation::resume(&scene, part.state, &head.cuts(), comm)?,
            None => {
                let read = |rank| read_part(&folder, &head, rank);
                let read =
                    |rank| read(rank).map(|part| part.state).map_err(|damage| blame(&folder, &head, rank, &damage));
                Simulation::resume_redistributed(&scene, head.parts.len(), read, comm)?
            }
        };
        let taken = Taken { step: head.step, is_end: head.is_end };
        let recorder = Recorder::resume(directory.clone(), &scene, (head.step, past), spent, &mut simulation)?;
        origin.restarts = note_restart(&directory, head.step, simulation.comm())?;
        origin.step = Some(head.step);
        origin.ranks = Some(head.parts.len()).filter(|&ranks| ranks != simulation.comm().size());
        origin.engine = Some(head.engine).filter(|other| *other != engine());
        Ok(Run {
            strict: all_strict(&options, simulation.comm()),
            started,
            seconds_before: spent.total,
            seconds_start: spent.start + started.elapsed().as_secs_f64(),
            writer: Some(CheckpointWriter::new(folder, scene.checkpoint, Some(taken))),
            tally,
            recorder: Some(recorder),
            dumps: BTreeSet::new(),
            trouble: None,
            origin,
            simulation,
            scene,
        })
    }
}

/// A run cannot end before the step that it has come to.
fn refuse_to_go_back(scene: &Scene, head: &CheckpointHead) -> Result<(), ResumeError> {
    let passed = |at: String, end: String| Err(ResumeError::Passed { at, end });
    match scene.time.steps() {
        Some(total) if head.step > total => passed(format!("step {}", head.step), format!("step {total}")),
        // The last step reaches the end, and the one before does not.
        None if head.time - head.length > scene.time.end => {
            passed(format!("{} s", short(head.time)), format!("{} s", short(scene.time.end)))
        }
        _ => Ok(()),
    }
}

/// A run that came to an end has results, and without a checkpoint they could only be thrown away.
fn refuse_to_lose(directory: &RunDirectory, comm: &mut dyn Communicator) -> Result<(), ResumeError> {
    let summary = if comm.rank() == 0 { directory.read_summary() } else { None };
    let refused = match summary.filter(|summary| !summary.interrupted && summary.steps > 0) {
        Some(summary) => Err(ResumeError::Refused(format!(
            "{} came to its end at step {}, and has kept no checkpoint to go on from: to run it anew and further, take \
             its scene.toml to another directory",
            directory.path().display(),
            summary.steps
        ))),
        None => Ok(()),
    };
    agree_to_resume(comm, refused)
}

/// Begins anew, in the same directory: there is nothing to go on from.
fn begin_anew(
    directory: &RunDirectory,
    scene: &Scene,
    options: &RunOptions,
    comm: Box<dyn Communicator>,
    origin: Origin,
) -> Result<Run, ResumeError> {
    // The scene says all the rest already.
    let options = RunOptions { strict: options.strict, ..RunOptions::default() };
    let mut run = Run::start_on(scene, &options, comm)?;
    run.record_by(|| {
        directory.clear()?;
        Ok(directory.clone())
    })?;
    let restarts = note_restart(directory, 0, run.simulation.comm())?;
    run.origin = Origin { restarts, step: Some(0), ..origin };
    Ok(run)
}
