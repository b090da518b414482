//! The shape of an array (section IV.A.2.b).

use crate::bytes::Cursor;
use crate::error::Fault;

/// More dimensions than the format allows.
const MOST: usize = 32;

/// A shape, and that up to which the array may grow.
#[derive(Clone, Debug)]
pub(crate) struct Dataspace {
    /// Empty for a single number.
    pub(crate) shape: Vec<u64>,
    pub(crate) largest: Vec<u64>,
    /// Product of the shape.
    pub(crate) count: u64,
}

impl Dataspace {
    pub(crate) fn read(mut cursor: Cursor<'_>) -> Result<Self, Fault> {
        const SCALAR: u8 = 0;
        const NULL: u8 = 2;
        let start = cursor;
        let version = cursor.version(&[1, 2], "the version of a dataspace")?;
        let rank = usize::from(cursor.u8("the number of dimensions")?);
        let flags = cursor.u8("flags")?;
        let kind = cursor.u8("the type of a dataspace")?;
        if version == 1 {
            cursor.skip(4, "a dataspace")?;
        }
        if rank > MOST {
            return Err(start.fault(format!("an array of {rank} dimensions, expected at most {MOST}")));
        }
        if version == 2 && (kind > NULL || (kind == SCALAR && rank > 0)) {
            return Err(start.fault(format!("a dataspace of type {kind} with {rank} dimensions makes no sense")));
        }
        let mut shape = Vec::new();
        for _ in 0..rank {
            shape.push(cursor.length("the shape of an array")?);
        }
        let mut largest = shape.clone();
        if flags & 1 != 0 {
            for size in &mut largest {
                *size = cursor.length("the largest shape of an array")?;
            }
        }
        let count = if version == 2 && kind == NULL {
            Some(0)
        } else {
            shape.iter().try_fold(1_u64, |product, size| product.checked_mul(*size))
        };
        let count = count.ok_or_else(|| start.fault(format!("an array of the shape {shape:?} is too large")))?;
        Ok(Self { shape, largest, count })
    }
}
