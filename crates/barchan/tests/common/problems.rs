//! Contact problems for tests of solvers: from real steps, made from those, and from outside.

// Each test program takes what it needs.
#![allow(dead_code)]

use super::common::{run, simulation};
use barchan::DVec3;
use barchan::cone::solver::SolverName;
use barchan::cone::{Arms, ContactScalars, ContactVec, Friction, Geometry, Problem, Row};
use barchan::dynamics::Integrator;
use barchan::scene::{BodySpec, Fill, Scene};
use barchan::shape::{Container, Face, Shape};
use barchan::step::Simulation;
use barchan::world::Material;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

/// A settled bed.
pub(crate) static BED: LazyLock<Problem> = LazyLock::new(|| settled(260, 0.5));
/// A settled bed of several chunks of bodies: on smaller ones all orders of sweeps are alike.
pub(crate) static LARGE: LazyLock<Problem> = LazyLock::new(|| settled(900, 0.4));
/// A settled bed without friction.
pub(crate) static SMOOTH: LazyLock<Problem> = LazyLock::new(|| settled(180, 0.0));
/// Spheres that have just hit the floor and each other.
pub(crate) static IMPACT: LazyLock<Problem> = LazyLock::new(impact);
/// A layer in the middle of sliding down a slope.
pub(crate) static SLIDING: LazyLock<Problem> = LazyLock::new(sliding);
/// A bed whose contacts have all kinds of friction, some of it none.
pub(crate) static MIXED: LazyLock<Problem> = LazyLock::new(mixed);
/// A bed of bodies that are not round.
pub(crate) static UNEVEN: LazyLock<Problem> = LazyLock::new(uneven);

/// A bed in which some bodies are not round.
pub(crate) static PARTLY_UNEVEN: LazyLock<Problem> = LazyLock::new(partly_uneven);

/// The problems of beds and of an impact, with their names.
pub(crate) fn problems() -> [(&'static str, &'static Problem); 3] {
    checked([("bed", &*BED), ("smooth bed", &*SMOOTH), ("impact", &*IMPACT)])
}

/// Every problem of spheres, with its name.
pub(crate) fn spheres() -> [(&'static str, &'static Problem); 5] {
    let [bed, smooth, impact] = problems();
    checked([bed, smooth, impact, ("sliding layer", &*SLIDING), ("mixed friction", &*MIXED)])
}

/// Every problem of contacts, with its name.
pub(crate) fn all_problems() -> [(&'static str, &'static Problem); 7] {
    let [bed, smooth, impact, sliding, mixed] = spheres();
    checked([
        bed,
        smooth,
        impact,
        sliding,
        mixed,
        ("uneven bodies", &*UNEVEN),
        ("partly uneven bodies", &*PARTLY_UNEVEN),
    ])
}

/// Sound problems, each with enough contacts to be worth solving.
fn checked<const N: usize>(all: [(&'static str, &'static Problem); N]) -> [(&'static str, &'static Problem); N] {
    for (name, problem) in all {
        assert_eq!(problem.check(), Ok(()));
        assert!(problem.contacts() > 100, "{name} has {} contacts", problem.contacts());
    }
    all
}

// ---------------------------------------------------------------- from real steps

/// A bed, stepped by a solver, a law and an integrator that are named: its problems do not change with the defaults.
fn bed(bodies: usize, friction: f64) -> Simulation {
    let overrides = [
        ("bodies", bodies.to_string()),
        ("friction", friction.to_string()),
        ("solver.name", "apgd".into()),
        ("solver.friction", "associated".into()),
        ("time.integrator", "euler".into()),
        ("contact.slip_rounding", "0".into()),
    ];
    simulation("sedimentation", &overrides)
}

/// The contact problem of a settled bed.
pub(crate) fn settled(bodies: usize, friction: f64) -> Problem {
    let mut bed = bed(bodies, friction);
    run(&mut bed, 400);
    bed.problem().expect("a step").to_problem()
}

/// Spheres of two materials and many sizes, the upper ones with friction and bounce.
fn impact() -> Problem {
    let material = vec![
        Material { name: "ice".into(), friction: 0.0, ..Material::default() },
        Material { name: "rubber".into(), friction: 0.9, restitution: 0.5, ..Material::default() },
    ];
    let mut scene = Scene { material, ..Scene::default() };
    scene.solver.name = SolverName::Apgd;
    scene.solver.friction = Some(Friction::Associated);
    scene.time.step = 1e-3.into();
    scene.time.integrator = Integrator::Euler;
    scene.contact.slip_rounding = 0.0;
    scene.body.push(BodySpec::new(Shape::half_space(), DVec3::ZERO));
    let side = DVec3::new(0.2, 0.2, 0.0);
    for (k, material) in ["ice", "rubber"].into_iter().enumerate() {
        let low = DVec3::new(0.0, 0.0, 0.12 * k as f64);
        let radius = barchan::scene::Radius::Uniform([0.008, 0.02]);
        let fill = Fill::new(low, low + side + 0.12 * DVec3::Z, 60, radius);
        scene.fill.push(Fill { velocity: DVec3::new(0.3, 0.0, -3.0), material: material.into(), ..fill });
    }
    let mut simulation = Simulation::from_scene(&scene).expect("a sound scene");
    run(&mut simulation, 30);
    simulation.problem().expect("a step").to_problem()
}

/// A bed that slides because its box was tilted and lost two walls a moment ago.
fn sliding() -> Problem {
    let mut bed = bed(220, 0.2);
    run(&mut bed, 400);
    let (sin, cos) = 40f64.to_radians().sin_cos();
    bed.world.gravity = 9.81 * DVec3::new(sin, 0.0, -cos);
    let bodies = &bed.world.bodies;
    let walls = bodies.id().iter().zip(bodies.shape()).filter_map(|(&id, shape)| match shape {
        Shape::Container(container) => Some((id, Container::clone(container))),
        _ => None,
    });
    for (id, container) in walls.collect::<Vec<_>>() {
        let open = vec![Face::LowX, Face::HighX, Face::HighZ];
        let opened = Shape::Container(Container { open, ..container }.into());
        bed.set_shape(id, opened).expect("a wall that stays one");
    }
    run(&mut bed, 40);
    bed.problem().expect("a step").to_problem()
}

// ---------------------------------------------------------------- made from those

fn mixed() -> Problem {
    let mut problem = BED.clone();
    let μ: Vec<f64> = (0..problem.contacts()).map(|i| [0.0, 0.05, 0.3, 1.2, 1e-12][i % 5]).collect();
    problem.friction = ContactScalars::from_slice(&μ);
    problem
}

/// A bed of spheres that became something else: inertia that differs between axes, of which some
/// cannot turn at all, and contacts beside the line of centres. Some motion parts all contacts.
fn uneven() -> Problem {
    deform(BED.to_general())
}

/// A bed in which every fifth body became something else: round and general contacts in one problem.
fn partly_uneven() -> Problem {
    let problem = deform(LARGE.with_tensors(|j| j % 5 == 0).0);
    let general = problem.contacts() - problem.geometry.arms.round();
    assert!(general > 300 && problem.geometry.arms.round() > 300, "both kinds of contacts");
    problem
}

/// Gives bodies with a tensor another one, and moves their contacts aside.
fn deform(mut problem: Problem) -> Problem {
    for (&j, inertia) in problem.geometry.tensors.bodies.iter().zip(&mut problem.geometry.tensors.inverse) {
        let [x, y, z, ..] = *inertia;
        *inertia = match j % 4 {
            0 => [0.0; 6],
            1 => [x, 0.0, 0.0, 0.0, 0.0, 0.0],
            _ => [x, 2.0 * y, 3.0 * z, 0.2 * x, -0.3 * x, 0.1 * x],
        };
    }
    let Geometry { radius, tensors, arms, .. } = &mut problem.geometry;
    for i in arms.round()..problem.pairs.len() {
        let aside = 0.002 * problem.normals.get(i).cross(DVec3::new(0.3, -0.5, 0.8));
        let mut both = arms.get(i).expect("arms of a general contact");
        for (arm, &j) in both.iter_mut().zip(&problem.pairs[i]) {
            if tensors.of(j as usize).is_some() && problem.inverse_mass[j as usize] > 0.0 {
                *arm += aside / radius[j as usize];
            }
        }
        arms.set(i, both);
    }
    stir(&mut problem, |_| 0.05);
    problem
}

/// A motion of every body, and the velocity that it gives to the point at an arm.
fn motion(problem: &Problem, j: u32, arm: DVec3) -> DVec3 {
    let part = |k: u32| f64::from((j + 1).wrapping_mul(k) % 1009) / 1009.0 - 0.5;
    let (v, s) = (DVec3::new(part(12_553), part(7_919), part(104_729)), DVec3::new(part(617), part(431), part(877)));
    // Of the spin only what the body's inertia allows.
    let [x, y, z, ..] = problem.inverse_inertia(j as usize);
    let s = DVec3::new(x, y, z).map(|inertia| if inertia > 0.0 { 1.0 } else { 0.0 }) * s;
    if problem.inverse_mass[j as usize] > 0.0 { v + s.cross(arm) } else { DVec3::ZERO }
}

/// Gives a problem velocities that some motion of the bodies undoes, but for a speed at which
/// each contact then parts. So there is a solution.
fn stir(problem: &mut Problem, parting: impl Fn(usize) -> f64) {
    let bias: Vec<DVec3> = (0..problem.contacts())
        .map(|i| {
            let ([a, b], [arm_a, arm_b]) = (problem.pairs[i], problem.arms(i));
            motion(problem, a, arm_a) - motion(problem, b, arm_b) + parting(i) * problem.normals.get(i)
        })
        .collect();
    problem.bias = ContactVec::from_slice(&bias);
}

// ---------------------------------------------------------------- with bilateral rows

/// A joint of three rows: the points at the arms of two bodies move together.
fn joint(problem: &mut Problem, bodies: [u32; 2], arms: [DVec3; 2]) {
    let drift = motion(problem, bodies[0], arms[0]) - motion(problem, bodies[1], arms[1]);
    for axis in DVec3::AXES {
        let jacobian = [[axis, arms[0].cross(axis)], [-axis, -arms[1].cross(axis)]];
        problem.rows.push(Row::bilateral(bodies, jacobian));
        problem.bias.rows.push(drift.dot(axis));
    }
}

/// Some bodies of a stirred bed joined to each other by joints of three rows, each as many times
/// as told.
pub(crate) fn joined(bed: &Problem, copies: usize) -> Problem {
    let mut problem = bed.to_general();
    stir(&mut problem, |_| 0.05);
    let free: Vec<u32> = (0..problem.bodies() as u32).filter(|&j| problem.inverse_mass[j as usize] > 0.0).collect();
    let arms = [DVec3::new(0.004, 0.003, -0.002), DVec3::new(-0.005, 0.001, 0.002)];
    for pair in free.chunks_exact(2).take(30) {
        for _ in 0..copies {
            joint(&mut problem, [pair[0], pair[1]], arms);
        }
    }
    assert_eq!(problem.check(), Ok(()));
    problem
}

/// A stirred bed in which every ninth contact is welded: a joint forbids what the contact only
/// bounds.
pub(crate) fn welded(bed: &Problem) -> Problem {
    let mut problem = bed.to_general();
    let is_welded = |i: usize| i.is_multiple_of(9);
    stir(&mut problem, |i| if is_welded(i) { 0.0 } else { 0.05 });
    for (i, bodies) in problem.pairs.clone().into_iter().enumerate().filter(|x| is_welded(x.0)) {
        let arms = problem.arms(i);
        joint(&mut problem, bodies, arms);
    }
    assert_eq!(problem.check(), Ok(()));
    problem
}

/// The joints of a problem without its contacts.
pub(crate) fn only_rows(problem: &Problem) -> Problem {
    let mut bias = ContactVec::default();
    bias.rows.clone_from(&problem.bias.rows);
    let geometry = Geometry { arms: Arms::default(), ..problem.geometry.clone() };
    let (inverse_mass, rows) = (problem.inverse_mass.clone(), problem.rows.clone());
    let alone = Problem { inverse_mass, geometry, rows, bias, ..Problem::default() };
    assert_eq!(alone.check(), Ok(()));
    alone
}

// ---------------------------------------------------------------- from outside

/// The files of `../shared/problems` beside the workspace by name, or nothing with a message: they
/// are not part of this repository.
pub(crate) fn files() -> Vec<(String, PathBuf)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/problems");
    let Ok(entries) = std::fs::read_dir(&folder) else {
        eprintln!("passed over: there is no {}", folder.display());
        return Vec::new();
    };
    let paths = entries.map(|entry| entry.expect("an entry").path());
    let mut found: Vec<_> = paths
        .filter(|path| path.extension().is_some_and(|end| end == "dat"))
        .map(|path| (path.file_stem().expect("a name").to_string_lossy().into_owned(), path))
        .collect();
    found.sort();
    found
}

/// The optimal value that is known for a file, by an independent interior point at 1e-9.
pub(crate) fn expected_objective(path: &Path, name: &str) -> f64 {
    let text = std::fs::read_to_string(path.with_file_name("expected.json")).expect("the known values");
    let known: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    known[name]["ccp_objective"].as_f64().unwrap_or_else(|| panic!("{name} has no known value"))
}
