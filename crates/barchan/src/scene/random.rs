//! Random numbers by counting, not by remembering.
//!
//! Every number is a hash of (seed, stream, body, draw): no state is carried from one body to
//! the next, so the radius of body k is the same whoever asks, in whatever order, and however
//! many others there are. A rank of a distributed run can thus make just its own bodies. Each
//! lattice and each fill of a scene has a stream of its own, and so has each purpose within it;
//! editing one entry leaves the numbers of the others alone.
//!
//! The hash is the finaliser of SplitMix64 (Steele, Lea and Flood 2014), chained over the four
//! numbers; the tests below look for correlations between neighbours. It is no cipher.

use std::f64::consts::TAU;

/// 2⁶⁴ divided by the golden ratio: the increment of SplitMix64.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// The finaliser of SplitMix64: a bijection of the 64-bit numbers that scatters well.
#[inline]
fn mix(x: u64) -> u64 {
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// Absorbs one more number into a hash.
#[inline]
fn absorb(hash: u64, number: u64) -> u64 {
    mix(hash.wrapping_add(GOLDEN).wrapping_add(mix(number.wrapping_mul(GOLDEN))))
}

/// The kind of entry that a stream belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub enum EntryKind {
    /// An entry of `[[lattice]]`.
    Lattice = 1,
    /// An entry of `[[fill]]`.
    Fill = 2,
}

/// What numbers are drawn for. Purposes do not share draws: more tries for a place do not
/// change a radius.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub enum Purpose {
    /// Radii.
    Radius = 1,
    /// Places.
    Position = 2,
    /// Velocities.
    Velocity = 3,
    /// How bodies are turned.
    Orientation = 4,
    /// Which kind of a mixture.
    Kind = 5,
}

/// The random numbers of one entry of a scene.
#[derive(Clone, Copy, Debug)]
pub struct Stream {
    key: u64,
}

impl Stream {
    /// The stream of entry number `index` of its kind.
    pub fn new(seed: u64, entry: EntryKind, index: usize) -> Self {
        Self { key: absorb(absorb(mix(seed), entry as u64), index as u64) }
    }

    /// The draws for one body and purpose.
    #[inline]
    pub fn draws(&self, body: u64, purpose: Purpose) -> Draws {
        Draws { key: absorb(absorb(self.key, purpose as u64), body), draw: 0 }
    }
}

/// A sequence of draws for one body and purpose.
#[derive(Clone, Copy, Debug)]
pub struct Draws {
    key: u64,
    draw: u64,
}

impl Draws {
    /// Uniform in [0, 1), a multiple of 2⁻⁵³.
    #[inline]
    pub fn unit(&mut self) -> f64 {
        self.draw += 1;
        let bits = mix(self.key.wrapping_add(self.draw.wrapping_mul(GOLDEN)));
        (bits >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// Uniform between `low` and `high`.
    #[inline]
    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        let u = self.unit();
        // The sum may round past the end.
        (low + (high - low) * u).clamp(low, high)
    }

    /// A vector with each component uniform between −`amplitude` and `amplitude`.
    #[inline]
    pub fn cube(&mut self, amplitude: f64) -> glam::DVec3 {
        let mut component = || self.between(-amplitude, amplitude);
        glam::DVec3::new(component(), component(), component())
    }

    /// A rotation, all of them as likely (Shoemake 1992).
    pub fn rotation(&mut self) -> glam::DQuat {
        let u = self.unit();
        let [(s, c), (t, d)] = [0, 1].map(|_| (TAU * self.unit()).sin_cos());
        let small = (1.0 - u).sqrt();
        let large = u.sqrt();
        glam::DQuat::from_xyzw(small * s, small * c, large * t, large * d).normalize()
    }

    /// Standard normal (Box–Muller).
    pub fn normal(&mut self) -> f64 {
        // 1 − u lies in (0, 1], so the logarithm is finite.
        let radius = (-2.0 * (1.0 - self.unit()).ln()).sqrt();
        radius * (TAU * self.unit()).cos()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_are_pinned() {
        // Scenes are shared by their seed: these numbers must never change.
        let mut draws = Stream::new(42, EntryKind::Fill, 0).draws(7, Purpose::Position);
        let first = [draws.unit(), draws.unit()];
        let mut again = Stream::new(42, EntryKind::Fill, 0).draws(7, Purpose::Position);
        assert_eq!(first, [again.unit(), again.unit()]);
        assert_eq!(mix(GOLDEN), 0xe220_a839_7b1d_cdaf, "the first output of SplitMix64 seeded with 0");
        assert_eq!(first[0].to_bits(), 0x3f98_2428_6afa_8380);
    }

    #[test]
    fn neighbours_are_uncorrelated_and_uniform() {
        // Mean 1/2, variance 1/12, correlation 0 between bodies, streams, purposes and draws.
        let n = 100_000u64;
        let draw = |seed, entry, index, body, purpose, skip| {
            let mut d = Stream::new(seed, entry, index).draws(body, purpose);
            (0..=skip).map(|_| d.unit()).last().unwrap_or(0.0) - 0.5
        };
        let base = |k| draw(1, EntryKind::Lattice, 0, k, Purpose::Radius, 0);
        let mean = (0..n).map(base).sum::<f64>() / n as f64;
        let variance = (0..n).map(|k| base(k) * base(k)).sum::<f64>() / n as f64;
        assert!(mean.abs() < 4.0 * (1.0f64 / 12.0 / n as f64).sqrt(), "{mean}");
        assert!((variance - 1.0 / 12.0).abs() < 1e-3, "{variance}");
        let others: [&dyn Fn(u64) -> f64; 6] = [
            &|k| draw(1, EntryKind::Lattice, 0, k + 1, Purpose::Radius, 0),
            &|k| draw(2, EntryKind::Lattice, 0, k, Purpose::Radius, 0),
            &|k| draw(1, EntryKind::Fill, 0, k, Purpose::Radius, 0),
            &|k| draw(1, EntryKind::Lattice, 1, k, Purpose::Radius, 0),
            &|k| draw(1, EntryKind::Lattice, 0, k, Purpose::Velocity, 0),
            &|k| draw(1, EntryKind::Lattice, 0, k, Purpose::Radius, 1),
        ];
        for (i, other) in others.iter().enumerate() {
            let correlation = (0..n).map(|k| base(k) * other(k)).sum::<f64>() / n as f64 * 12.0;
            assert!(correlation.abs() < 4.0 / (n as f64).sqrt(), "{i}: {correlation}");
        }
    }

    #[test]
    fn rotations_turn_evenly() {
        let stream = Stream::new(3, EntryKind::Fill, 1);
        let n = 100_000u32;
        let mut mean = glam::DVec3::ZERO;
        let mut square = glam::DMat3::ZERO;
        let mut angle = 0.0;
        for k in 0..n {
            let q = stream.draws(k.into(), Purpose::Orientation).rotation();
            let x = q * glam::DVec3::new(0.6, 0.0, 0.8);
            mean += x / f64::from(n);
            square += glam::DMat3::from_cols(x * x.x, x * x.y, x * x.z) * (1.0 / f64::from(n));
            angle += 2.0 * q.w.abs().min(1.0).acos() / f64::from(n);
        }
        assert!(mean.length() < 0.01, "{mean}");
        let off = square - glam::DMat3::from_diagonal(glam::DVec3::splat(1.0 / 3.0));
        assert!(off.to_cols_array().iter().all(|x| x.abs() < 0.005), "{off}");
        // The angle of a random rotation has the mean π/2 + 2/π.
        assert!((angle - (TAU / 4.0 + 4.0 / TAU)).abs() < 0.01, "{angle}");
    }

    #[test]
    fn normal_has_unit_variance() {
        let stream = Stream::new(3, EntryKind::Fill, 1);
        let n = 100_000u32;
        let values: Vec<f64> = (0..n).map(|k| stream.draws(k.into(), Purpose::Radius).normal()).collect();
        let mean = values.iter().sum::<f64>() / f64::from(n);
        let variance = values.iter().map(|x| x * x).sum::<f64>() / f64::from(n);
        assert!(mean.abs() < 0.015 && (variance - 1.0).abs() < 0.02, "{mean} {variance}");
    }
}
