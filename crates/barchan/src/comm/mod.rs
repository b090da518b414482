//! Ranks and what they say to each other.
//!
//! A run is spread over ranks: processes of an MPI job, or threads of one process that share
//! nothing else ([`threads`]). Each is handed a [`Communicator`] and knows the others by number.
//! One rank alone has [`Solo`], and every run without ranks is such a run.
//!
//! Calls do not fail. A rank whose partner is lost cannot go on, and there is nothing that its
//! caller could do about it: the communicator ends the rank, saying which partner and which stage
//! it was.
//!
//! Messages are bytes ([`crate::util::pack`]). Ranks begin with a [`handshake`]. Whoever
//! writes another communicator can hold it against [`conformance`].

pub mod conformance;
mod handshake;
mod solo;
pub mod threads;

pub(crate) use handshake::named;
pub use handshake::{HandshakeError, handshake};
pub use solo::Solo;

use std::time::Duration;

/// How long a rank waits for another, by default. Then it ends all of them.
pub const PATIENCE: Duration = Duration::from_secs(300);

/// How numbers of all ranks become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reduction {
    /// Their sum.
    Sum,
    /// The largest.
    Max,
    /// The smallest.
    Min,
}

/// What a rank has sent, and how long it has waited.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Traffic {
    /// Messages to neighbours.
    pub messages: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Reductions over all ranks.
    pub reductions: u64,
    /// Seconds of waiting for others.
    pub waiting: f64,
}

/// One rank's communicator.
///
/// Every rank makes the same calls in the same order, except for [`Communicator::abort`].
pub trait Communicator: Send {
    /// This rank, from 0.
    fn rank(&self) -> usize;

    /// How many ranks there are.
    fn size(&self) -> usize;

    /// Names what is being done, for the message of a rank that waits in vain.
    fn stage(&mut self, name: &'static str);

    /// Sends `outgoing[k]` to rank `neighbours[k]` and puts what comes from there into
    /// `incoming[k]`, whose memory is used again. Sizes are unknown to the receiver. Who is my
    /// neighbour has me as one; an empty buffer is a message too.
    fn exchange(&mut self, neighbours: &[u32], outgoing: &[Vec<u8>], incoming: &mut [Vec<u8>]);

    /// Replaces each value by that of all ranks together: the same bits on every rank.
    fn all_reduce(&mut self, reduction: Reduction, values: &mut [f64]);

    /// Gives rank 0 the bytes of every rank, in order; the others get nothing.
    fn gather(&mut self, bytes: &[u8]) -> Option<Vec<Vec<u8>>>;

    /// Gives every rank the bytes of rank 0.
    fn broadcast(&mut self, bytes: &mut Vec<u8>);

    /// Waits until all ranks have come here.
    fn barrier(&mut self);

    /// Ends all ranks at once. For errors that the others have not been told of.
    fn abort(&self, message: &str) -> !;

    /// What was sent so far.
    fn traffic(&self) -> Traffic;
}

/// What is wrong with the arguments of [`Communicator::exchange`], as far as one rank can see it.
pub fn check_exchange(
    communicator: &dyn Communicator,
    neighbours: &[u32],
    outgoing: &[Vec<u8>],
    incoming: &[Vec<u8>],
) -> Result<(), String> {
    let rank = communicator.rank();
    let size = communicator.size();
    if outgoing.len() != neighbours.len() || incoming.len() != neighbours.len() {
        let n = neighbours.len();
        let out = outgoing.len();
        let inn = incoming.len();
        return Err(format!("{n} neighbours, but buffers for {out} to send to and {inn} to receive from"));
    }
    if let Some(stranger) = neighbours.iter().find(|n| **n as usize >= size) {
        return Err(format!("rank {stranger} as a neighbour, where ranks go from 0 to {}", size - 1));
    }
    if neighbours.iter().any(|n| *n as usize == rank) {
        return Err("itself as a neighbour".into());
    }
    // Ascending lists are the rule, and quick to check.
    if neighbours.windows(2).all(|pair| pair[0] < pair[1]) {
        return Ok(());
    }
    match neighbours.iter().enumerate().find(|(k, n)| neighbours[..*k].contains(n)) {
        Some((_, n)) => Err(format!("rank {n} twice as a neighbour")),
        None => Ok(()),
    }
}
