//! The communicator over MPI.
//!
//! Messages between neighbours are sent at once, and received as they come: probed for, since
//! their sizes are unknown, and matched by the probe, so that they are the ones that were probed.
//! Nothing blocks inside MPI. Every wait is a loop of looks with a watch beside it ([`Idle`]); a
//! rank that has waited too long says for whom and ends the job.
//!
//! The thread that starts it makes all calls (MPI's level "funneled").

use crate::idle::Idle;
use crate::last_words::{end_job, end_job_on_panic, set_stage, stage};
use barchan::comm::{Communicator, Reduction, Traffic, check_exchange};
use mpi::collective::SystemOperation;
use mpi::environment::Universe;
use mpi::point_to_point::{Destination as _, Source as _};
use mpi::request::{Request, Scope, scope};
use mpi::topology::SimpleCommunicator;
use mpi::traits::{Communicator as _, CommunicatorCollectives as _, Equivalence as _, Root as _};
use mpi::{Tag, Threading};
use std::thread::ThreadId;
use std::time::Duration;
use thiserror::Error;

/// Tags count the exchanges, to this number and again from 0. MPI grants tags up to 32767.
const TURN: u64 = 1 << 14;
const GATHER: Tag = TURN as Tag;

/// MPI counts bytes in 31 bits.
const LARGEST_PIECE: usize = 1 << 30;

/// Why MPI cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum MpiError {
    /// It can be started only once in a process.
    #[error("MPI is in use in this process already")]
    Started,
    /// The library does not know of threads.
    #[error("this MPI library allows no threads beside the one that calls it")]
    Threads,
}

/// A rank of an MPI job. MPI ends with it.
pub struct MpiCommunicator {
    // Kept for its end.
    _universe: Universe,
    rank: usize,
    size: usize,
    thread: ThreadId,
    patience: Duration,
    piece: usize,
    exchanges: u64,
    traffic: Traffic,
    /// What this rank brings to a reduction.
    own: Vec<f64>,
    /// Neighbours that are still to be heard, by place in the list, with the bytes that came.
    open: Vec<(usize, usize)>,
}

/// Those that a rank waits for.
enum Whom<'a> {
    Ranks(&'a [u32]),
    All(&'static str),
}

impl MpiCommunicator {
    /// Starts MPI. A process that was not started by `mpirun` is the only rank.
    ///
    /// A rank that waits longer than `patience` ends the job, and so does one that panics, on any
    /// of its threads. This thread has to make all calls.
    pub fn start(patience: Duration) -> Result<Self, MpiError> {
        let (universe, threading) = mpi::initialize_with_threading(Threading::Funneled).ok_or(MpiError::Started)?;
        if threading < Threading::Funneled {
            return Err(MpiError::Threads);
        }
        let world = universe.world();
        let (rank, size) = (world.rank() as usize, world.size() as usize);
        end_job_on_panic(rank, size);
        Ok(Self {
            _universe: universe,
            rank,
            size,
            thread: std::thread::current().id(),
            patience,
            piece: LARGEST_PIECE,
            exchanges: 0,
            traffic: Traffic::default(),
            own: Vec::new(),
            open: Vec::new(),
        })
    }

    /// Cuts messages into pieces of so many bytes, from 1 to 2³⁰, which is the default. All ranks
    /// must do the same. For tests: nobody wants to send gigabytes there.
    #[must_use]
    pub fn with_pieces_of(mut self, bytes: usize) -> Self {
        self.piece = bytes.clamp(1, LARGEST_PIECE);
        self
    }

    /// The communicator of all ranks, for the one thread that may use it.
    fn world(&self) -> SimpleCommunicator {
        if std::thread::current().id() != self.thread {
            self.abort("MPI was called by another thread than the one that started it");
        }
        SimpleCommunicator::world()
    }

    /// Pauses after a vain look, and ends the job if there were too many.
    fn pause(&self, idle: &mut Idle, patience: Duration, whom: impl FnOnce() -> String) {
        let waited = idle.pause();
        if waited > patience {
            let seconds = waited.as_secs_f64();
            self.abort(&format!("waited {seconds:.1} s in stage \"{}\" for {}", stage(), whom()));
        }
    }

    /// Waits for the end of something that was begun.
    fn finish<'a, D: ?Sized, S: Scope<'a>>(&self, mut request: Request<'a, D, S>, idle: &mut Idle, whom: &Whom<'_>) {
        let patience = match whom {
            Whom::Ranks(_) => self.patience,
            // Who waits for a neighbour can tell more, and is to speak first.
            Whom::All(_) => self.patience + self.patience / 4,
        };
        while let Err(unfinished) = request.test() {
            request = unfinished;
            self.pause(idle, patience, || whom.to_string());
        }
    }

    /// Receives a piece of a message if there is one, behind `filled` bytes. Gives its length.
    fn take_piece(&self, from: u32, tag: Tag, bytes: &mut Vec<u8>, filled: usize, idle: &mut Idle) -> Option<usize> {
        let (message, status) = self.world().process_at_rank(from as i32).immediate_matched_probe()?;
        if status.tag() != tag {
            self.abort(&format!(
                "a message of rank {from} in stage \"{}\" belongs to another stage: who has a neighbour must be one of it",
                stage()
            ));
        }
        let length = status.count(u8::equivalent_datatype()) as usize;
        // Grows only: what is overwritten needs no zeros.
        bytes.resize(filled + length, 0);
        scope(|scope| {
            let request = message.immediate_matched_receive_into(scope, &mut bytes[filled..]);
            self.finish(request, idle, &Whom::Ranks(&[from]));
        });
        Some(length)
    }

    /// Receives a whole message.
    fn take(&self, from: u32, tag: Tag, idle: &mut Idle) -> Vec<u8> {
        let (mut bytes, mut filled) = (Vec::new(), 0);
        loop {
            match self.take_piece(from, tag, &mut bytes, filled, idle) {
                Some(length) => {
                    filled += length;
                    if length < self.piece {
                        return bytes;
                    }
                }
                None => self.pause(idle, self.patience, || Whom::Ranks(&[from]).to_string()),
            }
        }
    }

    /// The pieces of a message: full ones, and one that is not full, which ends it.
    fn pieces<'a>(&self, bytes: &'a [u8]) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        let full = bytes.chunks_exact(self.piece);
        let rest = full.remainder();
        full.chain(std::iter::once(rest))
    }
}

impl std::fmt::Display for Whom<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        const NAMED: usize = 4;
        match self {
            Self::All(call) => write!(f, "all ranks to come to {call}"),
            Self::Ranks(ranks) => {
                for (k, rank) in ranks.iter().take(NAMED).enumerate() {
                    let comma = if k == 0 { "" } else { ", " };
                    write!(f, "{comma}rank {rank}")?;
                }
                if ranks.len() > NAMED {
                    write!(f, " and {} more", ranks.len() - NAMED)?;
                }
                Ok(())
            }
        }
    }
}

impl Communicator for MpiCommunicator {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.size
    }

    fn stage(&mut self, name: &'static str) {
        set_stage(name);
    }

    fn exchange(&mut self, neighbours: &[u32], outgoing: &[Vec<u8>], incoming: &mut [Vec<u8>]) {
        if let Err(fault) = check_exchange(self, neighbours, outgoing, incoming) {
            self.abort(&format!("an exchange with {fault}"));
        }
        self.exchanges += 1;
        let tag = (self.exchanges % TURN) as Tag;
        let world = self.world();
        let mut idle = Idle::default();
        let mut open = std::mem::take(&mut self.open);
        open.clear();
        open.extend((0..neighbours.len()).map(|k| (k, 0)));
        scope(|scope| {
            let mut sends = Vec::with_capacity(neighbours.len());
            for (to, bytes) in neighbours.iter().zip(outgoing) {
                let to = world.process_at_rank(*to as i32);
                sends.extend(self.pieces(bytes).map(|piece| to.immediate_send_with_tag(scope, piece, tag)));
            }
            while !open.is_empty() {
                let mut heard = false;
                open.retain_mut(|(k, filled)| {
                    let piece = self.take_piece(neighbours[*k], tag, &mut incoming[*k], *filled, &mut idle);
                    heard |= piece.is_some();
                    *filled += piece.unwrap_or(0);
                    // A full piece is followed by another.
                    piece.is_none_or(|length| length == self.piece)
                });
                if heard {
                    idle.stir();
                } else {
                    self.pause(&mut idle, self.patience, || {
                        let silent: Vec<_> = open.iter().map(|(k, _)| neighbours[*k]).collect();
                        Whom::Ranks(&silent).to_string()
                    });
                }
            }
            for send in sends {
                self.finish(send, &mut idle, &Whom::Ranks(neighbours));
            }
        });
        self.open = open;
        self.traffic.messages += neighbours.len() as u64;
        self.traffic.bytes += outgoing.iter().map(|bytes| bytes.len() as u64).sum::<u64>();
        self.traffic.waiting += idle.seconds();
    }

    fn all_reduce(&mut self, reduction: Reduction, values: &mut [f64]) {
        self.traffic.reductions += 1;
        if self.size == 1 || values.is_empty() {
            return;
        }
        self.own.clear();
        self.own.extend_from_slice(values);
        let operation = match reduction {
            Reduction::Sum => SystemOperation::sum(),
            Reduction::Max => SystemOperation::max(),
            Reduction::Min => SystemOperation::min(),
        };
        let mut idle = Idle::default();
        // The standard wants the same result on all ranks (MPI 3.1, 5.9.6).
        scope(|scope| {
            let request = self.world().immediate_all_reduce_into(scope, &self.own[..], values, operation);
            self.finish(request, &mut idle, &Whom::All("all_reduce"));
        });
        self.traffic.waiting += idle.seconds();
    }

    fn gather(&mut self, bytes: &[u8]) -> Option<Vec<Vec<u8>>> {
        let mut idle = Idle::default();
        let mut parts = None;
        if self.rank == 0 {
            let others = (1..self.size).map(|from| self.take(from as u32, GATHER, &mut idle));
            parts = Some(std::iter::once(bytes.to_vec()).chain(others).collect());
        } else {
            let world = self.world();
            scope(|scope| {
                let root = world.process_at_rank(0);
                let sends: Vec<_> =
                    self.pieces(bytes).map(|piece| root.immediate_send_with_tag(scope, piece, GATHER)).collect();
                for send in sends {
                    self.finish(send, &mut idle, &Whom::Ranks(&[0]));
                }
            });
        }
        self.traffic.waiting += idle.seconds();
        parts
    }

    fn broadcast(&mut self, bytes: &mut Vec<u8>) {
        if self.size == 1 {
            return;
        }
        let world = self.world();
        let root = world.process_at_rank(0);
        let mut idle = Idle::default();
        let mut length = [bytes.len() as u64];
        scope(|scope| {
            let request = root.immediate_broadcast_into(scope, &mut length[..]);
            self.finish(request, &mut idle, &Whom::All("broadcast"));
        });
        bytes.resize(length[0] as usize, 0);
        for piece in bytes.chunks_mut(self.piece) {
            scope(|scope| {
                let request = root.immediate_broadcast_into(scope, piece);
                self.finish(request, &mut idle, &Whom::All("broadcast"));
            });
        }
        self.traffic.waiting += idle.seconds();
    }

    fn barrier(&mut self) {
        if self.size == 1 {
            return;
        }
        let mut idle = Idle::default();
        let request = self.world().immediate_barrier();
        self.finish(request, &mut idle, &Whom::All("barrier"));
        self.traffic.waiting += idle.seconds();
    }

    fn abort(&self, message: &str) -> ! {
        end_job(self.rank, self.size, message)
    }

    fn traffic(&self) -> Traffic {
        self.traffic
    }
}
