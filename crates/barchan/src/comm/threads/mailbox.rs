//! Messages between two ranks.
//!
//! A rank has a mailbox with a queue for each other rank. A message is copied once, into a buffer that
//! earlier ones have left in the queue; the receiver takes the buffer and leaves its own. Sender and
//! receiver are never more than one exchange apart, so there are soon enough buffers.
//!
//! Exchanges are numbered. Every rank takes part in each of them, so a number that does not fit
//! shows neighbours that do not agree.

use super::bell::Bell;
use super::{World, lock, one_sided};
use std::collections::VecDeque;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Where a rank gets its messages, and what others may know of it.
pub(super) struct Mailbox {
    /// A queue for each sender.
    queues: Mutex<Vec<Queue>>,
    bell: Bell,
    /// The last exchange for which this rank has sent all its messages.
    pub(super) posted: AtomicU64,
    /// Whether the rank has returned.
    pub(super) left: AtomicBool,
    stage: Mutex<&'static str>,
}

#[derive(Default)]
struct Queue {
    messages: VecDeque<Message>,
    buffers: Vec<Vec<u8>>,
}

struct Message {
    number: u64,
    bytes: Vec<u8>,
}

impl Mailbox {
    pub(super) fn new(size: usize) -> Self {
        let mut queues = Vec::new();
        queues.resize_with(size, Queue::default);
        Self {
            queues: Mutex::new(queues),
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
        drop(lock(&self.queues));
        self.bell.ring();
    }

    /// Puts a message from another rank here.
    pub(super) fn post(&self, from: usize, number: u64, bytes: &[u8]) {
        let mut buffer = lock(&self.queues)[from].buffers.pop().unwrap_or_default();
        // Copied outside of the lock: messages can be long.
        buffer.clear();
        buffer.extend_from_slice(bytes);
        lock(&self.queues)[from].messages.push_back(Message { number, bytes: buffer });
        self.bell.ring();
    }

    /// Takes the message of an exchange, when it comes. Gives the seconds of waiting.
    pub(super) fn take(&self, world: &World, from: usize, to: usize, number: u64, bytes: &mut Vec<u8>) -> f64 {
        let partner = &world.mailboxes[from];
        let (mut queues, waited) = world.wait(
            to,
            (&self.queues, lock(&self.queues)),
            &self.bell,
            |queues| !queues[from].messages.is_empty(),
            // The partner posts to all its neighbours before it says so. We hold our queues, so
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
        let queue = &mut queues[from];
        match queue.messages.pop_front() {
            Some(mut message) if message.number == number => {
                std::mem::swap(bytes, &mut message.bytes);
                queue.buffers.push(message.bytes);
                waited
            }
            message => {
                // An older message was not expected by us; a newer one shows that ours is missing.
                let older = message.map(|message| message.number).filter(|old| *old < number);
                drop(queues);
                world.fail(to, older.map_or_else(|| one_sided(number, to, from), |old| one_sided(old, from, to)))
            }
        }
    }

    /// The sender and the number of a message that nobody has taken.
    pub(super) fn unread(&self) -> Option<(usize, u64)> {
        let queues = lock(&self.queues);
        queues.iter().enumerate().find_map(|(from, queue)| Some((from, queue.messages.front()?.number)))
    }
}
