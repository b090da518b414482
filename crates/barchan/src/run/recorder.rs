//! When a run writes what: the scene at once, a row a step, frames at their interval, the
//! picture and the summary at the end. How each is written is the matter of [`crate::output`].

use super::frames::{Frames, Past};
use super::spent::Spent;
use super::tally::Tally;
use crate::checkpoint::Before;
use crate::frame::Frame;
use crate::output::{
    FrameOptions, HistoryWriter, JointsWriter, OutputError, PictureOptions, RunDirectory, StepRow, StepsWriter,
    Summary, agree,
};
use crate::scene::Scene;
use crate::step::{Simulation, StepReport};
use crate::world::Joint;
use barchan_cone::ProblemRef;
use std::time::Instant;

/// Writes the files of a run, and counts the seconds that takes. Every rank has one, and all of them
/// make the same calls: they fail together.
#[derive(Debug)]
pub(super) struct Recorder {
    directory: RunDirectory,
    /// On rank 0 only.
    tables: Option<Tables>,
    frames: Frames,
    pub(super) spent: Spent,
}

/// What grows with every step.
#[derive(Debug)]
struct Tables {
    steps: StepsWriter,
    /// `None` unless the scene asks for it.
    history: Option<HistoryWriter>,
    /// `None` unless the scene has joints.
    joints: Option<JointsWriter>,
}

impl Recorder {
    /// Writes the scene, and takes the frame of time zero.
    pub(super) fn start(
        directory: RunDirectory,
        scene: &Scene,
        simulation: &mut Simulation,
    ) -> Result<Self, OutputError> {
        let start = Instant::now();
        let comm = simulation.comm();
        let opened = Self::open(directory, scene, comm.rank(), comm.size());
        let mut recorder = agree(comm, opened)?;
        let taken = recorder.frames.start(simulation);
        agree(simulation.comm(), taken)?;
        recorder.spent.output.add(start);
        Ok(recorder)
    }

    /// Where it writes.
    pub(super) fn directory(&self) -> &RunDirectory {
        &self.directory
    }

    fn open(directory: RunDirectory, scene: &Scene, rank: usize, ranks: usize) -> Result<Self, OutputError> {
        let tables = if rank == 0 {
            directory.write_scene(&scene.to_toml())?;
            let history = if scene.output.history { Some(directory.history()?) } else { None };
            let joints = if scene.joint.is_empty() { None } else { Some(directory.joints()?) };
            Some(Tables { steps: directory.steps()?, history, joints })
        } else {
            None
        };
        let writer = directory.frames(FrameOptions::of(scene), rank, ranks)?;
        let frames = Frames::new(writer, scene, directory.path(), rank, ranks)?;
        Ok(Self { directory, tables, frames, spent: Spent::default() })
    }

    /// Goes on in a directory after a step, with the frames of its past: what came after it goes, and
    /// checkpoints that could not be used are set aside. `spent` is what the run had spent by then.
    pub(super) fn resume(
        directory: RunDirectory,
        scene: &Scene,
        (step, past): (u64, Past),
        spent: Spent,
        simulation: &mut Simulation,
    ) -> Result<Self, OutputError> {
        let opened = Self::reopen(directory, scene, step, past, simulation);
        Ok(Self { spent, ..agree(simulation.comm(), opened)? })
    }

    fn reopen(
        directory: RunDirectory,
        scene: &Scene,
        step: u64,
        past: Past,
        simulation: &mut Simulation,
    ) -> Result<Self, OutputError> {
        let comm = simulation.comm();
        let rank = comm.rank();
        let ranks = comm.size();
        let mut writer = directory.resume_frames(FrameOptions::of(scene), rank, ranks, past.frames)?;
        let tables = if rank == 0 {
            directory.remove_results()?;
            let history = if scene.output.history { Some(directory.resume_history(step)?) } else { None };
            let joints = if scene.joint.is_empty() { None } else { Some(directory.resume_joints(step)?) };
            let steps = directory.resume_steps(step)?;
            directory.write_scene(&scene.to_toml())?;
            directory.checkpoints().set_aside_after(step)?;
            directory.checkpoints().prune(step, usize::MAX)?;
            Some(Tables { steps, history, joints })
        } else {
            None
        };
        let mut now = Frame::default();
        now.capture(simulation, rank as u32);
        writer.drop_others(&now)?;
        let frames = Frames::new(writer, scene, directory.path(), rank, ranks)?.after(past, simulation.world.time);
        Ok(Self { directory, tables, frames, spent: Spent::default() })
    }

    /// Brings all rows to their files, and says what must be on the disk before a checkpoint counts. All
    /// ranks call this, and fail together.
    pub(super) fn before_checkpoint(&mut self, simulation: &mut Simulation) -> Result<Before, OutputError> {
        let frames = self.frames.completion(simulation)?;
        let before = self.flush().map(|before| Before { frames, ..before });
        agree(simulation.comm(), before)
    }

    fn flush(&mut self) -> Result<Before, OutputError> {
        let directories = self.directory.directories();
        let Some(tables) = &mut self.tables else { return Ok(Before { directories, ..Before::default() }) };
        tables.flush()?;
        let mut files = vec![tables.steps.handle()?];
        if let Some(history) = &tables.history {
            files.push(history.handle()?);
        }
        if let Some(joints) = &tables.joints {
            files.push(joints.handle()?);
        }
        Ok(Before { files, directories, ..Before::default() })
    }

    /// Takes a frame if it is time for one, then writes the row. What cannot be written is known to one
    /// rank only, and the caller must tell the others.
    pub(super) fn step(
        &mut self,
        tally: &Tally,
        report: &StepReport,
        simulation: &mut Simulation,
    ) -> Result<(), OutputError> {
        let start = Instant::now();
        let framed = self.frames.step(tally.steps, simulation);
        // All ranks come to the sums of the row, whatever their disks say.
        let mut row = StepRow::of(tally.steps, tally.time, report, simulation.energy());
        self.spent.output.add(start);
        // The time of this row's own writing is told by the next one, and so is a checkpoint after it.
        row.seconds_output = self.spent.output.tell();
        row.seconds_checkpoint = self.spent.checkpoint.tell();
        let start = Instant::now();
        let joints = &simulation.world.joints;
        let result = self.tables.as_mut().map_or(Ok(()), |tables| tables.push(&row, report, joints));
        self.spent.output.add(start);
        framed.and(result)
    }

    /// Frames that were due so far.
    pub(super) fn due_frames(&self) -> Past {
        self.frames.due()
    }

    /// Frames of which this rank has written its part.
    pub(super) fn frames_written(&self) -> usize {
        self.frames.finished()
    }

    /// Every rank has written its part of so many frames.
    pub(super) fn complete_frames(&mut self, frames: usize) {
        self.frames.complete(frames);
    }

    /// After a failure of all ranks: the last rows reach their files, and frames that are on their way come
    /// to an end. All ranks call this.
    pub(super) fn finish_after_failure(&mut self, simulation: &mut Simulation) {
        let start = Instant::now();
        // The failure that led here is the one to report.
        let _ = self.tables.as_mut().map_or(Ok(()), Tables::flush);
        self.frames.finish_after_failure(simulation);
        self.spent.output.add(start);
    }

    /// Writes a contact problem.
    pub(super) fn problem(&mut self, step: u64, problem: ProblemRef<'_>) -> Result<(), OutputError> {
        let start = Instant::now();
        let result = self.directory.write_problem(step, problem);
        self.spent.output.add(start);
        result
    }

    /// Writes the last rows, the last frame, if it is not there yet, and the picture.
    pub(super) fn finish(&mut self, step: u64, simulation: &mut Simulation) -> Result<(), OutputError> {
        let start = Instant::now();
        let flushed = self.tables.as_mut().map_or(Ok(()), Tables::flush);
        agree(simulation.comm(), flushed)?;
        self.frames.finish(step, simulation)?;
        let (world, comm) = simulation.world_and_comm();
        let drawn = self.directory.write_picture(comm, &world.bodies, &PictureOptions::default());
        agree(comm, drawn)?;
        self.spent.output.add(start);
        Ok(())
    }

    /// Writes the summary, on rank 0. The caller must tell the others how it went.
    pub(super) fn write_summary(&self, summary: &Summary) -> Result<(), OutputError> {
        if self.tables.is_some() { self.directory.write_summary(summary) } else { Ok(()) }
    }
}

impl Tables {
    fn push(&mut self, row: &StepRow, report: &StepReport, joints: &[Joint]) -> Result<(), OutputError> {
        if let Some(history) = &mut self.history {
            history.push(row.step, &report.solver.history)?;
        }
        if let Some(table) = &mut self.joints {
            table.push(row.step, row.time, joints)?;
        }
        self.steps.push(row)
    }

    fn flush(&mut self) -> Result<(), OutputError> {
        self.steps.flush()?;
        self.history.as_mut().map_or(Ok(()), HistoryWriter::flush)?;
        self.joints.as_mut().map_or(Ok(()), JointsWriter::flush)
    }
}
