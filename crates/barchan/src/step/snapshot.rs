//! What a checkpoint has of a simulation: all that the next step depends on.
//!
//! | what | why |
//! |---|---|
//! | the world | positions, velocities, forces, prescribed motions, belts, time; the order of bodies in memory is the order of sums |
//! | steps, and when the order was last looked at | when bodies are sorted next |
//! | contacts of the last step with their impulses | the next solve starts from them, and a frame of the state shows them |
//! | the length of the last step, and what its neighbours allowed | the length of the next, and the scale of its first impulses |
//! | the solver's memory | so does the step length of APGD |
//! | the domain | who holds which body, images, cuts of the curve and when it is cut next |
//!
//! Materials and options are those of the scene. Hulls, pairs, contacts and the rest of the problem are
//! made anew in every step; nothing of them is kept, nor of the memory of solvers.

use super::length::Pace;
use super::{Simulation, StepOptions, fit_for_ranks};
use crate::comm::Communicator;
use crate::domain::{Domain, DomainSnapshot, Impulse, by_id};
use crate::narrow::{Contacts, FeatureKey};
use crate::scene::{Location, Scene, SceneError, Time};
use crate::util::pack::{Pack, Unpacker};
use crate::world::{Bodies, Ownership, World};
use std::collections::HashMap;

/// A simulation between two steps, or one rank's part of it.
#[derive(Clone)]
pub struct Snapshot {
    steps: u64,
    ordered: Option<u64>,
    lipschitz: [Option<f64>; 2],
    pace: (Option<f64>, f64),
    world: World,
    contacts: Contacts,
    domain: Option<DomainSnapshot>,
}

impl Snapshot {
    /// Takes back what [`Simulation::write_snapshot`] wrote; `None` if the bytes make no sense.
    pub fn read(from: &mut Unpacker<'_>) -> Option<Self> {
        let (steps, ordered, lipschitz): (u64, Option<u64>, [Option<f64>; 2]) =
            (from.take()?, from.take()?, from.take()?);
        let pace: (Option<f64>, f64) = (from.take()?, from.take()?);
        Pace::recall(pace)?;
        let world = World::read_snapshot(from)?;
        let contacts = Contacts::read_snapshot(from, world.bodies.len())?;
        let domain = if from.take()? { Some(DomainSnapshot::read(from, &world.bodies)?) } else { None };
        let bodies = domain.as_ref().map_or(world.bodies.len(), |domain| domain.bodies(&world.bodies));
        let is_valid = steps < Time::MOST_STEPS
            && ordered.is_none_or(|step| step <= steps)
            && lipschitz.iter().flatten().all(|estimate| estimate.is_finite() && *estimate >= 0.0)
            && contacts.pairs().iter().flatten().all(|&body| (body as usize) < bodies);
        is_valid.then_some(Self { steps, ordered, lipschitz, pace, world, contacts, domain })
    }

    /// Steps done.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// The bodies, in the order in which they lay in memory.
    pub fn bodies(&self) -> &Bodies {
        &self.world.bodies
    }

    /// What keeps it from being the part of a rank of so many in a run of this scene.
    pub(crate) fn mismatch(&self, scene: &Scene, place: [u32; 2]) -> Option<String> {
        let materials = scene.material.len();
        let foreign = self.world.bodies.material.iter().find(|&&k| usize::from(k) >= materials);
        if let Some(material) = foreign {
            return Some(format!("a body has material {material}, and the scene has {materials}"));
        }
        let needs_domain = place[1] > 1 || scene.periods().any();
        let is_divided = match &self.domain {
            Some(domain) => needs_domain && domain.is_valid_for(scene, place, &self.world.bodies),
            None => !needs_domain,
        };
        (!is_divided).then(|| "the scene's space is not divided as it was".to_owned())
    }

    /// The impulses with the ids of their bodies.
    fn impulses(&self) -> impl Iterator<Item = ([u32; 2], Impulse)> + '_ {
        self.contacts.entries().map(|(pair, key, impulse)| {
            let ids = pair.map(|i| self.world.bodies.id[i as usize]);
            (pair, by_id(ids, key, impulse))
        })
    }

    /// Whether a body is one that this part answers for, and no wall.
    fn is_own(&self, i: usize) -> bool {
        self.world.bodies.is_owned_and_bounded(i)
    }
}

impl Simulation {
    /// Appends all that the next step depends on. Nothing is changed.
    pub fn write_snapshot(&mut self, out: &mut Vec<u8>) {
        // Most of it is bodies and contacts: no byte is to be moved twice.
        let a_body: usize = Bodies::COLUMNS.iter().map(|column| column.bytes).sum();
        out.reserve(self.world.bodies.len() * (a_body + 8) + self.contacts.len() * 58 + (1 << 16));
        self.steps.pack(out);
        self.ordered.pack(out);
        self.solver.lipschitz_estimates().pack(out);
        let (last, neighbours) = self.pace.memory();
        last.pack(out);
        neighbours.pack(out);
        self.world.write_snapshot(out);
        self.contacts.write_snapshot(out);
        self.domain.is_some().pack(out);
        if let Some(domain) = &self.domain {
            domain.write_snapshot(out);
        }
    }

    /// Goes on from what [`Simulation::write_snapshot`] wrote, exactly, on as many ranks; `cuts` are the first
    /// keys of all ranges of the Morton curve but the first rank's. All ranks call this.
    ///
    /// # Errors
    /// If the scene cannot be used; on all ranks then.
    pub(crate) fn resume(
        scene: &Scene,
        snapshot: Snapshot,
        cuts: &[u64],
        mut comm: Box<dyn Communicator>,
    ) -> Result<Self, SceneError> {
        let empty = scene.build_empty();
        let World { materials, .. } = SceneError::agree(&mut *comm, empty)?;
        let Snapshot { steps, ordered, lipschitz, pace, world, contacts, domain } = snapshot;
        let domain = domain.map(|domain| Domain::resume(scene, domain, cuts, comm)).transpose()?;
        let mut this = Self::new(World { materials, ..world }, StepOptions::from(scene));
        this.solver.set_lipschitz_estimates(lipschitz);
        this.set_pace(pace);
        Ok(Self { steps, ordered, contacts, domain, ..this })
    }

    /// Goes on from `parts` such pieces on another number of ranks. `read` gives one of them. All ranks
    /// call this.
    ///
    /// # Errors
    /// If the scene cannot be used or divided so, or a part cannot be read; on all ranks then.
    pub(crate) fn resume_redistributed(
        scene: &Scene,
        parts: usize,
        read: impl Fn(usize) -> Result<Snapshot, String>,
        mut comm: Box<dyn Communicator>,
    ) -> Result<Self, SceneError> {
        let (rank, ranks) = (comm.rank(), comm.size());
        let fit = if ranks > 1 { fit_for_ranks(scene) } else { Ok(()) };
        let empty = fit.and_then(|()| scene.build_empty());
        let mut world = SceneError::agree(&mut *comm, empty)?;
        let read = |part: usize| {
            read(part).map_err(|message| SceneError::new(Location::Whole("checkpoint".into()), "", message))
        };
        if ranks == 1 && !scene.periods().any() {
            let mut pieces = Pieces::default();
            for part in 0..parts {
                pieces.take(&read(part)?, &mut world, |_| true, |_| true);
            }
            let Pieces { impulses, steps, lipschitz, pace } = pieces;
            let mut contacts = Contacts::default();
            contacts.receive(local_impulses(&world.bodies, impulses));
            let mut this = Self::new(world, StepOptions::from(scene));
            this.solver.set_lipschitz_estimates(lipschitz);
            this.set_pace(pace);
            return Ok(Self { steps, contacts, ..this });
        }
        let mut places = Vec::new();
        let looked = (rank..parts).step_by(ranks).try_for_each(|part| {
            let snapshot = read(part)?;
            places.extend(
                (0..snapshot.world.bodies.len())
                    .filter(|&i| snapshot.is_own(i))
                    .map(|i| snapshot.world.bodies.position[i]),
            );
            Ok(())
        });
        SceneError::agree(&mut *comm, looked)?;
        let periods = scene.periods();
        for x in &mut places {
            *x = periods.wrap(*x, periods.wrap_shift(*x));
        }
        let mut domain = Domain::divided(scene, places, comm)?;
        let (mut pieces, large) = (Pieces::default(), domain.large(scene));
        let taken = (0..parts).try_for_each(|part| {
            let snapshot = read(part)?;
            let bodies = &snapshot.world.bodies;
            let global = |i: usize| bodies.is_wall(i) || large.contains(&bodies.id[i]);
            let mine = |i: usize| !global(i) && domain.owns(bodies.position[i]);
            let both = |[a, b]: [u32; 2]| rank == 0 && global(a as usize) && global(b as usize);
            let chosen = |pair: [u32; 2]| pair.iter().any(|&i| mine(i as usize)) || both(pair);
            pieces.take(&snapshot, &mut world, |i| global(i) || mine(i), chosen);
            Ok(())
        });
        SceneError::agree(domain.comm(), taken)?;
        let Pieces { impulses, steps, lipschitz, pace } = pieces;
        domain.initialise_restarted(scene, &mut world, impulses);
        let mut this = Self::new(world, StepOptions::from(scene));
        this.solver.set_lipschitz_estimates(lipschitz);
        this.set_pace(pace);
        Ok(Self { steps, domain: Some(domain), ..this })
    }

    /// Goes on with the lengths of steps.
    fn set_pace(&mut self, memory: (Option<f64>, f64)) {
        self.pace = Pace::recall(memory).unwrap_or_default();
        self.h = memory.0.unwrap_or(self.h);
    }
}

/// What is put together from several parts beside the world.
#[derive(Default)]
struct Pieces {
    impulses: Vec<Impulse>,
    steps: u64,
    lipschitz: [Option<f64>; 2],
    pace: (Option<f64>, f64),
}

impl Pieces {
    /// Takes from a part the bodies that it answers for and `chosen` wants, and the impulses of the
    /// contacts that `wanted` says by the bodies' indices.
    fn take(
        &mut self,
        part: &Snapshot,
        world: &mut World,
        chosen: impl Fn(usize) -> bool,
        wanted: impl Fn([u32; 2]) -> bool,
    ) {
        let World {
            bodies,
            materials: _,
            gravity,
            fields,
            external,
            prescribed,
            surface_velocities,
            no_contact,
            joints,
            time,
        } = &part.world;
        world.bodies.extend_from(bodies, |i| bodies.ownership[i] == Ownership::Owned && chosen(i));
        (world.gravity, world.time) = (*gravity, *time);
        world.fields.clone_from(fields);
        world.no_contact.clone_from(no_contact);
        world.joints.clone_from(joints);
        world.external.extend(external);
        world.prescribed.extend(prescribed.clone());
        world.surface_velocities.extend(surface_velocities.clone());
        self.impulses.extend(part.impulses().filter(|(pair, _)| wanted(*pair)).map(|(_, impulse)| impulse));
        self.steps = part.steps;
        self.lipschitz = part.lipschitz;
        self.pace = part.pace;
    }
}

/// Impulses by ids, as impulses between these bodies.
fn local_impulses(
    bodies: &Bodies,
    impulses: Vec<Impulse>,
) -> impl Iterator<Item = ([u32; 2], FeatureKey, glam::DVec3)> + use<> {
    let index: HashMap<u64, u32> = (0..).zip(&bodies.id).map(|(i, &id)| (id, i)).collect();
    impulses
        .into_iter()
        .filter_map(move |([a, b], key, impulse)| Some(([*index.get(&a)?, *index.get(&b)?], key, impulse)))
}
