//! A rank's part of the world (S4 section 6).
//!
//! A rank owns the bodies whose centres lie in its region of space. Of every other body whose hull
//! meets the region it has a copy, so that it sees every contact there, and the copy's owner and all
//! its holders are listed on each of them (`seats`). Before a step, one message a neighbour says
//! all that has changed (`sync`): new states, new copies, copies to drop, bodies that have a new
//! owner. During a solve the copies agree on what their contacts do to them (`links`).
//!
//! Space may repeat itself along some axes. What crosses the border of the periodic cell has images
//! on the other side, on the same rank or on others, by the same lists.

mod balance;
mod error;
mod fixtures;
mod keep;
mod links;
mod seats;
mod start;
mod sync;

pub use balance::Work;
pub use error::DomainError;
pub(crate) use keep::{Impulse, KeptDomain};

use crate::broad::Aabb;
use crate::comm::{Communicator, Reduction, Traffic};
use crate::narrow::{Contacts, Treats};
use crate::partition::{DomainOptions, Partition, Periods, Seat};
use crate::world::{Bodies, Standing, World};
use balance::Balance;
use barchan_cone::Agreement;
use fixtures::Fixtures;
use glam::DVec3;
use links::{LineOf, Links};
use seats::{EVERYWHERE, Seats};

/// A body that is held more than once, as one of its holders lists it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Held<'a> {
    /// The id of the body.
    pub id: u64,
    /// The rank that owns it.
    pub owner: u32,
    /// Where it is held; ascending, and the same on all holders.
    pub seats: &'a [Seat],
}

/// A rank's part of the world, and its line to the others.
pub struct Domain {
    comm: Box<dyn Communicator>,
    partition: Box<dyn Partition>,
    periods: Periods,
    seats: Seats,
    links: Links,
    /// Bodies a period away, at the end of the columns: of which body, and the shift.
    images: Vec<(u32, [i8; 3])>,
    fixtures: Fixtures,
    mail: sync::Mail,
    /// For contacts that images have made, the shift between their bodies; of those found last.
    found_apart: Vec<(u32, [i8; 3])>,
    /// The same of the contacts whose impulses are remembered.
    apart: Vec<(u32, [i8; 3])>,
    copies: usize,
    /// Processor seconds that solves have spent on talking to other ranks.
    talking: f64,
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
            seats: Seats::default(),
            links: Links::default(),
            images: Vec::new(),
            fixtures: Fixtures::default(),
            mail: sync::Mail::default(),
            found_apart: Vec::new(),
            apart: Vec::new(),
            copies: 0,
            talking: 0.0,
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
    pub fn divisions(&self) -> u32 {
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
    /// has, which are all walls and the bounded bodies of which `is_everywhere` says so by their ids.
    /// From here on ranks may add bodies without telling each other: no id is given twice. All ranks
    /// call this.
    pub fn settle(&mut self, world: &mut World, is_everywhere: impl Fn(u64) -> bool) {
        let bodies = &mut world.bodies;
        // No rank has seen all ids, so all learn where they end. Where numbers are too large for
        // exact doubles, the next one is above what rounding may have lost.
        let mut end = [bodies.id_end() as f64];
        self.comm.all_reduce(Reduction::Max, &mut end);
        bodies.keep_ids_below(end[0].next_up() as u64);
        bodies.share_ids(self.comm.rank(), self.comm.size());
        for i in 0..bodies.len() {
            let bounded = bodies.shape[i].bounding_radius().is_some();
            if !bounded || is_everywhere(bodies.id[i]) {
                bodies.standing[i] = if self.comm.rank() == 0 { Standing::Own } else { Standing::Copy };
                if bounded {
                    self.fixtures.ids.push(bodies.id[i]);
                }
            }
        }
        self.fixtures.ids.sort_unstable();
    }

    /// This rank.
    pub fn rank(&self) -> usize {
        self.comm.rank()
    }

    /// How many ranks there are.
    pub fn ranks(&self) -> usize {
        self.comm.size()
    }

    /// The line to the others.
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

    /// Copies of other ranks' bodies, images not counted.
    pub fn copies(&self) -> usize {
        self.copies
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
    pub fn held(&self) -> impl Iterator<Item = Held<'_>> {
        let seats = &self.seats;
        seats.entries.iter().map(|entry| Held { id: entry.id, owner: entry.owner, seats: seats.of(entry) })
    }

    /// Bodies that this rank shares with others.
    pub fn shared(&self) -> usize {
        self.links.shared()
    }

    /// The line of this rank's part of a contact problem; `None` if there are no other parts.
    pub fn line(&mut self) -> Option<impl Agreement + '_> {
        (self.comm.size() > 1).then_some(LineOf {
            links: &mut self.links,
            comm: &mut *self.comm,
            seconds: &mut self.talking,
        })
    }

    /// Processor seconds that solves have spent on talking to other ranks, and on waiting for them.
    pub fn talking(&self) -> f64 {
        self.talking
    }

    /// Whether many places of bodies that have left are empty.
    pub fn is_sparse(&self, bodies: &Bodies) -> bool {
        let gone = bodies.standing.iter().filter(|standing| **standing == Standing::Gone).count();
        gone > 64 + bodies.len() / 4
    }

    /// The ways by which this rank has bodies shifted from where their owners have them.
    pub fn ways(&self) -> impl Fn(usize) -> DVec3 + Sync + '_ {
        let (seats, periods) = (&self.seats, self.periods);
        move |body| seats.entry(body as u32).map_or(DVec3::ZERO, |entry| periods.way(entry.shift))
    }

    /// Numbers of all ranks become one.
    pub fn reduce(&mut self, reduction: Reduction, values: &mut [f64]) {
        self.comm.all_reduce(reduction, values);
    }

    /// Follows a re-ordering of bodies, where the body at `order[i]` has moved to index `i`; those
    /// that are not in it are gone.
    pub fn follow(&mut self, order: &[u32], bodies_before: usize) {
        let mut place = vec![u32::MAX; bodies_before];
        for (new, &old) in order.iter().enumerate() {
            place[old as usize] = new as u32;
        }
        let place = |body: u32| place.get(body as usize).copied().filter(|&new| new != u32::MAX);
        self.seats.follow(place, order.len());
    }

    /// For remembered contacts that images have made, the shift between their bodies.
    pub(crate) fn marks(&mut self) -> &mut Vec<(u32, [i8; 3])> {
        &mut self.apart
    }

    /// Drops images from the end of the columns. Bodies that were added behind them move up.
    pub fn drop_images(&mut self, bodies: &mut Bodies) {
        let kept = bodies.len() - self.images.len();
        if bodies.standing[kept..].iter().all(|standing| *standing == Standing::Image) {
            bodies.truncate(kept);
        } else {
            let order: Vec<u32> =
                (0..bodies.len() as u32).filter(|&i| bodies.standing[i as usize] != Standing::Image).collect();
            bodies.permute(&order);
        }
        self.images.clear();
    }

    /// After contacts were found: images give way to the bodies that they are images of.
    pub fn join_images(&mut self, bodies: &Bodies, contacts: &mut Contacts) {
        self.found_apart.clear();
        let first = (bodies.len() - self.images.len()) as u32;
        if self.images.is_empty() {
            return;
        }
        let mut apart = std::mem::take(&mut self.found_apart);
        let rows = self.rows(bodies);
        for i in 0..contacts.len() {
            let [a, b] = contacts.pairs[i];
            if b >= first {
                let (s, t) = (rows.place(a).1, rows.place(b).1);
                apart.push((i as u32, std::array::from_fn(|k| t[k] - s[k])));
            }
        }
        contacts.rename(|row| rows.place(row).0, first as usize, &mut apart);
        self.found_apart = apart;
    }

    /// The contacts found last are those whose impulses are remembered now.
    pub(crate) fn remember(&mut self) {
        std::mem::swap(&mut self.apart, &mut self.found_apart);
    }

    /// Who treats which contact.
    pub fn treats<'a>(&'a self, bodies: &'a Bodies) -> impl Treats + 'a {
        self.rows(bodies)
    }

    fn rows<'a>(&'a self, bodies: &'a Bodies) -> Rows<'a> {
        let first_image = (bodies.len() - self.images.len()) as u32;
        Rows { rank: self.partition.rank(), seats: &self.seats, images: &self.images, bodies, first_image }
    }
}

/// The rows of the columns: bodies, then images.
struct Rows<'a> {
    rank: u32,
    seats: &'a Seats,
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
            (row, self.seats.entry(row).map_or([0; 3], |entry| entry.shift))
        }
    }
}

impl Treats for Rows<'_> {
    fn treats(&self, a: usize, b: usize) -> bool {
        let Self { rank, seats, .. } = *self;
        let [a, b] = [a as u32, b as u32];
        let ((i, s), (j, t)) = (self.place(a), self.place(b));
        if i == j {
            return false;
        }
        let kind = |body: u32| seats.of_body[body as usize];
        let owned = |row: u32| self.bodies.standing[row as usize] == Standing::Own;
        match (kind(i) == EVERYWHERE, kind(j) == EVERYWHERE) {
            // Their owner has both, with all images: where the first is itself.
            (true, true) => {
                let first = if self.bodies.id[i as usize] < self.bodies.id[j as usize] { s } else { t };
                owned(i) && first == [0; 3]
            }
            (false, true) => owned(a),
            (true, false) => owned(b),
            (false, false) => match (seats.entry(i), seats.entry(j)) {
                (Some(first), Some(second)) => seats.treats(rank, (first, s), (second, t)),
                // Nobody else has both.
                _ => true,
            },
        }
    }
}
