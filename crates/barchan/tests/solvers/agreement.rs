//! Every solver against every other, on problems from real steps.
//!
//! Under the associated law velocities and objectives are unique, and `common/bounds.rs` tells how
//! far two solutions may be apart. Solutions under Coulomb's law need not be unique: there the
//! residual is judged.
//!
//! `cargo test --test solvers agreement -- --nocapture` prints tables.

use super::bounds::{Scales, Solution, converged, measured, reference};
use super::problems::{BED, LARGE, SLIDING, spheres};
use super::solving::{every_order, every_solver, solve, with};
use barchan::DVec3;
use barchan::cone::solver::{Friction, Order, SolverName, SolverOptions, Status};
use barchan::cone::{ContactVec, Problem};

/// What solvers without momentum need for a bed at 1e-7 would take minutes.
fn is_quick(options: &SolverOptions) -> bool {
    options.tolerance >= 1e-3 || !matches!(options.name, SolverName::GaussSeidel | SolverName::Jacobi)
}

#[test]
fn every_solver_of_the_associated_law_agrees_with_every_other() {
    for (name, problem) in spheres() {
        let scales = Scales::of(problem);
        let mut found = vec![reference(problem, SolverName::Scip)];
        for tolerance in [1e-3, 1e-7] {
            let solvers = every_solver(Friction::Associated, tolerance).into_iter().filter(|s| is_quick(&s.1));
            for (solver, options) in solvers {
                let (solution, report) = converged(problem, solver, &options);
                let ([velocity, value], bound) = scales.apart(&solution, &found[0]);
                println!(
                    "{name:>14} {tolerance:.0e} {:>14}: {:>6} iterations; velocities at {velocity:.1e} of the bound \
                     {bound:.1e}, objectives at {value:.1e}",
                    solution.solver, report.iterations
                );
                found.iter().for_each(|other| scales.assert_agree(name, &solution, other));
                found.push(solution);
            }
        }
        assert!(found.len() >= 9, "{name}: {} solutions", found.len());
    }
}

#[test]
fn every_order_of_sweeps_leads_to_the_same_velocities() {
    let (scales, problem) = (Scales::of(&LARGE), &*LARGE);
    let mut found = vec![reference(problem, SolverName::Scip)];
    for (solver, options) in every_order(Friction::Associated, 1e-2) {
        let (solution, report) = converged(problem, solver, &options);
        println!("{:>27}: {:>6} iterations", solution.solver, report.iterations);
        found.iter().for_each(|other| scales.assert_agree("large bed", &solution, other));
        assert!(found.iter().all(|other| other.γ != solution.γ), "{} is another order", solution.solver);
        found.push(solution);
    }
    assert_eq!(found.len(), 7);
}

/// The bounds are worth something: a solution that is a little wrong exceeds them.
#[test]
fn the_bounds_find_what_is_wrong() {
    for problem in [&*BED, &*SLIDING] {
        let (scales, reference) = (Scales::of(problem), reference(problem, SolverName::Scip));
        let wrong = ContactVec::from_slice(&reference.γ.iter().map(|p| 1.02 * p).collect::<Vec<_>>());
        let wrong = Solution::new(problem, "wrong".into(), wrong, 1e-7);
        let ([velocity, value], _) = scales.apart(&wrong, &reference);
        assert!(velocity > 1.0 && value > 1.0, "{velocity} {value}");
    }
}

/// Solves under Coulomb's law, judges what is claimed, and says whether it converged.
fn is_solved(name: &str, problem: &Problem, solver: &str, options: &SolverOptions) -> bool {
    let (_, report) = measured(problem, format!("{name} {solver}"), options);
    println!(
        "{name:>14} {:.0e} {solver:>23}: {:?} after {} iterations at {:.1e}",
        options.tolerance, report.status, report.iterations, report.residual
    );
    report.status == Status::Converged
}

#[test]
fn no_solver_claims_what_it_has_not_reached_under_the_exact_law() {
    for (name, problem) in spheres() {
        for (tolerance, least) in [(1e-2, 4), (1e-4, 1)] {
            let solvers = every_solver(Friction::Coulomb, tolerance);
            let solved = solvers.iter().filter(|(solver, options)| {
                is_solved(name, problem, solver, &SolverOptions { max_iterations: 4_000, ..*options })
            });
            let solved = solved.count();
            assert!(solved >= least, "{name} at {tolerance}: {solved} solvers");
        }
    }
    for (solver, options) in every_order(Friction::Coulomb, 5e-2) {
        assert!(is_solved("large bed", &LARGE, &solver, &options), "{solver}");
    }
}

/// Without sliding contacts there is nothing for the two laws to differ about.
#[test]
fn the_sliding_layer_slides() {
    let (γ, u, _) = solve(&SLIDING, &with(SolverName::Scip, Friction::Associated, Order::Coloured, 1e-6));
    let push = γ.iter().map(DVec3::length).fold(0.0, f64::max);
    let acts = |i: &usize| γ.get(*i).length() > 1e-3 * push;
    let slides = |i: &usize| {
        let (n, p, v) = (SLIDING.normals.get(*i), γ.get(*i), u.get(*i));
        let tangential = |x: DVec3| (x - n * x.dot(n)).length();
        tangential(p) > 0.999 * SLIDING.friction[*i] * p.dot(n) && tangential(v) > 1e-2
    };
    let acting: Vec<usize> = (0..SLIDING.contacts()).filter(acts).collect();
    let sliding = acting.iter().copied().filter(slides).count();
    println!("{sliding} of {} contacts that act slide", acting.len());
    assert!(2 * sliding > acting.len(), "{sliding} of {}", acting.len());
}
