//! Sweeps over an assembled problem.
//!
//! The velocity of a contact is its row of the matrix times the newest impulses, so a sweep
//! needs no velocities beside them, and nothing can drift. In the serial order rows come as they
//! stand. In colours, rows of one colour are not coupled: they are relaxed side by side, and the
//! result does not depend on who is first. There are no bodies whose mass could be split, so
//! [`Order::Split`] takes colours too.

use super::{Borders, Lag, Order, Relaxation, Rule, Swept};
use crate::operator::contactwise::Sums;
use crate::sweep::one_contact::ContactBlock;
use crate::{Assembled, BlockSparse, ConeProblem, ContactVec, Criterion, Response};
use barchan_parallel::{Disjoint, fold_chunks};
use glam::{DMat3, DVec3};
use std::ops::Range;

/// Rows a task.
const ROW_CHUNK: usize = 64;

/// The order of sweeps and the one-contact problems.
#[derive(Debug, Default)]
pub(crate) struct RowSweeps {
    /// Rows in the order of sweeps.
    rows: Vec<u32>,
    /// The rows of each phase, which are not coupled. None in the serial order.
    phases: Vec<Range<usize>>,
    /// Diagonal block of each contact, and what is prepared for its exact solve.
    contacts: Vec<(DMat3, ContactBlock)>,
    /// De Saxcé's terms, where they lag behind.
    slip: Vec<f64>,
    /// Scratch for residuals.
    γ: ContactVec,
    w: Response,
}

/// Impulses of an assembled problem between sweeps.
#[derive(Debug, Default)]
pub struct RowsIterate(Vec<DVec3>);

/// By hand, since `clone_from` is to keep the memory that is there.
impl Clone for RowsIterate {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }

    fn clone_from(&mut self, from: &Self) {
        self.0.clone_from(&from.0);
    }
}

/// A colour for every row, such that rows which are coupled differ; the smallest that is free,
/// row by row.
fn colours(problem: &Assembled) -> Vec<u32> {
    const UNKNOWN: u32 = u32::MAX;
    let m = problem.contacts();
    let mut colours = vec![UNKNOWN; m];
    // Rows that read this one and have a colour. (A block may lack its mirror image, where it is
    // zero but for rounding.)
    let mut readers: Vec<Vec<u32>> = vec![Vec::new(); m];
    let mut taken = Vec::new();
    for i in 0..m {
        taken.clear();
        taken.extend(problem.row(i).map(|(k, _)| colours[k]).filter(|c| *c != UNKNOWN));
        taken.append(&mut readers[i]);
        taken.sort_unstable();
        taken.dedup();
        // The first gap in a list that ascends from zero.
        let free = taken.iter().zip(0..).position(|(&c, k)| c != k).unwrap_or(taken.len()) as u32;
        colours[i] = free;
        problem.row(i).filter(|(k, _)| *k > i).for_each(|(k, _)| readers[k].push(free));
    }
    colours
}

impl RowSweeps {
    fn fill(&mut self, problem: &Assembled, order: Order) {
        let m = problem.contacts();
        let prepared = |i: usize| {
            let w = problem.diagonal(i);
            (w, ContactBlock::new(w, DVec3::X, problem.friction[i]))
        };
        self.contacts = (0..m).map(prepared).collect();
        self.rows = (0..m as u32).collect();
        self.phases.clear();
        if order == Order::Serial {
            return;
        }
        let colours = colours(problem);
        self.rows.sort_by_key(|&i| colours[i as usize]);
        let mut start = 0;
        for phase in self.rows.chunk_by(|&i, &k| colours[i as usize] == colours[k as usize]) {
            self.phases.push(start..start + phase.len());
            start += phase.len();
        }
    }
}

/// What a sweep reads.
struct Pass<'a> {
    problem: &'a Assembled,
    contacts: &'a [(DMat3, ContactBlock)],
    bias: &'a ContactVec,
    γ: &'a [DVec3],
    /// De Saxcé's terms: each thread writes those of its own rows.
    slip: Disjoint<'a, f64>,
    rule: Rule,
}

impl Pass<'_> {
    /// Relaxes some rows in order.
    ///
    /// # Safety
    /// No other thread writes the impulses of these rows, nor of those that they are coupled with.
    unsafe fn relax(&self, rows: &[u32], x: &Disjoint<'_, DVec3>) -> Sums {
        let mut sums = Sums::default();
        for i in rows.iter().map(|&i| i as usize) {
            let (w, block) = &self.contacts[i];
            // SAFETY: the caller's promise, here and below.
            let at = |k: usize| unsafe { *x.get(k) };
            let y = at(i);
            let g = self.problem.row(i).fold(self.bias.get(i), |g, (k, block)| g + *block * at(k));
            let μ = self.problem.friction[i];
            // SAFETY: as above.
            let slip = if self.rule.lag.is_some() { unsafe { *self.slip.get(i) } } else { 0.0 };
            let d = self.rule.change(y, g + DVec3::X * slip, w, block, DVec3::X, μ);
            // SAFETY: as above.
            unsafe { x.write(i, y + d) };
            let wd = *w * d;
            if let Some(lag) = self.rule.lag {
                // SAFETY: as above.
                unsafe { self.slip.write(i, slip + lag.follow * (lag.slip(g + wd, μ) - slip)) };
            }
            sums.step += wd.dot(d);
            sums.uphill -= wd.dot(y + d - self.γ[i]);
            sums.natural += d.length_squared();
        }
        sums
    }
}

impl Relaxation for BlockSparse<'_> {
    type Iterate = RowsIterate;

    fn prepare(&mut self, order: Order, _: Borders) {
        self.sweep.fill(self.problem, order);
    }

    fn load(&mut self, γ: &ContactVec, _: &Response, iterate: &mut RowsIterate) {
        // The matrix knows the velocities of any impulses: no response is needed.
        iterate.0.clear();
        iterate.0.extend(γ.iter());
    }

    fn store(&mut self, iterate: &RowsIterate, γ: &mut ContactVec, response: &mut Response) {
        iterate.0.iter().enumerate().for_each(|(i, &r)| γ.set(i, r));
        self.respond_to(γ, response);
    }

    fn sweep(&mut self, present: &RowsIterate, last: &mut RowsIterate, β: f64, rule: &Rule) -> Swept {
        for (y, γ) in last.0.iter_mut().zip(&present.0) {
            *y = *γ + (*γ - *y) * β;
        }
        let mut slots = std::mem::take(&mut self.sums);
        let mut slip = std::mem::take(&mut self.sweep.slip);
        let RowSweeps { rows, phases, contacts, .. } = &self.sweep;
        let terms = Disjoint::new(&mut slip);
        let pass =
            Pass { problem: self.problem, contacts, bias: self.bias(), γ: &present.0, slip: terms, rule: *rule };
        let x = Disjoint::new(&mut last.0);
        let sums = if phases.is_empty() {
            // SAFETY: there is no other thread.
            unsafe { pass.relax(rows, &x) }
        } else {
            phases.iter().fold(Sums::default(), |sums, phase| {
                let rows = &rows[phase.clone()];
                // SAFETY: rows of a phase are not coupled with each other, and each is in one chunk.
                let body = |range: Range<usize>| unsafe { pass.relax(&rows[range], &x) };
                let part = fold_chunks(rows.len(), ROW_CHUNK, &mut slots, Sums::default(), body, Sums::add);
                Sums::add(sums, part)
            })
        };
        self.sums = slots;
        self.sweep.slip = slip;
        Swept {
            step_in_metric: sums.step,
            uphill: sums.uphill,
            likely_residual: if sums.natural == 0.0 { 0.0 } else { sums.natural.sqrt() / self.natural_unit },
        }
    }

    fn start_lag(&mut self, iterate: &RowsIterate, lag: &Lag) {
        self.sweep.slip.clear();
        for i in 0..iterate.0.len() {
            let velocity = self.problem.row(i).fold(self.bias().get(i), |g, (k, block)| g + *block * iterate.0[k]);
            self.sweep.slip.push(lag.slip(velocity, self.problem.friction[i]));
        }
    }

    fn iterate_residual(&mut self, iterate: &RowsIterate, criterion: Criterion) -> f64 {
        let (mut γ, mut w) = (std::mem::take(&mut self.sweep.γ), std::mem::take(&mut self.sweep.w));
        self.clear_impulses(&mut γ);
        self.store(iterate, &mut γ, &mut w);
        let residual = self.residuals(&γ, &w).0.by(criterion);
        (self.sweep.γ, self.sweep.w) = (γ, w);
        residual
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solver::{Report, Solvable, Solve, Solver, SolverFor, SolverName, SolverOptions, Status};
    use crate::{ContactScalars, Friction, MatrixFree, Problem, Workspace};

    /// A chain of spheres on a floor, pressed together, with a second chain on top.
    fn chain(length: u32) -> Problem {
        let (mut pairs, mut normals, mut bias, mut friction) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let floor = 2 * length;
        for j in 0..2 * length {
            let free = |j: u32| DVec3::new(0.2 / f64::from(j + 1), 0.1 * f64::from(j % 3), -0.3);
            let mut add = |other: u32, n: DVec3| {
                pairs.push([j, other]);
                normals.push(n);
                bias.push(free(j) - if other == floor { DVec3::ZERO } else { free(other) * 0.5 });
                friction.push(0.1 * f64::from(j % 5));
            };
            if (j + 1) % length != 0 {
                add(j + 1, -DVec3::X);
            }
            match j < length {
                true => add(floor, DVec3::Z),
                false => add(j - length, DVec3::new(0.0, 0.6, 0.8)),
            }
        }
        let n = 2 * length as usize;
        let mut inverse_mass: Vec<f64> = (0..n).map(|j| 1.0 + 0.3 * (j % 4) as f64).collect();
        inverse_mass.push(0.0);
        let inverse_inertia = inverse_mass.iter().map(|m| 2.5 * m).collect();
        let problem = Problem {
            inverse_mass,
            geometry: crate::Geometry::round(vec![1.0; n + 1], inverse_inertia),
            pairs,
            normals: ContactVec::from_slice(&normals),
            friction: ContactScalars::from_slice(&friction),
            bias: ContactVec::from_slice(&bias),
            rows: Vec::new(),
            slip_rounding: 0.0,
        };
        assert_eq!(problem.check(), Ok(()));
        problem
    }

    fn solve<P>(problem: &mut P, options: &SolverOptions) -> (ContactVec, Report)
    where
        P: Solvable<Impulses = ContactVec, Sweeping: Default, InteriorPoint: Default>,
    {
        let (mut γ, mut response, mut u) = (ContactVec::default(), P::Velocities::default(), ContactVec::default());
        problem.clear_impulses(&mut γ);
        let mut solver = SolverFor::<P>::new(options.name);
        let report = solver.solve(Solve::new(problem, &mut γ, &mut response, options));
        problem.set_shift(None);
        problem.gradient(&γ, &mut u);
        (u, report)
    }

    fn options(name: SolverName, law: Friction, order: Order) -> SolverOptions {
        let mut options = SolverOptions { name, friction: Some(law), tolerance: 1e-9, ..SolverOptions::default() };
        options.max_iterations = 20_000;
        (options.nbgs.order, options.gauss_seidel.order, options.accelerated_gs.order) = (order, order, order);
        options
    }

    #[test]
    fn rows_of_one_colour_are_not_coupled() {
        let mut problem = Assembled::from_problem(&chain(40)).unwrap();
        for cut in [false, true] {
            if cut {
                // A block without its mirror image couples all the same.
                let place = problem.find(0, 1).unwrap();
                problem.columns.remove(place);
                problem.blocks.remove(place);
                problem.starts[1..].iter_mut().for_each(|start| *start -= 1);
            }
            let colours = colours(&problem);
            for i in 0..problem.contacts() {
                assert!(problem.row(i).all(|(k, _)| k == i || colours[k] != colours[i]), "row {i}");
            }
            assert!(colours.iter().max().is_some_and(|c| *c < 10), "{colours:?}");
        }
    }

    /// Sweeps over rows find what sweeps over bodies find, by every solver, law and order.
    #[test]
    fn sweeps_over_rows_and_over_bodies_agree() {
        let problem = chain(12);
        let assembled = Assembled::from_problem(&problem).unwrap();
        for &(name, text, _) in SolverName::ALL {
            for &law in name.laws() {
                for order in [Order::Serial, Order::Coloured, Order::Split] {
                    let options = options(name, law, order);
                    let mut workspace = Workspace::default();
                    let (u, a) = solve(&mut MatrixFree::new(&problem, &mut workspace), &options);
                    let (u_local, b) = solve(&mut BlockSparse::new(&assembled), &options);
                    let what = format!("{text} {law:?} {order:?}: {a:?} {b:?}");
                    assert_eq!([a.status, b.status], [Status::Converged; 2], "{what}");
                    for (i, (u, v)) in u.iter().zip(u_local.iter()).enumerate() {
                        let u = crate::contact_frame(problem.normals.get(i)).transpose() * u;
                        assert!((u - v).length() < 1e-6, "{what}: contact {i}: {u} is not {v}");
                    }
                    if order == Order::Serial && ![SolverName::Apgd, SolverName::Scip].contains(&name) {
                        // The same steps in the same order: only rounding differs.
                        assert!(a.iterations.abs_diff(b.iterations) <= 8, "{what}");
                    }
                }
            }
        }
    }

    /// Coulomb's law rounded off: every solver finds the same velocities, over rows, round contacts and general ones.
    #[test]
    fn a_rounded_law_is_the_same_for_all() {
        let problem = Problem { slip_rounding: 0.05, ..chain(12) };
        let assembled = Assembled::from_problem(&problem).unwrap();
        let general = problem.to_general();
        let mut first: Option<ContactVec> = None;
        for &(name, text, _) in SolverName::ALL {
            let options = options(name, Friction::Coulomb, Order::Coloured);
            let mut workspaces = [Workspace::default(), Workspace::default()];
            let [one, two] = &mut workspaces;
            let (round, a) = solve(&mut MatrixFree::new(&problem, one), &options);
            let (with_arms, b) = solve(&mut MatrixFree::new(&general, two), &options);
            let (by_rows, c) = solve(&mut BlockSparse::new(&assembled), &options);
            assert_eq!([a.status, b.status, c.status], [Status::Converged; 3], "{text}: {a:?} {b:?} {c:?}");
            for i in 0..problem.contacts() {
                let u = first.get_or_insert_with(|| round.clone()).get(i);
                let rows = crate::contact_frame(problem.normals.get(i)) * by_rows.get(i);
                for v in [round.get(i), with_arms.get(i), rows] {
                    assert!((u - v).length() < 1e-6, "{text}: contact {i}: {u} is not {v}");
                }
            }
        }
        // It is not the exact law: that would give other velocities.
        let exact = Problem { slip_rounding: 0.0, ..problem };
        let options = options(SolverName::Nbgs, Friction::Coulomb, Order::Serial);
        let (u, _) = solve(&mut MatrixFree::new(&exact, &mut Workspace::default()), &options);
        let first = first.unwrap_or_default();
        assert!((0..u.len()).any(|i| (u.get(i) - first.get(i)).length() > 1e-3));
    }

    #[test]
    fn the_same_bits_on_any_number_of_threads() {
        let assembled = Assembled::from_problem(&chain(700)).unwrap();
        let options = SolverOptions {
            max_iterations: 60,
            ..options(SolverName::AcceleratedGs, Friction::Coulomb, Order::Coloured)
        };
        let on = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| solve(&mut BlockSparse::new(&assembled), &options))
        };
        let one = on(1);
        assert_eq!(one, on(2));
        assert_eq!(one, on(5));
    }
}
