//! Calls that all ranks make together.
//!
//! There is one table. Each rank puts down what it brings, the last one to come does the work, and
//! all take the result. Nobody can come to the next meeting, and so change a result, before all
//! have come to it, and so have taken what they needed from this one.

use super::bell::Bell;
use super::{World, lock};
use crate::comm::Reduction;
use std::fmt;
use std::sync::atomic::Ordering;
use std::sync::{Mutex, MutexGuard};

/// What a meeting is for. All must come for the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Call {
    Reduce(Reduction, usize),
    Gather,
    Broadcast,
    Barrier,
}

impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Reduce(reduction, count) => write!(f, "all_reduce({reduction:?}) of {count}"),
            Self::Gather => f.write_str("gather"),
            Self::Broadcast => f.write_str("broadcast"),
            Self::Barrier => f.write_str("barrier"),
        }
    }
}

/// What a rank brings. Its memory is kept.
#[derive(Default)]
pub(super) struct Contribution {
    present: bool,
    numbers: Vec<f64>,
    bytes: Vec<u8>,
}

impl Contribution {
    pub(super) fn set_numbers(&mut self, numbers: &[f64]) {
        self.numbers.clear();
        self.numbers.extend_from_slice(numbers);
    }

    pub(super) fn set_bytes(&mut self, bytes: &[u8]) {
        self.bytes.clear();
        self.bytes.extend_from_slice(bytes);
    }
}

/// Where ranks meet.
pub(super) struct Table {
    places: Vec<Contribution>,
    present: usize,
    /// How many meetings there were.
    round: u64,
    /// What this one is for, and who came first.
    call: Option<(Call, usize)>,
    /// Of the last reduction.
    pub(super) result: Vec<f64>,
    /// Of the last gathering, for rank 0 to take.
    pub(super) gathered: Vec<Vec<u8>>,
    /// Of the last broadcast.
    pub(super) word: Vec<u8>,
}

impl Table {
    /// Those who have not come yet.
    fn absent(&self) -> impl Iterator<Item = usize> {
        self.places.iter().enumerate().filter(|(_, place)| !place.present).map(|(rank, _)| rank)
    }

    /// The work of the last to come.
    fn conclude(&mut self, call: Call) {
        match call {
            Call::Reduce(reduction, _) => self.reduce(reduction),
            Call::Gather => {
                self.gathered = self.places.iter_mut().map(|place| std::mem::take(&mut place.bytes)).collect()
            }
            Call::Broadcast => std::mem::swap(&mut self.word, &mut self.places[0].bytes),
            Call::Barrier => {}
        }
        self.places.iter_mut().for_each(|place| place.present = false);
        self.present = 0;
        self.call = None;
        self.round += 1;
    }

    /// Folds in the order of ranks, whoever came when.
    fn reduce(&mut self, reduction: Reduction) {
        let Some((first, others)) = self.places.split_first() else { return };
        self.result.clone_from(&first.numbers);
        for place in others {
            for (total, value) in self.result.iter_mut().zip(&place.numbers) {
                *total = match reduction {
                    Reduction::Sum => *total + value,
                    Reduction::Max => total.max(*value),
                    Reduction::Min => total.min(*value),
                };
            }
        }
    }
}

/// The table with its lock and its bell.
pub(super) struct Collective {
    table: Mutex<Table>,
    bell: Bell,
}

impl Collective {
    pub(super) fn new(size: usize) -> Self {
        let mut places = Vec::new();
        places.resize_with(size, Contribution::default);
        let table = Table {
            places,
            present: 0,
            round: 0,
            call: None,
            result: Vec::new(),
            gathered: Vec::new(),
            word: Vec::new(),
        };
        Self { table: Mutex::new(table), bell: Bell::default() }
    }

    /// Wakes all who wait here. The lock is taken so that none can be about to wait.
    pub(super) fn wake(&self) {
        drop(lock(&self.table));
        self.bell.ring();
    }

    /// Brings something to a meeting and waits until all have come. Gives the table with the
    /// results, and the seconds of waiting.
    pub(super) fn attend<'a>(
        &'a self,
        world: &World,
        rank: usize,
        call: Call,
        bring: impl FnOnce(&mut Contribution),
    ) -> (MutexGuard<'a, Table>, f64) {
        let mut table = lock(&self.table);
        let (expected, first) = *table.call.get_or_insert((call, rank));
        if expected != call {
            drop(table);
            world.fail(rank, format!("is at {call}, but rank {first} at {expected}"));
        }
        bring(&mut table.places[rank]);
        table.places[rank].present = true;
        table.present += 1;
        if table.present == world.size {
            table.conclude(call);
            self.bell.ring();
            return (table, 0.0);
        }
        let round = table.round;
        world.wait(
            rank,
            (&self.table, table),
            &self.bell,
            |table| table.round != round,
            |table| {
                let gone = table.absent().find(|r| world.mailboxes[*r].left.load(Ordering::Acquire));
                gone.map(|r| {
                    format!("waits at {call} ({}) for rank {r}, which has returned", world.mailboxes[rank].stage())
                })
            },
            |table| table.absent().collect(),
        )
    }
}
