//! The operator of an assembled problem: rows of 3×3 blocks, applied in parallel.
//!
//! There are no bodies, so what a solver keeps as the response of γ is Wγ itself. From there on
//! everything is as for the matrix-free operator, with the X axis for every normal: see
//! `contactwise.rs`. A row is summed in the order of its blocks and by one thread.

use crate::lanes::{F4, LANES, Lanes, V3, V4};
use crate::newton::MatrixMemory;
use crate::operator::cone_problem::{ConeProblem, Descent, DescentStep, Extrapolation, Metric};
use crate::operator::contactwise::{self, BLOCK_CHUNK, Cones, Here, LaneSums, Sums, scales, slip};
use crate::problem::assembled::{Assembled, BadAssembled};
use crate::sweep::RowSweeps;
use crate::{ContactScalars, ContactVec};
use crate::{Criterion, Friction, Residuals};
use barchan_parallel::{CHUNK, fold_chunks, fold_chunks_mut, for_chunks_mut};
use glam::DVec3;
use std::ops::Range;

/// Blocks of four rows a task: a row has ten blocks or more, so a task is shorter than others.
const ROW_CHUNK: usize = 64;
/// The smallest ratio κ of the metric: a contact whose tangents do not respond at all has none.
const LEAST_RATIO: f64 = 1e-6;

/// The velocities of contacts in response to impulses: Wγ, without b.
#[derive(Clone, Debug, Default)]
pub struct Response(ContactVec);

impl Response {
    /// The velocity of contact `i`.
    pub fn get(&self, i: usize) -> DVec3 {
        self.0.get(i)
    }
}

/// An assembled problem on the memory of one machine.
pub struct BlockSparse<'a> {
    pub(crate) problem: &'a Assembled,
    /// The X axis, as often as there are contacts.
    normals: ContactVec,
    /// Normal and mean tangential entry of each diagonal block.
    pub(crate) diagonal: Vec<(f64, f64)>,
    /// a_n and κ = a_t/a_n of each contact in the metric.
    normal_scale: ContactScalars,
    ratio: ContactScalars,
    metric: Metric,
    law: Friction,
    /// b with a shift.
    shifted: Option<ContactVec>,
    /// Inverse of the mean diagonal of W: the step of the natural map.
    η: f64,
    /// ‖Π(−ηb)‖: what the natural map is measured against.
    pub(crate) natural_unit: f64,
    pub(crate) sweep: RowSweeps,
    pub(crate) newton: MatrixMemory,
    pub(crate) sums: Vec<Sums>,
    norms: Vec<f64>,
}

impl<'a> BlockSparse<'a> {
    /// Prepares the operator of a valid problem; see [`Assembled::check`]. Values that are not
    /// numbers do no harm here: solvers find and report them.
    pub fn new(problem: &'a Assembled) -> Self {
        debug_assert!(!matches!(problem.check(), Err(BadAssembled::Length { .. })), "{:?}", problem.check());
        let m = problem.contacts();
        let diagonal: Vec<(f64, f64)> = (0..m)
            .map(|i| {
                let block = problem.diagonal(i);
                (block.x_axis.x, 0.5 * (block.y_axis.y + block.z_axis.z))
            })
            .collect();
        let mut norms = Vec::new();
        let trace = |range: Range<usize>| diagonal[range].iter().map(|(n, t)| n + 2.0 * t).sum::<f64>();
        let trace = fold_chunks(m, CHUNK, &mut norms, 0.0, trace, |a, b| a + b);
        let mut this = Self {
            problem,
            normals: ContactVec::from_slice(&vec![DVec3::X; m]),
            diagonal,
            normal_scale: ContactScalars::default(),
            ratio: ContactScalars::default(),
            metric: Metric::Contact,
            law: Friction::Associated,
            shifted: None,
            η: if m == 0 { 1.0 } else { (3 * m) as f64 / trace },
            natural_unit: 0.0,
            sweep: RowSweeps::default(),
            newton: MatrixMemory::default(),
            sums: Vec::new(),
            norms,
        };
        this.set_metric(Metric::Contact);
        this.natural_unit = this.projected_bias_norm();
        this
    }

    fn blocks(&self) -> usize {
        self.normals.blocks().len()
    }

    fn cones(&self) -> Cones<'_> {
        Cones { normals: self.normals.blocks(), friction: self.problem.friction.blocks() }
    }

    /// The right-hand side of steps.
    pub(crate) fn bias(&self) -> &ContactVec {
        self.shifted.as_ref().unwrap_or(&self.problem.bias)
    }

    /// Under Coulomb's law: the speed below which slip is rounded off.
    pub(crate) fn coulomb(&self) -> Option<f64> {
        (self.law == Friction::Coulomb).then_some(self.problem.slip_rounding)
    }

    /// The right-hand side that residuals are measured with: the exact law brings its own shift.
    fn residual_bias(&self) -> &ContactVec {
        if self.law == Friction::Coulomb { &self.problem.bias } else { self.bias() }
    }

    fn projected_bias_norm(&mut self) -> f64 {
        let mut slots = std::mem::take(&mut self.norms);
        let (cones, bias, η, coulomb) = (self.cones(), self.residual_bias(), self.η, self.coulomb());
        let body = |range: Range<usize>| contactwise::projected_norm_squared(cones, bias.blocks(), η, coulomb, range);
        let sum = fold_chunks(self.blocks(), BLOCK_CHUNK, &mut slots, 0.0, body, |a, b| a + b);
        self.norms = slots;
        sum.sqrt()
    }

    /// Four rows of Wγ.
    fn four_rows(&self, block: usize, γ: &ContactVec) -> V4 {
        let mut four = V4::default();
        let first = block * LANES;
        for i in first..(first + LANES).min(self.problem.contacts()) {
            four.set_lane(i - first, self.problem.row_times(i, γ));
        }
        four
    }

    /// The descent step of some blocks.
    fn descend_blocks<const NATURAL: bool>(
        &self,
        from: &Extrapolation<'_, Self>,
        lipschitz: f64,
        range: Range<usize>,
        x: &mut [V4],
    ) -> Sums {
        let (β, inverse_l) = (F4::splat(from.β), F4::splat(1.0 / lipschitz));
        let mut sums = LaneSums::<F4>::zero();
        for (x, k) in x.iter_mut().zip(range) {
            let (n, μ) = self.cones().block(k);
            let here = Here {
                n,
                μ,
                a_n: self.normal_scale.blocks()[k],
                κ: self.ratio.blocks()[k],
                γ: V3::load(&from.γ.blocks()[k]),
                γ_last: V3::load(&from.γ_last.blocks()[k]),
                u: V3::load(&from.w.0.blocks()[k]),
                u_last: V3::load(&from.w_last.0.blocks()[k]),
                bias: V3::load(&self.bias().blocks()[k]),
            };
            *x = here.descend::<NATURAL>(β, inverse_l, self.η, &mut sums).store();
        }
        sums.total()
    }

    /// Some blocks of w ← Wx; returns dᵀWd of the step d = x − y.
    fn respond_blocks(
        &self,
        x: &ContactVec,
        from: &Extrapolation<'_, Self>,
        range: Range<usize>,
        to: &mut [V4],
    ) -> f64 {
        let β = F4::splat(from.β);
        let mut sum = F4::splat(0.0);
        for (to, k) in to.iter_mut().zip(range) {
            *to = self.four_rows(k, x);
            let ahead = |now: &ContactVec, last: &ContactVec| {
                let (now, last) = (V3::<F4>::load(&now.blocks()[k]), V3::load(&last.blocks()[k]));
                now + (now - last) * β
            };
            let d = V3::load(&x.blocks()[k]) - ahead(from.γ, from.γ_last);
            sum = sum + d.dot(V3::load(to) - ahead(&from.w.0, &from.w_last.0));
        }
        sum.sum()
    }

    /// g = Wγ + b of a block.
    fn gradient_block(&self, w: &Response, bias: &ContactVec, k: usize) -> V3<F4> {
        V3::load(&w.0.blocks()[k]) + V3::load(&bias.blocks()[k])
    }
}

impl ConeProblem for BlockSparse<'_> {
    type Impulses = ContactVec;
    type Velocities = Response;

    fn contacts(&self) -> usize {
        self.problem.contacts()
    }

    fn shape_impulses(&self, γ: &mut ContactVec) {
        γ.reshape(self.problem.contacts());
        γ.rows.clear();
    }

    fn clear_impulses(&self, γ: &mut ContactVec) {
        γ.resize(self.problem.contacts());
        γ.rows.clear();
    }

    fn shape_velocities(&self, w: &mut Response) {
        self.shape_impulses(&mut w.0);
    }

    fn clear_velocities(&self, w: &mut Response) {
        self.clear_impulses(&mut w.0);
    }

    fn slip_rounding(&self) -> f64 {
        self.problem.slip_rounding
    }

    fn set_law(&mut self, law: Friction) {
        self.law = law;
        self.natural_unit = self.projected_bias_norm();
    }

    fn set_shift(&mut self, shift: Option<&ContactVec>) {
        let mut memory = self.shifted.take().unwrap_or_default();
        self.shifted = shift.map(|shift| {
            self.combine(1.0, &self.problem.bias, 1.0, shift, &mut memory);
            memory
        });
        self.natural_unit = self.projected_bias_norm();
    }

    fn slip(&mut self, w: &Response, out: &mut ContactVec) {
        self.shape_impulses(out);
        for_chunks_mut(out.blocks_mut(), BLOCK_CHUNK, |range, out| {
            for (out, k) in out.iter_mut().zip(range) {
                let (n, μ) = self.cones().block(k);
                *out = (n * slip(self.gradient_block(w, self.bias(), k), n, μ, self.problem.slip_rounding)).store();
            }
        });
    }

    fn combine(&mut self, a: f64, x: &ContactVec, c: f64, y: &ContactVec, out: &mut ContactVec) {
        self.shape_impulses(out);
        for_chunks_mut(out.blocks_mut(), BLOCK_CHUNK, |range, out| {
            contactwise::combine_blocks(a, x.blocks(), c, y.blocks(), range, out);
        });
    }

    fn set_metric(&mut self, metric: Metric) {
        self.metric = metric;
        let of = |part: fn((f64, f64)) -> f64| {
            let entry =
                |&(normal, tangential): &(f64, f64)| part(scales(metric, normal, tangential.max(LEAST_RATIO * normal)));
            let mut scalars = ContactScalars::from_slice(&self.diagonal.iter().map(entry).collect::<Vec<_>>());
            // Lanes behind the last contact are divided by, too.
            let padding = self.diagonal.len()..self.diagonal.len().next_multiple_of(LANES);
            padding.for_each(|i| scalars.set(i, 1.0));
            scalars
        };
        let (normal_scale, ratio) = (of(|s| s.0), of(|s| s.1));
        (self.normal_scale, self.ratio) = (normal_scale, ratio);
    }

    fn mean_scale(&self) -> f64 {
        self.metric.mean_scale(1.0 / self.η)
    }

    fn project(&mut self, γ: &mut ContactVec) {
        for_chunks_mut(γ.blocks_mut(), BLOCK_CHUNK, |range, γ| {
            contactwise::project_blocks(self.cones(), range, γ);
        });
    }

    fn gradient_at(&mut self, _: &ContactVec, w: &Response, out: &mut ContactVec) {
        self.shape_impulses(out);
        for (k, out) in out.blocks_mut().iter_mut().enumerate() {
            *out = self.gradient_block(w, self.bias(), k).store();
        }
    }

    fn dot(&mut self, a: &ContactVec, b: &ContactVec) -> f64 {
        let body = |range: Range<usize>| contactwise::dot_blocks(a.blocks(), b.blocks(), range);
        fold_chunks(self.blocks(), BLOCK_CHUNK, &mut self.norms, 0.0, body, |a, b| a + b)
    }

    fn dot_bias(&mut self, γ: &ContactVec) -> f64 {
        let p = self.problem;
        self.dot(&p.bias, γ)
    }

    fn descend(&mut self, from: &Extrapolation<'_, Self>, step: &DescentStep, x: &mut ContactVec) -> Descent {
        let DescentStep { lipschitz, criterion } = *step;
        let mut slots = std::mem::take(&mut self.sums);
        let body = |range: Range<usize>, x: &mut [V4]| match criterion {
            Criterion::Natural => self.descend_blocks::<true>(from, lipschitz, range, x),
            Criterion::S1 | Criterion::S0 => self.descend_blocks::<false>(from, lipschitz, range, x),
        };
        let sums = fold_chunks_mut(x.blocks_mut(), BLOCK_CHUNK, &mut slots, Sums::default(), body, Sums::add);
        self.sums = slots;
        let residual = sums.residuals(self.contacts(), self.natural_unit).by(criterion);
        Descent { step_in_metric: sums.step, uphill: sums.uphill, residual }
    }

    fn respond(&mut self, x: &ContactVec, from: &Extrapolation<'_, Self>, w: &mut Response) -> f64 {
        self.shape_velocities(w);
        let mut slots = std::mem::take(&mut self.norms);
        let body = |range: Range<usize>, to: &mut [V4]| self.respond_blocks(x, from, range, to);
        let step = fold_chunks_mut(w.0.blocks_mut(), ROW_CHUNK, &mut slots, 0.0, body, |a, b| a + b);
        self.norms = slots;
        step
    }

    fn respond_to(&mut self, γ: &ContactVec, w: &mut Response) {
        self.shape_velocities(w);
        for_chunks_mut(w.0.blocks_mut(), ROW_CHUNK, |range, to| {
            for (to, k) in to.iter_mut().zip(range) {
                *to = self.four_rows(k, γ);
            }
        });
    }

    fn residuals(&mut self, γ: &ContactVec, w: &Response) -> (Residuals, f64) {
        let mut slots = std::mem::take(&mut self.sums);
        let (bias, coulomb) = (self.residual_bias(), self.coulomb());
        let body = |range: Range<usize>| {
            let mut sums = LaneSums::<F4>::zero();
            for k in range {
                let (n, μ) = self.cones().block(k);
                let (γ, g) = (V3::load(&γ.blocks()[k]), self.gradient_block(w, bias, k));
                sums.add_residuals(γ, g, n, μ, self.η, coulomb);
            }
            sums.total()
        };
        let sums = fold_chunks(self.blocks(), BLOCK_CHUNK, &mut slots, Sums::default(), body, Sums::add);
        self.sums = slots;
        (sums.residuals(self.contacts(), self.natural_unit), sums.work)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solver::{Apgd, Solve, Solver, SolverOptions, Status};
    use crate::{BodyVec, Geometry, MatrixFree, Problem, Workspace, contact_frame};
    use glam::DMat3;

    /// Numbers between −1 and 1 that look random.
    struct Numbers(u64);

    impl Numbers {
        fn next(&mut self) -> f64 {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 11) as f64 / (1u64 << 52) as f64 - 1.0
        }
        fn vector(&mut self) -> DVec3 {
            DVec3::new(self.next(), self.next(), self.next())
        }
    }

    /// Bodies of any shape, three of which cannot move, with contacts in random places; some pairs
    /// touch twice. The bias is one that some motion undoes.
    fn problem(contacts: usize) -> Problem {
        let mut numbers = Numbers(7);
        let bodies = 14u32;
        let movable = |j: u32| !j.is_multiple_of(5);
        let mut pairs = Vec::new();
        while pairs.len() < contacts {
            let [a, b] = [0, 0].map(|_: i32| ((numbers.next() + 1.0) * 0.5 * f64::from(bodies)) as u32);
            if a != b && (movable(a) || movable(b)) {
                pairs.extend([[a, b]; 2]);
            }
        }
        pairs.truncate(contacts);
        pairs.sort_unstable();
        let motion: Vec<[DVec3; 2]> = (0..bodies).map(|_| [numbers.vector(), numbers.vector()]).collect();
        let (mut arms, mut normals, mut bias) = ([Vec::new(), Vec::new()], Vec::new(), Vec::new());
        for pair in &pairs {
            let n = numbers.vector().normalize();
            let side = [0, 1].map(|side| {
                let (j, arm) = (pair[side], numbers.vector());
                arms[side].push(arm);
                let [v, s] = motion[j as usize];
                if movable(j) { v + s.cross(arm) } else { DVec3::ZERO }
            });
            bias.push(side[0] - side[1] + 0.1 * n);
            normals.push(n);
        }
        let inertia = |numbers: &mut Numbers| {
            let l = DMat3::from_cols(numbers.vector(), numbers.vector(), numbers.vector());
            let t = l * l.transpose() + DMat3::IDENTITY * 0.1;
            [t.x_axis.x, t.y_axis.y, t.z_axis.z, t.y_axis.x, t.z_axis.x, t.z_axis.y]
        };
        Problem {
            inverse_mass: (0..bodies).map(|j| if movable(j) { 1.5 + numbers.next() } else { 0.0 }).collect(),
            geometry: Geometry::general(
                (0..bodies).map(|j| if movable(j) { inertia(&mut numbers) } else { [0.0; 6] }).collect(),
                [&arms[0], &arms[1]],
            ),
            friction: ContactScalars::from_slice(&pairs.iter().map(|_| numbers.next().max(0.0)).collect::<Vec<_>>()),
            pairs,
            normals: ContactVec::from_slice(&normals),
            bias: ContactVec::from_slice(&bias),
            rows: Vec::new(),
            slip_rounding: 0.0,
        }
    }

    /// From the world frame to those of contacts.
    fn local(problem: &Problem, v: &ContactVec) -> ContactVec {
        let turn = |(v, n): (DVec3, DVec3)| contact_frame(n).transpose() * v;
        ContactVec::from_slice(&v.iter().zip(problem.normals.iter()).map(turn).collect::<Vec<_>>())
    }

    #[track_caller]
    fn same(a: &ContactVec, b: &ContactVec) {
        assert_eq!(a.len(), b.len());
        for (a, b) in a.iter().zip(b.iter()) {
            assert!((a - b).length() <= 1e-11 * (1.0 + a.length()), "{a} is not {b}");
        }
    }

    #[track_caller]
    fn close(a: f64, b: f64) {
        assert!((a - b).abs() <= 1e-10 * (1.0 + a.abs()), "{a} is not {b}");
    }

    /// Every operation of the interface, on a problem and on its assembled twin.
    #[test]
    fn the_matrix_does_what_the_bodies_do() {
        for contacts in [1, 4, 30, 61] {
            let problem = problem(contacts);
            let assembled = Assembled::from_problem(&problem).unwrap();
            assert_eq!(assembled.check(), Ok(()));
            let mut workspace = Workspace::default();
            let (mut a, mut b) = (MatrixFree::new(&problem, &mut workspace), BlockSparse::new(&assembled));
            let mut numbers = Numbers(3);
            let mut random = || ContactVec::from_slice(&(0..contacts).map(|_| numbers.vector()).collect::<Vec<_>>());
            let [mut γ, γ_last, shift] = [random(), random(), random()];
            a.project(&mut γ);
            let mut γ_local = local(&problem, &γ);
            b.project(&mut γ_local);
            same(&local(&problem, &γ), &γ_local);
            let last_local = local(&problem, &γ_last);

            for shifted in [false, true] {
                a.set_shift(shifted.then_some(&shift));
                b.set_shift(shifted.then_some(&local(&problem, &shift)));
                let (mut w, mut w_last, mut r, mut r_last) = <(BodyVec, BodyVec, Response, Response)>::default();
                a.respond_to(&γ, &mut w);
                a.respond_to(&γ_last, &mut w_last);
                b.respond_to(&γ_local, &mut r);
                b.respond_to(&last_local, &mut r_last);
                let [mut out, mut out_local] = [ContactVec::default(), ContactVec::default()];
                a.gradient(&γ, &mut out);
                b.gradient(&γ_local, &mut out_local);
                same(&local(&problem, &out), &out_local);
                a.slip(&w, &mut out);
                b.slip(&r, &mut out_local);
                same(&local(&problem, &out), &out_local);
                close(a.dot_bias(&γ), b.dot_bias(&γ_local));
                close(a.dot(&γ, &γ_last), b.dot(&γ_local, &last_local));

                for law in [Friction::Associated, Friction::Coulomb] {
                    a.set_law(law);
                    b.set_law(law);
                    let ((x, work), (y, work_local)) = (a.residuals(&γ, &w), b.residuals(&γ_local, &r));
                    close(work, work_local);
                    close(x.natural, y.natural);
                    close(x.primal, y.primal);
                    close(x.dual, y.dual);
                    close(x.complementarity, y.complementarity);
                    close(x.complementarity_max, y.complementarity_max);
                }
                a.set_law(Friction::Associated);
                b.set_law(Friction::Associated);

                for metric in [Metric::Contact, Metric::Scalar, Metric::Identity] {
                    for criterion in [Criterion::Natural, Criterion::S1] {
                        a.set_metric(metric);
                        b.set_metric(metric);
                        close(a.mean_scale(), b.mean_scale());
                        let step = DescentStep { lipschitz: 3.0, criterion };
                        let from = Extrapolation { γ: &γ, γ_last: &γ_last, w: &w, w_last: &w_last, β: 0.7 };
                        let local_from =
                            Extrapolation { γ: &γ_local, γ_last: &last_local, w: &r, w_last: &r_last, β: 0.7 };
                        a.shape_impulses(&mut out);
                        b.shape_impulses(&mut out_local);
                        let x = a.descend(&from, &step, &mut out);
                        let y = b.descend(&local_from, &step, &mut out_local);
                        same(&local(&problem, &out), &out_local);
                        close(x.step_in_metric, y.step_in_metric);
                        close(x.uphill, y.uphill);
                        close(x.residual, y.residual);
                        let (mut w, mut r) = (BodyVec::default(), Response::default());
                        a.shape_velocities(&mut w);
                        close(a.respond(&out, &from, &mut w), b.respond(&out_local, &local_from, &mut r));
                    }
                }
            }
        }
    }

    #[test]
    fn a_solver_finds_the_same_velocities() {
        let problem = problem(40);
        let assembled = Assembled::from_problem(&problem).unwrap();
        let options = SolverOptions { tolerance: 1e-9, max_iterations: 100_000, ..SolverOptions::default() };
        let mut workspace = Workspace::default();
        let mut operator = MatrixFree::new(&problem, &mut workspace);
        let (mut γ, mut w, mut u) = (ContactVec::zeros(40), BodyVec::default(), ContactVec::default());
        let report = Apgd::default().solve(Solve::new(&mut operator, &mut γ, &mut w, &options));
        assert_eq!(report.status, Status::Converged);
        operator.gradient(&γ, &mut u);
        let mut operator = BlockSparse::new(&assembled);
        let (mut r, mut response, mut u_local) = (ContactVec::zeros(40), Response::default(), ContactVec::default());
        let twin = Apgd::default().solve(Solve::new(&mut operator, &mut r, &mut response, &options));
        assert_eq!(twin.status, Status::Converged);
        assert!((report.objective - twin.objective).abs() < 1e-8 * report.objective.abs(), "{report:?} {twin:?}");
        operator.gradient(&r, &mut u_local);
        for (a, b) in local(&problem, &u).iter().zip(u_local.iter()) {
            assert!((a - b).length() < 1e-5, "{a} is not {b}");
        }
        assert!((response.get(7) + assembled.bias.get(7) - u_local.get(7)).length() < 1e-12);
    }

    #[test]
    fn fixed_bodies_do_not_couple_contacts_and_rows_are_refused() {
        let mut problem = Problem {
            inverse_mass: vec![1.0, 2.0, 0.0],
            geometry: Geometry::round(vec![0.1, 0.2, 0.0], vec![7.0, 5.0, 0.0]),
            pairs: vec![[0, 2], [1, 2]],
            normals: ContactVec::from_slice(&[DVec3::Z; 2]),
            friction: ContactScalars::from_slice(&[0.3; 2]),
            bias: ContactVec::from_slice(&[DVec3::new(0.5, 0.25, -1.0); 2]),
            rows: Vec::new(),
            slip_rounding: 0.0,
        };
        let assembled = Assembled::from_problem(&problem).unwrap();
        assert_eq!((&assembled.starts[..], &assembled.columns[..]), (&[0, 1, 2][..], &[0, 1][..]));
        let tangential = 1.0 + 0.01 * 7.0;
        assert!(assembled.blocks[0].abs_diff_eq(DMat3::from_diagonal(DVec3::new(1.0, tangential, tangential)), 1e-15));
        // For the normal Z the tangents are −Y and X.
        assert_eq!(assembled.bias.get(0), DVec3::new(-1.0, -0.25, 0.5));

        problem = problem.to_general();
        let jacobian = [[DVec3::X, DVec3::ZERO], [-DVec3::X, DVec3::ZERO]];
        problem.rows = vec![crate::Row::bilateral([0, 1], jacobian)];
        problem.bias.rows = vec![0.0];
        assert_eq!(Assembled::from_problem(&problem), Err(BadAssembled::Rows { rows: 1 }));
        problem.pairs[0] = [9, 2];
        assert!(matches!(Assembled::from_problem(&problem), Err(BadAssembled::Problem(_))));
    }

    /// A contact whose tangents do not respond once led to a division by zero.
    #[test]
    fn rigid_tangents_are_no_obstacle() {
        let assembled = Assembled {
            starts: vec![0, 1],
            columns: vec![0],
            blocks: vec![DMat3::from_diagonal(DVec3::new(2.0, 0.0, 0.0))],
            friction: ContactScalars::from_slice(&[0.5]),
            bias: ContactVec::from_slice(&[DVec3::new(-1.0, 0.1, 0.0)]),
            slip_rounding: 0.0,
        };
        assert_eq!(assembled.check(), Ok(()));
        let (mut γ, mut w) = (ContactVec::zeros(1), Response::default());
        let options = SolverOptions { tolerance: 1e-10, ..SolverOptions::default() };
        let report = Apgd::default().solve(Solve::new(&mut BlockSparse::new(&assembled), &mut γ, &mut w, &options));
        assert_eq!(report.status, Status::Converged, "{report:?}");
        // min r_N² − r_N + 0.1 r_T with r_T = −r_N/2.
        assert!((γ.get(0) - DVec3::new(0.525, -0.2625, 0.0)).length() < 1e-8, "{}", γ.get(0));
    }

    #[test]
    fn the_same_bits_on_any_number_of_threads() {
        let assembled = Assembled::from_problem(&problem(900)).unwrap();
        let solve = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let (mut γ, mut w) = (ContactVec::zeros(900), Response::default());
                let options = SolverOptions { tolerance: 1e-6, max_iterations: 40, ..SolverOptions::default() };
                let report = Apgd::default()
                    .solve(Solve::new(&mut BlockSparse::new(&assembled), &mut γ, &mut w, &options).with_history(true));
                (γ, report)
            })
        };
        let one = solve(1);
        assert!(one.1.iterations > 10);
        assert_eq!(one, solve(2));
        assert_eq!(one, solve(5));
    }
}
