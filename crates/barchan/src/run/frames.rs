//! When a run writes frames.

use crate::frame::Frame;
use crate::output::{FrameWriter, OutputError, agree};
use crate::scene::{Scene, Time};
use crate::step::Simulation;

/// Frames and their rhythm.
#[derive(Debug)]
pub(super) struct Frames {
    writer: FrameWriter,
    frame: Frame,
    time: Time,
    interval: f64,
    /// The step of the last frame.
    last: Option<u64>,
}

impl Frames {
    pub(super) fn new(writer: FrameWriter, scene: &Scene) -> Self {
        let interval = scene.output.frame_interval;
        Self { writer, frame: Frame::default(), time: scene.time, interval, last: None }
    }

    /// Writes the frame of time zero, unless the last state is the only frame.
    pub(super) fn start(&mut self, simulation: &mut Simulation) -> Result<(), OutputError> {
        if self.interval > 0.0 { self.write(0, simulation) } else { Ok(()) }
    }

    /// Writes a frame if it is time for one.
    pub(super) fn step(&mut self, step: u64, simulation: &mut Simulation) -> Result<(), OutputError> {
        if self.interval > 0.0 && frame_due(step, self.time.step, self.interval) {
            self.write(step, simulation)?;
        }
        Ok(())
    }

    /// Writes the last frame, if it is not there yet.
    pub(super) fn finish(&mut self, step: u64, simulation: &mut Simulation) -> Result<(), OutputError> {
        if self.last == Some(step) { Ok(()) } else { self.write(step, simulation) }
    }

    /// Writes a frame together with the other ranks.
    fn write(&mut self, step: u64, simulation: &mut Simulation) -> Result<(), OutputError> {
        self.last = Some(step);
        let rank = simulation.line().1.rank() as u32;
        self.frame.capture(simulation, rank);
        let comm = simulation.line().1;
        comm.stage("output");
        let piece = self.writer.write_piece(&self.frame);
        // What names the pieces comes after them.
        agree(comm, piece)?;
        let whole = if comm.rank() == 0 { self.writer.complete(self.writer.count()) } else { Ok(()) };
        agree(comm, whole)
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
