//! The contact problem as a plain value.
//!
//! Find γ ∈ C with g = Aγ + b ∈ C*, γᵢ·gᵢ = 0, where A = DᵀM⁻¹D (S1 eq. 3). Vectors of a
//! contact are kept in the world frame: friction cones are round, so the normal is all the
//! frame that is ever needed, and D is the sum of forces and of their moments.

pub mod assembled;
pub mod cone;
pub mod dense;
pub mod geometry;
pub mod law;
pub mod residual;
pub mod rows;
pub mod tangents;

use crate::{ContactScalars, ContactVec};
use geometry::{Geometry, Symmetric};
use glam::DVec3;
use law::MOST_FRICTION;
use rows::Row;

/// A frictional contact problem: bodies' inverse masses, contacts, cones, right-hand side.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Problem {
    /// 1/mass of each body; zero for what cannot move.
    pub inverse_mass: Vec<f64>,
    /// Lever arms and inertia.
    pub geometry: Geometry,
    /// Bodies A and B of each contact, round contacts first, each section grouped by A in ascending
    /// order. An impulse acts as it is on A and reversed on B.
    pub pairs: Vec<[u32; 2]>,
    /// Unit normals, from B towards A.
    pub normals: ContactVec,
    /// Friction coefficients μ.
    pub friction: ContactScalars,
    /// Bilateral rows.
    pub rows: Vec<Row>,
    /// The right-hand side b: relative velocity without contact impulses, less its target.
    pub bias: ContactVec,
    /// The speed ε below which Coulomb's law is rounded off ([`crate::Friction::Coulomb`]); zero for the exact law.
    pub slip_rounding: f64,
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
    /// A slip rounding that makes no sense.
    #[error("the slip rounding must be a speed, zero or more")]
    SlipRounding,
    /// A body that makes no sense.
    #[error("body {body}: {what}")]
    Body {
        /// Its index.
        body: usize,
        /// What is wrong.
        what: &'static str,
    },
}

/// A problem whose parts lie elsewhere: what operators read.
#[derive(Clone, Copy, Debug)]
pub struct ProblemRef<'a> {
    /// 1/mass of each body; zero for what cannot move.
    pub inverse_mass: &'a [f64],
    /// Lever arms and inertia.
    pub geometry: &'a Geometry,
    /// Bodies A and B of each contact.
    pub pairs: &'a [[u32; 2]],
    /// Unit normals, from B towards A.
    pub normals: &'a ContactVec,
    /// Friction coefficients μ.
    pub friction: &'a ContactScalars,
    /// Bilateral rows.
    pub rows: &'a [Row],
    /// The right-hand side b.
    pub bias: &'a ContactVec,
    /// The speed ε below which Coulomb's law is rounded off ([`crate::Friction::Coulomb`]); zero for the exact law.
    pub slip_rounding: f64,
}

impl<'a> From<&'a Problem> for ProblemRef<'a> {
    fn from(problem: &'a Problem) -> Self {
        problem.view()
    }
}

impl Problem {
    /// Its parts, as operators read them.
    pub fn view(&self) -> ProblemRef<'_> {
        let Self { inverse_mass, geometry, pairs, normals, friction, rows, bias, slip_rounding } = self;
        let slip_rounding = *slip_rounding;
        ProblemRef { inverse_mass, geometry, pairs, normals, friction, rows, bias, slip_rounding }
    }

    /// Makes the last contacts general, as many as there are arms (over the lengths of their bodies).
    /// Needs pairs and normals.
    pub fn set_arms(&mut self, arms: &[[DVec3; 2]]) {
        let m = self.contacts();
        let round = m.saturating_sub(arms.len());
        let all = &mut self.geometry.arms;
        all.shape(round, m);
        for i in all.start()..all.start() + all.len() {
            let n = self.normals.get(i);
            all.set(i, if i < round { [-n, n] } else { arms[i - round] });
        }
    }

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
        self.view().arms(contact)
    }

    /// Inverse inertia tensor of a body in the world frame.
    pub fn inverse_inertia(&self, body: usize) -> Symmetric {
        self.view().inverse_inertia(body)
    }

    /// Checks lengths, indices and values. Solvers and operators rely on it.
    pub fn check(&self) -> Result<(), BadProblem> {
        self.view().check()
    }

    /// The same problem with lever arms and tensors spelt out, as if no body were round.
    #[must_use]
    pub fn to_general(&self) -> Self {
        let arms: Vec<_> = (0..self.contacts()).map(|i| self.arms(i)).collect();
        let side = |k: usize| arms.iter().map(|a| a[k]).collect::<Vec<_>>();
        let inertia = (0..self.bodies()).map(|j| self.inverse_inertia(j)).collect();
        Self { geometry: Geometry::general(inertia, [&side(0), &side(1)]), ..self.clone() }
    }

    /// The same problem with a tensor for the bodies that `is_general` names, whose contacts become
    /// general; and which contact of this problem each of the new one's is.
    pub fn with_tensors(&self, is_general: impl Fn(usize) -> bool) -> (Self, Vec<u32>) {
        let is_general = |j: usize| is_general(j) || self.geometry.tensors.of(j).is_some();
        let moves = |j: u32| self.inverse_mass[j as usize] > 0.0;
        let section = |i: &u32| {
            let [a, b] = self.pairs[*i as usize];
            [a, b].into_iter().any(|j| moves(j) && is_general(j as usize))
        };
        let (general, round): (Vec<u32>, Vec<u32>) = (0..self.contacts() as u32).partition(section);
        let mut order = [&round[..], &general].concat();
        // Sections that were there already may have to be merged.
        order[..round.len()].sort_by_key(|&i| self.pairs[i as usize][0]);
        order[round.len()..].sort_by_key(|&i| self.pairs[i as usize][0]);
        let from = |i: &u32| *i as usize;
        let vectors =
            |v: &ContactVec| ContactVec::from_slice(&order.iter().map(from).map(|i| v.get(i)).collect::<Vec<_>>());
        let mut problem = Self {
            inverse_mass: self.inverse_mass.clone(),
            geometry: Geometry::round(self.geometry.radius.clone(), self.geometry.inverse_inertia.clone()),
            pairs: order.iter().map(from).map(|i| self.pairs[i]).collect(),
            normals: vectors(&self.normals),
            friction: ContactScalars::from_slice(&order.iter().map(from).map(|i| self.friction[i]).collect::<Vec<_>>()),
            rows: self.rows.clone(),
            bias: vectors(&self.bias),
            slip_rounding: self.slip_rounding,
        };
        problem.bias.rows.clone_from(&self.bias.rows);
        for j in (0..self.bodies()).filter(|&j| is_general(j)) {
            problem.geometry.tensors.push(j as u32, self.inverse_inertia(j));
            problem.geometry.inverse_inertia[j] = 0.0;
        }
        let arms: Vec<_> = order[round.len()..].iter().map(|&i| self.view().scaled_arms(i as usize)).collect();
        problem.set_arms(&arms);
        (problem, order)
    }
}

impl ProblemRef<'_> {
    /// Number of contacts.
    #[inline(always)]
    pub fn contacts(&self) -> usize {
        self.pairs.len()
    }

    /// Number of bodies.
    #[inline(always)]
    pub fn bodies(&self) -> usize {
        self.inverse_mass.len()
    }

    /// How many contacts are round; the general ones come after them.
    #[inline(always)]
    pub fn round(&self) -> usize {
        if self.geometry.arms.is_empty() { self.contacts() } else { self.geometry.arms.round() }
    }

    /// Blocks of four contacts without lever arms; those after them have some.
    #[inline(always)]
    pub(crate) fn round_blocks(&self) -> usize {
        if self.geometry.arms.is_empty() {
            self.normals.blocks().len()
        } else {
            self.geometry.arms.start() / crate::lanes::LANES
        }
    }

    /// Whether a body can move.
    #[inline(always)]
    pub(crate) fn moves(&self, body: u32) -> bool {
        self.inverse_mass[body as usize] > 0.0
    }

    /// A copy of all parts.
    pub fn to_problem(&self) -> Problem {
        Problem {
            inverse_mass: self.inverse_mass.to_vec(),
            geometry: self.geometry.clone(),
            pairs: self.pairs.to_vec(),
            normals: self.normals.clone(),
            friction: self.friction.clone(),
            rows: self.rows.to_vec(),
            bias: self.bias.clone(),
            slip_rounding: self.slip_rounding,
        }
    }

    /// Lever arms of a contact over the lengths r of its bodies A and B.
    #[inline(always)]
    pub(crate) fn scaled_arms(&self, contact: usize) -> [DVec3; 2] {
        self.geometry.arms.get(contact).unwrap_or_else(|| {
            let n = self.normals.get(contact);
            [-n, n]
        })
    }

    /// Lever arms of a contact, from the centres of A and B.
    pub fn arms(&self, contact: usize) -> [DVec3; 2] {
        let [a, b] = self.scaled_arms(contact);
        let [i, j] = self.pairs[contact];
        [a * self.geometry.radius[i as usize], b * self.geometry.radius[j as usize]]
    }

    /// Inverse inertia tensor of a body in the world frame.
    pub fn inverse_inertia(&self, body: usize) -> Symmetric {
        self.geometry.tensors.of(body).copied().unwrap_or_else(|| {
            let i = self.geometry.inverse_inertia[body];
            [i, i, i, 0.0, 0.0, 0.0]
        })
    }

    /// r²I⁻¹ of a body: how its spin σ = rω answers to moments over r.
    pub(crate) fn spin_response(&self, body: usize) -> Symmetric {
        let r = self.geometry.radius[body];
        match self.geometry.tensors.of(body) {
            Some(tensor) => tensor.map(|x| r * r * x),
            None => {
                let spin = r * r * self.geometry.inverse_inertia[body];
                [spin, spin, spin, 0.0, 0.0, 0.0]
            }
        }
    }

    /// The first contact whose normal is not of unit length, or whose bias is so large that its
    /// square is not finite: the marks of bodies too fast or too far away.
    pub fn first_overflow(&self) -> Option<usize> {
        let valid = |i: usize| {
            (self.normals.get(i).length_squared() - 1.0).abs() < 1e-9 && self.bias.get(i).length_squared().is_finite()
        };
        (0..self.contacts()).find(|&i| !valid(i))
    }

    /// Checks lengths, indices and values. Solvers and operators rely on it.
    pub fn check(&self) -> Result<(), BadProblem> {
        self.check_lengths()?;
        if !(self.slip_rounding >= 0.0 && self.slip_rounding.is_finite()) {
            return Err(BadProblem::SlipRounding);
        }
        for body in 0..self.bodies() {
            self.check_body(body).map_err(|what| BadProblem::Body { body, what })?;
        }
        for contact in 0..self.contacts() {
            self.check_contact(contact).map_err(|what| BadProblem::Contact { contact, what })?;
        }
        self.bad_row().map_or(Ok(()), |(row, what)| Err(BadProblem::Row { row, what }))
    }

    /// Whether the parts fit together: a length that does not is an error of the program, not of the data.
    pub(crate) fn check_lengths(&self) -> Result<(), BadProblem> {
        let (m, n) = (self.contacts(), self.bodies());
        let Geometry { radius, inverse_inertia, tensors, arms } = self.geometry;
        let lengths = [
            ("normals", self.normals.len(), m),
            ("friction", self.friction.len(), m),
            ("bias", self.bias.len(), m),
            ("bias of rows", self.bias.rows.len(), self.rows.len()),
            ("radius", radius.len(), n),
            ("inverse_inertia", inverse_inertia.len(), n),
            ("tensors", tensors.inverse.len(), tensors.bodies.len()),
            ("arms", arms.len(), if arms.is_empty() { 0 } else { m.saturating_sub(arms.start()) }),
        ];
        match lengths.into_iter().find(|(_, found, expected)| found != expected) {
            Some((what, found, expected)) => Err(BadProblem::Length { what, found, expected }),
            None => self.check_tensors(),
        }
    }

    /// Bodies with a tensor ascend and exist.
    fn check_tensors(&self) -> Result<(), BadProblem> {
        let bodies = &self.geometry.tensors.bodies;
        let bad = |body: u32, what| Err(BadProblem::Body { body: body as usize, what });
        if let Some(pair) = bodies.windows(2).find(|pair| pair[0] >= pair[1]) {
            return bad(pair[1], "bodies with an inertia tensor must ascend");
        }
        match bodies.last() {
            Some(&last) if last as usize >= self.bodies() => bad(last, "there is a tensor for it, and no such body"),
            _ => Ok(()),
        }
    }

    fn check_body(&self, body: usize) -> Result<(), &'static str> {
        let mass = self.inverse_mass[body];
        if !(mass >= 0.0 && mass.is_finite()) {
            return Err("inverse mass must be finite and not negative");
        }
        if !self.inverse_inertia(body).iter().all(|x| x.is_finite()) {
            return Err("inverse inertia must be finite");
        }
        if self.geometry.tensors.of(body).is_some() && mass > 0.0 && self.geometry.radius[body] <= 0.0 {
            return Err("the length of a body with an inertia tensor must be positive");
        }
        Ok(())
    }

    fn check_contact(&self, contact: usize) -> Result<(), &'static str> {
        let [a, b] = self.pairs[contact];
        if a as usize >= self.bodies() || b as usize >= self.bodies() || a == b {
            return Err("needs two different bodies of the problem");
        }
        let begins = contact == 0 || contact == self.round();
        if !begins && self.pairs[contact - 1][0] > a {
            return Err("contacts must be grouped by their first body, in ascending order");
        }
        if !(self.moves(a) || self.moves(b)) {
            return Err("neither body can move");
        }
        let has_tensor = |j: u32| self.moves(j) && self.geometry.tensors.of(j as usize).is_some();
        if contact < self.round() && (has_tensor(a) || has_tensor(b)) {
            return Err("a body with an inertia tensor has no round contacts: it needs lever arms");
        }
        if (self.normals.get(contact).length_squared() - 1.0).abs() > 1e-9 {
            return Err("the normal must have unit length");
        }
        if !(self.friction[contact] >= 0.0 && self.friction[contact].is_finite()) {
            return Err("friction must be finite and not negative");
        }
        if self.friction[contact] > MOST_FRICTION {
            return Err("friction must be at most 1000, which is to stick");
        }
        if !self.bias.get(contact).is_finite() || self.arms(contact).iter().any(|r| !r.is_finite()) {
            return Err("all numbers must be finite");
        }
        Ok(())
    }
}
