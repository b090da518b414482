//! Motions by formulas and waypoints, and belts, against what is known of them.

use super::common::run;
use barchan::DVec3;
use barchan::cone::solver::SolverOptions;
use barchan::scene::Scene;
use barchan::step::Simulation;
use std::f64::consts::TAU;

const G: f64 = 9.81;

/// A scene with the solver at a tight tolerance.
fn start(text: &str) -> Simulation {
    let mut scene = Scene::from_toml(text, "text").unwrap_or_else(|error| panic!("{error}"));
    scene.solver = SolverOptions { tolerance: 1e-10, max_iterations: 10_000, ..SolverOptions::default() };
    Simulation::from_scene(&scene).expect("a sound scene")
}

fn at(simulation: &Simulation, id: u64) -> usize {
    simulation.world.bodies.index_of(id).expect("a body of the scene")
}

/// Steps that are chosen, with what is beside the moving body for them to go by.
const CHOSEN: &str =
    "[time]\nstep = \"auto\"\n[[body]]\nshape = { sphere = { radius = 0.01 } }\nposition = [9, 9, 9]\n";
const FIXED: &str = "[time]\nstep = 7e-3\n[[body]]\nshape = { sphere = { radius = 0.01 } }\nposition = [9, 9, 9]\n";

#[test]
fn bodies_are_where_their_formulas_have_them() {
    let body = "[[body]]\nmotion = \"kinematic\"\nshape = { box = { half_extents = [0.1, 0.1, 0.1] } }\n\
                position = [1, 0, 0]\nvelocity = [0, 0.5, 0]\n\
                path = [\"0.02*sin(2*pi*5*t)\", 0, \"0.1*t^2\"]\n\
                waypoints = { times = [0.1, 0.4, 0.6], positions = [[0, 0, 0], [0, 0.3, 0], [0, 0.3, 0.1]] }\n\
                turn = { axis = [0, 0, 3], angle = \"0.5*sin(2*pi*2*t)\" }\n";
    for head in [CHOSEN, FIXED] {
        let mut simulation = start(&format!("{head}{body}"));
        while simulation.world.time < 0.9 {
            simulation.step().expect("a finite state");
            let t = simulation.world.time;
            let smooth = |part: f64| {
                let part = part.clamp(0.0, 1.0);
                part * part * (3.0 - 2.0 * part)
            };
            let expected = DVec3::new(
                1.0 + 0.02 * (TAU * 5.0 * t).sin(),
                0.5 * t + 0.3 * smooth((t - 0.1) / 0.3),
                0.1 * t * t + 0.1 * smooth((t - 0.4) / 0.2),
            );
            let i = at(&simulation, 1);
            let found = simulation.world.bodies.position[i];
            assert!((found - expected).length() < 1e-12, "{t}: {found}, expected {expected}");
            let angle = 0.5 * (TAU * 2.0 * t).sin();
            let turned = simulation.world.bodies.orientation[i] * DVec3::X;
            assert!((turned - DVec3::new(angle.cos(), angle.sin(), 0.0)).length() < 1e-12, "{t}: {turned}");
        }
    }
}

/// What the length of steps follows from: the acceleration of a tray for the grains on it, and no more.
#[test]
fn chosen_steps_follow_a_motion() {
    let shortest = |path: &str| {
        let body = format!(
            "gravity = [0, 0, 0]\n{CHOSEN}[[body]]\nmotion = \"kinematic\"\nshape = {{ half-space = {{}} }}\npath = [0, 0, {path}]\n"
        );
        let mut simulation = start(&body);
        let mut shortest = f64::INFINITY;
        let mut steps = 0;
        while simulation.world.time < 0.3 {
            shortest = shortest.min(simulation.step().expect("a finite state").length);
            steps += 1;
        }
        println!("{path}: {steps} steps, the shortest {shortest:e}");
        (shortest, steps)
    };
    // 4a·√(r/g) with the accuracy a = 0.01, r = 0.01 and the acceleration 40, on the rung below: 6.3e-4.
    let (shaken, _) = shortest("\"20*t^2\"");
    assert!((5.5e-4..=6.4e-4).contains(&shaken), "{shaken}");
    // A vibration of a kilohertz is seen, whatever the first step would be.
    let (fast, _) = shortest("\"0.0001*sin(2*pi*1000*t)\"");
    assert!((3e-5..1e-4).contains(&fast), "{fast}");
    // What is steady costs nothing, and a jump ends.
    let (steady, _) = shortest("\"0.1*t\"");
    assert!(steady >= 1e-3, "{steady}");
    let (jump, steps) = shortest("\"0.01*step(t - 0.1)\"");
    assert!(jump >= 0.8e-5 && steps < 2000, "{jump} {steps}");
}

/// Coulomb: v = μgt until the block has the speed of the belt, and that speed ever after.
#[test]
fn a_block_on_a_belt_comes_to_its_speed() {
    let (friction, speed) = (0.4, 1.5);
    let scene = |belt: &str| {
        format!(
            "[time]\nstep = 1e-3\n[contact]\nslip_rounding = 0\n[[material]]\nname = \"rubber\"\nfriction = {friction}\n{belt}\n\
             [[body]]\nshape = {{ box = {{ half_extents = [0.1, 0.1, 0.05] }} }}\nposition = [0, 0, 0.05]\n"
        )
    };
    let wall = "[[body]]\nshape = { half-space = {} }\nsurface_velocity = [1.5, 0, 3]\n";
    let table = "[[body]]\nshape = { box = { half_extents = [5, 1, 0.5] } }\nmotion = \"fixed\"\nposition = [0, 0, -0.5]\n\
                 orientation = [0, 0, 0.7071067811865476, 0.7071067811865476]\nsurface_velocity = [0, -1.5, 0]\n";
    for belt in [wall, table] {
        let mut simulation = start(&scene(belt));
        for step in 1..=600 {
            simulation.step().expect("a finite state");
            let i = at(&simulation, 1);
            let expected = (friction * G * 1e-3 * f64::from(step)).min(speed);
            let found = simulation.world.bodies.velocity[i];
            assert!(
                (found - DVec3::new(expected, 0.0, 0.0)).length() < 1e-5,
                "step {step}: {found}, expected {expected}"
            );
        }
        let place = simulation.world.bodies.position[at(&simulation, 1)];
        // Behind the belt by v²/2μg.
        let expected = speed * 0.6 - speed * speed / (2.0 * friction * G);
        assert!((place - DVec3::new(expected, 0.0, 0.05)).length() < 1e-4, "{place}, expected {expected}");
        assert_eq!(simulation.world.bodies.position[at(&simulation, 0)].x, 0.0, "the belt itself stays");
    }
}

/// From rest v = μgt and rω = (5/2)μgt, until the contact point has the speed of the belt: v = (2/7)V from then on.
#[test]
fn a_ball_on_a_belt_rolls_at_two_sevenths_of_its_speed() {
    let (friction, speed, radius) = (0.3, 2.1, 0.05);
    for belt in ["[2.1, 0, 0]", "[\"2.1\", 0, \"t\"]"] {
        let mut simulation = start(&format!(
            "[time]\nstep = 1e-3\n[contact]\nslip_rounding = 0\n[[material]]\nname = \"rubber\"\nfriction = {friction}\n\
             [[body]]\nshape = {{ half-space = {{}} }}\nsurface_velocity = {belt}\n\
             [[body]]\nshape = {{ sphere = {{ radius = {radius} }} }}\nposition = [0, 0, {radius}]\n"
        ));
        let slips = 2.0 * speed / (7.0 * friction * G);
        run(&mut simulation, 100);
        let i = at(&simulation, 1);
        assert!((simulation.world.bodies.velocity[i].x - 0.1 * friction * G).abs() < 1e-6);
        run(&mut simulation, (slips / 1e-3) as usize);
        let i = at(&simulation, 1);
        let (v, w) = (simulation.world.bodies.velocity[i], simulation.world.bodies.angular_velocity[i]);
        assert!((v - DVec3::new(2.0 / 7.0 * speed, 0.0, 0.0)).length() < 1e-5, "{v}");
        assert!((v.x - radius * w.y - speed).abs() < 1e-5, "it does not slip: {w}");
    }
}

/// A ball that falls on a belt is pushed along by the impact: Coulomb's impulse, μ(1 + e) times that of the fall.
#[test]
fn belts_act_in_impacts() {
    let mut simulation = start(
        "[time]\nstep = 1e-3\n[[material]]\nname = \"rubber\"\nfriction = 0.1\nrestitution = 0.5\n\
         [[body]]\nshape = { half-space = {} }\nsurface_velocity = [0, 5, 0]\n\
         [[body]]\nshape = { sphere = { radius = 0.05 } }\nposition = [0, 0, 0.25]\n",
    );
    run(&mut simulation, 220);
    let v = simulation.world.bodies.velocity[at(&simulation, 1)];
    let fall = (2.0 * G * 0.2).sqrt();
    assert!((v.y - 0.1 * 1.5 * fall).abs() < 1e-3 * fall && v.x == 0.0 && v.z > 0.0, "{v}");
}

/// A belt whose speed is a formula, on a box that a path carries about, with balls on it.
const MACHINE: &str = "[time]\nstep = \"auto\"\n[[body]]\nshape = { box = { half_extents = [0.3, 0.2, 0.02] } }\n\
    motion = \"kinematic\"\npath = [0, 0, \"0.004*sin(2*pi*8*t)\"]\nturn = { axis = [0, 1, 0], angle = \"0.1*sin(3*t)\" }\n\
    surface_velocity = [\"0.5*smooth(t)\", \"0.1*cos(9*t)\", 0]\n\
    [[body]]\nshape = { container = { half_extents = [0.3, 0.2, 0.5], open = [\"+z\", \"-z\"] } }\nposition = [0, 0, 0.4]\n\
    motion = \"kinematic\"\nwaypoints = { times = [0, 0.2, 0.4], positions = [[0, 0, 0], [0.02, 0, 0], [0, 0, 0]], repeat = true }\n\
    [[lattice]]\ncounts = [8, 6, 4]\nspacing = 0.06\nradius = { uniform = [0.02, 0.028] }\norigin = [-0.21, -0.15, 0.06]\n";

#[test]
fn machines_are_the_same_on_any_number_of_threads() {
    let state = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
        pool.install(|| {
            let scene = Scene::from_toml(MACHINE, "text").unwrap_or_else(|error| panic!("{error}"));
            let mut simulation = Simulation::from_scene(&scene).expect("a sound scene");
            run(&mut simulation, 250);
            (simulation.world.state_hash(), simulation.world.time.to_bits())
        })
    };
    assert_eq!(state(1), state(3));
}
