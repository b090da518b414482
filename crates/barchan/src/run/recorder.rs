//! When a run writes what: the scene at once, a row a step, frames at their interval, the
//! picture and the summary at the end. How each is written is the matter of [`crate::output`].

use super::tally::Tally;
use crate::output::{
    FrameWriter, HistoryWriter, OutputError, PictureOptions, RunDirectory, StepRow, StepsWriter, Summary,
};
use crate::problem::Problem;
use crate::scene::{Scene, Time};
use crate::solver::Status;
use crate::step::{Simulation, StepReport};
use crate::world::World;
use std::time::Instant;

/// Writes the files of a run, and counts the seconds that takes.
#[derive(Debug)]
pub(super) struct Recorder {
    directory: RunDirectory,
    steps: StepsWriter,
    /// `None` unless the scene asks for it.
    history: Option<HistoryWriter>,
    /// `None` if the scene wants no frames.
    frames: Option<Frames>,
    seconds: f64,
    /// The part of `seconds` that rows have told.
    told: f64,
}

impl Recorder {
    /// Writes the scene and the frame of time zero.
    pub(super) fn start(directory: RunDirectory, scene: &Scene, world: &World) -> Result<Self, OutputError> {
        let start = Instant::now();
        directory.write_scene(&scene.to_toml())?;
        let steps = directory.steps()?;
        let history = if scene.output.history { Some(directory.history()?) } else { None };
        let frames = if scene.output.frame_interval > 0.0 {
            let mut frames = Frames::new(directory.frames()?, scene);
            frames.write(0, world)?;
            Some(frames)
        } else {
            None
        };
        Ok(Self { directory, steps, history, frames, seconds: start.elapsed().as_secs_f64(), told: 0.0 })
    }

    /// Writes the frame if it is time for one, then the row.
    pub(super) fn step(
        &mut self,
        tally: &Tally,
        report: &StepReport,
        simulation: &mut Simulation,
    ) -> Result<(), OutputError> {
        let start = Instant::now();
        if let Some(frames) = self.frames.as_mut().filter(|frames| frames.due(tally.steps)) {
            frames.write(tally.steps, &simulation.world)?;
        }
        if let Some(history) = &mut self.history {
            history.push(tally.steps, &report.solver.history)?;
        }
        let mut row = row(tally, report, simulation);
        // The time of this row's own writing is told by the next one.
        row.seconds_output = self.seconds + start.elapsed().as_secs_f64() - self.told;
        self.told += row.seconds_output;
        let result = self.steps.push(&row);
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
    pub(super) fn finish(&mut self, step: u64, world: &World) -> Result<(), OutputError> {
        let start = Instant::now();
        self.steps.flush()?;
        if let Some(history) = &mut self.history {
            history.flush()?;
        }
        if let Some(frames) = self.frames.as_mut().filter(|frames| frames.last != step) {
            frames.write(step, world)?;
        }
        self.directory.write_picture(&world.bodies, &PictureOptions::default())?;
        self.seconds += start.elapsed().as_secs_f64();
        Ok(())
    }

    /// Writes the summary.
    pub(super) fn write_summary(&self, summary: &Summary) -> Result<(), OutputError> {
        self.directory.write_summary(summary)
    }

    /// Seconds spent on writing so far.
    pub(super) fn seconds(&self) -> f64 {
        self.seconds
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

    fn write(&mut self, step: u64, world: &World) -> Result<(), OutputError> {
        self.last = step;
        self.writer.write(&world.bodies, world.time).map(drop)
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

/// What `steps.csv` tells of a step.
fn row(tally: &Tally, report: &StepReport, simulation: &mut Simulation) -> StepRow {
    let (solver, seconds) = (&report.solver, &report.seconds);
    let energy = simulation.energy();
    StepRow {
        step: tally.steps,
        time: tally.time,
        bodies: simulation.world.bodies.bounded_len() as u64,
        contacts: report.contacts as u64,
        iterations: solver.iterations.into(),
        operator_applications: solver.operator_applications.into(),
        converged: solver.status == Status::Converged,
        residual: solver.residual,
        residual_natural: solver.residuals.natural,
        residual_primal: solver.residuals.primal,
        residual_dual: solver.residuals.dual,
        residual_complementarity: solver.residuals.complementarity,
        kinetic: energy.kinetic,
        potential: energy.potential,
        max_penetration: report.penetration.max,
        mean_penetration: report.penetration.mean,
        seconds_broad: seconds.broad,
        seconds_narrow: seconds.narrow,
        seconds_solve: seconds.solve,
        seconds_integrate: seconds.integrate,
        seconds_output: 0.0,
    }
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
