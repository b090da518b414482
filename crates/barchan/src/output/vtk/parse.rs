//! Reading our own files: the XML head as far as we write it, and the arrays behind it.
//!
//! This is not a reader of any VTK file. What it does not find where we put it is an error that says so.

use super::blocks::read_array;
use super::format::{FrameTime, Kind, VtkNumber};
use crate::scene::Compression;
use glam::DVec3;

const MARKER: &[u8] = b"<AppendedData encoding=\"raw\">\n_";

/// Heads are short, whatever the frame.
pub(super) const LONGEST_HEAD: usize = 64 * 1024;

/// A file whose head is understood.
pub(super) struct FileHead<'a> {
    pub(super) moment: FrameTime,
    text: &'a str,
    data: &'a [u8],
    compression: Compression,
}

/// The arrays of a file.
pub(super) struct Piece<'a> {
    head: &'a FileHead<'a>,
    items: usize,
    /// Names of arrays with as many values an item.
    per_item: Vec<(&'static str, usize)>,
}

impl<'a> FileHead<'a> {
    /// Reads the head of a `.vtp` file.
    pub(super) fn parse(file: &'a [u8]) -> Result<Self, String> {
        let within = &file[..file.len().min(LONGEST_HEAD)];
        let start = within.windows(MARKER.len()).position(|bytes| bytes == MARKER);
        let start = start.ok_or("it has no appended data: not a frame, or not a whole one")?;
        let text = std::str::from_utf8(&file[..start]).map_err(|_| "its head is not text")?;
        let opening = element(text, "VTKFile").ok_or("it is not a VTK file")?;
        if attribute(opening, "type") != Some("PolyData") || attribute(opening, "header_type") != Some("UInt64") {
            return Err("it is not one of Barchan's frames: expected PolyData with headers of UInt64".into());
        }
        let compression = match attribute(opening, "compressor") {
            None => Compression::None,
            Some(name) => Compression::of_compressor(name)
                .ok_or_else(|| format!("it is compressed with {name:?}, which this program cannot read"))?,
        };
        Ok(Self { moment: moment(text)?, text, data: &file[start + MARKER.len()..], compression })
    }

    /// The arrays, which must be those of this kind of file.
    pub(super) fn piece<T>(&'a self, kind: &Kind<T>) -> Result<Piece<'a>, String> {
        let piece = element(self.text, "Piece").ok_or("it has no piece")?;
        let count = |name: &str| attribute(piece, name).and_then(|text| text.parse::<usize>().ok());
        let items = count(&format!("NumberOf{}", kind.cells)).ok_or("it has no number of cells")?;
        if items.checked_mul(kind.corners) != count("NumberOfPoints") {
            return Err(format!("expected {} points for each of its {items} cells", kind.corners));
        }
        let mut per_item: Vec<_> = kind.data.iter().map(|column| (column.name, column.components)).collect();
        per_item.extend(kind.extra.iter().map(|column| (column.name, column.components)));
        per_item.push((kind.points.name, kind.corners * kind.points.components));
        per_item.extend([("connectivity", kind.corners), ("offsets", 1)]);
        Ok(Piece { head: self, items, per_item })
    }
}

impl Piece<'_> {
    /// Number of bodies, contacts, or polygons.
    pub(super) fn items(&self) -> usize {
        self.items
    }

    /// Whether there is an array of this name.
    pub(super) fn has(&self, name: &str) -> bool {
        self.line(name).is_some()
    }

    /// The tag of an array.
    fn line(&self, name: &str) -> Option<&str> {
        let named = |line: &&str| line.contains("<DataArray ") && attribute(line, "Name") == Some(name);
        self.head.text.lines().find(named)
    }

    /// An array of any type of numbers.
    pub(super) fn numbers(&self, name: &str) -> Result<Vec<f64>, String> {
        let (number, raw) = self.raw(name)?;
        Ok(match number {
            VtkNumber::F32 => words(&raw).map(|bytes| f32::from_le_bytes(bytes).into()).collect(),
            VtkNumber::F64 => words(&raw).map(f64::from_le_bytes).collect(),
            VtkNumber::I32 => words(&raw).map(|bytes| i32::from_le_bytes(bytes).into()).collect(),
            VtkNumber::I64 => words(&raw).map(|bytes| i64::from_le_bytes(bytes) as f64).collect(),
        })
    }

    /// An array of vectors.
    pub(super) fn vectors(&self, name: &str) -> Result<Vec<DVec3>, String> {
        Ok(self.numbers(name)?.chunks_exact(3).map(DVec3::from_slice).collect())
    }

    /// An array of whole numbers.
    pub(super) fn integers(&self, name: &str) -> Result<Vec<i64>, String> {
        let (number, raw) = self.raw(name)?;
        match number {
            VtkNumber::I32 => Ok(words(&raw).map(|bytes| i32::from_le_bytes(bytes).into()).collect()),
            VtkNumber::I64 => Ok(words(&raw).map(i64::from_le_bytes).collect()),
            VtkNumber::F32 | VtkNumber::F64 => {
                Err(format!("its array {name:?} holds fractions, expected whole numbers"))
            }
        }
    }

    /// An array of whole numbers from 0 to 65 535.
    pub(super) fn small(&self, name: &str) -> Result<Vec<u16>, String> {
        let small = |number: i64| {
            u16::try_from(number).map_err(|_| format!("its array {name:?} has {number}, expected 0 to 65535"))
        };
        self.integers(name)?.into_iter().map(small).collect()
    }

    fn raw(&self, name: &str) -> Result<(VtkNumber, Vec<u8>), String> {
        let FileHead { data, compression, .. } = self.head;
        let (_, values) =
            self.per_item.iter().find(|entry| entry.0 == name).ok_or_else(|| format!("it has no array {name:?}"))?;
        let line = self.line(name).ok_or_else(|| format!("it has no array {name:?}"))?;
        let number = attribute(line, "type").and_then(|kind| VtkNumber::ALL.into_iter().find(|n| n.name() == kind));
        let number = number.ok_or_else(|| format!("its array {name:?} has an unknown type of numbers"))?;
        let offset = attribute(line, "offset").and_then(|text| text.parse::<usize>().ok());
        let data = offset.and_then(|offset| data.get(offset..));
        let data = data.ok_or_else(|| format!("its array {name:?} begins after the end of the file"))?;
        let length = self.items.checked_mul(values * number.size());
        let length = length.ok_or_else(|| format!("its array {name:?} is too long for memory"))?;
        let raw = read_array(data, *compression, length).map_err(|what| format!("array {name:?}: {what}"))?;
        Ok((number, raw))
    }
}

fn words<const N: usize>(raw: &[u8]) -> impl Iterator<Item = [u8; N]> + '_ {
    raw.chunks_exact(N).filter_map(|bytes| bytes.try_into().ok())
}

/// When it is, by the field data of a `.vtp` or `.pvtp`.
pub(super) fn moment(text: &str) -> Result<FrameTime, String> {
    let field = |name: &str| {
        let behind = text.split(&format!("Name=\"{name}\"")).nth(1)?;
        behind.split('>').nth(1)?.split('<').next()
    };
    let time = field("TimeValue").and_then(|text| text.parse().ok()).ok_or("it has no time")?;
    let step = field("step").and_then(|text| text.parse().ok()).ok_or("it has no number of steps")?;
    Ok(FrameTime { time, step })
}

/// The inside of the first tag of this name.
pub(super) fn element<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    elements(text, name).next()
}

/// The insides of all tags of this name.
pub(super) fn elements<'a>(text: &'a str, name: &str) -> impl Iterator<Item = &'a str> + use<'a> {
    let opening = format!("<{name} ");
    let starts: Vec<usize> = text.match_indices(&opening).map(|(at, _)| at + opening.len()).collect();
    starts.into_iter().filter_map(|at| text[at..].split('>').next())
}

/// The value of an attribute within a tag.
pub(super) fn attribute<'a>(tag: &'a str, name: &str) -> Option<&'a str> {
    let mut rest = tag;
    // Not the end of a longer name.
    while let Some(at) = rest.find(&format!("{name}=\"")) {
        let value = &rest[at + name.len() + 2..];
        if at == 0 || rest.as_bytes()[at - 1].is_ascii_whitespace() {
            return value.split('"').next();
        }
        rest = value;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_and_attributes_are_found() {
        let text = "<A b=\"1\" xb=\"2\"/><A\n><A xb=\"3\" b=\"4\">5</A>";
        let found: Vec<_> = elements(text, "A").map(|tag| attribute(tag, "b")).collect();
        assert_eq!(found, [Some("1"), Some("4")]);
        assert_eq!((attribute("c=\"", "c"), attribute("bc=\"1\"", "c")), (Some(""), None));
        assert!(element(text, "B").is_none());
    }

    #[test]
    fn what_is_no_frame_is_refused() {
        for text in ["", "<VTKFile type=\"PolyData\">", "x<AppendedData encoding=\"raw\">\n_"] {
            assert!(FileHead::parse(text.as_bytes()).is_err(), "{text}");
        }
        let text = "<VTKFile type=\"PolyData\" header_type=\"UInt64\" compressor=\"other\"><AppendedData \
                    encoding=\"raw\">\n_";
        assert!(FileHead::parse(text.as_bytes()).is_err_and(|error| error.contains("\"other\"")));
    }
}
