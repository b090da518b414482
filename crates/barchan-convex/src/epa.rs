//! The depth of two cores that meet, by the expanding polytope of van den Bergen (2001).
//!
//! The shortest way to part A and B leads out of their difference A − B from the origin through the nearest point of its
//! surface. A polytope of support points grows towards that surface where it is nearest to the origin. It need not hold
//! the origin to begin with: a face that has the origin before it is nearer than any that has it behind.
//!
//! Where a curved surface is nearly as near all around the origin, as about the axis of a cylinder, a polytope would have to
//! grow everywhere. It need not: once it says that no direction is better than the best one by more than a little, that one
//! is improved by itself. B is moved out along it until the cores are apart, and the distance then has a direction along
//! which they overlap less, or as much if there is no better one nearby. A polytope that is full all the same is begun anew
//! about the best direction alone, in narrower and narrower cones.

use crate::gjk::{Difference, Found};
use crate::simplex::{Simplex, Vertex};
use glam::DVec3;

/// Error of a depth, in sizes of the cores.
const PRECISION: f64 = 1e-10;
/// The same for the polytope where a surface is curved, and how far cores are moved apart then.
const CURVED: f64 = 2e-7;
const APART: f64 = 1e-2;
/// Times the best direction is improved at most, and the gain that calls for another time, in sizes.
const IMPROVED: usize = 4;
const GAIN: f64 = 1e-6;
/// The smallest of small steps to the sides of a direction.
const STEP: f64 = 1e-7;
/// Faces whose planes are so near to each other, in sizes of the cores, are one.
const TIE: f64 = 1e-9;
/// A difference that is thinner than this, in sizes of the cores, is flat.
const FLAT: f64 = 1e-12;
/// Angles of the cones in which the search begins anew where there was no room for more.
const CONES: [f64; 3] = [0.2, 0.02, 0.002];
/// Steps within the face where A − B ends, and by how much their directions are tilted.
const FOOT: usize = 16;
const TILT: f64 = 1e-7;
/// Room for vertices and faces: what most pairs need, and what those with curved surfaces may.
const FEW: usize = 24;
const FEW_FACES: usize = 2 * FEW;
const MANY: usize = 96;
const MANY_FACES: usize = 2 * MANY;

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

struct Polytope<const VERTICES: usize, const FACES: usize> {
    vertices: [Vertex; VERTICES],
    vertex_count: usize,
    faces: [Face; FACES],
    face_count: usize,
}

/// Where a polytope has grown as far as it can: the best that was found, and the polytope's word for it.
enum Expanded {
    /// As good as any.
    Certain(Depth),
    /// There was no room for more.
    Full(Depth),
}

impl Difference<'_> {
    /// How deep the cores overlap; nothing or next to nothing if they only touch. A simplex of the difference that holds
    /// the origin is a start.
    pub(crate) fn depth(&self, start: Option<&Simplex>) -> Depth {
        let corners = match start.map(Simplex::vertices) {
            Some(&[p, q, r, s]) if self.has_volume([p, q, r, s]) => [p, q, r, s],
            _ => match self.solid() {
                Ok(corners) => corners,
                // Flat: A and B touch from either side.
                Err(outward) => {
                    let vertex = self.support(outward);
                    return Depth { depth: vertex.w.dot(outward), outward, a: vertex.a };
                }
            },
        };
        let mut few = Polytope::<FEW, FEW_FACES>::new(corners);
        let best = match self.expand(&mut few, DVec3::ZERO, -1.0) {
            Expanded::Certain(depth) => depth,
            Expanded::Full(_) => self.depth_of_many(Polytope::new(corners)),
        };
        if self.is_curved() { self.improved(best) } else { best }
    }

    /// The same from a polytope that needs more room.
    fn depth_of_many(&self, mut polytope: Polytope<MANY, MANY_FACES>) -> Depth {
        let mut axis = DVec3::ZERO;
        let mut widths = CONES.into_iter();
        let mut width = -1.0;
        loop {
            let best = match self.expand(&mut polytope, axis, width) {
                Expanded::Certain(depth) if axis == DVec3::ZERO => return depth,
                // Within a cone it is certain that no better one is near.
                Expanded::Certain(depth) => return self.descended(depth),
                Expanded::Full(best) => best,
            };
            // No room for more: once more, about the best direction alone.
            axis = best.outward;
            match widths.next().map(|tilt| (tilt, self.cap(axis, tilt))) {
                Some((tilt, Some(cap))) => {
                    polytope = cap;
                    width = (2.0 * tilt).cos();
                }
                _ => return self.descended(best),
            }
        }
    }

    /// The best direction near to one, by small steps to the sides: slow, and good where a surface is nearly as near all
    /// around.
    fn descended(&self, mut best: Depth) -> Depth {
        let mut step = 0.5;
        while step > STEP {
            let n = best.outward;
            // Around the axes of A and B, across which a round side has a crease, and any other way.
            let (u, v) = n.any_orthonormal_pair();
            let around = self.axes().map(|axis| n.cross(axis).normalize_or_zero());
            let sides = [around[0], around[1], u, v, (u + v) * 0.7, (u - v) * 0.7];
            let mut sides = sides.into_iter().flat_map(|side| [side, -side]).map(|side| (n + side * step).normalize());
            let lower = sides.find_map(|outward| {
                let vertex = self.support(outward);
                let depth = vertex.w.dot(outward);
                (depth < best.depth).then_some(Depth { depth, outward, a: vertex.a })
            });
            match lower {
                Some(lower) => best = lower,
                None => step *= 0.5,
            }
        }
        Depth { a: self.foot(best.outward, best.depth), ..best }
    }

    /// The best direction near to one, by the distances of cores that are moved apart along it. What they overlap by shrinks
    /// with each: if h is the end of A − B along a direction, the distance s − h(n) of cores moved by s along n is exceeded
    /// by that along m, the normal found, only if h(m) ≤ h(n) − s (1 − n · m).
    fn improved(&self, mut best: Depth) -> Depth {
        for _ in 0..IMPROVED {
            let shift = best.depth + best.depth.max(APART * self.size);
            let apart = self.moved(best.outward * shift);
            let Found::Apart(vertex) = apart.nearest_from(-best.outward, f64::INFINITY) else { break };
            let outward = -vertex.w.normalize();
            let depth = self.support(outward).w.dot(outward);
            if depth > best.depth + PRECISION * self.size {
                break;
            }
            let gain = best.depth - depth;
            best = Depth { depth, outward, a: vertex.a };
            if gain < GAIN * self.size {
                break;
            }
        }
        best
    }

    /// Lets a polytope grow where it is nearest to the origin, among faces whose normals make a larger cosine with the axis.
    fn expand<const V: usize, const F: usize>(
        &self,
        polytope: &mut Polytope<V, F>,
        axis: DVec3,
        cosine: f64,
    ) -> Expanded {
        let mut best = Depth { depth: f64::INFINITY, outward: DVec3::X, a: DVec3::ZERO };
        let curved = if self.is_curved() { CURVED * self.size } else { f64::NEG_INFINITY };
        while let Some(face) = polytope.nearest_face(axis, cosine) {
            let vertex = self.support(face.normal);
            // A − B ends there: what parts A and B for certain.
            let depth = vertex.w.dot(face.normal);
            if depth < best.depth {
                best = Depth { depth, outward: face.normal, a: vertex.a };
            }
            if depth - face.distance <= PRECISION * self.size {
                let a = polytope.witness(&face, TIE * self.size);
                return Expanded::Certain(Depth { depth, outward: face.normal, a });
            }
            // No face is nearer than this one.
            if best.depth - face.distance <= curved {
                return Expanded::Certain(best);
            }
            if !polytope.grow(vertex, FLAT * self.size) {
                break;
            }
        }
        Expanded::Full(best)
    }

    /// Whether four vertices make a tetrahedron that is not flat.
    fn has_volume(&self, [p, q, r, s]: [Vertex; 4]) -> bool {
        let volume = (q.w - p.w).cross(r.w - p.w).dot(s.w - p.w);
        volume.abs() > (FLAT * self.size).powi(2) * self.size
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
    fn cap(&self, axis: DVec3, tilt: f64) -> Option<Polytope<MANY, MANY_FACES>> {
        let side = axis.any_orthonormal_vector();
        let other = axis.cross(side);
        let around = |angle: f64| self.support(axis + (side * angle.cos() + other * angle.sin()) * tilt.tan());
        let [p, q, r] = [0.0, 2.1, 4.2].map(around);
        let s = self.support(-axis);
        self.has_volume([p, q, r, s]).then(|| Polytope::new([p, q, r, s]))
    }

    /// A tetrahedron of support points; a direction across if the difference has no volume.
    fn solid(&self) -> Result<[Vertex; 4], DVec3> {
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
        Ok([p, q, r, s])
    }
}

impl<const VERTICES: usize, const FACES: usize> Polytope<VERTICES, FACES> {
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
        let mut edges = [[0u8; 2]; FACES];
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
