//! When a run writes what: the scene at once, a row a step, frames at their interval, the
//! picture and the summary at the end. How each is written is the matter of [`crate::output`].

use super::tally::Tally;
use crate::comm::Communicator;
use crate::output::{
    FrameWriter, HistoryWriter, OutputError, PictureOptions, RunDirectory, StepRow, StepsWriter, Summary, agree,
};
use crate::problem::Problem;
use crate::scene::{Scene, Time};
use crate::step::{Simulation, StepReport};
use crate::world::World;
use std::time::Instant;

/// Writes the files of a run, and counts the seconds that takes. Every rank has one, and all of them
/// make the same calls: they fail together.
#[derive(Debug)]
pub(super) struct Recorder {
    directory: RunDirectory,
    /// On rank 0 only.
    tables: Option<Tables>,
    /// `None` if the scene wants no frames.
    frames: Option<Frames>,
    seconds: f64,
    /// The part of `seconds` that rows have told.
    told: f64,
}

/// What grows with every step.
#[derive(Debug)]
struct Tables {
    steps: StepsWriter,
    /// `None` unless the scene asks for it.
    history: Option<HistoryWriter>,
}

impl Recorder {
    /// Writes the scene and the frame of time zero.
    pub(super) fn start(
        directory: RunDirectory,
        scene: &Scene,
        world: &World,
        comm: &mut dyn Communicator,
    ) -> Result<Self, OutputError> {
        let start = Instant::now();
        let opened = Self::open(directory, scene, comm.rank(), comm.size());
        let mut recorder = agree(comm, opened)?;
        if let Some(frames) = &mut recorder.frames {
            frames.write(0, world, comm)?;
        }
        recorder.seconds = start.elapsed().as_secs_f64();
        Ok(recorder)
    }

    fn open(directory: RunDirectory, scene: &Scene, rank: usize, ranks: usize) -> Result<Self, OutputError> {
        let tables = if rank == 0 {
            directory.write_scene(&scene.to_toml())?;
            let history = if scene.output.history { Some(directory.history()?) } else { None };
            Some(Tables { steps: directory.steps()?, history })
        } else {
            None
        };
        let wants_frames = scene.output.frame_interval > 0.0;
        let frames = if wants_frames { Some(Frames::new(directory.frames(rank, ranks)?, scene)) } else { None };
        Ok(Self { directory, tables, frames, seconds: 0.0, told: 0.0 })
    }

    /// Writes the frame if it is time for one, then the row. A row that cannot be written is known to
    /// rank 0 only, and the caller must tell the others.
    pub(super) fn step(
        &mut self,
        tally: &Tally,
        report: &StepReport,
        simulation: &mut Simulation,
    ) -> Result<(), OutputError> {
        let start = Instant::now();
        if let Some(frames) = self.frames.as_mut().filter(|frames| frames.due(tally.steps)) {
            let (world, comm) = simulation.line();
            frames.write(tally.steps, world, comm)?;
        }
        let mut row = StepRow::of(tally.steps, tally.time, report, simulation.energy());
        // The time of this row's own writing is told by the next one.
        row.seconds_output = self.seconds + start.elapsed().as_secs_f64() - self.told;
        self.told += row.seconds_output;
        let result = self.tables.as_mut().map_or(Ok(()), |tables| tables.push(&row, report));
        self.seconds += start.elapsed().as_secs_f64();
        result
    }

    /// Writes a contact problem.
    pub(super) fn problem(&mut self, step: u64, problem: &Problem) -> Result<(), OutputError> {
        let start = Instant::now();
        let result = self.directory.write_problem(step, problem);
        self.seconds += start.elapsed().as_secs_f64();
        result
    }

    /// Writes the last frame, if it is not there yet, the last rows and the picture.
    pub(super) fn finish(&mut self, step: u64, world: &World, comm: &mut dyn Communicator) -> Result<(), OutputError> {
        let start = Instant::now();
        let flushed = self.tables.as_mut().map_or(Ok(()), Tables::flush);
        agree(comm, flushed)?;
        if let Some(frames) = self.frames.as_mut().filter(|frames| frames.last != step) {
            frames.write(step, world, comm)?;
        }
        let drawn = self.directory.write_picture(comm, &world.bodies, &PictureOptions::default());
        agree(comm, drawn)?;
        self.seconds += start.elapsed().as_secs_f64();
        Ok(())
    }

    /// Writes the summary, on rank 0. The caller must tell the others how it went.
    pub(super) fn write_summary(&self, summary: &Summary) -> Result<(), OutputError> {
        if self.tables.is_some() { self.directory.write_summary(summary) } else { Ok(()) }
    }

    /// Seconds spent on writing so far.
    pub(super) fn seconds(&self) -> f64 {
        self.seconds
    }
}

impl Tables {
    fn push(&mut self, row: &StepRow, report: &StepReport) -> Result<(), OutputError> {
        if let Some(history) = &mut self.history {
            history.push(row.step, &report.solver.history)?;
        }
        self.steps.push(row)
    }

    fn flush(&mut self) -> Result<(), OutputError> {
        self.steps.flush()?;
        self.history.as_mut().map_or(Ok(()), HistoryWriter::flush)
    }
}

/// Frames and their rhythm.
#[derive(Debug)]
struct Frames {
    writer: FrameWriter,
    time: Time,
    interval: f64,
    /// The step of the last frame.
    last: u64,
}

impl Frames {
    fn new(writer: FrameWriter, scene: &Scene) -> Self {
        Self { writer, time: scene.time, interval: scene.output.frame_interval, last: 0 }
    }

    /// Writes a frame together with the other ranks.
    fn write(&mut self, step: u64, world: &World, comm: &mut dyn Communicator) -> Result<(), OutputError> {
        self.last = step;
        comm.stage("output");
        let piece = self.writer.write_piece(&world.bodies, world.time);
        // What names the pieces comes after them.
        agree(comm, piece)?;
        let whole = if comm.rank() == 0 { self.writer.complete() } else { Ok(()) };
        agree(comm, whole)
    }

    fn due(&self, step: u64) -> bool {
        frame_due(step, self.time.step, self.interval)
    }
}

/// Whether a multiple of the interval lies in this step, its beginning excluded. A hair of
/// slack: ten steps of 0.1 count as one of 1.
fn frame_due(step: u64, h: f64, interval: f64) -> bool {
    let intervals = |step: u64| (step as f64 * h / interval * (1.0 + 1e-12)).floor();
    step > 0 && intervals(step) > intervals(step - 1)
}

/// How many frames a scene asks for: at time zero, at the interval, and at the end.
pub fn frame_count(scene: &Scene) -> u64 {
    let (interval, steps) = (scene.output.frame_interval, scene.time.steps());
    if interval <= 0.0 {
        return 0;
    }
    if interval <= scene.time.step {
        return steps.saturating_add(1);
    }
    let full = (steps as f64 * scene.time.step / interval * (1.0 + 1e-12)).floor() as u64;
    1 + full + u64::from(steps > 0 && !frame_due(steps, scene.time.step, interval))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_come_at_their_interval_and_are_foretold() {
        for (h, end, interval) in
            [(0.1, 1.0, 0.2), (1e-3, 0.6, 0.02), (0.1, 1.0, 0.3), (0.1, 1.0, 0.01), (0.1, 1.0, 5.0), (0.1, 0.0, 0.2)]
        {
            let mut scene = Scene { time: Time { step: h, end }, ..Scene::default() };
            scene.output.frame_interval = interval;
            let steps = scene.time.steps();
            let due = (1..=steps).filter(|&k| frame_due(k, h, interval)).count() as u64;
            let last = u64::from(steps > 0 && !frame_due(steps, h, interval));
            assert_eq!(frame_count(&scene), 1 + due + last, "{h} {end} {interval}");
        }
        assert!(frame_due(2, 0.1, 0.2) && !frame_due(1, 0.1, 0.2) && frame_due(20, 1e-3, 0.02));
        assert_eq!(frame_count(&Scene::default()), 0);
    }
}
