//! To solve a problem by any solver, and to judge the solution by code that shares nothing with
//! operators and solvers: plain loops over bodies, contacts and rows.

// Each test program takes what it needs.
#![allow(dead_code)]

use barchan::cone::solver::{
    AcceleratedGsOptions, AnySolver, Friction, GaussSeidelOptions, NbgsOptions, Order, Report, Solve, Solver,
    SolverName, SolverOptions,
};
use barchan::cone::{BodyVec, ConeProblem, ContactVec, MatrixFree, Problem, Workspace};
use barchan::{DMat3, DVec3};

pub(crate) const ORDERS: [Order; 3] = [Order::Coloured, Order::Split, Order::Serial];

/// Options of a solver; the order is for those that sweep.
pub(crate) fn with(name: SolverName, friction: Friction, order: Order, tolerance: f64) -> SolverOptions {
    SolverOptions {
        name,
        friction: Some(friction),
        tolerance,
        max_iterations: 400_000,
        accelerated_gs: AcceleratedGsOptions { order, ..AcceleratedGsOptions::default() },
        nbgs: NbgsOptions { order, ..NbgsOptions::default() },
        gauss_seidel: GaussSeidelOptions { order, ..GaussSeidelOptions::default() },
        ..SolverOptions::default()
    }
}

/// Every solver that knows a law, with its name and its options.
pub(crate) fn every_solver(law: Friction, tolerance: f64) -> Vec<(String, SolverOptions)> {
    let known = SolverName::ALL.iter().filter(|solver| solver.0.laws().contains(&law));
    known.map(|&(name, text, _)| (text.to_owned(), with(name, law, Order::default(), tolerance))).collect()
}

/// Every solver of a law that sweeps, in every order.
pub(crate) fn every_order(law: Friction, tolerance: f64) -> Vec<(String, SolverOptions)> {
    let sweeps = [SolverName::AcceleratedGs, SolverName::Nbgs, SolverName::GaussSeidel];
    let known = sweeps.into_iter().filter(|solver| solver.laws().contains(&law));
    let named = |name: SolverName, order: Order| format!("{} {order:?}", name.name()).to_lowercase();
    known.flat_map(|name| ORDERS.map(|order| (named(name, order), with(name, law, order, tolerance)))).collect()
}

/// Solves from a cold start: impulses, velocities u = Aγ + b, and the report.
pub(crate) fn solve(problem: &Problem, options: &SolverOptions) -> (ContactVec, ContactVec, Report) {
    assert_eq!(problem.check(), Ok(()));
    let mut workspace = Workspace::default();
    let mut operator = MatrixFree::new(problem, &mut workspace);
    let (mut γ, mut response) = (ContactVec::default(), BodyVec::default());
    operator.clear_impulses(&mut γ);
    let report = AnySolver::new(options.name).solve(Solve::new(&mut operator, &mut γ, &mut response, options));
    let mut u = ContactVec::default();
    operator.gradient(&γ, &mut u);
    (γ, u, report)
}

/// The projection onto a friction cone, by cases.
pub(crate) fn onto_cone(z: DVec3, n: DVec3, μ: f64) -> DVec3 {
    let z_n = z.dot(n);
    let z_t = z - z_n * n;
    let slip = z_t.length();
    if slip <= μ * z_n && z_n >= 0.0 {
        z
    } else if μ * slip <= -z_n {
        DVec3::ZERO
    } else {
        // On the surface: along the ray (1, μ) of the plane of n and z_t.
        let along = (z_n + μ * slip) / (1.0 + μ * μ);
        along * n + if slip > 0.0 { z_t * (μ * along / slip) } else { DVec3::ZERO }
    }
}

/// I⁻¹x of a body.
fn turned_by(problem: &Problem, body: usize, x: DVec3) -> DVec3 {
    let [xx, yy, zz, xy, xz, yz] = problem.inverse_inertia(body);
    DMat3::from_cols(DVec3::new(xx, xy, xz), DVec3::new(xy, yy, yz), DVec3::new(xz, yz, zz)) * x
}

/// u = Aγ + b: impulses move bodies, bodies move contacts and rows.
pub(crate) fn velocities(problem: &Problem, γ: &ContactVec) -> ContactVec {
    let mut motion = vec![[DVec3::ZERO; 2]; problem.bodies()];
    let mut push = |body: u32, force: DVec3, moment: DVec3| {
        let j = body as usize;
        motion[j][0] += problem.inverse_mass[j] * force;
        motion[j][1] += turned_by(problem, j, moment);
    };
    for (i, (&[a, b], p)) in problem.pairs.iter().zip(γ.iter()).enumerate() {
        let [arm_a, arm_b] = problem.arms(i);
        push(a, p, arm_a.cross(p));
        push(b, -p, -arm_b.cross(p));
    }
    for (row, λ) in problem.rows.iter().zip(&γ.rows) {
        for (body, [v, s]) in row.bodies.into_iter().zip(row.jacobian) {
            push(body, *λ * v, *λ * s);
        }
    }
    let mut u = problem.bias.clone();
    for (i, pair) in problem.pairs.iter().enumerate() {
        let point = |side: usize| {
            let [v, s] = motion[pair[side] as usize];
            v + s.cross(problem.arms(i)[side])
        };
        u.set(i, u.get(i) + point(0) - point(1));
    }
    for ((u, row), λ) in u.rows.iter_mut().zip(&problem.rows).zip(&γ.rows) {
        *u += row.compliance * λ;
        for (body, [v, s]) in row.bodies.into_iter().zip(row.jacobian) {
            *u += v.dot(motion[body as usize][0]) + s.dot(motion[body as usize][1]);
        }
    }
    u
}

/// The inverse η of the mean diagonal entry of A.
pub(crate) fn inverse_mean_diagonal(problem: &Problem) -> f64 {
    let entry = |body: u32, [v, s]: [DVec3; 2]| {
        let j = body as usize;
        problem.inverse_mass[j] * v.length_squared() + s.dot(turned_by(problem, j, s))
    };
    let mut trace = 0.0;
    for (i, pair) in problem.pairs.iter().enumerate() {
        for (&body, arm) in pair.iter().zip(problem.arms(i)) {
            trace += DVec3::AXES.into_iter().map(|axis| entry(body, [axis, arm.cross(axis)])).sum::<f64>();
        }
    }
    for row in &problem.rows {
        trace += row.bodies.into_iter().zip(row.jacobian).map(|(body, side)| entry(body, side)).sum::<f64>();
        trace += row.compliance;
    }
    (3 * problem.contacts() + problem.rows.len()) as f64 / trace
}

/// ‖Π(−ηb)‖, what the natural residual is measured against; for Coulomb's law b has its term μ|b_t|.
pub(crate) fn natural_unit(problem: &Problem, law: Friction) -> f64 {
    let mut nothing = ContactVec::zeros(problem.contacts());
    nothing.rows.resize(problem.rows.len(), 0.0);
    moved(problem, &nothing, &problem.bias, law)
}

/// ‖γ − Π(γ − ηu)‖/‖Π(−ηb)‖; for Coulomb's law u and b have their terms μ|u_t| and μ|b_t|.
pub(crate) fn natural_residual(problem: &Problem, γ: &ContactVec, law: Friction) -> f64 {
    let above = moved(problem, γ, &velocities(problem, γ), law);
    if above == 0.0 { 0.0 } else { above / natural_unit(problem, law) }
}

/// ‖γ − Π(γ − ηu)‖.
fn moved(problem: &Problem, γ: &ContactVec, u: &ContactVec, law: Friction) -> f64 {
    let η = inverse_mean_diagonal(problem);
    let mut sum = 0.0;
    for i in 0..problem.contacts() {
        let (n, μ, mut u) = (problem.normals.get(i), problem.friction[i], u.get(i));
        if law == Friction::Coulomb {
            u += μ * (u - n * u.dot(n)).length() * n;
        }
        sum += (γ.get(i) - onto_cone(γ.get(i) - η * u, n, μ)).length_squared();
    }
    for ((u, λ), row) in u.rows.iter().zip(&γ.rows).zip(&problem.rows) {
        sum += (λ - (λ - η * u).clamp(row.limits[0], row.limits[1])).powi(2);
    }
    sum.sqrt()
}

/// The scalar product, rows included.
pub(crate) fn dot(a: &ContactVec, b: &ContactVec) -> f64 {
    let rows = a.rows.iter().zip(&b.rows).map(|(x, y)| x * y).sum::<f64>();
    rows + a.iter().zip(b.iter()).map(|(x, y)| x.dot(y)).sum::<f64>()
}

/// a − b, rows included.
pub(crate) fn minus(a: &ContactVec, b: &ContactVec) -> ContactVec {
    let mut out = ContactVec::from_slice(&a.iter().zip(b.iter()).map(|(x, y)| x - y).collect::<Vec<_>>());
    out.rows = a.rows.iter().zip(&b.rows).map(|(x, y)| x - y).collect();
    out
}

/// ½γᵀAγ + bᵀγ.
pub(crate) fn objective(problem: &Problem, γ: &ContactVec) -> f64 {
    0.5 * (dot(γ, &velocities(problem, γ)) + dot(γ, &problem.bias))
}
