//! Ranks as real processes against one process: what `scripts/mpi.sh` runs through `mpirun`.
//!
//! ```text
//! mpirun -n 4 proof
//! ```
//!
//! Two worlds, a bed and a periodic gas, are divided in both ways. A step of every solver is put
//! together by ids on rank 0 and held against a step of one process: the same contacts, each treated
//! once, and impulses that solve its problem to the tolerance. Projected gradients have to do more:
//! the same iterations, the same velocities after a step, and the same positions after fifty.
//!
//! The tests of the library do the same on ranks that are threads, and judge by the same code.

#[path = "../../barchan/tests/common/bounds.rs"]
mod bounds;
#[path = "../../barchan/tests/common/ranks.rs"]
mod ranks;
#[path = "../../barchan/tests/common/ranks_check.rs"]
mod ranks_check;
#[path = "../../barchan/tests/common/solving.rs"]
mod solving;

use barchan::DVec3;
use barchan::comm::{Communicator, PATIENCE, Reduction, Solo, Traffic, handshake};
use barchan::cone::solver::SolverName;
use barchan::partition::Periods;
use barchan::step::{Simulation, StepOptions};
use barchan::util::pack::{Pack, Unpacker};
use barchan::world::{Ownership, World};
use barchan_mpi::MpiCommunicator;
use ranks::{DIVISIONS, Division, Outcome, Setting, bed, fastest, largest_difference, part, run, scene};
use ranks_check::{Reference, Step, asked};
use rayon::ThreadPoolBuilder;
use std::collections::BTreeMap;
use std::process::ExitCode;
use std::sync::{Arc, Mutex, MutexGuard};

const SOLVERS: [SolverName; 6] = [
    SolverName::Apgd,
    SolverName::Nbgs,
    SolverName::AcceleratedGs,
    SolverName::GaussSeidel,
    SolverName::Jacobi,
    SolverName::Scip,
];

/// Fixed-point iterations take thousands of sweeps for a deep bed.
const BODIES: &str = "120";

fn main() -> ExitCode {
    // One thread a rank: it makes all calls of MPI.
    let pool = ThreadPoolBuilder::new().num_threads(1).build().expect("a thread");
    pool.install(|| match MpiCommunicator::start(PATIENCE) {
        Ok(mut comm) => {
            if let Err(error) = handshake(&mut comm) {
                comm.abort(&error.to_string());
            }
            prove(SharedCommunicator(Arc::new(Mutex::new(comm))));
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    })
}

fn prove(comm: SharedCommunicator) {
    let (bed, options) = bed(BODIES, 300);
    let still = Periods::default();
    let (gas, gas_options, periods) = gas();
    for division in DIVISIONS {
        for (name, world, options, periods) in
            [("bed", &bed, options, still), ("periodic gas", &gas, gas_options, periods)]
        {
            let place = Case { name, world, options, division, periods };
            SOLVERS.into_iter().for_each(|solver| place.solves(solver, &comm));
            place.stays_with_one_process(&comm);
        }
    }
}

/// A world, and how it is divided.
struct Case<'a> {
    name: &'static str,
    world: &'a World,
    options: StepOptions,
    division: Division,
    periods: Periods,
}

impl Case<'_> {
    /// This process's part of the world.
    fn part(&self, options: StepOptions, comm: &SharedCommunicator) -> Simulation {
        let setting = Setting::periodic(comm.size(), self.division, self.periods);
        part(self.world, options, setting, Box::new(comm.clone()))
    }

    /// All of it.
    fn whole(&self, options: StepOptions) -> Simulation {
        if self.periods.any() {
            part(self.world, options, Setting::periodic(1, Division::Cartesian, self.periods), Box::new(Solo))
        } else {
            Simulation::new(self.world.clone(), options)
        }
    }

    /// One step of a solver solves the problem of one process.
    fn solves(&self, solver: SolverName, comm: &SharedCommunicator) {
        let law = solver.laws()[0];
        // Fixed points would take tens of thousands of sweeps for more.
        let is_fixed_point = matches!(solver, SolverName::GaussSeidel | SolverName::Jacobi);
        let options = asked(self.options, solver, law, if is_fixed_point { 5e-2 } else { 1e-3 });
        let own = Step::of(&mut self.part(options, comm));
        let Some(parts) = comm.lock().gather(&pack_step(&own)) else { return };
        let report = own.report;
        let there = Step { report, ..Step::join(parts.iter().map(|bytes| unpack_step(bytes).expect("a step"))) };
        let one = Reference::new(self.whole(options));
        let least = if self.periods.any() { 100 } else { 200 };
        assert!(one.contacts() > least, "{} has {} contacts", self.name, one.contacts());
        let case = format!("{} of the {}, {:?}, {} ranks", solver.name(), self.name, self.division, comm.size());
        one.check(&case, &there);
        println!(
            "ok: {case}: {} contacts, {} and {} iterations",
            one.contacts(),
            one.report.iterations,
            there.report.iterations
        );
    }

    /// Projected gradients do what they do in one process.
    fn stays_with_one_process(&self, comm: &SharedCommunicator) {
        let mut options = self.options;
        options.solver.name = SolverName::Apgd;
        let outcome = |steps| {
            let own = run(self.part(options, comm), steps);
            let parts = comm.lock().gather(&pack_outcome(&own))?;
            let there = ranks::join(parts.iter().map(|bytes| unpack_outcome(bytes).expect("an outcome")).collect());
            Some((ranks::join(vec![run(self.whole(options), steps)]), there))
        };
        let (first, fifty) = (outcome(1), outcome(50));
        let (Some((one, there)), Some((one_later, there_later))) = (first, fifty) else { return };
        let case = format!("apgd of the {}, {:?}, {} ranks", self.name, self.division, comm.size());
        assert_eq!(there.contacts, one.contacts, "{case}");
        assert!(there.iterations[0].abs_diff(one.iterations[0]) <= 1, "{case}: {there:?}");
        let (_, velocity) = largest_difference(&one, &there, &self.periods);
        assert!(velocity <= 1e-9 * fastest(&one), "{case}: velocities differ by {velocity:e}");
        let (position, _) = largest_difference(&one_later, &there_later, &self.periods);
        assert!(position <= 1e-6, "{case}: after fifty steps positions differ by {position:e}");
        println!(
            "ok: {case}: velocities to {velocity:.1e}, after 50 steps positions to {position:.1e}, {} migrations",
            there_later.migrations
        );
    }
}

/// A periodic gas that drifts through its cell, when bodies have come to meet.
fn gas() -> (World, StepOptions, Periods) {
    let set = [("nx", "6"), ("ny", "6"), ("nz", "6"), ("spacing", "0.0115"), ("periodic", "1"), ("time.step", "4e-4")];
    let mut scene = scene("granular-gas", &set);
    scene.lattice[0].velocity = DVec3::new(1.0, -0.8, 0.6);
    let mut simulation = Simulation::from_scene(&scene).expect("a scene that can be built");
    for _ in 0..40 {
        simulation.step().expect("a gas");
    }
    let mut world = simulation.world;
    let ownership = world.bodies.ownership();
    let own: Vec<u32> = (0..).zip(ownership).filter(|(_, s)| **s == Ownership::Owned).map(|(i, _)| i).collect();
    world.bodies.permute(&own);
    (world, StepOptions::from(&scene), scene.periods())
}

/// The one communicator, for one simulation after another.
#[derive(Clone)]
struct SharedCommunicator(Arc<Mutex<MpiCommunicator>>);

impl SharedCommunicator {
    fn lock(&self) -> MutexGuard<'_, MpiCommunicator> {
        self.0.lock().expect("a panic ends the process")
    }
}

impl Communicator for SharedCommunicator {
    fn rank(&self) -> usize {
        self.lock().rank()
    }

    fn size(&self) -> usize {
        self.lock().size()
    }

    fn stage(&mut self, name: &'static str) {
        self.lock().stage(name);
    }

    fn exchange(&mut self, neighbours: &[u32], outgoing: &[Vec<u8>], incoming: &mut [Vec<u8>]) {
        self.lock().exchange(neighbours, outgoing, incoming);
    }

    fn all_reduce(&mut self, reduction: Reduction, values: &mut [f64]) {
        self.lock().all_reduce(reduction, values);
    }

    fn gather(&mut self, bytes: &[u8]) -> Option<Vec<Vec<u8>>> {
        self.lock().gather(bytes)
    }

    fn broadcast(&mut self, bytes: &mut Vec<u8>) {
        self.lock().broadcast(bytes);
    }

    fn barrier(&mut self) {
        self.lock().barrier();
    }

    fn abort(&self, message: &str) -> ! {
        self.lock().abort(message)
    }

    fn traffic(&self) -> Traffic {
        self.lock().traffic()
    }
}

fn pack_step(step: &Step) -> Vec<u8> {
    let mut out = Vec::new();
    (step.impulses.len() as u64).pack(&mut out);
    for (pair, impulses) in &step.impulses {
        pair.pack(&mut out);
        (impulses.len() as u64).pack(&mut out);
        impulses.iter().for_each(|impulse| impulse.pack(&mut out));
    }
    for (id, velocity) in &step.velocities {
        id.pack(&mut out);
        velocity.pack(&mut out);
    }
    out
}

/// Without the report, which all ranks have.
fn unpack_step(bytes: &[u8]) -> Option<Step> {
    let mut from = Unpacker::new(bytes);
    let mut step = Step::default();
    for _ in 0..from.take::<u64>()? {
        let pair = from.take::<[u64; 2]>()?;
        let count = from.take::<u64>()?;
        step.impulses.insert(pair, (0..count).map(|_| from.take()).collect::<Option<_>>()?);
    }
    while !from.is_empty() {
        step.velocities.insert(from.take()?, from.take()?);
    }
    Some(step)
}

fn pack_outcome(outcome: &Outcome) -> Vec<u8> {
    let mut out = Vec::new();
    (outcome.iterations.len() as u64).pack(&mut out);
    outcome.iterations.iter().for_each(|count| count.pack(&mut out));
    (outcome.migrations as u64).pack(&mut out);
    (outcome.contacts.len() as u64).pack(&mut out);
    outcome.contacts.iter().for_each(|pair| pair.pack(&mut out));
    for (id, (x, q, v, w)) in &outcome.bodies {
        id.pack(&mut out);
        x.pack(&mut out);
        q.pack(&mut out);
        v.pack(&mut out);
        w.pack(&mut out);
    }
    out
}

/// As much as is compared.
fn unpack_outcome(bytes: &[u8]) -> Option<Outcome> {
    let mut from = Unpacker::new(bytes);
    let iterations = (0..from.take::<u64>()?).map(|_| from.take()).collect::<Option<_>>()?;
    let migrations = from.take::<u64>()? as usize;
    let contacts = (0..from.take::<u64>()?).map(|_| from.take()).collect::<Option<_>>()?;
    let mut bodies = BTreeMap::new();
    while !from.is_empty() {
        bodies.insert(from.take()?, (from.take()?, from.take()?, from.take()?, from.take()?));
    }
    Some(Outcome { iterations, migrations, contacts, bodies, ..Outcome::default() })
}
