//! A rank's part of the world (S4 section 6).
//!
//! A rank owns the bodies whose centres lie in its region of space. Of every other body whose hull
//! meets the region it has a ghost, so that it sees every contact there, and the ghost's owner and all
//! its holders are listed on each of them (`holders`). Before a step, one message a neighbour says
//! all that has changed (`sync`): new states, new copies, copies to drop, bodies that have a new
//! owner. During a solve the copies agree on what their contacts do to them (`links`).
//!
//! Space may repeat itself along some axes. What crosses the border of the periodic cell has images
//! on the other side, on the same rank or on others, by the same lists.

mod balance;
mod error;
mod global;
mod holders;
mod links;
mod snapshot;
mod start;
mod sync;

pub use balance::Work;
pub use error::DomainError;
pub(crate) use snapshot::{DomainSnapshot, Impulse};
pub(crate) use sync::by_id;

use crate::broad::Aabb;
use crate::comm::{Communicator, Reduction, Traffic};
use crate::narrow::{ContactAssignment, ContactShift, Contacts};
use crate::partition::{DomainOptions, Holder, Partition, Periods};
use crate::shape::ShapeExchange;
use crate::world::{Bodies, Body, Ownership, World};
use balance::Balance;
use barchan_cone::ProblemCommunicator;
use glam::DVec3;
use global::GlobalBodies;
use holders::{GLOBAL, HolderLists, minus};
use links::{DomainCommunicator, Links};

/// A body that is held more than once, as one of its holders lists it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SharedBody<'a> {
    /// The id of the body.
    pub id: u64,
    /// The rank that owns it.
    pub owner: u32,
    /// Where it is held; ascending, and the same on all holders.
    pub holders: &'a [Holder],
}

/// A rank's part of the world, and its communicator.
pub struct Domain {
    comm: Box<dyn Communicator>,
    partition: Box<dyn Partition>,
    periods: Periods,
    holders: HolderLists,
    links: Links,
    /// Bodies a period away, at the end of the columns: of which body, and the shift.
    images: Vec<(u32, [i8; 3])>,
    global_bodies: GlobalBodies,
    halo: sync::HaloExchange,
    /// What ranks have told each other of shapes.
    shapes: ShapeExchange,
    /// Memory for the shifts of contacts.
    shift_scratch: Vec<ContactShift>,
    ghosts: usize,
    /// Processor seconds that solves have spent on talking to other ranks.
    communication_seconds: f64,
    /// For partitions that can be divided anew.
    balance: Option<Balance>,
}

impl Domain {
    /// A part of the world, by a partition of space that repeats itself in `periods`.
    pub fn new(comm: Box<dyn Communicator>, partition: Box<dyn Partition>, periods: Periods) -> Self {
        Self {
            comm,
            partition,
            periods,
            holders: HolderLists::default(),
            links: Links::default(),
            images: Vec::new(),
            global_bodies: GlobalBodies::default(),
            halo: sync::HaloExchange::default(),
            shapes: ShapeExchange::default(),
            shift_scratch: Vec::new(),
            ghosts: 0,
            communication_seconds: 0.0,
            balance: None,
        }
    }

    /// The same with a partition by the Morton curve, which is cut anew when the work has become
    /// unequal or bodies reach too far.
    #[must_use]
    pub fn balanced(mut self, options: &DomainOptions) -> Self {
        self.balance = Some(Balance::new(options, self.partition.reach()));
        self
    }

    /// How often the curve was cut anew.
    pub fn repartitions(&self) -> u32 {
        self.balance.as_ref().map_or(0, |balance| balance.cuts)
    }

    /// The work of the busiest rank against the mean, when it was last looked at.
    pub fn imbalance(&self) -> Option<f64> {
        self.balance.as_ref().map(|balance| balance.last)
    }

    /// The work of this rank since the start, as it is measured for balance.
    pub fn work(&self) -> Option<f64> {
        self.balance.as_ref().map(|balance| balance.total)
    }

    /// Prepares the bodies that this rank begins with: those that it owns, and those that every rank
    /// has, which are all walls and the bounded bodies of which `is_global` says so by their ids.
    /// From here on ranks may add bodies without telling each other: no id is given twice. All ranks
    /// call this.
    pub fn initialise(&mut self, world: &mut World, is_global: impl Fn(u64) -> bool) {
        let bodies = &mut world.bodies;
        // No rank has seen all ids, so all learn where they end. Where numbers are too large for
        // exact doubles, the next one is above what rounding may have lost.
        let mut end = [bodies.id_end() as f64];
        self.comm.all_reduce(Reduction::Max, &mut end);
        bodies.reserve_ids_below(end[0].next_up() as u64);
        bodies.share_ids(self.comm.rank(), self.comm.size());
        for i in 0..bodies.len() {
            let bounded = !bodies.is_wall(i);
            if !bounded || is_global(bodies.id[i]) {
                bodies.ownership[i] = if self.comm.rank() == 0 { Ownership::Owned } else { Ownership::Ghost };
                if bounded {
                    self.global_bodies.ids.push(bodies.id[i]);
                }
            }
        }
        self.global_bodies.ids.sort_unstable();
    }

    /// The first of the ids that no rank has given yet. All ranks call this.
    pub(crate) fn agree_on_ids(&mut self, bodies: &mut Bodies) -> u64 {
        // Where numbers are too large for exact doubles, the next one is above what rounding may have lost.
        let mut end = [bodies.id_end() as f64];
        self.comm.all_reduce(Reduction::Max, &mut end);
        let end = if end[0] < 9e15 { end[0] as u64 } else { end[0].next_up() as u64 };
        bodies.reserve_ids_below(end);
        end
    }

    /// Whether a body that is added goes to all ranks: it is unbounded, or too large for neighbours.
    fn becomes_global(&self, body: &Body) -> bool {
        let reach = self.partition.reach();
        body.shape.bounding_radius().is_none_or(|radius| radius >= reach && self.comm.size() > 1)
    }

    /// Brings a body that is to be added into the periodic cell, and says whether this rank takes it.
    pub(crate) fn takes(&self, body: &mut Body) -> bool {
        if self.becomes_global(body) {
            return true;
        }
        body.position = self.periods.wrap(body.position, self.periods.wrap_shift(body.position));
        self.partition.owner(body.position) == Some(self.partition.rank())
    }

    /// Adds a body that this rank [takes](Domain::takes). Images stand at the end of the columns until the next
    /// exchange, and bodies that are added behind them move up then.
    pub(crate) fn add(&mut self, world: &mut World, id: u64, body: Body) {
        let is_global = self.becomes_global(&body);
        let is_bounded = !body.shape.is_unbounded();
        world.add_with_id(id, body);
        if is_global {
            let last = world.bodies.len() - 1;
            world.bodies.ownership[last] = if self.comm.rank() == 0 { Ownership::Owned } else { Ownership::Ghost };
        }
        if is_global && is_bounded {
            self.global_bodies.ids.push(id);
            self.global_bodies.ids.sort_unstable();
        }
    }

    /// Forgets bodies that every rank has.
    pub(crate) fn forget_global(&mut self, is_gone: impl Fn(u64) -> bool) {
        self.global_bodies.ids.retain(|&id| !is_gone(id));
    }

    /// This rank.
    pub fn rank(&self) -> usize {
        self.comm.rank()
    }

    /// How space repeats itself.
    pub fn periods(&self) -> Periods {
        self.periods
    }

    /// How many ranks there are.
    pub fn ranks(&self) -> usize {
        self.comm.size()
    }

    /// The communicator.
    pub fn comm(&mut self) -> &mut dyn Communicator {
        &mut *self.comm
    }

    /// What was sent so far.
    pub fn traffic(&self) -> Traffic {
        self.comm.traffic()
    }

    /// How many ranks this one may have to talk to.
    pub fn neighbours(&self) -> usize {
        self.partition.neighbours().len()
    }

    /// Ghosts: copies of other ranks' bodies, images not counted.
    pub fn ghosts(&self) -> usize {
        self.ghosts
    }

    /// Ranks with which this one shares bodies.
    pub fn links(&self) -> usize {
        self.links.ranks()
    }

    /// A box that holds this rank's region.
    pub fn bounds(&self) -> Aabb {
        self.partition.bounds()
    }

    /// The bodies of this rank that are held more than once, by ascending id: what its lists say.
    pub fn shared_bodies(&self) -> impl Iterator<Item = SharedBody<'_>> {
        let holders = &self.holders;
        holders.entries.iter().map(|entry| SharedBody { id: entry.id, owner: entry.owner, holders: holders.of(entry) })
    }

    /// Bodies that this rank shares with others.
    pub fn shared(&self) -> usize {
        self.links.shared()
    }

    /// The communicator of this rank's part of a contact problem; `None` if there are no other parts.
    pub fn problem_communicator(&mut self) -> Option<impl ProblemCommunicator + '_> {
        (self.comm.size() > 1).then_some(DomainCommunicator {
            links: &mut self.links,
            comm: &mut *self.comm,
            seconds: &mut self.communication_seconds,
        })
    }

    /// Bodies that other ranks hold too, ascending.
    pub(crate) fn copied_bodies(&self) -> &[u32] {
        self.links.bodies()
    }

    /// Values of all copies of each shared body, in the order of [`Self::copied_bodies`], become one.
    pub(crate) fn combine_copies(&mut self, reduction: Reduction, values: &mut [[f64; 6]]) {
        if self.comm.size() > 1 {
            self.links.combine_copies(&mut *self.comm, values, reduction);
        }
    }

    /// Processor seconds that solves have spent on talking to other ranks, and on waiting for them.
    pub fn communication_seconds(&self) -> f64 {
        self.communication_seconds
    }

    /// Whether many places of bodies that have left are empty.
    pub fn is_sparse(&self, bodies: &Bodies) -> bool {
        let gone = bodies.ownership.iter().filter(|ownership| **ownership == Ownership::Removed).count();
        gone > 64 + bodies.len() / 4
    }

    /// The offsets by which this rank has bodies shifted from where their owners have them.
    pub fn offsets(&self) -> impl Fn(usize) -> DVec3 + Sync + '_ {
        let (holders, periods) = (&self.holders, self.periods);
        move |body| holders.entry(body as u32).map_or(DVec3::ZERO, |entry| periods.offset(entry.shift))
    }

    /// Numbers of all ranks become one.
    pub fn reduce(&mut self, reduction: Reduction, values: &mut [f64]) {
        self.comm.all_reduce(reduction, values);
    }

    /// Follows a re-ordering of bodies, where the body at `order[i]` has moved to index `i`; those
    /// that are not in it are gone.
    pub fn reindex(&mut self, order: &[u32], bodies_before: usize) {
        let mut place = vec![u32::MAX; bodies_before];
        for (new, &old) in order.iter().enumerate() {
            place[old as usize] = new as u32;
        }
        let place = |body: u32| place.get(body as usize).copied().filter(|&new| new != u32::MAX);
        self.holders.reindex(place, order.len());
    }

    /// Drops images from the end of the columns. Bodies that were added behind them move up.
    pub fn drop_images(&mut self, bodies: &mut Bodies) {
        let kept = bodies.len() - self.images.len();
        if bodies.ownership[kept..].iter().all(|ownership| *ownership == Ownership::Image) {
            bodies.truncate(kept);
        } else {
            let order: Vec<u32> =
                (0..bodies.len() as u32).filter(|&i| bodies.ownership[i as usize] != Ownership::Image).collect();
            bodies.permute(&order);
        }
        self.images.clear();
    }

    /// After contacts were found: images give way to the bodies that they are images of.
    pub fn resolve_images(&mut self, bodies: &Bodies, contacts: &mut Contacts) {
        let first = (bodies.len() - self.images.len()) as u32;
        if self.images.is_empty() {
            return;
        }
        let mut shifts = std::mem::take(&mut self.shift_scratch);
        let rows = self.rows(bodies);
        shifts.clear();
        for (i, &[a, b]) in contacts.pairs().iter().enumerate().filter(|(_, pair)| pair[1] >= first) {
            let (s, t) = (rows.place(a).1, rows.place(b).1);
            shifts.push((i as u32, minus(t, s)));
        }
        contacts.set_shifts(shifts.iter().copied());
        contacts.map_bodies(|row| rows.place(row).0, first as usize);
        self.shift_scratch = shifts;
    }

    /// How far body B of a contact lies from where this rank has it, as A sees it, if the shift between the
    /// two is this.
    pub(crate) fn contact_offset(&self, [a, b]: [u32; 2], shift: [i8; 3]) -> DVec3 {
        let here = |body: u32| self.holders.entry(body).map_or([0; 3], |entry| entry.shift);
        self.periods.offset(minus(shift, minus(here(b), here(a))))
    }

    /// Which contacts are assigned to this rank.
    pub fn contact_assignment<'a>(&'a self, bodies: &'a Bodies) -> impl ContactAssignment + 'a {
        self.rows(bodies)
    }

    fn rows<'a>(&'a self, bodies: &'a Bodies) -> Rows<'a> {
        let first_image = (bodies.len() - self.images.len()) as u32;
        Rows { rank: self.partition.rank(), holders: &self.holders, images: &self.images, bodies, first_image }
    }
}

/// The rows of the columns: bodies, then images.
struct Rows<'a> {
    rank: u32,
    holders: &'a HolderLists,
    images: &'a [(u32, [i8; 3])],
    bodies: &'a Bodies,
    first_image: u32,
}

impl Rows<'_> {
    /// The body of a row, and by how many periods it is shifted there.
    fn place(&self, row: u32) -> (u32, [i8; 3]) {
        if row >= self.first_image {
            self.images[(row - self.first_image) as usize]
        } else {
            (row, self.holders.entry(row).map_or([0; 3], |entry| entry.shift))
        }
    }
}

impl ContactAssignment for Rows<'_> {
    fn is_assigned(&self, a: usize, b: usize) -> bool {
        let Self { rank, holders, .. } = *self;
        let [a, b] = [a as u32, b as u32];
        let ((i, s), (j, t)) = (self.place(a), self.place(b));
        if i == j {
            return false;
        }
        let kind = |body: u32| holders.of_body[body as usize];
        let owned = |row: u32| self.bodies.ownership[row as usize] == Ownership::Owned;
        match (kind(i) == GLOBAL, kind(j) == GLOBAL) {
            // Their owner has both, with all images: where the first is itself.
            (true, true) => {
                let first = if self.bodies.id[i as usize] < self.bodies.id[j as usize] { s } else { t };
                owned(i) && first == [0; 3]
            }
            (false, true) => owned(a),
            (true, false) => owned(b),
            (false, false) => match (holders.entry(i), holders.entry(j)) {
                (Some(first), Some(second)) => holders.is_assigned_to(rank, (first, s), (second, t)),
                // Nobody else has both.
                _ => true,
            },
        }
    }
}
