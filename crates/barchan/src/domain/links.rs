//! How copies of bodies agree, inside a solve (S4 6.3).
//!
//! Holders send what their contacts do to a body to its owner, the owner adds it up and sends the
//! sum back: two messages a neighbour, nothing else. Both sides list the bodies that they share by
//! ascending id, so messages are numbers and need no names.

use super::holders::HolderLists;
use crate::comm::{Communicator, Reduction};
use crate::util::cpu::thread_seconds;
use crate::util::pack::{Pack, Unpacker};
use crate::world::{Bodies, Ownership};
use barchan_cone::ProblemCommunicator;

/// What a rank shares with one other.
#[derive(Debug, Default)]
struct Link {
    /// Copies that the other owns, as places in the list of shared bodies.
    up: Vec<u32>,
    /// Own bodies that the other holds.
    down: Vec<u32>,
}

/// The lists of one step.
#[derive(Debug, Default)]
pub(super) struct Links {
    /// Bodies that other ranks hold too, ascending.
    shared: Vec<u32>,
    is_owned: Vec<bool>,
    /// Those of them that all ranks hold, as places in the list.
    global: Vec<u32>,
    /// Ranks with whom there is anything to share.
    ranks: Vec<u32>,
    links: Vec<Link>,
    outgoing: Vec<Vec<u8>>,
    incoming: Vec<Vec<u8>>,
    total: Vec<f64>,
    place: Vec<u32>,
}

impl Links {
    /// Lists what is shared.
    pub(super) fn fill(
        &mut self,
        bodies: &Bodies,
        holders: &HolderLists,
        global: &[u32],
        neighbours: &[u32],
        rank: u32,
    ) {
        let elsewhere = |body: u32| {
            holders.entry(body).is_some_and(|entry| holders.of(entry).iter().any(|holder| holder.rank != rank))
        };
        self.shared.clear();
        self.shared.extend(holders.entries.iter().map(|entry| entry.body).filter(|&body| elsewhere(body)));
        self.shared.extend(global);
        self.shared.sort_unstable();
        self.is_owned.clear();
        self.is_owned.extend(self.shared.iter().map(|&body| bodies.ownership[body as usize] == Ownership::Owned));
        self.place.clear();
        self.place.resize(bodies.len(), u32::MAX);
        for (k, &body) in self.shared.iter().enumerate() {
            self.place[body as usize] = k as u32;
        }
        self.global.clear();
        self.global.extend(global.iter().map(|&body| self.place[body as usize]));

        let mut all = std::mem::take(&mut self.links);
        all.resize_with(neighbours.len(), Link::default);
        for link in &mut all {
            link.up.clear();
            link.down.clear();
        }
        let number = |rank: u32| neighbours.binary_search(&rank).ok();
        // Entries ascend by id, and so do the lists.
        for entry in &holders.entries {
            let place = self.place[entry.body as usize];
            if entry.owner != rank {
                if let Some(k) = number(entry.owner) {
                    all[k].up.push(place);
                }
                continue;
            }
            let peers = holders.of(entry).chunk_by(|a, b| a.rank == b.rank).map(|holders| holders[0].rank);
            for k in peers.filter(|&peer| peer != rank).filter_map(number) {
                all[k].down.push(place);
            }
        }
        self.ranks.clear();
        // Links in use come first, in order; the rest keep their memory.
        let mut kept = 0;
        for k in 0..all.len() {
            if !(all[k].up.is_empty() && all[k].down.is_empty()) {
                self.ranks.push(neighbours[k]);
                all.swap(kept, k);
                kept += 1;
            }
        }
        self.links = all;
        for buffers in [&mut self.outgoing, &mut self.incoming] {
            buffers.resize_with(kept.max(buffers.len()), Vec::new);
        }
    }

    /// Ranks with whom there is anything to share.
    pub(super) fn ranks(&self) -> usize {
        self.ranks.len()
    }

    /// Bodies that other ranks hold too.
    pub(super) fn shared(&self) -> usize {
        self.shared.len()
    }

    /// Packs the values of some bodies for every link, and exchanges.
    fn exchange(&mut self, comm: &mut dyn Communicator, values: &[[f64; 6]], list: fn(&Link) -> &[u32]) {
        let used = self.ranks.len();
        for (out, link) in self.outgoing[..used].iter_mut().zip(&self.links) {
            out.clear();
            list(link).iter().for_each(|&place| values[place as usize].pack(out));
        }
        comm.exchange(&self.ranks, &self.outgoing[..used], &mut self.incoming[..used]);
    }

    /// Bodies that other ranks hold too, ascending.
    pub(super) fn bodies(&self) -> &[u32] {
        &self.shared
    }

    fn sum_copies(&mut self, comm: &mut dyn Communicator, values: &mut [[f64; 6]]) {
        self.combine_copies(comm, values, Reduction::Sum);
    }

    /// Values of all copies of each shared body become one.
    pub(super) fn combine_copies(
        &mut self,
        comm: &mut dyn Communicator,
        values: &mut [[f64; 6]],
        reduction: Reduction,
    ) {
        let combine = |here: &mut [f64; 6], there: [f64; 6]| {
            for (here, there) in here.iter_mut().zip(there) {
                *here = match reduction {
                    Reduction::Sum => *here + there,
                    Reduction::Max => here.max(there),
                    Reduction::Min => here.min(there),
                };
            }
        };
        // Also where nothing is shared: all ranks make the same calls.
        self.exchange(comm, values, |link| &link.up);
        self.receive(comm, values, |link| &link.down, combine);
        self.exchange(comm, values, |link| &link.down);
        self.receive(comm, values, |link| &link.up, |here, there| *here = there);
        if !self.global.is_empty() {
            self.total.clear();
            self.total.extend(self.global.iter().flat_map(|&place| values[place as usize]));
            comm.all_reduce(reduction, &mut self.total);
            for (&place, total) in self.global.iter().zip(self.total.chunks_exact(6)) {
                values[place as usize].copy_from_slice(total);
            }
        }
    }

    /// Puts what has come where it belongs, neighbour after neighbour.
    fn receive(
        &self,
        comm: &dyn Communicator,
        values: &mut [[f64; 6]],
        list: fn(&Link) -> &[u32],
        put: impl Fn(&mut [f64; 6], [f64; 6]),
    ) {
        for ((link, bytes), rank) in self.links.iter().zip(&self.incoming).zip(&self.ranks) {
            let places = list(link);
            if bytes.len() != size_of::<[f64; 6]>() * places.len() {
                comm.abort(&format!(
                    "rank {}: rank {rank} sent {} bytes for {} shared bodies: the ranks do not agree on who holds what",
                    comm.rank(),
                    bytes.len(),
                    places.len()
                ));
            }
            let mut from = Unpacker::new(bytes);
            for &place in places {
                if let Some(value) = from.take() {
                    put(&mut values[place as usize], value);
                }
            }
        }
    }
}

/// The communicator of a rank's part of the contact problem.
pub(super) struct DomainCommunicator<'a> {
    pub(super) links: &'a mut Links,
    pub(super) comm: &'a mut dyn Communicator,
    /// Processor time that goes into talking and waiting.
    pub(super) seconds: &'a mut f64,
}

impl ProblemCommunicator for DomainCommunicator<'_> {
    fn shared(&self) -> &[u32] {
        &self.links.shared
    }

    fn is_owned(&self) -> &[bool] {
        &self.links.is_owned
    }

    fn global(&self) -> &[u32] {
        &self.links.global
    }

    fn part(&self) -> u32 {
        self.comm.rank() as u32
    }

    fn partners(&self) -> &[u32] {
        &self.links.ranks
    }

    fn exchange(&mut self, parts: &[u32], outgoing: &[Vec<f64>], incoming: &mut [Vec<f64>]) {
        let start = thread_seconds();
        let pack = |numbers: &Vec<f64>| numbers.iter().flat_map(|x| x.to_le_bytes()).collect();
        let out: Vec<Vec<u8>> = outgoing.iter().map(pack).collect();
        let mut bytes = vec![Vec::new(); parts.len()];
        self.comm.exchange(parts, &out, &mut bytes);
        for (numbers, bytes) in incoming.iter_mut().zip(&bytes) {
            let mut from = Unpacker::new(bytes);
            numbers.clear();
            numbers.extend(std::iter::from_fn(|| from.take::<f64>()));
        }
        *self.seconds += thread_seconds() - start;
    }

    fn sum_copies(&mut self, values: &mut [[f64; 6]]) {
        let start = thread_seconds();
        self.links.sum_copies(self.comm, values);
        *self.seconds += thread_seconds() - start;
    }

    fn reduce(&mut self, sums: &mut [f64], maxima: &mut [f64]) {
        let start = thread_seconds();
        if !sums.is_empty() {
            self.comm.all_reduce(Reduction::Sum, sums);
        }
        if !maxima.is_empty() {
            self.comm.all_reduce(Reduction::Max, maxima);
        }
        *self.seconds += thread_seconds() - start;
    }
}
