//! Edges of a surface, with the triangles at each.

use crate::Surface;

/// One side of a triangle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Side {
    /// Its two vertices, the lower index first.
    pub(crate) edge: [u32; 2],
    /// The triangle.
    pub(crate) triangle: u32,
    /// The corner of the triangle where the side begins: side k goes from corner k to corner k + 1.
    pub(crate) corner: u8,
    /// Whether the triangle goes from the lower index to the higher one.
    pub(crate) forward: bool,
}

/// All sides of all triangles, those of the same edge together, in the order of their vertices and then of triangles.
pub(crate) fn sides(surface: &Surface) -> Vec<Side> {
    let mut sides = Vec::with_capacity(3 * surface.triangles.len());
    for (corners, triangle) in surface.triangles.iter().zip(0..) {
        for k in 0..3 {
            let from = corners[k];
            let to = corners[(k + 1) % 3];
            sides.push(Side { edge: [from.min(to), from.max(to)], triangle, corner: k as u8, forward: from < to });
        }
    }
    sides.sort_unstable();
    sides
}

/// The sides of one edge after the other.
pub(crate) fn edges(sides: &[Side]) -> impl Iterator<Item = &[Side]> {
    sides.chunk_by(|a, b| a.edge == b.edge)
}

impl Surface {
    /// Whether every edge has exactly two triangles: the surface has no holes and no fins.
    pub fn is_closed(&self) -> bool {
        !self.triangles.is_empty() && edges(&sides(self)).all(|edge| edge.len() == 2)
    }

    /// Whether neighbours are seen from the same side: each of two triangles goes along their edge in a direction of its own.
    pub fn is_oriented(&self) -> bool {
        edges(&sides(self)).all(|edge| edge.len() != 2 || edge[0].forward != edge[1].forward)
    }
}
