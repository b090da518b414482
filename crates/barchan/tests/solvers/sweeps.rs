//! The solvers that sweep over contacts: against APGD, against a plain rendering of themselves,
//! and against Coulomb's law itself.

use super::problems::{IMPACT, SMOOTH, problems, settled};
use super::solving::{ORDERS, solve, with};
use barchan::DVec3;
use barchan::cone::problem::dense::Dense;
use barchan::cone::solver::{Friction, Order, SolverName, SolverOptions, Status};
use barchan::cone::{BodyVec, ConeProblem, ContactVec, MatrixFree, Problem, Workspace};

/// The largest difference of velocities, against the largest bias.
fn distance(problem: &Problem, u: &ContactVec, v: &ContactVec) -> f64 {
    let unit = problem.bias.iter().map(DVec3::length).fold(0.0, f64::max);
    u.iter().zip(v.iter()).map(|(u, v)| (u - v).length()).fold(0.0, f64::max) / unit
}

#[test]
fn every_sweeping_solver_of_the_associated_law_agrees_with_apgd() {
    for (name, round) in problems() {
        for problem in [round.clone(), round.to_general(), round.with_tensors(|j| j % 4 == 1).0] {
            let apgd = SolverOptions {
                name: SolverName::Apgd,
                friction: Some(Friction::Associated),
                tolerance: 1e-9,
                max_iterations: 100_000,
                ..SolverOptions::default()
            };
            let (_, expected, _) = solve(&problem, &apgd);
            for solver in [SolverName::AcceleratedGs, SolverName::GaussSeidel] {
                // Without momentum a bed takes for ever.
                let tolerance = if solver == SolverName::AcceleratedGs { 1e-9 } else { 1e-3 };
                for order in ORDERS {
                    let options = with(solver, Friction::Associated, order, tolerance);
                    let (_, u, report) = solve(&problem, &options);
                    assert_eq!(report.status, Status::Converged, "{name} {solver:?} {order:?}: {report:?}");
                    assert!(report.residual <= tolerance);
                    let error = distance(&problem, &u, &expected);
                    assert!(
                        error < 1e2 * tolerance.max(1e-7),
                        "{name} {solver:?} {order:?}: velocities differ by {error}"
                    );
                }
            }
        }
    }
}

/// Coulomb's law contact by contact: no pull, no closing, friction within its bound and, where a
/// contact slides, at the bound and against the sliding.
fn obeys_coulomb(problem: &Problem, γ: &ContactVec, u: &ContactVec, tolerance: f64) {
    let speed = problem.bias.iter().map(DVec3::length).fold(0.0, f64::max);
    let push = γ.iter().map(DVec3::length).fold(0.0, f64::max);
    for i in 0..problem.contacts() {
        let (n, μ) = (problem.normals.get(i), problem.friction[i]);
        let split = |x: DVec3| (x.dot(n), x - n * x.dot(n));
        let ((γn, γt), (un, ut)) = (split(γ.get(i)), split(u.get(i)));
        assert!(γn >= -1e-12 * push && un >= -tolerance * speed, "contact {i} pulls or closes: {γn}, {un}");
        assert!(γt.length() <= μ * γn + 1e-9 * push, "contact {i} has too much friction");
        if γn > tolerance * push {
            assert!(un <= tolerance * speed, "contact {i} acts and opens by {un}");
            if ut.length() > tolerance * speed {
                let against = γt.dot(ut) / ut.length();
                assert!((against + μ * γn).abs() <= 10.0 * tolerance * push, "contact {i} slides freely");
            }
        }
    }
}

#[test]
fn the_exact_law_holds_contact_by_contact() {
    for (name, round) in problems() {
        for problem in [round.clone(), round.to_general(), round.with_tensors(|j| j % 4 == 1).0] {
            for solver in [SolverName::Nbgs, SolverName::AcceleratedGs, SolverName::GaussSeidel] {
                for order in ORDERS {
                    // Without momentum a bed takes for ever, or turns in circles.
                    let tolerance = if solver == SolverName::AcceleratedGs { 1e-5 } else { 1e-3 };
                    let options = with(solver, Friction::Coulomb, order, tolerance);
                    let (γ, u, report) = solve(&problem, &options);
                    assert_eq!(report.status, Status::Converged, "{name} {solver:?} {order:?}: {report:?}");
                    obeys_coulomb(&problem, &γ, &u, if tolerance < 1e-4 { 1e-3 } else { 3e-2 });
                }
            }
        }
    }
}

/// One Gauss–Seidel sweep after the other, as a textbook has them, with the dense matrix.
fn textbook(problem: &Problem, sweeps: usize) -> Vec<DVec3> {
    let dense = Dense::assemble(problem);
    let m = problem.contacts();
    let mut γ = vec![DVec3::ZERO; m];
    for _ in 0..sweeps {
        for i in 0..m {
            let flat: Vec<f64> = γ.iter().flat_map(|p| p.to_array()).collect();
            let row = |r: usize| dense.a[3 * i + r].iter().zip(&flat).map(|(a, x)| a * x).sum::<f64>();
            let u = DVec3::from_array(std::array::from_fn(|r| row(r) + dense.b[3 * i + r]));
            let n = problem.normals.get(i);
            // For spheres the block is a_n along the normal and a_t across it.
            let t = n.any_orthonormal_vector();
            let along = |d: DVec3| {
                let d = d.to_array();
                (0..9).map(|k| d[k / 3] * dense.a[3 * i + k / 3][3 * i + k % 3] * d[k % 3]).sum::<f64>()
            };
            let (a_n, a_t) = (along(n), along(t));
            let normal = (γ[i].dot(n) - u.dot(n) / a_n).max(0.0);
            let tangent = γ[i] - n * γ[i].dot(n) - (u - n * u.dot(n)) / a_t;
            let bound = problem.friction[i] * normal;
            γ[i] = n * normal + if tangent.length() > bound { tangent * (bound / tangent.length()) } else { tangent };
        }
    }
    γ
}

#[test]
fn the_serial_order_takes_the_steps_of_the_textbook() {
    for problem in [&*SMOOTH, &*IMPACT] {
        let options =
            SolverOptions { max_iterations: 5, ..with(SolverName::Nbgs, Friction::Coulomb, Order::Serial, 0.0) };
        let (γ, _, report) = solve(problem, &options);
        assert_eq!((report.status, report.iterations), (Status::IterationLimit, 5));
        let expected = textbook(problem, 5);
        let unit = expected.iter().map(|p| p.length()).fold(0.0, f64::max);
        for (found, expected) in γ.iter().zip(expected) {
            assert!((found - expected).length() <= 1e-10 * unit, "{found} is not {expected}");
        }
    }
}

#[test]
fn sweeps_are_the_same_bits_on_any_number_of_threads() {
    // Large enough for several chunks of bodies, and so for several groups a phase.
    let problem = settled(3000, 0.5);
    assert!(problem.contacts() > 3000);
    for order in ORDERS {
        for solver in [SolverName::AcceleratedGs, SolverName::Nbgs] {
            let law = solver.laws()[0];
            let bits = |threads: usize| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
                let options = SolverOptions { max_iterations: 20, ..with(solver, law, order, 1e-9) };
                let (γ, _, report) = pool.install(|| solve(&problem, &options));
                assert!(report.iterations == 20);
                γ.iter().map(|p| p.to_array().map(f64::to_bits)).collect::<Vec<_>>()
            };
            let one = bits(1);
            assert!([2, 3, 8].iter().all(|&threads| bits(threads) == one), "{solver:?} {order:?}");
        }
    }
}

/// A body between two walls that both push: no impulses solve that. Beside it one slides, so that
/// the laws differ.
const NO_SOLUTION: &str = "barchan-problem 2\nbodies 3\ncontacts 3\nrows 0\n\
    body 0.0 0.0 0.0\nbody 1.0 25.0 0.1\nbody 1.0 25.0 0.1\n\
    contact 1 0 1.0 0.0 0.0 0.5 -1.0 0.0 0.0\n\
    contact 1 0 -1.0 0.0 0.0 0.5 1.0 0.0 0.0\n\
    contact 2 0 0.0 0.0 1.0 0.1 10.0 0.0 -1.0\nend\n";

/// It went on under Coulomb's law, and reported that law's residual.
#[test]
fn a_stalled_solve_of_the_associated_law_stays_with_it() {
    let problem = Problem::read(NO_SOLUTION.as_bytes(), "no solution").unwrap();
    let options = with(SolverName::AcceleratedGs, Friction::Associated, Order::Coloured, 1e-9);
    let (γ, _, report) = solve(&problem, &options);
    assert_eq!(report.status, Status::Stalled);
    let mut workspace = Workspace::default();
    let mut operator = MatrixFree::new(&problem, &mut workspace);
    let mut response = BodyVec::default();
    operator.shape_velocities(&mut response);
    operator.respond_to(&γ, &mut response);
    operator.set_law(Friction::Associated);
    let afresh = operator.residuals(&γ, &response).0.natural;
    assert!((report.residual - afresh).abs() < 1e-9, "{} {afresh}", report.residual);
}
