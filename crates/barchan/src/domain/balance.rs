//! Equal work for all ranks: ranges of the Morton curve that follow the bodies (S1 IV-A).
//!
//! Every so many steps the ranks compare how busy they were. If one was much busier than the rest,
//! the curve is cut anew, with each body weighed by what it cost, and bodies go where they belong
//! now, with the impulses of their contacts. That is the one time when a rank may hear from any
//! other. The same is done when bodies come to reach farther than the neighbours that are known.
//!
//! While the work moves, the ranks look more often; when it rests, less.

use super::holders::GLOBAL;
use super::{Domain, DomainError};
use crate::broad::Aabb;
use crate::comm::Reduction;
use crate::narrow::{Contacts, FeatureKey};
use crate::partition::{Curve, Cuts, DomainOptions, Morton, WorkMeasure, bulk, imbalance};
use crate::util::pack::{Pack, Unpacker};
use crate::world::{Bodies, Ownership, Sharing, World};
use glam::DVec3;
use std::collections::HashMap;

/// How much farther neighbours are looked for than bodies reach.
const ROOM: f64 = 1.5;

/// All that travels with a body.
const ALL: &[Sharing] = &[Sharing::CopiedEachStep, Sharing::CopiedOnce, Sharing::Owned];

/// How near to the least imbalance there is the work must come.
const NEARLY: f64 = 1.02;

/// How much more often than asked for the ranks look while the work moves.
const HURRY: u32 = 5;

/// What an iteration costs a contact, in what a step costs a body beside it.
const ITERATION: f64 = 0.1;

/// What a rank has done since the last look: in seconds, or in any unit.
#[derive(Clone, Copy, Debug, Default)]
pub struct Work {
    /// For bodies.
    pub bodies: f64,
    /// For contacts.
    pub contacts: f64,
}

impl Work {
    /// The work of a step, counted.
    pub fn counted(bodies: usize, contacts: usize, iterations: u32) -> Self {
        Self { bodies: bodies as f64, contacts: ITERATION * f64::from(iterations) * contacts as f64 }
    }
}

/// When to balance, and what was measured for it.
#[derive(Debug)]
pub(super) struct Balance {
    pub(super) limit: f64,
    /// Steps between two looks: at most, and now.
    pub(super) interval: u32,
    pub(super) wait: u32,
    pub(super) measure: WorkMeasure,
    pub(super) steps: u32,
    pub(super) work: Work,
    /// Work since the start.
    pub(super) total: f64,
    pub(super) reach: f64,
    /// The imbalance that one body alone makes, which no cut can mend.
    pub(super) least: f64,
    /// Times that the curve was cut anew, and the last imbalance seen.
    pub(super) cuts: u32,
    pub(super) last: f64,
}

impl Balance {
    pub(super) fn new(options: &DomainOptions, reach: f64) -> Self {
        let (limit, interval, measure) = (options.imbalance, options.balance_interval, options.work);
        Self {
            limit,
            interval,
            wait: interval.div_ceil(HURRY),
            measure,
            steps: 0,
            work: Work::default(),
            total: 0.0,
            reach,
            least: 1.0,
            cuts: 0,
            last: 1.0,
        }
    }
}

impl Domain {
    /// Adds to the work of this rank: a step in processor seconds, and the same counted.
    pub fn add_work(&mut self, seconds: Work, counted: Work) {
        if let Some(balance) = &mut self.balance {
            let work = if balance.measure == WorkMeasure::Time { seconds } else { counted };
            balance.steps += 1;
            balance.work.bodies += work.bodies;
            balance.work.contacts += work.contacts;
            balance.total += work.bodies + work.contacts;
        }
    }

    /// Looks whether the work is shared equally, if it is time, and shares it anew if it is not.
    ///
    /// # Errors
    /// If space cannot be divided so.
    pub fn rebalance_if_due(&mut self, world: &mut World, contacts: &Contacts) -> Result<(), DomainError> {
        let Some(balance) = &mut self.balance else { return Ok(()) };
        if balance.interval == 0 || balance.steps < balance.wait {
            return Ok(());
        }
        self.comm.stage("balance of work");
        let work = std::mem::take(&mut balance.work);
        balance.steps = 0;
        balance.last = imbalance(&mut *self.comm, work.bodies + work.contacts);
        if balance.last <= balance.limit.max(NEARLY * balance.least) {
            balance.wait = balance.interval.min(2 * balance.wait);
            return Ok(());
        }
        balance.wait = balance.interval.div_ceil(HURRY).max(balance.wait / 2);
        let reach = balance.reach;
        self.repartition(world, contacts, work, reach)
    }

    /// Looks for neighbours farther away, because bodies reach that far. Says whether it could.
    pub(super) fn widen(&mut self, world: &mut World, contacts: &Contacts, reach: f64) -> Result<bool, DomainError> {
        let Some(balance) = &mut self.balance else { return Ok(false) };
        balance.reach = ROOM * reach;
        let (reach, work) = (balance.reach, balance.work);
        self.repartition(world, contacts, work, reach)?;
        Ok(self.partition.reach() > reach / ROOM)
    }

    /// Cuts the curve anew, and sends every body where it belongs.
    fn repartition(
        &mut self,
        world: &mut World,
        contacts: &Contacts,
        work: Work,
        reach: f64,
    ) -> Result<(), DomainError> {
        let bodies = &mut world.bodies;
        self.drop_images(bodies);
        let extent = self.extent(bodies);
        let weights = self.weights(bodies, contacts, work);
        let places = (0..bodies.len()).filter(|&i| self.is_migratable(bodies, i));
        let places: Vec<(DVec3, f64)> = places.map(|i| (self.home(bodies, i), weights[i])).collect();
        let least = self.least_imbalance(&places);
        let centres: Vec<DVec3> = places.iter().map(|place| place.0).collect();
        let curve = Curve::around(&bulk(&mut *self.comm, &centres, extent), &self.periods);
        let cuts = Cuts::balanced(&mut *self.comm, curve, places);
        let partition = Morton::new(&cuts, self.partition.rank(), reach);
        let partition = partition.map_err(|error| DomainError::Division { message: error.to_string() })?;
        self.migrate(bodies, contacts, &cuts);
        self.partition = Box::new(partition);
        if let Some(balance) = &mut self.balance {
            balance.cuts += 1;
            balance.least = least;
        }
        Ok(())
    }

    /// Whether a body is this rank's own to give away.
    fn is_migratable(&self, bodies: &Bodies, i: usize) -> bool {
        bodies.is_owned_and_bounded(i) && self.holders.of_body.get(i) != Some(&GLOBAL)
    }

    /// Where a body is in the cell, whether it is own or a copy.
    fn home(&self, bodies: &Bodies, i: usize) -> DVec3 {
        let shift = self.holders.entry(i as u32).map_or([0; 3], |entry| entry.shift);
        let x = bodies.position[i] - self.periods.offset(shift);
        x + self.periods.offset(self.periods.wrap_shift(x))
    }

    /// The box of all bodies of all ranks; the cell along axes that repeat.
    fn extent(&mut self, bodies: &Bodies) -> Aabb {
        let own = (0..bodies.len()).filter(|&i| self.is_migratable(bodies, i)).fold(Aabb::EMPTY, |all, i| {
            let x = bodies.position[i];
            all.join(&Aabb { low: x, high: x })
        });
        let mut ends = [own.high.to_array(), (-own.low).to_array()].concat();
        self.comm.all_reduce(Reduction::Max, &mut ends);
        let (mut low, mut high) = (-DVec3::from_slice(&ends[3..]), DVec3::from_slice(&ends[..3]));
        for axis in (0..3).filter(|&axis| self.periods.repeats(axis)) {
            (low[axis], high[axis]) = (self.periods.low[axis], self.periods.high[axis]);
        }
        Aabb { low, high }
    }

    /// The imbalance if the heaviest body were alone on its rank.
    fn least_imbalance(&mut self, places: &[(DVec3, f64)]) -> f64 {
        let mut heaviest = [places.iter().map(|place| place.1).fold(0.0, f64::max)];
        let mut total = [places.iter().map(|place| place.1).sum()];
        self.comm.all_reduce(Reduction::Max, &mut heaviest);
        self.comm.all_reduce(Reduction::Sum, &mut total);
        if total[0] > 0.0 { heaviest[0] * self.comm.size() as f64 / total[0] } else { 1.0 }
    }

    /// What each body has cost: its share of the time for bodies, and that of its contacts.
    fn weights(&self, bodies: &Bodies, contacts: &Contacts, work: Work) -> Vec<f64> {
        let own = (0..bodies.len()).filter(|&i| self.is_migratable(bodies, i)).count().max(1);
        let count = contacts.len().max(1);
        let measured = work.bodies + work.contacts > 0.0;
        let a_body = if measured { work.bodies / own as f64 } else { 1.0 };
        let a_contact = if measured { work.contacts / count as f64 } else { 0.0 };
        let mut weights = vec![a_body; bodies.len()];
        for pair in contacts.pairs() {
            let [a, b] = pair.map(|i| i as usize);
            match [a, b].map(|i| self.is_migratable(bodies, i)) {
                [true, true] => [a, b].into_iter().for_each(|i| weights[i] += 0.5 * a_contact),
                [true, false] => weights[a] += a_contact,
                [false, true] => weights[b] += a_contact,
                [false, false] => {}
            }
        }
        weights
    }

    /// Sends own bodies to their new owners, and impulses to where their contacts will be treated:
    /// the owner of one of the two bodies. Copies vanish; the next exchange makes new ones.
    fn migrate(&mut self, bodies: &mut Bodies, contacts: &Contacts, cuts: &Cuts) {
        let mut migrated_impulses = std::mem::take(&mut self.halo.migrated_impulses);
        let rank = self.partition.rank();
        let others: Vec<u32> = (0..self.comm.size() as u32).filter(|&other| other != rank).collect();
        let number = |other: u32| if other < rank { other as usize } else { other as usize - 1 };
        let mut outgoing = vec![Vec::new(); others.len()];
        let mut incoming = vec![Vec::new(); others.len()];

        let owner = |i: u32| (!self.is_global(bodies, i)).then(|| cuts.owner(self.home(bodies, i as usize)));
        for out in &mut outgoing {
            0u32.pack(out);
        }
        let mut counts = vec![0u32; others.len()];
        let mut kept = Vec::new();
        let mut send = |owner: u32, record: ([u64; 2], FeatureKey, DVec3)| {
            if owner == rank {
                kept.push(record);
            } else {
                let out = &mut outgoing[number(owner)];
                record.0.pack(out);
                record.1.pack(out);
                record.2.pack(out);
                counts[number(owner)] += 1;
            }
        };
        // Space may have been divided already in this step: what has come then goes on with its bodies.
        if !migrated_impulses.is_empty() {
            let own = (0..bodies.len() as u32).filter(|&i| self.is_migratable(bodies, i as usize));
            let own: HashMap<u64, u32> = own.map(|i| (bodies.id[i as usize], i)).collect();
            for record in migrated_impulses.drain(..) {
                let owners = record.0.map(|id| own.get(&id).and_then(|&i| owner(i)));
                let second = owners[1].filter(|_| owners[0] != owners[1]);
                [owners[0], second].into_iter().flatten().for_each(|owner| send(owner, record));
            }
        }
        for ([a, b], key, impulse) in contacts.entries() {
            let stays = |i: u32, owner: Option<u32>| {
                owner.is_none() || owner == Some(rank) && bodies.ownership[i as usize] == Ownership::Owned
            };
            // Bodies that have gone have taken their impulses along.
            if [a, b].iter().any(|&i| bodies.ownership[i as usize] == Ownership::Removed) {
                continue;
            }
            let owners = [owner(a), owner(b)];
            if stays(a, owners[0]) && stays(b, owners[1]) {
                continue;
            }
            let ids = [a, b].map(|i| bodies.id[i as usize]);
            let record = super::sync::by_id(ids, key, impulse);
            let second = if owners[0] == owners[1] { None } else { owners[1] };
            [owners[0], second].into_iter().flatten().for_each(|owner| send(owner, record));
        }
        for ((out, count), &other) in outgoing.iter_mut().zip(&counts).zip(&others) {
            out[..4].copy_from_slice(&count.to_le_bytes());
            self.shapes.write_head(other, out);
        }
        self.migrate_bodies(bodies, cuts, &mut outgoing, number);
        self.comm.exchange(&others, &outgoing, &mut incoming);
        for (bytes, &other) in incoming.iter().zip(&others) {
            if self.read_migrated(other, bytes, bodies, &mut kept).is_none() {
                self.disagree(&format!("a message of rank {other} makes no sense"));
            }
        }
        self.holders.clear();
        self.holders.sort(bodies.len());
        self.halo.migrated_impulses = kept;
    }

    /// Writes own bodies that others own from now on. They vanish here, and so do copies.
    fn migrate_bodies(
        &mut self,
        bodies: &mut Bodies,
        cuts: &Cuts,
        outgoing: &mut [Vec<u8>],
        number: impl Fn(u32) -> usize,
    ) {
        let rank = self.partition.rank();
        for i in 0..bodies.len() {
            if self.is_migratable(bodies, i) {
                bodies.position[i] = self.home(bodies, i);
                let owner = cuts.owner(bodies.position[i]);
                if owner != rank {
                    let out = &mut outgoing[number(owner)];
                    bodies.pack(i, ALL, out);
                    self.shapes.write(&bodies.shape[i], owner, out);
                    bodies.mark_removed(i);
                }
            } else if bodies.ownership[i] == Ownership::Ghost && self.holders.entry(i as u32).is_some() {
                bodies.mark_removed(i);
            }
        }
    }

    /// Takes in what another rank has sent: impulses, then bodies.
    fn read_migrated(
        &mut self,
        other: u32,
        bytes: &[u8],
        bodies: &mut Bodies,
        impulses: &mut Vec<([u64; 2], FeatureKey, DVec3)>,
    ) -> Option<()> {
        let mut from = Unpacker::new(bytes);
        for _ in 0..from.take::<u32>()? {
            impulses.push((from.take()?, from.take()?, from.take()?));
        }
        self.shapes.read_head(other, &mut from)?;
        while !from.is_empty() {
            bodies.push_place();
            let i = bodies.len() - 1;
            bodies.unpack(i, ALL, &mut from)?;
            bodies.shape[i] = self.shapes.read(other, &mut from)?;
        }
        Some(())
    }
}
