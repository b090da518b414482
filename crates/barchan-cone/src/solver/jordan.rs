//! The algebra of one friction cone in its symmetric form.
//!
//! With T = μnnᵀ + (1 − nnᵀ), x = Tγ and y = T⁻¹g both lie in the second-order cone
//! K = {x : x·n ≥ |x − (x·n)n|}, and x·y = γ·g. (S1 III-B has x = T_xγ and y = T_yg with another
//! T_y, for which T_yAT_x⁻¹ is not symmetric when μ differs between contacts; T⁻¹AT⁻¹ always is.)
//! K is the cone of squares of the Jordan product x∘y = (x·y)n + x_n y_t + y_n x_t, here without
//! the factor 1/√2 of S1, so that its unit is n.
//!
//! Without friction K is the ray along n, and the impulse of a bilateral row has no cone at all.
//! Vectors are those of the world: the normal is all the frame that is needed.

use crate::Unknown;
use glam::DVec3;

/// Friction below this counts as none: T⁻¹ would leave no digits to the tangential parts.
const SMOOTH: f64 = 1e-9;

/// How far from the boundary a point of the cone is kept, against its length.
const ROUNDING: f64 = 1e-15;

/// Root of the ratio of eigenvalues of W above which the smallest is lost in the matrix W².
const FAR: f64 = 100.0;

/// The cone of one unknown.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Cone {
    /// With friction: axis and μ.
    Round(DVec3, f64),
    /// Without: the direction.
    Ray(DVec3),
    /// A bilateral row.
    Free,
}

impl Cone {
    pub(crate) fn of(unknown: &Unknown) -> Self {
        match *unknown {
            Unknown::Contact { normal, friction, .. } if friction > SMOOTH => Self::Round(normal, friction),
            Unknown::Contact { normal, .. } => Self::Ray(normal),
            Unknown::Row { .. } => Self::Free,
        }
    }

    /// T, which leads from γ to x and from y to g.
    #[inline(always)]
    pub(crate) fn scale(&self, v: DVec3) -> DVec3 {
        match *self {
            Self::Round(n, μ) => v + n * (v.dot(n) * (μ - 1.0)),
            Self::Ray(n) => n * v.dot(n),
            Self::Free => v,
        }
    }

    /// T⁻¹, which leads from x to γ and from g to y.
    #[inline(always)]
    pub(crate) fn unscale(&self, v: DVec3) -> DVec3 {
        match *self {
            Self::Round(n, μ) => v + n * (v.dot(n) * (1.0 / μ - 1.0)),
            Self::Ray(n) => n * v.dot(n),
            Self::Free => v,
        }
    }

    /// A point that rounding may have put on the boundary, moved inside by as little.
    #[inline(always)]
    pub(crate) fn inside(&self, x: DVec3) -> DVec3 {
        match *self {
            Self::Round(n, _) => {
                let xn = x.dot(n);
                let t = (x - n * xn).length();
                x + n * (t * (1.0 + ROUNDING) - xn).max(0.0)
            }
            Self::Ray(_) | Self::Free => x,
        }
    }

    /// The unit of the Jordan product.
    #[inline(always)]
    pub(crate) fn unit(&self) -> DVec3 {
        match *self {
            Self::Round(n, _) | Self::Ray(n) => n,
            Self::Free => DVec3::ZERO,
        }
    }

    /// The largest step along d that stays in the cone, from inside.
    #[inline(always)]
    pub(crate) fn largest_step(&self, x: DVec3, d: DVec3) -> f64 {
        // Of ax² + 2bx + c the smallest positive root, without cancellation.
        let (a, b, c) = match *self {
            Self::Round(n, _) => (determinant(n, d), product(n, x, d), determinant(n, x)),
            Self::Ray(n) => {
                let (x, d) = (x.dot(n), d.dot(n));
                return if d < 0.0 { -x / d } else { f64::INFINITY };
            }
            Self::Free => return f64::INFINITY,
        };
        let discriminant = b * b - a * c;
        let below = discriminant.max(0.0).sqrt() - b;
        if discriminant >= 0.0 && below > 0.0 { c / below } else { f64::INFINITY }
    }

    /// The Jordan product.
    #[inline(always)]
    pub(crate) fn times(&self, a: DVec3, b: DVec3) -> DVec3 {
        match *self {
            Self::Round(n, _) => {
                let (an, bn) = (a.dot(n), b.dot(n));
                // (a·b)n + a_n b_t + b_n a_t.
                n * (a.dot(b) - 2.0 * an * bn) + b * an + a * bn
            }
            Self::Ray(n) => n * (a.dot(n) * b.dot(n)),
            Self::Free => DVec3::ZERO,
        }
    }

    /// The q with λ∘q = d, for λ inside the cone.
    #[inline(always)]
    pub(crate) fn divide(&self, d: DVec3, λ: DVec3) -> DVec3 {
        match *self {
            Self::Round(n, _) => {
                let λn = λ.dot(n);
                let λt = λ - n * λn;
                let dn = d.dot(n);
                let qn = (λn * dn - λt.dot(d)) / determinant(n, λ);
                n * qn + (d - n * dn - λt * qn) / λn
            }
            Self::Ray(n) => n * (d.dot(n) / λ.dot(n)),
            Self::Free => DVec3::ZERO,
        }
    }
}

/// x_n² − |x_t|².
#[inline(always)]
fn determinant(n: DVec3, x: DVec3) -> f64 {
    let xn = x.dot(n);
    let t = (x - n * xn).length();
    (xn - t) * (xn + t)
}

/// x_n y_n − x_t·y_t.
#[inline(always)]
fn product(n: DVec3, x: DVec3, y: DVec3) -> f64 {
    2.0 * x.dot(n) * y.dot(n) - x.dot(y)
}

/// The scaling of Nesterov and Todd for a pair x, y inside the cone: W with Wy = W⁻¹x = λ.
///
/// With x̄ and ȳ divided by the roots of their determinants, and J = diag(1, −1, −1) about n, its
/// direction is w̄ = (x̄ + Jȳ)/√(2(1 + x̄·ȳ)), and W² = β²(2w̄w̄ᵀ − J). That difference would lose
/// all digits of the smallest eigenvalue where a contact slides. So W is kept by its eigenvalues
/// βω, β/ω and β: along (n + t)/√2, (n − t)/√2 and across both, with t the direction of w̄_t and
/// ω = w̄_n + |w̄_t|.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Scaling {
    Round { n: DVec3, t: DVec3, β: f64, ω: f64 },
    Ray { n: DVec3, β: f64 },
    Free,
}

impl Scaling {
    #[inline(always)]
    pub(crate) fn new(cone: &Cone, x: DVec3, y: DVec3) -> Self {
        match *cone {
            Cone::Round(n, _) => {
                let (dx, dy) = (determinant(n, x).sqrt(), determinant(n, y).sqrt());
                let (x, y) = (x / dx, y / dy);
                let size = (2.0 * (1.0 + x.dot(y))).sqrt();
                let (xn, yn) = (x.dot(n), y.dot(n));
                let across = ((x - n * xn) - (y - n * yn)) / size;
                let length = across.length();
                let t = if length > 1e-100 { across / length } else { n.any_orthonormal_vector() };
                Self::Round { n, t, β: (dx / dy).sqrt(), ω: (xn + yn) / size + length }
            }
            Cone::Ray(n) => Self::Ray { n, β: (x.dot(n) / y.dot(n)).sqrt() },
            Cone::Free => Self::Free,
        }
    }

    /// The matrix with these eigenvalues in place of W's βω, β/ω and β, times u.
    #[inline(always)]
    fn with(&self, u: DVec3, along: f64, against: f64, across: f64) -> DVec3 {
        match *self {
            Self::Round { n, t, .. } => {
                let (un, ut) = (u.dot(n), u.dot(t));
                let (a, b) = (0.5 * (un + ut), 0.5 * (un - ut));
                (n + t) * (along * a) + (n - t) * (against * b) + (u - n * un - t * ut) * across
            }
            Self::Ray { n, .. } => n * (u.dot(n) * across),
            Self::Free => DVec3::ZERO,
        }
    }

    /// β and ω.
    #[inline(always)]
    fn factors(&self) -> (f64, f64) {
        match *self {
            Self::Round { β, ω, .. } => (β, ω),
            Self::Ray { β, .. } => (β, 1.0),
            Self::Free => (1.0, 1.0),
        }
    }

    /// Wu.
    #[inline(always)]
    pub(crate) fn apply(&self, u: DVec3) -> DVec3 {
        let (β, ω) = self.factors();
        self.with(u, β * ω, β / ω, β)
    }

    /// W²u.
    #[inline(always)]
    pub(crate) fn apply_twice(&self, u: DVec3) -> DVec3 {
        let (β, ω) = self.factors();
        self.with(u, (β * ω) * (β * ω), (β / ω) * (β / ω), β * β)
    }

    /// W⁻¹u.
    #[inline(always)]
    pub(crate) fn undo(&self, u: DVec3) -> DVec3 {
        let (β, ω) = self.factors();
        self.with(u, 1.0 / (β * ω), ω / β, 1.0 / β)
    }

    /// A change of x that was computed with the matrix W²: it has the right digits everywhere but
    /// along the smallest eigenvalue, if that is far below the others, and takes them from `own`.
    #[inline(always)]
    pub(crate) fn mend(&self, δx: DVec3, own: DVec3) -> DVec3 {
        match *self {
            Self::Round { n, t, ω, .. } if ω > FAR => δx + (n - t) * (0.5 * (n - t).dot(own - δx)),
            _ => δx,
        }
    }

    /// H = T⁻¹W²T⁻¹, the inverse of what the Newton system adds to A: diagonal, and xy, xz, yz.
    #[inline(always)]
    pub(crate) fn inverse_of_p(&self, cone: &Cone) -> [DVec3; 2] {
        let square = |v: DVec3, s: f64| [v * v * s, DVec3::new(v.x * v.y, v.x * v.z, v.y * v.z) * s];
        match (*self, *cone) {
            (Self::Round { n, t, β, ω }, Cone::Round(_, μ)) => {
                let s = n.cross(t);
                let n = n / μ;
                let parts =
                    [square(n + t, 0.5 * (β * ω) * (β * ω)), square(n - t, 0.5 * (β / ω) * (β / ω)), square(s, β * β)];
                std::array::from_fn(|k| parts[0][k] + parts[1][k] + parts[2][k])
            }
            (Self::Ray { n, β }, _) => square(n, β * β),
            _ => [DVec3::ZERO; 2],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn vector() -> impl Strategy<Value = DVec3> {
        [-1.0..1.0f64, -1.0..1.0f64, -1.0..1.0f64].prop_map(DVec3::from)
    }

    /// A point inside the cone, near its boundary at times.
    fn inside(n: DVec3, v: DVec3, margin: f64) -> DVec3 {
        let t = v - n * v.dot(n);
        t + n * (t.length() * (1.0 + margin) + 1e-3 * margin)
    }

    proptest! {
        #[test]
        fn scaling_maps_both_to_the_same_point(
            n in vector().prop_filter("a direction", |v| v.length() > 0.1),
            a in vector(), b in vector(), u in vector(), d in vector(),
            margin in 1e-4..2.0f64, μ in 0.01..2.0f64,
        ) {
            let n = n.normalize();
            for cone in [Cone::Round(n, μ), Cone::Ray(n)] {
                let (x, y) = (inside(n, a, margin), inside(n, b, margin));
                let (x, y) = if matches!(cone, Cone::Ray(_)) { (n * x.dot(n), n * y.dot(n)) } else { (x, y) };
                let w = Scaling::new(&cone, x, y);
                let λ = w.apply(y);
                let close = |a: DVec3, b: DVec3, size: f64| (a - b).length() <= 1e-8 * (1.0 + size);
                prop_assert!(close(λ, w.undo(x), λ.length()));
                prop_assert!(close(w.apply(λ), x, 1.0));
                prop_assert!((λ.dot(λ) - x.dot(y)).abs() <= 1e-10 * (1.0 + x.dot(y)));
                let u = if matches!(cone, Cone::Ray(_)) { n * u.dot(n) } else { u };
                let twice = w.apply(w.apply(u));
                prop_assert!(close(w.apply_twice(u), twice, twice.length()));
                prop_assert!(close(w.apply(w.undo(u)), u, 1e3));
                // H is T⁻¹W²T⁻¹.
                let [diagonal, rest] = w.inverse_of_p(&cone);
                let hu = DVec3::new(
                    diagonal.x * u.x + rest.x * u.y + rest.y * u.z,
                    rest.x * u.x + diagonal.y * u.y + rest.z * u.z,
                    rest.y * u.x + rest.z * u.y + diagonal.z * u.z,
                );
                let expected = cone.unscale(w.apply(w.apply(cone.unscale(u))));
                prop_assert!((hu - expected).length() <= 1e-9 * (diagonal.length() + 1.0));
                // Division undoes the product, and the unit is one.
                let d = if matches!(cone, Cone::Ray(_)) { n * d.dot(n) } else { d };
                let q = cone.divide(d, λ);
                prop_assert!(close(cone.times(λ, q), d, q.length() * λ.length()));
                prop_assert!(close(cone.times(λ, cone.unit()), λ, 1.0));
                // The largest step ends on the boundary.
                let α = cone.largest_step(x, d);
                if α.is_finite() {
                    let end = x + d * α;
                    prop_assert!(end.dot(n) >= -1e-9 * (1.0 + α));
                    if let Cone::Round(..) = cone {
                        prop_assert!(determinant(n, end).abs() <= 1e-7 * (1.0 + end.length_squared() + (d * α).length_squared()));
                    }
                } else {
                    prop_assert!((d.dot(n)) >= 0.0);
                }
            }
        }
    }
}
