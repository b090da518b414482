//! A surface of triangles.
//!
//! Corners of a triangle are in order as seen from outside, so that (b − a) × (c − a) points out of the body. Triangles are
//! neighbours if they share indices of vertices, not merely places: files that repeat vertices are welded when they are
//! read.

use std::collections::HashMap;

use glam::{DVec3, I64Vec3};

/// Triangles over shared vertices.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Surface {
    /// Points that triangles refer to.
    pub vertices: Vec<DVec3>,
    /// Three indices of vertices each, in order as seen from outside.
    pub triangles: Vec<[u32; 3]>,
}

impl Surface {
    /// A surface of convex polygons, whose corners are in order as seen from outside: each becomes a fan of triangles.
    pub fn from_faces(points: &[DVec3], faces: impl IntoIterator<Item = impl AsRef<[u32]>>) -> Self {
        let mut triangles = Vec::new();
        for face in faces {
            let face = face.as_ref();
            triangles.extend((1..face.len().saturating_sub(1)).map(|k| [face[0], face[k], face[k + 1]]));
        }
        Self { vertices: points.to_vec(), triangles }
    }

    /// Several surfaces as one. Vertices are not welded.
    pub fn merged<'a>(parts: impl IntoIterator<Item = &'a Self>) -> Self {
        let mut all = Self::default();
        for part in parts {
            let first = all.vertices.len() as u32;
            all.vertices.extend_from_slice(&part.vertices);
            all.triangles.extend(part.triangles.iter().map(|t| t.map(|k| k + first)));
        }
        all
    }

    /// The corners of a triangle.
    #[inline]
    pub fn corners(&self, triangle: usize) -> [DVec3; 3] {
        self.triangles[triangle].map(|k| self.vertices[k as usize])
    }

    /// (b − a) × (c − a) of a triangle: along its normal, as long as twice its area.
    #[inline]
    pub fn doubled_area(&self, triangle: usize) -> DVec3 {
        let [a, b, c] = self.corners(triangle);
        (b - a).cross(c - a)
    }

    /// Lowest and highest coordinates of all vertices; none without vertices.
    pub fn bounds(&self) -> Option<(DVec3, DVec3)> {
        let first = *self.vertices.first()?;
        Some(self.vertices.iter().fold((first, first), |(low, high), &p| (low.min(p), high.max(p))))
    }

    /// Length of the diagonal of the bounding box: what tolerances are relative to.
    pub fn size(&self) -> f64 {
        self.bounds().map_or(0.0, |(low, high)| (high - low).length())
    }

    /// The same triangles with every vertex moved. A map that mirrors leaves a surface inside out: see [`Self::flipped`].
    #[must_use]
    pub fn mapped(&self, map: impl FnMut(DVec3) -> DVec3) -> Self {
        Self { vertices: self.vertices.iter().copied().map(map).collect(), triangles: self.triangles.clone() }
    }

    /// The same triangles seen from the other side.
    #[must_use]
    pub fn flipped(&self) -> Self {
        let triangles = self.triangles.iter().map(|&[a, b, c]| [a, c, b]).collect();
        Self { vertices: self.vertices.clone(), triangles }
    }

    /// The same surface without vertices that no triangle uses.
    #[must_use]
    pub fn compacted(&self) -> Self {
        let mut place = vec![u32::MAX; self.vertices.len()];
        let mut vertices = Vec::new();
        let mut triangles = self.triangles.clone();
        for corner in triangles.iter_mut().flatten() {
            let slot = &mut place[*corner as usize];
            if *slot == u32::MAX {
                *slot = vertices.len() as u32;
                vertices.push(self.vertices[*corner as usize]);
            }
            *corner = *slot;
        }
        Self { vertices, triangles }
    }

    /// The same surface with equal vertices made one. Triangles that lose a corner by that are dropped, and vertices that no
    /// triangle uses are too.
    #[must_use]
    pub fn welded(&self) -> Self {
        // Zeros of both signs are the same place.
        let bits = |p: DVec3| (p + DVec3::ZERO).to_array().map(f64::to_bits);
        let mut first = HashMap::with_capacity(self.vertices.len());
        let replaced: Vec<u32> =
            self.vertices.iter().zip(0..).map(|(&p, k)| *first.entry(bits(p)).or_insert(k)).collect();
        self.joined(&replaced)
    }

    /// The same surface with vertices made one that are nearer to each other than a part of the surface's [`Self::size`]:
    /// each becomes the first one before it that is so near. What is welded exactly is welded here too.
    #[must_use]
    pub fn welded_within(&self, part: f64) -> Self {
        if part > 0.0 { self.joined(&self.near_vertices(part)) } else { self.welded() }
    }

    /// For each vertex, the first one before it that is nearer than a part of the size and is not replaced itself.
    pub(crate) fn near_vertices(&self, part: f64) -> Vec<u32> {
        let low = self.bounds().map_or(DVec3::ZERO, |(low, _)| low);
        let size = self.size();
        // Of a surface without size, all vertices are one.
        let near = if size > 0.0 { part.max(1e-15) * size } else { 1.0 };
        let cell = |p: DVec3| ((p - low) / near).floor().as_i64vec3();
        let mut kept: HashMap<I64Vec3, Vec<u32>> = HashMap::new();
        let mut replaced = Vec::with_capacity(self.vertices.len());
        for (&p, k) in self.vertices.iter().zip(0u32..) {
            // Among the vertices that were kept in this cell and in those beside it, the first one that is near.
            let mut found: Option<u32> = None;
            let home = cell(p);
            for n in 0..27 {
                let beside = home + I64Vec3::new(n % 3 - 1, n / 3 % 3 - 1, n / 9 - 1);
                for &other in kept.get(&beside).into_iter().flatten() {
                    if self.vertices[other as usize].distance(p) <= near && found.is_none_or(|best| other < best) {
                        found = Some(other);
                    }
                }
            }
            replaced.push(found.unwrap_or_else(|| {
                kept.entry(home).or_default().push(k);
                k
            }));
        }
        replaced
    }

    /// With vertices replaced by others, and without triangles that have lost a corner.
    fn joined(&self, replaced: &[u32]) -> Self {
        let triangles = self.triangles.iter().map(|t| t.map(|k| replaced[k as usize]));
        let triangles = triangles.filter(|&[a, b, c]| a != b && b != c && c != a).collect();
        Self { vertices: self.vertices.clone(), triangles }.compacted()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every triangle with vertices of its own, moved a little.
    fn torn(surface: &Surface, shift: f64) -> Surface {
        let mut soup = Surface::default();
        for t in 0..surface.triangles.len() {
            let first = soup.vertices.len() as u32;
            let corners = surface.corners(t);
            soup.vertices.extend(corners.iter().zip(0..).map(|(&p, k)| p + shift * (k as f64 - t as f64 % 3.0)));
            soup.triangles.push([first, first + 1, first + 2]);
        }
        soup
    }

    #[test]
    fn torn_surfaces_are_welded() {
        let sphere = Surface::sphere(2.0, 2);
        let exact = torn(&sphere, 0.0).welded();
        assert_eq!((exact.vertices.len(), exact.triangles.len()), (sphere.vertices.len(), sphere.triangles.len()));
        assert!(exact.is_closed());
        let moved = torn(&sphere, 1e-7);
        assert!(!moved.welded().is_closed());
        let near = moved.welded_within(1e-6);
        assert_eq!(near.vertices.len(), sphere.vertices.len());
        assert!(near.is_closed());
    }

    #[test]
    fn a_triangle_that_loses_a_corner_is_dropped() {
        let mut surface = Surface::cuboid(DVec3::ONE);
        let copy = surface.vertices[0];
        surface.vertices.push(copy);
        surface.triangles.push([0, 8, 1]);
        let welded = surface.welded();
        assert_eq!((welded.vertices.len(), welded.triangles.len()), (8, 12));
        assert_eq!(surface.welded_within(0.0), welded);
    }

    #[test]
    fn parts_are_merged_and_mapped() {
        let one = Surface::cuboid(DVec3::ONE);
        let two = one.mapped(|p| p + 3.0 * DVec3::X);
        let both = Surface::merged([&one, &two]);
        assert_eq!(both.bounds(), Some((-DVec3::ONE, DVec3::new(4.0, 1.0, 1.0))));
        assert_eq!(both.corners(15), two.corners(3));
        assert_eq!(Surface::default().bounds(), None);
    }
}
