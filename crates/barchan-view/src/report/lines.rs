//! Lines of a file of any length, one at a time.

use std::io::{self, BufRead};

/// Bytes of a line that are kept. Rows of a table have a few hundred; what is longer is damage, and is
/// not taken into memory.
const LONGEST: usize = 64 << 10;

/// Reads the next whole line, without its end, into `line`. There is none if the file ends before it
/// does: whoever writes it is not done. Of a line that is too long only the beginning is kept, and that is
/// told.
pub(super) fn next(reader: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<Option<Length>> {
    line.clear();
    let mut length = Length::Whole;
    loop {
        let piece = match reader.fill_buf() {
            Ok(piece) => piece,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        if piece.is_empty() {
            return Ok(None);
        }
        let end = piece.iter().position(|byte| *byte == b'\n');
        let part = &piece[..end.unwrap_or(piece.len())];
        let kept = part.len().min(LONGEST - line.len());
        line.extend_from_slice(&part[..kept]);
        if kept < part.len() {
            length = Length::TooLong;
        }
        let used = part.len() + usize::from(end.is_some());
        reader.consume(used);
        if end.is_some() {
            return Ok(Some(length));
        }
    }
}

/// How much of a line is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Length {
    Whole,
    TooLong,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_whole_or_too_long_or_none() {
        let long = "x".repeat(LONGEST + 1);
        let text = format!("a\n\n{}\n{long}\nb\nhalf", &long[1..]);
        // Pieces of any size give the same lines.
        for size in [1, 3, 1000, 1 << 20] {
            let mut reader = io::BufReader::with_capacity(size, text.as_bytes());
            let mut line = Vec::new();
            let mut found = Vec::new();
            while let Some(length) = next(&mut reader, &mut line).unwrap() {
                found.push((line.len(), length));
            }
            let whole = |bytes| (bytes, Length::Whole);
            assert_eq!(found, [whole(1), whole(0), whole(LONGEST), (LONGEST, Length::TooLong), whole(1)], "{size}");
        }
    }
}
