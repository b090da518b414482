//! Whole columns as bytes: what [`super::pack`] does for single values, for millions of them.
//!
//! A column is its length as eight bytes, and its values without padding, little-endian. It is
//! written by all threads. Reading checks the length against what is there before any memory is
//! asked for.

use super::pack::{Pack, Unpacker};
use barchan_cone::ContactVec;
use barchan_cone::lanes::{F4, LANES, V4};
use glam::{DQuat, DVec3};
use rayon::prelude::*;

/// Values that a thread writes at a time.
const CHUNK: usize = 1 << 14;

/// A value that takes the same number of bytes always.
pub trait Fixed: Copy + Send + Sync {
    /// How many.
    const BYTES: usize;

    /// Writes the value to as many bytes.
    fn put(self, to: &mut [u8]);

    /// Takes it back; `None` if the bytes mean nothing.
    fn get(from: &[u8]) -> Option<Self>;
}

macro_rules! numbers {
    ($($type:ty),*) => {
        $(impl Fixed for $type {
            const BYTES: usize = size_of::<$type>();

            #[inline]
            fn put(self, to: &mut [u8]) {
                to.copy_from_slice(&self.to_le_bytes());
            }

            #[inline]
            fn get(from: &[u8]) -> Option<Self> {
                from.try_into().ok().map(Self::from_le_bytes)
            }
        })*
    };
}
numbers!(u8, i8, u16, u32, u64, f64);

impl<T: Fixed, const N: usize> Fixed for [T; N] {
    const BYTES: usize = N * T::BYTES;

    #[inline]
    fn put(self, to: &mut [u8]) {
        self.into_iter().zip(to.chunks_exact_mut(T::BYTES)).for_each(|(value, to)| value.put(to));
    }

    #[inline]
    fn get(from: &[u8]) -> Option<Self> {
        let mut values = [const { None }; N];
        for (value, from) in values.iter_mut().zip(from.chunks_exact(T::BYTES)) {
            *value = Some(T::get(from)?);
        }
        values.iter().all(Option::is_some).then(|| values.map(|value| value.unwrap_or_else(|| unreachable!())))
    }
}

macro_rules! arrays {
    ($($type:ty, $number:ty, $count:expr, $to:expr, $from:expr;)*) => {
        $(impl Fixed for $type {
            const BYTES: usize = $count * <$number>::BYTES;

            #[inline]
            fn put(self, to: &mut [u8]) {
                $to(self).put(to);
            }

            #[inline]
            fn get(from: &[u8]) -> Option<Self> {
                <[$number; $count]>::get(from).map($from)
            }
        })*
    };
}
arrays! {
    DVec3, f64, 3, |v: DVec3| v.to_array(), DVec3::from_array;
    DQuat, f64, 4, |q: DQuat| q.to_array(), DQuat::from_array;
    F4, f64, LANES, |f: F4| f.0, F4;
    V4, F4, 3, |v: V4| [v.x, v.y, v.z], |[x, y, z]: [F4; 3]| V4 { x, y, z };
}

/// A number with a shift of periods.
impl Fixed for (u32, [i8; 3]) {
    const BYTES: usize = 7;

    fn put(self, to: &mut [u8]) {
        self.0.put(&mut to[..4]);
        self.1.put(&mut to[4..]);
    }

    fn get(from: &[u8]) -> Option<Self> {
        Some((u32::get(from.get(..4)?)?, <[i8; 3]>::get(from.get(4..)?)?))
    }
}

/// A whole column as bytes: [`Pack`] for millions of values.
pub trait PackColumn: Sized {
    /// Appends all of it.
    fn pack_column(&self, out: &mut Vec<u8>);

    /// Takes it back.
    fn unpack_column(from: &mut Unpacker<'_>) -> Option<Self>;
}

impl<T: Fixed> PackColumn for Vec<T> {
    fn pack_column(&self, out: &mut Vec<u8>) {
        (self.len() as u64).pack(out);
        let start = out.len();
        out.resize(start + self.len() * T::BYTES, 0);
        out[start..].par_chunks_mut(CHUNK * T::BYTES).zip(self.par_chunks(CHUNK)).for_each(|(to, from)| {
            to.chunks_exact_mut(T::BYTES).zip(from).for_each(|(to, value)| value.put(to));
        });
    }

    fn unpack_column(from: &mut Unpacker<'_>) -> Option<Self> {
        let length = usize::try_from(from.take::<u64>()?).ok()?;
        let bytes = from.slice(length.checked_mul(T::BYTES)?)?;
        let mut values = Self::with_capacity(length);
        for value in bytes.chunks_exact(T::BYTES) {
            values.push(T::get(value)?);
        }
        Some(values)
    }
}

impl PackColumn for ContactVec {
    fn pack_column(&self, out: &mut Vec<u8>) {
        (self.len() as u64).pack(out);
        self.rows.pack_column(out);
        let start = out.len();
        out.resize(start + self.blocks().len() * V4::BYTES, 0);
        out[start..].par_chunks_mut(CHUNK * V4::BYTES).zip(self.blocks().par_chunks(CHUNK)).for_each(|(to, from)| {
            to.chunks_exact_mut(V4::BYTES).zip(from).for_each(|(to, block)| block.put(to));
        });
    }

    fn unpack_column(from: &mut Unpacker<'_>) -> Option<Self> {
        let length = usize::try_from(from.take::<u64>()?).ok()?;
        let rows = Vec::unpack_column(from)?;
        let bytes = from.slice(length.div_ceil(LANES).checked_mul(V4::BYTES)?)?;
        let mut vector = Self::zeros(length);
        vector.rows = rows;
        for (block, bytes) in vector.blocks_mut().iter_mut().zip(bytes.chunks_exact(V4::BYTES)) {
            *block = V4::get(bytes)?;
        }
        let is_padded = |i: usize| vector.blocks()[i / LANES].lane(i % LANES) == DVec3::ZERO;
        (length..length.next_multiple_of(LANES)).all(is_padded).then_some(vector)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_come_back_and_damage_is_found() {
        let vectors: Vec<DVec3> = (0..40_000).map(|i| DVec3::new(f64::from(i), -0.0, 1.0 / f64::from(i))).collect();
        let impulses = ContactVec::from_slice(&vectors[..4_321]);
        let marks = vec![(7u32, [-1i8, 0, 1]); 3];
        let mut bytes = Vec::new();
        vectors.pack_column(&mut bytes);
        impulses.pack_column(&mut bytes);
        marks.pack_column(&mut bytes);
        let read = |bytes: &[u8]| {
            let mut from = Unpacker::new(bytes);
            let columns = (Vec::<DVec3>::unpack_column(&mut from)?, ContactVec::unpack_column(&mut from)?);
            let marks = Vec::<(u32, [i8; 3])>::unpack_column(&mut from)?;
            from.is_empty().then_some((columns.0, columns.1, marks))
        };
        let bits = |v: &[DVec3]| v.iter().map(|v| v.to_array().map(f64::to_bits)).collect::<Vec<_>>();
        let back = read(&bytes).unwrap();
        assert_eq!(bits(&back.0), bits(&vectors));
        assert_eq!(bits(&back.1.iter().collect::<Vec<_>>()), bits(&vectors[..4_321]));
        assert_eq!(back.2, marks);
        for length in (0..bytes.len()).step_by(9_973) {
            assert!(read(&bytes[..length]).is_none());
        }
        // A length beyond all memory asks for none.
        assert!(Vec::<DVec3>::unpack_column(&mut Unpacker::new(&[0xff; 64])).is_none());
        assert!(ContactVec::unpack_column(&mut Unpacker::new(&[0x7f; 64])).is_none());
    }
}
