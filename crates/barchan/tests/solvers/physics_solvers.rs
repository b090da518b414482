//! Mechanics with known answers, by every solver and every law that it knows.
//!
//! `cargo test --test solvers physics_solvers -- --nocapture` prints the iterations that a stack takes.

use super::common::run;
use super::solving::{every_solver, solve, with};
use barchan::cone::Problem;
use barchan::cone::solver::{Friction, Order, SolverName, SolverOptions, Status};
use barchan::dynamics::{ContactOptions, Integrator};
use barchan::scene::{BodySpec, Scene, Time};
use barchan::shape::Shape;
use barchan::step::Simulation;
use barchan::world::{Material, Rotation};
use barchan::{DQuat, DVec3};

const G: f64 = 9.81;
const LAWS: [Friction; 2] = [Friction::Associated, Friction::Coulomb];

/// Every solver with every law that it knows.
fn solvers(tolerance: f64) -> impl Iterator<Item = (String, SolverOptions)> {
    LAWS.into_iter().flat_map(move |law| every_solver(law, tolerance))
}

// ---------------------------------------------------------------- a sphere on an incline

const RADIUS: f64 = 0.1;
const DEGREES: f64 = 30.0;
const H: f64 = 1e-3;
/// Solves are as exact as 1e-9, and so are accelerations against gravity, but for rounding.
const EXACT: f64 = 1e-7;

/// A body on an incline, seen along it.
struct Incline {
    simulation: Simulation,
    downhill: DVec3,
    normal: DVec3,
}

impl Incline {
    /// From rest, touching.
    fn new(rotation: Rotation, friction: f64, solver: SolverOptions) -> Self {
        Self::at(DEGREES, rotation, friction, solver)
    }

    fn at(degrees: f64, rotation: Rotation, friction: f64, solver: SolverOptions) -> Self {
        let sphere = BodySpec { rotation, ..BodySpec::new(Shape::sphere(RADIUS), DVec3::Z * RADIUS) };
        Self::under(sphere, degrees, friction, solver)
    }

    /// A body that is given as it stands on the level.
    fn under(body: BodySpec, degrees: f64, friction: f64, solver: SolverOptions) -> Self {
        let (sin, cos) = degrees.to_radians().sin_cos();
        let normal = DVec3::new(sin, 0.0, cos);
        let downhill = DVec3::new(cos, 0.0, -sin);
        let plane = BodySpec { normal: Some(normal), ..BodySpec::new(Shape::half_space(), DVec3::ZERO) };
        let turn = DQuat::from_rotation_y(degrees.to_radians());
        let body = BodySpec { position: turn * body.position, orientation: Some(turn), ..body };
        let scene = Scene {
            time: Time { step: H.into(), end: 1.0, integrator: Integrator::Euler, ..Time::default() },
            contact: ContactOptions { slip_rounding: 0.0, ..ContactOptions::default() },
            gravity: -G * DVec3::Z,
            material: vec![Material { friction, ..Material::default() }],
            solver,
            body: vec![plane, body],
            ..Scene::default()
        };
        Self { simulation: Simulation::from_scene(&scene).expect("a sound scene"), downhill, normal }
    }

    fn body(&self) -> usize {
        self.simulation.world.bodies.index_of(1).expect("the body")
    }

    /// Speed of the centre, downhill.
    fn speed(&self) -> f64 {
        self.simulation.world.bodies.velocity[self.body()].dot(self.downhill)
    }

    /// Speed of the contact point, downhill.
    fn slip(&self) -> f64 {
        let spin = self.simulation.world.bodies.angular_velocity[self.body()];
        self.speed() + spin.cross(-RADIUS * self.normal).dot(self.downhill)
    }

    fn gap(&self) -> f64 {
        self.simulation.world.bodies.position[self.body()].dot(self.normal) - RADIUS
    }

    /// Accelerations of the centre and of the contact point between 0.1 s and 0.3 s: the associated
    /// law takes a step to lift the sphere off.
    fn accelerations(&mut self) -> [f64; 2] {
        run(&mut self.simulation, 100);
        let before = [self.speed(), self.slip()];
        run(&mut self.simulation, 200);
        [(self.speed() - before[0]) / 0.2, (self.slip() - before[1]) / 0.2]
    }

    /// The gap that the law leaves: hμ|u_t| under the associated one, none under the exact one.
    fn assert_gap(&self, what: &str, friction: f64, law: Friction) {
        let expected = if law == Friction::Associated { H * friction * self.slip() } else { 0.0 };
        // Of the way of a step at the largest speed there is.
        let allowed = EXACT * H * G;
        assert!((self.gap() - expected).abs() < allowed, "{what}: the gap is {}, not {expected}", self.gap());
    }
}

#[track_caller]
fn near(what: &str, found: f64, expected: f64) {
    assert!((found - expected).abs() < EXACT * G, "{what}: {found} is not {expected}");
}

/// Friction of 1e160 fell through the plane: its square is no number. What is above the bound sticks, and a sphere that
/// may turn rolls without slip.
#[test]
fn friction_of_any_size_holds_on_a_steep_incline() {
    const STEEP: f64 = 60.0;
    let sin = STEEP.to_radians().sin();
    for (solver, options) in solvers(1e-9) {
        for friction in [1e2, 1e3, 1e6, 1e160, f64::MAX] {
            let what = format!("{solver} {:?} at {friction}", options.law());
            let mut block = Incline::at(STEEP, Rotation::Locked, friction, options);
            run(&mut block.simulation, 200);
            assert!(block.speed().abs() < 1e-6 * G * 0.2, "{what}: it slides at {}", block.speed());
            assert!(block.gap().abs() < 1e-6, "{what}: the gap is {}", block.gap());
            let mut ball = Incline::at(STEEP, Rotation::Free, friction, options);
            run(&mut ball.simulation, 200);
            let rolling = 5.0 / 7.0 * G * sin * 0.2;
            assert!((ball.speed() / rolling - 1.0).abs() < 1e-5, "{what}: {} is not {rolling}", ball.speed());
            assert!(ball.gap().abs() < 1e-6, "{what}: the gap is {}", ball.gap());
        }
    }
}

/// A block rests iff μ ≥ tan θ; else it slides at g(sin θ − μ cos θ), over the law's gap.
#[test]
fn a_body_that_cannot_turn_sticks_or_slides() {
    let (sin, cos) = DEGREES.to_radians().sin_cos();
    for (solver, options) in solvers(1e-9) {
        for factor in [0.5, 0.98, 1.02, 2.0] {
            let (friction, law) = (factor * sin / cos, options.law());
            let what = format!("{solver} {law:?} at {factor}");
            let mut incline = Incline::new(Rotation::Locked, friction, options);
            let [acceleration, _] = incline.accelerations();
            near(&what, acceleration, (G * (sin - friction * cos)).max(0.0));
            if factor > 1.0 {
                near(&what, incline.speed() / 0.3, 0.0);
            } else {
                assert!(incline.speed() > 1e-3, "{what}: it slides");
            }
            incline.assert_gap(&what, friction, law);
            let bodies = &incline.simulation.world.bodies;
            assert_eq!(bodies.angular_velocity[incline.body()], DVec3::ZERO, "{what}");
            assert!(incline.simulation.energy().kinetic.is_finite(), "{what}");
        }
    }
}

/// A sphere rolls iff μ ≥ (2/7) tan θ, at (5/7) g sin θ; else it slides at g(sin θ − μ cos θ), and
/// friction turns it at (5/2) μ g cos θ / r.
#[test]
fn a_sphere_that_can_turn_rolls_or_slides() {
    let (sin, cos) = DEGREES.to_radians().sin_cos();
    for (solver, options) in solvers(1e-9) {
        for factor in [0.5, 0.98, 1.02, 2.0] {
            let (friction, law) = (factor * 2.0 / 7.0 * sin / cos, options.law());
            let what = format!("{solver} {law:?} at {factor}");
            let mut incline = Incline::new(Rotation::Free, friction, options);
            let [centre, point] = incline.accelerations();
            if factor > 1.0 {
                near(&what, centre, 5.0 / 7.0 * G * sin);
                near(&what, incline.slip() / 0.3, 0.0);
            } else {
                near(&what, centre, G * (sin - friction * cos));
                near(&what, point, G * (sin - 3.5 * friction * cos));
                assert!(incline.slip() > 1e-3, "{what}: it slides");
            }
            incline.assert_gap(&what, friction, law);
        }
    }
}

/// The same of a box that may turn, on the four contacts under its corners: their impulses are not unique, its motion is.
/// Its corners slide alike, so it neither tilts nor turns.
#[test]
fn a_box_on_four_corners_sticks_or_slides() {
    const SURE: f64 = 1e-5;
    let (sin, cos) = DEGREES.to_radians().sin_cos();
    let half = DVec3::new(0.1, 0.07, 0.03);
    for (solver, options) in solvers(1e-8) {
        for factor in [0.5, 0.98, 1.02, 2.0] {
            let (friction, law) = (factor * sin / cos, options.law());
            let what = format!("{solver} {law:?} at {factor}");
            let cuboid = BodySpec::new(Shape::cuboid(half), DVec3::Z * half.z);
            let mut incline = Incline::under(cuboid, DEGREES, friction, options);
            run(&mut incline.simulation, 50);
            assert_eq!(incline.simulation.contacts().len(), 4, "{what}");
            let before = incline.speed();
            run(&mut incline.simulation, 100);
            let acceleration = (incline.speed() - before) / 0.1;
            let expected = (G * (sin - friction * cos)).max(0.0);
            assert!((acceleration - expected).abs() < SURE * G, "{what}: {acceleration}, not {expected}");
            let bodies = &incline.simulation.world.bodies;
            let i = incline.body();
            assert!(bodies.angular_velocity[i].length() < SURE * G / half.x, "{what}: {}", bodies.angular_velocity[i]);
            let gap = bodies.position[i].dot(incline.normal) - half.z;
            let expected = if law == Friction::Associated { H * friction * incline.speed() } else { 0.0 };
            assert!((gap - expected).abs() < 1e-5 * half.z, "{what}: the gap is {gap}, not {expected}");
        }
    }
}

// ---------------------------------------------------------------- a stack

const SPHERES: usize = 10;

/// A column of spheres of one radius that leans on the walls of a narrow shaft, left and right in
/// turn, each about twice as heavy as the one below: 1 to 1000 in all.
fn stack(solver: SolverOptions) -> Simulation {
    let (r, aside) = (0.01f64, 0.001f64);
    let rise = (4.0 * r * r - 8.0 * aside * aside).sqrt();
    let material = |k: usize| {
        let density = 100.0 * 1000f64.powf(k as f64 / (SPHERES - 1) as f64);
        Material { name: format!("sphere {k}"), density, friction: 0.3, ..Material::default() }
    };
    let half = DVec3::new(r + aside, r + aside, 0.2);
    let mut body = vec![BodySpec::new(Shape::container(half), half.z * DVec3::Z)];
    for k in 0..SPHERES {
        let side = if k % 2 == 0 { aside } else { -aside };
        let position = DVec3::new(side, side, r + k as f64 * rise);
        body.push(BodySpec { material: format!("sphere {k}"), ..BodySpec::new(Shape::sphere(r), position) });
    }
    let scene = Scene {
        time: Time { step: 1e-3.into(), end: 1.0, ..Time::default() },
        material: (0..SPHERES).map(material).collect(),
        solver,
        body,
        ..Scene::default()
    };
    Simulation::from_scene(&scene).expect("a sound scene")
}

/// Iterations from a cold start, or what was reached within the limit.
fn cold(problem: &Problem, options: &SolverOptions) -> String {
    let (_, _, report) = solve(problem, options);
    match report.status {
        Status::Converged => report.iterations.to_string(),
        _ => format!("> {} ({:.0e})", report.iterations, report.residual),
    }
}

/// The load on the lightest is a thousand times its weight. When all is settled no sphere moves by
/// more than a thousandth of a radius a second, and none is pressed in by more than a thousandth of
/// a radius. `jacobi` would take more than 100 000 iterations a step; it must say that it failed.
#[test]
fn a_stack_with_the_heaviest_on_top_stands() {
    println!("| solver | law | a step | steps that missed | cold to 1e-2 | 1e-4 | 1e-6 | speed | penetration |");
    let mut settled = stack(with(SolverName::Scip, Friction::Associated, Order::default(), 1e-6));
    run(&mut settled, 50);
    for (solver, options) in solvers(1e-4) {
        let is_hopeless = options.name == SolverName::Jacobi;
        let options = SolverOptions { max_iterations: if is_hopeless { 2_000 } else { 100_000 }, ..options };
        let mut simulation = stack(options);
        let (mut iterations, mut penetration, mut missed, mut speed) = (0, 0.0f64, 0, 0.0f64);
        for step in 0..50 {
            let report = simulation.step().expect("a finite state");
            missed += u32::from(report.solver.status != Status::Converged);
            if step >= 40 {
                iterations += report.solver.iterations;
                penetration = penetration.max(report.penetration.max);
                speed = simulation.world.bodies.velocity.iter().map(|v| v.length()).fold(speed, f64::max);
            }
        }
        let from_cold = |tolerance: f64| {
            cold(
                &settled.problem().expect("a step").to_problem(),
                &SolverOptions { tolerance, max_iterations: 10_000, ..options },
            )
        };
        println!(
            "| `{solver}` | {} | {:.0} | {missed} | {} | {speed:.0e} | {penetration:.0e} |",
            options.law().name(),
            f64::from(iterations) / 10.0,
            [1e-2, 1e-4, 1e-6].map(from_cold).join(" | ")
        );
        let stands = speed < 1e-5 && penetration < 1e-5;
        assert!(stands || is_hopeless && missed > 0, "{solver} {:?}: {speed} {penetration}", options.law());
    }
}
