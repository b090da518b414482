//! What can be wrong with a scene, said so that a user can mend it: where it stands, which key,
//! what was found, what is expected.

use crate::comm::{Communicator, Reduction};
use std::fmt;
use thiserror::Error;

/// Where a fault comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Location {
    /// A line of a file.
    Line {
        /// The file.
        origin: String,
        /// The line, from 1.
        line: usize,
    },
    /// A file, or whatever else the scene comes from, as a whole.
    Whole(String),
    /// An override, by its key.
    Override(String),
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line { origin, line } => write!(f, "{origin}:{line}"),
            Self::Whole(origin) => f.write_str(origin),
            Self::Override(key) => write!(f, "--set {key}"),
        }
    }
}

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Where it comes from.
    pub place: Location,
    /// The key, such as `body[2].shape.sphere.radius`; empty if none is to blame.
    pub path: String,
    /// What was found and what is expected.
    pub message: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let named = matches!(&self.place, Location::Override(key) if key_path(key) == self.path);
        if self.path.is_empty() || named {
            write!(f, "{}: {}", self.place, self.message)
        } else {
            write!(f, "{}: {}: {}", self.place, self.path, self.message)
        }
    }
}

/// A key in the spelling of paths: `material.0.friction` becomes `material[0].friction`.
fn key_path(key: &str) -> String {
    super::overrides::segments(key).iter().fold(String::new(), |mut path, segment| {
        push_segment(&mut path, segment);
        path
    })
}

/// Appends a key or an index to a path.
pub(crate) fn push_segment(path: &mut String, segment: &str) {
    if !segment.is_empty() && segment.bytes().all(|b| b.is_ascii_digit()) {
        path.push_str(&format!("[{segment}]"));
    } else {
        if !path.is_empty() {
            path.push('.');
        }
        path.push_str(segment);
    }
}

/// A scene that cannot be used, with all that is wrong, a line each.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{}", text(.faults))]
pub struct SceneError {
    /// Everything that was found; empty only if another rank has found it.
    pub faults: Vec<Fault>,
}

fn text(faults: &[Fault]) -> String {
    if faults.is_empty() {
        return "another rank cannot use the scene".into();
    }
    faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

impl SceneError {
    /// A single fault.
    pub fn new(place: Location, path: impl Into<String>, message: impl Into<String>) -> Self {
        Self { faults: vec![Fault { place, path: path.into(), message: message.into() }] }
    }

    /// The error of a rank that has found nothing wrong, while another has, and says so itself.
    pub fn elsewhere() -> Self {
        Self { faults: Vec::new() }
    }

    /// Whether another rank has found what is wrong.
    pub fn is_elsewhere(&self) -> bool {
        self.faults.is_empty()
    }

    /// Of ranks that have each found something wrong, or nothing, the first speaks for all. All of
    /// them call this, and all fail if one has.
    pub(crate) fn agree<T>(comm: &mut dyn Communicator, result: Result<T, Self>) -> Result<T, Self> {
        let rank = comm.rank() as f64;
        let mut first = [if result.is_err() { rank } else { f64::INFINITY }];
        comm.all_reduce(Reduction::Min, &mut first);
        if first[0] == rank || first[0] == f64::INFINITY { result } else { Err(Self::elsewhere()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_override_is_not_named_twice() {
        let place = Location::Override("material.0.friction".into());
        let fault = Fault { place, path: "material[0].friction".into(), message: "no".into() };
        assert_eq!(fault.to_string(), "--set material.0.friction: no");
    }
}
