//! What the summary says about all steps and all ranks together.

use crate::comm::{Communicator, Reduction};
use crate::narrow::Penetration;
use crate::output::{
    ByRank, CheckpointSummary, LengthSummary, LostSummary, RunSeconds, Share, SolverSummary, SteppingSummary, Summary,
    WorstOverlap, hash_text, peak_rss_bytes,
};
use crate::scene::Scene;
use crate::step::{Simulation, StepReport};
use crate::util::pack::{Pack, Unpacker};
use barchan_cone::solver::{SolverName, Status};
use std::collections::BTreeMap;

/// Sums and extremes over the steps so far, and what the last of them had.
#[derive(Clone, Debug, Default)]
pub(super) struct Tally {
    pub(super) steps: u64,
    /// Simulated time after the last step that went well.
    pub(super) time: f64,
    contacts: usize,
    /// Steps by the solver that ended them.
    taken: BTreeMap<&'static str, u64>,
    penetration: Penetration,
    pub(super) worst_overlap: WorstOverlap,
    pub(super) lengths: LengthSummary,
    iterations: u64,
    iterations_max: u32,
    operator_applications: u64,
    cold_starts: u64,
    residual_max: f64,
    converged: u64,
    /// Bodies that have left the cell and were removed.
    pub(super) lost: LostSummary,
    seconds: RunSeconds,
    /// Seconds of steps in which this rank did not wait for others.
    pub(super) busy: f64,
}

impl Tally {
    /// Adds a step.
    pub(super) fn add(&mut self, report: &StepReport, time: f64) {
        let solver = &report.solver;
        self.steps += 1;
        self.time = time;
        self.contacts = report.contacts;
        if let Some(name) = solver.taken {
            *self.taken.entry(name.name()).or_default() += 1;
        }
        self.penetration = report.penetration;
        self.worst_overlap.add(&report.penetration, self.steps);
        self.lengths.add(report.length, report.advised);
        self.iterations += u64::from(solver.iterations);
        self.iterations_max = self.iterations_max.max(solver.iterations);
        self.operator_applications += u64::from(solver.operator_applications);
        self.cold_starts += u64::from(solver.cold_starts);
        self.residual_max = self.residual_max.max(solver.residual);
        self.converged += u64::from(solver.status == Status::Converged);
        self.lost.add(report.lost.bodies, report.lost.mass, time);
        self.seconds.exchange += report.seconds.exchange;
        self.seconds.broad += report.seconds.broad;
        self.seconds.narrow += report.seconds.narrow;
        self.seconds.solve += report.seconds.solve;
        self.seconds.integrate += report.seconds.integrate;
    }

    /// Steps that missed the solver's tolerance.
    pub(super) fn missed(&self) -> u64 {
        self.steps - self.converged
    }

    /// The run in numbers, but for what only the run itself knows: seconds beside those of the steps,
    /// and whether it was interrupted. All ranks call this.
    pub(super) fn summary(&self, scene: &Scene, simulation: &mut Simulation) -> Summary {
        let solver = SolverSummary {
            name: scene.solver.name.name().into(),
            taken: self.taken.iter().map(|(&name, &steps)| (name.into(), steps)).collect(),
            tolerance: scene.solver.tolerance,
            iterations_mean: self.iterations as f64 / self.steps.max(1) as f64,
            iterations_max: self.iterations_max.into(),
            operator_applications: self.operator_applications,
            cold_starts: self.cold_starts,
            residual_max: self.residual_max,
            steps_converged: self.converged,
        };
        let energy = simulation.energy();
        let by_rank = self.by_rank(scene, simulation);
        let (world, comm) = simulation.world_and_comm();
        let mut bodies = [world.bodies.owned_bounded_len() as f64];
        comm.all_reduce(Reduction::Sum, &mut bodies);
        let mut memory = [peak_rss_bytes() as f64];
        comm.all_reduce(Reduction::Max, &mut memory);
        Summary {
            version: env!("CARGO_PKG_VERSION").into(),
            scenario: scene.name.clone(),
            bodies: bodies[0] as u64,
            contacts: self.contacts as u64,
            steps: self.steps,
            time: self.time,
            threads: rayon::current_num_threads() as u64,
            ranks: comm.size() as u64,
            state_hash: hash_text(sum_of_ranks(comm, world.state_hash())),
            energy,
            max_penetration: self.penetration.max,
            mean_penetration: self.penetration.mean,
            worst_overlap: self.worst_overlap,
            stepping: SteppingSummary {
                step: scene.time.step,
                lengths: self.lengths,
                integrator: scene.time.integrator.name().into(),
                friction: scene.solver.law().name().into(),
            },
            solver,
            lost: self.lost,
            seconds: self.seconds,
            peak_rss_bytes: memory[0] as u64,
            interrupted: false,
            failure: None,
            restarts: 0,
            restarted_at: None,
            passed_over: Vec::new(),
            checkpoints: CheckpointSummary::default(),
            by_rank,
        }
    }

    /// What each rank had and did, for rank 0 of several.
    fn by_rank(&self, scene: &Scene, simulation: &mut Simulation) -> Option<ByRank> {
        let contacts = simulation.contacts().len() as u64;
        let bodies = simulation.world.bodies.owned_bounded_len() as u64;
        let domain = simulation.domain().filter(|domain| domain.ranks() > 1)?;
        let traffic = domain.traffic();
        let own = Share {
            bodies,
            copies: domain.ghosts() as u64,
            contacts,
            neighbours: domain.neighbours() as u64,
            messages: traffic.messages,
            bytes: traffic.bytes,
            reductions: traffic.reductions,
            waiting: traffic.waiting,
            busy: self.busy,
        };
        let comm = domain.comm();
        let mut message = Vec::new();
        write_share(&own, &mut message);
        let messages = comm.gather(&message)?;
        let rows: Option<Vec<_>> = messages.iter().map(|message| read_share(message)).collect();
        match rows {
            Some(rows) => Some(ByRank::new(scene.domain.chosen().map_or("", |name| name.name()), rows)),
            None => comm.abort("what a rank had and did makes no sense"),
        }
    }
}

impl Pack for Tally {
    fn pack(&self, out: &mut Vec<u8>) {
        let Self { steps, time, contacts, taken, penetration, iterations, iterations_max, .. } = self;
        let Self { operator_applications, cold_starts, residual_max, converged, lost, seconds, busy, .. } = self;
        let worst_overlap = &self.worst_overlap;
        [*steps, *contacts as u64, *iterations, *operator_applications, *cold_starts, *converged].pack(out);
        iterations_max.pack(out);
        [*time, penetration.max, penetration.mean, penetration.relative, *residual_max, *busy].pack(out);
        let WorstOverlap { radii, depth, step } = *worst_overlap;
        [radii, depth].pack(out);
        step.pack(out);
        let LengthSummary { shortest, longest, looks, coarse, advised } = self.lengths;
        [shortest, longest].pack(out);
        [looks, coarse].pack(out);
        advised.pack(out);
        let RunSeconds { exchange, broad, narrow, solve, integrate, .. } = *seconds;
        [exchange, broad, narrow, solve, integrate].pack(out);
        let LostSummary { bodies, mass, first, last } = *lost;
        bodies.pack(out);
        mass.pack(out);
        [first, last].pack(out);
        (taken.len() as u64).pack(out);
        for (name, steps) in taken {
            (*name).to_owned().pack(out);
            steps.pack(out);
        }
    }

    fn unpack(from: &mut Unpacker<'_>) -> Option<Self> {
        let [steps, contacts, iterations, operator_applications, cold_starts, converged] = from.take()?;
        let iterations_max = from.take()?;
        let [time, max, mean, relative, residual_max, busy] = from.take()?;
        let [radii, depth] = from.take()?;
        let step = from.take()?;
        let [shortest, longest] = from.take()?;
        let [looks, coarse] = from.take()?;
        let advised = from.take()?;
        let [exchange, broad, narrow, solve, integrate] = from.take()?;
        let (bodies, mass) = (from.take()?, from.take()?);
        let [first, last] = from.take()?;
        let mut taken = BTreeMap::new();
        for _ in 0..from.take::<u64>()? {
            let name: String = from.take()?;
            let (name, ..) = SolverName::ALL.iter().map(|entry| (entry.1, ())).find(|entry| entry.0 == name)?;
            taken.insert(name, from.take()?);
        }
        Some(Self {
            steps,
            time,
            contacts: usize::try_from(contacts).ok()?,
            taken,
            penetration: Penetration { max, mean, relative },
            worst_overlap: WorstOverlap { radii, depth, step },
            lengths: LengthSummary { shortest, longest, looks, coarse, advised },
            iterations,
            iterations_max,
            operator_applications,
            cold_starts,
            residual_max,
            converged: converged.min(steps),
            lost: LostSummary { bodies, mass, first, last },
            seconds: RunSeconds { exchange, broad, narrow, solve, integrate, ..RunSeconds::default() },
            busy,
        })
    }
}

fn write_share(share: &Share, message: &mut Vec<u8>) {
    let Share { bodies, copies, contacts, neighbours, messages, bytes, reductions, waiting, busy } = *share;
    [bodies, copies, contacts, neighbours, messages, bytes, reductions].pack(message);
    [waiting, busy].pack(message);
}

fn read_share(message: &[u8]) -> Option<Share> {
    let mut from = Unpacker::new(message);
    let [bodies, copies, contacts, neighbours, messages, bytes, reductions] = from.take()?;
    let [waiting, busy] = from.take()?;
    Some(Share { bodies, copies, contacts, neighbours, messages, bytes, reductions, waiting, busy })
}

/// The sum over ranks of numbers that use all their bits, without regard to overflow. It travels in
/// quarters, whose sums are exact.
fn sum_of_ranks(comm: &mut dyn Communicator, number: u64) -> u64 {
    let mut quarters: [f64; 4] = std::array::from_fn(|k| (number >> (16 * k) & 0xffff) as f64);
    comm.all_reduce(Reduction::Sum, &mut quarters);
    (0..).zip(quarters).fold(0, |sum: u64, (k, quarter)| sum.wrapping_add((quarter as u64) << (16 * k)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::comm::threads;

    #[test]
    fn hashes_are_added_to_the_last_bit() {
        let numbers = [u64::MAX, 0x0123_4567_89ab_cdef, 0xffff_0000_ffff_0001, 1 << 63];
        let expected = numbers.iter().fold(0u64, |sum, n| sum.wrapping_add(*n));
        let sums = threads::run(4, 1, |mut comm| {
            let own = numbers[comm.rank()];
            sum_of_ranks(&mut *comm, own)
        });
        assert_eq!(sums, Ok(vec![expected; 4]));
    }

    #[test]
    fn a_tally_travels_unchanged() {
        let mut tally = Tally { steps: 9, time: 0.1 + 0.2, contacts: 3, iterations_max: 7, ..Tally::default() };
        tally.taken.insert(SolverName::Apgd.name(), 5);
        tally.taken.insert(SolverName::Scip.name(), 4);
        tally.penetration = Penetration { max: 0.3, mean: 0.1, relative: 0.2 };
        tally.worst_overlap.add(&tally.penetration, 3);
        tally.lengths.add(1e-3, Some(1e-4));
        (tally.iterations, tally.operator_applications, tally.cold_starts, tally.converged) = (11, 22, 6, 8);
        (tally.residual_max, tally.busy) = (1e-3, 4.5);
        tally.seconds.solve = 0.7;
        tally.lost.add(3, 0.1 + 0.2, 0.5);
        tally.lost.add(0, 0.0, 0.6);
        tally.lost.add(1, 0.1, 0.7);
        let mut bytes = Vec::new();
        tally.pack(&mut bytes);
        let back: Tally = Unpacker::new(&bytes).take().unwrap();
        assert_eq!(format!("{back:?}"), format!("{tally:?}"));
        assert!((0..bytes.len()).all(|length| Unpacker::new(&bytes[..length]).take::<Tally>().is_none()));
    }

    #[test]
    fn shares_travel_unchanged() {
        let share = Share { bodies: 1, copies: 2, bytes: u64::MAX, waiting: 0.1, busy: 7.0, ..Share::default() };
        let mut message = Vec::new();
        write_share(&share, &mut message);
        assert_eq!(read_share(&message), Some(share));
        assert!(read_share(&message[1..]).is_none());
    }
}
