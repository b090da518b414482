//! Sweeps: contacts relaxed one after the other, each with the newest velocities of its bodies.
//!
//! The second interface of solvers, for those of the Gauss–Seidel kind. A solver holds iterates that
//! it cannot look into; what a sweep does to a contact is named by a [`Rule`], and the order is
//! the problem's own ([`Order`]).

mod general;
mod matrix;
pub mod one_contact;
mod plan;
mod prepare4;
mod round;
mod rows;
mod solve4;

use crate::lanes::{F4, V4};
use crate::operator::communicator;
use crate::operator::contactwise::Sums;
use crate::operator::kernels::{BODY_CHUNK, Twist};
use crate::problem::rows::add_residual;
use crate::{BodyVec, ConeProblem, ContactVec, Criterion, Friction, MatrixFree};
use barchan_parallel::{Disjoint, fold_chunks, for_chunks, for_chunks_mut, reserve_with_slack, reshape};
use general::{Details, General};
use glam::DVec3;
pub(crate) use matrix::RowSweeps;
pub use matrix::RowsIterate;
use plan::{Group, NONE, Plan};
use rayon::prelude::*;
use rows::{RowBlock, RowSweep};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// In which order contacts are relaxed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// On threads: groups of contacts that share no body, phase after phase.
    #[default]
    Coloured,
    /// On threads, in one phase: bodies at the border of subdomains are split in mass, and the
    /// copies' changes are averaged after the sweep.
    Split,
    /// One contact after the other, on one thread.
    Serial,
}

impl Order {
    /// Every one with the name that scene files use, and a few words where that is not enough.
    pub const ALL: &'static [(Self, &'static str, &'static str)] = &[
        (Self::Coloured, "coloured", ""),
        (Self::Split, "split", "in mass, between subdomains"),
        (Self::Serial, "serial", ""),
    ];
}

/// How sweeps of several ranks act on a body that more than one of them holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Borders {
    /// Each has its share of the mass, and the mean of the changes counts.
    #[default]
    Split,
    /// Each has the whole of it, and changes are added (S4 6.3). Sweeps must be relaxed then, in S4
    /// by ω = 0.75.
    Whole,
}

impl Borders {
    /// Every one with the name that scene files use, and a few words where that is not enough.
    pub const ALL: &'static [(Self, &'static str, &'static str)] =
        &[(Self::Split, "split", "in mass"), (Self::Whole, "whole", "")];
}

/// What a sweep does to each contact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rule {
    /// The friction law of exact one-contact solves.
    pub law: Friction,
    /// Whether a contact is solved exactly; otherwise it takes one projected step with a scalar
    /// scale, the trace of its diagonal block over three (S3 eq. 12).
    pub exact: bool,
    /// Length ω of the step, or relaxation of exact solves.
    pub relaxation: f64,
    /// The part λ of the new value, the rest being of the old one.
    pub blend: f64,
    /// For the associated law: how De Saxcé's term, which makes it Coulomb's, follows the sweeps.
    pub lag: Option<Lag>,
}

/// De Saxcé's term s = μ|u_t| of a contact, as sweeps of the associated law have it: after each relaxation
/// s ← s + θ(μ(√(|u_t|² + ε²) − ε) − s).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lag {
    /// The part θ of the new value.
    pub follow: f64,
    /// The speed ε below which the term is rounded off.
    pub rounding: f64,
}

impl Lag {
    /// μ(√(|u_t|² + ε²) − ε) of a velocity in the frame of its contact, the normal first.
    pub(crate) fn slip(&self, u: DVec3, μ: f64) -> f64 {
        μ * ((u.y * u.y + u.z * u.z + self.rounding * self.rounding).sqrt() - self.rounding)
    }
}

/// What a sweep measured on its way from y to x.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Swept {
    /// dᵀHd of d = x − y, H being the diagonal of A.
    pub step_in_metric: f64,
    /// (y − x)ᵀH(x − γ): positive when momentum and sweep disagree.
    pub uphill: f64,
    /// ‖x − y‖ in units of the natural map: what the residual is likely to be.
    pub likely_residual: f64,
}

/// A problem whose contacts can be relaxed one after the other.
pub trait Relaxation: ConeProblem {
    /// Impulses with their response, in the order of sweeps. `clone_from` keeps the memory that is there.
    type Iterate: Default + Clone;

    /// Makes ready for sweeps in this order.
    fn prepare(&mut self, order: Order, borders: Borders);

    /// Projects impulses onto their cones, finds their response, and takes both over.
    fn enter(&mut self, γ: &mut Self::Impulses, response: &mut Self::Velocities, iterate: &mut Self::Iterate) {
        self.shape_impulses(γ);
        self.project(γ);
        self.respond_to(γ, response);
        self.load(γ, response, iterate);
    }

    /// Takes over impulses and their response as they are.
    fn load(&mut self, γ: &Self::Impulses, response: &Self::Velocities, iterate: &mut Self::Iterate);

    /// Gives back impulses and their response as they are, so that [`Self::load`] makes the same iterate of them.
    fn store(&mut self, iterate: &Self::Iterate, γ: &mut Self::Impulses, response: &mut Self::Velocities);

    /// last ← one sweep from y = present + β(present − last), in place: a fourth iterate would cost memory, and
    /// every sweep the fetching of it.
    fn sweep(&mut self, present: &Self::Iterate, last: &mut Self::Iterate, β: f64, rule: &Rule) -> Swept;

    /// Sets De Saxcé's terms of a lag to those of an iterate.
    fn start_lag(&mut self, iterate: &Self::Iterate, lag: &Lag);

    /// One residual of an iterate, by the law of [`ConeProblem::set_law`].
    fn iterate_residual(&mut self, iterate: &Self::Iterate, criterion: Criterion) -> f64;
}

/// Velocity and spin of a body with its scales: v_x v_y v_z σ_x, σ_y σ_z 1/m r²/I. One line of
/// cache; for bodies that are not round the last is unused.
pub(crate) type BodyRecord = [F4; 2];

/// Memory of sweeps that is kept between steps.
#[derive(Debug, Default)]
pub(crate) struct SweepSpace {
    plan: Plan,
    bodies: Vec<BodyRecord>,
    /// Normal, right-hand side and friction of each batch.
    normals: Vec<V4>,
    bias: Vec<V4>,
    friction: Vec<F4>,
    /// De Saxcé's terms, where they lag behind.
    slip: Vec<F4>,
    /// The rest, of general contacts.
    details: Details,
    sums: Vec<Sums>,
    /// Joints, limits and motors.
    rows: RowBlock,
    /// On how many ranks contacts and rows act on each shared body, and where it was before the sweep.
    parts: Vec<f64>,
    shared_start: Vec<Twist>,
}

/// Impulses in the order of sweeps, and their response.
#[derive(Debug, Default)]
pub struct SweepIterate {
    γ: Vec<V4>,
    rows: Vec<f64>,
    /// Of each body, and of the ground at the end.
    w: Vec<Twist>,
}

/// By hand, since `clone_from` is to keep the memory that is there.
impl Clone for SweepIterate {
    fn clone(&self) -> Self {
        Self { γ: self.γ.clone(), rows: self.rows.clone(), w: self.w.clone() }
    }

    fn clone_from(&mut self, from: &Self) {
        copy(&from.γ, &mut self.γ);
        self.rows.clone_from(&from.rows);
        copy(&from.w, &mut self.w);
    }
}

/// Copies a column, with little slack and on all threads.
fn copy<T: Copy + Default + Send + Sync>(from: &[T], to: &mut Vec<T>) {
    reshape(to, from.len());
    for_chunks_mut(&mut to[..], 8 * BODY_CHUNK, |range, to| to.copy_from_slice(&from[range]));
}

impl MatrixFree<'_> {
    /// Copies what belongs to contacts into the order of sweeps.
    fn gather_contacts(&mut self) {
        let mut space = std::mem::take(&mut self.ws.sweep);
        let batches = space.plan.contacts.len();
        reshape(&mut space.normals, batches);
        reshape(&mut space.friction, batches);
        let (problem, contacts) = (self.problem, &space.plan.contacts);
        let both = (&mut space.normals[..], &mut space.friction[..]);
        for_chunks_mut(both, BODY_CHUNK, |range, (normals, friction)| {
            for ((n, μ), four) in normals.iter_mut().zip(friction).zip(&contacts[range]) {
                (*n, *μ) = (V4::default(), F4::default());
                for (lane, &i) in four.iter().enumerate().filter(|(_, i)| **i != NONE) {
                    n.set_lane(lane, problem.normals.get(i as usize));
                    μ.0[lane] = problem.friction[i as usize];
                }
            }
        });
        space.details.gather(&problem, &space.plan, &space.normals, &space.friction);
        self.ws.sweep = space;
        self.gather_bias();
    }

    /// Copies the right-hand side, which changes with the shift.
    fn gather_bias(&mut self) {
        let mut bias = std::mem::take(&mut self.ws.sweep.bias);
        permute(&self.ws.sweep.plan, self.bias(), &mut bias);
        self.ws.sweep.bias = bias;
    }

    /// What the residuals of an iterate are computed from.
    fn residual_pass<'a>(&'a self, iterate: &'a SweepIterate) -> round::ResidualPass<'a> {
        let SweepSpace { plan, normals, bias, friction, details, .. } = &self.ws.sweep;
        round::ResidualPass {
            lanes: &plan.lanes,
            records: &plan.records,
            normals,
            bias,
            friction,
            round: plan.round,
            details: details.slots(),
            γ: &iterate.γ,
            w: &iterate.w,
            η: self.η,
            coulomb: self.coulomb(),
        }
    }

    /// Bodies at y = present + β(present − last), with their scales.
    fn fill_bodies(&mut self, present: &SweepIterate, last: &SweepIterate, β: f64) {
        let mut bodies = std::mem::take(&mut self.ws.sweep.bodies);
        let (problem, records, round) = (self.problem, &self.ws.sweep.plan.records, &self.ws.scales.round);
        reshape(&mut bodies, records.len());
        let n = problem.bodies();
        for_chunks_mut(&mut bodies[..], BODY_CHUNK, |range, bodies| {
            for (to, record) in bodies.iter_mut().zip(&records[range]) {
                let (j, share) = (record.body as usize, f64::from(record.share));
                // The ground does not move; padding does, but nothing pushes it.
                let (mass, spin) = if j < n { (problem.inverse_mass[j], round[j].spin) } else { (1.0, 0.0) };
                let (w, l) = (&present.w[j], &last.w[j]);
                let y: Twist = std::array::from_fn(|k| w[k] + (w[k] - l[k]) * β);
                *to = [F4([y[0], y[1], y[2], y[3]]), F4([y[4], y[5], mass * share, spin * share])];
            }
        });
        self.ws.sweep.bodies = bodies;
    }

    /// The response after a sweep, from the bodies that it has moved.
    fn drain_bodies(&self, present: &SweepIterate, last: &mut SweepIterate, β: f64) {
        let (plan, bodies) = (&self.ws.sweep.plan, &self.ws.sweep.bodies);
        let n = self.problem.bodies();
        let twist = |record: &BodyRecord| -> Twist {
            let [low, high] = record;
            [low.0[0], low.0[1], low.0[2], low.0[3], high.0[0], high.0[1]]
        };
        for_chunks_mut(&mut last.w[..n], BODY_CHUNK, |range, to| {
            for (to, j) in to.iter_mut().zip(range) {
                if !plan.is_split {
                    *to = twist(&bodies[j]);
                    continue;
                }
                // The mean of the copies: each carries the change of its share of the mass.
                let copies = &plan.copies[plan.copies_start[j] as usize..plan.copies_start[j + 1] as usize];
                let (w, l) = (&present.w[j], *to);
                let y: Twist = std::array::from_fn(|k| w[k] + (w[k] - l[k]) * β);
                *to = y;
                for &copy in copies {
                    let moved = twist(&bodies[copy as usize]);
                    for k in 0..6 {
                        to[k] += (moved[k] - y[k]) / copies.len() as f64;
                    }
                }
            }
        });
    }

    /// Shares the mass of each shared body between the ranks on which contacts act on it, so that
    /// the mean of their changes is a step that none of them overdoes.
    fn split_masses(&mut self, borders: Borders) {
        let Some(comm) = &mut self.comm else { return };
        let SweepSpace { plan, parts, .. } = &mut self.ws.sweep;
        if borders == Borders::Whole {
            parts.clear();
            parts.resize(comm.shared().len(), 1.0);
            return;
        }
        let values = &mut self.ws.values;
        values.clear();
        values.resize(comm.shared().len(), [0.0; 6]);
        // A body is in use where one of its records is.
        plan.mark_bodies_in_use(self.problem.bodies());
        for &j in self.problem.rows.iter().flat_map(|row| &row.bodies) {
            plan.body_in_use[j as usize] = true;
        }
        for (value, &j) in values.iter_mut().zip(comm.shared()) {
            value[0] = f64::from(u8::from(plan.body_in_use[j as usize]));
        }
        comm.sum_copies(values);
        parts.clear();
        parts.extend(values.iter().map(|value| value[0].max(1.0)));
        plan.split(comm.shared(), parts);
    }

    /// Before a sweep: notes y of the bodies that other ranks act on as well.
    fn note_shared(&mut self, present: &SweepIterate, last: &SweepIterate, β: f64) {
        let Some(comm) = &self.comm else { return };
        let of_y = |&j: &u32| -> Twist {
            let (w, l) = (&present.w[j as usize], &last.w[j as usize]);
            std::array::from_fn(|k| w[k] + (w[k] - l[k]) * β)
        };
        let start = &mut self.ws.sweep.shared_start;
        start.clear();
        start.extend(comm.shared().iter().map(of_y));
    }

    /// After a sweep: what the copies of a body have changed becomes one change.
    fn join_copies(&mut self, next: &mut SweepIterate) {
        let Some(comm) = &mut self.comm else { return };
        let values = &mut self.ws.values;
        let SweepSpace { parts, shared_start, .. } = &self.ws.sweep;
        reshape(values, parts.len());
        for (((value, &j), parts), y) in values.iter_mut().zip(comm.shared()).zip(parts).zip(shared_start) {
            *value = std::array::from_fn(|k| (next.w[j as usize][k] - y[k]) / parts);
        }
        comm.sum_copies(values);
        for ((value, &j), y) in values.iter().zip(comm.shared()).zip(shared_start) {
            next.w[j as usize] = std::array::from_fn(|k| y[k] + value[k]);
        }
    }

    /// Makes ready the block of rows. Bodies that several ranks act on have their shares of the mass.
    fn prepare_rows(&mut self) {
        let mut block = std::mem::take(&mut self.ws.sweep.rows);
        let shared = self.comm.as_ref().map_or(&[][..], |comm| comm.shared());
        let parts = &self.ws.sweep.parts;
        let share = |j: u32| shared.binary_search(&j).map_or(1.0, |k| parts[k]);
        block.prepare(&self.problem, &self.ws.rows, share);
        self.ws.sweep.rows = block;
    }

    /// The sweep over rows, after all contacts.
    fn sweep_rows(&mut self, present: &SweepIterate, last: &mut SweepIterate, β: f64) -> Sums {
        if self.problem.rows.is_empty() {
            return Sums::default();
        }
        let mut block = std::mem::take(&mut self.ws.sweep.rows);
        let (lists, bias) = (&self.ws.rows, &self.bias().rows[..]);
        let from = RowSweep { lists, bias, present: &present.rows, β, η: self.η };
        let sums = block.sweep(&from, &mut last.rows, &mut last.w);
        self.ws.sweep.rows = block;
        sums
    }
}

fn reshape_twists(w: &mut Vec<Twist>, len: usize) {
    reserve_with_slack(w, len);
    w.resize(len, [0.0; 6]);
}

/// Contacts of a vector in the order of the plan.
fn permute(plan: &Plan, from: &ContactVec, to: &mut Vec<V4>) {
    reshape(to, plan.contacts.len());
    for_chunks_mut(&mut to[..], BODY_CHUNK, |range, to| {
        for (to, four) in to.iter_mut().zip(&plan.contacts[range]) {
            *to = V4::default();
            for (lane, &i) in four.iter().enumerate().filter(|(_, i)| **i != NONE) {
                to.set_lane(lane, from.get(i as usize));
            }
        }
    });
}

impl Relaxation for MatrixFree<'_> {
    type Iterate = SweepIterate;

    fn prepare(&mut self, order: Order, borders: Borders) {
        let mut space = std::mem::take(&mut self.ws.sweep);
        let lists = &self.ws.lists;
        space.plan.fill(&self.problem, [&lists.first, &lists.first_general], order);
        self.ws.sweep = space;
        self.split_masses(borders);
        self.prepare_rows();
        self.gather_contacts();
    }

    fn load(&mut self, γ: &ContactVec, response: &BodyVec, iterate: &mut SweepIterate) {
        permute(&self.ws.sweep.plan, γ, &mut iterate.γ);
        iterate.rows.clone_from(&γ.rows);
        let n = self.problem.bodies();
        reshape_twists(&mut iterate.w, n + 1);
        let (bodies, ground) = iterate.w.split_at_mut(n);
        for_chunks_mut(bodies, 8 * BODY_CHUNK, |range, to| to.copy_from_slice(&response.0[range]));
        ground[0] = [0.0; 6];
    }

    fn store(&mut self, iterate: &SweepIterate, γ: &mut ContactVec, response: &mut BodyVec) {
        γ.rows.copy_from_slice(&iterate.rows);
        let contacts = &self.ws.sweep.plan.contacts;
        let out = Disjoint::new(γ.flat_mut());
        for_chunks(contacts.len(), BODY_CHUNK, |range| {
            for (four, block) in contacts[range.clone()].iter().zip(&iterate.γ[range]) {
                for (lane, &i) in four.iter().enumerate().filter(|(_, i)| **i != NONE) {
                    let p = block.lane(lane);
                    for component in 0..3 {
                        // SAFETY: every contact stands in one lane only.
                        unsafe { out.write(ContactVec::flat_index(i as usize, component), p[component]) };
                    }
                }
            }
        });
        for_chunks_mut(&mut response.0[..], 8 * BODY_CHUNK, |range, to| to.copy_from_slice(&iterate.w[range]));
    }

    fn sweep(&mut self, present: &SweepIterate, last: &mut SweepIterate, β: f64, rule: &Rule) -> Swept {
        self.fill_bodies(present, last, β);
        self.note_shared(present, last, β);
        let SweepSpace { plan, bodies, normals, bias, friction, slip, details, sums: slots, .. } = &mut self.ws.sweep;
        reshape(slots, plan.groups.len());
        let slip = Disjoint::new(slip);
        let pass = round::Pass { lanes: &plan.lanes, normals, bias, friction, slip, γ: &present.γ, β, rule: *rule };
        let general = General { details, continues: &plan.continues, first: plan.round };
        let (out, moving, all) = (Disjoint::new(&mut last.γ), Disjoint::new(bodies), Disjoint::new(slots));
        for phase in &plan.phases {
            let group = |g: usize| {
                let Group { round, general: rest } = plan.groups[g].clone();
                // SAFETY: groups have their own slots, of contacts and of sums.
                let (x, slot) = unsafe { (out.range(round.clone()), &mut all.range(g..g + 1)[0]) };
                // SAFETY: groups of one phase share no record.
                *slot = unsafe { round::sweep(&pass, round, &moving, x) };
                if !rest.is_empty() {
                    // SAFETY: as above.
                    let x = unsafe { out.range(rest.clone()) };
                    // SAFETY: as above.
                    *slot = Sums::add(*slot, unsafe { general::sweep(&pass, &general, rest, &moving, x) });
                }
            };
            if phase.len() == 1 {
                group(phase.start);
            } else {
                phase.clone().into_par_iter().for_each(group);
            }
        }
        let sums = slots.iter().fold(Sums::default(), |sum, &part| Sums::add(sum, part));
        self.drain_bodies(present, last, β);
        let mut sums = Sums::add(sums, self.sweep_rows(present, last, β));
        self.join_copies(last);
        communicator::reduce(&mut self.comm, &mut sums, false);
        Swept {
            step_in_metric: sums.step,
            uphill: sums.uphill,
            likely_residual: if sums.natural == 0.0 { 0.0 } else { sums.natural.sqrt() / self.natural_unit },
        }
    }

    fn start_lag(&mut self, iterate: &SweepIterate, lag: &Lag) {
        let mut slip = std::mem::take(&mut self.ws.sweep.slip);
        reshape(&mut slip, self.ws.sweep.plan.lanes.len());
        let pass = self.residual_pass(iterate);
        for_chunks_mut(&mut slip[..], BODY_CHUNK, |range, slip| round::slips(&pass, lag, range, slip));
        self.ws.sweep.slip = slip;
    }

    fn iterate_residual(&mut self, iterate: &SweepIterate, criterion: Criterion) -> f64 {
        let mut slots = std::mem::take(&mut self.ws.sweep.sums);
        let pass = self.residual_pass(iterate);
        let body = |range: Range<usize>| round::residuals(&pass, range);
        let mut sums = fold_chunks(pass.lanes.len(), BODY_CHUNK, &mut slots, Sums::default(), body, Sums::add);
        self.ws.sweep.sums = slots;
        for (k, row) in self.ws.rows.rows.iter().enumerate() {
            let γ = iterate.rows[k];
            add_residual(&mut sums, row, γ, row.gradient(γ, &iterate.w, self.bias().rows[k]), self.η);
        }
        self.agreed(&mut sums, criterion)
    }
}
