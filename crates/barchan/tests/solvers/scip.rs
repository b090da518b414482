//! The interior point against APGD, the assembled twin of each problem, and problems from outside.
//!
//! Impulses of a packing are not unique; the objective and the velocities u = Aγ + b are, so
//! those are compared.

use super::problems::{BED, all_problems, expected_objective, files, joined, settled};
use barchan::DVec3;
use barchan::cone::solver::{AnySolver, Report, ScipOptions, Solve, Solver, SolverName, SolverOptions, Status};
use barchan::cone::{
    AnyProblem, Assembled, BlockSparse, BodyVec, ConeProblem, ContactScalars, ContactVec, Criterion, Friction,
    Geometry, MatrixFree, Problem, Response, Workspace,
};

fn options(tolerance: f64) -> SolverOptions {
    SolverOptions {
        friction: Some(Friction::Associated),
        tolerance,
        max_iterations: 200_000,
        ..SolverOptions::default()
    }
}

/// Solves from a cold start: impulses, velocities of contacts, report.
fn solve(problem: &Problem, solver: SolverName, options: &SolverOptions) -> (ContactVec, ContactVec, Report) {
    let mut workspace = Workspace::default();
    let mut operator = MatrixFree::new(problem, &mut workspace);
    let (mut γ, mut response, mut u) =
        (ContactVec::zeros(problem.contacts()), BodyVec::default(), ContactVec::default());
    let solve = Solve::new(&mut operator, &mut γ, &mut response, options).with_history(true);
    let report = AnySolver::new(solver).solve(solve);
    operator.gradient(&γ, &mut u);
    (γ, u, report)
}

fn scip(problem: &Problem, options: &SolverOptions) -> (ContactVec, ContactVec, Report) {
    solve(problem, SolverName::Scip, options)
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
    for (name, problem) in all_problems() {
        let there = solve(problem, SolverName::Apgd, &options(1e-9));
        assert_eq!(there.2.status, Status::Converged, "{name}");
        // Contacts that neither press nor part have impulses and velocities of the order of √ν.
        let here = scip(problem, &options(1e-6));
        assert_eq!(here.2.status, Status::Converged, "{name}: {:?}", here.2);
        assert!(here.2.iterations <= 40, "{name}: {} iterations", here.2.iterations);
        feasible(problem, &here.0);
        let apart = difference(&here, &there);
        assert!(apart < 1e-4, "{name}: {apart}");
        let objective = (here.2.objective - there.2.objective).abs();
        assert!(objective < 1e-8 * there.2.objective.abs(), "{name}: {objective}");
    }
}

#[test]
fn both_forms_of_a_problem_have_one_solution() {
    for (name, problem) in all_problems() {
        let here = scip(problem, &options(1e-6));
        let assembled = Assembled::from_problem(problem).expect("a sound problem");
        let mut operator = BlockSparse::new(&assembled);
        let (mut γ, mut w) = (ContactVec::zeros(problem.contacts()), Response::default());
        let report = AnySolver::new(SolverName::Scip)
            .solve(Solve::new(&mut operator, &mut γ, &mut w, &options(1e-6)).with_history(true));
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
    assert_eq!((report.status, report.iterations), (Status::GaveUp, 3), "no impulses are still better");
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
    let large = settled(1500, 0.4);
    for (name, problem) in all_problems().into_iter().chain([("large bed", &large)]) {
        let direct = scip(problem, &options(1e-3));
        let system = ScipOptions { system: barchan::cone::System::Iterative, ..ScipOptions::default() };
        let iterative = scip(problem, &SolverOptions { scip: system, ..options(1e-3) });
        assert_eq!(iterative.2.status, Status::Converged, "{name}");
        let apart = (direct.2.objective - iterative.2.objective).abs();
        assert!(apart < 1e-4 * direct.2.objective.abs(), "{name}: {apart}");
    }
}

/// Memory of one solve serves the next, of the same pattern or another.
#[test]
fn a_solver_can_be_used_again() {
    let mut workspace = Workspace::default();
    let mut solver = AnySolver::new(SolverName::Scip);
    let all = all_problems();
    let again = all.iter().chain(&all[..2]).chain([&all[1], &all[5], &all[4]]);
    for (name, problem) in again {
        let fresh = scip(problem, &options(1e-4));
        let mut operator = MatrixFree::new(*problem, &mut workspace);
        let (mut γ, mut response) = (ContactVec::zeros(problem.contacts()), BodyVec::default());
        for _ in 0..2 {
            γ.resize(problem.contacts());
            let report =
                solver.solve(Solve::new(&mut operator, &mut γ, &mut response, &options(1e-4)).with_history(true));
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
    for system in [barchan::cone::System::Direct, barchan::cone::System::Iterative] {
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
        geometry: Geometry::round(vec![1.0, 0.0], vec![2.5, 0.0]),
        pairs: vec![[0, 1]; contacts],
        normals: ContactVec::from_slice(&vec![DVec3::Z; contacts]),
        friction: ContactScalars::from_slice(&vec![μ; contacts]),
        bias: ContactVec::from_slice(&vec![bias; contacts]),
        rows: Vec::new(),
        slip_rounding: 0.0,
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
    let mut operator = MatrixFree::new(&*BED, &mut workspace);
    let report = AnySolver::new(SolverName::Scip).solve(Solve::new(
        &mut operator,
        &mut γ,
        &mut BodyVec::default(),
        &options(1e-5),
    ));
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

#[test]
fn rows_are_kept() {
    for copies in [1, 2] {
        let problem = joined(&BED, copies);
        let here = scip(&problem, &options(1e-6));
        assert_eq!(here.2.status, Status::Converged, "{:?}", here.2);
        feasible(&problem, &here.0);
        assert!(here.1.rows.iter().all(|u| u.abs() < 1e-6), "{:?}", here.1.rows);
        let there = solve(&problem, SolverName::Apgd, &options(1e-7));
        let apart = difference(&here, &there);
        assert!(apart < 1e-3, "{apart}");
    }
}

// ---------------------------------------------------------------- problems from outside

/// The optimal values that an independent interior point found.
#[test]
fn problems_of_others_are_solved() {
    for (name, path) in files() {
        let value = expected_objective(&path, &name);
        let AnyProblem::Matrix(problem) = AnyProblem::load(&path).expect("a problem") else {
            panic!("{name} has bodies")
        };
        let (mut γ, mut w) = (ContactVec::zeros(problem.contacts()), Response::default());
        let mut operator = BlockSparse::new(&problem);
        let report = AnySolver::new(SolverName::Scip).solve(Solve::new(&mut operator, &mut γ, &mut w, &options(1e-8)));
        let error = (report.objective - value).abs() / value.abs();
        assert!(error < 1e-8, "{name}: {} is not {value}", report.objective);
        assert!(report.residual < 3e-6 && report.residuals.primal < 1e-12, "{name}: {report:?}");
    }
}

#[test]
fn coulombs_law_that_is_rounded_off_is_solved_on_the_way() {
    let problem = Problem { slip_rounding: 1e-2, ..BED.clone() };
    let options = SolverOptions { friction: Some(Friction::Coulomb), ..options(1e-3) };
    let (γ, _, report) = scip(&problem, &options);
    feasible(&problem, &γ);
    assert_eq!(report.status, Status::Converged);
    // Each problem of an outer loop would take more than ten.
    assert!(report.iterations <= 60, "{} iterations", report.iterations);
    let plain = SolverOptions { friction: Some(Friction::Associated), ..options };
    assert!(scip(&problem, &plain).2.objective < report.objective, "the laws differ");
}
