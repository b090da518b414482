//! The operator against its dense twin, and APGD against an independent solver and a plain
//! rendering of itself, on problems taken from real steps.
//!
//! Impulses of a packing are not unique; the objective and the velocities u = Aγ + b are, so
//! those are compared.

use super::problems::{BED, problems};
use super::solving::{objective, onto_cone};
use barchan::DVec3;
use barchan::cone::problem::dense::Dense;
use barchan::cone::solver::{
    ApgdOptions, Friction, Report, Solve, Solver, SolverFor, SolverName, SolverOptions, Status,
};
use barchan::cone::{
    BodyVec, ConeProblem, ContactScalars, ContactVec, Criterion, Geometry, MatrixFree, Metric, Problem, Workspace,
};
use clarabel::algebra::CscMatrix;
use clarabel::solver::{
    DefaultSettings, DefaultSolver, IPSolver, NonnegativeConeT, SecondOrderConeT, SolverStatus, ZeroConeT,
};
use proptest::prelude::*;

fn apgd() -> SolverFor<MatrixFree<'static>> {
    SolverFor::<MatrixFree<'_>>::new(SolverName::Apgd)
}

/// Runs APGD from a cold start.
fn solve(problem: &Problem, options: &SolverOptions) -> (ContactVec, Report) {
    let mut workspace = Workspace::default();
    let mut operator = MatrixFree::new(problem, &mut workspace);
    let (mut γ, mut response) = (ContactVec::zeros(problem.contacts()), BodyVec::default());
    let report = apgd().solve(Solve::new(&mut operator, &mut γ, &mut response, options).with_history(true));
    (γ, report)
}

fn options(tolerance: f64) -> SolverOptions {
    SolverOptions {
        friction: Some(Friction::Associated),
        tolerance,
        max_iterations: 100_000,
        ..SolverOptions::default()
    }
}

/// Aγ + b by the operator.
fn velocities(problem: &Problem, γ: &ContactVec) -> Vec<DVec3> {
    let mut workspace = Workspace::default();
    let mut u = ContactVec::default();
    MatrixFree::new(problem, &mut workspace).gradient(γ, &mut u);
    u.iter().collect()
}

fn flat(γ: &ContactVec) -> Vec<f64> {
    γ.iter().flat_map(|p| p.to_array()).collect()
}

fn stacked(γ: &[f64]) -> ContactVec {
    ContactVec::from_slice(&γ.chunks(3).map(DVec3::from_slice).collect::<Vec<_>>())
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

fn norm(a: &[f64]) -> f64 {
    dot(a, a).sqrt()
}

// ---------------------------------------------------------------- the dense twin

/// A problem of random bodies and contacts; some bodies cannot move.
fn random_problem() -> impl Strategy<Value = Problem> {
    let component = -1.0..1.0f64;
    let vector = [component.clone(), component.clone(), component].prop_map(DVec3::from);
    let unit = vector.clone().prop_filter("a direction", |v| v.length() > 0.1).prop_map(DVec3::normalize);
    let body = (prop_oneof![4 => 0.1..10.0f64, 1 => Just(0.0)], 0.1..10.0f64, 0.1..2.0f64);
    let contact = ((0..20u32, 0..20u32), unit, prop_oneof![4 => 0.0..1.5f64, 1 => Just(0.0)], vector);
    (prop::collection::vec(body, 20), prop::collection::vec(contact, 0..40)).prop_map(|(bodies, mut contacts)| {
        let movable = |j: u32| bodies[j as usize].0 > 0.0;
        contacts.retain(|(pair, ..)| pair.0 != pair.1 && (movable(pair.0) || movable(pair.1)));
        contacts.sort_by_key(|(pair, ..)| *pair);
        Problem {
            inverse_mass: bodies.iter().map(|b| b.0).collect(),
            geometry: Geometry::round(
                bodies.iter().map(|b| b.2).collect(),
                bodies.iter().map(|b| if b.0 > 0.0 { b.1 } else { 0.0 }).collect(),
            ),
            pairs: contacts.iter().map(|c| [c.0.0, c.0.1]).collect(),
            normals: ContactVec::from_slice(&contacts.iter().map(|c| c.1).collect::<Vec<_>>()),
            friction: ContactScalars::from_slice(&contacts.iter().map(|c| c.2).collect::<Vec<_>>()),
            rows: Vec::new(),
            bias: ContactVec::from_slice(&contacts.iter().map(|c| c.3).collect::<Vec<_>>()),
            slip_rounding: 0.0,
        }
    })
}

/// The same with arms that point anywhere and any inertia, where bodies have a tensor.
fn with_random_arms(problem: &Problem, seeds: &[DVec3]) -> Problem {
    let seed = |k: usize| seeds[k % seeds.len()];
    let inertia = |j: usize| {
        // A product LLᵀ is a tensor that inertia could be.
        let (d, o) = (seed(3 * j).abs() + 0.2, seed(3 * j + 1));
        let l = glam::DMat3::from_cols(DVec3::new(d.x, o.x, o.y), DVec3::new(0.0, d.y, o.z), DVec3::new(0.0, 0.0, d.z));
        let t = l * l.transpose();
        let t = if problem.inverse_mass[j] > 0.0 { t } else { t * 0.0 };
        [t.x_axis.x, t.y_axis.y, t.z_axis.z, t.y_axis.x, t.z_axis.x, t.z_axis.y]
    };
    let mut problem = problem.clone();
    let tensors = &problem.geometry.tensors;
    problem.geometry.tensors.inverse = tensors.bodies.iter().map(|&j| inertia(j as usize)).collect();
    // Round bodies keep the arms that they must have.
    let arm = |i: usize, side: usize| {
        let is_round = problem.geometry.tensors.of(problem.pairs[i][side] as usize).is_none();
        let n = problem.normals.get(i) * [-1.0, 1.0][side];
        if is_round { n } else { seed(2 * i + side) }
    };
    let arms: Vec<_> = (problem.view().round()..problem.contacts()).map(|i| [arm(i, 0), arm(i, 1)]).collect();
    problem.set_arms(&arms);
    problem
}

/// The same with a bias that some motion of the bodies undoes, so that there is a solution.
fn with_solution(problem: &Problem, seeds: &[DVec3]) -> Problem {
    let point = |j: u32, arm: DVec3| {
        let j = j as usize;
        let [v, w] = [seeds[(5 * j + 1) % seeds.len()], seeds[(7 * j + 3) % seeds.len()]];
        if problem.inverse_mass[j] > 0.0 { v + w.cross(arm) } else { DVec3::ZERO }
    };
    let mut sound = problem.clone();
    for (i, &[a, b]) in problem.pairs.iter().enumerate() {
        let [arm_a, arm_b] = problem.arms(i);
        sound.bias.set(i, point(a, arm_a) - point(b, arm_b) + 0.1 * problem.normals.get(i));
    }
    sound
}

fn operator_equals_dense_twin(problem: &Problem, γ: &[DVec3]) -> Result<(), TestCaseError> {
    prop_assert_eq!(problem.check(), Ok(()));
    let γ = ContactVec::from_slice(&γ[..problem.contacts()]);
    let dense = Dense::assemble(problem);
    let expected = dense.gradient(&flat(&γ));
    let found: Vec<f64> = velocities(problem, &γ).iter().flat_map(|u| u.to_array()).collect();
    let largest = expected.iter().fold(1.0f64, |m, x| m.max(x.abs()));
    for (found, expected) in found.iter().zip(&expected) {
        prop_assert!((found - expected).abs() <= 1e-12 * largest, "{} is not {}", found, expected);
    }
    // And the scalar products that a solver takes.
    let mut workspace = Workspace::default();
    let mut operator = MatrixFree::new(problem, &mut workspace);
    let size = 1e-12 * (1.0 + norm(&flat(&γ)));
    prop_assert!((operator.dot(&γ, &γ) - dot(&flat(&γ), &flat(&γ))).abs() <= size * (1.0 + norm(&flat(&γ))));
    prop_assert!((operator.dot_bias(&γ) - dot(&flat(&γ), &dense.b)).abs() <= size * (1.0 + norm(&dense.b)));
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn the_operator_equals_its_dense_twin(
        problem in random_problem(),
        γ in prop::collection::vec([-1.0..1.0f64, -1.0..1.0f64, -1.0..1.0f64].prop_map(DVec3::from), 40),
        seeds in prop::collection::vec([-1.0..1.0f64, -1.0..1.0f64, -1.0..1.0f64].prop_map(DVec3::from), 97),
    ) {
        operator_equals_dense_twin(&problem, &γ)?;
        operator_equals_dense_twin(&problem.to_general(), &γ)?;
        operator_equals_dense_twin(&with_random_arms(&problem.to_general(), &seeds), &γ)?;
        operator_equals_dense_twin(&with_random_arms(&problem.with_tensors(|j| j % 3 == 0).0, &seeds), &γ)?;
    }

    /// Any problem that has a solution is solved, whatever its arms and inertia.
    #[test]
    fn random_problems_are_solved(
        problem in random_problem(),
        seeds in prop::collection::vec([-1.0..1.0f64, -1.0..1.0f64, -1.0..1.0f64].prop_map(DVec3::from), 97),
    ) {
        let mixed = with_random_arms(&problem.with_tensors(|j| j % 3 == 0).0, &seeds);
        let general = problem.to_general();
        let uneven = with_random_arms(&general, &seeds);
        for problem in [problem, general, uneven, mixed] {
            let problem = with_solution(&problem, &seeds);
            let (γ, report) = solve(&problem, &options(1e-6));
            prop_assert_eq!(report.status, Status::Converged, "{:?} {}", report.residuals, report.iterations);
            prop_assert!(natural_residual(&problem, &γ) < 1.1e-6);
        }
    }
}

// ---------------------------------------------------------------- residuals, from the definition

/// The natural residual of the associated law.
fn natural_residual(problem: &Problem, γ: &ContactVec) -> f64 {
    super::solving::natural_residual(problem, γ, Friction::Associated)
}

#[test]
fn residuals_are_what_they_are_defined_to_be() {
    for (name, problem) in problems() {
        for tolerance in [0.3, 1e-2, 1e-4] {
            let (γ, report) = solve(problem, &options(tolerance));
            assert_eq!(report.status, Status::Converged, "{name}");
            let expected = natural_residual(problem, &γ);
            let found = report.residuals.natural;
            assert!((found - expected).abs() < 1e-6 * expected, "{name}: {found} is not {expected}");

            // The residuals of S1 and S0, by their definitions.
            let (mut primal, mut dual, mut sum, mut largest) = (0.0f64, 0.0f64, 0.0, 0.0f64);
            for (i, g) in velocities(problem, &γ).into_iter().enumerate() {
                let (γ, n, μ) = (γ.get(i), problem.normals.get(i), problem.friction[i]);
                let split = |v: DVec3| (v.dot(n), (v - n * v.dot(n)).length());
                let ((γ_n, γ_t), (g_n, g_t)) = (split(γ), split(g));
                primal = primal.max(γ_t - μ * γ_n);
                dual = dual.max(if μ > 0.0 { g_t - g_n / μ } else { -g_n });
                sum += γ.dot(g);
                largest = largest.max(γ.dot(g).abs());
            }
            let near = |a: f64, b: f64| (a - b).abs() <= 1e-6 * b.abs() + 1e-14;
            let r = report.residuals;
            assert!(near(r.primal, primal.max(0.0)), "{name}: primal {} is not {primal}", r.primal);
            assert!(near(r.dual, dual.max(0.0)), "{name}: dual {} is not {dual}", r.dual);
            assert!(near(r.complementarity, (sum / problem.contacts() as f64).abs()), "{name}");
            assert!(near(r.complementarity_max, largest), "{name}");
        }
    }
}

// ---------------------------------------------------------------- an independent solver

/// A sparse matrix by its entries: rows, columns and values.
#[derive(Default)]
struct Triplets(Vec<usize>, Vec<usize>, Vec<f64>);

impl Triplets {
    fn push(&mut self, row: usize, column: usize, value: f64) {
        if value != 0.0 {
            self.0.push(row);
            self.1.push(column);
            self.2.push(value);
        }
    }

    fn matrix(self, rows: usize, columns: usize) -> CscMatrix {
        CscMatrix::new_from_triplets(rows, columns, self.0, self.1, self.2)
    }
}

/// Solves a problem by an interior-point method: min ½wᵀMw + bᵀγ with Mw = Dγ and γ in its cones.
/// Works in units of the largest mass and bias, so that its tolerances mean something.
fn by_interior_point(problem: &Problem) -> ContactVec {
    let (m, n) = (problem.contacts(), problem.bodies());
    let mass = problem.inverse_mass.iter().filter(|x| **x > 0.0).map(|x| 1.0 / x).fold(0.0, f64::max);
    let speed = problem.bias.iter().map(DVec3::length).fold(0.0, f64::max);
    let length = (0..m).flat_map(|i| problem.arms(i)).map(DVec3::length).fold(0.0, f64::max);
    let movable: Vec<usize> = (0..n).filter(|&j| problem.inverse_mass[j] > 0.0).collect();
    let column = |j: usize| movable.iter().position(|&k| k == j).map(|k| 3 * m + 6 * k);

    // Unknowns: γ, then velocity and (length times) spin of every body that can move.
    let unknowns = 3 * m + 6 * movable.len();
    let mut quadratic = Triplets::default();
    let mut linear = vec![0.0; unknowns];
    let mut rows = Triplets::default();
    for (k, &j) in movable.iter().enumerate() {
        let [xx, yy, zz, xy, xz, yz] = problem.inverse_inertia(j);
        assert_eq!([xy, xz, yz], [0.0; 3], "spheres only");
        for c in 0..6 {
            let inertia = match c {
                0..3 => 1.0 / problem.inverse_mass[j],
                _ => 1.0 / ([xx, yy, zz][c - 3] * length * length),
            } / mass;
            quadratic.push(3 * m + 6 * k + c, 3 * m + 6 * k + c, inertia);
            rows.push(6 * k + c, 3 * m + 6 * k + c, inertia);
        }
    }
    let mut cones = vec![ZeroConeT(6 * movable.len())];
    let mut row = 6 * movable.len();
    for i in 0..m {
        let (normal, μ, arms) = (problem.normals.get(i), problem.friction[i], problem.arms(i));
        for c in 0..3 {
            linear[3 * i + c] = problem.bias.get(i)[c] / speed;
            let impulse = DVec3::AXES[c];
            for (side, sign) in [(0, 1.0), (1, -1.0)] {
                if let Some(at) = column(problem.pairs[i][side] as usize) {
                    let body = at - 3 * m;
                    let moment = arms[side].cross(impulse) / length;
                    for k in 0..3 {
                        rows.push(body + k, 3 * i + c, -sign * impulse[k]);
                        rows.push(body + 3 + k, 3 * i + c, -sign * moment[k]);
                    }
                }
            }
        }
        // Slack s = (μγ_n, γ_t) in a second-order cone; without friction γ_n ≥ 0 and γ_t = 0.
        for c in 0..3 {
            rows.push(row, 3 * i + c, -if μ > 0.0 { μ } else { 1.0 } * normal[c]);
            for k in 0..3 {
                let projector = f64::from(u8::from(c == k)) - normal[c] * normal[k];
                rows.push(row + 1 + k, 3 * i + c, -projector);
            }
        }
        if μ > 0.0 {
            cones.push(SecondOrderConeT(4));
        } else {
            cones.extend([NonnegativeConeT(1), ZeroConeT(3)]);
        }
        row += 4;
    }
    let p = quadratic.matrix(unknowns, unknowns);
    let a = rows.matrix(row, unknowns);
    let settings = DefaultSettings {
        verbose: false,
        tol_gap_abs: 1e-11,
        tol_gap_rel: 1e-10,
        tol_feas: 1e-10,
        ..DefaultSettings::default()
    };
    let mut solver = DefaultSolver::new(&p, &linear, &a, &vec![0.0; row], &cones, settings).expect("a sound problem");
    solver.solve();
    let status = solver.solution.status;
    assert!(matches!(status, SolverStatus::Solved | SolverStatus::AlmostSolved), "{status:?}");
    let γ: Vec<DVec3> = (0..m).map(|i| DVec3::from_slice(&solver.solution.x[3 * i..]) * (mass * speed)).collect();
    ContactVec::from_slice(&γ)
}

#[test]
fn an_independent_solver_finds_the_same_solution() {
    for (name, problem) in problems() {
        let (γ, report) = solve(problem, &options(1e-9));
        assert_eq!(report.status, Status::Converged, "{name}");
        let other = by_interior_point(problem);
        let (ours, theirs) = (objective(problem, &γ), objective(problem, &other));
        assert!((ours - theirs).abs() <= 1e-6 * theirs.abs(), "{name}: objective {ours}, theirs {theirs}");
        assert!((report.objective - ours).abs() <= 1e-9 * ours.abs(), "{name}: the report says {}", report.objective);
        let (u, v) = (velocities(problem, &γ), velocities(problem, &other));
        let speed = problem.bias.iter().map(DVec3::length).fold(0.0, f64::max);
        let apart = u.iter().zip(&v).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max);
        assert!(apart < 1e-4 * speed, "{name}: velocities differ by {apart} of {speed}");
    }
}

// ---------------------------------------------------------------- APGD, written plainly

/// S1 III-A with dense vectors and matrices: the best iterate and the residual of each.
fn textbook(problem: &Problem, dense: &Dense, iterations: usize) -> (Vec<f64>, Vec<f64>) {
    let size = 3 * problem.contacts();
    let project = |z: &[f64]| -> Vec<f64> {
        let cone = |i: usize| onto_cone(DVec3::from_slice(&z[3 * i..]), problem.normals.get(i), problem.friction[i]);
        (0..problem.contacts()).flat_map(|i| cone(i).to_array()).collect()
    };
    let minus = |a: &[f64], b: &[f64]| -> Vec<f64> { a.iter().zip(b).map(|(x, y)| x - y).collect() };
    let mut l = (0..size).map(|k| dense.a[k][k]).sum::<f64>() / size as f64;
    let (mut γ, mut y, mut θ) = (vec![0.0; size], vec![0.0; size], 1.0f64);
    let mut residuals = vec![natural_residual(problem, &stacked(&γ))];
    let (mut best, mut best_residual) = (γ.clone(), residuals[0]);
    for _ in 0..iterations {
        let g = dense.gradient(&y);
        let x = loop {
            let step: Vec<f64> = y.iter().zip(&g).map(|(y, g)| y - g / l).collect();
            let x = project(&step);
            let d = minus(&x, &y);
            let curvature = dot(&d, &minus(&dense.gradient(&d), &dense.b));
            if curvature <= l * dot(&d, &d) {
                break x;
            }
            l *= 2.0;
        };
        let next = 0.5 * (θ * (θ * θ + 4.0).sqrt() - θ * θ);
        let β = θ * (1.0 - θ) / (θ * θ + next);
        θ = next;
        y = x.iter().zip(&γ).map(|(x, γ)| x + β * (x - γ)).collect();
        γ = x;
        residuals.push(natural_residual(problem, &stacked(&γ)));
        if *residuals.last().expect("one") < best_residual {
            (best, best_residual) = (γ.clone(), *residuals.last().expect("one"));
        }
    }
    (best, residuals)
}

#[test]
fn plain_apgd_takes_the_steps_of_the_textbook() {
    for (name, problem) in problems() {
        let dense = Dense::assemble(problem);
        for iterations in [5, 20] {
            let options = SolverOptions { apgd: ApgdOptions::PLAIN, max_iterations: iterations, ..options(1e-12) };
            let (γ, report) = solve(problem, &options);
            let (expected, residuals) = textbook(problem, &dense, iterations as usize);
            let error = norm(&flat(&γ).iter().zip(&expected).map(|(a, b)| a - b).collect::<Vec<_>>());
            assert!(error <= 1e-9 * norm(&expected), "{name}: {error} after {iterations}");
            assert_eq!(report.history.len(), residuals.len());
            for (k, (moment, residual)) in report.history.iter().zip(&residuals).enumerate() {
                let error = (moment.residual - residual).abs();
                assert!(error <= 1e-8 * residual, "{name}: residual {k} is {}, not {residual}", moment.residual);
            }
        }
    }
}

#[test]
fn every_variant_of_apgd_finds_the_same_solution() {
    for (name, problem) in problems() {
        let reference = objective(problem, &solve(problem, &options(1e-8)).0);
        for metric in [Metric::Contact, Metric::Scalar, Metric::Identity] {
            for (restart, shrink) in [(true, true), (true, false), (false, true), (false, false)] {
                let apgd = ApgdOptions { metric, restart, shrink };
                let (γ, report) = solve(problem, &SolverOptions { apgd, ..options(1e-5) });
                assert_eq!(report.status, Status::Converged, "{name} {apgd:?}: {}", report.residual);
                let found = objective(problem, &γ);
                assert!((found - reference).abs() <= 1e-5 * reference.abs(), "{name} {apgd:?}: {found}, {reference}");
            }
        }
        for criterion in [Criterion::S1, Criterion::S0] {
            let (_, report) = solve(problem, &SolverOptions { criterion, ..options(1e-5) });
            assert_eq!(report.status, Status::Converged, "{name} {criterion:?}");
            assert!(report.residuals.by(criterion) <= 1e-5 && report.residual == report.residuals.by(criterion));
        }
    }
}

// ---------------------------------------------------------------- reports

#[test]
fn reports_are_true() {
    let problem = &*BED;
    let (_, report) = solve(problem, &options(1e-4));
    assert_eq!(report.status, Status::Converged);
    assert!(report.residual <= 1e-4 && report.iterations > 5);
    assert!(report.operator_applications > report.iterations, "one an iteration, and one for the start");
    assert_eq!(report.history.len(), report.iterations as usize + 1, "the start and every iteration");
    assert!(report.history.windows(2).all(|w| w[0].operator_applications < w[1].operator_applications));
    assert_eq!(report.history[0].operator_applications, 1);
    assert!((report.history[0].residual - 1.0).abs() < 1e-12, "1 without impulses");

    let (_, report) = solve(problem, &SolverOptions { max_iterations: 3, ..options(1e-4) });
    assert_eq!((report.status, report.iterations), (Status::IterationLimit, 3));
    let (_, report) = solve(problem, &SolverOptions { max_iterations: 0, ..options(1e-4) });
    assert_eq!((report.status, report.iterations), (Status::IterationLimit, 0));

    let (γ, report) = solve(&Problem::default(), &options(1e-4));
    assert_eq!((report.status, report.iterations, γ.len()), (Status::Converged, 0, 0));
}

#[test]
fn what_is_not_a_number_is_reported_by_every_criterion() {
    for bad in [f64::NAN, f64::INFINITY] {
        // In the first lane of a block, and in the very last contact.
        for contact in [4, BED.contacts() - 1] {
            let mut problem = BED.clone();
            problem.bias.set(contact, DVec3::new(0.1, bad, 0.2));
            for criterion in [Criterion::Natural, Criterion::S1, Criterion::S0] {
                let (_, report) = solve(&problem, &SolverOptions { criterion, ..options(1e-4) });
                assert_eq!(report.status, Status::BadProblem, "{bad} {criterion:?}");
            }
        }
    }
}

/// The best iterate is kept: what is returned is no worse than anything on the way.
#[test]
fn the_best_iterate_is_returned() {
    for (name, problem) in problems() {
        for iterations in [7, 40, 41, 42, 43, 160] {
            let (γ, report) = solve(problem, &SolverOptions { max_iterations: iterations, ..options(1e-12) });
            let best = report.history.iter().map(|moment| moment.residual).fold(f64::INFINITY, f64::min);
            assert!(report.residual <= best * (1.0 + 1e-7), "{name}: {} after {best}", report.residual);
            let measured = natural_residual(problem, &γ);
            assert!(measured <= best * (1.0 + 1e-5) + 1e-14, "{name}: judged {measured}, on the way {best}");
        }
    }
}

/// Other units of length, mass and time change neither the path nor its length.
#[test]
fn units_do_not_matter() {
    for (name, problem) in problems() {
        let bits = 2f64.powi(40);
        // Units that change bits as well: rounding may shift the end, the more the longer the path.
        for (length, mass, speed, tolerance, slack) in
            [(1024.0, 1.0 / bits, 64.0, 1e-6, 0), (1e3, 1e-3, 30.0, 1e-2, 1), (1e-6, 1e-15, 1e-4, 1e-2, 1)]
        {
            let here = solve(problem, &options(tolerance)).1;
            let Geometry { radius, inverse_inertia, .. } = &problem.geometry;
            let scaled = Problem {
                inverse_mass: problem.inverse_mass.iter().map(|x| x / mass).collect(),
                geometry: Geometry::round(
                    radius.iter().map(|x| x * length).collect(),
                    inverse_inertia.iter().map(|x| x / (mass * length * length)).collect(),
                ),
                bias: ContactVec::from_slice(&problem.bias.iter().map(|b| b * speed).collect::<Vec<_>>()),
                ..problem.clone()
            };
            let there = solve(&scaled, &options(tolerance)).1;
            assert_eq!(there.status, Status::Converged);
            let difference = here.iterations.abs_diff(there.iterations);
            assert!(difference <= slack, "{name}: {} and {} iterations", here.iterations, there.iterations);
        }
    }
}

/// A warm start at the solution is over at once, and one that is wrong does no harm.
#[test]
fn a_warm_start_helps_or_does_no_harm() {
    let problem = &*BED;
    let (γ, cold) = solve(problem, &options(1e-4));
    let from = |mut γ: ContactVec, problem: &Problem| {
        let mut workspace = Workspace::default();
        let mut operator = MatrixFree::new(problem, &mut workspace);
        let report =
            apgd().solve(Solve::new(&mut operator, &mut γ, &mut BodyVec::default(), &options(1e-4)).with_history(true));
        (γ, report)
    };
    assert_eq!(from(γ.clone(), problem).1.iterations, 0);
    let wrong: Vec<DVec3> = γ.iter().map(|p| -3.0 * p + DVec3::splat(1e-5)).collect();
    let (_, report) = from(ContactVec::from_slice(&wrong), problem);
    assert_eq!(report.status, Status::Converged);
    assert!((report.objective - cold.objective).abs() < 1e-3 * cold.objective.abs());
    // Contacts that all part need no impulse, whatever there was before.
    let mut parting = problem.clone();
    for i in 0..parting.contacts() {
        parting.bias.set(i, parting.normals.get(i));
    }
    let (γ, report) = from(γ, &parting);
    assert_eq!((report.status, report.residual), (Status::Converged, 0.0));
    assert!(γ.iter().all(|p| p == DVec3::ZERO));
}
