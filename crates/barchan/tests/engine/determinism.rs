//! The same to the last bit: for any number of threads, for any broad phase, run after run.

use super::common::{run, simulation};
use super::heap::{assert_all_kinds, contacts_by_id, moving_heap};
use barchan::DVec3;
use barchan::broad::BroadPhaseName;
use barchan::step::Simulation;

const BODIES: usize = 1500;
const STEPS: usize = 200;

/// Spheres that have fallen half a box: many in contact, some in flight.
fn bed(overrides: &[(&str, &str)]) -> Simulation {
    let mut all = vec![("bodies", BODIES.to_string())];
    all.extend(overrides.iter().map(|(key, value)| (*key, (*value).to_owned())));
    simulation("sedimentation", &all)
}

/// The hash after some steps on a number of threads, with the contacts of the last step.
fn hash_on(threads: usize, overrides: &[(&str, &str)]) -> (u64, usize) {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
    pool.install(|| {
        let mut bed = bed(overrides);
        run(&mut bed, STEPS);
        let contacts = bed.step().expect("a finite state").contacts;
        (bed.world.state_hash(), contacts)
    })
}

#[test]
fn the_number_of_threads_leaves_no_trace() {
    let (hash, contacts) = hash_on(1, &[]);
    assert!(contacts > BODIES / 2, "real contacts: {contacts}");
    for threads in [2, 3, 8] {
        assert_eq!(hash_on(threads, &[]), (hash, contacts), "{threads} threads");
    }
    assert_eq!(hash_on(1, &[]), (hash, contacts), "a second run");
    // The hash is worth something: another seed gives another.
    assert_ne!(hash_on(2, &[("seed", "1")]).0, hash);
}

/// The lengths of the steps of a flow, and the state after them.
fn flow_on(threads: usize, poses: bool) -> (Vec<f64>, u64) {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
    pool.install(|| {
        let set = [("nx", "5"), ("ny", "4"), ("nz", "5")].map(|(key, value)| (key, value.to_owned()));
        let mut flow = simulation("slope", &set);
        let mut lengths = Vec::new();
        for step in 0..300 {
            if poses && step % 7 == 0 {
                flow.pose();
            }
            if step == 200 {
                // Far too fast for the step before: contacts show it.
                let top = flow.world.bodies.index_of(119).expect("a grain of the highest layer");
                flow.world.bodies.velocity[top] = DVec3::new(0.0, 0.0, -40.0);
            }
            lengths.push(flow.step().expect("a finite state").length);
        }
        (lengths, flow.world.state_hash())
    })
}

#[test]
fn chosen_steps_are_the_same_on_any_number_of_threads() {
    let one = flow_on(1, false);
    let shortest = one.0.iter().copied().fold(f64::INFINITY, f64::min);
    assert!(one.0[199] > 1.5e-4 && shortest < 5e-5, "{:?}", one.0);
    for (threads, poses) in [(2, false), (3, true), (1, true)] {
        assert_eq!(flow_on(threads, poses), one, "{threads} threads, poses {poses}");
    }
}

#[test]
fn the_broad_phase_leaves_no_trace() {
    let octree = hash_on(2, &[("broad_phase.name", "octree")]);
    for name in ["grid", "sweep-and-prune", "brute-force"] {
        assert_eq!(hash_on(2, &[("broad_phase.name", name)]), octree, "{name}");
    }
}

/// Re-ordering changes the order of sums, so bits may differ: by rounding and no more, as long as
/// the motion is not yet chaotic.
#[test]
fn the_order_of_bodies_changes_nothing_but_rounding() {
    // A few layers just above the floor, thrown down: contacts from the first steps on.
    let positions = |interval: &str| -> Vec<DVec3> {
        let mut bed = bed(&[("broad_phase.reorder_interval", interval), ("solver.tolerance", "1e-9")]);
        for v in &mut bed.world.bodies.velocity {
            if *v == DVec3::ZERO {
                *v = DVec3::new(0.0, 0.0, -2.0);
            }
        }
        run(&mut bed, 20);
        assert!(bed.step().expect("a finite state").contacts > 100);
        let bodies = &bed.world.bodies;
        (0..BODIES as u64 + 1).map(|id| bodies.position[bodies.index_of(id).expect("a body")]).collect()
    };
    let never = positions("0");
    for interval in ["1", "7"] {
        let farthest = positions(interval).iter().zip(&never).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max);
        assert!(farthest < 1e-6, "interval {interval}: {farthest}");
    }
}

/// Every shape in one scene.
#[test]
fn shapes_are_the_same_on_any_number_of_threads_and_by_any_broad_phase() {
    let mut scene = moving_heap(40);
    let mut hash = |threads: usize, name: BroadPhaseName| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
        scene.broad_phase.name = name;
        pool.install(|| {
            let mut simulation = Simulation::from_scene(&scene).expect("a sound scene");
            run(&mut simulation, 100);
            assert_all_kinds(contacts_by_id(&simulation), 30);
            (simulation.world.state_hash(), simulation.contacts().len())
        })
    };
    let one = hash(1, BroadPhaseName::Octree);
    for (name, ..) in BroadPhaseName::ALL {
        for threads in [1, 2, 16] {
            assert_eq!(hash(threads, *name), one, "{name:?} on {threads} threads");
        }
    }
}

/// A machine that digs, after some steps on a number of threads: the state, and what its joints bear.
fn dug_on(threads: usize) -> (u64, String) {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
    pool.install(|| {
        let mut digger = simulation("excavator", &[("bodies", "300".into()), ("radius", "0.035".into())]);
        run(&mut digger, 250);
        (digger.world.state_hash(), format!("{:?}", digger.world.joints))
    })
}

#[test]
fn joints_leave_no_trace_of_threads() {
    let one = dug_on(1);
    assert!(one.1.contains("effort"));
    for threads in [2, 8] {
        assert_eq!(dug_on(threads), one, "{threads} threads");
    }
}
