//! The bookkeeping of a step: times, counts and failures, of all ranks together.

use super::report::Stage;
use super::{Simulation, StageSeconds, StepError, StepReport, recovery_of};
use crate::comm::Reduction;
use crate::domain::{DomainError, Work};
use crate::dynamics::recover::Overlaps;
use crate::narrow::{OverlapSums, Penetration};
use crate::util::cpu::thread_seconds;
use barchan_cone::solver::Status;
use std::time::Instant;

/// What is measured while a step runs.
#[derive(Default)]
pub(super) struct StepClock {
    pub(super) report: StepReport,
    /// Processor seconds that bodies and contacts have cost, without those of talking to other ranks.
    work: Work,
    /// Overlaps of all ranks that are to be removed.
    pub(super) deep_overlaps: usize,
}

impl Simulation {
    /// Begins to measure a step.
    pub(super) fn start_clock(&mut self) {
        self.clock = StepClock::default();
    }

    /// Runs a stage and adds its time.
    pub(super) fn timed<R>(&mut self, stage: Stage, run: impl FnOnce(&mut Self) -> R) -> R {
        let (start, compute_start) = (Instant::now(), self.compute_seconds());
        let result = run(self);
        *self.clock.report.seconds.of(stage) += start.elapsed().as_secs_f64();
        let seconds = self.compute_seconds() - compute_start;
        match stage {
            Stage::Exchange => {}
            Stage::Broad | Stage::Narrow | Stage::Integrate => self.clock.work.bodies += seconds,
            Stage::Solve => self.clock.work.contacts += seconds,
        }
        result
    }

    /// Processor seconds so far, without those of talking to other ranks; 0 where there are none.
    fn compute_seconds(&self) -> f64 {
        self.domain.as_ref().map_or(0.0, |domain| thread_seconds() - domain.communication_seconds())
    }

    /// Says what this rank is about to do, for those who wait for it.
    pub(super) fn announce(&mut self, stage: &'static str) {
        if let Some(domain) = &mut self.domain {
            domain.comm().stage(stage);
        }
    }

    /// After it: the solver can compute with the problem, on all ranks, and bodies, contacts and overlaps of
    /// all are counted. The largest overlap is still this rank's.
    pub(super) fn check_problem(&mut self) -> Result<(), StepError> {
        self.announce("count of contacts");
        let checked = self.check_range();
        let recovery = recovery_of(&self.world.bodies, &self.contacts, &self.options, self.h);
        let Overlaps { sums: overlap, deep } = recovery.overlaps(&mut self.growths, &mut self.sums);
        let here = [self.world.bodies.owned_bounded_len(), self.contacts.len(), overlap.count, deep].map(|n| n as f64);
        let [_, bodies, contacts, count, deep, sum] =
            self.agree(checked, Reduction::Sum, [0.0, here[0], here[1], here[2], here[3], overlap.sum])?;
        self.clock.deep_overlaps = deep as usize;
        let report = &mut self.clock.report;
        report.bodies = bodies as usize;
        report.contacts = contacts as usize;
        report.penetration = OverlapSums { sum, count: count as usize, ..overlap }.penetration();
        Ok(())
    }

    /// Whether the numbers of the problem are in range: a state may be finite and its squares not.
    fn check_range(&self) -> Result<(), StepError> {
        let problem = self.assembly.problem(&self.contacts);
        let Some(contact) = problem.first_overflow() else { return Ok(()) };
        let bodies = &self.world.bodies;
        let [a, b] = problem.pairs[contact].map(|i| i as usize);
        let culprit = if bodies.inverse_mass[a] > 0.0 { a } else { b };
        Err(StepError::Overflow { step: self.steps + 1, body: bodies.id[culprit] })
    }

    /// Ends a step: tells the domain what it has cost, looks whether the state is finite and who has left, and
    /// takes from all ranks what was largest.
    pub(super) fn report(&mut self) -> Result<StepReport, StepError> {
        let (bodies, contacts) = (self.world.bodies.len(), self.contacts.len());
        let checked = self.timed(Stage::Integrate, |this| this.check_state().and_then(|()| this.look_outside()));
        let left = checked.as_ref().map_or(0, |left| *left) as f64;
        let mut report = std::mem::take(&mut self.clock.report);
        if let Some(domain) = &mut self.domain {
            domain.add_work(self.clock.work, Work::counted(bodies, contacts, report.solver.iterations));
        }
        self.announce("end of the step");
        let StageSeconds { exchange, broad, narrow, solve, integrate } = report.seconds;
        let Penetration { max, relative, .. } = report.penetration;
        let here = [0.0, max, relative, exchange, broad, narrow, solve, integrate, left];
        let checked = checked.map(|_| ());
        let [_, max, relative, exchange, broad, narrow, solve, integrate, left] =
            self.agree(checked, Reduction::Max, here)?;
        if left > 0.0 {
            report.lost = self.remove_left();
        }
        report.penetration = Penetration { max, relative, ..report.penetration };
        report.seconds = StageSeconds { exchange, broad, narrow, solve, integrate };
        report.length = self.h;
        Ok(report)
    }

    /// Whether the state is finite.
    fn check_state(&self) -> Result<(), StepError> {
        if let Some(body) = self.world.first_non_finite() {
            return Err(StepError::NotFinite { step: self.steps, body });
        }
        if self.clock.report.solver.status == Status::BadProblem {
            return Err(StepError::BadProblem { step: self.steps });
        }
        Ok(())
    }

    /// Numbers of all ranks become one. If any rank has failed, all of them have: the first number
    /// carries that, so that one reduction does for both.
    fn agree<const N: usize>(
        &mut self,
        result: Result<(), StepError>,
        reduction: Reduction,
        mut numbers: [f64; N],
    ) -> Result<[f64; N], StepError> {
        let Some(domain) = &mut self.domain else { return result.map(|()| numbers) };
        numbers[0] = f64::from(u8::from(result.is_err()));
        domain.reduce(reduction, &mut numbers);
        result?;
        let elsewhere = StepError::Domain { step: self.steps + 1, error: DomainError::Elsewhere };
        if numbers[0] > 0.0 { Err(elsewhere) } else { Ok(numbers) }
    }
}
