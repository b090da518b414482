//! The numbers that may be chosen about a scenario.

/// The values that a parameter may take. All are finite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParameterRange {
    /// Whole numbers from 1 on.
    Count,
    /// Whole numbers from this one on.
    CountFrom(u32),
    /// Whole numbers from 0 on.
    CountOrNone,
    /// 0 for no, 1 for yes.
    Flag,
    /// Greater than zero.
    Positive,
    /// Zero or more.
    NotNegative,
    /// From 0 to 1.
    Fraction,
    /// An angle in degrees, from 0 to below 90.
    Degrees,
}

/// A number that may be chosen about a scenario.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parameter {
    /// Its name.
    pub name: &'static str,
    /// Its value unless chosen.
    pub default: f64,
    /// The values it may take.
    pub range: ParameterRange,
    /// What it means.
    pub help: &'static str,
}

impl Parameter {
    /// Reads and checks a value.
    pub(super) fn parse(&self, text: &str) -> Result<f64, String> {
        // Underscores as in TOML: 10_000.
        let number: f64 =
            text.trim().replace('_', "").parse().map_err(|_| format!("must be a number, but is {text:?}"))?;
        if !number.is_finite() {
            return Err(format!("must be a finite number, but is {number:?}"));
        }
        let counts = |least: u32| {
            let good = number >= f64::from(least) && number.fract() == 0.0 && number < 2f64.powi(53);
            if good { Ok(number) } else { Err(format!("must be a whole number from {least} on, but is {number:?}")) }
        };
        let (good, wanted) = match self.range {
            ParameterRange::Count => return counts(1),
            ParameterRange::CountFrom(least) => return counts(least),
            ParameterRange::CountOrNone => return counts(0),
            ParameterRange::Flag => (number == 0.0 || number == 1.0, "be 0 for no or 1 for yes"),
            ParameterRange::Positive => (number > 0.0, "be greater than 0"),
            ParameterRange::NotNegative => (number >= 0.0, "not be negative"),
            ParameterRange::Fraction => ((0.0..=1.0).contains(&number), "lie between 0 and 1"),
            ParameterRange::Degrees => ((0.0..90.0).contains(&number), "be an angle from 0 to below 90 degrees"),
        };
        if good { Ok(number) } else { Err(format!("must {wanted}, but is {number:?}")) }
    }
}

/// The values of all parameters of a scenario.
#[derive(Clone, Debug)]
pub struct Parameters {
    values: Vec<(&'static str, f64)>,
}

impl Parameters {
    /// Every parameter at its default.
    pub fn defaults(list: &[Parameter]) -> Self {
        Self { values: list.iter().map(|p| (p.name, p.default)).collect() }
    }

    /// Chooses a value.
    ///
    /// # Panics
    /// If the scenario does not declare the parameter.
    pub fn set(&mut self, name: &str, value: f64) {
        self.values.iter_mut().find(|entry| entry.0 == name).expect("a declared parameter").1 = value;
    }

    /// The value of a parameter.
    ///
    /// # Panics
    /// If the scenario does not declare the parameter.
    pub fn get(&self, name: &str) -> f64 {
        self.values.iter().find(|entry| entry.0 == name).expect("a declared parameter").1
    }

    /// The value of a parameter that counts.
    pub fn count(&self, name: &str) -> u64 {
        self.get(name) as u64
    }

    /// The value of a parameter that is a flag.
    pub fn flag(&self, name: &str) -> bool {
        self.get(name) != 0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A well of one box a course was silently one of three.
    #[test]
    fn counts_below_the_least_are_refused() {
        let around = Parameter { name: "around", default: 20.0, range: ParameterRange::CountFrom(3), help: "" };
        assert_eq!(around.parse("3"), Ok(3.0));
        assert_eq!(around.parse("1"), Err("must be a whole number from 3 on, but is 1.0".into()));
        assert!(around.parse("3.5").is_err());
    }
}
