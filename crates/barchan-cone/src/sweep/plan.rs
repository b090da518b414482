//! The order of a sweep: which contacts are relaxed after which, and which at the same time.
//!
//! Bodies are cut into chunks by index, which lie compact in space because bodies follow the
//! Morton curve. The contacts between two chunks make a *group*, those within a chunk another.
//! A group is swept by one thread in order. Groups of one *phase* have no body in common and
//! run side by side. Within a group contacts stand in *batches* of four that share no body, so
//! that four are relaxed at once. Nothing depends on the number of threads.
//!
//! Round contacts and general ones have batches of their own. The contacts of one pair of bodies, a
//! manifold, can never be in one batch; so for general contacts the unit is the manifold: a batch holds
//! four pairs with equally many points, a *slot* the k-th point of each, and its slots follow each other,
//! so that the bodies stay in registers. A round batch is one slot.

use super::Order;
use crate::ProblemRef;
use crate::lanes::LANES;
use barchan_parallel::{Disjoint, ScratchPool, exclusive_scan, reserve_with_slack, reshape};
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

/// The slots of a group: it sweeps its round contacts first.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Group {
    pub(crate) round: Range<usize>,
    pub(crate) general: Range<usize>,
}

/// The order of sweeps over one problem.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    /// Groups of each phase.
    pub(crate) phases: Vec<Range<usize>>,
    /// Slots of each group.
    pub(crate) groups: Vec<Group>,
    /// Contact of each lane of each slot, or [`NONE`]. Those of round contacts come first,
    pub(crate) contacts: Vec<[u32; LANES]>,
    /// and there are so many.
    pub(crate) round: usize,
    /// For each general slot, whether it has the bodies of the slot before it.
    pub(crate) continues: Vec<bool>,
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
    scratch: ScratchPool<ChunkScratch>,
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
    /// Slots within the chunk: of round contacts and of general ones.
    slots: [[u32; 2]; 2],
}

/// What is planned for the contacts whose body A lies in one chunk.
#[derive(Debug, Default)]
struct Chunk {
    /// Slots of round contacts and of general ones.
    slots: [Vec<[u32; LANES]>; 2],
    /// Whether a general slot has the bodies of the one before it.
    continues: Vec<bool>,
    /// For both: the other chunk, and the range of slots.
    groups: [Vec<(u32, u32, u32)>; 2],
    /// Bodies of other chunks, ascending, where bodies are split.
    foreign: Vec<u32>,
}

/// What the planning of a chunk needs on its way.
#[derive(Debug, Default)]
struct ChunkScratch {
    /// Chunk of body B, and the contact; of round ones.
    keys: Vec<(u32, u32)>,
    /// Manifolds of general contacts.
    manifolds: Vec<Manifold>,
    batcher: Batcher,
}

impl ChunkScratch {
    /// Makes room for so many round and general contacts of a chunk of so many bodies.
    fn reserve(&mut self, [round, general]: [usize; 2], bodies: usize) {
        reserve_with_slack(&mut self.keys, round);
        reserve_with_slack(&mut self.manifolds, general);
        let most = round.max(general);
        let Batcher { batches, fill, next } = &mut self.batcher;
        reserve_with_slack(batches, most);
        reserve_with_slack(fill, most);
        reserve_with_slack(next, bodies + bodies.max(most));
    }
}

/// The general contacts of one pair of bodies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Manifold {
    /// Chunk of body B.
    other: u32,
    /// How many points it has, and the first.
    points: u32,
    first: u32,
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
    /// `first[j]..first[j + 1]`: round ones in the first list, general ones in the second, which may be
    /// empty.
    pub(crate) fn fill(&mut self, problem: &ProblemRef<'_>, first: [&[u32]; 2], order: Order) {
        match order {
            Order::Serial => self.fill_serial(problem),
            Order::Coloured => self.fill_coloured(problem, first),
            Order::Split => self.fill_split(problem, first),
        }
    }

    /// One contact after the other, as they stand in the problem.
    fn fill_serial(&mut self, problem: &ProblemRef<'_>) {
        let (n, m) = (problem.bodies(), problem.contacts());
        self.is_split = false;
        self.own_records(n, 1);
        self.phases.clear();
        self.phases.push(0..1);
        self.round = problem.round();
        self.groups.clear();
        self.groups.push(Group { round: 0..self.round, general: self.round..m });
        self.contacts.clear();
        self.contacts.extend((0..m as u32).map(|i| [i, NONE, NONE, NONE]));
        self.continues.clear();
        let same_pair = |i: usize| i > self.round && problem.pairs[i] == problem.pairs[i - 1];
        self.continues.extend((self.round..m).map(same_pair));
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
    fn fill_coloured(&mut self, problem: &ProblemRef<'_>, first: [&[u32]; 2]) {
        let n = problem.bodies();
        let length = chunk_length(n);
        let chunks = n.div_ceil(length).max(1);
        self.is_split = false;
        self.own_records(n, chunks);
        self.chunks.resize_with(chunks.max(self.chunks.len()), Chunk::default);
        self.prepare_scratch(first, length, n);
        let scratch = &self.scratch;
        self.chunks[..chunks].par_iter_mut().enumerate().for_each(|(c, chunk)| {
            let bodies = c * length..((c + 1) * length).min(n);
            let chunk_of = |b: u32| if problem.moves(b) { b as usize / length } else { c };
            let place = |chunk_of_b: u32, body: u32| {
                // Places of this chunk's bodies come first, then those of the other's.
                let home = body as usize / length == c;
                if home { body as usize - c * length } else { body as usize + length - chunk_of_b as usize * length }
            };
            scratch.lend(|scratch| chunk.fill(problem, first, bodies, scratch, chunk_of, place));
        });

        // Colours: groups that meet in a chunk get different phases.
        self.used.iter_mut().for_each(Vec::clear);
        self.used.resize_with(chunks.max(self.used.len()), Vec::new);
        self.placed.clear();
        for (c, chunk) in self.chunks[..chunks].iter().enumerate() {
            chunk.for_groups(|other, slots| {
                let phase = if other as usize == c { 0 } else { 1 + colour(&mut self.used, c, other as usize) };
                self.placed.push(Placed { phase, chunk: c as u32, slots });
            });
        }
        self.place_groups();
        let chunk_of = |body: u32| body as usize / length;
        let chunk_of_slot = |four: &[u32; LANES]| chunk_of(problem.pairs[four[0] as usize][0]);
        self.find_lanes(problem, |_, body| Some(body), chunk_of_slot, chunks);
    }

    /// Makes sure that the scratch of every thread has room for any chunk.
    fn prepare_scratch(&mut self, first: [&[u32]; 2], length: usize, n: usize) {
        let chunk = |c: usize| c * length..((c + 1) * length).min(n);
        let longest = |section: &[u32]| (0..n.div_ceil(length)).map(|c| contacts_of(section, &chunk(c)).len()).max();
        let most = first.map(|section| longest(section).unwrap_or(0));
        self.scratch.prepare(|scratch| scratch.reserve(most, length));
    }

    /// Orders groups by phase and gives them their slots.
    fn place_groups(&mut self) {
        self.placed.sort_unstable_by_key(|g| (g.phase, g.chunk, g.slots));
        self.phases.clear();
        self.groups.clear();
        let length = |[from, to]: [u32; 2]| (to - from) as usize;
        self.round = self.placed.iter().map(|group| length(group.slots[0])).sum();
        let mut at = [0, self.round];
        for (k, group) in self.placed.iter().enumerate() {
            if self.phases.is_empty() || self.placed[k - 1].phase != group.phase {
                self.phases.push(k..k);
            }
            if let Some(phase) = self.phases.last_mut() {
                phase.end = k + 1;
            }
            let [round, general] = [0, 1].map(|s| at[s]..at[s] + length(group.slots[s]));
            at = [round.end, general.end];
            self.groups.push(Group { round, general });
        }
        reshape(&mut self.contacts, at[1]);
        reshape(&mut self.continues, at[1] - self.round);
        let (contacts, continues) = (Disjoint::new(&mut self.contacts), Disjoint::new(&mut self.continues));
        let (chunks, groups, general_from) = (&self.chunks, &self.groups, self.round);
        self.placed.par_iter().zip(groups).for_each(|(placed, group)| {
            let chunk = &chunks[placed.chunk as usize];
            for (section, to) in [&group.round, &group.general].into_iter().enumerate() {
                let [from, end] = placed.slots[section].map(|k| k as usize);
                // SAFETY: groups are disjoint.
                unsafe { contacts.range(to.clone()) }.copy_from_slice(&chunk.slots[section][from..end]);
            }
            let [from, end] = placed.slots[1].map(|k| k as usize);
            let to = group.general.start - general_from..group.general.end - general_from;
            // SAFETY: groups are disjoint.
            unsafe { continues.range(to) }.copy_from_slice(&chunk.continues[from..end]);
        });
    }

    /// Finds the records of every lane. `record(batch's chunk, body)` is that of a body that can
    /// move; the rest meet the ground of `chunk(batch)`, one of `chunks`.
    fn find_lanes(
        &mut self,
        problem: &ProblemRef<'_>,
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
    fn fill_split(&mut self, problem: &ProblemRef<'_>, first: [&[u32]; 2]) {
        let n = problem.bodies();
        let length = chunk_length(n);
        let chunks = n.div_ceil(length).max(1);
        self.is_split = true;
        self.chunks.resize_with(chunks.max(self.chunks.len()), Chunk::default);
        self.prepare_scratch(first, length, n);
        let scratch = &self.scratch;
        self.chunks[..chunks].par_iter_mut().enumerate().for_each(|(c, chunk)| {
            let bodies = c * length..((c + 1) * length).min(n);
            chunk.foreign.clear();
            let away = |b: &u32| !bodies.contains(&(*b as usize)) && problem.moves(*b);
            for section in first {
                let contacts = contacts_of(section, &bodies);
                chunk.foreign.extend(contacts.map(|i| problem.pairs[i as usize][1]).filter(away));
            }
            chunk.foreign.sort_unstable();
            chunk.foreign.dedup();
            let foreign = std::mem::take(&mut chunk.foreign);
            let place = |_: u32, body: u32| {
                if bodies.contains(&(body as usize)) {
                    body as usize - bodies.start
                } else {
                    length + foreign.binary_search(&body).unwrap_or(0)
                }
            };
            scratch.lend(|scratch| chunk.fill(problem, first, bodies.clone(), scratch, |_| c, place));
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
            chunk.for_groups(|_, slots| self.placed.push(Placed { phase: 0, chunk: c as u32, slots }));
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

/// The contacts whose A is one of some bodies, from the list of a section.
fn contacts_of(first: &[u32], bodies: &Range<usize>) -> Range<u32> {
    if first.is_empty() { 0..0 } else { first[bodies.start]..first[bodies.end] }
}

impl Chunk {
    /// Plans the contacts whose A is one of `bodies`. `chunk_of` is the chunk of a body B (this one for what
    /// cannot move, which lies everywhere), `place(other, body)` the place of a body among those of the group
    /// with that chunk.
    fn fill(
        &mut self,
        problem: &ProblemRef<'_>,
        first: [&[u32]; 2],
        bodies: Range<usize>,
        scratch: &mut ChunkScratch,
        chunk_of: impl Fn(u32) -> usize,
        place: impl Fn(u32, u32) -> usize,
    ) {
        let other = |i: u32| chunk_of(problem.pairs[i as usize][1]) as u32;
        let Self { slots, continues, groups, .. } = self;
        let ChunkScratch { keys, manifolds, batcher } = scratch;
        slots.iter_mut().for_each(Vec::clear);
        groups.iter_mut().for_each(Vec::clear);
        continues.clear();

        // Round contacts by the chunk of their body B, four to a batch.
        keys.clear();
        keys.extend(contacts_of(first[0], &bodies).map(|i| (other(i), i)));
        keys.sort_unstable();
        for group in keys.chunk_by(|a, b| a.0 == b.0) {
            let start = slots[0].len() as u32;
            let places = |i: u32| problem.places(i, |body| place(group[0].0, body));
            batcher.batch(group.iter().map(|key| key.1), places);
            slots[0].extend_from_slice(&batcher.batches);
            groups[0].push((group[0].0, start, slots[0].len() as u32));
        }

        // General ones by manifolds: those of equally many points, four to a batch, a slot a point.
        manifolds.clear();
        for i in contacts_of(first[1], &bodies) {
            match manifolds.last_mut() {
                Some(last) if problem.pairs[last.first as usize] == problem.pairs[i as usize] => last.points += 1,
                _ => manifolds.push(Manifold { other: other(i), points: 1, first: i }),
            }
        }
        manifolds.sort_unstable();
        for alike in manifolds.chunk_by(|a, b| (a.other, a.points) == (b.other, b.points)) {
            let (other, start) = (alike[0].other, slots[1].len() as u32);
            let places = |i: u32| problem.places(i, |body| place(other, body));
            batcher.batch(alike.iter().map(|manifold| manifold.first), places);
            for batch in &batcher.batches {
                for point in 0..alike[0].points {
                    slots[1].push(batch.map(|i| if i == NONE { NONE } else { i + point }));
                    continues.push(point > 0);
                }
            }
            match groups[1].last_mut() {
                Some(group) if group.0 == other => group.2 = slots[1].len() as u32,
                _ => groups[1].push((other, start, slots[1].len() as u32)),
            }
        }
    }

    /// Calls `found` for every other chunk, ascending, with the slots of round and of general contacts.
    fn for_groups(&self, mut found: impl FnMut(u32, [[u32; 2]; 2])) {
        let [mut round, mut general] = self.groups.each_ref().map(|groups| groups.iter().copied().peekable());
        while let Some(other) = [round.peek(), general.peek()].into_iter().flatten().map(|group| group.0).min() {
            let take = |groups: &mut std::iter::Peekable<_>| {
                let next: Option<(u32, u32, u32)> = groups.next_if(|group: &(u32, u32, u32)| group.0 == other);
                next.map_or([0; 2], |(_, from, to)| [from, to])
            };
            found(other, [take(&mut round), take(&mut general)]);
        }
    }
}

impl ProblemRef<'_> {
    /// The places of the bodies of a contact that can move.
    fn places(&self, contact: u32, place: impl Fn(u32) -> usize) -> [Option<usize>; 2] {
        self.pairs[contact as usize].map(|body| self.moves(body).then(|| place(body)))
    }
}

/// Deals contacts, or manifolds, into batches of four that share no body.
#[derive(Debug, Default)]
struct Batcher {
    batches: Vec<[u32; LANES]>,
    fill: Vec<u8>,
    /// First batch that a body is not in yet, by its place.
    next: Vec<u32>,
}

impl Batcher {
    /// Deals items; `places` are those of an item's bodies that can move. Each goes to the first batch with
    /// a free lane behind all that its bodies are in.
    fn batch(&mut self, items: impl Iterator<Item = u32> + Clone, places: impl Fn(u32) -> [Option<usize>; 2]) {
        self.batches.clear();
        self.fill.clear();
        let mut first_open = 0;
        for item in items.clone() {
            let places = places(item);
            let longest = places.iter().flatten().max().map_or(0, |p| p + 1);
            if self.next.len() < longest {
                self.next.resize(longest, 0);
            }
            let earliest = places.iter().flatten().map(|&p| self.next[p] as usize).max().unwrap_or(0);
            let mut batch = earliest.max(first_open);
            while self.fill.get(batch).is_some_and(|&fill| fill as usize == LANES) {
                batch += 1;
            }
            self.fill.resize(self.fill.len().max(batch + 1), 0);
            self.batches.resize(self.fill.len(), [NONE; LANES]);
            self.batches[batch][self.fill[batch] as usize] = item;
            self.fill[batch] += 1;
            while self.fill.get(first_open).is_some_and(|&fill| fill as usize == LANES) {
                first_open += 1;
            }
            for p in places.into_iter().flatten() {
                self.next[p] = (batch + 1) as u32;
            }
        }
        for p in items.flat_map(places).flatten() {
            self.next[p] = 0;
        }
    }
}
