//! Problems of FCLIB, the library of frictional contact problems, in its HDF5 files.
//!
//! ```text
//! fclib_local/spacedim           3, or 2 in the plane
//! fclib_local/W/m n nz p i x     the matrix: see `matrix`
//! fclib_local/vectors/q          the right-hand side
//! fclib_local/vectors/mu         the friction
//!
//! fclib_global/spacedim
//! fclib_global/M/...             the mass, and the directions of contacts: M v = H r + f
//! fclib_global/H/...
//! fclib_global/vectors/f w mu    u = Hᵀv + w
//! ```
//!
//! A local problem is u = Wr + q, and that is what is solved here: a global one is reduced to it
//! (`reduce`). A file may hold both, and then the local one is read. What else there is (`info`,
//! `solution`, `guesses`) is passed over, but equality constraints are refused: they would be left
//! out silently otherwise.
//!
//! A contact in the plane has a normal and a tangent. It is given a second tangent, on which
//! nothing depends: with the first one's diagonal entry, no coupling and no right-hand side, so
//! nothing ever moves or pushes along it, and the solution in the plane is the same.

mod matrix;
mod reduce;

use crate::file::text::ProblemFileError;
use crate::problem::assembled::{Assembled, BadAssembled};
use crate::problem::law::bounded;
use crate::{ContactScalars, ContactVec};
use barchan_hdf5::{Dataset, File};
use glam::{DMat3, DVec3};
use matrix::Matrix;
use std::fmt::Display;

/// The blocks of a row of the matrix with their columns, in any order. Several in one place are
/// to be added.
type BlockRow = Vec<(u32, DMat3)>;

impl Assembled {
    /// Reads a problem from the bytes of an HDF5 file of FCLIB; `origin` names the source in
    /// errors.
    ///
    /// # Errors
    /// If it cannot be read, something is not as it should be, or [`Assembled::check`] objects.
    pub fn read_fclib(bytes: Vec<u8>, origin: &str) -> Result<Self, ProblemFileError> {
        let wrap =
            |error: barchan_hdf5::Error| ProblemFileError::Part { origin: origin.into(), message: error.to_string() };
        let file = File::new(bytes).map_err(wrap)?;
        let read = |group| Reader { file: &file, origin, group };
        if file.contains("fclib_local").map_err(wrap)? {
            return read("fclib_local").local();
        }
        if file.contains("fclib_global").map_err(wrap)? {
            return read("fclib_global").global();
        }
        let message = "an HDF5 file without a problem of FCLIB: expected the group \"fclib_local\" or \"fclib_global\"";
        Err(ProblemFileError::Part { origin: origin.into(), message: message.into() })
    }
}

/// A problem in a file.
struct Reader<'a> {
    file: &'a File,
    origin: &'a str,
    /// The group of the problem.
    group: &'a str,
}

impl Reader<'_> {
    fn fault(&self, part: &str, what: impl Display) -> ProblemFileError {
        let part = if part.is_empty() { self.group.to_owned() } else { format!("{}/{part}", self.group) };
        ProblemFileError::Part { origin: self.origin.into(), message: format!("{part}: {what}") }
    }

    fn wrap(&self, error: &barchan_hdf5::Error) -> ProblemFileError {
        ProblemFileError::Part { origin: self.origin.into(), message: error.to_string() }
    }

    fn local(&self) -> Result<Assembled, ProblemFileError> {
        for part in ["V", "R"] {
            self.refuse_equalities(part)?;
        }
        let dimension = self.dimension()?;
        let q = self.numbers("vectors/q")?;
        let contacts = self.contacts("vectors/q", q.len(), dimension)?;
        let w = Matrix::read(self, "W", [(q.len(), "vectors/q"); 2])?;
        let rows = (0..contacts).map(|i| w.block_row(i, dimension)).collect();
        self.assemble(rows, &q, dimension, ["W", "vectors/q"])
    }

    fn global(&self) -> Result<Assembled, ProblemFileError> {
        self.refuse_equalities("G")?;
        let dimension = self.dimension()?;
        let f = self.numbers("vectors/f")?;
        let mut q = self.numbers("vectors/w")?;
        self.contacts("vectors/w", q.len(), dimension)?;
        let mass = Matrix::read(self, "M", [(f.len(), "vectors/f"); 2])?;
        let directions = Matrix::read(self, "H", [(f.len(), "vectors/f"), (q.len(), "vectors/w")])?;
        let rows = reduce::reduce(&mass, &directions, &f, &mut q, dimension);
        let rows = rows.map_err(|bad| self.fault(bad.part, bad.what))?;
        self.assemble(rows, &q, dimension, ["", ""])
    }

    /// The problem from its blocks, q and the friction; `parts` are where the matrix and q come from.
    fn assemble(
        &self,
        rows: Vec<BlockRow>,
        q: &[f64],
        dimension: usize,
        parts: [&str; 2],
    ) -> Result<Assembled, ProblemFileError> {
        let contacts = rows.len();
        let friction = self.numbers("vectors/mu")?;
        self.count("vectors/mu", friction.len(), contacts, "one a contact")?;
        if let Some(k) = friction.iter().position(|μ| *μ < 0.0) {
            let what = format!("entry {k} is {}, expected a number that is not negative", friction[k]);
            return Err(self.fault("vectors/mu", what));
        }
        let friction: Vec<f64> = friction.iter().map(|&μ| bounded(μ)).collect();
        let mut problem = Assembled { friction: ContactScalars::from_slice(&friction), ..Assembled::default() };
        let mut bias = Vec::with_capacity(contacts);
        for (i, (row, b)) in rows.into_iter().zip(q.chunks_exact(dimension)).enumerate() {
            let b = DVec3::new(b[0], b[1], if dimension == 3 { b[2] } else { 0.0 });
            if !b.length_squared().is_finite() {
                return Err(
                    self.fault(parts[1], format!("the right-hand side of contact {i} is too large to compute with"))
                );
            }
            bias.push(b);
            for (column, mut block) in merged(row) {
                if column as usize == i {
                    if dimension == 2 {
                        block.z_axis.z = block.y_axis.y;
                    }
                } else if block == DMat3::ZERO {
                    continue;
                }
                problem.columns.push(column);
                problem.blocks.push(block);
            }
            problem.starts.push(problem.blocks.len());
        }
        problem.bias = ContactVec::from_slice(&bias);
        problem.check().map_err(|bad| match bad {
            BadAssembled::Block { .. } | BadAssembled::Contact { .. } => self.fault(parts[0], bad),
            bad => self.fault("", bad),
        })?;
        Ok(problem)
    }

    /// Numbers a contact.
    fn dimension(&self) -> Result<usize, ProblemFileError> {
        match self.integer("spacedim")? {
            2 => Ok(2),
            3 => Ok(3),
            found => Err(self.fault("spacedim", format!("expected 3, or 2 for a problem in the plane, found {found}"))),
        }
    }

    /// Number of contacts of a vector.
    fn contacts(&self, part: &str, length: usize, dimension: usize) -> Result<usize, ProblemFileError> {
        if !length.is_multiple_of(dimension) {
            return Err(self.fault(part, format!("{length} numbers, expected {dimension} a contact")));
        }
        if u32::try_from(length).is_err() {
            return Err(self.fault(part, format!("{length} numbers are too many, expected fewer than 2^32")));
        }
        Ok(length / dimension)
    }

    /// Refuses a matrix of equality constraints, unless it has none.
    fn refuse_equalities(&self, part: &str) -> Result<(), ProblemFileError> {
        let there = self.file.contains(&format!("{}/{part}", self.group)).map_err(|error| self.wrap(&error))?;
        if !there || self.integer(&format!("{part}/n"))? == 0 {
            return Ok(());
        }
        Err(self.fault(part, "the problem has equality constraints, which cannot be read; expected contacts only"))
    }

    fn dataset(&self, part: &str) -> Result<Dataset<'_>, ProblemFileError> {
        self.file.dataset(&format!("{}/{part}", self.group)).map_err(|error| self.wrap(&error))
    }

    fn integers(&self, part: &str) -> Result<Vec<i64>, ProblemFileError> {
        self.dataset(part)?.integers().map_err(|error| self.wrap(&error))
    }

    /// A single whole number.
    fn integer(&self, part: &str) -> Result<i64, ProblemFileError> {
        let found = self.integers(part)?;
        self.count(part, found.len(), 1, "a single number")?;
        Ok(found[0])
    }

    /// Numbers, all of which must be finite.
    fn numbers(&self, part: &str) -> Result<Vec<f64>, ProblemFileError> {
        let found = self.dataset(part)?.numbers().map_err(|error| self.wrap(&error))?;
        self.finite(part, &found)?;
        Ok(found)
    }

    fn finite(&self, part: &str, numbers: &[f64]) -> Result<(), ProblemFileError> {
        match numbers.iter().position(|x| !x.is_finite()) {
            None => Ok(()),
            Some(k) => Err(self.fault(part, format!("entry {k} is {}, expected a finite number", numbers[k]))),
        }
    }

    fn count(&self, part: &str, found: usize, expected: usize, why: &str) -> Result<(), ProblemFileError> {
        if found == expected {
            return Ok(());
        }
        Err(self.fault(part, format!("{found} numbers, expected {expected}: {why}")))
    }
}

/// A row in the order of its columns, each once. The sort is stable: sums do not depend on it.
fn merged(mut row: BlockRow) -> BlockRow {
    row.sort_by_key(|(column, _)| *column);
    row.dedup_by(|next, kept| {
        let same = next.0 == kept.0;
        if same {
            kept.1 += next.1;
        }
        same
    });
    row
}
