//! What viewers may do, and what they have asked for.

use std::collections::BTreeMap;

/// A number that viewers may change.
#[derive(Clone, Debug, PartialEq)]
pub struct Knob {
    /// Its key in the scene.
    pub key: String,
    /// What people call it.
    pub label: String,
    /// Its least value.
    pub min: f64,
    /// Its largest value.
    pub max: f64,
    /// What it is at the start.
    pub value: f64,
}

/// What viewers may do.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Controls {
    /// Take single steps.
    pub step: bool,
    /// Go back to the start.
    pub reset: bool,
    /// Show stored frames by their number.
    pub seek: bool,
    /// Save the scene as it is now.
    pub save: bool,
    /// Change these numbers.
    pub knobs: Vec<Knob>,
}

/// Which stored frame to show.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Seek {
    /// The one with this number, from 0.
    Frame(usize),
    /// The one nearest to this time.
    Time(f64),
}

/// What viewers have asked for since it was last looked at. Of several wishes for the same thing the
/// last counts, so that there is never more than this, however much they say.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Wishes {
    /// Stand still, or go on.
    pub pause: Option<bool>,
    /// Single steps to take.
    pub steps: u32,
    /// Back to the start.
    pub reset: bool,
    /// Simulated seconds a second, or as fast as it can.
    pub speed: Option<Option<f64>>,
    /// Numbers to change.
    pub set: BTreeMap<String, f64>,
    /// The stored frame to show.
    pub seek: Option<Seek>,
}
