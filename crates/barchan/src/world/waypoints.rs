//! Motion from waypoint to waypoint.

use crate::util::formula::smooth;
use glam::DVec3;
use serde::{Deserialize, Serialize};

/// Displacements at some times, and straight legs between them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Waypoints {
    /// When each is reached, s, ascending.
    pub times: Vec<f64>,
    /// Displacements from the place of the body, m. The first holds before its time, the last after.
    pub positions: Vec<DVec3>,
    /// Whether all begins anew at the last time.
    #[serde(default)]
    pub repeat: bool,
    /// Whether each leg starts and stops smoothly; else its speed is constant.
    #[serde(default = "yes")]
    pub smooth: bool,
}

fn yes() -> bool {
    true
}

impl Waypoints {
    /// The displacement at a time.
    pub fn at(&self, time: f64) -> DVec3 {
        let n = self.times.len().min(self.positions.len());
        let (times, positions) = (&self.times[..n], &self.positions[..n]);
        let (Some(&first), Some(&last)) = (times.first(), times.last()) else { return DVec3::ZERO };
        let begins_anew = self.repeat && time > last && last > first;
        let time = if begins_anew { first + (time - first).rem_euclid(last - first) } else { time };
        let next = times.partition_point(|&t| t <= time);
        if next == 0 || next == n {
            return positions[next.saturating_sub(1)];
        }
        let part = (time - times[next - 1]) / (times[next] - times[next - 1]);
        let part = if self.smooth { smooth(part) } else { part };
        positions[next - 1] + part * (positions[next] - positions[next - 1])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waypoints(repeat: bool, smooth: bool) -> Waypoints {
        let positions = vec![DVec3::ZERO, DVec3::X, DVec3::new(1.0, 2.0, 0.0), DVec3::ZERO];
        Waypoints { times: vec![1.0, 2.0, 4.0, 5.0], positions, repeat, smooth }
    }

    #[test]
    fn legs_are_straight_and_ends_are_held() {
        let straight = waypoints(false, false);
        let at = |t: f64| straight.at(t).to_array();
        assert_eq!([at(-3.0), at(1.0), at(1.25)], [[0.0; 3], [0.0; 3], [0.25, 0.0, 0.0]]);
        assert_eq!([at(2.0), at(3.0), at(4.0)], [[1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [1.0, 2.0, 0.0]]);
        assert_eq!([at(4.5), at(5.0), at(99.0)], [[0.5, 1.0, 0.0], [0.0; 3], [0.0; 3]]);
        let smooth = waypoints(false, true);
        assert_eq!(smooth.at(1.25).x, 0.25 * 0.25 * 2.5);
        // Level at both ends of a leg.
        assert!((smooth.at(2.0) - smooth.at(2.0 - 1e-4)).length() < 1e-7);
    }

    #[test]
    fn what_repeats_begins_anew() {
        let there = waypoints(true, false);
        for k in 0..5 {
            for t in [1.0, 1.25, 3.5, 4.5] {
                assert_eq!(there.at(t + 4.0 * f64::from(k)), there.at(t));
            }
        }
        assert_eq!(there.at(0.0), DVec3::ZERO);
    }

    #[test]
    fn what_makes_no_sense_is_no_panic() {
        let waypoints = |times: &[f64], count: usize| Waypoints {
            times: times.to_vec(),
            positions: vec![DVec3::X; count],
            repeat: true,
            smooth: true,
        };
        for count in 0..4 {
            for times in [&[][..], &[1.0], &[2.0, 1.0], &[f64::NAN, 1.0, 1.0]] {
                for t in [-1.0, 1.0, 1.5, 9.0, f64::NAN, f64::INFINITY] {
                    let _ = waypoints(times, count).at(t);
                }
            }
        }
    }
}
