//! The passes of the matrix-free operator.
//!
//! With σ = rω for the spin of a body, the relative velocity of a round contact is
//! u = v_A − v_B + n×(σ_A + σ_B), and an impulse p turns both bodies by −(r²/I)·n×p. A general contact
//! has arms a and b over the lengths r of its bodies: u = v_A + σ_A×a − v_B − σ_B×b, and p turns A by
//! r²I⁻¹(a×p) and B by −r²I⁻¹(b×p). Kernels are written once over a [`Lever`] that knows how arms enter,
//! and over the kind of registers; they read each contact once and work on four at a time.

use crate::lanes::{F4, LANES, Lanes, V3, V4};
use crate::operator::contactwise::{Here, LaneSums, Sums, slip};
use crate::problem::rows::RowLists;
use crate::{ContactVec, ProblemRef, Symmetric};
use barchan_parallel::prefetch;
use glam::DVec3;
use std::ops::Range;

/// Velocity and spin σ of a body in response to impulses.
pub(crate) type Twist = [f64; 6];

/// How lever arms enter: velocities to contacts, impulses to bodies.
pub(crate) trait Lever: Copy + Sync {
    /// Relative velocity of four contacts from velocities and spins of their bodies.
    fn relative<T: Lanes>(&self, block: usize, n: V3<T>, a: [V3<T>; 2], b: [V3<T>; 2]) -> V3<T>;
    /// The moments of impulses `p` of four contacts on their bodies A and B, over r and reversed.
    fn moments<T: Lanes>(&self, block: usize, n: V3<T>, p: V3<T>) -> [V3<T>; 2];
}

/// Round contacts.
#[derive(Clone, Copy)]
pub(crate) struct Round;

impl Lever for Round {
    #[inline(always)]
    fn relative<T: Lanes>(&self, _: usize, n: V3<T>, a: [V3<T>; 2], b: [V3<T>; 2]) -> V3<T> {
        a[0] - b[0] + n.cross(a[1] + b[1])
    }
    #[inline(always)]
    fn moments<T: Lanes>(&self, _: usize, n: V3<T>, p: V3<T>) -> [V3<T>; 2] {
        [n.cross(p); 2]
    }
}

/// General contacts.
#[derive(Clone, Copy)]
pub(crate) struct General<'a> {
    /// The block of the first arms.
    start: usize,
    arms: [&'a [V4]; 2],
}

impl<'a> General<'a> {
    /// The general contacts of a problem.
    pub(crate) fn of(problem: &ProblemRef<'a>) -> Self {
        let arms = &problem.geometry.arms;
        Self { start: arms.start() / LANES, arms: arms.sides().map(ContactVec::blocks) }
    }

    #[inline(always)]
    fn arm<T: Lanes>(&self, block: usize, side: usize) -> V3<T> {
        V3::load(&self.arms[side][block - self.start])
    }
}

impl Lever for General<'_> {
    #[inline(always)]
    fn relative<T: Lanes>(&self, block: usize, _: V3<T>, a: [V3<T>; 2], b: [V3<T>; 2]) -> V3<T> {
        a[0] - b[0] + a[1].cross(self.arm(block, 0)) - b[1].cross(self.arm(block, 1))
    }
    #[inline(always)]
    fn moments<T: Lanes>(&self, block: usize, _: V3<T>, p: V3<T>) -> [V3<T>; 2] {
        [p.cross(self.arm(block, 0)), self.arm(block, 1).cross(p)]
    }
}

/// Product of a symmetric matrix and a vector.
#[inline(always)]
pub(crate) fn symmetric_times(m: &Symmetric, v: DVec3) -> DVec3 {
    DVec3::new(
        m[0] * v.x + m[3] * v.y + m[4] * v.z,
        m[3] * v.x + m[1] * v.y + m[5] * v.z,
        m[4] * v.x + m[5] * v.y + m[2] * v.z,
    )
}

/// The inverse of a symmetric matrix; zero if it has none.
fn symmetric_inverse([xx, yy, zz, xy, xz, yz]: Symmetric) -> Symmetric {
    let columns = [DVec3::new(xx, xy, xz), DVec3::new(xy, yy, yz), DVec3::new(xz, yz, zz)];
    let [p, q, r] = [columns[1].cross(columns[2]), columns[2].cross(columns[0]), columns[0].cross(columns[1])];
    let determinant = columns[0].dot(p);
    if determinant == 0.0 {
        return [0.0; 6];
    }
    [p.x, q.y, r.z, p.y, p.z, q.z].map(|x| x / determinant)
}

/// How each body answers to impulses and moments.
#[derive(Debug, Default)]
pub(crate) struct Scales {
    /// Of every body.
    pub(crate) round: Vec<RoundScale>,
    /// r²I⁻¹ of the bodies that have a tensor, in the order of the problem's list,
    pub(crate) response: Vec<Symmetric>,
    /// and its inverse.
    inertia: Vec<Symmetric>,
    /// Those in chunk c of bodies are `start[c]..start[c + 1]` of the list; empty if there are none.
    start: Vec<u32>,
}

/// Scales of a round body.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RoundScale {
    /// r²/I; zero for bodies with a tensor.
    pub(crate) spin: f64,
    /// Mass.
    pub(crate) mass: f64,
    /// I/r².
    pub(crate) inertia: f64,
}

impl Scales {
    /// Computes the scales of a problem's bodies.
    pub(crate) fn fill(&mut self, problem: &ProblemRef<'_>) {
        let inverse = |x: f64| if x > 0.0 { 1.0 / x } else { 0.0 };
        let geometry = problem.geometry;
        self.round.clear();
        let bodies = geometry.radius.iter().zip(&geometry.inverse_inertia).zip(problem.inverse_mass);
        self.round.extend(bodies.map(|((r, i), m)| {
            let spin = r * r * i;
            RoundScale { spin, mass: inverse(*m), inertia: inverse(spin) }
        }));
        self.response.clear();
        self.inertia.clear();
        self.start.clear();
        let tensors = &geometry.tensors;
        if tensors.is_empty() {
            return;
        }
        for &j in &tensors.bodies {
            let response = problem.spin_response(j as usize);
            self.response.push(response);
            self.inertia.push(symmetric_inverse(response));
            (self.round[j as usize].spin, self.round[j as usize].inertia) = (0.0, 0.0);
        }
        let chunks = problem.bodies().div_ceil(BODY_CHUNK);
        self.start
            .extend((0..=chunks).map(|c| tensors.bodies.partition_point(|&j| (j as usize) < c * BODY_CHUNK) as u32));
    }

    /// Of the bodies with a tensor, those in a chunk of bodies.
    #[inline(always)]
    fn in_chunk(&self, chunk: usize) -> Range<usize> {
        if self.start.is_empty() { 0..0 } else { self.start[chunk] as usize..self.start[chunk + 1] as usize }
    }

    /// The place of a body in the list of those with a tensor.
    #[inline(always)]
    fn tensor(&self, problem: &ProblemRef<'_>, body: u32) -> Option<usize> {
        let list = &problem.geometry.tensors.bodies;
        let range = self.in_chunk(body as usize / BODY_CHUNK);
        // Mostly all bodies of a chunk have one.
        let guess = range.start + body as usize % BODY_CHUNK;
        if guess < range.end && list[guess] == body {
            return Some(guess);
        }
        list[range.clone()].binary_search(&body).ok().map(|k| range.start + k)
    }

    /// How a body answers to impulses over an arm: (r×n)ᵀM(r×n) for a unit vector n, and the same summed over three axes,
    /// tr M |r|² − rᵀMr, with M = r²I⁻¹.
    #[inline(always)]
    fn spin_answer(&self, problem: &ProblemRef<'_>, body: u32, arm: DVec3, n: DVec3) -> (f64, f64) {
        let moment = arm.cross(n);
        match self.tensor(problem, body) {
            Some(k) => {
                let m = &self.response[k];
                let trace = (m[0] + m[1] + m[2]) * arm.length_squared() - arm.dot(symmetric_times(m, arm));
                (moment.dot(symmetric_times(m, moment)), trace)
            }
            None => {
                let spin = self.round[body as usize].spin;
                (spin * moment.length_squared(), 2.0 * spin * arm.length_squared())
            }
        }
    }

    /// Normal and mean tangential entry of the diagonal block of a contact.
    #[inline(always)]
    pub(crate) fn diagonal(&self, problem: &ProblemRef<'_>, contact: usize) -> (f64, f64) {
        let [a, b] = problem.pairs[contact];
        let mass = problem.inverse_mass[a as usize] + problem.inverse_mass[b as usize];
        if contact < problem.round() {
            return (mass, mass + self.round[a as usize].spin + self.round[b as usize].spin);
        }
        let [arm_a, arm_b] = problem.scaled_arms(contact);
        let n = problem.normals.get(contact);
        let on_a = self.spin_answer(problem, a, arm_a, n);
        let on_b = self.spin_answer(problem, b, arm_b, n);
        let normal = mass + on_a.0 + on_b.0;
        let trace = 3.0 * mass + on_a.1 + on_b.1;
        (normal, 0.5 * (trace - normal))
    }
}

/// What a pass over contacts reads.
pub(crate) struct Pass<'a> {
    pub(crate) problem: ProblemRef<'a>,
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

impl Pass<'_> {
    /// Velocities of the contacts of a block in response to impulses, without the bias.
    #[inline(always)]
    fn relative<T: Lanes>(&self, lever: impl Lever, w: &[Twist], block: usize, n: V3<T>) -> V3<T> {
        let [ids_a, ids_b] = bodies_of_block(self.problem.pairs, block);
        lever.relative(block, n, gather(w, ids_a), gather(w, ids_b))
    }

    /// g = Aγ + b of the contacts of a block.
    #[inline(always)]
    fn gradient<T: Lanes>(&self, lever: impl Lever, block: usize, n: V3<T>) -> V3<T> {
        self.relative(lever, self.w, block, n) + V3::load(&self.bias[block])
    }

    /// Some blocks, cut where lever arms begin.
    #[inline(always)]
    fn sections(&self, range: Range<usize>) -> [Range<usize>; 2] {
        let middle = self.problem.round_blocks().clamp(range.start, range.end);
        [range.start..middle, middle..range.end]
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
fn descend_blocks<T: Lanes, const NATURAL: bool>(
    pass: &Pass<'_>,
    lever: impl Lever,
    step: &Step<'_>,
    range: Range<usize>,
    x: &mut [V4],
) -> Sums {
    let p = pass.problem;
    let (β, inverse_l) = (T::splat(step.β), T::splat(1.0 / step.lipschitz));
    let mut sums = LaneSums::<T>::zero();
    for (x, k) in x.iter_mut().zip(range) {
        prefetch_bodies(p.pairs, k + AHEAD, pass.w, step.w_last);
        let n = V3::<T>::load(&p.normals.blocks()[k]);
        let μ = T::load(&p.friction.blocks()[k]);
        let bias = V3::load(&pass.bias[k]);
        let u = pass.relative(lever, pass.w, k, n);
        let u_last = pass.relative(lever, step.w_last, k, n);
        let γ = V3::load(&step.γ[k]);

        let (a_n, κ) = (T::load(&pass.normal_scale[k]), T::load(&pass.ratio[k]));
        let here = Here { n, μ, a_n, κ, γ, γ_last: V3::load(&step.γ_last[k]), u, u_last, bias };
        *x = here.descend::<NATURAL>(β, inverse_l, pass.η, &mut sums).store();
    }
    sums.total()
}

/// The same over blocks of both kinds of contacts.
#[inline(always)]
fn descend_sections<T: Lanes, const NATURAL: bool>(
    pass: &Pass<'_>,
    step: &Step<'_>,
    range: Range<usize>,
    x: &mut [V4],
) -> Sums {
    let [round, general] = pass.sections(range);
    let (x_round, x_general) = x.split_at_mut(round.len());
    let sums = descend_blocks::<T, NATURAL>(pass, Round, step, round, x_round);
    if general.is_empty() {
        return sums;
    }
    let lever = General::of(&pass.problem);
    Sums::add(sums, descend_blocks::<T, NATURAL>(pass, lever, step, general, x_general))
}

/// Defines a function that runs a kernel in AVX registers where the machine has them, and in
/// plain arrays elsewhere. The instructions change, the arithmetic does not.
macro_rules! vectorised {
    ($name:ident = $kernel:ident [$flag:literal] ($($arg:ident: $type:ty),*) -> $result:ty) => {
        pub(crate) fn $name($($arg: $type),*) -> $result {
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx2")]
                fn with_avx($($arg: $type),*) -> $result {
                    $kernel::<crate::lanes::Avx, $flag>($($arg),*)
                }
                if std::arch::is_x86_feature_detected!("avx2") {
                    // SAFETY: the machine has AVX2.
                    return unsafe { with_avx($($arg),*) };
                }
            }
            $kernel::<F4, $flag>($($arg),*)
        }
    };
}
vectorised!(descend_natural = descend_sections[true](pass: &Pass<'_>, step: &Step<'_>, range: Range<usize>, x: &mut [V4]) -> Sums);
vectorised!(descend_violations = descend_sections[false](pass: &Pass<'_>, step: &Step<'_>, range: Range<usize>, x: &mut [V4]) -> Sums);
vectorised!(respond_alone = respond_bodies[false](pass: &BodyPass<'_>, range: Range<usize>, to: &mut [Twist]) -> f64);
vectorised!(respond = respond_bodies[true](pass: &BodyPass<'_>, range: Range<usize>, to: &mut [Twist]) -> f64);

/// Calls `at` with the gradient g = Aγ + b and the normals of every block.
#[inline(always)]
fn gradients(pass: &Pass<'_>, range: Range<usize>, mut at: impl FnMut(usize, V3<F4>, V3<F4>)) {
    let [round, general] = pass.sections(range);
    for k in round {
        let n = V3::load(&pass.problem.normals.blocks()[k]);
        at(k, pass.gradient(Round, k, n), n);
    }
    let lever = General::of(&pass.problem);
    for k in general {
        let n = V3::load(&pass.problem.normals.blocks()[k]);
        at(k, pass.gradient(lever, k, n), n);
    }
}

/// The pass over contacts that measures the residuals of γ; with `coulomb` by the exact law.
pub(crate) fn residual_blocks(pass: &Pass<'_>, γ: &[V4], coulomb: Option<f64>, range: Range<usize>) -> Sums {
    let mut sums = LaneSums::<F4>::zero();
    gradients(pass, range, |k, g, n| {
        sums.add_residuals(V3::load(&γ[k]), g, n, pass.problem.friction.blocks()[k], pass.η, coulomb);
    });
    sums.total()
}

/// Aγ + b, from the responses.
pub(crate) fn gradient_blocks(pass: &Pass<'_>, range: Range<usize>, out: &mut [V4]) {
    let start = range.start;
    gradients(pass, range, |k, g, _| out[k - start] = g.store());
}

/// μ|g_t|n, from the responses.
pub(crate) fn slip_blocks(pass: &Pass<'_>, range: Range<usize>, out: &mut [V4]) {
    let start = range.start;
    gradients(pass, range, |k, g, n| {
        out[k - start] = (n * slip(g, n, pass.problem.friction.blocks()[k], pass.problem.slip_rounding)).store();
    });
}

/// Bodies a chunk of the pass over bodies: its sums stay in the first-level cache.
pub(crate) const BODY_CHUNK: usize = 512;

/// Which contacts act on each chunk of bodies.
#[derive(Debug, Default)]
pub(crate) struct BodyLists {
    /// Contacts with body j as their A are `first[j]..first[j + 1]`, of the round ones,
    pub(crate) first: Vec<u32>,
    /// and the same of the general ones; empty if there are none.
    pub(crate) first_general: Vec<u32>,
    /// Contacts with their B in chunk c and their A elsewhere, ascending:
    /// `foreign[foreign_start[c]..foreign_start[c + 1]]`.
    pub(crate) foreign_start: Vec<u32>,
    pub(crate) foreign: Vec<u32>,
}

/// Sums of impulses p and of their moments m over r, reversed, on one body: p_x p_y p_z m_x, m_y m_z 0 0.
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
pub(crate) struct BodyPass<'a> {
    pub(crate) problem: ProblemRef<'a>,
    pub(crate) scales: &'a Scales,
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

/// The reverse of impulses, on body B; moments have their sign already.
const ON_B: F4 = F4([-1.0, -1.0, -1.0, 1.0]);

impl BodyPass<'_> {
    /// The step of a body from y: w_x − (w + β(w − w⁻)).
    #[inline(always)]
    fn change(&self, j: usize, to: &Twist) -> Twist {
        let (w, w_last) = (&self.w[j], &self.w_last[j]);
        std::array::from_fn(|k| to[k] - (w[k] + (w[k] - w_last[k]) * self.β))
    }

    /// Adds the squared M-norm of a body's step from y; of bodies with a tensor that of its velocity alone.
    #[inline(always)]
    fn add_norm(&self, j: usize, to: &Twist, norm: &mut [f64; 6]) {
        let d = self.change(j, to);
        let RoundScale { mass, inertia, .. } = self.scales.round[j];
        let weight = [mass, mass, mass, inertia, inertia, inertia];
        for k in 0..6 {
            norm[k] += d[k] * d[k] * weight[k];
        }
    }

    /// The squared norm of the step in spin of a body with a tensor, the k-th of their list.
    #[inline(always)]
    fn spin_norm(&self, k: usize, j: usize, to: &Twist) -> f64 {
        let [_, _, _, x, y, z] = self.change(j, to);
        let d = DVec3::new(x, y, z);
        d.dot(symmetric_times(&self.scales.inertia[k], d))
    }

    /// The squared M-norm of the step of one body, whatever its kind.
    pub(crate) fn norm_of(&self, j: usize, to: &Twist, norm: &mut [f64; 6]) {
        self.add_norm(j, to, norm);
        if let Ok(k) = self.problem.geometry.tensors.bodies.binary_search(&(j as u32)) {
            norm[3] += self.spin_norm(k, j, to);
        }
    }

    /// Adds what the contacts of one section do to a chunk of bodies: those whose A lies in it.
    ///
    /// The loop goes over contacts and has no branches that depend on them; impulses on bodies outside of
    /// the chunk go to a sum that nobody reads.
    #[inline(always)]
    fn add_own<T: Lanes>(&self, lever: impl Lever, own: Range<usize>, bodies: &Range<usize>, sums: &mut Sum) {
        let place = |body: u32| (body as usize).wrapping_sub(bodies.start).min(OUTSIDE);
        let (normals, pairs) = (self.problem.normals.blocks(), self.problem.pairs);
        let on_b = T::load(&ON_B);
        let blocks = own.start / LANES..own.end.div_ceil(LANES);
        for (block, n) in blocks.clone().zip(&normals[blocks]) {
            let (n, p) = (V3::<T>::load(n), V3::load(&self.x[block]));
            let [of_a, of_b] = lever.moments(block, n, p);
            let (on_a, of_b) = (wrenches(p, of_a), wrenches(p, of_b));
            let first = block * LANES;
            for lane in own.start.saturating_sub(first)..LANES.min(own.end - first) {
                let [a, b] = pairs[first + lane];
                add_wrench(&mut sums[place(a)], on_a[lane]);
                add_wrench(&mut sums[place(b)], [of_b[lane][0] * on_b, of_b[lane][1]]);
            }
        }
    }

    /// Adds what one contact does to its body B.
    #[inline(always)]
    fn add_foreign(&self, lever: impl Lever, i: usize, sum: &mut Wrench) {
        let (block, lane) = (i / LANES, i % LANES);
        let (n, p) = (V3::<F4>::load(&self.problem.normals.blocks()[block]), V3::load(&self.x[block]));
        let m = lever.moments(block, n, p)[1];
        let wrench =
            [F4([p.x.0[lane], p.y.0[lane], p.z.0[lane], m.x.0[lane]]) * ON_B, F4([m.y.0[lane], m.z.0[lane], 0.0, 0.0])];
        add_wrench(sum, wrench);
    }
}

/// Sums of a chunk of bodies, and one for all that lies outside.
type Sum = [Wrench; BODY_CHUNK + 1];
const OUTSIDE: usize = BODY_CHUNK;

/// The pass over a chunk of bodies; see [`crate::ConeProblem::respond`]. Returns dᵀAd if
/// `NORM` asks for it.
///
/// The order of a body's sum is fixed: contacts from elsewhere first, then those of the chunk,
/// ascending, round ones before general ones, then bilateral rows.
#[inline(always)]
fn respond_bodies<T: Lanes, const NORM: bool>(pass: &BodyPass<'_>, range: Range<usize>, to: &mut [Twist]) -> f64 {
    let BodyPass { problem, lists, rows, λ, left_out, .. } = pass;
    let mut sums: Sum = [[F4([0.0; LANES]); 2]; BODY_CHUNK + 1];
    let chunk = range.start / BODY_CHUNK;
    let foreign = &lists.foreign[lists.foreign_start[chunk] as usize..lists.foreign_start[chunk + 1] as usize];
    let place = |body: u32| (body as usize).wrapping_sub(range.start).min(OUTSIDE);
    // They ascend, so round ones come first.
    let round = if lists.first_general.is_empty() {
        foreign.len()
    } else {
        foreign.partition_point(|&i| (i as usize) < problem.round_blocks() * LANES)
    };
    for &i in &foreign[..round] {
        pass.add_foreign(Round, i as usize, &mut sums[place(problem.pairs[i as usize][1])]);
    }
    let general = General::of(problem);
    for &i in &foreign[round..] {
        pass.add_foreign(general, i as usize, &mut sums[place(problem.pairs[i as usize][1])]);
    }
    let own = lists.first[range.start] as usize..lists.first[range.end] as usize;
    pass.add_own::<T>(Round, own, &range, &mut sums);
    if !lists.first_general.is_empty() {
        let own = lists.first_general[range.start] as usize..lists.first_general[range.end] as usize;
        pass.add_own::<T>(general, own, &range, &mut sums);
    }
    if !λ.is_empty() {
        for (sum, j) in sums.iter_mut().zip(range.clone()) {
            rows.add_wrench(λ, j, sum);
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
fn respond_to(
    pass: &BodyPass<'_>,
    range: Range<usize>,
    sums: &[Wrench],
    to: &mut [Twist],
    counts: impl Fn(usize) -> bool,
) -> f64 {
    let mut norm = [0.0; 6];
    for ((to, j), sum) in to.iter_mut().zip(range.clone()).zip(sums) {
        let inverse_mass = pass.problem.inverse_mass[j];
        if inverse_mass == 0.0 {
            *to = [0.0; 6];
            continue;
        }
        *to = round_response(inverse_mass, -pass.scales.round[j].spin, sum);
        if counts(j) {
            pass.add_norm(j, to, &mut norm);
        }
    }
    // Bodies with a tensor lack their spins yet.
    for k in pass.scales.in_chunk(range.start / BODY_CHUNK) {
        let j = pass.problem.geometry.tensors.bodies[k] as usize;
        if pass.problem.inverse_mass[j] == 0.0 {
            continue;
        }
        let (low, high) = (sums[j - range.start][0].0, sums[j - range.start][1].0);
        let spin = -symmetric_times(&pass.scales.response[k], DVec3::new(low[3], high[0], high[1]));
        let to = &mut to[j - range.start];
        to[3..].copy_from_slice(&spin.to_array());
        if counts(j) {
            norm[3] += pass.spin_norm(k, j, to);
        }
    }
    norm.iter().sum()
}

/// Velocity and spin of a round body in answer to what acts on it.
#[inline(always)]
fn round_response(inverse_mass: f64, spin: f64, sum: &Wrench) -> Twist {
    let (low, high) = (sum[0].0, sum[1].0);
    [low[0] * inverse_mass, low[1] * inverse_mass, low[2] * inverse_mass, low[3] * spin, high[0] * spin, high[1] * spin]
}
