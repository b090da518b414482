//! What the elements of an array are (section IV.A.2.d): whole numbers and IEEE floats.

use crate::bytes::Cursor;
use crate::error::Fault;

/// The type of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Datatype {
    pub(crate) kind: Kind,
    /// Bytes.
    pub(crate) size: usize,
    big_endian: bool,
}

/// What kind of number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Unsigned,
    Signed,
    Float,
}

/// Names of the classes of types, by their number.
const CLASSES: &[&str] = &[
    "whole numbers",
    "floating-point numbers",
    "times",
    "strings",
    "bit fields",
    "opaque bytes",
    "compounds",
    "references",
    "enumerations",
    "lists of variable length",
    "arrays",
];

impl Datatype {
    /// The smallest of all.
    #[cfg(test)]
    pub(crate) fn byte() -> Self {
        Self { kind: Kind::Unsigned, size: 1, big_endian: false }
    }

    pub(crate) fn read(mut cursor: Cursor<'_>) -> Result<Self, Fault> {
        let start = cursor;
        // The version is in the upper half. It changes nothing for numbers.
        let class = cursor.u8("a datatype")? & 0x0f;
        let bits = cursor.number(3, "a datatype")?;
        let size = cursor.u32("the size of a datatype")?;
        if class > 1 {
            let name = CLASSES.get(usize::from(class)).copied().unwrap_or("elements of an unknown type");
            return Err(start.fault(format!("expected numbers, found {name}")));
        }
        let offset = cursor.u16("a datatype")?;
        let precision = cursor.u16("a datatype")?;
        let whole = offset == 0 && u32::from(precision) == size.saturating_mul(8);
        let big_endian = bits & 1 != 0;
        let kind = match (class, size) {
            (0, 1 | 2 | 4 | 8) if whole => {
                if bits & 0x08 != 0 {
                    Kind::Signed
                } else {
                    Kind::Unsigned
                }
            }
            (1, 4 | 8) if whole => {
                // Where exponent and mantissa are, and the sign.
                let mut format = [0; 4];
                for part in &mut format {
                    *part = cursor.u8("a floating-point type")?;
                }
                let bias = cursor.u32("a floating-point type")?;
                let sign = bits >> 8 & 0xff;
                let implied = bits >> 4 & 3 == 2 && bits & 0x40 == 0;
                let ieee = match size {
                    4 => (format, bias, sign) == ([23, 8, 0, 23], 127, 31),
                    _ => (format, bias, sign) == ([52, 11, 0, 52], 1023, 63),
                };
                if !(ieee && implied) {
                    return Err(start.fault("floating-point numbers that are not those of IEEE 754 cannot be read"));
                }
                Kind::Float
            }
            _ => {
                let what = format!(
                    "{} of {size} bytes, {precision} bits of which are used, cannot be read; expected whole numbers of \
                     1, 2, 4 or 8 bytes or IEEE 754 floats of 4 or 8",
                    CLASSES[usize::from(class)]
                );
                return Err(start.fault(what));
            }
        };
        Ok(Self { kind, size: size as usize, big_endian })
    }

    /// The bits of an element.
    fn bits(&self, element: &[u8]) -> u64 {
        let join = |bits: u64, byte: &u8| bits << 8 | u64::from(*byte);
        if self.big_endian { element.iter().fold(0, join) } else { element.iter().rev().fold(0, join) }
    }

    /// An element as a float. Of whole numbers, the nearest.
    pub(crate) fn number(&self, element: &[u8]) -> f64 {
        let bits = self.bits(element);
        match (self.kind, self.size) {
            (Kind::Float, 4) => f32::from_bits(bits as u32).into(),
            (Kind::Float, _) => f64::from_bits(bits),
            (Kind::Unsigned, _) => bits as f64,
            (Kind::Signed, _) => self.extended(bits) as f64,
        }
    }

    /// An element as a whole number, if it is one that fits.
    pub(crate) fn integer(&self, element: &[u8]) -> Option<i64> {
        let bits = self.bits(element);
        match self.kind {
            Kind::Float => None,
            Kind::Unsigned => i64::try_from(bits).ok(),
            Kind::Signed => Some(self.extended(bits)),
        }
    }

    /// With the sign in all upper bits.
    fn extended(&self, bits: u64) -> i64 {
        let unused = 64 - 8 * self.size as u32;
        (bits << unused) as i64 >> unused
    }
}
