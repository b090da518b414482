//! Parallel loops whose result does not depend on the number of threads.
//!
//! Work is cut into chunks of a fixed length; a chunk is done by one thread in order, partial
//! results land in a slot of the chunk's own, and slots are folded in order afterwards. Which
//! thread took which chunk leaves no trace in any sum.

use rayon::prelude::*;
use std::marker::PhantomData;
use std::ops::Range;

/// Items a chunk: long enough to hide the cost of a task (about 5 µs), short enough that a
/// bed of 25 000 bodies feeds sixteen threads.
pub const CHUNK: usize = 1024;

/// The `k`-th range of length `chunk` out of `0..n`.
#[inline]
pub fn chunk_range(k: usize, chunk: usize, n: usize) -> Range<usize> {
    k * chunk..((k + 1) * chunk).min(n)
}

/// Runs `body` on every chunk of `0..n`.
pub fn for_chunks(n: usize, chunk: usize, body: impl Fn(Range<usize>) + Sync + Send) {
    let count = n.div_ceil(chunk);
    if count <= 1 {
        if n > 0 {
            body(0..n);
        }
        return;
    }
    (0..count).into_par_iter().for_each(|k| body(chunk_range(k, chunk, n)));
}

/// Slices of one length that are cut together: one, or a tuple of several.
pub trait Columns: Send + Sized {
    /// How many elements each has.
    ///
    /// # Panics
    /// If their lengths differ.
    fn length(&self) -> usize;

    /// Cuts all of them at one place.
    fn cut(self, at: usize) -> (Self, Self);
}

impl<T: Send> Columns for &mut [T] {
    fn length(&self) -> usize {
        self.len()
    }

    fn cut(self, at: usize) -> (Self, Self) {
        self.split_at_mut(at)
    }
}

macro_rules! columns {
    ($($name:ident $part:ident),*) => {
        impl<$($name: Columns),*> Columns for ($($name,)*) {
            fn length(&self) -> usize {
                let ($($part,)*) = self;
                let lengths = [$($part.length()),*];
                assert!(lengths.iter().all(|length| *length == lengths[0]), "columns of different lengths: {lengths:?}");
                lengths[0]
            }

            fn cut(self, at: usize) -> (Self, Self) {
                let ($($part,)*) = self;
                $(let $part = $part.cut(at);)*
                (($($part.0,)*), ($($part.1,)*))
            }
        }
    };
}
columns!(A a, B b);
columns!(A a, B b, C c, D d);

/// Runs `body` on every chunk of a slice, or of several at once: the range of its indices, and the chunk.
pub fn for_chunks_mut<C: Columns>(columns: C, chunk: usize, body: impl Fn(Range<usize>, C) + Sync + Send) {
    fn halves<C: Columns>(columns: C, start: usize, chunk: usize, body: &(impl Fn(Range<usize>, C) + Sync + Send)) {
        let n = columns.length();
        if n <= chunk {
            return body(start..start + n, columns);
        }
        let middle = n.div_ceil(chunk) / 2 * chunk;
        let (low, high) = columns.cut(middle);
        rayon::join(|| halves(low, start, chunk, body), || halves(high, start + middle, chunk, body));
    }
    if columns.length() > 0 {
        halves(columns, 0, chunk, &body);
    }
}

/// Runs `body` on every chunk of a slice and folds the partial results in chunk order. `slots` is scratch.
pub fn fold_chunks_mut<T: Send, R: Copy + Send + Sync>(
    slice: &mut [T],
    chunk: usize,
    slots: &mut Vec<R>,
    zero: R,
    body: impl Fn(Range<usize>, &mut [T]) -> R + Sync + Send,
    fold: impl Fn(R, R) -> R,
) -> R {
    let n = slice.len();
    slots.clear();
    slots.resize(n.div_ceil(chunk), zero);
    if slots.len() == 1 {
        slots[0] = body(0..n, slice);
    } else {
        let parts = slice.par_chunks_mut(chunk).zip(slots.par_iter_mut()).enumerate();
        parts.for_each(|(k, (part, slot))| *slot = body(chunk_range(k, chunk, n), part));
    }
    slots.iter().fold(zero, |sum, &part| fold(sum, part))
}

/// Runs `body` on every chunk of `0..n` and folds the partial results in chunk order.
///
/// `slots` is scratch that keeps its capacity between calls.
pub fn fold_chunks<T: Copy + Send + Sync>(
    n: usize,
    chunk: usize,
    slots: &mut Vec<T>,
    zero: T,
    body: impl Fn(Range<usize>) -> T + Sync + Send,
    fold: impl Fn(T, T) -> T,
) -> T {
    let count = n.div_ceil(chunk);
    slots.clear();
    slots.resize(count, zero);
    if count == 1 {
        slots[0] = body(0..n);
    } else {
        slots.par_iter_mut().enumerate().for_each(|(k, slot)| *slot = body(chunk_range(k, chunk, n)));
    }
    slots.iter().fold(zero, |sum, &part| fold(sum, part))
}

/// Replaces `counts` by its exclusive prefix sum and returns the total.
pub fn exclusive_scan(counts: &mut [u32]) -> usize {
    let mut sum = 0u64;
    for c in counts {
        let n = *c;
        *c = u32::try_from(sum).expect("more than 2^32 entries in one list");
        sum += u64::from(n);
    }
    usize::try_from(sum).expect("a list longer than memory")
}

/// A slice that several threads write at indices which they know to be disjoint.
#[derive(Clone, Copy)]
pub struct Disjoint<'a, T> {
    start: *mut T,
    len: usize,
    _borrow: PhantomData<&'a mut [T]>,
}

// SAFETY: all access goes through the unsafe methods below, whose callers promise disjointness.
unsafe impl<T: Send> Send for Disjoint<'_, T> {}
// SAFETY: as above.
unsafe impl<T: Send> Sync for Disjoint<'_, T> {}

impl<'a, T> Disjoint<'a, T> {
    /// Borrows `slice` for disjoint writes.
    pub fn new(slice: &'a mut [T]) -> Self {
        Self { start: slice.as_mut_ptr(), len: slice.len(), _borrow: PhantomData }
    }

    /// Writes one element.
    ///
    /// # Safety
    /// `i` is in bounds, and no other thread reads or writes it while this borrow lives.
    #[inline]
    pub unsafe fn write(&self, i: usize, value: T) {
        debug_assert!(i < self.len);
        // SAFETY: the caller promises that `i` is in bounds and nobody else touches it.
        unsafe { *self.start.add(i) = value }
    }

    /// Reads one element.
    ///
    /// # Safety
    /// `i` is in bounds, and no other thread writes it while the result lives.
    #[inline]
    pub unsafe fn get(&self, i: usize) -> &T {
        debug_assert!(i < self.len);
        // SAFETY: the caller promises that `i` is in bounds and nobody else writes it.
        unsafe { &*self.start.add(i) }
    }

    /// Borrows a range mutably.
    ///
    /// # Safety
    /// No other thread touches any index of `range` while the result lives.
    #[inline]
    #[allow(clippy::mut_from_ref)]
    pub unsafe fn range(&self, range: Range<usize>) -> &mut [T] {
        assert!(range.start <= range.end && range.end <= self.len);
        // SAFETY: in bounds by the assertion; the caller promises disjointness.
        unsafe { std::slice::from_raw_parts_mut(self.start.add(range.start), range.end - range.start) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folding_is_the_same_on_any_number_of_threads() {
        let values: Vec<f64> = (0..100_000).map(|i| (f64::from(i) * 0.37).sin()).collect();
        let sum = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let body = |r: Range<usize>| values[r].iter().sum::<f64>();
                fold_chunks(values.len(), CHUNK, &mut Vec::new(), 0.0, body, |a, b| a + b)
            })
        };
        let one = sum(1);
        assert!([2, 3, 8].iter().all(|&t| sum(t).to_bits() == one.to_bits()));
    }

    #[test]
    fn columns_are_cut_together() {
        for n in [0, 1, 7, 8, 1000] {
            let (mut a, mut b) = (vec![0; n], vec![0.0; n]);
            for_chunks_mut((&mut a[..], &mut b[..]), 8, |range, (a, b)| {
                assert!(range.start % 8 == 0 && range.len() <= 8);
                for ((a, b), i) in a.iter_mut().zip(b).zip(range) {
                    (*a, *b) = (i, 2.0 * i as f64);
                }
            });
            assert!((0..n).all(|i| a[i] == i && b[i] == 2.0 * i as f64));
        }
    }

    #[test]
    #[should_panic(expected = "columns of different lengths: [3, 2]")]
    fn columns_of_different_lengths_are_an_error() {
        for_chunks_mut((&mut [0; 3][..], &mut [0; 2][..]), 8, |_, _| ());
    }

    #[test]
    fn scan_is_exclusive() {
        let mut counts = [3, 0, 2, 1];
        assert_eq!(exclusive_scan(&mut counts), 6);
        assert_eq!(counts, [0, 3, 3, 5]);
    }
}
