//! Bodies of every shape on ranks against the same in one process.

use crate::heap::{assert_all_kinds, moving_heap};
use crate::ranks::{fastest, largest_difference, scene_on_ranks, treated};
use barchan::DVec3;
use barchan::cone::solver::{Friction, SolverName};
use barchan::dynamics::Integrator;
use barchan::partition::{PartitionName, Periods};
use barchan::scene::{Lattice, Orientation, Scene};
use barchan::shape::{Mesh, Shape, Surface};
use barchan::step::Simulation;
use barchan::world::Motion;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

/// The law under which velocities are unique, solved to many digits.
fn exactly(mut scene: Scene) -> Scene {
    scene.time.step = 1e-3.into();
    scene.time.integrator = Integrator::Euler;
    scene.contact.slip_rounding = 0.0;
    scene.solver.name = SolverName::Apgd;
    scene.solver.friction = Some(Friction::Associated);
    scene.solver.tolerance = 1e-9;
    scene.solver.max_iterations = 20_000;
    scene
}

/// Contacts that this rank treats and that are not between bodies of its own alone, by ids.
fn across_ranks(simulation: &mut Simulation) -> Vec<[u64; 2]> {
    let Some(domain) = simulation.domain() else { return Vec::new() };
    let rank = domain.rank() as u32;
    let ghosts: BTreeSet<u64> = domain.shared_bodies().filter(|body| body.owner != rank).map(|body| body.id).collect();
    treated(simulation).into_iter().filter(|pair| pair.iter().any(|id| ghosts.contains(id))).collect()
}

#[test]
fn every_shape_is_the_same_on_any_number_of_ranks() {
    let mut scene = exactly(moving_heap(40));
    let steps = 30;
    let one = scene_on_ranks(&scene, 1, 1, steps, |_, _| ());
    assert_all_kinds(one.contacts.iter().copied(), 30);
    assert!(one.converged);
    let mut migrations = 0;
    let across = Mutex::new(Vec::new());
    for partition in [PartitionName::Cartesian, PartitionName::Morton] {
        scene.domain.partition = partition;
        for ranks in [2, 3, 5, 8] {
            let there = scene_on_ranks(&scene, ranks, 1, steps, |simulation, _| {
                across.lock().unwrap().extend(across_ranks(simulation));
            });
            let (position, velocity) = largest_difference(&one, &there, &Periods::default());
            println!("{partition:?} {ranks}: {position:.1e}, {velocity:.1e}, {} migrations", there.migrations);
            assert_eq!(there.contacts, one.contacts, "{partition:?} {ranks}");
            assert!(position < 1e-6 && velocity < 1e-4 * fastest(&one), "{partition:?} {ranks}: {velocity:e}");
            migrations += there.migrations;
        }
    }
    assert!(migrations > 20, "{migrations} migrations");
    let across = across.into_inner().unwrap();
    println!("{} contacts across ranks", across.len());
    assert!(across.len() > 1000);
}

/// The one mesh of all bodies of a rank, if it has any.
fn the_mesh(simulation: &Simulation) -> Option<Arc<Mesh>> {
    let mut meshes = simulation.world.bodies.shape().iter().filter_map(|shape| match shape {
        Shape::Mesh(mesh) => Some(mesh),
        _ => None,
    });
    let first = meshes.next()?;
    assert!(meshes.all(|mesh| Arc::ptr_eq(mesh, first)), "a rank has the mesh twice");
    Some(first.clone())
}

/// What a rank had after the last step.
#[derive(Default)]
struct Known {
    bodies: BTreeSet<u64>,
    mesh: Option<Arc<Mesh>>,
}

/// Bytes of the corners and triangles of a ball.
const BALL: u64 = 642 * 24 + 1280 * 12;

#[test]
fn a_mesh_of_many_bodies_is_sent_once() {
    let mut scene = Scene { gravity: DVec3::ZERO, ..Scene::default() };
    // They fly through each other, and nothing has to be solved.
    let motion = Motion::Kinematic;
    let lattice = Lattice {
        motion,
        velocity_jitter: 30.0,
        orientation: Some(Orientation::Random),
        ..Lattice::cubic([6, 6, 6], 0.3, 1.0)
    };
    scene.lattice = vec![lattice.of(Shape::mesh(Surface::sphere(0.04, 3)))];
    (scene.domain.min, scene.domain.max) = (Some(DVec3::splat(-0.2)), Some(DVec3::splat(1.7)));
    scene.domain.periodic = [true; 3];
    (scene.domain.balance_interval, scene.domain.imbalance) = (7, 1.0);
    scene.time.step = 1e-3.into();
    for partition in [PartitionName::Cartesian, PartitionName::Morton] {
        scene.domain.partition = partition;
        let (arrivals, bytes) = (AtomicUsize::new(0), AtomicU64::new(0));
        let known: [Mutex<Known>; 4] = Default::default();
        let there = scene_on_ranks(&scene, 4, 1, 60, |simulation, _| {
            let domain = simulation.domain().unwrap();
            bytes.fetch_max(domain.traffic().bytes, Ordering::Relaxed);
            let mut known = known[domain.rank()].lock().unwrap();
            let mesh = the_mesh(simulation);
            assert!(mesh.as_ref().zip(known.mesh.as_ref()).is_none_or(|(a, b)| Arc::ptr_eq(a, b)));
            known.mesh = mesh.or(known.mesh.take());
            let here: BTreeSet<u64> = simulation.world.bodies.id().iter().copied().collect();
            if !known.bodies.is_empty() {
                arrivals.fetch_add(here.difference(&known.bodies).count(), Ordering::Relaxed);
            }
            known.bodies = here;
        });
        let (arrivals, bytes) = (arrivals.into_inner() as u64, bytes.into_inner());
        println!("{partition:?}: {arrivals} arrivals, {} migrations, {bytes} bytes of one rank", there.migrations);
        assert!(arrivals > 400 && there.migrations > 100, "{arrivals} and {}", there.migrations);
        assert!(bytes < arrivals / 4 * BALL / 3, "{bytes} bytes for {arrivals} arrivals");
    }
}
