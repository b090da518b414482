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
    pub(crate) fn reduce(&mut self) -> DVec3 {
        let p = |k: usize| self.vertices[k].w;
        let best = match self.len {
            1 => Nearest::corner(p(0), 0),
            2 => nearest_of_edge([p(0), p(1)], [0, 1]),
            3 => nearest_of_face([p(0), p(1), p(2)], [0, 1, 2]),
            _ => nearest_of_solid([p(0), p(1), p(2), p(3)]),
        };
        let mut kept = Self::default();
        for k in 0..4 {
            if best.weights[k] > 0.0 {
                kept.vertices[kept.len] = self.vertices[k];
                kept.weights[kept.len] = best.weights[k];
                kept.len += 1;
            }
        }
        *self = kept;
        best.point
    }
}

/// The point of a simplex that is nearest to the origin, by the weights of four vertices.
#[derive(Clone, Copy, Debug)]
struct Nearest {
    point: DVec3,
    weights: [f64; 4],
}

impl Nearest {
    fn corner(p: DVec3, k: usize) -> Self {
        let mut weights = [0.0; 4];
        weights[k] = 1.0;
        Self { point: p, weights }
    }

    fn nearer(self, other: Self) -> Self {
        if other.point.length_squared() < self.point.length_squared() { other } else { self }
    }
}

fn nearest_of_edge([p, q]: [DVec3; 2], [i, j]: [usize; 2]) -> Nearest {
    let d = q - p;
    let along = -p.dot(d);
    let length_squared = d.length_squared();
    if along <= 0.0 || length_squared == 0.0 {
        return Nearest::corner(p, i);
    }
    if along >= length_squared {
        return Nearest::corner(q, j);
    }
    let t = along / length_squared;
    let mut weights = [0.0; 4];
    (weights[i], weights[j]) = (1.0 - t, t);
    Nearest { point: p + d * t, weights }
}

fn nearest_of_face([p, q, r]: [DVec3; 3], [i, j, k]: [usize; 3]) -> Nearest {
    let n = (q - p).cross(r - p);
    let square = n.length_squared();
    // Areas of the triangles that the origin's shadow makes with the edges: all positive if it lies within.
    let [u, v, w] = [q.cross(r).dot(n), r.cross(p).dot(n), p.cross(q).dot(n)];
    if square > 0.0 && u > 0.0 && v > 0.0 && w > 0.0 {
        let sum = u + v + w;
        let mut weights = [0.0; 4];
        (weights[i], weights[j], weights[k]) = (u / sum, v / sum, w / sum);
        return Nearest { point: n * (n.dot(p) / square), weights };
    }
    nearest_of_edge([p, q], [i, j]).nearer(nearest_of_edge([q, r], [j, k])).nearer(nearest_of_edge([r, p], [k, i]))
}

fn nearest_of_solid(p: [DVec3; 4]) -> Nearest {
    const FACES: [[usize; 4]; 4] = [[0, 1, 2, 3], [0, 3, 1, 2], [0, 2, 3, 1], [1, 3, 2, 0]];
    let mut best: Option<Nearest> = None;
    let mut volumes = [0.0; 4];
    for [i, j, k, opposite] in FACES {
        let n = (p[j] - p[i]).cross(p[k] - p[i]);
        // On which side of the face the fourth vertex is, and on which the origin.
        let inside = n.dot(p[opposite] - p[i]);
        let origin = n.dot(-p[i]);
        volumes[opposite] = origin / inside;
        if inside == 0.0 || origin * inside <= 0.0 {
            let near = nearest_of_face([p[i], p[j], p[k]], [i, j, k]);
            best = Some(best.map_or(near, |best| best.nearer(near)));
        }
    }
    best.unwrap_or(Nearest { point: DVec3::ZERO, weights: volumes })
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
