//! Convex polyhedra, and the convex hulls of points.
//!
//! Triangles of the hull are parry's, of points that are scaled to unit size, since its tolerances are absolute. What it
//! hands back is held against all points before it is believed. Triangles in one plane are then made one polygon: from the
//! largest triangle that is left, the neighbours whose corners are in its plane are taken. Corners on a straight edge, which
//! have two polygons only, are dropped.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

use glam::DVec3;

use crate::edges::{edges, sides};
use crate::tessellate::face_normal;
use crate::{Surface, brief};

/// Points are in one plane with a face within this part of the size.
const NEAR: f64 = 1e-9;
/// Points are one within these parts of the size, one after the other.
const WELDS: [f64; 4] = [1e-9, 1e-8, 1e-7, 3e-7];
/// A body is flat if it is not thicker than this part of its size.
const FLAT: f64 = 1e-7;
/// How far a point may be outside of its hull, as a part of the size.
const OUTSIDE: f64 = 1e-8;

/// A convex polyhedron.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Polyhedron {
    /// Its corners.
    pub points: Vec<DVec3>,
    /// Its faces: indices of corners, in order as seen from outside. What is in one plane is one face.
    pub faces: Vec<Vec<u32>>,
}

/// Why points have no hull.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum HullError {
    /// Less than four places.
    #[error("a polyhedron needs 4 points or more at different places, found {found}")]
    TooFew {
        /// Number of different places.
        found: usize,
    },
    /// An infinite coordinate, or none.
    #[error("point {point} is at {at}, expected finite numbers")]
    NotFinite {
        /// The point.
        point: usize,
        /// Where it is.
        at: DVec3,
    },
    /// All on one line.
    #[error("all points are on one line: a polyhedron needs points around it")]
    Collinear,
    /// All in one plane.
    #[error(
        "all points are in one plane (within {:?} at a size of {:?}): a polyhedron needs points on both sides",
        brief(*thickness),
        brief(*size)
    )]
    Coplanar {
        /// How far points are from the plane.
        thickness: f64,
        /// Greatest distance of two points, roughly.
        size: f64,
    },
    /// The hull could not be found.
    #[error("no hull was found ({why}): remove points that nearly coincide")]
    Failed {
        /// What went wrong.
        why: String,
    },
}

/// The convex hull of points. Its corners are some of the points, in their order.
pub fn convex_hull(points: &[DVec3]) -> Result<Polyhedron, HullError> {
    if let Some(point) = points.iter().position(|p| !p.is_finite()) {
        return Err(HullError::NotFinite { point, at: points[point] });
    }
    // Where corners nearly coincide, triangles between them have any normal: then they are made one, as few as will do.
    let mut last = None;
    for near in WELDS {
        let points = weld(points, near);
        let size = Surface { vertices: points.clone(), triangles: Vec::new() }.size();
        spread(&points, size)?;
        let middle = points.iter().fold(DVec3::ZERO, |sum, &p| sum + p / points.len() as f64);
        let unit: Vec<DVec3> = points.iter().map(|&p| (p - middle) / size).collect();
        match hull_triangles(&unit) {
            Ok(triangles) => return Ok(Polyhedron { faces: merged(&unit, &triangles), points }.compacted()),
            Err(error) => last = Some(error),
        }
    }
    Err(last.unwrap_or(HullError::TooFew { found: points.len() }))
}

/// Points without those that are near an earlier one.
fn weld(points: &[DVec3], near: f64) -> Vec<DVec3> {
    let triangles = (0..points.len() as u32).map(|k| [k, k, k]).collect();
    let surface = Surface { vertices: points.to_vec(), triangles };
    let replaced = surface.near_vertices(near);
    points.iter().zip(0..).filter(|&(_, k)| replaced[k as usize] == k).map(|(&p, _)| p).collect()
}

/// Whether points are spread in three dimensions.
fn spread(points: &[DVec3], size: f64) -> Result<(), HullError> {
    if points.len() < 4 {
        return Err(HullError::TooFew { found: points.len() });
    }
    let farthest = |measure: &dyn Fn(DVec3) -> f64| {
        points.iter().map(|&p| (measure(p), p)).max_by(|a, b| a.0.total_cmp(&b.0)).unwrap_or((0.0, points[0]))
    };
    let first = farthest(&|p| (p - points[0]).length()).1;
    let along = (farthest(&|p| (p - first).length()).1 - first).normalize_or_zero();
    let (width, third) = farthest(&|p| (p - first).reject_from_normalized(along).length());
    if width <= FLAT * size {
        return Err(HullError::Collinear);
    }
    let normal = along.cross(third - first).normalize_or_zero();
    let thickness = farthest(&|p| (p - first).dot(normal).abs()).0;
    if thickness <= FLAT * size {
        return Err(HullError::Coplanar { thickness, size });
    }
    Ok(())
}

/// Triangles of the hull of points of unit size.
fn hull_triangles(points: &[DVec3]) -> Result<Vec<[u32; 3]>, HullError> {
    let failed = |why: &str| HullError::Failed { why: why.to_string() };
    // It has assertions about its own results.
    let hull = catch_unwind(AssertUnwindSafe(|| parry3d_f64::transformation::try_convex_hull(points)));
    let (corners, triangles) = match hull {
        Ok(Ok(hull)) => hull,
        Ok(Err(error)) => return Err(failed(&error.to_string())),
        Err(_) => return Err(failed("the search for it stopped")),
    };
    // Corners come back without their numbers.
    let bits = |p: &DVec3| p.to_array().map(f64::to_bits);
    let number: HashMap<_, u32> = points.iter().map(bits).zip(0..).collect();
    let numbers: Option<Vec<u32>> = corners.iter().map(|p| number.get(&bits(p)).copied()).collect();
    let numbers = numbers.ok_or_else(|| failed("it has corners of its own"))?;
    let triangles: Vec<[u32; 3]> = triangles.iter().map(|t| t.map(|k| numbers[k as usize])).collect();
    let surface = Surface { vertices: points.to_vec(), triangles };
    if !surface.is_closed() || !surface.is_oriented() {
        return Err(failed("it is not closed"));
    }
    let blocks = blocks(points);
    for t in (0..surface.triangles.len()).filter(|&t| !surface.is_degenerate(t)) {
        let normal = surface.doubled_area(t).normalize_or_zero();
        let plane = normal.dot(surface.corners(t)[0]);
        if blocks.iter().any(|block| block.is_beyond(normal, plane)) {
            return Err(failed("points are outside of it"));
        }
    }
    Ok(surface.triangles)
}

/// Points that are near each other, and their box.
struct Block {
    points: Vec<DVec3>,
    middle: DVec3,
    half: DVec3,
}

impl Block {
    /// Whether a point is in front of a plane, of points of unit size.
    fn is_beyond(&self, normal: DVec3, plane: f64) -> bool {
        // Only the points of boxes that come near are looked at.
        let farthest = normal.dot(self.middle) + normal.abs().dot(self.half);
        farthest > plane + 0.5 * OUTSIDE && self.points.iter().any(|p| normal.dot(*p) > plane + OUTSIDE)
    }
}

/// Points in about as many blocks as each of them has points.
fn blocks(points: &[DVec3]) -> Vec<Block> {
    let most = points.len().isqrt().max(16);
    let mut rest = vec![points.to_vec()];
    let mut blocks = Vec::new();
    while let Some(mut points) = rest.pop() {
        let low = points.iter().fold(DVec3::INFINITY, |low, &p| low.min(p));
        let high = points.iter().fold(DVec3::NEG_INFINITY, |high, &p| high.max(p));
        if points.len() <= most {
            blocks.push(Block { points, middle: 0.5 * (low + high), half: 0.5 * (high - low) });
            continue;
        }
        let axis = (high - low).max_position();
        let middle = points.len() / 2;
        points.select_nth_unstable_by(middle, |a, b| a[axis].total_cmp(&b[axis]));
        rest.push(points.split_off(middle));
        rest.push(points);
    }
    blocks
}

/// Triangles in one plane as one polygon each.
fn merged(points: &[DVec3], triangles: &[[u32; 3]]) -> Vec<Vec<u32>> {
    let surface = Surface { vertices: points.to_vec(), triangles: triangles.to_vec() };
    let sides = sides(&surface);
    // The triangle on the other side of each side of a triangle.
    let mut across = vec![[u32::MAX; 3]; triangles.len()];
    for edge in edges(&sides).filter(|edge| edge.len() == 2) {
        across[edge[0].triangle as usize][edge[0].corner as usize] = edge[1].triangle;
        across[edge[1].triangle as usize][edge[1].corner as usize] = edge[0].triangle;
    }
    let area = |t: usize| surface.doubled_area(t).length();
    let mut largest: Vec<usize> = (0..triangles.len()).collect();
    largest.sort_by(|&a, &b| area(b).total_cmp(&area(a)).then(a.cmp(&b)));
    let mut group = vec![usize::MAX; triangles.len()];
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for seed in largest {
        if group[seed] != usize::MAX {
            continue;
        }
        let normal = surface.doubled_area(seed).normalize_or_zero();
        let start = surface.corners(seed)[0];
        let level = |t: usize| surface.corners(t).iter().all(|&p| (p - start).dot(normal).abs() <= NEAR);
        let number = groups.len();
        group[seed] = number;
        let mut members = vec![seed];
        let mut done = 0;
        while done < members.len() {
            for &next in &across[members[done]] {
                if next != u32::MAX && group[next as usize] == usize::MAX && level(next as usize) {
                    group[next as usize] = number;
                    members.push(next as usize);
                }
            }
            done += 1;
        }
        groups.push(members);
    }
    let outline = |members: &Vec<usize>| -> Option<Vec<u32>> {
        let mut next = HashMap::new();
        let number = group[members[0]];
        for &t in members {
            for k in 0..3 {
                let other = across[t][k];
                if group.get(other as usize) != Some(&number) {
                    next.insert(triangles[t][k], triangles[t][(k + 1) % 3]);
                }
            }
        }
        let first = *next.keys().min()?;
        let mut face = vec![first];
        let mut at = *next.get(&first)?;
        while at != first && face.len() <= next.len() {
            face.push(at);
            at = *next.get(&at)?;
        }
        (face.len() == next.len()).then_some(face)
    };
    let faces: Option<Vec<Vec<u32>>> = groups.iter().map(outline).collect();
    // Where outlines are no loops, which only rounding does, the triangles are the faces.
    let Some(mut faces) = faces else { return triangles.iter().map(|t| t.to_vec()).collect() };
    let mut count = vec![0; points.len()];
    faces.iter().flatten().for_each(|&k| count[k as usize] += 1);
    faces.iter_mut().for_each(|face| face.retain(|&k| count[k as usize] > 2));
    faces.retain(|face| face.len() > 2);
    faces
}

impl Polyhedron {
    /// Without points that no face has.
    fn compacted(self) -> Self {
        let mut used = vec![false; self.points.len()];
        self.faces.iter().flatten().for_each(|&k| used[k as usize] = true);
        let mut place = vec![0; self.points.len()];
        let mut points = Vec::new();
        for (k, &p) in self.points.iter().enumerate().filter(|&(k, _)| used[k]) {
            place[k] = points.len() as u32;
            points.push(p);
        }
        let faces = self.faces.iter().map(|face| face.iter().map(|&k| place[k as usize]).collect()).collect();
        Self { points, faces }
    }

    /// Its faces as triangles.
    pub fn surface(&self) -> Surface {
        Surface::from_faces(&self.points, &self.faces)
    }

    /// The outward unit normal n of each face and how far it is along it, n · x = d.
    pub fn planes(&self) -> Vec<(DVec3, f64)> {
        let plane = |face: &Vec<u32>| {
            let normal = face_normal(&self.points, face);
            // The mean of all corners, so that none is far off.
            let along = face.iter().map(|&k| normal.dot(self.points[k as usize])).sum::<f64>();
            (normal, along / face.len() as f64)
        };
        self.faces.iter().map(plane).collect()
    }

    /// The same faces over points that are moved by a turn, a shift or a scale.
    #[must_use]
    pub fn mapped(&self, map: impl FnMut(DVec3) -> DVec3) -> Self {
        Self { points: self.points.iter().copied().map(map).collect(), faces: self.faces.clone() }
    }

    /// All points that are at least a margin inside of every face; none if there are none, or if they have no volume. Grown
    /// again by the margin, with rounded edges, its faces are where they were.
    pub fn shrunk(&self, margin: f64) -> Option<Self> {
        if margin <= 0.0 {
            return Some(self.clone());
        }
        let planes: Vec<(DVec3, f64)> =
            self.planes().into_iter().map(|(normal, along)| (normal, along - margin)).collect();
        let size = self.surface().size();
        // On each plane that has moved, a large square, cut off by all other planes.
        let mut corners = Vec::new();
        for (k, &(normal, along)) in planes.iter().enumerate() {
            let side = normal.any_orthonormal_vector();
            let other = normal.cross(side);
            let near = self.points[self.faces[k][0] as usize];
            let middle = near + (along - normal.dot(near)) * normal;
            let mut polygon: Vec<DVec3> =
                [side, other, -side, -other].iter().map(|&d| middle + 4.0 * size * d).collect();
            for (_, &(n, d)) in planes.iter().enumerate().filter(|&(j, _)| j != k) {
                polygon = cut(&polygon, n, d + 1e-12 * size);
            }
            corners.extend(polygon);
        }
        convex_hull(&corners).ok()
    }
}

/// What of a convex polygon is behind a plane.
fn cut(polygon: &[DVec3], normal: DVec3, along: f64) -> Vec<DVec3> {
    let mut kept = Vec::with_capacity(polygon.len() + 1);
    for (k, &p) in polygon.iter().enumerate() {
        let q = polygon[(k + 1) % polygon.len()];
        let from = normal.dot(p) - along;
        let to = normal.dot(q) - along;
        if from <= 0.0 {
            kept.push(p);
        }
        if (from <= 0.0) != (to <= 0.0) {
            kept.push(p + (q - p) * (from / (from - to)));
        }
    }
    kept
}

#[cfg(test)]
mod tests;
