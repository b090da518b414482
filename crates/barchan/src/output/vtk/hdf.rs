//! All frames of a run in one file: bodies as polygonal data that change with time, in VTK's own
//! layout of HDF5 files (VTKHDF 2).
//!
//! Arrays of all frames stand one behind the other: `Points`, and each column in `PointData`. The
//! group `Steps` tells for each frame its time, how many points it has (by `PartOffsets`, the place
//! of that number in `NumberOfPoints`) and where they begin (`PointOffsets`). Cells have a group a
//! kind. That of a body is a vertex and nothing else, so the vertices of the largest frame, which are
//! numbered from 0, are those of every other frame as well: they are stored once, and every frame
//! begins to read them at 0 (`CellOffsets`, `ConnectivityIdOffsets`).
//!
//! The number of bodies of all frames is known before the first is read, so one frame at a time is in
//! memory. Contacts and walls are left out: a file of this kind is one data set, and they would be
//! others.

use super::bodies::{BODIES, put_worn};
use super::format::{VtkColumn, VtkNumber};
use super::reader::{FrameError, StoredFrames};
use crate::frame::{FrameBodies, Worn};
use barchan_hdf5::{FilePlan, Slot, Writer};
use std::collections::HashMap;
use std::io::{self, Seek, Write};

/// Rows that are put together before they are written.
const ROWS: usize = 64 * 1024;

/// Kinds of cells, in the order of the columns of offsets.
const CELLS: [&str; 4] = ["Vertices", "Lines", "Polygons", "Strips"];

/// Why frames could not become a VTKHDF file.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// A frame cannot be read.
    #[error(transparent)]
    Read(#[from] FrameError),
    /// The file cannot be written.
    #[error(transparent)]
    Write(#[from] io::Error),
}

/// Writes the bodies of all frames of a run as a `.vtkhdf` file. The writer must be at its start.
///
/// # Errors
/// If the run has no frames, if one cannot be read, or if the writer fails.
pub fn write_vtkhdf(out: impl Write + Seek, stored: &StoredFrames) -> Result<(), ExportError> {
    let frames = stored.len();
    if frames == 0 {
        return Err(FrameError::NoSuchFrame { index: 0, count: 0 }.into());
    }
    let counts = (0..frames).map(|index| stored.body_count(index)).collect::<Result<Vec<_>, _>>()?;
    let total = counts.iter().sum::<usize>() as u64;
    let most = counts.iter().copied().max().unwrap_or(0);

    let mut plan = FilePlan::new();
    plan.text_attribute("VTKHDF", "Type", "PolyData")?;
    plan.integer_attribute("VTKHDF", "Version", &[2], &[2, 2])?;
    plan.integer_attribute("VTKHDF/Steps", "NSteps", &[], &[frames as i64])?;
    let names = BODIES.data.iter().map(|column| column.name);
    let extra = if stored.looks().is_some() { BODIES.extra } else { &[] };
    let names: Vec<&str> = names.chain(extra.iter().map(|column| column.name)).collect();
    let small = plan_small(&mut plan, stored.times(), &counts, &names)?;
    let connectivity = plan.dataset("VTKHDF/Vertices/Connectivity", barchan_hdf5::Number::I64, &[most as u64])?;
    let offsets = plan.dataset("VTKHDF/Vertices/Offsets", barchan_hdf5::Number::I64, &[most as u64 + 1])?;
    let steps = plan.dataset("VTKHDF/FieldData/step", barchan_hdf5::Number::I64, &[frames as u64])?;
    let mut columns = vec![(&BODIES.points, plan_column(&mut plan, "VTKHDF/Points", &BODIES.points, total)?)];
    for column in BODIES.data {
        columns.push((column, plan_column(&mut plan, &format!("VTKHDF/PointData/{}", column.name), column, total)?));
    }
    let mut extra_slots = Vec::new();
    for column in extra {
        let path = format!("VTKHDF/PointData/{}", column.name);
        extra_slots.push(plan_numbers(&mut plan, &path, column.number, column.components, total)?);
    }

    let mut file = plan.begin(out)?;
    for (slot, bytes) in small {
        file.append(slot, &bytes)?;
    }
    write_indices(&mut file, connectivity, most)?;
    write_indices(&mut file, offsets, most + 1)?;
    let mut rows = Vec::new();
    for index in 0..frames {
        let frame = stored.read_bodies(index)?;
        file.append(steps, &frame.step.to_le_bytes())?;
        for (column, slot) in &columns {
            let mut start = 0;
            while start < frame.bodies.len() {
                let end = frame.bodies.len().min(start + ROWS);
                rows.clear();
                (column.put)(&mut rows, &frame.bodies, start..end);
                file.append(*slot, &rows)?;
                start = end;
            }
        }
        append_worn(&mut file, stored, &frame.bodies, &extra_slots)?;
    }
    file.finish()?;
    Ok(())
}

/// What the bodies of a frame look like, by the numbers of the files of the run.
fn append_worn(
    file: &mut Writer<impl Write + Seek>,
    stored: &StoredFrames,
    bodies: &FrameBodies,
    slots: &[Slot],
) -> Result<(), ExportError> {
    let Some(looks) = stored.looks() else { return Ok(()) };
    let mut looks = looks.looks();
    let worn: Vec<Worn> = bodies.shape.iter().map(|shape| looks.wear(shape)).collect();
    for (k, slot) in slots.iter().enumerate() {
        let mut rows = Vec::new();
        put_worn(&worn, k, &mut rows, 0..worn.len());
        file.append(*slot, &rows)?;
    }
    Ok(())
}

/// Everything that has a few numbers a frame, with its bytes.
fn plan_small(
    plan: &mut FilePlan,
    times: &[f64],
    counts: &[usize],
    columns: &[&str],
) -> io::Result<Vec<(Slot, Vec<u8>)>> {
    let frames = counts.len() as u64;
    let mut small = Vec::new();
    let values = plan.dataset("VTKHDF/Steps/Values", barchan_hdf5::Number::F64, &[frames])?;
    small.push((values, times.iter().flat_map(|time| time.to_le_bytes()).collect()));
    let mut integers = |path: &str, columns: &[u64], numbers: &mut dyn Iterator<Item = u64>| {
        let bytes: Vec<u8> = numbers.flat_map(u64::to_le_bytes).collect();
        let rows = bytes.len() as u64 / 8 / columns.iter().product::<u64>();
        let shape = [&[rows], columns].concat();
        small.push((plan.dataset(path, barchan_hdf5::Number::I64, &shape)?, bytes));
        io::Result::Ok(())
    };
    let counted = || counts.iter().map(|&count| count as u64);
    // Where the bodies of each frame begin.
    let starts = || counted().scan(0, |next, count| Some(std::mem::replace(next, *next + count)));
    let same = |number: u64, times: u64| (0..times).map(move |_| number);
    integers("VTKHDF/NumberOfPoints", &[], &mut counted())?;
    integers("VTKHDF/Steps/NumberOfParts", &[], &mut same(1, frames))?;
    integers("VTKHDF/Steps/PartOffsets", &[], &mut first_of_its_kind(counts).into_iter())?;
    integers("VTKHDF/Steps/PointOffsets", &[], &mut starts())?;
    let kinds = CELLS.len() as u64;
    integers("VTKHDF/Steps/CellOffsets", &[kinds], &mut same(0, kinds * frames))?;
    integers("VTKHDF/Steps/ConnectivityIdOffsets", &[kinds], &mut same(0, kinds * frames))?;
    integers("VTKHDF/Steps/FieldDataOffsets/step", &[], &mut (0..frames))?;
    for name in columns {
        integers(&format!("VTKHDF/Steps/PointDataOffsets/{name}"), &[], &mut starts())?;
    }
    for (k, kind) in CELLS.iter().enumerate() {
        // A vertex a body, and no other cells.
        let of_bodies = || counted().map(|count| if k == 0 { count } else { 0 });
        integers(&format!("VTKHDF/{kind}/NumberOfCells"), &[], &mut of_bodies())?;
        integers(&format!("VTKHDF/{kind}/NumberOfConnectivityIds"), &[], &mut of_bodies())?;
        if k > 0 {
            integers(&format!("VTKHDF/{kind}/Connectivity"), &[], &mut same(0, 0))?;
            integers(&format!("VTKHDF/{kind}/Offsets"), &[], &mut same(0, 1))?;
        }
    }
    Ok(small)
}

/// For each frame the first one with as many bodies. Readers before VTK 9.4 begin to read cells at
/// this place, wherever else they are told to: so they read runs whose number of bodies stays.
fn first_of_its_kind(counts: &[usize]) -> Vec<u64> {
    let mut first = HashMap::new();
    counts.iter().zip(0..).map(|(&count, index)| *first.entry(count).or_insert(index)).collect()
}

fn plan_column(plan: &mut FilePlan, path: &str, column: &VtkColumn<FrameBodies>, rows: u64) -> io::Result<Slot> {
    plan_numbers(plan, path, column.number, column.components, rows)
}

fn plan_numbers(plan: &mut FilePlan, path: &str, number: VtkNumber, components: usize, rows: u64) -> io::Result<Slot> {
    let number = match number {
        VtkNumber::F32 => barchan_hdf5::Number::F32,
        VtkNumber::F64 => barchan_hdf5::Number::F64,
        VtkNumber::I32 => barchan_hdf5::Number::I32,
        VtkNumber::I64 => barchan_hdf5::Number::I64,
    };
    let shape = [rows, components as u64];
    plan.dataset(path, number, if components == 1 { &shape[..1] } else { &shape })
}

/// The numbers from 0, in parts.
fn write_indices(file: &mut Writer<impl Write + Seek>, slot: Slot, count: usize) -> io::Result<()> {
    for start in (0..count).step_by(ROWS) {
        let end = count.min(start + ROWS);
        let bytes: Vec<u8> = (start..end).flat_map(|k| (k as u64).to_le_bytes()).collect();
        file.append(slot, &bytes)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::broad::Aabb;
    use crate::frame::Frame;
    use crate::output::scratch::Scratch;
    use crate::output::vtk::bodies::tests::sample;
    use crate::output::{FrameOptions, FrameWriter};
    use crate::scene::Compression;
    use barchan_hdf5::File;
    use glam::DVec3;
    use std::io::Cursor;

    /// Frames of these numbers of bodies, as they are stored.
    fn stored(scratch: &Scratch, counts: &[usize]) -> StoredFrames {
        let about = Aabb { low: DVec3::NEG_ONE, high: DVec3::ONE };
        let options = FrameOptions { contacts: true, shapes: false, compression: Compression::None, about };
        let mut writer = FrameWriter::create(scratch.path(), options).unwrap();
        for (k, &count) in counts.iter().enumerate() {
            let step = 10 * k as u64;
            let time = 0.5 * k as f64;
            writer.write(&Frame { step, time, bodies: sample(count), ..Frame::default() }).unwrap();
        }
        StoredFrames::open(scratch.path()).unwrap()
    }

    #[test]
    fn frames_of_any_size_stand_one_behind_the_other() {
        let scratch = Scratch::new();
        // None, few, more than are put together at once.
        let counts = [0, 3, ROWS + 7, 3];
        let stored = stored(&scratch, &counts);
        let mut bytes = Cursor::new(Vec::new());
        write_vtkhdf(&mut bytes, &stored).unwrap();
        let file = File::new(bytes.into_inner()).unwrap();
        let numbers = |path: &str| file.dataset(&format!("VTKHDF/{path}")).unwrap().numbers().unwrap();
        let integers = |path: &str| file.dataset(&format!("VTKHDF/{path}")).unwrap().integers().unwrap();
        let shape = |path: &str| file.dataset(&format!("VTKHDF/{path}")).unwrap().shape().to_vec();

        assert_eq!(numbers("Steps/Values"), [0.0, 0.5, 1.0, 1.5]);
        assert_eq!(integers("FieldData/step"), [0, 10, 20, 30]);
        assert_eq!(integers("NumberOfPoints"), counts.map(|count| count as i64));
        assert_eq!(integers("Steps/PartOffsets"), [0, 1, 2, 1]);
        let starts = [0, 0, 3, ROWS as i64 + 10];
        assert_eq!(integers("Steps/PointOffsets"), starts);
        assert_eq!((integers("Steps/CellOffsets"), shape("Steps/CellOffsets")), (vec![0; 16], vec![4, 4]));
        let total = ROWS + 13;
        assert_eq!((shape("Points"), shape("PointData/orientation")), (vec![total as u64, 3], vec![total as u64, 4]));
        for (kind, most) in [("Vertices", ROWS + 7), ("Lines", 0), ("Polygons", 0), ("Strips", 0)] {
            assert_eq!(integers(&format!("{kind}/Connectivity")), Vec::from_iter(0..most as i64));
            assert_eq!(integers(&format!("{kind}/Offsets")), Vec::from_iter(0..=most as i64));
            assert_eq!(integers(&format!("{kind}/NumberOfCells"))[2], most as i64);
        }

        let x = numbers("Points");
        let radius = numbers("PointData/radius");
        let ids = integers("PointData/id");
        for (k, &start) in starts.iter().enumerate() {
            let bodies = stored.read(k).unwrap().bodies;
            let start = start as usize;
            for i in 0..bodies.len() {
                let row = start + i;
                assert_eq!(x[3 * row..3 * row + 3], bodies.position[i].to_array());
                assert_eq!((radius[row], ids[row]), (bodies.radius(i), bodies.id[i] as i64));
            }
        }
        for column in BODIES.data {
            assert_eq!(integers(&format!("Steps/PointDataOffsets/{}", column.name)), starts, "{}", column.name);
            assert_eq!(shape(&format!("PointData/{}", column.name))[0], total as u64);
        }
    }

    #[test]
    fn a_run_without_frames_or_with_damaged_ones_is_refused() {
        let scratch = Scratch::new();
        std::fs::write(scratch.path().join("steps.csv"), "").unwrap();
        let none = StoredFrames::open(scratch.path()).unwrap();
        let error = write_vtkhdf(Cursor::new(Vec::new()), &none).unwrap_err().to_string();
        assert!(error.contains("the run has none yet"), "{error}");
        let stored = stored(&scratch, &[2, 2]);
        let last = scratch.path().join("frames/frame-000001.vtp");
        let bytes = std::fs::read(&last).unwrap();
        std::fs::write(&last, &bytes[..bytes.len() - 100]).unwrap();
        // The head is valid, so that the second reading finds it.
        assert_eq!(stored.body_count(1).unwrap(), 2);
        let error = write_vtkhdf(Cursor::new(Vec::new()), &stored).unwrap_err();
        assert!(matches!(error, ExportError::Read(FrameError::Damaged { .. })), "{error}");
    }
}
