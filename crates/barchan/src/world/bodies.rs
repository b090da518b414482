//! Bodies as columns, each declared once with the way it would be shared between ranks.

use crate::shape::Shape;
use glam::{DQuat, DVec3};
use serde::{Deserialize, Serialize};

/// How the motion of a body comes about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[repr(u8)]
pub enum Motion {
    /// By forces and contacts.
    #[default]
    Dynamic,
    /// It never moves.
    Fixed,
    /// As prescribed; contacts do not change it.
    Kinematic,
}

/// Whether a body may turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rotation {
    /// As its inertia allows.
    #[default]
    Free,
    /// Never, whatever acts on it: its inverse inertia is zero.
    Locked,
}

/// How a column of the world is shared when bodies are spread over ranks (S4 section 6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sharing {
    /// Sent to a shadow copy when the copy is made; constant afterwards.
    CopiedOnce,
    /// Sent to every shadow copy after each step.
    CopiedEachStep,
    /// Known to the owner alone; travels with the body when it migrates.
    Owned,
    /// Computed from other columns wherever it is needed; never sent.
    Derived,
}

/// What is known of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    /// Its name.
    pub name: &'static str,
    /// How it is shared between ranks.
    pub sharing: Sharing,
    /// Bytes a body.
    pub bytes: usize,
}

/// Declares the columns once: the struct, its length-preserving operations and the list.
macro_rules! columns {
    ($($(#[$doc:meta])* $name:ident: $type:ty => $sharing:ident,)*) => {
        /// The bodies of a world, a column each property. All columns have the same length;
        /// index `i` of each belongs to the same body. Indices change when bodies are
        /// re-ordered, ids never.
        #[derive(Clone, Debug, Default)]
        pub struct Bodies {
            $($(#[$doc])* pub $name: Vec<$type>,)*
            next_id: u64,
        }

        impl Bodies {
            /// Every column, in order.
            pub const COLUMNS: &'static [Column] = &[
                $(Column { name: stringify!($name), sharing: Sharing::$sharing, bytes: size_of::<$type>() },)*
            ];

            /// Re-orders all columns: the body at `order[i]` moves to index `i`.
            pub fn permute(&mut self, order: &[u32]) {
                assert_eq!(order.len(), self.len());
                $(
                    let old = std::mem::take(&mut self.$name);
                    self.$name = order.iter().map(|&i| old[i as usize].clone()).collect();
                )*
            }

            /// Makes room for `count` more bodies, exactly.
            pub fn reserve(&mut self, count: usize) {
                $(self.$name.reserve_exact(count);)*
            }

            /// Removes the body at `index`, keeping the order of the others.
            pub fn remove(&mut self, index: usize) {
                $(self.$name.remove(index);)*
            }
        }
    };
}

columns! {
    /// Centre of mass.
    position: DVec3 => CopiedEachStep,
    /// Unit quaternion from the body frame to the world frame.
    orientation: DQuat => CopiedEachStep,
    /// Velocity of the centre of mass.
    velocity: DVec3 => CopiedEachStep,
    /// Angular velocity in the world frame.
    angular_velocity: DVec3 => CopiedEachStep,
    /// 1/mass; zero for fixed and kinematic bodies.
    inverse_mass: f64 => CopiedOnce,
    /// Inverse principal moments of inertia in the body frame; zero for fixed and kinematic bodies,
    /// and for those whose rotation is locked.
    inverse_inertia: DVec3 => CopiedOnce,
    /// Shape in the body frame.
    shape: Shape => CopiedOnce,
    /// Index into the world's materials.
    material: u16 => CopiedOnce,
    /// A number that stays with the body for life.
    id: u64 => CopiedOnce,
    /// How its motion comes about.
    motion: Motion => CopiedOnce,
}

/// A body to be added to a world.
#[derive(Clone, Debug)]
pub struct Body {
    /// Shape in the body frame.
    pub shape: Shape,
    /// Centre of mass.
    pub position: DVec3,
    /// From the body frame to the world frame.
    pub orientation: DQuat,
    /// Velocity of the centre of mass.
    pub velocity: DVec3,
    /// Angular velocity in the world frame.
    pub angular_velocity: DVec3,
    /// Index into the world's materials.
    pub material: u16,
    /// How its motion comes about.
    pub motion: Motion,
    /// Whether a dynamic body may turn.
    pub rotation: Rotation,
}

impl Body {
    /// A dynamic body at rest, of the first material.
    pub fn dynamic(shape: Shape, position: DVec3) -> Self {
        Self {
            shape,
            position,
            orientation: DQuat::IDENTITY,
            velocity: DVec3::ZERO,
            angular_velocity: DVec3::ZERO,
            material: 0,
            motion: Motion::Dynamic,
            rotation: Rotation::Free,
        }
    }

    /// A fixed body, of the first material.
    pub fn fixed(shape: Shape, position: DVec3) -> Self {
        Self { motion: Motion::Fixed, ..Self::dynamic(shape, position) }
    }

    /// The same body, moving.
    #[must_use]
    pub fn with_velocity(self, velocity: DVec3) -> Self {
        Self { velocity, ..self }
    }

    /// The same body, turned.
    #[must_use]
    pub fn with_orientation(self, orientation: DQuat) -> Self {
        Self { orientation, ..self }
    }
}

impl Bodies {
    /// Number of bodies.
    #[inline]
    pub fn len(&self) -> usize {
        self.position.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.position.is_empty()
    }

    /// Adds a body of the given density and returns its id.
    ///
    /// # Panics
    /// If a dynamic body has a shape without a finite mass.
    pub fn push(&mut self, body: Body, density: f64) -> u64 {
        let (inverse_mass, inverse_inertia) = match body.motion {
            Motion::Dynamic => {
                let m = body.shape.mass_properties(density).expect("a dynamic body needs a shape with a finite mass");
                match body.rotation {
                    Rotation::Free => (1.0 / m.mass, m.inertia.recip()),
                    Rotation::Locked => (1.0 / m.mass, DVec3::ZERO),
                }
            }
            Motion::Fixed | Motion::Kinematic => (0.0, DVec3::ZERO),
        };
        let id = self.next_id;
        self.next_id += 1;
        let moves = body.motion != Motion::Fixed;
        let turns = moves && (body.motion != Motion::Dynamic || body.rotation == Rotation::Free);
        self.position.push(body.position);
        self.orientation.push(body.orientation.normalize());
        self.velocity.push(if moves { body.velocity } else { DVec3::ZERO });
        self.angular_velocity.push(if turns { body.angular_velocity } else { DVec3::ZERO });
        self.inverse_mass.push(inverse_mass);
        self.inverse_inertia.push(inverse_inertia);
        self.shape.push(body.shape);
        self.material.push(body.material);
        self.id.push(id);
        self.motion.push(body.motion);
        id
    }

    /// The present index of the body with this id.
    pub fn index_of(&self, id: u64) -> Option<usize> {
        // Bodies that were never re-ordered or removed stand at their id.
        let guess = usize::try_from(id).ok()?;
        if self.id.get(guess) == Some(&id) { Some(guess) } else { self.id.iter().position(|&k| k == id) }
    }

    /// Number of bodies that are not walls: those of bounded shape, which frames show.
    pub fn bounded_len(&self) -> usize {
        self.shape.iter().filter(|shape| shape.bounding_radius().is_some()).count()
    }

    /// Whether the inertia of body `i` is the same about every axis.
    #[inline]
    pub fn is_isotropic(&self, i: usize) -> bool {
        let inertia = self.inverse_inertia[i];
        inertia.x == inertia.y && inertia.y == inertia.z
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_stay_aligned() {
        let mut bodies = Bodies::default();
        for k in 1..=4 {
            bodies.push(Body::dynamic(Shape::sphere(f64::from(k)), DVec3::splat(f64::from(k))), 1000.0);
        }
        bodies.permute(&[3, 1, 0, 2]);
        bodies.remove(1);
        assert_eq!(bodies.id, [3, 0, 2]);
        assert_eq!(bodies.index_of(2), Some(2));
        assert_eq!(bodies.index_of(1), None);
        for i in 0..bodies.len() {
            assert_eq!(bodies.shape[i].bounding_radius(), Some(bodies.position[i].x));
        }
        assert_eq!(bodies.push(Body::fixed(Shape::half_space(), DVec3::ZERO), 1.0), 4);
    }

    #[test]
    fn every_column_says_how_it_is_shared() {
        let moving: Vec<_> = Bodies::COLUMNS.iter().filter(|c| c.sharing == Sharing::CopiedEachStep).collect();
        assert_eq!(moving.len(), 4);
        assert_eq!(Bodies::COLUMNS.iter().map(|c| c.bytes).sum::<usize>(), 24 * 3 + 32 + 8 + 24 + 16 + 2 + 8 + 1);
    }
}
