//! One moment of a simulation as it can be looked at: bodies, contacts that carry an impulse, walls.
//!
//! A frame is a copy. Whoever writes it down or sends it to a viewer does so while the simulation
//! goes on. It can be filled again and again without new memory.

mod looks;

pub use looks::{Look, Looks, SPHERE, Shaded, Worn};

use crate::narrow::Contact;
use crate::shape::Shape;
use crate::step::Simulation;
use crate::world::{Bodies, Body, Motion};
use glam::{DQuat, DVec3};

/// One moment, of one rank or of all.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Frame {
    /// Steps done.
    pub step: u64,
    /// Simulated time.
    pub time: f64,
    /// Bodies that are not walls; each on the rank that owns it.
    pub bodies: FrameBodies,
    /// Contacts of the last step that carry an impulse; each on the rank that treated it.
    pub contacts: FrameContacts,
    /// Walls. On several ranks, rank 0 has them.
    pub walls: Vec<FrameWall>,
}

/// Declares the columns of a table once: the struct and what is done to all of them.
macro_rules! columns {
    ($(#[$table_doc:meta])* $table:ident by $first:ident { $($(#[$doc:meta])* $name:ident: $type:ty,)* }) => {
        $(#[$table_doc])*
        #[derive(Clone, Debug, Default, PartialEq)]
        pub struct $table {
            $($(#[$doc])* pub $name: Vec<$type>,)*
        }

        impl $table {
            /// Number of rows.
            pub fn len(&self) -> usize {
                self.$first.len()
            }

            /// Whether there are none.
            pub fn is_empty(&self) -> bool {
                self.$first.is_empty()
            }

            /// Takes over what another one has, behind its own.
            pub fn append(&mut self, other: &Self) {
                $(self.$name.extend_from_slice(&other.$name);)*
            }

            fn clear(&mut self) {
                $(self.$name.clear();)*
            }
        }
    };
}

columns! {
    /// Bodies of a frame, a column each property.
    FrameBodies by id {
        /// Centre of mass.
        position: DVec3,
        /// From the body frame to the world frame.
        orientation: DQuat,
        /// Velocity of the centre of mass.
        velocity: DVec3,
        /// Angular velocity in the world frame.
        angular_velocity: DVec3,
        /// Shape in the body frame.
        shape: Shape,
        /// A number that stays with the body for life.
        id: u64,
        /// Index into the materials.
        material: u16,
        /// A number that the scene gives to bodies of a kind.
        group: u16,
        /// How it moves.
        motion: Motion,
        /// The rank that owns it.
        rank: u32,
    }
}

columns! {
    /// Contacts of a frame, a column each property.
    FrameContacts by ids {
        /// Ids of bodies A and B.
        ids: [u64; 2],
        /// From the centre of A to the centre of B, or to where it touches a wall.
        ends: [DVec3; 2],
        /// Unit normal, from B towards A.
        normal: DVec3,
        /// Force on A: the impulse over the length of the step.
        force: DVec3,
        /// The normal component of the impulse.
        normal_impulse: f64,
        /// The rank that treated it.
        rank: u32,
    }
}

/// A wall of a frame.
#[derive(Clone, Debug, PartialEq)]
pub struct FrameWall {
    /// Its id.
    pub id: u64,
    /// Shape in the body frame.
    pub shape: Shape,
    /// Where it stands.
    pub position: DVec3,
    /// From the body frame to the world frame.
    pub orientation: DQuat,
    /// Index into the materials.
    pub material: u16,
}

/// The motions of bodies by the numbers that stand for them in files and tables.
pub const MOTIONS: [Motion; 3] = [Motion::Dynamic, Motion::Kinematic, Motion::Fixed];

/// The number that stands for a motion in files and tables: its place in [`MOTIONS`].
pub fn motion_number(motion: Motion) -> u8 {
    match motion {
        Motion::Dynamic => 0,
        Motion::Kinematic => 1,
        Motion::Fixed => 2,
    }
}

impl FrameBodies {
    /// The radius of body `i`: of a ball that holds it.
    pub fn radius(&self, i: usize) -> f64 {
        self.shape[i].bounding_radius().unwrap_or(0.0)
    }

    fn push(&mut self, bodies: &Bodies, i: usize, rank: u32) {
        self.position.push(bodies.position[i]);
        self.orientation.push(bodies.orientation[i]);
        self.velocity.push(bodies.velocity[i]);
        self.angular_velocity.push(bodies.angular_velocity[i]);
        self.shape.push(bodies.shape[i].clone());
        self.id.push(bodies.id[i]);
        self.material.push(bodies.material[i]);
        self.group.push(bodies.group[i]);
        self.motion.push(bodies.motion[i]);
        self.rank.push(rank);
    }
}

impl Frame {
    /// Takes over what this rank has to show of a simulation. Memory is used again.
    pub fn capture(&mut self, simulation: &Simulation, rank: u32) {
        let world = &simulation.world;
        self.step = simulation.steps();
        self.time = world.time;
        self.capture_bodies(&world.bodies, rank);
        self.capture_contacts(simulation, rank);
    }

    fn capture_bodies(&mut self, bodies: &Bodies, rank: u32) {
        self.bodies.clear();
        self.walls.clear();
        for i in 0..bodies.len() {
            if bodies.is_owned_and_bounded(i) {
                self.bodies.push(bodies, i, rank);
            } else if rank == 0 && bodies.is_wall(i) {
                self.walls.push(FrameWall {
                    id: bodies.id[i],
                    shape: bodies.shape[i].clone(),
                    position: bodies.position[i],
                    orientation: bodies.orientation[i],
                    material: bodies.material[i],
                });
            }
        }
    }

    fn capture_contacts(&mut self, simulation: &Simulation, rank: u32) {
        self.contacts.clear();
        let bodies = &simulation.world.bodies;
        let h = simulation.h();
        for (i, contact) in simulation.contacts().iter(bodies).enumerate() {
            let Contact { bodies: pair, point, normal, impulse, .. } = contact;
            if impulse == DVec3::ZERO {
                continue;
            }
            let [a, b] = pair.map(|j| j as usize);
            let far = if bodies.is_wall(b) { point } else { bodies.position[b] + simulation.contact_offset(i) };
            self.contacts.ids.push([bodies.id[a], bodies.id[b]]);
            self.contacts.ends.push([bodies.position[a], far]);
            self.contacts.normal.push(normal);
            self.contacts.force.push(impulse / h);
            self.contacts.normal_impulse.push(impulse.dot(normal));
            self.contacts.rank.push(rank);
        }
    }

    /// Bodies and walls as a world has them, for whoever draws worlds.
    pub fn to_bodies(&self) -> Bodies {
        let (frame, mut bodies) = (&self.bodies, Bodies::default());
        bodies.reserve(frame.len() + self.walls.len());
        for wall in &self.walls {
            let body = Body::fixed(wall.shape.clone(), wall.position).with_orientation(wall.orientation);
            bodies.push_with_id(wall.id, Body { material: wall.material, ..body }, 1.0);
        }
        for i in 0..frame.len() {
            // What a body weighs is not seen: it may not even have a mass.
            let body = Body {
                orientation: frame.orientation[i],
                velocity: frame.velocity[i],
                angular_velocity: frame.angular_velocity[i],
                material: frame.material[i],
                group: frame.group[i],
                motion: Motion::Kinematic,
                ..Body::fixed(frame.shape[i].clone(), frame.position[i])
            };
            bodies.push_with_id(frame.id[i], body, 1.0);
        }
        bodies
    }

    /// How many contacts each body has, in the order of the bodies.
    pub fn contact_counts(&self) -> Vec<u32> {
        let ids = &self.bodies.id;
        let mut counts = vec![0; ids.len()];
        let end = ids.iter().max().map_or(0, |id| id.saturating_add(1));
        if end <= 4 * ids.len() as u64 + 1024 {
            // Ids are mostly numbered from 0 with few gaps: a table finds them at once.
            let mut places = vec![u32::MAX; end as usize];
            (0..).zip(ids).for_each(|(i, &id)| places[id as usize] = i);
            for &id in self.contacts.ids.iter().flatten().filter(|&&id| id < end) {
                if let Some(count) = counts.get_mut(places[id as usize] as usize) {
                    *count += 1;
                }
            }
            return counts;
        }
        let mut order: Vec<u32> = (0..ids.len() as u32).collect();
        order.sort_unstable_by_key(|&i| ids[i as usize]);
        for id in self.contacts.ids.iter().flatten() {
            if let Ok(k) = order.binary_search_by_key(id, |&i| ids[i as usize]) {
                counts[order[k] as usize] += 1;
            }
        }
        counts
    }

    /// The lowest and the highest corner of a box that holds all bodies; `None` if there are none.
    pub fn bounds(&self) -> Option<[DVec3; 2]> {
        let bodies = &self.bodies;
        (0..bodies.len()).filter(|&i| bodies.position[i].is_finite()).fold(None, |bounds, i| {
            let (x, r) = (bodies.position[i], DVec3::splat(bodies.radius(i)));
            let [low, high] = bounds.unwrap_or([x, x]);
            Some([low.min(x - r), high.max(x + r)])
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::{BodySpec, Scene};

    #[test]
    fn a_frame_shows_bodies_forces_and_walls() {
        let mut scene = Scene::default();
        scene.body.push(BodySpec::new(Shape::half_space(), DVec3::ZERO));
        for z in [0.1, 0.3] {
            scene.body.push(BodySpec::new(Shape::sphere(0.1), DVec3::new(0.0, 0.0, z)));
        }
        scene.solver.tolerance = 1e-10;
        let mut simulation = Simulation::from_scene(&scene).unwrap();
        let mut frame = Frame::default();
        frame.capture(&simulation, 0);
        assert_eq!((frame.bodies.len(), frame.contacts.len(), frame.walls.len()), (2, 0, 1));
        for _ in 0..50 {
            simulation.step().unwrap();
        }
        frame.capture(&simulation, 0);
        assert_eq!((frame.step, frame.bodies.len(), frame.walls.len()), (50, 2, 1));
        assert_eq!(frame.contact_counts().iter().sum::<u32>(), 3);
        // Ids far apart are found in another way.
        let mut sparse = frame.clone();
        let far = |id: &mut u64| *id *= 1 << 40;
        sparse.bodies.id.iter_mut().chain(sparse.contacts.ids.iter_mut().flatten()).for_each(far);
        assert_eq!(sparse.contact_counts(), frame.contact_counts());
        let weight = 2500.0 * 4.0 / 3.0 * std::f64::consts::PI * 1e-3 * 9.81;
        let contacts = &frame.contacts;
        for k in 0..contacts.len() {
            let (carried, lower) = if contacts.ids[k].contains(&0) { (2.0, 0.0) } else { (1.0, 0.1) };
            assert!((contacts.force[k].length() / (carried * weight) - 1.0).abs() < 1e-6);
            assert!((contacts.normal_impulse[k] / simulation.h() - carried * weight).abs() < 1e-6 * weight);
            let low = contacts.ends[k].iter().fold(f64::INFINITY, |z, end| z.min(end.z));
            assert!((low - lower).abs() < 1e-3, "{low}");
        }
        assert_eq!(contacts.len(), 2);
        let bodies = frame.to_bodies();
        assert_eq!((bodies.len(), bodies.owned_bounded_len()), (3, 2));
        let upper = |bodies: &Bodies| bodies.position[bodies.index_of(2).unwrap()];
        assert_eq!(upper(&bodies), upper(&simulation.world.bodies));
        assert_eq!(frame.bodies.motion, [Motion::Dynamic; 2]);
        assert_eq!(MOTIONS.map(motion_number), [0, 1, 2]);
        let mut moving = frame.clone();
        moving.bodies.velocity[1] = DVec3::X;
        assert_eq!(moving.to_bodies().velocity.iter().filter(|v| **v == DVec3::X).count(), 1);
        let [low, high] = frame.bounds().unwrap();
        assert!(low.z.abs() < 1e-3 && (high.z - 0.4).abs() < 1e-3);
    }
}
