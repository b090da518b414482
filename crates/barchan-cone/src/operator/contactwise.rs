//! The arithmetic of single contacts: cones, steps, residuals, scalar products.
//!
//! Whatever applies A (bodies and lever arms, or an assembled matrix) comes by the velocities of
//! contacts in its own way, and from there on does what stands here, four contacts at a time.

use crate::lanes::{F4, Lanes, V3, V4};
use crate::problem::cone::project4;
use crate::{Metric, ProblemRef, Residuals};
use std::ops::Range;

/// Blocks of contacts a task.
pub(crate) const BLOCK_CHUNK: usize = 512;

/// The friction cones of all contacts.
#[derive(Clone, Copy)]
pub(crate) struct Cones<'a> {
    /// Unit normals.
    pub(crate) normals: &'a [V4],
    /// Friction coefficients μ.
    pub(crate) friction: &'a [F4],
}

impl Cones<'_> {
    /// Normals and friction of a block.
    #[inline(always)]
    pub(crate) fn block<T: Lanes>(&self, k: usize) -> (V3<T>, T) {
        (V3::load(&self.normals[k]), T::load(&self.friction[k]))
    }
}

/// Scale a_n and ratio κ of the metric, from the normal and the mean tangential entry of a
/// contact's diagonal block.
pub(crate) fn scales(metric: Metric, normal: f64, tangential: f64) -> (f64, f64) {
    match metric {
        Metric::Contact => (normal, tangential / normal),
        Metric::Scalar => ((normal + 2.0 * tangential) / 3.0, 1.0),
        Metric::Identity => (1.0, 1.0),
    }
}

impl<'a> ProblemRef<'a> {
    /// Its cones.
    pub(crate) fn cones(&self) -> Cones<'a> {
        Cones { normals: self.normals.blocks(), friction: self.friction.blocks() }
    }
}

/// What rounding leaves of an impulse. Where a problem has no solution impulses grow without end,
/// and the difference of two large ones would pass for none.
pub(crate) const ROUNDING: f64 = 1e-15;

/// Partial sums of a pass over contacts.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sums {
    pub(crate) step: f64,
    pub(crate) uphill: f64,
    pub(crate) natural: f64,
    pub(crate) primal: f64,
    pub(crate) dual: f64,
    pub(crate) complementarity: f64,
    pub(crate) complementarity_max: f64,
    /// γᵀg, whatever the law.
    pub(crate) work: f64,
}

impl Sums {
    pub(crate) fn add(a: Sums, b: Sums) -> Sums {
        Sums {
            step: a.step + b.step,
            uphill: a.uphill + b.uphill,
            natural: a.natural + b.natural,
            primal: a.primal.max(b.primal),
            dual: a.dual.max(b.dual),
            complementarity: a.complementarity + b.complementarity,
            complementarity_max: a.complementarity_max.max(b.complementarity_max),
            work: a.work + b.work,
        }
    }

    /// The residuals of `members` contacts and rows; `unit` is what the natural map is measured
    /// against.
    pub(crate) fn residuals(&self, members: usize, unit: f64) -> Residuals {
        let natural = self.natural.sqrt();
        Residuals {
            primal: self.primal,
            dual: self.dual,
            complementarity: self.complementarity.abs() / members.max(1) as f64,
            complementarity_max: self.complementarity_max,
            // Where no impulse is needed, any is infinitely too much.
            natural: if natural == 0.0 { 0.0 } else { natural / unit },
        }
    }
}

/// [`Sums`], four contacts at a time.
#[derive(Clone, Copy)]
pub(crate) struct LaneSums<T> {
    pub(crate) step: T,
    pub(crate) uphill: T,
    pub(crate) natural: T,
    primal: T,
    dual: T,
    complementarity: T,
    complementarity_max: T,
    work: T,
}

impl<T: Lanes> LaneSums<T> {
    #[inline(always)]
    pub(crate) fn zero() -> Self {
        let zero = T::splat(0.0);
        Self {
            step: zero,
            uphill: zero,
            natural: zero,
            primal: zero,
            dual: zero,
            complementarity: zero,
            complementarity_max: zero,
            work: zero,
        }
    }

    #[inline(always)]
    pub(crate) fn total(self) -> Sums {
        Sums {
            step: self.step.sum(),
            uphill: self.uphill.sum(),
            natural: self.natural.sum(),
            primal: self.primal.max_lane(),
            dual: self.dual.max_lane(),
            complementarity: self.complementarity.sum(),
            complementarity_max: self.complementarity_max.max_lane(),
            work: self.work.sum(),
        }
    }

    /// Adds |γ − Π(γ − ηg)|², and what rounding makes of it.
    #[inline(always)]
    pub(crate) fn add_natural(&mut self, γ: V3<T>, g: V3<T>, n: V3<T>, μ: T, η: f64) {
        let r = γ - project4(γ - g * T::splat(η), n, μ, T::splat(1.0));
        self.natural = self.natural + r.dot(r) + γ.dot(γ) * T::splat(ROUNDING * ROUNDING);
    }

    /// Adds the violations of S1 III-C and of the earlier text.
    #[inline(always)]
    pub(crate) fn add_violations(&mut self, γ: V3<T>, g: V3<T>, n: V3<T>, μ: T) {
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

    /// Adds what g = Aγ + b tells about γ, by every measure; with `coulomb` by the exact law, whose
    /// slip is rounded off below that speed.
    #[inline(always)]
    pub(crate) fn add_residuals(&mut self, γ: V3<T>, mut g: V3<T>, n: V3<T>, μ: T, η: f64, coulomb: Option<f64>) {
        self.work = self.work + γ.dot(g);
        if let Some(ε) = coulomb {
            g = g + n * slip(g, n, μ, ε);
        }
        self.add_natural(γ, g, n, μ, η);
        self.add_violations(γ, g, n, μ);
    }
}

/// Four contacts, as a descent step meets them.
pub(crate) struct Here<T> {
    pub(crate) n: V3<T>,
    pub(crate) μ: T,
    /// The metric H = a_n·diag(1, κ, κ).
    pub(crate) a_n: T,
    pub(crate) κ: T,
    pub(crate) γ: V3<T>,
    pub(crate) γ_last: V3<T>,
    /// Velocities Aγ.
    pub(crate) u: V3<T>,
    /// Velocities Aγ⁻.
    pub(crate) u_last: V3<T>,
    pub(crate) bias: V3<T>,
}

impl<T: Lanes> Here<T> {
    /// The step of [`crate::ConeProblem::descend`], and its sums. `NATURAL` tells which residual.
    #[inline(always)]
    pub(crate) fn descend<const NATURAL: bool>(self, β: T, inverse_l: T, η: f64, sums: &mut LaneSums<T>) -> V3<T> {
        let Self { n, μ, a_n, κ, γ, γ_last, u, u_last, bias } = self;
        // The residual of γ.
        let g = u + bias;
        if NATURAL {
            sums.add_natural(γ, g, n, μ, η);
        } else {
            sums.add_violations(γ, g, n, μ);
        }

        // The step from y = γ + β(γ − γ⁻) against the gradient there, which is linear in y, in the
        // metric.
        let y = γ + (γ - γ_last) * β;
        let g_y = g + (u - u_last) * β;
        let along_t = inverse_l / (a_n * κ);
        let along_n = along_t * κ;
        let z = y - g_y * along_t - n * (g_y.dot(n) * (along_n - along_t));
        let next = project4(z, n, μ, κ);

        // dᵀHd and the restart test −dᵀH(x − γ).
        let one = T::splat(1.0);
        let (d, e) = (next - y, next - γ);
        let (dn, en) = (d.dot(n), e.dot(n));
        sums.step = sums.step + a_n * (κ * d.dot(d) + (one - κ) * dn * dn);
        sums.uphill = sums.uphill - a_n * (κ * d.dot(e) + (one - κ) * dn * en);
        next
    }
}

/// μ|g_t|, which De Saxcé adds to the normal velocity, rounded off below the speed ε: μ(√(|g_t|² + ε²) − ε).
#[inline(always)]
pub(crate) fn slip<T: Lanes>(g: V3<T>, n: V3<T>, μ: T, ε: f64) -> T {
    let ε = T::splat(ε);
    let t = g - n * g.dot(n);
    ((t.dot(t) + ε * ε).sqrt() - ε) * μ
}

/// a·x + b·y.
pub(crate) fn combine_blocks(a: f64, x: &[V4], b: f64, y: &[V4], range: Range<usize>, out: &mut [V4]) {
    for (out, k) in out.iter_mut().zip(range) {
        *out = (V3::<F4>::load(&x[k]) * F4::splat(a) + V3::load(&y[k]) * F4::splat(b)).store();
    }
}

/// γ ← Π(γ).
pub(crate) fn project_blocks(cones: Cones<'_>, range: Range<usize>, γ: &mut [V4]) {
    for (γ, k) in γ.iter_mut().zip(range) {
        let (n, μ) = cones.block::<F4>(k);
        *γ = project4(V3::load(γ), n, μ, F4::splat(1.0)).store();
    }
}

/// ‖Π(−ηb)‖² of some blocks; with `coulomb` b has its term μ|b_t|, rounded off below that speed.
pub(crate) fn projected_norm_squared(
    cones: Cones<'_>,
    bias: &[V4],
    η: f64,
    coulomb: Option<f64>,
    range: Range<usize>,
) -> f64 {
    let mut sum = F4::splat(0.0);
    for k in range {
        let (n, μ) = cones.block::<F4>(k);
        let mut b = V3::load(&bias[k]);
        if let Some(ε) = coulomb {
            b = b + n * slip(b, n, μ, ε);
        }
        let z = project4(b * F4::splat(-η), n, μ, F4::splat(1.0));
        sum = sum + z.dot(z);
    }
    sum.sum()
}

/// The scalar product of some blocks.
pub(crate) fn dot_blocks(a: &[V4], b: &[V4], range: Range<usize>) -> f64 {
    let mut sum = F4::splat(0.0);
    for k in range {
        sum = sum + V3::<F4>::load(&a[k]).dot(V3::load(&b[k]));
    }
    sum.sum()
}
