//! Memory that is kept between steps, and fetched before it is needed.

use std::sync::{Mutex, PoisonError};

/// Grows a vector's capacity a little beyond what is needed: the number of contacts creeps up
/// from step to step, and doubling would waste memory where there are millions.
pub fn reserve_with_slack<T>(v: &mut Vec<T>, needed: usize) {
    if v.capacity() < needed {
        let target = needed + needed / 16;
        v.reserve_exact(target.saturating_sub(v.len()));
    }
}

/// Sets the length of a vector whose every element will be written, without clearing it first.
pub fn reshape<T: Copy + Default>(v: &mut Vec<T>, len: usize) {
    if v.capacity() < len {
        v.clear();
        reserve_with_slack(v, len);
    }
    v.resize(len, T::default());
}

/// Scratch of tasks that run side by side, lent to one task at a time: as much of it as there are threads,
/// where a copy a task would cost memory that grows with the problem.
#[derive(Debug, Default)]
pub struct ScratchPool<T>(Mutex<Vec<T>>);

impl<T: Default + Send> ScratchPool<T> {
    /// Makes sure that there is one for every thread, and calls `reserve` for each, so that no task asks for memory.
    pub fn prepare(&mut self, reserve: impl FnMut(&mut T)) {
        let all = self.0.get_mut().unwrap_or_else(PoisonError::into_inner);
        all.resize_with(rayon::current_num_threads().max(all.len()), T::default);
        all.iter_mut().for_each(reserve);
    }

    /// Lends one to `task`, which must not rely on what it holds.
    pub fn lend<R>(&self, task: impl FnOnce(&mut T) -> R) -> R {
        let take = || self.0.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut scratch = take().unwrap_or_default();
        let result = task(&mut scratch);
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(scratch);
        result
    }
}

/// Asks the processor to fetch an element, up to 128 bytes long, that is needed soon.
#[inline(always)]
pub fn prefetch<T>(slice: &[T], i: usize) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let start = slice.as_ptr().wrapping_add(i).cast::<i8>();
        // SAFETY: a prefetch reads nothing that the program can see, whatever the address.
        unsafe {
            _mm_prefetch::<_MM_HINT_T0>(start);
            _mm_prefetch::<_MM_HINT_T0>(start.wrapping_add(size_of::<T>() - 1));
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (slice, i);
}
