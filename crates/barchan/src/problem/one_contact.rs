//! Exact solvers for one contact, for both laws of friction. They never fail.
//!
//! Given the 3×3 block W of a contact and its velocity q without its own impulse, find γ in the
//! cone C = {|γ_t| ≤ μγ_n} such that u = Wγ + q obeys
//!
//! - associated friction, the CCP: u ∈ C*, that is μ|u_t| ≤ u_n, and γ·u = 0;
//! - Coulomb's friction: the same for u + μ|u_t|n in place of u.
//!
//! Both are quick to decide unless the contact slips. A slipping contact has |γ_t| = μγ_n and
//! u_t = −λγ_t with λ ≥ 0. The laws differ in the normal velocity: u_n = λm·γ_n with m = μ² for
//! the CCP and m = 0 for Coulomb. Choose tangents that diagonalise the tangential part of W, and
//! units in which its smaller eigenvalue is 1:
//!
//! ```text
//!     ⎡ a   w₁   w₂  ⎤
//! W = ⎢ w₁  1    0   ⎥        κ₁ = 1/(1+λ) = σ,   κ₂ = 1/(1+Δ+λ) = σ/(1+σΔ)
//!     ⎣ w₂  0   1+Δ  ⎦
//! ```
//!
//! For a given λ the equations are linear. Elimination gives γ_n = r/s and γ_k = x_k/s with
//!
//! ```text
//! r = −q_n + Σ w_k q_k κ_k        s = a − mλ − Σ w_k² κ_k        x_k = −(q_k s + w_k r) κ_k
//! ```
//!
//! so that one equation in one unknown remains: h = |x_t| − μr = 0 where s > 0. The unknown σ
//! runs from 0 (λ = ∞) to 1 (λ = 0, the contact sticks). In σ, and multiplied by 1+σΔ, all of r,
//! x₁, x₂ are quadratic; for a round W, h itself is linear.
//!
//! *Coulomb.* s is positive throughout. h(1) > 0 because the sticking impulse is outside the
//! cone, and h(0) = μq_n < 0 because the contact does not open. So there is a root, and every
//! root is a solution.
//!
//! *CCP.* s changes its sign once, at a σ* that depends on W and μ alone, since W + λ·diag(−m, 1, 1)
//! has exactly one negative eigenvalue beyond some λ*. Take h = sgn(s)|x_t| − μr. Let V diagonalise
//! W to the identity and diag(−m, 1, 1) to diag(d₁, d₂, −d₃), and p = −Vᵀq. The solution is the
//! projection of p onto an elliptic cone, and h has the sign of
//! (1−λd₃)·√(Σ d_k p_k²/(1+λd_k)²/d₃) − p₃. This falls with λ, because (1−λd₃)/(1+λd_k) does. It
//! is positive at λ = 0 if p is outside the cone (no sticking), and negative at ∞ if p is outside
//! the polar cone (no opening). So there is one root. It lies on the side of σ* that the sign of
//! r(σ*) tells. There the null vector of W + λ*·diag(−m, 1, 1) is an axis inside the cone.
//!
//! A solve brackets the root, takes steps of Halley's method, and tests the conditions on the
//! result. If they do not hold to rounding, which takes an ill-conditioned W or a q at the very
//! edge of a case, then a slower twin solves the same equation with twice the digits.
//!
//! With ε = 2⁻⁵², the residual ‖γ − Π_C(γ − ηu')‖, where η = 3/tr W and u' = u or u + μ|u_t|n, is
//! below 64ε(‖γ‖ + η‖q‖) for the CCP, and below 1+μ times that for Coulomb, whatever the condition
//! of W. It is as good as rounding of γ allows. Relative to η‖q‖ it can grow like ε·cond W, as ‖γ‖
//! does.

use super::cone::project_in_metric;
use glam::{DMat3, DVec3};
use std::ops::{Add, Div, Mul, Neg, Sub};

/// Friction below this counts as none: its impulses are lost in the rounding of the normal one.
const LEAST_FRICTION: f64 = 1e-20;
/// Friction above this counts as this much: the cone is nearly a half-space.
const MOST_FRICTION: f64 = 1e8;

/// CCP impulse of a contact with W = a_n nnᵀ + a_t(I − nnᵀ). Zero if the input is not finite.
#[inline]
pub fn solve_round_associated(q: DVec3, normal: DVec3, friction: f64, a_n: f64, a_t: f64) -> DVec3 {
    in_range(q, |q| {
        let z = q * (-1.0 / a_t) + normal * (q.dot(normal) * (1.0 / a_t - 1.0 / a_n));
        project_in_metric(z, normal, friction, a_t / a_n)
    })
}

/// Coulomb impulse of a contact with W = a_n nnᵀ + a_t(I − nnᵀ). Zero if the input is not finite.
#[inline]
pub fn solve_round_coulomb(q: DVec3, normal: DVec3, friction: f64, a_n: f64, a_t: f64) -> DVec3 {
    in_range(q, |q| {
        let approach = -q.dot(normal);
        if approach <= 0.0 {
            return DVec3::ZERO;
        }
        let pressure = approach / a_n;
        let sliding = q + normal * approach;
        let (limit, speed) = (friction * pressure, sliding.length());
        let inverse = if speed <= a_t * limit { 1.0 / a_t } else { limit / speed };
        normal * pressure - sliding * inverse
    })
}

/// Impulses are proportional to q: one whose square would leave the range of f64 is solved in
/// other units.
#[inline]
fn in_range(q: DVec3, solve: impl Fn(DVec3) -> DVec3) -> DVec3 {
    let square = q.length_squared();
    let γ = if square > 1e-200 && square < 1e200 {
        solve(q)
    } else {
        let unit = q.abs().max_element();
        if unit == 0.0 || !q.is_finite() { DVec3::ZERO } else { solve(q / unit) * unit }
    };
    if γ.is_finite() { γ } else { DVec3::ZERO }
}

/// One contact, prepared for many solves with different q. The letters are those of the file's
/// introduction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Block {
    normal: DVec3,
    /// The first tangent; the second is normal × tangent.
    tangent: DVec3,
    /// 1/ω, where ω is the smaller tangential eigenvalue of W and the unit of a, w and Δ.
    unit: f64,
    friction: f64,
    a: f64,
    w: [f64; 2],
    delta: f64,
    /// σ*, where s changes its sign.
    apex: f64,
    /// Tangential part of the axis (1, −w_k κ_k) at σ*.
    axis: [f64; 2],
}

impl Block {
    /// Prepares a contact from its block W, symmetric and positive semidefinite, its unit normal
    /// and its friction.
    ///
    /// A block that is singular, or indefinite by rounding, is raised on its diagonal by a few ε
    /// of its trace. One that is not finite or not positive at all gives zero impulses.
    pub fn new(w: DMat3, normal: DVec3, friction: f64) -> Self {
        let n = normal.normalize_or_zero();
        let trace = w.x_axis.x + w.y_axis.y + w.z_axis.z;
        if !(w.is_finite() && trace > 0.0 && trace.is_finite() && (3.0 / trace).is_finite() && n != DVec3::ZERO) {
            return Self::inert();
        }
        let w = w * (3.0 / trace);
        // Tangents: a Jacobi rotation of any pair, so that the first has the smaller eigenvalue.
        let (t, b) = n.any_orthonormal_pair();
        let (wt, wb) = (w * t, w * b);
        let (half, mixed) = (0.5 * (wt.dot(t) - wb.dot(b)), 0.5 * (wt.dot(b) + wb.dot(t)));
        let root = half.hypot(mixed);
        let larger = if half >= 0.0 { t * (half + root) + b * mixed } else { t * mixed + b * (root - half) };
        let tangent = n.cross(larger).try_normalize().unwrap_or(t);
        let second = n.cross(tangent);
        // The least that elimination can tell from zero.
        let least = 4.0 * f64::EPSILON;
        let quadratic = |x: DVec3, y: DVec3| 0.5 * ((w * x).dot(y) + (w * y).dot(x));
        let ω = quadratic(tangent, tangent).max(0.0) + least;
        let delta = (quadratic(second, second) + least - ω).max(0.0) / ω;
        let [w1, w2] = [quadratic(n, tangent) / ω, quadratic(n, second) / ω];
        // s at λ = 0 is the Schur complement of the tangential part.
        let schur = w1 * w1 + w2 * w2 / (1.0 + delta);
        let a = (quadratic(n, n) / ω).max(schur * (1.0 + 4.0 * f64::EPSILON)) + least / ω;
        let friction = if friction >= LEAST_FRICTION { friction.min(MOST_FRICTION) } else { 0.0 };
        let λ = flip(a, friction * friction, w1, w2, delta);
        let apex = 1.0 / (1.0 + λ);
        let axis = [-w1 * apex, -w2 / (1.0 + delta + λ)];
        Self { normal: n, tangent, unit: 3.0 / trace / ω, friction, a, w: [w1, w2], delta, apex, axis }
    }

    /// A contact without impulses.
    fn inert() -> Self {
        let (normal, tangent) = (DVec3::X, DVec3::Y);
        Self { normal, tangent, unit: 0.0, friction: 0.0, a: 1.0, w: [0.0; 2], delta: 0.0, apex: 1.0, axis: [0.0; 2] }
    }

    /// The impulse of the CCP for the velocity `q`. Zero if `q` is not finite.
    #[inline]
    pub fn associated(&self, q: DVec3) -> DVec3 {
        in_range(q, |q| self.solve::<true>(q))
    }

    /// An impulse of Coulomb's friction for the velocity `q`. Zero if `q` is not finite.
    ///
    /// There may be several: an open contact is preferred to a sticking one, that to a slipping
    /// one. The same `q` always gives the same impulse.
    #[inline]
    pub fn coulomb(&self, q: DVec3) -> DVec3 {
        in_range(q, |q| self.solve::<false>(q))
    }

    #[inline]
    fn solve<const ASSOCIATED: bool>(&self, q: DVec3) -> DVec3 {
        let (n, t, μ) = (self.normal, self.tangent, self.friction);
        let b = n.cross(t);
        let local @ [qn, q1, q2] = [q.dot(n), q.dot(t), q.dot(b)];
        if qn >= 0.0 && (!ASSOCIATED || qn * qn >= μ * μ * (q1 * q1 + q2 * q2)) {
            return DVec3::ZERO;
        }
        if μ == 0.0 {
            return n * (-qn / self.a * self.unit);
        }
        let [γn, γ1, γ2] = self.quick::<ASSOCIATED>(local).unwrap_or_else(|| self.careful::<ASSOCIATED>(local));
        (n * γn + t * γ1 + b * γ2) * self.unit
    }

    /// Solves a contact that does not open, in local components; nothing if the conditions do not
    /// hold to rounding afterwards.
    #[inline]
    fn quick<const ASSOCIATED: bool>(&self, q: [f64; 3]) -> Option<[f64; 3]> {
        let ([qn, q1, q2], [w1, w2], a, delta, μ) = (q, self.w, self.a, self.delta, self.friction);
        let rounding = 8.0 * f64::EPSILON;
        let size = qn.abs() + q1.abs() + q2.abs();
        let m = if ASSOCIATED { μ * μ } else { 0.0 };
        let c = Curve::new(self, q, m);

        // Sticking: the impulse by elimination, if that is in the cone.
        let [x1, x2, r] = c.stick;
        let h1 = (x1 * x1 + x2 * x2).sqrt() - μ * r;
        if h1 <= 0.0 {
            let γn = r / c.schur;
            let (γ1, γ2) = (-(q1 + w1 * γn), -(q2 + w2 * γn) / (1.0 + delta));
            let (un, square, limit) = (a * γn + w1 * γ1 + w2 * γ2 + qn, γ1 * γ1 + γ2 * γ2, μ * γn);
            if un.abs() <= rounding * (a * γn + size) && square <= limit * limit * (1.0 + rounding) {
                return Some([γn, γ1, γ2]);
            }
        }

        // Where the root lies, and on which branch. A root at σ = 1 may round to either side.
        let (mut low, mut high, mut sign) = (0.0, 1.0 + 1e-12, 1.0);
        let mut near = false;
        let (mut h0, mut slope0) = (μ * qn, (c.x1[1] * c.x1[1] + c.x2[1] * c.x2[1]).sqrt() - μ * c.r[1]);
        if ASSOCIATED {
            let r = -(qn + self.axis[0] * q1 + self.axis[1] * q2);
            // At σ* itself r, s and x vanish together, and x loses its direction.
            near = r.abs() * (1.0 + m) < 1e-7 * μ * size;
            if r > 0.0 {
                low = self.apex;
            } else {
                (high, sign) = (self.apex, -1.0);
            }
            let sliding = (q1 * q1 + q2 * q2).sqrt();
            (h0, slope0) = (μ * qn - m * sliding, -(q1 * c.x1[1] + q2 * c.x2[1]) / sliding - μ * c.r[1]);
        }
        // Start: the hyperbola (h0 + bσ)/(1 + cσ) through both ends, with the slope at σ = 0.
        let bend = (h0 + slope0 - h1) / (h1 - h0);
        let mut σ = -h0 / (slope0 + bend * h0);
        if !(σ > low && σ < high) {
            σ = 0.5 * (low + high);
        }
        let mut steps = 0;
        let (x1, x2) = loop {
            if near {
                sign = 1.0;
                let [_, γ1, γ2] = self.on_cone(q, self.apex)?;
                break (γ1, γ2);
            }
            let (x1, x2, r) = (at(c.x1, σ), at(c.x2, σ), at(c.r, σ));
            let (dx1, dx2, dr) = (slope(c.x1, σ), slope(c.x2, σ), slope(c.r, σ));
            // h, its slope and its curvature, all times the signed length of x_t.
            let square = x1 * x1 + x2 * x2;
            let (length, along) = (sign * square.sqrt(), x1 * dx1 + x2 * dx2);
            let (h, dh) = (square - μ * r * length, along - μ * dr * length);
            let ddh = dx1 * dx1 + dx2 * dx2 + 2.0 * (x1 * c.x1[2] + x2 * c.x2[2])
                - along * along / square
                - 2.0 * μ * c.r[2] * length;
            // Halley's step, or Newton's where the curvature would turn it round.
            let (dh2, bent) = (dh * dh, 0.5 * h * ddh);
            let step = if bent < 0.5 * dh2 { -h * dh / (dh2 - bent) } else { -h / dh };
            let next = σ + step;
            if step.abs() <= 2e-6 * σ.min(1.0 - σ + 1e-10) {
                break (at(c.x1, next), at(c.x2, next));
            }
            if (h > 0.0) == (sign > 0.0) {
                high = σ;
            } else {
                low = σ;
            }
            σ = if next > low && next < high { next } else { 0.5 * (low + high) };
            steps += 1;
            if steps == 40 {
                return None;
            }
        };

        // The impulse γ_n(1, μt̂) from its direction: u·(1, μt̂) = 0 for the CCP, u_n = 0 for Coulomb.
        let square = x1 * x1 + x2 * x2;
        let length = sign * square.sqrt();
        let (mut t1, mut t2) = (x1 / length, x2 / length);
        let (across, wx) = (1.0 + delta, w1 * x1 + w2 * x2);
        let mut γn = if ASSOCIATED {
            -(qn * square + μ * length * (q1 * x1 + q2 * x2))
                / (a * square + μ * (2.0 * length * wx + μ * (x1 * x1 + across * x2 * x2)))
        } else {
            -qn * length / (a * length + μ * wx)
        };
        let mut polished = 0;
        loop {
            // Conditions: f = 0 for the normal part, g = 0 across the direction, u_t against it.
            let (wt, wb) = (w1 * t1 + w2 * t2, w2 * t1 - w1 * t2);
            let γt = μ * γn;
            let un = a * γn + wt * γt + qn;
            let (u1, u2) = (w1 * γn + γt * t1 + q1, w2 * γn + across * γt * t2 + q2);
            let (along, g) = (u1 * t1 + u2 * t2, u2 * t1 - u1 * t2);
            let f = if ASSOCIATED { un + μ * along } else { un };
            let bound = rounding * ((a + across) * (γn + γt) + size);
            let share = if ASSOCIATED { 1.0 + μ } else { 1.0 };
            if γn > 0.0 && f.abs() <= share * bound && g.abs() <= bound && share * along <= bound {
                return Some([γn, γt * t1, γt * t2]);
            }
            if polished == 3 || !(γn > 0.0) {
                return None;
            }
            polished += 1;
            // A step of Newton's method in γ_n and in the angle.
            let (tt, tb, bb) = (1.0 + delta * t2 * t2, delta * t1 * t2, 1.0 + delta * t1 * t1);
            let (fn_, fb) = if ASSOCIATED { (a + μ * (2.0 * wt + μ * tt), wb + μ * tb) } else { (a + μ * wt, wb) };
            let (gn, gb) = (wb + μ * tb, bb + (-along / γt).max(0.0));
            let inverse = 1.0 / (fn_ * gb - fb * gn);
            let turn = (gn * f - fn_ * g) * inverse / γt;
            γn += (fb * g - gb * f) * inverse;
            (t1, t2) = (t1 - turn * t2, t2 + turn * t1);
            let length = (t1 * t1 + t2 * t2).sqrt();
            (t1, t2) = (t1 / length, t2 / length);
        }
    }

    /// The slow twin of [`Self::quick`]: plain bracketing with twice the digits. It cannot fail.
    #[cold]
    fn careful<const ASSOCIATED: bool>(&self, q: [f64; 3]) -> [f64; 3] {
        let [zero, one, μ] = [0.0, 1.0, self.friction].map(Twin::from);
        let [a, w1, w2, delta] = [self.a, self.w[0], self.w[1], self.delta].map(Twin::from);
        let m = if ASSOCIATED { μ * μ } else { zero };
        let c = Curve::<Twin>::new(self, q, m);
        let [_, q1, q2] = q.map(Twin::from);
        let tangential = |γn: Twin, σ: Twin| (-(q1 + w1 * γn) * σ, -(q2 + w2 * γn) * σ / (one + σ * delta));

        // Sticking.
        let γn = c.stick[2] / c.schur;
        let (γ1, γ2) = tangential(γn, one);
        if γn.hi >= 0.0 && γ1 * γ1 + γ2 * γ2 <= μ * μ * γn * γn {
            return [γn, γ1, γ2].map(|x| x.hi);
        }

        // Slipping: h > 0 at `high`, h < 0 at `low`, throughout.
        let (mut low, mut high) = (zero, one);
        let mut σ = Twin::from(0.5);
        for _ in 0..300 {
            let (x1, x2, r) = (at(c.x1, σ), at(c.x2, σ), at(c.r, σ));
            let s = (one + σ * delta) * (σ * a - m * (one - σ) - σ * σ * w1 * w1) - σ * σ * w2 * w2;
            let length = (x1 * x1 + x2 * x2).sqrt();
            let length = if s.hi >= 0.0 { length } else { -length };
            let h = length - μ * r;
            let dh = (x1 * slope(c.x1, σ) + x2 * slope(c.x2, σ)) / length - μ * slope(c.r, σ);
            if h.hi > 0.0 {
                high = σ;
            } else {
                low = σ;
            }
            let step = -h / dh;
            let next = σ + step;
            if step.hi.abs() <= 1e-28 * σ.hi.min((one - σ).hi) || (high - low).hi <= 1e-31 * high.hi {
                break;
            }
            σ = if next > low && next < high { next } else { (low + high) * Twin::from(0.5) };
        }

        let [γn, γ1, γ2] = self.on_cone(q, σ).unwrap_or_else(|| {
            let s = (one + σ * delta) * (a - m * (one - σ) / σ - σ * w1 * w1) - σ * w2 * w2;
            let γn = at(c.r, σ) / s;
            let (γ1, γ2) = tangential(γn, σ);
            [γn, γ1, γ2]
        });
        let length = (γ1 * γ1 + γ2 * γ2).sqrt();
        let scale = μ * γn / length;
        if length.hi > 0.0 { [γn, γ1 * scale, γ2 * scale].map(|x| x.hi) } else { [γn.hi, 0.0, 0.0] }
    }

    /// The impulse for a given σ from its tangential equations and |γ_t| = μγ_n, in place of the
    /// normal equation. The quadratic equation has one positive root if the axis (1, −w_k κ_k) is
    /// inside the cone, as it is at σ*; otherwise there is no answer.
    fn on_cone<T: Real>(&self, q: [f64; 3], σ: T) -> Option<[T; 3]> {
        let [_, q1, q2] = q.map(T::from);
        let [w1, w2] = self.w.map(T::from);
        let κ2 = σ / (T::from(1.0) + σ * T::from(self.delta));
        let (v1, v2, z1, z2) = (w1 * σ, w2 * κ2, q1 * σ, q2 * κ2);
        let μ = T::from(self.friction);
        let leading = μ * μ - v1 * v1 - v2 * v2;
        let (middle, last) = (v1 * z1 + v2 * z2, z1 * z1 + z2 * z2);
        let root = (middle * middle + leading * last).sqrt();
        let zero = T::from(0.0);
        let γn = if middle >= zero { (middle + root) / leading } else { last / (root - middle) };
        (leading > zero).then_some([γn, -(z1 + v1 * γn), -(z2 + v2 * γn)])
    }
}

/// The λ* at which s = a − mλ − Σ w_k² κ_k changes its sign: Newton's method from the right of
/// a concave function, which cannot overshoot.
fn flip(a: f64, m: f64, w1: f64, w2: f64, delta: f64) -> f64 {
    let mut λ = a / m;
    for _ in 0..60 {
        let (κ1, κ2) = (1.0 / (1.0 + λ), 1.0 / (1.0 + delta + λ));
        let s = a - m * λ - w1 * w1 * κ1 - w2 * w2 * κ2;
        let slope = w1 * w1 * κ1 * κ1 + w2 * w2 * κ2 * κ2 - m;
        let next = λ - s / slope;
        if !(next < λ * (1.0 - f64::EPSILON) && next > 0.0) {
            break;
        }
        λ = next;
    }
    λ
}

/// (1+σΔ) times x₁, x₂ (both also times σ/κ₁ = 1) and r, as quadratics in σ, lowest power first.
struct Curve<T> {
    x1: [T; 3],
    x2: [T; 3],
    r: [T; 3],
    /// x₁, x₂, r at σ = 1, where m drops out.
    stick: [T; 3],
    /// s at σ = 1, times 1+Δ like the others.
    schur: T,
}

impl<T: Real> Curve<T> {
    #[inline(always)]
    fn new(block: &Block, q: [f64; 3], m: T) -> Self {
        let [qn, q1, q2] = q.map(T::from);
        let [w1, w2] = block.w.map(T::from);
        let (a, delta, across) = (T::from(block.a), T::from(block.delta), T::from(block.delta) + T::from(1.0));
        // q_k s + w_k r with the terms that cancel left out.
        let (e1, e2, j) = (a * q1 - w1 * qn, a * q2 - w2 * qn, w1 * q2 - w2 * q1);
        let (p1, p2, m1, m2) = (w1 * q1, w2 * q2, m * q1, m * q2);
        let (f1, f2) = (e1 + m1, e2 + m2);
        Self {
            x1: [m1, m1 * delta - f1, -(f1 * delta + w2 * j)],
            x2: [m2, -f2, w1 * j],
            r: [-qn, p1 + p2 - qn * delta, p1 * delta],
            stick: [-(across * e1 + w2 * j), w1 * j - e2, across * (p1 - qn) + p2],
            schur: across * (a - w1 * w1) - w2 * w2,
        }
    }
}

#[inline(always)]
fn at<T: Real>(c: [T; 3], σ: T) -> T {
    (c[2] * σ + c[1]) * σ + c[0]
}

#[inline(always)]
fn slope<T: Real>(c: [T; 3], σ: T) -> T {
    (c[2] + c[2]) * σ + c[1]
}

/// What the formulas need of a number.
trait Real:
    Copy
    + From<f64>
    + PartialOrd
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
{
    fn sqrt(self) -> Self;
}

impl Real for f64 {
    fn sqrt(self) -> Self {
        self.sqrt()
    }
}

impl Real for Twin {
    fn sqrt(self) -> Self {
        if self.hi <= 0.0 {
            return Self::from(0.0);
        }
        let root = self.hi.sqrt();
        let square = Self::from(root) * Self::from(root);
        Self::normal(root, (self - square).hi / (2.0 * root))
    }
}

/// A number of 32 digits: the sum of two that do not overlap (Dekker 1971).
#[derive(Clone, Copy, PartialEq, PartialOrd)]
struct Twin {
    hi: f64,
    lo: f64,
}

impl Twin {
    /// hi + lo, where |hi| ≥ |lo|.
    fn normal(hi: f64, lo: f64) -> Self {
        let sum = hi + lo;
        Self { hi: sum, lo: lo - (sum - hi) }
    }

    /// x + y without error.
    fn sum(x: f64, y: f64) -> Self {
        let hi = x + y;
        let rest = hi - x;
        Self { hi, lo: (x - (hi - rest)) + (y - rest) }
    }
}

impl From<f64> for Twin {
    fn from(hi: f64) -> Self {
        Self { hi, lo: 0.0 }
    }
}

impl Add for Twin {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        let (high, low) = (Self::sum(self.hi, other.hi), Self::sum(self.lo, other.lo));
        let first = Self::normal(high.hi, high.lo + low.hi);
        Self::normal(first.hi, first.lo + low.lo)
    }
}

impl Neg for Twin {
    type Output = Self;
    fn neg(self) -> Self {
        Self { hi: -self.hi, lo: -self.lo }
    }
}

impl Sub for Twin {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        self + -other
    }
}

impl Mul for Twin {
    type Output = Self;
    fn mul(self, other: Self) -> Self {
        let product = self.hi * other.hi;
        let error = self.hi.mul_add(other.hi, -product);
        Self::normal(product, error + (self.hi * other.lo + self.lo * other.hi))
    }
}

impl Div for Twin {
    type Output = Self;
    fn div(self, other: Self) -> Self {
        let first = self.hi / other.hi;
        let rest = self - other * Self::from(first);
        let second = rest.hi / other.hi;
        let third = (rest - other * Self::from(second)).hi / other.hi;
        Self::normal(first, second) + Self::from(third)
    }
}
