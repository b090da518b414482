//! Columns of numbers one after another, and the places where they begin.

use serde::Serialize;

/// A browser can only look at an array in place if it begins at a multiple of its numbers' size.
const ALIGNMENT: usize = 8;

/// Where a column stands and how to read it. Numbers that are all the same, or that count up, have no array.
#[derive(Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub(super) enum Column {
    /// All the same.
    Constant {
        /// The value.
        constant: u64,
    },
    /// Each one more than the one before.
    Counting {
        /// The first.
        first: u64,
    },
    /// An array.
    Array(Array),
}

/// An array of numbers.
#[derive(Debug, PartialEq, Serialize)]
pub(super) struct Array {
    /// Type of the numbers.
    pub(super) r#type: Type,
    /// Numbers a row.
    pub(super) width: usize,
    /// First byte, counted from the end of the head.
    pub(super) at: usize,
    /// A value is `low + span·x`, with x between 0 and 1 where numbers are whole.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) low: Vec<f64>,
    /// See `low`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) span: Vec<f64>,
}

/// Types of numbers, all little-endian.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Type {
    /// Whole, one byte.
    U8,
    /// Whole, two bytes.
    U16,
    /// Whole, four bytes.
    U32,
    /// Two bytes with a sign, to be divided by 32 767.
    I16,
    /// Two bytes, see [`super::half`].
    F16,
    /// Four bytes.
    F32,
    /// Eight bytes.
    F64,
}

/// The columns of a frame as bytes.
#[derive(Debug, Default)]
pub(super) struct Columns {
    pub(super) bytes: Vec<u8>,
}

impl Columns {
    fn begin(&mut self, r#type: Type, width: usize) -> Array {
        let at = self.bytes.len().next_multiple_of(ALIGNMENT);
        self.bytes.resize(at, 0);
        Array { r#type, width, at, low: Vec::new(), span: Vec::new() }
    }

    fn put<const N: usize>(&mut self, rows: impl Iterator<Item = [u8; N]>) {
        self.bytes.extend(rows.flatten());
    }

    /// Numbers of 16 bits each.
    pub(super) fn sixteen(&mut self, r#type: Type, width: usize, numbers: impl Iterator<Item = u16>) -> Array {
        let array = self.begin(r#type, width);
        self.put(numbers.map(u16::to_le_bytes));
        array
    }

    /// Numbers of 32 bits each.
    pub(super) fn floats(&mut self, width: usize, numbers: impl Iterator<Item = f32>) -> Array {
        let array = self.begin(Type::F32, width);
        self.put(numbers.map(f32::to_le_bytes));
        array
    }

    /// Indices of the corners of triangles.
    pub(super) fn indices(&mut self, numbers: impl Iterator<Item = u32>) -> Array {
        let array = self.begin(Type::U32, 3);
        self.put(numbers.map(u32::to_le_bytes));
        array
    }

    /// Whole numbers, in the smallest type that has them all. Beyond 32 bits a browser only has numbers
    /// that are exact up to 2⁵³.
    pub(super) fn whole(&mut self, numbers: impl Iterator<Item = u64> + Clone) -> Column {
        let (low, high) = numbers.clone().fold((u64::MAX, 0), |(low, high), n| (n.min(low), n.max(high)));
        if low >= high {
            return Column::Constant { constant: high };
        }
        if numbers.clone().zip(low..).all(|(n, expected)| n == expected) {
            return Column::Counting { first: low };
        }
        let r#type = match high {
            0..=0xff => Type::U8,
            0x100..=0xffff => Type::U16,
            0x1_0000..=0xffff_ffff => Type::U32,
            _ => Type::F64,
        };
        let array = self.begin(r#type, 1);
        match r#type {
            Type::U8 => self.put(numbers.map(|n| [n as u8])),
            Type::U16 => self.put(numbers.map(|n| (n as u16).to_le_bytes())),
            Type::U32 => self.put(numbers.map(|n| (n as u32).to_le_bytes())),
            _ => self.put(numbers.map(|n| (n as f64).to_le_bytes())),
        }
        Column::Array(array)
    }
}
