//! What a checkpoint has of a domain, and how ranks go on from it.
//!
//! As many ranks as before go on exactly: each has its bodies, copies and images in the order in which
//! they lay in memory, the lists of holders, and its range of the curve. Any other number divides the
//! bodies anew, as at the start; impulses come to the owners of their bodies, as after a new division
//! of space, and from there find the ranks that treat their contacts.

use super::Domain;
use super::balance::{Balance, Work};
use super::holders::{HolderLists, is_near};
use super::start::{can_rebalance, cannot_divide, large_bodies, reach_of_many};
use crate::broad::Aabb;
use crate::comm::Communicator;
use crate::narrow::FeatureKey;
use crate::partition::{Curve, Cuts, Morton, Partition, Periods, build};
use crate::scene::{Scene, SceneError};
use crate::util::bulk::PackColumn;
use crate::util::pack::{Pack, Unpacker};
use crate::world::{Bodies, Ownership, World};
use glam::DVec3;

/// A domain between two steps.
#[derive(Clone)]
pub(crate) struct DomainSnapshot {
    holders: HolderLists,
    images: Vec<(u32, [i8; 3])>,
    global_bodies: Vec<u64>,
    balance: Option<BalanceSnapshot>,
}

/// What was measured for balance, and the curve that was cut by it.
#[derive(Clone)]
struct BalanceSnapshot {
    curve: Aabb,
    counts: [u32; 3],
    numbers: [f64; 6],
}

/// An impulse: ids of the bodies, ascending, which of their contacts, and the impulse on the first.
pub(crate) type Impulse = ([u64; 2], FeatureKey, DVec3);

impl Domain {
    /// Appends the state between two steps.
    pub(crate) fn write_snapshot(&self, out: &mut Vec<u8>) {
        self.holders.write_snapshot(out);
        self.images.pack_column(out);
        self.global_bodies.ids.pack_column(out);
        let range = self.partition.range().filter(|_| self.balance.is_some());
        let snapshot =
            self.balance.as_ref().zip(range).map(|(balance, range)| BalanceSnapshot::of(balance, range.curve.extent()));
        snapshot.is_some().pack(out);
        if let Some(BalanceSnapshot { curve, counts, numbers }) = snapshot {
            [curve.low, curve.high].pack(out);
            counts.pack(out);
            numbers.pack(out);
        }
    }

    /// This rank's range of the Morton curve, if it is cut anew now and then.
    pub(crate) fn range(&self) -> Option<[u64; 2]> {
        self.balance.as_ref().and_then(|_| self.partition.range()).map(|range| range.keys)
    }

    /// Goes on as one of as many ranks as there were. `cuts` are the first keys of their ranges but for
    /// the first rank's, where the curve is cut anew now and then. All ranks call this.
    ///
    /// # Errors
    /// If space cannot be divided so; on all ranks then.
    pub(crate) fn resume(
        scene: &Scene,
        snapshot: DomainSnapshot,
        cuts: &[u64],
        mut comm: Box<dyn Communicator>,
    ) -> Result<Self, SceneError> {
        let DomainSnapshot { holders, images, global_bodies, balance } = snapshot;
        let partition: Result<Box<dyn Partition>, _> = match &balance {
            Some(balance) => {
                let curve = Curve::around(&balance.curve, &scene.periods());
                let reach = balance.numbers[3];
                Morton::new(&Cuts::new(curve, cuts), comm.rank() as u32, reach).map(|morton| Box::new(morton) as _)
            }
            None => build(&scene.domain, &scene.extent(), reach_of_many(scene), [], &mut *comm),
        };
        let partition = SceneError::agree(&mut *comm, partition.map_err(cannot_divide(scene)))?;
        let rank = comm.rank() as u32;
        let mut domain = Self::new(comm, partition, scene.periods());
        domain.ghosts = holders.entries.iter().filter(|entry| entry.owner != rank).count();
        domain.holders = holders;
        domain.images = images;
        domain.global_bodies.ids = global_bodies;
        domain.balance = balance.map(|snapshot| snapshot.to_balance(Balance::new(&scene.domain, snapshot.numbers[3])));
        Ok(domain)
    }

    /// Divides space among the ranks for bodies that stand elsewhere by now than at the start. `places`
    /// are those of some of them on each rank, of all together on all. All ranks call this.
    ///
    /// # Errors
    /// If space cannot be divided so; on all ranks then.
    pub(crate) fn divided(
        scene: &Scene,
        places: Vec<DVec3>,
        mut comm: Box<dyn Communicator>,
    ) -> Result<Self, SceneError> {
        let work = places.into_iter().map(|x| (x, 1.0));
        let partition = build(&scene.domain, &scene.extent(), reach_of_many(scene), work, &mut *comm);
        let partition = SceneError::agree(&mut *comm, partition.map_err(cannot_divide(scene)))?;
        let can_move = can_rebalance(scene, comm.size());
        let domain = Self::new(comm, partition, scene.periods());
        Ok(if can_move { domain.balanced(&scene.domain) } else { domain })
    }

    /// Whether this rank is the one that owns a body at a place.
    pub(crate) fn owns(&self, x: DVec3) -> bool {
        self.partition.owner(home(&self.periods, x)) == Some(self.partition.rank())
    }

    /// Prepares bodies that were divided anew, and impulses of which each rank has those of its own
    /// bodies.
    pub(crate) fn initialise_restarted(&mut self, scene: &Scene, world: &mut World, impulses: Vec<Impulse>) {
        let bodies = &mut world.bodies;
        for i in 0..bodies.len() {
            if bodies.is_wall(i) {
                continue;
            }
            bodies.position[i] = home(&self.periods, bodies.position[i]);
        }
        let large = self.large(scene);
        self.initialise(world, |id| large.contains(&id));
        self.halo.migrated_impulses = impulses;
    }

    /// Bodies that every rank has although they are no walls, by their ids.
    pub(crate) fn large(&self, scene: &Scene) -> Vec<u64> {
        large_bodies(scene, &*self.partition)
    }
}

fn home(periods: &Periods, x: DVec3) -> DVec3 {
    periods.wrap(x, periods.wrap_shift(x))
}

impl DomainSnapshot {
    /// Takes back what [`Domain::write_snapshot`] wrote, for these bodies.
    pub(crate) fn read(from: &mut Unpacker<'_>, bodies: &Bodies) -> Option<Self> {
        let holders = HolderLists::read_snapshot(from, bodies.len())?;
        let (images, global_bodies): (Vec<(u32, [i8; 3])>, Vec<u64>) =
            (Vec::unpack_column(from)?, Vec::unpack_column(from)?);
        let balance = if from.take()? {
            let [low, high] = from.take()?;
            Some(BalanceSnapshot { curve: Aabb { low, high }, counts: from.take()?, numbers: from.take()? })
        } else {
            None
        };
        // Images stand at the end, and nothing else refers to them.
        let (itself, shown) = bodies.ownership.split_at_checked(bodies.len().checked_sub(images.len())?)?;
        let is_valid = shown.iter().all(|ownership| *ownership == Ownership::Image)
            && itself.iter().all(|ownership| *ownership != Ownership::Image)
            && images.iter().all(|image| (image.0 as usize) < itself.len() && is_near(image.1))
            && holders.entries.iter().all(|entry| (entry.body as usize) < itself.len())
            && balance.as_ref().is_none_or(|snapshot| snapshot.numbers[3] > 0.0);
        is_valid.then_some(Self { holders, images, global_bodies, balance })
    }
}

impl DomainSnapshot {
    /// Bodies without images.
    pub(crate) fn bodies(&self, bodies: &Bodies) -> usize {
        bodies.len() - self.images.len()
    }

    /// Whether it can be that of a rank of so many, in this scene.
    pub(crate) fn is_valid_for(&self, scene: &Scene, place: [u32; 2], bodies: &Bodies) -> bool {
        self.holders.is_valid_for(place, bodies) && self.balance.is_some() == can_rebalance(scene, place[1] as usize)
    }
}

impl BalanceSnapshot {
    fn of(balance: &Balance, curve: Aabb) -> Self {
        let Balance { limit: _, interval: _, measure: _, wait, steps, work, total, reach, least, cuts, last } =
            *balance;
        let Work { bodies, contacts } = work;
        Self { curve, counts: [wait, steps, cuts], numbers: [bodies, contacts, total, reach, least, last] }
    }

    fn to_balance(&self, fresh: Balance) -> Balance {
        let ([wait, steps, cuts], [bodies, contacts, total, reach, least, last]) = (self.counts, self.numbers);
        Balance { wait, steps, cuts, work: Work { bodies, contacts }, total, reach, least, last, ..fresh }
    }
}
