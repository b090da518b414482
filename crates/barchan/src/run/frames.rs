//! When a run writes frames, and when those of all ranks are complete.
//!
//! Each rank writes its pieces in the background. How many of them are on the disk is told after every
//! step, with the votes on whether to stop: rank 0 then completes the frames of which every rank has
//! written its piece.

use super::background::{Background, Job};
use crate::comm::Reduction;
use crate::output::{FrameWriter, OutputError, agree};
use crate::scene::{Scene, Time};
use crate::step::Simulation;
use std::path::Path;

/// Frames and their rhythm.
#[derive(Debug)]
pub(super) struct Frames {
    background: Background,
    rank: usize,
    time: Time,
    interval: f64,
    /// The step of the last frame.
    last: Option<u64>,
    /// Frames that rank 0 has completed or is about to; those of one rank are complete at once.
    complete: usize,
}

impl Frames {
    /// Frames of this rank go to `writer`, which writes into the directory `run`.
    pub(super) fn new(
        mut writer: FrameWriter,
        scene: &Scene,
        run: &Path,
        rank: usize,
        ranks: usize,
    ) -> Result<Self, OutputError> {
        let frames = writer.count();
        let background = Background::start(run, frames, move |job| match job {
            Job::Piece(frame) if ranks == 1 => writer.write(frame).map(drop),
            Job::Piece(frame) => writer.write_piece(frame).map(drop),
            Job::Complete(frames) => writer.complete(*frames),
        })?;
        let complete = if rank == 0 && ranks > 1 { frames } else { usize::MAX };
        Ok(Self { background, rank, time: scene.time, interval: scene.output.frame_interval, last: None, complete })
    }

    /// Takes the frame of time zero, unless the last state is the only frame.
    pub(super) fn start(&mut self, simulation: &Simulation) -> Result<(), OutputError> {
        if self.interval > 0.0 { self.take(0, simulation) } else { Ok(()) }
    }

    /// Takes a frame if it is time for one. An error may be known to this rank only, and the caller
    /// must tell the others.
    pub(super) fn step(&mut self, step: u64, simulation: &Simulation) -> Result<(), OutputError> {
        if self.interval > 0.0 && frame_due(step, self.time.step, self.interval) {
            self.take(step, simulation)
        } else {
            self.background.poll()
        }
    }

    /// Takes the last frame, if it is not there yet, and waits until all ranks have written all.
    pub(super) fn finish(&mut self, step: u64, simulation: &mut Simulation) -> Result<(), OutputError> {
        let taken = if self.last == Some(step) { Ok(()) } else { self.take(step, simulation) };
        let written = taken.and_then(|()| self.background.settle());
        let comm = simulation.line().1;
        agree(comm, written)?;
        self.complete(self.finished());
        agree(comm, self.background.settle())
    }

    /// After a failure of all ranks: the frames that were taken are written as far as they can be.
    pub(super) fn settle(&mut self, simulation: &mut Simulation) {
        // The failure that led here is the one to report.
        let _ = self.background.settle();
        let mut finished = [-(self.finished() as f64)];
        simulation.line().1.all_reduce(Reduction::Max, &mut finished);
        self.complete(-finished[0] as usize);
        let _ = self.background.settle();
    }

    /// Pieces that this rank has written, as far as it has heard.
    pub(super) fn finished(&self) -> usize {
        self.background.finished()
    }

    /// Every rank has written so many pieces.
    pub(super) fn complete(&mut self, frames: usize) {
        if frames > self.complete {
            self.complete = frames;
            self.background.complete(frames);
        }
    }

    fn take(&mut self, step: u64, simulation: &Simulation) -> Result<(), OutputError> {
        self.last = Some(step);
        self.background.write(|frame| frame.capture(simulation, self.rank as u32))
    }
}

/// Whether a multiple of the interval lies in this step, its beginning excluded. A hair of
/// slack: ten steps of 0.1 count as one of 1.
fn frame_due(step: u64, h: f64, interval: f64) -> bool {
    let intervals = |step: u64| (step as f64 * h / interval * (1.0 + 1e-12)).floor();
    step > 0 && intervals(step) > intervals(step - 1)
}

/// How many frames a scene asks for: at time zero, at the interval, and at the end; or at the end
/// alone.
pub fn frame_count(scene: &Scene) -> u64 {
    let (interval, steps) = (scene.output.frame_interval, scene.time.steps());
    if interval <= 0.0 {
        return 1;
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
        assert_eq!(frame_count(&Scene::default()), 1);
    }
}
