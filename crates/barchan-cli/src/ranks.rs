//! The ranks of this run: those of an MPI job, this process alone, or threads of it.

use crate::failure::Failure;
use barchan::comm::threads::ThreadRanks;
use barchan::comm::{Communicator, Reduction, handshake};
use rayon::ThreadPoolBuilder;
use std::time::Duration;

/// Seconds that a rank waits for another before it ends the job.
const PATIENCE_VARIABLE: &str = "BARCHAN_PATIENCE";

/// Where launchers say how many processes they started, and which of them this is: Open MPI, MPICH
/// and its kin, MVAPICH, Slurm's `srun`. (`SLURM_NTASKS` is set in batch scripts too, for what they run
/// just once.)
const LAUNCHERS: [[&str; 2]; 4] = [
    ["OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"],
    ["PMI_SIZE", "PMI_RANK"],
    ["MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_RANK"],
    ["SLURM_STEP_NUM_TASKS", "SLURM_PROCID"],
];

/// This process's communicator. The thread that calls this must make all calls on it.
fn communicator() -> Result<Box<dyn Communicator>, Failure> {
    let patience = patience(variable(PATIENCE_VARIABLE).as_deref());
    let mut communicator = start(*patience.as_ref().unwrap_or(&barchan::comm::PATIENCE))?;
    check_size(communicator.size(), launched(variable))?;
    if let Err(error) = handshake(communicator.as_mut()) {
        // All know; one tells, and ends the others with it.
        if communicator.rank() == 0 {
            communicator.abort(&error.to_string());
        }
        communicator.barrier();
    }
    agree(&mut *communicator, patience)?;
    Ok(communicator)
}

/// Whether this process speaks for those that were started with it, as far as the launcher tells.
pub(crate) fn speaks() -> bool {
    number(variable).is_none_or(|rank| rank == 0)
}

/// A failure before there is a communicator: the others have mostly come to the same. The first says it
/// at once, since nobody knows whether there will be a line; then all leave together.
pub(crate) fn refuse(failure: Failure) -> Failure {
    if launched(variable).is_none_or(|(_, processes)| processes == 1) {
        return failure;
    }
    let failure = if speaks() { failure.told() } else { failure };
    match communicator() {
        Ok(mut comm) => agree::<()>(&mut *comm, Err(failure)).err().unwrap_or(Failure::Told(2)),
        Err(_) => failure,
    }
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// Does `work` on every rank that was asked for: on so many inside this process, or else on those that were
/// started together, which may be one.
pub(crate) fn on_each(
    ranks: Option<u32>,
    threads: Option<u32>,
    work: impl Fn(Box<dyn Communicator>) -> Result<(), Failure> + Sync,
) -> Result<(), Failure> {
    if let Some(count) = ranks {
        return in_process(count, threads.unwrap_or(1), work);
    }
    // All of it inside the pool: a parallel loop that is started from outside costs a change of
    // threads, and there are hundreds a step. MPI wants one thread to make all its calls.
    let pool = ThreadPoolBuilder::new().num_threads(threads.map_or(0, |n| n as usize)).build();
    let pool = pool.map_err(|error| Failure::Failed(format!("cannot start the threads: {error}")))?;
    pool.install(|| work(communicator()?))
}

/// Runs `body` on ranks inside this process, each with as many threads.
fn in_process(
    ranks: u32,
    threads: u32,
    body: impl Fn(Box<dyn Communicator>) -> Result<(), Failure> + Sync,
) -> Result<(), Failure> {
    refuse_both(launched(variable)).map_err(refuse)?;
    let patience = patience(variable(PATIENCE_VARIABLE).as_deref())?;
    let ranks = ThreadRanks { ranks: ranks as usize, threads_each: threads as usize, patience };
    let results = ranks.run(body).map_err(|error| Failure::Failed(error.to_string()))?;
    // What a rank has not told yet comes first.
    let (told, untold): (Vec<_>, Vec<_>) =
        results.into_iter().filter_map(Result::err).partition(|failure| matches!(failure, Failure::Told(_)));
    untold.into_iter().chain(told).next().map_or(Ok(()), Err)
}

/// Ranks that are processes have no ranks inside.
fn refuse_both(launched: Option<(&str, usize)>) -> Result<(), Failure> {
    match launched.filter(|(_, processes)| *processes > 1) {
        Some((name, processes)) => Err(Failure::Input(format!(
            "--ranks is for a single process, but {processes} were started ({name}={processes}): leave it out"
        ))),
        None => Ok(()),
    }
}

/// If any rank has failed, all of them have. The first tells the user, before anybody leaves; where
/// others have nothing to tell, with its number.
pub(crate) fn agree<T>(comm: &mut dyn Communicator, result: Result<T, Failure>) -> Result<T, Failure> {
    let rank = comm.rank() as f64;
    let mut first = [if result.is_err() { rank } else { f64::INFINITY }];
    comm.all_reduce(Reduction::Min, &mut first);
    if first[0] == f64::INFINITY {
        return result;
    }
    let mut code = [result.as_ref().err().map_or(0.0, |failure| f64::from(failure.code()))];
    comm.all_reduce(Reduction::Max, &mut code);
    let of_rank = |failure: Failure| if rank > 0.0 { failure.of_rank(comm.rank(), comm.size()) } else { failure };
    let own = result.err().filter(|_| first[0] == rank).map(|failure| of_rank(failure).told());
    comm.barrier();
    Err(own.unwrap_or(Failure::Told(code[0] as u8)))
}

#[cfg(feature = "mpi")]
fn start(patience: Duration) -> Result<Box<dyn Communicator>, Failure> {
    let communicator = barchan_mpi::MpiCommunicator::start(patience);
    Ok(Box::new(communicator.map_err(|error| Failure::Failed(error.to_string()))?))
}

#[cfg(not(feature = "mpi"))]
fn start(_: Duration) -> Result<Box<dyn Communicator>, Failure> {
    Ok(Box::new(barchan::comm::Solo))
}

fn patience(value: Option<&str>) -> Result<Duration, Failure> {
    let Some(value) = value else { return Ok(barchan::comm::PATIENCE) };
    let seconds = value.trim().parse().ok().filter(|seconds| *seconds > 0.0);
    let patience = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    patience.ok_or_else(|| {
        Failure::Input(format!("{PATIENCE_VARIABLE} is \"{value}\"; expected is a number of seconds above 0"))
    })
}

/// How many processes a launcher says that it started, and where it says so.
fn launched(variable: impl Fn(&str) -> Option<String>) -> Option<(&'static str, usize)> {
    LAUNCHERS.into_iter().find_map(|[name, _]| Some((name, variable(name)?.trim().parse().ok()?)))
}

/// Which of its processes a launcher says that this is.
fn number(variable: impl Fn(&str) -> Option<String>) -> Option<usize> {
    let [_, name] = LAUNCHERS.into_iter().find(|[size, _]| variable(size).is_some())?;
    variable(name)?.trim().parse().ok()
}

/// Processes that were started together and do not know each other would all do the same.
fn check_size(size: usize, launched: Option<(&str, usize)>) -> Result<(), Failure> {
    let Some((name, processes)) = launched.filter(|(_, processes)| size == 1 && *processes > 1) else {
        return Ok(());
    };
    let remedy = if cfg!(feature = "mpi") {
        "this program was built with another MPI library than that of the launcher: use the mpirun that belongs to it"
    } else {
        "this program was built without MPI: build it with --features mpi, or start one process"
    };
    Err(Failure::Input(format!("{processes} processes were started ({name}={processes}), but {remedy}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(failure: Failure) -> String {
        match failure {
            Failure::Input(message) => message,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_process_alone_is_one_rank() {
        let communicator = communicator().unwrap();
        assert_eq!((communicator.rank(), communicator.size()), (0, 1));
    }

    #[test]
    fn launchers_are_known_by_their_variables() {
        let of = |pairs: &'static [(&str, &str)]| {
            launched(|name| pairs.iter().find(|pair| pair.0 == name).map(|pair| pair.1.to_owned()))
        };
        assert_eq!(of(&[("HOME", "4")]), None);
        assert_eq!(of(&[("OMPI_COMM_WORLD_SIZE", "4")]), Some(("OMPI_COMM_WORLD_SIZE", 4)));
        assert_eq!(of(&[("PMI_SIZE", "2")]), Some(("PMI_SIZE", 2)));
        assert_eq!(of(&[("SLURM_STEP_NUM_TASKS", "64"), ("SLURM_NTASKS", "128")]), Some(("SLURM_STEP_NUM_TASKS", 64)));
        // A batch script has tasks of its own; what it runs without `srun` is one process.
        assert_eq!(of(&[("SLURM_NTASKS", "128")]), None);
        assert_eq!(of(&[("PMI_SIZE", "many")]), None);

        let number = |pairs: &'static [(&str, &str)]| {
            number(|name| pairs.iter().find(|pair| pair.0 == name).map(|pair| pair.1.to_owned()))
        };
        assert_eq!(number(&[("PMI_SIZE", "4"), ("PMI_RANK", "3")]), Some(3));
        // Of a batch script, not of a step.
        assert_eq!(number(&[("SLURM_PROCID", "3")]), None);
    }

    #[test]
    fn many_processes_that_do_not_know_each_other_are_refused() {
        assert!(check_size(1, None).is_ok());
        assert!(check_size(1, Some(("PMI_SIZE", 1))).is_ok());
        assert!(check_size(4, Some(("PMI_SIZE", 4))).is_ok());
        let refused = message(check_size(1, Some(("OMPI_COMM_WORLD_SIZE", 4))).unwrap_err());
        assert!(
            refused.starts_with("4 processes were started (OMPI_COMM_WORLD_SIZE=4), but this program was built with")
        );
    }

    #[test]
    fn ranks_in_ranks_are_refused() {
        assert!(refuse_both(None).is_ok() && refuse_both(Some(("PMI_SIZE", 1))).is_ok());
        let refused = message(refuse_both(Some(("PMI_SIZE", 4))).unwrap_err());
        assert_eq!(refused, "--ranks is for a single process, but 4 were started (PMI_SIZE=4): leave it out");
    }

    #[test]
    fn a_failure_of_one_rank_is_that_of_all() {
        let told = |failing: Option<usize>| {
            let results = barchan::comm::threads::run(3, 1, |mut comm| {
                let own = if failing == Some(comm.rank()) { Err(Failure::Interrupted) } else { Ok(comm.rank()) };
                match agree(&mut *comm, own) {
                    Ok(rank) => rank as u8,
                    Err(failure) => failure.code(),
                }
            });
            results.unwrap()
        };
        assert_eq!(told(None), [0, 1, 2]);
        assert_eq!(told(Some(1)), [130; 3]);
    }

    #[test]
    fn patience_is_a_number_of_seconds() {
        assert_eq!(patience(None).unwrap(), barchan::comm::PATIENCE);
        assert_eq!(patience(Some("2.5")).unwrap(), Duration::from_millis(2500));
        for wrong in ["", "0", "-1", "NaN", "inf", "1e300", "soon"] {
            let refused = message(patience(Some(wrong)).unwrap_err());
            assert!(refused.contains(&format!("BARCHAN_PATIENCE is \"{wrong}\"")), "{refused}");
        }
    }
}
