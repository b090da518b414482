//! The live view: a simulation that is watched and steered while it runs.
//!
//! [`Watch`] decides when the next step is taken and tells viewers about it; [`FrameStream`] takes the
//! frames. [`Show`] drives a scene of its own, and [`Follow`] shows what another process writes down. What
//! viewers and server say to each other is described in docs/live.md.

mod follow;
mod run_state;
mod show;
mod spectator;
mod stored_scene;
mod stream;
mod table;
mod watch;

pub use follow::{Follow, FollowError};
pub use run_state::RunState;
pub use show::{Outcome, Show};
pub use spectator::Spectator;
pub use stream::FrameStream;
pub use watch::{Ending, Next, Watch, WatchOptions};

use crate::page::{self, Mode, PageData};
use crate::server::{Controls, Knob};
use barchan::scene::Scene;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// What viewers of a scene may do, and what the scene's numbers are.
pub fn controls(scene: &Scene) -> Controls {
    let knob = |entry: &barchan::scene::Adjustable| {
        let value = scene.adjustable_value(&entry.key).ok()?;
        let label = entry.label.clone().unwrap_or_else(|| entry.key.clone());
        Some(Knob { key: entry.key.clone(), label, min: entry.min, max: entry.max, value })
    };
    let knobs = scene.adjustable.iter().filter_map(knob).collect();
    Controls { step: true, reset: true, save: true, knobs, ..Controls::default() }
}

/// The values of all adjustable numbers.
pub fn parameters(controls: &Controls) -> BTreeMap<String, f64> {
    controls.knobs.iter().map(|knob| (knob.key.clone(), knob.value)).collect()
}

/// What viewers are told of a scene at once.
pub fn about(scene: &Scene, kind: &str) -> Value {
    json!({
        "kind": kind,
        "name": scene.name,
        "description": scene.description,
        "step": scene.time.step,
        "end": scene.time.last(),
        "tolerance": scene.solver.tolerance,
        "solver": scene.solver.name.name(),
        "materials": scene.material.iter().map(|material| &material.name).collect::<Vec<_>>(),
    })
}

/// The page of a live view, for what [`about`] says.
pub fn page(about: &Value) -> String {
    let mut config = serde_json::Map::new();
    config.insert("description".into(), about["description"].clone());
    config.insert("scene".into(), json!({ "tolerance": about["tolerance"], "materials": about["materials"] }));
    let name = about["name"].as_str().unwrap_or("Barchan").to_owned();
    page::html(&PageData { mode: Mode::Live, name, config, frames: Vec::new(), looks: String::new() })
}
