//! Rows in a sweep: all of them at once, as one block, after the contacts.
//!
//! Row by row a chain of n links would take about n² sweeps. So a sweep solves the rows together, exactly, by a sparse
//! Cholesky factor of their part JM⁻¹Jᵀ + c of A, which is made once a solve; its analysis is kept as long as the same
//! bodies are joined. Like the exact solve of one contact that is a step which never overshoots, so that momentum bears it.
//!
//! Impulses of limits and motors lie in intervals. An active set follows them: rows at an end are *held* there, the others
//! are solved for; who leaves its interval is held, who is pushed back into it is let go, until nobody changes. The set is
//! kept from sweep to sweep, and few sweeps change it. Rows that repeat each other make the matrix singular, so each has a
//! slight compliance in the factor alone: what it leaves, the next sweep removes.

use crate::ProblemRef;
use crate::operator::contactwise::Sums;
use crate::operator::kernels::Twist;
use crate::problem::rows::{Row, RowLists};
use barchan_cholesky::{Cholesky, Pattern, Values};

/// Compliance of rows in the factor alone, against their diagonal.
const SOFT: f64 = 1e-7;
/// Changes of the active set in a sweep at most; the next sweep goes on.
const ROUNDS: usize = 8;

/// Where the impulse of a row is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Within,
    Low,
    High,
}

/// The rows of a problem as one block; memory is kept between solves.
#[derive(Default)]
pub(crate) struct RowBlock {
    places: Vec<Place>,
    /// The bodies of the rows for which the pattern was found.
    known: Vec<[u32; 2]>,
    pattern: Pattern,
    /// JM⁻¹Jᵀ + c over the scales of both rows.
    values: Values<1>,
    /// The same where some rows are held.
    reduced: Values<1>,
    cholesky: Cholesky,
    is_factored: bool,
    /// One over the root of each diagonal entry.
    scales: Vec<f64>,
    /// What a unit of impulse does to both bodies of each row.
    responses: Vec<[Twist; 2]>,
    has_intervals: bool,
    /// Whether it is known which rows are held.
    is_placed: bool,
    x: Vec<f64>,
    start: Vec<f64>,
    first: Vec<f64>,
    step: Vec<f64>,
}

impl std::fmt::Debug for RowBlock {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RowBlock").field("rows", &self.places.len()).finish_non_exhaustive()
    }
}

/// What a sweep over rows reads.
pub(crate) struct RowSweep<'a> {
    pub(crate) lists: &'a RowLists,
    pub(crate) bias: &'a [f64],
    pub(crate) present: &'a [f64],
    pub(crate) β: f64,
    pub(crate) η: f64,
}

impl RowBlock {
    /// Makes ready for the sweeps of a solve. Of body j a `share(j)`-th of the mass takes part.
    pub(crate) fn prepare(&mut self, problem: &ProblemRef<'_>, lists: &RowLists, share: impl Fn(u32) -> f64) {
        let rows = &lists.rows;
        self.places.clear();
        self.places.resize(rows.len(), Place::Within);
        self.has_intervals = rows.iter().any(|row| !row.is_bilateral());
        self.is_factored = false;
        self.is_placed = false;
        if rows.is_empty() {
            return;
        }
        let is_known =
            self.known.len() == rows.len() && self.known.iter().zip(rows).all(|(pair, row)| *pair == row.bodies);
        if !is_known {
            self.find_pattern(problem, lists);
        }
        let response = |row: &Row, side: usize| row.response(side, problem).map(|x| x * share(row.bodies[side]));
        self.responses.clear();
        self.responses.extend(rows.iter().map(|row| [response(row, 0), response(row, 1)]));
        self.fill(rows);
    }

    /// Which rows share a body that can move.
    fn find_pattern(&mut self, problem: &ProblemRef<'_>, lists: &RowLists) {
        self.known.clear();
        self.known.extend(lists.rows.iter().map(|row| row.bodies));
        let mut places: Vec<[u32; 2]> = Vec::new();
        for j in (0..problem.bodies()).filter(|&j| problem.moves(j as u32)) {
            let rows = lists.of(j);
            for (k, &[one, _]) in rows.iter().enumerate() {
                places.extend(rows[k + 1..].iter().filter(|other| other[0] != one).map(|other| [one, other[0]]));
            }
        }
        places.iter_mut().for_each(|place| place.sort_unstable());
        places.sort_unstable();
        places.dedup();
        self.pattern = Pattern::from_sorted(lists.rows.len(), places.into_iter());
        self.cholesky.analyse::<1>(&self.pattern);
    }

    /// Computes the matrix, every diagonal entry of which is one.
    fn fill(&mut self, rows: &[Row]) {
        let Self { pattern, values, scales, responses, .. } = self;
        values.shape(pattern);
        let product = |i: usize, k: usize| -> f64 {
            let mut sum = 0.0;
            for (body, response) in rows[i].bodies.iter().zip(&responses[i]) {
                for (other, [v, s]) in rows[k].bodies.iter().zip(rows[k].jacobian) {
                    if other == body {
                        sum += v.x * response[0] + v.y * response[1] + v.z * response[2];
                        sum += s.x * response[3] + s.y * response[4] + s.z * response[5];
                    }
                }
            }
            sum
        };
        scales.clear();
        scales.extend(rows.iter().enumerate().map(|(i, row)| (product(i, i) + row.compliance).sqrt().recip()));
        for i in 0..rows.len() {
            values.diagonal[i] = [[1.0]];
            for at in pattern.column(i) {
                let k = pattern.row[at] as usize;
                values.below[at] = [[product(i, k) * scales[i] * scales[k]]];
            }
        }
    }

    /// Factors the matrix of the rows that are not held.
    fn factor(&mut self) {
        let Self { pattern, values, reduced, cholesky, places, .. } = self;
        reduced.shape(pattern);
        let is_held = |k: usize| places[k] != Place::Within;
        // The factor wants no eigenvalue below 1.
        let unit = SOFT.recip();
        for i in 0..places.len() {
            reduced.diagonal[i] = [[if is_held(i) { unit } else { unit + 1.0 }]];
            for at in pattern.column(i) {
                let gone = is_held(i) || is_held(pattern.row[at] as usize);
                reduced.below[at] = [[if gone { 0.0 } else { values.below[at][0][0] * unit }]];
            }
        }
        cholesky.factor(pattern, reduced);
        self.is_factored = true;
    }

    /// last ← one block solve from y = present + β(present − last). Velocities `w` are those at y, and become those after.
    pub(crate) fn sweep(&mut self, from: &RowSweep<'_>, last: &mut [f64], w: &mut [Twist]) -> Sums {
        let rows = &from.lists.rows;
        let mut sums = Sums::default();
        if rows.is_empty() {
            return sums;
        }
        let extrapolated = from.present.iter().zip(&*last).map(|(γ, l)| γ + (γ - l) * from.β);
        self.x.clear();
        self.x.extend(extrapolated);
        self.start.clone_from(&self.x);
        if !self.is_placed {
            self.place(rows);
        }
        self.first.clear();
        self.first.extend(rows.iter().zip(&self.x).zip(from.bias).map(|((row, λ), b)| row.gradient(*λ, w, *b)));
        for _ in 0..ROUNDS {
            self.hold(from, w);
            self.solve(from, w);
            if !self.has_intervals || !self.follow(from, w) {
                break;
            }
        }
        // Those that have left their interval in the last round.
        for (k, row) in rows.iter().enumerate() {
            let inside = row.project(self.x[k]);
            self.push(from, k, inside - self.x[k], w);
        }
        let x = self.x.iter().zip(&self.start).zip(&self.first).zip(from.present);
        for ((((x, y), g), γ), row) in x.zip(rows) {
            let d = x - y;
            // Of rows that were solved for, Ad is −g; of those at an end that is not so.
            let is_within = *x > row.limits[0] && *x < row.limits[1];
            let step = if is_within { -d * g } else { d * d * from.η.recip() };
            sums.step += step;
            sums.uphill -= if is_within { -g * (x - γ) } else { d * from.η.recip() * (x - γ) };
            let r = y - row.project(y - from.η * g);
            sums.natural += r * r;
        }
        last.copy_from_slice(&self.x);
        sums
    }

    /// At first those rows are held that start at an end.
    fn place(&mut self, rows: &[Row]) {
        for ((place, row), λ) in self.places.iter_mut().zip(rows).zip(&self.x) {
            let [lo, hi] = row.limits;
            *place = if *λ <= lo {
                Place::Low
            } else if *λ >= hi {
                Place::High
            } else {
                Place::Within
            };
        }
        self.is_placed = true;
    }

    /// Brings held rows to their ends.
    fn hold(&mut self, from: &RowSweep<'_>, w: &mut [Twist]) {
        for k in 0..self.places.len() {
            let end = match self.places[k] {
                Place::Within => continue,
                Place::Low => from.lists.rows[k].limits[0],
                Place::High => from.lists.rows[k].limits[1],
            };
            self.push(from, k, end - self.x[k], w);
        }
    }

    /// Solves the rows that are not held.
    fn solve(&mut self, from: &RowSweep<'_>, w: &mut [Twist]) {
        if !self.is_factored {
            self.factor();
        }
        let rows = &from.lists.rows;
        self.step.clear();
        let gradients = rows.iter().zip(&self.x).zip(from.bias).map(|((row, λ), b)| row.gradient(*λ, w, *b));
        let unit = SOFT.recip();
        self.step.extend(
            gradients
                .zip(&self.scales)
                .zip(&self.places)
                .map(|((g, scale), place)| if *place == Place::Within { -g * scale * unit } else { 0.0 }),
        );
        self.cholesky.solve(&mut self.step);
        for k in 0..rows.len() {
            if self.places[k] == Place::Within {
                let step = self.step[k] * self.scales[k];
                self.push(from, k, step, w);
            }
        }
    }

    /// Finds who has left its interval and who is pushed back into it. Says whether anybody has changed.
    fn follow(&mut self, from: &RowSweep<'_>, w: &[Twist]) -> bool {
        let mut has_changed = false;
        for (k, row) in from.lists.rows.iter().enumerate() {
            let [lo, hi] = row.limits;
            let g = || row.gradient(self.x[k], w, from.bias[k]);
            let place = match self.places[k] {
                Place::Within if self.x[k] < lo => Place::Low,
                Place::Within if self.x[k] > hi => Place::High,
                Place::Low if lo < hi && g() < 0.0 => Place::Within,
                Place::High if lo < hi && g() > 0.0 => Place::Within,
                same => same,
            };
            has_changed |= place != self.places[k];
            self.places[k] = place;
        }
        self.is_factored &= !has_changed;
        has_changed
    }

    /// Changes the impulse of a row, and the velocities of its bodies with it.
    fn push(&mut self, from: &RowSweep<'_>, k: usize, change: f64, w: &mut [Twist]) {
        if change == 0.0 {
            return;
        }
        self.x[k] += change;
        for (&body, response) in from.lists.rows[k].bodies.iter().zip(&self.responses[k]) {
            w[body as usize].iter_mut().zip(response).for_each(|(to, r)| *to += change * r);
        }
    }
}
