//! Vectors of contact quantities in blocks of four, and arithmetic on four contacts at once.
//!
//! A contact's three numbers stand in three lanes of a block, four contacts a block. Kernels are
//! written once over `Lanes`: with AVX registers where the machine has them, and in plain
//! arrays elsewhere. No operation is fused or re-associated, so the bits do not depend on it.

use glam::DVec3;
use std::ops::{Add, Div, Mul, Sub};

/// Contacts a block.
pub const LANES: usize = 4;

/// Four numbers in memory, one a contact.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C, align(32))]
pub struct F4(pub [f64; LANES]);

/// Arithmetic on four numbers at once.
pub(crate) trait Lanes:
    Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Div<Output = Self>
{
    /// The same number four times.
    fn splat(x: f64) -> Self;
    /// From memory.
    fn load(x: &F4) -> Self;
    /// To memory.
    fn store(self) -> F4;
    /// Square roots.
    fn sqrt(self) -> Self;
    /// The larger of each two; the second where the first is not a number.
    fn max(self, o: Self) -> Self;
    /// 1 or −1 with the sign of each, of zeros too.
    fn signum(self) -> Self;
    /// `yes` where `a <= b`, else `no`.
    fn select_le(a: Self, b: Self, yes: Self, no: Self) -> Self;
    /// A bit a lane: whether `a <= b` there.
    fn le_bits(a: Self, b: Self) -> u8;
    /// Four rows of six numbers, turned into six vectors of four.
    fn transpose6(rows: [&[f64; 6]; LANES]) -> [Self; 6];

    /// Four vectors of four, transposed.
    fn transpose4(columns: [Self; LANES]) -> [Self; LANES];

    /// The sum of the four, in a fixed order.
    #[inline(always)]
    fn sum(self) -> f64 {
        let x = self.store().0;
        (x[0] + x[1]) + (x[2] + x[3])
    }

    /// The largest of the four.
    #[inline(always)]
    fn max_lane(self) -> f64 {
        let m = |a: f64, b: f64| if a > b { a } else { b };
        let x = self.store().0;
        m(m(x[0], x[1]), m(x[2], x[3]))
    }
}

macro_rules! lanewise {
    ($($trait:ident $method:ident $op:tt),*) => {$(
        impl $trait for F4 {
            type Output = F4;
            #[inline(always)]
            fn $method(self, o: F4) -> F4 {
                F4([self.0[0] $op o.0[0], self.0[1] $op o.0[1], self.0[2] $op o.0[2], self.0[3] $op o.0[3]])
            }
        }
    )*};
}
lanewise!(Add add +, Sub sub -, Mul mul *, Div div /);

/// The plain form: the twin of all others, and what machines without AVX use.
impl Lanes for F4 {
    #[inline(always)]
    fn splat(x: f64) -> Self {
        F4([x; LANES])
    }
    #[inline(always)]
    fn load(x: &F4) -> Self {
        *x
    }
    #[inline(always)]
    fn store(self) -> F4 {
        self
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        F4(self.0.map(f64::sqrt))
    }
    #[inline(always)]
    fn max(self, o: Self) -> Self {
        F4(std::array::from_fn(|k| if self.0[k] > o.0[k] { self.0[k] } else { o.0[k] }))
    }
    #[inline(always)]
    fn signum(self) -> Self {
        F4(self.0.map(|x| 1f64.copysign(x)))
    }
    #[inline(always)]
    fn select_le(a: Self, b: Self, yes: Self, no: Self) -> Self {
        F4(std::array::from_fn(|k| if a.0[k] <= b.0[k] { yes.0[k] } else { no.0[k] }))
    }
    #[inline(always)]
    fn le_bits(a: Self, b: Self) -> u8 {
        (0..LANES).fold(0, |bits, k| bits | u8::from(a.0[k] <= b.0[k]) << k)
    }
    #[inline(always)]
    fn transpose6(rows: [&[f64; 6]; LANES]) -> [Self; 6] {
        std::array::from_fn(|c| F4(std::array::from_fn(|k| rows[k][c])))
    }
    #[inline(always)]
    fn transpose4(columns: [Self; LANES]) -> [Self; LANES] {
        std::array::from_fn(|r| F4(std::array::from_fn(|c| columns[c].0[r])))
    }
}

#[cfg(target_arch = "x86_64")]
pub(crate) use avx::Avx;

#[cfg(target_arch = "x86_64")]
mod avx {
    //! [`Lanes`] in AVX registers.
    //!
    //! Values of this type exist only within kernels that were entered after AVX2 was detected
    //! (see `vectorised` in the operator); that is the safety argument of every block here.
    #![allow(clippy::undocumented_unsafe_blocks)]

    use super::{F4, LANES, Lanes};
    use std::arch::x86_64::*;
    use std::ops::{Add, Div, Mul, Sub};

    /// Four numbers in a register.
    #[derive(Clone, Copy)]
    pub(crate) struct Avx(__m256d);

    macro_rules! registerwise {
        ($($trait:ident $method:ident $intrinsic:ident),*) => {$(
            impl $trait for Avx {
                type Output = Avx;
                #[inline(always)]
                fn $method(self, o: Avx) -> Avx {
                    Avx(unsafe { $intrinsic(self.0, o.0) })
                }
            }
        )*};
    }
    registerwise!(Add add _mm256_add_pd, Sub sub _mm256_sub_pd, Mul mul _mm256_mul_pd, Div div _mm256_div_pd);

    /// Numbers `at` and `at + 1` of two rows in one register.
    #[inline(always)]
    fn halves(low: &[f64; 6], high: &[f64; 6], at: usize) -> __m256d {
        assert!(at + 2 <= 6);
        unsafe {
            let low = _mm256_castpd128_pd256(_mm_loadu_pd(low.as_ptr().add(at)));
            _mm256_insertf128_pd::<1>(low, _mm_loadu_pd(high.as_ptr().add(at)))
        }
    }

    impl Lanes for Avx {
        #[inline(always)]
        fn splat(x: f64) -> Self {
            Avx(unsafe { _mm256_set1_pd(x) })
        }
        #[inline(always)]
        fn load(x: &F4) -> Self {
            Avx(unsafe { _mm256_load_pd(x.0.as_ptr()) })
        }
        #[inline(always)]
        fn store(self) -> F4 {
            let mut x = F4::default();
            unsafe { _mm256_store_pd(x.0.as_mut_ptr(), self.0) };
            x
        }
        #[inline(always)]
        fn sqrt(self) -> Self {
            Avx(unsafe { _mm256_sqrt_pd(self.0) })
        }
        #[inline(always)]
        fn max(self, o: Self) -> Self {
            Avx(unsafe { _mm256_max_pd(self.0, o.0) })
        }
        #[inline(always)]
        fn signum(self) -> Self {
            Avx(unsafe { _mm256_or_pd(_mm256_and_pd(self.0, _mm256_set1_pd(-0.0)), _mm256_set1_pd(1.0)) })
        }
        #[inline(always)]
        fn select_le(a: Self, b: Self, yes: Self, no: Self) -> Self {
            Avx(unsafe { _mm256_blendv_pd(no.0, yes.0, _mm256_cmp_pd::<_CMP_LE_OQ>(a.0, b.0)) })
        }
        #[inline(always)]
        fn le_bits(a: Self, b: Self) -> u8 {
            unsafe { _mm256_movemask_pd(_mm256_cmp_pd::<_CMP_LE_OQ>(a.0, b.0)) as u8 }
        }
        #[inline(always)]
        fn transpose6(rows: [&[f64; 6]; LANES]) -> [Self; 6] {
            let mut out = [Avx::splat(0.0); 6];
            for half in 0..3 {
                // Two numbers of each row: rows 0 and 2 share a register, and rows 1 and 3.
                let (even, odd) = (halves(rows[0], rows[2], 2 * half), halves(rows[1], rows[3], 2 * half));
                out[2 * half] = Avx(unsafe { _mm256_unpacklo_pd(even, odd) });
                out[2 * half + 1] = Avx(unsafe { _mm256_unpackhi_pd(even, odd) });
            }
            out
        }
        #[inline(always)]
        fn transpose4([a, b, c, d]: [Self; LANES]) -> [Self; LANES] {
            unsafe {
                let (ab_even, ab_odd) = (_mm256_unpacklo_pd(a.0, b.0), _mm256_unpackhi_pd(a.0, b.0));
                let (cd_even, cd_odd) = (_mm256_unpacklo_pd(c.0, d.0), _mm256_unpackhi_pd(c.0, d.0));
                [
                    Avx(_mm256_permute2f128_pd::<0x20>(ab_even, cd_even)),
                    Avx(_mm256_permute2f128_pd::<0x20>(ab_odd, cd_odd)),
                    Avx(_mm256_permute2f128_pd::<0x31>(ab_even, cd_even)),
                    Avx(_mm256_permute2f128_pd::<0x31>(ab_odd, cd_odd)),
                ]
            }
        }
    }
}

/// Four three-vectors at once.
#[derive(Clone, Copy)]
pub(crate) struct V3<T> {
    /// First components.
    pub x: T,
    /// Second components.
    pub y: T,
    /// Third components.
    pub z: T,
}

impl<T: Lanes> Add for V3<T> {
    type Output = Self;
    #[inline(always)]
    fn add(self, o: Self) -> Self {
        V3 { x: self.x + o.x, y: self.y + o.y, z: self.z + o.z }
    }
}

impl<T: Lanes> Sub for V3<T> {
    type Output = Self;
    #[inline(always)]
    fn sub(self, o: Self) -> Self {
        V3 { x: self.x - o.x, y: self.y - o.y, z: self.z - o.z }
    }
}

impl<T: Lanes> Mul<T> for V3<T> {
    type Output = Self;
    #[inline(always)]
    fn mul(self, s: T) -> Self {
        V3 { x: self.x * s, y: self.y * s, z: self.z * s }
    }
}

impl<T: Lanes> V3<T> {
    /// From memory.
    #[inline(always)]
    pub(crate) fn load(v: &V4) -> Self {
        V3 { x: T::load(&v.x), y: T::load(&v.y), z: T::load(&v.z) }
    }

    /// To memory.
    #[inline(always)]
    pub(crate) fn store(self) -> V4 {
        V4 { x: self.x.store(), y: self.y.store(), z: self.z.store() }
    }

    /// Scalar products.
    #[inline(always)]
    pub(crate) fn dot(self, o: Self) -> T {
        self.x * o.x + self.y * o.y + self.z * o.z
    }

    /// Vector products.
    #[inline(always)]
    pub(crate) fn cross(self, o: Self) -> Self {
        V3 { x: self.y * o.z - self.z * o.y, y: self.z * o.x - self.x * o.z, z: self.x * o.y - self.y * o.x }
    }
}

/// Four three-vectors in memory, one a contact.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C, align(32))]
pub struct V4 {
    /// First components.
    pub x: F4,
    /// Second components.
    pub y: F4,
    /// Third components.
    pub z: F4,
}

impl V4 {
    /// The vector of one lane.
    #[inline(always)]
    pub fn lane(&self, k: usize) -> DVec3 {
        DVec3::new(self.x.0[k], self.y.0[k], self.z.0[k])
    }

    /// Sets the vector of one lane.
    #[inline(always)]
    pub fn set_lane(&mut self, k: usize, v: DVec3) {
        self.x.0[k] = v.x;
        self.y.0[k] = v.y;
        self.z.0[k] = v.z;
    }
}

const _: () = assert!(size_of::<V4>() == 3 * LANES * size_of::<f64>());

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn registers_and_arrays_agree_to_the_bit() {
        if !std::arch::is_x86_feature_detected!("avx2") {
            return;
        }
        let (a, b) = (F4([1.5, -2.0, f64::NAN, 1e300]), F4([0.1, -2.0, 3.0, -0.0]));
        fn all<T: Lanes>(a: &F4, b: &F4) -> Vec<u64> {
            let (x, y) = (T::load(a), T::load(b));
            let mut out = vec![x + y, x - y, x * y, x / y, x.sqrt(), x.max(y), T::select_le(x, y, x, y), T::splat(3.0)];
            out.extend([x.signum(), y.signum()]);
            let rows: [[f64; 6]; 4] = std::array::from_fn(|r| std::array::from_fn(|c| (6 * r + c) as f64));
            out.extend(T::transpose6([&rows[0], &rows[1], &rows[2], &rows[3]]));
            out.extend(T::transpose4([x, y, x + y, x * y]));
            out.push(T::splat(f64::from(T::le_bits(x, y))));
            out.into_iter().flat_map(|v| v.store().0.map(|z| if z.is_nan() { 0 } else { z.to_bits() })).collect()
        }
        assert_eq!(all::<F4>(&a, &b), all::<Avx>(&a, &b));
    }
}
