//! Momentum of a gas without walls stays as it is, whoever solves and on however many ranks.
//!
//! How much rounding may take: a body's new momentum is a sum of its momentum and of the impulses on
//! it. Every sweep writes that sum anew in a number of operations that is bounded by some for each
//! of its contacts, and each of them loses at most ε of what is added up by then, which is no more
//! than the sizes of all parts together. So a step of k sweeps loses at most ε c k (Σ m|v| + 2 Σ|p|)
//! over all bodies, with c operations for each part: multiply by the inverse mass, add, send, add.

use crate::ranks::{DIVISIONS, Division, RANKS, Setting, each_part, own_ids, random, scene};
use barchan::DVec3;
use barchan::cone::solver::{Borders, SolverName, SolverOptions};
use barchan::step::StepOptions;
use barchan::world::{Ownership, World};

const STEPS: usize = 20;
/// Operations a part of the sum.
const OPERATIONS: f64 = 4.0;

/// A crowded gas that spins, in a cell that repeats along all axes.
fn gas() -> (World, StepOptions, barchan::partition::Periods) {
    let scene = scene(
        "granular-gas",
        &[
            ("nx", "5"),
            ("ny", "4"),
            ("nz", "4"),
            ("spacing", "0.0103"),
            ("friction", "0.4"),
            ("periodic", "1"),
            ("time.step", "5e-4"),
        ],
    );
    let mut world = scene.build().unwrap();
    let mut random = random(3);
    for spin in &mut world.bodies.angular_velocity {
        *spin = 60.0 * (DVec3::new(random(), random(), random()) - 0.5);
    }
    (world, StepOptions::from(&scene), scene.periods())
}

/// Momentum and the sum of its parts' sizes.
fn momentum(world: &World) -> (DVec3, f64) {
    let bodies = &world.bodies;
    let own = (0..bodies.len()).filter(|&i| bodies.ownership()[i] == Ownership::Owned);
    let parts = own.map(|i| bodies.velocity[i] / bodies.inverse_mass()[i]);
    parts.fold((DVec3::ZERO, 0.0), |(sum, size), part| (sum + part, size + part.length()))
}

/// Steps a gas and holds its momentum against the bound. Returns contacts and migrations.
fn is_conserved(solver: &str, options: StepOptions, ranks: usize, division: Division, steps: usize) -> (usize, usize) {
    let (world, _, periods) = gas();
    let (before, size) = momentum(&world);
    let parts = each_part(&world, options, Setting::periodic(ranks, division, periods), |mut simulation| {
        let (mut lost, mut contacts, mut moved) = (0.0, 0, 0);
        let mut known = own_ids(&simulation);
        for _ in 0..steps {
            let (_, size) = momentum(&simulation.world);
            let report = simulation.step().unwrap();
            let pushes: f64 = simulation.contacts().impulses().iter().map(DVec3::length).sum();
            let sweeps = f64::from(report.solver.iterations + 2);
            lost += f64::EPSILON * OPERATIONS * sweeps * (size + 2.0 * pushes);
            contacts += simulation.contacts().len();
            let own = own_ids(&simulation);
            moved += own.iter().filter(|id| known.binary_search(id).is_err()).count();
            known = own;
        }
        (momentum(&simulation.world).0, lost, contacts, moved)
    });
    let after: DVec3 = parts.iter().map(|part| part.0).sum();
    let (drift, bound) = ((after - before).length(), parts.iter().map(|part| part.1).sum::<f64>());
    println!("{solver} on {ranks} ({division:?}): drift {:.1e} of {:.1e}", drift / size, bound / size);
    assert!(drift <= bound, "{solver} on {ranks} ranks ({division:?}): {drift:e} above {bound:e}");
    // The bound is worth something.
    assert!(bound < 1e-8 * size, "{solver}: {:e}", bound / size);
    (parts.iter().map(|part| part.2).sum(), parts.iter().map(|part| part.3).sum())
}

fn with(name: SolverName) -> StepOptions {
    let (_, options, _) = gas();
    StepOptions { solver: SolverOptions { name, tolerance: 1e-2, max_iterations: 200, ..options.solver }, ..options }
}

fn on_all(solver: &str, options: StepOptions) {
    for ranks in RANKS {
        let division = DIVISIONS[ranks % 2];
        let (contacts, migrations) = is_conserved(solver, options, ranks, division, STEPS);
        assert!(contacts > 50 * STEPS, "{solver} on {ranks}: {contacts} contacts");
        assert!(ranks == 1 || migrations > 5, "{solver} on {ranks}: {migrations} migrations");
    }
    let _ = is_conserved(solver, options, 8, Division::Morton, STEPS);
    let _ = is_conserved(solver, options, 7, Division::Cartesian, STEPS);
}

#[test]
fn by_apgd() {
    on_all("apgd", with(SolverName::Apgd));
}

#[test]
fn by_sweeps_of_any_relaxation() {
    for relaxation in [0.5, 0.75, 1.0] {
        let mut options = with(SolverName::Nbgs);
        options.solver.nbgs.relaxation = relaxation;
        on_all(&format!("nbgs {relaxation}"), options);
    }
    // The paper's way: bodies keep their whole mass on every rank, and sweeps are damped.
    let mut options = with(SolverName::Nbgs);
    (options.solver.nbgs.relaxation, options.solver.nbgs.borders) = (0.75, Borders::Whole);
    on_all("nbgs of whole bodies", options);
}

#[test]
fn by_accelerated_sweeps() {
    let mut options = with(SolverName::AcceleratedGs);
    on_all("accelerated-gs", options);
    options.solver.accelerated_gs.borders = Borders::Whole;
    on_all("accelerated-gs of whole bodies", options);
}

#[test]
fn by_fixed_points() {
    on_all("gauss-seidel", with(SolverName::GaussSeidel));
    on_all("jacobi", with(SolverName::Jacobi));
}

#[test]
fn by_the_interior_point() {
    on_all("scip", with(SolverName::Scip));
}
