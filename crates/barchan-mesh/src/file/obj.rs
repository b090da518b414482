//! Wavefront OBJ: places of vertices (`v`), and polygons over them (`f`), which become fans of triangles. Groups are merged;
//! materials, normals, textures, colours, lines and curves are not read.

use std::io::BufReader;

use glam::DVec3;

use super::lines::Lines;
use super::{MeshError, short};
use crate::Surface;

pub(super) fn parse(bytes: &[u8]) -> Result<Surface, MeshError> {
    let options =
        tobj::LoadOptions { triangulate: true, ignore_points: true, ignore_lines: true, ..Default::default() };
    let mut lines = Lines::new(bytes, "", |_, line| places_and_faces(line));
    let loaded = tobj::load_obj_buf(&mut BufReader::new(&mut lines), &options, |_| Err(tobj::LoadError::ReadError));
    let stopped = lines.line();
    let models = match loaded {
        Ok((models, _)) => models,
        Err(tobj::LoadError::FaceVertexOutOfBounds) => return Err(out_of_range(bytes)),
        Err(error) => {
            return Err(MeshError::at(
                stopped,
                format!("{}, found {}", short(&error.to_string()), found(bytes, stopped)),
            ));
        }
    };
    let mut surface = Surface::default();
    for model in models {
        let mesh = model.mesh;
        let first = surface.vertices.len() as u32;
        surface.vertices.extend(mesh.positions.chunks_exact(3).map(DVec3::from_slice));
        surface.triangles.extend(mesh.indices.chunks_exact(3).map(|t| [first + t[0], first + t[1], first + t[2]]));
    }
    if surface.vertices.iter().any(|p| !p.is_finite()) {
        return Err(not_finite(bytes));
    }
    Ok(surface)
}

/// The places of all vertices, whether faces use them or not.
pub(super) fn vertices(bytes: &[u8]) -> Result<Vec<DVec3>, MeshError> {
    let mut vertices = Vec::new();
    for (number, words) in numbered(bytes).filter(|(_, words)| words.first().is_some_and(|word| word == "v")) {
        let place: Vec<f64> = words.iter().skip(1).take(3).flat_map(|word| word.parse()).collect();
        if place.len() < 3 || place.iter().any(|x| !x.is_finite()) {
            let message = format!("found {}, expected three finite numbers", found(bytes, number));
            return Err(MeshError::at(number, message));
        }
        vertices.push(DVec3::from_slice(&place));
    }
    Ok(vertices)
}

/// Whether there is a face.
pub(super) fn has_faces(bytes: &[u8]) -> bool {
    numbered(bytes).any(|(_, words)| words.first().is_some_and(|word| word == "f"))
}

/// What of a line is read: three coordinates of a vertex, or the places of a polygon's corners.
fn places_and_faces(line: &str) -> String {
    let mut words = line.split_whitespace();
    match words.next() {
        Some("v") => words.take(3).fold("v".to_string(), |line, word| line + " " + word),
        Some("f") => words.fold("f".to_string(), |line, word| line + " " + word.split('/').next().unwrap_or(word)),
        _ => String::new(),
    }
}

/// A line as it is in the file.
fn found(bytes: &[u8], line: usize) -> String {
    let text = bytes.split(|&b| b == b'\n').nth(line - 1).unwrap_or_default();
    format!("\"{}\"", short(&String::from_utf8_lossy(text)))
}

/// The lines of a text with their numbers, in words.
fn numbered(bytes: &[u8]) -> impl Iterator<Item = (usize, Vec<String>)> {
    bytes
        .split(|&b| b == b'\n')
        .zip(1..)
        .map(|(line, number)| (number, String::from_utf8_lossy(line).split_whitespace().map(str::to_string).collect()))
}

/// The first face that refers to a vertex that is not there. Faces may refer to vertices that come later.
fn out_of_range(bytes: &[u8]) -> MeshError {
    let is = |words: &[String], kind: &str| words.first().is_some_and(|word| word == kind);
    let count = numbered(bytes).filter(|(_, words)| is(words, "v")).count();
    let mut before = 0i64;
    for (number, words) in numbered(bytes) {
        before += i64::from(is(&words, "v"));
        if is(&words, "f") {
            for word in &words[1..] {
                let index = word.split('/').next().and_then(|word| word.parse::<i64>().ok()).unwrap_or(0);
                let place = if index < 0 { before.saturating_add(index) } else { index - 1 };
                if place < 0 || place >= count as i64 {
                    return MeshError::at(
                        number,
                        format!("refers to vertex {index}, but there are {count}, counted from 1"),
                    );
                }
            }
        }
    }
    MeshError::new(format!("a face refers to a vertex that is not there: there are {count}"))
}

/// The first vertex that is nowhere.
fn not_finite(bytes: &[u8]) -> MeshError {
    for (number, words) in numbered(bytes) {
        let place = words.iter().skip(1).take(3);
        if words.first().is_some_and(|w| w == "v") && place.flat_map(|w| w.parse::<f64>()).any(|x| !x.is_finite()) {
            return MeshError::at(number, format!("found {}, expected finite numbers", found(bytes, number)));
        }
    }
    MeshError::new("a vertex is not at finite coordinates")
}
