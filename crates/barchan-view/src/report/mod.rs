//! `report.html`: a run that is over, or what there is of one, as a page.
//!
//! Everything comes from the run directory, so that the page can be made again at any time. A run that
//! failed, was interrupted or is still under way has a page too: it says so, and shows what there is.

mod base64;
mod frames;
mod lines;
mod steps;
mod thinning;

use crate::page::{self, Mode, PageData};
use barchan::output::{OutputError, RunDirectory, RunSeconds, StoredFrames, Summary, write_whole};
use barchan::scene::Scene;
use frames::Packed;
use serde_json::{Map, Value, json};
use std::fs::{self, File};
use std::io::{self, BufReader, Write};
use std::path::{Path, PathBuf};
use steps::Steps;

/// The name of the page in the run directory.
pub const FILE: &str = "report.html";
/// Bytes for the frames of a page, about, by default.
const BUDGET: usize = 20_000_000;

/// How a report is made.
#[derive(Clone, Debug)]
pub struct ReportOptions {
    /// Where it goes; `report.html` in the run directory by default.
    pub out: Option<PathBuf>,
    /// Bytes for frames, about. The first and the last frame are always there.
    pub budget: usize,
    /// Why the run failed, if that is known.
    pub failure: Option<String>,
}

impl Default for ReportOptions {
    fn default() -> Self {
        Self { out: None, budget: BUDGET, failure: None }
    }
}

/// A report that was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrittenReport {
    /// Where it is.
    pub path: PathBuf,
    /// Its size.
    pub bytes: usize,
    /// Frames in it.
    pub frames: usize,
    /// Frames that the run has.
    pub frames_total: usize,
}

/// Why there is no report.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// There is no run.
    #[error("{} holds no run: expected a directory with a steps.csv, as barchan run leaves it", path.display())]
    NoRun {
        /// The directory.
        path: PathBuf,
    },
    /// A file of the run cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The page cannot be written.
    #[error(transparent)]
    Output(#[from] OutputError),
}

impl ReportError {
    /// Whether the user can mend it by asking for something else.
    pub fn is_input(&self) -> bool {
        match self {
            Self::NoRun { .. } => true,
            Self::Unreadable { .. } => false,
            Self::Output(error) => error.is_input(),
        }
    }
}

/// Writes the report of a run.
///
/// # Errors
/// If there is no run in the directory, its table cannot be read, or the page cannot be written. What else
/// is missing or damaged is noted on the page.
pub fn write(directory: &Path, options: &ReportOptions) -> Result<WrittenReport, ReportError> {
    let mut run = RunFiles::read(directory)?;
    let packed = run.frames(directory, options.budget);
    let data = run.page(&packed, options.failure.as_deref());
    let page = page::html(&data);
    let path = options.out.clone().unwrap_or_else(|| directory.join(FILE));
    write_whole(&path, |file| file.write_all(page.as_bytes()))?;
    Ok(WrittenReport { path, bytes: page.len(), frames: packed.frames.len(), frames_total: packed.total })
}

/// What a run directory says, as far as it could be read.
#[derive(Debug)]
struct RunFiles {
    /// Of the directory, for runs whose scene is lost.
    directory_name: String,
    scene: Option<Scene>,
    summary: Option<Summary>,
    /// Whether somebody writes the run, if the system tells.
    is_in_use: Option<bool>,
    steps: Steps,
    /// What the reader of the page should know.
    notes: Vec<String>,
}

impl RunFiles {
    fn read(directory: &Path) -> Result<Self, ReportError> {
        let table = directory.join("steps.csv");
        let unreadable = |source| ReportError::Unreadable { path: table.clone(), source };
        let steps = match File::open(&table) {
            Ok(file) => Steps::read(BufReader::new(file)).map_err(unreadable)?,
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                return Err(ReportError::NoRun { path: directory.into() });
            }
            Err(source) => return Err(unreadable(source)),
        };
        let mut notes = Vec::new();
        let scene = read_part(&directory.join("scene.toml"), &mut notes, |text| {
            Scene::from_toml(text, "scene.toml").map_err(|error| error.to_string())
        });
        let summary = read_part(&directory.join("summary.json"), &mut notes, |text| {
            serde_json::from_str(text).map_err(|error| error.to_string())
        });
        if steps.damaged > 0 {
            notes.push(format!("{} lines of steps.csv could not be read and are left out.", steps.damaged));
        }
        let is_in_use = RunDirectory::is_in_use(directory);
        let whole = directory.canonicalize().unwrap_or_else(|_| directory.into());
        let directory_name = whole.file_name().map_or("run".into(), |name| name.to_string_lossy().into_owned());
        Ok(Self { directory_name, scene, summary, is_in_use, steps, notes })
    }

    /// The frames that fit. Those that cannot be read are a note, not the end.
    fn frames(&mut self, directory: &Path, budget: usize) -> Packed {
        let stored = match StoredFrames::open(directory) {
            Ok(stored) => stored,
            Err(error) => {
                self.notes.push(format!("The frames cannot be read: {error}"));
                return Packed::default();
            }
        };
        frames::pack(stored.len(), budget, |index| match stored.read(index) {
            Ok(frame) => Some(frame),
            Err(error) => {
                self.notes.push(format!("A frame is left out: {error}"));
                None
            }
        })
    }

    fn page(&self, packed: &Packed, failure: Option<&str>) -> PageData {
        let scene = self.scene.as_ref();
        let name = scene.map(|scene| scene.name.clone()).filter(|name| !name.is_empty());
        let (status, text) = self.status(failure);
        let mut config = Map::new();
        config.insert("description".into(), scene.map_or("", |scene| &scene.description).into());
        config.insert("status".into(), json!({ "kind": status, "text": text }));
        config.insert("notes".into(), self.notes.clone().into());
        config.insert("summary".into(), self.summary_or_rest());
        config.insert("scene".into(), self.scene_facts());
        config.insert("steps".into(), self.steps.to_json());
        config.insert(
            "frames".into(),
            json!({ "stored": packed.frames.len(), "total": packed.total, "bounds": packed.bounds }),
        );
        PageData {
            mode: Mode::Report,
            name: name.unwrap_or_else(|| self.directory_name.clone()),
            config,
            frames: packed.frames.clone(),
            looks: packed.looks.clone(),
        }
    }

    /// How the run ended, in a word and in a sentence.
    fn status(&self, failure: Option<&str>) -> (&'static str, String) {
        let planned = self.scene.as_ref().and_then(|scene| scene.time.steps());
        let of = |steps: u64| planned.map_or(steps.to_string(), |planned| format!("{steps} of {planned}"));
        match (&self.summary, failure) {
            (_, Some(failure)) => ("failed", format!("The run failed: {failure}")),
            (Some(Summary { failure: Some(failure), .. }), None) => ("failed", format!("The run failed: {failure}")),
            (Some(summary), None) if summary.interrupted => {
                ("interrupted", format!("The run was interrupted after step {}.", of(summary.steps)))
            }
            (Some(summary), None) if planned.is_some_and(|planned| summary.steps < planned) => {
                ("failed", format!("The run ended before its time, after step {}.", of(summary.steps)))
            }
            (Some(_), None) => ("finished", "The run went to its end.".into()),
            (None, None) => {
                let steps = of(self.steps.len() as u64);
                match self.is_in_use {
                    Some(true) => ("running", format!("The run is under way, there is no summary yet. Step {steps}.")),
                    Some(false) => ("incomplete", format!("There is no summary: the run was killed. Step {steps}.")),
                    None => (
                        "incomplete",
                        format!("There is no summary: the run is still under way, or was killed. Step {steps}."),
                    ),
                }
            }
        }
    }

    /// The summary, or without one what the table tells.
    fn summary_or_rest(&self) -> Value {
        let Some(summary) = &self.summary else { return self.rest() };
        // A page that is made again is the same, though the summary knows by then what the first one took.
        let mut summary = summary.clone();
        summary.seconds.report = 0.0;
        serde_json::to_value(summary).unwrap_or(Value::Null)
    }

    fn rest(&self) -> Value {
        let steps = &self.steps;
        if steps.len() == 0 {
            return Value::Null;
        }
        let number = |x: f64| if x.is_finite() { json!(x) } else { Value::Null };
        let value = |name: &str| number(steps.last(name));
        let seconds = RunSeconds {
            exchange: steps.sum("seconds_exchange"),
            broad: steps.sum("seconds_broad"),
            narrow: steps.sum("seconds_narrow"),
            solve: steps.sum("seconds_solve"),
            integrate: steps.sum("seconds_integrate"),
            output: steps.sum("seconds_output"),
            checkpoint: steps.sum("seconds_checkpoint"),
            total: f64::NAN,
            ..RunSeconds::default()
        };
        json!({
            "bodies": value("bodies"),
            "contacts": value("contacts"),
            "steps": value("step"),
            "time": value("time"),
            "energy": { "kinetic": value("kinetic"), "potential": value("potential") },
            "max_penetration": value("max_penetration"),
            "mean_penetration": value("mean_penetration"),
            "solver": {
                "name": self.scene.as_ref().map(|scene| scene.solver.name.name()),
                "tolerance": self.scene.as_ref().map(|scene| scene.solver.tolerance),
                "iterations_mean": number(steps.sum("iterations") / steps.len() as f64),
                "iterations_max": number(steps.max("iterations")),
                "operator_applications": number(steps.sum("operator_applications")),
                "residual_max": number(steps.max("residual")),
                "steps_converged": steps.len() - steps.missed_count(),
            },
            "seconds": seconds,
        })
    }

    fn scene_facts(&self) -> Value {
        let Some(scene) = &self.scene else { return Value::Null };
        json!({
            "step": scene.time.step,
            "end": scene.time.end,
            "steps": scene.time.steps(),
            "gravity": scene.gravity,
            "seed": scene.seed,
            "solver": scene.solver.name.name(),
            "tolerance": scene.solver.tolerance,
            "materials": scene.material.iter().map(|material| &material.name).collect::<Vec<_>>(),
        })
    }
}

/// A file that may be missing; one that makes no sense is noted.
fn read_part<T>(path: &Path, notes: &mut Vec<String>, parse: impl FnOnce(&str) -> Result<T, String>) -> Option<T> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    match fs::read_to_string(path).map_err(|error| (error.kind(), error.to_string())) {
        Ok(text) => match parse(&text) {
            Ok(value) => Some(value),
            Err(error) => {
                notes.push(format!("{name} cannot be used: {}", error.lines().next().unwrap_or_default()));
                None
            }
        },
        Err((io::ErrorKind::NotFound, _)) => None,
        Err((_, error)) => {
            notes.push(format!("{name} cannot be read: {error}"));
            None
        }
    }
}
