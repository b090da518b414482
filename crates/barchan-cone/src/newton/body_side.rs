//! The Newton system on the side of the bodies, by Woodbury's identity.
//!
//! With M⁻¹ = SSᵀ and G = SᵀD, A = GᵀG, and Δ = q − HAΔ is solved by
//!
//! Kz = Gq with K = 1 + GHGᵀ, then AΔ = Gᵀz,
//!
//! 6 numbers a body that can move. No eigenvalue of K is below 1, whatever H and M⁻¹ lack: bodies
//! that cannot turn, contacts without friction. The velocities of the bodies are w = Sz.

use super::blocks::{Block, Pattern, Values, cross, root, symmetric};
use crate::lanes::LANES;
use crate::{ContactVec, ProblemRef};
use barchan_parallel::{Disjoint, for_chunks, for_chunks_mut};
use glam::{DMat3, DVec3};
use std::ops::Range;

/// Bodies or unknowns a task.
const CHUNK: usize = 256;
/// No body.
const NONE: u32 = u32::MAX;

/// Square root of a body's inverse mass and inertia.
#[derive(Clone, Copy, Debug)]
struct Root {
    mass: f64,
    inertia: DMat3,
}

/// One side of an unknown: the part of Gᵀ that belongs to one body. For a contact three rows
/// [a, Q]; for a bilateral row the first row of both.
#[derive(Clone, Copy, Debug)]
struct Side {
    /// Of the body's velocity.
    v: DMat3,
    /// Of its spin.
    s: DMat3,
}

/// What the pattern was made from: while it is the same, so is the pattern.
#[derive(Debug, Default, PartialEq)]
struct Origin {
    /// Bodies of contacts, and then of rows, numbered as in the system.
    pairs: Vec<[u32; 2]>,
    bodies: usize,
}

/// The system's structure and values.
#[derive(Debug, Default)]
pub(crate) struct BodySide {
    origin: Origin,
    /// Index in the problem of each body of the system.
    body: Vec<u32>,
    roots: Vec<Root>,
    /// Sides of unknowns on body j are `entries[start[j]..start[j + 1]]`: twice the unknown plus
    /// the side.
    start: Vec<usize>,
    entries: Vec<u32>,
    pub(crate) pattern: Pattern,
    /// Unknowns between the bodies of block k are `members[member_start[k]..member_start[k + 1]]`.
    member_start: Vec<usize>,
    members: Vec<u32>,
    pub(crate) values: Values<6>,
}

/// What the passes over a system read.
#[derive(Clone, Copy)]
struct View<'a> {
    problem: ProblemRef<'a>,
    system: &'a BodySide,
    h: [&'a ContactVec; 2],
}

impl BodySide {
    /// Number of unknowns of the system.
    pub(crate) fn size(&self) -> usize {
        6 * self.body.len()
    }

    /// The place of a body of the problem in the system.
    pub(crate) fn place(&self, body: u32) -> Option<usize> {
        self.body.binary_search(&body).ok()
    }

    /// Takes up a problem. Says whether the pattern is the one of the last. Of bodies that nothing
    /// acts on, those in `also` take part.
    pub(crate) fn prepare(&mut self, problem: ProblemRef<'_>, also: &[u32]) -> bool {
        let m = problem.contacts();
        let unknowns = || problem.pairs.iter().copied().chain(problem.rows.iter().map(|row| row.bodies));
        // Only bodies that can move and that something acts on take part.
        let mut number = vec![NONE; problem.bodies()];
        let used = unknowns().flatten().chain(also.iter().copied()).map(|j| j as usize);
        let used = used.filter(|&j| problem.inverse_mass[j] > 0.0);
        used.for_each(|j| number[j] = 0);
        self.body.clear();
        for (j, number) in number.iter_mut().enumerate().filter(|x| *x.1 == 0) {
            *number = self.body.len() as u32;
            self.body.push(j as u32);
        }
        let bodies = self.body.len();
        self.roots.clear();
        self.roots.extend(self.body.iter().map(|&j| body_root(problem, j as usize)));
        // The second side of a row of one body is nothing.
        let place = |[a, b]: [u32; 2]| [number[a as usize], if a == b { NONE } else { number[b as usize] }];
        let pairs = unknowns().map(place).collect();
        let origin = Origin { pairs, bodies };
        if self.origin == origin {
            return true;
        }
        self.origin = origin;
        self.list_entries();
        self.find_pattern();
        debug_assert!(self.origin.pairs.len() == m + problem.rows.len());
        false
    }

    fn list_entries(&mut self) {
        let n = self.body.len();
        let sides = || self.origin.pairs.iter().flatten().enumerate().filter(|x| *x.1 != NONE);
        let mut start = vec![0; n + 2];
        sides().for_each(|(_, &j)| start[j as usize + 2] += 1);
        for j in 0..n {
            start[j + 2] += start[j + 1];
        }
        let mut entries = vec![0; start[n + 1]];
        for (entry, &j) in sides() {
            let place = &mut start[j as usize + 1];
            entries[*place] = entry as u32;
            *place += 1;
        }
        start.truncate(n + 1);
        (self.start, self.entries) = (start, entries);
    }

    fn find_pattern(&mut self) {
        let both = self.origin.pairs.iter().enumerate().filter(|(_, pair)| !pair.contains(&NONE));
        let mut places: Vec<([u32; 2], u32)> = both.map(|(i, &[a, b])| ([a.min(b), a.max(b)], i as u32)).collect();
        places.sort_unstable();
        (self.members, self.member_start) = (places.iter().map(|p| p.1).collect(), vec![]);
        let mut last = None;
        for (k, place) in places.iter().enumerate() {
            if last != Some(place.0) {
                self.member_start.push(k);
                last = Some(place.0);
            }
        }
        let blocks = self.member_start.iter().map(|&k| places[k].0);
        self.pattern = Pattern::from_sorted(self.body.len(), blocks);
        self.member_start.push(places.len());
    }

    /// Computes K for the given H.
    pub(crate) fn assemble(&mut self, problem: ProblemRef<'_>, h: [&ContactVec; 2]) {
        let mut values = std::mem::take(&mut self.values);
        values.shape(&self.pattern);
        let view = View { problem, system: self, h };
        let (diagonal, below) = (Disjoint::new(&mut values.diagonal), Disjoint::new(&mut values.below));
        for_chunks(self.body.len(), CHUNK, |range| {
            for j in range {
                // SAFETY: each column belongs to one task.
                unsafe { diagonal.write(j, view.diagonal_block(j)) };
                for k in self.pattern.column(j) {
                    // SAFETY: as above.
                    unsafe { below.write(k, view.block_below(j, k)) };
                }
            }
        });
        self.values = values;
    }

    /// Whether A itself has far fewer numbers than K: contacts that seldom share a body. By a little
    /// is not enough, for the side of the bodies has more correct digits.
    pub(crate) fn is_larger_than_contacts(&self, problem: ProblemRef<'_>) -> bool {
        let shared: usize =
            self.start.windows(2).map(|ends| ends[1] - ends[0]).map(|n| n * n.saturating_sub(1) / 2).sum();
        let of_contacts = 9 * (problem.contacts() + shared);
        problem.rows.is_empty() && 4 * of_contacts < 36 * (self.body.len() + self.pattern.row.len())
    }

    /// A = GᵀG by its blocks: those of contacts that share a body.
    pub(crate) fn couplings(&self, problem: ProblemRef<'_>, nothing: &ContactVec) -> (Pattern, Values<3>) {
        let view = View { problem, system: self, h: [nothing; 2] };
        let mut found: Vec<([u32; 2], Block<3>)> = Vec::new();
        let mut values = Values { diagonal: vec![[[0.0; 3]; 3]; problem.contacts()], below: Vec::new() };
        for j in 0..self.body.len() {
            let entries = &self.entries[self.start[j]..self.start[j + 1]];
            let sides: Vec<(u32, Side)> =
                entries.iter().map(|&e| (e / 2, view.side(e as usize / 2, e as usize % 2))).collect();
            for (k, (column, here)) in sides.iter().enumerate() {
                let product = |there: &Side| there.v * here.v.transpose() + there.s * here.s.transpose();
                add(&mut values.diagonal[*column as usize], &product(here).to_cols_array_2d());
                let below =
                    sides[k + 1..].iter().map(|(row, there)| ([*column, *row], product(there).to_cols_array_2d()));
                found.extend(below);
            }
        }
        // Two contacts may share both bodies. The sort is stable: sums have one order.
        found.sort_by_key(|block| block.0);
        let mut places: Vec<[u32; 2]> = Vec::new();
        for (place, block) in found {
            if places.last() == Some(&place) {
                add(&mut values.below[places.len() - 1], &block);
            } else {
                places.push(place);
                values.below.push(block);
            }
        }
        (Pattern::from_sorted(problem.contacts(), places.into_iter()), values)
    }

    /// z ← GΔ.
    pub(crate) fn gather(&self, problem: ProblemRef<'_>, δ: &ContactVec, z: &mut [f64]) {
        let view = View { problem, system: self, h: [δ, δ] };
        let (bodies, _) = z.as_chunks_mut::<6>();
        for_chunks_mut(bodies, CHUNK, |range, z| view.gather(δ, range, z.as_flattened_mut()));
    }

    /// u ← Gᵀz and δ ← q − Hu.
    pub(crate) fn scatter(
        &self,
        problem: ProblemRef<'_>,
        h: [&ContactVec; 2],
        q: &ContactVec,
        z: &[f64],
        [u, δ]: [&mut ContactVec; 2],
    ) {
        let view = View { problem, system: self, h };
        let m = problem.contacts();
        for k in 0..problem.rows.len() {
            u.rows[k] = view.relative(m + k, z).x;
            δ.rows[k] = q.rows[k] - h[0].rows[k] * u.rows[k];
        }
        for_chunks_mut((u.blocks_mut(), δ.blocks_mut()), CHUNK, |range, (us, δs)| {
            for i in range.start * LANES..(range.end * LANES).min(m) {
                let (block, lane) = (i / LANES - range.start, i % LANES);
                let u = view.relative(i, z);
                us[block].set_lane(lane, u);
                δs[block].set_lane(lane, q.get(i) - symmetric(h[0].get(i), h[1].get(i)) * u);
            }
        });
    }
}

fn body_root(problem: ProblemRef<'_>, j: usize) -> Root {
    let geometry = problem.geometry;
    let inertia = match geometry.tensors.of(j) {
        None => DMat3::from_diagonal(DVec3::splat(geometry.radius[j] * geometry.inverse_inertia[j].sqrt())),
        Some(_) => {
            let [xx, yy, zz, xy, xz, yz] = problem.spin_response(j);
            root(symmetric(DVec3::new(xx, yy, zz), DVec3::new(xy, xz, yz)))
        }
    };
    Root { mass: problem.inverse_mass[j].sqrt(), inertia }
}

impl View<'_> {
    /// The arm of a contact on one side, in the units of the bodies' spins.
    #[inline(always)]
    fn arm(&self, contact: usize, side: usize) -> DVec3 {
        self.problem.scaled_arms(contact)[side]
    }

    /// Gᵀ of one side of an unknown.
    #[inline(always)]
    fn side(&self, unknown: usize, side: usize) -> Side {
        let system = self.system;
        let Root { mass, inertia } = system.roots[system.origin.pairs[unknown][side] as usize];
        let m = self.problem.contacts();
        if unknown < m {
            // u = ±(v − r×ω).
            let sign = if side == 0 { 1.0 } else { -1.0 };
            let s = cross(self.arm(unknown, side) * -sign) * inertia;
            Side { v: DMat3::from_diagonal(DVec3::splat(sign * mass)), s }
        } else {
            let [v, s] = self.problem.scaled_row(unknown - m).jacobian[side];
            let first = |x: DVec3| DMat3::from_cols(x, DVec3::ZERO, DVec3::ZERO).transpose();
            Side { v: first(v * mass), s: first(inertia.transpose() * s) }
        }
    }

    #[inline(always)]
    fn h(&self, unknown: usize) -> DMat3 {
        let m = self.problem.contacts();
        if unknown < m {
            symmetric(self.h[0].get(unknown), self.h[1].get(unknown))
        } else {
            DMat3::from_diagonal(DVec3::new(self.h[0].rows[unknown - m], 0.0, 0.0))
        }
    }

    fn diagonal_block(&self, j: usize) -> Block<6> {
        let system = self.system;
        let (mut vv, mut sv, mut ss) = (DMat3::IDENTITY, DMat3::ZERO, DMat3::IDENTITY);
        for &entry in &system.entries[system.start[j]..system.start[j + 1]] {
            let (unknown, side) = (entry as usize / 2, entry as usize % 2);
            let (h, Side { v, s }) = (self.h(unknown), self.side(unknown, side));
            let (hv, hs) = (h * v, h * s);
            vv += v.transpose() * hv;
            sv += s.transpose() * hv;
            ss += s.transpose() * hs;
        }
        block([[vv, sv.transpose()], [sv, ss]])
    }

    /// Block k, in column j: its row is the other body.
    fn block_below(&self, j: usize, k: usize) -> Block<6> {
        let system = self.system;
        let mut sum = [[DMat3::ZERO; 2]; 2];
        for &unknown in &system.members[system.member_start[k]..system.member_start[k + 1]] {
            let unknown = unknown as usize;
            let near = usize::from(system.origin.pairs[unknown][0] as usize != j);
            let (h, here, there) = (self.h(unknown), self.side(unknown, near), self.side(unknown, 1 - near));
            let (hv, hs) = (h * here.v, h * here.s);
            sum[0][0] += there.v.transpose() * hv;
            sum[0][1] += there.v.transpose() * hs;
            sum[1][0] += there.s.transpose() * hv;
            sum[1][1] += there.s.transpose() * hs;
        }
        block(sum)
    }

    fn gather(&self, δ: &ContactVec, range: Range<usize>, z: &mut [f64]) {
        let (system, m) = (self.system, self.problem.contacts());
        for (z, j) in z.chunks_exact_mut(6).zip(range) {
            let (mut p, mut t) = (DVec3::ZERO, DVec3::ZERO);
            for &entry in &system.entries[system.start[j]..system.start[j + 1]] {
                let (unknown, side) = (entry as usize / 2, entry as usize % 2);
                if unknown < m {
                    let impulse = δ.get(unknown) * if side == 0 { 1.0 } else { -1.0 };
                    p += impulse;
                    t += self.arm(unknown, side).cross(impulse);
                } else {
                    let [v, s] = self.problem.scaled_row(unknown - m).jacobian[side];
                    p += v * δ.rows[unknown - m];
                    t += s * δ.rows[unknown - m];
                }
            }
            let Root { mass, inertia } = system.roots[j];
            (p * mass).write_to_slice(&mut z[..3]);
            (inertia.transpose() * t).write_to_slice(&mut z[3..]);
        }
    }

    /// Gᵀz of an unknown.
    #[inline(always)]
    fn relative(&self, unknown: usize, z: &[f64]) -> DVec3 {
        let (system, m) = (self.system, self.problem.contacts());
        let mut u = DVec3::ZERO;
        for side in 0..2 {
            let j = system.origin.pairs[unknown][side];
            if j == NONE {
                continue;
            }
            let Root { mass, inertia } = system.roots[j as usize];
            let z = &z[6 * j as usize..][..6];
            let (v, ω) = (DVec3::from_slice(z) * mass, inertia * DVec3::from_slice(&z[3..]));
            if unknown < m {
                let part = v + ω.cross(self.arm(unknown, side));
                u += if side == 0 { part } else { -part };
            } else {
                let [jv, js] = self.problem.scaled_row(unknown - m).jacobian[side];
                u.x += jv.dot(v) + js.dot(ω);
            }
        }
        u
    }
}

fn add<const B: usize>(sum: &mut Block<B>, block: &Block<B>) {
    sum.as_flattened_mut().iter_mut().zip(block.as_flattened()).for_each(|(a, b)| *a += b);
}

/// A 6×6 block from its quarters, given row by row.
fn block(quarters: [[DMat3; 2]; 2]) -> Block<6> {
    std::array::from_fn(|c| std::array::from_fn(|r| quarters[r / 3][c / 3].col(c % 3)[r % 3]))
}
