//! Steps of ranks against the problem that one process poses.
//!
//! Impulses of all ranks are put together as impulses of that problem. They must satisfy it to the
//! tolerance that was asked for, judged by code that shares nothing with solvers. Under the associated
//! law velocities are unique, and `bounds.rs` tells how far those of two solutions may be apart.

use super::bounds::{Scales, Solution};
use super::solving::{dot, natural_residual, natural_unit};
use barchan::DVec3;
use barchan::cone::solver::{Report, SolverName, Status};
use barchan::cone::{ContactVec, Friction, Problem};
use barchan::step::{Simulation, StepOptions};
use barchan::world::Ownership;
use std::collections::BTreeMap;

/// Impulses by ids, on the first of two bodies; those of the same bodies in the order of features.
pub(crate) type Impulses = BTreeMap<[u64; 2], Vec<DVec3>>;

fn impulses(simulation: &Simulation) -> Impulses {
    let id = |i: u32| simulation.world.bodies.id()[i as usize];
    let mut all = Impulses::new();
    for contact in simulation.contacts().iter(&simulation.world.bodies) {
        let ([a, b], p) = (contact.bodies.map(id), contact.impulse);
        all.entry([a.min(b), a.max(b)]).or_default().push(if a < b { p } else { -p });
    }
    all
}

fn velocities(simulation: &Simulation) -> BTreeMap<u64, DVec3> {
    let bodies = &simulation.world.bodies;
    let own = (0..bodies.len()).filter(|&i| bodies.ownership()[i] == Ownership::Owned);
    own.map(|i| (bodies.id()[i], bodies.velocity[i])).collect()
}

/// The options of a step that is judged.
pub(crate) fn asked(options: StepOptions, name: SolverName, law: Friction, tolerance: f64) -> StepOptions {
    let mut options = options;
    options.solver.name = name;
    options.solver.friction = Some(law);
    options.solver.tolerance = tolerance;
    options.solver.max_iterations = 20_000;
    options
}

/// What ranks have done in a step.
#[derive(Default)]
pub(crate) struct Step {
    pub(crate) impulses: Impulses,
    pub(crate) velocities: BTreeMap<u64, DVec3>,
    pub(crate) report: Report,
}

impl Step {
    /// The next step of one rank.
    pub(crate) fn of(simulation: &mut Simulation) -> Self {
        let report = simulation.step().unwrap().solver;
        Self { impulses: impulses(simulation), velocities: velocities(simulation), report }
    }

    /// That of all ranks.
    pub(crate) fn join(parts: impl IntoIterator<Item = Self>) -> Self {
        let mut all = Self::default();
        for part in parts {
            for (pair, impulses) in part.impulses {
                assert!(all.impulses.insert(pair, impulses).is_none(), "{pair:?} is treated twice");
            }
            // Walls have an owner as well.
            all.velocities.extend(part.velocities);
            all.report = part.report;
        }
        all
    }
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
fn check(case: &str, problem: &Problem, γ: &ContactVec, law: Friction, report: &Report, tolerance: f64) -> f64 {
    let measured = natural_residual(problem, γ, law);
    // Reports count what rounding leaves of the impulses, 1e-15 of their length.
    let rounding = 1e-15 * dot(γ, γ).sqrt() / natural_unit(problem, law);
    let measured = if measured == 0.0 { measured } else { measured.hypot(rounding) };
    let is_true = (measured - report.residual).abs() <= 1e-6 * measured + 1e-11;
    assert!(is_true, "{case}: the residual is {measured}, not {}", report.residual);
    assert_eq!(report.status == Status::Converged, report.residual <= tolerance, "{case}: {report:?}");
    measured
}

/// A step of one process, against which those of ranks are held.
pub(crate) struct Reference {
    problem: Problem,
    ids: Vec<u64>,
    law: Friction,
    tolerance: f64,
    scales: Scales,
    here: Solution,
    alone: BTreeMap<u64, DVec3>,
    pub(crate) report: Report,
}

impl Reference {
    /// Takes the next step of one process.
    pub(crate) fn new(mut simulation: Simulation) -> Self {
        let solver = simulation.options().solver;
        let (law, tolerance) = (solver.law(), solver.tolerance);
        let Step { impulses, velocities, report } = Step::of(&mut simulation);
        let (problem, bodies) = (simulation.problem().expect("a step").to_problem(), &simulation.world.bodies);
        // Images stand at the end, and have no contacts of their own.
        let bodies_end = bodies.ownership().iter().position(|ownership| *ownership == Ownership::Image);
        let ids = bodies.id()[..bodies_end.unwrap_or(bodies.len())].to_vec();
        let case = format!("{} {law:?} in one piece", solver.name.name());
        let γ = in_order(&problem, &ids, &impulses);
        let reached = check(&case, &problem, &γ, law, &report, tolerance);
        let here = Solution::new(&problem, case, γ, tolerance.max(1.000_001 * reached));
        Self { scales: Scales::of(&problem), problem, ids, law, tolerance, here, alone: velocities, report }
    }

    /// Contacts of the step.
    pub(crate) fn contacts(&self) -> usize {
        self.problem.contacts()
    }

    /// The same contacts, each treated once; impulses that solve the problem; bodies that move as the
    /// impulses say.
    pub(crate) fn check(&self, case: &str, there: &Step) {
        let Self { problem, ids, law, tolerance, scales, here, alone, .. } = self;
        let γ = in_order(problem, ids, &there.impulses);
        let reached = check(case, problem, &γ, *law, &there.report, *tolerance);
        let solution = Solution::new(problem, case.into(), γ, tolerance.max(1.000_001 * reached));
        assert_eq!(there.report.status, Status::Converged, "{case}: {:?}", there.report);
        if *law == Friction::Associated {
            scales.assert_agree(case, &solution, here);
        }
        let fastest = alone.values().map(|v| v.length()).fold(0.0, f64::max);
        let mut change = vec![DVec3::ZERO; problem.bodies()];
        for (i, &[a, b]) in problem.pairs.iter().enumerate() {
            let d = solution.γ.get(i) - here.γ.get(i);
            change[a as usize] += problem.inverse_mass[a as usize] * d;
            change[b as usize] -= problem.inverse_mass[b as usize] * d;
        }
        assert_eq!(there.velocities.len(), alone.len(), "{case}");
        for (change, id) in change.into_iter().zip(ids) {
            let off = (there.velocities[id] - alone[id] - change).length();
            assert!(off < 1e-10 * fastest, "{case}: body {id} is off by {off:e}");
        }
    }
}
