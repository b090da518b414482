//! An array: its description, and its elements from wherever they are.

use crate::allowance::DEFLATE_RATIO;
use crate::bytes::Source;
use crate::chunks::{self, Grid};
use crate::dataspace::Dataspace;
use crate::datatype::{Datatype, Kind};
use crate::error::{Error, Fault};
use crate::filters::{self, Filter};
use crate::header::{DATASPACE, DATATYPE, EXTERNAL, FILTERS, Header, LAYOUT};
use crate::layout::{Chunked, Layout};
use std::borrow::Cow;

/// An array of numbers in a file.
pub struct Dataset<'a> {
    path: String,
    source: Source<'a>,
    space: Dataspace,
    datatype: Datatype,
    layout: Layout<'a>,
    filters: Vec<Filter>,
}

impl<'a> Dataset<'a> {
    /// Reads the description of an array.
    pub(crate) fn of(path: &str, source: Source<'a>, header: &Header<'a>) -> Result<Self, Fault> {
        let Some(layout) = header.find(LAYOUT)? else {
            return Err(header.fault("expected a dataset, found an object that is none"));
        };
        let part = |kind, what| header.find(kind)?.ok_or_else(|| header.fault(format!("the dataset has no {what}")));
        let datatype = Datatype::read(part(DATATYPE, "type")?)?;
        let space = Dataspace::read(part(DATASPACE, "shape")?)?;
        if let Some(list) = header.find(EXTERNAL)? {
            return Err(list.fault("the data are in another file, which cannot be read"));
        }
        let filters = header.find(FILTERS)?.map_or(Ok(Vec::new()), filters::read)?;
        Ok(Self { path: path.into(), source, space, datatype, layout: Layout::read(layout)?, filters })
    }

    /// Its size along each dimension; empty if it is a single number.
    pub fn shape(&self) -> &[u64] {
        &self.space.shape
    }

    /// Whether the elements are whole numbers.
    pub fn is_whole(&self) -> bool {
        self.datatype.kind != Kind::Float
    }

    /// The elements, row by row. Whole numbers that a float cannot hold are rounded.
    ///
    /// # Errors
    /// If the elements cannot be read.
    pub fn numbers(&self) -> Result<Vec<f64>, Error> {
        let bytes = self.bytes().map_err(|fault| Error::new(&self.path, fault))?;
        Ok(bytes.chunks_exact(self.datatype.size).map(|element| self.datatype.number(element)).collect())
    }

    /// The elements, row by row, as whole numbers.
    ///
    /// # Errors
    /// If the elements cannot be read, are floats, or too large.
    pub fn integers(&self) -> Result<Vec<i64>, Error> {
        let fail = |fault| Error::new(&self.path, fault);
        if !self.is_whole() {
            return Err(fail(Fault::new("expected whole numbers, found floating-point numbers")));
        }
        let bytes = self.bytes().map_err(fail)?;
        let elements = bytes.chunks_exact(self.datatype.size).enumerate();
        let whole = elements.map(|(k, element)| {
            let too_large = || fail(Fault::new(format!("element {k} is too large, expected less than 2^63")));
            self.datatype.integer(element).ok_or_else(too_large)
        });
        whole.collect()
    }

    /// The elements as they are stored, without filters.
    fn bytes(&self) -> Result<Cow<'a, [u8]>, Fault> {
        let Some(size) = self.space.count.checked_mul(self.datatype.size as u64) else {
            return Err(Fault::new(format!("an array of the shape {:?} is too large", self.shape())));
        };
        match &self.layout {
            _ if size == 0 => Ok(Cow::Borrowed(&[])),
            Layout::Compact(bytes) if bytes.len() as u64 == size => Ok(Cow::Borrowed(bytes)),
            Layout::Compact(bytes) => {
                Err(Fault::new(format!("the header holds {} bytes of data, expected {size}", bytes.len())))
            }
            Layout::Contiguous(Some(address)) => {
                self.source.part(*address, size, "data").map(|part| Cow::Borrowed(part.rest()))
            }
            Layout::Contiguous(None) => Err(Fault::new("the data were never written")),
            Layout::Chunked(layout) => self.gather(layout, size).map(Cow::Owned),
        }
    }

    /// The elements of an array in chunks, `size` bytes in all.
    fn gather(&self, layout: &Chunked, size: u64) -> Result<Vec<u8>, Fault> {
        if layout.element != self.datatype.size as u64 {
            let what = format!("chunks of elements of {} bytes, expected {}", layout.element, self.datatype.size);
            return Err(Fault::new(what));
        }
        let bytes = self.source.bytes.len() as u64;
        let most = bytes.saturating_mul(if self.filters.contains(&Filter::Deflate) { DEFLATE_RATIO } else { 1 });
        if size > most {
            return Err(Fault::new(format!("{size} bytes of data cannot be in a file of {bytes} bytes")));
        }
        let grid = Grid::new(self.source, layout, self.shape(), &self.space.largest)?;
        // Chunks are stored whole, even if the array ends within them.
        if grid.chunk_size > most {
            let what = format!("chunks of {} bytes cannot be in a file of {bytes} bytes", grid.chunk_size);
            return Err(Fault::new(what));
        }
        let chunks = chunks::locate(self.source, layout, &grid, !self.filters.is_empty())?;
        let inflations = self.filters.iter().filter(|filter| **filter == Filter::Deflate).count() as u64;
        self.source.allowance.spend(inflations.saturating_mul(chunks.len() as u64), grid.chunk_size)?;
        let mut data = Vec::new();
        let room = usize::try_from(size).ok().filter(|size| data.try_reserve_exact(*size).is_ok());
        let room = room.ok_or_else(|| Fault::new(format!("there is no memory for {size} bytes of data")))?;
        data.resize(room, 0);
        for (number, chunk) in (0..).zip(chunks) {
            let stored = self.source.part(chunk.address, chunk.size, "a chunk")?;
            let chunk = if self.filters.is_empty() && chunk.size == grid.chunk_size {
                Cow::Borrowed(stored.rest())
            } else {
                Cow::Owned(filters::undo(&self.filters, chunk.skipped, stored, grid.chunk_size as usize)?)
            };
            self.place(layout, &grid.place(number), &chunk, &mut data);
        }
        Ok(data)
    }

    /// Copies a chunk to its place, row by row, without what lies outside the array.
    fn place(&self, layout: &Chunked, place: &[u64], chunk: &[u8], data: &mut [u8]) {
        let element = self.datatype.size;
        let rank = place.len();
        if rank == 0 {
            data.copy_from_slice(&chunk[..data.len()]);
            return;
        }
        // Where the chunk begins, and what of it is inside.
        let start: Vec<u64> = place.iter().zip(&layout.shape).map(|(k, size)| k * size).collect();
        let inside: Vec<u64> =
            (0..rank).map(|d| layout.shape[d].min(self.shape()[d].saturating_sub(start[d]))).collect();
        let run = inside[rank - 1] as usize * element;
        let rows: u64 = inside[..rank - 1].iter().product();
        for row in 0..rows {
            let mut rest = row;
            let mut from = 0;
            let mut to = 0;
            let mut from_stride = 1;
            let mut to_stride = 1;
            for d in (0..rank).rev() {
                let k = if d + 1 == rank { 0 } else { rest % inside[d] };
                if d + 1 < rank {
                    rest /= inside[d];
                }
                from += k * from_stride;
                to += (start[d] + k) * to_stride;
                from_stride *= layout.shape[d];
                to_stride *= self.shape()[d];
            }
            let from = from as usize * element;
            let to = to as usize * element;
            data[to..to + run].copy_from_slice(&chunk[from..from + run]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::allowance::Allowance;
    use crate::layout::Index;
    use miniz_oxide::deflate::compress_to_vec_zlib;

    /// Bytes of a chunk.
    const CHUNK: u64 = 1 << 20;

    /// A file that is one tree with so many chunks, all of them the same bytes: a mebibyte of zeros, deflated.
    /// The array has a byte of each.
    fn bomb(chunks: u16) -> Vec<u8> {
        let stored = compress_to_vec_zlib(&[0; CHUNK as usize], 9);
        let mut file = b"TREE\x01\x00".to_vec();
        file.extend(chunks.to_le_bytes());
        file.extend([0xff; 16]);
        let entry = 4 + 4 + 3 * 8 + 8;
        let address = file.len() as u64 + u64::from(chunks) * entry;
        for k in 0..u64::from(chunks) {
            file.extend((stored.len() as u32).to_le_bytes());
            file.extend(0_u32.to_le_bytes());
            [k, 0, 0, address].iter().for_each(|number| file.extend(number.to_le_bytes()));
        }
        file.extend(stored);
        file
    }

    fn dataset(source: Source<'_>, chunks: u16) -> Dataset<'_> {
        let shape = vec![chunks.into(), 1];
        Dataset {
            path: "bomb".into(),
            source,
            space: Dataspace { count: chunks.into(), largest: shape.clone(), shape },
            datatype: Datatype::byte(),
            layout: Layout::Chunked(Chunked { shape: vec![1, CHUNK], element: 1, index: Index::Tree(Some(0)) }),
            filters: vec![Filter::Deflate],
        }
    }

    #[test]
    fn a_small_file_does_not_inflate_without_limit() {
        let bytes = bomb(1);
        let allowance = Allowance::new(bytes.len() as u64);
        let source = Source { bytes: &bytes, base: 0, offset_size: 8, length_size: 8, allowance: &allowance };
        assert_eq!(dataset(source, 1).numbers().unwrap(), [0.0]);
        // Another array with the same data, and so on.
        let error = dataset(source, 1).numbers().unwrap_err().to_string();
        assert!(error.starts_with("bomb: 1 chunks of 1048576 bytes are more than the "), "{error}");

        let bytes = bomb(1000);
        let allowance = Allowance::new(bytes.len() as u64);
        let source = Source { bytes: &bytes, base: 0, offset_size: 8, length_size: 8, allowance: &allowance };
        let error = dataset(source, 1000).numbers().unwrap_err().to_string();
        assert!(error.starts_with("bomb: 1000 chunks of 1048576 bytes are more than the "), "{error}");
    }
}
