//! Bilateral rows: scalar constraints whose impulse may have either sign (S3 eq. 5).
//!
//! A row is the gradient of a joint's constraint with respect to the motion of two bodies. In
//! every solver its projection is the identity. Impulses of rows lie in [`ContactVec::rows`].

use crate::operator::contactwise::{ROUNDING, Sums};
use crate::operator::kernels::{Twist, Wrench, symmetric_times};
use crate::{ContactVec, ProblemRef};
use barchan_parallel::reshape;
use glam::DVec3;
use std::ops::Range;

/// A scalar constraint on two bodies: its velocity is Σ jacobian·(v, ω) over both.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Row {
    /// The bodies.
    pub bodies: [u32; 2],
    /// Derivatives with respect to the velocity and the spin of each, in the world frame.
    pub jacobian: [[DVec3; 2]; 2],
}

impl Row {
    /// The row's velocity, from velocities v and spins σ = rω of all bodies. Needs a row of
    /// [`ProblemRef::scaled_row`], here and below.
    #[inline(always)]
    pub(crate) fn velocity(&self, w: &[Twist]) -> f64 {
        let side = |k: usize| {
            let ([x, y, z, a, b, c], [v, s]) = (w[self.bodies[k] as usize], self.jacobian[k]);
            v.dot(DVec3::new(x, y, z)) + s.dot(DVec3::new(a, b, c))
        };
        side(0) + side(1)
    }

    /// M⁻¹Jᵀ on one side: velocity and spin of that body for a unit of impulse.
    pub(crate) fn response(&self, side: usize, problem: &ProblemRef<'_>) -> Twist {
        let j = self.bodies[side] as usize;
        let v = self.jacobian[side][0] * problem.inverse_mass[j];
        let s = symmetric_times(&problem.spin_response(j), self.jacobian[side][1]);
        [v.x, v.y, v.z, s.x, s.y, s.z]
    }

    /// The diagonal entry JM⁻¹Jᵀ.
    pub(crate) fn diagonal(&self, problem: &ProblemRef<'_>) -> f64 {
        let side = |k: usize| {
            let (r, [v, s]) = (self.response(k, problem), self.jacobian[k]);
            v.dot(DVec3::new(r[0], r[1], r[2])) + s.dot(DVec3::new(r[3], r[4], r[5]))
        };
        side(0) + side(1)
    }
}

/// Which rows act on each body, and the rows' scales.
#[derive(Debug, Default)]
pub(crate) struct RowLists {
    /// Sides of rows on body j are `entries[start[j]..start[j + 1]]`: twice the row plus the side.
    start: Vec<u32>,
    entries: Vec<u32>,
    /// The rows, with spins measured as speeds.
    pub(crate) rows: Vec<Row>,
    /// Diagonal entries of A.
    pub(crate) diagonal: Vec<f64>,
}

impl RowLists {
    pub(crate) fn fill(&mut self, problem: &ProblemRef<'_>) {
        reshape(&mut self.diagonal, problem.rows.len());
        self.rows.clear();
        if problem.rows.is_empty() {
            return;
        }
        self.rows.extend((0..problem.rows.len()).map(|k| problem.scaled_row(k)));
        for (d, row) in self.diagonal.iter_mut().zip(&self.rows) {
            *d = row.diagonal(problem);
        }
        let n = problem.bodies();
        reshape(&mut self.start, n + 2);
        self.start.fill(0);
        reshape(&mut self.entries, 2 * problem.rows.len());
        let sides = || problem.rows.iter().flat_map(|row| row.bodies).enumerate();
        for (_, body) in sides() {
            self.start[body as usize + 2] += 1;
        }
        for j in 0..n {
            self.start[j + 2] += self.start[j + 1];
        }
        for (entry, body) in sides() {
            let place = &mut self.start[body as usize + 1];
            self.entries[*place as usize] = entry as u32;
            *place += 1;
        }
    }

    /// Adds what rows with impulses λ do to body `j`: Jᵀλ, its moment with the sign of [`Wrench`].
    #[inline]
    pub(crate) fn add_wrench(&self, λ: &[f64], j: usize, sum: &mut Wrench) {
        for &entry in &self.entries[self.start[j] as usize..self.start[j + 1] as usize] {
            let (row, side) = (entry as usize / 2, entry as usize % 2);
            let [v, s] = self.rows[row].jacobian[side].map(|x| x * λ[row]);
            for (to, x) in sum[0].0.iter_mut().zip([v.x, v.y, v.z, -s.x]) {
                *to += x;
            }
            sum[1].0[0] -= s.y;
            sum[1].0[1] -= s.z;
        }
    }
}

/// What a descent step over rows reads.
pub(crate) struct RowStep<'a> {
    pub(crate) rows: &'a [Row],
    pub(crate) bias: &'a ContactVec,
    /// Scale of each row in the metric; none for the identity.
    pub(crate) scale: Option<&'a [f64]>,
    pub(crate) γ: &'a [f64],
    pub(crate) γ_last: &'a [f64],
    pub(crate) w: &'a [Twist],
    pub(crate) w_last: &'a [Twist],
    pub(crate) β: f64,
    pub(crate) lipschitz: f64,
    pub(crate) η: f64,
}

/// The descent step of some rows, as `descend_blocks` does it for contacts.
pub(crate) fn descend_rows(step: &RowStep<'_>, range: Range<usize>, x: &mut [f64]) -> Sums {
    let mut sums = Sums::default();
    for (x, k) in x.iter_mut().zip(range) {
        let (row, γ) = (&step.rows[k], step.γ[k]);
        let u = row.velocity(step.w);
        let g = u + step.bias.rows[k];
        add_residual(&mut sums, γ, g, step.η);
        let scale = step.scale.map_or(1.0, |s| s[k]);
        let y = γ + (γ - step.γ_last[k]) * step.β;
        let g_y = g + (u - row.velocity(step.w_last)) * step.β;
        *x = y - g_y / (step.lipschitz * scale);
        sums.step += scale * (*x - y) * (*x - y);
        sums.uphill -= scale * (*x - y) * (*x - γ);
    }
    sums
}

/// Adds the residuals of a row with impulse γ and velocity g: g should be zero.
pub(crate) fn add_residual(sums: &mut Sums, γ: f64, g: f64, η: f64) {
    sums.natural += η * g * (η * g) + γ * γ * ROUNDING * ROUNDING;
    sums.dual = sums.dual.max(g.abs());
    sums.complementarity += γ * g;
    sums.work += γ * g;
    sums.complementarity_max = sums.complementarity_max.max((γ * g).abs());
}

impl ProblemRef<'_> {
    /// Row k with its derivatives with respect to spins σ = rω.
    pub(crate) fn scaled_row(&self, k: usize) -> Row {
        let mut row = self.rows[k];
        for (side, &j) in row.jacobian.iter_mut().zip(&row.bodies) {
            if self.moves(j) && self.geometry.radius[j as usize] > 0.0 {
                side[1] /= self.geometry.radius[j as usize];
            }
        }
        row
    }

    /// The first row that makes no sense, and why.
    pub(crate) fn bad_row(&self) -> Option<(usize, &'static str)> {
        self.rows.iter().enumerate().find_map(|(k, row)| {
            let finite = row.jacobian.iter().flatten().all(|x| x.is_finite()) && self.bias.rows[k].is_finite();
            let why = if row.bodies.iter().any(|&j| j as usize >= self.bodies()) || row.bodies[0] == row.bodies[1] {
                "needs two different bodies of the problem"
            } else if !finite {
                "all numbers must be finite"
            } else if self.scaled_row(k).diagonal(self) <= 0.0 {
                "no body that can move takes part in it"
            } else {
                return None;
            };
            Some((k, why))
        })
    }
}
