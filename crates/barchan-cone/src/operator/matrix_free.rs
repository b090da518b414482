//! A = DᵀM⁻¹D without ever assembling it: one pass over bodies that gathers their contacts'
//! impulses in fixed order, one pass over contacts. No atomics, no locks, and no order that
//! depends on the number of threads. The passes themselves are in `kernels.rs`.

use crate::lanes::{LANES, V4};
use crate::newton::NewtonMemory;
use crate::operator::communicator::{self, Comm, ProblemCommunicator};
use crate::operator::cone_problem::{ConeProblem, Descent, DescentStep, Extrapolation, Metric};
use crate::operator::contactwise::{self, BLOCK_CHUNK, Sums, scales};
use crate::operator::kernels::{self, BODY_CHUNK, BodyLists, BodyPass, Pass, Scales, Step, Twist};
use crate::problem::rows::{Row, RowLists, RowStep, add_residual, descend_rows};
use crate::sweep::SweepSpace;
use crate::{ContactScalars, ContactVec};
use crate::{Criterion, Friction, ProblemRef, Residuals};
use barchan_parallel::{exclusive_scan, fold_chunks, fold_chunks_mut, for_chunks_mut, reserve_with_slack};
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
    /// b with a shift.
    shifted: ContactVec,
    /// a_n and κ = a_t/a_n of each contact, from its diagonal block.
    pub(crate) normal_scale: ContactScalars,
    pub(crate) ratio: ContactScalars,
    /// How bodies answer to impulses and moments.
    pub(crate) scales: Scales,
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
    pub(crate) problem: ProblemRef<'a>,
    pub(crate) ws: &'a mut Workspace,
    metric: Metric,
    pub(crate) law: Friction,
    /// Whether b is the shifted one.
    is_shifted: bool,
    /// Inverse of the mean diagonal of A: the step of the natural map.
    pub(crate) η: f64,
    /// ‖Π(−ηb)‖: what the natural map is measured against.
    pub(crate) natural_unit: f64,
    /// The communicator.
    pub(crate) comm: Comm<'a>,
    /// Contacts and bilateral rows of all parts.
    members: usize,
    contacts: usize,
}

impl<'a> MatrixFree<'a> {
    /// Prepares the operator of a valid problem; see [`crate::Problem::check`]. Values that are not numbers
    /// do no harm here: solvers find and report them.
    pub fn new(problem: impl Into<ProblemRef<'a>>, ws: &'a mut Workspace) -> Self {
        Self::part(problem, ws, None)
    }

    /// Prepares the operator of one part of a problem that is spread over ranks.
    ///
    /// # Panics
    /// If parts of the problem differ in length.
    pub fn part(
        problem: impl Into<ProblemRef<'a>>,
        ws: &'a mut Workspace,
        comm: Option<&'a mut (dyn ProblemCommunicator + 'a)>,
    ) -> Self {
        let problem = problem.into();
        if let Err(error) = problem.check_lengths() {
            panic!("{error}");
        }
        ws.newton.clear();
        ws.lists.fill(&problem);
        ws.rows.fill(&problem);
        ws.scales.fill(&problem);
        if let Some(comm) = &comm {
            ws.is_shared.clear();
            ws.is_shared.resize(problem.bodies(), false);
            comm.shared().iter().for_each(|&j| ws.is_shared[j as usize] = true);
        }
        let mut this = Self { comm, ..Self::view(problem, ws) };
        this.η = this.inverse_mean_diagonal();
        this.natural_unit = this.projected_bias_norm();
        this
    }

    /// Looks at a problem again for which the workspace was prepared already.
    pub fn view(problem: impl Into<ProblemRef<'a>>, ws: &'a mut Workspace) -> Self {
        let problem = problem.into();
        let (metric, law) = (Metric::Contact, Friction::Associated);
        let contacts = problem.contacts();
        let members = contacts + problem.rows.len();
        Self { problem, ws, metric, law, is_shifted: false, η: 1.0, natural_unit: 0.0, comm: None, members, contacts }
    }

    /// The same for one part of a problem that is spread over ranks.
    pub fn view_part(
        problem: impl Into<ProblemRef<'a>>,
        ws: &'a mut Workspace,
        comm: Option<&'a mut (dyn ProblemCommunicator + 'a)>,
    ) -> Self {
        Self { comm, ..Self::view(problem, ws) }
    }

    /// a_n of a contact: how its normal velocity answers to a normal impulse.
    pub fn normal_answer(&self) -> impl Fn(usize) -> f64 + Sync + '_ {
        let (scales, problem) = (&self.ws.scales, &self.problem);
        move |contact| scales.diagonal(problem, contact).0
    }

    /// The velocity change of a body: linear and angular.
    pub fn twist(&self, w: &BodyVec, body: usize) -> [DVec3; 2] {
        self.twists(w)(body)
    }

    /// The velocity changes of all bodies.
    pub fn twists<'b>(&'b self, w: &'b BodyVec) -> impl Fn(usize) -> [DVec3; 2] + Sync + 'b {
        let (geometry, scales) = (self.problem.geometry, &self.ws.scales.round);
        move |body| {
            let [x, y, z, a, b, c] = w.0[body];
            let turns = scales[body].spin > 0.0 || geometry.tensors.of(body).is_some();
            let spin = if turns { DVec3::new(a, b, c) / geometry.radius[body] } else { DVec3::ZERO };
            [DVec3::new(x, y, z), spin]
        }
    }

    fn blocks(&self) -> usize {
        self.problem.normals.blocks().len()
    }

    /// 3m over the trace of A, of all parts. Counts contacts and rows on the way.
    fn inverse_mean_diagonal(&mut self) -> f64 {
        let (problem, m) = (self.problem, self.problem.contacts());
        let of_bodies = &self.ws.scales;
        let trace_of = |i: usize| {
            let (normal, tangential) = of_bodies.diagonal(&problem, i);
            let (a_n, κ) = scales(Metric::Contact, normal, tangential);
            a_n * (1.0 + 2.0 * κ)
        };
        let trace = |range: Range<usize>| range.map(trace_of).sum::<f64>();
        let trace = fold_chunks(m, BODY_CHUNK, &mut self.ws.norms, 0.0, trace, |a, b| a + b)
            + self.ws.rows.diagonal.iter().sum::<f64>();
        let mut totals = [trace, m as f64, self.problem.rows.len() as f64];
        communicator::sum(&mut self.comm, &mut totals);
        let [trace, contacts, rows] = totals;
        (self.contacts, self.members) = (contacts as usize, (contacts + rows) as usize);
        if self.members == 0 { 1.0 } else { (3.0 * contacts + rows) / trace }
    }

    fn projected_bias_norm(&mut self) -> f64 {
        let (p, η, coulomb) = (self.problem, self.η, self.coulomb());
        let mut slots = std::mem::take(&mut self.ws.norms);
        let bias = self.residual_bias();
        let body =
            |range: Range<usize>| contactwise::projected_norm_squared(p.cones(), bias.blocks(), η, coulomb, range);
        let contacts = fold_chunks(self.blocks(), BLOCK_CHUNK, &mut slots, 0.0, body, |a, b| a + b);
        let of_row = |(b, row): (&f64, &Row)| row.project(-η * b).powi(2);
        let rows: f64 = bias.rows.iter().zip(&self.ws.rows.rows).map(of_row).sum();
        self.ws.norms = slots;
        let mut total = [contacts + rows];
        communicator::sum(&mut self.comm, &mut total);
        total[0].sqrt()
    }

    /// The right-hand side of steps.
    pub(crate) fn bias(&self) -> &ContactVec {
        if self.is_shifted { &self.ws.shifted } else { self.problem.bias }
    }

    /// Under Coulomb's law: the speed below which slip is rounded off.
    pub(crate) fn coulomb(&self) -> Option<f64> {
        (self.law == Friction::Coulomb).then_some(self.problem.slip_rounding)
    }

    /// The right-hand side that residuals are measured with: the exact law brings its own shift.
    fn residual_bias(&self) -> &ContactVec {
        if self.law == Friction::Coulomb { self.problem.bias } else { self.bias() }
    }

    /// Residuals from the sums of a pass, once they are those of all parts.
    pub(crate) fn residuals_of(&self, sums: &Sums) -> Residuals {
        sums.residuals(self.members, self.natural_unit)
    }

    /// One residual from the sums of a pass over this part.
    pub(crate) fn agreed(&mut self, sums: &mut Sums, criterion: Criterion) -> f64 {
        communicator::reduce(&mut self.comm, sums, criterion != Criterion::Natural);
        self.residuals_of(sums).by(criterion)
    }

    /// The descent step of the rows.
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
            rows: &self.ws.rows.rows,
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
        let body = |range, x: &mut [f64]| descend_rows(&step, range, x);
        fold_chunks_mut(x, BODY_CHUNK, slots, Sums::default(), body, Sums::add)
    }

    /// out ← Aγ + b, where `w` is the response of γ.
    pub(crate) fn gradient_of_response(&self, γ: &ContactVec, w: &BodyVec, out: &mut ContactVec) {
        self.shape_impulses(out);
        let rows = self.ws.rows.rows.iter().zip(&self.bias().rows).zip(&γ.rows);
        for (g, ((row, b), λ)) in out.rows.iter_mut().zip(rows) {
            *g = row.gradient(*λ, &w.0, *b);
        }
        let pass = self.pass(w);
        for_chunks_mut(out.blocks_mut(), BLOCK_CHUNK, |range, out| kernels::gradient_blocks(&pass, range, out));
    }

    fn pass<'b>(&'b self, w: &'b BodyVec) -> Pass<'b> {
        Pass {
            problem: self.problem,
            bias: self.bias().blocks(),
            normal_scale: self.ws.normal_scale.blocks(),
            ratio: self.ws.ratio.blocks(),
            w: &w.0,
            η: self.η,
        }
    }

    /// What the pass over bodies reads to find the response of impulses.
    fn body_pass<'b>(&'b self, γ: &'b ContactVec) -> BodyPass<'b> {
        let Workspace { scales, lists, rows, .. } = &*self.ws;
        let (problem, λ, x) = (self.problem, &γ.rows[..], γ.blocks());
        BodyPass { problem, scales, lists, rows, λ, x, w: &[], w_last: &[], β: 0.0, left_out: &[] }
    }
}

impl BodyLists {
    /// Lists the contacts of every chunk of bodies. Contacts are grouped by body A already.
    fn fill(&mut self, problem: &ProblemRef<'_>) {
        let (n, round) = (problem.bodies(), problem.round());
        let general = if round < problem.contacts() { n + 1 } else { 0 };
        for (list, len) in [
            (&mut self.first, n + 1),
            (&mut self.first_general, general),
            (&mut self.foreign_start, n.div_ceil(BODY_CHUNK) + 1),
        ] {
            list.clear();
            reserve_with_slack(list, len);
            list.resize(len, 0);
        }
        let foreign = |[a, b]: [u32; 2]| {
            let (home, away) = (a as usize / BODY_CHUNK, b as usize / BODY_CHUNK);
            (home != away && problem.inverse_mass[b as usize] > 0.0).then_some(away)
        };
        problem.pairs[..round].iter().for_each(|pair| self.first[pair[0] as usize] += 1);
        problem.pairs[round..].iter().for_each(|pair| self.first_general[pair[0] as usize] += 1);
        for chunk in problem.pairs.iter().filter_map(|&pair| foreign(pair)) {
            self.foreign_start[chunk + 1] += 1;
        }
        exclusive_scan(&mut self.first);
        exclusive_scan(&mut self.first_general);
        self.first_general.iter_mut().for_each(|first| *first += round as u32);
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

    fn rows(&self) -> usize {
        self.members - self.contacts
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

    fn slip_rounding(&self) -> f64 {
        self.problem.slip_rounding
    }

    fn set_slip_rounding(&mut self, speed: f64) -> bool {
        self.problem.slip_rounding = speed;
        self.natural_unit = self.projected_bias_norm();
        true
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
            self.combine(1.0, self.problem.bias, 1.0, shift, &mut shifted);
            self.ws.shifted = shifted;
        }
        self.natural_unit = self.projected_bias_norm();
    }

    fn slip(&mut self, w: &BodyVec, out: &mut ContactVec) {
        self.clear_impulses(out);
        let pass = self.pass(w);
        for_chunks_mut(out.blocks_mut(), BLOCK_CHUNK, |range, out| kernels::slip_blocks(&pass, range, out));
    }

    fn combine(&mut self, a: f64, x: &ContactVec, c: f64, y: &ContactVec, out: &mut ContactVec) {
        self.shape_impulses(out);
        for (out, (x, y)) in out.rows.iter_mut().zip(x.rows.iter().zip(&y.rows)) {
            *out = a * x + c * y;
        }
        for_chunks_mut(out.blocks_mut(), BLOCK_CHUNK, |range, out| {
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
        let of_bodies = &self.ws.scales;
        let both = (normal_scale.blocks_mut(), ratio.blocks_mut());
        for_chunks_mut(both, BLOCK_CHUNK, |range, (a_n, κ)| {
            for i in range.start * LANES..range.end * LANES {
                let (normal, tangential) = if i < m { of_bodies.diagonal(&problem, i) } else { (1.0, 1.0) };
                let (block, lane) = (i / LANES - range.start, i % LANES);
                (a_n[block].0[lane], κ[block].0[lane]) = scales(metric, normal, tangential);
            }
        });
        self.ws.normal_scale = normal_scale;
        self.ws.ratio = ratio;
    }

    fn mean_scale(&self) -> f64 {
        self.metric.mean_scale(1.0 / self.η)
    }

    fn project(&mut self, γ: &mut ContactVec) {
        let cones = self.problem.cones();
        for_chunks_mut(γ.blocks_mut(), BLOCK_CHUNK, |range, γ| contactwise::project_blocks(cones, range, γ));
        for (λ, row) in γ.rows.iter_mut().zip(&self.ws.rows.rows) {
            *λ = row.project(*λ);
        }
    }

    fn gradient_at(&mut self, γ: &ContactVec, w: &BodyVec, out: &mut ContactVec) {
        self.gradient_of_response(γ, w, out);
    }

    fn dot(&mut self, a: &ContactVec, b: &ContactVec) -> f64 {
        let body = |range: Range<usize>| contactwise::dot_blocks(a.blocks(), b.blocks(), range);
        let rows: f64 = a.rows.iter().zip(&b.rows).map(|(a, b)| a * b).sum();
        let contacts = fold_chunks(self.blocks(), BLOCK_CHUNK, &mut self.ws.norms, 0.0, body, |a, b| a + b);
        let mut total = [rows + contacts];
        communicator::sum(&mut self.comm, &mut total);
        total[0]
    }

    fn dot_bias(&mut self, γ: &ContactVec) -> f64 {
        let p = self.problem;
        self.dot(p.bias, γ)
    }

    fn descend(&mut self, from: &Extrapolation<'_, Self>, step: &DescentStep, x: &mut ContactVec) -> Descent {
        let DescentStep { lipschitz, criterion } = *step;
        let (γ, γ_last) = (from.γ.blocks(), from.γ_last.blocks());
        let step = Step { γ, γ_last, w_last: &from.w_last.0, β: from.β, lipschitz };
        let mut slots = std::mem::take(&mut self.ws.sums);
        let rows = self.descend_rows(from, lipschitz, &mut x.rows, &mut slots);
        let pass = self.pass(from.w);
        let body = |range: Range<usize>, x: &mut [V4]| match criterion {
            Criterion::Natural => kernels::descend_natural(&pass, &step, range, x),
            Criterion::S1 | Criterion::S0 => kernels::descend_violations(&pass, &step, range, x),
        };
        let sums = fold_chunks_mut(x.blocks_mut(), BLOCK_CHUNK, &mut slots, Sums::default(), body, Sums::add);
        self.ws.sums = slots;
        let mut sums = Sums::add(sums, rows);
        let residual = self.agreed(&mut sums, criterion);
        Descent { step_in_metric: sums.step, uphill: sums.uphill, residual }
    }

    fn respond(&mut self, x: &ContactVec, from: &Extrapolation<'_, Self>, w: &mut BodyVec) -> f64 {
        let mut slots = std::mem::take(&mut self.ws.norms);
        let mut values = std::mem::take(&mut self.ws.values);
        let mut comm = self.comm.take();
        // Bodies that other parts act on as well get their norm once all of their response is known.
        let left_out = if comm.is_some() { &self.ws.is_shared[..] } else { &[] };
        let pass = BodyPass { w: &from.w.0, w_last: &from.w_last.0, β: from.β, left_out, ..self.body_pass(x) };
        let body = |range, to: &mut [Twist]| kernels::respond(&pass, range, to);
        let mut step = [fold_chunks_mut(&mut w.0, BODY_CHUNK, &mut slots, 0.0, body, |a, b| a + b)];
        communicator::sum_copies(&mut comm, &mut w.0, &mut values);
        if let Some(comm) = &mut comm {
            let mut norm = [0.0; 6];
            let mine = comm.shared().iter().zip(comm.is_owned()).filter(|(_, mine)| **mine);
            for j in mine.map(|(&j, _)| j).filter(|&j| self.problem.moves(j)) {
                pass.norm_of(j as usize, &w.0[j as usize], &mut norm);
            }
            step[0] += norm.iter().sum::<f64>();
        }
        // What compliances give way.
        for (k, row) in self.ws.rows.rows.iter().enumerate() {
            let γ = from.γ.rows[k];
            step[0] += row.compliance * (x.rows[k] - γ - (γ - from.γ_last.rows[k]) * from.β).powi(2);
        }
        communicator::sum(&mut comm, &mut step);
        self.ws.norms = slots;
        self.ws.values = values;
        self.comm = comm;
        step[0]
    }

    fn respond_to(&mut self, γ: &ContactVec, w: &mut BodyVec) {
        w.shape(self.problem.bodies());
        let pass = self.body_pass(γ);
        for_chunks_mut(&mut w.0[..], BODY_CHUNK, |range, to| {
            kernels::respond_alone(&pass, range, to);
        });
        communicator::sum_copies(&mut self.comm, &mut w.0, &mut self.ws.values);
    }

    fn residuals(&mut self, γ: &ContactVec, w: &BodyVec) -> (Residuals, f64) {
        let mut slots = std::mem::take(&mut self.ws.sums);
        let (bias, coulomb) = (self.residual_bias(), self.coulomb());
        let pass = Pass { bias: bias.blocks(), ..self.pass(w) };
        let body = |range: Range<usize>| kernels::residual_blocks(&pass, γ.blocks(), coulomb, range);
        let mut sums = fold_chunks(self.blocks(), BLOCK_CHUNK, &mut slots, Sums::default(), body, Sums::add);
        for (k, row) in self.ws.rows.rows.iter().enumerate() {
            add_residual(&mut sums, row, γ.rows[k], row.gradient(γ.rows[k], &w.0, bias.rows[k]), self.η);
        }
        self.ws.sums = slots;
        communicator::reduce(&mut self.comm, &mut sums, true);
        (self.residuals_of(&sums), sums.work)
    }
}
