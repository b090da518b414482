//! How far two approximate solutions of the associated law may be apart.
//!
//! Impulses of a packing are not unique; the velocities u = Aγ + b and the objective are. How far
//! two approximate solutions may be apart follows from the tolerance. Let e = γ − Π(γ − ηu) be the
//! natural map of γ, so that |e| = ρN with the residual ρ and N = ‖Π(−ηb)‖. The projection is the
//! nearest point of C, hence (e − ηu)·(z − γ + e) ≤ 0 for every z in C. With z = γ₂ − e₂ for the
//! first of two solutions, z = γ₁ − e₁ for the second, d = γ₁ − γ₂ and ε = e₁ − e₂, the sum is
//!
//! η d·Ad ≤ ε·d − |ε|² + η ε·Ad ≤ (ρ₁ + ρ₂) N (|d| + η|Ad|),
//!
//! where d·Ad is twice the kinetic energy of the difference and Ad = u₁ − u₂ that of the velocities.
//! |Ad|² ≤ ‖A‖ d·Ad turns it into a bound of velocities. With z = γ₂ and convexity,
//!
//! f(γ₁) − f(γ₂) ≤ u₁·d ≤ ρ₁ N (|d|/η + |u₁|).
//!
//! Impulses enter as they were found, residuals as they were asked for, and nothing is fitted.
//!
//! Rows take part with Π the identity.

// Each test program takes what it needs.
#![allow(dead_code)]

use super::solving::{
    dot, inverse_mean_diagonal, minus, natural_residual, natural_unit, objective, solve, velocities, with,
};
use barchan::DVec3;
use barchan::cone::solver::{Friction, Order, Report, SolverName, SolverOptions, Status};
use barchan::cone::{ContactVec, Problem};

/// A solution with the residual that it was asked for, judged here.
pub(crate) struct Solution {
    pub(crate) solver: String,
    pub(crate) γ: ContactVec,
    pub(crate) u: ContactVec,
    objective: f64,
    tolerance: f64,
}

impl Solution {
    pub(crate) fn new(problem: &Problem, solver: String, γ: ContactVec, tolerance: f64) -> Self {
        let (u, objective) = (velocities(problem, &γ), objective(problem, &γ));
        Self { solver, γ, u, objective, tolerance }
    }
}

/// The solution of a solver, as exact as it gets.
pub(crate) fn reference(problem: &Problem, solver: SolverName) -> Solution {
    let (γ, _, _) = solve(problem, &with(solver, Friction::Associated, Order::default(), 1e-8));
    let reached = natural_residual(problem, &γ, Friction::Associated);
    assert!(reached < 1e-6, "{} reaches {reached}", solver.name());
    Solution::new(problem, "reference".into(), γ, reached)
}

/// The solution of a solver that must say the truth about its residual, whether it converges or
/// not. Bounds take the residual that was reached where it is above the one asked for.
#[track_caller]
pub(crate) fn measured(problem: &Problem, solver: String, options: &SolverOptions) -> (Solution, Report) {
    let (γ, _, report) = solve(problem, options);
    assert!(γ.iter().all(DVec3::is_finite) && γ.rows.iter().all(|λ| λ.is_finite()), "{solver}");
    let measured = natural_residual(problem, &γ, options.law());
    // Reports count what rounding leaves of the impulses, 1e-15 of their length.
    let rounding = 1e-15 * dot(&γ, &γ).sqrt() / natural_unit(problem, options.law());
    let measured = if measured == 0.0 { measured } else { measured.hypot(rounding) };
    let is_true = (measured - report.residual).abs() <= 1e-6 * measured + 1e-11;
    assert!(is_true, "{solver}: the residual is {measured}, not {}", report.residual);
    assert_eq!(report.status == Status::Converged, report.residual <= options.tolerance, "{solver}: {report:?}");
    (Solution::new(problem, solver, γ, options.tolerance.max(1.000_001 * measured)), report)
}

/// The same of a solver that must converge.
#[track_caller]
pub(crate) fn converged(problem: &Problem, solver: String, options: &SolverOptions) -> (Solution, Report) {
    let (solution, report) = measured(problem, solver, options);
    assert_eq!(report.status, Status::Converged, "{}: {report:?}", solution.solver);
    (solution, report)
}

/// What bounds are made of.
pub(crate) struct Scales {
    η: f64,
    unit: f64,
    /// The largest sum of the entries of a column of A, which no eigenvalue exceeds.
    norm: f64,
    /// The length of b.
    bias: f64,
}

/// What sums of a few thousand numbers lose, against their largest.
const ROUNDING: f64 = 1e-13;

impl Scales {
    pub(crate) fn of(problem: &Problem) -> Self {
        let unit = natural_unit(problem, Friction::Associated);
        let bias = dot(&problem.bias, &problem.bias).sqrt();
        Self { η: inverse_mean_diagonal(problem), unit, norm: largest_column(problem), bias }
    }

    /// How far apart two solutions are against how far their tolerances let them: velocities and
    /// objectives. Beside it the bound of velocities against the length of b.
    pub(crate) fn apart(&self, a: &Solution, b: &Solution) -> ([f64; 2], f64) {
        let (d, du) = (minus(&a.γ, &b.γ), minus(&a.u, &b.u));
        let length = |x: &ContactVec| dot(x, x).sqrt();
        let ratio = |x: f64, unit: f64, bound: f64| if x <= ROUNDING * unit { 0.0 } else { x / bound };
        let allowed = (a.tolerance + b.tolerance) * self.unit * (length(&d) + self.η * length(&du)) / self.η;
        let bound = (self.norm * allowed).sqrt();
        // The kinetic energy is the sharper of the two on velocities.
        let energy = b.objective.abs();
        let velocity = ratio(length(&du), self.bias, bound).max(ratio(dot(&d, &du), energy, allowed));
        let gap = |one: &Solution| one.tolerance * self.unit * (length(&d) / self.η + length(&one.u));
        let more = a.objective - b.objective;
        ([velocity, ratio(more, energy, gap(a)).max(ratio(-more, energy, gap(b)))], bound / self.bias)
    }

    #[track_caller]
    pub(crate) fn assert_agree(&self, name: &str, a: &Solution, b: &Solution) {
        let ([velocity, objective], _) = self.apart(a, b);
        assert!(velocity <= 1.0, "{name}: velocities of {} and {}: {velocity}", a.solver, b.solver);
        assert!(objective <= 1.0, "{name}: objectives of {} and {}: {objective}", a.solver, b.solver);
    }
}

fn largest_column(problem: &Problem) -> f64 {
    let mut bare = problem.clone();
    bare.bias = ContactVec::zeros(problem.contacts());
    bare.bias.rows.resize(problem.rows.len(), 0.0);
    let mut unit = bare.bias.clone();
    let mut largest = 0.0f64;
    let size = |u: &ContactVec| {
        let sum = |u: DVec3| u.abs().element_sum();
        u.iter().map(sum).sum::<f64>() + u.rows.iter().map(|u| u.abs()).sum::<f64>()
    };
    for i in 0..problem.contacts() {
        for axis in DVec3::AXES {
            unit.set(i, axis);
            largest = largest.max(size(&velocities(&bare, &unit)));
        }
        unit.set(i, DVec3::ZERO);
    }
    for k in 0..problem.rows.len() {
        unit.rows[k] = 1.0;
        largest = largest.max(size(&velocities(&bare, &unit)));
        unit.rows[k] = 0.0;
    }
    largest
}
