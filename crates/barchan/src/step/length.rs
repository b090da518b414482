//! How long a step is, where the scene leaves that to the simulation (`time.step = "auto"`).
//!
//! A step is short enough if little happens in it. These limit its length h, all in proportion to the accuracy a of
//! the scene (`time.accuracy`), so that half the accuracy means half the step throughout:
//!
//! | what | limit |
//! |---|---|
//! | bodies that carry load and move against each other at u, mean radius r | h ≤ a·r/u, the mean over such contacts, weighted by (u/r)² so that what rests does not count; what slides on a wall does not, either |
//! | bodies that approach each other at u | h ≤ 20a·r/u, the fastest of them |
//! | forces that accelerate a body of radius r by g | h ≤ 4a·√(r/g), the most sensitive of all bodies |
//! | prescribed shaking with a frequency, and turning | h ≤ a·period, and 2a radians |
//! | prescribed motions that accelerate at g, smallest body r, or turn ever faster by α | h ≤ 4a·√(r/g) and 4a/√α, but not below a hundredth of what else is allowed |
//! | flight without any force or contact | h ≤ 100a·r/v |
//! | a body that is not round turns with ω | h ≤ 10a/ω |
//!
//! Lengths are rungs of a ladder (1, 1.2, 1.5, 1.8, 2.2, … times a power of ten) and climb one rung at a time, so
//! that they change seldom and do not depend on rounding: they are the same on any number of threads, and on ranks
//! whose sums differ in the last digits. What forces allow is known before bodies are searched for contacts, what
//! neighbours do only afterwards. So a step is proposed first; where contacts show that it is far too long, it is
//! made shorter and contacts are searched for again.
//!
//! Impulses of the step before fit a step of another length when they are scaled with it: forces stay.
//!
//! A fixed length is measured by the same limits, now and then, and the run warns where it is far too long.

use super::Simulation;
use crate::comm::Reduction;
use crate::dynamics::{StepLength, integrate};
use crate::narrow::Contacts;
use crate::world::{ExternalForce, Motion, Ownership, Prescribed, World};
use barchan_parallel::{CHUNK, fold_chunks};
use glam::DVec3;
use std::ops::Range;

/// Factors of the limits, see above.
const APPROACH: f64 = 20.0;
const FALL: f64 = 4.0;
const PERIOD: f64 = 1.0;
const TURN: f64 = 2.0;
const FLIGHT: f64 = 100.0;
const TUMBLE: f64 = 10.0;

/// A proposal that is longer than its limit by less than this is taken; the next one is shorter.
const TOO_LONG: f64 = 1.5;
/// What a limit must have to spare before a step becomes longer.
const SPARE: f64 = 1.1;
/// Steps between two looks at a length that is fixed.
const LOOK: u64 = 16;
/// The length where nothing at all happens.
const IDLE: f64 = 1e-3;
/// A prescribed motion may shorten the step that all else allows by so much: one that jumps would need steps of no
/// length.
const ABRUPT: f64 = 100.0;

/// The rungs of a power of ten, in tenths (the series E12 of IEC 60063).
const RUNGS: [f64; 12] = [10.0, 12.0, 15.0, 18.0, 22.0, 27.0, 33.0, 39.0, 47.0, 56.0, 68.0, 82.0];
/// What rounding may take from a number that is on a rung.
const ROUNDING: f64 = 1e-9;

/// What the length of a step follows from, beside the state of the world.
#[derive(Clone, Debug)]
pub(super) struct Pace {
    /// The length of the last step.
    last: Option<f64>,
    /// What its neighbours allowed,
    neighbours: f64,
    /// and those of the step under way.
    found: f64,
    sums: Vec<[f64; 3]>,
    rates: Vec<[f64; 4]>,
}

impl Default for Pace {
    fn default() -> Self {
        Self { last: None, neighbours: f64::INFINITY, found: f64::INFINITY, sums: Vec::new(), rates: Vec::new() }
    }
}

impl Pace {
    /// What the next step depends on: the length of the last, and what its neighbours allowed.
    pub(super) fn memory(&self) -> (Option<f64>, f64) {
        (self.last, self.neighbours)
    }

    /// Goes on from [`Pace::memory`]; `None` if that makes no sense.
    pub(super) fn recall((last, neighbours): (Option<f64>, f64)) -> Option<Self> {
        let is_valid = last.is_none_or(|h| h > 0.0 && h.is_finite()) && neighbours > 0.0;
        is_valid.then(|| Self { last, neighbours, ..Self::default() })
    }

    /// Scales the impulses of the step before to the length of this one.
    pub(super) fn fit_impulses(&self, contacts: &mut Contacts, h: f64) {
        let Some(last) = self.last.filter(|&last| last != h) else { return };
        let (_, _, γ) = contacts.for_solve();
        let scale = h / last;
        γ.flat_mut().iter_mut().for_each(|x| *x *= scale);
    }

    /// After a step.
    pub(super) fn stepped(&mut self, h: f64) {
        self.last = Some(h);
        self.neighbours = self.found;
    }

    /// The length to try, if forces allow so much.
    fn propose(&self, limit: f64) -> f64 {
        let limit = limit.min(self.neighbours);
        match self.last {
            None if limit.is_finite() => rung_below(limit),
            None => IDLE,
            Some(last) if limit < last => rung_below(limit),
            Some(last) if limit > SPARE * rung_above(last) => rung_above(last),
            Some(last) => last,
        }
    }
}

/// The largest rung that is not above a positive number.
fn rung_below(x: f64) -> f64 {
    let (power, mantissa) = decompose(x);
    let rung = RUNGS.iter().rev().find(|&&rung| rung <= mantissa * (1.0 + ROUNDING));
    compose(rung.copied().unwrap_or(RUNGS[0]), power)
}

/// The smallest rung above a positive number.
fn rung_above(x: f64) -> f64 {
    let (power, mantissa) = decompose(x);
    match RUNGS.iter().find(|&&rung| rung > mantissa * (1.0 + ROUNDING)) {
        Some(&rung) => compose(rung, power),
        None => compose(RUNGS[0], power + 1),
    }
}

/// A positive number as a power of ten and a factor from 10 to 100.
fn decompose(x: f64) -> (i32, f64) {
    let x = x.clamp(1e-250, 1e250);
    let power = (x.log10() + ROUNDING).floor() as i32 - 1;
    (power, compose(x, -power))
}

fn compose(mantissa: f64, power: i32) -> f64 {
    // Whole numbers over a power of ten are the numbers that they are written as; products with its inverse are not.
    if power < 0 { mantissa / 10f64.powi(-power) } else { mantissa * 10f64.powi(power) }
}

fn larger<const N: usize>(a: [f64; N], b: [f64; N]) -> [f64; N] {
    std::array::from_fn(|k| a[k].max(b[k]))
}

impl Simulation {
    /// After it: the step has a length that forces and prescribed motions allow.
    pub(super) fn propose_length(&mut self) {
        self.h = match self.options.step {
            StepLength::Fixed(h) => h,
            StepLength::Auto => {
                let limit = self.force_limit();
                self.pace.propose(limit)
            }
        };
    }

    /// After it: the step is not much longer than neighbours allow, and the contacts are those of its length.
    pub(super) fn settle_length(&mut self) {
        let is_auto = self.options.step == StepLength::Auto;
        if !is_auto && !self.steps.is_multiple_of(LOOK) {
            return;
        }
        self.start_impulses();
        let limit = self.neighbour_limit();
        if !is_auto {
            self.clock.report.advised = Some(limit.min(self.force_limit()));
            return;
        }
        self.pace.found = limit;
        if self.h > TOO_LONG * limit {
            self.h = rung_below(limit);
            integrate::prescribe(&mut self.world, self.h);
            self.growth = self.growth();
            self.find_candidates();
            self.find_contacts();
        }
    }

    /// The longest step that forces and prescribed motions allow, on all ranks.
    fn force_limit(&mut self) -> f64 {
        let World { bodies, fields, external, prescribed, gravity, .. } = &self.world;
        let trial = self.pace.last.unwrap_or(IDLE);
        let acceleration = |i: usize| {
            let place = bodies.position[i];
            fields.iter().fold(*gravity, |sum, field| sum + field.acceleration(place, trial)).length()
        };
        // The largest of g/r, v/r, the spin of what is not round, and 1/r.
        let part = |range: Range<usize>| {
            let moves = |i: &usize| bodies.motion[*i] == Motion::Dynamic && bodies.ownership[*i] == Ownership::Owned;
            range.filter(moves).fold([0.0; 4], |most, i| {
                let radius = bodies.shape[i].size();
                let tumble = if bodies.is_isotropic(i) { 0.0 } else { bodies.angular_velocity[i].length() };
                larger(most, [acceleration(i) / radius, bodies.velocity[i].length() / radius, tumble, 1.0 / radius])
            })
        };
        let rates = &mut self.pace.rates;
        let [mut fall, flight, tumble, curvature] = fold_chunks(bodies.len(), CHUNK, rates, [0.0; 4], part, larger);
        for (&id, &ExternalForce { force, .. }) in external {
            if let Some(i) = bodies.index_of(id) {
                let radius = bodies.shape[i].size();
                fall = fall.max((acceleration(i) + bodies.inverse_mass[i] * force.length()) / radius);
            }
        }
        // As rates: what happens in a second, in units of what may happen in a step.
        let shaking = prescribed.values().filter_map(|motion| motion.oscillation.map(|shake| shake.frequency));
        let time = self.world.time;
        let turning = prescribed.values().map(|motion| motion.mean_angular_velocity(time, trial).length() / TURN);
        let motion = shaking.map(|frequency| frequency.abs() / PERIOD).chain(turning).fold(tumble / TUMBLE, f64::max);
        let [linear, angular] = self.accelerations(trial);
        let mut rates = [fall.sqrt() / FALL, motion, flight / FLIGHT, curvature, linear, angular];
        if let Some(domain) = &mut self.domain {
            domain.reduce(Reduction::Max, &mut rates);
        }
        let [fall, motion, flight, curvature, linear, angular] = rates;
        let accuracy = self.options.accuracy;
        let steady = if fall.max(motion) > 0.0 { fall.max(motion) } else { flight };
        let abrupt = (linear * curvature).max(angular).sqrt() / FALL;
        accuracy / steady.max(abrupt.min(ABRUPT * steady.max(accuracy / IDLE)))
    }

    /// How prescribed motions accelerate within a step of this length: the fastest point of any body of this rank, and
    /// the fastest turn.
    fn accelerations(&self, trial: f64) -> [f64; 2] {
        let World { bodies, prescribed, time, .. } = &self.world;
        let of = |(&id, motion): (&u64, &Prescribed)| {
            let [linear, angular] = motion.accelerations(*time, trial);
            let reach = bodies.index_of(id).and_then(|i| bodies.shape[i].bounding_radius()).unwrap_or(0.0);
            [linear + angular * reach, angular]
        };
        prescribed.iter().map(of).fold([0.0; 2], larger)
    }

    /// The longest step that neighbours allow, on all ranks. Needs impulses to start from.
    fn neighbour_limit(&mut self) -> f64 {
        let (bodies, contacts) = (&self.world.bodies, &self.contacts);
        let round = contacts.round();
        let part = |range: Range<usize>| {
            let [mut cubes, mut squares, mut fastest] = [0.0f64; 3];
            for i in range {
                let [a, b] = contacts.pairs()[i].map(|j| j as usize);
                let normal = contacts.normals().get(i);
                let [own, other] = [a, b].map(|j| bodies.contact_size(j));
                let mut velocity = bodies.velocity[a] - bodies.velocity[b];
                if i >= round {
                    // What is not round moves by turning, too.
                    let [arm_a, arm_b] = contacts.general_arms(i - round);
                    velocity += bodies.angular_velocity[a].cross(arm_a) - bodies.angular_velocity[b].cross(arm_b);
                } else if other.is_infinite() {
                    // Where it is touched a wall may move by turning.
                    velocity -=
                        bodies.angular_velocity[b].cross(bodies.position[a] - own * normal - bodies.position[b]);
                }
                let along = velocity.dot(normal);
                // Sliding and rolling turn the normal, and the less the larger bodies are. Walls keep theirs.
                let across = velocity.reject_from_normalized(normal) * (2.0 / (own + other));
                let smaller = own.min(other);
                if contacts.impulses().get(i) != DVec3::ZERO {
                    let square = across.length_squared() + (along / smaller).powi(2);
                    cubes += square * square.sqrt();
                    squares += square;
                }
                fastest = fastest.max(-along / smaller);
            }
            [cubes, squares, fastest]
        };
        let join = |a: [f64; 3], b: [f64; 3]| [a[0] + b[0], a[1] + b[1], a[2].max(b[2])];
        let [cubes, squares, fastest] = fold_chunks(contacts.len(), CHUNK, &mut self.pace.sums, [0.0; 3], part, join);
        let (mut sums, mut fastest) = ([cubes, squares], [fastest]);
        if let Some(domain) = &mut self.domain {
            domain.reduce(Reduction::Sum, &mut sums);
            domain.reduce(Reduction::Max, &mut fastest);
        }
        let mean = if sums[1] > 0.0 { sums[0] / sums[1] } else { 0.0 };
        self.options.accuracy / mean.max(fastest[0] / APPROACH)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rungs_are_round_numbers() {
        assert_eq!([rung_below(1e-3), rung_below(1.19e-3), rung_below(0.99e-3)], [1e-3, 1e-3, 0.82e-3]);
        assert_eq!([rung_above(1e-3), rung_above(8.2e-4), rung_above(0.5)], [1.2e-3, 1e-3, 0.56]);
        let mut rung = 1e-9;
        for _ in 0..200 {
            assert_eq!(rung_below(rung), rung);
            assert_eq!(rung_below(rung * 1.001), rung);
            let next = rung_above(rung);
            assert!(next > 1.15 * rung && next < 1.26 * rung, "{rung} {next}");
            rung = next;
        }
    }

    #[test]
    fn steps_climb_a_rung_at_a_time_and_fall_at_once() {
        let pace = |last, neighbours| Pace { last, neighbours, ..Pace::default() };
        let of = |last: Option<f64>, neighbours, limit| pace(last, neighbours).propose(limit);
        assert_eq!(of(None, f64::INFINITY, 1.3e-3), 1.2e-3);
        assert_eq!(of(None, f64::INFINITY, f64::INFINITY), IDLE);
        assert_eq!(of(Some(1e-4), 1e-2, 1e-2), 1.2e-4);
        assert_eq!(of(Some(1e-3), 1e-2, 1.25e-3), 1e-3);
        assert_eq!(of(Some(1e-3), 1.1e-4, 1e-2), 1e-4);
        assert!(Pace::recall((Some(0.0), 1.0)).is_none() && Pace::recall((None, f64::NAN)).is_none());
        assert_eq!(Pace::recall(pace(Some(1e-3), 2e-3).memory()).unwrap().memory(), (Some(1e-3), 2e-3));
    }
}
