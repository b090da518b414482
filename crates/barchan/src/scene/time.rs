//! Step and end of a run.

use crate::dynamics::{Integrator, StepLength};
use serde::{Deserialize, Serialize};

/// What rounding may take from a time that is a sum of steps.
const ROUNDING: f64 = 1e-12;

/// Step and end of a run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Time {
    /// How long steps are.
    pub step: StepLength,
    /// What neighbours that press on each other may move against each other in a step, in radii: steps that are chosen
    /// are proportional to it, and steps that are fixed are measured by it.
    pub accuracy: f64,
    /// Simulated time at which a run ends, s.
    pub end: f64,
    /// How positions follow from velocities.
    pub integrator: Integrator,
}

impl Default for Time {
    fn default() -> Self {
        Self { step: StepLength::default(), accuracy: Self::ACCURACY, end: 1.0, integrator: Integrator::default() }
    }
}

impl Time {
    /// More steps than this no run can take: their number is exact as a double.
    pub const MOST_STEPS: u64 = 1 << 53;
    /// The default of `accuracy`.
    pub const ACCURACY: f64 = 0.01;

    /// How many steps come nearest to the end; `None` where their length is chosen on the way.
    pub fn steps(&self) -> Option<u64> {
        self.step.fixed().map(|h| (self.end / h).round() as u64)
    }

    /// Whether a run is at its end after so many steps, at this time: with the step that comes nearest to it, or with
    /// the first that reaches it where lengths are chosen.
    pub fn is_over(&self, steps: u64, time: f64) -> bool {
        self.steps().map_or(time >= self.end * (1.0 - ROUNDING), |total| steps >= total)
    }

    /// The simulated time at which a run ends: that of its last step where their number is known.
    pub fn last(&self) -> f64 {
        self.step.fixed().zip(self.steps()).map_or(self.end, |(h, steps)| steps as f64 * h)
    }

    /// How much of a run is done, from 0 to 1.
    pub fn share(&self, steps: u64, time: f64) -> f64 {
        let [done, all] = self.steps().map_or([time, self.end], |total| [steps as f64, total as f64]);
        if all > 0.0 { (done / all).clamp(0.0, 1.0) } else { 1.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_ends_by_steps_or_by_time() {
        let fixed = Time { step: 0.3.into(), end: 1.0, ..Time::default() };
        assert_eq!((fixed.steps(), fixed.last()), (Some(3), 3.0 * 0.3));
        assert!(!fixed.is_over(2, 7.0) && fixed.is_over(3, 0.0));
        assert_eq!([fixed.share(0, 0.0), fixed.share(3, 0.9), fixed.share(9, 2.7)], [0.0, 1.0, 1.0]);
        let auto = Time { step: StepLength::Auto, ..fixed };
        assert_eq!((auto.steps(), auto.last()), (None, 1.0));
        assert!(!auto.is_over(1000, 0.999) && auto.is_over(1, 1.0 - 1e-15) && auto.is_over(1, 1.3));
        assert_eq!([auto.share(9, 0.25), auto.share(9, 1.3)], [0.25, 1.0]);
        assert_eq!(Time { end: 0.0, ..auto }.share(0, 0.0), 1.0);
    }
}
