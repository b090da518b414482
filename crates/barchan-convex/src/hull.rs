//! A convex polyhedron: its points and its faces.

use glam::DVec3;

/// A convex polyhedron about an origin that lies inside of it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Hull {
    points: Vec<DVec3>,
    /// Outward unit normals of the faces.
    normals: Vec<DVec3>,
    /// Both again, four together, to be searched.
    point_blocks: Vec<Block>,
    normal_blocks: Vec<Block>,
    /// How far their planes are from the origin.
    distances: Vec<f64>,
    /// Corners of face `k` are `corners[start[k]..start[k + 1]]`, in order as seen from outside.
    corners: Vec<u32>,
    start: Vec<u32>,
    /// The points that edges lead to from point `k` are `neighbours[first[k]..first[k + 1]]`.
    neighbours: Vec<u32>,
    first: Vec<u32>,
    /// How far the farthest point is from the origin.
    reach: f64,
}

impl Hull {
    /// A polyhedron of these points, with the corners of its faces in order as seen from outside. What is flat in one
    /// plane is one face.
    pub fn new(points: Vec<DVec3>, faces: impl IntoIterator<Item = impl AsRef<[u32]>>) -> Self {
        let reach = points.iter().map(|p| p.length()).fold(0.0, f64::max);
        let mut hull = Self { reach, points, start: vec![0], ..Self::default() };
        for face in faces {
            let face = face.as_ref();
            hull.corners.extend_from_slice(face);
            hull.start.push(hull.corners.len() as u32);
            // Newell's normal: right for any number of corners.
            let corner = |k: usize| hull.points[face[k % face.len()] as usize];
            let middle = corner(0);
            let area: DVec3 = (0..face.len()).map(|k| (corner(k) - middle).cross(corner(k + 1) - middle)).sum();
            let normal = area.normalize_or_zero();
            let plane = face.iter().map(|&k| hull.points[k as usize].dot(normal)).fold(f64::NEG_INFINITY, f64::max);
            hull.normals.push(normal);
            hull.distances.push(plane);
        }
        hull.point_blocks = blocks(&hull.points);
        hull.normal_blocks = blocks(&hull.normals);
        hull.link();
        hull
    }

    /// Its points.
    #[inline]
    pub fn points(&self) -> &[DVec3] {
        &self.points
    }

    /// The radius of the ball about its origin that holds it.
    #[inline]
    pub fn reach(&self) -> f64 {
        self.reach
    }

    /// Number of faces.
    #[inline]
    pub fn face_count(&self) -> usize {
        self.normals.len()
    }

    /// The outward unit normal of a face.
    #[inline]
    pub fn normal(&self, face: usize) -> DVec3 {
        self.normals[face]
    }

    /// The corners of a face in order as seen from outside, as indices of points.
    #[inline]
    pub fn corners(&self, face: usize) -> &[u32] {
        &self.corners[self.start[face] as usize..self.start[face + 1] as usize]
    }

    /// The same polyhedron with every point moved by a turn or a shift.
    #[must_use]
    pub fn mapped(&self, map: impl Fn(DVec3) -> DVec3) -> Self {
        let points = self.points.iter().map(|&p| map(p)).collect();
        Self::new(points, (0..self.face_count()).map(|face| self.corners(face)))
    }

    /// The index of the point farthest along a direction; the first one of several.
    #[inline]
    pub fn farthest(&self, direction: DVec3) -> usize {
        farthest(&self.point_blocks, direction)
    }

    /// The face whose normal is nearest to a direction.
    #[inline]
    pub fn facing(&self, direction: DVec3) -> usize {
        farthest(&self.normal_blocks, direction)
    }

    /// The largest distance of a point from the planes of the faces, outside of them, and the face.
    pub(crate) fn above(&self, p: DVec3) -> (f64, usize) {
        let mut best = (f64::NEG_INFINITY, 0);
        for (k, (n, plane)) in self.normals.iter().zip(&self.distances).enumerate() {
            let height = n.dot(p) - plane;
            if height > best.0 {
                best = (height, k);
            }
        }
        best
    }

    /// Finds which points are joined by edges.
    fn link(&mut self) {
        let mut edges = Vec::with_capacity(self.corners.len());
        for face in 0..self.face_count() {
            let corners = self.corners(face);
            for (k, &from) in corners.iter().enumerate() {
                edges.push((from, corners[(k + 1) % corners.len()]));
            }
        }
        edges.sort_unstable();
        self.first = vec![0; self.points.len() + 1];
        for &(from, _) in &edges {
            self.first[from as usize + 1] += 1;
        }
        for k in 0..self.points.len() {
            self.first[k + 1] += self.first[k];
        }
        self.neighbours = edges.into_iter().map(|(_, to)| to).collect();
    }

    /// The edge at a point that is most across a direction, as its other end.
    pub(crate) fn edge_across(&self, point: usize, direction: DVec3) -> Option<usize> {
        let from = self.points[point];
        let mut best = (f64::INFINITY, None);
        for &other in &self.neighbours[self.first[point] as usize..self.first[point + 1] as usize] {
            let edge = self.points[other as usize] - from;
            // The square of the cosine of their angle.
            let along = edge.dot(direction).powi(2) / edge.length_squared();
            if along < best.0 {
                best = (along, Some(other as usize));
            }
        }
        best.1
    }
}

/// Four vectors: their x, y and z.
type Block = [[f64; 4]; 3];

/// Vectors four by four; the last one is repeated.
fn blocks(vectors: &[DVec3]) -> Vec<Block> {
    let block = |four: &[DVec3]| {
        let vector = |lane: usize| four[lane.min(four.len() - 1)];
        [0, 1, 2].map(|axis| [0, 1, 2, 3].map(|lane| vector(lane)[axis]))
    };
    vectors.chunks(4).map(block).collect()
}

/// The index of the vector that is farthest along a direction; the first one of several.
#[inline]
fn farthest(blocks: &[Block], direction: DVec3) -> usize {
    let mut best = [f64::NEG_INFINITY; 4];
    let mut which = [0u64; 4];
    for (k, [x, y, z]) in (0..).zip(blocks) {
        for lane in 0..4 {
            let along = x[lane] * direction.x + y[lane] * direction.y + z[lane] * direction.z;
            which[lane] = if along > best[lane] { k } else { which[lane] };
            best[lane] = if along > best[lane] { along } else { best[lane] };
        }
    }
    let index = |lane: usize| 4 * which[lane] as usize + lane;
    let first = |i: usize, j: usize| {
        let is_later = best[j] > best[i] || best[j] == best[i] && index(j) < index(i);
        if is_later { j } else { i }
    };
    index(first(first(0, 1), first(2, 3)))
}
