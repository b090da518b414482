//! A world that one process has made, divided among ranks of this process.

use crate::failure::Failure;
use barchan::broad::Aabb;
use barchan::comm::threads;
use barchan::domain::Domain;
use barchan::partition::{DomainOptions, build};
use barchan::step::{Simulation, StepOptions};
use barchan::world::{Ownership, World};

pub(super) fn failed(error: impl std::fmt::Display) -> Failure {
    Failure::Failed(error.to_string())
}

/// The box of all spheres.
fn extent(world: &World) -> Aabb {
    let bodies = &world.bodies;
    (0..bodies.len()).filter(|&i| bodies.is_owned_and_bounded(i)).fold(Aabb::EMPTY, |all, i| {
        let x = bodies.position[i];
        all.join(&Aabb { low: x, high: x })
    })
}

/// Runs `body` on every rank's part of a world.
pub(super) fn on_ranks<R: Send>(
    world: &World,
    domain: &DomainOptions,
    options: StepOptions,
    ranks: usize,
    body: impl Fn(&mut Simulation) -> R + Sync,
) -> Result<Vec<R>, Failure> {
    let periods = domain.periods().map_err(failed)?;
    let results = threads::run(ranks, 1, |mut comm| {
        let rank = comm.rank();
        let bodies = &world.bodies;
        let radius = bodies.shape().iter().filter_map(|shape| shape.bounding_radius()).fold(0.0, f64::max);
        let work = (rank..bodies.len())
            .step_by(ranks)
            .filter(|&i| bodies.is_owned_and_bounded(i))
            .map(|i| (bodies.position[i], 1.0));
        let partition = build(domain, &extent(world), 3.0 * radius, work, &mut *comm).map_err(|e| e.to_string())?;
        let mine = |i: &u32| {
            let i = *i as usize;
            let x = bodies.position[i];
            // A body may have left the cell in the last step.
            let home = || periods.wrap(x, periods.wrap_shift(x));
            bodies.ownership()[i] == Ownership::Owned
                && (!bodies.is_owned_and_bounded(i) || partition.owner(home()) == Some(rank as u32))
        };
        let order: Vec<u32> = (0..bodies.len() as u32).filter(mine).collect();
        let mut own = world.clone();
        own.bodies.permute(&order);
        let mut simulation = Simulation::part(own, options, Domain::new(comm, partition, periods));
        Ok::<R, String>(body(&mut simulation))
    });
    results.map_err(failed)?.into_iter().collect::<Result<_, _>>().map_err(failed)
}
