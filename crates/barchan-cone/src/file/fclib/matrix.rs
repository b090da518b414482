//! Sparse matrices as FCLIB keeps them, brought into one form.
//!
//! `m` rows, `n` columns, and `nz` tells the form: −1 for compressed columns, −2 for compressed
//! rows, otherwise the number of triplets. `p` is where each column or row begins, and their end,
//! or the rows of triplets; `i` has the rows of columns, the columns of rows, or the columns of
//! triplets; `x` has the numbers. `i` and `x` may be longer than what they hold: `nzmax`, which
//! tells how long, is of no use here.

use super::{BlockRow, Reader};
use crate::file::text::ProblemFileError;
use glam::DMat3;

const COMPRESSED_COLUMNS: i64 = -1;
const COMPRESSED_ROWS: i64 = -2;

/// A sparse matrix by rows. Columns ascend, each comes once, and no entry is 0: whatever form
/// a matrix was stored in, here it is the same.
pub(crate) struct Matrix {
    starts: Vec<usize>,
    columns: Vec<u32>,
    values: Vec<f64>,
}

impl Matrix {
    /// Reads a matrix whose rows and columns are those of vectors that were read: their lengths
    /// and names.
    pub(crate) fn read(reader: &Reader<'_>, part: &str, sizes: [(usize, &str); 2]) -> Result<Self, ProblemFileError> {
        for (name, what, (expected, vector)) in [("m", "rows", sizes[0]), ("n", "columns", sizes[1])] {
            let (name, found) = (format!("{part}/{name}"), reader.integer(&format!("{part}/{name}"))?);
            if found != expected as i64 {
                let what = format!("{found} {what}, expected {expected}, as {vector} has");
                return Err(reader.fault(&name, what));
            }
        }
        let [rows, columns] = sizes.map(|(size, _)| size);
        let nz = reader.integer(&format!("{part}/nz"))?;
        let [p_name, i_name, x_name] = ["p", "i", "x"].map(|name| format!("{part}/{name}"));
        let (p, i) = (reader.integers(&p_name)?, reader.integers(&i_name)?);
        let (outer, inner) = match nz {
            COMPRESSED_COLUMNS => (columns, rows),
            COMPRESSED_ROWS | 0.. => (rows, columns),
            _ => {
                let what = "expected -1 (compressed columns), -2 (compressed rows) or the number of triplets, found";
                return Err(reader.fault(&format!("{part}/nz"), format!("{what} {nz}")));
            }
        };
        // The first index of every entry.
        let first: Vec<u32> = if nz >= 0 {
            reader.count(
                &p_name,
                p.len(),
                usize::try_from(nz).unwrap_or(usize::MAX),
                "as many as there are triplets",
            )?;
            indices(reader, &p_name, &p, outer)?
        } else {
            reader.count(&p_name, p.len(), outer + 1, "where each row or column begins, and their end")?;
            expand(reader, &p_name, &p, i.len())?
        };
        let count = first.len();
        if i.len() < count {
            return Err(reader.fault(&i_name, format!("{} numbers, expected at least {count}", i.len())));
        }
        let second = indices(reader, &i_name, &i[..count], inner)?;
        let mut x = reader.dataset(&x_name)?.numbers().map_err(|error| reader.wrap(&error))?;
        if x.len() < count {
            return Err(reader.fault(&x_name, format!("{} numbers, expected at least {count}", x.len())));
        }
        x.truncate(count);
        reader.finite(&x_name, &x)?;
        let [row, column] = if nz == COMPRESSED_COLUMNS { [&second, &first] } else { [&first, &second] };
        Ok(Self::from_triplets(rows, row, column, &x))
    }

    /// Entries in one place are added in the order in which they come.
    pub(crate) fn from_triplets(rows: usize, row: &[u32], column: &[u32], x: &[f64]) -> Self {
        // By rows, with counts that become places.
        let mut places = vec![0; rows + 1];
        row.iter().for_each(|&r| places[r as usize + 1] += 1);
        (0..rows).for_each(|r| places[r + 1] += places[r]);
        let mut ends = places.clone();
        let mut sorted = vec![(0, 0.0); x.len()];
        for ((&r, &c), &x) in row.iter().zip(column).zip(x) {
            sorted[ends[r as usize]] = (c, x);
            ends[r as usize] += 1;
        }
        // And each row by columns.
        let mut matrix = Self { starts: vec![0], columns: Vec::new(), values: Vec::new() };
        for range in places.windows(2) {
            let entries = &mut sorted[range[0]..range[1]];
            entries.sort_by_key(|(column, _)| *column);
            for same in entries.chunk_by(|a, b| a.0 == b.0) {
                let sum: f64 = same.iter().map(|(_, x)| x).sum();
                if sum != 0.0 {
                    matrix.columns.push(same[0].0);
                    matrix.values.push(sum);
                }
            }
            matrix.starts.push(matrix.columns.len());
        }
        matrix
    }

    pub(crate) fn rows(&self) -> usize {
        self.starts.len() - 1
    }

    /// The entries of a row with their columns.
    pub(crate) fn row(&self, r: usize) -> impl Iterator<Item = (usize, f64)> {
        let range = self.starts[r]..self.starts[r + 1];
        self.columns[range.clone()].iter().map(|&c| c as usize).zip(self.values[range].iter().copied())
    }

    /// An entry, 0 if it is not there.
    pub(crate) fn get(&self, r: usize, c: usize) -> f64 {
        let (start, end) = (self.starts[r], self.starts[r + 1]);
        let place = self.columns[start..end].binary_search_by(|k| (*k as usize).cmp(&c));
        place.map_or(0.0, |place| self.values[start + place])
    }

    /// The blocks of a contact's rows.
    pub(crate) fn block_row(&self, contact: usize, dimension: usize) -> BlockRow {
        let mut blocks = Vec::new();
        for k in 0..dimension {
            for (column, x) in self.row(contact * dimension + k) {
                let mut block = DMat3::ZERO;
                block.col_mut(column % dimension)[k] = x;
                blocks.push(((column / dimension) as u32, block));
            }
        }
        blocks
    }
}

/// Indices from 0 to below `size`.
fn indices(reader: &Reader<'_>, part: &str, found: &[i64], size: usize) -> Result<Vec<u32>, ProblemFileError> {
    let index = |(k, &found): (usize, &i64)| {
        let index = u32::try_from(found).ok().filter(|index| (*index as usize) < size);
        index.ok_or_else(|| {
            reader.fault(part, format!("entry {k} is {found}, expected a number from 0 to below {size}"))
        })
    };
    found.iter().enumerate().map(index).collect()
}

/// The number of its row or column for every entry, from where they begin.
fn expand(reader: &Reader<'_>, part: &str, starts: &[i64], most: usize) -> Result<Vec<u32>, ProblemFileError> {
    let mut first = Vec::new();
    let mut last = 0;
    for (k, &found) in starts.iter().enumerate() {
        let place = usize::try_from(found).ok().filter(|place| (last..=most).contains(place) && (k > 0 || *place == 0));
        let Some(place) = place else {
            let expected = if k == 0 { "0".into() } else { format!("a number from {last} to {most}") };
            return Err(reader.fault(part, format!("entry {k} is {found}, expected {expected}")));
        };
        last = place;
        if k > 0 {
            first.resize(place, (k - 1) as u32);
        }
    }
    Ok(first)
}
