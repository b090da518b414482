//! How a rank hears that something has come.
//!
//! To sleep and be woken takes longer than most ranks wait. Where every thread has a processor to
//! itself, a rank looks for a while before it goes to sleep.

use super::lock;
use std::hint::spin_loop;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long a rank looks before it sleeps.
const LOOK: Duration = Duration::from_micros(100);

/// Rings for the ranks that wait at one place.
#[derive(Default)]
pub(super) struct Bell {
    rings: AtomicU64,
    sleepers: Condvar,
}

impl Bell {
    /// Rings, after what is waited for has come.
    pub(super) fn ring(&self) {
        self.rings.fetch_add(1, Ordering::Release);
        self.sleepers.notify_all();
    }

    /// Looks for a ring without sleeping. The place is free meanwhile, so it has to be looked at again.
    pub(super) fn look<'a, T>(&self, place: &'a Mutex<T>, guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
        let heard = self.rings.load(Ordering::Acquire);
        drop(guard);
        let start = Instant::now();
        while self.rings.load(Ordering::Acquire) == heard && start.elapsed() < LOOK {
            spin_loop();
        }
        lock(place)
    }

    /// Sleeps until a ring, and not longer than `longest`.
    pub(super) fn sleep<'a, T>(&self, guard: MutexGuard<'a, T>, longest: Duration) -> MutexGuard<'a, T> {
        self.sleepers.wait_timeout(guard, longest).unwrap_or_else(PoisonError::into_inner).0
    }
}
