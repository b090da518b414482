//! What has become of a run that is written down: under way, at its end, or ended in another way.

use barchan::output::human::{grouped, typed};
use barchan::output::{CheckpointFolder, RunDirectory, Summary};
use barchan::scene::Scene;
use serde_json::{Value, json};
use std::path::Path;

/// What has become of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunState {
    /// Somebody writes it, or nobody can tell.
    Running,
    /// It came to its end.
    Finished,
    /// It was stopped before its end.
    Interrupted,
    /// Nobody writes it, and it has said nothing about its end.
    Killed,
    /// It could not go on.
    Failed,
    /// Its directory is not there any more.
    Gone,
}

impl RunState {
    /// The name that viewers know.
    pub fn name(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Finished => "finished",
            Self::Interrupted => "interrupted",
            Self::Killed => "killed",
            Self::Failed => "failed",
            Self::Gone => "gone",
        }
    }

    /// Looks it up, with a sentence about it.
    pub fn of(directory: &Path) -> (Self, String) {
        // In this order: a run leaves its summary before it lets go of its directory.
        let is_free = RunDirectory::is_in_use(directory) == Some(false);
        let text = std::fs::read_to_string(directory.join("summary.json")).ok();
        let Some(text) = text else {
            return if !directory.join("steps.csv").exists() {
                (Self::Gone, "Its directory was moved or removed.".into())
            } else if is_free {
                let next = way_on(directory, None);
                (Self::Killed, format!("It ended without a word: killed, most likely. {next}"))
            } else {
                (Self::Running, "It is under way.".into())
            };
        };
        let Ok(summary) = serde_json::from_str::<Summary>(&text) else {
            return (Self::Finished, "It has ended, and its summary cannot be read.".into());
        };
        let steps = grouped(summary.steps);
        match &summary.failure {
            Some(why) => (Self::Failed, format!("It failed after step {steps}: {why}")),
            None if !summary.interrupted => (Self::Finished, format!("It came to its end, with step {steps}.")),
            None => {
                let next = way_on(directory, Some(summary.steps));
                (Self::Interrupted, format!("It was stopped after step {steps}. {next}"))
            }
        }
    }

    /// What viewers are told of it: the step of its table at which it is, too.
    pub(super) fn told(self, text: &str, step: u64, scene: Option<&Scene>) -> Value {
        json!({ "state": self.name(), "text": text, "step": step, "steps": scene.and_then(|scene| scene.time.steps()) })
    }
}

/// What a restart does to a run that has done so many steps, if that is known.
fn way_on(directory: &Path, done: Option<u64>) -> String {
    let restart = format!("`barchan restart {}`", typed(directory));
    match CheckpointFolder::of_run(directory).steps().as_deref() {
        Ok([]) => format!("There is no checkpoint: {restart} begins anew."),
        Ok([.., last]) if done == Some(*last) => format!("{restart} goes on."),
        Ok([.., last]) => format!("{restart} goes on after step {}.", grouped(*last)),
        Err(why) => format!("Whether it can go on cannot be told: {why}."),
    }
}
