//! The order of a sweep: which contacts are relaxed after which, and which at the same time.
//!
//! Bodies are cut into chunks by index, which lie compact in space because bodies follow the
//! Morton curve. The contacts between two chunks make a *group*, those within a chunk another.
//! A group is swept by one thread in order. Groups of one *phase* have no body in common and
//! run side by side. Within a group contacts stand in *batches* of four that share no body, so
//! that four are relaxed at once. Nothing depends on the number of threads.

use super::Order;
use crate::Problem;
use crate::lanes::LANES;
use barchan_parallel::reshape;
use barchan_parallel::{Disjoint, exclusive_scan};
use rayon::prelude::*;
use std::ops::Range;

/// Bodies a chunk at most and at least, and chunks that are enough for many threads.
const CHUNK_MAX: usize = 2048;
const CHUNK_MIN: usize = 256;
const ENOUGH_CHUNKS: usize = 64;

/// A lane without a contact.
pub(crate) const NONE: u32 = u32::MAX;

/// A copy of a body that one group works on.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Record {
    /// The body; the number of bodies for the ground and for padding.
    pub(crate) body: u32,
    /// How many copies share the body's mass; zero for the ground.
    pub(crate) share: u32,
}

/// The order of sweeps over one problem.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    /// Groups of each phase.
    pub(crate) phases: Vec<Range<usize>>,
    /// Batches of each group.
    pub(crate) groups: Vec<Range<usize>>,
    /// Contact of each lane, or [`NONE`].
    pub(crate) contacts: Vec<[u32; LANES]>,
    /// Records of bodies A and B of each lane.
    pub(crate) lanes: Vec<[[u32; LANES]; 2]>,
    /// Copies of bodies; the first copy of body j is record j where nothing is split.
    pub(crate) records: Vec<Record>,
    /// Whether bodies have several copies; then those of body j are
    /// `copies[copies_start[j]..copies_start[j + 1]]`.
    pub(crate) is_split: bool,
    pub(crate) copies_start: Vec<u32>,
    pub(crate) copies: Vec<u32>,
    chunks: Vec<Chunk>,
    used: Vec<Vec<u64>>,
    placed: Vec<Placed>,
    // Of split bodies: first record from elsewhere a chunk, records in use, next place of a copy.
    starts: Vec<u32>,
    in_use: Vec<bool>,
    place: Vec<u32>,
    /// Bodies that contacts act on; see [`Plan::mark_bodies_in_use`].
    pub(crate) body_in_use: Vec<bool>,
}

/// A group with its place in the plan.
#[derive(Clone, Copy, Debug)]
struct Placed {
    phase: u32,
    chunk: u32,
    /// Batches within the chunk.
    from: u32,
    to: u32,
}

/// What is planned for the contacts whose body A lies in one chunk.
#[derive(Debug, Default)]
struct Chunk {
    /// Chunk of body B, and the contact.
    keys: Vec<(u32, u32)>,
    batches: Vec<[u32; LANES]>,
    fill: Vec<u8>,
    /// First batch that a body is not in yet, by its place in the group.
    next: Vec<u32>,
    /// The other chunk, and the range of batches.
    groups: Vec<(u32, u32, u32)>,
    /// Bodies of other chunks, ascending, where bodies are split.
    foreign: Vec<u32>,
}

/// The length of chunks for a number of bodies.
fn chunk_length(bodies: usize) -> usize {
    (bodies / ENOUGH_CHUNKS).next_power_of_two().clamp(CHUNK_MIN, CHUNK_MAX)
}

/// The first colour that neither chunk has used; both use it now.
fn colour(used: &mut [Vec<u64>], c: usize, d: usize) -> u32 {
    let taken = |k: usize| [c, d].iter().fold(0, |all, &chunk| all | used[chunk].get(k).copied().unwrap_or(0));
    let word = (0..).find(|&k| taken(k) != u64::MAX).unwrap_or(0);
    let bit = taken(word).trailing_ones();
    for chunk in [c, d] {
        let used = &mut used[chunk];
        used.resize(used.len().max(word + 1), 0);
        used[word] |= 1 << bit;
    }
    64 * word as u32 + bit
}

impl Plan {
    /// Plans sweeps over `problem`, whose contacts with body j as their A are
    /// `first[j]..first[j + 1]`.
    pub(crate) fn fill(&mut self, problem: &Problem, first: &[u32], order: Order) {
        match order {
            Order::Serial => self.fill_serial(problem),
            Order::Coloured => self.fill_coloured(problem, first),
            Order::Split => self.fill_split(problem, first),
        }
    }

    /// One contact after the other, as they stand in the problem.
    fn fill_serial(&mut self, problem: &Problem) {
        let (n, m) = (problem.bodies(), problem.contacts());
        self.is_split = false;
        self.own_records(n, 1);
        self.phases.clear();
        self.phases.push(0..1);
        self.groups.clear();
        self.groups.push(0..m);
        self.contacts.clear();
        self.contacts.extend((0..m as u32).map(|i| [i, NONE, NONE, NONE]));
        self.find_lanes(problem, |_, body| Some(body), |_| 0, 1);
    }

    /// A record a body, then a ground and a padding record a chunk.
    fn own_records(&mut self, bodies: usize, chunks: usize) {
        self.records.clear();
        self.records.extend((0..bodies as u32).map(|body| Record { body, share: 1 }));
        self.records.extend((0..chunks).map(|_| Record { body: bodies as u32, share: 0 }));
        self.records.extend((0..chunks).map(|_| Record { body: bodies as u32, share: 1 }));
    }

    /// Groups within chunks first, then groups between chunks in colours.
    fn fill_coloured(&mut self, problem: &Problem, first: &[u32]) {
        let n = problem.bodies();
        let length = chunk_length(n);
        let chunks = n.div_ceil(length).max(1);
        self.is_split = false;
        self.own_records(n, chunks);
        self.chunks.resize_with(chunks.max(self.chunks.len()), Chunk::default);
        self.chunks[..chunks].par_iter_mut().enumerate().for_each(|(c, chunk)| {
            let bodies = c * length..((c + 1) * length).min(n);
            let contacts = first[bodies.start]..first[bodies.end];
            chunk.sort_contacts(problem, contacts, |b| b as usize / length, c);
            chunk.batch_groups(problem, |chunk_of_b, body| {
                // Places of this chunk's bodies come first, then those of the other's.
                let home = body as usize / length == c;
                if home { body as usize - c * length } else { body as usize + length - chunk_of_b as usize * length }
            });
        });

        // Colours: groups that meet in a chunk get different phases.
        self.used.iter_mut().for_each(Vec::clear);
        self.used.resize_with(chunks.max(self.used.len()), Vec::new);
        self.placed.clear();
        for (c, chunk) in self.chunks[..chunks].iter().enumerate() {
            for &(other, from, to) in &chunk.groups {
                let phase = if other as usize == c { 0 } else { 1 + colour(&mut self.used, c, other as usize) };
                self.placed.push(Placed { phase, chunk: c as u32, from, to });
            }
        }
        self.place_groups();
        let chunk_of = |body: u32| body as usize / length;
        let chunk_of_batch = |four: &[u32; LANES]| chunk_of(problem.pairs[four[0] as usize][0]);
        self.find_lanes(problem, |_, body| Some(body), chunk_of_batch, chunks);
    }

    /// Orders groups by phase and gives them their batches.
    fn place_groups(&mut self) {
        self.placed.sort_unstable_by_key(|g| (g.phase, g.chunk, g.from));
        self.phases.clear();
        self.groups.clear();
        let mut at = 0;
        for (k, group) in self.placed.iter().enumerate() {
            if self.phases.is_empty() || self.placed[k - 1].phase != group.phase {
                self.phases.push(k..k);
            }
            if let Some(phase) = self.phases.last_mut() {
                phase.end = k + 1;
            }
            let length = (group.to - group.from) as usize;
            self.groups.push(at..at + length);
            at += length;
        }
        reshape(&mut self.contacts, at);
        let out = Disjoint::new(&mut self.contacts);
        let (chunks, groups) = (&self.chunks, &self.groups);
        self.placed.par_iter().zip(groups).for_each(|(group, batches)| {
            let from = &chunks[group.chunk as usize].batches[group.from as usize..group.to as usize];
            // SAFETY: groups are disjoint.
            unsafe { out.range(batches.clone()) }.copy_from_slice(from);
        });
    }

    /// Finds the records of every lane. `record(batch's chunk, body)` is that of a body that can
    /// move; the rest meet the ground of `chunk(batch)`, one of `chunks`.
    fn find_lanes(
        &mut self,
        problem: &Problem,
        record: impl Fn(usize, u32) -> Option<u32> + Sync,
        chunk: impl Fn(&[u32; LANES]) -> usize + Sync,
        chunks: usize,
    ) {
        let grounds = self.records.len() - 2 * chunks;
        reshape(&mut self.lanes, self.contacts.len());
        self.lanes.par_iter_mut().zip(&self.contacts).with_min_len(256).for_each(|(lanes, four)| {
            let c = chunk(four);
            let (ground, padding) = ((grounds + c) as u32, (grounds + chunks + c) as u32);
            for k in 0..LANES {
                let [a, b] = if four[k] == NONE {
                    [padding, ground]
                } else {
                    problem.pairs[four[k] as usize].map(|body| {
                        let moves = problem.inverse_mass[body as usize] > 0.0;
                        if moves { record(c, body).unwrap_or(ground) } else { ground }
                    })
                };
                (lanes[0][k], lanes[1][k]) = (a, b);
            }
        });
    }

    /// One group a chunk, all in one phase; bodies that several groups meet are split.
    fn fill_split(&mut self, problem: &Problem, first: &[u32]) {
        let n = problem.bodies();
        let length = chunk_length(n);
        let chunks = n.div_ceil(length).max(1);
        self.is_split = true;
        self.chunks.resize_with(chunks.max(self.chunks.len()), Chunk::default);
        let moves = |body: u32| problem.inverse_mass[body as usize] > 0.0;
        self.chunks[..chunks].par_iter_mut().enumerate().for_each(|(c, chunk)| {
            let bodies = c * length..((c + 1) * length).min(n);
            let contacts = first[bodies.start]..first[bodies.end];
            chunk.foreign.clear();
            let away = |b: &u32| !bodies.contains(&(*b as usize)) && moves(*b);
            chunk.foreign.extend(contacts.clone().map(|i| problem.pairs[i as usize][1]).filter(away));
            chunk.foreign.sort_unstable();
            chunk.foreign.dedup();
            chunk.sort_contacts(problem, contacts, |_| c, c);
            let foreign = std::mem::take(&mut chunk.foreign);
            chunk.batch_groups(problem, |_, body| {
                if bodies.contains(&(body as usize)) {
                    body as usize - bodies.start
                } else {
                    length + foreign.binary_search(&body).unwrap_or(0)
                }
            });
            chunk.foreign = foreign;
        });

        // Records: the chunk's own bodies, for all chunks, then those from elsewhere.
        let mut starts = std::mem::take(&mut self.starts);
        starts.clear();
        starts.extend(self.chunks[..chunks].iter().map(|c| c.foreign.len() as u32));
        exclusive_scan(&mut starts);
        self.records.clear();
        self.records.extend((0..n as u32).map(|body| Record { body, share: 0 }));
        for chunk in &self.chunks[..chunks] {
            self.records.extend(chunk.foreign.iter().map(|&body| Record { body, share: 0 }));
        }
        let copies = self.records.len();
        self.records.extend((0..chunks).map(|_| Record { body: n as u32, share: 0 }));
        self.records.extend((0..chunks).map(|_| Record { body: n as u32, share: 1 }));
        self.placed.clear();
        for (c, chunk) in self.chunks[..chunks].iter().enumerate() {
            let groups = chunk.groups.iter();
            self.placed.extend(groups.map(|&(_, from, to)| Placed { phase: 0, chunk: c as u32, from, to }));
        }
        self.place_groups();
        let all = std::mem::take(&mut self.chunks);
        let record = |c: usize, body: u32| {
            if body as usize / length == c {
                return Some(body);
            }
            all[c].foreign.binary_search(&body).ok().map(|k| (n + k) as u32 + starts[c])
        };
        let chunk_of = |four: &[u32; LANES]| problem.pairs[four[0] as usize][0] as usize / length;
        self.find_lanes(problem, record, chunk_of, chunks);
        (self.chunks, self.starts) = (all, starts);
        self.share_masses(n, copies);
    }

    /// Finds the bodies that contacts act on.
    pub(crate) fn mark_bodies_in_use(&mut self, bodies: usize) {
        self.body_in_use.clear();
        self.body_in_use.resize(bodies + 1, false);
        for &record in self.lanes.iter().flatten().flatten() {
            self.body_in_use[self.records[record as usize].body as usize] = true;
        }
    }

    /// Splits the masses of some bodies once more, into so many parts.
    pub(crate) fn split(&mut self, bodies: &[u32], parts: &[f64]) {
        let mut split = |record: &mut Record| {
            if let Ok(k) = bodies.binary_search(&record.body) {
                record.share *= parts[k] as u32;
            }
        };
        self.records.iter_mut().for_each(&mut split);
    }

    /// Counts the copies of each body that are in use, and lists them.
    fn share_masses(&mut self, bodies: usize, copies: usize) {
        reshape(&mut self.in_use, self.records.len());
        self.in_use.fill(false);
        for lanes in &self.lanes {
            lanes.iter().flatten().for_each(|&record| self.in_use[record as usize] = true);
        }
        reshape(&mut self.copies_start, bodies + 1);
        self.copies_start.fill(0);
        let in_use = &self.in_use;
        let used = || (0..copies).filter(|&r| in_use[r]);
        for r in used() {
            self.copies_start[self.records[r].body as usize] += 1;
        }
        for record in &mut self.records[..copies] {
            record.share = self.copies_start[record.body as usize].max(1);
        }
        let total = exclusive_scan(&mut self.copies_start);
        reshape(&mut self.copies, total);
        self.place.clone_from(&self.copies_start);
        for r in used() {
            let place = &mut self.place[self.records[r].body as usize];
            self.copies[*place as usize] = r as u32;
            *place += 1;
        }
    }
}

impl Chunk {
    /// Lists the contacts by the chunk of their body B; bodies that cannot move lie everywhere.
    fn sort_contacts(&mut self, problem: &Problem, contacts: Range<u32>, chunk_of: impl Fn(u32) -> usize, home: usize) {
        self.keys.clear();
        self.keys.extend(contacts.map(|i| {
            let b = problem.pairs[i as usize][1];
            let other = if problem.inverse_mass[b as usize] > 0.0 { chunk_of(b) } else { home };
            (other as u32, i)
        }));
        self.keys.sort_unstable();
    }

    /// Cuts the list into groups and each group into batches. `place(other, body)` is the place
    /// of a body among those of its group.
    fn batch_groups(&mut self, problem: &Problem, place: impl Fn(u32, u32) -> usize) {
        self.batches.clear();
        self.fill.clear();
        self.groups.clear();
        let moves = |body: u32| problem.inverse_mass[body as usize] > 0.0;
        for group in self.keys.chunk_by(|a, b| a.0 == b.0) {
            let (other, start) = (group[0].0, self.batches.len());
            let mut first_open = start;
            for &(_, i) in group {
                let places = problem.pairs[i as usize].map(|body| moves(body).then(|| place(other, body)));
                let longest = places.iter().flatten().max().map_or(0, |p| p + 1);
                if self.next.len() < longest {
                    self.next.resize(longest, 0);
                }
                let earliest = places.iter().flatten().map(|&p| self.next[p] as usize).max().unwrap_or(0);
                let mut batch = (start + earliest).max(first_open);
                while self.fill.get(batch).is_some_and(|&fill| fill as usize == LANES) {
                    batch += 1;
                }
                self.fill.resize(self.fill.len().max(batch + 1), 0);
                self.batches.resize(self.fill.len(), [NONE; LANES]);
                self.batches[batch][self.fill[batch] as usize] = i;
                self.fill[batch] += 1;
                while self.fill.get(first_open).is_some_and(|&fill| fill as usize == LANES) {
                    first_open += 1;
                }
                for p in places.into_iter().flatten() {
                    self.next[p] = (batch + 1 - start) as u32;
                }
            }
            for &(_, i) in group {
                for body in problem.pairs[i as usize].into_iter().filter(|&body| moves(body)) {
                    self.next[place(other, body)] = 0;
                }
            }
            self.groups.push((other, start as u32, self.batches.len() as u32));
        }
    }
}
