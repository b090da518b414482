//! The second interface on the memory of one machine.

use super::body_side::BodySide;
use super::conjugate::{Conjugate, Stop, dot};
use super::contact_side::{ContactSide, LARGEST_FACTOR};
use super::copies::Copies;
use super::overlap::Overlap;
use super::schwarz::{LAYERS, Schwarz};
use super::{Fold, NewtonOptions, NewtonProblem, System, Unknown, mapping};
use crate::ContactVec;
use crate::operator::matrix_free::MatrixFree;
use crate::{ConeProblem, ProblemCommunicator};
use barchan_cholesky::Cholesky;
use glam::DVec3;
use std::cell::RefCell;

/// Memory of Newton systems that is kept between solves.
#[derive(Default)]
pub(crate) struct NewtonMemory {
    side: BodySide,
    contacts: ContactSide,
    /// Which of both sides is used.
    on_contacts: bool,
    cholesky: Cholesky,
    h: [ContactVec; 2],
    z: Vec<f64>,
    rest: Vec<f64>,
    folds: Vec<Fold>,
    /// Whether the system's structure is that of the present problem.
    is_prepared: bool,
    is_analysed: bool,
    is_direct: bool,
    schwarz: Schwarz,
    is_cut: bool,
    conjugate: Conjugate,
    stop: Stop,
    copies: Copies,
    overlap: Overlap,
}

impl std::fmt::Debug for NewtonMemory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("NewtonMemory").field("size", &self.side.size()).finish_non_exhaustive()
    }
}

impl NewtonMemory {
    /// Says that another problem is about to come.
    pub(crate) fn clear(&mut self) {
        self.is_prepared = false;
    }

    /// Prepares the domain of a part. Says whether it could.
    fn factor_part(&mut self, comm: &mut dyn ProblemCommunicator) -> bool {
        let Self { overlap, schwarz, .. } = self;
        let is_whole = overlap.fill(&mut self.side, &mut self.copies, comm);
        if is_whole && !self.is_cut {
            self.is_cut = schwarz.analyse(&overlap.pattern, overlap.own(), overlap.layers);
        }
        is_whole && self.is_cut && schwarz.factor(&overlap.values)
    }
}

impl NewtonProblem for MatrixFree<'_> {
    fn map<const N: usize, const M: usize>(
        &mut self,
        read: [&ContactVec; N],
        mut write: [&mut ContactVec; M],
        body: impl Fn(&Unknown, [DVec3; N], &mut [DVec3; M]) -> Fold + Sync,
    ) -> Fold {
        write.iter_mut().for_each(|out| self.shape_impulses(out));
        let (problem, m) = (self.problem, self.problem.contacts());
        let mut rows = Fold::default();
        for k in 0..problem.rows.len() {
            let row = &self.ws.rows.rows[k];
            let unknown =
                Unknown::Row { scale: self.ws.rows.diagonal[k], compliance: row.compliance, limits: row.limits };
            let mut out: [DVec3; M] = std::array::from_fn(|i| DVec3::new(write[i].rows[k], 0.0, 0.0));
            let fold = body(&unknown, std::array::from_fn(|i| DVec3::new(read[i].rows[k], 0.0, 0.0)), &mut out);
            (0..M).for_each(|i| write[i].rows[k] = out[i].x);
            rows = rows.and(fold);
        }
        let mut slots = std::mem::take(&mut self.ws.newton.folds);
        let (a_n, κ) = (&self.ws.normal_scale, &self.ws.ratio);
        let unknown = |i: usize| Unknown::Contact {
            normal: problem.normals.get(i),
            friction: problem.friction[i],
            scale: [a_n[i], a_n[i] * κ[i]],
        };
        let sum = mapping::over_contacts(unknown, m, &mut slots, read, write, body);
        self.ws.newton.folds = slots;
        let mut all = rows.and(sum);
        if let Some(comm) = &mut self.comm {
            // The smallest is the largest of the opposite numbers; what is not a number stays.
            let mut largest = [if all.min.is_nan() { f64::INFINITY } else { -all.min }];
            comm.reduce(&mut all.sums, &mut largest);
            all.min = if largest[0] == f64::INFINITY { f64::NAN } else { -largest[0] };
        }
        all
    }

    fn factor(&mut self, h: [&ContactVec; 2], options: &NewtonOptions) -> bool {
        let (problem, memory) = (self.problem, &mut self.ws.newton);
        if !memory.is_prepared {
            let shared = self.comm.as_ref().map_or(&[][..], |comm| comm.shared());
            let same = memory.side.prepare(problem, shared);
            memory.is_analysed &= same;
            memory.is_cut &= same;
            memory.on_contacts = self.comm.is_none() && memory.side.is_larger_than_contacts(problem);
            memory.copies.list(&memory.side, self.comm.as_deref());
            if memory.on_contacts {
                let (pattern, values) = memory.side.couplings(problem, h[0]);
                memory.contacts.prepare(pattern, values);
            }
            if let Some(comm) = self.comm.as_deref_mut() {
                memory.is_cut = false;
                memory.overlap.find(&memory.side, &mut memory.copies, comm);
            }
            memory.is_prepared = true;
        }
        if memory.on_contacts {
            return memory.contacts.factor(h, options);
        }
        for (kept, h) in memory.h.iter_mut().zip(h) {
            kept.clone_from(h);
        }
        memory.side.assemble(problem, h);
        memory.stop = Stop { tolerance: options.tolerance, max_iterations: options.max_iterations };
        if let Some(comm) = self.comm.as_deref_mut() {
            // A factor knows one part only.
            memory.is_direct = false;
            let could = memory.factor_part(comm);
            let mut failures = [f64::from(u8::from(!could))];
            comm.reduce(&mut failures, &mut []);
            return failures == [0.0];
        }
        memory.is_direct = options.system != System::Iterative;
        if memory.is_direct && !memory.is_analysed {
            memory.is_analysed = memory.cholesky.analyse::<6>(&memory.side.pattern);
        }
        if memory.is_direct && options.system == System::Auto && memory.cholesky.fill() > LARGEST_FACTOR {
            memory.is_direct = false;
        }
        if memory.is_direct && memory.cholesky.factor(&memory.side.pattern, &memory.side.values) {
            return true;
        }
        // What could not be factored may still be solved.
        memory.is_direct = false;
        if !memory.is_cut {
            let pattern = &memory.side.pattern;
            memory.is_cut = memory.schwarz.analyse(pattern, pattern.nodes(), LAYERS);
        }
        memory.is_cut && memory.schwarz.factor(&memory.side.values)
    }

    fn solve(&mut self, q: &ContactVec, δ: &mut ContactVec, u: &mut ContactVec) -> u32 {
        self.shape_impulses(u);
        self.shape_impulses(δ);
        let (problem, memory) = (self.problem, &mut self.ws.newton);
        if memory.on_contacts {
            return memory.contacts.solve(q, δ, u);
        }
        let NewtonMemory { side, cholesky, schwarz, overlap, conjugate, copies, h, z, rest, .. } = memory;
        z.clear();
        z.resize(side.size(), 0.0);
        rest.resize(side.size(), 0.0);
        side.gather(problem, q, rest);
        let apply = |x: &[f64], y: &mut [f64]| side.values.times(&side.pattern, x, y);
        let applications = if memory.is_direct {
            let inverse = |r: &[f64], z: &mut [f64]| {
                z.copy_from_slice(r);
                cholesky.solve(z);
            };
            conjugate.solve(rest, z, Stop::EXACT, inverse, apply, dot)
        } else if let Some(comm) = self.comm.as_deref_mut() {
            copies.sum(comm, rest);
            let shared = RefCell::new((comm, copies));
            let precondition = |r: &[f64], z: &mut [f64]| {
                let (comm, copies) = &mut *shared.borrow_mut();
                overlap.apply(copies, *comm, r, z, |r, z| schwarz.apply(r, z));
            };
            let apply = |x: &[f64], y: &mut [f64]| {
                apply(x, y);
                let (comm, copies) = &mut *shared.borrow_mut();
                copies.sum_beyond_identity(*comm, x, y);
            };
            let dot = |a: &[f64], b: &[f64]| {
                let (comm, copies) = &mut *shared.borrow_mut();
                copies.dot(*comm, a, b)
            };
            conjugate.solve(rest, z, memory.stop, precondition, apply, dot)
        } else {
            conjugate.solve(rest, z, memory.stop, |r, z| schwarz.apply(r, z), apply, dot)
        };
        side.scatter(problem, [&h[0], &h[1]], q, z, [u, δ]);
        applications + 1
    }
}
