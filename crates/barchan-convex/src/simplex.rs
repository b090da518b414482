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
    #[inline]
    pub(crate) fn reduce(&mut self) -> DVec3 {
        let p = self.vertices.map(|vertex| vertex.w);
        let best = match self.len {
            1 => Nearest { square: p[0].length_squared(), point: p[0], weights: [1.0, 0.0, 0.0, 0.0] },
            2 => nearest_of_edge(&p, [0, 1]),
            3 => nearest_of_face(&p, [0, 1, 2]),
            _ => nearest_of_solid(&p),
        };
        let len = self.len;
        self.len = 0;
        for k in 0..len {
            if best.weights[k] > 0.0 {
                if self.len < k {
                    self.vertices[self.len] = self.vertices[k];
                }
                self.weights[self.len] = best.weights[k];
                self.len += 1;
            }
        }
        best.point
    }
}

/// The point of a simplex that is nearest to the origin, by the weights of four vertices.
#[derive(Clone, Copy, Debug)]
struct Nearest {
    square: f64,
    point: DVec3,
    weights: [f64; 4],
}

#[inline(always)]
fn nearest_of_edge(corners: &[DVec3; 4], [i, j]: [usize; 2]) -> Nearest {
    let p = corners[i];
    let d = corners[j] - p;
    let length_squared = d.length_squared();
    let along = (-p.dot(d)).max(0.0);
    // Past an end, or of no length: the corner.
    let t = if along < length_squared {
        along / length_squared
    } else if length_squared > 0.0 {
        1.0
    } else {
        0.0
    };
    let mut weights = [0.0; 4];
    weights[i] = 1.0 - t;
    weights[j] = t;
    let point = if t == 1.0 { corners[j] } else { p + d * t };
    Nearest { square: point.length_squared(), point, weights }
}

#[inline(always)]
fn nearest_of_face(corners: &[DVec3; 4], [i, j, k]: [usize; 3]) -> Nearest {
    let [p, q, r] = [corners[i], corners[j], corners[k]];
    let n = (q - p).cross(r - p);
    let square = n.length_squared();
    // Areas of the triangles that the origin's shadow makes with the edges: all positive if it lies within.
    let areas = [q.cross(r).dot(n), r.cross(p).dot(n), p.cross(q).dot(n)];
    let is_flat = square <= 0.0;
    if !is_flat && areas[0] > 0.0 && areas[1] > 0.0 && areas[2] > 0.0 {
        let scale = 1.0 / (areas[0] + areas[1] + areas[2]);
        let mut weights = [0.0; 4];
        weights[i] = areas[0] * scale;
        weights[j] = areas[1] * scale;
        weights[k] = areas[2] * scale;
        let point = n * (n.dot(p) / square);
        return Nearest { square: point.length_squared(), point, weights };
    }
    // Otherwise it is on an edge that has the shadow beyond it.
    let mut best: Option<Nearest> = None;
    for (area, edge) in [(areas[0], [j, k]), (areas[1], [k, i]), (areas[2], [i, j])] {
        if is_flat || area <= 0.0 {
            let near = nearest_of_edge(corners, edge);
            if best.is_none_or(|best| near.square < best.square) {
                best = Some(near);
            }
        }
    }
    best.unwrap_or_else(|| nearest_of_edge(corners, [i, j]))
}

#[inline]
fn nearest_of_solid(corners: &[DVec3; 4]) -> Nearest {
    const FACES: [[usize; 4]; 4] = [[0, 1, 2, 3], [0, 3, 1, 2], [0, 2, 3, 1], [1, 3, 2, 0]];
    let mut best: Option<Nearest> = None;
    let mut sides = [[0.0; 2]; 4];
    for [i, j, k, opposite] in FACES {
        let p = corners[i];
        let n = (corners[j] - p).cross(corners[k] - p);
        // On which side of the face the fourth vertex is, and on which the origin.
        let inside = n.dot(corners[opposite] - p);
        let origin = -n.dot(p);
        sides[opposite] = [origin, inside];
        if inside == 0.0 || origin * inside <= 0.0 {
            let near = nearest_of_face(corners, [i, j, k]);
            if best.is_none_or(|best| near.square < best.square) {
                best = Some(near);
            }
        }
    }
    best.unwrap_or_else(|| {
        let weights = sides.map(|[origin, inside]| origin / inside);
        Nearest { square: 0.0, point: DVec3::ZERO, weights }
    })
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
            p in [vector(), vector(), vector(), vector()],
            len in 1usize..=4,
            other in [0.0..1.0f64, 0.0..1.0, 0.0..1.0, 0.0..1.0],
        ) {
            let mut simplex = Simplex::default();
            p[..len].iter().for_each(|&w| simplex.push(Vertex { w, a: 2.0 * w }));
            let near = simplex.reduce();
            let point = simplex.point();
            prop_assert!((point.w - near).length() < 1e-6 && (point.a - 2.0 * near).length() < 2e-6);
            prop_assert!(simplex.weights.iter().all(|w| *w >= 0.0));
            prop_assert!((simplex.weights.iter().sum::<f64>() - 1.0).abs() < 1e-6);
            let sum: f64 = other[..len].iter().sum();
            let mean: DVec3 = p[..len].iter().zip(other).map(|(p, w)| *p * (w / sum)).sum();
            prop_assert!(sum == 0.0 || near.length() <= mean.length() + 1e-6);
        }
    }
}
