//! What is done to a chunk before it is written, and is undone here (section IV.A.2.l).

use crate::bytes::Cursor;
use crate::checksum::fletcher32;
use crate::error::Fault;
use miniz_oxide::inflate::decompress_to_vec_zlib_with_limit;

/// Bytes of Fletcher's checksum.
const CHECKSUM: usize = 4;

/// A filter that can be undone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Filter {
    Deflate,
    /// First bytes of all elements, second bytes of all, ...; the size of an element.
    Shuffle(usize),
    /// A checksum behind the data.
    Fletcher32,
}

/// The filters of an array in the order in which they were applied.
pub(crate) fn read(mut cursor: Cursor<'_>) -> Result<Vec<Filter>, Fault> {
    let version = cursor.version(&[1, 2], "the version of the list of filters")?;
    let count = cursor.u8("the number of filters")?;
    cursor.skip(if version == 1 { 6 } else { 0 }, "the list of filters")?;
    let mut filters = Vec::new();
    for _ in 0..count {
        let start = cursor;
        let id = cursor.u16("a filter")?;
        let named = version == 1 || id >= 256;
        let name = if named { cursor.u16("the length of the name of a filter")? } else { 0 };
        cursor.skip(2, "flags of a filter")?;
        let values = cursor.u16("the number of parameters of a filter")?;
        let padded = if version == 1 { usize::from(name).next_multiple_of(8) } else { name.into() };
        let name = cursor.take(padded, "the name of a filter")?;
        let first = cursor.rest().get(..4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]));
        let padding = if version == 1 { usize::from(values % 2) } else { 0 };
        cursor.skip(4 * (usize::from(values) + padding), "parameters of a filter")?;
        filters.push(match (id, first) {
            (1, _) => Filter::Deflate,
            (2, Some(size)) if values > 0 && size > 0 => Filter::Shuffle(size as usize),
            (2, _) => return Err(start.fault("the filter \"shuffle\" without the size of elements")),
            (3, _) => Filter::Fletcher32,
            _ => {
                let name = name.split(|byte| *byte == 0).next().unwrap_or_default().escape_ascii();
                let what = format!(
                    "the filter {id} ({}) cannot be undone; expected deflate, shuffle or fletcher32",
                    match id {
                        4 => "szip".into(),
                        5 => "nbit".into(),
                        6 => "scaleoffset".into(),
                        _ => format!("\"{name}\""),
                    }
                );
                return Err(start.fault(what));
            }
        });
    }
    Ok(filters)
}

/// Undoes the filters of a chunk of `size` bytes, but for those whose bit in `skipped` is set.
pub(crate) fn undo(filters: &[Filter], skipped: u32, stored: Cursor<'_>, size: usize) -> Result<Vec<u8>, Fault> {
    // What is longer than this cannot become the chunk any more.
    let limit = size.saturating_add(CHECKSUM * filters.len());
    let mut data = stored.rest().to_vec();
    for (k, filter) in filters.iter().enumerate().rev() {
        if k < 32 && skipped >> k & 1 != 0 {
            continue;
        }
        data = match filter {
            Filter::Deflate => decompress_to_vec_zlib_with_limit(&data, limit).map_err(|error| {
                stored.fault(format!("a chunk cannot be inflated ({}): expected {size} bytes", describe(&error)))
            })?,
            Filter::Shuffle(element) => unshuffle(&data, *element),
            Filter::Fletcher32 => checked(data).map_err(|what| stored.fault(what))?,
        };
    }
    if data.len() == size {
        return Ok(data);
    }
    Err(stored.fault(format!("a chunk has {} bytes without its filters, expected {size}", data.len())))
}

fn describe(error: &miniz_oxide::inflate::DecompressError) -> &'static str {
    use miniz_oxide::inflate::TINFLStatus;
    match error.status {
        TINFLStatus::HasMoreOutput => "it is too long",
        TINFLStatus::Adler32Mismatch => "its checksum is wrong",
        TINFLStatus::FailedCannotMakeProgress | TINFLStatus::NeedsMoreInput => "it is cut off",
        _ => "it is damaged",
    }
}

fn unshuffle(data: &[u8], element: usize) -> Vec<u8> {
    let count = data.len() / element;
    let mut out = vec![0; data.len()];
    for k in 0..element.min(data.len()) {
        for i in 0..count {
            out[i * element + k] = data[k * count + i];
        }
    }
    // What is no whole element stays.
    let whole = count * element;
    out[whole..].copy_from_slice(&data[whole..]);
    out
}

/// The data without the checksum behind them, if it is right.
fn checked(mut data: Vec<u8>) -> Result<Vec<u8>, String> {
    let Some((content, stored)) = data.split_last_chunk::<CHECKSUM>() else {
        return Err(format!("a chunk of {} bytes has no checksum", data.len()));
    };
    let stored = u32::from_le_bytes(*stored);
    let computed = fletcher32(content);
    // Before version 1.6.3 the bytes of each half were the other way round on some machines.
    let swapped = (computed & 0x00ff_00ff) << 8 | (computed & 0xff00_ff00) >> 8;
    if ![computed, swapped].contains(&stored) {
        return Err(format!("a chunk is damaged: its checksum is {stored:08x}, expected {computed:08x}"));
    }
    data.truncate(data.len() - CHECKSUM);
    Ok(data)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_of_elements_are_brought_together() {
        assert_eq!(unshuffle(&[1, 4, 2, 5, 3, 6, 7], 3), [1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(unshuffle(&[1, 2], 1), [1, 2]);
        assert_eq!(unshuffle(&[1, 2], 3), [1, 2]);
        assert_eq!(unshuffle(&[], 8), []);
    }
}
