//! Rows: scalar constraints between two bodies, or of one (S3 eq. 5).
//!
//! A row is the gradient of a joint's constraint with respect to the motion of two bodies. Its impulse λ lies in an
//! interval [lo, hi] that contains zero, and its velocity g = Jv + cλ + b answers as an interval asks: g = 0 inside,
//! g ≥ 0 at the lower end, g ≤ 0 at the upper one. So there are
//!
//! | row | interval |
//! |---|---|
//! | bilateral: a joint | (−∞, ∞), where the projection is the identity |
//! | a limit, which only pushes | [0, ∞) |
//! | a motor or a brake of limited force | [−hτ, hτ] |
//!
//! The compliance c, where it is not zero, makes the row give way: a spring or a damper that is taken at the end of the
//! step, as part of the diagonal of A. Impulses of rows lie in [`ContactVec::rows`].

use crate::operator::contactwise::{ROUNDING, Sums};
use crate::operator::kernels::{Twist, Wrench, symmetric_times};
use crate::{ContactVec, ProblemRef};
use barchan_parallel::reshape;
use glam::DVec3;
use std::ops::Range;

/// A scalar constraint on two bodies: its velocity is Σ jacobian·(v, ω) over both.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Row {
    /// The bodies. Twice the same if there is one only: its second derivatives are zero then.
    pub bodies: [u32; 2],
    /// Derivatives with respect to the velocity and the spin of each, in the world frame.
    pub jacobian: [[DVec3; 2]; 2],
    /// The interval of the impulse, which contains zero.
    pub limits: [f64; 2],
    /// The compliance c: what is added to the diagonal of A.
    pub compliance: f64,
}

impl Row {
    /// A bilateral row: its impulse may have any value.
    pub fn bilateral(bodies: [u32; 2], jacobian: [[DVec3; 2]; 2]) -> Self {
        Self { bodies, jacobian, limits: [f64::NEG_INFINITY, f64::INFINITY], compliance: 0.0 }
    }

    /// Whether its impulse may have any value.
    #[inline]
    pub fn is_bilateral(&self) -> bool {
        self.limits == [f64::NEG_INFINITY, f64::INFINITY]
    }

    /// The impulse of the interval that is nearest to λ. What is not a number stays.
    #[inline(always)]
    pub(crate) fn project(&self, λ: f64) -> f64 {
        let [lo, hi] = self.limits;
        if λ < lo {
            lo
        } else if λ > hi {
            hi
        } else {
            λ
        }
    }

    /// g = Jv + cλ + b.
    #[inline(always)]
    pub(crate) fn gradient(&self, λ: f64, w: &[Twist], bias: f64) -> f64 {
        self.velocity(w) + self.compliance * λ + bias
    }

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

    /// The diagonal entry JM⁻¹Jᵀ + c.
    pub(crate) fn diagonal(&self, problem: &ProblemRef<'_>) -> f64 {
        let side = |k: usize| {
            let (r, [v, s]) = (self.response(k, problem), self.jacobian[k]);
            v.dot(DVec3::new(r[0], r[1], r[2])) + s.dot(DVec3::new(r[3], r[4], r[5]))
        };
        side(0) + side(1) + self.compliance
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

    /// The rows that act on body `j`, each with its side.
    pub(crate) fn of(&self, j: usize) -> Vec<[u32; 2]> {
        let entries = &self.entries[self.start[j] as usize..self.start[j + 1] as usize];
        entries.iter().map(|entry| [entry / 2, entry % 2]).collect()
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
        let g = row.gradient(γ, step.w, step.bias.rows[k]);
        add_residual(&mut sums, row, γ, g, step.η);
        let scale = step.scale.map_or(1.0, |s| s[k]);
        let y = γ + (γ - step.γ_last[k]) * step.β;
        let g_y = g + (g - row.gradient(step.γ_last[k], step.w_last, step.bias.rows[k])) * step.β;
        *x = row.project(y - g_y / (step.lipschitz * scale));
        sums.step += scale * (*x - y) * (*x - y);
        sums.uphill -= scale * (*x - y) * (*x - γ);
    }
    sums
}

/// Adds the residuals of a row with impulse γ and velocity g: zero within the interval, of the right sign at its ends.
pub(crate) fn add_residual(sums: &mut Sums, row: &Row, γ: f64, g: f64, η: f64) {
    let r = γ - row.project(γ - η * g);
    sums.natural += r * r + γ * γ * ROUNDING * ROUNDING;
    let [lo, hi] = row.limits;
    // The way that is left to the end towards which g pushes; of an infinite one, the impulse itself.
    let end = if g > 0.0 { lo } else { hi };
    let slack = if end.is_finite() { γ - end } else { γ };
    sums.dual = sums.dual.max(if end.is_finite() && slack == 0.0 { 0.0 } else { (r / η).abs() });
    sums.primal = sums.primal.max(lo - γ).max(γ - hi);
    sums.complementarity += slack * g;
    sums.work += γ * g;
    sums.complementarity_max = sums.complementarity_max.max((slack * g).abs());
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
            let numbers = row.jacobian.iter().flatten().all(|x| x.is_finite()) && self.bias.rows[k].is_finite();
            let is_alone = row.bodies[0] == row.bodies[1];
            let [lo, hi] = row.limits;
            let why = if row.bodies.iter().any(|&j| j as usize >= self.bodies())
                || is_alone && row.jacobian[1] != [DVec3::ZERO; 2]
            {
                "needs two different bodies of the problem, or one and nothing on its second side"
            } else if !numbers {
                "all numbers must be finite"
            } else if !(lo <= 0.0 && hi >= 0.0) {
                "the interval of its impulse must contain zero"
            } else if !(row.compliance >= 0.0 && row.compliance.is_finite()) {
                "its compliance must be zero or more"
            } else if self.scaled_row(k).diagonal(self) <= 0.0 {
                "no body that can move takes part in it"
            } else {
                return None;
            };
            Some((k, why))
        })
    }
}
