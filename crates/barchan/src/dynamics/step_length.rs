//! How long steps are: fixed, or chosen as the run goes.

use serde::de::{Error, Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

/// How long steps are.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum StepLength {
    /// Chosen in every step from what happens (`step/length.rs`).
    #[default]
    Auto,
    /// Always this long, s.
    Fixed(f64),
}

impl StepLength {
    /// The name of [`StepLength::Auto`] in scene files.
    pub const AUTO: &'static str = "auto";

    /// The length, where it is fixed.
    pub fn fixed(self) -> Option<f64> {
        match self {
            Self::Auto => None,
            Self::Fixed(h) => Some(h),
        }
    }
}

impl From<f64> for StepLength {
    fn from(h: f64) -> Self {
        Self::Fixed(h)
    }
}

impl Serialize for StepLength {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Auto => serializer.serialize_str(Self::AUTO),
            Self::Fixed(h) => serializer.serialize_f64(*h),
        }
    }
}

impl<'de> Deserialize<'de> for StepLength {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct NumberOrAuto;

        impl Visitor<'_> for NumberOrAuto {
            type Value = StepLength;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "a number or {:?}", StepLength::AUTO)
            }

            fn visit_f64<E: Error>(self, h: f64) -> Result<StepLength, E> {
                Ok(StepLength::Fixed(h))
            }

            fn visit_i64<E: Error>(self, h: i64) -> Result<StepLength, E> {
                Ok(StepLength::Fixed(h as f64))
            }

            fn visit_u64<E: Error>(self, h: u64) -> Result<StepLength, E> {
                Ok(StepLength::Fixed(h as f64))
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<StepLength, E> {
                if text == StepLength::AUTO {
                    Ok(StepLength::Auto)
                } else {
                    // A type, not a value: the messages of scene files say what was found.
                    Err(E::invalid_type(Unexpected::Str(text), &self))
                }
            }
        }

        deserializer.deserialize_any(NumberOrAuto)
    }
}
