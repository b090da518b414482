//! What every communicator must do, as a test that any of them can be put to.
//!
//! All ranks call [`check`] with the same arguments. What a rank ought to receive is a function of
//! the seed, the ranks and the turn, so that each can tell by itself.

use super::{Communicator, Reduction, Traffic};

/// Tries every call but [`Communicator::abort`] on all ranks, with messages of up to `largest`
/// bytes. Gives the first difference from what is expected.
///
/// A rank that finds one leaves the others waiting: the caller should abort.
pub fn check(communicator: &mut dyn Communicator, seed: u64, turns: u64, largest: usize) -> Result<(), String> {
    let rank = communicator.rank();
    let size = communicator.size();
    expect(rank < size, || format!("rank {rank} of {size}"))?;
    let before = communicator.traffic();
    let mut outgoing = Vec::new();
    let mut incoming = Vec::new();
    let mut expected = Expected { messages: 0, bytes: 0, reductions: 0 };
    for turn in 0..turns {
        let turn = Turn { seed, turn, size, largest };
        turn.exchange(communicator, &mut outgoing, &mut incoming, &mut expected)?;
        turn.reduce(communicator, &mut expected)?;
        turn.gather(communicator)?;
        turn.broadcast(communicator)?;
        communicator.stage("barrier");
        communicator.barrier();
    }
    expected.compare(before, communicator.traffic())
}

/// What the counters must have counted.
struct Expected {
    messages: u64,
    bytes: u64,
    reductions: u64,
}

impl Expected {
    fn compare(&self, before: Traffic, after: Traffic) -> Result<(), String> {
        let found =
            (after.messages - before.messages, after.bytes - before.bytes, after.reductions - before.reductions);
        // One rank alone sends nothing and need not count.
        let wanted = (self.messages, self.bytes, self.reductions);
        expect(found == wanted || wanted.0 == 0, || {
            format!("counted {found:?} messages, bytes and reductions, where {wanted:?} were made")
        })?;
        expect(after.waiting >= before.waiting && after.waiting.is_finite(), || format!("waiting of {}", after.waiting))
    }
}

/// One of the turns, alike on all ranks.
#[derive(Clone, Copy)]
struct Turn {
    seed: u64,
    turn: u64,
    size: usize,
    largest: usize,
}

impl Turn {
    /// A number that depends on all that is given.
    fn random(&self, purpose: u64, a: usize, b: usize) -> u64 {
        [self.turn, purpose, a as u64, b as u64].iter().fold(self.seed, |state, x| mix(state ^ mix(*x)))
    }

    /// Whether two ranks are neighbours in this turn.
    fn are_neighbours(&self, a: usize, b: usize) -> bool {
        match self.turn % 4 {
            // All with all, a ring, some, none.
            0 => a != b,
            1 => a != b && ((a + 1) % self.size == b || (b + 1) % self.size == a),
            2 => a != b && self.random(1, a.min(b), a.max(b)).is_multiple_of(3),
            _ => false,
        }
    }

    /// The message from one rank to another.
    fn message(&self, purpose: u64, from: usize, to: usize) -> Vec<u8> {
        let state = self.random(purpose, from, to);
        let length = match state % 8 {
            // Nothing, a little, around the sizes where libraries change their ways, a lot.
            0 => 0,
            1..=4 => (state >> 8) as usize % 200.min(self.largest + 1),
            5 | 6 => (state >> 8) as usize % 10_000.min(self.largest + 1),
            _ => (state >> 8) as usize % (self.largest + 1),
        };
        let mut bytes = Vec::with_capacity(length + 8);
        let mut word = state;
        while bytes.len() < length {
            word = mix(word);
            bytes.extend_from_slice(&word.to_le_bytes());
        }
        bytes.truncate(length);
        bytes
    }

    fn exchange(
        &self,
        communicator: &mut dyn Communicator,
        outgoing: &mut Vec<Vec<u8>>,
        incoming: &mut Vec<Vec<u8>>,
        expected: &mut Expected,
    ) -> Result<(), String> {
        communicator.stage("exchange");
        let own = communicator.rank();
        let mut neighbours: Vec<_> =
            (0..self.size).filter(|r| self.are_neighbours(own, *r)).map(|r| r as u32).collect();
        // The order is the caller's.
        if self.turn % 8 >= 4 {
            neighbours.reverse();
        }
        outgoing.clear();
        outgoing.extend(neighbours.iter().map(|to| self.message(2, own, *to as usize)));
        // What the buffers held before must not matter.
        incoming.resize(neighbours.len(), vec![7; 3]);
        communicator.exchange(&neighbours, outgoing, incoming);
        for (from, bytes) in neighbours.iter().zip(incoming) {
            let wanted = self.message(2, *from as usize, own);
            compare(bytes, &wanted, || format!("rank {own} from rank {from} in turn {}", self.turn))?;
        }
        expected.messages += neighbours.len() as u64;
        expected.bytes += outgoing.iter().map(|bytes| bytes.len() as u64).sum::<u64>();
        Ok(())
    }

    fn reduce(&self, communicator: &mut dyn Communicator, expected: &mut Expected) -> Result<(), String> {
        communicator.stage("all_reduce");
        let own = communicator.rank();
        // Of very different sizes, so that the order of a sum shows in its last bits.
        let number = |rank: usize, k: usize| {
            let state = self.random(3, rank, k);
            let unit = (state >> 11) as f64 / (1u64 << 53) as f64 - 0.5;
            unit * 10f64.powi((state % 13) as i32)
        };
        let count = [1, 0, 3, 200][(self.turn % 4) as usize];
        for reduction in [Reduction::Sum, Reduction::Max, Reduction::Min] {
            let mut values: Vec<_> = (0..count).map(|k| number(own, k)).collect();
            communicator.all_reduce(reduction, &mut values);
            expected.reductions += 1;
            for (k, value) in values.iter().enumerate() {
                let parts = (0..self.size).map(|rank| number(rank, k));
                let (wanted, slack) = match reduction {
                    Reduction::Sum => {
                        (parts.clone().sum(), 1e-15 * self.size as f64 * parts.map(f64::abs).sum::<f64>())
                    }
                    Reduction::Max => (parts.fold(f64::NEG_INFINITY, f64::max), 0.0),
                    Reduction::Min => (parts.fold(f64::INFINITY, f64::min), 0.0),
                };
                expect((value - wanted).abs() <= slack, || {
                    format!("rank {own} has {value} where {reduction:?} of all is {wanted}, in turn {}", self.turn)
                })?;
            }
            self.same_bits(communicator, &values)?;
        }
        Ok(())
    }

    /// That all ranks hold the very same numbers.
    fn same_bits(&self, communicator: &mut dyn Communicator, values: &[f64]) -> Result<(), String> {
        let bytes: Vec<_> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        let parts = communicator.gather(&bytes);
        for (rank, part) in parts.iter().flatten().enumerate() {
            compare(part, &bytes, || format!("the bits of a reduction on rank {rank} against rank 0"))?;
        }
        Ok(())
    }

    fn gather(&self, communicator: &mut dyn Communicator) -> Result<(), String> {
        communicator.stage("gather");
        let own = communicator.rank();
        let parts = communicator.gather(&self.message(4, own, 0));
        expect(parts.is_some() == (own == 0), || format!("rank {own} got {} in a gathering", parts.is_some()))?;
        let Some(parts) = parts else { return Ok(()) };
        expect(parts.len() == self.size, || format!("gathered {} of {} ranks", parts.len(), self.size))?;
        for (rank, part) in parts.iter().enumerate() {
            compare(part, &self.message(4, rank, 0), || format!("gathered from rank {rank} in turn {}", self.turn))?;
        }
        Ok(())
    }

    fn broadcast(&self, communicator: &mut dyn Communicator) -> Result<(), String> {
        communicator.stage("broadcast");
        let own = communicator.rank();
        let wanted = self.message(5, 0, 0);
        let mut bytes = if own == 0 { wanted.clone() } else { vec![3; own] };
        communicator.broadcast(&mut bytes);
        compare(&bytes, &wanted, || format!("rank {own} after a broadcast in turn {}", self.turn))
    }
}

/// One step of SplitMix64.
fn mix(state: u64) -> u64 {
    let mut z = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

fn expect(holds: bool, otherwise: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(otherwise()) }
}

/// Compares without printing megabytes.
fn compare(found: &[u8], wanted: &[u8], what: impl FnOnce() -> String) -> Result<(), String> {
    if found == wanted {
        return Ok(());
    }
    let at = found.iter().zip(wanted).take_while(|(a, b)| a == b).count();
    Err(format!("{}: {} bytes where {} are expected, different from byte {at} on", what(), found.len(), wanted.len()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::comm::{Solo, threads};

    #[test]
    fn one_rank_alone_conforms() {
        assert_eq!(check(&mut Solo, 1, 12, 10_000), Ok(()));
    }

    #[test]
    fn ranks_on_threads_conform() {
        for (ranks, turns, largest) in [(1, 12, 1 << 20), (2, 40, 1 << 21), (3, 24, 1 << 18), (8, 16, 1 << 16)] {
            let results = threads::run(ranks, 1, |mut comm| check(comm.as_mut(), ranks as u64, turns, largest));
            assert_eq!(results, Ok(vec![Ok(()); ranks]));
        }
    }

    #[test]
    fn sixty_four_ranks_of_two_threads_conform() {
        let results = threads::run(64, 2, |mut comm| check(comm.as_mut(), 5, 8, 2000));
        assert_eq!(results, Ok(vec![Ok(()); 64]));
    }

    /// Hands on every call, but makes a mistake in one of them.
    struct Faulty {
        inner: Box<dyn Communicator>,
        fault: &'static str,
    }

    impl Communicator for Faulty {
        fn rank(&self) -> usize {
            self.inner.rank()
        }

        fn size(&self) -> usize {
            self.inner.size()
        }

        fn stage(&mut self, name: &'static str) {
            self.inner.stage(name);
        }

        fn exchange(&mut self, neighbours: &[u32], outgoing: &[Vec<u8>], incoming: &mut [Vec<u8>]) {
            self.inner.exchange(neighbours, outgoing, incoming);
            if self.fault == "exchange"
                && let Some(byte) = incoming.last_mut().and_then(|bytes| bytes.last_mut())
            {
                *byte ^= 1;
            }
        }

        fn all_reduce(&mut self, reduction: Reduction, values: &mut [f64]) {
            self.inner.all_reduce(reduction, values);
            if self.fault == "bits"
                && reduction == Reduction::Sum
                && self.rank() == 1
                && let Some(value) = values.first_mut()
            {
                *value = value.next_up();
            }
        }

        fn gather(&mut self, bytes: &[u8]) -> Option<Vec<Vec<u8>>> {
            let mut parts = self.inner.gather(bytes);
            if self.fault == "gather"
                && let Some(parts) = &mut parts
            {
                parts.reverse();
            }
            parts
        }

        fn broadcast(&mut self, bytes: &mut Vec<u8>) {
            self.inner.broadcast(bytes);
            if self.fault == "broadcast" {
                bytes.push(0);
            }
        }

        fn barrier(&mut self) {
            self.inner.barrier();
        }

        fn abort(&self, message: &str) -> ! {
            self.inner.abort(message)
        }

        fn traffic(&self) -> Traffic {
            let mut traffic = self.inner.traffic();
            if self.fault == "traffic" {
                traffic.bytes /= 2;
            }
            traffic
        }
    }

    #[test]
    fn mistakes_are_found() {
        for fault in ["exchange", "bits", "gather", "broadcast", "traffic"] {
            let results = threads::run(3, 1, |inner| {
                let mut comm = Faulty { inner, fault };
                if let Err(difference) = check(&mut comm, 9, 8, 1000) {
                    comm.abort(&difference);
                }
            });
            assert!(results.is_err(), "{fault}");
        }
    }
}
