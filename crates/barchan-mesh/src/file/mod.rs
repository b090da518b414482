//! Surfaces from files.
//!
//! | module | format |
//! |---|---|
//! | `stl` | STL, text and binary |
//! | `obj` | Wavefront OBJ |
//! | `ply` | PLY, as text and in both orders of bytes |
//! | `lines` | a text line by line, for loaders that do not say in which one they stopped |
//!
//! Nothing that a file says is trusted: counts in headers are held against the length of the file before anything is reserved
//! for them, indices against what is there, and coordinates have to be finite. What is refused is named with the line or the
//! index. Vertices at equal places are welded.

mod lines;
mod obj;
mod ply;
mod stl;

use std::collections::HashSet;
use std::fmt;
use std::path::{Path, PathBuf};

use glam::DVec3;

use crate::Surface;

pub use stl::write_stl_binary;

/// A file format for surfaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// STL, text or binary.
    Stl,
    /// Wavefront OBJ.
    Obj,
    /// PLY, text or binary.
    Ply,
}

impl Format {
    /// The format of a file by the end of its name.
    pub fn of(path: &Path) -> Option<Self> {
        let extension = path.extension()?.to_str()?.to_ascii_lowercase();
        match extension.as_str() {
            "stl" => Some(Self::Stl),
            "obj" => Some(Self::Obj),
            "ply" => Some(Self::Ply),
            _ => None,
        }
    }
}

/// Why a file is no surface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MeshError {
    /// The file, if it is one.
    pub file: Option<PathBuf>,
    /// The line of a text, counted from one.
    pub line: Option<usize>,
    /// What was found, and what is expected.
    pub what: String,
}

impl MeshError {
    fn new(what: impl Into<String>) -> Self {
        Self { file: None, line: None, what: what.into() }
    }

    fn at(line: usize, what: impl Into<String>) -> Self {
        Self { line: Some(line), ..Self::new(what) }
    }
}

impl fmt::Display for MeshError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(file) = &self.file {
            write!(out, "{}: ", file.display())?;
        }
        if let Some(line) = self.line {
            write!(out, "line {line}: ")?;
        }
        out.write_str(&self.what)
    }
}

impl std::error::Error for MeshError {}

/// Reads a file. Its format is known by the end of its name.
pub fn read(path: &Path) -> Result<Surface, MeshError> {
    let (bytes, format) = bytes_of(path)?;
    parse(&bytes, format).map_err(|error| MeshError { file: Some(path.to_path_buf()), ..error })
}

/// The bytes of a file, and its format by the end of its name.
fn bytes_of(path: &Path) -> Result<(Vec<u8>, Format), MeshError> {
    let named = |error: MeshError| MeshError { file: Some(path.to_path_buf()), ..error };
    let format = Format::of(path).ok_or_else(|| {
        named(MeshError::new("unknown format: expected a file that ends in .stl, .obj or .ply".to_string()))
    })?;
    let bytes = std::fs::read(path).map_err(|error| named(MeshError::new(format!("cannot be read: {error}"))))?;
    Ok((bytes, format))
}

/// Reads the points of a file, whether faces use them or not: those that do in the order of a surface, then the others, each
/// place once. Faces need not be there.
pub fn read_points(path: &Path) -> Result<Vec<DVec3>, MeshError> {
    let (bytes, format) = bytes_of(path)?;
    points(&bytes, format).map_err(|error| MeshError { file: Some(path.to_path_buf()), ..error })
}

/// The points in the bytes of a file.
fn points(bytes: &[u8], format: Format) -> Result<Vec<DVec3>, MeshError> {
    let all = match format {
        Format::Stl => stl::parse(bytes)?.vertices,
        Format::Obj => obj::vertices(bytes)?,
        Format::Ply => ply::parse(bytes, false)?.vertices,
    };
    let used = match format {
        Format::Obj if !obj::has_faces(bytes) => Vec::new(),
        Format::Obj => obj::parse(bytes)?.welded().vertices,
        Format::Ply => ply::parse(bytes, false)?.welded().vertices,
        Format::Stl => Vec::new(),
    };
    // Zeros of both signs are the same place.
    let mut known = HashSet::new();
    let is_new = |p: &DVec3| known.insert((*p + DVec3::ZERO).to_array().map(f64::to_bits));
    let points: Vec<DVec3> = used.into_iter().chain(all).filter(is_new).collect();
    if points.is_empty() { Err(MeshError::new("no vertices: expected the points of a body")) } else { Ok(points) }
}

/// Reads the bytes of a file.
pub fn parse(bytes: &[u8], format: Format) -> Result<Surface, MeshError> {
    let surface = match format {
        Format::Stl => stl::parse(bytes),
        Format::Obj => obj::parse(bytes),
        Format::Ply => ply::parse(bytes, true),
    }?;
    let surface = surface.welded();
    if surface.triangles.is_empty() {
        return Err(MeshError::new("no triangles: expected a surface of at least one triangle with an area"));
    }
    Ok(surface)
}

/// What is left of a message for one line of an error: without line breaks, and not endless.
fn short(message: &str) -> String {
    let line = message.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= 160 { line } else { line.chars().take(160).chain("…".chars()).collect() }
}

#[cfg(test)]
mod tests;
