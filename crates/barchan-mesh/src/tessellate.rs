//! Surfaces of simple shapes, to be drawn and to be compared with.
//!
//! Vertices lie on the shape, so that what is curved outwards is cut off a little. Cylinders, capsules and cones are about
//! the z axis, from −half to +half; round ones are turned from a profile ([`Surface::revolved`]). Rounded polyhedra are the
//! polyhedron's faces moved out by the radius, strips of cylinders along its edges and patches of spheres at its corners.

use std::collections::HashMap;
use std::f64::consts::{FRAC_PI_2, TAU};

use glam::{DVec2, DVec3};

use crate::Surface;

/// Corners of a box as signs, and its faces in order as seen from outside, two for each axis.
const BOX_FACES: [[u32; 4]; 6] = [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]];

/// The corner of a box with a number: bit k says on which side of axis k it is.
fn box_corner(half: DVec3, number: usize) -> DVec3 {
    DVec3::from_array([0, 1, 2].map(|k| if number >> k & 1 == 1 { half[k] } else { -half[k] }))
}

/// Outward normal of a polygon, by Newell: right for any number of corners. Zero for one without area.
pub(crate) fn face_normal(points: &[DVec3], face: &[u32]) -> DVec3 {
    let corner = |k: usize| points[face[k % face.len()] as usize];
    let first = corner(0);
    let area: DVec3 = (1..face.len()).map(|k| (corner(k) - first).cross(corner(k + 1) - first)).sum();
    area.normalize_or_zero()
}

impl Surface {
    /// A box with half the edges given.
    pub fn cuboid(half: DVec3) -> Self {
        let points: Vec<DVec3> = (0..8).map(|k| box_corner(half, k)).collect();
        Self::from_faces(&points, BOX_FACES)
    }

    /// A sphere: an icosahedron whose triangles are cut in four, as often as is said.
    pub fn sphere(radius: f64, subdivisions: u32) -> Self {
        let golden = (1.0 + 5.0_f64.sqrt()) / 2.0;
        let mut vertices = Vec::with_capacity(12);
        for side in
            [DVec2::new(1.0, golden), DVec2::new(-1.0, golden), DVec2::new(1.0, -golden), -DVec2::new(1.0, golden)]
        {
            vertices.push(DVec3::new(0.0, side.x, side.y).normalize());
            vertices.push(DVec3::new(side.x, side.y, 0.0).normalize());
            vertices.push(DVec3::new(side.y, 0.0, side.x).normalize());
        }
        // Its triangles are those of three vertices that are neighbours: the angle between such is known.
        let near = |a: usize, b: usize| vertices[a].dot(vertices[b]) > 0.4;
        let mut triangles = Vec::with_capacity(20);
        for a in 0..12 {
            for b in a + 1..12 {
                for c in b + 1..12 {
                    if near(a, b) && near(b, c) && near(c, a) {
                        let outwards = vertices[a].dot(vertices[b].cross(vertices[c])) > 0.0;
                        let corners = [a as u32, b as u32, c as u32];
                        triangles.push(if outwards { corners } else { [corners[0], corners[2], corners[1]] });
                    }
                }
            }
        }
        let mut sphere = Self { vertices, triangles };
        for _ in 0..subdivisions {
            sphere = sphere.quartered();
        }
        sphere.mapped(|p| radius * p.normalize())
    }

    /// Every triangle cut in four at the middles of its edges, which are moved onto the unit sphere.
    fn quartered(&self) -> Self {
        let mut vertices = self.vertices.clone();
        let mut middles = HashMap::new();
        let mut triangles = Vec::with_capacity(4 * self.triangles.len());
        for &[a, b, c] in &self.triangles {
            let mut middle = |p: u32, q: u32| {
                *middles.entry((p.min(q), p.max(q))).or_insert_with(|| {
                    vertices.push((vertices[p as usize] + vertices[q as usize]).normalize());
                    vertices.len() as u32 - 1
                })
            };
            let ab = middle(a, b);
            let bc = middle(b, c);
            let ca = middle(c, a);
            triangles.extend([[a, ab, ca], [ab, b, bc], [ca, bc, c], [ab, bc, ca]]);
        }
        Self { vertices, triangles }
    }

    /// An ellipsoid with its axes along x, y and z.
    pub fn ellipsoid(radii: DVec3, subdivisions: u32) -> Self {
        Self::sphere(1.0, subdivisions).mapped(|p| radii * p)
    }

    /// A surface of revolution about the z axis. The profile is given by points (r, z) from below to above along the outside,
    /// with r ≥ 0; where it begins and ends on the axis, the surface is closed.
    pub fn revolved(profile: &[DVec2], segments: u32) -> Self {
        let segments = segments.max(3);
        let mut surface = Self::default();
        // A ring of vertices for each point, of one vertex on the axis.
        let rings: Vec<(u32, u32)> = profile
            .iter()
            .map(|p| {
                let first = surface.vertices.len() as u32;
                let count = if p.x == 0.0 { 1 } else { segments };
                surface.vertices.extend((0..count).map(|k| {
                    let angle = TAU * f64::from(k) / f64::from(segments);
                    DVec3::new(p.x * angle.cos(), p.x * angle.sin(), p.y)
                }));
                (first, count)
            })
            .collect();
        for pair in rings.windows(2) {
            let below = |k: u32| pair[0].0 + k % pair[0].1;
            let above = |k: u32| pair[1].0 + k % pair[1].1;
            for k in 0..segments {
                if pair[0].1 > 1 {
                    surface.triangles.push([below(k), below(k + 1), above(k)]);
                }
                if pair[1].1 > 1 {
                    surface.triangles.push([below(k + 1), above(k + 1), above(k)]);
                }
            }
        }
        surface
    }

    /// A cylinder about the z axis.
    pub fn cylinder(radius: f64, half: f64, segments: u32) -> Self {
        let profile = [(0.0, -half), (radius, -half), (radius, half), (0.0, half)];
        Self::revolved(&profile.map(DVec2::from), segments)
    }

    /// A cone about the z axis with its base at −half and its tip at +half.
    pub fn cone(radius: f64, half: f64, segments: u32) -> Self {
        Self::revolved(&[(0.0, -half), (radius, -half), (0.0, half)].map(DVec2::from), segments)
    }

    /// A capsule about the z axis: a cylinder from −half to +half with half spheres beyond.
    pub fn capsule(radius: f64, half: f64, segments: u32) -> Self {
        Self::rounded_cylinder(radius, half + radius, radius, segments)
    }

    /// A cylinder of this outer radius and half length, whose edges are rounded by a radius.
    pub fn rounded_cylinder(radius: f64, half: f64, edge: f64, segments: u32) -> Self {
        let steps = (segments / 4).max(2);
        let arc = |k: u32| {
            // The ends of the arc are exactly on the axes, however the sine rounds.
            let angle = FRAC_PI_2 * f64::from(k) / f64::from(steps);
            let across = if k == 0 { 0.0 } else { angle.sin() };
            let along = if k == steps { 0.0 } else { angle.cos() };
            DVec2::new(radius - edge + edge * across, half - edge + edge * along)
        };
        // From the axis above down to the middle, and mirrored below.
        let mut above: Vec<DVec2> = vec![DVec2::new(0.0, half)];
        above.extend((0..=steps).map(arc));
        above.dedup();
        let mut profile: Vec<DVec2> = above.iter().map(|p| DVec2::new(p.x, -p.y)).collect();
        profile.extend(above.iter().rev());
        profile.dedup();
        Self::revolved(&profile, segments)
    }

    /// A box with half of its outer edges given, whose edges are rounded by a radius. A quarter of a turn has so many
    /// segments.
    pub fn rounded_cuboid(half: DVec3, edge: f64, segments: u32) -> Self {
        let points: Vec<DVec3> = (0..8).map(|k| box_corner((half - edge).max(DVec3::ZERO), k)).collect();
        let normals = [-DVec3::X, DVec3::X, -DVec3::Y, DVec3::Y, -DVec3::Z, DVec3::Z];
        rounded(&points, &BOX_FACES, &normals, edge, segments)
    }

    /// A convex polyhedron grown by a radius: every point that is nearer to it than that. Faces are polygons in order as seen
    /// from outside. An edge's arc has so many segments.
    pub fn rounded_faces(points: &[DVec3], faces: &[impl AsRef<[u32]>], radius: f64, segments: u32) -> Self {
        let normals: Vec<DVec3> = faces.iter().map(|face| face_normal(points, face.as_ref())).collect();
        if radius <= 0.0 {
            return Self::from_faces(points, faces);
        }
        rounded(points, faces, &normals, radius, segments)
    }
}

/// Faces moved out, strips along edges and patches at corners, welded together.
fn rounded(points: &[DVec3], faces: &[impl AsRef<[u32]>], normals: &[DVec3], radius: f64, segments: u32) -> Surface {
    let segments = segments.max(1);
    let mut pieces = Surface::default();
    // The face on the left of each directed edge, and the corner before its first point there.
    let mut left = HashMap::new();
    for (f, face) in faces.iter().enumerate() {
        let face = face.as_ref();
        for k in 0..face.len() {
            let before = face[(k + face.len() - 1) % face.len()];
            left.insert((face[k], face[(k + 1) % face.len()]), (f, before));
        }
    }
    // Part k of the arc between two normals. The sum does not depend on which comes first, so that both sides of a seam agree.
    let arc = |a: DVec3, b: DVec3, k: u32| {
        let part = f64::from(k) / f64::from(segments);
        ((1.0 - part) * a + part * b).normalize()
    };
    for (f, face) in faces.iter().enumerate() {
        let face = face.as_ref();
        let first = pieces.vertices.len() as u32;
        pieces.vertices.extend(face.iter().map(|&k| points[k as usize] + radius * normals[f]));
        pieces.triangles.extend((1..face.len() as u32 - 1).map(|k| [first, first + k, first + k + 1]));
        for k in 0..face.len() {
            let from = face[k];
            let to = face[(k + 1) % face.len()];
            let p = points[from as usize];
            let Some(&(other, _)) = left.get(&(to, from)) else { continue };
            // The strip along an edge once, from the face with the lower number.
            if f < other {
                let q = points[to as usize];
                let first = pieces.vertices.len() as u32;
                for step in 0..=segments {
                    let out = radius * arc(normals[f], normals[other], step);
                    pieces.vertices.extend([p + out, q + out]);
                }
                for step in 0..segments {
                    let at = first + 2 * step;
                    pieces.triangles.extend([[at, at + 2, at + 1], [at + 1, at + 2, at + 3]]);
                }
            }
            // The face's part of the patch at a corner: from the middle of the patch to the next face around the corner.
            let middle = around(&left, normals, from, f, to).normalize_or_zero();
            let before = face[(k + face.len() - 1) % face.len()];
            let Some(&(next, _)) = left.get(&(from, before)) else { continue };
            spherical(&mut pieces, p, radius, [middle, normals[f], normals[next]], segments);
        }
    }
    pieces.welded_within(1e-9)
}

/// Sum of the normals of all faces at a corner, in the order of the face numbers: each face of the corner gets the same.
fn around(left: &HashMap<(u32, u32), (usize, u32)>, normals: &[DVec3], corner: u32, face: usize, to: u32) -> DVec3 {
    let mut faces = vec![face];
    let mut edge = (corner, to);
    while let Some(&(_, before)) = left.get(&edge) {
        edge = (corner, before);
        match left.get(&edge) {
            Some(&(next, _)) if next != face && faces.len() <= normals.len() => faces.push(next),
            _ => break,
        }
    }
    faces.sort_unstable();
    faces.iter().map(|&f| normals[f]).sum()
}

/// A triangle on a sphere, cut into segments along each side.
fn spherical(pieces: &mut Surface, centre: DVec3, radius: f64, corners: [DVec3; 3], segments: u32) {
    let first = pieces.vertices.len() as u32;
    let row = |i: u32| first + i * (i + 1) / 2;
    let n = f64::from(segments);
    for i in 0..=segments {
        for j in 0..=i {
            let weights = [n - f64::from(i), f64::from(i - j), f64::from(j)];
            let direction = (weights[0] * corners[0] + weights[1] * corners[1] + weights[2] * corners[2]) / n;
            pieces.vertices.push(centre + radius * direction.normalize_or_zero());
        }
    }
    for i in 0..segments {
        for j in 0..=i {
            pieces.triangles.push([row(i) + j, row(i + 1) + j, row(i + 1) + j + 1]);
            if j < i {
                pieces.triangles.push([row(i) + j, row(i + 1) + j + 1, row(i) + j + 1]);
            }
        }
    }
}
