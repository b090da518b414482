//! What has become of a run that is written down: under way, at its end, or ended in another way.

use barchan::output::{RunDirectory, Summary};
use barchan::scene::Scene;
use serde_json::{Value, json};
use std::path::Path;

/// What has become of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// Somebody writes it, or nobody can tell.
    Running,
    /// It came to its end.
    Finished,
    /// It was stopped before its end, and can go on.
    Interrupted,
    /// Nobody writes it, and it has said nothing about its end.
    Killed,
    /// It could not go on.
    Failed,
}

impl Fate {
    /// The name that viewers know.
    pub fn name(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Finished => "finished",
            Self::Interrupted => "interrupted",
            Self::Killed => "killed",
            Self::Failed => "failed",
        }
    }

    /// Looks it up, with a sentence about it.
    pub fn of(directory: &Path) -> (Self, String) {
        // In this order: a run leaves its summary before it lets go of its directory.
        let is_free = RunDirectory::is_in_use(directory) == Some(false);
        let text = std::fs::read_to_string(directory.join("summary.json")).ok();
        let restart = format!("`barchan restart {}`", directory.display());
        let Some(text) = text else {
            return if is_free {
                (Self::Killed, format!("It ended without a word: killed, most likely. {restart} goes on."))
            } else {
                (Self::Running, "It is under way.".into())
            };
        };
        let Ok(summary) = serde_json::from_str::<Summary>(&text) else {
            return (Self::Finished, "It has ended, and its summary cannot be read.".into());
        };
        let steps = summary.steps;
        match (&summary.failure, summary.checkpoints.last) {
            (Some(why), _) => (Self::Failed, format!("It failed after step {steps}: {why}")),
            (None, _) if !summary.interrupted => (Self::Finished, format!("It came to its end, with step {steps}.")),
            (None, Some(last)) if last != steps => {
                (Self::Interrupted, format!("It was stopped after step {steps}. {restart} goes on after step {last}."))
            }
            (None, _) => (Self::Interrupted, format!("It was stopped after step {steps}. {restart} goes on.")),
        }
    }

    /// What viewers are told of it: the step of its table at which it is, too.
    pub(super) fn told(self, text: &str, step: u64, scene: Option<&Scene>) -> Value {
        json!({ "state": self.name(), "text": text, "step": step, "steps": scene.map(|scene| scene.time.steps()) })
    }
}
