//! Steps a second now, rather than since the start: a bed that fills up gets slower, and the
//! time left should say so.

use std::time::Instant;

/// Seconds over which the speed is averaged.
const MEMORY: f64 = 3.0;

/// The speed of a run.
#[derive(Debug)]
pub(crate) struct Pace {
    last: (Instant, u64),
    rate: Option<f64>,
}

impl Pace {
    /// Starts the clock, after a step.
    pub(crate) fn new(step: u64) -> Self {
        Self { last: (Instant::now(), step), rate: None }
    }

    /// Notes how far the run is, and returns the steps a second.
    pub(crate) fn sample(&mut self, now: Instant, step: u64) -> f64 {
        let seconds = now.duration_since(self.last.0).as_secs_f64().max(1e-9);
        let latest = (step - self.last.1) as f64 / seconds;
        let weight = 1.0 - (-seconds / MEMORY).exp();
        let rate = self.rate.map_or(latest, |rate| rate + weight * (latest - rate));
        self.last = (now, step);
        self.rate = Some(rate);
        rate
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn it_follows_a_change_of_speed() {
        // What was done before does not count.
        let mut pace = Pace::new(8000);
        let start = pace.last.0;
        assert!((pace.sample(start + Duration::from_secs(1), 8100) - 100.0).abs() < 1e-9);
        let mut rate = 0.0;
        for k in 2..20 {
            rate = pace.sample(start + Duration::from_secs(k), 8100 + 10 * (k - 1));
        }
        assert!((rate - 10.0).abs() < 1.0, "{rate}");
    }
}
