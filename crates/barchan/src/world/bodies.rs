//! Bodies as columns, each declared once with the way it would be shared between ranks.

use super::index::IdIndex;
use crate::shape::{MassProperties, Shape};
use crate::util::bulk::{Fixed, PackColumn};
use crate::util::pack::{Pack, Unpacker};
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

impl Motion {
    /// Every one with the name that scene files use, and a few words where that is not enough.
    pub const ALL: &'static [(Self, &'static str, &'static str)] = &[
        (Self::Dynamic, "dynamic", ""),
        (Self::Fixed, "fixed", ""),
        (Self::Kinematic, "kinematic", "as prescribed by its velocities"),
    ];
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

impl Rotation {
    /// Every one with the name that scene files use, and a few words where that is not enough.
    pub const ALL: &'static [(Self, &'static str, &'static str)] =
        &[(Self::Free, "free", ""), (Self::Locked, "locked", "it never turns")];
}

/// How a column of the world is shared when bodies are spread over ranks (S4 section 6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sharing {
    /// Sent to a ghost when the copy is made; constant afterwards.
    CopiedOnce,
    /// Sent to every ghost after each step.
    CopiedEachStep,
    /// Sent by its name when the copy is made; what the name stands for is sent to a rank once.
    CopiedByName,
    /// Known to the owner alone; travels with the body when it migrates.
    Owned,
    /// Computed from other columns wherever it is needed; never sent.
    Derived,
}

/// What a body is to the rank that has it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum Ownership {
    /// The rank's own: it answers for the body in all sums, and writes it down.
    #[default]
    Owned,
    /// A ghost: a copy of another rank's body.
    Ghost,
    /// A periodic image: the same body once more, a period away; for finding contacts only.
    Image,
    /// It has left; its place is free.
    Removed,
}

impl Ownership {
    /// Every one, in the order of their codes.
    pub const ALL: &'static [Self] = &[Self::Owned, Self::Ghost, Self::Image, Self::Removed];
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

/// Who gives ids: this rank, and how many there are.
#[derive(Clone, Copy, Debug)]
struct IdSharers {
    rank: u64,
    ranks: u64,
}

impl Default for IdSharers {
    fn default() -> Self {
        Self { rank: 0, ranks: 1 }
    }
}

/// Declares the columns once: the struct, its length-preserving operations and the list.
macro_rules! columns {
    (@pack Derived $value:expr, $out:ident) => {};
    (@pack CopiedByName $value:expr, $out:ident) => {};
    (@pack $sharing:ident $value:expr, $out:ident) => { $value.pack($out) };
    (@unpack Derived $value:expr, $from:ident) => {};
    (@unpack CopiedByName $value:expr, $from:ident) => {};
    (@unpack $sharing:ident $value:expr, $from:ident) => { $value = $from.take()? };
    ($($(#[$doc:meta])* $visibility:vis $name:ident: $type:ty => $sharing:ident,)*) => {
        /// The bodies of a world, a column each property. All columns have the same length;
        /// index `i` of each belongs to the same body. Indices change when bodies are
        /// re-ordered, ids never.
        ///
        /// What a program may set freely are the columns that are public. Those that must agree with each
        /// other are read through functions of their names, and changed through
        /// [`crate::step::Simulation`].
        #[derive(Clone, Debug, Default)]
        pub struct Bodies {
            $($(#[$doc])* $visibility $name: Vec<$type>,)*
            next_id: u64,
            sharers: IdSharers,
            index: IdIndex,
        }

        impl Bodies {
            /// Every column, in order.
            pub const COLUMNS: &'static [Column] = &[
                $(Column { name: stringify!($name), sharing: Sharing::$sharing, bytes: size_of::<$type>() },)*
            ];

            /// Re-orders all columns: the body at `order[i]` moves to index `i`. What is not in the
            /// order is dropped.
            pub fn permute(&mut self, order: &[u32]) {
                self.index.clear();
                $(
                    let old = std::mem::take(&mut self.$name);
                    self.$name = order.iter().map(|&i| old[i as usize].clone()).collect();
                )*
            }

            /// Makes room for `count` more bodies, exactly.
            pub fn reserve(&mut self, count: usize) {
                $(self.$name.reserve_exact(count);)*
            }

            /// Shortens all columns.
            pub(crate) fn truncate(&mut self, len: usize) {
                self.index.clear();
                $(self.$name.truncate(len);)*
            }

            /// Appends a second row of the body at `index`.
            pub(crate) fn repeat(&mut self, index: usize) {
                $(let value = self.$name[index].clone(); self.$name.push(value);)*
            }

            /// Appends the columns of a body that are shared in one of these ways to a message, but for what goes by
            /// its name.
            pub(crate) fn pack(&self, index: usize, sharing: &[Sharing], out: &mut Vec<u8>) {
                $(if sharing.contains(&Sharing::$sharing) {
                    columns!(@pack $sharing self.$name[index], out);
                })*
            }

            /// Takes back what [`Bodies::pack`] wrote, into the body at `index`.
            pub(crate) fn unpack(&mut self, index: usize, sharing: &[Sharing], from: &mut Unpacker<'_>) -> Option<()> {
                self.index.clear();
                $(if sharing.contains(&Sharing::$sharing) {
                    columns!(@unpack $sharing self.$name[index], from);
                })*
                Some(())
            }

            /// Appends all columns, and who gives which ids.
            pub(crate) fn write_snapshot(&self, out: &mut Vec<u8>) {
                [self.next_id, self.sharers.rank, self.sharers.ranks].pack(out);
                $(self.$name.pack_column(out);)*
            }

            /// Takes back what [`Bodies::write_snapshot`] wrote.
            pub(crate) fn read_snapshot(from: &mut Unpacker<'_>) -> Option<Self> {
                let [next_id, rank, ranks] = from.take()?;
                $(let $name = Vec::unpack_column(from)?;)*
                let sharers = IdSharers { rank, ranks };
                let index = IdIndex::default();
                let this = Self { $($name,)* next_id, sharers, index };
                let is_even = [$(this.$name.len(),)*].iter().all(|length| *length == this.len());
                (is_even && rank < ranks && this.len() < u32::MAX as usize).then_some(this)
            }

            /// Appends the bodies of others that `chosen` says by their index, and takes over which
            /// ids are taken.
            pub(crate) fn extend_from(&mut self, other: &Self, chosen: impl Fn(usize) -> bool) {
                self.index.clear();
                for i in (0..other.len()).filter(|&i| chosen(i)) {
                    $(self.$name.push(other.$name[i].clone());)*
                }
                self.reserve_ids_below(other.next_id);
            }

            /// Removes the body at `index`, keeping the order of the others.
            pub fn remove(&mut self, index: usize) {
                self.index.clear();
                $(self.$name.remove(index);)*
            }
        }
    };
}

columns! {
    /// Centre of mass.
    pub position: DVec3 => CopiedEachStep,
    /// Unit quaternion from the body frame to the world frame.
    pub orientation: DQuat => CopiedEachStep,
    /// Velocity of the centre of mass.
    pub velocity: DVec3 => CopiedEachStep,
    /// Angular velocity in the world frame.
    pub angular_velocity: DVec3 => CopiedEachStep,
    /// 1/mass; zero for fixed and kinematic bodies.
    pub(crate) inverse_mass: f64 => CopiedOnce,
    /// Inverse principal moments of inertia in the body frame; zero for fixed and kinematic bodies,
    /// and for those whose rotation is locked.
    pub(crate) inverse_inertia: DVec3 => CopiedOnce,
    /// Shape in the body frame.
    pub(crate) shape: Shape => CopiedByName,
    /// Index into the world's materials.
    pub(crate) material: u16 => CopiedOnce,
    /// A number that the scene gives to bodies of a kind: by it some pass through others.
    pub group: u16 => CopiedOnce,
    /// A number that stays with the body for life.
    pub(crate) id: u64 => CopiedOnce,
    /// How its motion comes about.
    pub(crate) motion: Motion => CopiedOnce,
    /// What it is to the rank that has it.
    pub(crate) ownership: Ownership => Derived,
}

/// Functions that show columns which only the engine may change.
macro_rules! shown {
    ($($(#[$doc:meta])* $name:ident: $type:ty,)*) => {
        impl Bodies {
            $($(#[$doc])* #[inline] pub fn $name(&self) -> &[$type] { &self.$name })*
        }
    };
}

shown! {
    /// 1/mass of each body; zero for fixed and kinematic ones.
    inverse_mass: f64,
    /// Inverse principal moments of inertia in the body frame; zero for fixed and kinematic bodies, and for
    /// those whose rotation is locked.
    inverse_inertia: DVec3,
    /// Shapes in the body frames.
    shape: Shape,
    /// Indices into the world's materials.
    material: u16,
    /// Numbers that stay with the bodies for life.
    id: u64,
    /// How their motion comes about.
    motion: Motion,
    /// What they are to the rank that has them.
    ownership: Ownership,
}

/// Codes of an enum, as a column of bytes.
macro_rules! codes {
    ($($type:ident: $values:expr;)*) => {
        $(impl Fixed for $type {
            const BYTES: usize = 1;

            #[inline]
            fn put(self, to: &mut [u8]) {
                (self as u8).put(to);
            }

            #[inline]
            fn get(from: &[u8]) -> Option<Self> {
                let code = u8::get(from)?;
                $values.find(|&value| value as u8 == code)
            }
        })*
    };
}
codes! {
    Motion: Self::ALL.iter().map(|entry| entry.0);
    Ownership: Self::ALL.iter().copied();
}

impl Pack for Motion {
    fn pack(&self, out: &mut Vec<u8>) {
        (*self as u8).pack(out);
    }

    fn unpack(from: &mut Unpacker<'_>) -> Option<Self> {
        Self::get(&[from.take()?])
    }
}

/// A body to be added to a world.
#[derive(Clone, Debug)]
pub struct Body {
    /// Shape in the body frame.
    pub shape: Shape,
    /// Where the origin of the shape is. That is the centre of mass, but of some polyhedra, meshes and composites; a
    /// world keeps dynamic bodies by their centres of mass and in the frame of their principal axes.
    pub position: DVec3,
    /// From the frame of the shape to the world frame.
    pub orientation: DQuat,
    /// Velocity of the centre of mass.
    pub velocity: DVec3,
    /// Angular velocity in the world frame.
    pub angular_velocity: DVec3,
    /// Index into the world's materials.
    pub material: u16,
    /// A number that the scene gives to bodies of a kind.
    pub group: u16,
    /// How its motion comes about.
    pub motion: Motion,
    /// Whether a dynamic body may turn.
    pub rotation: Rotation,
    /// Mass and principal moments of inertia of a dynamic body, whose frame is that of its principal axes then; those of
    /// its shape and density if not given.
    pub mass: Option<MassProperties>,
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
            group: 0,
            motion: Motion::Dynamic,
            rotation: Rotation::Free,
            mass: None,
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

    /// The same body with this mass and these principal moments of inertia about the axes of its frame.
    #[must_use]
    pub fn with_mass(self, mass: f64, inertia: DVec3) -> Self {
        Self { mass: Some(MassProperties { mass, inertia }), ..self }
    }

    /// The same body in the frame of its principal axes, with a mass, if it is dynamic and none is given.
    pub(crate) fn settled(self, density: f64) -> Self {
        if self.motion != Motion::Dynamic || self.mass.is_some() {
            return self;
        }
        let Some(settled) = self.shape.settle(density, None) else { return self };
        Self {
            position: self.position + self.orientation * settled.offset,
            orientation: self.orientation * settled.turn,
            shape: settled.shape,
            mass: Some(settled.mass),
            ..self
        }
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
        let IdSharers { rank, ranks } = self.sharers;
        let id = self.next_id + (rank + ranks - self.next_id % ranks) % ranks;
        self.push_with_id(id, body, density);
        id
    }

    /// Adds a place for a body that a message will fill. It has no id yet, and none is used up.
    pub(crate) fn push_place(&mut self) {
        let next = self.next_id;
        self.push_with_id(0, Body::dynamic(Shape::sphere(1.0), DVec3::ZERO), 1.0);
        self.next_id = next;
    }

    /// Adds a body that has an id already. No other body here may have it; ids that are given
    /// later on are larger.
    ///
    /// # Panics
    /// If a dynamic body has a shape without a finite mass.
    pub fn push_with_id(&mut self, id: u64, body: Body, density: f64) {
        let body = body.settled(density);
        let (inverse_mass, inverse_inertia) = inverse_masses(body.mass, body.motion, body.rotation);
        self.index.push(id, self.len());
        self.reserve_ids_below(id.saturating_add(1));
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
        self.group.push(body.group);
        self.id.push(id);
        self.motion.push(body.motion);
        self.ownership.push(Ownership::Owned);
    }

    /// Changes the motion of a body. What becomes fixed comes to rest.
    pub(crate) fn set_motion(&mut self, i: usize, motion: Motion, density: f64) {
        let mut mass = None;
        if motion == Motion::Dynamic {
            // What forces move stands about its centre of mass.
            mass = self.settle(i, density);
        }
        (self.inverse_mass[i], self.inverse_inertia[i]) = inverse_masses(mass, motion, Rotation::Free);
        self.motion[i] = motion;
        if motion == Motion::Fixed {
            self.velocity[i] = DVec3::ZERO;
            self.angular_velocity[i] = DVec3::ZERO;
        }
    }

    /// Changes the shape of a body. One whose rotation is locked stays so.
    pub(crate) fn set_shape(&mut self, i: usize, shape: Shape, density: f64) {
        let is_locked = self.inverse_mass[i] > 0.0 && self.inverse_inertia[i] == DVec3::ZERO;
        let rotation = if is_locked { Rotation::Locked } else { Rotation::Free };
        self.shape[i] = shape;
        let mut mass = None;
        if self.motion[i] == Motion::Dynamic {
            let centre = self.position[i];
            mass = self.settle(i, density);
            // The centre of mass stays where it is.
            self.position[i] = centre;
        }
        (self.inverse_mass[i], self.inverse_inertia[i]) = inverse_masses(mass, self.motion[i], rotation);
    }

    /// Brings a body into the frame of its principal axes, where it stands, and returns its mass.
    fn settle(&mut self, i: usize, density: f64) -> Option<MassProperties> {
        let settled = self.shape[i].settle(density, None)?;
        self.position[i] += self.orientation[i] * settled.offset;
        self.orientation[i] = (self.orientation[i] * settled.turn).normalize();
        self.shape[i] = settled.shape;
        Some(settled.mass)
    }

    /// Marks a body as removed: nothing meets it, nothing moves it, and nobody finds it by its id.
    pub(crate) fn mark_removed(&mut self, i: usize) {
        self.index.clear();
        self.ownership[i] = Ownership::Removed;
        self.motion[i] = Motion::Fixed;
        self.inverse_mass[i] = 0.0;
        self.inverse_inertia[i] = DVec3::ZERO;
        self.velocity[i] = DVec3::ZERO;
        self.angular_velocity[i] = DVec3::ZERO;
        self.id[i] = u64::MAX;
    }

    /// Ids below `end` are taken, by bodies here or elsewhere: [`Self::push`] gives larger ones.
    pub fn reserve_ids_below(&mut self, end: u64) {
        self.next_id = self.next_id.max(end);
    }

    /// Ids below this one are taken.
    pub(crate) fn id_end(&self) -> u64 {
        self.next_id
    }

    /// From now on [`Self::push`] gives every rank ids of its own, without a word between them: the
    /// k-th rank of n has those that leave k when they are divided by n.
    pub(crate) fn share_ids(&mut self, rank: usize, ranks: usize) {
        self.sharers = IdSharers { rank: rank as u64, ranks: ranks as u64 };
    }

    /// The present index of the body with this id, in constant time.
    pub fn index_of(&self, id: u64) -> Option<usize> {
        // Bodies that were never re-ordered or removed stand at their id. An image may stand there too;
        // the body itself comes before its images.
        let guess = usize::try_from(id).ok()?;
        if self.id.get(guess) == Some(&id) && self.ownership[guess] != Ownership::Image {
            return Some(guess);
        }
        self.index.find(id, self)
    }

    /// Number of the rank's own bodies that are not walls: those of bounded shape.
    pub fn owned_bounded_len(&self) -> usize {
        (0..self.len()).filter(|&i| self.is_owned_and_bounded(i)).count()
    }

    /// Whether a body is a wall: one of unbounded shape, which every rank has.
    #[inline]
    pub fn is_wall(&self, i: usize) -> bool {
        self.shape[i].is_unbounded()
    }

    /// The length in which a contact of a body is measured: its size, and no length at all for walls and for what is as a
    /// wall to others, because it is no sphere and is not moved by them. A thin plate holds as a thick one does.
    #[inline]
    pub fn contact_size(&self, i: usize) -> f64 {
        match &self.shape[i] {
            Shape::Sphere(sphere) => sphere.radius,
            shape if self.motion[i] == Motion::Dynamic => shape.size(),
            _ => f64::INFINITY,
        }
    }

    /// Whether a body is one of the rank's own, and no wall.
    #[inline]
    pub fn is_owned_and_bounded(&self, i: usize) -> bool {
        self.ownership[i] == Ownership::Owned && !self.is_wall(i)
    }

    /// Whether the inertia of body `i` is the same about every axis.
    #[inline]
    pub fn is_isotropic(&self, i: usize) -> bool {
        let inertia = self.inverse_inertia[i];
        inertia.x == inertia.y && inertia.y == inertia.z
    }
}

/// Inverse mass and moments of inertia of a body.
///
/// # Panics
/// If a dynamic body has no mass.
fn inverse_masses(mass: Option<MassProperties>, motion: Motion, rotation: Rotation) -> (f64, DVec3) {
    if motion != Motion::Dynamic {
        return (0.0, DVec3::ZERO);
    }
    let m = mass.expect("a dynamic body needs a shape with a finite mass");
    match rotation {
        Rotation::Free => (1.0 / m.mass, m.inertia.recip()),
        Rotation::Locked => (1.0 / m.mass, DVec3::ZERO),
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
    fn an_image_is_not_the_body() {
        let mut bodies = Bodies::default();
        for _ in 0..3 {
            bodies.push(Body::dynamic(Shape::sphere(1.0), DVec3::ZERO), 1.0);
        }
        bodies.permute(&[2, 0]);
        bodies.repeat(0);
        bodies.ownership[2] = Ownership::Image;
        assert_eq!((bodies.id[2], bodies.index_of(2)), (2, Some(0)));
    }

    #[test]
    fn given_ids_keep_the_counter_ahead() {
        let mut bodies = Bodies::default();
        let ball = || Body::dynamic(Shape::sphere(1.0), DVec3::ZERO);
        bodies.push_with_id(7, ball(), 1.0);
        bodies.push_with_id(3, ball(), 1.0);
        assert_eq!(bodies.push(ball(), 1.0), 8);
        bodies.reserve_ids_below(20);
        bodies.reserve_ids_below(10);
        assert_eq!(bodies.push(ball(), 1.0), 20);
        assert_eq!((bodies.index_of(3), bodies.index_of(20)), (Some(1), Some(3)));
    }

    #[test]
    fn ranks_give_ids_of_their_own() {
        let ball = || Body::dynamic(Shape::sphere(1.0), DVec3::ZERO);
        let of_rank = |rank: usize| {
            let mut bodies = Bodies::default();
            bodies.reserve_ids_below(10);
            bodies.share_ids(rank, 4);
            // What comes from elsewhere uses up none.
            bodies.push_place();
            [(); 3].map(|()| bodies.push(ball(), 1.0))
        };
        assert_eq!([0, 1, 2, 3].map(of_rank), [[12, 16, 20], [13, 17, 21], [10, 14, 18], [11, 15, 19]]);
    }

    #[test]
    fn every_column_says_how_it_is_shared() {
        let moving: Vec<_> = Bodies::COLUMNS.iter().filter(|c| c.sharing == Sharing::CopiedEachStep).collect();
        assert_eq!(moving.len(), 4);
        assert_eq!(
            Bodies::COLUMNS.iter().map(|c| c.bytes).sum::<usize>(),
            24 * 3 + 32 + 8 + 24 + 16 + 2 + 2 + 8 + 1 + 1
        );
    }
}
