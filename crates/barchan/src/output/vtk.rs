//! Frames for ParaView: VTK XML PolyData, one vertex a bounded body, and a `.pvd` index.
//!
//! The file is an XML head that names each array with its offset, then the arrays as raw
//! little-endian bytes, each after its length in bytes (VTK file formats, "appended raw
//! data"). Offsets follow from the number of bodies alone, so that columns stream from the
//! world to the disk without a second copy: a frame of a million bodies costs one buffer.
//!
//! Several ranks write a frame together: each a `.vtp` of its own bodies, and rank 0 the `.pvtp` that
//! names these pieces, once all of them are there.

use super::atomic::write_whole;
use super::{Attach, OutputError};
use crate::world::Bodies;
use glam::DVec3;
use std::fmt::Write as _;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Bytes gathered before they go to the writer.
const BUFFER: usize = 64 * 1024;

/// One array of a frame.
struct Array {
    name: &'static str,
    /// VTK's name of the number type.
    number: &'static str,
    components: usize,
    /// Bytes of one number.
    size: usize,
    /// Appends the value of a body.
    put: fn(&mut Vec<u8>, &Bodies, Vertex),
}

/// A body as a vertex of a frame.
#[derive(Clone, Copy)]
struct Vertex {
    /// Index of the body.
    body: usize,
    /// Which vertex of the file it is.
    number: usize,
    /// The rank that writes it.
    rank: u32,
}

/// Bounded bodies have one.
fn radius(bodies: &Bodies, i: usize) -> f64 {
    bodies.shape[i].bounding_radius().unwrap_or(0.0)
}

fn put_f32(out: &mut Vec<u8>, x: f64) {
    out.extend_from_slice(&(x as f32).to_le_bytes());
}

fn put_vector(out: &mut Vec<u8>, v: DVec3) {
    v.to_array().iter().for_each(|&x| put_f32(out, x));
}

/// The arrays, declared once, in the order of the file. Positions keep all their digits; what is
/// only looked at has seven.
const POINTS: Array = Array {
    name: "position",
    number: "Float64",
    components: 3,
    size: 8,
    put: |out, b, v| b.position[v.body].to_array().iter().for_each(|x| out.extend_from_slice(&x.to_le_bytes())),
};
const VERTS: [Array; 2] = [
    Array {
        name: "connectivity",
        number: "Int64",
        components: 1,
        size: 8,
        put: |out, _, v| out.extend_from_slice(&(v.number as i64).to_le_bytes()),
    },
    Array {
        name: "offsets",
        number: "Int64",
        components: 1,
        size: 8,
        put: |out, _, v| out.extend_from_slice(&(v.number as i64 + 1).to_le_bytes()),
    },
];
const FIELDS: [Array; 8] = [
    Array {
        name: "radius",
        number: "Float32",
        components: 1,
        size: 4,
        put: |out, b, v| put_f32(out, radius(b, v.body)),
    },
    Array {
        name: "diameter",
        number: "Float32",
        components: 1,
        size: 4,
        put: |out, b, v| put_f32(out, 2.0 * radius(b, v.body)),
    },
    Array {
        name: "velocity",
        number: "Float32",
        components: 3,
        size: 4,
        put: |out, b, v| put_vector(out, b.velocity[v.body]),
    },
    Array {
        name: "angular_velocity",
        number: "Float32",
        components: 3,
        size: 4,
        put: |out, b, v| put_vector(out, b.angular_velocity[v.body]),
    },
    Array {
        name: "id",
        number: "Int64",
        components: 1,
        size: 8,
        put: |out, b, v| out.extend_from_slice(&(b.id[v.body] as i64).to_le_bytes()),
    },
    Array {
        name: "material",
        number: "Int32",
        components: 1,
        size: 4,
        put: |out, b, v| out.extend_from_slice(&i32::from(b.material[v.body]).to_le_bytes()),
    },
    Array {
        name: "speed",
        number: "Float32",
        components: 1,
        size: 4,
        put: |out, b, v| put_f32(out, b.velocity[v.body].length()),
    },
    Array {
        name: "rank",
        number: "Int32",
        components: 1,
        size: 4,
        put: |out, _, v| out.extend_from_slice(&(v.rank as i32).to_le_bytes()),
    },
];

/// All arrays in the order of their bytes.
fn arrays() -> impl Iterator<Item = &'static Array> {
    std::iter::once(&POINTS).chain(&VERTS).chain(&FIELDS)
}

/// Indices of the bodies that a frame shows.
fn bounded(bodies: &Bodies) -> impl Iterator<Item = usize> + '_ {
    (0..bodies.len()).filter(|&i| bodies.is_shown(i))
}

/// The XML before the raw bytes, for `count` points.
fn head(count: usize, time: f64) -> String {
    let mut offset = 0;
    let mut element = |array: &Array| {
        let Array { name, number, components, .. } = array;
        let line = format!(
            "        <DataArray type=\"{number}\" Name=\"{name}\" NumberOfComponents=\"{components}\" \
             format=\"appended\" offset=\"{offset}\"/>\n"
        );
        offset += 8 + count * components * array.size;
        line
    };
    let points = element(&POINTS);
    let verts: String = VERTS.iter().map(&mut element).collect();
    let fields: String = FIELDS.iter().map(&mut element).collect();
    format!(
        "<?xml version=\"1.0\"?>\n\
         <VTKFile type=\"PolyData\" version=\"1.0\" byte_order=\"LittleEndian\" header_type=\"UInt64\">\n  \
           <PolyData>\n    \
             <FieldData>\n      \
               <DataArray type=\"Float64\" Name=\"TimeValue\" NumberOfTuples=\"1\" format=\"ascii\">{time:?}</DataArray>\n    \
             </FieldData>\n    \
             <Piece NumberOfPoints=\"{count}\" NumberOfVerts=\"{count}\" NumberOfLines=\"0\" \
                    NumberOfStrips=\"0\" NumberOfPolys=\"0\">\n      \
               <PointData>\n{fields}      </PointData>\n      \
               <Points>\n{points}      </Points>\n      \
               <Verts>\n{verts}      </Verts>\n    \
             </Piece>\n  \
           </PolyData>\n  \
           <AppendedData encoding=\"raw\">\n_"
    )
}

/// Size of a frame of `count` points.
pub fn frame_bytes(count: usize) -> u64 {
    let raw: usize = arrays().map(|array| 8 + count * array.components * array.size).sum();
    (head(count, 0.0).len() + raw) as u64
}

/// Writes the bounded bodies that this rank owns as a `.vtp` file to any writer.
pub fn write_vtp(out: &mut impl Write, bodies: &Bodies, time: f64, rank: u32) -> io::Result<()> {
    let count = bounded(bodies).count();
    out.write_all(head(count, time).as_bytes())?;
    let mut buffer = Vec::with_capacity(BUFFER + 64);
    for array in arrays() {
        let bytes = (count * array.components * array.size) as u64;
        buffer.extend_from_slice(&bytes.to_le_bytes());
        for (number, body) in bounded(bodies).enumerate() {
            (array.put)(&mut buffer, bodies, Vertex { body, number, rank });
            if buffer.len() >= BUFFER {
                out.write_all(&buffer)?;
                buffer.clear();
            }
        }
    }
    out.write_all(&buffer)?;
    out.write_all(b"\n  </AppendedData>\n</VTKFile>\n")
}

/// The file that names the pieces of a frame, one a rank.
fn pvtp_text(time: f64, pieces: impl Iterator<Item = String>) -> String {
    let element = |array: &Array| {
        let Array { name, number, components, .. } = array;
        format!("      <PDataArray type=\"{number}\" Name=\"{name}\" NumberOfComponents=\"{components}\"/>\n")
    };
    let (points, fields) = (element(&POINTS), FIELDS.iter().map(element).collect::<String>());
    let pieces: String = pieces.map(|piece| format!("    <Piece Source=\"{piece}\"/>\n")).collect();
    format!(
        "<?xml version=\"1.0\"?>\n\
         <VTKFile type=\"PPolyData\" version=\"1.0\" byte_order=\"LittleEndian\" header_type=\"UInt64\">\n  \
           <PPolyData GhostLevel=\"0\">\n    \
             <FieldData>\n      \
               <DataArray type=\"Float64\" Name=\"TimeValue\" NumberOfTuples=\"1\" format=\"ascii\">{time:?}</DataArray>\n    \
             </FieldData>\n    \
             <PPointData>\n{fields}    </PPointData>\n    \
             <PPoints>\n{points}    </PPoints>\n\
             {pieces}  \
           </PPolyData>\n\
         </VTKFile>\n"
    )
}

/// Writes frames one after another and keeps their index.
#[derive(Debug)]
pub struct FrameWriter {
    directory: PathBuf,
    index: PathBuf,
    times: Vec<f64>,
    rank: u32,
    ranks: u32,
}

impl FrameWriter {
    /// Frames go into `directory`, which is made; `index` must stand beside it.
    pub fn create(directory: impl Into<PathBuf>, index: impl Into<PathBuf>) -> Result<Self, OutputError> {
        Self::on_rank(directory, index, 0, 1)
    }

    /// As [`FrameWriter::create`], for one of several ranks that write the same frames.
    pub fn on_rank(
        directory: impl Into<PathBuf>,
        index: impl Into<PathBuf>,
        rank: u32,
        ranks: u32,
    ) -> Result<Self, OutputError> {
        let (directory, index) = (directory.into(), index.into());
        fs::create_dir_all(&directory).attach("create directory", &directory)?;
        Ok(Self { directory, index, times: Vec::new(), rank, ranks })
    }

    /// Goes on after the frames of these times, which are there. Files of others go, and the index names
    /// these alone.
    pub fn resume(&mut self, times: Vec<f64>) -> Result<(), OutputError> {
        self.times = times;
        if self.rank != 0 {
            return Ok(());
        }
        for entry in fs::read_dir(&self.directory).attach("read directory", &self.directory)? {
            let path = entry.attach("read directory", &self.directory)?.path();
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            let number = name.strip_prefix("frame-").and_then(|rest| rest.split(['-', '.']).next()?.parse().ok());
            if number.is_some_and(|number: usize| number >= self.times.len()) {
                fs::remove_file(&path).attach("remove", &path)?;
            }
        }
        write_whole(&self.index, |file| file.write_all(self.index_text().as_bytes()))
    }

    /// Writes the next frame, then the index with it, and returns where the frame is. For one rank
    /// alone.
    pub fn write(&mut self, bodies: &Bodies, time: f64) -> Result<PathBuf, OutputError> {
        let path = self.write_piece(bodies, time)?;
        self.complete()?;
        Ok(path)
    }

    /// Writes this rank's piece of the next frame, and returns where it is. The frame of one rank
    /// has one piece.
    pub fn write_piece(&mut self, bodies: &Bodies, time: f64) -> Result<PathBuf, OutputError> {
        let number = self.times.len();
        let name = if self.ranks == 1 { self.frame_name(number) } else { piece_name(number, self.rank) };
        let path = self.directory.join(name);
        write_whole(&path, |file| write_vtp(file, bodies, time, self.rank))?;
        self.times.push(time);
        Ok(path)
    }

    /// Completes the last frame and puts it into the index. For rank 0, once the pieces of all ranks
    /// are there.
    pub fn complete(&self) -> Result<(), OutputError> {
        if let (2.., Some(&time)) = (self.ranks, self.times.last()) {
            let number = self.times.len() - 1;
            let pieces = (0..self.ranks).map(|rank| piece_name(number, rank));
            let path = self.directory.join(self.frame_name(number));
            write_whole(&path, |file| file.write_all(pvtp_text(time, pieces).as_bytes()))?;
        }
        write_whole(&self.index, |file| file.write_all(self.index_text().as_bytes()))
    }

    /// Number of frames so far.
    pub fn count(&self) -> usize {
        self.times.len()
    }

    fn index_text(&self) -> String {
        let folder = self.directory.file_name().unwrap_or_default();
        let folder = Path::new(folder).display();
        let mut text = String::from(
            "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"0.1\" byte_order=\"LittleEndian\">\n  \
             <Collection>\n",
        );
        for (k, time) in self.times.iter().enumerate() {
            let name = self.frame_name(k);
            let _ =
                writeln!(text, "    <DataSet timestep=\"{time:?}\" group=\"\" part=\"0\" file=\"{folder}/{name}\"/>");
        }
        text + "  </Collection>\n</VTKFile>\n"
    }

    fn frame_name(&self, k: usize) -> String {
        format!("frame-{k:06}.{}", if self.ranks == 1 { "vtp" } else { "pvtp" })
    }
}

fn piece_name(k: usize, rank: u32) -> String {
    format!("frame-{k:06}-{rank:04}.vtp")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::scratch::{Scratch, names};
    use crate::shape::Shape;
    use crate::world::Body;

    fn sample() -> Bodies {
        let mut bodies = Bodies::default();
        bodies.push(Body::fixed(Shape::half_space(), DVec3::ZERO), 1.0);
        for k in 1..=3 {
            let x = f64::from(k);
            let body = Body::dynamic(Shape::sphere(x), DVec3::new(x, -x, 0.1 * x));
            bodies.push(body.with_velocity(DVec3::new(3.0 * x, 4.0 * x, 0.0)), 1.0);
        }
        bodies
    }

    /// The raw bytes of a named array, found the way that a reader finds them.
    fn raw<'a>(file: &'a [u8], name: &str) -> &'a [u8] {
        let marker = b"<AppendedData encoding=\"raw\">\n_";
        let start = file.windows(marker.len()).position(|w| w == marker).unwrap() + marker.len();
        let text = std::str::from_utf8(&file[..start]).unwrap();
        let element = text.lines().find(|l| l.contains(&format!("Name=\"{name}\""))).unwrap();
        let offset: usize = element.split("offset=\"").nth(1).unwrap().split('"').next().unwrap().parse().unwrap();
        let at = start + offset;
        let length = u64::from_le_bytes(file[at..at + 8].try_into().unwrap()) as usize;
        &file[at + 8..at + 8 + length]
    }

    #[test]
    fn head_offsets_and_bytes_agree() {
        let bodies = sample();
        let mut file = Vec::new();
        write_vtp(&mut file, &bodies, 0.25, 7).unwrap();
        assert!(file.starts_with(b"<?xml version=\"1.0\"?>\n<VTKFile type=\"PolyData\" version=\"1.0\""));
        assert!(file.ends_with(b"\n  </AppendedData>\n</VTKFile>\n"));
        let text = String::from_utf8_lossy(&file);
        assert!(text.contains("NumberOfPoints=\"3\" NumberOfVerts=\"3\"") && text.contains(">0.25</DataArray>"));

        let f32s =
            |name| raw(&file, name).chunks(4).map(|c| f32::from_le_bytes(c.try_into().unwrap())).collect::<Vec<_>>();
        let i64s =
            |name| raw(&file, name).chunks(8).map(|c| i64::from_le_bytes(c.try_into().unwrap())).collect::<Vec<_>>();
        let positions: Vec<f64> =
            raw(&file, "position").chunks(8).map(|c| f64::from_le_bytes(c.try_into().unwrap())).collect();
        assert_eq!(positions[..6], [1.0, -1.0, 0.1, 2.0, -2.0, 0.2]);
        assert_eq!(f32s("radius"), [1.0, 2.0, 3.0]);
        assert_eq!(f32s("diameter"), [2.0, 4.0, 6.0]);
        assert_eq!(f32s("speed"), [5.0, 10.0, 15.0]);
        assert_eq!(f32s("velocity"), [3.0, 4.0, 0.0, 6.0, 8.0, 0.0, 9.0, 12.0, 0.0]);
        assert_eq!(f32s("angular_velocity"), [0.0; 9]);
        assert_eq!(i64s("id"), [1, 2, 3]);
        assert_eq!(i64s("connectivity"), [0, 1, 2]);
        assert_eq!(i64s("offsets"), [1, 2, 3]);
        assert_eq!(raw(&file, "material"), [0; 12]);
        assert_eq!(raw(&file, "rank"), [7, 0, 0, 0, 7, 0, 0, 0, 7, 0, 0, 0]);
    }

    #[test]
    fn a_large_frame_spans_many_buffers() {
        let mut bodies = Bodies::default();
        for k in 0..20_000 {
            bodies.push(Body::dynamic(Shape::sphere(0.5), DVec3::splat(f64::from(k))), 1.0);
        }
        let mut file = Vec::new();
        write_vtp(&mut file, &bodies, 0.0, 0).unwrap();
        let last = raw(&file, "position").chunks(8).next_back().unwrap();
        assert_eq!(f64::from_le_bytes(last.try_into().unwrap()), 19_999.0);
        assert_eq!(raw(&file, "speed").len(), 80_000);
        assert!((0..100).contains(&(file.len() as u64 - frame_bytes(20_000))), "foretold but for the tail");
    }

    #[test]
    fn frames_are_numbered_and_indexed() {
        let scratch = Scratch::new();
        let mut frames = FrameWriter::create(scratch.path().join("frames"), scratch.path().join("frames.pvd")).unwrap();
        let bodies = sample();
        frames.write(&bodies, 0.0).unwrap();
        let second = frames.write(&bodies, 1e-7).unwrap();
        assert_eq!(frames.count(), 2);
        assert!(second.ends_with("frames/frame-000001.vtp"));
        assert_eq!(names(&scratch.path().join("frames")), ["frame-000000.vtp", "frame-000001.vtp"]);
        assert_eq!(scratch.names(), ["frames", "frames.pvd"]);
        let index = fs::read_to_string(scratch.path().join("frames.pvd")).unwrap();
        assert!(index.contains("timestep=\"0.0\" group=\"\" part=\"0\" file=\"frames/frame-000000.vtp\""));
        assert!(index.contains("timestep=\"1e-7\" group=\"\" part=\"0\" file=\"frames/frame-000001.vtp\""));
    }

    #[test]
    fn ranks_write_pieces_that_rank_0_puts_together() {
        let scratch = Scratch::new();
        let (directory, index) = (scratch.path().join("frames"), scratch.path().join("frames.pvd"));
        let bodies = sample();
        let mut writers = [0, 1].map(|rank| FrameWriter::on_rank(&directory, &index, rank, 2).unwrap());
        for time in [0.0, 0.5] {
            let [first, second] = &mut writers;
            first.write_piece(&bodies, time).unwrap();
            second.write_piece(&Bodies::default(), time).unwrap();
            first.complete().unwrap();
        }
        let expected = ["-0000.vtp", "-0001.vtp", ".pvtp"];
        let expected: Vec<_> = (0..2).flat_map(|k| expected.map(|end| format!("frame-{k:06}{end}"))).collect();
        assert_eq!(names(&directory), expected);
        let text = fs::read_to_string(directory.join("frame-000001.pvtp")).unwrap();
        assert!(text.contains(">0.5</DataArray>"), "{text}");
        assert!(
            text.contains("<Piece Source=\"frame-000001-0000.vtp\"/>\n    <Piece Source=\"frame-000001-0001.vtp\"/>")
        );
        assert_eq!(text.matches("<PDataArray").count(), FIELDS.len() + 1);
        let index = fs::read_to_string(index).unwrap();
        assert!(index.contains("file=\"frames/frame-000001.pvtp\""), "{index}");
    }
}
