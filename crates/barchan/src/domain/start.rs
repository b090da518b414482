//! How a scene becomes the parts that ranks start from.

use super::Domain;
use crate::comm::Communicator;
use crate::partition::{DomainOptions, Partition, PartitionError, PartitionName, build};
use crate::scene::{Location, Scene, SceneError};
use crate::world::{Ownership, World};

/// How far Morton neighbours may reach, in the largest radius of bodies that there are many of: room
/// for the way of a step and for the margin.
const ROOM: f64 = 3.0;

impl Domain {
    /// Divides the space of a scene among the ranks, and builds this rank's part of its world.
    /// Nobody builds all of it.
    ///
    /// # Errors
    /// If the scene cannot be used or divided so, or a fill finds no room on some rank; on all ranks
    /// then.
    pub fn begin(scene: &Scene, mut comm: Box<dyn Communicator>) -> Result<(Self, World), SceneError> {
        let begun = divide(scene, &mut *comm, &cannot_divide(scene));
        let (partition, mut world) = SceneError::agree(&mut *comm, begun)?;
        let large = large_bodies(scene, &*partition);
        let can_move = can_rebalance(scene, comm.size());
        let mut domain = Self::new(comm, partition, scene.periods());
        if can_move {
            domain = domain.balanced(&scene.domain);
        }
        domain.initialise(&mut world, |id| large.contains(&id));
        Ok((domain, world))
    }
}

/// What to say of a scene whose space cannot be divided.
pub(super) fn cannot_divide(scene: &Scene) -> impl Fn(PartitionError) -> SceneError + '_ {
    |error| {
        let place = Location::Whole(format!("scene \"{}\"", scene.name));
        SceneError::new(place, "domain", error.to_string())
    }
}

/// Single bodies that are too large for neighbours, or that joints hold, so that every rank has them.
pub(super) fn large_bodies(scene: &Scene, partition: &dyn Partition) -> Vec<u64> {
    let large = |radius: &Option<f64>| radius.is_some_and(|radius| partition.is_large(radius));
    let joined = scene.joined_bodies();
    let is_global =
        |(id, radius): &(u64, Option<f64>)| large(radius) || radius.is_some() && joined.binary_search(id).is_ok();
    (0..).zip(scene.single_radii()).filter(is_global).map(|(id, _)| id).collect()
}

/// Whether so many ranks may divide space anew during the run.
pub(super) fn can_rebalance(scene: &Scene, ranks: usize) -> bool {
    ranks > 1 && scene.domain.chosen().is_ok_and(|name| name == PartitionName::Morton)
}

/// How far bodies of which there are many may reach.
pub(super) fn reach_of_many(scene: &Scene) -> f64 {
    let many = scene.largest_of_many();
    ROOM * if many > 0.0 { many } else { scene.largest_radius().max(f64::MIN_POSITIVE) }
}

/// The partition, and this rank's part of the world.
fn divide(
    scene: &Scene,
    comm: &mut dyn Communicator,
    fault: &dyn Fn(PartitionError) -> SceneError,
) -> Result<(Box<dyn Partition>, World), SceneError> {
    // What has faults cannot be asked how large it is.
    scene.build_empty()?;
    let (options, extent) = (&scene.domain, scene.extent());
    let reach = reach_of_many(scene);
    let mut work = Vec::new();
    if options.chosen().map_err(fault)? == PartitionName::Morton && comm.size() > 1 {
        // What is to be divided equally must be known first: blocks of equal size make it, and it
        // is thrown away.
        let blocks = DomainOptions { partition: PartitionName::Cartesian, ..*options };
        let blocks = build(&blocks, &scene.extent_of_many(), reach, [], comm).map_err(fault)?;
        let world = scene.build_part(&*blocks);
        // Whoever fails here fails below too, with the others.
        if let Ok(world) = world {
            let bodies = &world.bodies;
            work.extend(
                (0..bodies.len()).filter(|&i| bodies.is_owned_and_bounded(i)).map(|i| (bodies.position[i], 1.0)),
            );
        }
    }
    let partition = build(options, &extent, reach, work, comm).map_err(fault)?;
    let world = scene.build_part(&*partition)?;
    debug_assert!(world.bodies.ownership.iter().all(|ownership| *ownership == Ownership::Owned));
    Ok((partition, world))
}
