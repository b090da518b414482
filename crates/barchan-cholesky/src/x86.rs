//! The dense kernel with the vectors of x86 processors: AVX2 with fused products, and AVX-512.
//!
//! It is written in assembly. Compilers make good code of the intrinsics for most shapes, but not
//! for this one, which needs every register: they keep one sum in memory. And the intrinsics of
//! AVX-512 are younger than the oldest compiler that this crate is for.

use crate::dense::{Machine, Task, Tile, check};
use std::arch::asm;

/// A piece of assembly for each column of a tile. It is given the kind of registers, the bytes of
/// one, those of the rows; the column's place in b and in the tile, a register for what is in b,
/// and those of its sums.
macro_rules! columns_4 {
    ($piece:ident) => {
        concat!(
            $piece!("ymm", "32", "12", "13", "14", "0", "0", "15", "0", "1", "2"),
            $piece!("ymm", "32", "12", "13", "14", "8", "96", "15", "3", "4", "5"),
            $piece!("ymm", "32", "12", "13", "14", "16", "192", "15", "6", "7", "8"),
            $piece!("ymm", "32", "12", "13", "14", "24", "288", "15", "9", "10", "11"),
        )
    };
}
macro_rules! columns_8 {
    ($piece:ident) => {
        concat!(
            $piece!("zmm", "64", "24", "25", "26", "0", "0", "27", "0", "1", "2"),
            $piece!("zmm", "64", "24", "25", "26", "8", "192", "28", "3", "4", "5"),
            $piece!("zmm", "64", "24", "25", "26", "16", "384", "29", "6", "7", "8"),
            $piece!("zmm", "64", "24", "25", "26", "24", "576", "30", "9", "10", "11"),
            $piece!("zmm", "64", "24", "25", "26", "32", "768", "31", "12", "13", "14"),
            $piece!("zmm", "64", "24", "25", "26", "40", "960", "27", "15", "16", "17"),
            $piece!("zmm", "64", "24", "25", "26", "48", "1152", "28", "18", "19", "20"),
            $piece!("zmm", "64", "24", "25", "26", "56", "1344", "29", "21", "22", "23"),
        )
    };
}

/// The sums of a column are 0.
macro_rules! zero {
    ($mm:tt, $size:tt, $i:tt, $j:tt, $k:tt, $b:tt, $out:tt, $x:tt, $r:tt, $s:tt, $t:tt) => {
        concat!(zero!($mm, $r), zero!($mm, $s), zero!($mm, $t))
    };
    ("ymm", $r:tt) => {
        concat!("vpxor ymm", $r, ", ymm", $r, ", ymm", $r, "\n")
    };
    ("zmm", $r:tt) => {
        concat!("vpxorq zmm", $r, ", zmm", $r, ", zmm", $r, "\n")
    };
}

/// Adds the products of one, two or three rows of vectors with a column of b.
macro_rules! multiply_1 {
    ($mm:tt, $size:tt, $i:tt, $j:tt, $k:tt, $b:tt, $out:tt, $x:tt, $r:tt, $s:tt, $t:tt) => {
        concat!("vbroadcastsd ", $mm, $x, ", qword ptr [{b} + ", $b, "]\n", fused!($mm, $r, $i, $x))
    };
}
macro_rules! multiply_2 {
    ($mm:tt, $size:tt, $i:tt, $j:tt, $k:tt, $b:tt, $out:tt, $x:tt, $r:tt, $s:tt, $t:tt) => {
        concat!(multiply_1!($mm, $size, $i, $j, $k, $b, $out, $x, $r, $s, $t), fused!($mm, $s, $j, $x))
    };
}
macro_rules! multiply_3 {
    ($mm:tt, $size:tt, $i:tt, $j:tt, $k:tt, $b:tt, $out:tt, $x:tt, $r:tt, $s:tt, $t:tt) => {
        concat!(multiply_2!($mm, $size, $i, $j, $k, $b, $out, $x, $r, $s, $t), fused!($mm, $t, $k, $x))
    };
}
macro_rules! fused {
    ($mm:tt, $sum:tt, $row:tt, $x:tt) => {
        concat!("vfmadd231pd ", $mm, $sum, ", ", $mm, $row, ", ", $mm, $x, "\n")
    };
}

/// Writes the sums of one, two or three rows of vectors.
macro_rules! store_1 {
    ($mm:tt, $size:tt, $i:tt, $j:tt, $k:tt, $b:tt, $out:tt, $x:tt, $r:tt, $s:tt, $t:tt) => {
        concat!("vmovupd [{out} + ", $out, "], ", $mm, $r, "\n")
    };
}
macro_rules! store_2 {
    ($mm:tt, $size:tt, $i:tt, $j:tt, $k:tt, $b:tt, $out:tt, $x:tt, $r:tt, $s:tt, $t:tt) => {
        concat!(
            store_1!($mm, $size, $i, $j, $k, $b, $out, $x, $r, $s, $t),
            concat!("vmovupd [{out} + ", $out, " + ", $size, "], ", $mm, $s, "\n"),
        )
    };
}
macro_rules! store_3 {
    ($mm:tt, $size:tt, $i:tt, $j:tt, $k:tt, $b:tt, $out:tt, $x:tt, $r:tt, $s:tt, $t:tt) => {
        concat!(
            store_2!($mm, $size, $i, $j, $k, $b, $out, $x, $r, $s, $t),
            concat!("vmovupd [{out} + ", $out, " + 2*", $size, "], ", $mm, $t, "\n"),
        )
    };
}

/// The product of some rows of vectors with the transpose of one.
macro_rules! tile {
    ($name:ident, $lanes:literal, $columns:ident, $multiply:ident, $store:ident,
     [$($load:literal),*], [$($register:tt)*]) => {
        /// # Safety
        /// The processor has these vectors. There are as many rows as the name says of `depth`
        /// vectors at `a`, each `stride` vectors from the last, and `depth` vectors at `b`.
        #[inline(never)]
        unsafe fn $name(
            a: *const [f64; $lanes],
            stride: usize,
            b: *const [f64; $lanes],
            depth: usize,
            out: &mut Tile<$lanes>,
        ) {
            // SAFETY: reads what the caller warrants, writes the tile, and names the registers that it changes.
            unsafe {
                asm!(
                    "/* rows are {stride} apart */",
                    $columns!(zero),
                    "test {depth}, {depth}",
                    "jz 3f",
                    ".p2align 5",
                    "2:",
                    $($load,)*
                    $columns!($multiply),
                    "add {a}, {size}",
                    "add {b}, {size}",
                    "dec {depth}",
                    "jnz 2b",
                    "3:",
                    $columns!($store),
                    "vzeroupper",
                    a = inout(reg) a => _,
                    b = inout(reg) b => _,
                    depth = inout(reg) depth => _,
                    stride = in(reg) stride * 8 * $lanes,
                    out = in(reg) out.as_mut_ptr(),
                    size = const 8 * $lanes,
                    $(out($register) _,)*
                    options(nostack),
                );
            }
        }
    };
}

macro_rules! ymm_tile {
    ($name:ident, $multiply:ident, $store:ident, $($load:literal),*) => {
        tile!($name, 4, columns_4, $multiply, $store, [$($load),*], [
            "ymm0" "ymm1" "ymm2" "ymm3" "ymm4" "ymm5" "ymm6" "ymm7"
            "ymm8" "ymm9" "ymm10" "ymm11" "ymm12" "ymm13" "ymm14" "ymm15"
        ]);
    };
}
macro_rules! zmm_tile {
    ($name:ident, $multiply:ident, $store:ident, $($load:literal),*) => {
        tile!($name, 8, columns_8, $multiply, $store, [$($load),*], [
            "zmm0" "zmm1" "zmm2" "zmm3" "zmm4" "zmm5" "zmm6" "zmm7"
            "zmm8" "zmm9" "zmm10" "zmm11" "zmm12" "zmm13" "zmm14" "zmm15"
            "zmm16" "zmm17" "zmm18" "zmm19" "zmm20" "zmm21" "zmm22" "zmm23"
            "zmm24" "zmm25" "zmm26" "zmm27" "zmm28" "zmm29" "zmm30" "zmm31"
        ]);
    };
}

ymm_tile!(avx2_1, multiply_1, store_1, "vmovupd ymm12, [{a}]");
ymm_tile!(avx2_2, multiply_2, store_2, "vmovupd ymm12, [{a}]", "vmovupd ymm13, [{a} + {stride}]");
ymm_tile!(
    avx2_3,
    multiply_3,
    store_3,
    "vmovupd ymm12, [{a}]",
    "vmovupd ymm13, [{a} + {stride}]",
    "vmovupd ymm14, [{a} + 2*{stride}]"
);
zmm_tile!(avx512_1, multiply_1, store_1, "vmovupd zmm24, [{a}]");
zmm_tile!(avx512_2, multiply_2, store_2, "vmovupd zmm24, [{a}]", "vmovupd zmm25, [{a} + {stride}]");
zmm_tile!(
    avx512_3,
    multiply_3,
    store_3,
    "vmovupd zmm24, [{a}]",
    "vmovupd zmm25, [{a} + {stride}]",
    "vmovupd zmm26, [{a} + 2*{stride}]"
);

/// A processor with AVX2 and fused products.
#[derive(Clone, Copy)]
pub(crate) struct Avx2(());

impl Avx2 {
    /// Whether this is one.
    pub(crate) fn detect() -> Option<Self> {
        (is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma")).then_some(Self(()))
    }
}

/// A processor with AVX-512, and with AVX2 and fused products.
#[derive(Clone, Copy)]
pub(crate) struct Avx512(());

impl Avx512 {
    /// Whether this is one.
    pub(crate) fn detect() -> Option<Self> {
        (Avx2::detect().is_some() && is_x86_feature_detected!("avx512f")).then_some(Self(()))
    }
}

macro_rules! machine {
    ($machine:ident, $lanes:literal, $one:ident, $two:ident, $three:ident) => {
        impl Machine<$lanes> for $machine {
            #[inline(always)]
            fn tile(
                self,
                vectors: usize,
                a: &[[f64; $lanes]],
                stride: usize,
                b: &[[f64; $lanes]],
                depth: usize,
                out: &mut Tile<$lanes>,
            ) {
                check(vectors, a, stride, b, depth);
                // SAFETY: the instructions exist, or there were no `self`; the lengths were checked.
                unsafe {
                    match vectors {
                        1 => $one(a.as_ptr(), stride, b.as_ptr(), depth, out),
                        2 => $two(a.as_ptr(), stride, b.as_ptr(), depth, out),
                        _ => $three(a.as_ptr(), stride, b.as_ptr(), depth, out),
                    }
                }
            }

            #[inline(always)]
            fn mul_add(self, a: f64, b: f64, c: f64) -> f64 {
                a.mul_add(b, c)
            }

            #[inline]
            fn run<T: Task>(self, task: T) -> T::Output {
                #[target_feature(enable = "avx2,fma")]
                fn inside<T: Task>(task: T, machine: $machine) -> T::Output {
                    task.on(machine)
                }
                // SAFETY: the instructions exist, or there were no `self`.
                unsafe { inside(task, self) }
            }
        }
    };
}

machine!(Avx2, 4, avx2_1, avx2_2, avx2_3);
machine!(Avx512, 8, avx512_1, avx512_2, avx512_3);
