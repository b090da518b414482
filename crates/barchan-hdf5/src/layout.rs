//! Where the elements of an array are (section IV.A.2.i).

use crate::bytes::Cursor;
use crate::error::Fault;

/// How an array is stored.
#[derive(Clone)]
pub(crate) enum Layout<'a> {
    /// Within the header.
    Compact(&'a [u8]),
    /// In one piece, if it was ever written.
    Contiguous(Option<u64>),
    /// In pieces of one shape.
    Chunked(Chunked),
}

/// An array in chunks.
#[derive(Clone)]
pub(crate) struct Chunked {
    /// The shape of a chunk.
    pub(crate) shape: Vec<u64>,
    /// Bytes of an element.
    pub(crate) element: u64,
    pub(crate) index: Index,
}

/// How the chunks of an array are found. Without an address none was ever written.
#[derive(Clone, Copy)]
pub(crate) enum Index {
    Tree(Option<u64>),
    /// There is one chunk only; its size and the filters that were not applied, if it has any.
    Single(Option<u64>, Option<(u64, u32)>),
    /// One behind the other.
    Implicit(Option<u64>),
    FixedArray(Option<u64>),
}

impl<'a> Layout<'a> {
    pub(crate) fn read(mut cursor: Cursor<'a>) -> Result<Self, Fault> {
        let start = cursor;
        let version = cursor.version(&[3, 4, 5], "the version of a data layout")?;
        match cursor.u8("the class of a data layout")? {
            0 => {
                let size = cursor.u16("the size of compact data")?;
                cursor.take(size.into(), "compact data").map(Self::Compact)
            }
            1 => cursor.address_or_none("the address of data").map(Self::Contiguous),
            2 if version == 3 => read_chunked_3(cursor).map(Self::Chunked),
            2 => read_chunked_4(cursor).map(Self::Chunked),
            3 => Err(start.fault("a virtual dataset, whose data are in other files, cannot be read")),
            class => Err(start.fault(format!("a data layout of class {class}, expected 0, 1 or 2"))),
        }
    }
}

/// The shape of chunks, of which the last size is that of an element.
fn read_shape(cursor: &mut Cursor<'_>, rank: u8, size: usize) -> Result<(Vec<u64>, u64), Fault> {
    let start = *cursor;
    let mut shape = Vec::new();
    for _ in 0..rank {
        shape.push(cursor.number(size, "the shape of chunks")?);
    }
    match shape.pop() {
        Some(element) if element > 0 && shape.iter().all(|size| *size > 0) => Ok((shape, element)),
        _ => Err(start.fault("a shape of chunks with nothing in them")),
    }
}

fn read_chunked_3(mut cursor: Cursor<'_>) -> Result<Chunked, Fault> {
    let rank = cursor.u8("the number of dimensions of chunks")?;
    let index = Index::Tree(cursor.address_or_none("the address of the tree of chunks")?);
    let (shape, element) = read_shape(&mut cursor, rank, 4)?;
    Ok(Chunked { shape, element, index })
}

fn read_chunked_4(mut cursor: Cursor<'_>) -> Result<Chunked, Fault> {
    const PARTIAL_UNFILTERED: u8 = 1;
    const FILTERED: u8 = 2;
    let start = cursor;
    let flags = cursor.u8("flags of chunks")?;
    if flags & PARTIAL_UNFILTERED != 0 {
        return Err(start.fault("chunks at the edge of the array without filters, unlike others, cannot be read"));
    }
    let rank = cursor.u8("the number of dimensions of chunks")?;
    let before = cursor;
    let size = cursor.u8("the size of sizes of chunks")?;
    if !(1..=8).contains(&size) {
        return Err(before.fault(format!("sizes of chunks are of {size} bytes, expected 1 to 8")));
    }
    let (shape, element) = read_shape(&mut cursor, rank, size.into())?;
    let before = cursor;
    let kind = cursor.u8("the type of the index of chunks")?;
    let mut filtered = None;
    match kind {
        1 if flags & FILTERED != 0 => {
            filtered = Some((cursor.length("the size of a chunk")?, cursor.u32("the filters of a chunk")?));
        }
        3 => cursor.skip(1, "the size of pages")?,
        1 | 2 => {}
        4 => {
            let what = "chunks in an extensible array, of an array that may grow, cannot be read; write it with a fixed \
                        size, or without the option for the latest version of the format";
            return Err(before.fault(what));
        }
        5 => {
            let what = "chunks in a B-tree of version 2, of an array that may grow, cannot be read; write it with a \
                        fixed size, or without the option for the latest version of the format";
            return Err(before.fault(what));
        }
        _ => return Err(before.fault(format!("an index of chunks of type {kind}, expected 1 to 5"))),
    }
    let address = cursor.address_or_none("the address of chunks")?;
    let index = match kind {
        1 => Index::Single(address, filtered),
        2 => Index::Implicit(address),
        _ => Index::FixedArray(address),
    };
    Ok(Chunked { shape, element, index })
}
