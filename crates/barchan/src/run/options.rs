//! How a run departs from what its scene says.

use crate::dynamics::StepLength;
use crate::scene::{Location, Scene, SceneError, Time};

/// How a run departs from what its scene says. The scene that is written down says it, too, so that it
/// repeats the run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RunOptions {
    /// Steps of the whole run, if not as many as reach its end; only where their length is fixed.
    pub steps: Option<u64>,
    /// Simulated time at its end, s; 0 or more. `steps` comes first.
    pub end: Option<f64>,
    /// Steps between two checkpoints; 0 for none by steps.
    pub checkpoint_steps: Option<u64>,
    /// Seconds between two checkpoints; 0 for none by time.
    pub checkpoint_seconds: Option<f64>,
    /// Whether a step that misses the solver's tolerance makes the run a failure, at its end.
    pub strict: bool,
}

impl RunOptions {
    /// Steps of the whole run of a scene; `None` where their length is chosen on the way.
    pub fn steps_of(&self, scene: &Scene) -> Option<u64> {
        let time = scene.time;
        self.steps.or_else(|| Time { end: self.end.unwrap_or(time.end), ..time }.steps())
    }

    /// Whether the scene can be run so.
    ///
    /// # Errors
    /// If steps are asked for whose length is chosen on the way: no end follows from their number.
    pub fn fit(&self, scene: &Scene) -> Result<(), SceneError> {
        if self.steps.is_none() || scene.time.step != StepLength::Auto {
            return Ok(());
        }
        let place = Location::Whole(format!("scene \"{}\"", scene.name));
        let message = "is \"auto\", so that the number of steps says nothing about the end of the run: ask for a time \
                       in its place, or set time.step to a number";
        Err(SceneError::new(place, "time.step", message))
    }

    /// Changes the scene accordingly. None of it changes what comes out of a step, so that a run may be
    /// told so at any time.
    pub(super) fn apply(&self, scene: &mut Scene) {
        scene.time.end = match self.steps.zip(scene.time.step.fixed()) {
            Some((steps, h)) => steps as f64 * h,
            None => self.end.unwrap_or(scene.time.end),
        };
        // By the end that it has now: a later end adds frames, and leaves those that are there where they are.
        scene.output.frame_interval = Some(scene.frame_interval());
        let checkpoint = &mut scene.checkpoint;
        checkpoint.steps = self.checkpoint_steps.unwrap_or(checkpoint.steps);
        checkpoint.seconds = self.checkpoint_seconds.unwrap_or(checkpoint.seconds);
    }
}
