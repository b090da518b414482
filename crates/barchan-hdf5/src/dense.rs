//! Groups of more than a few links in newer files: the links are objects of a fractal heap
//! (section III.G), and a B-tree of version 2 (III.A.2) tells where. Both are read while they are
//! one block each, which suffices for dozens of links; larger ones are refused.

use crate::bytes::{Cursor, Source};
use crate::error::Fault;
use crate::group::{Found, read_link};

/// Records of a tree of links by name: a hash, and the id of an object of the heap.
const LINKS_BY_NAME: u8 = 5;
const HASH: usize = 4;

/// Looks a name up among the links that a heap and a tree at these addresses keep.
pub(crate) fn find(source: Source<'_>, heap: u64, tree: u64, name: &[u8]) -> Result<Found, Fault> {
    let heap = Heap::read(source, heap)?;
    let mut records = Records::read(source, tree)?;
    for _ in 0..records.count {
        let mut record = records.rest.split(records.size, "a record of a tree")?;
        record.skip(HASH, "the hash of a name")?;
        let found = read_link(heap.object(record)?, name)?;
        if !matches!(found, Found::Nothing) {
            return Ok(found);
        }
    }
    Ok(Found::Nothing)
}

/// The only block of a heap.
struct Heap<'a> {
    block: Cursor<'a>,
    id_size: usize,
    /// Bytes of the place of an object.
    offset_size: usize,
}

impl<'a> Heap<'a> {
    fn read(source: Source<'a>, address: u64) -> Result<Self, Fault> {
        let start = source.at(address, "a fractal heap")?;
        let mut cursor = start;
        cursor.signature(b"FRHP", "a fractal heap")?;
        cursor.version(&[0], "the version of a fractal heap")?;
        let id_size = usize::from(cursor.u16("the size of ids")?);
        if cursor.u16("the size of filters")? != 0 {
            return Err(start.fault("a fractal heap with filters cannot be read"));
        }
        cursor.skip(1 + 4, "a fractal heap")?;
        // Amounts of space and numbers of objects.
        let offset = usize::from(source.offset_size);
        let length = usize::from(source.length_size);
        cursor.skip(2 * offset + 10 * length + 2, "a fractal heap")?;
        let size = cursor.length("the size of the first block")?;
        cursor.length("the size of the largest block")?;
        let bits = cursor.u16("the size of the heap")?;
        cursor.skip(2, "the number of rows")?;
        let root = cursor.address("the address of the first block")?;
        let rows = cursor.u16("the number of rows")?;
        cursor.checksum(&start, "a fractal heap")?;
        if rows != 0 {
            let what = "the group has so many links that their fractal heap is of several blocks, which cannot be read; \
                        write the file without the option for the latest version of the format";
            return Err(start.fault(what));
        }
        let block = source.part(root, size, "a block of a fractal heap")?;
        { block }.signature(b"FHDB", "a block of a fractal heap")?;
        let offset_size = usize::from(bits).div_ceil(8);
        if offset_size > 8 || id_size <= 1 + offset_size || id_size > 1 + offset_size + 8 {
            return Err(start.fault(format!("ids of {id_size} bytes in a heap of 2^{bits} bytes make no sense")));
        }
        Ok(Self { block, id_size, offset_size })
    }

    /// The object of an id. Places count from the start of the block.
    fn object(&self, mut id: Cursor<'a>) -> Result<Cursor<'a>, Fault> {
        let start = id;
        if id.u8("the id of an object")? & 0xf0 != 0 {
            return Err(start.fault("an object outside the blocks of a fractal heap cannot be read"));
        }
        let offset = id.number(self.offset_size, "the place of an object")?;
        let length = id.number(self.id_size - 1 - self.offset_size, "the length of an object")?;
        let [offset, length] = [offset, length].map(|number| usize::try_from(number).unwrap_or(usize::MAX));
        let mut block = self.block;
        block.skip(offset, "a block of a fractal heap")?;
        block.split(length, "an object of a fractal heap")
    }
}

/// The only node of a tree.
struct Records<'a> {
    rest: Cursor<'a>,
    size: usize,
    count: u16,
}

impl<'a> Records<'a> {
    fn read(source: Source<'a>, address: u64) -> Result<Self, Fault> {
        let start = source.at(address, "a tree of links")?;
        let mut cursor = start;
        cursor.signature(b"BTHD", "a tree of links")?;
        cursor.version(&[0], "the version of a tree of links")?;
        cursor.version(&[LINKS_BY_NAME], "the type of a tree of links")?;
        let node_size = cursor.u32("the size of nodes")?;
        let size = usize::from(cursor.u16("the size of records")?);
        let depth = cursor.u16("the depth of a tree")?;
        cursor.skip(2, "a tree of links")?;
        let root = cursor.address_or_none("the address of a node")?;
        let count = cursor.u16("the number of records")?;
        cursor.length("the number of records")?;
        cursor.checksum(&start, "a tree of links")?;
        if depth != 0 {
            let what = "the group has so many links that their tree has several nodes, which cannot be read; write the \
                        file without the option for the latest version of the format";
            return Err(start.fault(what));
        }
        let Some(root) = root else { return Ok(Self { rest: start, size, count: 0 }) };
        let start = source.part(root, node_size.into(), "a node of a tree of links")?;
        let mut rest = start;
        rest.signature(b"BTLF", "a leaf of a tree")?;
        rest.version(&[0], "the version of a leaf of a tree")?;
        rest.version(&[LINKS_BY_NAME], "the type of a tree of links")?;
        let mut end = rest;
        end.skip(usize::from(count).saturating_mul(size), "records of a tree")?;
        end.checksum(&start, "a leaf of a tree")?;
        Ok(Self { rest, size, count })
    }
}
