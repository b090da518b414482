//! What ranks tell each other before a step (S4 6.5).
//!
//! Bodies have moved. Each rank finds out for its own bodies who owns them now and whose regions
//! their hulls meet, and tells everybody concerned in one message a neighbour: the new state of
//! copies, bodies to copy, copies to drop, and always the whole list of holders. Nothing of it is
//! inferred by the receiver.
//!
//! A fast body may reach, in the step in which it changes its owner, regions that its old owner does
//! not know. Then there is a second round, in which its new owner tells them.
//!
//! With bodies, contacts are assigned to other ranks. The impulses of the last step, from which the next
//! starts, go with them. Here alone a rank infers what the lists of other ranks' bodies will be: it
//! has moved its copies just as their owners have, and an impulse that goes astray is no more than a
//! colder start.

use super::holders::{GLOBAL, HolderLists, NONE, minus, plus};
use super::{Domain, DomainError};
use crate::broad::{Aabb, Growth, hull};
use crate::comm::Reduction;
use crate::narrow::{Contacts, FeatureKey};
use crate::partition::Holder;
use crate::util::pack::{LAYOUT, Pack, Unpacker};
use crate::world::{Bodies, Ownership, Sharing, World};
use barchan_parallel::{CHUNK, for_chunks_mut, reshape};
use glam::DVec3;
use std::collections::HashMap;

/// What a record of a message is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
enum Tag {
    /// The state of a body that the receiver has.
    Update,
    /// A body that it has not.
    New,
    /// A copy that it needs no longer.
    Drop,
    /// The impulse of a contact that it will treat.
    Impulse,
}

const EACH_STEP: &[Sharing] = &[Sharing::CopiedEachStep];
const ONCE: &[Sharing] = &[Sharing::CopiedEachStep, Sharing::CopiedOnce];
const OWNED: &[Sharing] = &[Sharing::Owned];

/// Messages and what they are made from; memory is kept.
#[derive(Default)]
pub(super) struct HaloExchange {
    outgoing: Vec<Vec<u8>>,
    incoming: Vec<Vec<u8>>,
    /// Who will hold what, as far as this rank can tell.
    fresh: HolderLists,
    /// Who holds what from now on.
    next: HolderLists,
    /// Bodies whose hulls are not inside the region.
    is_near: Vec<bool>,
    /// By how many periods bodies were shifted to come back into the cell.
    wraps: Vec<[i8; 3]>,
    scratch: Vec<Holder>,
    /// Impulses that have come: ids, key, impulse on the first.
    impulses: Vec<([u64; 2], FeatureKey, DVec3)>,
    /// The same, from a new division of space.
    pub(super) migrated_impulses: Vec<([u64; 2], FeatureKey, DVec3)>,
}

impl HaloExchange {
    fn wrap(&self, body: u32) -> [i8; 3] {
        self.wraps.get(body as usize).copied().unwrap_or_default()
    }
}

/// What the search for holders has found.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Found {
    /// Whether a body has holders that its old owner does not know.
    is_partial: bool,
    /// How far bodies reach that reach too far; 0 if there are none.
    reach: f64,
}

/// Rounds of messages before a step.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Round {
    First,
    Second,
}

/// Each rank of some holders once.
fn ranks(holders: &[Holder]) -> impl Iterator<Item = u32> + '_ {
    holders.chunk_by(|a, b| a.rank == b.rank).map(|same| same[0].rank)
}

/// An impulse between bodies of these ids, with the smaller id first.
pub(crate) fn by_id(ids: [u64; 2], key: FeatureKey, impulse: DVec3) -> ([u64; 2], FeatureKey, DVec3) {
    if ids[0] < ids[1] { (ids, key, impulse) } else { ([ids[1], ids[0]], key.reversed(), -impulse) }
}

/// Writes a record of an impulse: ids, key, impulse on the first.
fn write_impulse((ids, key, impulse): ([u64; 2], FeatureKey, DVec3), out: &mut Vec<u8>) {
    (Tag::Impulse as u8).pack(out);
    ids.pack(out);
    key.pack(out);
    impulse.pack(out);
}

/// Appends the same body once more, some way off.
fn add_image(bodies: &mut Bodies, body: u32, offset: DVec3) {
    bodies.repeat(body as usize);
    let image = bodies.len() - 1;
    bodies.ownership[image] = Ownership::Image;
    bodies.position[image] += offset;
}

impl Domain {
    /// Brings bodies, copies and images up to date for a step of length `h`. Velocities are those
    /// with which the step begins. `contacts` has the impulses of the last step.
    ///
    /// # Errors
    /// If a body cannot be followed; the same on all ranks.
    pub fn synchronise(
        &mut self,
        world: &mut World,
        growth: Growth,
        contacts: &mut Contacts,
    ) -> Result<(), DomainError> {
        self.comm.stage("exchange of bodies");
        if self.comm.size() > 1 {
            self.shapes.begin(&world.bodies.shape);
        }
        self.halo.impulses.clear();
        if self.round(world, growth, contacts, Round::First)? {
            self.round(world, growth, contacts, Round::Second)?;
        }
        self.halo.migrated_impulses.clear();
        Ok(())
    }

    /// One message a neighbour. Returns whether some rank could not tell everybody concerned.
    fn round(
        &mut self,
        world: &mut World,
        growth: Growth,
        contacts: &mut Contacts,
        round: Round,
    ) -> Result<bool, DomainError> {
        self.drop_images(&mut world.bodies);
        let mut found = self.find_holders(&mut world.bodies, growth)?;
        if found.reach > 0.0 {
            self.extend_reach(world, growth, contacts, found.reach)?;
            found = self.find_holders(&mut world.bodies, growth)?;
            if found.reach > 0.0 {
                return Err(self.too_far(&world.bodies, growth, found.reach));
            }
        }
        self.write_updates(&world.bodies);
        if round == Round::First {
            self.write_impulses(&world.bodies, contacts);
        }
        self.migrate_out(&mut world.bodies);
        let neighbours = self.partition.neighbours();
        let HaloExchange { outgoing, incoming, .. } = &mut self.halo;
        self.comm.exchange(neighbours, outgoing, incoming);
        self.read_updates(&mut world.bodies);
        self.update_lists(&mut world.bodies, growth, contacts);
        Ok(found.is_partial)
    }

    /// Finds the owner and the holders of every body that this rank has. All ranks get the same
    /// answer.
    fn find_holders(&mut self, bodies: &mut Bodies, growth: Growth) -> Result<Found, DomainError> {
        self.mark_global(bodies);
        let found = self.find_holders_locally(bodies, growth);
        let here = found.as_ref().copied().unwrap_or_default();
        let flag = |flag: bool| f64::from(u8::from(flag));
        let mut worst = [flag(found.is_err()), flag(here.is_partial), here.reach];
        self.comm.all_reduce(Reduction::Max, &mut worst);
        if worst[0] > 0.0 {
            return Err(found.err().unwrap_or(DomainError::Elsewhere));
        }
        Ok(Found { is_partial: worst[1] > 0.0, reach: worst[2] })
    }

    /// Looks for neighbours as far away as bodies reach, if the partition can.
    fn extend_reach(
        &mut self,
        world: &mut World,
        growth: Growth,
        contacts: &Contacts,
        reach: f64,
    ) -> Result<(), DomainError> {
        let error = self.too_far(&world.bodies, growth, reach);
        if self.widen(world, contacts, reach)? { Ok(()) } else { Err(error) }
    }

    /// What to say if bodies reach too far (S4 eq. 7): the rank that owns the one names it.
    fn too_far(&self, bodies: &Bodies, growth: Growth, reach: f64) -> DomainError {
        let limit = self.partition.reach();
        let of = |i: &usize| 0.5 * hull::of(bodies, *i, growth).extent();
        let own = (0..bodies.len()).filter(|&i| bodies.is_owned_and_bounded(i) && !self.is_global(bodies, i as u32));
        let far = own.filter(|i| of(i) >= limit).max_by(|a, b| of(a).total_cmp(&of(b)));
        far.map_or(DomainError::Elsewhere, |i| DomainError::Reach { body: bodies.id[i], reach, limit })
    }

    /// Marks the bodies that every rank has. Lists are without them at the start, and after bodies have
    /// changed places.
    fn mark_global(&mut self, bodies: &Bodies) {
        self.holders.of_body.resize(bodies.len(), NONE);
        for body in self.global_bodies.ids.iter().filter_map(|&id| bodies.index_of(id)) {
            self.holders.of_body[body] = GLOBAL;
        }
    }

    /// Brings bodies that have left the periodic cell back into it.
    fn wrap_positions(&mut self, bodies: &mut Bodies) {
        let (n, periods, holders) = (bodies.len(), self.periods, &self.holders);
        let halo = &mut self.halo;
        halo.wraps.clear();
        if !periods.any() {
            return;
        }
        halo.wraps.resize(n, [0; 3]);
        for i in 0..n {
            let x = match bodies.ownership[i] {
                _ if bodies.is_wall(i) => continue,
                Ownership::Owned => bodies.position[i],
                // A copy without an entry is one that every rank has, and follows by itself.
                Ownership::Ghost => match holders.entry(i as u32) {
                    Some(entry) => bodies.position[i] - periods.offset(entry.shift),
                    None => bodies.position[i],
                },
                Ownership::Image | Ownership::Removed => continue,
            };
            halo.wraps[i] = periods.wrap_shift(x);
            let follows = bodies.ownership[i] == Ownership::Owned || holders.entry(i as u32).is_none();
            if follows && halo.wraps[i] != [0; 3] {
                bodies.position[i] = periods.wrap(x, halo.wraps[i]);
            }
        }
    }

    /// Finds the bodies whose hulls are not inside the region. Most are, and are seen at a glance.
    fn find_near(&mut self, bodies: &Bodies, growth: Growth) {
        let holders = &self.holders;
        let halo = &mut self.halo;
        let partition = &*self.partition;
        let limit = partition.reach();
        let global = |i: usize| holders.of_body.get(i) == Some(&GLOBAL);
        reshape(&mut halo.is_near, bodies.len());
        for_chunks_mut(&mut halo.is_near[..], CHUNK, |range, near| {
            for (near, i) in near.iter_mut().zip(range) {
                let takes_part = match bodies.ownership[i] {
                    Ownership::Owned => !bodies.is_wall(i) && !global(i),
                    Ownership::Ghost => holders.entry(i as u32).is_some(),
                    Ownership::Image | Ownership::Removed => false,
                };
                let own = bodies.ownership[i] == Ownership::Owned;
                let is_near = takes_part && {
                    let hull = hull::of(bodies, i, growth);
                    !own || !partition.holds(&hull) || 0.5 * hull.extent() >= limit
                };
                *near = is_near;
            }
        });
    }

    /// Finds owners and holders as far as this rank can tell alone.
    fn find_holders_locally(&mut self, bodies: &mut Bodies, growth: Growth) -> Result<Found, DomainError> {
        self.wrap_positions(bodies);
        self.find_near(bodies, growth);
        let (n, rank) = (bodies.len(), self.partition.rank());
        let (periods, holders) = (self.periods, &self.holders);
        let partition = &*self.partition;
        let limit = partition.reach();
        let halo = &mut self.halo;
        halo.fresh.clear();
        let mut found = Found::default();
        for i in (0..n).filter(|&i| halo.is_near[i]) {
            let (own, id) = (bodies.ownership[i] == Ownership::Owned, bodies.id[i]);
            let mut hull = hull::of(bodies, i, growth);
            let mut x = bodies.position[i];
            if !own && let Some(entry) = holders.entry(i as u32) {
                // Where its owner has it.
                let offset =
                    periods.offset(halo.wraps.get(i).copied().unwrap_or_default()) - periods.offset(entry.shift);
                (x, hull.low, hull.high) = (x + offset, hull.low + offset, hull.high + offset);
            }
            let reach = 0.5 * hull.extent();
            if own && reach >= limit {
                found.reach = found.reach.max(reach.min(f64::MAX));
                continue;
            }
            let owner = match partition.owner(x) {
                Some(owner) if periods.wrap_shift(x) == [0; 3] => owner,
                _ if own => return Err(DomainError::Crossed { body: id }),
                _ => continue,
            };
            if own && owner != rank && !periods.known(partition, &hull) {
                found.is_partial = true;
            }
            periods.holders(partition, &hull, &mut halo.scratch);
            // An owner holds its body, whatever rounding says of the border.
            let home = Holder { rank: owner, shift: [0; 3] };
            if let Err(place) = halo.scratch.binary_search(&home) {
                halo.scratch.insert(place, home);
            }
            if own && owner == rank && halo.scratch.len() == 1 {
                continue;
            }
            halo.fresh.add(id, i as u32, owner, &halo.scratch, rank);
        }
        halo.fresh.sort(n);
        Ok(found)
    }

    /// Writes what is to be said about bodies.
    fn write_updates(&mut self, bodies: &Bodies) {
        let (neighbours, rank, holders) = (self.partition.neighbours(), self.partition.rank(), &self.holders);
        let mut outgoing = std::mem::take(&mut self.halo.outgoing);
        self.halo.incoming.resize_with(neighbours.len(), Vec::new);
        outgoing.resize_with(neighbours.len(), Vec::new);
        let shapes = &mut self.shapes;
        for (out, &peer) in outgoing.iter_mut().zip(neighbours) {
            out.clear();
            LAYOUT.pack(out);
            shapes.write_head(peer, out);
        }
        let number = |rank: u32| neighbours.binary_search(&rank).ok();
        let own = |body: u32| bodies.ownership[body as usize] == Ownership::Owned;
        let fresh = &self.halo.fresh;
        for entry in fresh.entries.iter().filter(|entry| own(entry.body)) {
            let before = holders.entry(entry.body).map_or(&[][..], |before| holders.of(before));
            let now = fresh.of(entry);
            for (k, peer) in ranks(now).filter_map(|peer| number(peer).map(|k| (k, peer))) {
                let (out, known) = (&mut outgoing[k], before.iter().any(|holder| holder.rank == peer));
                (if known { Tag::Update } else { Tag::New } as u8).pack(out);
                entry.id.pack(out);
                entry.owner.pack(out);
                (now.len() as u32).pack(out);
                for holder in now {
                    holder.rank.pack(out);
                    holder.shift.pack(out);
                }
                bodies.pack(entry.body as usize, if known { EACH_STEP } else { ONCE }, out);
                if !known {
                    shapes.write(&bodies.shape[entry.body as usize], peer, out);
                }
                if peer == entry.owner {
                    bodies.pack(entry.body as usize, OWNED, out);
                }
            }
        }
        for entry in holders.entries.iter().filter(|entry| own(entry.body)) {
            let now = fresh.entry(entry.body).map_or(&[][..], |now| fresh.of(now));
            let left = ranks(holders.of(entry)).filter(|&peer| now.iter().all(|holder| holder.rank != peer));
            for k in left.filter(|&peer| peer != rank).filter_map(number) {
                (Tag::Drop as u8).pack(&mut outgoing[k]);
                entry.id.pack(&mut outgoing[k]);
            }
        }
        self.halo.outgoing = outgoing;
    }

    /// Impulses follow their contacts: writes those that other ranks will need.
    fn write_impulses(&mut self, bodies: &Bodies, contacts: &Contacts) {
        let (neighbours, rank, holders) = (self.partition.neighbours(), self.partition.rank(), &self.holders);
        let mut outgoing = std::mem::take(&mut self.halo.outgoing);
        let number = |rank: u32| neighbours.binary_search(&rank).ok();
        let fresh = &self.halo.fresh;
        let mut contact_shifts = contacts.shifts().iter().peekable();
        for (k, ([a, b], key, impulse)) in contacts.entries().enumerate() {
            let known_shift = contact_shifts.next_if(|entry| entry.0 as usize == k).map(|entry| entry.1);
            let ids = [a, b].map(|body| bodies.id[body as usize]);
            // By ascending id: so it is on all ranks.
            let turned = ids[0] > ids[1];
            let (ids, key, impulse) = by_id(ids, key, impulse);
            let [a, b] = if turned { [b, a] } else { [a, b] };
            let assignee = match (fresh.entry(a), fresh.entry(b)) {
                (Some(first), Some(second)) => {
                    let here = |body: u32| holders.entry(body).map_or([0; 3], |entry| entry.shift);
                    let known_shift = known_shift
                        .map(|relative_shift| if turned { minus([0; 3], relative_shift) } else { relative_shift });
                    let relative_shift = known_shift.unwrap_or_else(|| minus(here(b), here(a)));
                    let relative_shift = minus(plus(relative_shift, self.halo.wrap(a)), self.halo.wrap(b));
                    fresh.assignee(first, second, relative_shift).map(|holder| holder.rank)
                }
                // What every rank has leaves the contact to the other body's owner.
                (Some(entry), None) if self.is_global(bodies, b) => Some(entry.owner),
                (None, Some(entry)) if self.is_global(bodies, a) => Some(entry.owner),
                _ => None,
            };
            if let Some(k) = assignee.filter(|&assignee| assignee != rank).and_then(number) {
                write_impulse((ids, key, impulse), &mut outgoing[k]);
            }
        }
        // After a new division the owners have the impulses. A third rank may treat the contact, and
        // only it has the lists of both bodies: all holders of the first are told.
        let own = |body: u32| bodies.ownership[body as usize] == Ownership::Owned;
        for &moved in &self.halo.migrated_impulses {
            let Some(entry) = fresh.find(moved.0[0]).filter(|entry| own(entry.body)) else { continue };
            for k in ranks(fresh.of(entry)).filter(|&peer| peer != rank).filter_map(number) {
                write_impulse(moved, &mut outgoing[k]);
            }
        }
        self.halo.outgoing = outgoing;
    }

    /// Whether every rank has a body: a wall, or one that is too large.
    pub(super) fn is_global(&self, bodies: &Bodies, body: u32) -> bool {
        bodies.is_wall(body as usize) || self.holders.of_body.get(body as usize) == Some(&GLOBAL)
    }

    /// Own bodies that have left become copies, or vanish.
    fn migrate_out(&mut self, bodies: &mut Bodies) {
        let (rank, periods) = (self.partition.rank(), self.periods);
        let HaloExchange { fresh, next, .. } = &mut self.halo;
        next.clear();
        for entry in &fresh.entries {
            let i = entry.body as usize;
            if bodies.ownership[i] != Ownership::Owned {
                continue;
            }
            let holders = fresh.of(entry);
            if entry.owner == rank {
                next.add(entry.id, entry.body, rank, holders, rank);
            } else if let Some(here) = holders.iter().find(|holder| holder.rank == rank) {
                bodies.ownership[i] = Ownership::Ghost;
                bodies.position[i] += periods.offset(here.shift);
                next.add(entry.id, entry.body, entry.owner, holders, rank);
            } else {
                bodies.mark_removed(i);
            }
        }
    }

    /// Does what the messages say.
    fn read_updates(&mut self, bodies: &mut Bodies) {
        let awaited = self.holders.entries.iter().filter(|entry| entry.owner != self.partition.rank()).count();
        let incoming = std::mem::take(&mut self.halo.incoming);
        let mut heard = 0;
        for (k, bytes) in incoming.iter().enumerate() {
            let peer = self.partition.neighbours()[k];
            match self.apply_message(peer, bytes, bodies) {
                Some(count) => heard += count,
                None => self.disagree(&format!("a message of rank {peer} makes no sense")),
            }
        }
        if heard != awaited {
            self.disagree(&format!("{awaited} copies wait for news, and {heard} have come"));
        }
        self.halo.incoming = incoming;
    }

    pub(super) fn disagree(&self, what: &str) -> ! {
        self.comm.abort(&format!("rank {}: {what}: the ranks do not agree on who holds what", self.comm.rank()))
    }

    /// Does what one message says. Returns how many copies it had news of.
    fn apply_message(&mut self, peer: u32, bytes: &[u8], bodies: &mut Bodies) -> Option<usize> {
        let (rank, periods) = (self.partition.rank(), self.periods);
        let mut from = Unpacker::new(bytes);
        if from.take::<u8>()? != LAYOUT {
            return None;
        }
        self.shapes.read_head(peer, &mut from)?;
        let mut heard = 0;
        while !from.is_empty() {
            let tag = from.take::<u8>()?;
            let tag = [Tag::Update, Tag::New, Tag::Drop, Tag::Impulse].into_iter().find(|t| *t as u8 == tag)?;
            if tag == Tag::Impulse {
                self.halo.impulses.push((from.take()?, from.take()?, from.take()?));
                continue;
            }
            let id = from.take::<u64>()?;
            let known = self.holders.find(id).map(|entry| entry.body as usize);
            if tag == Tag::Drop {
                bodies.mark_removed(known?);
                heard += 1;
                continue;
            }
            let owner = from.take::<u32>()?;
            let holders = &mut self.halo.scratch;
            holders.clear();
            for _ in 0..from.take::<u32>()? {
                holders.push(Holder { rank: from.take()?, shift: from.take()? });
            }
            let i = if tag == Tag::Update {
                heard += 1;
                known?
            } else {
                bodies.push_place();
                bodies.len() - 1
            };
            bodies.unpack(i, if tag == Tag::Update { EACH_STEP } else { ONCE }, &mut from)?;
            if tag == Tag::New {
                bodies.shape[i] = self.shapes.read(peer, &mut from)?;
            }
            if owner == rank {
                bodies.unpack(i, OWNED, &mut from)?;
                bodies.ownership[i] = Ownership::Owned;
            } else {
                bodies.ownership[i] = Ownership::Ghost;
                bodies.position[i] += periods.offset(holders.iter().find(|holder| holder.rank == rank)?.shift);
            }
            if owner != rank || holders.len() > 1 {
                self.halo.next.add(id, i as u32, owner, holders, rank);
            }
        }
        Some(heard)
    }

    /// Lists holders, links and images for the step.
    fn update_lists(&mut self, bodies: &mut Bodies, growth: Growth, contacts: &mut Contacts) {
        let rank = self.partition.rank();
        std::mem::swap(&mut self.holders, &mut self.halo.next);
        self.holders.sort(bodies.len());
        self.global_bodies.find(bodies);
        for &body in &self.global_bodies.bounded {
            self.holders.of_body[body as usize] = GLOBAL;
        }
        self.links.fill(bodies, &self.holders, &self.global_bodies.moving, self.partition.neighbours(), rank);
        self.ghosts = self.holders.entries.iter().filter(|entry| entry.owner != rank).count();

        let (holders, global_bodies) = (&self.holders, &self.global_bodies);
        // A body that was shared and is no longer has an entry in the lists before.
        let before = &self.halo.next;
        let shared = |id: u64| holders.find(id).or_else(|| before.find(id)).map(|entry| entry.body);
        // After a new division of space any body may be meant.
        let all: HashMap<u64, u32> = if self.halo.migrated_impulses.is_empty() {
            HashMap::new()
        } else {
            (0..bodies.len() as u32).map(|i| (bodies.id[i as usize], i)).collect()
        };
        let local = |id: u64| shared(id).or_else(|| global_bodies.body(id)).or_else(|| all.get(&id).copied());
        contacts.receive(self.halo.migrated_impulses.iter().chain(&self.halo.impulses).filter_map(
            |&([a, b], key, impulse)| {
                let [a, b] = [local(a)?, local(b)?];
                Some(if a < b { ([a, b], key, impulse) } else { ([b, a], key.reversed(), -impulse) })
            },
        ));

        let images = &mut self.images;
        for entry in &holders.entries {
            for holder in holders.of(entry).iter().filter(|holder| holder.rank == rank && holder.shift != entry.shift) {
                add_image(bodies, entry.body, self.periods.offset(minus(holder.shift, entry.shift)));
                images.push((entry.body, holder.shift));
            }
        }
        // Of what every rank has, each needs the images that its own bodies can meet. The first rank
        // treats contacts among them, and has all.
        let bounds = self.partition.bounds();
        for &body in &global_bodies.bounded {
            let hull = hull::of(bodies, body as usize, growth);
            self.periods.around(|shift, offset| {
                let reach = self.partition.reach();
                let about = Aabb { low: hull.low + offset - reach, high: hull.high + offset + reach };
                if rank == 0 || bounds.meets(&about) {
                    add_image(bodies, body, offset);
                    images.push((body, shift));
                }
            });
        }
    }
}
