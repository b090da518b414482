//! The dense kernel of the factorisation: products of panels, a tile at a time.
//!
//! Rows of a panel are packed L at a time: `panel[v * stride + p]` holds column p of the rows
//! vL..vL + L. A tile is the product of up to three such rows of vectors with the transpose of one
//! more: 3L × L sums, each in its own lane of a register. With L the lanes of a vector there are
//! three loads of a, L of b and 3L fused products a step (24 of 8 lanes with AVX-512, 12 of 4 with
//! AVX2), so the arithmetic and not the loads sets the pace; packed so, either operand is read from
//! front to end, and the same packing serves for both (compare K. Goto, R. A. van de Geijn: Anatomy
//! of high-performance matrix multiplication, ACM Trans. Math. Softw. 34, 2008).
//!
//! Every sum is one chain of fused products in the order of columns: the kernels of AVX2 and of
//! AVX-512 give the same bits.
//!
//! A machine is a token that can be had only where its instructions exist, so that its methods are
//! safe to call.

/// Sums of a tile: column, vector of rows, row.
pub(crate) type Tile<const L: usize> = [[[f64; L]; 3]; L];

/// A processor with vectors of `L` lanes, or one that is taken for such.
pub(crate) trait Machine<const L: usize>: Copy {
    /// `out` ← the product of `vectors` ≤ 3 packed rows of vectors with the transpose of `b`, over
    /// `depth` columns. What else is in `out` is anything.
    fn tile(self, vectors: usize, a: &[[f64; L]], stride: usize, b: &[[f64; L]], depth: usize, out: &mut Tile<L>);

    /// ab + c, rounded once where the processor can.
    fn mul_add(self, a: f64, b: f64, c: f64) -> f64;

    /// Runs a task compiled for this machine.
    fn run<T: Task>(self, task: T) -> T::Output;
}

/// Something to be compiled for each machine.
pub(crate) trait Task {
    /// What it returns.
    type Output;
    /// Does it. To be inlined, so that it is compiled with the instructions of the machine.
    fn on<const L: usize, M: Machine<L>>(self, machine: M) -> Self::Output;
}

/// One of all machines.
#[derive(Clone, Copy)]
pub(crate) enum Any {
    Portable(Portable),
    #[cfg(target_arch = "x86_64")]
    Avx2(crate::x86::Avx2),
    #[cfg(target_arch = "x86_64")]
    Avx512(crate::x86::Avx512),
}

impl Default for Any {
    /// The best that there is here.
    fn default() -> Self {
        Self::all().next().unwrap_or(Self::Portable(Portable))
    }
}

impl Any {
    /// All that there are here, the best first.
    #[cfg(target_arch = "x86_64")]
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        let long = crate::x86::Avx512::detect().map(Self::Avx512);
        let short = crate::x86::Avx2::detect().map(Self::Avx2);
        [long, short, Some(Self::Portable(Portable))].into_iter().flatten()
    }

    /// All that there are here.
    #[cfg(not(target_arch = "x86_64"))]
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        [Self::Portable(Portable)].into_iter()
    }

    /// Runs a task compiled for this machine.
    pub(crate) fn run<T: Task>(self, task: T) -> T::Output {
        match self {
            Self::Portable(machine) => machine.run(task),
            #[cfg(target_arch = "x86_64")]
            Self::Avx2(machine) => machine.run(task),
            #[cfg(target_arch = "x86_64")]
            Self::Avx512(machine) => machine.run(task),
        }
    }
}

/// Panics unless the operands of a tile are as long as they have to be.
#[inline(always)]
pub(crate) fn check<const L: usize>(vectors: usize, a: &[[f64; L]], stride: usize, b: &[[f64; L]], depth: usize) {
    assert!((1..=3).contains(&vectors) && (vectors - 1) * stride + depth <= a.len() && depth <= b.len());
}

/// Any processor.
#[derive(Clone, Copy)]
pub(crate) struct Portable;

impl Machine<4> for Portable {
    #[inline(always)]
    fn tile(self, vectors: usize, a: &[[f64; 4]], stride: usize, b: &[[f64; 4]], depth: usize, out: &mut Tile<4>) {
        check(vectors, a, stride, b, depth);
        for v in 0..vectors {
            let mut sum = [[0.0; 4]; 4];
            for (a, b) in a[v * stride..v * stride + depth].iter().zip(b) {
                for c in 0..4 {
                    for r in 0..4 {
                        sum[c][r] = self.mul_add(a[r], b[c], sum[c][r]);
                    }
                }
            }
            for c in 0..4 {
                out[c][v] = sum[c];
            }
        }
    }

    #[inline(always)]
    fn mul_add(self, a: f64, b: f64, c: f64) -> f64 {
        // Without the instruction, a fused product is a call of a slow function.
        if cfg!(any(target_feature = "fma", target_arch = "aarch64")) { a.mul_add(b, c) } else { a * b + c }
    }

    #[inline(always)]
    fn run<T: Task>(self, task: T) -> T::Output {
        task.on(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares the tiles of a machine with plain sums.
    struct Compare;

    impl Task for Compare {
        type Output = Vec<u64>;
        #[inline(always)]
        fn on<const L: usize, M: Machine<L>>(self, machine: M) -> Vec<u64> {
            let number = |k: usize| ((k * 37 + 11) % 101) as f64 / 7.0 - 6.3;
            let mut bits = Vec::new();
            for (depth, vectors) in [(0, 1), (1, 1), (2, 2), (3, 3), (17, 3), (40, 2), (40, 3)] {
                let stride = depth + 2;
                // Element (row, column) does not depend on the lanes.
                let pack = |rows: usize, shift: usize| -> Vec<[f64; L]> {
                    let place = |v: usize, p: usize, r: usize| number(97 * (v * L + r) + 13 * p + shift);
                    let at = |k: usize| std::array::from_fn(|r| place(k / stride, k % stride, r));
                    (0..rows * stride).map(at).collect()
                };
                let (a, b) = (pack(3, 0), pack(1, 5));
                let mut out = [[[f64::NAN; L]; 3]; L];
                machine.tile(vectors, &a, stride, &b, depth, &mut out);
                for row in 0..vectors * L {
                    for c in 0..L {
                        let terms = (0..depth).map(|p| a[row / L * stride + p][row % L] * b[p][c]);
                        let sum = out[c][row / L][row % L];
                        assert!((sum - terms.sum::<f64>()).abs() < 1e-10);
                        if row < 4 && c < 4 {
                            bits.push(sum.to_bits());
                        }
                    }
                }
            }
            bits
        }
    }

    #[test]
    fn tiles_are_products() {
        Any::all().for_each(|machine| drop(machine.run(Compare)));
    }

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn vectors_of_any_length_give_the_same_bits() {
        let (Some(long), Some(short)) = (crate::x86::Avx512::detect(), crate::x86::Avx2::detect()) else { return };
        assert_eq!(long.run(Compare), short.run(Compare));
    }
}
