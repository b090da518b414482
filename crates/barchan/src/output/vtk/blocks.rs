//! Arrays as bytes of a file: raw after their length, or in compressed blocks.
//!
//! VTK's appended data: without compression an array is its length in bytes and its bytes. With
//! compression it is the number of blocks, the size of a block, the size of the last one if that is
//! smaller (0 if not), the compressed size of each, and then the compressed blocks one after another.
//! All of these numbers are `UInt64`.

use crate::scene::Compression;
use miniz_oxide::deflate::compress_to_vec_zlib;
use miniz_oxide::inflate::decompress_to_vec_zlib_with_limit;
use std::io::{self, Seek, SeekFrom, Write};

/// Bytes of a block, about: whole items.
const BLOCK: usize = 256 * 1024;

/// Bytes of a block that tell whether LZ4 would make it smaller by a fifth.
const SAMPLE: usize = 4 * 1024;

/// Deflate's level: the fastest that is much smaller than LZ4.
const ZLIB_LEVEL: u8 = 3;

/// No compressor makes more of a byte than this.
const EXPANSION: usize = 1100;

impl Compression {
    /// VTK's name of what takes it apart.
    pub(super) fn compressor(self) -> Option<&'static str> {
        match self {
            Self::Lz4 => Some("vtkLZ4DataCompressor"),
            Self::Zlib => Some("vtkZLibDataCompressor"),
            Self::None => None,
        }
    }

    /// The one that VTK calls so.
    pub(super) fn of_compressor(name: &str) -> Option<Self> {
        [Self::Lz4, Self::Zlib].into_iter().find(|one| one.compressor() == Some(name))
    }

    fn compress(self, block: &[u8], out: &mut Vec<u8>) {
        match self {
            Self::Lz4 => {
                // Digits of measured numbers are noise, and most blocks hold them: a look at the middle
                // saves the time of trying.
                let middle = block.len().saturating_sub(SAMPLE) / 2;
                let sample = &block[middle..block.len().min(middle + SAMPLE)];
                lz4(sample, out);
                if out.len() * 5 > sample.len() * 4 { store_lz4(block, out) } else { lz4(block, out) }
            }
            Self::Zlib => *out = compress_to_vec_zlib(block, ZLIB_LEVEL),
            Self::None => {
                out.clear();
                out.extend_from_slice(block);
            }
        }
    }

    /// The block again, which must have this length.
    fn expand(self, packed: &[u8], length: usize) -> Option<Vec<u8>> {
        if length > packed.len().saturating_mul(EXPANSION) {
            return None;
        }
        let block = match self {
            Self::Lz4 => lz4_flex::block::decompress(packed, length).ok()?,
            Self::Zlib => decompress_to_vec_zlib_with_limit(packed, length).ok()?,
            Self::None => packed.to_vec(),
        };
        Some(block).filter(|block| block.len() == length)
    }
}

fn lz4(block: &[u8], out: &mut Vec<u8>) {
    out.resize(lz4_flex::block::get_maximum_output_size(block.len()), 0);
    let length = lz4_flex::block::compress_into(block, out).expect("the room is the largest it can need");
    out.truncate(length);
}

/// A block of LZ4 that is its bytes as they are: one run of literals, whose length stands before it,
/// fifteen in the token and the rest in bytes of 255 and a last one that is less.
fn store_lz4(block: &[u8], out: &mut Vec<u8>) {
    out.clear();
    match block.len().checked_sub(15) {
        None => out.push((block.len() as u8) << 4),
        Some(rest) => {
            out.push(15 << 4);
            out.resize(1 + rest / 255, 255);
            out.push((rest % 255) as u8);
        }
    }
    out.extend_from_slice(block);
}

/// Memory that serves array after array.
#[derive(Default)]
pub(super) struct Scratch {
    raw: Vec<u8>,
    packed: Vec<u8>,
}

/// Writes an array of `items` items, `item_bytes` each. `put` appends the bytes of a range of them.
/// Returns how many bytes of the file it takes.
pub(super) fn write_array(
    out: &mut (impl Write + Seek),
    compression: Compression,
    scratch: &mut Scratch,
    (items, item_bytes): (usize, usize),
    put: &dyn Fn(&mut Vec<u8>, std::ops::Range<usize>),
) -> io::Result<u64> {
    let per_block = (BLOCK / item_bytes).max(1);
    let blocks = items.div_ceil(per_block);
    let mut head: Vec<u64> = vec![(items * item_bytes) as u64];
    if compression != Compression::None {
        let last = items % per_block;
        let block_bytes = if blocks == 0 { 0 } else { per_block * item_bytes };
        head = vec![blocks as u64, block_bytes as u64, (last * item_bytes) as u64];
        head.resize(3 + blocks, 0);
    }
    let start = out.stream_position()?;
    write_numbers(out, &head)?;
    let mut bytes = 8 * head.len() as u64;
    for block in 0..blocks {
        scratch.raw.clear();
        put(&mut scratch.raw, block * per_block..items.min((block + 1) * per_block));
        if compression == Compression::None {
            out.write_all(&scratch.raw)?;
            bytes += scratch.raw.len() as u64;
        } else {
            compression.compress(&scratch.raw, &mut scratch.packed);
            out.write_all(&scratch.packed)?;
            bytes += scratch.packed.len() as u64;
            head[3 + block] = scratch.packed.len() as u64;
        }
    }
    if compression != Compression::None && blocks > 0 {
        // Sizes are known only now.
        out.seek(SeekFrom::Start(start))?;
        write_numbers(out, &head)?;
        out.seek(SeekFrom::Start(start + bytes))?;
    }
    Ok(bytes)
}

fn write_numbers(out: &mut impl Write, numbers: &[u64]) -> io::Result<()> {
    numbers.iter().try_for_each(|number| out.write_all(&number.to_le_bytes()))
}

/// The `length` bytes of an array that begins with `data`; an error says what is wrong.
pub(super) fn read_array(data: &[u8], compression: Compression, length: usize) -> Result<Vec<u8>, &'static str> {
    const SHORT: &str = "an array ends with the file";
    let number = |k: usize| -> Result<usize, &'static str> {
        let bytes = data.get(8 * k..8 * k + 8).and_then(|bytes| bytes.try_into().ok()).ok_or(SHORT)?;
        usize::try_from(u64::from_le_bytes(bytes)).map_err(|_| "the length of an array is out of range")
    };
    const WRONG: &str = "the length of an array does not fit the number of points or cells";
    if compression == Compression::None {
        return if number(0)? == length {
            data.get(8..).and_then(|data| data.get(..length)).map(<[u8]>::to_vec).ok_or(SHORT)
        } else {
            Err(WRONG)
        };
    }
    let blocks = number(0)?;
    let block_bytes = number(1)?;
    let last = number(2)?;
    let whole = if last > 0 { blocks.saturating_sub(1) } else { blocks };
    if whole.checked_mul(block_bytes).and_then(|bytes| bytes.checked_add(last)) != Some(length) {
        return Err(WRONG);
    }
    let mut at = blocks.checked_add(3).and_then(|numbers| numbers.checked_mul(8)).filter(|&at| at <= data.len());
    let mut raw = Vec::new();
    for block in 0..blocks {
        let here = at.ok_or(SHORT)?;
        let end = here.checked_add(number(3 + block)?).ok_or(SHORT)?;
        let packed = data.get(here..end).ok_or(SHORT)?;
        let bytes = if block < whole { block_bytes } else { last };
        raw.extend(compression.expand(packed, bytes).ok_or("a compressed block is damaged")?);
        at = Some(end);
    }
    // A last block may be announced where there is none.
    if raw.len() == length { Ok(raw) } else { Err(WRONG) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    /// Bytes that repeat themselves now and then.
    fn put(out: &mut Vec<u8>, range: std::ops::Range<usize>) {
        range.for_each(|k| out.extend_from_slice(&((k / 3 * 2_654_435_761 % 1000) as u64).to_le_bytes()));
    }

    #[test]
    fn what_cannot_be_compressed_is_stored() {
        let noise: Vec<u8> = (0..300_000u64).map(|k| (k.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as u8).collect();
        for length in [0, 1, 14, 15, 16, 269, 270, 271, 4096, 300_000] {
            let mut out = Vec::new();
            store_lz4(&noise[..length], &mut out);
            assert!(out.len() <= length + 2 + length / 255, "{length}");
            assert_eq!(Compression::Lz4.expand(&out, length).as_deref(), Some(&noise[..length]));
            Compression::Lz4.compress(&noise[..length], &mut out);
            assert!(out.len() <= length + 2 + length / 255, "{length}");
            assert_eq!(Compression::Lz4.expand(&out, length).as_deref(), Some(&noise[..length]));
        }
        let mut out = Vec::new();
        Compression::Lz4.compress(&[7; 300_000], &mut out);
        assert!(out.len() < 3000);
    }

    #[test]
    fn a_last_block_of_no_blocks_is_an_error() {
        let head: Vec<u8> = [0u64, 64, 8].iter().flat_map(|number| number.to_le_bytes()).collect();
        assert!(read_array(&head, Compression::Lz4, 8).is_err());
        assert_eq!(read_array(&[0; 24], Compression::Lz4, 0), Ok(Vec::new()));
    }

    #[test]
    fn arrays_come_back_whatever_their_length() {
        let per_block = BLOCK / 8;
        for compression in [Compression::Lz4, Compression::Zlib, Compression::None] {
            for items in [0, 1, per_block - 1, per_block, per_block + 1, 3 * per_block] {
                let mut expected = Vec::new();
                put(&mut expected, 0..items);
                let mut file = Cursor::new(b"before".to_vec());
                file.seek(SeekFrom::End(0)).unwrap();
                let bytes = write_array(&mut file, compression, &mut Scratch::default(), (items, 8), &put).unwrap();
                let file = file.into_inner();
                assert_eq!(file.len() as u64, 6 + bytes);
                assert!(compression == Compression::None || items < 100 || bytes < 6 * items as u64, "{bytes}");
                assert_eq!(read_array(&file[6..], compression, expected.len()).as_ref(), Ok(&expected));
                assert!(read_array(&file[6..], compression, expected.len() + 8).is_err());
                // Whatever is missing or damaged is an error and not a panic.
                for cut in (6..file.len()).step_by(1 + file.len() / 50) {
                    assert!(items == 0 || read_array(&file[6..cut], compression, expected.len()).is_err());
                }
                for k in 0..file.len().min(60) - 6 {
                    let mut damaged = file.clone();
                    damaged[6 + k] ^= 0x81;
                    let read = read_array(&damaged[6..], compression, expected.len());
                    assert!(read.is_err() || read.is_ok_and(|read| read.len() == expected.len()));
                }
            }
        }
    }
}
