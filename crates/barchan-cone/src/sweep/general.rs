//! The sweep over general contacts, four at a time, and what it needs of them.
//!
//! The slots of a batch are the points of four manifolds: their bodies are loaded once, relaxed point
//! after point, and stored. The 3×3 block W of a contact is kept in the frame of `one_contact`, where it
//! has four numbers, and the solve is that of `solve4`.

use super::one_contact::ContactBlock;
use super::plan::{NONE, Plan, Record};
use super::prepare4::{Blocks, prepare4};
use super::round::{ASSOCIATED, Bodies, COULOMB, LAGGED, Pass, clip4};
use super::solve4::{Local, solve4};
use super::{BodyRecord, Rule};
use crate::ProblemRef;
use crate::lanes::{F4, LANES, Lanes, V3, V4};
use crate::operator::contactwise::{LaneSums, Sums};
use crate::problem::cone::{clip, project, project4};
use barchan_parallel::{Disjoint, for_chunks_mut, reshape};
use glam::{DMat3, DVec3};
use std::ops::Range;

/// Slots a task, when they are gathered.
const SLOT_CHUNK: usize = 64;

/// r²I⁻¹ and 1/m of a record's body times its share: xx yy zz xy, xz yz 1/m 0.
pub(crate) type TensorRecord = [F4; 2];

/// What general contacts have beside normal, friction and bias, a slot each.
#[derive(Debug, Default)]
pub(crate) struct Details {
    slots: Vec<Detail>,
    /// Tensors of the records that general contacts act on, and the number of each record's.
    tensors: Vec<TensorRecord>,
    number: Vec<u32>,
}

/// Four general contacts.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Detail {
    /// Arms over the lengths of the bodies.
    pub(crate) arms: [V4; 2],
    /// The first tangent of the frame of W.
    tangent: V4,
    local: Local<F4>,
    /// Numbers of the tensors of bodies A and B.
    tensors: [[u32; LANES]; 2],
}

/// What the details of slots are gathered from.
struct Sources<'a> {
    problem: &'a ProblemRef<'a>,
    tensors: &'a [TensorRecord],
    number: &'a [u32],
    /// Contacts, records, normals and friction of general slots.
    contacts: &'a [[u32; LANES]],
    records: &'a [[[u32; LANES]; 2]],
    normals: &'a [V4],
    friction: &'a [F4],
}

impl Details {
    /// Prepares the general contacts of a plan, whose slots have these normals and friction.
    pub(crate) fn gather(&mut self, problem: &ProblemRef<'_>, plan: &Plan, normals: &[V4], friction: &[F4]) {
        reshape(&mut self.slots, plan.contacts.len() - plan.round);
        self.tensors.clear();
        if self.slots.is_empty() {
            return;
        }
        self.number_records(problem, plan);
        let sources = Sources {
            problem,
            tensors: &self.tensors,
            number: &self.number,
            contacts: &plan.contacts[plan.round..],
            records: &plan.lanes[plan.round..],
            normals: &normals[plan.round..],
            friction: &friction[plan.round..],
        };
        for_chunks_mut(&mut self.slots[..], SLOT_CHUNK, |range, slots| gather(&sources, range, slots));
    }

    /// Numbers the records that general contacts act on, and computes their tensors.
    fn number_records(&mut self, problem: &ProblemRef<'_>, plan: &Plan) {
        reshape(&mut self.number, plan.records.len());
        self.number.fill(NONE);
        for &id in plan.lanes[plan.round..].iter().flatten().flatten() {
            let number = &mut self.number[id as usize];
            if *number != NONE {
                continue;
            }
            *number = self.tensors.len() as u32;
            let record = plan.records[id as usize];
            let share = f64::from(record.share);
            let (tensor, mass) = if is_ground(problem, record) {
                ([0.0; 6], 0.0)
            } else {
                let body = record.body as usize;
                (problem.spin_response(body).map(|x| x * share), problem.inverse_mass[body] * share)
            };
            let [xx, yy, zz, xy, xz, yz] = tensor;
            self.tensors.push([F4([xx, yy, zz, xy]), F4([xz, yz, mass, 0.0])]);
        }
    }

    /// The details of each general slot.
    pub(crate) fn slots(&self) -> &[Detail] {
        &self.slots
    }
}

/// Whether a record is that of the ground, or of padding.
fn is_ground(problem: &ProblemRef<'_>, record: Record) -> bool {
    record.body as usize >= problem.bodies()
}

#[inline(always)]
fn gather_slots<T: Lanes>(from: &Sources<'_>, range: Range<usize>, slots: &mut [Detail]) {
    for (detail, k) in slots.iter_mut().zip(range) {
        let four = &from.contacts[k];
        let mut wanted = 0;
        detail.arms = [V4::default(); 2];
        for lane in (0..LANES).filter(|&lane| four[lane] != NONE) {
            wanted |= 1 << lane;
            let arms = from.problem.scaled_arms(four[lane] as usize);
            detail.arms[0].set_lane(lane, arms[0]);
            detail.arms[1].set_lane(lane, arms[1]);
        }
        let number = |id: u32| from.number[id as usize];
        let [a, b] = &from.records[k];
        detail.tensors = [a.map(number), b.map(number)];
        let [of_a, of_b] = [
            Tensors::<T>::load(from.tensors, &detail.tensors[0]),
            Tensors::<T>::load(from.tensors, &detail.tensors[1]),
        ];
        let w = of_a.blocks(V3::load(&detail.arms[0])) + of_b.blocks(V3::load(&detail.arms[1]));
        (detail.tangent, detail.local) = prepare4(&w, V3::load(&from.normals[k]), T::load(&from.friction[k]), wanted);
    }
}

/// Gathers the details of some slots.
fn gather(from: &Sources<'_>, range: Range<usize>, slots: &mut [Detail]) {
    #[cfg(target_arch = "x86_64")]
    {
        #[target_feature(enable = "avx2")]
        fn with_avx(from: &Sources<'_>, range: Range<usize>, slots: &mut [Detail]) {
            gather_slots::<crate::lanes::Avx>(from, range, slots);
        }
        if std::arch::is_x86_feature_detected!("avx2") {
            // SAFETY: the machine has AVX2.
            return unsafe { with_avx(from, range, slots) };
        }
    }
    gather_slots::<F4>(from, range, slots);
}

/// Symmetric matrices of four bodies, and their inverse masses.
#[derive(Clone, Copy)]
struct Tensors<T> {
    response: [T; 6],
    mass: T,
}

impl<T: Lanes> Tensors<T> {
    #[inline(always)]
    fn load(from: &[TensorRecord], ids: &[u32; LANES]) -> Self {
        let [a, b, c, d] =
            [&from[ids[0] as usize], &from[ids[1] as usize], &from[ids[2] as usize], &from[ids[3] as usize]];
        let low = T::transpose4([T::load(&a[0]), T::load(&b[0]), T::load(&c[0]), T::load(&d[0])]);
        let high = T::transpose4([T::load(&a[1]), T::load(&b[1]), T::load(&c[1]), T::load(&d[1])]);
        Self { response: [low[0], low[1], low[2], low[3], high[0], high[1]], mass: high[2] }
    }

    /// The part of contacts at these arms in their diagonal blocks W: 1/m − r×r²I⁻¹r×.
    #[inline(always)]
    fn blocks(&self, arm: V3<T>) -> Blocks<T> {
        let (V3 { x, y, z }, mass) = (arm, self.mass);
        let [xx, yy, zz, xy, xz, yz] = self.response;
        // Columns of r²I⁻¹r×.
        let turn_x = V3 { x: xy * z - xz * y, y: yy * z - yz * y, z: yz * z - zz * y };
        let turn_y = V3 { x: xz * x - xx * z, y: yz * x - xy * z, z: zz * x - xz * z };
        let turn_z = V3 { x: xx * y - xy * x, y: xy * y - yy * x, z: xz * y - yz * x };
        let [mut to_x, mut to_y, mut to_z] = [turn_x.cross(arm), turn_y.cross(arm), turn_z.cross(arm)];
        to_x.x = mass + to_x.x;
        to_y.y = mass + to_y.y;
        to_z.z = mass + to_z.z;
        Blocks([to_x, to_y, to_z])
    }

    #[inline(always)]
    fn times(&self, v: V3<T>) -> V3<T> {
        let [xx, yy, zz, xy, xz, yz] = self.response;
        V3 { x: xx * v.x + xy * v.y + xz * v.z, y: xy * v.x + yy * v.y + yz * v.z, z: xz * v.x + yz * v.y + zz * v.z }
    }
}

impl Rule {
    /// What the rule adds to the impulse y of a contact with velocity g and diagonal block w.
    pub(crate) fn change(&self, y: DVec3, g: DVec3, w: &DMat3, block: &ContactBlock, n: DVec3, μ: f64) -> DVec3 {
        if self.exact {
            let q = g - *w * y;
            let solved = if self.kind() == COULOMB { block.coulomb(q) } else { block.associated(q) };
            return (solved - y) * (self.relaxation * self.blend);
        }
        let scale = (w.x_axis.x + w.y_axis.y + w.z_axis.z) / 3.0;
        let z = y - g * (self.relaxation / scale);
        let solved = if self.kind() == COULOMB { clip(z, n, μ) } else { project(z, n, μ) };
        (solved - y) * self.blend
    }
}

/// Four pairs of bodies while their contacts are relaxed.
struct Pairs<T> {
    a: Bodies<T>,
    b: Bodies<T>,
    of_a: Tensors<T>,
    of_b: Tensors<T>,
}

/// Components along three axes.
#[inline(always)]
fn in_frame<T: Lanes>(v: V3<T>, n: V3<T>, t: V3<T>, s: V3<T>) -> V3<T> {
    V3 { x: v.dot(n), y: v.dot(t), z: v.dot(s) }
}

/// Relaxes one slot: the new impulses.
#[inline(always)]
fn relax<T: Lanes, const LAW: u8, const EXACT: bool>(
    pass: &Pass<'_>,
    detail: &Detail,
    k: usize,
    last: &V4,
    pairs: &mut Pairs<T>,
    sums: &mut LaneSums<T>,
) -> V4 {
    let Pairs { a, b, of_a, of_b } = pairs;
    let arm_a = V3::<T>::load(&detail.arms[0]);
    let arm_b = V3::<T>::load(&detail.arms[1]);
    let n = V3::<T>::load(&pass.normals[k]);
    let t = V3::<T>::load(&detail.tangent);
    let s = n.cross(t);
    let μ = T::load(&pass.friction[k]);
    let local = detail.local.load::<T>();
    let γ = V3::load(&pass.γ[k]);
    let y = γ + (γ - V3::load(last)) * T::splat(pass.β);
    let g = a.v - b.v + a.s.cross(arm_a) - b.s.cross(arm_b) + V3::load(&pass.bias[k]);

    // SAFETY: slots belong to one group, and so to one thread.
    let slip = if LAW == LAGGED { T::load(unsafe { pass.slip.get(k) }) } else { T::splat(0.0) };

    // In the frame of W: the velocity without the contact's own impulse, and the impulse that it asks for.
    let y_local = in_frame(y, n, t, s);
    let d = if EXACT {
        let mut q = in_frame(g, n, t, s) - local.times(y_local);
        q.x = q.x + slip;
        let solved = if LAW == COULOMB { solve4::<T, true>(&local, q, μ) } else { solve4::<T, false>(&local, q, μ) };
        (solved - y_local) * T::splat(pass.rule.relaxation * pass.rule.blend)
    } else {
        let step = T::splat(pass.rule.relaxation) / local.mean_diagonal().max(T::splat(f64::MIN_POSITIVE));
        let z = y - (g + n * slip) * step;
        let solved = if LAW == COULOMB { clip4(z, n, μ) } else { project4(z, n, μ, T::splat(1.0)) };
        (in_frame(solved, n, t, s) - y_local) * T::splat(pass.rule.blend)
    };
    let change = n * d.x + t * d.y + s * d.z;
    let next = y + change;

    // What it does to the bodies.
    a.v = a.v + change * a.mass;
    b.v = b.v - change * b.mass;
    a.s = a.s + of_a.times(arm_a.cross(change));
    b.s = b.s - of_b.times(arm_b.cross(change));

    let wd = local.times(d);
    if LAW == LAGGED {
        let u = g + t * wd.y + s * wd.z;
        // SAFETY: as above.
        unsafe { pass.slip.write(k, pass.rule.follow(slip, u, n, μ).store()) };
    }
    sums.step = sums.step + wd.dot(d);
    sums.uphill = sums.uphill - wd.dot(in_frame(next - γ, n, t, s));
    sums.natural = sums.natural + d.dot(d);
    next.store()
}

/// # Safety
/// As [`sweep`].
#[inline(always)]
unsafe fn sweep_slots<T: Lanes, const LAW: u8, const EXACT: bool>(
    pass: &Pass<'_>,
    general: &General<'_>,
    range: Range<usize>,
    bodies: &Disjoint<'_, BodyRecord>,
    x: &mut [V4],
) -> Sums {
    let mut sums = LaneSums::<T>::zero();
    let mut k = range.start;
    while k < range.end {
        let [ids_a, ids_b] = &pass.lanes[k];
        let [tensors_a, tensors_b] = &general.details.slots[k - general.first].tensors;
        // SAFETY: the caller's promise.
        let (a, b) = unsafe { (Bodies::<T>::load(bodies, ids_a), Bodies::<T>::load(bodies, ids_b)) };
        let of_a = Tensors::load(&general.details.tensors, tensors_a);
        let of_b = Tensors::load(&general.details.tensors, tensors_b);
        let mut pairs = Pairs { a, b, of_a, of_b };
        // The points of these manifolds, one after the other.
        loop {
            let detail = &general.details.slots[k - general.first];
            let last = x[k - range.start];
            x[k - range.start] = relax::<T, LAW, EXACT>(pass, detail, k, &last, &mut pairs, &mut sums);
            k += 1;
            if k == range.end || !general.continues[k - general.first] {
                break;
            }
        }
        // SAFETY: the caller's promise; lanes share nothing but the ground, which stays as it is.
        unsafe {
            pairs.b.store(bodies, ids_b);
            pairs.a.store(bodies, ids_a);
        }
    }
    sums.total()
}

/// What a sweep over general slots reads beside the pass.
pub(crate) struct General<'a> {
    pub(crate) details: &'a Details,
    pub(crate) continues: &'a [bool],
    /// The first general slot.
    pub(crate) first: usize,
}

/// Sweeps over some general slots in order.
///
/// # Safety
/// No other thread touches the records of these slots.
pub(crate) unsafe fn sweep(
    pass: &Pass<'_>,
    general: &General<'_>,
    range: Range<usize>,
    bodies: &Disjoint<'_, BodyRecord>,
    x: &mut [V4],
) -> Sums {
    /// # Safety
    /// As above.
    #[inline(always)]
    unsafe fn by_rule<T: Lanes>(
        pass: &Pass<'_>,
        general: &General<'_>,
        range: Range<usize>,
        bodies: &Disjoint<'_, BodyRecord>,
        x: &mut [V4],
    ) -> Sums {
        // SAFETY: the caller's promise.
        unsafe {
            match (pass.rule.kind(), pass.rule.exact) {
                (COULOMB, true) => sweep_slots::<T, COULOMB, true>(pass, general, range, bodies, x),
                (COULOMB, false) => sweep_slots::<T, COULOMB, false>(pass, general, range, bodies, x),
                (LAGGED, true) => sweep_slots::<T, LAGGED, true>(pass, general, range, bodies, x),
                (LAGGED, false) => sweep_slots::<T, LAGGED, false>(pass, general, range, bodies, x),
                (_, true) => sweep_slots::<T, ASSOCIATED, true>(pass, general, range, bodies, x),
                (_, false) => sweep_slots::<T, ASSOCIATED, false>(pass, general, range, bodies, x),
            }
        }
    }
    #[cfg(target_arch = "x86_64")]
    {
        /// # Safety
        /// As above.
        #[target_feature(enable = "avx2")]
        unsafe fn with_avx(
            pass: &Pass<'_>,
            general: &General<'_>,
            range: Range<usize>,
            bodies: &Disjoint<'_, BodyRecord>,
            x: &mut [V4],
        ) -> Sums {
            // SAFETY: the caller's promise.
            unsafe { by_rule::<crate::lanes::Avx>(pass, general, range, bodies, x) }
        }
        if std::arch::is_x86_feature_detected!("avx2") {
            // SAFETY: the machine has AVX2, and the caller's promise.
            return unsafe { with_avx(pass, general, range, bodies, x) };
        }
    }
    // SAFETY: the caller's promise.
    unsafe { by_rule::<F4>(pass, general, range, bodies, x) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operator::kernels::symmetric_times;
    use glam::DVec3;
    use proptest::prelude::*;

    proptest! {
        /// A contact's part of the block W on one side, lane by lane and as the cross products say.
        #[test]
        fn blocks_are_those_of_cross_products(
            numbers in prop::array::uniform4(prop::array::uniform32(-1.0..1.0f64)),
        ) {
            let records = numbers.map(|x| [F4([x[0], x[1], x[2], x[3]]), F4([x[4], x[5], x[6], 0.0])]);
            let mut arm = V4::default();
            (0..LANES).for_each(|lane| arm.set_lane(lane, DVec3::from_slice(&numbers[lane][8..11])));
            let found = Tensors::<F4>::load(&records, &[0, 1, 2, 3]).blocks(V3::load(&arm));
            for (lane, x) in numbers.iter().enumerate() {
                let (response, arm) = ([x[0], x[1], x[2], x[3], x[4], x[5]], arm.lane(lane));
                let column = |e: DVec3| e * x[6] + symmetric_times(&response, arm.cross(e)).cross(arm);
                let columns = DVec3::AXES.map(column);
                prop_assert_eq!(found.0.map(|column| column.store().lane(lane)), columns);
            }
        }
    }
}
