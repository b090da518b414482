//! STL: triangles with three corners each, as text or in binary. Corners that several triangles share are repeated.
//!
//! Many binary files begin with "solid", as texts do. A file is binary if its length is what the count behind its header
//! says; a text never is that long. Numbers are in single precision in both. A text may hold several solids.

use std::io::Cursor;

use glam::DVec3;

use super::lines::Lines;
use super::{MeshError, short};
use crate::Surface;

/// Bytes before the triangles, and bytes of a triangle.
const HEADER: usize = 84;
const TRIANGLE: usize = 50;

pub(super) fn parse(bytes: &[u8]) -> Result<Surface, MeshError> {
    let count = bytes.get(80..84).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]) as usize);
    let length = count.map(|n| HEADER + TRIANGLE * n);
    let start = bytes.trim_ascii_start();
    let solid = start.len() >= 5 && start[..5].eq_ignore_ascii_case(b"solid");
    if length != Some(bytes.len()) && solid && !bytes.contains(&0) {
        return text(start, bytes.len() - start.len(), bytes);
    }
    match (count, length) {
        (Some(count), Some(length)) if length <= bytes.len() => binary(bytes, count),
        (Some(count), Some(length)) => Err(MeshError::new(format!(
            "truncated: its header says {count} triangles, which is {length} bytes, but it has {}; a text would begin with \
             \"solid\"",
            bytes.len()
        ))),
        _ => Err(MeshError::new(format!(
            "it has {} bytes: expected a text that begins with \"solid\", or at least {HEADER} bytes of a binary file",
            bytes.len()
        ))),
    }
}

fn binary(bytes: &[u8], count: usize) -> Result<Surface, MeshError> {
    // Without its comment, which the loader might take for the beginning of a text.
    let mut plain = vec![0; 80];
    plain.extend_from_slice(&bytes[80..HEADER + TRIANGLE * count]);
    let unreadable = |error: std::io::Error| MeshError::new(short(&error.to_string()));
    let mut cursor = Cursor::new(plain);
    let triangles = stl_io::create_stl_reader(&mut cursor).map_err(unreadable)?;
    let mut surface = Surface::default();
    for (number, triangle) in triangles.enumerate() {
        let triangle = triangle.map_err(unreadable)?;
        push(&mut surface, &triangle).map_err(|what| MeshError::new(format!("triangle {number}: {what}")))?;
    }
    Ok(surface)
}

fn text(start: &[u8], skipped: usize, bytes: &[u8]) -> Result<Surface, MeshError> {
    let before = bytes[..skipped].iter().filter(|&&b| b == b'\n').count();
    // The loader knows one solid in small letters: ends and beginnings of solids in between are left out, and the text ends
    // with the file. Names and normals are of no concern.
    let last =
        start.rsplit(|&b| b == b'\n').find(|line| !line.trim_ascii().is_empty()).unwrap_or_default().trim_ascii();
    let ends = last.len() >= 8 && last[..8].eq_ignore_ascii_case(b"endsolid");
    let mut lines = Lines::new(start, if ends { "endsolid" } else { "" }, |number, line| {
        let line = line.to_ascii_lowercase();
        let mut words = line.split_whitespace();
        match (words.next(), words.next()) {
            _ if number == 1 => "solid text".into(),
            (Some("solid" | "endsolid"), _) => String::new(),
            (Some("facet"), Some("normal")) => "facet normal 0 0 0".into(),
            _ => line,
        }
    });
    let mut surface = Surface::default();
    let failed = read_text(&mut lines, &mut surface).err();
    let line = before + lines.line();
    failed.map_or(Ok(surface), |what| Err(MeshError::at(line, what)))
}

/// Reads triangles up to the end of the text, or says why not.
fn read_text<R: std::io::Read + std::io::Seek>(lines: &mut R, surface: &mut Surface) -> Result<(), String> {
    let triangles = stl_io::create_stl_reader(lines).map_err(|error| short(&error.to_string()))?;
    for triangle in triangles {
        match triangle {
            Ok(triangle) => push(surface, &triangle)?,
            Err(error) => return Err(short(&error.to_string())),
        }
    }
    Ok(())
}

fn push(surface: &mut Surface, triangle: &stl_io::Triangle) -> Result<(), String> {
    let first = surface.vertices.len() as u32;
    for vertex in &triangle.vertices {
        let at = DVec3::from_array(vertex.0.map(f64::from));
        if !at.is_finite() {
            return Err(format!("found a corner at {at}, expected finite numbers"));
        }
        surface.vertices.push(at);
    }
    surface.triangles.push([first, first + 1, first + 2]);
    Ok(())
}

/// A surface as the bytes of a binary STL file. Coordinates are rounded to single precision.
pub fn write_stl_binary(surface: &Surface) -> Vec<u8> {
    let vector = |v: DVec3| stl_io::Vector::new(v.as_vec3().to_array());
    let triangles: Vec<stl_io::Triangle> = (0..surface.triangles.len())
        .map(|t| stl_io::Triangle {
            normal: vector(surface.doubled_area(t).normalize_or_zero()),
            vertices: surface.corners(t).map(vector),
        })
        .collect();
    let mut bytes = Vec::with_capacity(HEADER + TRIANGLE * triangles.len());
    // Memory takes whatever is written.
    let _ = stl_io::write_stl(&mut bytes, triangles.iter());
    bytes
}
