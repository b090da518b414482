//! Formulas of the time: `0.01*sin(2*pi*50*t)` as a value.
//!
//! A text is read once into a short program, which is run on a stack of fixed size: no value allocates. The text
//! stays with it and is what is written, compared and sent. A plain number is a formula, too.
//!
//! | in a formula | means |
//! |---|---|
//! | `1`, `0.5`, `1e-3` | numbers |
//! | `t`, `pi`, `e` | the time in s, π, and Euler's number |
//! | `+ - * / ^` | as usual: `-2^2` is −4, `2^3^2` is 2⁹ |
//! | `< <= > >= == !=` | 1 if it holds, else 0; they bind less than `+` |
//! | functions | [`function_names`] |

mod parse;
mod program;

pub use parse::FormulaError;
pub(crate) use program::smooth;

use super::pack::{Pack, Unpacker};
use glam::DVec3;
use program::{FUNCTIONS, Op};
use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::str::FromStr;

/// The names of all functions that formulas have.
pub fn function_names() -> impl Iterator<Item = &'static str> {
    FUNCTIONS.iter().map(|(name, _)| *name)
}

/// A formula of the time.
///
/// ```
/// use barchan::util::formula::Formula;
///
/// let shake: Formula = "0.01*sin(2*pi*50*t)".parse().unwrap();
/// assert!((shake.at(0.005) - 0.01).abs() < 1e-15);
/// let error = "0.01*sine(t)".parse::<Formula>().unwrap_err().to_string();
/// assert!(error.starts_with("column 6: unknown function \"sine\"; did you mean \"sin\"?"));
/// ```
#[derive(Clone)]
pub struct Formula {
    text: String,
    program: Vec<Op>,
}

impl Formula {
    /// Its value at a time.
    #[inline]
    pub fn at(&self, t: f64) -> f64 {
        program::run(&self.program, t)
    }

    /// As it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The number that it is, if it was given as one.
    fn as_number(&self) -> Option<f64> {
        self.text.parse().ok().filter(|x: &f64| format!("{x:?}") == self.text)
    }
}

impl FromStr for Formula {
    type Err = FormulaError;

    fn from_str(text: &str) -> Result<Self, FormulaError> {
        Ok(Self { text: text.to_owned(), program: parse::program(text)? })
    }
}

impl From<f64> for Formula {
    fn from(x: f64) -> Self {
        Self { text: format!("{x:?}"), program: vec![Op::Number(x)] }
    }
}

impl PartialEq for Formula {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl fmt::Debug for Formula {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Formula").field(&self.text).finish()
    }
}

impl Serialize for Formula {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.as_number() {
            Some(x) => serializer.serialize_f64(x),
            None => serializer.serialize_str(&self.text),
        }
    }
}

impl<'de> Deserialize<'de> for Formula {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either;
        impl Visitor<'_> for Either {
            type Value = Formula;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number or a formula of the time t in quotes")
            }

            fn visit_f64<E: de::Error>(self, x: f64) -> Result<Formula, E> {
                Ok(x.into())
            }

            fn visit_i64<E: de::Error>(self, x: i64) -> Result<Formula, E> {
                Ok((x as f64).into())
            }

            fn visit_u64<E: de::Error>(self, x: u64) -> Result<Formula, E> {
                Ok((x as f64).into())
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Formula, E> {
                text.parse().map_err(E::custom)
            }
        }
        deserializer.deserialize_any(Either)
    }
}

impl Pack for Formula {
    fn pack(&self, out: &mut Vec<u8>) {
        self.text.pack(out);
    }

    fn unpack(from: &mut Unpacker<'_>) -> Option<Self> {
        from.take::<String>()?.parse().ok()
    }
}

/// A vector of three formulas.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct VectorFormula(pub [Formula; 3]);

impl VectorFormula {
    /// Its value at a time.
    #[inline]
    pub fn at(&self, t: f64) -> DVec3 {
        let [x, y, z] = &self.0;
        DVec3::new(x.at(t), y.at(t), z.at(t))
    }
}

impl From<DVec3> for VectorFormula {
    fn from(v: DVec3) -> Self {
        Self(v.to_array().map(Formula::from))
    }
}

impl Pack for VectorFormula {
    fn pack(&self, out: &mut Vec<u8>) {
        self.0.pack(out);
    }

    fn unpack(from: &mut Unpacker<'_>) -> Option<Self> {
        from.take().map(Self)
    }
}

#[cfg(test)]
mod tests;
