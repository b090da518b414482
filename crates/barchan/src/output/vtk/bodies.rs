//! Bodies of a frame: a vertex each.
//!
//! Where there are other shapes than spheres, a body also tells what it looks like: the number of a surface among the
//! files of [`super::shapes`], and factors on its axes.

use super::format::{ExtraColumn, Kind, VtkColumn, VtkNumber, put_f32, put_f64, put_i32, put_ids};
use super::parse::Piece;
use crate::frame::{Frame, FrameBodies, MOTIONS, SPHERE, Worn, motion_number};
use crate::scene::Compression;
use crate::shape::Shape;
use crate::world::Motion;
use glam::{DQuat, DVec3};
use std::io::{self, Seek, Write};
use std::ops::Range;

/// Positions keep all their digits; what is only looked at has seven.
pub(super) const BODIES: Kind<FrameBodies> = Kind {
    cells: "Verts",
    corners: 1,
    len: FrameBodies::len,
    points: VtkColumn {
        name: "position",
        number: VtkNumber::F64,
        components: 3,
        put: |out, b, range| put_f64(out, b.position[range].iter().flat_map(|x| x.to_array())),
    },
    extra: &[
        ExtraColumn { name: "shape", number: VtkNumber::I64, components: 1 },
        ExtraColumn { name: "scale", number: VtkNumber::F32, components: 3 },
    ],
    data: &[
        VtkColumn {
            name: "radius",
            number: VtkNumber::F32,
            components: 1,
            put: |out, b, range| put_f32(out, range.map(|i| b.radius(i))),
        },
        VtkColumn {
            name: "diameter",
            number: VtkNumber::F32,
            components: 1,
            put: |out, b, range| put_f32(out, range.map(|i| 2.0 * b.radius(i))),
        },
        VtkColumn {
            name: "velocity",
            number: VtkNumber::F32,
            components: 3,
            put: |out, b, range| put_f32(out, b.velocity[range].iter().flat_map(|v| v.to_array())),
        },
        VtkColumn {
            name: "angular_velocity",
            number: VtkNumber::F32,
            components: 3,
            put: |out, b, range| put_f32(out, b.angular_velocity[range].iter().flat_map(|v| v.to_array())),
        },
        VtkColumn {
            name: "orientation",
            number: VtkNumber::F32,
            components: 4,
            put: |out, b, range| put_f32(out, b.orientation[range].iter().flat_map(|q| q.to_array())),
        },
        VtkColumn {
            name: "id",
            number: VtkNumber::I64,
            components: 1,
            put: |out, b, range| put_ids(out, b.id[range].iter().copied()),
        },
        VtkColumn {
            name: "material",
            number: VtkNumber::I32,
            components: 1,
            put: |out, b, range| put_i32(out, b.material[range].iter().map(|&k| k.into())),
        },
        VtkColumn {
            name: "group",
            number: VtkNumber::I32,
            components: 1,
            put: |out, b, range| put_i32(out, b.group[range].iter().map(|&k| k.into())),
        },
        VtkColumn {
            name: "motion",
            number: VtkNumber::I32,
            components: 1,
            put: |out, b, range| put_i32(out, b.motion[range].iter().map(|&motion| motion_number(motion).into())),
        },
        VtkColumn {
            name: "speed",
            number: VtkNumber::F32,
            components: 1,
            put: |out, b, range| put_f32(out, b.velocity[range].iter().map(|v| v.length())),
        },
        VtkColumn {
            name: "rank",
            number: VtkNumber::I32,
            components: 1,
            put: |out, b, range| put_i32(out, b.rank[range].iter().map(|&k| k as i32)),
        },
    ],
};

/// Size of a frame of `count` bodies without compression; of other shapes than spheres each tells which and how large.
pub fn frame_bytes(count: usize, has_shapes: bool) -> u64 {
    BODIES.raw_bytes(count, has_shapes)
}

/// Writes the bodies of a frame as a `.vtp` file to any writer.
pub fn write_bodies(out: &mut (impl Write + Seek), frame: &Frame, compression: Compression) -> io::Result<()> {
    BODIES.write(out, &frame.bodies, frame.into(), compression)
}

/// Appends values of the extra columns.
pub(super) fn put_worn(worn: &[Worn], column: usize, out: &mut Vec<u8>, range: Range<usize>) {
    let worn = &worn[range];
    match column {
        0 => put_ids(out, worn.iter().map(|worn| worn.look)),
        _ => put_f32(out, worn.iter().flat_map(|worn| worn.scale.to_array())),
    }
}

/// Finds the shape that wears a look with these factors, if it is known.
pub(super) type FindShape<'a> = &'a dyn Fn(u64, DVec3) -> Result<Option<Shape>, String>;

/// What bodies look like. One whose look is not known is the ball that holds it, as all are in frames of earlier versions.
fn shapes(piece: &Piece<'_>, find: FindShape<'_>) -> Result<Vec<Shape>, String> {
    let mut shapes: Vec<Shape> = piece.numbers("radius")?.into_iter().map(Shape::sphere).collect();
    if !piece.has("shape") {
        return Ok(shapes);
    }
    let looks = piece.integers("shape")?;
    let scales = piece.vectors("scale")?;
    for (k, shape) in shapes.iter_mut().enumerate() {
        let look = u64::try_from(looks[k]).map_err(|_| format!("its array \"shape\" has {}", looks[k]))?;
        let is_valid = scales[k].is_finite() && scales[k].min_element() > 0.0;
        if look != SPHERE
            && is_valid
            && let Some(found) = find(look, scales[k])?
        {
            *shape = found;
        }
    }
    Ok(shapes)
}

/// Appends the bodies of a piece.
pub(super) fn read(piece: &Piece<'_>, bodies: &mut FrameBodies, find: FindShape<'_>) -> Result<(), String> {
    bodies.position.extend(piece.vectors("position")?);
    let turns = piece.numbers("orientation")?;
    // The seven digits are not quite of unit length.
    bodies.orientation.extend(turns.chunks_exact(4).map(|q| DQuat::from_slice(q).normalize()));
    bodies.velocity.extend(piece.vectors("velocity")?);
    bodies.angular_velocity.extend(piece.vectors("angular_velocity")?);
    bodies.shape.extend(shapes(piece, find)?);
    bodies.id.extend(piece.integers("id")?.into_iter().map(|id| id as u64));
    bodies.material.extend(piece.small("material")?);
    bodies.group.extend(piece.small("group")?);
    bodies.motion.extend(motions(piece)?);
    bodies.rank.extend(piece.integers("rank")?.into_iter().map(|rank| rank as u32));
    Ok(())
}

/// How bodies move. Frames of earlier versions do not tell: all of their bodies are taken for dynamic.
fn motions(piece: &Piece<'_>) -> Result<Vec<Motion>, String> {
    if !piece.has("motion") {
        return Ok(vec![Motion::Dynamic; piece.items()]);
    }
    let motion = |number: u16| {
        let motion = MOTIONS.get(usize::from(number)).copied();
        motion.ok_or_else(|| format!("its array \"motion\" has {number}, expected 0, 1 or 2"))
    };
    piece.small("motion")?.into_iter().map(motion).collect()
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::output::vtk::parse::FileHead;
    use glam::DVec3;
    use std::io::Cursor;

    /// Bodies of all kinds of values.
    pub(in super::super) fn sample(count: usize) -> FrameBodies {
        let mut bodies = FrameBodies::default();
        for k in 0..count {
            let x = 1.0 + k as f64;
            bodies.position.push(DVec3::new(x, -x, 0.1 * x));
            bodies.orientation.push(DQuat::from_rotation_y(0.3 * x));
            bodies.velocity.push(DVec3::new(3.0 * x, 4.0 * x, 0.0));
            bodies.angular_velocity.push(DVec3::new(0.0, 0.5, -x));
            bodies.shape.push(Shape::sphere(x));
            bodies.id.push((1 << 40) + k as u64);
            bodies.material.push(k as u16 % 3);
            bodies.group.push(65_535 - k as u16 % 5);
            bodies.motion.push(MOTIONS[k % 3]);
            bodies.rank.push(7);
        }
        bodies
    }

    #[test]
    fn head_offsets_and_bytes_agree() {
        for compression in [Compression::Lz4, Compression::Zlib, Compression::None] {
            let frame = Frame { time: 0.25, step: 12, bodies: sample(3), ..Frame::default() };
            let mut file = Cursor::new(Vec::new());
            write_bodies(&mut file, &frame, compression).unwrap();
            let file = file.into_inner();
            assert!(file.starts_with(b"<?xml version=\"1.0\"?>\n<VTKFile type=\"PolyData\" version=\"1.0\""));
            assert!(file.ends_with(b"\n  </AppendedData>\n</VTKFile>\n"));
            let text = String::from_utf8_lossy(&file);
            assert!(text.contains("NumberOfPoints=\"3\" NumberOfVerts=\"3\"") && text.contains(">0.25</DataArray>"));
            let head = FileHead::parse(&file).unwrap();
            assert_eq!((head.moment.time, head.moment.step), (0.25, 12));
            let piece = head.piece(&BODIES).unwrap();
            let numbers = |name| piece.numbers(name).unwrap();
            assert_eq!(numbers("position")[..6], [1.0, -1.0, 0.1, 2.0, -2.0, 0.2]);
            assert_eq!(numbers("radius"), [1.0, 2.0, 3.0]);
            assert_eq!(numbers("diameter"), [2.0, 4.0, 6.0]);
            assert_eq!(numbers("speed"), [5.0, 10.0, 15.0]);
            assert_eq!(numbers("velocity"), [3.0, 4.0, 0.0, 6.0, 8.0, 0.0, 9.0, 12.0, 0.0]);
            assert_eq!(piece.integers("connectivity").unwrap(), [0, 1, 2]);
            assert_eq!(piece.integers("offsets").unwrap(), [1, 2, 3]);
            assert_eq!(piece.integers("rank").unwrap(), [7, 7, 7]);
            assert_eq!(piece.integers("group").unwrap(), [65_535, 65_534, 65_533]);
            assert_eq!(piece.integers("motion").unwrap(), [0, 1, 2]);
        }
    }

    #[test]
    fn frames_that_do_not_tell_motions_are_read() {
        let frame = Frame { bodies: sample(5), ..Frame::default() };
        let mut file = Cursor::new(Vec::new());
        write_bodies(&mut file, &frame, Compression::None).unwrap();
        let file = file.into_inner();
        let motions = |name: &str, number: i32| {
            let mut file = file.clone();
            // The array by another name of the same length, and its second number. The materials are the same numbers.
            let at = file.windows(13).position(|bytes| bytes == b"Name=\"motion\"").unwrap();
            file[at + 6..at + 12].copy_from_slice(name.as_bytes());
            let numbers: Vec<u8> = [0, 1, 2, 0, 1].iter().flat_map(|k: &i32| k.to_le_bytes()).collect();
            let at = file.windows(20).rposition(|bytes| bytes == numbers).unwrap();
            file[at + 4..at + 8].copy_from_slice(&number.to_le_bytes());
            let head = FileHead::parse(&file).unwrap();
            let mut bodies = FrameBodies::default();
            read(&head.piece(&BODIES).unwrap(), &mut bodies, &|_, _| Ok(None)).map(|()| bodies.motion)
        };
        let [dynamic, kinematic, fixed] = MOTIONS;
        assert_eq!(motions("motion", 1), Ok(vec![dynamic, kinematic, fixed, dynamic, kinematic]));
        assert_eq!(motions("absent", 1), Ok(vec![dynamic; 5]));
        assert_eq!(motions("motion", 3), Err("its array \"motion\" has 3, expected 0, 1 or 2".into()));
        assert!(motions("motion", -1).is_err());
    }

    #[test]
    fn a_large_frame_spans_many_blocks() {
        let frame = Frame { bodies: sample(40_000), ..Frame::default() };
        for compression in [Compression::Lz4, Compression::None] {
            let mut file = Cursor::new(Vec::new());
            write_bodies(&mut file, &frame, compression).unwrap();
            let file = file.into_inner();
            let head = FileHead::parse(&file).unwrap();
            let mut read_back = FrameBodies::default();
            read(&head.piece(&BODIES).unwrap(), &mut read_back, &|_, _| Ok(None)).unwrap();
            assert_eq!((&read_back.position, &read_back.id), (&frame.bodies.position, &frame.bodies.id));
            assert_eq!((&read_back.material, &read_back.group), (&frame.bodies.material, &frame.bodies.group));
            assert_eq!(read_back.motion, frame.bodies.motion);
            assert_eq!(read_back.velocity, frame.bodies.velocity);
            let turned = |q: &DQuat| q.to_array().map(|x| (x * 1e6).round());
            let a = &read_back.orientation;
            let b = &frame.bodies.orientation;
            assert!(a.iter().zip(b).all(|(a, b)| a.dot(*b) > 1.0 - 1e-12), "{:?} {:?}", turned(&a[9]), turned(&b[9]));
            let foretold = frame_bytes(40_000, false);
            assert!(frame_bytes(40_000, true) - foretold >= 20 * 40_000, "a number and three factors a body");
            match compression {
                Compression::None => assert!((0..100).contains(&(file.len() as u64 - foretold)), "but for the tail"),
                _ => assert!((file.len() as u64) < foretold * 99 / 100, "{} of {foretold}", file.len()),
            }
        }
    }
}
