//! Where the chunks of an array are: in a tree (section III.A.1), or in one of the simpler
//! indexes of newer files (section VII).

use crate::bytes::{Budget, Cursor, Source};
use crate::error::Fault;
use crate::layout::{Chunked, Index};

/// A chunk as it is stored.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Chunk {
    pub(crate) address: u64,
    /// Bytes.
    pub(crate) size: u64,
    /// Filters that were not applied, a bit each.
    pub(crate) skipped: u32,
}

/// Chunks side by side that cover an array.
pub(crate) struct Grid {
    /// Number of chunks along each dimension.
    pub(crate) shape: Vec<u64>,
    /// That, if the array were as large as it may become.
    largest: Vec<u64>,
    /// Number of chunks.
    count: usize,
    /// Bytes of a chunk without filters.
    pub(crate) chunk_size: u64,
}

impl Grid {
    /// The chunks of an array of a shape. There are no more of them than bytes in the file.
    pub(crate) fn new(source: Source<'_>, layout: &Chunked, shape: &[u64], largest: &[u64]) -> Result<Self, Fault> {
        if layout.shape.len() != shape.len() {
            let what = format!("chunks of {} dimensions in an array of {}", layout.shape.len(), shape.len());
            return Err(Fault::new(what));
        }
        let along = |shape: &[u64]| shape.iter().zip(&layout.shape).map(|(n, k)| n.div_ceil(*k)).collect::<Vec<_>>();
        let grid = along(shape);
        let count = product(&grid).filter(|count| *count <= source.bytes.len() as u64).ok_or_else(|| {
            Fault::new(format!("an array of {grid:?} chunks cannot be in a file of {} bytes", source.bytes.len()))
        })?;
        let chunk_size = product(&layout.shape).and_then(|count| count.checked_mul(layout.element));
        let chunk_size = chunk_size.filter(|size| usize::try_from(*size).is_ok());
        let chunk_size =
            chunk_size.ok_or_else(|| Fault::new(format!("chunks of the shape {:?} are too large", layout.shape)))?;
        Ok(Self { shape: grid, largest: along(largest), count: count as usize, chunk_size })
    }

    /// The number of a chunk in a grid, in the order of rows.
    fn linear(grid: &[u64], place: impl Iterator<Item = u64>) -> Option<u64> {
        grid.iter().zip(place).try_fold(0_u64, |sum, (n, k)| sum.checked_mul(*n)?.checked_add(k))
    }

    /// The place in the grid of a chunk, by its number.
    pub(crate) fn place(&self, mut number: u64) -> Vec<u64> {
        let mut place = vec![0; self.shape.len()];
        for (k, n) in place.iter_mut().zip(&self.shape).rev() {
            (*k, number) = (number % n, number / n);
        }
        place
    }
}

fn product(sizes: &[u64]) -> Option<u64> {
    sizes.iter().try_fold(1_u64, |product, size| product.checked_mul(*size))
}

/// All chunks of an array in the order of rows. All must be there.
pub(crate) fn locate(source: Source<'_>, layout: &Chunked, grid: &Grid, filtered: bool) -> Result<Vec<Chunk>, Fault> {
    let mut chunks = vec![None; grid.count];
    let plain = |address| Chunk { address, size: grid.chunk_size, skipped: 0 };
    match layout.index {
        _ if grid.count == 0 => {}
        Index::Tree(Some(address)) => read_tree(source, layout, grid, address, &mut chunks)?,
        Index::Single(Some(address), stored) => {
            if grid.count != 1 {
                return Err(Fault::new(format!("one chunk was stored of an array of {} chunks", grid.count)));
            }
            chunks[0] = Some(stored.map_or(plain(address), |(size, skipped)| Chunk { address, size, skipped }));
        }
        Index::Implicit(Some(address)) => {
            if filtered {
                return Err(Fault::new("chunks with filters need an index, and there is none"));
            }
            for (number, chunk) in (0..).zip(&mut chunks) {
                let place = Grid::linear(&grid.largest, grid.place(number).into_iter());
                let offset = place.and_then(|place| place.checked_mul(grid.chunk_size)?.checked_add(address));
                *chunk = offset.map(plain);
            }
        }
        Index::FixedArray(Some(address)) => read_fixed_array(source, grid, address, filtered, &mut chunks)?,
        Index::Tree(None) | Index::Single(None, _) | Index::Implicit(None) | Index::FixedArray(None) => {}
    }
    let missing = |number: usize| {
        let place = grid.place(number as u64);
        Fault::new(format!("the chunk {place:?} of {:?} was never written", grid.shape))
    };
    chunks.into_iter().enumerate().map(|(number, chunk)| chunk.ok_or_else(|| missing(number))).collect()
}

/// Reads a B-tree of version 1.
fn read_tree(
    source: Source<'_>,
    layout: &Chunked,
    grid: &Grid,
    root: u64,
    chunks: &mut [Option<Chunk>],
) -> Result<(), Fault> {
    let mut budget = Budget::new(source);
    let mut nodes = vec![(root, None)];
    while let Some((address, parent)) = nodes.pop() {
        let mut cursor = source.at(address, "a tree of chunks")?;
        cursor.signature(b"TREE", "a tree")?;
        cursor.version(&[1], "the type of the tree of chunks")?;
        let before = cursor;
        let level = u32::from(cursor.u8("the level of a node")?);
        if parent.is_some_and(|parent| parent != level + 1) {
            return Err(before.fault(format!("a node of a tree is of level {level}, which does not fit its parent")));
        }
        let count = cursor.u16("the number of children")?;
        budget.spend(count, &before)?;
        cursor.address_or_none("a sibling")?;
        cursor.address_or_none("a sibling")?;
        for _ in 0..count {
            let entry = cursor;
            let size = cursor.u32("the size of a chunk")?.into();
            let skipped = cursor.u32("the filters of a chunk")?;
            let mut place = Vec::with_capacity(layout.shape.len());
            for (size, n) in layout.shape.iter().zip(&grid.shape) {
                let at = cursor.number(8, "the place of a chunk")?;
                place.push(Some(at / size).filter(|k| at % size == 0 && k < n));
            }
            cursor.skip(8, "the place of a chunk")?;
            let address = cursor.address("the address of a chunk")?;
            if level > 0 {
                nodes.push((address, Some(level)));
                continue;
            }
            // Arrays may have shrunk: chunks outside are of no concern.
            let Some(place) = place.into_iter().collect::<Option<Vec<_>>>() else { continue };
            let number =
                Grid::linear(&grid.shape, place.iter().copied()).and_then(|number| usize::try_from(number).ok());
            match number.and_then(|number| chunks.get_mut(number)) {
                Some(chunk @ None) => *chunk = Some(Chunk { address, size, skipped }),
                _ => return Err(entry.fault(format!("the chunk {place:?} is in the tree twice"))),
            }
        }
    }
    Ok(())
}

/// Reads a fixed array: a header, and one block of entries, which may be in pages.
fn read_fixed_array(
    source: Source<'_>,
    grid: &Grid,
    address: u64,
    filtered: bool,
    chunks: &mut [Option<Chunk>],
) -> Result<(), Fault> {
    let start = source.at(address, "a fixed array")?;
    let mut header = start;
    header.signature(b"FAHD", "a fixed array")?;
    header.version(&[0], "the version of a fixed array")?;
    header.version(&[u8::from(filtered)], "the kind of entries of a fixed array")?;
    let before = header;
    let entry = usize::from(header.u8("the size of an entry")?);
    let plain = usize::from(source.offset_size);
    if if filtered { !(plain + 5..=plain + 12).contains(&entry) } else { entry != plain } {
        return Err(before.fault(format!("entries of a fixed array of {entry} bytes make no sense")));
    }
    let page_bits = u32::from(header.u8("the size of pages")?);
    let entries = header.length("the number of entries")?;
    let block = header.address("the address of entries")?;
    header.checksum(&start, "a fixed array")?;

    let start = source.at(block, "entries of a fixed array")?;
    let mut cursor = start;
    cursor.signature(b"FADB", "the entries of a fixed array")?;
    cursor.version(&[0], "the version of entries of a fixed array")?;
    cursor.skip(1 + plain, "entries of a fixed array")?;
    let page = 1_u64.checked_shl(page_bits).unwrap_or(u64::MAX);
    let pages = if entries > page { entries.div_ceil(page) } else { 0 };
    let too_many = || start.fault(format!("{entries} entries cannot be in the file"));
    let written = cursor.take(usize::try_from(pages.div_ceil(8)).map_err(|_| too_many())?, "flags of pages")?;
    if pages > 0 {
        cursor.checksum(&start, "the head of entries of a fixed array")?;
    }
    for (number, chunk) in (0..).zip(chunks) {
        // Entries are numbered as if the array were as large as it may become.
        let number = Grid::linear(&grid.largest, grid.place(number).into_iter()).filter(|number| *number < entries);
        let number = number.ok_or_else(|| start.fault(format!("{entries} entries are too few for the array")))?;
        let mut offset = u128::from(number) * entry as u128;
        let of_page = number / page;
        if pages > 0 {
            let flags = written.get((of_page / 8) as usize).copied().unwrap_or(0);
            if flags & 0x80 >> (of_page % 8) == 0 {
                continue;
            }
            // A checksum behind every page.
            offset += u128::from(of_page) * 4;
        }
        let mut at = cursor;
        at.skip(usize::try_from(offset).map_err(|_| too_many())?, "entries of a fixed array")?;
        *chunk = read_entry(at, grid, entry, filtered)?;
    }
    Ok(())
}

fn read_entry(mut cursor: Cursor<'_>, grid: &Grid, entry: usize, filtered: bool) -> Result<Option<Chunk>, Fault> {
    let plain = usize::from(cursor.source.offset_size);
    let Some(address) = cursor.address_or_none("the address of a chunk")? else { return Ok(None) };
    if !filtered {
        return Ok(Some(Chunk { address, size: grid.chunk_size, skipped: 0 }));
    }
    let size = cursor.number(entry - plain - 4, "the size of a chunk")?;
    let skipped = cursor.u32("the filters of a chunk")?;
    Ok(Some(Chunk { address, size, skipped }))
}
