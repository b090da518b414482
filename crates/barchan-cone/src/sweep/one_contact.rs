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
//! the polar cone (no opening). So there is one root. The null vector (1, −w_k κ_k) at λ* lies
//! inside the cone, and r(σ*) is −q times that axis: its sign tells the side of σ* with the root.
//!
//! A solve brackets the root, takes steps of Halley's method, and tests the conditions on the
//! result. If they do not hold to rounding, which takes an ill-conditioned W or a q at the very
//! edge of a case, then a slower twin solves the same equation with twice the digits.
//!
//! With ε = 2⁻⁵², the residual ‖γ − Π_C(γ − ηu')‖, where η = 3/tr W and u' = u or u + μ|u_t|n, is
//! below 16ε(‖γ‖ + η‖q‖) for the CCP, and below 1+μ times that for Coulomb, whatever the condition
//! of W. To store γ in f64 costs a good part of it. Relative to η‖q‖ it grows with ‖γ‖: below 1e-10
//! up to a condition of 1e5 (Coulomb: if μ ≤ 2), then in proportion to the condition.

use glam::{DMat3, DVec3};
use std::ops::{Add, Div, Mul, Neg, Sub};

/// Friction below this counts as none: its impulses are lost in the rounding of the normal one.
pub(super) const LEAST_FRICTION: f64 = 1e-20;
/// Friction above this counts as this much: the cone is nearly a half-space.
pub(super) const MOST_FRICTION: f64 = 1e8;

/// How far rounding may leave the quick way from its conditions, relative to their largest terms.
const ROUNDING: f64 = 2.0 * f64::EPSILON;

/// Impulses are proportional to q: one that is so large or small that its powers would leave the
/// range of f64 is solved in other units. What is not finite gives zero.
#[inline]
fn in_range(q: DVec3, solve: impl Fn(DVec3) -> DVec3) -> DVec3 {
    let square = q.length_squared();
    let γ = if square > 1e-40 && square < 1e40 {
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
pub struct ContactBlock {
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

impl ContactBlock {
    /// Prepares a contact from its block W, symmetric and positive semidefinite, its unit normal
    /// and its friction.
    ///
    /// A block that is singular, or indefinite by rounding, is raised on its diagonal by a few ε
    /// of its trace. One that is not finite, or whose trace is not positive, gives zero impulses.
    /// Friction counts as none below 1e-20 and as 1e8 above that; NaN is none.
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
        let root = (half * half + mixed * mixed).sqrt();
        let larger = if half >= 0.0 { t * (half + root) + b * mixed } else { t * mixed + b * (root - half) };
        let tangent = n.cross(larger).try_normalize().unwrap_or(t);
        let second = n.cross(tangent);
        let form = |x: DVec3, y: DVec3| 0.5 * ((w * x).dot(y) + (w * y).dot(x));
        let [nn, tt, bb, nt, nb] =
            [form(n, n), form(tangent, tangent), form(second, second), form(n, tangent), form(n, second)];
        // A pivot of elimination that rounding may have made of zero: lift the diagonal.
        let pivot = tt.min(nn - nt * nt / tt - nb * nb / bb);
        let lift = if pivot > 1e-13 { 0.0 } else { 4.0 * f64::EPSILON };
        let ω = tt.max(0.0) + lift;
        let (delta, w1, w2) = ((bb - tt).max(0.0) / ω, nt / ω, nb / ω);
        // In the worst case s stays positive.
        let least = (w1 * w1 + w2 * w2 / (1.0 + delta)) * (1.0 + 4.0 * f64::EPSILON) + lift / ω;
        let a = ((nn + lift) / ω).max(least);
        let friction = if friction >= LEAST_FRICTION { friction.min(MOST_FRICTION) } else { 0.0 };
        let λ = flip(a, friction * friction, w1, w2, delta);
        let apex = 1.0 / (1.0 + λ);
        let axis = [-w1 * apex, -w2 / (1.0 + delta + λ)];
        Self { normal: n, tangent, unit: 3.0 / trace / ω, friction, a, w: [w1, w2], delta, apex, axis }
    }

    /// The first tangent of its frame; the second is normal × tangent.
    pub(crate) fn tangent(&self) -> DVec3 {
        self.tangent
    }

    /// 1/ω, a, w₁, w₂, Δ and σ*: with the frame and the friction that is all of it.
    pub(crate) fn numbers(&self) -> [f64; 6] {
        [self.unit, self.a, self.w[0], self.w[1], self.delta, self.apex]
    }

    /// A contact of such numbers in a frame that is not told.
    pub(crate) fn from_numbers([unit, a, w1, w2, delta, apex]: [f64; 6], friction: f64) -> Self {
        let axis = [-w1 * apex, -w2 * apex / (1.0 + apex * delta)];
        let friction = if friction >= LEAST_FRICTION { friction.min(MOST_FRICTION) } else { 0.0 };
        Self { normal: DVec3::X, tangent: DVec3::Y, unit, friction, a, w: [w1, w2], delta, apex, axis }
    }

    /// The impulse for a velocity, both in the contact's frame.
    pub(crate) fn solve_in_frame(&self, q: [f64; 3], is_associated: bool) -> [f64; 3] {
        // The frame of `from_numbers`, whatever it stands for.
        let block = Self { normal: DVec3::X, tangent: DVec3::Y, ..*self };
        let q = DVec3::from_array(q);
        (if is_associated { block.associated(q) } else { block.coulomb(q) }).to_array()
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
    /// one. The same `q` always gives the same impulse, but where one solution ends and another
    /// takes over, the impulse may jump.
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
    #[inline(always)]
    fn quick<const ASSOCIATED: bool>(&self, q: [f64; 3]) -> Option<[f64; 3]> {
        let ([qn, q1, q2], [w1, w2], a, delta, μ) = (q, self.w, self.a, self.delta, self.friction);
        let c = Curve::new(self, q, if ASSOCIATED { μ * μ } else { 0.0 });
        // Sticking: the impulse by elimination, if that is in the cone.
        let [x1, x2, r] = c.stick;
        let h1 = (x1 * x1 + x2 * x2).sqrt() - μ * r;
        if h1 <= 0.0 {
            let γn = r / c.schur;
            let (γ1, γ2) = (-(q1 + w1 * γn), -(q2 + w2 * γn) / (1.0 + delta));
            let (un, limit) = (a * γn + w1 * γ1 + w2 * γ2 + qn, μ * γn);
            let valid = un.abs() <= ROUNDING * (a * γn + q1.abs() + q2.abs() - qn);
            if valid && γ1 * γ1 + γ2 * γ2 <= limit * limit * (1.0 + ROUNDING) {
                return Some([γn, γ1, γ2]);
            }
        }
        let direction = self.slip::<ASSOCIATED>(q, &c, h1)?;
        self.refine_slip::<ASSOCIATED>(q, direction)
    }

    /// The root of h for a slipping contact, as a vector in the direction of γ_t; `h1` is h at σ = 1.
    #[inline(always)]
    fn slip<const ASSOCIATED: bool>(&self, q: [f64; 3], c: &Curve<f64>, h1: f64) -> Option<[f64; 2]> {
        let ([qn, q1, q2], μ) = (q, self.friction);
        // Where the root lies, and on which branch. A root at σ = 1 may round to either side.
        let (mut low, mut high, mut sign) = (0.0, 1.0 + 1e-12, 1.0);
        // h and its slope at σ = 0.
        let (h0, dh0);
        if ASSOCIATED {
            let m = μ * μ;
            let r = -(qn + self.axis[0] * q1 + self.axis[1] * q2);
            // At σ* itself r, s and x vanish together, and x loses its direction.
            if r.abs() * (1.0 + m) < 1e-7 * μ * (qn.abs() + q1.abs() + q2.abs()) {
                return self.on_cone(q, self.apex, 0.0).map(|[_, γ1, γ2]| [γ1, γ2]);
            }
            if r > 0.0 {
                low = self.apex;
            } else {
                (high, sign) = (self.apex, -1.0);
            }
            let sliding = (q1 * q1 + q2 * q2).sqrt();
            h0 = μ * qn - m * sliding;
            dh0 = -(q1 * c.x1[1] + q2 * c.x2[1]) / sliding - μ * c.r[1];
        } else {
            h0 = μ * qn;
            dh0 = (c.x1[1] * c.x1[1] + c.x2[1] * c.x2[1]).sqrt() - μ * c.r[1];
        }
        // Start: where the hyperbola through both ends, with the slope at σ = 0, is zero.
        let mut σ = h0 * (h0 - h1) / (dh0 * h1 - h0 * (h1 - h0));
        if !(σ > low && σ < high) {
            σ = 0.5 * (low + high);
        }
        for _ in 0..40 {
            let (x1, x2, r) = (at(c.x1, σ), at(c.x2, σ), at(c.r, σ));
            let (dx1, dx2, dr) = (slope(c.x1, σ), slope(c.x2, σ), slope(c.r, σ));
            // h and its slope, both times the signed length of x_t.
            let square = x1 * x1 + x2 * x2;
            let (length, along) = (sign * square.sqrt(), x1 * dx1 + x2 * dx2);
            let (h, dh) = (square - μ * r * length, along - μ * dr * length);
            let ddh = dx1 * dx1 + dx2 * dx2 + 2.0 * (x1 * c.x1[2] + x2 * c.x2[2] - μ * c.r[2] * length);
            // Halley's step, or Newton's where the curvature would turn it round.
            let (dh2, bent) = (dh * dh * square, 0.5 * h * (ddh * square - along * along));
            let step = -h * dh * square / (dh2 - if bent < 0.5 * dh2 { bent } else { 0.0 });
            let next = σ + step;
            if step.abs() <= 2e-5 * σ.min(1.0 - σ + 1e-10) {
                return Some([sign * at(c.x1, next), sign * at(c.x2, next)]);
            }
            if (h > 0.0) == (sign > 0.0) {
                high = σ;
            } else {
                low = σ;
            }
            σ = if next > low && next < high { next } else { 0.5 * (low + high) };
        }
        None
    }

    /// The impulse of a slipping contact from its direction, polished until its conditions hold to
    /// rounding; nothing if they do not.
    #[inline(always)]
    fn refine_slip<const ASSOCIATED: bool>(&self, q: [f64; 3], [x1, x2]: [f64; 2]) -> Option<[f64; 3]> {
        let ([qn, q1, q2], [w1, w2], a, delta, μ) = (q, self.w, self.a, self.delta, self.friction);
        let across = 1.0 + delta;
        // γ_n(1, μt̂) with u·(1, μt̂) = 0 for the CCP and u_n = 0 for Coulomb.
        let square = x1 * x1 + x2 * x2;
        let length = square.sqrt();
        let (mut t1, mut t2, wx) = (x1 / length, x2 / length, w1 * x1 + w2 * x2);
        let mut γn = if ASSOCIATED {
            -(qn * square + μ * length * (q1 * x1 + q2 * x2))
                / (a * square + μ * (2.0 * length * wx + μ * (x1 * x1 + across * x2 * x2)))
        } else {
            -qn * length / (a * length + μ * wx)
        };
        for _ in 0..4 {
            // Conditions: f = 0 on the ray of γ, g = 0 across it, and u on the right side of the cone.
            let (wt, wb, γt) = (w1 * t1 + w2 * t2, w2 * t1 - w1 * t2, μ * γn);
            let un = a * γn + wt * γt + qn;
            let (u1, u2) = (w1 * γn + γt * t1 + q1, w2 * γn + across * γt * t2 + q2);
            let (along, g) = (u1 * t1 + u2 * t2, u2 * t1 - u1 * t2);
            let (f, wrong, share) =
                if ASSOCIATED { (un + μ * along, along - μ * un, 1.0 + μ) } else { (un, along, 1.0) };
            let bound = ROUNDING * ((a + across) * (γn + γt) + qn.abs() + q1.abs() + q2.abs());
            if γn <= 0.0 {
                return None;
            }
            if f.abs() <= share * bound && g.abs() <= bound && wrong <= share * bound {
                return Some([γn, γt * t1, γt * t2]);
            }
            // A step of Newton's method in γ_n and in the angle.
            let (tt, tb, bb) = (1.0 + delta * t2 * t2, delta * t1 * t2, 1.0 + delta * t1 * t1);
            let [f_n, f_b] = if ASSOCIATED { [a + μ * (2.0 * wt + μ * tt), wb + μ * tb] } else { [a + μ * wt, wb] };
            let [g_n, g_b] = [wb + μ * tb, bb + (-along / γt).max(0.0)];
            let inverse = 1.0 / (f_n * g_b - f_b * g_n);
            let turn = (g_n * f - f_n * g) * inverse / γt;
            γn += (f_b * g - g_b * f) * inverse;
            (t1, t2) = (t1 - turn * t2, t2 + turn * t1);
            let length = (t1 * t1 + t2 * t2).sqrt();
            (t1, t2) = (t1 / length, t2 / length);
        }
        None
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

        // s times σ(1+σΔ).
        let s = |σ: Twin| (one + σ * delta) * (σ * a - m * (one - σ) - σ * σ * w1 * w1) - σ * σ * w2 * w2;

        // Sticking.
        let γn = c.stick[2] / c.schur;
        let (γ1, γ2) = tangential(γn, one);
        if γn.hi >= 0.0 && γ1 * γ1 + γ2 * γ2 <= μ * μ * γn * γn {
            return [γn, γ1, γ2].map(|x| x.hi);
        }

        // Slipping: h > 0 at `high` and h < 0 at `low`. Each step halves h or the bracket.
        let (mut low, mut high, mut last) = (zero, one, f64::INFINITY);
        let mut σ = Twin::from(0.5);
        for _ in 0..400 {
            let (x1, x2, r) = (at(c.x1, σ), at(c.x2, σ), at(c.r, σ));
            let length = (x1 * x1 + x2 * x2).sqrt();
            let length = if s(σ).hi >= 0.0 { length } else { -length };
            let h = length - μ * r;
            let dh = (x1 * slope(c.x1, σ) + x2 * slope(c.x2, σ)) / length - μ * slope(c.r, σ);
            let step = -h / dh;
            if step.hi.abs() <= 1e-28 * σ.hi.min((one - σ).hi) || (high - low).hi <= 1e-31 * high.hi {
                break;
            }
            if h.hi > 0.0 {
                high = σ;
            } else {
                low = σ;
            }
            let next = σ + step;
            let newton = next > low && next < high && h.hi.abs() <= 0.5 * last;
            last = h.hi.abs();
            σ = if newton { next } else { (low + high) * Twin::from(0.5) };
        }

        // Elimination is 0/0 near σ*. The way by the cone is 0/0 only where the axis meets the cone.
        let lost = s(σ).hi.abs() < 1e-16 * ((one + σ * delta) * (σ * a + m * (one - σ))).hi;
        let inside = if lost { 0.0 } else { 1e-6 };
        let [γn, γ1, γ2] = self.on_cone(q, σ, inside).unwrap_or_else(|| {
            let γn = σ * at(c.r, σ) / s(σ);
            let (γ1, γ2) = tangential(γn, σ);
            [γn, γ1, γ2]
        });
        let length = (γ1 * γ1 + γ2 * γ2).sqrt();
        let scale = μ * γn / length;
        if scale.hi > 0.0 { [γn, γ1 * scale, γ2 * scale].map(|x| x.hi) } else { [γn.hi.max(0.0), 0.0, 0.0] }
    }

    /// The impulse for a given σ from its tangential equations and |γ_t| = μγ_n, in place of the
    /// normal equation. The quadratic equation has one positive root if the axis (1, −w_k κ_k) is
    /// inside the cone, as it is at σ*; there is no answer unless it is inside by some share.
    fn on_cone<T: Real>(&self, q: [f64; 3], σ: T, inside: f64) -> Option<[T; 3]> {
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
        (leading > μ * μ * T::from(inside)).then_some([γn, -(z1 + v1 * γn), -(z2 + v2 * γn)])
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

/// x₁, x₂ and r times 1+σΔ, as quadratics in σ, lowest power first.
struct Curve<T> {
    x1: [T; 3],
    x2: [T; 3],
    r: [T; 3],
    /// x₁, x₂, r at σ = 1, where m drops out.
    stick: [T; 3],
    /// s at σ = 1, times 1+Δ.
    schur: T,
}

impl<T: Real> Curve<T> {
    #[inline(always)]
    fn new(block: &ContactBlock, q: [f64; 3], m: T) -> Self {
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
        Self::join(root, (self - square).hi / (2.0 * root))
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
    fn join(hi: f64, lo: f64) -> Self {
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
        let first = Self::join(high.hi, high.lo + low.hi);
        Self::join(first.hi, first.lo + low.lo)
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
        Self::join(product, error + (self.hi * other.lo + self.lo * other.hi))
    }
}

impl Div for Twin {
    type Output = Self;
    fn div(self, other: Self) -> Self {
        let first = self.hi / other.hi;
        let rest = self - other * Self::from(first);
        let second = rest.hi / other.hi;
        let third = (rest - other * Self::from(second)).hi / other.hi;
        Self::join(first, second) + Self::from(third)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::cone::{project, project_in_metric};

    /// CCP impulse of a contact with W = a_n nnᵀ + a_t(I − nnᵀ). Zero if the input is not finite.
    fn solve_round_associated(q: DVec3, normal: DVec3, friction: f64, a_n: f64, a_t: f64) -> DVec3 {
        in_range(q, |q| {
            let pressing = normal * q.dot(normal);
            project_in_metric((pressing - q) / a_t - pressing / a_n, normal, friction, a_t / a_n)
        })
    }

    /// Coulomb impulse of a contact with W = a_n nnᵀ + a_t(I − nnᵀ). Zero if the input is not finite.
    fn solve_round_coulomb(q: DVec3, normal: DVec3, friction: f64, a_n: f64, a_t: f64) -> DVec3 {
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

    /// SplitMix64: the same dice on every machine.
    struct Dice(u64);

    impl Dice {
        fn roll(&mut self) -> u64 {
            self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            z ^ (z >> 31)
        }

        fn below(&mut self, n: usize) -> usize {
            (self.roll() % n as u64) as usize
        }

        fn range(&mut self, from: f64, to: f64) -> f64 {
            from + (to - from) * (self.roll() >> 11) as f64 / (1u64 << 53) as f64
        }

        /// Ten to some power.
        fn power(&mut self, from: f64, to: f64) -> f64 {
            10f64.powf(self.range(from, to))
        }

        fn direction(&mut self) -> DVec3 {
            loop {
                let v = DVec3::from_array([0; 3].map(|_| self.range(-1.0, 1.0)));
                if v.length() > 0.1 && v.length() < 1.0 {
                    return v.normalize();
                }
            }
        }

        /// A rotation whose first column is given.
        fn frame(&mut self, first: DVec3) -> DMat3 {
            let second = first.cross(self.direction()).try_normalize().unwrap_or(first.any_orthonormal_vector());
            DMat3::from_cols(first, second, first.cross(second))
        }

        /// A positive semidefinite block, and a bound of its condition number if one is known.
        fn block(&mut self, n: DVec3) -> (DMat3, Option<f64>) {
            let outer = |v: DVec3| DMat3::from_cols(v * v.x, v * v.y, v * v.z);
            match self.below(7) {
                // Any directions, condition 1 to 1e14.
                0 | 1 => {
                    let e = self.range(0.0, 14.0);
                    let first = self.direction();
                    let (r, middle) = (self.frame(first), self.range(0.0, e));
                    let d = DVec3::new(1.0, 10f64.powf(-middle), 10f64.powf(-e));
                    (r * DMat3::from_diagonal(d) * r.transpose(), Some(10f64.powf(e)))
                }
                // Two bodies with lever arms: Σ I/m + [r]ᵀ J⁻¹ [r].
                2 | 3 => {
                    let (mut w, mut least) = (DMat3::ZERO, 0.0);
                    for _ in 0..2 {
                        let (inverse, arm) =
                            (self.power(-1.0, 1.0), (n + self.direction() * 0.7) * self.range(0.0, 2.0));
                        let first = self.direction();
                        let r = self.frame(first);
                        let inertia = DVec3::from_array([0; 3].map(|_| inverse * self.range(0.1, 5.0)));
                        let inertia = r * DMat3::from_diagonal(inertia) * r.transpose();
                        let cross = DMat3::from_cols(DVec3::X.cross(arm), DVec3::Y.cross(arm), DVec3::Z.cross(arm));
                        least += inverse;
                        w += DMat3::IDENTITY * inverse + cross.transpose() * inertia * cross;
                    }
                    (w, Some((w.x_axis.x + w.y_axis.y + w.z_axis.z) / least))
                }
                // Rank two, rarely one.
                4 => {
                    let second = self.range(-0.1, 1.0).max(0.0);
                    (outer(self.direction()) + outer(self.direction()) * second, None)
                }
                // Graded along the normal and the tangents.
                5 => {
                    let r = self.frame(n);
                    let [a, b, c] = [0; 3].map(|_| self.range(-1.0, 1.0));
                    let l = DMat3::from_cols(DVec3::new(1.0, a, b), DVec3::new(0.0, 1.0, c), DVec3::Z);
                    let d = DVec3::from_array([0; 3].map(|_| self.power(-7.0, 0.0)));
                    (r * l * DMat3::from_diagonal(d) * l.transpose() * r.transpose(), None)
                }
                // Round.
                _ => {
                    let a = [self.range(0.1, 1.0), self.range(0.1, 1.0)];
                    (outer(n) * (a[0] - a[1]) + DMat3::IDENTITY * a[1], Some(10.0))
                }
            }
        }

        fn case(&mut self) -> Case {
            let n = if self.below(8) == 0 { DVec3::Z } else { self.direction() };
            let (w, condition) = self.block(n);
            let w = (w + w.transpose()) * (0.5 * self.power(-12.0, 12.0));
            let μ = match self.below(4) {
                0 => [0.0, 1e-15, 1e-9, 1e-6, 1e-3, 1.0, 2.0, 10.0, 1e3][self.below(9)],
                1 => self.power(-9.0, 3.0),
                _ => self.range(0.05, 1.5),
            };
            let block = ContactBlock::new(w, n, μ);
            let t = n.cross(self.direction()).try_normalize().unwrap_or(n.any_orthonormal_vector());
            let q = match self.below(12) {
                // Along the axes, and nearly so.
                0 => -n,
                1 => t,
                2 => t + n * self.power(-16.0, 0.0) * self.range(-1.0, 1.0),
                3 => -n + t * self.power(-16.0, 0.0),
                // On the edge of opening, and of sticking.
                4 => t + n * μ * (1.0 + self.power(-16.0, -8.0) * self.range(-1.0, 1.0)),
                5 => -(w * (n + t * μ)),
                6 => -(w * (n + t * μ * (1.0 + self.power(-16.0, -8.0) * self.range(-1.0, 1.0)))),
                // In the range of W.
                7 => -(w * self.direction()),
                // Across the axis at σ*, where the branches of the CCP meet, and nearly so.
                8 => {
                    let b = block.normal.cross(block.tangent);
                    let axis = (block.normal + block.tangent * block.axis[0] + b * block.axis[1]).normalize();
                    let v = self.direction();
                    v - axis * (v.dot(axis) + [0.0, 1.0][self.below(2)] * self.power(-16.0, -3.0))
                }
                _ => self.direction(),
            };
            let q = q.normalize_or_zero() * self.power(-6.0, 6.0);
            Case { w, n, μ, q, block, condition }
        }
    }

    struct Case {
        w: DMat3,
        n: DVec3,
        μ: f64,
        q: DVec3,
        block: ContactBlock,
        condition: Option<f64>,
    }

    impl Case {
        fn tangential(&self, v: DVec3) -> DVec3 {
            v - self.n * v.dot(self.n)
        }

        fn η(&self) -> f64 {
            3.0 / (self.w.x_axis.x + self.w.y_axis.y + self.w.z_axis.z)
        }

        fn solve(&self, associated: bool) -> DVec3 {
            if associated { self.block.associated(self.q) } else { self.block.coulomb(self.q) }
        }

        /// The residual of the natural map.
        fn residual(&self, γ: DVec3, associated: bool) -> f64 {
            let mut u = self.w * γ + self.q;
            if !associated {
                u += self.n * (self.μ * self.tangential(u).length());
            }
            (γ - project(γ - u * self.η(), self.n, self.μ)).length()
        }

        /// The residual in units of what the introduction promises.
        fn promise(&self, γ: DVec3, associated: bool) -> f64 {
            let share = if associated { 1.0 } else { 1.0 + self.μ };
            self.residual(γ, associated) / (16.0 * f64::EPSILON * share * (γ.length() + self.η() * self.q.length()))
        }
    }

    /// A million problems, most of them nearly degenerate, under both laws.
    #[test]
    fn a_million_problems_are_solved_to_rounding() {
        let mut dice = Dice(1);
        for i in 0..1_000_000 {
            let case = dice.case();
            for associated in [true, false] {
                let γ = case.solve(associated);
                assert!(γ.is_finite(), "problem {i}");
                let promise = case.promise(γ, associated);
                assert!(promise <= 1.0, "problem {i}, associated {associated}, μ {}: {promise}", case.μ);
                let relative = case.residual(γ, associated) / (case.η() * case.q.length());
                let graceful = case.condition.is_none_or(|c| relative <= 1e-10 * (c / 1e5).max(1.0));
                assert!(
                    graceful || (!associated && case.μ > 2.0),
                    "problem {i}, associated {associated}: {relative:e}"
                );
            }
        }
    }

    /// The way with twice the digits holds the same promise alone.
    #[test]
    fn the_slow_twin_solves_alone() {
        let mut dice = Dice(2);
        for i in 0..100_000 {
            let case = dice.case();
            let ContactBlock { normal, tangent, unit, friction: μ, .. } = case.block;
            let b = normal.cross(tangent);
            let q = [case.q.dot(normal), case.q.dot(tangent), case.q.dot(b)];
            for associated in [true, false] {
                if μ == 0.0 || case.solve(associated) == DVec3::ZERO {
                    continue;
                }
                let γ = if associated { case.block.careful::<true>(q) } else { case.block.careful::<false>(q) };
                let γ = (normal * γ[0] + tangent * γ[1] + b * γ[2]) * unit;
                let promise = case.promise(γ, associated);
                assert!(promise <= 1.0, "problem {i}, associated {associated}, μ {μ}: {promise}");
            }
        }
    }

    #[test]
    fn round_and_general_forms_agree() {
        let mut dice = Dice(3);
        for _ in 0..20_000 {
            let (n, q, μ) = (dice.direction(), dice.direction(), dice.range(0.0, 2.0));
            let [a_n, a_t] = [dice.power(-2.0, 2.0), dice.power(-2.0, 2.0)];
            let outer = DMat3::from_cols(n * n.x, n * n.y, n * n.z);
            let block = ContactBlock::new(outer * (a_n - a_t) + DMat3::IDENTITY * a_t, n, μ);
            for (round, general) in [
                (solve_round_associated(q, n, μ, a_n, a_t), block.associated(q)),
                (solve_round_coulomb(q, n, μ, a_n, a_t), block.coulomb(q)),
            ] {
                assert!((round - general).length() <= 1e-11 * (1.0 / a_n + 1.0 / a_t), "{round} {general}");
            }
        }
    }

    /// The CCP is min ½γᵀWγ + qᵀγ over the cone: accelerated projected gradients find the same.
    #[test]
    fn associated_friction_agrees_with_a_long_projected_gradient() {
        let mut dice = Dice(4);
        let mut compared = 0;
        while compared < 500 {
            let case = dice.case();
            if case.condition.is_none_or(|c| c > 1e3) {
                continue;
            }
            let (w, η) = (case.w, case.η());
            let value = |γ: DVec3| 0.5 * γ.dot(w * γ) + case.q.dot(γ);
            let (mut γ, mut y, mut k) = (DVec3::ZERO, DVec3::ZERO, 0.0);
            for _ in 0..20_000 {
                // tr W bounds the largest eigenvalue.
                let next = project(y - (w * y + case.q) * (η / 3.0), case.n, case.μ);
                let turned = (y - next).dot(next - γ) > 0.0;
                k = if turned { 0.0 } else { k + 1.0 };
                y = next + (next - γ) * (k / (k + 3.0));
                γ = next;
            }
            let (found, scale) = (case.solve(true), γ.length() + η * case.q.length());
            assert!((found - γ).length() <= 1e-10 * scale, "{found} {γ}");
            assert!(value(found) <= value(γ) + 1e-13 * scale * case.q.length(), "{} {}", value(found), value(γ));
            compared += 1;
        }
    }

    /// Coulomb's law case by case.
    #[test]
    fn coulomb_contacts_open_stick_or_slip() {
        let mut dice = Dice(5);
        let mut seen = [0; 3];
        for i in 0..200_000 {
            let case = dice.case();
            if case.condition.is_some_and(|c| c > 1e6) {
                continue;
            }
            let γ = case.solve(false);
            let (γn, γt) = (γ.dot(case.n), case.tangential(γ));
            let u = case.w * γ + case.q;
            let (un, ut) = (u.dot(case.n), case.tangential(u));
            let rounding = 64.0 * f64::EPSILON;
            let slack = rounding * γ.length() * (1.0 + case.μ);
            let speed = rounding * (γ.length() / case.η() + case.q.length());
            if case.q.dot(case.n) >= speed {
                assert_eq!(γ, DVec3::ZERO, "problem {i} opens");
                seen[0] += 1;
            } else if u.length() <= speed {
                assert!(γt.length() <= case.μ * γn + slack, "problem {i} sticks");
                seen[1] += 1;
            } else if γ != DVec3::ZERO {
                assert!(un.abs() <= speed, "problem {i} slips: {un}");
                assert!((γt.length() - case.μ * γn).abs() <= slack, "problem {i} slips");
                let against = γt.length() * ut.length() + γt.dot(ut);
                assert!(against <= 4.0 * speed * γt.length() + slack * ut.length(), "problem {i} slips: {against}");
                seen[2] += 1;
            }
        }
        assert!(seen.iter().all(|&n| n > 5_000), "{seen:?}");
    }

    /// De Saxcé: Coulomb's impulse is that of the CCP for q + μ|u_t|n.
    #[test]
    fn coulomb_is_associated_with_a_shifted_velocity() {
        let mut dice = Dice(6);
        for i in 0..100_000 {
            let case = dice.case();
            if case.condition.is_none_or(|c| c > 1e4) || case.μ > 2.0 {
                continue;
            }
            let γ = case.solve(false);
            let ut = case.tangential(case.w * γ + case.q);
            let shifted = case.block.associated(case.q + case.n * (case.μ * ut.length()));
            let scale = γ.length() + case.η() * case.q.length();
            assert!((shifted - γ).length() <= 1e-8 * scale, "problem {i}: {shifted} {γ}");
        }
    }

    #[test]
    fn bad_input_gives_no_impulse() {
        let push = -DVec3::X + DVec3::Y;
        let valid = ContactBlock::new(DMat3::IDENTITY, DVec3::X, 0.5);
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            for q in [DVec3::splat(bad), DVec3::new(-1.0, bad, 0.0), DVec3::new(bad, 1.0, 1.0)] {
                assert_eq!(valid.associated(q), DVec3::ZERO);
                assert_eq!(valid.coulomb(q), DVec3::ZERO);
                assert_eq!(solve_round_associated(q, DVec3::X, 0.5, 1.0, 1.0), DVec3::ZERO);
                assert_eq!(solve_round_coulomb(q, DVec3::X, 0.5, 1.0, 1.0), DVec3::ZERO);
            }
            for block in [
                ContactBlock::new(DMat3::IDENTITY * bad, DVec3::X, 0.5),
                ContactBlock::new(DMat3::IDENTITY, DVec3::splat(bad), 0.5),
                ContactBlock::new(DMat3::IDENTITY, DVec3::ZERO, 0.5),
                ContactBlock::new(DMat3::ZERO, DVec3::X, 0.5),
                ContactBlock::new(-DMat3::IDENTITY, DVec3::X, 0.5),
            ] {
                assert_eq!([block.associated(push), block.coulomb(push)], [DVec3::ZERO; 2]);
            }
        }
        // Friction that makes no sense is none; without end it is very much.
        for friction in [f64::NAN, -1.0, f64::NEG_INFINITY] {
            assert_eq!(ContactBlock::new(DMat3::IDENTITY, DVec3::X, friction).coulomb(push), DVec3::X);
        }
        assert!((ContactBlock::new(DMat3::IDENTITY, DVec3::X, f64::INFINITY).coulomb(push) + push).length() < 1e-15);
    }

    /// Finite input never gives NaN, however absurd; and impulses are proportional to q.
    #[test]
    fn any_scale_of_input_is_solved() {
        let mut dice = Dice(7);
        for i in 0..20_000 {
            let case = dice.case();
            let Case { w, n, μ, q, block, .. } = case;
            for scale in [1e-200, 1e-30, 1e30, 1e200] {
                for (γ, associated) in [(block.associated(q * scale), true), (block.coulomb(q * scale), false)] {
                    let promise = case.promise(γ / scale, associated);
                    assert!(promise <= 1.0, "problem {i}, scale {scale:e}: {promise}");
                }
            }
            for scale in [1e-300, 1e-150, 1e150, 1e290] {
                let other = ContactBlock::new(w * scale, n, μ);
                for q in [q, q * scale, q / scale, q.signum() * f64::MAX, q.signum() * f64::MIN_POSITIVE] {
                    assert!(other.associated(q).is_finite() && other.coulomb(q).is_finite(), "problem {i}");
                }
            }
        }
    }

    #[test]
    fn a_block_is_compact() {
        assert!(size_of::<ContactBlock>() <= 16 * size_of::<f64>());
    }
}
