//! Messages between two ranks.
//!
//! A rank has a desk with a pigeonhole for each other rank. A message is copied once, into a sheet
//! that lies in the hole from earlier ones; the receiver takes the sheet and leaves its own. Sender
//! and receiver are never more than one exchange apart, so there are soon enough sheets.
//!
//! Exchanges are numbered. Every rank takes part in each of them, so a number that does not fit
//! shows neighbours that do not agree.

use super::bell::Bell;
use super::{World, lock, one_sided};
use std::collections::VecDeque;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Where a rank gets its messages, and what others may know of it.
pub(super) struct Desk {
    /// A hole for each sender.
    holes: Mutex<Vec<Hole>>,
    bell: Bell,
    /// The last exchange for which this rank has sent all its messages.
    pub(super) posted: AtomicU64,
    /// Whether the rank has returned.
    pub(super) left: AtomicBool,
    stage: Mutex<&'static str>,
}

#[derive(Default)]
struct Hole {
    letters: VecDeque<Letter>,
    sheets: Vec<Vec<u8>>,
}

struct Letter {
    number: u64,
    bytes: Vec<u8>,
}

impl Desk {
    pub(super) fn new(size: usize) -> Self {
        let mut holes = Vec::new();
        holes.resize_with(size, Hole::default);
        Self {
            holes: Mutex::new(holes),
            bell: Bell::default(),
            posted: AtomicU64::new(0),
            left: AtomicBool::new(false),
            stage: Mutex::new("start"),
        }
    }

    pub(super) fn set_stage(&self, name: &'static str) {
        *lock(&self.stage) = name;
    }

    /// What the rank is doing, as a message says it.
    pub(super) fn stage(&self) -> String {
        format!("in stage \"{}\"", *lock(&self.stage))
    }

    /// Wakes the rank if it waits here. The lock is taken so that it cannot be about to wait.
    pub(super) fn wake(&self) {
        drop(lock(&self.holes));
        self.bell.ring();
    }

    /// Puts a message from another rank here.
    pub(super) fn post(&self, from: usize, number: u64, bytes: &[u8]) {
        let mut sheet = lock(&self.holes)[from].sheets.pop().unwrap_or_default();
        // Copied outside of the lock: messages can be long.
        sheet.clear();
        sheet.extend_from_slice(bytes);
        lock(&self.holes)[from].letters.push_back(Letter { number, bytes: sheet });
        self.bell.ring();
    }

    /// Takes the message of an exchange, when it comes. Gives the seconds of waiting.
    pub(super) fn take(&self, world: &World, from: usize, to: usize, number: u64, bytes: &mut Vec<u8>) -> f64 {
        let partner = &world.desks[from];
        let (mut holes, waited) = world.wait(
            to,
            (&self.holes, lock(&self.holes)),
            &self.bell,
            |holes| !holes[from].letters.is_empty(),
            // The partner posts to all its neighbours before it says so. We hold our holes, so
            // what it has posted is in them.
            |_| {
                if partner.posted.load(Ordering::Acquire) >= number {
                    return Some(one_sided(number, to, from));
                }
                let left = partner.left.load(Ordering::Acquire);
                left.then(|| format!("waits ({}) for rank {from}, which has returned", self.stage()))
            },
            |_| vec![from],
        );
        let hole = &mut holes[from];
        match hole.letters.pop_front() {
            Some(mut letter) if letter.number == number => {
                std::mem::swap(bytes, &mut letter.bytes);
                hole.sheets.push(letter.bytes);
                waited
            }
            letter => {
                // An older letter was not expected by us; a newer one shows that ours is missing.
                let older = letter.map(|letter| letter.number).filter(|old| *old < number);
                drop(holes);
                world.fail(to, older.map_or_else(|| one_sided(number, to, from), |old| one_sided(old, from, to)))
            }
        }
    }

    /// The sender and the number of a message that nobody has taken.
    pub(super) fn unread(&self) -> Option<(usize, u64)> {
        let holes = lock(&self.holes);
        holes.iter().enumerate().find_map(|(from, hole)| Some((from, hole.letters.front()?.number)))
    }
}
