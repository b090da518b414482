//! Joints: what they hold, against closed form; what acts along them; and what they bear.

use barchan::cone::solver::Status;
use barchan::scene::{BodySpec, JointSpec, MotorSpec, Scene, Time};
use barchan::shape::Shape;
use barchan::step::Simulation;
use barchan::world::joint::{Spring, Strength};
use barchan::world::{Joint, JointKind, Motion};
use barchan::{DQuat, DVec3};
use std::f64::consts::{PI, TAU};

const G: f64 = 9.81;

fn named(name: &str, body: BodySpec) -> BodySpec {
    BodySpec { name: name.into(), ..body }
}

/// A body without contacts, of mass 1 and this moment of inertia about any axis.
fn unit(name: &str, position: DVec3, inertia: f64) -> BodySpec {
    let mut body = named(name, BodySpec::new(Shape::sphere(0.05), position));
    body.mass = Some(barchan::shape::GivenMass {
        mass: Some(1.0),
        inertia: Some([inertia, inertia, inertia, 0.0, 0.0, 0.0]),
        centre: None,
    });
    body
}

fn scene(body: Vec<BodySpec>, joint: Vec<JointSpec>) -> Scene {
    let time = Time { end: 1e9, step: 1e-3.into(), ..Time::default() };
    let mut scene = Scene { body, joint, time, ..Scene::default() };
    scene.solver.tolerance = 1e-9;
    assert_eq!(scene.validate(), []);
    scene
}

fn start(scene: &Scene) -> Simulation {
    Simulation::from_scene(scene).expect("a sound scene")
}

fn step(simulation: &mut Simulation) {
    let report = simulation.step().expect("a finite state");
    assert!(report.solver.status == Status::Converged, "{:?} at {}", report.solver, simulation.world.time);
}

fn run_until(simulation: &mut Simulation, time: f64) {
    while simulation.world.time < time - 1e-9 {
        step(simulation);
    }
}

fn position(simulation: &Simulation, id: u64) -> DVec3 {
    let bodies = &simulation.world.bodies;
    bodies.position[bodies.index_of(id).expect("a body")]
}

fn spin(simulation: &Simulation, id: u64) -> DVec3 {
    let bodies = &simulation.world.bodies;
    bodies.angular_velocity[bodies.index_of(id).expect("a body")]
}

fn turn(simulation: &Simulation, id: u64) -> DQuat {
    let bodies = &simulation.world.bodies;
    bodies.orientation[bodies.index_of(id).expect("a body")]
}

fn total(simulation: &mut Simulation) -> f64 {
    let energy = simulation.energy();
    energy.kinetic + energy.potential
}

fn joint(simulation: &Simulation, k: usize) -> &Joint {
    &simulation.world.joints[k]
}

/// The complete elliptic integral of the first kind by its arithmetic-geometric mean.
fn elliptic(k: f64) -> f64 {
    let (mut a, mut b) = (1.0f64, (1.0 - k * k).sqrt());
    while (a - b).abs() > 1e-15 {
        (a, b) = (0.5 * (a + b), (a * b).sqrt());
    }
    PI / (2.0 * a)
}

/// Of a pendulum that swings by 60° to either side: drift, loss and the period, for every joint that can hold it.
#[test]
fn a_pendulum_swings_for_a_hundred_seconds() {
    let amplitude = PI / 3.0;
    let bob = DVec3::new(amplitude.sin(), 0.0, -amplitude.cos());
    let inertia = 1e-3;
    for kind in [JointKind::Revolute, JointKind::Spherical, JointKind::Distance] {
        let joint = JointSpec::new(kind, ["world", "bob"], DVec3::ZERO).about(DVec3::Y);
        let joint = JointSpec { end: (kind == JointKind::Distance).then_some(bob), ..joint };
        let mut simulation = start(&scene(vec![unit("bob", bob, inertia)], vec![joint]));
        // A bob on a rod does not turn with it.
        let length = if kind == JointKind::Distance { 1.0 } else { 1.0 + inertia };
        let period = 4.0 * (length / G).sqrt() * elliptic((0.5 * amplitude).sin());
        let before = total(&mut simulation);
        let (mut crossings, mut last) = (Vec::new(), bob.x);
        let mut drift = 0.0f64;
        while simulation.world.time < 100.0 {
            step(&mut simulation);
            let x = position(&simulation, 0);
            drift = drift.max((x.length() - 1.0).abs());
            if last < 0.0 && x.x >= 0.0 {
                crossings.push(simulation.world.time - 1e-3 * x.x / (x.x - last));
            }
            last = x.x;
        }
        let seen = (crossings[crossings.len() - 1] - crossings[0]) / (crossings.len() - 1) as f64;
        let loss = (total(&mut simulation) - before) / (G * (1.0 - amplitude.cos()));
        println!("{kind:?}: drift {drift:.1e}, period off by {:.1e}, energy by {loss:.1e}", seen / period - 1.0);
        assert!(drift < 1e-4, "{kind:?}: {drift:e}");
        assert!((seen / period - 1.0).abs() < 1e-5, "{kind:?}: {seen} is not {period}");
        assert!(loss.abs() < 1e-3, "{kind:?}: {loss:e}");
    }
}

/// A crank of 0.1 m that turns at 20 rad/s, a rod of 0.3 m, and a slider along x.
#[test]
fn a_slider_crank_is_where_geometry_has_it() {
    let (r, l, speed) = (0.1f64, 0.3f64, 20.0);
    let bodies = vec![
        unit("crank", DVec3::X * 0.5 * r, 1e-3),
        unit("rod", DVec3::X * (r + 0.5 * l), 1e-2),
        unit("slider", DVec3::X * (r + l), 1e-3),
    ];
    let motor = Some(MotorSpec { speed: Some(speed.into()), ..MotorSpec::default() });
    let about_y = |bodies, anchor| JointSpec::new(JointKind::Revolute, bodies, anchor).about(-DVec3::Y);
    let joints = vec![
        JointSpec { motor, ..about_y(["world", "crank"], DVec3::ZERO) },
        about_y(["crank", "rod"], DVec3::X * r),
        about_y(["rod", "slider"], DVec3::X * (r + l)),
        JointSpec::new(JointKind::Prismatic, ["world", "slider"], DVec3::X * (r + l)).about(DVec3::X),
    ];
    let mut simulation = start(&scene(bodies, joints));
    let mut worst = 0.0f64;
    while simulation.world.time < 2.0 {
        step(&mut simulation);
        let crank = turn(&simulation, 0) * DVec3::X;
        let x = r * crank.x + (l * l - (r * crank.z).powi(2)).sqrt();
        let slider = position(&simulation, 2);
        worst = worst.max((slider - DVec3::X * x).length());
    }
    // The motor starts at once, and its angle is counted over all turns.
    let angle = joint(&simulation, 0).state.position;
    println!("slider off by {worst:.1e}, angle {angle}");
    assert!(worst < 1e-4 * l, "{worst:e}");
    assert!((angle - speed * 2.0).abs() < 0.05, "{angle}");
    assert!((spin(&simulation, 0).y + speed).abs() < 1e-2, "{}", spin(&simulation, 0));
}

/// A closed loop in a plane: its joints say some things twice.
#[test]
fn a_four_bar_linkage_closes() {
    let [ground, crank, coupler, rocker] = [0.4f64, 0.1, 0.35, 0.3];
    // The angle of the rocker, from where its pin can be.
    let place = |crank_pin: DVec3| {
        let to = DVec3::X * ground - crank_pin;
        let d = to.length();
        let along = (coupler * coupler - rocker * rocker + d * d) / (2.0 * d);
        let up = (coupler * coupler - along * along).sqrt();
        let e = to / d;
        crank_pin + e * along + DVec3::new(-e.z, 0.0, e.x) * up
    };
    let start_pin = DVec3::new(0.0, 0.0, crank);
    let end_pin = place(start_pin);
    let bar = |name, a: DVec3, b: DVec3| unit(name, 0.5 * (a + b), 1e-3);
    let bodies = vec![
        bar("crank", DVec3::ZERO, start_pin),
        bar("coupler", start_pin, end_pin),
        bar("rocker", end_pin, DVec3::X * ground),
    ];
    let about_y = |bodies, anchor| JointSpec::new(JointKind::Revolute, bodies, anchor).about(-DVec3::Y);
    let motor = Some(MotorSpec { speed: Some(5.0.into()), ..MotorSpec::default() });
    let joints = vec![
        JointSpec { motor, ..about_y(["world", "crank"], DVec3::ZERO) },
        about_y(["crank", "coupler"], start_pin),
        about_y(["coupler", "rocker"], end_pin),
        about_y(["world", "rocker"], DVec3::X * ground),
    ];
    let mut simulation = start(&scene(bodies, joints));
    let mut worst = 0.0f64;
    while simulation.world.time < 3.0 {
        step(&mut simulation);
        let pin = turn(&simulation, 0) * start_pin;
        let middle = DVec3::X * ground + turn(&simulation, 2) * (0.5 * (end_pin - DVec3::X * ground));
        let expected = 0.5 * (place(pin) + DVec3::X * ground);
        worst = worst.max((position(&simulation, 2) - expected).length());
        worst = worst.max((middle - expected).length());
    }
    println!("off by {worst:.1e}");
    assert!(worst < 1e-4 * ground, "{worst:e}");
}

#[test]
fn motors_have_the_torque_that_they_have() {
    let motor = |speed: f64, effort| {
        Some(MotorSpec { speed: Some(speed.into()), effort: Some(effort), ..MotorSpec::default() })
    };
    let hinge = JointSpec::new(JointKind::Revolute, ["world", "wheel"], DVec3::ZERO);
    let wheel = || vec![unit("wheel", DVec3::ZERO, 0.5)];
    let mut simulation = start(&scene(wheel(), vec![JointSpec { motor: motor(10.0, 2.0), ..hinge.clone() }]));
    // 2 N·m turn 0.5 kg·m² up by 4 rad/s each second, until the speed is there.
    run_until(&mut simulation, 1.0);
    assert!((spin(&simulation, 0).z - 4.0).abs() < 1e-9, "{}", spin(&simulation, 0));
    assert!((joint(&simulation, 0).state.effort - 2.0).abs() < 1e-9);
    run_until(&mut simulation, 3.0);
    assert!((spin(&simulation, 0).z - 10.0).abs() < 1e-9, "{}", spin(&simulation, 0));
    assert!(joint(&simulation, 0).state.effort.abs() < 1e-9);
    // All of its work is in the wheel.
    assert!(
        (joint(&simulation, 0).state.work - 0.5 * 0.5 * 100.0).abs() < 1e-8,
        "{}",
        joint(&simulation, 0).state.work
    );
    // A brake of 1 N·m slows it by 2 rad/s each second, and then holds it.
    let turning = BodySpec { angular_velocity: DVec3::Z * 3.0, ..wheel().remove(0) };
    let mut simulation = start(&scene(vec![turning], vec![JointSpec { friction: 1.0, ..hinge.clone() }]));
    run_until(&mut simulation, 1.0);
    assert!((spin(&simulation, 0).z - 1.0).abs() < 1e-9, "{}", spin(&simulation, 0));
    run_until(&mut simulation, 2.0);
    assert!(spin(&simulation, 0).z.abs() < 1e-9, "{}", spin(&simulation, 0));
    // A speed that is a formula of the time.
    let swing = MotorSpec { speed: Some("3*sin(2*t)".parse().unwrap()), ..MotorSpec::default() };
    let mut simulation = start(&scene(wheel(), vec![JointSpec { motor: Some(swing), ..hinge.clone() }]));
    run_until(&mut simulation, 2.0);
    let expected = 1.5 * (1.0 - 4f64.cos());
    assert!((joint(&simulation, 0).state.position - expected).abs() < 3e-3, "{:?}", joint(&simulation, 0).state);
    // To a position, with all the torque that takes.
    let servo =
        MotorSpec { position: Some(0.7.into()), effort: Some(20.0), response: Some(0.15), ..MotorSpec::default() };
    let mut simulation = start(&scene(wheel(), vec![JointSpec { motor: Some(servo), ..hinge }]));
    run_until(&mut simulation, 3.0);
    assert!((joint(&simulation, 0).state.position - 0.7).abs() < 1e-6, "{}", joint(&simulation, 0).state.position);
}

#[test]
fn limits_and_brakes_hold_what_they_can() {
    // An arm that falls from upright against its limit at 1 rad.
    let arm = unit("arm", DVec3::new(1e-3, 0.0, 1.0), 1e-3);
    let hinge = JointSpec::new(JointKind::Revolute, ["world", "arm"], DVec3::ZERO).about(DVec3::Y);
    let limited = JointSpec { limits: Some([-0.5, 1.0]), ..hinge };
    let mut simulation = start(&scene(vec![arm], vec![limited]));
    let mut most = 0.0f64;
    while simulation.world.time < 5.0 {
        step(&mut simulation);
        most = most.max(joint(&simulation, 0).state.position);
    }
    assert!(most < 1.0 + 1e-4, "{most}");
    assert!((joint(&simulation, 0).state.position - 1.0).abs() < 1e-6 && spin(&simulation, 0).length() < 1e-9);
    // It bears the moment of its weight about the hinge: force upwards, and nothing else.
    let state = &joint(&simulation, 0).state;
    assert!((state.force - DVec3::Z * G).length() < 1e-6, "{}", state.force);
    let moment = G * (1.0f64 + 1e-3f64.asin()).sin() * 1.000_000_5;
    assert!((state.torque.y + moment).abs() < 1e-4, "{} is not {moment}", state.torque);
    // A slider on an incline: its brake holds up to its force.
    for (friction, falls) in [(0.6 * G, false), (0.4 * G, true)] {
        let axis = DVec3::new(3f64.sqrt() / 2.0, 0.0, 0.5);
        let rail = JointSpec::new(JointKind::Prismatic, ["world", "sledge"], DVec3::ZERO).about(axis);
        let rail = JointSpec { friction, ..rail };
        let mut simulation = start(&scene(vec![unit("sledge", DVec3::ZERO, 0.1)], vec![rail]));
        run_until(&mut simulation, 1.0);
        let expected = if falls { -0.5 * (0.5 * G - friction) } else { 0.0 };
        let seen = joint(&simulation, 0).state.position;
        assert!((seen - expected).abs() < 2e-3, "{friction}: {seen} is not {expected}");
    }
}

#[test]
fn springs_keep_time_however_stiff_they_are() {
    for (stiffness, damping) in [(100.0, 0.0), (100.0, 4.0), (1e9, 0.0), (1e9, 1e5)] {
        let rail = JointSpec::new(JointKind::Prismatic, ["world", "mass"], DVec3::ZERO).about(DVec3::X);
        let spring = Some(Spring { stiffness, damping, rest: 0.1 });
        let mut scene = scene(vec![unit("mass", DVec3::ZERO, 0.1)], vec![JointSpec { spring, ..rail }]);
        scene.gravity = DVec3::ZERO;
        let mut simulation = start(&scene);
        run_until(&mut simulation, 1.0);
        let x = position(&simulation, 0).x;
        if stiffness < 1e3 {
            let decay = 0.5 * damping;
            let ω = (stiffness - decay * decay).sqrt();
            let expected = 0.1 - 0.1 * (-decay).exp() * (ω.cos() + decay / ω * ω.sin());
            assert!((x - expected).abs() < 2e-4, "{stiffness} {damping}: {x} is not {expected}");
        } else {
            // Far too stiff for the step: it must stay where it can be.
            assert!((-1e-3..=0.201).contains(&x), "{stiffness} {damping}: {x}");
        }
        if damping == 0.0 && stiffness < 1e3 {
            run_until(&mut simulation, 20.0);
            let v = simulation.world.bodies.velocity[0].x;
            let energy = 0.5 * v * v + 0.5 * stiffness * (position(&simulation, 0).x - 0.1).powi(2);
            assert!((energy / (0.5 * stiffness * 0.01) - 1.0).abs() < 0.01, "{energy}");
        }
    }
}

#[test]
fn joints_break_above_their_strength() {
    for (force, holds) in [(9.9, true), (9.7, false)] {
        let hook = JointSpec::new(JointKind::Spherical, ["world", "weight"], DVec3::ZERO);
        let strength = Some(Strength { force: Some(force), torque: None });
        let mut simulation = start(&scene(vec![unit("weight", -DVec3::Z, 0.1)], vec![JointSpec { strength, ..hook }]));
        run_until(&mut simulation, 0.5);
        assert_eq!(joint(&simulation, 0).state.is_broken, !holds);
        let z = position(&simulation, 0).z;
        let expected = if holds { -1.0 } else { -1.0 - 0.5 * G * 0.25 };
        assert!((z - expected).abs() < 1e-2, "{z} is not {expected}");
    }
}

#[test]
fn gears_and_shafts_pass_turns_on() {
    let hinge = |name, x: f64| JointSpec::new(JointKind::Revolute, ["world", name], DVec3::X * x);
    let motor = Some(MotorSpec { speed: Some(3.0.into()), effort: Some(50.0), ..MotorSpec::default() });
    let gear = JointSpec { ratio: Some(-2.5), ..JointSpec::new(JointKind::Gear, ["small", "large"], DVec3::ZERO) };
    let wheels = vec![unit("small", DVec3::ZERO, 0.1), unit("large", DVec3::X, 0.4)];
    let joints = vec![JointSpec { motor: motor.clone(), ..hinge("small", 0.0) }, hinge("large", 1.0), gear];
    let mut simulation = start(&scene(wheels, joints));
    run_until(&mut simulation, 10.0);
    let angles = [0, 1].map(|k| joint(&simulation, k).state.position);
    assert!(angles[0] > 25.0 && (angles[1] + 2.5 * angles[0]).abs() < 1e-6, "{angles:?}");
    // A universal joint between shafts that stand at 30°: the second is ahead and behind twice a turn.
    let tilt = PI / 6.0;
    let second = DVec3::new(tilt.sin(), 0.0, tilt.cos());
    let shafts = vec![unit("first", -DVec3::Z, 0.1), unit("second", second, 0.1)];
    let cross = JointSpec {
        second_axis: Some(DVec3::Y),
        ..JointSpec::new(JointKind::Universal, ["first", "second"], DVec3::ZERO).about(DVec3::X)
    };
    let bearing = |name, x: DVec3, axis: DVec3| JointSpec::new(JointKind::Cylindrical, ["world", name], x).about(axis);
    let joints =
        vec![JointSpec { motor, ..bearing("first", -DVec3::Z, DVec3::Z) }, bearing("second", second, second), cross];
    let mut simulation = start(&scene(shafts, joints));
    let mut worst = 0.0f64;
    while simulation.world.time < 4.0 {
        step(&mut simulation);
        // tan of the second angle is tan of the first times cos of the tilt, from where the pin of the second is in the plane.
        let [a, b] = [0, 1].map(|k| joint(&simulation, k).state.position);
        let expected = (a.sin()).atan2(a.cos() * tilt.cos());
        let off = (b - expected + PI).rem_euclid(TAU) - PI;
        worst = worst.max(off.abs());
    }
    println!("shaft off by {worst:.1e}");
    assert!(worst < 1e-2, "{worst:e}");
}

/// Ten links, the last a thousand times as heavy as the others; it hangs, and swings by 20 degrees.
#[test]
fn a_heavy_weight_swings_on_a_light_chain() {
    let link = |k: usize| unit(&format!("{k}"), -DVec3::Z * (0.05 + 0.1 * k as f64), 1e-3);
    let mut bodies: Vec<BodySpec> = (0..10).map(link).collect();
    let heavy = bodies[9].mass.as_mut().unwrap();
    (heavy.mass, heavy.inertia) = (Some(1000.0), Some([1.0, 1.0, 1.0, 0.0, 0.0, 0.0]));
    bodies.iter_mut().for_each(|body| body.velocity.x = -body.position.z);
    bodies.iter_mut().for_each(|body| body.angular_velocity.y = -1.0);
    let pin = |k: usize| {
        let first = if k == 0 { "world".to_owned() } else { format!("{}", k - 1) };
        JointSpec::new(JointKind::Spherical, [&first, &format!("{k}")], -DVec3::Z * 0.1 * k as f64)
    };
    let mut simulation = start(&scene(bodies, (0..10).map(pin).collect()));
    let before = total(&mut simulation);
    let (mut drift, mut off) = (0.0f64, 0.0f64);
    while simulation.world.time < 5.0 {
        step(&mut simulation);
        let mut last = DVec3::ZERO;
        for k in 0..10 {
            let (x, half) = (position(&simulation, k), turn(&simulation, k) * DVec3::Z * 0.05);
            drift = drift.max((x + half - last).length());
            last = x - half;
        }
        off = off.max((total(&mut simulation) - before).abs() / 500.0);
    }
    println!("drift {drift:.1e}, energy {off:.1e}");
    assert!(drift < 1e-4, "{drift:e}");
    assert!(off < 0.01, "{off}");
}

#[test]
fn joined_bodies_touch_only_if_asked() {
    for collide in [false, true] {
        let ball = |name, x: f64| named(name, BodySpec::new(Shape::sphere(0.1), DVec3::X * x));
        let rod = JointSpec::new(JointKind::Prismatic, ["a", "b"], DVec3::ZERO).about(DVec3::X);
        let joint = JointSpec { collide, ..rod };
        let mut scene = scene(vec![ball("a", 0.0), ball("b", 0.3)], vec![joint]);
        scene.gravity = DVec3::ZERO;
        scene.body[1].velocity = -DVec3::X;
        let mut simulation = start(&scene);
        run_until(&mut simulation, 0.3);
        let distance = (position(&simulation, 1) - position(&simulation, 0)).x;
        assert!(if collide { distance > 0.19 } else { distance < 0.05 }, "{collide}: {distance}");
    }
}

/// A ball of one group falls through the floor of another, and others stop it.
#[test]
fn groups_pass_through_each_other_if_told() {
    for (groups, falls) in [([1, 2], true), ([2, 1], true), ([1, 1], false), ([0, 2], false)] {
        let floor = BodySpec { group: 2, ..BodySpec::new(Shape::half_space(), DVec3::ZERO) };
        let ball = BodySpec { group: 1, ..BodySpec::new(Shape::sphere(0.1), DVec3::Z * 0.15) };
        let mut scene = scene(vec![floor, ball], Vec::new());
        scene.no_contact = vec![barchan::scene::NoContact { groups }];
        let mut simulation = start(&scene);
        run_until(&mut simulation, 0.5);
        let z = position(&simulation, 1).z;
        assert!(if falls { z < -0.5 } else { (z - 0.1).abs() < 1e-3 }, "{groups:?}: {z}");
    }
}

#[test]
fn kinematic_bodies_carry_what_is_joined_to_them() {
    let crane =
        BodySpec { motion: Motion::Kinematic, velocity: DVec3::X, ..BodySpec::new(Shape::sphere(0.05), DVec3::Z) };
    let hook = JointSpec::new(JointKind::Fixed, ["crane", "load"], DVec3::Z);
    let mut simulation = start(&scene(vec![named("crane", crane), unit("load", DVec3::ZERO, 0.01)], vec![hook]));
    run_until(&mut simulation, 2.0);
    assert!((position(&simulation, 1) - DVec3::X * 2.0).length() < 1e-3, "{}", position(&simulation, 1));
    assert!(turn(&simulation, 1).angle_between(DQuat::IDENTITY) < 1e-3);
}

#[test]
fn bad_joints_are_refused() {
    let good = || JointSpec::new(JointKind::Revolute, ["world", "a"], DVec3::ZERO);
    let faults = |change: &dyn Fn(&mut Scene)| {
        let mut scene = scene(vec![unit("a", DVec3::ZERO, 1.0), unit("b", DVec3::X, 1.0)], vec![good()]);
        change(&mut scene);
        let faults: Vec<String> =
            scene.validate().iter().map(|fault| format!("{}: {}", fault.path, fault.message)).collect();
        faults.join("\n")
    };
    for (change, expected) in [
        (
            &(|s: &mut Scene| s.joint[0].bodies[1] = "c".into()) as &dyn Fn(&mut Scene),
            "joint[0].bodies[1]: unknown body \"c\"",
        ),
        (&|s| s.joint[0].bodies = ["a".into(), "world".into()], "joint[0].bodies[1]: the second body is the one whose"),
        (&|s| s.joint[0].bodies = ["a".into(), "a".into()], "joint[0].bodies[1]: a joint needs two different bodies"),
        (&|s| (s.body[0].motion, s.body[0].mass) = (Motion::Fixed, None), "joint[0].bodies: no force moves either"),
        (&|s| s.joint[0].axis = DVec3::ZERO, "joint[0].axis: must not be zero"),
        (&|s| s.joint[0].limits = Some([1.0, -1.0]), "joint[0].limits: the least comes first"),
        (&|s| s.joint[0].limits = Some([0.5, 1.0]), "joint[0].limits: must contain 0"),
        (&|s| s.joint[0].motor = Some(MotorSpec::default()), "joint[0].motor: a motor needs a speed or a position"),
        (&|s| s.joint[0].end = Some(DVec3::X), "joint[0].end: only a distance joint"),
        (&|s| s.joint[0].kind = JointKind::Distance, "joint[0].end: a distance joint needs its other end"),
        (&|s| s.joint[0].kind = JointKind::Universal, "joint[0].second_axis: a universal joint needs"),
        (&|s| s.joint[0].ratio = Some(2.0), "joint[0].ratio: only a gear"),
        (
            &|s| (s.joint[0].kind, s.joint[0].friction) = (JointKind::Fixed, 1.0),
            "joint[0].friction: a fixed joint has no",
        ),
        (&|s| s.joint[0].strength = Some(Strength::default()), "joint[0].strength: a joint breaks at"),
        (&|s| s.body[1].name = "a".into(), "body[1].name: there is another body named \"a\""),
        (&|s| s.body[1].name = "world".into(), "body[1].name: no body may be called \"world\""),
    ] {
        let found = faults(change);
        assert!(found.starts_with(expected), "{found:?} is not {expected:?}");
    }
}
