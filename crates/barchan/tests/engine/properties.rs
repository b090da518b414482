//! What must hold for any cloud of spheres: conservation, dissipation, invariance.
//!
//! Clouds are drawn at random, without overlap, and thrown at their centre so that they collide.
//! Steps are short: no sphere that is hit goes farther in one step than the margin within which
//! neighbours are seen, so none can be driven into another unseen.

use barchan::DVec3;
use barchan::broad::BroadPhaseName;
use barchan::cone::solver::{SolverOptions, Status};
use barchan::dynamics::Integrator;
use barchan::scene::{BodySpec, Fill, Radius, Scene, Time};
use barchan::shape::Shape;
use barchan::step::{Simulation, StepError, StepOptions};
use barchan::world::{Material, World};
use proptest::prelude::*;

const H: f64 = 1e-3;

/// What a cloud is made of.
#[derive(Clone, Debug)]
struct Cloud {
    seed: u64,
    count: u64,
    friction: f64,
    restitution: f64,
}

fn clouds(restitution: impl Strategy<Value = f64>) -> impl Strategy<Value = Cloud> {
    let friction = prop_oneof![Just(0.0), 0.05..1.0f64];
    (0..u64::MAX, 2..40u64, friction, restitution).prop_map(|(seed, count, friction, restitution)| Cloud {
        seed,
        count,
        friction,
        restitution,
    })
}

/// A cloud in free space that falls in on itself, spinning.
fn start(cloud: &Cloud) -> Simulation {
    start_with(cloud, Integrator::default())
}

fn start_with(cloud: &Cloud, integrator: Integrator) -> Simulation {
    let &Cloud { seed, count, friction, restitution } = cloud;
    let edge = DVec3::splat(0.75);
    let fill = Fill::new(-edge, edge, count, Radius::Uniform([0.1, 0.18]));
    let scene = Scene {
        seed: seed >> 1,
        gravity: DVec3::ZERO,
        time: Time { step: H.into(), end: 1.0, integrator, ..Time::default() },
        solver: SolverOptions { tolerance: 1e-10, max_iterations: 20_000, ..SolverOptions::default() },
        material: vec![Material { friction, restitution, ..Material::default() }],
        fill: vec![Fill { velocity_jitter: 0.3, ..fill }],
        ..Scene::default()
    };
    let mut simulation = Simulation::from_scene(&scene).expect("a cloud with room");
    let bodies = &mut simulation.world.bodies;
    for i in 0..bodies.len() {
        bodies.velocity[i] -= 2.0 * bodies.position[i];
        bodies.angular_velocity[i] = 5.0 * bodies.position[i].cross(DVec3::ONE);
    }
    simulation
}

/// Linear and angular momentum about the origin, each with the sum of its parts' sizes.
fn momenta(world: &World) -> [(DVec3, f64); 2] {
    let b = &world.bodies;
    let mut total = [(DVec3::ZERO, 0.0); 2];
    for i in 0..b.len() {
        let p = b.velocity[i] / b.inverse_mass()[i];
        // Spheres: the inertia is a number.
        let l = b.position[i].cross(p) + b.angular_velocity[i] / b.inverse_inertia()[i].x;
        for (sum, part) in total.iter_mut().zip([p, l]) {
            *sum = (sum.0 + part, sum.1 + part.length());
        }
    }
    total
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Momentum is exact, however bodies bounce and are moved apart. Angular momentum changes by what tangential
    /// impulses do over open gaps and overlaps: by little.
    #[test]
    fn momentum_is_conserved_at_the_defaults(cloud in clouds(0.0..1.0f64)) {
        let mut simulation = start(&cloud);
        let first = momenta(&simulation.world);
        for _ in 0..250 {
            simulation.step().expect("a finite state");
            let now = momenta(&simulation.world);
            prop_assert!((now[0].0 - first[0].0).length() <= 1e-12 * first[0].1);
            prop_assert!((now[1].0 - first[1].0).length() <= 0.02 * first[1].1, "{:?} {:?}", now[1], first[1]);
        }
    }

    /// Euler's step poses contacts where bodies are. Momentum is exact. Angular momentum changes by what a tangential
    /// impulse does over an open gap φ, and by that exactly: the two surfaces are φ apart, so ΔL = Σ φ n×p.
    #[test]
    fn momentum_is_conserved_and_angular_momentum_accounted_for(cloud in clouds(Just(0.0))) {
        let mut simulation = start_with(&cloud, Integrator::Euler);
        let mut collided = false;
        for _ in 0..250 {
            let before = momenta(&simulation.world);
            // Re-ordering happens within the step: places by id.
            let place: Vec<DVec3> = {
                let b = &simulation.world.bodies;
                (0..cloud.count).map(|id| b.position[b.index_of(id).expect("a body")]).collect()
            };
            simulation.step().expect("a finite state");
            let after = momenta(&simulation.world);
            prop_assert!((after[0].0 - before[0].0).length() <= 1e-14 * before[0].1);
            let b = &simulation.world.bodies;
            let mut expected = DVec3::ZERO;
            for contact in simulation.contacts().iter(b) {
                let ([i, j], p) = (contact.bodies.map(|k| k as usize), contact.impulse);
                let d = place[b.id()[i] as usize] - place[b.id()[j] as usize];
                let radii: f64 = [i, j].map(|k| b.shape()[k].bounding_radius().expect("a sphere")).iter().sum();
                expected += (d - radii * d.normalize()).cross(p);
                collided |= p != DVec3::ZERO;
            }
            prop_assert!((after[1].0 - before[1].0 - expected).length() <= 1e-13 * before[1].1);
        }
        prop_assert!(collided || cloud.count < 20, "a cloud that falls in on itself collides");
    }

    /// Without restitution no step adds energy: γ·u = −γ_n φ/h ≤ 0 for gaps φ ≥ 0. Solved to
    /// 1e-10, with slack for what that leaves. Euler's step leaves no overlaps; at the middle of a step bodies may
    /// have come into each other by half the way of a step.
    #[test]
    fn kinetic_energy_never_grows_without_restitution(cloud in clouds(Just(0.0)), is_euler in any::<bool>()) {
        let integrator = if is_euler { Integrator::Euler } else { Integrator::Middle };
        let deepest = if is_euler { 1e-8 } else { 0.5 * H * 2.0 };
        let mut simulation = start_with(&cloud, integrator);
        let first = simulation.energy().kinetic;
        let mut last = first;
        for _ in 0..300 {
            let report = simulation.step().expect("a finite state");
            prop_assert_eq!(report.solver.status, Status::Converged);
            prop_assert!(report.penetration.max < deepest, "{}", report.penetration.max);
            let now = simulation.energy().kinetic;
            prop_assert!(now <= last + 1e-8 * first, "{} after {}", now, last);
            last = now;
        }
        prop_assert!(last < first || cloud.count < 20);
    }

    #[test]
    fn orientations_stay_of_unit_length(cloud in clouds(0.0..1.0f64)) {
        let mut simulation = start(&cloud);
        for w in &mut simulation.world.bodies.angular_velocity {
            *w *= 1e3;
        }
        for _ in 0..200 {
            simulation.step().expect("a finite state");
            for q in &simulation.world.bodies.orientation {
                prop_assert!((q.length() - 1.0).abs() < 1e-14);
            }
        }
    }

    /// Motion that all share changes nothing but rounding, which collisions multiply.
    #[test]
    fn a_common_velocity_changes_nothing(cloud in clouds(Just(0.0)), drift in [-2.0..2.0f64, -2.0..2.0f64, -2.0..2.0f64]) {
        let drift = DVec3::from(drift);
        let (mut here, mut there) = (start(&cloud), start(&cloud));
        for v in &mut there.world.bodies.velocity {
            *v += drift;
        }
        for _ in 0..150 {
            here.step().expect("a finite state");
            there.step().expect("a finite state");
        }
        let t = here.world.time;
        let (a, b) = (&here.world.bodies, &there.world.bodies);
        for id in 0..cloud.count {
            let (i, j) = (a.index_of(id).expect("a body"), b.index_of(id).expect("a body"));
            prop_assert!(a.position[i].distance(b.position[j] - drift * t) < 1e-6);
            prop_assert!(a.velocity[i].distance(b.velocity[j] - drift) < 1e-4);
        }
    }

    /// Overlapping spheres at rest are moved apart: they gain no velocity, no body moves faster than it may, and the
    /// overlaps get smaller.
    #[test]
    fn recovery_moves_bodies_and_leaves_no_velocity(
        points in prop::collection::vec([0.0..0.5f64, 0.0..0.5f64, 0.0..0.5f64], 2..12),
        speed in 0.1..100.0f64,
        recovery in 0.05..0.3f64,
    ) {
        let mut scene = Scene { gravity: DVec3::ZERO, ..Scene::default() };
        scene.contact.recovery = recovery;
        scene.contact.recovery_speed = speed;
        scene.body = points.iter().map(|&x| BodySpec::new(Shape::sphere(0.15), DVec3::from(x))).collect();
        let mut simulation = Simulation::from_scene(&scene).expect("a sound scene");
        let squares = |simulation: &Simulation| -> f64 {
            simulation.contacts().gaps().iter().filter(|gap| **gap < 0.0).map(|gap| gap * gap).sum()
        };
        let mut before: Option<f64> = None;
        for _ in 0..20 {
            let place = |simulation: &Simulation, id: usize| {
                let bodies = &simulation.world.bodies;
                bodies.position[bodies.index_of(id as u64).expect("a body")]
            };
            let places: Vec<DVec3> = (0..points.len()).map(|id| place(&simulation, id)).collect();
            let time = simulation.world.time;
            simulation.step().expect("a finite state");
            prop_assert!(simulation.world.bodies.velocity.iter().all(|v| *v == DVec3::ZERO));
            // The step chooses its own length.
            let farthest = 0.15 * speed * (simulation.world.time - time);
            for (id, start) in places.iter().enumerate() {
                prop_assert!(place(&simulation, id).distance(*start) <= farthest * (1.0 + 1e-9));
            }
            let now = squares(&simulation);
            prop_assert!(before.is_none_or(|before| now <= before * (1.0 + 1e-9)), "{:?} became {}", before, now);
            before = Some(now);
        }
    }
}

/// NaN in the state stops the run at once, with the step and the body, whatever the broad phase.
#[test]
fn a_state_that_is_not_a_number_stops_the_run() {
    for &(name, ..) in BroadPhaseName::ALL {
        for bad in [f64::NAN, f64::INFINITY] {
            let cloud = start(&Cloud { seed: 7, count: 30, friction: 0.5, restitution: 0.0 });
            let mut options: StepOptions = *cloud.options();
            options.broad_phase.name = name;
            let mut simulation = Simulation::new(cloud.world, options);
            for _ in 0..10 {
                simulation.step().expect("a finite state");
            }
            let i = simulation.world.bodies.index_of(17).expect("a body");
            simulation.world.bodies.velocity[i].y = bad;
            let error = simulation.step().expect_err("an error");
            // Those that it touched may be lost with it.
            let StepError::NotFinite { step: 11, .. } = error else { panic!("{error}") };
        }
    }
}
