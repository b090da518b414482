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
//! With bodies, contacts get other treaters. The impulses of the last step, from which the next
//! starts, go with them. Here alone a rank infers what the lists of other ranks' bodies will be: it
//! has moved its copies just as their owners have, and an impulse that goes astray is no more than a
//! colder start.

use super::seats::{EVERYWHERE, NONE, Seats, minus, plus};
use super::{Domain, DomainError};
use crate::broad::{Aabb, hull};
use crate::comm::Reduction;
use crate::dynamics::WarmStart;
use crate::partition::Seat;
use crate::util::pack::{LAYOUT, Pack, Unpacker};
use crate::world::{Bodies, Motion, Sharing, Standing, World};
use barchan_parallel::reshape;
use barchan_parallel::{CHUNK, Disjoint, for_chunks};
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
pub(super) struct Mail {
    outgoing: Vec<Vec<u8>>,
    incoming: Vec<Vec<u8>>,
    /// Who will hold what, as far as this rank can tell.
    fresh: Seats,
    /// Who holds what from now on.
    next: Seats,
    /// Bodies whose hulls are not inside the region.
    is_near: Vec<bool>,
    /// By how many periods bodies were shifted to come back into the cell.
    wraps: Vec<[i8; 3]>,
    scratch: Vec<Seat>,
    /// Impulses that have come: ids, feature, impulse on the first.
    impulses: Vec<([u64; 2], u8, DVec3)>,
    /// The same, from a new division of space.
    pub(super) carried: Vec<([u64; 2], u8, DVec3)>,
}

impl Mail {
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

/// Each rank of some seats once.
fn ranks(seats: &[Seat]) -> impl Iterator<Item = u32> + '_ {
    seats.chunk_by(|a, b| a.rank == b.rank).map(|same| same[0].rank)
}

/// Writes a record of an impulse: ids, feature, impulse on the first.
fn write_impulse((ids, feature, impulse): ([u64; 2], u8, DVec3), out: &mut Vec<u8>) {
    (Tag::Impulse as u8).pack(out);
    ids.pack(out);
    feature.pack(out);
    impulse.pack(out);
}

/// Marks a body as gone: nothing meets it, nothing moves it, and nobody finds it by its id.
pub(super) fn vanish(bodies: &mut Bodies, i: usize) {
    bodies.standing[i] = Standing::Gone;
    bodies.motion[i] = Motion::Fixed;
    bodies.inverse_mass[i] = 0.0;
    bodies.inverse_inertia[i] = DVec3::ZERO;
    bodies.velocity[i] = DVec3::ZERO;
    bodies.angular_velocity[i] = DVec3::ZERO;
    bodies.id[i] = u64::MAX;
}

/// Appends the same body once more, some way off.
fn add_image(bodies: &mut Bodies, body: u32, way: DVec3) {
    bodies.repeat(body as usize);
    let image = bodies.len() - 1;
    bodies.standing[image] = Standing::Image;
    bodies.position[image] += way;
}

impl Domain {
    /// Brings bodies, copies and images up to date for a step of length `h`. Velocities are those
    /// with which the step begins. `warm` has the impulses of the last step.
    ///
    /// # Errors
    /// If a body cannot be followed; the same on all ranks.
    pub fn synchronise(
        &mut self,
        world: &mut World,
        h: f64,
        margin: f64,
        warm: &mut WarmStart,
    ) -> Result<(), DomainError> {
        self.comm.stage("exchange of bodies");
        self.mail.impulses.clear();
        if self.round(world, h, margin, warm, Round::First)? {
            self.round(world, h, margin, warm, Round::Second)?;
        }
        self.mail.carried.clear();
        Ok(())
    }

    /// One message a neighbour. Returns whether some rank could not tell everybody concerned.
    fn round(
        &mut self,
        world: &mut World,
        h: f64,
        margin: f64,
        warm: &mut WarmStart,
        round: Round,
    ) -> Result<bool, DomainError> {
        self.drop_images(&mut world.bodies);
        let mut found = self.find_holders(&mut world.bodies, h, margin)?;
        if found.reach > 0.0 {
            self.allow(world, h, margin, warm, found.reach)?;
            found = self.find_holders(&mut world.bodies, h, margin)?;
            if found.reach > 0.0 {
                return Err(self.too_far(&world.bodies, h, margin, found.reach));
            }
        }
        self.write_mail(&world.bodies);
        if round == Round::First {
            self.write_impulses(&world.bodies, warm);
        }
        self.give_away(&mut world.bodies);
        let neighbours = self.partition.neighbours();
        let Mail { outgoing, incoming, .. } = &mut self.mail;
        self.comm.exchange(neighbours, outgoing, incoming);
        self.read_mail(&mut world.bodies);
        self.list(&mut world.bodies, h, margin, warm);
        Ok(found.is_partial)
    }

    /// Finds the owner and the holders of every body that this rank has. All ranks get the same
    /// answer.
    fn find_holders(&mut self, bodies: &mut Bodies, h: f64, margin: f64) -> Result<Found, DomainError> {
        self.mark_everywhere(bodies);
        let found = self.find_seats(bodies, h, margin);
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
    fn allow(
        &mut self,
        world: &mut World,
        h: f64,
        margin: f64,
        warm: &WarmStart,
        reach: f64,
    ) -> Result<(), DomainError> {
        let error = self.too_far(&world.bodies, h, margin, reach);
        if self.widen(world, warm, reach)? { Ok(()) } else { Err(error) }
    }

    /// What to say if bodies reach too far (S4 eq. 7): the rank that owns the one names it.
    fn too_far(&self, bodies: &Bodies, h: f64, margin: f64, reach: f64) -> DomainError {
        let limit = self.partition.reach();
        let of = |i: &usize| 0.5 * hull::of(bodies, *i, h, margin).extent();
        let own = (0..bodies.len()).filter(|&i| bodies.is_shown(i) && !self.is_fixture(bodies, i as u32));
        let far = own.filter(|i| of(i) >= limit).max_by(|a, b| of(a).total_cmp(&of(b)));
        far.map_or(DomainError::Elsewhere, |i| DomainError::Reach { body: bodies.id[i], reach, limit })
    }

    /// Marks the bodies that every rank has. Lists are without them at the start, and after bodies have
    /// changed places.
    fn mark_everywhere(&mut self, bodies: &Bodies) {
        self.seats.of_body.resize(bodies.len(), NONE);
        for body in self.fixtures.ids.iter().filter_map(|&id| bodies.index_of(id)) {
            self.seats.of_body[body] = EVERYWHERE;
        }
    }

    /// Finds owners and holders as far as this rank can tell alone.
    fn find_seats(&mut self, bodies: &mut Bodies, h: f64, margin: f64) -> Result<Found, DomainError> {
        let (n, rank) = (bodies.len(), self.partition.rank());
        let (periods, seats) = (self.periods, &self.seats);
        let mail = &mut self.mail;
        mail.fresh.clear();
        mail.wraps.clear();
        if periods.any() {
            mail.wraps.resize(n, [0; 3]);
            for i in 0..n {
                let x = match bodies.standing[i] {
                    _ if bodies.shape[i].bounding_radius().is_none() => continue,
                    Standing::Own => bodies.position[i],
                    // A copy without an entry is one that every rank has, and follows by itself.
                    Standing::Copy => match seats.entry(i as u32) {
                        Some(entry) => bodies.position[i] - periods.way(entry.shift),
                        None => bodies.position[i],
                    },
                    Standing::Image | Standing::Gone => continue,
                };
                mail.wraps[i] = periods.home(x);
                let follows = bodies.standing[i] == Standing::Own || seats.entry(i as u32).is_none();
                if follows && mail.wraps[i] != [0; 3] {
                    bodies.position[i] = periods.bring_home(x, mail.wraps[i]);
                }
            }
        }

        // Most bodies lie inside. Those are seen at a glance.
        let partition = &*self.partition;
        let limit = partition.reach();
        let everywhere = |i: usize| seats.of_body.get(i) == Some(&EVERYWHERE);
        reshape(&mut mail.is_near, n);
        let near = Disjoint::new(&mut mail.is_near);
        let columns = &*bodies;
        for_chunks(n, CHUNK, |range| {
            for i in range {
                let takes_part = match columns.standing[i] {
                    Standing::Own => columns.shape[i].bounding_radius().is_some() && !everywhere(i),
                    Standing::Copy => seats.entry(i as u32).is_some(),
                    Standing::Image | Standing::Gone => false,
                };
                let own = columns.standing[i] == Standing::Own;
                let is_near = takes_part && {
                    let hull = hull::of(columns, i, h, margin);
                    !own || !partition.holds(&hull) || 0.5 * hull.extent() >= limit
                };
                // SAFETY: place i belongs to one chunk.
                unsafe { near.write(i, is_near) };
            }
        });

        let mut found = Found::default();
        for i in (0..n).filter(|&i| mail.is_near[i]) {
            let (own, id) = (bodies.standing[i] == Standing::Own, bodies.id[i]);
            let mut hull = hull::of(bodies, i, h, margin);
            let mut x = bodies.position[i];
            if !own && let Some(entry) = seats.entry(i as u32) {
                // Where its owner has it.
                let way = periods.way(mail.wraps.get(i).copied().unwrap_or_default()) - periods.way(entry.shift);
                (x, hull.low, hull.high) = (x + way, hull.low + way, hull.high + way);
            }
            let reach = 0.5 * hull.extent();
            if own && reach >= limit {
                found.reach = found.reach.max(reach.min(f64::MAX));
                continue;
            }
            let owner = match partition.owner(x) {
                Some(owner) if periods.home(x) == [0; 3] => owner,
                _ if own => return Err(DomainError::Crossed { body: id }),
                _ => continue,
            };
            if own && owner != rank && !periods.known(partition, &hull) {
                found.is_partial = true;
            }
            periods.seats(partition, &hull, &mut mail.scratch);
            // An owner holds its body, whatever rounding says of the border.
            let home = Seat { rank: owner, shift: [0; 3] };
            if let Err(place) = mail.scratch.binary_search(&home) {
                mail.scratch.insert(place, home);
            }
            if own && owner == rank && mail.scratch.len() == 1 {
                continue;
            }
            mail.fresh.add(id, i as u32, owner, &mail.scratch, rank);
        }
        mail.fresh.sort(n);
        Ok(found)
    }

    /// Writes what is to be said about bodies.
    fn write_mail(&mut self, bodies: &Bodies) {
        let (neighbours, rank, seats) = (self.partition.neighbours(), self.partition.rank(), &self.seats);
        let mut outgoing = std::mem::take(&mut self.mail.outgoing);
        self.mail.incoming.resize_with(neighbours.len(), Vec::new);
        outgoing.resize_with(neighbours.len(), Vec::new);
        for out in &mut outgoing {
            out.clear();
            LAYOUT.pack(out);
        }
        let number = |rank: u32| neighbours.binary_search(&rank).ok();
        let own = |body: u32| bodies.standing[body as usize] == Standing::Own;
        let fresh = &self.mail.fresh;
        for entry in fresh.entries.iter().filter(|entry| own(entry.body)) {
            let before = seats.entry(entry.body).map_or(&[][..], |before| seats.of(before));
            let now = fresh.of(entry);
            for (k, holder) in ranks(now).filter_map(|holder| number(holder).map(|k| (k, holder))) {
                let (out, known) = (&mut outgoing[k], before.iter().any(|seat| seat.rank == holder));
                (if known { Tag::Update } else { Tag::New } as u8).pack(out);
                entry.id.pack(out);
                entry.owner.pack(out);
                (now.len() as u32).pack(out);
                for seat in now {
                    seat.rank.pack(out);
                    seat.shift.pack(out);
                }
                bodies.pack(entry.body as usize, if known { EACH_STEP } else { ONCE }, out);
                if holder == entry.owner {
                    bodies.pack(entry.body as usize, OWNED, out);
                }
            }
        }
        for entry in seats.entries.iter().filter(|entry| own(entry.body)) {
            let now = fresh.entry(entry.body).map_or(&[][..], |now| fresh.of(now));
            let left = ranks(seats.of(entry)).filter(|&holder| now.iter().all(|seat| seat.rank != holder));
            for k in left.filter(|&holder| holder != rank).filter_map(number) {
                (Tag::Drop as u8).pack(&mut outgoing[k]);
                entry.id.pack(&mut outgoing[k]);
            }
        }
        self.mail.outgoing = outgoing;
    }

    /// Impulses follow their contacts: writes those that other ranks will need.
    fn write_impulses(&mut self, bodies: &Bodies, warm: &WarmStart) {
        let (neighbours, rank, seats) = (self.partition.neighbours(), self.partition.rank(), &self.seats);
        let mut outgoing = std::mem::take(&mut self.mail.outgoing);
        let number = |rank: u32| neighbours.binary_search(&rank).ok();
        let fresh = &self.mail.fresh;
        let mut apart = self.apart.iter().peekable();
        for (k, ([a, b], feature, impulse)) in warm.entries().enumerate() {
            let marked = apart.next_if(|mark| mark.0 as usize == k).map(|mark| mark.1);
            let ids = [a, b].map(|body| bodies.id[body as usize]);
            let (ids, impulse, [a, b], turned) = if ids[0] < ids[1] {
                (ids, impulse, [a, b], false)
            } else {
                ([ids[1], ids[0]], -impulse, [b, a], true)
            };
            let treater = match (fresh.entry(a), fresh.entry(b)) {
                (Some(first), Some(second)) => {
                    let here = |body: u32| seats.entry(body).map_or([0; 3], |entry| entry.shift);
                    let marked = marked.map(|apart| if turned { minus([0; 3], apart) } else { apart });
                    let apart = marked.unwrap_or_else(|| minus(here(b), here(a)));
                    let apart = minus(plus(apart, self.mail.wrap(a)), self.mail.wrap(b));
                    fresh.treater(first, second, apart).map(|seat| seat.rank)
                }
                // What every rank has leaves the contact to the other body's owner.
                (Some(entry), None) if self.is_fixture(bodies, b) => Some(entry.owner),
                (None, Some(entry)) if self.is_fixture(bodies, a) => Some(entry.owner),
                _ => None,
            };
            if let Some(k) = treater.filter(|&treater| treater != rank).and_then(number) {
                write_impulse((ids, feature, impulse), &mut outgoing[k]);
            }
        }
        // After a new division the owners have the impulses. A third rank may treat the contact, and
        // only it has the lists of both bodies: all holders of the first are told.
        let own = |body: u32| bodies.standing[body as usize] == Standing::Own;
        for &carried in &self.mail.carried {
            let Some(entry) = fresh.find(carried.0[0]).filter(|entry| own(entry.body)) else { continue };
            for k in ranks(fresh.of(entry)).filter(|&holder| holder != rank).filter_map(number) {
                write_impulse(carried, &mut outgoing[k]);
            }
        }
        self.mail.outgoing = outgoing;
    }

    /// Whether every rank has a body: a wall, or one that is too large.
    pub(super) fn is_fixture(&self, bodies: &Bodies, body: u32) -> bool {
        bodies.shape[body as usize].bounding_radius().is_none()
            || self.seats.of_body.get(body as usize) == Some(&EVERYWHERE)
    }

    /// Own bodies that have left become copies, or vanish.
    fn give_away(&mut self, bodies: &mut Bodies) {
        let (rank, periods) = (self.partition.rank(), self.periods);
        let Mail { fresh, next, .. } = &mut self.mail;
        next.clear();
        for entry in &fresh.entries {
            let i = entry.body as usize;
            if bodies.standing[i] != Standing::Own {
                continue;
            }
            let seats = fresh.of(entry);
            if entry.owner == rank {
                next.add(entry.id, entry.body, rank, seats, rank);
            } else if let Some(here) = seats.iter().find(|seat| seat.rank == rank) {
                bodies.standing[i] = Standing::Copy;
                bodies.position[i] += periods.way(here.shift);
                next.add(entry.id, entry.body, entry.owner, seats, rank);
            } else {
                vanish(bodies, i);
            }
        }
    }

    /// Does what the messages say.
    fn read_mail(&mut self, bodies: &mut Bodies) {
        let awaited = self.seats.entries.iter().filter(|entry| entry.owner != self.partition.rank()).count();
        let incoming = std::mem::take(&mut self.mail.incoming);
        let mut heard = 0;
        for (k, bytes) in incoming.iter().enumerate() {
            match self.read(bytes, bodies) {
                Some(count) => heard += count,
                None => self.disagree(&format!("a message of rank {} makes no sense", self.partition.neighbours()[k])),
            }
        }
        if heard != awaited {
            self.disagree(&format!("{awaited} copies wait for news, and {heard} have come"));
        }
        self.mail.incoming = incoming;
    }

    pub(super) fn disagree(&self, what: &str) -> ! {
        self.comm.abort(&format!("rank {}: {what}: the ranks do not agree on who holds what", self.comm.rank()))
    }

    /// Does what one message says. Returns how many copies it had news of.
    fn read(&mut self, bytes: &[u8], bodies: &mut Bodies) -> Option<usize> {
        let (rank, periods) = (self.partition.rank(), self.periods);
        let mut from = Unpacker::new(bytes);
        if from.take::<u8>()? != LAYOUT {
            return None;
        }
        let mut heard = 0;
        while !from.is_empty() {
            let tag = from.take::<u8>()?;
            let tag = [Tag::Update, Tag::New, Tag::Drop, Tag::Impulse].into_iter().find(|t| *t as u8 == tag)?;
            if tag == Tag::Impulse {
                self.mail.impulses.push((from.take()?, from.take()?, from.take()?));
                continue;
            }
            let id = from.take::<u64>()?;
            let known = self.seats.find(id).map(|entry| entry.body as usize);
            if tag == Tag::Drop {
                vanish(bodies, known?);
                heard += 1;
                continue;
            }
            let owner = from.take::<u32>()?;
            let seats = &mut self.mail.scratch;
            seats.clear();
            for _ in 0..from.take::<u32>()? {
                seats.push(Seat { rank: from.take()?, shift: from.take()? });
            }
            let i = if tag == Tag::Update {
                heard += 1;
                known?
            } else {
                bodies.push_place();
                bodies.len() - 1
            };
            bodies.unpack(i, if tag == Tag::Update { EACH_STEP } else { ONCE }, &mut from)?;
            if owner == rank {
                bodies.unpack(i, OWNED, &mut from)?;
                bodies.standing[i] = Standing::Own;
            } else {
                bodies.standing[i] = Standing::Copy;
                bodies.position[i] += periods.way(seats.iter().find(|seat| seat.rank == rank)?.shift);
            }
            if owner != rank || seats.len() > 1 {
                self.mail.next.add(id, i as u32, owner, seats, rank);
            }
        }
        Some(heard)
    }

    /// Lists holders, links and images for the step.
    fn list(&mut self, bodies: &mut Bodies, h: f64, margin: f64, warm: &mut WarmStart) {
        let rank = self.partition.rank();
        std::mem::swap(&mut self.seats, &mut self.mail.next);
        self.seats.sort(bodies.len());
        self.fixtures.find(bodies);
        for &body in &self.fixtures.bounded {
            self.seats.of_body[body as usize] = EVERYWHERE;
        }
        self.links.fill(bodies, &self.seats, &self.fixtures.moving, self.partition.neighbours(), rank);
        self.copies = self.seats.entries.iter().filter(|entry| entry.owner != rank).count();

        let (seats, fixtures) = (&self.seats, &self.fixtures);
        // A body that was shared and is no longer has an entry in the lists before.
        let before = &self.mail.next;
        let shared = |id: u64| seats.find(id).or_else(|| before.find(id)).map(|entry| entry.body);
        // After a new division of space any body may be meant.
        let all: HashMap<u64, u32> = if self.mail.carried.is_empty() {
            HashMap::new()
        } else {
            (0..bodies.len() as u32).map(|i| (bodies.id[i as usize], i)).collect()
        };
        let local = |id: u64| shared(id).or_else(|| fixtures.body(id)).or_else(|| all.get(&id).copied());
        warm.receive(self.mail.carried.iter().chain(&self.mail.impulses).filter_map(|&([a, b], feature, impulse)| {
            let [a, b] = [local(a)?, local(b)?];
            Some(if a < b { ([a, b], feature, impulse) } else { ([b, a], feature, -impulse) })
        }));

        let images = &mut self.images;
        for entry in &seats.entries {
            for seat in seats.of(entry).iter().filter(|seat| seat.rank == rank && seat.shift != entry.shift) {
                add_image(bodies, entry.body, self.periods.way(minus(seat.shift, entry.shift)));
                images.push((entry.body, seat.shift));
            }
        }
        // Of what every rank has, each needs the images that its own bodies can meet. The first rank
        // treats contacts among them, and has all.
        let bounds = self.partition.bounds();
        for &body in &fixtures.bounded {
            let hull = hull::of(bodies, body as usize, h, margin);
            self.periods.around(|shift, way| {
                let reach = self.partition.reach();
                let about = Aabb { low: hull.low + way - reach, high: hull.high + way + reach };
                if rank == 0 || bounds.meets(&about) {
                    add_image(bodies, body, way);
                    images.push((body, shift));
                }
            });
        }
    }
}
