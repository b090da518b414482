//! Every solver across ranks solves the problem of one process.

use crate::ranks::{DIVISIONS, Division, RANKS, Setting, bed, each_part};
use crate::ranks_check::{Reference, Step, asked};
use barchan::cone::solver::{Report, SolverName, Status};
use barchan::cone::{Friction, System};
use barchan::step::{Simulation, StepOptions};
use barchan::world::World;

fn agrees(name: SolverName, laws: &[Friction], world: &World, options: StepOptions) {
    for &law in laws {
        let options = asked(options, name, law, 1e-3);
        let one = Reference::new(Simulation::new(world.clone(), options));
        assert!(one.contacts() > 100, "{}", one.contacts());
        for (division, ranks) in DIVISIONS.iter().flat_map(|&division| RANKS.map(|ranks| (division, ranks))) {
            let case = format!("{} {law:?} on {ranks} ranks, {division:?}", name.name());
            let setting = Setting::new(ranks, division);
            let there = Step::join(each_part(world, options, setting, |mut simulation| Step::of(&mut simulation)));
            let (here, far) = (&one.report, &there.report);
            println!("{case}: {} and {} iterations, {:.1e}", here.iterations, far.iterations, far.residual);
            // Momentum that swings under Coulomb's law took 1 567 sweeps on eight ranks, 435 on one.
            assert!(name != SolverName::AcceleratedGs || far.iterations <= 2 * here.iterations, "{case}: {far:?}");
            one.check(&case, &there);
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
    let one = Simulation::new(world.clone(), options).step().unwrap().solver;
    for (division, ranks) in [(Division::Cartesian, 4), (Division::Cartesian, 8), (Division::Morton, 8)] {
        let parts = each_part(&world, options, Setting::new(ranks, division), |mut part| part.step().unwrap().solver);
        let far: &Report = &parts[0];
        let case = format!("{ranks} ranks, {division:?}");
        println!(
            "{case}: {} conjugate gradients, {} in one piece",
            far.operator_applications, one.operator_applications
        );
        assert_eq!((far.status, far.iterations), (Status::Converged, one.iterations), "{case}");
        assert!(far.operator_applications <= 6 * one.operator_applications, "{case}: {far:?}");
    }
}
