//! Simplices of the difference of two cores, and the point of one that is nearest to the origin.

use glam::DVec3;

/// A point of the difference A − B, and the point of A that it comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Vertex {
    /// a − b, less the distance of the two origins.
    pub(crate) w: DVec3,
    /// The point of A, from A's origin.
    pub(crate) a: DVec3,
}

/// Up to four vertices, and the weights with which they make the point nearest to the origin.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Simplex {
    vertices: [Vertex; 4],
    weights: [f64; 4],
    len: usize,
}

impl Simplex {
    pub(crate) fn vertices(&self) -> &[Vertex] {
        &self.vertices[..self.len]
    }

    /// Adds a vertex. There are three at most before.
    pub(crate) fn push(&mut self, vertex: Vertex) {
        self.vertices[self.len] = vertex;
        self.weights[self.len] = 0.0;
        self.len += 1;
    }

    /// The point of A − B, and that of A, which the weights make.
    pub(crate) fn point(&self) -> Vertex {
        let mut sum = Vertex::default();
        for (vertex, &weight) in self.vertices().iter().zip(&self.weights) {
            sum.w += vertex.w * weight;
            sum.a += vertex.a * weight;
        }
        sum
    }

    /// Keeps the vertices of the face, edge or corner on which the point nearest to the origin lies, and returns that
    /// point; all four if the origin lies within.
    ///
    /// Before the last one was added the simplex was reduced. The last one is beyond the point that was nearest then, as
    /// seen from it towards the origin, so that what is nearest now is on a face or an edge that ends in it. (Where rounding
    /// sees that otherwise, the point is no nearer than before.)
    #[inline]
    pub(crate) fn reduce(&mut self) -> DVec3 {
        let p = self.vertices.map(|vertex| vertex.w);
        let Nearest { point, weights, .. } = match self.len {
            1 => Nearest { square: p[0].length_squared(), point: p[0], weights: [1.0, 0.0, 0.0, 0.0] },
            2 => Fan::new(&p, 1).nearest_of_edge(0),
            3 => Fan::new(&p, 2).nearest_of_face(),
            _ => Fan::new(&p, 3).nearest_of_solid(),
        };
        let len = self.len;
        self.len = 0;
        for (k, &weight) in weights.iter().enumerate().take(len) {
            if weight > 0.0 {
                if self.len < k {
                    self.vertices[self.len] = self.vertices[k];
                }
                self.weights[self.len] = weight;
                self.len += 1;
            }
        }
        point
    }
}

/// The point of a simplex that is nearest to the origin, by the weights of four vertices.
#[derive(Clone, Copy, Debug)]
struct Nearest {
    square: f64,
    point: DVec3,
    weights: [f64; 4],
}

/// A simplex as seen from its last corner.
struct Fan<'a> {
    corners: &'a [DVec3; 4],
    /// Which corner is the last one, and where it is.
    last: usize,
    top: DVec3,
    /// From there to the other corners.
    edges: [DVec3; 3],
}

impl<'a> Fan<'a> {
    #[inline(always)]
    fn new(corners: &'a [DVec3; 4], last: usize) -> Self {
        let top = corners[last];
        Self { corners, last, top, edges: [corners[0] - top, corners[1] - top, corners[2] - top] }
    }

    /// Of the edge to corner k.
    #[inline(always)]
    fn nearest_of_edge(&self, k: usize) -> Nearest {
        let edge = self.edges[k];
        let length_squared = edge.length_squared();
        let along = (-self.top.dot(edge)).max(0.0);
        let is_within = along < length_squared;
        // Past an end, or of no length: the corner.
        let t = if is_within { along / length_squared } else { f64::from(length_squared > 0.0) };
        let point = if is_within { self.top + edge * t } else { self.corners[k] };
        let mut weights = [0.0; 4];
        weights[k] = t;
        weights[self.last] = 1.0 - t;
        Nearest { square: point.length_squared(), point, weights }
    }

    /// Of the face with corners j and k if that is within it, given its normal edges[j] × edges[k] of any length.
    #[inline(always)]
    fn within_face(&self, [j, k]: [usize; 2], n: DVec3) -> Option<Nearest> {
        // Areas of the triangles that the origin's shadow makes with the edges: all positive if it lies within.
        let way = self.top.cross(n);
        let [at_j, at_k] = [way.dot(self.edges[k]), -way.dot(self.edges[j])];
        let square = n.length_squared();
        let at_top = square - at_j - at_k;
        (square > 0.0 && at_j > 0.0 && at_k > 0.0 && at_top > 0.0).then(|| {
            let scale = 1.0 / square;
            let point = n * (n.dot(self.top) * scale);
            let mut weights = [0.0; 4];
            weights[j] = at_j * scale;
            weights[k] = at_k * scale;
            weights[self.last] = at_top * scale;
            Nearest { square: point.length_squared(), point, weights }
        })
    }

    #[inline(always)]
    fn nearest_of_face(&self) -> Nearest {
        self.within_face([0, 1], self.edges[0].cross(self.edges[1])).unwrap_or_else(|| {
            let near = [self.nearest_of_edge(0), self.nearest_of_edge(1)];
            near[usize::from(near[1].square < near[0].square)]
        })
    }

    #[inline(always)]
    fn nearest_of_solid(&self) -> Nearest {
        const FACES: [[usize; 2]; 3] = [[1, 2], [2, 0], [0, 1]];
        let normals = FACES.map(|[j, k]| self.edges[j].cross(self.edges[k]));
        // How far the origin is within each face, and the corner across from it.
        let origin = normals.map(|n| -n.dot(self.top));
        let volume = self.edges[0].dot(normals[0]);
        let mut is_inside = true;
        for across in 0..3 {
            if volume == 0.0 || origin[across] * volume <= 0.0 {
                is_inside = false;
                // All else is beyond the face.
                if let Some(near) = self.within_face(FACES[across], normals[across]) {
                    return near;
                }
            }
        }
        let under = volume - origin[0] - origin[1] - origin[2];
        if is_inside && under * volume > 0.0 {
            let weights = [origin[0], origin[1], origin[2], under].map(|within| within / volume);
            return Nearest { square: 0.0, point: DVec3::ZERO, weights };
        }
        let near = [0, 1, 2].map(|k| self.nearest_of_edge(k));
        let first = usize::from(near[1].square < near[0].square);
        near[if near[2].square < near[first].square { 2 } else { first }]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn vector() -> impl Strategy<Value = DVec3> {
        [-1.0..1.0f64, -1.0..1.0, -1.0..1.0].prop_map(DVec3::from_array)
    }

    proptest! {
        /// The weights make the point, are those of a mean, and no other mean of the vertices is nearer.
        #[test]
        fn no_point_of_a_simplex_is_nearer(
            p in [vector(), vector(), vector(), vector(), vector(), vector()],
            other in [0.0..1.0f64, 0.0..1.0, 0.0..1.0, 0.0..1.0],
        ) {
            let mut simplex = Simplex::default();
            let mut before = DVec3::INFINITY;
            for w in p {
                // Those that a walk would take.
                let len = simplex.vertices().len();
                if len == 4 || len > 0 && before.dot(w) > before.length_squared() - 1e-6 {
                    continue;
                }
                simplex.push(Vertex { w, a: 2.0 * w });
                let known = simplex;
                let near = simplex.reduce();
                let point = simplex.point();
                prop_assert!((point.w - near).length() < 1e-6 && (point.a - 2.0 * near).length() < 2e-6);
                prop_assert!(simplex.weights[..simplex.len].iter().all(|w| *w > 0.0));
                prop_assert!((simplex.weights[..simplex.len].iter().sum::<f64>() - 1.0).abs() < 1e-6);
                let sum: f64 = other[..=len].iter().sum();
                let mean: DVec3 = known.vertices().iter().zip(other).map(|(p, w)| p.w * (w / sum)).sum();
                prop_assert!(sum == 0.0 || near.length() <= mean.length() + 1e-6);
                prop_assert!(len == 0 || near.length() < before.length() + 1e-12);
                before = near;
            }
        }
    }
}
