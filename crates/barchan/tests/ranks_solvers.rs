//! Every solver across ranks solves the problem of one process.

#[path = "common/bounds.rs"]
mod bounds;
#[path = "common/ranks.rs"]
mod ranks;
#[path = "common/ranks_judge.rs"]
mod ranks_judge;
#[path = "common/solving.rs"]
mod solving;

use barchan::problem::Friction;
use barchan::solver::SolverName;
use barchan::step::{Simulation, StepOptions};
use barchan::world::World;
use ranks::{Division, Setting, bed, each_part};
use ranks_judge::{Judge, Step, asked};

fn agrees(name: SolverName, laws: &[Friction], world: &World, options: StepOptions) {
    for &law in laws {
        let options = asked(options, name, law);
        let one = Judge::new(Simulation::new(world.clone(), options));
        assert!(one.contacts() > 100, "{}", one.contacts());
        for (division, ranks) in [(Division::Cartesian, 2), (Division::Morton, 3), (Division::Cartesian, 8)] {
            let case = format!("{} {law:?} on {ranks} ranks", name.name());
            let setting = Setting::new(ranks, division);
            let there = Step::join(each_part(world, options, setting, |mut simulation| Step::of(&mut simulation)));
            let (here, far) = (&one.report, &there.report);
            println!("{case}: {} and {} iterations, {:.1e}", here.iterations, far.iterations, far.residual);
            one.judge(&case, &there);
        }
    }
}

/// Solvers without momentum need thousands of sweeps for a deep bed: this one is shallow.
#[test]
fn every_solver_solves_the_problem_of_one_process() {
    let (world, options) = bed("120", 300);
    for &(name, ..) in SolverName::ALL.iter().filter(|solver| solver.0 != SolverName::Scip) {
        agrees(name, name.laws(), &world, options);
    }
}

#[test]
fn so_does_the_interior_point() {
    let (world, options) = bed("100", 200);
    agrees(SolverName::Scip, &[Friction::Associated], &world, options);
}
