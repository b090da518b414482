//! Where contacts stand on their bodies, and how bodies turn.
//!
//! Most bodies of a granular bed are round, and a round body needs very little: its contacts lie at
//! −r·n or r·n from its centre, and its inertia is one number. A problem may hold such bodies and others
//! side by side. Contacts come in two sections:
//!
//! - *round* contacts first: every body of theirs that can move is round, so the normal is all that the
//!   operator reads;
//! - *general* contacts after them, with lever arms spelt out.
//!
//! Each section is grouped by body A, ascending. Spins are measured as speeds, σ = rω, with a length r of
//! each body's own: its radius if it is round, any length (1 will do) if it is not. Arms of general
//! contacts are given over that length, so that the arm of a round body is −n or n there too, and both
//! kinds of contact can act on one body.

use crate::ContactVec;
use crate::lanes::LANES;
use glam::DVec3;

/// A symmetric matrix: xx, yy, zz, xy, xz, yz.
pub type Symmetric = [f64; 6];

/// Lever arms and inertia of a problem.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Geometry {
    /// The length r of each body in which its spin is measured, σ = rω: the radius of a round body.
    /// Anything for bodies that cannot move.
    pub radius: Vec<f64>,
    /// Inverse moment of inertia of each body about any axis; not read where `tensors` has the body.
    pub inverse_inertia: Vec<f64>,
    /// Inverse inertia of bodies that need more than one number.
    pub tensors: Tensors,
    /// Lever arms of general contacts.
    pub arms: Arms,
}

/// Inverse inertia tensors in the world frame, of some bodies.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tensors {
    /// The bodies, ascending.
    pub bodies: Vec<u32>,
    /// The tensor of each.
    pub inverse: Vec<Symmetric>,
}

/// Lever arms of the general contacts, over the lengths r of their bodies.
///
/// They start with the block of four contacts that holds the first general one, so that kernels need not
/// look into blocks: up to three round contacts may have arms as well, and they are n and −n.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Arms {
    first: usize,
    a: ContactVec,
    b: ContactVec,
}

impl Geometry {
    /// Round bodies only.
    pub fn round(radius: Vec<f64>, inverse_inertia: Vec<f64>) -> Self {
        Self { radius, inverse_inertia, ..Self::default() }
    }

    /// Any bodies: a tensor each, and lever arms of every contact.
    pub fn general(inverse_inertia: Vec<Symmetric>, arms: [&[DVec3]; 2]) -> Self {
        let n = inverse_inertia.len();
        let mut all = Arms::default();
        all.shape(0, arms[0].len());
        for (i, (&a, &b)) in arms[0].iter().zip(arms[1]).enumerate() {
            all.set(i, [a, b]);
        }
        Self {
            radius: vec![1.0; n],
            inverse_inertia: vec![0.0; n],
            tensors: Tensors { bodies: (0..n as u32).collect(), inverse: inverse_inertia },
            arms: all,
        }
    }
}

impl Tensors {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.bodies.is_empty()
    }

    /// The tensor of a body, if it has one.
    pub fn of(&self, body: usize) -> Option<&Symmetric> {
        self.bodies.binary_search(&(body as u32)).ok().map(|k| &self.inverse[k])
    }

    /// Forgets all; memory is kept.
    pub fn clear(&mut self) {
        self.bodies.clear();
        self.inverse.clear();
    }

    /// Adds the tensor of a body that comes after all others.
    pub fn push(&mut self, body: u32, inverse: Symmetric) {
        self.bodies.push(body);
        self.inverse.push(inverse);
    }
}

impl Arms {
    /// Makes room for `contacts` contacts of which the first `round` are round. What it holds is anything.
    pub fn shape(&mut self, round: usize, contacts: usize) {
        let has_general = round < contacts;
        self.first = if has_general { round } else { 0 };
        let len = if has_general { contacts - self.start() } else { 0 };
        self.a.reshape(len);
        self.b.reshape(len);
    }

    /// The number of round contacts, which is that of the first general one, if there is any.
    #[inline(always)]
    pub fn round(&self) -> usize {
        self.first
    }

    /// How many contacts have arms, those of the first block that are round included.
    pub fn len(&self) -> usize {
        self.a.len()
    }

    /// Whether all contacts are round.
    pub fn is_empty(&self) -> bool {
        self.a.is_empty()
    }

    /// The first contact with arms: a multiple of four.
    #[inline(always)]
    pub fn start(&self) -> usize {
        self.first / LANES * LANES
    }

    /// Arms of a contact that has them, over the lengths of its bodies A and B.
    #[inline(always)]
    pub fn get(&self, contact: usize) -> Option<[DVec3; 2]> {
        let k = contact.checked_sub(self.start()).filter(|&k| k < self.len())?;
        Some([self.a.get(k), self.b.get(k)])
    }

    /// Sets the arms of a contact that has them.
    #[inline(always)]
    pub fn set(&mut self, contact: usize, [a, b]: [DVec3; 2]) {
        let k = contact - self.start();
        self.a.set(k, a);
        self.b.set(k, b);
    }

    /// Arms on A and on B, from [`Arms::start`] on.
    #[inline(always)]
    pub fn sides(&self) -> [&ContactVec; 2] {
        [&self.a, &self.b]
    }

    /// The same, to write.
    pub fn sides_mut(&mut self) -> [&mut ContactVec; 2] {
        [&mut self.a, &mut self.b]
    }
}
