//! A contact problem that is given by its matrix: W = DᵀM⁻¹D in blocks of 3×3, b and μ.
//!
//! Other programs hand over problems in this form: without bodies, every contact in a frame of
//! its own (normal, first and second tangent). Find r ∈ C with u = Wr + b ∈ C*, rᵢ·uᵢ = 0.

use crate::problem::law::MOST_FRICTION;
use crate::problem::tangents::contact_frame;
use crate::{BadProblem, ContactScalars, ContactVec, Problem};
use barchan_parallel::{CHUNK, exclusive_scan, for_chunks};
use glam::{DMat3, DVec3};
use std::sync::OnceLock;

/// Asymmetry that passes for rounding, as a fraction of the diagonal blocks concerned.
const ROUNDING: f64 = 1e-8;
/// How far a diagonal block may be from positive semidefinite, as a fraction of its trace.
const INDEFINITE: f64 = 1e-9;

/// A frictional contact problem with its matrix, in contact frames.
#[derive(Clone, Debug, PartialEq)]
pub struct Assembled {
    /// The blocks of row i are `starts[i]..starts[i + 1]`: one number more than there are contacts.
    pub starts: Vec<usize>,
    /// The column of each block, ascending within a row.
    pub columns: Vec<u32>,
    /// The blocks of W.
    pub blocks: Vec<DMat3>,
    /// Friction coefficients μ.
    pub friction: ContactScalars,
    /// The right-hand side b (q in some papers), as (normal, tangent 1, tangent 2).
    pub bias: ContactVec,
    /// The speed ε below which Coulomb's law is rounded off ([`crate::Friction::Coulomb`]); zero for the exact law.
    pub slip_rounding: f64,
}

/// Without contacts.
impl Default for Assembled {
    fn default() -> Self {
        let (friction, bias) = (ContactScalars::default(), ContactVec::default());
        Self { starts: vec![0], columns: Vec::new(), blocks: Vec::new(), friction, bias, slip_rounding: 0.0 }
    }
}

/// Why an assembled problem cannot be solved.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum BadAssembled {
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
        what: String,
    },
    /// A block of the matrix that makes no sense.
    #[error("block ({row}, {column}) of the matrix: {what}")]
    Block {
        /// Where it lies among all blocks.
        index: usize,
        /// Its row, in contacts.
        row: usize,
        /// Its column, in contacts.
        column: usize,
        /// What is wrong.
        what: String,
    },
    /// The problem of bodies is not valid.
    #[error(transparent)]
    Problem(#[from] BadProblem),
    /// The problem of bodies has more than contacts.
    #[error("the problem has {rows} bilateral rows, and an assembled problem holds contacts only")]
    Rows {
        /// How many.
        rows: usize,
    },
}

impl Assembled {
    /// Number of contacts.
    #[inline]
    pub fn contacts(&self) -> usize {
        self.friction.len()
    }

    /// The blocks of a row with their columns.
    #[inline]
    pub fn row(&self, i: usize) -> impl Iterator<Item = (usize, &DMat3)> {
        let range = self.starts[i]..self.starts[i + 1];
        self.columns[range.clone()].iter().map(|&k| k as usize).zip(&self.blocks[range])
    }

    /// Row i of the product with a vector of contacts.
    #[inline]
    pub fn row_times(&self, i: usize, γ: &ContactVec) -> DVec3 {
        self.row(i).fold(DVec3::ZERO, |sum, (k, block)| sum + *block * γ.get(k))
    }

    /// Where the block (row, column) lies among all blocks, if it is there. Needs ascending columns.
    pub fn find(&self, row: usize, column: usize) -> Option<usize> {
        let start = self.starts[row];
        let columns = &self.columns[start..self.starts[row + 1]];
        u32::try_from(column).ok().and_then(|column| columns.binary_search(&column).ok()).map(|place| start + place)
    }

    /// The diagonal block of a contact of a valid problem.
    pub fn diagonal(&self, i: usize) -> DMat3 {
        self.find(i, i).map_or(DMat3::ZERO, |place| self.blocks[place])
    }

    /// Checks lengths, indices and values. The operator relies on it.
    ///
    /// # Errors
    /// Names the first part, contact or block that is wrong, with what was found and expected.
    pub fn check(&self) -> Result<(), BadAssembled> {
        self.check_lengths()?;
        for contact in 0..self.contacts() {
            let bad = |what| Err(BadAssembled::Contact { contact, what });
            let μ = self.friction[contact];
            if !(μ >= 0.0 && μ.is_finite()) {
                return bad(format!("friction is {μ}, expected a finite number that is not negative"));
            }
            if μ > MOST_FRICTION {
                return bad(format!("friction is {μ}, expected at most {MOST_FRICTION}, which is to stick"));
            }
            // Norms are taken: squares must be finite too.
            if !self.bias.get(contact).length_squared().is_finite() {
                let b = self.bias.get(contact);
                return bad(format!("the right-hand side is {b}, expected numbers whose squares are finite"));
            }
        }
        (0..self.contacts()).try_for_each(|row| self.check_row(row))?;
        // The scale by which asymmetry is measured exists now for every contact.
        let size: Vec<f64> = (0..self.contacts()).map(|i| trace(&self.diagonal(i))).collect();
        (0..self.contacts()).try_for_each(|row| self.check_symmetry(row, &size))
    }

    fn check_lengths(&self) -> Result<(), BadAssembled> {
        let m = self.contacts();
        let length = |what, found, expected| {
            if found == expected { Ok(()) } else { Err(BadAssembled::Length { what, found, expected }) }
        };
        length("the right-hand side", self.bias.len(), m)?;
        length("the right-hand side of rows", self.bias.rows.len(), 0)?;
        length("the list of row starts", self.starts.len(), m + 1)?;
        length("the list of columns", self.columns.len(), self.blocks.len())?;
        let (first, last) = (self.starts[0], self.starts[m]);
        length("the part before the first row", first, 0)?;
        length("the list of blocks", self.blocks.len(), last)?;
        match self.starts.windows(2).position(|pair| pair[0] > pair[1]) {
            None => Ok(()),
            Some(contact) => {
                let what =
                    format!("its row ends before it starts: {} < {}", self.starts[contact + 1], self.starts[contact]);
                Err(BadAssembled::Contact { contact, what })
            }
        }
    }

    /// Indices and values of a row, and its diagonal block.
    fn check_row(&self, row: usize) -> Result<(), BadAssembled> {
        let m = self.contacts();
        let mut last = None;
        for index in self.starts[row]..self.starts[row + 1] {
            let column = self.columns[index] as usize;
            let bad = |what| Err(BadAssembled::Block { index, row, column, what });
            if column >= m {
                return bad(format!("there are {m} contacts, numbered from 0"));
            }
            if last.is_some_and(|last| last >= column) {
                return bad("columns must ascend, and each must come once".into());
            }
            last = Some(column);
            let block = &self.blocks[index];
            if !frobenius(block).is_finite() {
                return bad("expected numbers whose squares are finite".into());
            }
            if row == column {
                let diagonal = DVec3::new(block.x_axis.x, block.y_axis.y, block.z_axis.z);
                if diagonal.x <= 0.0 {
                    return bad(format!("its normal entry is {}, expected a number greater than 0", diagonal.x));
                }
                if diagonal.min_element() < 0.0 || !is_semidefinite(block) {
                    return bad(format!("not positive semidefinite, with {diagonal} on the diagonal"));
                }
            }
        }
        if self.find(row, row).is_none() {
            let what = "the matrix has no diagonal block for it".into();
            return Err(BadAssembled::Contact { contact: row, what });
        }
        Ok(())
    }

    fn check_symmetry(&self, row: usize, size: &[f64]) -> Result<(), BadAssembled> {
        for index in self.starts[row]..self.starts[row + 1] {
            let column = self.columns[index] as usize;
            let mirror = self.find(column, row);
            let mirrored = mirror.map_or(DMat3::ZERO, |place| self.blocks[place].transpose());
            let scale = (size[row] * size[column]).sqrt();
            let difference = frobenius(&(self.blocks[index] - mirrored));
            if difference > ROUNDING * scale {
                let absent = if mirror.is_none() { ", which is not there" } else { "" };
                let what = format!(
                    "differs from the transpose of block ({column}, {row}){absent} by {difference:.1e}, and the diagonal \
                     blocks of these contacts are of size {scale:.1e}: the matrix must be symmetric"
                );
                return Err(BadAssembled::Block { index, row, column, what });
            }
        }
        Ok(())
    }

    /// Assembles the matrix of a problem of bodies, every contact in the frame that
    /// [`contact_frame`] gives its normal. Contacts that share a body which can move are coupled.
    ///
    /// # Errors
    /// If the problem is not valid, or has bilateral rows.
    pub fn from_problem(problem: &Problem) -> Result<Self, BadAssembled> {
        problem.check()?;
        if !problem.rows.is_empty() {
            return Err(BadAssembled::Rows { rows: problem.rows.len() });
        }
        let m = problem.contacts();
        let touching = Touching::of(problem);
        let frames: Vec<DMat3> = problem.normals.iter().map(contact_frame).collect();
        let rows: Vec<OnceLock<Vec<(u32, DMat3)>>> = (0..m).map(|_| OnceLock::new()).collect();
        for_chunks(m, CHUNK, |range| {
            for i in range {
                let _ = rows[i].set(assemble_row(problem, &touching, &frames, i));
            }
        });
        let mut assembled =
            Self { friction: problem.friction.clone(), slip_rounding: problem.slip_rounding, ..Self::default() };
        for row in rows {
            for (column, block) in row.into_inner().unwrap_or_default() {
                assembled.columns.push(column);
                assembled.blocks.push(block);
            }
            assembled.starts.push(assembled.blocks.len());
        }
        let bias: Vec<DVec3> = problem.bias.iter().zip(&frames).map(|(b, frame)| frame.transpose() * b).collect();
        assembled.bias = ContactVec::from_slice(&bias);
        Ok(assembled)
    }
}

/// The contacts of every body that can move.
struct Touching {
    start: Vec<u32>,
    contacts: Vec<u32>,
}

impl Touching {
    fn of(problem: &Problem) -> Self {
        let sides = || {
            let all = problem.pairs.iter().enumerate().flat_map(|(i, pair)| pair.map(|j| (i, j as usize)));
            all.filter(|&(_, j)| problem.inverse_mass[j] > 0.0)
        };
        let mut start = vec![0; problem.bodies() + 2];
        sides().for_each(|(_, j)| start[j + 1] += 1);
        let mut contacts = vec![0; exclusive_scan(&mut start[1..])];
        // Slot j + 1 holds the start of body j, and its end once it is filled.
        for (i, j) in sides() {
            contacts[start[j + 1] as usize] = i as u32;
            start[j + 1] += 1;
        }
        Self { start, contacts }
    }

    fn on(&self, body: usize) -> &[u32] {
        &self.contacts[self.start[body] as usize..self.start[body + 1] as usize]
    }
}

/// The blocks of row `i`, ascending.
fn assemble_row(problem: &Problem, touching: &Touching, frames: &[DMat3], i: usize) -> Vec<(u32, DMat3)> {
    let mut row: Vec<(u32, DMat3)> = Vec::new();
    for (side, &body) in problem.pairs[i].iter().enumerate() {
        let j = body as usize;
        let response = response(problem, i, side);
        for &k in touching.on(j) {
            let other = usize::from(problem.pairs[k as usize][0] != body);
            let block = response(k as usize, other);
            row.push((k, frames[i].transpose() * block * frames[k as usize]));
        }
    }
    // Two bodies may share two contacts: their blocks are sums. The sort is stable.
    row.sort_by_key(|(k, _)| *k);
    row.dedup_by(|next, kept| {
        let same = next.0 == kept.0;
        if same {
            kept.1 += next.1;
        }
        same
    });
    row
}

/// What contact `i` sees of impulses on the body at its `side`: for a contact and the side at
/// which it has that body, ±(m⁻¹ − [r]I⁻¹[s]) with the arms r and s.
fn response(problem: &Problem, i: usize, side: usize) -> impl Fn(usize, usize) -> DMat3 {
    let j = problem.pairs[i][side] as usize;
    let [xx, yy, zz, xy, xz, yz] = problem.inverse_inertia(j);
    let inertia = DMat3::from_cols(DVec3::new(xx, xy, xz), DVec3::new(xy, yy, yz), DVec3::new(xz, yz, zz));
    let turned = cross_matrix(problem.arms(i)[side]) * inertia;
    let inverse_mass = problem.inverse_mass[j];
    move |k, other| {
        let block = DMat3::from_diagonal(DVec3::splat(inverse_mass)) - turned * cross_matrix(problem.arms(k)[other]);
        if side == other { block } else { -block }
    }
}

fn cross_matrix(r: DVec3) -> DMat3 {
    DMat3::from_cols(DVec3::new(0.0, r.z, -r.y), DVec3::new(-r.z, 0.0, r.x), DVec3::new(r.y, -r.x, 0.0))
}

fn trace(block: &DMat3) -> f64 {
    block.x_axis.x + block.y_axis.y + block.z_axis.z
}

fn frobenius(block: &DMat3) -> f64 {
    block.to_cols_array().iter().map(|x| x * x).sum::<f64>().sqrt()
}

/// Whether a block is positive semidefinite but for rounding: whether Cholesky's factorisation
/// of it goes through once its diagonal is a little larger.
fn is_semidefinite(block: &DMat3) -> bool {
    let m = *block + DMat3::from_diagonal(DVec3::splat(INDEFINITE * trace(block)));
    let (x, y, z) = (m.x_axis, m.y_axis, m.z_axis);
    // What is left of the last two rows once the first is eliminated.
    let (yy, yz, zz) = (y.y - x.y * x.y / x.x, y.z - x.y * x.z / x.x, z.z - x.z * x.z / x.x);
    x.x > 0.0 && yy > 0.0 && zz - yz * yz / yy > 0.0
}
