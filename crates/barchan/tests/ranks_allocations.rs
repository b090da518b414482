//! No allocation in the steady state of ranks: buffers go round.
//!
//! A program of its own, since it counts every allocation of the process.

use barchan::comm::{Communicator, Reduction, threads};
use barchan::scenario;
use barchan::step::Simulation;
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

fn of_the_communicator() -> Vec<usize> {
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
    counts.unwrap()
}

/// Allocations of twenty steps of a settled bed on two ranks.
fn of_steps(solver: &str) -> Vec<usize> {
    let set = [
        ("bodies", "300"),
        ("solver.name", solver),
        ("domain.partition", "cartesian"),
        ("domain.blocks", "[2, 1, 1]"),
        // A re-ordering makes new columns; it is rare, and not part of the steady state.
        ("broad_phase.reorder_interval", "0"),
    ];
    let set: Vec<_> = set.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    let scene = scenario::find("sedimentation").unwrap().scene(&set).unwrap();
    let counts = threads::run(2, 1, |comm| {
        let mut simulation = Simulation::on_ranks(&scene, comm).unwrap();
        (0..800).for_each(|_| drop(simulation.step().unwrap()));
        let barrier = |simulation: &mut Simulation| simulation.comm().barrier();
        barrier(&mut simulation);
        let mut least = usize::MAX;
        let mut contacts = [0; 20];
        // A rank that runs ahead may need a sheet more for its messages, once.
        for _ in 0..3 {
            let before = COUNT.load(Ordering::Relaxed);
            barrier(&mut simulation);
            contacts = std::array::from_fn(|_| simulation.step().map_or(0, |report| report.contacts));
            barrier(&mut simulation);
            least = least.min(COUNT.load(Ordering::Relaxed) - before);
            barrier(&mut simulation);
        }
        assert!(contacts.iter().all(|&contacts| contacts > 400), "{contacts:?}");
        assert!(simulation.domain().unwrap().shared() > 5);
        least
    });
    counts.unwrap()
}

/// One test for all: the count is the whole program's.
#[test]
fn ranks_allocate_nothing() {
    assert_eq!(of_the_communicator(), [0; 4]);
    for solver in ["auto", "apgd", "nbgs"] {
        assert_eq!(of_steps(solver), [0; 2], "{solver}");
    }
}
