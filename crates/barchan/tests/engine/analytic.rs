//! Cases with known answers, each with its tolerance and where the tolerance comes from.
//!
//! The solver is run to 1e-10, so that what is left is the time step: velocities and positions under constant
//! forces are exact.

use super::common::{run, simulation};
use barchan::cone::solver::{SolverOptions, Status};
use barchan::scene::{BodySpec, Scene, Time};
use barchan::shape::Shape;
use barchan::step::{Simulation, StepOptions};
use barchan::world::{ExternalForce, ForceField, Material, Motion, Oscillation};
use barchan::{DVec3, scenario};
use std::f64::consts::TAU;

const G: f64 = 9.81;
fn tight_options() -> SolverOptions {
    SolverOptions { tolerance: 1e-10, max_iterations: 10_000, ..SolverOptions::default() }
}

/// A scenario with the solver at a tight tolerance.
fn tight(name: &str, overrides: &[(&str, f64)]) -> Simulation {
    let mut all: Vec<_> = overrides.iter().map(|(key, value)| (*key, format!("{value:?}"))).collect();
    all.push(("solver.tolerance", "1e-10".into()));
    simulation(name, &all)
}

/// A scene built in code, with the solver at a tight tolerance.
fn scene(h: f64, gravity: f64, body: Vec<BodySpec>) -> Scene {
    let time = Time { step: h.into(), end: 1.0, ..Time::default() };
    Scene { time, gravity: DVec3::new(0.0, 0.0, -gravity), solver: tight_options(), body, ..Scene::default() }
}

fn start(scene: &Scene) -> Simulation {
    Simulation::from_scene(scene).expect("a sound scene")
}

/// Index of a body by its id.
fn at(simulation: &Simulation, id: u64) -> usize {
    simulation.world.bodies.index_of(id).expect("a body of the scene")
}

fn velocity(simulation: &Simulation, id: u64) -> DVec3 {
    simulation.world.bodies.velocity[at(simulation, id)]
}

fn position(simulation: &Simulation, id: u64) -> DVec3 {
    simulation.world.bodies.position[at(simulation, id)]
}

fn spin(simulation: &Simulation, id: u64) -> DVec3 {
    simulation.world.bodies.angular_velocity[at(simulation, id)]
}

#[track_caller]
fn close(found: f64, expected: f64, relative: f64) {
    assert!((found - expected).abs() <= relative * expected.abs(), "found {found}, expected {expected} ± {relative}");
}

// ---------------------------------------------------------------- a sphere on an incline

/// Downhill speed, slip of the contact point and gap of the sphere of `incline`.
fn on_incline(simulation: &Simulation, degrees: f64) -> (f64, f64, f64) {
    let (sin, cos) = degrees.to_radians().sin_cos();
    let (normal, downhill) = (DVec3::new(sin, 0.0, cos), DVec3::new(cos, 0.0, -sin));
    let slip = velocity(simulation, 1) - 0.1 * spin(simulation, 1).cross(normal);
    (velocity(simulation, 1).dot(downhill), slip.dot(downhill), position(simulation, 1).dot(normal) - 0.1)
}

/// Rolling sticks, so the law of friction does not matter: exact but for the solver.
#[test]
fn a_sphere_rolls_down_an_incline_at_five_sevenths() {
    for (degrees, friction) in [(20.0, 0.5), (5.0, 0.5), (45.0, 0.29)] {
        let mut simulation = tight("incline", &[("angle", degrees), ("friction", friction)]);
        run(&mut simulation, 500);
        let (speed, slip, gap) = on_incline(&simulation, degrees);
        close(speed, 5.0 / 7.0 * G * degrees.to_radians().sin() * 0.5, 1e-7);
        assert!(slip.abs() < 1e-7 * speed, "{slip}");
        assert!(gap.abs() < 1e-9, "{gap}");
    }
}

#[test]
fn a_sphere_slips_just_when_friction_falls_below_two_sevenths_of_the_slope() {
    let critical = 2.0 / 7.0 * 30f64.to_radians().tan();
    for (factor, slips) in [(0.98, true), (1.02, false)] {
        let mut simulation = tight("incline", &[("angle", 30.0), ("friction", factor * critical)]);
        run(&mut simulation, 300);
        let (speed, slip, _) = on_incline(&simulation, 30.0);
        assert_eq!(slip > 1e-3 * speed, slips, "slip {slip} at speed {speed}");
    }
}

/// The relaxed law keeps a sliding contact open by hμ|u_t|: stated, exact, and gone with h.
#[test]
fn a_sliding_sphere_accelerates_as_coulomb_says_over_a_gap_that_vanishes_with_the_step() {
    let (degrees, friction) = (30.0f64, 0.05);
    let (sin, cos) = degrees.to_radians().sin_cos();
    let mut gaps = Vec::new();
    for h in [2e-3, 1e-3, 5e-4] {
        let set =
            [("angle", "30"), ("friction", "0.05"), ("solver.friction", "associated"), ("solver.tolerance", "1e-10")];
        let set = set.map(|(key, value)| (key, value.to_owned()));
        let rest = [("time.step", h.to_string()), ("time.integrator", "euler".to_owned())];
        let mut simulation = simulation("incline", &[&set[..], &rest[..]].concat());
        let (early, late) = ((0.1 / h) as usize, (0.5 / h) as usize);
        run(&mut simulation, early);
        let before = on_incline(&simulation, degrees).0;
        run(&mut simulation, late - early);
        let (speed, slip, gap) = on_incline(&simulation, degrees);
        close((speed - before) / 0.4, G * (sin - friction * cos), 1e-6);
        close(gap, h * friction * slip, 1e-6);
        gaps.push(gap);
    }
    close(gaps[0] / gaps[1], 2.0, 1e-2);
    close(gaps[1] / gaps[2], 2.0, 1e-2);
}

/// The final speed is exact: each impulse changes speed and spin in a fixed ratio. The relaxed
/// law lifts the sphere off at μv₀ when it is set sliding, so the time is uncertain by a flight
/// 2μv₀/g, which is 7μ² of it: 2 % here.
#[test]
fn a_sliding_sphere_comes_to_roll_in_time_at_five_sevenths() {
    let (friction, v0) = (0.05, 1.0);
    let mut simulation = tight("slide-to-roll", &[("friction", friction), ("speed", v0)]);
    let mut rolls_from = f64::NAN;
    for _ in 0..900 {
        run(&mut simulation, 1);
        let slip = velocity(&simulation, 1).x - 0.1 * spin(&simulation, 1).y;
        if rolls_from.is_nan() && slip.abs() < 1e-6 {
            rolls_from = simulation.world.time;
        }
    }
    close(rolls_from, 2.0 * v0 / (7.0 * friction * G), 0.03);
    close(velocity(&simulation, 1).x, 5.0 / 7.0 * v0, 1e-6);
    close(0.1 * spin(&simulation, 1).y, 5.0 / 7.0 * v0, 1e-6);
}

// ---------------------------------------------------------------- bounces and collisions

/// A bounce takes place at the start of the step in which the gap closes, so a height is off
/// by about v·h: 0.05 % of the drop.
#[test]
fn rebounds_reach_their_heights() {
    let (e, h0) = (0.8f64, 1.0);
    let mut simulation = tight("bounce", &[("restitution", e), ("height", h0)]);
    let (mut heights, mut rising, mut last) = (Vec::new(), false, h0);
    while heights.len() < 6 {
        run(&mut simulation, 1);
        let height = position(&simulation, 1).z - 0.1;
        if rising && height < last {
            heights.push(last);
        }
        (rising, last) = (height > last, height);
        assert!(height > -1e-9, "never below the floor: {height}");
        assert!(simulation.world.time < 5.0, "only {heights:?}");
    }
    for (n, height) in heights.iter().enumerate() {
        close(*height, e.powi(2 * (n as i32 + 1)) * h0, 5e-3);
    }
}

#[test]
fn a_bouncing_sphere_comes_to_rest_in_time() {
    let (e, h0) = (0.5, 0.5);
    let mut simulation = tight("bounce", &[("restitution", e), ("height", h0)]);
    let v0 = (2.0 * G * h0).sqrt();
    let expected = v0 / G + 2.0 * v0 / G * e / (1.0 - e);
    let mut moved = 0.0;
    while simulation.world.time < 1.2 * expected {
        run(&mut simulation, 1);
        if velocity(&simulation, 1).length() > 1e-6 {
            moved = simulation.world.time;
        }
    }
    // Contacts slower than twice gravity·step do not bounce: the last hops are cut off.
    close(moved, expected, 5e-3);
    assert!((position(&simulation, 1).z - 0.1).abs() < 1e-7);
}

/// Steps until the two spheres of `head-on` have met; their velocities before and after.
fn collide(simulation: &mut Simulation) -> [[DVec3; 2]; 2] {
    let both = |s: &Simulation| [velocity(s, 0), velocity(s, 1)];
    let before = both(simulation);
    for _ in 0..500 {
        run(simulation, 1);
    }
    [before, both(simulation)]
}

#[test]
fn spheres_rebound_head_on_and_oblique() {
    for (offset, e) in [(0.0, 0.7), (0.0, 0.0), (0.0, 1.0), (0.5, 0.7), (0.9, 0.3)] {
        let mut simulation = tight("head-on", &[("offset", offset), ("restitution", e)]);
        let [[a, b], [a2, b2]] = collide(&mut simulation);
        // Equal masses: momentum is the sum of velocities, here exactly zero.
        assert!((a2 + b2).length() < 1e-15, "momentum {}", a2 + b2);
        // Without friction the impulse is along the line of centres.
        let n = (a2 - a).normalize();
        let (approach, rebound) = (-(a - b).dot(n), (a2 - b2).dot(n));
        assert!((rebound - e * approach).abs() < 1e-9 * approach, "{rebound} after {approach}");
        // That line is where geometry has it, but for the way of one step.
        assert!((n.y.abs() - offset).abs() < 0.03, "{n} for offset {offset}");
        assert!(spin(&simulation, 0).length() < 1e-12, "no friction, no spin");
    }
}

/// Friction spins both up; momentum stays exact, angular momentum but for the gap that the
/// bounce jumps over (at most v·h of 2r: 1 %).
#[test]
fn oblique_spheres_with_friction_keep_momentum_and_angular_momentum() {
    let mut simulation = tight("head-on", &[("offset", 0.6), ("restitution", 0.7), ("friction", 0.3)]);
    let mass = 1.0 / simulation.world.bodies.inverse_mass()[0];
    let angular = |s: &Simulation| -> DVec3 {
        let part = |id| mass * (position(s, id).cross(velocity(s, id)) + 0.4 * 1e-4 * spin(s, id));
        part(0) + part(1)
    };
    let before = angular(&simulation);
    let [_, [a, b]] = collide(&mut simulation);
    assert!((a + b).length() < 1e-15);
    assert!(spin(&simulation, 0).length() > 1.0, "friction acts");
    assert!((angular(&simulation) - before).length() < 0.01 * before.length());
}

// ---------------------------------------------------------------- kinematic bodies

/// A plate that moves sideways drags a sphere along; it rolls at 2/7 of the plate's speed.
#[test]
fn a_moving_plate_carries_a_sphere() {
    let plate = BodySpec {
        motion: Motion::Kinematic,
        velocity: DVec3::new(0.7, 0.0, 0.3),
        ..BodySpec::new(Shape::half_space(), DVec3::ZERO)
    };
    let ball = BodySpec::new(Shape::sphere(0.1), DVec3::new(0.0, 0.0, 0.1));
    let mut simulation = start(&scene(1e-3, G, vec![plate, ball]));
    run(&mut simulation, 1000);
    assert!((position(&simulation, 0) - DVec3::new(0.7, 0.0, 0.3)).length() < 1e-12);
    let v = velocity(&simulation, 1);
    close(v.x, 2.0 / 7.0 * 0.7, 1e-6);
    close(v.z, 0.3, 1e-6);
    close(position(&simulation, 1).z, 0.4, 1e-6);
}

/// A moving wall overtakes a sphere and takes it along.
#[test]
fn a_moving_container_takes_its_content_along() {
    let walls = BodySpec {
        motion: Motion::Kinematic,
        velocity: DVec3::new(1.0, 0.5, 0.0),
        ..BodySpec::new(Shape::container(DVec3::splat(0.3)), DVec3::ZERO)
    };
    let mut scene = scene(1e-3, 0.0, vec![walls, BodySpec::new(Shape::sphere(0.1), DVec3::ZERO)]);
    scene.material = vec![Material { friction: 0.0, ..Material::default() }];
    let mut simulation = start(&scene);
    run(&mut simulation, 1000);
    assert!((velocity(&simulation, 1) - DVec3::new(1.0, 0.5, 0.0)).length() < 1e-9);
    let local = position(&simulation, 1) - position(&simulation, 0);
    assert!((local - DVec3::new(-0.2, -0.2, 0.0)).length() < 1e-9, "in the corner: {local}");
}

/// A sphere leaves a shaken plate iff the plate's acceleration exceeds gravity, and then flies as
/// a free body does.
#[test]
fn a_shaken_plate_throws_a_sphere_when_it_outruns_gravity() {
    let (frequency, h) = (5.0, 1e-4);
    let pulse = TAU * frequency;
    for ratio in [0.8, 2.5] {
        let amplitude = ratio * G / (pulse * pulse);
        // From the lowest point on, at rest.
        let shake = Oscillation { amplitude: DVec3::Z * amplitude, frequency, phase: -0.25 * TAU };
        let plate = BodySpec {
            motion: Motion::Kinematic,
            oscillation: Some(shake),
            ..BodySpec::new(Shape::half_space(), DVec3::ZERO)
        };
        let ball = BodySpec::new(Shape::sphere(0.1), DVec3::new(0.0, 0.0, 0.1));
        let mut simulation = start(&scene(h, G, vec![plate, ball]));
        let mut clearance = 0.0f64;
        // Just over a period: the first flight.
        for _ in 0..2200 {
            run(&mut simulation, 1);
            clearance = clearance.max(position(&simulation, 1).z - 0.1 - position(&simulation, 0).z);
        }
        // It leaves where the plate's acceleration is −g.
        let mut expected = 0.0f64;
        if ratio > 1.0 {
            let phase = (1.0 / ratio).asin();
            for k in 0..2200 {
                let t = f64::from(k) * h;
                let plate = amplitude * ((phase + pulse * t).sin() - phase.sin());
                expected = expected.max(amplitude * pulse * phase.cos() * t - 0.5 * G * t * t - plate);
            }
            close(clearance, expected, 1e-2);
        } else {
            assert!(clearance < 1e-9, "it stays: {clearance}");
        }
    }
}

/// The impulses that held a sphere must not throw it when it is lifted.
#[test]
fn a_sphere_that_is_lifted_feels_no_memory_of_its_weight() {
    let body = vec![
        BodySpec::new(Shape::half_space(), DVec3::ZERO),
        BodySpec::new(Shape::sphere(0.01), DVec3::new(0.0, 0.0, 0.01)),
    ];
    let mut simulation = start(&Scene { solver: SolverOptions::default(), ..scene(1e-3, G, body) });
    run(&mut simulation, 20);
    let ball = at(&simulation, 1);
    let mass = 1.0 / simulation.world.bodies.inverse_mass()[ball];
    simulation.world.external.insert(1, ExternalForce { force: DVec3::Z * 3.0 * mass * G, torque: DVec3::ZERO });
    let before = velocity(&simulation, 1).z;
    let report = simulation.step().expect("a finite state");
    close(velocity(&simulation, 1).z - before, 2.0 * G * 1e-3, 1e-6);
    assert_eq!(report.solver.status, Status::Converged);
}

// ---------------------------------------------------------------- forces

#[test]
fn a_projectile_flies_its_parabola() {
    let (h, n) = (1e-3, 700);
    let v0 = DVec3::new(3.0, -2.0, 5.0);
    let ball = BodySpec { velocity: v0, angular_velocity: DVec3::X, ..BodySpec::new(Shape::sphere(0.1), DVec3::ONE) };
    let mut simulation = start(&scene(h, G, vec![ball]));
    run(&mut simulation, n);
    let steps = n as f64;
    let t = steps * h;
    let expected = DVec3::ONE + v0 * t - DVec3::Z * 0.5 * G * t * t;
    assert!((position(&simulation, 0) - expected).length() < 1e-11);
    assert!((velocity(&simulation, 0) - (v0 - DVec3::Z * G * t)).length() < 1e-11);
    let turn = simulation.world.bodies.orientation[0] * DVec3::Y;
    assert!((turn - DVec3::new(0.0, t.cos(), t.sin())).length() < 1e-11, "it turns by ωt");
}

#[test]
fn a_central_force_keeps_a_circle() {
    let ball = BodySpec { velocity: DVec3::Y, ..BodySpec::new(Shape::sphere(0.01), DVec3::X) };
    let mut scene = scene(TAU / 10_000.0, 0.0, vec![ball]);
    scene.force = vec![ForceField::Central { centre: DVec3::ZERO, strength: 1.0, softening: 0.0 }];
    let mut simulation = start(&scene);
    for _ in 0..10_000 {
        run(&mut simulation, 1);
        close(position(&simulation, 0).length(), 1.0, 1e-3);
    }
    assert!((position(&simulation, 0) - DVec3::X).length() < 2e-3, "back after a turn");
}

#[test]
fn a_well_oscillates_and_drag_decays() {
    let ball =
        |velocity| BodySpec { velocity, angular_velocity: DVec3::Z, ..BodySpec::new(Shape::sphere(0.01), DVec3::X) };
    let mut well = scene(1e-4, 0.0, vec![ball(DVec3::ZERO)]);
    well.force = vec![ForceField::Well { centre: DVec3::ZERO, stiffness: TAU * TAU }];
    let mut simulation = start(&well);
    run(&mut simulation, 5000);
    assert!((position(&simulation, 0) + DVec3::X).length() < 1e-3, "half a period");
    run(&mut simulation, 5000);
    assert!((position(&simulation, 0) - DVec3::X).length() < 1e-3, "a period");

    let (rate, wind) = (3.0, DVec3::new(0.0, 1.0, 0.0));
    let mut drag = scene(1e-3, 0.0, vec![ball(DVec3::X)]);
    drag.force = vec![ForceField::Drag { rate, wind }];
    let mut simulation = start(&drag);
    run(&mut simulation, 1000);
    let left = (-rate).exp();
    assert!((velocity(&simulation, 0) - (wind + (DVec3::X - wind) * left)).length() < 1e-12);
    close(spin(&simulation, 0).z, left, 1e-10);
}

/// Explicit drag made velocities grow by 1 − rate·h a step, without end where that is below −1.
#[test]
fn drag_of_any_rate_decays_to_the_wind() {
    for rate in [1e4, 1e9] {
        let ball = BodySpec {
            velocity: DVec3::X,
            angular_velocity: DVec3::Z,
            ..BodySpec::new(Shape::sphere(0.01), DVec3::ZERO)
        };
        let mut scene = scene(1e-3, 0.0, vec![ball]);
        scene.force = vec![ForceField::Drag { rate, wind: DVec3::Y }];
        let mut simulation = start(&scene);
        let mut before = f64::INFINITY;
        for _ in 0..10 {
            run(&mut simulation, 1);
            let rest = (velocity(&simulation, 0) - DVec3::Y).length();
            assert!(rest <= 1e-4 * before.min(1.0) || rest < 1e-14, "{rate}: {rest} after {before}");
            before = rest;
        }
        assert!(spin(&simulation, 0).length() < 1e-14);
    }
}

#[test]
fn a_falling_body_comes_to_its_terminal_velocity() {
    for rate in [0.5, 30.0, 1e4, 1e9] {
        let mut ball = BodySpec::new(Shape::sphere(0.01), DVec3::ZERO);
        let mass = 2500.0 * 4.0 / 3.0 * std::f64::consts::PI * 1e-6;
        // The force along x is as strong as gravity.
        ball.force = Some(DVec3::new(mass * G, 0.0, 0.0));
        let mut scene = scene(1e-2, G, vec![ball]);
        scene.force = vec![ForceField::Drag { rate, wind: 2.0 * DVec3::Y }];
        let mut simulation = start(&scene);
        run(&mut simulation, 8000);
        let expected = DVec3::new(G / rate, 2.0, -G / rate);
        assert!((velocity(&simulation, 0) - expected).length() < 1e-9 * expected.length(), "{rate}");
    }
}

/// A step at a distance of 1e-9 m used to launch a body at 1e15 m/s.
#[test]
fn a_body_near_the_centre_of_a_central_field_stays_there() {
    for (x, strength) in [(0.0, 1.0), (1e-300, 1e3), (1e-9, 1.0), (1e-3, 10.0), (0.02, 10.0)] {
        let ball = BodySpec::new(Shape::sphere(0.01), DVec3::new(x, 0.0, 0.0));
        let mut scene = scene(1e-3, 0.0, vec![ball]);
        scene.force = vec![ForceField::Central { centre: DVec3::ZERO, strength, softening: 0.0 }];
        let mut simulation = start(&scene);
        for _ in 0..10_000 {
            run(&mut simulation, 1);
            assert!(position(&simulation, 0).length() <= 2.0 * x, "from {x}: {}", position(&simulation, 0));
        }
    }
}

#[test]
fn external_force_and_torque_act_until_they_are_removed() {
    let ball = BodySpec {
        force: Some(DVec3::new(0.0, 2.0, 0.0)),
        torque: Some(DVec3::new(0.0, 0.0, 0.1)),
        ..BodySpec::new(Shape::sphere(0.1), DVec3::ZERO)
    };
    let mut simulation = start(&scene(1e-3, 0.0, vec![ball]));
    let mass = 2500.0 * 4.0 / 3.0 * std::f64::consts::PI * 1e-3;
    run(&mut simulation, 100);
    close(velocity(&simulation, 0).y, 2.0 / mass * 0.1, 1e-12);
    close(spin(&simulation, 0).z, 0.1 / (0.4 * mass * 0.01) * 0.1, 1e-12);
    simulation.world.external.clear();
    let (v, w) = (velocity(&simulation, 0), spin(&simulation, 0));
    run(&mut simulation, 100);
    assert_eq!((velocity(&simulation, 0), spin(&simulation, 0)), (v, w));
}

// ---------------------------------------------------------------- packings

/// Density and mean number of loaded contacts of a settled packing, measured in the bulk: four
/// radii from walls, floor and surface.
fn packing(friction: f64) -> (f64, f64) {
    let overrides = [("bodies", "1000".to_owned()), ("friction", format!("{friction}")), ("time.step", "1e-3".into())];
    let mut simulation = simulation("packing", &overrides);
    run(&mut simulation, 650);
    // Some steps at a tight tolerance, for the contacts.
    let options = StepOptions { solver: SolverOptions { tolerance: 1e-4, ..tight_options() }, ..*simulation.options() };
    let mut simulation = Simulation::new(simulation.world, options);
    run(&mut simulation, 40);
    let r = 0.01;
    let bodies = &simulation.world.bodies;
    let balls: Vec<DVec3> =
        bodies.position.iter().zip(bodies.shape()).filter(|(_, s)| s.name() == "sphere").map(|(x, _)| *x).collect();
    let mut heights: Vec<f64> = balls.iter().map(|x| x.z).collect();
    heights.sort_by(f64::total_cmp);
    let surface = heights[heights.len() * 95 / 100];
    let (low, high) = (DVec3::new(-8.0 * r, -8.0 * r, 3.0 * r), DVec3::new(8.0 * r, 8.0 * r, surface - 2.0 * r));
    assert!(high.z - low.z > 4.0 * r, "a bulk to measure in: {low} to {high}");

    // Density: points of a fine grid that lie in a sphere.
    let (mut inside, mut total) = (0, 0);
    let n = 48;
    for k in 0..n * n * n {
        let cell = DVec3::new((k % n) as f64, (k / n % n) as f64, (k / n / n) as f64);
        let x = low + (high - low) * (cell + 0.5) / n as f64;
        total += 1;
        inside += usize::from(balls.iter().any(|c| c.distance_squared(x) < r * r));
    }

    // Contacts that carry load: more than a thousandth of a weight.
    let load = 1e-3 * G * 1e-3 / simulation.world.bodies.inverse_mass()[0].max(1e-300);
    let mut loaded = vec![0u32; bodies.len()];
    for contact in simulation.contacts().iter(bodies).filter(|contact| contact.impulse.length() > load) {
        let [a, b] = contact.bodies;
        assert!(contact.impulse.is_finite());
        loaded[a as usize] += 1;
        loaded[b as usize] += 1;
    }
    let bulk = |i: &usize| {
        let x = bodies.position[*i];
        bodies.inverse_mass()[*i] > 0.0 && x.cmpge(low).all() && x.cmple(high).all() && loaded[*i] > 1
    };
    let (count, sum) = (0..bodies.len()).filter(bulk).fold((0, 0), |(n, s), i| (n + 1, s + loaded[i]));
    (inside as f64 / total as f64, f64::from(sum) / f64::from(count))
}

/// Silbert 2010: about 0.64 and 6 without friction, 0.55 and 4 with much. A thousand spheres are
/// few and the floor orders some of them, so the bounds are wide.
#[test]
fn packings_are_as_dense_as_friction_lets_them() {
    let (smooth, rough) = std::thread::scope(|scope| {
        let smooth = scope.spawn(|| packing(0.0));
        (smooth.join().expect("a packing"), packing(1.0))
    });
    println!("density and contacts: smooth {smooth:?}, rough {rough:?}");
    assert!((0.58..0.67).contains(&smooth.0), "{smooth:?}");
    assert!((0.50..0.61).contains(&rough.0), "{rough:?}");
    assert!(smooth.0 > rough.0 + 0.02, "{smooth:?} {rough:?}");
    assert!((5.2..6.6).contains(&smooth.1), "{smooth:?}");
    assert!((3.4..5.2).contains(&rough.1), "{rough:?}");
}

/// Each of the cases above is to be found by name.
#[test]
fn the_scenarios_are_there() {
    for name in ["incline", "slide-to-roll", "bounce", "head-on", "packing"] {
        assert!(scenario::find(name).is_ok());
    }
}
