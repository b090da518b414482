//! A = DᵀM⁻¹D without ever assembling it: one pass over bodies that gathers their contacts'
//! impulses in fixed order, one pass over contacts. No atomics, no locks, and no order that
//! depends on the number of threads. The passes themselves are in `kernels.rs`.

use crate::lanes::LANES;
use crate::newton::NewtonMemory;
use crate::operator::agreement::{self, Agreement, Line};
use crate::operator::contactwise::{self, BLOCK_CHUNK, Sums, scales};
use crate::operator::kernels::{
    self, BODY_CHUNK, BodyLists, BodyPass, General, Lever, Pass, Round, RoundScale, Step, Twist,
};
use crate::operator::seam::{ConeProblem, Descent, DescentStep, Extrapolation, Metric};
use crate::problem::rows::{RowLists, RowStep, add_residual, descend_rows};
use crate::sweep::SweepSpace;
use crate::{BadProblem, Criterion, Friction, Geometry, Problem, Residuals};
use crate::{ContactScalars, ContactVec};
use barchan_parallel::reserve_with_slack;
use barchan_parallel::{Disjoint, exclusive_scan, fold_chunks, for_chunks};
use glam::DVec3;
use std::ops::Range;

/// Body-side velocities: velocity and spin of each body.
#[derive(Clone, Debug, Default)]
pub struct BodyVec(pub(crate) Vec<Twist>);

impl BodyVec {
    fn shape(&mut self, bodies: usize) {
        reserve_with_slack(&mut self.0, bodies);
        self.0.resize(bodies, [0.0; 6]);
    }
}

/// Memory of the operator that is kept between steps.
#[derive(Debug, Default)]
pub struct Workspace {
    pub(crate) lists: BodyLists,
    pub(crate) rows: RowLists,
    pub(crate) sweep: SweepSpace,
    /// Impulses in their cones, and their response.
    pub(crate) projected: ContactVec,
    pub(crate) response: BodyVec,
    /// b with a shift.
    shifted: ContactVec,
    /// a_n and κ = a_t/a_n of each contact, from its diagonal block.
    pub(crate) normal_scale: ContactScalars,
    pub(crate) ratio: ContactScalars,
    /// Scales of each body, where bodies are round.
    pub(crate) round: Vec<RoundScale>,
    sums: Vec<Sums>,
    norms: Vec<f64>,
    /// Values of shared bodies, and which bodies those are.
    pub(crate) values: Vec<Twist>,
    is_shared: Vec<bool>,
    /// Newton systems.
    pub(crate) newton: NewtonMemory,
}

/// A problem on the memory of one machine.
pub struct MatrixFree<'a> {
    pub(crate) problem: &'a Problem,
    pub(crate) ws: &'a mut Workspace,
    metric: Metric,
    pub(crate) law: Friction,
    /// Whether b is the shifted one.
    is_shifted: bool,
    /// Inverse of the mean diagonal of A: the step of the natural map.
    pub(crate) η: f64,
    /// ‖Π(−ηb)‖: what the natural map is measured against.
    pub(crate) natural_unit: f64,
    /// The line to the other parts of a problem that is spread over ranks.
    pub(crate) line: Line<'a>,
    /// Contacts and bilateral rows of all parts.
    members: usize,
    contacts: usize,
}

/// Runs an expression with the lever that fits the problem's geometry.
macro_rules! with_lever {
    ($self:expr, $lever:ident => $body:expr) => {
        match &$self.problem.geometry {
            Geometry::Round { .. } => {
                let $lever = Round(&$self.ws.round);
                $body
            }
            Geometry::General { inverse_inertia, arms_a, arms_b } => {
                let $lever = General { inverse_inertia, arms_a, arms_b };
                $body
            }
        }
    };
}

impl<'a> MatrixFree<'a> {
    /// Prepares the operator of a sound problem; see [`Problem::check`]. Values that are not numbers
    /// do no harm here: solvers find and report them.
    pub fn new(problem: &'a Problem, ws: &'a mut Workspace) -> Self {
        Self::part(problem, ws, None)
    }

    /// Prepares the operator of one part of a problem that is spread over ranks.
    pub fn part(problem: &'a Problem, ws: &'a mut Workspace, line: Option<&'a mut (dyn Agreement + 'a)>) -> Self {
        debug_assert!(!matches!(problem.check(), Err(BadProblem::Length { .. })), "{:?}", problem.check());
        ws.newton.forget();
        ws.lists.fill(problem);
        ws.rows.fill(problem);
        if let Geometry::Round { radius, inverse_inertia } = &problem.geometry {
            ws.round.clear();
            let inverse = |x: f64| if x > 0.0 { 1.0 / x } else { 0.0 };
            ws.round.extend(radius.iter().zip(inverse_inertia).zip(&problem.inverse_mass).map(|((r, i), m)| {
                let spin = r * r * i;
                RoundScale { spin, mass: inverse(*m), inertia: inverse(spin) }
            }));
        }
        if let Some(line) = &line {
            ws.is_shared.clear();
            ws.is_shared.resize(problem.bodies(), false);
            line.shared().iter().for_each(|&j| ws.is_shared[j as usize] = true);
        }
        let mut this = Self { line, ..Self::view(problem, ws) };
        this.set_metric(Metric::Contact);
        this.η = this.inverse_mean_diagonal();
        this.natural_unit = this.projected_bias_norm();
        this
    }

    /// Looks at a problem again for which the workspace was prepared already.
    pub fn view(problem: &'a Problem, ws: &'a mut Workspace) -> Self {
        let (metric, law) = (Metric::Contact, Friction::Associated);
        let contacts = problem.contacts();
        let members = contacts + problem.rows.len();
        Self { problem, ws, metric, law, is_shifted: false, η: 1.0, natural_unit: 0.0, line: None, members, contacts }
    }

    /// The velocity change of a body: linear and angular.
    pub fn twist(&self, w: &BodyVec, body: usize) -> [DVec3; 2] {
        self.twists(w)(body)
    }

    /// The velocity changes of all bodies.
    pub fn twists<'b>(&'b self, w: &'b BodyVec) -> impl Fn(usize) -> [DVec3; 2] + Sync + 'b {
        let (geometry, round) = (&self.problem.geometry, &self.ws.round);
        move |body| {
            let w = w.0[body];
            let (v, s) = (DVec3::new(w[0], w[1], w[2]), DVec3::new(w[3], w[4], w[5]));
            match geometry {
                Geometry::Round { radius, .. } => {
                    [v, if round[body].spin > 0.0 { s / radius[body] } else { DVec3::ZERO }]
                }
                Geometry::General { .. } => [v, s],
            }
        }
    }

    fn blocks(&self) -> usize {
        self.problem.normals.blocks().len()
    }

    /// 3m over the trace of A, of all parts. Needs the metric of contacts. Counts them on the way.
    fn inverse_mean_diagonal(&mut self) -> f64 {
        let m = self.problem.contacts();
        let (a_n, κ) = (&self.ws.normal_scale, &self.ws.ratio);
        let trace = |range: Range<usize>| range.map(|i| a_n[i] * (1.0 + 2.0 * κ[i])).sum::<f64>();
        let trace = fold_chunks(m, BODY_CHUNK, &mut self.ws.norms, 0.0, trace, |a, b| a + b)
            + self.ws.rows.diagonal.iter().sum::<f64>();
        let mut totals = [trace, m as f64, self.problem.rows.len() as f64];
        agreement::sum(&mut self.line, &mut totals);
        let [trace, contacts, rows] = totals;
        (self.contacts, self.members) = (contacts as usize, (contacts + rows) as usize);
        if self.members == 0 { 1.0 } else { (3.0 * contacts + rows) / trace }
    }

    fn projected_bias_norm(&mut self) -> f64 {
        let (p, η, coulomb) = (self.problem, self.η, self.law == Friction::Coulomb);
        let mut slots = std::mem::take(&mut self.ws.norms);
        let bias = self.judged_bias();
        let body =
            |range: Range<usize>| contactwise::projected_norm_squared(p.cones(), bias.blocks(), η, coulomb, range);
        let contacts = fold_chunks(self.blocks(), BLOCK_CHUNK, &mut slots, 0.0, body, |a, b| a + b);
        let rows: f64 = bias.rows.iter().map(|b| (η * b) * (η * b)).sum();
        self.ws.norms = slots;
        let mut total = [contacts + rows];
        agreement::sum(&mut self.line, &mut total);
        total[0].sqrt()
    }

    /// The right-hand side of steps.
    pub(crate) fn bias(&self) -> &ContactVec {
        if self.is_shifted { &self.ws.shifted } else { &self.problem.bias }
    }

    /// The right-hand side by which residuals judge: the exact law brings its own shift.
    fn judged_bias(&self) -> &ContactVec {
        if self.law == Friction::Coulomb { &self.problem.bias } else { self.bias() }
    }

    /// Residuals from the sums of a pass, once they are those of all parts.
    pub(crate) fn residuals_of(&self, sums: &Sums) -> Residuals {
        sums.residuals(self.members, self.natural_unit)
    }

    /// One residual from the sums of a pass over this part.
    pub(crate) fn agreed(&mut self, sums: &mut Sums, criterion: Criterion) -> f64 {
        agreement::reduce(&mut self.line, sums, criterion != Criterion::Natural);
        self.residuals_of(sums).by(criterion)
    }

    /// The descent step of the bilateral rows.
    fn descend_rows(
        &self,
        from: &Extrapolation<'_, Self>,
        lipschitz: f64,
        x: &mut [f64],
        slots: &mut Vec<Sums>,
    ) -> Sums {
        if x.is_empty() {
            return Sums::default();
        }
        let step = RowStep {
            problem: self.problem,
            bias: self.bias(),
            scale: (self.metric != Metric::Identity).then_some(&self.ws.rows.diagonal[..]),
            γ: &from.γ.rows,
            γ_last: &from.γ_last.rows,
            w: &from.w.0,
            w_last: &from.w_last.0,
            β: from.β,
            lipschitz,
            η: self.η,
        };
        let (n, out) = (x.len(), Disjoint::new(x));
        let body = |range: Range<usize>| {
            // SAFETY: chunks are disjoint.
            let x = unsafe { out.range(range.clone()) };
            descend_rows(&step, range, x)
        };
        fold_chunks(n, BODY_CHUNK, slots, Sums::default(), body, Sums::add)
    }

    /// out ← Aγ + b, where `w` is the response of γ.
    pub(crate) fn gradient_of_response(&self, w: &BodyVec, out: &mut ContactVec) {
        self.shape_impulses(out);
        for (g, (row, b)) in out.rows.iter_mut().zip(self.problem.rows.iter().zip(&self.bias().rows)) {
            *g = row.velocity(&w.0) + b;
        }
        let to = Disjoint::new(out.blocks_mut());
        with_lever!(self, lever => {
            let pass = self.pass(lever, w);
            for_chunks(self.blocks(), BLOCK_CHUNK, |range| {
                // SAFETY: chunks are disjoint.
                let out = unsafe { to.range(range.clone()) };
                kernels::gradient_blocks(&pass, range, out);
            });
        });
    }

    fn pass<'b, L: Lever>(&'b self, lever: L, w: &'b BodyVec) -> Pass<'b, L> {
        Pass {
            lever,
            problem: self.problem,
            bias: self.bias().blocks(),
            normal_scale: self.ws.normal_scale.blocks(),
            ratio: self.ws.ratio.blocks(),
            w: &w.0,
            η: self.η,
        }
    }
}

impl BodyLists {
    /// Lists the contacts of every chunk of bodies. Contacts are grouped by body A already.
    fn fill(&mut self, problem: &Problem) {
        let n = problem.bodies();
        for (list, len) in [(&mut self.first, n + 1), (&mut self.foreign_start, n.div_ceil(BODY_CHUNK) + 1)] {
            list.clear();
            reserve_with_slack(list, len);
            list.resize(len, 0);
        }
        let foreign = |[a, b]: [u32; 2]| {
            let (home, away) = (a as usize / BODY_CHUNK, b as usize / BODY_CHUNK);
            (home != away && problem.inverse_mass[b as usize] > 0.0).then_some(away)
        };
        for &pair in &problem.pairs {
            self.first[pair[0] as usize] += 1;
            if let Some(chunk) = foreign(pair) {
                self.foreign_start[chunk + 1] += 1;
            }
        }
        exclusive_scan(&mut self.first);
        let total = exclusive_scan(&mut self.foreign_start[1..]);
        self.foreign.clear();
        reserve_with_slack(&mut self.foreign, total);
        self.foreign.resize(total, 0);
        // Slot c + 1 holds the start of chunk c, and its end once it is filled.
        for (i, &pair) in problem.pairs.iter().enumerate() {
            if let Some(chunk) = foreign(pair) {
                let place = &mut self.foreign_start[chunk + 1];
                self.foreign[*place as usize] = i as u32;
                *place += 1;
            }
        }
    }
}

impl ConeProblem for MatrixFree<'_> {
    type Impulses = ContactVec;
    type Velocities = BodyVec;

    fn contacts(&self) -> usize {
        self.contacts
    }

    fn is_empty(&self) -> bool {
        self.members == 0
    }

    fn shape_impulses(&self, γ: &mut ContactVec) {
        γ.reshape(self.problem.contacts());
        γ.rows.resize(self.problem.rows.len(), 0.0);
    }

    fn clear_impulses(&self, γ: &mut ContactVec) {
        γ.resize(self.problem.contacts());
        γ.rows.clear();
        γ.rows.resize(self.problem.rows.len(), 0.0);
    }

    fn shape_velocities(&self, w: &mut BodyVec) {
        w.shape(self.problem.bodies());
    }

    fn clear_velocities(&self, w: &mut BodyVec) {
        w.shape(self.problem.bodies());
        w.0.fill([0.0; 6]);
    }

    fn set_law(&mut self, law: Friction) {
        if law != self.law {
            self.law = law;
            self.natural_unit = self.projected_bias_norm();
        }
    }

    fn set_shift(&mut self, shift: Option<&ContactVec>) {
        self.is_shifted = shift.is_some();
        if let Some(shift) = shift {
            let mut shifted = std::mem::take(&mut self.ws.shifted);
            self.combine(1.0, &self.problem.bias, 1.0, shift, &mut shifted);
            self.ws.shifted = shifted;
        }
        self.natural_unit = self.projected_bias_norm();
    }

    fn slip(&mut self, w: &BodyVec, out: &mut ContactVec) {
        self.clear_impulses(out);
        let to = Disjoint::new(out.blocks_mut());
        with_lever!(self, lever => {
            let pass = self.pass(lever, w);
            for_chunks(self.blocks(), BLOCK_CHUNK, |range| {
                // SAFETY: chunks are disjoint.
                let out = unsafe { to.range(range.clone()) };
                kernels::slip_blocks(&pass, range, out);
            });
        });
    }

    fn combine(&mut self, a: f64, x: &ContactVec, c: f64, y: &ContactVec, out: &mut ContactVec) {
        self.shape_impulses(out);
        for (out, (x, y)) in out.rows.iter_mut().zip(x.rows.iter().zip(&y.rows)) {
            *out = a * x + c * y;
        }
        let to = Disjoint::new(out.blocks_mut());
        for_chunks(self.blocks(), BLOCK_CHUNK, |range| {
            // SAFETY: chunks are disjoint.
            let out = unsafe { to.range(range.clone()) };
            contactwise::combine_blocks(a, x.blocks(), c, y.blocks(), range, out);
        });
    }

    fn set_metric(&mut self, metric: Metric) {
        self.metric = metric;
        let (problem, m) = (self.problem, self.problem.contacts());
        let mut normal_scale = std::mem::take(&mut self.ws.normal_scale);
        let mut ratio = std::mem::take(&mut self.ws.ratio);
        normal_scale.resize(m);
        ratio.resize(m);
        with_lever!(self, lever => {
            let out = (Disjoint::new(normal_scale.blocks_mut()), Disjoint::new(ratio.blocks_mut()));
            for_chunks(self.blocks(), BLOCK_CHUNK, |range| {
                // SAFETY: chunks are disjoint.
                let (a_n, κ) = unsafe { (out.0.range(range.clone()), out.1.range(range.clone())) };
                for i in range.start * LANES..range.end * LANES {
                    let (normal, tangential) = if i < m { kernels::diagonal(problem, &lever, i) } else { (1.0, 1.0) };
                    let (block, lane) = (i / LANES - range.start, i % LANES);
                    (a_n[block].0[lane], κ[block].0[lane]) = scales(metric, normal, tangential);
                }
            });
        });
        self.ws.normal_scale = normal_scale;
        self.ws.ratio = ratio;
    }

    fn mean_scale(&self) -> f64 {
        self.metric.mean_scale(1.0 / self.η)
    }

    fn project(&mut self, γ: &mut ContactVec) {
        let (p, out) = (self.problem, Disjoint::new(γ.blocks_mut()));
        for_chunks(p.normals.blocks().len(), BLOCK_CHUNK, |range| {
            // SAFETY: chunks are disjoint.
            let γ = unsafe { out.range(range.clone()) };
            contactwise::project_blocks(p.cones(), range, γ);
        });
    }

    fn gradient_at(&mut self, w: &BodyVec, out: &mut ContactVec) {
        self.gradient_of_response(w, out);
    }

    fn dot(&mut self, a: &ContactVec, b: &ContactVec) -> f64 {
        let body = |range: Range<usize>| contactwise::dot_blocks(a.blocks(), b.blocks(), range);
        let rows: f64 = a.rows.iter().zip(&b.rows).map(|(a, b)| a * b).sum();
        let contacts = fold_chunks(self.blocks(), BLOCK_CHUNK, &mut self.ws.norms, 0.0, body, |a, b| a + b);
        let mut total = [rows + contacts];
        agreement::sum(&mut self.line, &mut total);
        total[0]
    }

    fn dot_bias(&mut self, γ: &ContactVec) -> f64 {
        let p = self.problem;
        self.dot(&p.bias, γ)
    }

    fn descend(&mut self, from: &Extrapolation<'_, Self>, step: &DescentStep, x: &mut ContactVec) -> Descent {
        let DescentStep { lipschitz, criterion } = *step;
        let (γ, γ_last) = (from.γ.blocks(), from.γ_last.blocks());
        let step = Step { γ, γ_last, w_last: &from.w_last.0, β: from.β, lipschitz };
        let mut slots = std::mem::take(&mut self.ws.sums);
        let rows = self.descend_rows(from, lipschitz, &mut x.rows, &mut slots);
        let out = Disjoint::new(x.blocks_mut());
        let sums = with_lever!(self, lever => {
            let pass = self.pass(lever, from.w);
            let body = |range: Range<usize>| {
                // SAFETY: chunks are disjoint.
                let x = unsafe { out.range(range.clone()) };
                match criterion {
                    Criterion::Natural => kernels::descend_natural(&pass, &step, range, x),
                    Criterion::S1 | Criterion::S0 => kernels::descend_violations(&pass, &step, range, x),
                }
            };
            fold_chunks(self.blocks(), BLOCK_CHUNK, &mut slots, Sums::default(), body, Sums::add)
        });
        self.ws.sums = slots;
        let mut sums = Sums::add(sums, rows);
        let residual = self.agreed(&mut sums, criterion);
        Descent { step_in_metric: sums.step, uphill: sums.uphill, residual }
    }

    fn respond(&mut self, x: &ContactVec, from: &Extrapolation<'_, Self>, w: &mut BodyVec) -> f64 {
        let mut slots = std::mem::take(&mut self.ws.norms);
        let mut values = std::mem::take(&mut self.ws.values);
        let mut line = self.line.take();
        let left_out = if line.is_some() { &self.ws.is_shared[..] } else { &[] };
        let step = with_lever!(self, lever => {
            let (problem, lists, rows, λ) = (self.problem, &self.ws.lists, &self.ws.rows, &x.rows[..]);
            let (w_now, w_last, β) = (&from.w.0[..], &from.w_last.0[..], from.β);
            let pass = BodyPass { lever, problem, lists, rows, λ, x: x.blocks(), w: w_now, w_last, β, left_out };
            let out = Disjoint::new(&mut w.0);
            let body = |range: Range<usize>| {
                // SAFETY: chunks are disjoint.
                let to = unsafe { out.range(range.clone()) };
                kernels::respond(&pass, range, to)
            };
            let mut step = [fold_chunks(problem.bodies(), BODY_CHUNK, &mut slots, 0.0, body, |a, b| a + b)];
            agreement::sum_copies(&mut line, &mut w.0, &mut values);
            if let Some(line) = &mut line {
                let mut norm = [0.0; 6];
                let mine = line.shared().iter().zip(line.is_mine()).filter(|(_, mine)| **mine);
                for j in mine.map(|(&j, _)| j as usize).filter(|&j| problem.inverse_mass[j] > 0.0) {
                    pass.add_norm(j, problem.inverse_mass[j], &w.0[j], &mut norm);
                }
                step[0] += norm.iter().sum::<f64>();
                line.reduce(&mut step, &mut []);
            }
            step[0]
        });
        (self.ws.norms, self.ws.values, self.line) = (slots, values, line);
        step
    }

    fn respond_to(&mut self, γ: &ContactVec, w: &mut BodyVec) {
        w.shape(self.problem.bodies());
        let out = Disjoint::new(&mut w.0);
        with_lever!(self, lever => {
            let (problem, lists, rows, λ) = (self.problem, &self.ws.lists, &self.ws.rows, &γ.rows[..]);
            let x = γ.blocks();
            let pass = BodyPass { lever, problem, lists, rows, λ, x, w: &[], w_last: &[], β: 0.0, left_out: &[] };
            for_chunks(problem.bodies(), BODY_CHUNK, |range| {
                // SAFETY: chunks are disjoint.
                let to = unsafe { out.range(range.clone()) };
                kernels::respond_alone(&pass, range, to);
            });
        });
        agreement::sum_copies(&mut self.line, &mut w.0, &mut self.ws.values);
    }

    fn residuals(&mut self, γ: &ContactVec, w: &BodyVec) -> (Residuals, f64) {
        let mut slots = std::mem::take(&mut self.ws.sums);
        let (bias, coulomb) = (self.judged_bias(), self.law == Friction::Coulomb);
        let mut sums = with_lever!(self, lever => {
            let pass = Pass { bias: bias.blocks(), ..self.pass(lever, w) };
            let body = |range: Range<usize>| kernels::judge_blocks(&pass, γ.blocks(), coulomb, range);
            fold_chunks(self.blocks(), BLOCK_CHUNK, &mut slots, Sums::default(), body, Sums::add)
        });
        for (k, row) in self.problem.rows.iter().enumerate() {
            add_residual(&mut sums, γ.rows[k], row.velocity(&w.0) + bias.rows[k], self.η);
        }
        self.ws.sums = slots;
        agreement::reduce(&mut self.line, &mut sums, true);
        (self.residuals_of(&sums), sums.work)
    }
}
