//! The sweep over bodies of any shape: one contact at a time, with its full 3×3 block.

use super::plan::{NONE, Plan, Record};
use super::round::Pass;
use super::{BodyRecord, Rule};
use crate::lanes::{LANES, V4};
use crate::operator::contactwise::Sums;
use crate::operator::kernels::symmetric_times;
use crate::problem::cone::{clip, project};
use crate::sweep::one_contact::Block;
use crate::{Friction, Problem};
use barchan_parallel::Disjoint;
use glam::{DMat3, DVec3};
use rayon::prelude::*;
use std::ops::Range;

/// What a contact between bodies of any shape has beside its normal.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Detail {
    pub(crate) arm_a: DVec3,
    pub(crate) arm_b: DVec3,
    /// The diagonal block of A, with the shares of mass that its group has.
    w: DMat3,
    block: Block,
}

/// A contact's part of the diagonal block on one side: share·(1/m − r×I⁻¹r×).
fn side(problem: &Problem, record: Record, arm: DVec3) -> DMat3 {
    let j = record.body as usize;
    if j >= problem.bodies() {
        return DMat3::ZERO;
    }
    let inertia = problem.inverse_inertia(j);
    let column = |e: DVec3| e * problem.inverse_mass[j] + symmetric_times(&inertia, arm.cross(e)).cross(arm);
    DMat3::from_cols(column(DVec3::X), column(DVec3::Y), column(DVec3::Z)) * f64::from(record.share)
}

/// Prepares the contacts of a plan.
pub(crate) fn gather(problem: &Problem, plan: &Plan, details: &mut Vec<[Detail; LANES]>) {
    let none = Detail {
        arm_a: DVec3::ZERO,
        arm_b: DVec3::ZERO,
        w: DMat3::ZERO,
        block: Block::new(DMat3::ZERO, DVec3::X, 0.0),
    };
    details.resize(plan.contacts.len(), [none; LANES]);
    let lanes = plan.contacts.par_iter().zip(&plan.lanes);
    details.par_iter_mut().zip(lanes).with_min_len(64).for_each(|(details, (four, records))| {
        *details = [none; LANES];
        for lane in (0..LANES).filter(|&lane| four[lane] != NONE) {
            let i = four[lane] as usize;
            let [arm_a, arm_b] = problem.arms(i);
            let record = |s: usize| plan.records[records[s][lane] as usize];
            let w = side(problem, record(0), arm_a) + side(problem, record(1), arm_b);
            let block = Block::new(w, problem.normals.get(i), problem.friction[i]);
            details[lane] = Detail { arm_a, arm_b, w, block };
        }
    });
}

fn velocity(record: &BodyRecord) -> [DVec3; 2] {
    let [[x, y, z, a], [b, c, ..]] = [record[0].0, record[1].0];
    [DVec3::new(x, y, z), DVec3::new(a, b, c)]
}

/// Adds what an impulse does to a body.
fn push(problem: &Problem, to: &mut BodyRecord, record: Record, arm: DVec3, impulse: DVec3) {
    let j = record.body as usize;
    if j >= problem.bodies() {
        return;
    }
    let v = impulse * to[1].0[2];
    let s = symmetric_times(&problem.inverse_inertia(j), arm.cross(impulse)) * f64::from(record.share);
    for (to, x) in to[0].0.iter_mut().zip([v.x, v.y, v.z, s.x]) {
        *to += x;
    }
    to[1].0[0] += s.y;
    to[1].0[1] += s.z;
}

impl Rule {
    /// What the rule adds to the impulse y of a contact with velocity g and diagonal block w.
    pub(crate) fn change(&self, y: DVec3, g: DVec3, w: &DMat3, block: &Block, n: DVec3, μ: f64) -> DVec3 {
        if self.exact {
            let q = g - *w * y;
            let solved = match self.law {
                Friction::Associated => block.associated(q),
                Friction::Coulomb => block.coulomb(q),
            };
            return (solved - y) * (self.relaxation * self.blend);
        }
        let scale = (w.x_axis.x + w.y_axis.y + w.z_axis.z) / 3.0;
        let z = y - g * (self.relaxation / scale);
        let solved = match self.law {
            Friction::Associated => project(z, n, μ),
            Friction::Coulomb => clip(z, n, μ),
        };
        (solved - y) * self.blend
    }
}

/// Sweeps over some batches in order.
///
/// # Safety
/// No other thread touches the records of these batches.
pub(crate) unsafe fn sweep(
    pass: &Pass<'_>,
    problem: &Problem,
    records: &[Record],
    details: &[[Detail; LANES]],
    range: Range<usize>,
    bodies: &Disjoint<'_, BodyRecord>,
    x: &mut [V4],
) -> Sums {
    let (rule, mut sums) = (&pass.rule, Sums::default());
    for (x, k) in x.iter_mut().zip(range) {
        *x = V4::default();
        for (lane, detail) in details[k].iter().enumerate() {
            let [a, b] = [pass.lanes[k][0][lane], pass.lanes[k][1][lane]];
            let n = pass.normals[k].lane(lane);
            if n == DVec3::ZERO {
                continue;
            }
            let (μ, γ) = (pass.friction[k].0[lane], pass.γ[k].lane(lane));
            let y = γ + (γ - pass.γ_last[k].lane(lane)) * pass.β;
            let Detail { arm_a, arm_b, w, block } = detail;
            // SAFETY: the caller's promise, here and below.
            let ([va, sa], [vb, sb]) = unsafe { (velocity(bodies.get(a as usize)), velocity(bodies.get(b as usize))) };
            let g = va + sa.cross(*arm_a) - vb - sb.cross(*arm_b) + pass.bias[k].lane(lane);
            let d = rule.change(y, g, w, block, n, μ);
            let next = y + d;
            x.set_lane(lane, next);
            for (id, arm, impulse) in [(a, arm_a, d), (b, arm_b, -d)] {
                // SAFETY: as above; the ground is never written.
                let body = unsafe { &mut bodies.range(id as usize..id as usize + 1)[0] };
                push(problem, body, records[id as usize], *arm, impulse);
            }
            let wd = *w * d;
            sums.step += wd.dot(d);
            sums.uphill -= wd.dot(next - γ);
            sums.natural += d.length_squared();
        }
    }
    sums
}
