//! The depth of two cores that meet, by the expanding polytope of van den Bergen (2001).
//!
//! The shortest way to part A and B leads out of their difference A − B from the origin through the nearest point of its
//! surface. A polytope of support points grows towards that surface where it is nearest to the origin. It need not hold
//! the origin to begin with: a face that has the origin before it is nearer than any that has it behind.
//!
//! Where a curved surface is nearly as near all around the origin, as about the axis of a cylinder, a polytope would have to
//! grow everywhere. When it is full, the search begins anew about the best direction alone, in narrower and narrower cones.

use crate::gjk::Difference;
use crate::simplex::{Simplex, Vertex};
use glam::DVec3;

/// Error of a depth, in sizes of the cores.
const PRECISION: f64 = 1e-10;
/// Faces whose planes are so near to each other, in sizes of the cores, are one.
const TIE: f64 = 1e-9;
/// A difference that is thinner than this, in sizes of the cores, is flat.
const FLAT: f64 = 1e-12;
/// Angles of the cones in which the search begins anew where there was no room for more.
const CONES: [f64; 3] = [0.2, 0.02, 0.002];
/// Steps within the face where A − B ends, and by how much their directions are tilted.
const FOOT: usize = 16;
const TILT: f64 = 1e-7;
/// Room for vertices and faces. Surfaces that are curved on both sides use most of it.
const VERTICES: usize = 96;
const FACES: usize = 2 * VERTICES;

/// How deep two cores overlap.
pub(crate) struct Depth {
    /// The depth.
    pub(crate) depth: f64,
    /// Unit vector along which A − B is left the soonest.
    pub(crate) outward: DVec3,
    /// The point of A that is deepest in B, from A's origin.
    pub(crate) a: DVec3,
}

#[derive(Clone, Copy, Default)]
struct Face {
    corners: [u8; 3],
    /// Outward unit normal, and the distance of its plane from the origin.
    normal: DVec3,
    distance: f64,
}

struct Polytope {
    vertices: [Vertex; VERTICES],
    vertex_count: usize,
    faces: [Face; FACES],
    face_count: usize,
}

impl Difference<'_> {
    /// How deep the cores overlap; nothing or next to nothing if they only touch.
    pub(crate) fn depth(&self) -> Depth {
        let mut polytope = match self.solid() {
            Ok(polytope) => polytope,
            // Flat: A and B touch from either side.
            Err(outward) => {
                let vertex = self.support(outward);
                return Depth { depth: vertex.w.dot(outward), outward, a: vertex.a };
            }
        };
        let mut axis = DVec3::ZERO;
        let mut widths = CONES.into_iter();
        let mut width = -1.0;
        loop {
            let best = match self.expand(&mut polytope, axis, width) {
                Ok(depth) => return depth,
                Err(best) => best,
            };
            // No room for more: once more, about the best direction alone.
            axis = best.outward;
            match widths.next().map(|tilt| (tilt, self.cap(axis, tilt))) {
                Some((tilt, Some(cap))) => (polytope, width) = (cap, (2.0 * tilt).cos()),
                _ => return Depth { a: self.foot(best.outward, best.depth), ..best },
            }
        }
    }

    /// Lets a polytope grow where it is nearest to the origin, among faces whose normals make a larger cosine with the axis.
    /// The best found as an error, where there is no room for more.
    fn expand(&self, polytope: &mut Polytope, axis: DVec3, cosine: f64) -> Result<Depth, Depth> {
        let mut best = (f64::INFINITY, DVec3::X, DVec3::ZERO);
        while let Some(face) = polytope.nearest_face(axis, cosine) {
            let vertex = self.support(face.normal);
            // A − B ends there: what parts A and B for certain.
            let depth = vertex.w.dot(face.normal);
            if depth < best.0 {
                best = (depth, face.normal, vertex.a);
            }
            if depth - face.distance <= PRECISION * self.size {
                return Ok(Depth { depth, outward: face.normal, a: polytope.witness(&face, TIE * self.size) });
            }
            if !polytope.grow(vertex, FLAT * self.size) {
                break;
            }
        }
        let (depth, outward, a) = best;
        Err(Depth { depth, outward, a })
    }

    /// Where A − B ends along a direction: the point of A for that which is nearest to the direction's line through the
    /// origin, since the end may be an edge or a face. A walk of simplices as for distances, within the plane of the end.
    fn foot(&self, outward: DVec3, depth: f64) -> DVec3 {
        let end = |direction: DVec3| {
            let Vertex { w, a } = self.support(direction);
            Vertex { w: w - outward * depth, a }
        };
        let mut simplex = Simplex::default();
        simplex.push(end(outward));
        let mut v = simplex.reduce();
        for _ in 0..FOOT {
            let length = v.length();
            if length <= TILT * self.size || simplex.vertices().len() == 4 {
                break;
            }
            let before = simplex;
            simplex.push(end(outward - v * (TILT / length)));
            v = simplex.reduce();
            if v.length() >= length {
                simplex = before;
                break;
            }
        }
        simplex.point().a
    }

    /// The end of A − B along a direction: support points around it, tilted by an angle, and one on the other side. None if
    /// they have no volume.
    fn cap(&self, axis: DVec3, tilt: f64) -> Option<Polytope> {
        let side = axis.any_orthonormal_vector();
        let other = axis.cross(side);
        let around = |angle: f64| self.support(axis + (side * angle.cos() + other * angle.sin()) * tilt.tan());
        let [p, q, r] = [0.0, 2.1, 4.2].map(around);
        let s = self.support(-axis);
        let volume = (q.w - p.w).cross(r.w - p.w).dot(s.w - p.w);
        (volume.abs() > (FLAT * self.size).powi(2) * self.size).then(|| Polytope::new([p, q, r, s]))
    }

    /// A tetrahedron of support points; a direction across if the difference has no volume.
    fn solid(&self) -> Result<Polytope, DVec3> {
        let thin = FLAT * self.size;
        // The longest of three extents.
        let extents = [DVec3::X, DVec3::Y, DVec3::Z].map(|axis| [self.support(axis), self.support(-axis)]);
        let length = |pair: &[Vertex; 2]| (pair[0].w - pair[1].w).length();
        let mut longest = extents[0];
        for pair in &extents[1..] {
            if length(pair) > length(&longest) {
                longest = *pair;
            }
        }
        let [p, q] = longest;
        let along = (q.w - p.w).normalize_or_zero();
        if length(&longest) <= thin {
            return Err(DVec3::X);
        }
        // What is farthest from that line, and from the plane of the three.
        let side = along.any_orthonormal_vector();
        let other = along.cross(side);
        let off_line = |v: &Vertex| (v.w - p.w).reject_from_normalized(along).length();
        let mut r = self.support(side);
        for direction in [-side, other, -other] {
            let candidate = self.support(direction);
            if off_line(&candidate) > off_line(&r) {
                r = candidate;
            }
        }
        if off_line(&r) <= thin {
            return Err(side);
        }
        let normal = along.cross(r.w - p.w).normalize();
        let [above, below] = [self.support(normal), self.support(-normal)];
        let height = |v: &Vertex| (v.w - p.w).dot(normal);
        let s = if height(&above) >= -height(&below) { above } else { below };
        if height(&s).abs() <= thin {
            // The side on which the origin is, if it is on one.
            return Err(if p.w.dot(normal) <= 0.0 { normal } else { -normal });
        }
        Ok(Polytope::new([p, q, r, s]))
    }
}

impl Polytope {
    /// A tetrahedron.
    fn new(corners: [Vertex; 4]) -> Self {
        let mut polytope = Self {
            vertices: [Vertex::default(); VERTICES],
            vertex_count: 4,
            faces: [Face::default(); FACES],
            face_count: 0,
        };
        polytope.vertices[..4].copy_from_slice(&corners);
        let centre = 0.25 * corners.iter().map(|corner| corner.w).sum::<DVec3>();
        for [i, j, k] in [[0, 1, 2], [0, 3, 1], [0, 2, 3], [1, 3, 2]] {
            let is_outward = {
                let [i, j, k] = [i, j, k].map(|c: u8| polytope.vertices[c as usize].w);
                (j - i).cross(k - i).dot(i - centre) >= 0.0
            };
            polytope.add_face(if is_outward { [i, j, k] } else { [i, k, j] });
        }
        polytope
    }

    fn corner(&self, k: u8) -> &Vertex {
        &self.vertices[k as usize]
    }

    /// Adds a face whose corners are in order as seen from outside; not if it is too thin to have a normal.
    fn add_face(&mut self, corners: [u8; 3]) {
        let [p, q, r] = corners.map(|k| self.corner(k).w);
        let normal = (q - p).cross(r - p).normalize_or_zero();
        // A sliver is never nearest, and still closes the surface.
        let distance = if normal == DVec3::ZERO { f64::INFINITY } else { normal.dot((p + q + r) / 3.0) };
        self.faces[self.face_count] = Face { corners, normal, distance };
        self.face_count += 1;
    }

    /// The face nearest to the origin, of those whose normals make a larger cosine with the axis.
    fn nearest_face(&self, axis: DVec3, cosine: f64) -> Option<Face> {
        let mut best: Option<&Face> = None;
        for face in &self.faces[..self.face_count] {
            if face.normal.dot(axis) > cosine && best.is_none_or(|best| face.distance < best.distance) {
                best = Some(face);
            }
        }
        best.copied()
    }

    /// Takes in a vertex: the faces that see it give way to a fan around it. Says whether that could be done.
    fn grow(&mut self, vertex: Vertex, thin: f64) -> bool {
        if self.vertex_count == VERTICES {
            return false;
        }
        let mut edges = [[0u8; 2]; 3 * FACES / 2];
        let mut edge_count = 0;
        let mut k = 0;
        let before = self.face_count;
        while k < self.face_count {
            let face = self.faces[k];
            let height = face.normal.dot(vertex.w) - face.distance;
            let is_seen = if face.distance.is_finite() { height > thin } else { self.is_sliver_seen(&face, &vertex) };
            if !is_seen {
                k += 1;
                continue;
            }
            let [a, b, c] = face.corners;
            for edge in [[a, b], [b, c], [c, a]] {
                // An edge between two faces that give way goes with them.
                let twin = edges[..edge_count].iter().position(|&[i, j]| [j, i] == edge);
                match twin {
                    Some(twin) => {
                        edge_count -= 1;
                        edges[twin] = edges[edge_count];
                    }
                    None if edge_count < edges.len() => {
                        edges[edge_count] = edge;
                        edge_count += 1;
                    }
                    None => return false,
                }
            }
            self.face_count -= 1;
            self.faces[k] = self.faces[self.face_count];
        }
        if self.face_count == before || self.face_count + edge_count > FACES {
            return false;
        }
        let new = self.vertex_count as u8;
        self.vertices[self.vertex_count] = vertex;
        self.vertex_count += 1;
        for &[i, j] in &edges[..edge_count] {
            self.add_face([i, j, new]);
        }
        self.face_count > 0
    }

    /// A face without a normal is seen if a neighbour in its plane would be: by the side of its longest edge.
    fn is_sliver_seen(&self, face: &Face, vertex: &Vertex) -> bool {
        face.corners.iter().all(|&k| self.corner(k).w.dot(vertex.w) < vertex.w.length_squared())
    }

    /// The point of A under the origin's shadow on the surface, which lies on this face or on another one in its plane.
    fn witness(&self, nearest: &Face, tie: f64) -> DVec3 {
        let mut best = (f64::NEG_INFINITY, DVec3::ZERO);
        for face in &self.faces[..self.face_count] {
            if face.distance > nearest.distance + tie || face.normal.dot(nearest.normal) < 0.5 {
                continue;
            }
            let [p, q, r] = face.corners.map(|k| *self.corner(k));
            let shadow = face.normal * face.distance;
            let weight = |x: DVec3, y: DVec3| (x - shadow).cross(y - shadow).dot(face.normal);
            let weights = [weight(q.w, r.w), weight(r.w, p.w), weight(p.w, q.w)];
            let area: f64 = weights.iter().sum();
            // How far within the face the shadow lies.
            let least = weights.into_iter().fold(f64::INFINITY, f64::min) / area;
            if least > best.0 {
                let inside = weights.map(|weight| weight.max(0.0));
                let sum: f64 = inside.iter().sum();
                best = (least, (p.a * inside[0] + q.a * inside[1] + r.a * inside[2]) / sum);
            }
        }
        best.1
    }
}
