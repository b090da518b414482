//! Every solver across ranks solves the problem of one process.
//!
//! Impulses of all ranks are put together as impulses of the problem that one process poses. They
//! must satisfy it to the tolerance that was asked for, judged by code that shares nothing with
//! solvers. Under the associated law velocities are unique, and `common/bounds.rs` tells how far those
//! of two solutions may be apart.

#[path = "common/bounds.rs"]
mod bounds;
#[path = "common/ranks.rs"]
mod ranks;
#[path = "common/solving.rs"]
mod solving;

use barchan::DVec3;
use barchan::problem::{ContactVec, Friction, Problem, System};
use barchan::solver::{Report, SolverName, Status};
use barchan::step::{Simulation, StepOptions};
use barchan::world::{Standing, World};
use bounds::{Scales, Solution};
use ranks::{Division, Setting, bed, each_part};
use solving::{dot, natural_residual, natural_unit};
use std::collections::BTreeMap;

/// What is asked for.
const TOLERANCE: f64 = 1e-3;

/// Impulses by ids, on the first of two bodies; those of the same bodies in the order of features.
type Impulses = BTreeMap<[u64; 2], Vec<DVec3>>;

fn impulses(simulation: &Simulation) -> Impulses {
    let id = |i: u32| simulation.world.bodies.id[i as usize];
    let mut all = Impulses::new();
    for ([a, b], p) in simulation.impulses() {
        let (a, b) = (id(a), id(b));
        all.entry([a.min(b), a.max(b)]).or_default().push(if a < b { p } else { -p });
    }
    all
}

fn velocities(simulation: &Simulation) -> BTreeMap<u64, DVec3> {
    let bodies = &simulation.world.bodies;
    let own = (0..bodies.len()).filter(|&i| bodies.standing[i] == Standing::Own);
    own.map(|i| (bodies.id[i], bodies.velocity[i])).collect()
}

/// One step in one piece.
fn whole(world: &World, options: StepOptions) -> (Simulation, Report) {
    let mut simulation = Simulation::new(world.clone(), options);
    let report = simulation.step().unwrap().solver;
    (simulation, report)
}

/// One step on ranks.
fn parted(world: &World, options: StepOptions, setting: Setting) -> (Impulses, BTreeMap<u64, DVec3>, Report) {
    let parts = each_part(world, options, setting, |mut simulation| {
        let report = simulation.step().unwrap().solver;
        (impulses(&simulation), velocities(&simulation), report)
    });
    let (mut all, mut moves, mut report) = (Impulses::new(), BTreeMap::new(), Report::default());
    for (impulses, velocities, own) in parts {
        for (pair, impulses) in impulses {
            assert!(all.insert(pair, impulses).is_none(), "{pair:?} is treated twice");
        }
        // Walls have an owner as well.
        moves.extend(velocities);
        report = own;
    }
    (all, moves, report)
}

/// Impulses in the order of the problem's contacts.
fn in_order(problem: &Problem, ids: &[u64], impulses: &Impulses) -> ContactVec {
    let mut seen = BTreeMap::<[u64; 2], usize>::new();
    let find = |pair: &[u32; 2]| {
        let [a, b] = pair.map(|i| ids[i as usize]);
        let key = [a.min(b), a.max(b)];
        let place = seen.entry(key).or_default();
        *place += 1;
        let p = impulses.get(&key).and_then(|p| p.get(*place - 1)).unwrap_or_else(|| panic!("no contact {key:?}"));
        if a < b { *p } else { -*p }
    };
    let γ: Vec<DVec3> = problem.pairs.iter().map(find).collect();
    assert_eq!(γ.len(), impulses.values().map(Vec::len).sum::<usize>());
    ContactVec::from_slice(&γ)
}

/// What the solver says must be so, of the problem of one process.
fn judge(case: &str, problem: &Problem, γ: &ContactVec, law: Friction, report: &Report, tolerance: f64) -> f64 {
    let judged = natural_residual(problem, γ, law);
    // Reports count what rounding leaves of the impulses, 1e-15 of their length.
    let rounding = 1e-15 * dot(γ, γ).sqrt() / natural_unit(problem, law);
    let judged = if judged == 0.0 { judged } else { judged.hypot(rounding) };
    let is_true = (judged - report.residual).abs() <= 1e-6 * judged + 1e-11;
    assert!(is_true, "{case}: the residual is {judged}, not {}", report.residual);
    assert_eq!(report.status == Status::Converged, report.residual <= tolerance, "{case}: {report:?}");
    judged
}

fn agrees(name: SolverName, laws: &[Friction], world: &World, options: StepOptions) {
    for &law in laws {
        let mut options = options;
        options.solver.name = name;
        options.solver.friction = Some(law);
        let tolerance = TOLERANCE;
        options.solver.tolerance = tolerance;
        options.solver.max_iterations = 20_000;
        let (one, report) = whole(world, options);
        let (problem, ids) = (one.problem(), &one.world.bodies.id);
        let case = format!("{} {law:?} in one piece", name.name());
        let γ = in_order(problem, ids, &impulses(&one));
        let reached = judge(&case, problem, &γ, law, &report, tolerance);
        let (scales, here) = (Scales::of(problem), Solution::new(problem, case, γ, tolerance.max(1.000_001 * reached)));
        let alone = velocities(&one);
        for (division, ranks) in [(Division::Cartesian, 2), (Division::Morton, 3), (Division::Cartesian, 8)] {
            let case = format!("{} {law:?} on {ranks} ranks", name.name());
            let (impulses, moves, far) = parted(world, options, Setting::new(ranks, division));
            let γ = in_order(problem, ids, &impulses);
            let reached = judge(&case, problem, &γ, law, &far, tolerance);
            println!("{case}: {} and {} iterations, {:.1e}", report.iterations, far.iterations, far.residual);
            let there = Solution::new(problem, case.clone(), γ, tolerance.max(1.000_001 * reached));
            assert_eq!(far.status, Status::Converged, "{case}: {far:?}");
            // Momentum that swings under Coulomb's law took 1 567 sweeps on eight ranks, 435 on one.
            assert!(name != SolverName::AcceleratedGs || far.iterations <= 2 * report.iterations, "{case}: {far:?}");
            if law == Friction::Associated {
                scales.assert_agree(&case, &there, &here);
            }
            // Bodies move as the impulses say.
            let fastest = alone.values().map(|v| v.length()).fold(0.0, f64::max);
            let mut change = vec![DVec3::ZERO; problem.bodies()];
            for (i, &[a, b]) in problem.pairs.iter().enumerate() {
                let d = there.γ.get(i) - here.γ.get(i);
                change[a as usize] += problem.inverse_mass[a as usize] * d;
                change[b as usize] -= problem.inverse_mass[b as usize] * d;
            }
            for (change, id) in change.into_iter().zip(ids) {
                let off = (moves[id] - alone[id] - change).length();
                assert!(off < 1e-10 * fastest, "{case}: body {id} is off by {off:e}");
            }
        }
    }
}

fn is_fixed_point(name: SolverName) -> bool {
    matches!(name, SolverName::GaussSeidel | SolverName::Jacobi)
}

#[test]
fn every_solver_solves_the_problem_of_one_process() {
    let (world, options) = bed("120", 300);
    for &(name, ..) in SolverName::ALL.iter().filter(|solver| !is_fixed_point(solver.0)) {
        agrees(name, name.laws(), &world, options);
    }
}

/// Solvers without momentum need tens of thousands of sweeps for a bed at rest: this one still falls.
#[test]
fn so_do_fixed_points() {
    let (world, options) = bed("200", 120);
    for &(name, ..) in SolverName::ALL.iter().filter(|solver| is_fixed_point(solver.0)) {
        agrees(name, name.laws(), &world, options);
    }
}

/// One process has all bodies of this bed in one domain, and its systems are as good as solved by the
/// preconditioner. Ranks that knew no more than their own contacts took 6 000 to 8 000 conjugate
/// gradients.
#[test]
fn linear_systems_reach_beyond_borders() {
    let (world, mut options) = bed("300", 400);
    options.solver.name = SolverName::Scip;
    options.solver.scip.system = System::Iterative;
    options.solver.tolerance = 1e-2;
    let (_, one) = whole(&world, options);
    for (division, ranks) in [(Division::Cartesian, 4), (Division::Cartesian, 8), (Division::Morton, 8)] {
        let (.., far) = parted(&world, options, Setting::new(ranks, division));
        let case = format!("{ranks} ranks, {division:?}");
        println!(
            "{case}: {} conjugate gradients, {} in one piece",
            far.operator_applications, one.operator_applications
        );
        assert_eq!((far.status, far.iterations), (Status::Converged, one.iterations), "{case}");
        assert!(far.operator_applications <= 6 * one.operator_applications, "{case}: {far:?}");
    }
}
