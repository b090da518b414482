//! No allocation in the steady state of a step: memory is found once and kept.
//!
//! A program of its own, since it counts every allocation of the process; the steps run on a
//! pool of one thread so that nothing else is counted.

mod common;

use barchan::step::Simulation;
use common::{run, simulation};
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

static WATCHING: AtomicBool = AtomicBool::new(false);
static COUNT: AtomicUsize = AtomicUsize::new(0);

/// The system's allocator, counting.
struct Counting;

fn count() {
    if WATCHING.load(Ordering::Relaxed) {
        COUNT.fetch_add(1, Ordering::Relaxed);
    }
}

// SAFETY: everything is handed on to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(pointer, layout) }
    }
    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        // SAFETY: as the caller promises.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Allocations of twenty steps of a settled bed.
fn allocations(broad_phase: &str, solver: &str, order: &str) -> usize {
    allocations_with(broad_phase, solver, order, |_| {}, &[])
}

/// The same of a bed to which something was done before it settled, with more overrides.
fn allocations_with(
    broad_phase: &str,
    solver: &str,
    order: &str,
    change: impl Fn(&mut Simulation) + Sync,
    more: &[(&'static str, &str)],
) -> usize {
    let mut overrides = vec![
        ("bodies", "300".to_owned()),
        ("broad_phase.name", broad_phase.into()),
        ("solver.name", solver.into()),
        ("solver.accelerated-gs.order", order.into()),
        // A re-ordering makes new columns; it is rare and not part of the steady state.
        ("broad_phase.reorder_interval", "0".into()),
    ];
    overrides.extend(more.iter().map(|&(key, value)| (key, value.to_owned())));
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a pool");
    pool.install(|| {
        let mut bed = simulation("sedimentation", &overrides);
        change(&mut bed);
        run(&mut bed, 800);
        COUNT.store(0, Ordering::Relaxed);
        WATCHING.store(true, Ordering::Relaxed);
        let reports: [_; 20] = std::array::from_fn(|_| bed.step());
        WATCHING.store(false, Ordering::Relaxed);
        for report in reports {
            assert!(report.expect("a finite state").contacts > 400, "the bed has settled");
        }
        COUNT.load(Ordering::Relaxed)
    })
}

/// One test for all broad phases and solvers: the count is the whole program's.
#[test]
fn a_step_of_a_settled_bed_allocates_nothing() {
    for broad_phase in ["octree", "grid", "sweep-and-prune", "brute-force"] {
        assert_eq!(allocations(broad_phase, "auto", "coloured"), 0, "{broad_phase}");
    }
    for (solver, order) in
        [("apgd", "coloured"), ("accelerated-gs", "split"), ("nbgs", "coloured"), ("jacobi", "coloured")]
    {
        assert_eq!(allocations("octree", solver, order), 0, "{solver}, {order}");
    }
    // One has escaped, and the scene looks for such.
    let escape = |bed: &mut Simulation| bed.world.bodies.position[150].z = 1e9;
    let cell =
        [("domain.min", "[-1e10, -1e10, -1e10]"), ("domain.max", "[1e10, 1e10, 1e10]"), ("domain.outside", "remove")];
    for broad_phase in ["octree", "grid", "sweep-and-prune"] {
        assert_eq!(allocations_with(broad_phase, "auto", "coloured", escape, &cell), 0, "{broad_phase}, one far away");
    }
    // Joints, which take one block.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a pool");
    let of_chain = pool.install(|| {
        let mut chain = simulation("chain", &[("links", "12".into()), ("broad_phase.reorder_interval", "0".into())]);
        run(&mut chain, 300);
        COUNT.store(0, Ordering::Relaxed);
        WATCHING.store(true, Ordering::Relaxed);
        let reports: [_; 20] = std::array::from_fn(|_| chain.step());
        WATCHING.store(false, Ordering::Relaxed);
        assert!(reports.iter().all(|report| report.as_ref().is_ok_and(|report| report.solver.iterations > 0)));
        COUNT.load(Ordering::Relaxed)
    });
    assert_eq!(of_chain, 0, "a chain");
    // And the counter counts.
    WATCHING.store(true, Ordering::Relaxed);
    let before = COUNT.load(Ordering::Relaxed);
    let vector = std::hint::black_box(vec![1u8; 100]);
    assert!(COUNT.load(Ordering::Relaxed) > before && vector.len() == 100);
}
