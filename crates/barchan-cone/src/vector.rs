//! Vectors of contact quantities, in blocks of four contacts.

use crate::lanes::{F4, LANES, V4};
use barchan_parallel::{reserve_with_slack, reshape};
use glam::DVec3;
use std::ops::Index;

/// A contact-side vector: three numbers a contact, and one a bilateral row. Lanes behind the last
/// contact are zero.
#[derive(Debug, Default, PartialEq)]
pub struct ContactVec {
    /// One number a bilateral row.
    pub rows: Vec<f64>,
    blocks: Vec<V4>,
    len: usize,
}

/// By hand, since `clone_from` is to keep the memory that is there.
impl Clone for ContactVec {
    fn clone(&self) -> Self {
        Self { rows: self.rows.clone(), blocks: self.blocks.clone(), len: self.len }
    }

    fn clone_from(&mut self, from: &Self) {
        reserve_with_slack(&mut self.blocks, from.blocks.len());
        self.rows.clone_from(&from.rows);
        self.blocks.clone_from(&from.blocks);
        self.len = from.len;
    }
}

impl ContactVec {
    /// All zero.
    pub fn zeros(len: usize) -> Self {
        let mut v = Self::default();
        v.resize(len);
        v
    }

    /// From one vector a contact.
    pub fn from_slice(values: &[DVec3]) -> Self {
        let mut v = Self::zeros(values.len());
        for (i, &x) in values.iter().enumerate() {
            v.set(i, x);
        }
        v
    }

    /// Changes the length and sets everything to zero.
    pub fn resize(&mut self, len: usize) {
        self.blocks.clear();
        reserve_with_slack(&mut self.blocks, len.div_ceil(LANES));
        self.blocks.resize(len.div_ceil(LANES), V4::default());
        self.len = len;
    }

    /// Changes the length. It keeps what it holds, unless it grows; beyond the end it is zero.
    pub fn reshape(&mut self, len: usize) {
        reshape(&mut self.blocks, len.div_ceil(LANES));
        let padding = len..len.next_multiple_of(LANES);
        padding.for_each(|i| self.blocks[i / LANES].set_lane(i % LANES, DVec3::ZERO));
        self.len = len;
    }

    /// Number of contacts.
    #[inline]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The vector of contact `i`.
    #[inline(always)]
    pub fn get(&self, i: usize) -> DVec3 {
        debug_assert!(i < self.len);
        self.blocks[i / LANES].lane(i % LANES)
    }

    /// Sets the vector of contact `i`.
    #[inline(always)]
    pub fn set(&mut self, i: usize, v: DVec3) {
        debug_assert!(i < self.len);
        self.blocks[i / LANES].set_lane(i % LANES, v);
    }

    /// The blocks.
    #[inline]
    pub fn blocks(&self) -> &[V4] {
        &self.blocks
    }

    /// The blocks, to write.
    #[inline]
    pub fn blocks_mut(&mut self) -> &mut [V4] {
        &mut self.blocks
    }

    /// All numbers as they lie in memory, for writers that share blocks; see [`Self::flat_index`].
    #[inline]
    pub fn flat_mut(&mut self) -> &mut [f64] {
        let len = self.blocks.len() * 3 * LANES;
        // SAFETY: a block is twelve numbers and nothing else (repr(C), size checked below).
        unsafe { std::slice::from_raw_parts_mut(self.blocks.as_mut_ptr().cast(), len) }
    }

    /// Where component 0, 1 or 2 of contact `i` lies in [`Self::flat_mut`].
    #[inline(always)]
    pub fn flat_index(i: usize, component: usize) -> usize {
        i / LANES * 3 * LANES + component * LANES + i % LANES
    }

    /// All vectors in order.
    pub fn iter(&self) -> impl Iterator<Item = DVec3> + '_ {
        (0..self.len).map(|i| self.get(i))
    }
}

/// One number a contact. Lanes behind the last contact are zero.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ContactScalars {
    blocks: Vec<F4>,
    len: usize,
}

impl ContactScalars {
    /// Changes the length and sets everything to zero.
    pub fn resize(&mut self, len: usize) {
        self.blocks.clear();
        reserve_with_slack(&mut self.blocks, len.div_ceil(LANES));
        self.blocks.resize(len.div_ceil(LANES), F4::default());
        self.len = len;
    }

    /// From one number a contact.
    pub fn from_slice(values: &[f64]) -> Self {
        let mut v = Self::default();
        v.resize(values.len());
        for (i, &x) in values.iter().enumerate() {
            v.set(i, x);
        }
        v
    }

    /// Number of contacts.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Sets the number of contact `i`.
    #[inline(always)]
    pub fn set(&mut self, i: usize, x: f64) {
        self.blocks[i / LANES].0[i % LANES] = x;
    }

    /// The blocks.
    #[inline]
    pub fn blocks(&self) -> &[F4] {
        &self.blocks
    }

    /// The blocks, to write.
    #[inline]
    pub fn blocks_mut(&mut self) -> &mut [F4] {
        &mut self.blocks
    }
}

impl Index<usize> for ContactScalars {
    type Output = f64;
    #[inline(always)]
    fn index(&self, i: usize) -> &f64 {
        &self.blocks[i / LANES].0[i % LANES]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flat_and_blocked_agree() {
        let values: Vec<DVec3> =
            (0..7).map(|i| DVec3::new(i.into(), 10.0 + f64::from(i), 20.0 + f64::from(i))).collect();
        let mut v = ContactVec::from_slice(&values);
        assert_eq!(v.iter().collect::<Vec<_>>(), values);
        for (i, x) in values.iter().enumerate() {
            for c in 0..3 {
                assert_eq!(v.flat_mut()[ContactVec::flat_index(i, c)], x[c]);
            }
        }
        assert_eq!(v.blocks()[1].lane(3), DVec3::ZERO);
    }
}
