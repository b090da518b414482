//! What a checkpoint has of a simulation: all that the next step depends on.
//!
//! | what | why |
//! |---|---|
//! | the world | positions, velocities, forces, prescribed motions, time; the order of bodies in memory is the order of sums |
//! | steps, and when the order was last looked at | when bodies are sorted next |
//! | impulses of the last step | the next solve starts from them |
//! | the solver's memory | so does the step length of APGD |
//! | normals of the last step's contacts | a frame of the state shows them |
//! | the domain | who holds which body, images, cuts of the curve and when it is cut next |
//!
//! Materials and options are those of the scene. Hulls, pairs, contacts and the rest of the problem are
//! made anew in every step; nothing of them is kept, nor of the memory of solvers.

use super::{Simulation, StepOptions, fit_for_ranks};
use crate::comm::Communicator;
use crate::domain::{Domain, Impulse, KeptDomain};
use crate::dynamics::WarmStart;
use crate::scene::{Place, Scene, SceneError, Time};
use crate::util::bulk::Keep;
use crate::util::pack::{Pack, Unpacker};
use crate::world::{Bodies, Standing, World};
use barchan_cone::ContactVec;
use std::collections::HashMap;

/// A simulation between two steps, or one rank's part of it.
#[derive(Clone)]
pub struct Kept {
    steps: u64,
    ordered: Option<u64>,
    memory: [Option<f64>; 2],
    world: World,
    warm: WarmStart,
    /// Of the contacts in `warm`; none where they are not known.
    normals: ContactVec,
    domain: Option<KeptDomain>,
}

impl Kept {
    /// Takes back what [`Simulation::keep`] wrote; `None` if the bytes make no sense.
    pub fn restore(from: &mut Unpacker<'_>) -> Option<Self> {
        let (steps, ordered, memory): (u64, Option<u64>, [Option<f64>; 2]) = (from.take()?, from.take()?, from.take()?);
        let world = World::restore(from)?;
        let warm = WarmStart::restore(from, world.bodies.len())?;
        let contacts = warm.impulses().len();
        let normals = ContactVec::restore(from).filter(|normals| [0, contacts].contains(&normals.len()))?;
        let domain = if from.take()? { Some(KeptDomain::restore(from, &world.bodies, contacts)?) } else { None };
        let bodies = domain.as_ref().map_or(world.bodies.len(), |domain| domain.bodies(&world.bodies));
        let is_sound = steps < Time::MOST_STEPS
            && ordered.is_none_or(|step| step <= steps)
            && memory.iter().flatten().all(|estimate| estimate.is_finite() && *estimate >= 0.0)
            && warm.iter().all(|(pair, _)| pair.iter().all(|&body| (body as usize) < bodies));
        is_sound.then_some(Self { steps, ordered, memory, world, warm, normals, domain })
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
    pub(crate) fn misfit(&self, scene: &Scene, place: [u32; 2]) -> Option<String> {
        let materials = scene.material.len();
        let foreign = self.world.bodies.material.iter().find(|&&k| usize::from(k) >= materials);
        if let Some(material) = foreign {
            return Some(format!("a body has material {material}, and the scene has {materials}"));
        }
        let needs_domain = place[1] > 1 || scene.periods().any();
        let is_divided = match &self.domain {
            Some(domain) => needs_domain && domain.suits(scene, place, &self.world.bodies),
            None => !needs_domain,
        };
        (!is_divided).then(|| "the scene's space is not divided as it was".to_owned())
    }

    /// The impulses with the ids of their bodies.
    fn impulses(&self) -> impl Iterator<Item = ([u32; 2], Impulse)> + '_ {
        self.warm.entries().map(|(pair, feature, impulse)| {
            let [a, b] = pair.map(|i| self.world.bodies.id[i as usize]);
            (pair, if a < b { ([a, b], feature, impulse) } else { ([b, a], feature, -impulse) })
        })
    }

    /// Whether a body is one that this part answers for, and no wall.
    fn is_own(&self, i: usize) -> bool {
        self.world.bodies.is_shown(i)
    }
}

impl Simulation {
    /// Appends all that the next step depends on. Nothing is changed.
    pub fn keep(&mut self, out: &mut Vec<u8>) {
        // Most of it is bodies and contacts: no byte is to be moved twice.
        let a_body: usize = Bodies::COLUMNS.iter().map(|column| column.bytes).sum();
        out.reserve(self.world.bodies.len() * (a_body + 8) + self.warm.impulses().len() * 58 + (1 << 16));
        self.steps.pack(out);
        self.ordered.pack(out);
        self.solver.estimates().pack(out);
        self.world.keep(out);
        self.warm.keep(out);
        // Whoever has forgotten the impulses has no contacts to show.
        let normals = Some(&self.problem.normals).filter(|normals| normals.len() == self.warm.impulses().len());
        normals.unwrap_or(&ContactVec::default()).keep(out);
        self.domain.is_some().pack(out);
        if let Some(domain) = &self.domain {
            domain.keep(out);
        }
    }

    /// Goes on from what [`Simulation::keep`] wrote, exactly, on as many ranks; `cuts` are the first
    /// keys of all ranges of the Morton curve but the first rank's. All ranks call this.
    ///
    /// # Errors
    /// If the scene cannot be used; on all ranks then.
    pub(crate) fn resume(
        scene: &Scene,
        kept: Kept,
        cuts: &[u64],
        mut comm: Box<dyn Communicator>,
    ) -> Result<Self, SceneError> {
        let empty = scene.build_empty();
        let World { materials, .. } = SceneError::agree(&mut *comm, empty)?;
        let Kept { steps, ordered, memory, world, warm, normals, domain } = kept;
        let domain = domain.map(|domain| Domain::resume(scene, domain, cuts, comm)).transpose()?;
        let mut this = Self::new(World { materials, ..world }, StepOptions::from(scene));
        this.solver.restore_estimates(memory);
        this.problem.normals = normals;
        Ok(Self { steps, ordered, warm, domain, ..this })
    }

    /// Goes on from `parts` such pieces on another number of ranks. `read` gives one of them. All ranks
    /// call this.
    ///
    /// # Errors
    /// If the scene cannot be used or divided so, or a part cannot be read; on all ranks then.
    pub(crate) fn resume_anew(
        scene: &Scene,
        parts: usize,
        read: impl Fn(usize) -> Result<Kept, String>,
        mut comm: Box<dyn Communicator>,
    ) -> Result<Self, SceneError> {
        let (rank, ranks) = (comm.rank(), comm.size());
        let fit = if ranks > 1 { fit_for_ranks(scene) } else { Ok(()) };
        let empty = fit.and_then(|()| scene.build_empty());
        let mut world = SceneError::agree(&mut *comm, empty)?;
        let read =
            |part: usize| read(part).map_err(|message| SceneError::new(Place::Whole("checkpoint".into()), "", message));
        if ranks == 1 && !scene.periods().any() {
            let mut pieces = Pieces::default();
            for part in 0..parts {
                pieces.take(&read(part)?, &mut world, |_| true, |_| true);
            }
            let Pieces { impulses, steps, memory } = pieces;
            let warm = warm_start(&world.bodies, impulses);
            let mut this = Self::new(world, StepOptions::from(scene));
            this.solver.restore_estimates(memory);
            return Ok(Self { steps, warm, ..this });
        }
        let mut places = Vec::new();
        let looked = (rank..parts).step_by(ranks).try_for_each(|part| {
            let kept = read(part)?;
            places.extend(
                (0..kept.world.bodies.len()).filter(|&i| kept.is_own(i)).map(|i| kept.world.bodies.position[i]),
            );
            Ok(())
        });
        SceneError::agree(&mut *comm, looked)?;
        let periods = scene.periods();
        for x in &mut places {
            *x = periods.bring_home(*x, periods.home(*x));
        }
        let mut domain = Domain::divided(scene, places, comm)?;
        let (mut pieces, large) = (Pieces::default(), domain.large(scene));
        let taken = (0..parts).try_for_each(|part| {
            let kept = read(part)?;
            let bodies = &kept.world.bodies;
            let everywhere = |i: usize| bodies.shape[i].bounding_radius().is_none() || large.contains(&bodies.id[i]);
            let mine = |i: usize| !everywhere(i) && domain.owns(bodies.position[i]);
            let both = |[a, b]: [u32; 2]| rank == 0 && everywhere(a as usize) && everywhere(b as usize);
            let chosen = |pair: [u32; 2]| pair.iter().any(|&i| mine(i as usize)) || both(pair);
            pieces.take(&kept, &mut world, |i| everywhere(i) || mine(i), chosen);
            Ok(())
        });
        SceneError::agree(domain.comm(), taken)?;
        let Pieces { impulses, steps, memory } = pieces;
        domain.settle_anew(scene, &mut world, impulses);
        let mut this = Self::new(world, StepOptions::from(scene));
        this.solver.restore_estimates(memory);
        Ok(Self { steps, domain: Some(domain), ..this })
    }
}

/// What is put together from several parts beside the world.
#[derive(Default)]
struct Pieces {
    impulses: Vec<Impulse>,
    steps: u64,
    memory: [Option<f64>; 2],
}

impl Pieces {
    /// Takes from a part the bodies that it answers for and `chosen` wants, and the impulses of the
    /// contacts that `wanted` says by the bodies' indices.
    fn take(
        &mut self,
        part: &Kept,
        world: &mut World,
        chosen: impl Fn(usize) -> bool,
        wanted: impl Fn([u32; 2]) -> bool,
    ) {
        let World { bodies, materials: _, gravity, fields, external, prescribed, time } = &part.world;
        world.bodies.extend_from(bodies, |i| bodies.standing[i] == Standing::Own && chosen(i));
        (world.gravity, world.time) = (*gravity, *time);
        world.fields.clone_from(fields);
        world.external.extend(external);
        world.prescribed.extend(prescribed);
        self.impulses.extend(part.impulses().filter(|(pair, _)| wanted(*pair)).map(|(_, impulse)| impulse));
        self.steps = part.steps;
        self.memory = part.memory;
    }
}

/// Impulses by ids, for these bodies.
fn warm_start(bodies: &Bodies, impulses: Vec<Impulse>) -> WarmStart {
    let index: HashMap<u64, u32> = (0..).zip(&bodies.id).map(|(i, &id)| (id, i)).collect();
    let is_wall = |i: u32| bodies.shape[i as usize].bounding_radius().is_none();
    let entries = impulses.into_iter().filter_map(|([a, b], feature, impulse)| {
        let [a, b] = [*index.get(&a)?, *index.get(&b)?];
        // Contacts stand with the body of smaller index, and never with a wall.
        let turned = is_wall(a) || (a > b && !is_wall(b));
        Some(if turned { ([b, a], feature, -impulse) } else { ([a, b], feature, impulse) })
    });
    WarmStart::from_entries(entries.collect(), bodies.len())
}
