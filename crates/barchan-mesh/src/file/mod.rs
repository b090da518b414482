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

use std::fmt;
use std::path::{Path, PathBuf};

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
    let named = |error: MeshError| MeshError { file: Some(path.to_path_buf()), ..error };
    let format = Format::of(path).ok_or_else(|| {
        named(MeshError::new("unknown format: expected a file that ends in .stl, .obj or .ply".to_string()))
    })?;
    let bytes = std::fs::read(path).map_err(|error| named(MeshError::new(format!("cannot be read: {error}"))))?;
    parse(&bytes, format).map_err(named)
}

/// Reads the bytes of a file.
pub fn parse(bytes: &[u8], format: Format) -> Result<Surface, MeshError> {
    let surface = match format {
        Format::Stl => stl::parse(bytes),
        Format::Obj => obj::parse(bytes),
        Format::Ply => ply::parse(bytes),
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
