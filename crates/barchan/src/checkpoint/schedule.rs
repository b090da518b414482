//! When the clock asks for checkpoints: the first one soon, so that no run loses much, and then at waits that
//! double until they are what the scene asks for. Whenever a run is killed, it has lost no more than about half
//! of what it has done, and no more than that interval.

use std::time::{Duration, Instant};

/// The wait for the first.
const FIRST: Duration = Duration::from_secs(3);

/// The clock of a run's checkpoints.
#[derive(Clone, Copy, Debug)]
pub(super) struct Schedule {
    /// The longest wait; `None` if the clock asks for none.
    interval: Option<Duration>,
    /// The wait for the next, without that limit.
    wait: Duration,
    /// When the last one was taken, or the run began.
    since: Instant,
}

impl Schedule {
    /// For checkpoints at most so many seconds from each other; 0 for none.
    pub(super) fn new(seconds: f64, now: Instant) -> Self {
        let interval = Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX);
        Self { interval: (seconds > 0.0).then_some(interval), wait: FIRST, since: now }
    }

    /// Whether it is time.
    pub(super) fn is_due(&self, now: Instant) -> bool {
        self.interval.is_some_and(|interval| now.duration_since(self.since) >= interval.min(self.wait))
    }

    /// One was taken, for whatever reason.
    pub(super) fn taken(&mut self, now: Instant) {
        self.since = now;
        self.wait = self.wait.saturating_mul(2);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The seconds at which checkpoints are taken by somebody who looks every second.
    fn moments(seconds: f64, end: u64) -> Vec<u64> {
        let start = Instant::now();
        let mut schedule = Schedule::new(seconds, start);
        let mut taken = Vec::new();
        for k in 1..=end {
            let now = start + Duration::from_secs(k);
            if schedule.is_due(now) {
                schedule.taken(now);
                taken.push(k);
            }
        }
        taken
    }

    #[test]
    fn the_first_comes_soon_and_waits_double_up_to_the_interval() {
        assert_eq!(moments(600.0, 2600), [3, 9, 21, 45, 93, 189, 381, 765, 1365, 1965, 2565]);
        assert_eq!(moments(2.0, 7), [2, 4, 6]);
        assert_eq!(moments(f64::INFINITY, 100), [3, 9, 21, 45, 93]);
        assert!(moments(0.0, 10_000).is_empty());
    }
}
