//! Solving with a factor in supernodes: forward with L, and backward with its transpose.
//!
//! The columns of a supernode are worked through four at a time. All of the factor is read once
//! each way, and that takes the time.

use crate::dense::{Machine, Task};
use crate::symbolic::Symbolic;

/// Columns at a time.
const FEW: usize = 4;
/// Partial sums of a product of vectors.
const PARTS: usize = 8;

/// x ← K⁻¹x.
pub(crate) struct Solve<'a> {
    pub(crate) symbolic: &'a Symbolic,
    pub(crate) factor: &'a [f64],
    pub(crate) x: &'a mut [f64],
    /// As long as x, and as long as a column of the factor.
    pub(crate) permuted: &'a mut [f64],
    pub(crate) local: &'a mut [f64],
}

impl Task for Solve<'_> {
    type Output = ();

    #[inline(always)]
    fn on<const L: usize, M: Machine<L>>(self, machine: M) {
        let Self { symbolic, factor, x, permuted: y, local } = self;
        let block = symbolic.block;
        for (x, &place) in x.chunks_exact(block).zip(&symbolic.place) {
            y[place as usize * block..][..block].copy_from_slice(x);
        }
        for s in 0..symbolic.len() {
            let (columns, rows) = symbolic.shape(s);
            let z = &mut local[..rows];
            let own = symbolic.first[s] as usize * block;
            z[..columns].copy_from_slice(&y[own..own + columns]);
            z[columns..].fill(0.0);
            forward(machine, &factor[symbolic.value_start[s]..], columns, z);
            y[own..own + columns].copy_from_slice(&z[..columns]);
            for (z, &row) in z[columns..].chunks_exact(block).zip(&symbolic.row[symbolic.below(s)]) {
                let y = &mut y[row as usize * block..][..block];
                y.iter_mut().zip(z).for_each(|(y, z)| *y += z);
            }
        }
        for s in (0..symbolic.len()).rev() {
            let (columns, rows) = symbolic.shape(s);
            let z = &mut local[..rows];
            let own = symbolic.first[s] as usize * block;
            z[..columns].copy_from_slice(&y[own..own + columns]);
            for (z, &row) in z[columns..].chunks_exact_mut(block).zip(&symbolic.row[symbolic.below(s)]) {
                z.copy_from_slice(&y[row as usize * block..][..block]);
            }
            backward(machine, &factor[symbolic.value_start[s]..], columns, z);
            y[own..own + columns].copy_from_slice(&z[..columns]);
        }
        for (x, &place) in x.chunks_exact_mut(block).zip(&symbolic.place) {
            x.copy_from_slice(&y[place as usize * block..][..block]);
        }
    }
}

/// Solves for the first numbers of z with the columns of a supernode, and subtracts from the rest.
#[inline(always)]
fn forward<const L: usize, M: Machine<L>>(machine: M, values: &[f64], columns: usize, z: &mut [f64]) {
    let rows = z.len();
    for j in (0..columns).step_by(FEW) {
        let few = FEW.min(columns - j);
        let column = |q: usize| &values[(j + q) * rows..][..rows];
        for q in 0..few {
            let known: f64 = (0..q).map(|p| column(p)[j + q] * z[j + p]).sum();
            z[j + q] = (z[j + q] - known) / column(q)[j + q];
        }
        if few < FEW {
            for q in 0..few {
                let (above, below) = z.split_at_mut(j + few);
                for (z, l) in below.iter_mut().zip(&column(q)[j + few..]) {
                    *z = machine.mul_add(-l, above[j + q], *z);
                }
            }
            return;
        }
        let (above, below) = z.split_at_mut(j + FEW);
        let x: [f64; FEW] = std::array::from_fn(|q| above[j + q]);
        let [a, b, c, d] = [0, 1, 2, 3].map(|q| &column(q)[j + FEW..][..below.len()]);
        for (i, z) in below.iter_mut().enumerate() {
            let first = machine.mul_add(-b[i], x[1], machine.mul_add(-a[i], x[0], *z));
            *z = machine.mul_add(-d[i], x[3], machine.mul_add(-c[i], x[2], first));
        }
    }
}

/// Solves for the first numbers of z with the transpose of the columns of a supernode, where the
/// rest is known.
#[inline(always)]
fn backward<const L: usize, M: Machine<L>>(machine: M, values: &[f64], columns: usize, z: &mut [f64]) {
    let rows = z.len();
    for j in (0..columns).step_by(FEW).rev() {
        let few = FEW.min(columns - j);
        let column = |q: usize| &values[(j + q) * rows..][..rows];
        let (above, below) = z.split_at_mut(j + few);
        let mut known = [0.0; FEW];
        if few < FEW {
            for q in 0..few {
                known[q] = below.iter().zip(&column(q)[j + few..]).map(|(z, l)| l * z).sum();
            }
        } else {
            known = products(machine, [0, 1, 2, 3].map(|q| &column(q)[j + FEW..]), below);
        }
        for q in (0..few).rev() {
            let near: f64 = (q + 1..few).map(|p| column(q)[j + p] * above[j + p]).sum();
            above[j + q] = (above[j + q] - known[q] - near) / column(q)[j + q];
        }
    }
}

/// Products of some columns with a vector.
#[inline(always)]
fn products<const L: usize, M: Machine<L>>(machine: M, columns: [&[f64]; FEW], z: &[f64]) -> [f64; FEW] {
    let (whole, rest) = z.as_chunks::<PARTS>();
    let tops = columns.map(|column| column.as_chunks::<PARTS>().0);
    let [a, b, c, d] = tops.map(|top| &top[..whole.len()]);
    let mut sums = [[0.0; PARTS]; FEW];
    for (k, z) in whole.iter().enumerate() {
        for (sum, column) in sums.iter_mut().zip([&a[k], &b[k], &c[k], &d[k]]) {
            for r in 0..PARTS {
                sum[r] = machine.mul_add(column[r], z[r], sum[r]);
            }
        }
    }
    let tails = columns.map(|column| &column[PARTS * whole.len()..]);
    std::array::from_fn(|q| {
        let tail: f64 = rest.iter().zip(tails[q]).map(|(z, l)| l * z).sum();
        sums[q].iter().sum::<f64>() + tail
    })
}
