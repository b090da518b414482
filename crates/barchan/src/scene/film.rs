//! How often a run takes frames if its scene does not say: so that there is a film of it, and no disk is full.

use super::Scene;

/// Frames of a run, beside the first.
const FRAMES: u64 = 30;

/// Bodies of all frames together. A body takes about 300 bytes with its contacts, before compression: about a
/// gigabyte.
const BODIES: u64 = 30 * 100_000;

impl Scene {
    /// Simulated time between two frames of a run, s; 0 for the last state alone. Without a choice of the scene
    /// it is the whole number of steps that gives about thirty frames; fewer beyond 100 000 bodies, and beyond
    /// 1.5 million the last state alone.
    pub fn frame_interval(&self) -> f64 {
        self.output.frame_interval.unwrap_or_else(|| self.default_frame_interval())
    }

    fn default_frame_interval(&self) -> f64 {
        let all = BODIES / self.body_count().max(1);
        let frames = FRAMES.min(all.saturating_sub(1));
        if frames == 0 {
            return 0.0;
        }
        let Some((h, steps)) = self.time.step.fixed().zip(self.time.steps()) else {
            return self.time.end / frames as f64;
        };
        // The nearest whole number of steps.
        (steps.saturating_add(frames / 2) / frames).max(1) as f64 * h
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::frame_count;
    use crate::scene::{Lattice, Time};
    use glam::DVec3;

    #[test]
    fn a_run_has_about_thirty_frames_and_fewer_of_many_bodies() {
        let scene = |step: f64, end: f64, bodies: u32| {
            let lattice = Lattice::cubic([bodies, 1, 1], DVec3::ONE, 0.1);
            Scene {
                time: Time { step: step.into(), end, ..Time::default() },
                lattice: vec![lattice],
                ..Scene::default()
            }
        };
        for end in [0.03, 0.044, 0.045, 0.1, 1.0, 7.3, 600.0] {
            let frames = frame_count(&scene(1e-3, end, 10));
            assert!((23..=45).contains(&frames), "{frames} frames until {end} s");
            assert!(end < 0.5 || (30..=33).contains(&frames), "{frames} frames until {end} s");
        }
        assert_eq!(scene(1e-3, 1.0, 10).frame_interval(), 0.033);
        // A frame a step is all that there can be.
        assert_eq!(frame_count(&scene(0.1, 1.0, 10)), 11);
        assert_eq!(frame_count(&scene(0.1, 0.0, 10)), 1);
        let of = |bodies| frame_count(&scene(1e-3, 1.0, bodies));
        assert!((28..33).contains(&of(100_000)) && (14..17).contains(&of(200_000)), "{} {}", of(100_000), of(200_000));
        assert_eq!([of(1_000_000), of(1_500_000), of(1_600_000), of(100_000_000)], [3, 2, 1, 1]);
        let mut chosen = scene(1e-3, 1.0, 10);
        chosen.output.frame_interval = Some(0.0);
        assert_eq!((chosen.frame_interval(), frame_count(&chosen)), (0.0, 1));
    }
}
