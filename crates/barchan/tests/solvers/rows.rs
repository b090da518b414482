//! Bilateral rows in every solver: impulses of either sign, rows that repeat each other, and rows
//! without any contact.

use super::bounds::{Scales, Solution, measured, reference};
use super::problems::{BED, LARGE, joined, only_rows, welded};
use super::solving::{every_order, every_solver, inverse_mean_diagonal, natural_residual, natural_unit, solve};
use barchan::DVec3;
use barchan::cone::solver::{Friction, SolverName, SolverOptions, Status};
use barchan::cone::{Assembled, Problem};

/// Problems with joints, with their names: those of the second half have nothing but joints.
fn with_rows() -> [(&'static str, Problem); 6] {
    let (once, twice, welded) = (joined(&BED, 1), joined(&BED, 2), welded(&BED));
    assert!(once.rows.len() == 90 && twice.rows.len() == 180 && welded.rows.len() > 50);
    let alone = [&once, &twice, &welded].map(only_rows);
    let [alone_once, alone_twice, alone_welded] = alone;
    [
        ("joints", once),
        ("doubled joints", twice),
        ("welds", welded),
        ("joints alone", alone_once),
        ("doubled joints alone", alone_twice),
        ("welds alone", alone_welded),
    ]
}

/// A joint pulls or pushes, and holds within what the residual allows: η|u| ≤ ρ‖Π(−ηb)‖.
fn assert_held(name: &str, problem: &Problem, solution: &Solution, law: Friction, tolerance: f64) {
    let Solution { γ, u, .. } = solution;
    assert!(γ.rows.iter().any(|&λ| λ < 0.0) && γ.rows.iter().any(|&λ| λ > 0.0), "{name}: both signs");
    let allowed = tolerance * natural_unit(problem, law) / inverse_mean_diagonal(problem);
    let off = u.rows.iter().map(|u| u * u).sum::<f64>().sqrt();
    assert!(off <= 1.000_001 * allowed, "{name}: rows move at {off}, allowed are {allowed}");
}

/// The exact solution.
fn exact(problem: &Problem) -> Solution {
    reference(problem, SolverName::Scip)
}

/// Without momentum a bed with joints takes for ever.
fn is_slow(solver: SolverName) -> bool {
    matches!(solver, SolverName::GaussSeidel | SolverName::Jacobi | SolverName::Nbgs)
}

/// Solves, and checks rows if the solver converged. Slow solvers get few iterations.
fn solved(name: &str, problem: &Problem, solver: String, options: SolverOptions) -> (Solution, Status) {
    let max_iterations = if is_slow(options.name) { 5_000 } else { options.max_iterations };
    let (solution, report) = measured(problem, solver, &SolverOptions { max_iterations, ..options });
    println!(
        "{name:>20} {:>10} {:.0e} {:>23}: {:?} after {} iterations at {:.1e}",
        options.law().name(),
        options.tolerance,
        solution.solver,
        report.status,
        report.iterations,
        report.residual
    );
    if report.status == Status::Converged {
        assert_held(name, problem, &solution, options.law(), options.tolerance);
    }
    (solution, report.status)
}

#[test]
fn every_solver_of_the_associated_law_holds_rows_and_agrees_with_every_other() {
    for (name, problem) in with_rows() {
        let scales = Scales::of(&problem);
        let mut found = vec![exact(&problem)];
        for tolerance in [1e-3, 1e-7] {
            for (solver, options) in every_solver(Friction::Associated, tolerance) {
                let (solution, status) = solved(name, &problem, solver, options);
                let sure = !is_slow(options.name) || problem.contacts() == 0;
                assert!(status == Status::Converged || !sure, "{name} {}: {status:?}", solution.solver);
                found.iter().for_each(|other| scales.assert_agree(name, &solution, other));
                found.push(solution);
            }
        }
    }
}

/// Joints of which some are limits, motors of limited force and springs; some of them in contact with the bed.
fn with_intervals() -> [(&'static str, Problem); 2] {
    let mut problem = joined(&BED, 1);
    let loads = exact(&problem).γ.rows;
    let typical = loads.iter().map(|λ| λ.abs()).sum::<f64>() / loads.len() as f64;
    for (k, row) in problem.rows.iter_mut().enumerate() {
        match k % 4 {
            0 => row.limits = [0.0, f64::INFINITY],
            1 => row.limits = [-0.3 * typical, 0.3 * typical],
            2 => row.compliance = 1.0 / (1.0 + k as f64),
            _ => {}
        }
    }
    assert_eq!(problem.check(), Ok(()));
    let alone = only_rows(&problem);
    [("intervals", problem), ("intervals alone", alone)]
}

#[test]
fn every_solver_keeps_rows_within_their_intervals() {
    for (name, problem) in with_intervals() {
        for tolerance in [1e-3, 1e-6] {
            for (solver, options) in every_solver(Friction::Associated, tolerance) {
                let max_iterations = if is_slow(options.name) { 5_000 } else { 20_000 };
                let options = SolverOptions { max_iterations, ..options };
                let (Solution { γ, solver, .. }, report) = measured(&problem, solver, &options);
                println!("{name} {solver}: {:?} after {} at {:.1e}", report.status, report.iterations, report.residual);
                let sure = !is_slow(options.name);
                assert!(report.status == Status::Converged || !sure, "{name} {solver}: {:?}", report.status);
                let mut at_ends = 0;
                for (λ, row) in γ.rows.iter().zip(&problem.rows) {
                    assert!(row.limits[0] <= *λ && *λ <= row.limits[1], "{name} {solver}: {λ} of {:?}", row.limits);
                    at_ends += usize::from(*λ == row.limits[0] || *λ == row.limits[1]);
                }
                if report.status == Status::Converged {
                    assert!(at_ends > 10 && at_ends < 44, "{name} {solver}: {at_ends} at an end");
                    let residual = natural_residual(&problem, &γ, Friction::Associated);
                    assert!(residual <= 1.000_001 * tolerance, "{name} {solver}: {residual:e}");
                }
            }
        }
    }
}

#[test]
fn intervals_pass_through_files() {
    for (name, problem) in with_intervals() {
        let mut text = Vec::new();
        problem.write(&mut text).unwrap();
        assert!(text.starts_with(b"barchan-problem 4\n"), "{name}");
        assert_eq!(Problem::read(&text[..], "memory").unwrap(), problem, "{name}");
    }
}

/// With contacts the exact law has many solutions, so each is judged by itself. Without any the
/// laws are one.
#[test]
fn every_solver_of_the_exact_law_holds_rows() {
    for (name, problem) in with_rows() {
        let alone = problem.contacts() == 0;
        let (scales, reference) = (Scales::of(&problem), exact(&problem));
        for (solver, options) in every_solver(Friction::Coulomb, if alone { 1e-6 } else { 3e-2 }) {
            let (solution, status) = solved(name, &problem, solver, options);
            let sure = alone || [SolverName::AcceleratedGs, SolverName::Auto].contains(&options.name);
            assert!(status == Status::Converged || !sure, "{name} {}: {status:?}", solution.solver);
            if alone {
                scales.assert_agree(name, &solution, &reference);
            }
        }
    }
}

#[test]
fn every_order_of_sweeps_holds_rows() {
    for (name, problem) in [("doubled joints", joined(&LARGE, 2)), ("welds", welded(&LARGE))] {
        let (scales, mut found) = (Scales::of(&problem), vec![exact(&problem)]);
        for (solver, options) in every_order(Friction::Associated, 3e-2) {
            let (solution, status) = solved(name, &problem, solver, options);
            assert!(status == Status::Converged || is_slow(options.name), "{name} {}", solution.solver);
            found.iter().for_each(|other| scales.assert_agree(name, &solution, other));
            assert!(found.iter().all(|other| other.γ != solution.γ), "{} is another order", solution.solver);
            found.push(solution);
        }
        for (solver, options) in every_order(Friction::Coulomb, 0.1) {
            let (solution, status) = solved(name, &problem, solver, options);
            assert!(status == Status::Converged || is_slow(options.name), "{name} {}", solution.solver);
        }
    }
}

#[test]
fn rows_make_a_difference() {
    let problem = welded(&BED);
    let mut without = problem.clone();
    (without.rows, without.bias.rows) = (Vec::new(), Vec::new());
    let (with, without) = (exact(&problem), exact(&without));
    let apart = with.u.iter().zip(without.u.iter()).map(|(u, v)| u.distance(v)).fold(0.0, f64::max);
    let unit = problem.bias.iter().map(DVec3::length).fold(0.0, f64::max);
    assert!(apart > 1e-3 * unit, "{apart} of {unit}");
}

#[test]
fn doubled_rows_move_bodies_as_single_ones_do() {
    let [once, twice] = [1, 2].map(|copies| exact(&joined(&BED, copies)));
    let apart = once.u.iter().zip(twice.u.iter()).map(|(u, v)| u.distance(v)).fold(0.0, f64::max);
    let speed = BED.bias.iter().map(DVec3::length).fold(0.0, f64::max);
    assert!(apart < 1e-6 * speed, "{apart} of {speed}");

    // Without contacts the impulses of single joints are unique, and copies of a joint share them.
    let [once, twice] = [1, 2].map(|copies| exact(&only_rows(&joined(&BED, copies))).γ.rows);
    let largest = once.iter().fold(0.0f64, |m, λ| m.max(λ.abs()));
    for (k, λ) in once.iter().enumerate() {
        // A joint has three rows, and its copy follows it.
        let first = 6 * (k / 3) + k % 3;
        let sum = twice[first] + twice[first + 3];
        assert!((sum - λ).abs() < 1e-6 * largest, "row {k}: {sum} is not {λ}");
    }
}

#[test]
fn problems_with_rows_pass_through_files() {
    for (name, problem) in with_rows() {
        let mut text = Vec::new();
        problem.write(&mut text).expect("memory does not fail");
        let read = Problem::read(text.as_slice(), name).expect("a sound file");
        assert_eq!(read, problem, "{name}");
        for law in [Friction::Associated, Friction::Coulomb] {
            for (solver, options) in every_solver(law, 1e-1) {
                let options = SolverOptions { max_iterations: 500, ..options };
                let (solution, report) = measured(&read, solver, &options);
                let here = solve(&problem, &options);
                assert_eq!((here.0, here.2), (solution.γ, report), "{name} {}", solution.solver);
            }
        }
        assert!(Assembled::from_problem(&read).is_err(), "matrices have no rows: {name}");
    }
}
