//! Checkpoints: a run that was ended at any moment goes on as if nothing had happened.
//!
//! A checkpoint is a part a rank and a head. A part has all that the next step of its rank depends on,
//! and the run's record up to there ([`Part`]). The head says how many parts there are and what each of
//! them sums up to, and is written last: what has no head is no checkpoint ([`CheckpointHead`]).
//!
//! | file in `checkpoints/` | written |
//! |---|---|
//! | `step-000000500.part-0000`, ... | whole, by each rank, while its simulation goes on |
//! | `step-000000500.head` | whole, by rank 0, when all parts are on the disk |
//!
//! Both are bytes behind the same forty of a seal (`seal`): what it is, the version, length and checksum.
//! Nothing that a file says is believed before its checksum is right, and no memory is asked for that
//! the file cannot fill. A version that is not this one's is refused.
//!
//! The last few are kept. Older ones go when a new one is whole, so that there is always one to go on
//! from.

mod head;
mod part;
mod schedule;
mod seal;
mod writer;

pub use head::{CheckpointHead, PartNote, engine};
pub use part::Part;
pub use seal::{Damage, LENGTH as SEAL_LENGTH, VERSION};
pub(crate) use writer::{Before, CheckpointWriter, Taken};

use crate::comm::Solo;
use crate::output::CheckpointFolder;
use crate::scene::Scene;
use crate::step::Simulation;
use std::fs;

/// Reads the head of a step.
///
/// # Errors
/// If it is not there, or not valid.
pub fn read_head(folder: &CheckpointFolder, step: u64) -> Result<CheckpointHead, Damage> {
    let head = CheckpointHead::read(&fs::read(folder.head(step))?)?;
    if head.step == step { Ok(head) } else { Err(Damage::Contents(format!("it is of step {}", head.step))) }
}

/// Reads a part that a head names.
///
/// # Errors
/// If it is not there, not valid, or not the one that the head means.
pub fn read_part(folder: &CheckpointFolder, head: &CheckpointHead, rank: usize) -> Result<Part, Damage> {
    let Some(note) = head.parts.get(rank) else { return Err(Damage::Contents(format!("it has no part {rank}"))) };
    let path = folder.part(head.step, rank);
    // Before it is taken into memory.
    let found = fs::metadata(&path)?.len();
    if found == 0 {
        return Err(Damage::Empty);
    }
    if found != note.length {
        return Err(Damage::Length { found, expected: note.length });
    }
    let part = Part::read(&fs::read(&path)?)?;
    let expected = [rank as u32, head.parts.len() as u32];
    if part.checksum != note.checksum || part.place != expected || part.state.steps() != head.step {
        return Err(Damage::Contents("it belongs to another checkpoint".into()));
    }
    Ok(part)
}

/// What the bytes of a file are.
pub enum Contents {
    /// The head of a checkpoint.
    Head(CheckpointHead),
    /// A rank's part.
    Part(Box<Part>),
}

/// Reads the bytes of a file of `checkpoints/`, whichever it is. It does not touch the disk.
///
/// # Errors
/// If the bytes are not those of a valid file.
pub fn examine(bytes: &[u8]) -> Result<Contents, Damage> {
    match CheckpointHead::read(bytes) {
        Err(Damage::Kind { .. }) => Part::read(bytes).map(|part| Contents::Part(Box::new(part))),
        head => head.map(Contents::Head),
    }
}

/// The same for bytes whose seal may be wrong: what is inside is read as a head and as a part, as if
/// the seal were right. For those who look for bytes that do harm.
pub fn examine_unsealed(payload: &[u8]) -> (Result<CheckpointHead, Damage>, Result<Part, Damage>) {
    (CheckpointHead::parse(payload), Part::parse(payload))
}

/// A simulation that goes on from all parts of a checkpoint of this scene, on one rank. It has no run
/// directory: [`crate::run::Run::resume`] goes on with that, too.
///
/// # Errors
/// If a part does not fit the scene, or the scene cannot be used.
pub fn go_on(scene: &Scene, parts: &[Part]) -> Result<Simulation, Damage> {
    if parts.is_empty() {
        return Err(Damage::Contents("there are no parts".into()));
    }
    for (rank, part) in parts.iter().enumerate() {
        part.fit(scene, parts.len())?;
        let [step, first] = [part, &parts[0]].map(|part| part.state.steps());
        if part.place[0] as usize != rank || step != first {
            let found = format!("part {rank} is that of rank {} after step {step}", part.place[0]);
            return Err(Damage::Contents(format!("{found}, expected rank {rank} after step {first}")));
        }
    }
    let went = match parts {
        [part] => Simulation::resume(scene, part.state.clone(), &[], Box::new(Solo)),
        _ => Simulation::resume_redistributed(scene, parts.len(), |k| Ok(parts[k].state.clone()), Box::new(Solo)),
    };
    went.map_err(|error| Damage::Contents(error.to_string()))
}
