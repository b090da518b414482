//! Memory that is kept between steps, and fetched before it is needed.

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
