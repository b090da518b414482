//! How a rank waits.
//!
//! It looks again and again, since that is how MPI makes progress. At first without a pause, for
//! messages are mostly there in microseconds. Then it offers its core to others, and at last it
//! sleeps between looks: there may be more ranks than cores, and the one that is waited for wants
//! to run.

use std::time::{Duration, Instant};

/// How long it looks without a pause.
const EAGER: Duration = Duration::from_micros(10);
/// How long until sleep sets in.
const AWAKE: Duration = Duration::from_micros(500);
const NAP: Duration = Duration::from_micros(50);

/// A wait, from its first vain look on.
#[derive(Default)]
pub(crate) struct Idle {
    since: Option<Instant>,
    /// When something came last.
    stirred: Option<Instant>,
}

impl Idle {
    /// Pauses after a vain look. Gives the time since the first.
    pub(crate) fn pause(&mut self) -> Duration {
        let now = Instant::now();
        let since = *self.since.get_or_insert(now);
        let quiet = now - *self.stirred.get_or_insert(now);
        if quiet < EAGER {
            std::hint::spin_loop();
        } else if quiet < AWAKE {
            std::thread::yield_now();
        } else {
            std::thread::sleep(NAP);
        }
        now - since
    }

    /// Begins a new run of eager looks: something came. The wait goes on.
    pub(crate) fn stir(&mut self) {
        self.stirred = None;
    }

    /// Seconds since the first vain look.
    pub(crate) fn seconds(&self) -> f64 {
        self.since.map_or(0.0, |since| since.elapsed().as_secs_f64())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_wait_is_timed_and_mostly_slept() {
        let mut idle = Idle::default();
        assert_eq!(idle.seconds(), 0.0);
        // Time for a thousand naps.
        let mut looks = 0;
        while idle.pause() < Duration::from_millis(50) {
            looks += 1;
        }
        assert!(idle.seconds() >= 0.05);
        let busy = AWAKE.as_micros() * 20;
        assert!(looks < 1000 + busy, "{looks} looks");
        idle.stir();
        assert!(idle.pause() >= Duration::from_millis(50), "the wait goes on");
    }
}
