//! Exact one-contact solves for four contacts at once.
//!
//! The method and its letters are those of `one_contact`. Here all four lanes take the same steps: the
//! impulses of sticking contacts in closed form, the root of h by Halley's method for those that slip, and
//! the results are chosen lane by lane. A lane that is out of the ordinary (a velocity whose powers leave
//! the range of f64, a root that Halley's method does not find, an impulse at the very edge of a case) goes
//! to the scalar solver, which never fails.

use super::one_contact::ContactBlock;
use crate::lanes::{F4, Lanes, V3};

/// Steps of Halley's method before a lane goes to the scalar solver. Three or four are usual.
const STEPS: usize = 10;
/// Relative length of the last step: the next would be of its square at most.
const LAST_STEP: f64 = 1e-6;
/// How far a slipping contact may slip askew before the scalar solver polishes it.
const PRECISION: f64 = 1e-13;

/// The blocks W of four contacts, in their own frames: W = ω(a w₁ w₂; w₁ 1 0; w₂ 0 1+Δ).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Local<T> {
    /// 1/ω and ω; both zero for a contact without impulses.
    pub(super) unit: T,
    pub(super) ω: T,
    pub(super) a: T,
    pub(super) w1: T,
    pub(super) w2: T,
    pub(super) delta: T,
    /// σ*, where s changes its sign.
    pub(super) apex: T,
}

impl Local<F4> {
    /// Takes over one contact.
    pub(crate) fn set_lane(&mut self, lane: usize, block: &ContactBlock) {
        let [unit, a, w1, w2, delta, apex] = block.numbers();
        let ω = if unit > 0.0 { 1.0 / unit } else { 0.0 };
        let Self { unit: to_unit, ω: to_ω, a: to_a, w1: to_w1, w2: to_w2, delta: to_delta, apex: to_apex } = self;
        let all = [to_unit, to_ω, to_a, to_w1, to_w2, to_delta, to_apex];
        for (to, x) in all.into_iter().zip([unit, ω, a, w1, w2, delta, apex]) {
            to.0[lane] = x;
        }
    }

    /// Makes one contact one without impulses.
    pub(super) fn clear_lane(&mut self, lane: usize) {
        let Self { unit, ω, a, w1, w2, delta, apex } = self;
        [unit, ω, a, w1, w2, delta, apex].into_iter().for_each(|of| of.0[lane] = 0.0);
    }

    /// To registers.
    #[inline(always)]
    pub(crate) fn load<T: Lanes>(&self) -> Local<T> {
        Local {
            unit: T::load(&self.unit),
            ω: T::load(&self.ω),
            a: T::load(&self.a),
            w1: T::load(&self.w1),
            w2: T::load(&self.w2),
            delta: T::load(&self.delta),
            apex: T::load(&self.apex),
        }
    }
}

impl<T: Lanes> Local<T> {
    /// To memory.
    #[inline(always)]
    pub(super) fn store(&self) -> Local<F4> {
        Local {
            unit: self.unit.store(),
            ω: self.ω.store(),
            a: self.a.store(),
            w1: self.w1.store(),
            w2: self.w2.store(),
            delta: self.delta.store(),
            apex: self.apex.store(),
        }
    }

    /// Wγ.
    #[inline(always)]
    pub(crate) fn times(&self, γ: V3<T>) -> V3<T> {
        let across = self.delta + T::splat(1.0);
        V3 {
            x: self.a * γ.x + self.w1 * γ.y + self.w2 * γ.z, y: self.w1 * γ.x + γ.y, z: self.w2 * γ.x + across * γ.z
        } * self.ω
    }

    /// The trace of W over three.
    #[inline(always)]
    pub(crate) fn mean_diagonal(&self) -> T {
        (self.a + self.delta + T::splat(2.0)) * self.ω * T::splat(1.0 / 3.0)
    }

    /// One contact, for the scalar solver.
    #[cold]
    fn solve_lane(&self, lane: usize, q: V3<T>, μ: T, is_associated: bool) -> [f64; 3] {
        let of = |x: T| x.store().0[lane];
        let numbers = [self.unit, self.a, self.w1, self.w2, self.delta, self.apex].map(of);
        let block = ContactBlock::from_numbers(numbers, of(μ));
        block.solve_in_frame([of(q.x), of(q.y), of(q.z)], is_associated)
    }
}

/// A quadratic in σ, lowest power first.
#[derive(Clone, Copy)]
struct Quadratic<T>([T; 3]);

impl<T: Lanes> Quadratic<T> {
    #[inline(always)]
    fn at(&self, σ: T) -> T {
        (self.0[2] * σ + self.0[1]) * σ + self.0[0]
    }
    #[inline(always)]
    fn slope(&self, σ: T) -> T {
        (self.0[2] + self.0[2]) * σ + self.0[1]
    }
}

/// The curve of slipping impulses.
struct Curve<T> {
    x1: Quadratic<T>,
    x2: Quadratic<T>,
    r: Quadratic<T>,
}

/// Impulses of four contacts with velocities `q`, both in the frames of their blocks.
#[inline(always)]
pub(crate) fn solve4<T: Lanes, const COULOMB: bool>(local: &Local<T>, q: V3<T>, μ: T) -> V3<T> {
    let (zero, one) = (T::splat(0.0), T::splat(1.0));
    let Local { unit, a, w1, w2, delta, .. } = *local;
    let V3 { x: qn, y: q1, z: q2 } = q;
    let across = delta + one;
    let sliding = (q1 * q1 + q2 * q2).sqrt();
    // Contacts that open have no impulse.
    let opening = if COULOMB { qn } else { qn - μ * sliding };
    let closed = !T::le_bits(zero, opening) & 0xf;
    if closed == 0 {
        return V3 { x: zero, y: zero, z: zero };
    }

    // Sticking, by elimination.
    let (e1, e2, j) = (a * q1 - w1 * qn, a * q2 - w2 * qn, w1 * q2 - w2 * q1);
    let (p1, p2) = (w1 * q1, w2 * q2);
    let (x1, x2) = (zero - (across * e1 + w2 * j), w1 * j - e2);
    let r = across * (p1 - qn) + p2;
    let h1 = (x1 * x1 + x2 * x2).sqrt() - μ * r;
    let γn = r / (across * (a - w1 * w1) - w2 * w2);
    let mut γ = V3 { x: γn, y: zero - (q1 + w1 * γn), z: zero - (q2 + w2 * γn) / across };

    // Slipping, if some do.
    let smooth = T::le_bits(μ, zero);
    let slipping = closed & !T::le_bits(h1, zero) & !smooth;
    let mut odd = closed & !(T::le_bits(T::splat(1e-40), q.dot(q)) & T::le_bits(q.dot(q), T::splat(1e40)));
    if slipping != 0 {
        let m = if COULOMB { zero } else { μ * μ };
        let (m1, m2) = (m * q1, m * q2);
        let (f1, f2) = (e1 + m1, e2 + m2);
        let curve = Curve {
            x1: Quadratic([m1, m1 * delta - f1, zero - (f1 * delta + w2 * j)]),
            x2: Quadratic([m2, zero - f2, w1 * j]),
            r: Quadratic([zero - qn, p1 + p2 - qn * delta, p1 * delta]),
        };
        let (slipped, failed) = slip::<T, COULOMB>(local, q, μ, &curve, h1, sliding, slipping);
        γ.x = T::select_le(h1, zero, γ.x, slipped.x);
        γ.y = T::select_le(h1, zero, γ.y, slipped.y);
        γ.z = T::select_le(h1, zero, γ.z, slipped.z);
        odd |= failed;
    }
    if smooth != 0 {
        γ.x = T::select_le(μ, zero, zero - qn / a, γ.x);
        γ.y = T::select_le(μ, zero, zero, γ.y);
        γ.z = T::select_le(μ, zero, zero, γ.z);
    }
    let kept = T::select_le(zero, opening, zero, unit);
    γ = V3 {
        x: T::select_le(zero, opening, zero, γ.x) * kept,
        y: T::select_le(zero, opening, zero, γ.y) * kept,
        z: T::select_le(zero, opening, zero, γ.z) * kept,
    };
    if odd != 0 { mend::<T, COULOMB>(local, q, μ, odd, γ) } else { γ }
}

/// Lets the scalar solver do some of the lanes.
#[cold]
#[inline(never)]
fn mend<T: Lanes, const COULOMB: bool>(local: &Local<T>, q: V3<T>, μ: T, lanes: u8, γ: V3<T>) -> V3<T> {
    let mut γ = γ.store();
    for lane in (0..crate::lanes::LANES).filter(|lane| lanes >> lane & 1 == 1) {
        let [x, y, z] = local.solve_lane(lane, q, μ, !COULOMB);
        γ.set_lane(lane, glam::DVec3::new(x, y, z));
    }
    V3::load(&γ)
}

/// Where the root of h lies: between two σ, on the branch of this sign; and where to start.
struct Bracket<T> {
    low: T,
    high: T,
    sign: T,
    start: T,
}

/// Impulses of slipping contacts, in units of 1/ω, and the lanes among `wanted` in which none was found.
#[inline(always)]
fn slip<T: Lanes, const COULOMB: bool>(
    local: &Local<T>,
    q: V3<T>,
    μ: T,
    c: &Curve<T>,
    h1: T,
    sliding: T,
    wanted: u8,
) -> (V3<T>, u8) {
    let (bracket, lost) = bracket::<T, COULOMB>(local, q, μ, c, h1, sliding);
    let sign = bracket.sign;
    let mut failed = lost & wanted;
    let (σ, open) = halley(μ, c, bracket, wanted & !failed);
    failed |= open;
    let (γ, is_off) = impulse::<T, COULOMB>(local, q, μ, sign * c.x1.at(σ), sign * c.x2.at(σ));
    (γ, failed | is_off & wanted)
}

/// Brackets the root of h; and the lanes in which it cannot be found so.
#[inline(always)]
fn bracket<T: Lanes, const COULOMB: bool>(
    local: &Local<T>,
    q: V3<T>,
    μ: T,
    c: &Curve<T>,
    h1: T,
    sliding: T,
) -> (Bracket<T>, u8) {
    let (zero, one) = (T::splat(0.0), T::splat(1.0));
    let Local { w1, w2, delta, apex, .. } = *local;
    let V3 { x: qn, y: q1, z: q2 } = q;
    let (mut low, mut high, mut sign) = (zero, T::splat(1.0 + 1e-12), one);
    let mut lost = 0;
    // h and its slope at σ = 0.
    let (h0, dh0);
    if COULOMB {
        h0 = μ * qn;
        dh0 = (c.x1.0[1] * c.x1.0[1] + c.x2.0[1] * c.x2.0[1]).sqrt() - μ * c.r.0[1];
    } else {
        let m = μ * μ;
        // −q times the axis (1, −w_k κ_k) at σ*.
        let r = w1 * apex * q1 + w2 * apex / (one + apex * delta) * q2 - qn;
        low = T::select_le(r, zero, zero, apex);
        high = T::select_le(r, zero, apex, high);
        sign = T::select_le(r, zero, zero - one, one);
        h0 = μ * qn - m * sliding;
        dh0 = zero - (q1 * c.x1.0[1] + q2 * c.x2.0[1]) / sliding - μ * c.r.0[1];
        // At σ* itself r, s and x vanish together, and x loses its direction.
        let edge = T::splat(1e-7) * μ * (abs(qn) + abs(q1) + abs(q2));
        lost = T::le_bits(abs(r) * (one + m), edge);
    }
    // Where the hyperbola through both ends, with the slope at σ = 0, is zero. What is not a number is not
    // between.
    let start = h0 * (h0 - h1) / (dh0 * h1 - h0 * (h1 - h0));
    let start = between(T::select_le(start, start, start, zero), low, high);
    (Bracket { low, high, sign, start }, lost)
}

/// The root of h by Halley's method, and the lanes among `open` in which it was not found.
#[inline(always)]
fn halley<T: Lanes>(μ: T, c: &Curve<T>, bracket: Bracket<T>, mut open: u8) -> (T, u8) {
    let (zero, one, half) = (T::splat(0.0), T::splat(1.0), T::splat(0.5));
    let Bracket { mut low, mut high, sign, start: mut σ } = bracket;
    let mut found = σ;
    for _ in 0..STEPS {
        let (x1, x2, r) = (c.x1.at(σ), c.x2.at(σ), c.r.at(σ));
        let (dx1, dx2, dr) = (c.x1.slope(σ), c.x2.slope(σ), c.r.slope(σ));
        // h and its slope, both times the signed length of x_t.
        let square = x1 * x1 + x2 * x2;
        let (length, along) = (sign * square.sqrt(), x1 * dx1 + x2 * dx2);
        let (h, dh) = (square - μ * r * length, along - μ * dr * length);
        let ddh = dx1 * dx1 + dx2 * dx2 + T::splat(2.0) * (x1 * c.x1.0[2] + x2 * c.x2.0[2] - μ * c.r.0[2] * length);
        // Halley's step, or Newton's where the curvature would turn it round.
        let (dh2, bent) = (dh * dh * square, half * h * (ddh * square - along * along));
        let bent = T::select_le(half * dh2, bent, zero, bent);
        let step = zero - h * dh * square / (dh2 - bent);
        let next = σ + step;
        // Lanes that have arrived stay where they are.
        let rest = one - σ + T::splat(1e-10);
        let room = T::splat(LAST_STEP) * T::select_le(σ, rest, σ, rest);
        let arrived = T::le_bits(abs(step), room) & open;
        if arrived != 0 {
            found = choose(arrived, next, found);
            open &= !arrived;
            if open == 0 {
                break;
            }
        }
        let above = h * sign;
        high = T::select_le(above, zero, high, σ);
        low = T::select_le(above, zero, σ, low);
        σ = between(T::select_le(next, next, next, low), low, high);
    }
    (found, open)
}

/// The impulse γ_n(1, μt̂) along x, with u·(1, μt̂) = 0 for the CCP and u_n = 0 for Coulomb; and the lanes in
/// which it does not press, or the contact slips askew.
#[inline(always)]
fn impulse<T: Lanes, const COULOMB: bool>(local: &Local<T>, q: V3<T>, μ: T, x1: T, x2: T) -> (V3<T>, u8) {
    let zero = T::splat(0.0);
    let Local { a, w1, w2, delta, .. } = *local;
    let V3 { x: qn, y: q1, z: q2 } = q;
    let across = delta + T::splat(1.0);
    let square = x1 * x1 + x2 * x2;
    let length = square.sqrt();
    let wx = w1 * x1 + w2 * x2;
    let γn = if COULOMB {
        zero - qn * length / (a * length + μ * wx)
    } else {
        let numerator = qn * square + μ * length * (q1 * x1 + q2 * x2);
        zero - numerator / (a * square + μ * (T::splat(2.0) * length * wx + μ * (x1 * x1 + across * x2 * x2)))
    };
    let scale = μ * γn / length;
    // No velocity across the direction of the impulse.
    let (u1, u2) = (w1 * γn + x1 * scale + q1, w2 * γn + across * x2 * scale + q2);
    let bound = T::splat(PRECISION) * length * ((a + across) * (γn + μ * γn) + abs(qn) + abs(q1) + abs(q2));
    let is_sound = T::le_bits(T::splat(f64::MIN_POSITIVE), γn) & T::le_bits(abs(u2 * x1 - u1 * x2), bound);
    (V3 { x: γn, y: x1 * scale, z: x2 * scale }, !is_sound)
}

/// σ, if it lies between two others; else the middle.
#[inline(always)]
fn between<T: Lanes>(σ: T, low: T, high: T) -> T {
    let middle = T::splat(0.5) * (low + high);
    T::select_le(σ, low, middle, T::select_le(high, σ, middle, σ))
}

#[inline(always)]
pub(super) fn abs<T: Lanes>(x: T) -> T {
    x.max(T::splat(0.0) - x)
}

/// `yes` in the lanes of a bit mask, else `no`.
#[inline(always)]
pub(super) fn choose<T: Lanes>(lanes: u8, yes: T, no: T) -> T {
    let bit = |k: u8| if lanes >> k & 1 == 1 { 0.0 } else { 1.0 };
    T::select_le(T::load(&F4([bit(0), bit(1), bit(2), bit(3)])), T::splat(0.0), yes, no)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lanes::{LANES, V4};
    use crate::problem::cone::project;
    use glam::{DMat3, DVec3};
    use proptest::prelude::*;

    fn vector(scale: f64) -> impl Strategy<Value = DVec3> {
        [-1.0..1.0f64, -1.0..1.0, -1.0..1.0].prop_map(move |x| DVec3::from_array(x) * scale)
    }

    /// Blocks as contacts have them: 1/m of both sides and what the arms add.
    fn contact() -> impl Strategy<Value = (DMat3, DVec3, f64)> {
        let normal = vector(1.0).prop_filter("a direction", |n| n.length() > 0.1).prop_map(DVec3::normalize);
        let friction = prop_oneof![Just(0.0), 0.01..2.0f64];
        (vector(1.5), vector(1.5), 0.1..10.0f64, normal, friction).prop_map(|(r, s, spin, n, μ)| {
            let cross = |r: DVec3| {
                DMat3::from_cols(DVec3::new(0.0, r.z, -r.y), DVec3::new(-r.z, 0.0, r.x), DVec3::new(r.y, -r.x, 0.0))
            };
            let w = DMat3::IDENTITY * 2.0 - cross(r) * cross(r) * spin - cross(s) * cross(s);
            (w, n, μ)
        })
    }

    /// The solution by lanes of one kind of registers.
    fn solve<T: Lanes, const COULOMB: bool>(contacts: &[(DMat3, DVec3, f64); LANES], q: &[DVec3; LANES]) -> V4 {
        let (mut local, mut μ, mut turned) = (Local::<F4>::default(), F4::default(), V4::default());
        for (lane, (w, n, friction)) in contacts.iter().enumerate() {
            let block = ContactBlock::new(*w, *n, *friction);
            local.set_lane(lane, &block);
            μ.0[lane] = *friction;
            let (t, s) = (block.tangent(), n.cross(block.tangent()));
            turned.set_lane(lane, DVec3::new(q[lane].dot(*n), q[lane].dot(t), q[lane].dot(s)));
        }
        solve4::<T, COULOMB>(&local.load(), V3::load(&turned), T::load(&μ)).store()
    }

    fn check<const COULOMB: bool>(
        contacts: &[(DMat3, DVec3, f64); LANES],
        q: &[DVec3; LANES],
    ) -> Result<(), TestCaseError> {
        let γ = solve::<F4, COULOMB>(contacts, q);
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") {
            // SAFETY: the machine has AVX2.
            prop_assert_eq!(γ, unsafe { with_avx::<COULOMB>(contacts, q) }, "registers change no bit");
        }
        for (lane, (w, n, μ)) in contacts.iter().enumerate() {
            let block = ContactBlock::new(*w, *n, *μ);
            let t = block.tangent();
            let local = γ.lane(lane);
            let γ = *n * local.x + t * local.y + n.cross(t) * local.z;
            // The natural map of the law, and the scalar twin.
            let mut u = *w * γ + q[lane];
            if COULOMB {
                u += *n * (*μ * (u - *n * u.dot(*n)).length());
            }
            let η = 3.0 / (w.x_axis.x + w.y_axis.y + w.z_axis.z);
            let scale = γ.length() + η * q[lane].length();
            let residual = (γ - project(γ - u * η, *n, *μ)).length();
            prop_assert!(residual <= 1e-11 * scale * (1.0 + μ), "lane {lane}: {residual:e} of {scale:e}");
            if !COULOMB {
                let twin = block.associated(q[lane]);
                prop_assert!((γ - twin).length() <= 1e-9 * scale, "lane {lane}: {γ} against {twin}");
            }
        }
        Ok(())
    }

    /// # Safety
    /// The machine has AVX2.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    unsafe fn with_avx<const COULOMB: bool>(contacts: &[(DMat3, DVec3, f64); LANES], q: &[DVec3; LANES]) -> V4 {
        solve::<crate::lanes::Avx, COULOMB>(contacts, q)
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 20_000, ..ProptestConfig::default() })]
        #[test]
        fn four_at_once_as_one_by_one(
            contacts in [contact(), contact(), contact(), contact()],
            q in [vector(1.0), vector(1.0), vector(1e-3), vector(1e3)],
        ) {
            check::<false>(&contacts, &q)?;
            check::<true>(&contacts, &q)?;
        }
    }

    #[test]
    fn extreme_and_empty_lanes() {
        let w = DMat3::from_diagonal(DVec3::new(2.0, 3.0, 4.0));
        let contacts = [(w, DVec3::Z, 0.5), (w, DVec3::Z, 0.0), (w, DVec3::Z, 0.5), (DMat3::ZERO, DVec3::Z, 0.5)];
        let q = [DVec3::new(1e-200, 0.0, -1e-200), DVec3::new(1e200, 0.0, -1e200), DVec3::ZERO, DVec3::NEG_ONE];
        for γ in [solve::<F4, false>(&contacts, &q), solve::<F4, true>(&contacts, &q)] {
            assert!(γ.lane(0).x > 1e-201 && γ.lane(0).is_finite());
            assert!(γ.lane(1).x > 1e199 && γ.lane(1).y == 0.0);
            assert_eq!([γ.lane(2), γ.lane(3)], [DVec3::ZERO; 2]);
        }
        let nothing = [DVec3::NAN; LANES];
        assert_eq!(solve::<F4, false>(&contacts, &nothing), V4::default());
    }
}
