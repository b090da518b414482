//! What a VTK file of polygonal data looks like: an XML head that names each array with its offset,
//! then the arrays, as [`super::blocks`] writes them.
//!
//! All our files are of one pattern: items, each of which is one cell with a fixed number of corners
//! (a body is a vertex, a contact a line, a wall has quads), and columns with a value an item. Columns
//! stream from the table to the disk: a million bodies need one buffer. Offsets depend on how well
//! blocks compress, so the head is written first with room for them, and once more at the end.

use super::blocks::{Scratch, write_array};
use crate::frame::Frame;
use crate::scene::Compression;
use std::io::{self, Seek, SeekFrom, Write};
use std::ops::Range;

/// A type of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum VtkNumber {
    F32,
    F64,
    I32,
    I64,
}

impl VtkNumber {
    /// Every one.
    pub(super) const ALL: [Self; 4] = [Self::F32, Self::F64, Self::I32, Self::I64];

    /// VTK's name of it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::F32 => "Float32",
            Self::F64 => "Float64",
            Self::I32 => "Int32",
            Self::I64 => "Int64",
        }
    }

    /// Bytes.
    pub(super) fn size(self) -> usize {
        match self {
            Self::F32 | Self::I32 => 4,
            Self::F64 | Self::I64 => 8,
        }
    }

    /// The type of indices below `count`, itself included.
    fn of_indices(count: usize) -> Self {
        if i32::try_from(count).is_ok() { Self::I32 } else { Self::I64 }
    }
}

/// A column of a table `T`.
pub(super) struct VtkColumn<T: 'static> {
    pub(super) name: &'static str,
    pub(super) number: VtkNumber,
    pub(super) components: usize,
    /// Appends the values of a range of items.
    pub(super) put: fn(&mut Vec<u8>, &T, Range<usize>),
}

impl<T> VtkColumn<T> {
    /// Bytes of one value.
    pub(super) fn bytes(&self) -> usize {
        self.components * self.number.size()
    }
}

/// A column that does not come from the table.
pub(super) struct ExtraColumn {
    pub(super) name: &'static str,
    pub(super) number: VtkNumber,
    pub(super) components: usize,
}

impl ExtraColumn {
    /// Bytes of one value.
    pub(super) fn bytes(&self) -> usize {
        self.components * self.number.size()
    }
}

/// Appends values of an extra column, by its place, for a range of items.
pub(super) type PutExtra<'a> = &'a dyn Fn(usize, &mut Vec<u8>, Range<usize>);

/// A kind of file, which shows a table `T`.
pub(super) struct Kind<T: 'static> {
    /// The element that holds the cells: `Verts`, `Lines` or `Polys`.
    pub(super) cells: &'static str,
    /// Corners of a cell.
    pub(super) corners: usize,
    /// Corners of the cells. Each item has as many values as corners.
    pub(super) points: VtkColumn<T>,
    /// What is known of an item.
    pub(super) data: &'static [VtkColumn<T>],
    /// What is known of an item beside the table, in some files.
    pub(super) extra: &'static [ExtraColumn],
    /// Number of items.
    pub(super) len: fn(&T) -> usize,
}

/// Appends numbers.
pub(super) fn put_f32(out: &mut Vec<u8>, numbers: impl IntoIterator<Item = f64>) {
    numbers.into_iter().for_each(|x| out.extend_from_slice(&(x as f32).to_le_bytes()));
}

/// Appends numbers with all their digits.
pub(super) fn put_f64(out: &mut Vec<u8>, numbers: impl IntoIterator<Item = f64>) {
    numbers.into_iter().for_each(|x| out.extend_from_slice(&x.to_le_bytes()));
}

/// Appends small whole numbers.
pub(super) fn put_i32(out: &mut Vec<u8>, numbers: impl IntoIterator<Item = i32>) {
    numbers.into_iter().for_each(|x| out.extend_from_slice(&x.to_le_bytes()));
}

/// Appends ids.
pub(super) fn put_ids(out: &mut Vec<u8>, numbers: impl IntoIterator<Item = u64>) {
    numbers.into_iter().for_each(|x| out.extend_from_slice(&x.to_le_bytes()));
}

/// When it is.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct FrameTime {
    pub(super) time: f64,
    pub(super) step: u64,
}

impl From<&Frame> for FrameTime {
    fn from(frame: &Frame) -> Self {
        Self { time: frame.time, step: frame.step }
    }
}

impl<T> Kind<T> {
    /// The element that holds the columns. A body is its point.
    pub(super) fn data_element(&self) -> &'static str {
        if self.corners == 1 { "PointData" } else { "CellData" }
    }

    /// Bytes of a file of so many items, if nothing is compressed.
    pub(super) fn raw_bytes(&self, items: usize, with_extra: bool) -> u64 {
        let index = VtkNumber::of_indices(items * self.corners).size();
        let extra = if with_extra { self.extra } else { &[] };
        let columns: usize = self.data.iter().map(VtkColumn::bytes).sum();
        let columns = columns + extra.iter().map(ExtraColumn::bytes).sum::<usize>();
        let item = columns + self.corners * (self.points.bytes() + index) + index;
        let head = self.head(items, FrameTime::default(), Compression::None, &[], with_extra);
        (head.len() + 8 * (self.data.len() + extra.len() + 3) + item * items) as u64
    }

    /// Writes a file.
    pub(super) fn write(
        &self,
        out: &mut (impl Write + Seek),
        table: &T,
        moment: FrameTime,
        compression: Compression,
    ) -> io::Result<()> {
        self.write_with(out, table, None, moment, compression)
    }

    /// Writes a file, with the extra columns if there is something to put there.
    pub(super) fn write_with(
        &self,
        out: &mut (impl Write + Seek),
        table: &T,
        extra: Option<PutExtra<'_>>,
        moment: FrameTime,
        compression: Compression,
    ) -> io::Result<()> {
        let items = (self.len)(table);
        let corners = self.corners;
        let start = out.stream_position()?;
        out.write_all(self.head(items, moment, compression, &[], extra.is_some()).as_bytes())?;
        let mut scratch = Scratch::default();
        let mut offset = 0;
        let mut offsets = Vec::new();
        let mut array = |item_bytes: usize, put: &dyn Fn(&mut Vec<u8>, Range<usize>)| {
            offsets.push(offset);
            offset += write_array(out, compression, &mut scratch, (items, item_bytes), put)?;
            io::Result::Ok(())
        };
        for column in self.data {
            array(column.bytes(), &|out, range| (column.put)(out, table, range))?;
        }
        for (k, column) in self.extra.iter().enumerate() {
            if let Some(put) = extra {
                array(column.bytes(), &|out, range| put(k, out, range))?;
            }
        }
        array(corners * self.points.bytes(), &|out, range| (self.points.put)(out, table, range))?;
        // Corners stand in the order of their cells.
        let index = VtkNumber::of_indices(items * corners);
        array(corners * index.size(), &|out, range| {
            put_indices(out, index, range.start * corners..range.end * corners);
        })?;
        array(index.size(), &|out, range| put_indices(out, index, range.map(|k| (k + 1) * corners)))?;
        out.write_all(b"\n  </AppendedData>\n</VTKFile>\n")?;
        let end = out.stream_position()?;
        out.seek(SeekFrom::Start(start))?;
        out.write_all(self.head(items, moment, compression, &offsets, extra.is_some()).as_bytes())?;
        out.seek(SeekFrom::Start(end))?;
        Ok(())
    }

    /// The XML before the arrays. Its length does not depend on the offsets.
    fn head(
        &self,
        items: usize,
        moment: FrameTime,
        compression: Compression,
        offsets: &[u64],
        with_extra: bool,
    ) -> String {
        let mut offsets = offsets.iter();
        let mut element = |name: &str, number: VtkNumber, components: usize| {
            let offset = offsets.next().unwrap_or(&0);
            format!(
                "        <DataArray type=\"{}\" Name=\"{name}\" NumberOfComponents=\"{components}\" \
                 format=\"appended\" offset=\"{offset:020}\"/>\n",
                number.name()
            )
        };
        let mut data: String = self.data.iter().map(|c| element(c.name, c.number, c.components)).collect();
        if with_extra {
            data.extend(self.extra.iter().map(|c| element(c.name, c.number, c.components)));
        }
        let points = element(self.points.name, self.points.number, self.points.components);
        let index = VtkNumber::of_indices(items * self.corners);
        let cells = element("connectivity", index, 1) + &element("offsets", index, 1);
        let count = |kind: &str| if kind == self.cells { items } else { 0 };
        let kind = self.cells;
        let section = self.data_element();
        format!(
            "{}  <PolyData>\n{}    \
             <Piece NumberOfPoints=\"{}\" NumberOfVerts=\"{}\" NumberOfLines=\"{}\" NumberOfStrips=\"0\" \
             NumberOfPolys=\"{}\">\n      \
               <{section}>\n{data}      </{section}>\n      \
               <Points>\n{points}      </Points>\n      \
               <{kind}>\n{cells}      </{kind}>\n    \
             </Piece>\n  \
             </PolyData>\n  \
             <AppendedData encoding=\"raw\">\n_",
            opening("PolyData", compression),
            field_data(moment),
            items * self.corners,
            count("Verts"),
            count("Lines"),
            count("Polys"),
        )
    }

    /// The file that names the pieces of a frame, one a rank.
    pub(super) fn pieces_text(
        &self,
        moment: FrameTime,
        pieces: impl Iterator<Item = String>,
        with_extra: bool,
    ) -> String {
        let element = |name: &str, number: VtkNumber, components: usize| {
            let number = number.name();
            format!("      <PDataArray type=\"{number}\" Name=\"{name}\" NumberOfComponents=\"{components}\"/>\n")
        };
        let points = element(self.points.name, self.points.number, self.points.components);
        let mut data: String = self.data.iter().map(|c| element(c.name, c.number, c.components)).collect();
        if with_extra {
            data.extend(self.extra.iter().map(|c| element(c.name, c.number, c.components)));
        }
        let pieces: String = pieces.map(|piece| format!("    <Piece Source=\"{piece}\"/>\n")).collect();
        let section = self.data_element();
        format!(
            "{}  <PPolyData GhostLevel=\"0\">\n{}    \
             <P{section}>\n{data}    </P{section}>\n    \
             <PPoints>\n{points}    </PPoints>\n\
             {pieces}  \
             </PPolyData>\n\
             </VTKFile>\n",
            opening("PPolyData", Compression::None),
            field_data(moment),
        )
    }
}

fn put_indices(out: &mut Vec<u8>, number: VtkNumber, indices: impl Iterator<Item = usize>) {
    match number {
        VtkNumber::I32 => indices.for_each(|k| out.extend_from_slice(&(k as i32).to_le_bytes())),
        _ => indices.for_each(|k| out.extend_from_slice(&(k as i64).to_le_bytes())),
    }
}

fn opening(kind: &str, compression: Compression) -> String {
    let compressor = compression.compressor().map(|name| format!(" compressor=\"{name}\""));
    format!(
        "<?xml version=\"1.0\"?>\n\
         <VTKFile type=\"{kind}\" version=\"1.0\" byte_order=\"LittleEndian\" header_type=\"UInt64\"{}>\n",
        compressor.unwrap_or_default()
    )
}

fn field_data(FrameTime { time, step }: FrameTime) -> String {
    format!(
        "    <FieldData>\n      \
           <DataArray type=\"Float64\" Name=\"TimeValue\" NumberOfTuples=\"1\" format=\"ascii\">{time:?}</DataArray>\n      \
           <DataArray type=\"Int64\" Name=\"step\" NumberOfTuples=\"1\" format=\"ascii\">{step}</DataArray>\n    \
         </FieldData>\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indices_have_the_room_that_they_need() {
        assert_eq!(VtkNumber::of_indices(2_147_483_647), VtkNumber::I32);
        assert_eq!(VtkNumber::of_indices(2_147_483_648), VtkNumber::I64);
        let mut bytes = Vec::new();
        put_indices(&mut bytes, VtkNumber::I32, 1..3);
        put_indices(&mut bytes, VtkNumber::I64, 3..4);
        assert_eq!(bytes, [1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0]);
    }
}
