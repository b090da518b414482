//! No allocation in the steady state of ranks on threads: buffers go round.
//!
//! A program of its own, since it counts every allocation of the process.

use barchan::comm::{Communicator, Reduction, threads};
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

static COUNT: AtomicUsize = AtomicUsize::new(0);

/// The system's allocator, counting.
struct Counting;

// SAFETY: everything is handed on to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.fetch_add(1, Ordering::Relaxed);
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(pointer, layout) }
    }
    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        COUNT.fetch_add(1, Ordering::Relaxed);
        // SAFETY: as the caller promises.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// What a step does: messages of changing sizes, and a reduction.
fn turn(comm: &mut dyn Communicator, others: &[u32], outgoing: &mut [Vec<u8>], incoming: &mut [Vec<u8>], step: usize) {
    for (k, bytes) in outgoing.iter_mut().enumerate() {
        bytes.clear();
        bytes.resize(100 * ((step + k) % 7), step as u8);
    }
    comm.exchange(others, outgoing, incoming);
    comm.all_reduce(Reduction::Max, &mut [1.0, 2.0]);
}

#[test]
fn exchanges_and_reductions_allocate_nothing() {
    let counts = threads::run(4, 1, |mut comm| {
        let others: Vec<_> = (0..4).filter(|r| *r as usize != comm.rank()).collect();
        let (mut outgoing, mut incoming) = (vec![vec![]; 3], vec![vec![]; 3]);
        // All buffers have come round by then.
        (0..200).for_each(|step| turn(comm.as_mut(), &others, &mut outgoing, &mut incoming, step));
        comm.barrier();
        let before = COUNT.load(Ordering::Relaxed);
        comm.barrier();
        (0..100).for_each(|step| turn(comm.as_mut(), &others, &mut outgoing, &mut incoming, step));
        comm.barrier();
        let after = COUNT.load(Ordering::Relaxed);
        comm.barrier();
        after - before
    });
    assert_eq!(counts, Ok(vec![0; 4]));
}
