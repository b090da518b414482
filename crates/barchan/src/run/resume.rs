//! How a run goes on: from the newest checkpoint that is valid, or from its beginning.
//!
//! Nothing of the directory is touched before it is clear how to go on. Then tables are cut back to
//! the checkpoint and frames after it are dropped, so that what follows fits on.

use super::frames::Past;
use super::spent::Spent;
use super::tally::Tally;
use super::{Readiness, Ready, Run, RunOptions};
use crate::checkpoint::{CheckpointHead, Damage, Part, engine, read_head, read_part};
use crate::comm::{Communicator, Reduction};
use crate::output::human::{counted, typed};
use crate::output::{CheckpointFolder, OutputError, RunDirectory, Summary, agree, indexed_times};
use crate::scene::{Scene, SceneError};
use crate::util::pack::{Pack, Unpacker};
use std::path::Path;

/// A run that was asked to go on.
pub enum Resumption {
    /// It does.
    Going(Box<Run>),
    /// It has come to its end already: its summary. (On rank 0; others have an empty one.)
    AtEnd(Box<Summary>),
}

/// Why a run cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum ResumeError {
    /// The directory cannot be used.
    #[error(transparent)]
    Output(#[from] OutputError),
    /// The scene cannot be used.
    #[error(transparent)]
    Scene(#[from] SceneError),
    /// Checkpoints are there, but none that can be used, or they are of another scene.
    #[error("{0}")]
    Refused(String),
    /// The run has passed the step at which it is to end.
    #[error("the run is at {at} already, and cannot end at {end}: ask for a later end")]
    Passed {
        /// Where it is.
        at: String,
        /// Where it is to end.
        end: String,
    },
    /// Another rank says why.
    #[error("another rank has failed")]
    Elsewhere,
}

impl ResumeError {
    /// Whether the user can mend it by asking for something else.
    pub fn is_input(&self) -> bool {
        match self {
            Self::Output(error) => error.is_input(),
            Self::Scene(_) | Self::Refused(_) | Self::Passed { .. } | Self::Elsewhere => true,
        }
    }
}

/// Where a run has come from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    /// How often it has gone on.
    pub restarts: u64,
    /// The step after which it has gone on last; `None` if it never has.
    pub step: Option<u64>,
    /// Checkpoints that could not be used, and why; known to rank 0.
    pub passed_over: Vec<String>,
    /// The version of the engine that has written the checkpoint, and the machine that it was built for, if
    /// they are others than here.
    pub engine: Option<String>,
    /// The number of ranks that have written the checkpoint, if it is another one than now.
    pub ranks: Option<usize>,
}

/// A checkpoint that is valid, with this rank's part if there are as many ranks as parts.
pub(super) struct Found {
    pub(super) head: CheckpointHead,
    pub(super) past: Past,
    pub(super) part: Option<Part>,
}

/// What there is of a run; known to rank 0.
#[derive(Default)]
struct Remains {
    /// Steps of which there are heads, ascending.
    heads: Vec<u64>,
    /// Steps of which there are rows.
    rows: u64,
    /// Times of the frames.
    frames: Vec<f64>,
}

impl Remains {
    fn of(directory: &RunDirectory, scene: &Scene) -> Result<Self, OutputError> {
        let heads = directory.checkpoints().steps()?;
        if heads.is_empty() {
            return Ok(Self::default());
        }
        if scene.output.history {
            directory.check_history()?;
        }
        if !scene.joint.is_empty() {
            directory.check_joints()?;
        }
        Ok(Self { heads, rows: directory.count_steps()?, frames: indexed_times(directory.path())? })
    }
}

impl Run {
    /// Goes on with the run in a directory, with as many ranks as there are here. All ranks call this.
    ///
    /// On as many ranks as before the run goes on to the last bit as if it had never stopped; the number
    /// of threads does not matter. On another number of ranks physics is the same. `options.steps`
    /// counts from the beginning of the run, and the scene of the directory is written anew with what the
    /// options say.
    ///
    /// # Errors
    /// If there is no run, another process writes it, its checkpoints are of another scene or none of them
    /// can be used, or its tables cannot be read; on all ranks then, and nothing is touched.
    pub fn resume(path: &Path, options: &RunOptions, comm: Box<dyn Communicator>) -> Result<Resumption, ResumeError> {
        Ok(match Ready::find(path, options, comm)? {
            Readiness::Ready(ready) => Resumption::Going(Box::new(ready.go()?)),
            Readiness::AtEnd(summary) => Resumption::AtEnd(summary),
        })
    }

    /// The scene that it runs.
    pub fn scene(&self) -> &Scene {
        &self.scene
    }

    /// Where it has come from.
    pub fn origin(&self) -> &Origin {
        &self.origin
    }
}

/// Whether any rank is strict: ranks that judged by different rules would not fail together.
pub(super) fn all_strict(options: &RunOptions, comm: &mut dyn Communicator) -> bool {
    let mut strict = [f64::from(u8::from(options.strict))];
    comm.all_reduce(Reduction::Max, &mut strict);
    strict[0] > 0.0
}

/// Rank 0 notes that the run goes on, and all learn how often it has by now: a restart counts though it may
/// die before it has kept anything.
pub(super) fn note_restart(
    directory: &RunDirectory,
    step: u64,
    comm: &mut dyn Communicator,
) -> Result<u64, OutputError> {
    let noted = if comm.rank() == 0 {
        directory.note_restart(step, &engine(), comm.size(), rayon::current_num_threads())
    } else {
        Ok(0)
    };
    let mut restarts = [agree(comm, noted)? as f64];
    comm.all_reduce(Reduction::Max, &mut restarts);
    Ok(restarts[0] as u64)
}

/// Rank 0 opens the directory, which keeps others away, and all read the scene that it finds there.
pub(super) fn open(path: &Path, comm: &mut dyn Communicator) -> Result<(RunDirectory, Scene), ResumeError> {
    let opened = if comm.rank() == 0 {
        RunDirectory::reopen(path).and_then(|directory| Ok((directory.read_scene()?, directory)))
    } else {
        Ok((String::new(), RunDirectory::join(path)))
    };
    let (text, directory) = agree(comm, opened)?;
    let mut text = text.into_bytes();
    comm.broadcast(&mut text);
    let name = path.join("scene.toml").display().to_string();
    let scene = Scene::from_toml(&String::from_utf8_lossy(&text), &name);
    Ok((directory, SceneError::agree(comm, scene)?))
}

/// The newest checkpoint that is valid. Others are passed over, and rank 0 knows why.
pub(super) fn find(
    directory: &RunDirectory,
    scene: &Scene,
    comm: &mut dyn Communicator,
    passed_over: &mut Vec<String>,
) -> Result<Option<Found>, ResumeError> {
    let folder = directory.checkpoints();
    let remains = if comm.rank() == 0 { Remains::of(directory, scene) } else { Ok(Remains::default()) };
    let mut remains = agree(comm, remains)?;
    loop {
        let mut chosen = Vec::new();
        let mut past = Vec::new();
        while let Some(step) = remains.heads.pop() {
            match look(directory, &folder, step, &remains, scene) {
                Ok((head, frames)) => {
                    chosen = head.to_bytes();
                    frames.pack(&mut past);
                    break;
                }
                Err(message) => passed_over.push(message),
            }
        }
        comm.broadcast(&mut chosen);
        comm.broadcast(&mut past);
        if chosen.is_empty() {
            // What may be valid elsewhere is not thrown away.
            let usable = if passed_over.is_empty() { Ok(()) } else { Err(refusal(directory, passed_over)) };
            return agree_to_resume(comm, usable).map(|()| None);
        }
        let (Ok(head), Some(past)) = (CheckpointHead::read(&chosen), Past::unpack(&past)) else {
            return Err(ResumeError::Elsewhere);
        };
        let is_same = match head.is_of(scene) {
            Ok(true) => Ok(()),
            Ok(false) => Err(ResumeError::Refused(format!(
                "{} is not the scene that its checkpoints are of: it was changed since. Undo the change, or run it \
                 in another directory",
                directory.path().join("scene.toml").display()
            ))),
            Err(damage) => Err(ResumeError::Refused(format!("{}: {damage}", folder.head(head.step).display()))),
        };
        agree_to_resume(comm, is_same)?;
        match read_own(&folder, &head, scene, comm) {
            Ok(part) => return Ok(Some(Found { head, past, part })),
            Err(message) => passed_over.extend(message),
        }
    }
}

/// Reads a head, if rows and frames go as far as it does; otherwise why not. And which frames are its past.
fn look(
    directory: &RunDirectory,
    folder: &CheckpointFolder,
    step: u64,
    remains: &Remains,
    scene: &Scene,
) -> Result<(CheckpointHead, Past), String> {
    let blame = |what: String| format!("{}: {what}", folder.head(step).display());
    let head = read_head(folder, step).map_err(|damage| blame(damage.to_string()))?;
    if remains.rows < step {
        let rows = counted(remains.rows, "step", "steps");
        return Err(blame(format!("{} has the rows of {rows} only", directory.path().join("steps.csv").display())));
    }
    // What another scene has of frames does not matter: it will be refused.
    let past = match head.is_of(scene) {
        Ok(true) => Past::of(scene, &head, &remains.frames)
            .map_err(|why| blame(format!("in {}, {why}", directory.path().join("frames.pvd").display())))?,
        _ => Past::default(),
    };
    Ok((head, past))
}

/// There are checkpoints, and none can be used.
fn refusal(directory: &RunDirectory, passed_over: &[String]) -> ResumeError {
    let path = directory.path();
    ResumeError::Refused(format!(
        "no checkpoint of {} can be used, and nothing was touched: {}. If that cannot be mended, `barchan run {} \
         --force --out {}` begins anew",
        path.display(),
        passed_over.join("; "),
        typed(&path.join("scene.toml")),
        typed(path)
    ))
}

/// Reads this rank's part, if there are as many as ranks; else looks at its share of them. If any rank
/// has found one that is not valid, none has; rank 0 knows why.
fn read_own(
    folder: &CheckpointFolder,
    head: &CheckpointHead,
    scene: &Scene,
    comm: &mut dyn Communicator,
) -> Result<Option<Part>, Option<String>> {
    let rank = comm.rank();
    let ranks = comm.size();
    let parts = head.parts.len();
    let read = |rank: usize| {
        let part = read_part(folder, head, rank).and_then(|part| {
            part.fit(scene, parts)?;
            match Tally::read(&part.record) {
                Some(_) => Ok(part),
                None => Err(Damage::Contents("its record makes no sense".into())),
            }
        });
        part.map_err(|damage| blame(folder, head, rank, &damage))
    };
    let own = if parts == ranks {
        read(rank).map(Some)
    } else {
        (rank..parts).step_by(ranks).try_for_each(|part| read(part).map(drop)).map(|()| None)
    };
    let told = comm.gather(own.as_ref().err().map_or(&[][..], |message| message.as_bytes()));
    let mut bad = [f64::from(u8::from(own.is_err()))];
    comm.all_reduce(Reduction::Max, &mut bad);
    match own {
        Ok(part) if bad[0] == 0.0 => Ok(part),
        _ => {
            let told = told.into_iter().flatten().find(|message| !message.is_empty());
            Err(told.map(|message| String::from_utf8_lossy(&message).into_owned()))
        }
    }
}

pub(super) fn blame(folder: &CheckpointFolder, head: &CheckpointHead, rank: usize, damage: &Damage) -> String {
    format!("{}: {damage}", folder.part(head.step, rank).display())
}

/// The record of the run up to a checkpoint: of this rank, or of rank 0 where there were others then.
pub(super) fn record(
    part: Option<&Part>,
    folder: &CheckpointFolder,
    head: &CheckpointHead,
    comm: &mut dyn Communicator,
) -> Result<(Tally, Spent), ResumeError> {
    let mut bytes = match part {
        Some(part) => part.record.clone(),
        None if comm.rank() == 0 => read_part(folder, head, 0).map(|part| part.record).unwrap_or_default(),
        None => Vec::new(),
    };
    if part.is_none() {
        comm.broadcast(&mut bytes);
    }
    let record =
        Tally::read(&bytes).ok_or_else(|| ResumeError::Refused("the record of a checkpoint makes no sense".into()));
    let (mut tally, spent) = agree_to_resume(comm, record)?;
    if part.is_none() {
        // Nobody has done the work of these ranks.
        tally.busy = 0.0;
    }
    Ok((tally, spent))
}

/// The summary of a run that has come to its end and has said so.
pub(super) fn summary_of_end(directory: &RunDirectory, scene: &Scene, comm: &mut dyn Communicator) -> Option<Summary> {
    let summary = if comm.rank() == 0 { directory.read_summary() } else { None };
    let summary = summary.filter(|summary| is_end(scene, summary));
    let mut is_there = [f64::from(u8::from(summary.is_some()))];
    comm.all_reduce(Reduction::Max, &mut is_there);
    (is_there[0] > 0.0).then(|| summary.unwrap_or_default())
}

/// Whether a summary is that of the end of a scene.
fn is_end(scene: &Scene, summary: &Summary) -> bool {
    let is_there = scene.time.steps().map_or(scene.time.is_over(summary.steps, summary.time), |n| summary.steps == n);
    is_there && !summary.interrupted
}

/// If any rank cannot go on, none can, and the first of those says why.
pub(super) fn agree_to_resume<T>(
    comm: &mut dyn Communicator,
    result: Result<T, ResumeError>,
) -> Result<T, ResumeError> {
    let rank = comm.rank() as f64;
    let mut first = [if result.is_err() { rank } else { f64::INFINITY }];
    comm.all_reduce(Reduction::Min, &mut first);
    if first[0] == rank || first[0] == f64::INFINITY { result } else { Err(ResumeError::Elsewhere) }
}

impl Tally {
    /// Appends all of it, and what the run has spent.
    pub(super) fn write(&self, spent: &Spent, out: &mut Vec<u8>) {
        self.pack(out);
        spent.pack(out);
    }

    /// Takes back what [`Tally::write`] wrote.
    fn read(bytes: &[u8]) -> Option<(Self, Spent)> {
        let mut from = Unpacker::new(bytes);
        let record = (from.take()?, from.take()?);
        from.is_empty().then_some(record)
    }
}
