//! Materials and the contact laws of their pairs: a rule, and a table of exceptions.
//!
//! The friction of a pair is bounded by [`MOST_FRICTION`], above which contacts stick in any case.

use barchan_cone::MOST_FRICTION;
use serde::{Deserialize, Serialize};

/// What a body is made of.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Material {
    /// Name by which bodies refer to it.
    pub name: String,
    /// Mass a volume, kg/m³.
    pub density: f64,
    /// Coefficient of friction μ.
    pub friction: f64,
    /// Coefficient of restitution e, 0 to 1.
    pub restitution: f64,
}

impl Default for Material {
    fn default() -> Self {
        Self { name: "default".into(), density: 2500.0, friction: 0.5, restitution: 0.0 }
    }
}

/// How two coefficients become that of a pair.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Combine {
    /// The smaller one.
    Min,
    /// The larger one.
    Max,
    /// The arithmetic mean.
    #[default]
    Mean,
    /// The geometric mean.
    Geometric,
}

impl Combine {
    /// Every one with the name that scene files use, and a few words where that is not enough.
    pub const ALL: &'static [(Self, &'static str, &'static str)] =
        &[(Self::Min, "min", ""), (Self::Max, "max", ""), (Self::Mean, "mean", ""), (Self::Geometric, "geometric", "")];

    fn apply(self, a: f64, b: f64) -> f64 {
        match self {
            Self::Min => a.min(b),
            Self::Max => a.max(b),
            Self::Mean => 0.5 * (a + b),
            Self::Geometric => (a * b).sqrt(),
        }
    }
}

/// The rule for pairs without an exception.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PairRule {
    /// For friction.
    pub friction: Combine,
    /// For restitution.
    pub restitution: Combine,
}

/// The law of one pair of materials, where it departs from the rule.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PairException {
    /// The names of the two materials.
    pub materials: [String; 2],
    /// Friction, if not by the rule.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub friction: Option<f64>,
    /// Restitution, if not by the rule.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub restitution: Option<f64>,
}

/// The law of a contact.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PairLaw {
    /// Coefficient of friction μ, at most [`MOST_FRICTION`].
    pub friction: f64,
    /// Coefficient of restitution e.
    pub restitution: f64,
}

/// All materials, with the law of every pair worked out.
#[derive(Clone, Debug)]
pub struct Materials {
    list: Vec<Material>,
    laws: Vec<PairLaw>,
}

impl Default for Materials {
    fn default() -> Self {
        Self::new(vec![Material::default()], PairRule::default(), &[])
    }
}

impl Materials {
    /// Works out the law of every pair.
    ///
    /// # Panics
    /// If `list` is empty or an exception names a material that is not in it.
    pub fn new(list: Vec<Material>, rule: PairRule, exceptions: &[PairException]) -> Self {
        assert!(!list.is_empty(), "a world needs a material");
        let n = list.len();
        let mut laws = vec![PairLaw::default(); n * n];
        for (i, a) in list.iter().enumerate() {
            for (j, b) in list.iter().enumerate() {
                laws[i * n + j] = PairLaw {
                    friction: rule.friction.apply(a.friction, b.friction),
                    restitution: rule.restitution.apply(a.restitution, b.restitution),
                };
            }
        }
        let find = |name: &str| list.iter().position(|m| m.name == name).expect("an exception names a known material");
        for exception in exceptions {
            let [i, j] = [find(&exception.materials[0]), find(&exception.materials[1])];
            for law in [i * n + j, j * n + i] {
                laws[law].friction = exception.friction.unwrap_or(laws[law].friction);
                laws[law].restitution = exception.restitution.unwrap_or(laws[law].restitution);
            }
        }
        for law in &mut laws {
            if law.friction > MOST_FRICTION {
                law.friction = MOST_FRICTION;
            }
        }
        Self { list, laws }
    }

    /// The material with this index.
    pub fn get(&self, index: u16) -> &Material {
        &self.list[index as usize]
    }

    /// The index of the material with this name.
    pub fn index_of(&self, name: &str) -> Option<u16> {
        self.list.iter().position(|m| m.name == name).map(|i| i as u16)
    }

    /// Whether any two materials bounce.
    pub fn any_bounce(&self) -> bool {
        self.laws.iter().any(|law| law.restitution > 0.0)
    }

    /// The law between two materials.
    #[inline]
    pub fn pair(&self, a: u16, b: u16) -> PairLaw {
        self.laws[a as usize * self.list.len() + b as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rule_and_exception() {
        let make = |name: &str, friction| Material { name: name.into(), friction, ..Material::default() };
        let rule = PairRule { friction: Combine::Geometric, restitution: Combine::Max };
        let glass_on_steel =
            PairException { materials: ["steel".into(), "glass".into()], friction: Some(0.1), restitution: None };
        let materials =
            Materials::new(vec![make("glass", 0.4), make("steel", 0.9), make("sand", 0.1)], rule, &[glass_on_steel]);
        assert_eq!(materials.pair(0, 1).friction, 0.1);
        assert_eq!(materials.pair(1, 0).friction, 0.1);
        assert!((materials.pair(0, 2).friction - 0.2).abs() < 1e-15);
        assert_eq!(materials.index_of("sand"), Some(2));
    }

    #[test]
    fn friction_of_pairs_is_bounded_whatever_the_rule() {
        let make = |friction| Material { friction, ..Material::default() };
        for combine in [Combine::Max, Combine::Mean, Combine::Geometric] {
            let rule = PairRule { friction: combine, ..PairRule::default() };
            let materials = Materials::new(vec![make(1e300), make(1e200), make(0.5)], rule, &[]);
            assert_eq!(materials.pair(0, 1).friction, MOST_FRICTION);
            assert_eq!(materials.pair(0, 0).friction, MOST_FRICTION);
            assert_eq!(materials.pair(2, 2).friction, 0.5);
        }
        let rule = PairRule { friction: Combine::Min, ..PairRule::default() };
        assert_eq!(Materials::new(vec![make(1e300), make(0.5)], rule, &[]).pair(0, 1).friction, 0.5);
        let names = ["default".into(), "default".into()];
        let exception = PairException { materials: names, friction: Some(1e160), restitution: None };
        assert_eq!(Materials::new(vec![make(0.1)], rule, &[exception]).pair(0, 0).friction, MOST_FRICTION);
    }
}
