//! When checkpoints are taken, and how they come to the disk while the simulation goes on.
//!
//! Taking one copies the state to memory; that is all that the simulation waits for. A thread writes
//! the copy, when the frames before it are on the disk. On one rank it writes the head as well. On
//! several the head waits until all of them have their parts on the disk, which they tell each other in
//! the vote after every step, and only then does rank 0 write it.
//!
//! A checkpoint that cannot be written is lost, and nothing else: the run goes on, the one before is
//! still there, and the run says so.

use super::head::PartNote;
use super::schedule::Schedule;
use super::{CheckpointHead, Part};
use crate::comm::{Communicator, Reduction};
use crate::output::{Attach, CheckpointFolder, CheckpointSummary, OutputError, sync_directory};
use crate::scene::CheckpointOptions;
use crate::step::Simulation;
use crate::util::pack::{Pack, Unpacker};
use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::sync::mpsc::Receiver;
use std::thread::{self, JoinHandle};
use std::time::Instant;

/// Takes and writes the checkpoints of a run. Every rank has one, and all of them make the same calls.
pub(crate) struct CheckpointWriter {
    folder: CheckpointFolder,
    options: CheckpointOptions,
    /// The one that is being written.
    pending: Option<Pending>,
    /// The last one that was taken, and whether it was at the end of the run; `None` if it was lost. The
    /// same on all ranks.
    last: Option<Taken>,
    schedule: Schedule,
    /// How many there were.
    tally: CheckpointSummary,
    /// What went wrong and was not told yet; on rank 0.
    trouble: Option<String>,
}

/// Which checkpoint was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Taken {
    pub(crate) step: u64,
    pub(crate) is_end: bool,
}

/// A checkpoint on its way to the disk.
struct Pending {
    head: CheckpointHead,
    part: Option<JoinHandle<Result<PartNote, OutputError>>>,
}

/// What must be on the disk before a checkpoint counts: frames, tables, and directories with new names.
#[derive(Debug, Default)]
pub(crate) struct Before {
    /// Comes when all frames that were taken are there, unless they are.
    pub(crate) frames: Option<Receiver<()>>,
    pub(crate) files: Vec<(File, PathBuf)>,
    pub(crate) directories: Vec<PathBuf>,
}

impl Before {
    fn sync(&self, folder: &CheckpointFolder) -> Result<(), OutputError> {
        if let Some(frames) = &self.frames {
            let lost = |_| io::Error::other("a frame before it could not be written");
            frames.recv().map_err(lost).attach("write a checkpoint to", folder.path())?;
        }
        for (file, path) in &self.files {
            match file.sync_data() {
                // Some special files cannot be synchronised; there is nothing to lose then.
                Err(error) if error.kind() == io::ErrorKind::InvalidInput => {}
                result => result.attach("write", path)?,
            }
        }
        self.directories.iter().try_for_each(|path| sync_directory(path))
    }
}

/// What the thread does.
struct Job {
    folder: CheckpointFolder,
    keep: usize,
    rank: usize,
    /// The checkpoint; it lacks its parts.
    head: CheckpointHead,
    /// Whether this rank is alone, and so writes the head as well.
    is_alone: bool,
    first_key: Option<u64>,
    bytes: Vec<u8>,
    before: Before,
}

impl Job {
    fn run(mut self) -> Result<PartNote, OutputError> {
        // First, so that the name of the folder is brought to the disk with others.
        self.folder.make()?;
        self.before.sync(&self.folder)?;
        let checksum = Part::seal(&mut self.bytes);
        let note = PartNote { length: self.bytes.len() as u64, checksum, first_key: self.first_key };
        self.folder.write(&self.folder.part(self.head.step, self.rank), &self.bytes)?;
        if self.is_alone {
            complete(&self.folder, CheckpointHead { parts: vec![note], ..self.head }, self.keep)?;
        }
        Ok(note)
    }
}

/// Writes the head of a checkpoint whose parts are there, and drops those that are too old.
fn complete(folder: &CheckpointFolder, head: CheckpointHead, keep: usize) -> Result<(), OutputError> {
    folder.write(&folder.head(head.step), &head.to_bytes())?;
    // One too many does no harm.
    let _ = folder.prune(head.step, keep);
    Ok(())
}

impl CheckpointWriter {
    /// For a run of which this checkpoint is the last, if there is one.
    pub(crate) fn new(folder: CheckpointFolder, options: CheckpointOptions, last: Option<Taken>) -> Self {
        let tally = CheckpointSummary { last: last.map(|last| last.step), ..CheckpointSummary::default() };
        let schedule = Schedule::new(options.seconds, Instant::now());
        Self { folder, options, pending: None, last, schedule, tally, trouble: None }
    }

    /// Whether there are any.
    pub(crate) fn is_on(&self) -> bool {
        self.options.keep > 0
    }

    /// Whether a number of steps asks for one. The same on all ranks.
    pub(crate) fn due_by_steps(&self, step: u64) -> bool {
        self.is_on() && self.options.steps > 0 && step.is_multiple_of(self.options.steps)
    }

    /// Whether this rank's clock asks for one.
    pub(crate) fn due_by_time(&self) -> bool {
        self.is_on() && self.schedule.is_due(Instant::now())
    }

    /// Whether this rank still writes its part of one.
    pub(crate) fn is_busy(&self) -> bool {
        let part = self.pending.as_ref().and_then(|pending| pending.part.as_ref());
        part.is_some_and(|part| !part.is_finished())
    }

    /// Whether one was taken that is not finished. The same on all ranks.
    pub(crate) fn is_pending(&self) -> bool {
        self.pending.is_some()
    }

    /// The last one that was taken.
    pub(crate) fn last(&self) -> Option<Taken> {
        self.last
    }

    /// What was written; why some were not is known to rank 0.
    pub(crate) fn summary(&self) -> CheckpointSummary {
        self.tally.clone()
    }

    /// What went wrong since it was last asked for; known to rank 0.
    pub(crate) fn trouble(&mut self) -> Option<String> {
        self.trouble.take()
    }

    /// Takes a checkpoint, with a head that lacks its parts; the one before is finished first. `before` is
    /// brought to the disk with it. The simulation has waited since `start`. All ranks call this.
    pub(crate) fn take(
        &mut self,
        simulation: &mut Simulation,
        head: CheckpointHead,
        record: &[u8],
        before: Before,
        start: Instant,
    ) {
        self.finish_pending(simulation.comm());
        self.last = Some(Taken { step: head.step, is_end: head.is_end });
        let first_key = simulation.domain().and_then(|domain| domain.range()).map(|keys| keys[0]);
        let comm = simulation.comm();
        let rank = comm.rank();
        let ranks = comm.size();
        let job = Job {
            folder: self.folder.clone(),
            keep: self.options.keep as usize,
            rank,
            head: head.clone(),
            is_alone: ranks == 1,
            first_key,
            bytes: Part::gather(simulation, [rank as u32, ranks as u32], record),
            before,
        };
        // Without a thread there is no part, which will be told.
        let part = thread::Builder::new().name("checkpoint".into()).spawn(|| job.run()).ok();
        self.pending = Some(Pending { head, part });
        self.schedule.taken(Instant::now());
        self.tally.longest_pause = self.tally.longest_pause.max(start.elapsed().as_secs_f64());
    }

    /// Waits until the pending checkpoint is on the disk, or has failed, on all ranks. All call this.
    pub(crate) fn finish_pending(&mut self, comm: &mut dyn Communicator) {
        let Some(Pending { head, part }) = self.pending.take() else { return };
        comm.stage("checkpoint");
        let lost =
            |why: &str| Err(format!("cannot write {}: {why}", self.folder.part(head.step, comm.rank()).display()));
        let note = match part.map(JoinHandle::join) {
            Some(Ok(result)) => result.map_err(|error| error.to_string()),
            Some(Err(_)) => lost("its thread has failed"),
            None => lost("no thread could be started"),
        };
        let mut message = Vec::new();
        write_note(&note, &mut message);
        let step = head.step;
        let written = comm.gather(&message).map_or(Ok(()), |messages| self.gathered(head, &messages));
        let mut lost = [f64::from(u8::from(written.is_err()))];
        comm.all_reduce(Reduction::Max, &mut lost);
        if lost[0] > 0.0 {
            // Whoever needs one of this step must take it again.
            self.last = None;
        } else {
            self.tally.written += 1;
            self.tally.last = Some(step);
        }
        if let Err(error) = written {
            self.fail(&error);
        }
    }

    /// Writes the head, on rank 0 of several, if all parts are there by what their ranks say.
    fn gathered(&self, head: CheckpointHead, messages: &[Vec<u8>]) -> Result<(), String> {
        let told = |message: &Vec<u8>| read_note(message).unwrap_or_else(|| Err("a rank makes no sense".into()));
        let parts = messages.iter().map(told).collect::<Result<Vec<PartNote>, String>>()?;
        if messages.len() == 1 {
            return Ok(());
        }
        complete(&self.folder, CheckpointHead { parts, ..head }, self.options.keep as usize)
            .map_err(|error| error.to_string())
    }

    /// A checkpoint has failed: what there is of it goes, to make room.
    fn fail(&mut self, error: &str) {
        let _ = self.folder.prune(u64::MAX, self.options.keep as usize);
        self.tally.failed += 1;
        self.tally.failure = Some(error.to_owned());
        self.trouble = Some(format!("a checkpoint is lost, and the run goes on: {error}"));
    }

    /// Says of the last checkpoint, which is on the disk, that it is the run's end. For rank 0.
    pub(crate) fn mark_end(&mut self, scene: String) {
        let Some(last) = &mut self.last else { return };
        last.is_end = true;
        let step = last.step;
        // One that has failed was told already.
        if let Ok(head) = super::read_head(&self.folder, step) {
            let head = CheckpointHead { is_end: true, scene, ..head };
            if let Err(error) = self.folder.write(&self.folder.head(step), &head.to_bytes()) {
                self.fail(&error.to_string());
            }
        }
    }
}

fn write_note(note: &Result<PartNote, String>, message: &mut Vec<u8>) {
    note.is_ok().pack(message);
    match note {
        Ok(note) => note.pack(message),
        Err(error) => error.pack(message),
    }
}

fn read_note(message: &[u8]) -> Option<Result<PartNote, String>> {
    let mut from = Unpacker::new(message);
    Some(if from.take()? { Ok(from.take()?) } else { Err(from.take()?) })
}
