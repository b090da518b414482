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
use crate::util::pack::{Pack, Unpacker};
use std::path::Path;
use std::sync::mpsc::Receiver;

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
    /// Frames that were there when the run went on.
    before: usize,
}

/// What a run that goes on after a checkpoint has of its frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Past {
    /// How many.
    pub(super) frames: usize,
    /// The step of the last.
    last: Option<u64>,
}

impl Past {
    /// Of the frames at `times` those that were due by then, and the one of the end of the run, if it is
    /// there: no step will come, so that it stays the last. What else may lie there was written because
    /// somebody had stopped the run, or after the checkpoint.
    ///
    /// # Errors
    /// If one that was due is not there, in words.
    pub(super) fn of(scene: &Scene, step: u64, times: &[f64]) -> Result<Self, String> {
        let Time { step: h, .. } = scene.time;
        let interval = scene.frame_interval();
        // Times are sums of steps, with the rounding of sums.
        let is_at = |k: usize, step: u64| times.get(k).is_some_and(|time| (time - step as f64 * h).abs() < 0.5 * h);
        let mut past = Self::default();
        if interval > 0.0 {
            for due_at in (0..=step).filter(|&step| step == 0 || frame_due(step, h, interval)) {
                let k = past.frames;
                let due = due_at as f64 * h;
                if !is_at(k, due_at) {
                    let found = times.get(k).map_or("is missing".into(), |time| format!("is of time {time}"));
                    return Err(format!("frame {k} {found}, where one of time {due} is expected"));
                }
                past = Self { frames: k + 1, last: Some(due_at) };
            }
        }
        let is_end = step == scene.time.steps() && past.last != Some(step);
        if is_end && is_at(past.frames, step) {
            past = Self { frames: past.frames + 1, last: Some(step) };
        }
        Ok(past)
    }

    /// Appends it, for other ranks.
    pub(super) fn pack(&self, out: &mut Vec<u8>) {
        (self.frames as u64).pack(out);
        self.last.pack(out);
    }

    /// Takes back what [`Past::pack`] wrote.
    pub(super) fn unpack(bytes: &[u8]) -> Option<Self> {
        let mut from = Unpacker::new(bytes);
        Some(Self { frames: usize::try_from(from.take::<u64>()?).ok()?, last: from.take()? })
    }
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
        let background = Background::start(run, move |job| match job {
            Job::Piece(frame) if ranks == 1 => writer.write(frame).map(drop),
            Job::Piece(frame) => writer.write_piece(frame).map(drop),
            Job::Complete(frames) => writer.complete(*frames),
        })?;
        let complete = if rank == 0 && ranks > 1 { 0 } else { usize::MAX };
        let time = scene.time;
        let interval = scene.frame_interval();
        Ok(Self { background, rank, time, interval, last: None, complete, before: 0 })
    }

    /// The same where some are there already.
    pub(super) fn after(self, past: Past) -> Self {
        Self { last: past.last, before: past.frames, complete: self.complete.max(past.frames), ..self }
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
        self.wait(taken, simulation)
    }

    /// Waits until all ranks have written all frames that were taken, if they could be taken. All ranks
    /// call this, and fail together.
    pub(super) fn wait(
        &mut self,
        taken: Result<(), OutputError>,
        simulation: &mut Simulation,
    ) -> Result<(), OutputError> {
        let written = taken.and_then(|()| self.background.wait_all());
        let comm = simulation.comm();
        agree(comm, written)?;
        self.complete(self.finished());
        agree(comm, self.background.wait_all())
    }

    /// A signal that comes when all frames that were taken are on the disk. Where ranks write them together,
    /// they are when this returns, and there is none. All ranks call this, and fail together.
    pub(super) fn completion(&mut self, simulation: &mut Simulation) -> Result<Option<Receiver<()>>, OutputError> {
        if simulation.comm().size() == 1 {
            return Ok(Some(self.background.completion()));
        }
        self.wait(Ok(()), simulation).map(|()| None)
    }

    /// After a failure of all ranks: the frames that were taken are written as far as they can be.
    pub(super) fn finish_after_failure(&mut self, simulation: &mut Simulation) {
        // The failure that led here is the one to report.
        let _ = self.background.wait_all();
        let mut finished = [-(self.finished() as f64)];
        simulation.comm().all_reduce(Reduction::Max, &mut finished);
        self.complete(-finished[0] as usize);
        let _ = self.background.wait_all();
    }

    /// Frames of which this rank has written its piece, as far as it has heard.
    pub(super) fn finished(&self) -> usize {
        self.before + self.background.finished()
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
    let interval = scene.frame_interval();
    let steps = scene.time.steps();
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
            let mut scene = Scene { time: Time { step: h, end, ..Time::default() }, ..Scene::default() };
            scene.output.frame_interval = Some(interval);
            let steps = scene.time.steps();
            let due = (1..=steps).filter(|&k| frame_due(k, h, interval)).count() as u64;
            let last = u64::from(steps > 0 && !frame_due(steps, h, interval));
            assert_eq!(frame_count(&scene), 1 + due + last, "{h} {end} {interval}");
        }
        let scene = |interval, end| {
            let mut scene = Scene { time: Time { step: 0.1, end, ..Time::default() }, ..Scene::default() };
            scene.output.frame_interval = Some(interval);
            scene
        };
        let past = |scene: &Scene, step, times: &[f64]| {
            Past::of(scene, step, times).map(|Past { frames, last }| (frames, last))
        };
        let times = [0.0, 0.3, 0.1 + 0.2 + 0.3, 0.7];
        assert_eq!(past(&scene(0.3, 1.0), 7, &times), Ok((3, Some(6))));
        // The end of the run has a frame of its own, until the run is to go further.
        assert_eq!(past(&scene(0.3, 0.7), 7, &times), Ok((4, Some(7))));
        assert_eq!(past(&scene(0.3, 1.0), 7, &times), Ok((3, Some(6))));
        assert_eq!(past(&scene(0.3, 0.6), 6, &times), Ok((3, Some(6))));
        assert_eq!(past(&scene(0.0, 1.0), 7, &[]), Ok((0, None)));
        assert_eq!(past(&scene(0.0, 0.7), 7, &[0.7]), Ok((1, Some(7))));
        // One of a later step, or none at all, is not that of the end; others cannot be missing.
        assert_eq!(past(&scene(0.3, 0.7), 7, &[0.0, 0.3, 0.6, 0.9]), Ok((3, Some(6))));
        assert_eq!(past(&scene(0.0, 0.7), 7, &[]), Ok((0, None)));
        let told = |times: &[f64]| past(&scene(0.3, 1.0), 7, times).unwrap_err();
        assert_eq!(told(&[]), "frame 0 is missing, where one of time 0 is expected");
        assert!(told(&[0.0, 0.6]).starts_with("frame 1 is of time 0.6, where one of time 0.3"));
        let mut bytes = Vec::new();
        let sent = Past { frames: 4, last: Some(7) };
        sent.pack(&mut bytes);
        assert_eq!(Past::unpack(&bytes), Some(sent));
        assert!(frame_due(2, 0.1, 0.2) && !frame_due(1, 0.1, 0.2) && frame_due(20, 1e-3, 0.02));
    }
}
