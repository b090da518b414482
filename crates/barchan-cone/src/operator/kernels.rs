//! The passes of the matrix-free operator.
//!
//! For round bodies D needs the normal only. With σ = rω for the spin of a body, the relative
//! velocity of a contact is u = v_A − v_B + n×(σ_A + σ_B), and an impulse p turns both bodies
//! by −(r²/I)·n×p. Kernels are written once over a [`Lever`] that knows how arms enter, and over
//! the kind of registers; they read each contact once and work on four at a time.

use crate::ContactVec;
use crate::Problem;
use crate::lanes::{F4, LANES, Lanes, V3, V4};
use crate::operator::contactwise::{Here, LaneSums, Sums, slip};
use crate::problem::rows::RowLists;
use barchan_parallel::prefetch;
use glam::DVec3;
use std::ops::Range;

/// Velocity and spin of a body in response to impulses.
pub(crate) type Twist = [f64; 6];

/// How lever arms enter: velocities to contacts, impulses to bodies.
pub(crate) trait Lever: Sync {
    /// Relative velocity of four contacts from velocities and spins of their bodies.
    fn relative<T: Lanes>(&self, block: usize, n: V3<T>, a: [V3<T>; 2], b: [V3<T>; 2]) -> V3<T>;
    /// What impulses `p` of four contacts add to the spin sums of their bodies A and B.
    fn moments<T: Lanes>(&self, block: usize, n: V3<T>, p: V3<T>) -> [V3<T>; 2];
    /// M⁻¹ times the sums of impulses and moments: velocity and spin.
    fn response(&self, body: usize, inverse_mass: f64, sum: &Wrench) -> [f64; 6];
    /// Adds the squared M-norm of a change of velocity and spin, in parts.
    fn add_norm(&self, body: usize, inverse_mass: f64, change: &[f64; 6], norm: &mut [f64; 6]);
    /// Normal and mean tangential entry of the diagonal block of contact `i`.
    fn diagonal(&self, i: usize, pair: [u32; 2], n: DVec3, mass_term: f64) -> (f64, f64);
}

/// Spin scales of a round body.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RoundScale {
    /// r²/I.
    pub(crate) spin: f64,
    /// Mass.
    pub(crate) mass: f64,
    /// I/r².
    pub(crate) inertia: f64,
}

/// Round bodies.
pub(crate) struct Round<'a>(pub(crate) &'a [RoundScale]);

impl Lever for Round<'_> {
    #[inline(always)]
    fn relative<T: Lanes>(&self, _: usize, n: V3<T>, a: [V3<T>; 2], b: [V3<T>; 2]) -> V3<T> {
        a[0] - b[0] + n.cross(a[1] + b[1])
    }
    #[inline(always)]
    fn moments<T: Lanes>(&self, _: usize, n: V3<T>, p: V3<T>) -> [V3<T>; 2] {
        [n.cross(p); 2]
    }
    #[inline(always)]
    fn response(&self, body: usize, inverse_mass: f64, sum: &Wrench) -> [f64; 6] {
        let spin = -self.0[body].spin;
        let (low, high) = (sum[0].0, sum[1].0);
        [
            low[0] * inverse_mass,
            low[1] * inverse_mass,
            low[2] * inverse_mass,
            low[3] * spin,
            high[0] * spin,
            high[1] * spin,
        ]
    }
    #[inline(always)]
    fn add_norm(&self, body: usize, _: f64, d: &[f64; 6], norm: &mut [f64; 6]) {
        let RoundScale { mass, inertia, .. } = self.0[body];
        let weight = [mass, mass, mass, inertia, inertia, inertia];
        for k in 0..6 {
            norm[k] += d[k] * d[k] * weight[k];
        }
    }
    #[inline(always)]
    fn diagonal(&self, _: usize, [a, b]: [u32; 2], _: DVec3, mass_term: f64) -> (f64, f64) {
        (mass_term, mass_term + self.0[a as usize].spin + self.0[b as usize].spin)
    }
}

/// Any bodies.
pub(crate) struct General<'a> {
    pub(crate) inverse_inertia: &'a [[f64; 6]],
    pub(crate) arms_a: &'a ContactVec,
    pub(crate) arms_b: &'a ContactVec,
}

/// Product of a symmetric matrix (xx, yy, zz, xy, xz, yz) and a vector.
#[inline(always)]
pub(crate) fn symmetric_times(m: &[f64; 6], v: DVec3) -> DVec3 {
    DVec3::new(
        m[0] * v.x + m[3] * v.y + m[4] * v.z,
        m[3] * v.x + m[1] * v.y + m[5] * v.z,
        m[4] * v.x + m[5] * v.y + m[2] * v.z,
    )
}

impl Lever for General<'_> {
    #[inline(always)]
    fn relative<T: Lanes>(&self, block: usize, _: V3<T>, a: [V3<T>; 2], b: [V3<T>; 2]) -> V3<T> {
        let (arm_a, arm_b) = (V3::load(&self.arms_a.blocks()[block]), V3::load(&self.arms_b.blocks()[block]));
        a[0] + a[1].cross(arm_a) - b[0] - b[1].cross(arm_b)
    }
    #[inline(always)]
    fn moments<T: Lanes>(&self, block: usize, _: V3<T>, p: V3<T>) -> [V3<T>; 2] {
        let (arm_a, arm_b) = (V3::load(&self.arms_a.blocks()[block]), V3::load(&self.arms_b.blocks()[block]));
        [arm_a.cross(p), p.cross(arm_b)]
    }
    #[inline(always)]
    fn response(&self, body: usize, inverse_mass: f64, sum: &Wrench) -> [f64; 6] {
        let (low, high) = (sum[0].0, sum[1].0);
        let spin = symmetric_times(&self.inverse_inertia[body], DVec3::new(low[3], high[0], high[1]));
        [low[0] * inverse_mass, low[1] * inverse_mass, low[2] * inverse_mass, spin.x, spin.y, spin.z]
    }
    fn add_norm(&self, body: usize, inverse_mass: f64, d: &[f64; 6], norm: &mut [f64; 6]) {
        for k in 0..3 {
            norm[k] += d[k] * d[k] / inverse_mass;
        }
        // ωᵀIω from the inverse: solve I⁻¹t = ω by Cramer's rule.
        let spin = DVec3::new(d[3], d[4], d[5]);
        let [xx, yy, zz, xy, xz, yz] = self.inverse_inertia[body];
        let (c0, c1, c2) = (DVec3::new(xx, xy, xz), DVec3::new(xy, yy, yz), DVec3::new(xz, yz, zz));
        let determinant = c0.dot(c1.cross(c2));
        if determinant != 0.0 {
            let t = DVec3::new(spin.dot(c1.cross(c2)), spin.dot(c2.cross(c0)), spin.dot(c0.cross(c1)));
            norm[3] += spin.dot(t) / determinant;
        }
    }
    fn diagonal(&self, i: usize, [a, b]: [u32; 2], n: DVec3, mass_term: f64) -> (f64, f64) {
        let (ra, rb) = (self.arms_a.get(i), self.arms_b.get(i));
        // dᵀBd of the diagonal block B along a direction d.
        let along = |d: DVec3| {
            let (ta, tb) = (ra.cross(d), rb.cross(d));
            mass_term
                + ta.dot(symmetric_times(&self.inverse_inertia[a as usize], ta))
                + tb.dot(symmetric_times(&self.inverse_inertia[b as usize], tb))
        };
        let normal = along(n);
        let trace = along(DVec3::X) + along(DVec3::Y) + along(DVec3::Z);
        (normal, 0.5 * (trace - normal))
    }
}

/// Normal and mean tangential entry of the diagonal block of contact `i`.
#[inline(always)]
pub(crate) fn diagonal(problem: &Problem, lever: &impl Lever, i: usize) -> (f64, f64) {
    let pair = problem.pairs[i];
    let mass_term = problem.inverse_mass[pair[0] as usize] + problem.inverse_mass[pair[1] as usize];
    lever.diagonal(i, pair, problem.normals.get(i), mass_term)
}

/// What a pass over contacts reads.
pub(crate) struct Pass<'a, L> {
    pub(crate) lever: L,
    pub(crate) problem: &'a Problem,
    /// The right-hand side b.
    pub(crate) bias: &'a [V4],
    pub(crate) normal_scale: &'a [F4],
    pub(crate) ratio: &'a [F4],
    /// Response of γ.
    pub(crate) w: &'a [Twist],
    pub(crate) η: f64,
}

/// What a descent step reads beside it.
pub(crate) struct Step<'a> {
    pub(crate) γ: &'a [V4],
    pub(crate) γ_last: &'a [V4],
    /// Response of γ_last.
    pub(crate) w_last: &'a [Twist],
    pub(crate) β: f64,
    pub(crate) lipschitz: f64,
}

/// Blocks between the fetching of bodies and their use.
const AHEAD: usize = 8;

impl<L: Lever> Pass<'_, L> {
    /// Velocities of the contacts of a block in response to impulses, without the bias.
    #[inline(always)]
    fn relative<T: Lanes>(&self, w: &[Twist], block: usize, n: V3<T>) -> V3<T> {
        let [ids_a, ids_b] = bodies_of_block(&self.problem.pairs, block);
        self.lever.relative(block, n, gather(w, ids_a), gather(w, ids_b))
    }

    /// g = Aγ + b of the contacts of a block.
    #[inline(always)]
    fn gradient<T: Lanes>(&self, block: usize, n: V3<T>) -> V3<T> {
        self.relative(self.w, block, n) + V3::load(&self.bias[block])
    }
}

/// Asks for the bodies B of a block. Bodies A come in order and need no asking.
#[inline(always)]
fn prefetch_bodies(pairs: &[[u32; 2]], block: usize, w: &[Twist], w_last: &[Twist]) {
    if let Some(four) = pairs.get(block * LANES..(block + 1) * LANES) {
        for pair in four {
            prefetch(w, pair[1] as usize);
            prefetch(w_last, pair[1] as usize);
        }
    }
}

/// Velocities and spins of four bodies.
#[inline(always)]
pub(crate) fn gather<T: Lanes>(w: &[Twist], [i, j, k, l]: [u32; LANES]) -> [V3<T>; 2] {
    let [vx, vy, vz, sx, sy, sz] = T::transpose6([&w[i as usize], &w[j as usize], &w[k as usize], &w[l as usize]]);
    [V3 { x: vx, y: vy, z: vz }, V3 { x: sx, y: sy, z: sz }]
}

/// The bodies of four contacts. Lanes behind the last contact have body 0 on both sides, so that
/// their relative velocity is zero.
#[inline(always)]
fn bodies_of_block(pairs: &[[u32; 2]], block: usize) -> [[u32; LANES]; 2] {
    let rest = &pairs[block * LANES..];
    let mut four = [[0; 2]; LANES];
    match rest.first_chunk::<LANES>() {
        Some(chunk) => four = *chunk,
        None => four[..rest.len()].copy_from_slice(rest),
    }
    let [i, j, k, l] = four;
    [[i[0], j[0], k[0], l[0]], [i[1], j[1], k[1], l[1]]]
}

/// The pass over contacts of a descent step; see [`crate::ConeProblem::descend`].
#[inline(always)]
fn descend_blocks<T: Lanes, L: Lever, const NATURAL: bool>(
    pass: &Pass<'_, L>,
    step: &Step<'_>,
    range: Range<usize>,
    x: &mut [V4],
) -> Sums {
    let p = pass.problem;
    let (β, inverse_l) = (T::splat(step.β), T::splat(1.0 / step.lipschitz));
    let mut sums = LaneSums::<T>::zero();
    for (x, k) in x.iter_mut().zip(range) {
        prefetch_bodies(&p.pairs, k + AHEAD, pass.w, step.w_last);
        let n = V3::<T>::load(&p.normals.blocks()[k]);
        let μ = T::load(&p.friction.blocks()[k]);
        let bias = V3::load(&pass.bias[k]);
        let u = pass.relative(pass.w, k, n);
        let u_last = pass.relative(step.w_last, k, n);
        let γ = V3::load(&step.γ[k]);

        let (a_n, κ) = (T::load(&pass.normal_scale[k]), T::load(&pass.ratio[k]));
        let here = Here { n, μ, a_n, κ, γ, γ_last: V3::load(&step.γ_last[k]), u, u_last, bias };
        *x = here.descend::<NATURAL>(β, inverse_l, pass.η, &mut sums).store();
    }
    sums.total()
}

/// Defines a function that runs a kernel in AVX registers where the machine has them, and in
/// plain arrays elsewhere. The instructions change, the arithmetic does not.
macro_rules! vectorised {
    ($name:ident = $kernel:ident [$flag:literal] ($($arg:ident: $type:ty),*) -> $result:ty) => {
        pub(crate) fn $name<L: Lever>($($arg: $type),*) -> $result {
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx2")]
                fn with_avx<L: Lever>($($arg: $type),*) -> $result {
                    $kernel::<crate::lanes::Avx, L, $flag>($($arg),*)
                }
                if std::arch::is_x86_feature_detected!("avx2") {
                    // SAFETY: the machine has AVX2.
                    return unsafe { with_avx($($arg),*) };
                }
            }
            $kernel::<F4, L, $flag>($($arg),*)
        }
    };
}
vectorised!(descend_natural = descend_blocks[true](pass: &Pass<'_, L>, step: &Step<'_>, range: Range<usize>, x: &mut [V4]) -> Sums);
vectorised!(descend_violations = descend_blocks[false](pass: &Pass<'_, L>, step: &Step<'_>, range: Range<usize>, x: &mut [V4]) -> Sums);
vectorised!(respond_alone = respond_bodies[false](pass: &BodyPass<'_, L>, range: Range<usize>, to: &mut [Twist]) -> f64);
vectorised!(respond = respond_bodies[true](pass: &BodyPass<'_, L>, range: Range<usize>, to: &mut [Twist]) -> f64);

/// The pass over contacts that judges γ by every measure; with `coulomb` by the exact law.
pub(crate) fn judge_blocks<L: Lever>(pass: &Pass<'_, L>, γ: &[V4], coulomb: bool, range: Range<usize>) -> Sums {
    let p = pass.problem;
    let mut sums = LaneSums::<F4>::zero();
    for k in range {
        let n = V3::load(&p.normals.blocks()[k]);
        let (γ, μ) = (V3::load(&γ[k]), p.friction.blocks()[k]);
        sums.judge(γ, pass.gradient(k, n), n, μ, pass.η, coulomb);
    }
    sums.total()
}

/// Aγ + b, from the responses.
pub(crate) fn gradient_blocks<L: Lever>(pass: &Pass<'_, L>, range: Range<usize>, out: &mut [V4]) {
    for (out, k) in out.iter_mut().zip(range) {
        let n = V3::<F4>::load(&pass.problem.normals.blocks()[k]);
        *out = pass.gradient(k, n).store();
    }
}

/// μ|g_t|n, from the responses.
pub(crate) fn slip_blocks<L: Lever>(pass: &Pass<'_, L>, range: Range<usize>, out: &mut [V4]) {
    for (out, k) in out.iter_mut().zip(range) {
        let n = V3::<F4>::load(&pass.problem.normals.blocks()[k]);
        *out = (n * slip(pass.gradient(k, n), n, pass.problem.friction.blocks()[k])).store();
    }
}

/// Bodies a chunk of the pass over bodies: its sums stay in the first-level cache.
pub(crate) const BODY_CHUNK: usize = 512;

/// Which contacts act on each chunk of bodies, and the bodies' masses.
#[derive(Debug, Default)]
pub(crate) struct BodyLists {
    /// Contacts with body j as their A are `first[j]..first[j + 1]`.
    pub(crate) first: Vec<u32>,
    /// Contacts with their B in chunk c and their A elsewhere, ascending:
    /// `foreign[foreign_start[c]..foreign_start[c + 1]]`.
    pub(crate) foreign_start: Vec<u32>,
    pub(crate) foreign: Vec<u32>,
}

/// Sums of impulses p and of their moments m on one body: p_x p_y p_z m_x, m_y m_z 0 0.
pub(crate) type Wrench = [F4; 2];

/// Four impulses and their moments as four wrenches.
#[inline(always)]
fn wrenches<T: Lanes>(p: V3<T>, m: V3<T>) -> [[T; 2]; LANES] {
    let zero = T::splat(0.0);
    let low = T::transpose4([p.x, p.y, p.z, m.x]);
    let high = T::transpose4([m.y, m.z, zero, zero]);
    [[low[0], high[0]], [low[1], high[1]], [low[2], high[2]], [low[3], high[3]]]
}

#[inline(always)]
fn add_wrench<T: Lanes>(sum: &mut Wrench, wrench: [T; 2]) {
    sum[0] = (T::load(&sum[0]) + wrench[0]).store();
    sum[1] = (T::load(&sum[1]) + wrench[1]).store();
}

/// What the pass over bodies reads.
pub(crate) struct BodyPass<'a, L> {
    pub(crate) lever: L,
    pub(crate) problem: &'a Problem,
    pub(crate) lists: &'a BodyLists,
    pub(crate) rows: &'a RowLists,
    /// Impulses of bilateral rows.
    pub(crate) λ: &'a [f64],
    pub(crate) x: &'a [V4],
    /// Responses of γ and γ⁻, from which x was stepped with momentum β.
    pub(crate) w: &'a [Twist],
    pub(crate) w_last: &'a [Twist],
    pub(crate) β: f64,
    /// Bodies that the norm leaves out, because their response is not known yet; may be empty.
    pub(crate) left_out: &'a [bool],
}

impl<L: Lever> BodyPass<'_, L> {
    /// Adds the squared M-norm of a body's step from y: w_x − (w + β(w − w⁻)).
    #[inline(always)]
    pub(crate) fn add_norm(&self, j: usize, inverse_mass: f64, to: &Twist, norm: &mut [f64; 6]) {
        let (w, w_last) = (&self.w[j], &self.w_last[j]);
        let change = std::array::from_fn(|k| to[k] - (w[k] + (w[k] - w_last[k]) * self.β));
        self.lever.add_norm(j, inverse_mass, &change, norm);
    }
}

/// The pass over a chunk of bodies; see [`crate::ConeProblem::respond`]. Returns dᵀAd if
/// `NORM` asks for it.
///
/// The order of a body's sum is fixed: contacts from elsewhere first, then those of the chunk,
/// ascending. The loops go over contacts and have no branches that depend on them; impulses on
/// bodies outside of the chunk go to a sum that nobody reads.
#[inline(always)]
fn respond_bodies<T: Lanes, L: Lever, const NORM: bool>(
    pass: &BodyPass<'_, L>,
    range: Range<usize>,
    to: &mut [Twist],
) -> f64 {
    const OUTSIDE: usize = BODY_CHUNK;
    let BodyPass { lever, problem, lists, rows, λ, x, left_out, .. } = pass;
    let (normals, pairs) = (problem.normals.blocks(), &problem.pairs);
    let mut sums = [[F4([0.0; LANES]); 2]; BODY_CHUNK + 1];
    let place = |body: u32| (body as usize).wrapping_sub(range.start).min(OUTSIDE);
    // On B impulses act reversed, moments as they are.
    let on_b = F4([-1.0, -1.0, -1.0, 1.0]);

    let chunk = range.start / BODY_CHUNK;
    for &i in &lists.foreign[lists.foreign_start[chunk] as usize..lists.foreign_start[chunk + 1] as usize] {
        let (block, lane) = (i as usize / LANES, i as usize % LANES);
        let (n, p) = (V3::<F4>::load(&normals[block]), V3::load(&x[block]));
        let m = lever.moments(block, n, p)[1];
        let wrench =
            [F4([p.x.0[lane], p.y.0[lane], p.z.0[lane], m.x.0[lane]]) * on_b, F4([m.y.0[lane], m.z.0[lane], 0.0, 0.0])];
        add_wrench(&mut sums[place(pairs[i as usize][1])], wrench);
    }
    let own = lists.first[range.start] as usize..lists.first[range.end] as usize;
    let on_b = T::load(&on_b);
    for block in own.start / LANES..own.end.div_ceil(LANES) {
        let (n, p) = (V3::<T>::load(&normals[block]), V3::load(&x[block]));
        let [of_a, of_b] = lever.moments(block, n, p);
        let (on_a, of_b) = (wrenches(p, of_a), wrenches(p, of_b));
        let first = block * LANES;
        for lane in own.start.saturating_sub(first)..LANES.min(own.end - first) {
            let [a, b] = pairs[first + lane];
            add_wrench(&mut sums[place(a)], on_a[lane]);
            add_wrench(&mut sums[place(b)], [of_b[lane][0] * on_b, of_b[lane][1]]);
        }
    }

    if !λ.is_empty() {
        for (sum, j) in sums.iter_mut().zip(range.clone()) {
            rows.add_wrench(problem, λ, j, sum);
        }
    }

    // Three loops, so that none asks what it knows.
    match left_out {
        _ if !NORM => respond_to(pass, range, &sums, to, |_| false),
        [] => respond_to(pass, range, &sums, to, |_| true),
        _ => respond_to(pass, range, &sums, to, |j| !left_out[j]),
    }
}

/// The responses of bodies to what acts on them. Returns the sum of the norms that `counts` asks for.
#[inline(always)]
fn respond_to<L: Lever>(
    pass: &BodyPass<'_, L>,
    range: Range<usize>,
    sums: &[Wrench],
    to: &mut [Twist],
    counts: impl Fn(usize) -> bool,
) -> f64 {
    let mut norm = [0.0; 6];
    for ((to, j), sum) in to.iter_mut().zip(range).zip(sums) {
        let inverse_mass = pass.problem.inverse_mass[j];
        if inverse_mass == 0.0 {
            *to = [0.0; 6];
            continue;
        }
        *to = pass.lever.response(j, inverse_mass, sum);
        if counts(j) {
            pass.add_norm(j, inverse_mass, to, &mut norm);
        }
    }
    norm.iter().sum()
}
