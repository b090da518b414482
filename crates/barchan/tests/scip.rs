//! The interior point against APGD, the assembled twin of each problem, and problems from outside.
//!
//! Impulses of a packing are not unique; the objective and the velocities u = Aγ + b are, so
//! those are compared.

mod common;

use barchan::DVec3;
use barchan::problem::{
    AnyProblem, Assembled, BlockSparse, BodyVec, ConeProblem, ContactScalars, ContactVec, Criterion, Geometry,
    MatrixFree, Problem, Response, Row, Workspace,
};
use barchan::scene::{BodySpec, Fill, Scene};
use barchan::shape::Shape;
use barchan::solver::{Apgd, Report, Scip, ScipOptions, Solver, SolverOptions, Status};
use barchan::step::Simulation;
use barchan::world::Material;
use common::{run, simulation};
use std::sync::LazyLock;

// ---------------------------------------------------------------- problems from real steps

fn settled(bodies: usize, friction: f64) -> Problem {
    let mut bed = simulation("sedimentation", &[("bodies", bodies.to_string()), ("friction", friction.to_string())]);
    run(&mut bed, 400);
    bed.problem().clone()
}

/// Spheres of two materials and many sizes that have just hit the floor and each other.
fn impact() -> Problem {
    let material = vec![
        Material { name: "ice".into(), friction: 0.0, ..Material::default() },
        Material { name: "rubber".into(), friction: 0.9, restitution: 0.5, ..Material::default() },
    ];
    let mut scene = Scene { material, ..Scene::default() };
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
    simulation.problem().clone()
}

/// A bed whose contacts have all kinds of friction, some of it none.
fn mixed() -> Problem {
    let mut problem = BED.clone();
    let μ: Vec<f64> = (0..problem.contacts()).map(|i| [0.0, 0.05, 0.3, 1.2, 1e-12][i % 5]).collect();
    problem.friction = ContactScalars::from_slice(&μ);
    problem
}

/// A bed of spheres that became something else: inertia that differs between axes, of which some
/// cannot turn at all, and contacts beside the line of centres. Some motion parts all contacts.
fn uneven() -> Problem {
    let mut problem = BED.to_general();
    let normals: Vec<DVec3> = problem.normals.iter().collect();
    let Geometry::General { inverse_inertia, arms_a, arms_b } = &mut problem.geometry else { unreachable!() };
    for (j, inertia) in inverse_inertia.iter_mut().enumerate() {
        let [x, y, z, ..] = *inertia;
        *inertia = match j % 4 {
            0 => [0.0; 6],
            1 => [x, 0.0, 0.0, 0.0, 0.0, 0.0],
            _ => [x, 2.0 * y, 3.0 * z, 0.2 * x, -0.3 * x, 0.1 * x],
        };
    }
    for (i, n) in normals.into_iter().enumerate() {
        let aside = 0.002 * n.cross(DVec3::new(0.3, -0.5, 0.8));
        arms_a.set(i, arms_a.get(i) + aside);
        arms_b.set(i, arms_b.get(i) + aside);
    }
    let motion = |j: u32, arm: DVec3| {
        let part = |k: u32| f64::from((j + 1).wrapping_mul(k) % 1009) / 1009.0 - 0.5;
        let (v, s) =
            (DVec3::new(part(12_553), part(7_919), part(104_729)), DVec3::new(part(617), part(431), part(877)));
        // Of the spin only what the body's inertia allows.
        let s = [DVec3::ZERO, DVec3::new(s.x, 0.0, 0.0), s, s][j as usize % 4];
        if problem.inverse_mass[j as usize] > 0.0 { v + s.cross(arm) } else { DVec3::ZERO }
    };
    let bias = problem.pairs.iter().enumerate().map(|(i, &[a, b])| {
        let [arm_a, arm_b] = problem.arms(i);
        motion(a, arm_a) - motion(b, arm_b) + 0.05 * problem.normals.get(i)
    });
    problem.bias = ContactVec::from_slice(&bias.collect::<Vec<_>>());
    problem
}

static BED: LazyLock<Problem> = LazyLock::new(|| settled(220, 0.5));

fn problems() -> [(&'static str, Problem); 5] {
    let all = [
        ("bed", BED.clone()),
        ("smooth bed", settled(180, 0.0)),
        ("impact", impact()),
        ("mixed friction", mixed()),
        ("uneven bodies", uneven()),
    ];
    for (name, problem) in &all {
        assert_eq!(problem.check(), Ok(()));
        assert!(problem.contacts() > 100, "{name} has {} contacts", problem.contacts());
    }
    all
}

fn options(tolerance: f64) -> SolverOptions {
    SolverOptions { tolerance, max_iterations: 200_000, ..SolverOptions::default() }
}

/// Solves from a cold start: impulses, velocities of contacts, report.
fn solve(
    problem: &Problem,
    solver: &mut impl for<'a> Solver<MatrixFree<'a>>,
    options: &SolverOptions,
) -> (ContactVec, ContactVec, Report) {
    let mut workspace = Workspace::default();
    let mut operator = MatrixFree::new(problem, &mut workspace);
    let (mut γ, mut response, mut u) =
        (ContactVec::zeros(problem.contacts()), BodyVec::default(), ContactVec::default());
    let report = solver.solve(&mut operator, &mut γ, &mut response, options, true);
    operator.gradient(&γ, &mut u);
    (γ, u, report)
}

fn scip(problem: &Problem, options: &SolverOptions) -> (ContactVec, ContactVec, Report) {
    solve(problem, &mut Scip::default(), options)
}

#[track_caller]
fn feasible(problem: &Problem, γ: &ContactVec) {
    for (i, p) in γ.iter().enumerate() {
        let (n, μ) = (problem.normals.get(i), problem.friction[i]);
        let normal = p.dot(n);
        assert!(normal >= 0.0 && (p - n * normal).length() <= μ * normal * (1.0 + 1e-9) + 1e-15 * p.length(), "{p}");
    }
    assert!(γ.rows.iter().all(|x| x.is_finite()));
}

/// The larger of two relative differences: of objectives, and of velocities.
fn difference(a: &(ContactVec, ContactVec, Report), b: &(ContactVec, ContactVec, Report)) -> f64 {
    let largest = a.1.iter().map(DVec3::length).fold(0.0, f64::max);
    let apart = a.1.iter().zip(b.1.iter()).map(|(x, y)| (x - y).length()).fold(0.0, f64::max);
    (apart / largest).max((a.2.objective - b.2.objective).abs() / b.2.objective.abs())
}

#[test]
fn agrees_with_apgd() {
    for (name, problem) in problems() {
        let there = solve(&problem, &mut Apgd::default(), &options(1e-9));
        assert_eq!(there.2.status, Status::Converged, "{name}");
        // Contacts that neither press nor part have impulses and velocities of the order of √ν.
        let here = scip(&problem, &options(1e-5));
        assert_eq!(here.2.status, Status::Converged, "{name}: {:?}", here.2);
        assert!(here.2.iterations <= 40, "{name}: {} iterations", here.2.iterations);
        feasible(&problem, &here.0);
        let apart = difference(&here, &there);
        assert!(apart < 1e-4, "{name}: {apart}");
        let objective = (here.2.objective - there.2.objective).abs();
        assert!(objective < 1e-8 * there.2.objective.abs(), "{name}: {objective}");
    }
}

#[test]
fn both_forms_of_a_problem_have_one_solution() {
    for (name, problem) in problems() {
        let here = scip(&problem, &options(1e-6));
        let assembled = Assembled::from_problem(&problem).expect("a sound problem");
        let mut operator = BlockSparse::new(&assembled);
        let (mut γ, mut w) = (ContactVec::zeros(problem.contacts()), Response::default());
        let report = Scip::default().solve(&mut operator, &mut γ, &mut w, &options(1e-5), true);
        assert_eq!(report.status, Status::Converged, "{name}: {report:?}");
        let apart = (report.objective - here.2.objective).abs();
        assert!(apart < 1e-8 * here.2.objective.abs(), "{name}: {apart}");
    }
}

#[test]
fn every_criterion_stops_it() {
    for criterion in [Criterion::Natural, Criterion::S1, Criterion::S0] {
        let (γ, _, report) = scip(&BED, &SolverOptions { criterion, ..options(1e-5) });
        assert_eq!(report.status, Status::Converged, "{criterion:?}");
        assert!(report.residual <= 1e-5 && report.residual == report.residuals.by(criterion));
        assert_eq!(report.history.len(), report.iterations as usize + 1);
        assert!(report.operator_applications > 2 * report.iterations);
        feasible(&BED, &γ);
    }
    let (_, _, report) = scip(&BED, &SolverOptions { max_iterations: 3, ..options(1e-6) });
    assert_eq!((report.status, report.iterations), (Status::IterationLimit, 3));
    let (_, _, report) = scip(&BED, &SolverOptions { max_iterations: 0, ..options(1e-6) });
    assert_eq!((report.status, report.iterations), (Status::IterationLimit, 0));
    // What is asked for in vain is told, and the best is returned.
    let (γ, _, report) = scip(&BED, &options(1e-15));
    assert_eq!(report.status, Status::Stalled);
    assert!(report.residual < 1e-6, "{}", report.residual);
    feasible(&BED, &γ);
}

// ---------------------------------------------------------------- linear systems

#[test]
fn conjugate_gradients_lead_to_the_same_solution() {
    // The last has more than one domain.
    let large = ("large bed", settled(1500, 0.4));
    for (name, problem) in problems().into_iter().chain([large]) {
        let direct = scip(&problem, &options(1e-3));
        let system = ScipOptions { system: barchan::problem::System::Iterative, ..ScipOptions::default() };
        let iterative = scip(&problem, &SolverOptions { scip: system, ..options(1e-3) });
        assert_eq!(iterative.2.status, Status::Converged, "{name}");
        let apart = (direct.2.objective - iterative.2.objective).abs();
        assert!(apart < 1e-4 * direct.2.objective.abs(), "{name}: {apart}");
    }
}

/// Memory of one solve serves the next, of the same pattern or another.
#[test]
fn a_solver_can_be_used_again() {
    let (mut workspace, mut solver) = (Workspace::default(), Scip::default());
    let all = problems();
    let again = all.iter().chain(&all[..2]).chain([&all[1], &all[4], &all[3]]);
    for (name, problem) in again {
        let fresh = scip(problem, &options(1e-4));
        let mut operator = MatrixFree::new(problem, &mut workspace);
        let (mut γ, mut response) = (ContactVec::zeros(problem.contacts()), BodyVec::default());
        for _ in 0..2 {
            γ.resize(problem.contacts());
            let report = solver.solve(&mut operator, &mut γ, &mut response, &options(1e-4), true);
            assert_eq!((&report, &γ), (&fresh.2, &fresh.0), "{name}");
        }
    }
}

#[test]
fn the_same_bits_on_any_number_of_threads() {
    let problem = settled(1500, 0.4);
    let on = |threads: usize, system| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
        let options = SolverOptions { scip: ScipOptions { system, ..ScipOptions::default() }, ..options(1e-2) };
        pool.install(|| scip(&problem, &options))
    };
    for system in [barchan::problem::System::Direct, barchan::problem::System::Iterative] {
        let one = on(1, system);
        assert!(one.2.iterations > 5);
        assert_eq!(one, on(2, system));
        assert_eq!(one, on(3, system));
    }
}

// ---------------------------------------------------------------- what is degenerate

/// A sphere on a floor, in the units of its mass and radius.
fn resting(bias: DVec3, μ: f64, contacts: usize) -> Problem {
    Problem {
        inverse_mass: vec![1.0, 0.0],
        geometry: Geometry::Round { radius: vec![1.0, 0.0], inverse_inertia: vec![2.5, 0.0] },
        pairs: vec![[0, 1]; contacts],
        normals: ContactVec::from_slice(&vec![DVec3::Z; contacts]),
        friction: ContactScalars::from_slice(&vec![μ; contacts]),
        bias: ContactVec::from_slice(&vec![bias; contacts]),
        rows: Vec::new(),
    }
}

#[test]
fn one_contact_sticks_slides_or_opens() {
    let solve = |bias, μ| scip(&resting(bias, μ, 1), &options(1e-9)).0.get(0);
    // It rolls: A is diag(3.5, 3.5, 1).
    let stick = solve(DVec3::new(0.35, 0.0, -1.0), 0.5);
    assert!((stick - DVec3::new(-0.1, 0.0, 1.0)).length() < 1e-7, "{stick}");
    // min ½(n² + 3.5μ²n²) − n − μn·7 for γ = (−μn, 0, n).
    let slide = solve(DVec3::new(7.0, 0.0, -1.0), 0.5);
    let n = (1.0 + 0.5 * 7.0) / (1.0 + 3.5 * 0.25);
    assert!((slide - DVec3::new(-0.5 * n, 0.0, n)).length() < 1e-7 * n, "{slide}");
    let smooth = solve(DVec3::new(7.0, 3.0, -1.0), 0.0);
    assert!((smooth - DVec3::Z).length() < 1e-7, "{smooth}");
    assert_eq!(solve(DVec3::new(0.3, 0.0, 1.0), 0.5), DVec3::ZERO);
}

#[test]
fn duplicate_contacts_share_the_load() {
    for μ in [0.0, 0.3] {
        let (γ, u, report) = scip(&resting(DVec3::new(0.2, 0.1, -1.0), μ, 7), &options(1e-9));
        assert_eq!(report.status, Status::Converged);
        let total: DVec3 = γ.iter().sum();
        let expected = if μ > 0.0 { DVec3::new(-0.2 / 3.5, -0.1 / 3.5, 1.0) } else { DVec3::Z };
        assert!((total - expected).length() < 1e-7, "{total}");
        assert!(u.iter().all(|u| u.z.abs() < 1e-7));
    }
}

#[test]
fn nothing_to_do() {
    let (γ, _, report) = scip(&Problem::default(), &options(1e-6));
    assert_eq!((report.status, report.iterations, γ.len()), (Status::Converged, 0, 0));
    // Contacts that all part need no impulse.
    let mut parting = BED.clone();
    for i in 0..parting.contacts() {
        parting.bias.set(i, parting.normals.get(i));
    }
    let (γ, _, report) = scip(&parting, &options(1e-6));
    assert_eq!((report.status, report.residual, report.iterations), (Status::Converged, 0.0, 0));
    assert!(γ.iter().all(|p| p == DVec3::ZERO));
    // Those of the solution are accepted as they are.
    let (mut γ, _, cold) = scip(&BED, &options(1e-5));
    let mut workspace = Workspace::default();
    let mut operator = MatrixFree::new(&BED, &mut workspace);
    let report = Scip::default().solve(&mut operator, &mut γ, &mut BodyVec::default(), &options(1e-5), false);
    assert_eq!((report.status, report.iterations, report.objective), (Status::Converged, 0, cold.objective));
}

#[test]
fn what_is_not_a_number_is_reported() {
    for bad in [f64::NAN, f64::INFINITY] {
        let mut problem = BED.clone();
        problem.bias.set(5, DVec3::new(0.1, bad, 0.2));
        let (γ, _, report) = scip(&problem, &options(1e-4));
        assert_eq!(report.status, Status::BadProblem, "{bad}");
        assert!(γ.iter().all(|p| p.is_finite()));
    }
}

/// A sphere pressed between two fixed plates that come closer: no impulse can stop them.
#[test]
fn what_has_no_solution_returns_numbers() {
    let mut problem = resting(DVec3::new(0.0, 0.0, -1.0), 0.4, 2);
    problem.normals.set(1, -DVec3::Z);
    problem.bias.set(1, DVec3::Z);
    let (γ, _, report) = scip(&problem, &options(1e-9));
    assert_ne!(report.status, Status::Converged);
    assert!(γ.iter().all(|p| p.is_finite()) && report.residual.is_finite());
}

// ---------------------------------------------------------------- bilateral rows

/// Some bodies of a bed joined to each other: one joint of three rows in full, and doubled.
fn joined(doubled: bool) -> Problem {
    let mut problem = BED.to_general();
    let free: Vec<u32> = (0..problem.bodies() as u32).filter(|&j| problem.inverse_mass[j as usize] > 0.0).collect();
    for pair in free.chunks_exact(2).take(30) {
        for axis in DVec3::AXES {
            let arms = [DVec3::new(0.004, 0.003, -0.002), DVec3::new(-0.005, 0.001, 0.002)];
            let jacobian = [[axis, arms[0].cross(axis)], [-axis, -arms[1].cross(axis)]];
            let copies = if doubled { 2 } else { 1 };
            for _ in 0..copies {
                problem.rows.push(Row { bodies: [pair[0], pair[1]], jacobian });
                problem.bias.rows.push(0.01 * axis.x);
            }
        }
    }
    assert_eq!(problem.check(), Ok(()));
    problem
}

#[test]
fn rows_are_kept() {
    for doubled in [false, true] {
        let problem = joined(doubled);
        let here = scip(&problem, &options(1e-6));
        assert_eq!(here.2.status, Status::Converged, "{:?}", here.2);
        feasible(&problem, &here.0);
        assert!(here.1.rows.iter().all(|u| u.abs() < 1e-6), "{:?}", here.1.rows);
        let there = solve(&problem, &mut Apgd::default(), &options(1e-7));
        let apart = difference(&here, &there);
        assert!(apart < 1e-3, "{apart}");
    }
}

// ---------------------------------------------------------------- problems from outside

/// The optimal values of `shared/problems`, by an independent interior point at 1e-9.
#[test]
fn problems_of_others_are_solved() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/problems");
    let Ok(expected) = std::fs::read_to_string(format!("{folder}/expected.json")) else {
        eprintln!("passed over: there is no {folder}/expected.json");
        return;
    };
    let expected: serde_json::Value = serde_json::from_str(&expected).expect("a JSON file");
    for (name, value) in expected.as_object().expect("an object") {
        let value = value["ccp_objective"].as_f64().expect("a number");
        let AnyProblem::Matrix(problem) = AnyProblem::load(format!("{folder}/{name}.dat")).expect("a problem") else {
            panic!("{name} has bodies")
        };
        let (mut γ, mut w) = (ContactVec::zeros(problem.contacts()), Response::default());
        let mut operator = BlockSparse::new(&problem);
        let report = Scip::default().solve(&mut operator, &mut γ, &mut w, &options(1e-8), false);
        let error = (report.objective - value).abs() / value.abs();
        assert!(error < 1e-8, "{name}: {} is not {value}", report.objective);
        assert!(report.residual < 3e-6 && report.residuals.primal < 1e-12, "{name}: {report:?}");
    }
}
