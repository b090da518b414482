//! Distributions of radii. In a file a plain number is a fixed radius, a table a distribution.
//!
//! The normal and the log-normal law are cut off at both ends by rejection, so what is drawn
//! follows the law's shape between them and nothing piles up at the ends.

use super::random::Draws;
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

/// A distribution of radii.
#[derive(Clone, Debug, PartialEq)]
pub enum Radius {
    /// All alike: `radius = 0.01`.
    Fixed(f64),
    /// Uniform between two ends: `radius = { uniform = [0.008, 0.012] }`.
    Uniform([f64; 2]),
    /// Normal, cut off at both ends.
    Normal(Normal),
    /// The logarithm is normal, cut off at both ends.
    LogNormal(LogNormal),
    /// Density proportional to r^exponent between two ends.
    PowerLaw(PowerLaw),
    /// One of a list.
    Choice(Choice),
}

/// A normal law, cut off at both ends.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Normal {
    /// Mean before the cut.
    pub mean: f64,
    /// Standard deviation before the cut.
    pub deviation: f64,
    /// Smallest radius.
    pub min: f64,
    /// Largest radius.
    pub max: f64,
}

/// A normal law of the logarithm, cut off at both ends.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LogNormal {
    /// Median before the cut.
    pub median: f64,
    /// Standard deviation of the natural logarithm before the cut.
    pub spread: f64,
    /// Smallest radius.
    pub min: f64,
    /// Largest radius.
    pub max: f64,
}

/// A density proportional to r^exponent (by number) between two ends.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PowerLaw {
    /// Smallest radius.
    pub min: f64,
    /// Largest radius.
    pub max: f64,
    /// The exponent: −3 say, for many small spheres and few large ones.
    pub exponent: f64,
}

/// One radius of a list, with probabilities proportional to weights.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Choice {
    /// The radii.
    pub radii: Vec<f64>,
    /// A weight each; no weights at all for equal ones.
    #[serde(default)]
    pub weights: Vec<f64>,
}

impl From<f64> for Radius {
    fn from(radius: f64) -> Self {
        Self::Fixed(radius)
    }
}

impl Radius {
    /// The names of the distributions in files.
    pub(crate) const NAMES: &'static [&'static str] = &["uniform", "normal", "log-normal", "power-law", "choice"];

    /// The smallest radius that can be drawn.
    pub fn min(&self) -> f64 {
        match self {
            Self::Fixed(r) => *r,
            Self::Uniform([a, _]) => *a,
            Self::Normal(d) => d.min,
            Self::LogNormal(d) => d.min,
            Self::PowerLaw(d) => d.min,
            Self::Choice(d) => d.radii.iter().copied().fold(f64::INFINITY, f64::min),
        }
    }

    /// The largest radius that can be drawn.
    pub fn max(&self) -> f64 {
        match self {
            Self::Fixed(r) => *r,
            Self::Uniform([_, b]) => *b,
            Self::Normal(d) => d.max,
            Self::LogNormal(d) => d.max,
            Self::PowerLaw(d) => d.max,
            Self::Choice(d) => d.radii.iter().copied().fold(0.0, f64::max),
        }
    }

    /// All radii, if they are few.
    pub(crate) fn list(&self) -> &[f64] {
        match self {
            Self::Fixed(r) => std::slice::from_ref(r),
            Self::Choice(d) => &d.radii,
            _ => &[],
        }
    }

    /// Draws a radius.
    pub fn draw(&self, draws: &mut Draws) -> f64 {
        match self {
            Self::Fixed(r) => *r,
            Self::Uniform([a, b]) => draws.between(*a, *b),
            Self::Normal(d) => cut_normal(draws, d.mean, d.deviation, d.min, d.max),
            Self::LogNormal(d) => {
                let log = cut_normal(draws, d.median.ln(), d.spread, d.min.ln(), d.max.ln());
                log.exp().clamp(d.min, d.max)
            }
            Self::PowerLaw(d) => d.draw(draws),
            Self::Choice(d) => d.draw(draws),
        }
    }

    /// What is wrong with the numbers, which are called so: the key below this one, and a message.
    pub(crate) fn faults(&self, noun: &str) -> Vec<(&'static str, String)> {
        let mut faults = Vec::new();
        let mut check = |wrong: bool, key: &'static str, message: &dyn Fn() -> String| {
            if wrong {
                faults.push((key, message()));
            }
        };
        let positive = |r: f64| move || format!("a {noun} must be greater than 0, but is {r:?}");
        let ordered = |a: f64, b: f64| move || format!("the smallest {noun}, {a:?}, exceeds the largest, {b:?}");
        let not_negative = |x: f64| move || format!("must not be negative, but is {x:?}");
        let outside = |x: f64| move || format!("must lie between min and max, but is {x:?}");
        match self {
            Self::Fixed(r) => check(*r <= 0.0, "", &positive(*r)),
            Self::Uniform([a, b]) => {
                check(*a <= 0.0, "uniform[0]", &positive(*a));
                check(a > b, "uniform", &ordered(*a, *b));
            }
            Self::Normal(d) => {
                check(d.min <= 0.0, "normal.min", &positive(d.min));
                check(d.min > d.max, "normal.max", &ordered(d.min, d.max));
                check(d.deviation < 0.0, "normal.deviation", &not_negative(d.deviation));
                check(d.mean < d.min || d.mean > d.max, "normal.mean", &outside(d.mean));
            }
            Self::LogNormal(d) => {
                check(d.min <= 0.0, "log-normal.min", &positive(d.min));
                check(d.min > d.max, "log-normal.max", &ordered(d.min, d.max));
                check(d.spread < 0.0, "log-normal.spread", &not_negative(d.spread));
                check(d.median < d.min || d.median > d.max, "log-normal.median", &outside(d.median));
            }
            Self::PowerLaw(d) => {
                check(d.min <= 0.0, "power-law.min", &positive(d.min));
                check(d.min > d.max, "power-law.max", &ordered(d.min, d.max));
            }
            Self::Choice(d) => {
                let weights = d.weights.len();
                check(d.radii.is_empty(), "choice.radii", &|| format!("at least one {noun} is needed"));
                let smallest = d.radii.iter().copied().fold(f64::INFINITY, f64::min);
                check(smallest <= 0.0, "choice.radii", &positive(smallest));
                check(weights != 0 && weights != d.radii.len(), "choice.weights", &|| {
                    format!("{} radii need as many weights (or none), but there are {weights}", d.radii.len())
                });
                let lightest = d.weights.iter().copied().fold(f64::INFINITY, f64::min);
                check(lightest < 0.0, "choice.weights", &not_negative(lightest));
                check(weights > 0 && d.weights.iter().sum::<f64>() <= 0.0, "choice.weights", &|| {
                    "at least one weight must be greater than 0".into()
                });
            }
        }
        faults
    }
}

/// A normal number between `min` and `max`, where `mean` lies between them.
fn cut_normal(draws: &mut Draws, mean: f64, deviation: f64, min: f64, max: f64) -> f64 {
    if deviation <= 0.0 || min >= max {
        return mean.clamp(min, max);
    }
    // A wide interval holds at least some 48 % of the whole law: draw from it. In a narrow one
    // the density varies little: draw uniformly and accept by density. Neither rejects long.
    let wide = max - min >= 4.0 * deviation;
    loop {
        if wide {
            let x = mean + deviation * draws.normal();
            if (min..=max).contains(&x) {
                return x;
            }
        } else {
            let x = draws.between(min, max);
            let z = (x - mean) / deviation;
            if draws.unit() <= (-0.5 * z * z).exp() {
                return x;
            }
        }
    }
}

impl PowerLaw {
    /// By the inverse of the distribution function.
    fn draw(&self, draws: &mut Draws) -> f64 {
        let u = draws.unit();
        let ratio = self.max / self.min;
        let k = self.exponent + 1.0;
        // Near k = 0 the formula loses its digits; its limit is the logarithmic law. Powers are
        // taken of what is below 1 only, so that none overflows.
        let radius = if k.abs() < 1e-9 {
            self.min * ratio.powf(u)
        } else if k < 0.0 {
            self.min * (1.0 - u * (1.0 - ratio.powf(k))).powf(1.0 / k)
        } else {
            self.max * (u + (1.0 - u) * ratio.powf(-k)).powf(1.0 / k)
        };
        radius.clamp(self.min, self.max)
    }
}

impl Choice {
    fn draw(&self, draws: &mut Draws) -> f64 {
        let weight = |i: usize| self.weights.get(i).copied().unwrap_or(if self.weights.is_empty() { 1.0 } else { 0.0 });
        let total: f64 = (0..self.radii.len()).map(weight).sum();
        let mut left = draws.unit() * total;
        let mut last = 0;
        for i in 0..self.radii.len() {
            if weight(i) > 0.0 {
                last = i;
                left -= weight(i);
                if left < 0.0 {
                    break;
                }
            }
        }
        self.radii[last]
    }
}

impl Serialize for Radius {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeMap;
        fn entry<S: Serializer, T: Serialize>(serializer: S, name: &str, value: &T) -> Result<S::Ok, S::Error> {
            let mut map = serializer.serialize_map(Some(1))?;
            map.serialize_entry(name, value)?;
            map.end()
        }
        match self {
            Self::Fixed(r) => serializer.serialize_f64(*r),
            Self::Uniform(ends) => entry(serializer, "uniform", ends),
            Self::Normal(d) => entry(serializer, "normal", d),
            Self::LogNormal(d) => entry(serializer, "log-normal", d),
            Self::PowerLaw(d) => entry(serializer, "power-law", d),
            Self::Choice(d) => entry(serializer, "choice", d),
        }
    }
}

impl<'de> Deserialize<'de> for Radius {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct NumberOrTable;

        impl<'de> Visitor<'de> for NumberOrTable {
            type Value = Radius;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "a number or a table with one of {}", Radius::NAMES.join(", "))
            }

            fn visit_f64<E: Error>(self, radius: f64) -> Result<Radius, E> {
                Ok(Radius::Fixed(radius))
            }

            fn visit_i64<E: Error>(self, radius: i64) -> Result<Radius, E> {
                Ok(Radius::Fixed(radius as f64))
            }

            fn visit_u64<E: Error>(self, radius: u64) -> Result<Radius, E> {
                Ok(Radius::Fixed(radius as f64))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Radius, A::Error> {
                let Some(name) = map.next_key::<String>()? else {
                    return Err(A::Error::invalid_length(0, &self));
                };
                let radius = match name.as_str() {
                    "uniform" => Radius::Uniform(map.next_value()?),
                    "normal" => Radius::Normal(map.next_value()?),
                    "log-normal" => Radius::LogNormal(map.next_value()?),
                    "power-law" => Radius::PowerLaw(map.next_value()?),
                    "choice" => Radius::Choice(map.next_value()?),
                    other => return Err(A::Error::unknown_variant(other, Radius::NAMES)),
                };
                match map.next_key::<String>()? {
                    None => Ok(radius),
                    Some(second) => Err(A::Error::custom(format!("one distribution only, not {name} and {second}"))),
                }
            }
        }

        deserializer.deserialize_any(NumberOrTable)
    }
}

#[cfg(test)]
mod tests {
    use super::super::random::{EntryKind, Purpose, Stream};
    use super::*;

    /// The mean of many draws, each checked to lie within the bounds.
    fn mean(radius: &Radius) -> f64 {
        let n = 40_000u32;
        let stream = Stream::new(11, EntryKind::Fill, 0);
        let draw = |k: u32| {
            let r = radius.draw(&mut stream.draws(k.into(), Purpose::Radius));
            assert!((radius.min()..=radius.max()).contains(&r), "{r} of {radius:?}");
            r
        };
        (0..n).map(draw).sum::<f64>() / f64::from(n)
    }

    #[test]
    fn draws_keep_the_bounds_and_have_the_mean() {
        let close = |a: f64, b: f64| assert!((a / b - 1.0).abs() < 0.01, "{a} {b}");
        close(mean(&Radius::Fixed(0.3)), 0.3);
        close(mean(&Radius::Uniform([1.0, 3.0])), 2.0);
        close(mean(&Radius::Normal(Normal { mean: 2.0, deviation: 0.3, min: 1.0, max: 3.0 })), 2.0);
        // Narrow: almost uniform.
        close(mean(&Radius::Normal(Normal { mean: 2.0, deviation: 50.0, min: 1.0, max: 3.0 })), 2.0);
        // Half a normal law has the mean σ√(2/π) beyond its end.
        close(mean(&Radius::Normal(Normal { mean: 1.0, deviation: 0.5, min: 1.0, max: 9.0 })), 1.0 + 0.5 * 0.797_885);
        // Mean of a log-normal law: median·exp(σ²/2).
        close(mean(&Radius::LogNormal(LogNormal { median: 1.0, spread: 0.4, min: 0.01, max: 100.0 })), 0.08f64.exp());
        // Density 1/r between 1 and e has the mean e − 1; density r^-3 between 1 and 2 has 4/3.
        let e = std::f64::consts::E;
        close(mean(&Radius::PowerLaw(PowerLaw { min: 1.0, max: e, exponent: -1.0 })), e - 1.0);
        close(mean(&Radius::PowerLaw(PowerLaw { min: 1.0, max: 2.0, exponent: -3.0 })), 4.0 / 3.0);
        close(mean(&Radius::Choice(Choice { radii: vec![1.0, 5.0, 2.0], weights: vec![3.0, 0.0, 1.0] })), 1.25);
        close(mean(&Radius::Choice(Choice { radii: vec![1.0, 2.0], weights: vec![] })), 1.5);
    }

    #[test]
    fn every_form_reads_back() {
        for text in [
            "0.5",
            "3",
            "{ uniform = [1.0, 2] }",
            "{ normal = { mean = 1.0, deviation = 0.1, min = 0.5, max = 2.0 } }",
            "{ log-normal = { median = 1.0, spread = 0.1, min = 0.5, max = 2.0 } }",
            "{ power-law = { min = 1.0, max = 2.0, exponent = -3 } }",
            "{ choice = { radii = [1.0, 2.0], weights = [1, 2] } }",
        ] {
            let read = Radius::deserialize(toml::de::ValueDeserializer::parse(text).unwrap()).unwrap();
            let json = serde_json::to_string(&read).unwrap();
            assert_eq!(serde_json::from_str::<Radius>(&json).unwrap(), read, "{json}");
            assert!(read.faults("radius").is_empty());
        }
        let read = |text| Radius::deserialize(toml::de::ValueDeserializer::parse(text).unwrap());
        for wrong in
            ["{}", "{ unifrom = [1, 2] }", "{ uniform = [1, 2], choice = { radii = [1] } }", "\"big\"", "[1, 2]"]
        {
            assert!(read(wrong).is_err(), "{wrong}");
        }
        for wrong in ["-1.0", "{ uniform = [2, 1] }", "{ choice = { radii = [1, 2], weights = [1] } }"] {
            assert_eq!(read(wrong).unwrap().faults("radius").len(), 1, "{wrong}");
        }
    }
}
