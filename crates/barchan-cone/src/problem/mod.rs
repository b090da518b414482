//! The contact problem as a plain value.
//!
//! Find γ ∈ C with g = Aγ + b ∈ C*, γᵢ·gᵢ = 0, where A = DᵀM⁻¹D (S1 eq. 3). Vectors of a
//! contact are kept in the world frame: friction cones are round, so the normal is all the
//! frame that is ever needed, and D is the sum of forces and of their moments.

pub mod assembled;
pub mod cone;
pub mod dense;
pub mod law;
pub mod residual;
pub mod rows;
pub mod tangents;

use crate::{ContactScalars, ContactVec};
use glam::DVec3;
use rows::Row;

/// Where contacts stand on their bodies.
#[derive(Clone, Debug, PartialEq)]
pub enum Geometry {
    /// Every body that can move is round about its centre: lever arms are −r_A·n and r_B·n,
    /// and inertia is a number.
    Round {
        /// Radius of each body; anything for bodies that cannot move.
        radius: Vec<f64>,
        /// Inverse moment of inertia of each body.
        inverse_inertia: Vec<f64>,
    },
    /// Any bodies.
    General {
        /// Inverse inertia tensor of each body in the world frame: xx, yy, zz, xy, xz, yz.
        inverse_inertia: Vec<[f64; 6]>,
        /// From the centre of body A to the contact.
        arms_a: ContactVec,
        /// From the centre of body B to the contact.
        arms_b: ContactVec,
    },
}

impl Default for Geometry {
    fn default() -> Self {
        Self::Round { radius: Vec::new(), inverse_inertia: Vec::new() }
    }
}

/// A frictional contact problem: bodies' inverse masses, contacts, cones, right-hand side.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Problem {
    /// 1/mass of each body; zero for what cannot move.
    pub inverse_mass: Vec<f64>,
    /// Lever arms and inertia.
    pub geometry: Geometry,
    /// Bodies A and B of each contact, grouped by A in ascending order. An impulse acts as it is
    /// on A and reversed on B.
    pub pairs: Vec<[u32; 2]>,
    /// Unit normals, from B towards A.
    pub normals: ContactVec,
    /// Friction coefficients μ.
    pub friction: ContactScalars,
    /// Bilateral rows; only with the general geometry.
    pub rows: Vec<Row>,
    /// The right-hand side b: relative velocity without contact impulses, less its target.
    pub bias: ContactVec,
}

/// Why a problem cannot be solved.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum BadProblem {
    /// Parts of different lengths.
    #[error("{what} has {found} entries, expected {expected}")]
    Length {
        /// Which part.
        what: &'static str,
        /// Its length.
        found: usize,
        /// What it should be.
        expected: usize,
    },
    /// A contact that makes no sense.
    #[error("contact {contact}: {what}")]
    Contact {
        /// Its index.
        contact: usize,
        /// What is wrong.
        what: &'static str,
    },
    /// A bilateral row that makes no sense.
    #[error("row {row}: {what}")]
    Row {
        /// Its index.
        row: usize,
        /// What is wrong.
        what: &'static str,
    },
    /// A body that makes no sense.
    #[error("body {body}: {what}")]
    Body {
        /// Its index.
        body: usize,
        /// What is wrong.
        what: &'static str,
    },
}

impl Problem {
    /// Number of contacts.
    #[inline]
    pub fn contacts(&self) -> usize {
        self.pairs.len()
    }

    /// Number of bodies.
    #[inline]
    pub fn bodies(&self) -> usize {
        self.inverse_mass.len()
    }

    /// Lever arms of a contact, from the centres of A and B.
    pub fn arms(&self, contact: usize) -> [DVec3; 2] {
        match &self.geometry {
            Geometry::Round { radius, .. } => {
                let n = self.normals.get(contact);
                let [a, b] = self.pairs[contact];
                [n * -radius[a as usize], n * radius[b as usize]]
            }
            Geometry::General { arms_a, arms_b, .. } => [arms_a.get(contact), arms_b.get(contact)],
        }
    }

    /// Inverse inertia tensor of a body in the world frame: xx, yy, zz, xy, xz, yz.
    pub fn inverse_inertia(&self, body: usize) -> [f64; 6] {
        match &self.geometry {
            Geometry::Round { inverse_inertia, .. } => {
                let i = inverse_inertia[body];
                [i, i, i, 0.0, 0.0, 0.0]
            }
            Geometry::General { inverse_inertia, .. } => inverse_inertia[body],
        }
    }

    /// The same problem with lever arms spelt out.
    #[must_use]
    pub fn to_general(&self) -> Self {
        let arms: Vec<_> = (0..self.contacts()).map(|i| self.arms(i)).collect();
        let side = |k: usize| ContactVec::from_slice(&arms.iter().map(|a| a[k]).collect::<Vec<_>>());
        let geometry = Geometry::General {
            inverse_inertia: (0..self.bodies()).map(|j| self.inverse_inertia(j)).collect(),
            arms_a: side(0),
            arms_b: side(1),
        };
        Self { geometry, ..self.clone() }
    }

    /// The first contact whose normal is not of unit length, or whose bias is so large that its
    /// square is not finite: the marks of bodies too fast or too far away.
    pub fn first_overflow(&self) -> Option<usize> {
        let sound = |i: usize| {
            (self.normals.get(i).length_squared() - 1.0).abs() < 1e-9 && self.bias.get(i).length_squared().is_finite()
        };
        (0..self.contacts()).find(|&i| !sound(i))
    }

    /// Checks lengths, indices and values. Solvers and operators rely on it.
    pub fn check(&self) -> Result<(), BadProblem> {
        let (m, n) = (self.contacts(), self.bodies());
        let length = |what, found, expected| {
            if found == expected { Ok(()) } else { Err(BadProblem::Length { what, found, expected }) }
        };
        length("normals", self.normals.len(), m)?;
        length("friction", self.friction.len(), m)?;
        length("bias", self.bias.len(), m)?;
        length("bias of rows", self.bias.rows.len(), self.rows.len())?;
        match &self.geometry {
            Geometry::Round { radius, inverse_inertia } => {
                length("radius", radius.len(), n)?;
                length("inverse_inertia", inverse_inertia.len(), n)?;
            }
            Geometry::General { inverse_inertia, arms_a, arms_b } => {
                length("inverse_inertia", inverse_inertia.len(), n)?;
                length("arms_a", arms_a.len(), m)?;
                length("arms_b", arms_b.len(), m)?;
            }
        }
        for body in 0..n {
            let bad = |what| Err(BadProblem::Body { body, what });
            if !(self.inverse_mass[body] >= 0.0 && self.inverse_mass[body].is_finite()) {
                return bad("inverse mass must be finite and not negative");
            }
            if !self.inverse_inertia(body).iter().all(|x| x.is_finite()) {
                return bad("inverse inertia must be finite");
            }
        }
        for contact in 0..m {
            let bad = |what| Err(BadProblem::Contact { contact, what });
            let [a, b] = self.pairs[contact];
            if a as usize >= n || b as usize >= n || a == b {
                return bad("needs two different bodies of the problem");
            }
            if contact > 0 && self.pairs[contact - 1][0] > a {
                return bad("contacts must be grouped by their first body, in ascending order");
            }
            if self.inverse_mass[a as usize] + self.inverse_mass[b as usize] <= 0.0 {
                return bad("neither body can move");
            }
            if (self.normals.get(contact).length_squared() - 1.0).abs() > 1e-9 {
                return bad("the normal must have unit length");
            }
            if !(self.friction[contact] >= 0.0 && self.friction[contact].is_finite()) {
                return bad("friction must be finite and not negative");
            }
            if !self.bias.get(contact).is_finite() || self.arms(contact).iter().any(|r| !r.is_finite()) {
                return bad("all numbers must be finite");
            }
        }
        self.bad_row().map_or(Ok(()), |(row, what)| Err(BadProblem::Row { row, what }))
    }
}
