//! Looks as the page reads them: laid out as frames are, with `BLKS` for their first bytes. The head lists looks by their
//! numbers, each with columns of corners, unit normals, and the indices of triangles.

use super::column::{Array, Columns};
use super::write;
use barchan::frame::Look;
use serde::Serialize;

/// The first bytes of looks.
pub const MAGIC: &[u8; 4] = b"BLKS";

#[derive(Debug, Serialize)]
struct Head {
    looks: Vec<Entry>,
}

#[derive(Debug, Serialize)]
struct Entry {
    id: u64,
    name: &'static str,
    vertices: usize,
    triangles: usize,
    position: Array,
    normal: Array,
    index: Array,
}

/// Appends looks to `out`.
pub fn encode(looks: &[Look], out: &mut Vec<u8>) {
    let mut columns = Columns::default();
    let looks = looks.iter().map(|look| entry(look, &mut columns)).collect();
    write(MAGIC, &Head { looks }, &columns, out);
}

fn entry(look: &Look, columns: &mut Columns) -> Entry {
    let shaded = look.shaded();
    Entry {
        id: look.id,
        name: look.name,
        vertices: shaded.vertices.len(),
        triangles: shaded.triangles.len(),
        position: columns.floats(3, shaded.vertices.iter().flat_map(|x| x.to_array())),
        normal: columns.floats(3, shaded.normals.iter().flat_map(|n| n.to_array())),
        index: columns.indices(shaded.triangles.iter().flatten().copied()),
    }
}
