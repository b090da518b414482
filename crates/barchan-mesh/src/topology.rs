//! Which triangles are neighbours, and how the surface bends between them.
//!
//! A body that slides over a flat floor of many triangles must not feel their edges. What a triangle's edge or vertex may
//! push is limited to directions that no triangle beside it would push otherwise: the normal cone, or Voronoi region, of the
//! edge or vertex. For an edge it is between the normals of its two triangles; for a vertex it is all that is behind each of
//! its edges. On a flat or concave edge nothing is left of it but the normals.

use glam::DVec3;

use crate::Surface;
use crate::edges::{edges, sides};

/// Stands for no triangle.
pub const NONE: u32 = u32::MAX;

/// An edge is flat if the sine of the angle by which the surface bends there is below this.
const FLAT: f64 = 1e-5;

/// How a surface bends at an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bend {
    /// A ridge: the neighbour falls behind the plane of the triangle.
    Convex,
    /// The neighbour goes on in the plane of the triangle.
    Flat,
    /// A valley: the neighbour rises in front of the plane of the triangle.
    Concave,
    /// There is no neighbour, or more than one, or one that is seen from the other side.
    Open,
}

/// Neighbours of triangles and vertices. Side k of a triangle goes from its corner k to its corner k + 1.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Topology {
    neighbours: Vec<[u32; 3]>,
    bends: Vec<[Bend; 3]>,
    /// Outward unit normals.
    normals: Vec<DVec3>,
    /// Vertices at the other ends of the edges of vertex k are `ends[start[k]..start[k + 1]]`.
    ends: Vec<u32>,
    start: Vec<u32>,
    /// Triangles around vertex k are `fans[fan_start[k]..fan_start[k + 1]]`.
    fans: Vec<u32>,
    fan_start: Vec<u32>,
}

impl Topology {
    /// The topology of a surface.
    pub fn build(surface: &Surface) -> Self {
        let count = surface.triangles.len();
        let sides = sides(surface);
        let mut topology = Self {
            neighbours: vec![[NONE; 3]; count],
            bends: vec![[Bend::Open; 3]; count],
            normals: (0..count).map(|t| surface.doubled_area(t).normalize_or_zero()).collect(),
            ..Self::default()
        };
        for edge in edges(&sides).filter(|edge| edge.len() == 2 && edge[0].forward != edge[1].forward) {
            let bend = bend(surface, edge[0].triangle, edge[1].triangle, edge[1].corner);
            for (side, other) in [(edge[0], edge[1]), (edge[1], edge[0])] {
                topology.neighbours[side.triangle as usize][side.corner as usize] = other.triangle;
                topology.bends[side.triangle as usize][side.corner as usize] = bend;
            }
        }
        let ends = edges(&sides).flat_map(|edge| [edge[0].edge, [edge[0].edge[1], edge[0].edge[0]]]);
        let ends: Vec<[u32; 2]> = ends.collect();
        (topology.start, topology.ends) = lists(surface.vertices.len(), &ends);
        let fans = surface.triangles.iter().zip(0u32..).flat_map(|(t, k)| t.map(|vertex| [vertex, k]));
        (topology.fan_start, topology.fans) = lists(surface.vertices.len(), &fans.collect::<Vec<_>>());
        topology
    }

    /// The triangle across a side; [`NONE`] at an edge that is open.
    #[inline]
    pub fn neighbour(&self, triangle: usize, side: usize) -> u32 {
        self.neighbours[triangle][side]
    }

    /// How the surface bends at a side of a triangle.
    #[inline]
    pub fn bend(&self, triangle: usize, side: usize) -> Bend {
        self.bends[triangle][side]
    }

    /// The outward unit normal of a triangle; zero for one without area.
    #[inline]
    pub fn normal(&self, triangle: usize) -> DVec3 {
        self.normals[triangle]
    }

    /// The vertices to which edges go from a vertex.
    #[inline]
    pub fn ends(&self, vertex: u32) -> &[u32] {
        &self.ends[self.start[vertex as usize] as usize..self.start[vertex as usize + 1] as usize]
    }

    /// The triangles around a vertex.
    #[inline]
    pub fn fan(&self, vertex: u32) -> &[u32] {
        &self.fans[self.fan_start[vertex as usize] as usize..self.fan_start[vertex as usize + 1] as usize]
    }

    /// Whether a unit direction is in the normal cone of a side of a triangle: whether what is in that direction from the
    /// edge is beyond both triangles. `slack` is a sine by which it may miss. Along the edge the direction is not looked at.
    pub fn edge_holds(&self, surface: &Surface, triangle: usize, side: usize, direction: DVec3, slack: f64) -> bool {
        let corners = surface.corners(triangle);
        let along = (corners[(side + 1) % 3] - corners[side]).normalize_or_zero();
        let beyond = |normal: DVec3, along: DVec3| direction.dot(along.cross(normal)) >= -slack;
        let other = self.neighbours[triangle][side];
        beyond(self.normals[triangle], along) && (other == NONE || beyond(self.normals[other as usize], -along))
    }

    /// Whether a unit direction is in the normal cone of a vertex: whether what is in that direction from the vertex is behind
    /// all its edges. `slack` is a cosine by which it may miss.
    pub fn vertex_holds(&self, surface: &Surface, vertex: u32, direction: DVec3, slack: f64) -> bool {
        let at = surface.vertices[vertex as usize];
        self.ends(vertex).iter().all(|&end| {
            let edge = surface.vertices[end as usize] - at;
            edge.dot(direction) <= slack * edge.length()
        })
    }

    /// Bytes of memory that the topology has.
    pub fn bytes(&self) -> usize {
        self.neighbours.capacity() * size_of::<[u32; 3]>()
            + self.bends.capacity() * size_of::<[Bend; 3]>()
            + self.normals.capacity() * size_of::<DVec3>()
            + (self.ends.capacity() + self.start.capacity() + self.fans.capacity() + self.fan_start.capacity())
                * size_of::<u32>()
    }
}

/// How a surface bends from a triangle to a neighbour, whose side with a number is the edge between them.
fn bend(surface: &Surface, triangle: u32, neighbour: u32, side: u8) -> Bend {
    if surface.is_degenerate(triangle as usize) || surface.is_degenerate(neighbour as usize) {
        return Bend::Flat;
    }
    let normal = surface.doubled_area(triangle as usize).normalize();
    let other = surface.doubled_area(neighbour as usize).normalize();
    let corners = surface.corners(neighbour as usize);
    let from = corners[side as usize];
    let along = (corners[(side as usize + 1) % 3] - from).normalize();
    // From the edge into the neighbour.
    let into = other.cross(along);
    let rise = into.dot(normal);
    // Folded back upon itself, the rise is nothing but rounding: then the surface has an edge as sharp as can be.
    if rise.abs() <= FLAT {
        return if normal.dot(other) > 0.0 { Bend::Flat } else { Bend::Convex };
    }
    if rise > 0.0 { Bend::Concave } else { Bend::Convex }
}

/// Lists of the second numbers by the first, one after the other, and where each begins.
fn lists(count: usize, pairs: &[[u32; 2]]) -> (Vec<u32>, Vec<u32>) {
    let mut start = vec![0u32; count + 1];
    pairs.iter().for_each(|pair| start[pair[0] as usize + 1] += 1);
    for k in 0..count {
        start[k + 1] += start[k];
    }
    let mut next = start.clone();
    let mut list = vec![0; pairs.len()];
    for &[first, second] in pairs {
        list[next[first as usize] as usize] = second;
        next[first as usize] += 1;
    }
    (start, list)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Tree;
    use crate::random::Random;

    #[test]
    fn a_box_is_flat_within_faces_and_convex_between() {
        for scale in [1e-4, 1.0, 1e3] {
            let cube = Surface::cuboid(scale * DVec3::new(1.0, 2.0, 0.1));
            let topology = Topology::build(&cube);
            let bends: Vec<Bend> = (0..12).flat_map(|t| [0, 1, 2].map(|k| topology.bend(t, k))).collect();
            assert_eq!(bends.iter().filter(|&&b| b == Bend::Flat).count(), 12);
            assert_eq!(bends.iter().filter(|&&b| b == Bend::Convex).count(), 24);
            // Seen from within, ridges are valleys.
            let inner = Topology::build(&cube.flipped());
            let concave = (0..12).flat_map(|t| [0, 1, 2].map(|k| inner.bend(t, k))).filter(|&b| b == Bend::Concave);
            assert_eq!(concave.count(), 24);
        }
    }

    #[test]
    fn neighbours_have_their_edge_in_common() {
        let sphere = Surface::sphere(1.0, 2);
        let topology = Topology::build(&sphere);
        for t in 0..sphere.triangles.len() {
            for k in 0..3 {
                let other = topology.neighbour(t, k) as usize;
                let back = (0..3).find(|&j| topology.neighbour(other, j) as usize == t).unwrap();
                assert_eq!(sphere.triangles[t][k], sphere.triangles[other][(back + 1) % 3]);
                assert_eq!(sphere.triangles[t][(k + 1) % 3], sphere.triangles[other][back]);
                assert_eq!(topology.bend(t, k), Bend::Convex);
            }
            for vertex in sphere.triangles[t] {
                assert!(topology.fan(vertex).contains(&(t as u32)));
                assert_eq!(topology.fan(vertex).len(), topology.ends(vertex).len());
            }
        }
        let mut open = sphere;
        open.triangles.pop();
        let topology = Topology::build(&open);
        let sides = (0..open.triangles.len()).flat_map(|t| [0, 1, 2].map(|k| (t, k)));
        let free = sides.filter(|&(t, k)| topology.neighbour(t, k) == NONE && topology.bend(t, k) == Bend::Open);
        assert_eq!(free.count(), 3);
    }

    /// The cone of an edge or vertex holds the directions to points whose nearest point of the surface it is.
    #[test]
    fn cones_are_voronoi_regions() {
        let mut random = Random::new(6);
        let half = DVec3::new(1.0, 0.5, 0.7);
        let cube = Surface::cuboid(half);
        let topology = Topology::build(&cube);
        let tree = Tree::build(&cube);
        let mut seen = [0; 2];
        for _ in 0..5000 {
            let point = 2.5 * random.point();
            if tree.inside(&cube, point) {
                continue;
            }
            let (on, t) = tree.nearest(&cube, point).unwrap();
            let triangle = t as usize;
            let direction = (point - on).normalize();
            for k in 0..3 {
                let vertex = cube.triangles[triangle][k];
                let holds = topology.vertex_holds(&cube, vertex, direction, 1e-9);
                if on == cube.vertices[vertex as usize] {
                    assert!(holds);
                    seen[0] += 1;
                } else if direction.abs().max_element() < 0.999 {
                    // Off the faces' normals, no other vertex would have it.
                    assert!(
                        !holds || direction.abs().min_element() < 1e-9 || (on.abs() - half).abs().max_element() < 1e-9
                    );
                }
                let a = cube.vertices[vertex as usize];
                let b = cube.vertices[cube.triangles[triangle][(k + 1) % 3] as usize];
                let along = (b - a).normalize();
                let off = (on - a).reject_from_normalized(along).length();
                if off < 1e-9 && direction.dot(along).abs() < 1e-9 {
                    assert!(topology.edge_holds(&cube, triangle, k, direction, 1e-9));
                    // To the other side it is not in the cone.
                    assert!(
                        !topology.edge_holds(&cube, triangle, k, -direction, 1e-9)
                            || topology.bend(triangle, k) == Bend::Flat
                    );
                    seen[1] += 1;
                }
            }
        }
        assert!(seen[0] > 100 && seen[1] > 100, "{seen:?}");
    }
}
