//! Where the seconds of a run go that are not those of its steps, so that every second is in some line of
//! the summary.

use crate::output::RunSeconds;
use crate::util::pack::{Pack, Unpacker};
use std::time::Instant;

/// Seconds that a run has spent, those before it has gone on included.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Spent {
    /// Building the world, or finding and reading a checkpoint.
    pub(super) start: f64,
    /// Writing tables, frames and the picture.
    pub(super) output: Told,
    /// Waiting for checkpoints, on several ranks also for the frames before them.
    pub(super) checkpoint: Told,
    /// In all, up to a checkpoint.
    pub(super) total: f64,
}

/// Seconds of a kind, of which rows tell.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Told {
    pub(super) all: f64,
    told: f64,
}

impl Told {
    /// Adds what has passed since.
    pub(super) fn add(&mut self, start: Instant) {
        self.all += start.elapsed().as_secs_f64();
    }

    /// What no row has told yet; from now on it is told.
    pub(super) fn tell(&mut self) -> f64 {
        let untold = self.all - self.told;
        self.told = self.all;
        untold
    }
}

impl Spent {
    /// All lines of the summary, with those of the steps and of the whole run. What is in none of the
    /// others is the rest: observers, votes, and what cannot be told apart.
    pub(super) fn stages(&self, steps: RunSeconds, total: f64) -> RunSeconds {
        let start = self.start;
        let output = self.output.all;
        let checkpoint = self.checkpoint.all;
        let all = RunSeconds { start, output, checkpoint, other: 0.0, total, ..steps };
        RunSeconds { other: (total - all.sum()).max(0.0), ..all }
    }
}

impl Pack for Spent {
    fn pack(&self, out: &mut Vec<u8>) {
        let Self { start, output, checkpoint, total } = *self;
        [start, output.all, output.told, checkpoint.all, checkpoint.told, total].pack(out);
    }

    fn unpack(from: &mut Unpacker<'_>) -> Option<Self> {
        let [start, output, output_told, checkpoint, checkpoint_told, total] = from.take()?;
        let told = |all, told| Told { all, told };
        Some(Self { start, output: told(output, output_told), checkpoint: told(checkpoint, checkpoint_told), total })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_second_is_in_a_line() {
        let mut spent = Spent { start: 1.0, total: 9.0, ..Spent::default() };
        (spent.output.all, spent.checkpoint.all) = (2.0, 3.0);
        assert_eq!((spent.output.tell(), spent.output.tell(), spent.checkpoint.tell()), (2.0, 0.0, 3.0));
        spent.checkpoint.all += 0.5;
        let mut bytes = Vec::new();
        spent.pack(&mut bytes);
        assert_eq!(Unpacker::new(&bytes).take(), Some(spent));
        assert_eq!(spent.checkpoint.tell(), 0.5);
        let steps = RunSeconds { solve: 5.0, broad: 1.5, ..RunSeconds::default() };
        let stages = spent.stages(steps, 16.0);
        assert_eq!((stages.start, stages.output, stages.checkpoint, stages.other), (1.0, 2.0, 3.5, 3.0));
        assert_eq!((stages.sum(), stages.total), (16.0, 16.0));
        // The slowest of several ranks may not be the same in all stages.
        assert_eq!(spent.stages(steps, 4.0).other, 0.0);
    }
}
