//! Why a run did not do what it was asked to, and who says so.

use crate::comm::{Communicator, Reduction};
use crate::domain::DomainError;
use crate::output::human::counted;
use crate::output::{OutputError, Summary};
use crate::scene::Time;
use crate::step::StepError;

/// Why a run did not do what it was asked to.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The simulation cannot go on.
    #[error(transparent)]
    Step(#[from] StepError),
    /// A file could not be written.
    #[error(transparent)]
    Output(#[from] OutputError),
    /// The run is strict, and the solver fell short.
    #[error(
        "{missed} of {} missed the tolerance {tolerance:e} (worst residual {residual:.1e})",
        counted(*steps, "step", "steps")
    )]
    MissedTolerance {
        /// Steps that missed it.
        missed: u64,
        /// Steps done.
        steps: u64,
        /// The tolerance.
        tolerance: f64,
        /// The worst residual.
        residual: f64,
    },
    /// Another rank says why.
    #[error("another rank has failed")]
    Elsewhere,
}

impl RunError {
    /// Whether this rank has only heard of it, from the one that says why.
    pub fn is_elsewhere(&self) -> bool {
        matches!(
            self,
            Self::Elsewhere
                | Self::Output(OutputError::Elsewhere { .. })
                | Self::Step(StepError::Domain { error: DomainError::Elsewhere, .. })
        )
    }

    /// What the first of the ranks that know it says. Rank 0 learns that; all ranks call this.
    pub(super) fn in_words(&self, comm: &mut dyn Communicator) -> String {
        let own = if self.is_elsewhere() { String::new() } else { self.to_string() };
        let told = comm.gather(own.as_bytes()).unwrap_or_default();
        let first = told.into_iter().find(|words| !words.is_empty());
        first.map_or_else(|| self.to_string(), |words| String::from_utf8_lossy(&words).into_owned())
    }
}

/// Why a contact problem cannot be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DumpError {
    /// The run will not take this step.
    #[error("there is no step {step}: the run has {total}, counted from 1")]
    NoSuchStep {
        /// The step.
        step: u64,
        /// Steps of the run.
        total: u64,
    },
    /// The run has done this step before.
    #[error("step {step} is done: the run goes on after step {done}")]
    Done {
        /// The step.
        step: u64,
        /// The last that is done.
        done: u64,
    },
    /// No rank has the whole problem.
    #[error("each of {ranks} ranks has a part of the contact problem only; write it from a run on one rank")]
    Ranks {
        /// How many there are.
        ranks: usize,
    },
}

/// A run that failed, with what it had done by then.
#[derive(Debug, thiserror::Error)]
#[error("{error}")]
pub struct RunFailure {
    /// The steps that were done.
    pub summary: Box<Summary>,
    /// Why it failed.
    #[source]
    pub error: RunError,
}

/// Of the ranks that know why the run failed, the first says it. All ranks have failed, or none.
pub(super) fn one_speaks(result: Result<(), RunError>, comm: &mut dyn Communicator) -> Result<(), RunError> {
    let Err(error) = result else { return Ok(()) };
    let rank = comm.rank() as f64;
    let mut first = [if error.is_elsewhere() { f64::INFINITY } else { rank }];
    comm.all_reduce(Reduction::Min, &mut first);
    Err(if first[0] == rank { error } else { RunError::Elsewhere })
}

/// Whether the problems of these steps can be written by a run that has done some of all its steps.
pub(super) fn check_dumps<'a>(
    dumps: impl IntoIterator<Item = &'a u64>,
    done: u64,
    total: Option<u64>,
    ranks: usize,
) -> Result<(), DumpError> {
    let total = total.unwrap_or(Time::MOST_STEPS);
    for &step in dumps {
        if !(1..=total).contains(&step) {
            return Err(DumpError::NoSuchStep { step, total });
        }
        if step <= done {
            return Err(DumpError::Done { step, done });
        }
        if ranks > 1 {
            return Err(DumpError::Ranks { ranks });
        }
    }
    Ok(())
}

/// What a strict run makes of its summary.
///
/// # Errors
/// If a step missed the tolerance.
pub fn strictly(summary: &Summary) -> Result<(), RunError> {
    let steps = summary.steps;
    let missed = summary.steps - summary.solver.steps_converged;
    let tolerance = summary.solver.tolerance;
    let residual = summary.solver.residual_max;
    if missed == 0 { Ok(()) } else { Err(RunError::MissedTolerance { missed, steps, tolerance, residual }) }
}
