//! Ranks on threads of one process, which share nothing else.
//!
//! For tests, which then need no MPI, and for measuring what many ranks would send. Each rank runs
//! in a pool of threads of its own, so that one that waits neither steals nor holds the work of
//! another.
//!
//! A rank that panics or aborts ends the others at their next call, and those that wait at once.
//! They unwind quietly; only the first failure is told.

mod bell;
mod collective;
mod mailbox;

use super::{Communicator, PATIENCE, Reduction, Traffic, check_exchange};
use bell::Bell;
use collective::{Call, Collective, Contribution};
use mailbox::Mailbox;
use rayon::ThreadPoolBuilder;
use std::any::Any;
use std::num::NonZero;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use thiserror::Error;

/// The first rank that failed, and why.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("rank {rank}: {message}")]
pub struct RanksFailed {
    /// The rank.
    pub rank: usize,
    /// What it panicked or aborted with, or what it waited for in vain.
    pub message: String,
}

/// Ranks to be started.
#[derive(Clone, Copy, Debug)]
pub struct ThreadRanks {
    /// How many.
    pub ranks: usize,
    /// Threads that each of them has, at least 1.
    pub threads_each: usize,
    /// How long one waits for another before it ends all.
    pub patience: Duration,
}

/// Runs `body` on as many ranks, each with as many threads, and gives their results in order.
pub fn run<R: Send>(
    ranks: usize,
    threads_each: usize,
    body: impl Fn(Box<dyn Communicator>) -> R + Sync,
) -> Result<Vec<R>, RanksFailed> {
    ThreadRanks { ranks, threads_each, patience: PATIENCE }.run(body)
}

impl ThreadRanks {
    /// Runs `body` on every rank, and gives their results in order.
    ///
    /// Returns when the last rank has ended. One that computes and never calls its communicator
    /// again cannot be stopped from outside.
    pub fn run<R: Send>(&self, body: impl Fn(Box<dyn Communicator>) -> R + Sync) -> Result<Vec<R>, RanksFailed> {
        // Shared by count: a boxed communicator has no lifetime to borrow for.
        let world = Arc::new(World::new(self));
        let mut results = Vec::new();
        results.resize_with(self.ranks, || None);
        std::thread::scope(|scope| {
            for (rank, result) in results.iter_mut().enumerate() {
                let world = Arc::clone(&world);
                let body = &body;
                scope.spawn(move || *result = self.one(&world, rank, body));
            }
        });
        world.outcome()?;
        Ok(results.into_iter().flatten().collect())
    }

    /// One rank from its start to its end.
    fn one<R: Send>(
        &self,
        world: &Arc<World>,
        rank: usize,
        body: &(impl Fn(Box<dyn Communicator>) -> R + Sync),
    ) -> Option<R> {
        let pool = ThreadPoolBuilder::new().num_threads(self.threads_each.max(1));
        let pool = match pool.thread_name(move |k| format!("rank {rank}, thread {k}")).build() {
            Ok(pool) => pool,
            Err(error) => {
                world.record(rank, format!("cannot start the threads: {error}"));
                return None;
            }
        };
        let own = Box::new(ThreadRank::new(Arc::clone(world), rank));
        let result = pool.install(|| catch_unwind(AssertUnwindSafe(|| body(own))));
        match result {
            Ok(result) => {
                world.leave(rank);
                Some(result)
            }
            Err(payload) if payload.is::<Ended>() => None,
            Err(payload) => {
                world.record(rank, format!("panicked: {}", text_of(payload.as_ref())));
                None
            }
        }
    }
}

/// What the unwinding of a rank carries that ends because of another.
struct Ended;

/// The message of a panic.
fn text_of(payload: &(dyn Any + Send)) -> &str {
    let owned = payload.downcast_ref::<String>().map(String::as_str);
    owned.or_else(|| payload.downcast_ref::<&str>().copied()).unwrap_or("without a message")
}

/// Takes a lock. A rank that panics in between leaves nothing half-done that others would read:
/// they end as well.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What the ranks share.
struct World {
    size: usize,
    patience: Duration,
    /// Whether there is a processor for every thread of every rank.
    has_room: bool,
    mailboxes: Vec<Mailbox>,
    collective: Collective,
    failed: AtomicBool,
    first: Mutex<Option<RanksFailed>>,
}

impl World {
    fn new(ranks: &ThreadRanks) -> Self {
        let size = ranks.ranks;
        let processors = std::thread::available_parallelism().map_or(1, NonZero::get);
        Self {
            size,
            patience: ranks.patience,
            has_room: size * ranks.threads_each.max(1) <= processors,
            mailboxes: (0..size).map(|_| Mailbox::new(size)).collect(),
            collective: Collective::new(size),
            failed: AtomicBool::new(false),
            first: Mutex::new(None),
        }
    }

    /// Notes a failure, unless there was one before, and wakes all who wait.
    fn record(&self, rank: usize, message: String) {
        lock(&self.first).get_or_insert(RanksFailed { rank, message });
        self.failed.store(true, Ordering::Release);
        self.wake();
    }

    /// Ends this rank and all others.
    fn fail(&self, rank: usize, message: String) -> ! {
        self.record(rank, message);
        resume_unwind(Box::new(Ended))
    }

    /// Notes that a rank has returned: nobody may wait for it any more.
    fn leave(&self, rank: usize) {
        self.mailboxes[rank].left.store(true, Ordering::Release);
        self.wake();
    }

    fn wake(&self) {
        self.mailboxes.iter().for_each(Mailbox::wake);
        self.collective.wake();
    }

    /// How it went, once all ranks have ended.
    fn outcome(&self) -> Result<(), RanksFailed> {
        if let Some(failure) = lock(&self.first).take() {
            return Err(failure);
        }
        // A message that nobody took was for a rank that did not count on its sender.
        let left = (0..self.size).find_map(|rank| Some((rank, self.mailboxes[rank].unread()?)));
        left.map_or(Ok(()), |(rank, (from, number))| Err(RanksFailed { rank, message: one_sided(number, from, rank) }))
    }

    /// Waits at a place until it is `ready`. Ends the rank if another failed, if there is `trouble`, or
    /// after too long; `whom` names those that are waited for. Gives the seconds of waiting too.
    fn wait<'a, T>(
        &self,
        rank: usize,
        (place, mut guard): (&'a Mutex<T>, MutexGuard<'a, T>),
        bell: &Bell,
        ready: impl Fn(&T) -> bool,
        trouble: impl Fn(&T) -> Option<String>,
        whom: impl Fn(&T) -> Vec<usize>,
    ) -> (MutexGuard<'a, T>, f64) {
        // Others ring when they post or leave, but not when they go on without us.
        const LOOK: Duration = Duration::from_millis(20);
        let mut start = None;
        loop {
            if ready(&guard) {
                return (guard, start.map_or(0.0, |start: Instant| start.elapsed().as_secs_f64()));
            }
            if self.failed.load(Ordering::Acquire) {
                drop(guard);
                resume_unwind(Box::new(Ended));
            }
            let first = start.is_none();
            let waited = start.get_or_insert_with(Instant::now).elapsed();
            let complaint = trouble(&guard).or_else(|| {
                let late = waited >= self.patience;
                late.then(|| self.lateness(rank, waited, &whom(&guard)))
            });
            if let Some(complaint) = complaint {
                drop(guard);
                self.fail(rank, complaint);
            }
            let look = LOOK.min(self.patience - waited);
            guard = if first && self.has_room { bell.look(place, guard) } else { bell.sleep(guard, look) };
        }
    }

    /// The message of a rank that has waited too long.
    fn lateness(&self, rank: usize, waited: Duration, whom: &[usize]) -> String {
        const NAMED: usize = 4;
        let mut names: Vec<_> =
            whom.iter().take(NAMED).map(|r| format!("rank {r} ({})", self.mailboxes[*r].stage())).collect();
        if whom.len() > NAMED {
            names.push(format!("{} more", whom.len() - NAMED));
        }
        let stage = self.mailboxes[rank].stage();
        format!("waited {:.1} s ({stage}) for {}", waited.as_secs_f64(), names.join(", "))
    }
}

/// The message about neighbours that do not agree.
fn one_sided(number: u64, from: usize, to: usize) -> String {
    format!("in exchange {number} rank {from} has rank {to} as a neighbour, but not the other way round")
}

/// A rank's communicator.
struct ThreadRank {
    world: Arc<World>,
    rank: usize,
    traffic: Traffic,
    exchanges: u64,
}

impl ThreadRank {
    fn new(world: Arc<World>, rank: usize) -> Self {
        Self { world, rank, traffic: Traffic::default(), exchanges: 0 }
    }
}

impl Communicator for ThreadRank {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.world.size
    }

    fn stage(&mut self, name: &'static str) {
        self.world.mailboxes[self.rank].set_stage(name);
    }

    fn exchange(&mut self, neighbours: &[u32], outgoing: &[Vec<u8>], incoming: &mut [Vec<u8>]) {
        if let Err(fault) = check_exchange(self, neighbours, outgoing, incoming) {
            self.abort(&format!("an exchange with {fault}"));
        }
        self.exchanges += 1;
        for (to, bytes) in neighbours.iter().zip(outgoing) {
            self.world.mailboxes[*to as usize].post(self.rank, self.exchanges, bytes);
            self.traffic.messages += 1;
            self.traffic.bytes += bytes.len() as u64;
        }
        let own = &self.world.mailboxes[self.rank];
        own.posted.store(self.exchanges, Ordering::Release);
        for (from, bytes) in neighbours.iter().zip(incoming) {
            self.traffic.waiting += own.take(&self.world, *from as usize, self.rank, self.exchanges, bytes);
        }
    }

    fn all_reduce(&mut self, reduction: Reduction, values: &mut [f64]) {
        self.traffic.reductions += 1;
        let call = Call::Reduce(reduction, values.len());
        let bring = |place: &mut Contribution| place.set_numbers(values);
        let (table, waited) = self.world.collective.attend(&self.world, self.rank, call, bring);
        values.copy_from_slice(&table.result);
        self.traffic.waiting += waited;
    }

    fn gather(&mut self, bytes: &[u8]) -> Option<Vec<Vec<u8>>> {
        let bring = |place: &mut Contribution| place.set_bytes(bytes);
        let (mut table, waited) = self.world.collective.attend(&self.world, self.rank, Call::Gather, bring);
        self.traffic.waiting += waited;
        (self.rank == 0).then(|| std::mem::take(&mut table.gathered))
    }

    fn broadcast(&mut self, bytes: &mut Vec<u8>) {
        let root = self.rank == 0;
        let bring = |place: &mut Contribution| place.set_bytes(if root { bytes } else { &[] });
        let (table, waited) = self.world.collective.attend(&self.world, self.rank, Call::Broadcast, bring);
        if !root {
            bytes.clone_from(&table.word);
        }
        self.traffic.waiting += waited;
    }

    fn barrier(&mut self) {
        let (_table, waited) = self.world.collective.attend(&self.world, self.rank, Call::Barrier, |_| {});
        self.traffic.waiting += waited;
    }

    fn abort(&self, message: &str) -> ! {
        self.world.fail(self.rank, message.into())
    }

    fn traffic(&self) -> Traffic {
        self.traffic
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicUsize;

    /// Ranks that are given up on soon.
    fn hasty(ranks: usize) -> ThreadRanks {
        ThreadRanks { ranks, threads_each: 1, patience: Duration::from_secs(1) }
    }

    /// What is said after how long was waited, which a busy machine makes longer.
    fn for_what(message: &str) -> &str {
        assert!(message.starts_with("waited "), "{message}");
        message.split_once(" s ").map_or("", |(_, rest)| rest)
    }

    /// Runs ranks that must fail, and soon.
    fn failure(ranks: ThreadRanks, body: impl Fn(Box<dyn Communicator>) + Sync) -> RanksFailed {
        let start = Instant::now();
        let failed = ranks.run(body).expect_err("ranks that must fail");
        assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
        failed
    }

    /// An exchange of small messages.
    fn say(comm: &mut dyn Communicator, neighbours: &[u32]) {
        let outgoing = vec![vec![comm.rank() as u8; 3]; neighbours.len()];
        comm.exchange(neighbours, &outgoing, &mut vec![vec![]; neighbours.len()]);
    }

    #[test]
    fn results_come_in_the_order_of_ranks() {
        assert_eq!(run(5, 1, |comm| (comm.rank(), comm.size())).unwrap(), [(0, 5), (1, 5), (2, 5), (3, 5), (4, 5)]);
        assert_eq!(run(0, 1, |_| ()), Ok(vec![]));
    }

    #[test]
    fn every_rank_has_its_own_threads() {
        let threads = run(3, 2, |comm| {
            let names = rayon::broadcast(|_| std::thread::current().name().unwrap_or_default().to_owned());
            assert!(names.iter().all(|name| name.starts_with(&format!("rank {},", comm.rank()))), "{names:?}");
            names.len()
        });
        assert_eq!(threads.unwrap(), [2, 2, 2]);
    }

    /// A rank in the middle of a parallel loop waits for one that has parallel loops to do first.
    #[test]
    fn waiting_ranks_leave_the_others_their_threads() {
        let done = AtomicUsize::new(0);
        let results = run(4, 2, |mut comm| {
            for turn in 0..50 {
                if comm.rank() == turn % 4 {
                    rayon::scope(|scope| {
                        (0..8).for_each(|_| scope.spawn(|_| _ = done.fetch_add(1, Ordering::Relaxed)))
                    });
                }
                comm.barrier();
                assert_eq!(done.load(Ordering::Relaxed), 8 * (turn + 1));
                comm.barrier();
            }
        });
        assert!(results.is_ok(), "{results:?}");
    }

    #[test]
    fn a_sum_has_the_same_bits_in_any_order_of_arrival() {
        let sum = |late: usize| {
            let sums = run(7, 1, |mut comm| {
                if comm.rank() == late {
                    std::thread::sleep(Duration::from_millis(20));
                }
                let mut values = [0.1 * 3f64.powi(7 * comm.rank() as i32), -0.0];
                comm.all_reduce(Reduction::Sum, &mut values);
                values.map(f64::to_bits)
            });
            sums.unwrap()
        };
        let expected = vec![[(0..7).map(|r| 0.1 * 3f64.powi(7 * r)).sum::<f64>().to_bits(), (-0.0f64).to_bits()]; 7];
        for late in 0..7 {
            assert_eq!(sum(late), expected);
        }
    }

    #[test]
    fn a_rank_that_panics_ends_the_others() {
        let others_ended = AtomicUsize::new(0);
        struct Count<'a>(&'a AtomicUsize);
        impl Drop for Count<'_> {
            fn drop(&mut self) {
                self.0.fetch_add(1, Ordering::Relaxed);
            }
        }
        let body = |mut comm: Box<dyn Communicator>| {
            let _count = Count(&others_ended);
            match comm.rank() {
                2 => panic!("the disk of rank {} is full", 2),
                // Some wait for a neighbour, some for all.
                1 => say(comm.as_mut(), &[2]),
                _ => comm.barrier(),
            }
            unreachable!("no rank gets here");
        };
        let failed = failure(ThreadRanks { patience: PATIENCE, ..hasty(6) }, body);
        assert_eq!(failed, RanksFailed { rank: 2, message: "panicked: the disk of rank 2 is full".into() });
        assert_eq!(others_ended.into_inner(), 6);
    }

    #[test]
    fn a_panic_in_a_thread_of_a_rank_ends_all() {
        let failed = failure(ThreadRanks { threads_each: 2, patience: PATIENCE, ..hasty(3) }, |mut comm| {
            if comm.rank() == 1 {
                rayon::join(|| (), || panic!("in a loop"));
            }
            comm.barrier();
        });
        assert_eq!(failed, RanksFailed { rank: 1, message: "panicked: in a loop".into() });
    }

    #[test]
    fn a_rank_that_aborts_ends_the_others() {
        let failed = failure(ThreadRanks { patience: PATIENCE, ..hasty(4) }, |mut comm| {
            if comm.rank() == 3 {
                comm.abort("bad input");
            }
            comm.all_reduce(Reduction::Max, &mut [1.0]);
        });
        assert_eq!(failed.to_string(), "rank 3: bad input");
    }

    #[test]
    fn a_neighbour_that_never_comes_is_named_with_the_stage() {
        let failed = failure(hasty(3), |mut comm| {
            comm.stage("synchronise");
            match comm.rank() {
                0 => say(comm.as_mut(), &[1]),
                1 => {
                    comm.stage("solve");
                    std::thread::sleep(Duration::from_secs(3));
                    say(comm.as_mut(), &[0]);
                }
                _ => {}
            }
        });
        assert_eq!(failed.rank, 0);
        assert_eq!(for_what(&failed.message), r#"(in stage "synchronise") for rank 1 (in stage "solve")"#);
    }

    #[test]
    fn those_who_miss_a_meeting_are_named() {
        let failed = failure(hasty(8), |mut comm| {
            comm.stage("reduce");
            if comm.rank() > 1 {
                std::thread::sleep(Duration::from_secs(3));
            }
            comm.barrier();
        });
        assert!(failed.rank < 2);
        let late = (2..6).map(|r| format!(r#"rank {r} (in stage "reduce")"#)).collect::<Vec<_>>().join(", ");
        assert_eq!(for_what(&failed.message), format!(r#"(in stage "reduce") for {late}, 2 more"#));
    }

    #[test]
    fn a_rank_that_has_returned_is_not_waited_for() {
        let patient = ThreadRanks { patience: PATIENCE, ..hasty(2) };
        let failed = failure(patient, |mut comm| {
            if comm.rank() == 0 {
                comm.barrier();
            }
        });
        assert_eq!(failed.message, r#"waits at barrier (in stage "start") for rank 1, which has returned"#);
        let failed = failure(patient, |mut comm| {
            if comm.rank() == 0 {
                say(comm.as_mut(), &[1]);
            }
        });
        assert_eq!(failed.message, r#"waits (in stage "start") for rank 1, which has returned"#);
    }

    #[test]
    fn neighbours_that_do_not_agree_are_found() {
        let patient = ThreadRanks { patience: PATIENCE, ..hasty(3) };
        let expected = "in exchange 2 rank 0 has rank 1 as a neighbour, but not the other way round";
        // The other goes on without us, or comes back in a later exchange.
        let failed = failure(patient, |mut comm| {
            let all: Vec<_> = (0..3).filter(|r| *r != comm.rank() as u32).collect();
            say(comm.as_mut(), &all);
            let one_sided: &[u32] = if comm.rank() == 0 { &[1] } else { &[] };
            say(comm.as_mut(), one_sided);
            comm.barrier();
        });
        assert_eq!(failed.message, expected);
        let failed = failure(patient, |mut comm| {
            say(comm.as_mut(), &[]);
            match comm.rank() {
                0 => say(comm.as_mut(), &[1]),
                1 => {
                    say(comm.as_mut(), &[]);
                    say(comm.as_mut(), &[0]);
                }
                _ => {}
            }
        });
        assert_eq!(failed.message, expected);
    }

    #[test]
    fn messages_that_nobody_takes_are_found() {
        let world = World::new(&ThreadRanks { ranks: 2, threads_each: 1, patience: PATIENCE });
        world.mailboxes[1].post(0, 4, b"hello");
        let failed = world.outcome().unwrap_err();
        assert_eq!(failed.message, "in exchange 4 rank 0 has rank 1 as a neighbour, but not the other way round");
    }

    #[test]
    fn ranks_at_different_calls_are_found() {
        let failed = failure(ThreadRanks { patience: PATIENCE, ..hasty(2) }, |mut comm| {
            if comm.rank() == 0 {
                comm.all_reduce(Reduction::Sum, &mut [0.0; 2]);
            } else {
                comm.all_reduce(Reduction::Sum, &mut [0.0; 3]);
            }
        });
        assert!(failed.message.contains("all_reduce(Sum) of 2"), "{failed}");
        assert!(failed.message.contains("all_reduce(Sum) of 3"), "{failed}");
    }

    #[test]
    fn senseless_neighbours_are_refused() {
        for (neighbours, fault) in [
            (vec![7], "an exchange with rank 7 as a neighbour, where ranks go from 0 to 2"),
            (vec![1, 0], "an exchange with itself as a neighbour"),
            (vec![2, 1, 2], "an exchange with rank 2 twice as a neighbour"),
        ] {
            let failed = failure(ThreadRanks { patience: PATIENCE, ..hasty(3) }, |mut comm| match comm.rank() {
                0 => say(comm.as_mut(), &neighbours),
                _ => comm.barrier(),
            });
            assert_eq!(failed, RanksFailed { rank: 0, message: fault.into() });
        }
        let failed = failure(hasty(2), |mut comm| comm.exchange(&[], &[vec![]], &mut []));
        assert_eq!(failed.message, "an exchange with 0 neighbours, but buffers for 1 to send to and 0 to receive from");
    }
}
