//! What `scripts/mpi.sh` runs through `mpirun`: the calls of the communicator against what they
//! must give, and the ways in which a rank can fail.
//!
//! ```text
//! mpirun -n 4 ranks conformance
//! mpirun -n 2 ranks pace
//! mpirun -n 3 ranks panic | panic-in-thread | abort | kill | silent | absent | one-sided | thread
//! mpirun -n 2 barchan run bounce : -n 1 ranks stranger
//! ```

use barchan::comm::{Communicator, PATIENCE, Reduction, conformance, handshake};
use barchan_mpi::MpiCommunicator;
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

/// Longer than any fault may take to end the job.
const FOREVER: Duration = Duration::from_secs(120);

fn main() -> ExitCode {
    let case = std::env::args().nth(1).unwrap_or_default();
    let patience =
        if ["silent", "absent", "one-sided"].contains(&case.as_str()) { Duration::from_secs(5) } else { PATIENCE };
    let mut comm = match MpiCommunicator::start(patience) {
        Ok(comm) => comm,
        Err(error) => {
            eprintln!("error: {error}");
            return ExitCode::FAILURE;
        }
    };
    if case == "stranger" {
        be_strange(&mut comm);
    }
    if let Err(error) = handshake(&mut comm) {
        comm.abort(&error.to_string());
    }
    match case.as_str() {
        "conformance" => conform(comm),
        "pace" => pace(&mut comm),
        fault => fail(&mut comm, fault),
    }
    ExitCode::SUCCESS
}

/// Shows the card of another build, where all ranks show theirs.
fn be_strange(comm: &mut MpiCommunicator) {
    comm.gather(b"barchan 0.0.1\nmessages of layout 0");
    comm.broadcast(&mut Vec::new());
    // Rank 0 has the last word.
    comm.barrier();
}

/// Every call, with messages of megabytes; then with messages that are cut into many pieces.
fn conform(mut comm: MpiCommunicator) {
    let check = |comm: &mut MpiCommunicator, seed, turns, largest| {
        if let Err(difference) = conformance::check(comm, seed, turns, largest) {
            comm.abort(&difference);
        }
    };
    check(&mut comm, 1, 40, 4 << 20);
    // Around the tags' return to 0.
    for _ in 0..(1 << 14) {
        comm.exchange(&[], &[], &mut []);
    }
    check(&mut comm, 2, 8, 1000);
    let mut comm = comm.with_pieces_of(100);
    check(&mut comm, 3, 24, 5000);
    println!("rank {} of {} conforms", comm.rank(), comm.size());
}

/// How long an exchange with all others and a reduction take.
fn pace(comm: &mut MpiCommunicator) {
    const TURNS: u32 = 2000;
    let others: Vec<_> = (0..comm.size() as u32).filter(|r| *r as usize != comm.rank()).collect();
    for bytes in [8, 10_000, 1_000_000] {
        let outgoing = vec![vec![1; bytes]; others.len()];
        let mut incoming = vec![vec![]; others.len()];
        let turns = if bytes > 100_000 { TURNS / 20 } else { TURNS };
        comm.barrier();
        let start = Instant::now();
        (0..turns).for_each(|_| comm.exchange(&others, &outgoing, &mut incoming));
        if comm.rank() == 0 {
            println!("exchange of {bytes} bytes with all others: {:.1} µs", micros(start, turns));
        }
    }
    let start = Instant::now();
    (0..TURNS).for_each(|_| comm.all_reduce(Reduction::Sum, &mut [1.0, 2.0, 3.0]));
    if comm.rank() == 0 {
        println!("reduction of 3 numbers: {:.1} µs", micros(start, TURNS));
    }
}

fn micros(start: Instant, turns: u32) -> f64 {
    start.elapsed().as_secs_f64() * 1e6 / f64::from(turns)
}

/// Rank 1 does something wrong, and the others wait for it.
fn fail(comm: &mut MpiCommunicator, fault: &str) {
    comm.stage("trouble");
    let wrong = comm.rank() == 1;
    let others: Vec<_> = (0..comm.size() as u32).filter(|r| *r as usize != comm.rank()).collect();
    let talk = |comm: &mut MpiCommunicator, neighbours: &[u32]| {
        let outgoing = vec![vec![0; 100]; neighbours.len()];
        comm.exchange(neighbours, &outgoing, &mut vec![vec![]; neighbours.len()]);
    };
    match fault {
        "panic" if wrong => panic!("rank 1 fails on purpose"),
        "panic-in-thread" if wrong => {
            rayon::scope(|scope| scope.spawn(|_| panic!("a thread of rank 1 fails on purpose")));
        }
        "abort" if wrong => comm.abort("rank 1 gives up on purpose"),
        "kill" if wrong => {
            // The shell's own: there may be no other.
            let _ = Command::new("sh").args(["-c", "kill -KILL $PPID"]).status();
            std::thread::sleep(FOREVER);
        }
        "silent" | "absent" if wrong => std::thread::sleep(FOREVER),
        "absent" => comm.all_reduce(Reduction::Sum, &mut [1.0]),
        "one-sided" => talk(comm, if wrong { &[] } else { &others }),
        "thread" if wrong => std::thread::scope(|scope| {
            scope.spawn(|| comm.barrier());
        }),
        "panic" | "panic-in-thread" | "abort" | "kill" | "silent" | "thread" => talk(comm, &others),
        _ => comm.abort("no such case"),
    }
    // Ranks that found nothing wrong wait for those that did.
    comm.barrier();
}
