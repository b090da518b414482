//! From a global problem to a local one: W = HᵀM⁻¹H and q = HᵀM⁻¹f + w.
//!
//! M falls apart into the bodies: sets of rows that no entry joins. Each is small, and dense here.
//! With Cholesky's M = LLᵀ and Y = L⁻¹H, what a body adds to W is YᵀY, which is symmetric to the
//! last bit, and YᵀL⁻¹f to q: halves of the solutions suffice.

use super::BlockRow;
use super::matrix::Matrix;
use glam::DMat3;

/// Rows of a body: a mesh of many nodes would take too long in this way.
const LARGEST_BODY: usize = 1000;
/// Blocks of W, which take 80 bytes each.
const MOST_BLOCKS: usize = 50_000_000;
/// Asymmetry of M that passes for rounding, as a fraction of the diagonal entries concerned.
const ROUNDING: f64 = 1e-8;

/// A matrix that cannot be reduced.
#[derive(Debug)]
pub(crate) struct Irreducible {
    /// Which one is to blame.
    pub(crate) part: &'static str,
    pub(crate) what: String,
}

/// The blocks of W by rows; `q` has w before and q after.
pub(crate) fn reduce(
    mass: &Matrix,
    directions: &Matrix,
    f: &[f64],
    q: &mut [f64],
    dimension: usize,
) -> Result<Vec<BlockRow>, Irreducible> {
    check_symmetry(mass)?;
    let bodies = bodies(mass);
    let touched: Vec<Vec<usize>> = bodies.iter().map(|rows| contacts_of(directions, rows, dimension)).collect();
    let blocks = touched.iter().try_fold(0_usize, |sum, contacts| sum.checked_add(contacts.len().checked_pow(2)?));
    if blocks.is_none_or(|blocks| blocks > MOST_BLOCKS) {
        let what = format!("so many contacts are on the same bodies that W would have more than {MOST_BLOCKS} blocks");
        return Err(Irreducible { part: "H", what });
    }
    let mut w = vec![Vec::new(); q.len() / dimension];
    for (rows, contacts) in bodies.iter().zip(&touched) {
        let body = Body { factor: factorise(mass, rows)?, rows };
        let y_f = body.half_solve(&|r| f[r]);
        // Y, a contact's columns at a time.
        let y: Vec<Vec<Vec<f64>>> = contacts
            .iter()
            .map(|i| {
                let column = |k| body.half_solve(&|r| directions.get(r, i * dimension + k));
                (0..dimension).map(column).collect()
            })
            .collect();
        for (&i, y_i) in contacts.iter().zip(&y) {
            for (k, y_ik) in y_i.iter().enumerate() {
                q[i * dimension + k] += dot(y_ik, &y_f);
            }
            for (&j, y_j) in contacts.iter().zip(&y) {
                let mut block = DMat3::ZERO;
                for (k, y_ik) in y_i.iter().enumerate() {
                    for (l, y_jl) in y_j.iter().enumerate() {
                        block.col_mut(l)[k] = dot(y_ik, y_jl);
                    }
                }
                w[i].push((j as u32, block));
            }
        }
    }
    Ok(w)
}

fn check_symmetry(mass: &Matrix) -> Result<(), Irreducible> {
    for r in 0..mass.rows() {
        for (c, x) in mass.row(r) {
            let scale = (mass.get(r, r) * mass.get(c, c)).abs().sqrt();
            let difference = (x - mass.get(c, r)).abs();
            if difference > ROUNDING * scale {
                let what = format!(
                    "entry ({r}, {c}) differs from entry ({c}, {r}) by {difference:.1e}, and the diagonal entries are of \
                     size {scale:.1e}: the matrix must be symmetric"
                );
                return Err(Irreducible { part: "M", what });
            }
        }
    }
    Ok(())
}

/// Sets of rows of M that entries join, each ascending.
fn bodies(mass: &Matrix) -> Vec<Vec<usize>> {
    const NONE: usize = usize::MAX;
    let mut body_of = vec![NONE; mass.rows()];
    let mut bodies: Vec<Vec<usize>> = Vec::new();
    for start in 0..mass.rows() {
        if body_of[start] != NONE {
            continue;
        }
        body_of[start] = bodies.len();
        let mut rows = vec![start];
        let mut seen = 0;
        while seen < rows.len() {
            for (c, _) in mass.row(rows[seen]) {
                if body_of[c] == NONE {
                    body_of[c] = bodies.len();
                    rows.push(c);
                }
            }
            seen += 1;
        }
        rows.sort_unstable();
        bodies.push(rows);
    }
    bodies
}

/// The contacts of a body, ascending.
fn contacts_of(directions: &Matrix, rows: &[usize], dimension: usize) -> Vec<usize> {
    let mut contacts: Vec<usize> = rows.iter().flat_map(|&r| directions.row(r)).map(|(c, _)| c / dimension).collect();
    contacts.sort_unstable();
    contacts.dedup();
    contacts
}

/// Cholesky's factor of a body's part of M: its rows up to the diagonal, one behind the other.
fn factorise(mass: &Matrix, rows: &[usize]) -> Result<Vec<f64>, Irreducible> {
    let n = rows.len();
    let bad = |what| Err(Irreducible { part: "M", what });
    if n > LARGEST_BODY {
        return bad(format!(
            "the {n} rows that hang together with row {} are too many, expected at most {LARGEST_BODY} a body",
            rows[0]
        ));
    }
    let mut factor: Vec<f64> = Vec::with_capacity(n * (n + 1) / 2);
    for (r, &row) in rows.iter().enumerate() {
        let start = factor.len();
        for (c, &column) in rows[..=r].iter().enumerate() {
            let above = c * (c + 1) / 2;
            let rest = mass.get(row, column) - dot(&factor[start..], &factor[above..above + c]);
            if c < r {
                factor.push(rest / factor[above + c]);
            } else if rest > 0.0 && rest.is_finite() {
                factor.push(rest.sqrt());
            } else {
                return bad(format!("not positive definite at row {row}, where elimination leaves {rest:.1e}"));
            }
        }
    }
    Ok(factor)
}

/// A body's rows of M and its factor L.
struct Body<'a> {
    factor: Vec<f64>,
    rows: &'a [usize],
}

impl Body<'_> {
    /// L⁻¹h, where `h` gives entries by their rows in the whole.
    fn half_solve(&self, h: &dyn Fn(usize) -> f64) -> Vec<f64> {
        let mut y: Vec<f64> = Vec::with_capacity(self.rows.len());
        for (r, &row) in self.rows.iter().enumerate() {
            let start = r * (r + 1) / 2;
            let rest = h(row) - dot(&y, &self.factor[start..start + r]);
            y.push(rest / self.factor[start + r]);
        }
        y
    }
}

/// The product of two vectors, of the same length but for the diagonal behind the first.
fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sparse(rows: usize, entries: &[(u32, u32, f64)]) -> Matrix {
        let column = |k: usize| entries.iter().map(|e| [e.0, e.1][k]).collect::<Vec<_>>();
        let x: Vec<f64> = entries.iter().map(|e| e.2).collect();
        Matrix::from_triplets(rows, &column(0), &column(1), &x)
    }

    /// M = [4 2; 2 5] and [8], by hand.
    #[test]
    fn two_bodies_by_hand() {
        let mass = sparse(3, &[(0, 0, 4.0), (2, 0, 2.0), (0, 2, 2.0), (2, 2, 5.0), (1, 1, 8.0)]);
        assert_eq!(bodies(&mass), [vec![0, 2], vec![1]]);
        // One contact in the plane: its normal on all rows, its tangent on the second body.
        let directions = sparse(3, &[(0, 0, 1.0), (1, 0, 1.0), (2, 0, 3.0), (1, 1, 2.0)]);
        let mut q = [0.5, -0.5];
        let w = reduce(&mass, &directions, &[16.0, 8.0, 0.0], &mut q, 2).unwrap();
        // M⁻¹ = [5 -2; -2 4]/16, and hᵀM⁻¹h = (5 - 12 + 36)/16 + 1/8.
        let sum = super::super::merged(w[0].clone())[0].1;
        let expected = DMat3::from_cols_array_2d(&[[29.0 / 16.0 + 0.125, 0.25, 0.0], [0.25, 0.5, 0.0], [0.0; 3]]);
        assert!((sum - expected).to_cols_array().iter().all(|x| x.abs() < 1e-15), "{sum}");
        // hᵀM⁻¹f = (5 - 6) + 1 for the normal, 2 for the tangent.
        assert!((q[0] - 0.5).abs() < 1e-15 && (q[1] - 1.5).abs() < 1e-15, "{q:?}");
    }

    #[test]
    fn masses_that_make_no_sense() {
        let error = |entries: &[(u32, u32, f64)]| {
            let mass = sparse(2, entries);
            let bad = reduce(&mass, &sparse(2, &[]), &[0.0; 2], &mut [], 3).unwrap_err();
            format!("{}: {}", bad.part, bad.what)
        };
        assert_eq!(error(&[(0, 0, 1.0)]), "M: not positive definite at row 1, where elimination leaves 0.0e0");
        let indefinite = [(0, 0, 1.0), (1, 1, 1.0), (0, 1, 2.0), (1, 0, 2.0)];
        assert_eq!(error(&indefinite), "M: not positive definite at row 1, where elimination leaves -3.0e0");
        let asymmetric = [(0, 0, 1.0), (1, 1, 1.0), (0, 1, 0.5)];
        assert!(error(&asymmetric).starts_with("M: entry (0, 1) differs from entry (1, 0) by 5.0e-1"));
    }

    #[test]
    fn bodies_of_too_many_rows_are_refused() {
        let n = LARGEST_BODY as u32 + 1;
        let entries: Vec<_> =
            (0..n).flat_map(|k| [(k, k, 4.0), (k, (k + 1) % n, 1.0), ((k + 1) % n, k, 1.0)]).collect();
        let bad = reduce(&sparse(n as usize, &entries), &sparse(n as usize, &[]), &vec![0.0; n as usize], &mut [], 3);
        let what = bad.unwrap_err().what;
        assert_eq!(what, "the 1001 rows that hang together with row 0 are too many, expected at most 1000 a body");
    }
}
