//! Values as bytes, for messages between ranks and for checkpoints: little-endian, one after the
//! other, no padding.
//!
//! What is read back may be damaged or come from another version: reading checks its bounds and
//! says `None`.

use glam::{DQuat, DVec3};

/// The number of the layout of messages: another one, other bytes.
pub const LAYOUT: u8 = 3;

/// A value that can travel.
pub trait Pack: Sized {
    /// Appends the value.
    fn pack(&self, out: &mut Vec<u8>);

    /// Takes it back.
    fn unpack(from: &mut Unpacker<'_>) -> Option<Self>;
}

/// Bytes that values are taken from.
#[derive(Clone, Debug)]
pub struct Unpacker<'a>(&'a [u8]);

impl<'a> Unpacker<'a> {
    /// Reads from the beginning.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// Whether nothing is left.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The next value.
    pub fn take<T: Pack>(&mut self) -> Option<T> {
        T::unpack(self)
    }

    /// The next `length` bytes.
    pub fn slice(&mut self, length: usize) -> Option<&'a [u8]> {
        let (head, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(head)
    }

    /// The next bytes.
    fn bytes<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (head, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(*head)
    }
}

macro_rules! numbers {
    ($($type:ty),*) => {
        $(impl Pack for $type {
            #[inline]
            fn pack(&self, out: &mut Vec<u8>) {
                out.extend_from_slice(&self.to_le_bytes());
            }

            #[inline]
            fn unpack(from: &mut Unpacker<'_>) -> Option<Self> {
                from.bytes().map(Self::from_le_bytes)
            }
        })*
    };
}
numbers!(u8, i8, u16, u32, u64, f64);

impl<T: Pack, const N: usize> Pack for [T; N] {
    #[inline]
    fn pack(&self, out: &mut Vec<u8>) {
        self.iter().for_each(|value| value.pack(out));
    }

    #[inline]
    fn unpack(from: &mut Unpacker<'_>) -> Option<Self> {
        let mut values = [const { None }; N];
        for value in &mut values {
            *value = Some(T::unpack(from)?);
        }
        // Each has been set.
        Some(values.map(|value| value.unwrap_or_else(|| unreachable!())))
    }
}

macro_rules! vectors {
    ($($type:ty),*) => {
        $(impl Pack for $type {
            #[inline]
            fn pack(&self, out: &mut Vec<u8>) {
                self.to_array().pack(out);
            }

            #[inline]
            fn unpack(from: &mut Unpacker<'_>) -> Option<Self> {
                from.take().map(Self::from_array)
            }
        })*
    };
}
vectors!(DVec3, DQuat);

impl Pack for bool {
    fn pack(&self, out: &mut Vec<u8>) {
        u8::from(*self).pack(out);
    }

    fn unpack(from: &mut Unpacker<'_>) -> Option<Self> {
        match from.take::<u8>()? {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        }
    }
}

impl<T: Pack> Pack for Option<T> {
    fn pack(&self, out: &mut Vec<u8>) {
        self.is_some().pack(out);
        if let Some(value) = self {
            value.pack(out);
        }
    }

    fn unpack(from: &mut Unpacker<'_>) -> Option<Self> {
        if from.take::<bool>()? { from.take().map(Some) } else { Some(None) }
    }
}

impl Pack for String {
    fn pack(&self, out: &mut Vec<u8>) {
        (self.len() as u64).pack(out);
        out.extend_from_slice(self.as_bytes());
    }

    fn unpack(from: &mut Unpacker<'_>) -> Option<Self> {
        let length = usize::try_from(from.take::<u64>()?).ok()?;
        String::from_utf8(from.slice(length)?.to_vec()).ok()
    }
}

/// Something that is read and written as text travels as text. For what is rare.
pub fn pack_text(value: &impl serde::Serialize, out: &mut Vec<u8>) {
    let text = serde_json::to_vec(value).unwrap_or_default();
    (text.len() as u32).pack(out);
    out.extend_from_slice(&text);
}

/// Takes back what [`pack_text`] wrote.
pub fn unpack_text<T: serde::de::DeserializeOwned>(from: &mut Unpacker<'_>) -> Option<T> {
    let length = from.take::<u32>()? as usize;
    serde_json::from_slice(from.slice(length)?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_come_back_and_damage_is_found() {
        let mut bytes = Vec::new();
        7u8.pack(&mut bytes);
        [-0.0f64, f64::MIN_POSITIVE].pack(&mut bytes);
        DVec3::new(1.0, 2.0, 3.0).pack(&mut bytes);
        DQuat::from_xyzw(0.1, 0.2, 0.3, 0.4).pack(&mut bytes);
        pack_text(&vec!["a", "b"], &mut bytes);
        assert_eq!(bytes.len(), 1 + 16 + 24 + 32 + 4 + 9);
        let read = |bytes: &[u8]| {
            let mut from = Unpacker::new(bytes);
            let numbers = (from.take::<u8>()?, from.take::<[f64; 2]>()?.map(f64::to_bits), from.take::<DVec3>()?);
            let rest = (from.take::<DQuat>()?, unpack_text::<Vec<String>>(&mut from)?);
            from.is_empty().then_some((numbers, rest))
        };
        let (numbers, rest) = read(&bytes).unwrap();
        assert_eq!(numbers, (7, [1 << 63, f64::MIN_POSITIVE.to_bits()], DVec3::new(1.0, 2.0, 3.0)));
        assert_eq!(rest, (DQuat::from_xyzw(0.1, 0.2, 0.3, 0.4), vec!["a".to_owned(), "b".to_owned()]));
        for length in 0..bytes.len() {
            assert_eq!(read(&bytes[..length]), None);
        }
    }
}
