//! The passes of the matrix-free operator.
//!
//! For round bodies D needs the normal only. With σ = rω for the spin of a body, the relative
//! velocity of a contact is u = v_A − v_B + n×(σ_A + σ_B), and an impulse p turns both bodies
//! by −(r²/I)·n×p. Kernels are written once over a [`Lever`] that knows how arms enter, and over
//! the kind of registers; they read each contact once and work on four at a time.

use super::Problem;
use super::cone::project4;
use crate::util::lanes::{ContactVec, F4, LANES, Lanes, V3, V4};
use glam::DVec3;
use std::ops::Range;

/// Velocity and spin of a body, as response to an iterate (first six) and to an extrapolation.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(32))]
pub(super) struct State([f64; 12]);

impl State {
    /// Velocity and spin in response to the iterate.
    pub(super) fn response(&self) -> [DVec3; 2] {
        let w = &self.0;
        [DVec3::new(w[0], w[1], w[2]), DVec3::new(w[3], w[4], w[5])]
    }

    #[inline(always)]
    fn extrapolated(&self) -> [DVec3; 2] {
        let w = &self.0;
        [DVec3::new(w[6], w[7], w[8]), DVec3::new(w[9], w[10], w[11])]
    }

    /// Sets the extrapolation to the iterate.
    pub(super) fn forget_momentum(&mut self) {
        self.0.copy_within(0..6, 6);
    }
}

/// Partial sums of a pass over contacts.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sums {
    pub(super) step: f64,
    pub(super) uphill: f64,
    pub(super) natural: f64,
    pub(super) primal: f64,
    pub(super) dual: f64,
    pub(super) complementarity: f64,
    pub(super) complementarity_max: f64,
}

impl Sums {
    pub(super) fn add(a: Sums, b: Sums) -> Sums {
        Sums {
            step: a.step + b.step,
            uphill: a.uphill + b.uphill,
            natural: a.natural + b.natural,
            primal: a.primal.max(b.primal),
            dual: a.dual.max(b.dual),
            complementarity: a.complementarity + b.complementarity,
            complementarity_max: a.complementarity_max.max(b.complementarity_max),
        }
    }
}

/// How lever arms enter: velocities to contacts, impulses to bodies.
pub(super) trait Lever: Sync {
    /// Relative velocity of four contacts from velocities and spins of their bodies.
    fn relative<T: Lanes>(&self, block: usize, n: V3<T>, a: [V3<T>; 2], b: [V3<T>; 2]) -> V3<T>;
    /// What contact `i` with impulse `p` adds to the spin sums of its A and of its B.
    fn moments(&self, i: usize, n: DVec3, p: DVec3) -> [DVec3; 2];
    /// Spin from the spin sum.
    fn spin(&self, body: usize, moments: DVec3) -> DVec3;
    /// The rotational part of the squared M-norm of a spin.
    fn spin_norm(&self, body: usize, spin: DVec3) -> f64;
    /// Normal and mean tangential entry of the diagonal block of contact `i`.
    fn diagonal(&self, i: usize, pair: [u32; 2], n: DVec3, mass_term: f64) -> (f64, f64);
}

/// Round bodies; `spin` is r²/I.
pub(super) struct Round<'a> {
    pub(super) spin: &'a [f64],
}

impl Lever for Round<'_> {
    #[inline(always)]
    fn relative<T: Lanes>(&self, _: usize, n: V3<T>, a: [V3<T>; 2], b: [V3<T>; 2]) -> V3<T> {
        a[0] - b[0] + n.cross(a[1] + b[1])
    }
    #[inline(always)]
    fn moments(&self, _: usize, n: DVec3, p: DVec3) -> [DVec3; 2] {
        [n.cross(p); 2]
    }
    #[inline(always)]
    fn spin(&self, body: usize, moments: DVec3) -> DVec3 {
        moments * -self.spin[body]
    }
    #[inline(always)]
    fn spin_norm(&self, body: usize, spin: DVec3) -> f64 {
        if self.spin[body] > 0.0 { spin.length_squared() / self.spin[body] } else { 0.0 }
    }
    #[inline(always)]
    fn diagonal(&self, _: usize, [a, b]: [u32; 2], _: DVec3, mass_term: f64) -> (f64, f64) {
        (mass_term, mass_term + self.spin[a as usize] + self.spin[b as usize])
    }
}

/// Any bodies.
pub(super) struct General<'a> {
    pub(super) inverse_inertia: &'a [[f64; 6]],
    pub(super) arms_a: &'a ContactVec,
    pub(super) arms_b: &'a ContactVec,
}

/// Product of a symmetric matrix (xx, yy, zz, xy, xz, yz) and a vector.
#[inline(always)]
fn symmetric_times(m: &[f64; 6], v: DVec3) -> DVec3 {
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
    fn moments(&self, i: usize, _: DVec3, p: DVec3) -> [DVec3; 2] {
        [self.arms_a.get(i).cross(p), p.cross(self.arms_b.get(i))]
    }
    #[inline(always)]
    fn spin(&self, body: usize, moments: DVec3) -> DVec3 {
        symmetric_times(&self.inverse_inertia[body], moments)
    }
    #[inline(always)]
    fn spin_norm(&self, body: usize, spin: DVec3) -> f64 {
        // ωᵀIω from the inverse: solve I⁻¹t = ω by Cramer's rule.
        let [xx, yy, zz, xy, xz, yz] = self.inverse_inertia[body];
        let (c0, c1, c2) = (DVec3::new(xx, xy, xz), DVec3::new(xy, yy, yz), DVec3::new(xz, yz, zz));
        let determinant = c0.dot(c1.cross(c2));
        if determinant == 0.0 {
            return 0.0;
        }
        let t = DVec3::new(spin.dot(c1.cross(c2)), spin.dot(c2.cross(c0)), spin.dot(c0.cross(c1)));
        spin.dot(t) / determinant
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
pub(super) fn diagonal(problem: &Problem, lever: &impl Lever, i: usize) -> (f64, f64) {
    let pair = problem.pairs[i];
    let mass_term = problem.inverse_mass[pair[0] as usize] + problem.inverse_mass[pair[1] as usize];
    lever.diagonal(i, pair, problem.normals.get(i), mass_term)
}

/// What a pass over contacts reads.
pub(super) struct Pass<'a, L> {
    pub(super) lever: L,
    pub(super) problem: &'a Problem,
    pub(super) normal_scale: &'a [F4],
    pub(super) ratio: &'a [F4],
    pub(super) states: &'a [State],
    pub(super) η: f64,
}

/// What a descent step reads beside it.
pub(super) struct Step<'a> {
    pub(super) γ: &'a [V4],
    pub(super) γ_last: &'a [V4],
    pub(super) β: f64,
    pub(super) lipschitz: f64,
}

impl<L: Lever> Pass<'_, L> {
    /// Velocities g of the contacts of a block, for the iterate and for the extrapolation.
    #[inline(always)]
    fn velocities<T: Lanes>(&self, block: usize, n: V3<T>) -> [V3<T>; 2] {
        let [ids_a, ids_b] = bodies_of_block(&self.problem.pairs, block);
        let (a, b) = (gather(self.states, ids_a), gather(self.states, ids_b));
        let bias = V3::load(&self.problem.bias.blocks()[block]);
        [self.lever.relative(block, n, a[0], b[0]) + bias, self.lever.relative(block, n, a[1], b[1]) + bias]
    }
}

/// Velocities and spins of four bodies, for the iterate and for the extrapolation.
#[inline(always)]
fn gather<T: Lanes>(states: &[State], [i, j, k, l]: [u32; LANES]) -> [[V3<T>; 2]; 2] {
    let rows = [&states[i as usize].0, &states[j as usize].0, &states[k as usize].0, &states[l as usize].0];
    let [vx, vy, vz, sx, sy, sz, wx, wy, wz, tx, ty, tz] = T::transpose(rows);
    [[V3 { x: vx, y: vy, z: vz }, V3 { x: sx, y: sy, z: sz }], [V3 { x: wx, y: wy, z: wz }, V3 { x: tx, y: ty, z: tz }]]
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

/// [`Sums`], four contacts at a time.
#[derive(Clone, Copy)]
struct LaneSums<T> {
    step: T,
    uphill: T,
    natural: T,
    primal: T,
    dual: T,
    complementarity: T,
    complementarity_max: T,
}

impl<T: Lanes> LaneSums<T> {
    #[inline(always)]
    fn zero() -> Self {
        let zero = T::splat(0.0);
        Self {
            step: zero,
            uphill: zero,
            natural: zero,
            primal: zero,
            dual: zero,
            complementarity: zero,
            complementarity_max: zero,
        }
    }

    #[inline(always)]
    fn total(self) -> Sums {
        Sums {
            step: self.step.sum(),
            uphill: self.uphill.sum(),
            natural: self.natural.sum(),
            primal: self.primal.max_lane(),
            dual: self.dual.max_lane(),
            complementarity: self.complementarity.sum(),
            complementarity_max: self.complementarity_max.max_lane(),
        }
    }

    /// Adds |γ − Π(γ − ηg)|².
    #[inline(always)]
    fn add_natural(&mut self, γ: V3<T>, g: V3<T>, n: V3<T>, μ: T, η: f64) {
        let r = γ - project4(γ - g * T::splat(η), n, μ, T::splat(1.0));
        self.natural = self.natural + r.dot(r);
    }

    /// Adds the violations of S1 III-C and of the earlier text.
    #[inline(always)]
    fn add_violations(&mut self, γ: V3<T>, g: V3<T>, n: V3<T>, μ: T) {
        let zero = T::splat(0.0);
        // |g_t| − g_n/μ; in the limit μ = 0 only g_n ≥ 0 is left.
        let (gn, γn) = (g.dot(n), γ.dot(n));
        let (gt, γt) = (g - n * gn, γ - n * γn);
        self.dual = self.dual.max(T::select_le(μ, zero, zero - gn, gt.dot(gt).sqrt() - gn / μ));
        self.primal = self.primal.max(γt.dot(γt).sqrt() - μ * γn);
        let c = γ.dot(g);
        self.complementarity = self.complementarity + c;
        self.complementarity_max = self.complementarity_max.max(c.max(zero - c));
    }
}

/// The pass over contacts of a descent step; see [`super::ConeProblem::descend`].
#[inline(always)]
pub(super) fn descend_blocks<T: Lanes, L: Lever, const NATURAL: bool>(
    pass: &Pass<'_, L>,
    step: &Step<'_>,
    range: Range<usize>,
    x: &mut [V4],
) -> Sums {
    let p = pass.problem;
    let (β, inverse_l, one) = (T::splat(step.β), T::splat(1.0 / step.lipschitz), T::splat(1.0));
    let mut sums = LaneSums::<T>::zero();
    for (x, k) in x.iter_mut().zip(range) {
        let n = V3::<T>::load(&p.normals.blocks()[k]);
        let μ = T::load(&p.friction.blocks()[k]);
        let [g, g_y] = pass.velocities(k, n);
        let γ = V3::load(&step.γ[k]);

        // The residual of γ.
        if NATURAL {
            sums.add_natural(γ, g, n, μ, pass.η);
        } else {
            sums.add_violations(γ, g, n, μ);
        }

        // The step from y against the gradient there, in the metric H = a_n·diag(1, κ, κ).
        let y = γ + (γ - V3::load(&step.γ_last[k])) * β;
        let (a_n, κ) = (T::load(&pass.normal_scale[k]), T::load(&pass.ratio[k]));
        let along_t = inverse_l / (a_n * κ);
        let along_n = along_t * κ;
        let z = y - g_y * along_t - n * (g_y.dot(n) * (along_n - along_t));
        let next = project4(z, n, μ, κ);
        *x = next.store();

        // dᵀHd and the restart test −dᵀH(x − γ).
        let (d, e) = (next - y, next - γ);
        let (dn, en) = (d.dot(n), e.dot(n));
        sums.step = sums.step + a_n * (κ * d.dot(d) + (one - κ) * dn * dn);
        sums.uphill = sums.uphill - a_n * (κ * d.dot(e) + (one - κ) * dn * en);
    }
    sums.total()
}

/// Calls a kernel in AVX registers where the machine has them. The instructions change, the
/// arithmetic does not.
macro_rules! vectorised {
    ($($kernel:ident)::+, $natural:literal, ($pass:expr, $step:expr, $range:expr, $x:expr)) => {{
        #[cfg(target_arch = "x86_64")]
        {
            #[target_feature(enable = "avx2")]
            fn with_avx<L: Lever>(pass: &Pass<'_, L>, step: &Step<'_>, range: Range<usize>, x: &mut [crate::util::lanes::V4]) -> Sums {
                $($kernel)::+::<crate::util::lanes::Avx, L, $natural>(pass, step, range, x)
            }
            if std::arch::is_x86_feature_detected!("avx2") {
                // SAFETY: the machine has AVX2.
                unsafe { with_avx($pass, $step, $range, $x) }
            } else {
                $($kernel)::+::<crate::util::lanes::F4, _, $natural>($pass, $step, $range, $x)
            }
        }
        #[cfg(not(target_arch = "x86_64"))]
        {
            $($kernel)::+::<crate::util::lanes::F4, _, $natural>($pass, $step, $range, $x)
        }
    }};
}
pub(super) use vectorised;

/// The pass over contacts that judges γ by every measure.
pub(super) fn judge_blocks<L: Lever>(pass: &Pass<'_, L>, γ: &[V4], range: Range<usize>) -> Sums {
    let p = pass.problem;
    let mut sums = LaneSums::<F4>::zero();
    for k in range {
        let n = V3::load(&p.normals.blocks()[k]);
        let [g, _] = pass.velocities(k, n);
        let (γ, μ) = (V3::load(&γ[k]), p.friction.blocks()[k]);
        sums.add_natural(γ, g, n, μ, pass.η);
        sums.add_violations(γ, g, n, μ);
    }
    sums.total()
}

/// Aγ + b, from the responses.
pub(super) fn gradient_blocks<L: Lever>(pass: &Pass<'_, L>, out: &mut [V4]) {
    for (k, out) in out.iter_mut().enumerate() {
        let n = V3::<F4>::load(&pass.problem.normals.blocks()[k]);
        *out = pass.velocities(k, n)[0].store();
    }
}

/// γ ← Π(γ).
pub(super) fn project_blocks(p: &Problem, range: Range<usize>, γ: &mut [V4]) {
    for (γ, k) in γ.iter_mut().zip(range) {
        let (n, μ) = (V3::<F4>::load(&p.normals.blocks()[k]), p.friction.blocks()[k]);
        *γ = project4(V3::load(γ), n, μ, F4::splat(1.0)).store();
    }
}

/// ‖Π(−ηb)‖² of some blocks.
pub(super) fn projected_norm_squared(p: &Problem, η: f64, range: Range<usize>) -> f64 {
    let mut sum = F4::splat(0.0);
    for k in range {
        let (n, μ) = (V3::<F4>::load(&p.normals.blocks()[k]), p.friction.blocks()[k]);
        let z = project4(V3::load(&p.bias.blocks()[k]) * F4::splat(-η), n, μ, F4::splat(1.0));
        sum = sum + z.dot(z);
    }
    sum.sum()
}

/// The scalar product of some blocks.
pub(super) fn dot_blocks(a: &[V4], b: &[V4], range: Range<usize>) -> f64 {
    let mut sum = F4::splat(0.0);
    for k in range {
        sum = sum + V3::<F4>::load(&a[k]).dot(V3::load(&b[k]));
    }
    sum.sum()
}

/// Bodies a chunk of the pass over bodies: its sums stay in the first-level cache.
pub(super) const BODY_CHUNK: usize = 512;

/// Which contacts act on each chunk of bodies, and the bodies' masses.
#[derive(Debug, Default)]
pub(super) struct BodyLists {
    /// Contacts with body j as their A are `first[j]..first[j + 1]`.
    pub(super) first: Vec<u32>,
    /// Contacts with their B in chunk c and their A elsewhere, ascending:
    /// `foreign[foreign_start[c]..foreign_start[c + 1]]`.
    pub(super) foreign_start: Vec<u32>,
    pub(super) foreign: Vec<u32>,
}

/// Sums of impulses and of their moments on one body.
type Wrench = [f64; 6];

#[inline(always)]
fn add_wrench(to: &mut Wrench, sign: f64, p: DVec3, m: DVec3) {
    to[0] += sign * p.x;
    to[1] += sign * p.y;
    to[2] += sign * p.z;
    to[3] += m.x;
    to[4] += m.y;
    to[5] += m.z;
}

/// The pass over a chunk of bodies; see [`super::ConeProblem::respond`]. Returns dᵀAd and xᵀAx.
///
/// The order of a body's sum is fixed: contacts from elsewhere first, then those of the chunk,
/// ascending. The loops go over contacts and have no branches that depend on them; impulses on
/// bodies outside of the chunk go to a sum that nobody reads.
#[allow(clippy::too_many_arguments)]
pub(super) fn respond_bodies<L: Lever>(
    lever: &L,
    problem: &Problem,
    lists: &BodyLists,
    x: &[V4],
    from: &[State],
    β: f64,
    range: Range<usize>,
    to: &mut [State],
) -> [f64; 2] {
    const OUTSIDE: usize = BODY_CHUNK;
    let normals = problem.normals.blocks();
    let mut sums = [[0.0; 6]; BODY_CHUNK + 1];
    let chunk = range.start / BODY_CHUNK;
    for &i in &lists.foreign[lists.foreign_start[chunk] as usize..lists.foreign_start[chunk + 1] as usize] {
        let i = i as usize;
        let (n, p) = (normals[i / LANES].lane(i % LANES), x[i / LANES].lane(i % LANES));
        let b = problem.pairs[i][1] as usize - range.start;
        add_wrench(&mut sums[b], -1.0, p, lever.moments(i, n, p)[1]);
    }
    for i in lists.first[range.start] as usize..lists.first[range.end] as usize {
        let (n, p) = (normals[i / LANES].lane(i % LANES), x[i / LANES].lane(i % LANES));
        let [a, b] = problem.pairs[i];
        let [of_a, of_b] = lever.moments(i, n, p);
        add_wrench(&mut sums[a as usize - range.start], 1.0, p, of_a);
        let b = (b as usize).wrapping_sub(range.start).min(OUTSIDE);
        add_wrench(&mut sums[b], -1.0, p, of_b);
    }
    let mut norms = [0.0; 2];
    for ((to, j), sum) in to.iter_mut().zip(range).zip(&sums) {
        let inverse_mass = problem.inverse_mass[j];
        if inverse_mass == 0.0 {
            continue;
        }
        let (force, moment) = (DVec3::new(sum[0], sum[1], sum[2]), DVec3::new(sum[3], sum[4], sum[5]));
        let (v, s) = (force * inverse_mass, lever.spin(j, moment));
        let [v_last, s_last] = from[j].response();
        let [v_y, s_y] = from[j].extrapolated();
        let (next_v, next_s) = (v + (v - v_last) * β, s + (s - s_last) * β);
        to.0 = [v.x, v.y, v.z, s.x, s.y, s.z, next_v.x, next_v.y, next_v.z, next_s.x, next_s.y, next_s.z];
        norms[0] += (v - v_y).length_squared() / inverse_mass + lever.spin_norm(j, s - s_y);
        norms[1] += force.dot(v) + lever.spin_norm(j, s);
    }
    norms
}
