//! When a run is kept: at its intervals, when it is stopped, and at its end.

use super::spent::Spent;
use super::{Run, RunError};
use crate::checkpoint::{CheckpointHead, engine};
use crate::output::OutputError;
use std::time::Instant;

/// What all ranks have agreed on after a step.
#[derive(Clone, Copy, Debug)]
pub(super) struct Votes {
    /// Some rank wants to stop.
    pub(super) stop: bool,
    /// Rank 0's clock asks for a checkpoint.
    pub(super) due: bool,
    /// Some rank still writes the last one.
    pub(super) busy: bool,
}

impl Run {
    /// What comes after the last step. A run that was interrupted is kept before anything else is
    /// written: whoever is in a hurry may interrupt that, too.
    pub(super) fn end(&mut self) -> Result<(), RunError> {
        if !self.is_over() {
            self.take_last_checkpoint(false)?;
            return self.record_end();
        }
        let recorded = self.record_end();
        self.take_last_checkpoint(recorded.is_ok())?;
        recorded
    }

    /// Finishes the checkpoint that all ranks have written, and takes one if it is time. What must be soon
    /// waits for the one before; what must only be some time does not.
    pub(super) fn update_checkpoints(&mut self, votes: &Votes) -> Result<(), OutputError> {
        if !votes.busy {
            self.finish_pending_checkpoint();
        }
        let Some(writer) = &self.writer else { return Ok(()) };
        let step = self.tally.steps;
        let due = writer.due_by_steps(step) || votes.due && !writer.is_pending();
        // At the end there will be one anyway.
        if due && !self.is_over() { self.take_checkpoint(false) } else { Ok(()) }
    }

    /// Waits until the pending checkpoint, if there is one, is on the disk.
    pub(super) fn finish_pending_checkpoint(&mut self) {
        let (Some(writer), Some(recorder)) = (&mut self.writer, &mut self.recorder) else { return };
        let start = Instant::now();
        writer.finish_pending(self.simulation.comm());
        recorder.spent.checkpoint.add(start);
    }

    /// Takes the last checkpoint, unless it is there, and waits until it is on the disk.
    fn take_last_checkpoint(&mut self, is_end: bool) -> Result<(), OutputError> {
        self.finish_pending_checkpoint();
        let Some(writer) = self.writer.as_mut().filter(|writer| writer.is_on()) else { return Ok(()) };
        let step = self.tally.steps;
        match writer.last() {
            Some(last) if last.step == step => {
                if is_end && !last.is_end && self.simulation.comm().rank() == 0 {
                    writer.mark_end(self.scene.to_toml());
                }
                Ok(())
            }
            _ => {
                self.take_checkpoint(is_end)?;
                self.finish_pending_checkpoint();
                Ok(())
            }
        }
    }

    /// Takes a checkpoint. It is written while the run goes on.
    fn take_checkpoint(&mut self, is_end: bool) -> Result<(), OutputError> {
        let (Some(writer), Some(recorder)) = (&mut self.writer, &mut self.recorder) else { return Ok(()) };
        let start = Instant::now();
        self.simulation.comm().stage("checkpoint");
        let before = recorder.before_checkpoint(&mut self.simulation);
        recorder.spent.checkpoint.add(start);
        let before = before?;
        let waited = Instant::now();
        let scene = if self.simulation.comm().rank() == 0 { self.scene.to_toml() } else { String::new() };
        let due = recorder.due_frames();
        let head = CheckpointHead {
            step: self.tally.steps,
            time: self.tally.time,
            length: self.simulation.h(),
            frames: due.frames as u64,
            last_frame: due.last,
            is_end,
            scene,
            engine: engine(),
            parts: Vec::new(),
        };
        let total = self.seconds_before + self.started.elapsed().as_secs_f64();
        let mut record = Vec::new();
        self.tally.write(&Spent { start: self.seconds_start, total, ..recorder.spent }, &mut record);
        writer.take(&mut self.simulation, head, &record, before, start);
        recorder.spent.checkpoint.add(waited);
        Ok(())
    }
}
