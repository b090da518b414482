//! When a run writes frames, and when those of all ranks are complete.
//!
//! Each rank writes its pieces in the background. How many of them are on the disk is told after every
//! step, with the votes on whether to stop: rank 0 then completes the frames of which every rank has
//! written its piece.

use super::background::{Background, Job};
use crate::checkpoint::CheckpointHead;
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
    rhythm: Rhythm,
    /// The step of the last frame.
    last: Option<u64>,
    /// Frames that were due so far.
    due: Past,
    /// Frames that rank 0 has completed or is about to; those of one rank are complete at once.
    complete: usize,
    /// Frames that were there when the run went on.
    before: usize,
}

/// When frames are due: with the steps in which a multiple of the interval lies, their beginnings excluded.
#[derive(Clone, Copy, Debug)]
struct Rhythm {
    time: Time,
    interval: f64,
    /// Whole intervals that had passed when steps of chosen length were last looked at.
    passed: f64,
}

impl Rhythm {
    fn of(scene: &Scene) -> Self {
        Self { time: scene.time, interval: scene.frame_interval(), passed: 0.0 }
    }

    /// The same where a run goes on at this time.
    fn after(self, time: f64) -> Self {
        if self.interval > 0.0 { Self { passed: intervals(time, self.interval), ..self } } else { self }
    }

    /// Whether a frame is due after this step, which is the next and ends at this time.
    fn is_due(&mut self, step: u64, time: f64) -> bool {
        if self.interval <= 0.0 {
            return false;
        }
        match self.time.step.fixed() {
            Some(h) => frame_due(step, h, self.interval),
            None => {
                let before = std::mem::replace(&mut self.passed, intervals(time, self.interval));
                self.passed > before
            }
        }
    }
}

/// What a run that goes on after a checkpoint has of its frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Past {
    /// How many.
    pub(super) frames: usize,
    /// The step of the last.
    pub(super) last: Option<u64>,
}

impl Past {
    /// Of the frames at `times` those that were due by then, and the one of the end of the run, if it is
    /// there: no step will come, so that it stays the last. What else may lie there was written because
    /// somebody had stopped the run, or after the checkpoint.
    ///
    /// # Errors
    /// If one that was due is not there, in words.
    pub(super) fn of(scene: &Scene, head: &CheckpointHead, times: &[f64]) -> Result<Self, String> {
        let mut past = match scene.time.step.fixed() {
            Some(h) => Self::at_fixed_steps(h, scene.frame_interval(), head.step, times)?,
            None => Self::as_noted(head, times)?,
        };
        // Times are sums of steps, with the rounding of sums.
        let is_at = |time: &f64| (time - head.time).abs() < 0.5 * head.length;
        let is_end = scene.time.is_over(head.step, head.time) && past.last != Some(head.step);
        if is_end && times.get(past.frames).is_some_and(is_at) {
            past = Self { frames: past.frames + 1, last: Some(head.step) };
        }
        Ok(past)
    }

    /// Of steps of one length.
    fn at_fixed_steps(h: f64, interval: f64, step: u64, times: &[f64]) -> Result<Self, String> {
        let mut past = Self::default();
        if interval <= 0.0 {
            return Ok(past);
        }
        let is_at = |k: usize, step: u64| times.get(k).is_some_and(|time| (time - step as f64 * h).abs() < 0.5 * h);
        for due_at in (0..=step).filter(|&step| step == 0 || frame_due(step, h, interval)) {
            let k = past.frames;
            let due = due_at as f64 * h;
            if !is_at(k, due_at) {
                let found = times.get(k).map_or("is missing".into(), |time| format!("is of time {time}"));
                return Err(format!("frame {k} {found}, where one of time {due} is expected"));
            }
            past = Self { frames: k + 1, last: Some(due_at) };
        }
        Ok(past)
    }

    /// Of steps whose lengths were chosen, the checkpoint has counted them.
    fn as_noted(head: &CheckpointHead, times: &[f64]) -> Result<Self, String> {
        let frames = usize::try_from(head.frames).unwrap_or(usize::MAX);
        if times.len() < frames {
            return Err(format!("there are {} frames, where {frames} are expected", times.len()));
        }
        match times[..frames].iter().find(|time| **time > head.time + 0.5 * head.length) {
            Some(time) => Err(format!("a frame is of time {time}, after the checkpoint of time {}", head.time)),
            None => Ok(Self { frames, last: head.last_frame }),
        }
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
        let rhythm = Rhythm::of(scene);
        Ok(Self { background, rank, rhythm, last: None, due: Past::default(), complete, before: 0 })
    }

    /// The same at this time, where some are there already.
    pub(super) fn after(self, past: Past, time: f64) -> Self {
        let complete = self.complete.max(past.frames);
        let rhythm = self.rhythm.after(time);
        Self { last: past.last, due: past, before: past.frames, complete, rhythm, ..self }
    }

    /// Frames that were due so far.
    pub(super) fn due(&self) -> Past {
        self.due
    }

    /// Takes the frame of time zero, unless the last state is the only frame.
    pub(super) fn start(&mut self, simulation: &Simulation) -> Result<(), OutputError> {
        if self.rhythm.interval > 0.0 { self.take_due(0, simulation) } else { Ok(()) }
    }

    /// Takes a frame if it is time for one. An error may be known to this rank only, and the caller
    /// must tell the others.
    pub(super) fn step(&mut self, step: u64, simulation: &Simulation) -> Result<(), OutputError> {
        if self.rhythm.is_due(step, simulation.world.time) {
            self.take_due(step, simulation)
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

    fn take_due(&mut self, step: u64, simulation: &Simulation) -> Result<(), OutputError> {
        self.due = Past { frames: self.due.frames + 1, last: Some(step) };
        self.take(step, simulation)
    }

    fn take(&mut self, step: u64, simulation: &Simulation) -> Result<(), OutputError> {
        self.last = Some(step);
        self.background.write(|frame| frame.capture(simulation, self.rank as u32))
    }
}

/// Whether a multiple of the interval lies in this step, its beginning excluded.
fn frame_due(step: u64, h: f64, interval: f64) -> bool {
    step > 0 && intervals(step as f64 * h, interval) > intervals((step - 1) as f64 * h, interval)
}

/// How many whole intervals there are until a time. A hair of slack: ten steps of 0.1 count as one of 1.
fn intervals(time: f64, interval: f64) -> f64 {
    (time / interval * (1.0 + 1e-12)).floor()
}

/// How many frames a scene asks for: at time zero, at the interval, and at the end; or at the end
/// alone. Where steps are chosen on the way, one more than that at most.
pub fn frame_count(scene: &Scene) -> u64 {
    let interval = scene.frame_interval();
    if interval <= 0.0 {
        return 1;
    }
    let Some((h, steps)) = scene.time.step.fixed().zip(scene.time.steps()) else {
        let full = intervals(scene.time.end, interval);
        return 1 + full as u64 + u64::from(full * interval < scene.time.end * (1.0 - 1e-12));
    };
    if interval <= h {
        return steps.saturating_add(1);
    }
    let full = intervals(steps as f64 * h, interval) as u64;
    1 + full + u64::from(steps > 0 && !frame_due(steps, h, interval))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dynamics::StepLength;

    #[test]
    fn frames_come_at_their_interval_and_are_foretold() {
        for (h, end, interval) in
            [(0.1, 1.0, 0.2), (1e-3, 0.6, 0.02), (0.1, 1.0, 0.3), (0.1, 1.0, 0.01), (0.1, 1.0, 5.0), (0.1, 0.0, 0.2)]
        {
            let mut scene = Scene { time: Time { step: h.into(), end, ..Time::default() }, ..Scene::default() };
            scene.output.frame_interval = Some(interval);
            let steps = scene.time.steps().unwrap();
            let due = (1..=steps).filter(|&k| frame_due(k, h, interval)).count() as u64;
            let last = u64::from(steps > 0 && !frame_due(steps, h, interval));
            assert_eq!(frame_count(&scene), 1 + due + last, "{h} {end} {interval}");
        }
        let scene = |interval, end| {
            let mut scene = Scene { time: Time { step: 0.1.into(), end, ..Time::default() }, ..Scene::default() };
            scene.output.frame_interval = Some(interval);
            scene
        };
        let past = |scene: &Scene, step: u64, times: &[f64]| {
            let head = CheckpointHead { step, time: step as f64 * 0.1, length: 0.1, ..CheckpointHead::default() };
            Past::of(scene, &head, times).map(|Past { frames, last }| (frames, last))
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

    #[test]
    fn frames_of_steps_of_any_length_are_counted() {
        let mut scene =
            Scene { time: Time { step: StepLength::Auto, end: 1.0, ..Time::default() }, ..Scene::default() };
        scene.output.frame_interval = Some(0.3);
        assert_eq!(frame_count(&scene), 5);
        let mut rhythm = Rhythm::of(&scene);
        let due: Vec<u64> = (1..)
            .zip([0.1, 0.29, 0.31, 0.5, 0.95, 1.02])
            .filter(|&(k, t)| rhythm.is_due(k, t))
            .map(|(k, _)| k)
            .collect();
        assert_eq!(due, [3, 5]);
        assert!(Rhythm::of(&scene).after(0.31).is_due(4, 0.6));
        assert!(!Rhythm::of(&scene).after(0.31).is_due(4, 0.5));
        let head = |step, time, frames, last| CheckpointHead {
            step,
            time,
            length: 0.1,
            frames,
            last_frame: last,
            ..CheckpointHead::default()
        };
        let times = [0.0, 0.31, 0.95, 1.02];
        let past =
            |head: &CheckpointHead, times: &[f64]| Past::of(&scene, head, times).map(|past| (past.frames, past.last));
        assert_eq!(past(&head(4, 0.5, 2, Some(3)), &times), Ok((2, Some(3))));
        assert_eq!(past(&head(6, 1.02, 3, Some(5)), &times), Ok((4, Some(6))));
        assert!(past(&head(4, 0.5, 2, Some(3)), &times[..1]).unwrap_err().starts_with("there are 1 frames"));
        assert!(past(&head(4, 0.5, 3, Some(3)), &times).unwrap_err().starts_with("a frame is of time 0.95"));
    }
}
