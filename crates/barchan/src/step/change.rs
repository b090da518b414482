//! Changing a running simulation: bodies that come and go, and change their motion or shape.
//!
//! Changes are made between steps, on one process or on ranks. On ranks all of them make the same call, with
//! the same arguments, as they do for a step: what concerns only some is passed over by the rest. Contacts,
//! their impulses, ghosts and lists follow.

use super::Simulation;
use crate::comm::Reduction;
use crate::shape::Shape;
use crate::world::{Body, Motion, World};
use glam::DVec3;
use std::collections::HashSet;

/// Why a change cannot be made. Nothing is changed then.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ChangeError {
    /// There is no such body.
    #[error("there is no body with id {id}")]
    NoSuchBody {
        /// The id asked for.
        id: u64,
    },
    /// A dynamic body needs a mass.
    #[error("body {id}: a dynamic body needs a shape with a finite mass, and a {shape} has none")]
    NoMass {
        /// The id of the body.
        id: u64,
        /// The name of its shape.
        shape: &'static str,
    },
    /// A shape that cannot be used.
    #[error("body {id}: a {shape} that cannot be used: {key}: {message}")]
    Unsound {
        /// The id of the body.
        id: u64,
        /// The name of the shape.
        shape: &'static str,
        /// What of it is to blame.
        key: &'static str,
        /// What was found and what is expected.
        message: String,
    },
    /// A body that is everywhere cannot become one that is somewhere, nor the other way round.
    #[error(
        "body {id}: on several ranks, or in periodic space, a bounded body cannot become unbounded (a {shape}), nor \
         the other way round; remove it and add another"
    )]
    OtherExtent {
        /// The id of the body.
        id: u64,
        /// The name of the new shape.
        shape: &'static str,
    },
    /// No rank has that part of space.
    #[error("no rank has the part of space where the body would be: {position}")]
    Outside {
        /// Where it would be.
        position: DVec3,
    },
    /// Another rank, which has the body, says why.
    #[error("another rank cannot make the change")]
    Elsewhere,
}

impl Simulation {
    /// Adds a body, and returns its id.
    ///
    /// # Errors
    /// As [`Simulation::add_all`].
    pub fn add(&mut self, body: Body) -> Result<u64, ChangeError> {
        self.add_all(vec![body]).map(|ids| ids[0])
    }

    /// Adds bodies, and returns their ids. On ranks, each goes to the rank in whose region it lies; what is
    /// unbounded or too large for its neighbours goes to all.
    ///
    /// # Errors
    /// If a shape has faults, a dynamic body has one without a finite mass, or no rank has the part of space where a
    /// body would be; none is added then.
    pub fn add_all(&mut self, mut bodies: Vec<Body>) -> Result<Vec<u64>, ChangeError> {
        let first = match &mut self.domain {
            Some(domain) => domain.agree_on_ids(&mut self.world.bodies),
            None => self.world.bodies.id_end(),
        };
        for (id, body) in (first..).zip(&bodies) {
            require_sound(id, &body.shape)?;
            if body.motion == Motion::Dynamic && body.mass.is_none() {
                require_mass(id, &body.shape)?;
            }
        }
        let taken = self.find_takers(&mut bodies)?;
        let count = bodies.len() as u64;
        for ((id, body), _) in (first..).zip(bodies).zip(taken).filter(|(_, is_taken)| *is_taken) {
            match &mut self.domain {
                Some(domain) => domain.add(&mut self.world, id, body),
                None => self.world.add_with_id(id, body),
            }
        }
        self.world.bodies.reserve_ids_below(first + count);
        self.is_assembled = false;
        Ok((first..first + count).collect())
    }

    /// Which bodies this rank takes in; each must be some rank's.
    fn find_takers(&mut self, bodies: &mut [Body]) -> Result<Vec<bool>, ChangeError> {
        let Some(domain) = &mut self.domain else { return Ok(vec![true; bodies.len()]) };
        for body in bodies.iter_mut() {
            // It is where its centre of mass is.
            let density = self.world.materials.get(body.material).density;
            *body = body.clone().settled(density);
        }
        let taken: Vec<bool> = bodies.iter_mut().map(|body| domain.takes(body)).collect();
        let mut somewhere: Vec<f64> = taken.iter().map(|&is_taken| f64::from(u8::from(is_taken))).collect();
        domain.reduce(Reduction::Max, &mut somewhere);
        match somewhere.iter().position(|&is_taken| is_taken == 0.0) {
            Some(k) => Err(ChangeError::Outside { position: bodies[k].position }),
            None => Ok(taken),
        }
    }

    /// Removes bodies with their contacts, forces, prescribed motions and moving surfaces. Ids of removed bodies
    /// are not given again.
    ///
    /// # Errors
    /// If there is no body with one of these ids, on any rank; none is removed then.
    pub fn remove(&mut self, ids: &[u64]) -> Result<(), ChangeError> {
        self.require(ids)?;
        self.drop_bodies(ids);
        Ok(())
    }

    /// Removes bodies that some rank has.
    pub(super) fn drop_bodies(&mut self, ids: &[u64]) {
        let gone: HashSet<u64> = ids.iter().copied().collect();
        if let Some(domain) = &mut self.domain {
            domain.drop_images(&mut self.world.bodies);
            domain.forget_global(|id| gone.contains(&id));
        }
        let bodies = &self.world.bodies;
        let order: Vec<u32> = (0..bodies.len() as u32).filter(|&i| !gone.contains(&bodies.id[i as usize])).collect();
        self.reorder(&order);
        self.world.external.retain(|id, _| !gone.contains(id));
        self.world.prescribed.retain(|id, _| !gone.contains(id));
        self.world.surface_velocities.retain(|id, _| !gone.contains(id));
    }

    /// Lets a body move by forces and contacts, as prescribed, or not at all. A body that becomes dynamic has
    /// the mass of its shape and material, and may turn.
    ///
    /// # Errors
    /// If there is no such body, or it becomes dynamic and its shape has faults or no finite mass.
    pub fn set_motion(&mut self, id: u64, motion: Motion) -> Result<(), ChangeError> {
        self.require(&[id])?;
        let checked = self.for_copies(id, |world, i| {
            if motion != Motion::Dynamic {
                return Ok(());
            }
            let shape = &world.bodies.shape[i];
            require_sound(id, shape)?;
            require_mass(id, shape)
        });
        self.agree_on_change(checked)?;
        self.for_copies(id, |world, i| {
            world.set_motion(i, motion);
            Ok(())
        })
    }

    /// Gives a body another shape, with the mass that comes with it.
    ///
    /// # Errors
    /// If there is no such body, if the shape has faults, if the body is dynamic and the shape has no finite mass, or
    /// if a bounded body were to become unbounded on several ranks or the other way round.
    pub fn set_shape(&mut self, id: u64, shape: Shape) -> Result<(), ChangeError> {
        self.require(&[id])?;
        require_sound(id, &shape)?;
        let has_domain = self.domain.is_some();
        let checked = self.for_copies(id, |world, i| {
            if world.bodies.motion[i] == Motion::Dynamic {
                require_mass(id, &shape)?;
            }
            if has_domain && shape.is_unbounded() != world.bodies.shape[i].is_unbounded() {
                return Err(ChangeError::OtherExtent { id, shape: shape.name() });
            }
            Ok(())
        });
        self.agree_on_change(checked)?;
        self.for_copies(id, |world, i| {
            world.set_shape(i, shape.clone());
            Ok(())
        })
    }

    /// Calls `change` for all rows of a body on this rank: the body or its ghost, and its images.
    fn for_copies(
        &mut self,
        id: u64,
        mut change: impl FnMut(&mut World, usize) -> Result<(), ChangeError>,
    ) -> Result<(), ChangeError> {
        let has_images = self.domain.is_some();
        let Some(first) = self.world.bodies.index_of(id) else { return Ok(()) };
        change(&mut self.world, first)?;
        if has_images {
            for i in first + 1..self.world.bodies.len() {
                if self.world.bodies.id[i] == id {
                    change(&mut self.world, i)?;
                }
            }
        }
        self.is_assembled = false;
        Ok(())
    }

    /// Fails, on all ranks, unless every id is known to some rank.
    fn require(&mut self, ids: &[u64]) -> Result<(), ChangeError> {
        let bodies = &self.world.bodies;
        let mut known: Vec<f64> = ids.iter().map(|&id| f64::from(u8::from(bodies.index_of(id).is_some()))).collect();
        if let Some(domain) = &mut self.domain {
            domain.reduce(Reduction::Max, &mut known);
        }
        match known.iter().position(|&known| known == 0.0) {
            Some(k) => Err(ChangeError::NoSuchBody { id: ids[k] }),
            None => Ok(()),
        }
    }

    /// A failure of one rank is one of all: bodies are the same wherever they are held, so all that hold the
    /// body say the same, and the rest learn of it.
    fn agree_on_change(&mut self, checked: Result<(), ChangeError>) -> Result<(), ChangeError> {
        let Some(domain) = &mut self.domain else { return checked };
        let mut failed = [f64::from(u8::from(checked.is_err()))];
        domain.reduce(Reduction::Max, &mut failed);
        match checked {
            Ok(()) if failed[0] > 0.0 => Err(ChangeError::Elsewhere),
            checked => checked,
        }
    }
}

/// Fails if a shape has faults; it may not be asked for anything else then.
fn require_sound(id: u64, shape: &Shape) -> Result<(), ChangeError> {
    match shape.faults().into_iter().next() {
        Some((key, message)) => Err(ChangeError::Unsound { id, shape: shape.name(), key, message }),
        None => Ok(()),
    }
}

/// Fails if a sound shape has no finite mass.
fn require_mass(id: u64, shape: &Shape) -> Result<(), ChangeError> {
    if shape.has_mass() { Ok(()) } else { Err(ChangeError::NoMass { id, shape: shape.name() }) }
}
