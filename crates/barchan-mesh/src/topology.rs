//! Which triangles are neighbours, and how the surface bends between them.
//!
//! A body that slides over a flat floor of many triangles must not feel their edges. What a triangle's edge or vertex may
//! push is limited to directions that no triangle beside it would push otherwise: the normal cone, or Voronoi region, of the
//! edge or vertex. For an edge it is between the normals of its two triangles; for a vertex it is all that is behind each of
//! its edges. On a flat or concave edge nothing is left of it but the normals.
//!
//! A surface with faults has its neighbours by geometry ([`Topology::by_geometry`]): vertices in one place are one, however
//! triangles are wound; triangles without area are passed over; and edges that lie on each other in part are neighbours there,
//! which is what such triangles leave behind, and what surfaces have that were cut unevenly.

use glam::DVec3;

use crate::edges::{Side, edges, sides};
use crate::{Surface, Tree};

/// Vertices are one place within this part of the surface's size.
const NEAR: f64 = 1e-9;
/// A triangle is passed over if its height is below this part of its longest edge, and edges lie on each other if they are
/// not farther off than twice this part of their length.
const SLIVER: f64 = 1e-6;
/// Of more triangles at one edge, each has about so many of the others for neighbours, evenly chosen: they go all around it.
const CROWD: usize = 32;
/// Sides that lie on each other are looked for so often, and so often more for each open side: no surface needs as much that
/// is not crowded at a vertex within many sides.
const MOST_LOOKS: usize = 10_000_000;
const MOST_LOOKS_EACH: usize = 1000;

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

/// A triangle across a side of another one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Neighbour {
    /// The triangle.
    pub triangle: u32,
    /// Its vertex that is not on the side.
    pub tip: u32,
}

/// Neighbours of triangles and vertices. Side k of a triangle goes from its corner k to its corner k + 1.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Topology {
    /// Triangles across side k of triangle t are `across[across_start[3t + k]..across_start[3t + k + 1]]`.
    across: Vec<Neighbour>,
    across_start: Vec<u32>,
    bends: Vec<[Bend; 3]>,
    /// Outward unit normals.
    normals: Vec<DVec3>,
    /// Vertices at the other ends of the edges of vertex k are `ends[start[k]..start[k + 1]]`.
    ends: Vec<u32>,
    start: Vec<u32>,
    /// Triangles around vertex k are `fans[fan_start[k]..fan_start[k + 1]]`.
    fans: Vec<u32>,
    fan_start: Vec<u32>,
    /// The first vertex in the place of each, where several may be; empty if there are no such.
    first: Vec<u32>,
}

impl Topology {
    /// The topology of a surface whose neighbours share indices of vertices. Those that are seen from different sides, or are
    /// more than two at an edge, are none.
    pub fn build(surface: &Surface) -> Self {
        let sides = sides(surface);
        let is_pair = |edge: &&[Side]| edge.len() == 2 && edge[0].forward != edge[1].forward;
        let pairs = edges(&sides).filter(is_pair).flat_map(|edge| pairs(surface, edge)).collect();
        let touches = Touches { pairs, ..Touches::default() };
        Self::assemble(surface, &sides, touches, |t| surface.doubled_area(t).normalize_or_zero())
    }

    /// The topology of a surface with faults, by where its triangles are.
    pub fn by_geometry(surface: &Surface) -> Self {
        let first = surface.near_vertices(NEAR);
        let triangles = surface.triangles.iter().map(|t| t.map(|k| first[k as usize])).collect();
        let welded = Surface { vertices: surface.vertices.clone(), triangles };
        let is_sliver: Vec<bool> = (0..welded.triangles.len()).map(|t| welded.is_thinner(t, SLIVER)).collect();
        let mut sides = sides(&welded);
        sides.retain(|side| !is_sliver[side.triangle as usize]);
        let mut touches =
            Touches { pairs: edges(&sides).flat_map(|edge| pairs(&welded, edge)).collect(), ..Touches::default() };
        let open: Vec<Side> = edges(&sides).filter(|edge| edge.len() == 1).map(|edge| edge[0]).collect();
        touches.find_overlaps(&welded, &open);
        let normal = |t: usize| if is_sliver[t] { DVec3::ZERO } else { welded.doubled_area(t).normalize_or_zero() };
        Self { first, ..Self::assemble(&welded, &sides, touches, normal) }
    }

    /// From the sides of triangles, those of one edge together, and what else touches.
    fn assemble(surface: &Surface, sides: &[Side], touches: Touches, normal: impl Fn(usize) -> DVec3) -> Self {
        let count = surface.triangles.len();
        let normals: Vec<DVec3> = (0..count).map(normal).collect();
        let mut bends = vec![[Bend::Open; 3]; count];
        for edge in edges(sides).filter(|edge| edge.len() == 2 && edge[0].forward != edge[1].forward) {
            let bend = bend(surface, edge[0].triangle, edge[1].triangle, edge[1].corner);
            edge.iter().for_each(|side| bends[side.triangle as usize][side.corner as usize] = bend);
        }
        let (across_start, across) = lists(3 * count, &touches.pairs);
        let both = |edge: &[Side]| {
            let [a, b] = edge[0].edge;
            [(a, b), (b, a)]
        };
        let ends: Vec<(u32, u32)> = edges(sides).flat_map(both).chain(touches.ends).collect();
        let (start, ends) = lists(surface.vertices.len(), &ends);
        let fans = surface.triangles.iter().zip(0u32..).filter(|&(_, k)| normals[k as usize] != DVec3::ZERO);
        let fans = fans.flat_map(|(t, k)| t.map(|vertex| (vertex, k))).chain(touches.fans);
        let (fan_start, fans) = lists(surface.vertices.len(), &fans.collect::<Vec<_>>());
        Self { across, across_start, bends, normals, ends, start, fans, fan_start, first: Vec::new() }
    }

    /// The triangles across a side: none at an edge that is open, one where the surface is sound.
    #[inline]
    pub fn neighbours(&self, triangle: usize, side: usize) -> &[Neighbour] {
        let place = 3 * triangle + side;
        &self.across[self.across_start[place] as usize..self.across_start[place + 1] as usize]
    }

    /// The vertex whose lists are those of a vertex.
    #[inline]
    fn place(&self, vertex: u32) -> usize {
        self.first.get(vertex as usize).copied().unwrap_or(vertex) as usize
    }

    /// How the surface bends at a side of a triangle.
    #[inline]
    pub fn bend(&self, triangle: usize, side: usize) -> Bend {
        self.bends[triangle][side]
    }

    /// The outward unit normal of a triangle; zero for one without area to speak of.
    #[inline]
    pub fn normal(&self, triangle: usize) -> DVec3 {
        self.normals[triangle]
    }

    /// The vertices to which edges go from a vertex.
    #[inline]
    pub fn ends(&self, vertex: u32) -> &[u32] {
        let place = self.place(vertex);
        &self.ends[self.start[place] as usize..self.start[place + 1] as usize]
    }

    /// The triangles around a vertex.
    #[inline]
    pub fn fan(&self, vertex: u32) -> &[u32] {
        let place = self.place(vertex);
        &self.fans[self.fan_start[place] as usize..self.fan_start[place + 1] as usize]
    }

    /// Whether a unit direction is in the normal cone of a side of a triangle: whether what is in that direction from the
    /// edge is beyond both triangles. `slack` is a sine by which it may miss. Along the edge the direction is not looked at.
    pub fn edge_holds(&self, surface: &Surface, triangle: usize, side: usize, direction: DVec3, slack: f64) -> bool {
        let corners = surface.corners(triangle);
        let along = (corners[(side + 1) % 3] - corners[side]).normalize_or_zero();
        let from = corners[side];
        let leaves =
            |tip: DVec3| direction.dot((tip - from).reject_from_normalized(along).normalize_or_zero()) <= slack;
        let tips = self.neighbours(triangle, side).iter().map(|other| surface.vertices[other.tip as usize]);
        leaves(corners[(side + 2) % 3]) && tips.into_iter().all(leaves)
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
        self.across.capacity() * size_of::<Neighbour>()
            + self.bends.capacity() * size_of::<[Bend; 3]>()
            + self.normals.capacity() * size_of::<DVec3>()
            + [&self.across_start, &self.ends, &self.start, &self.fans, &self.fan_start, &self.first]
                .map(|list| list.capacity() * size_of::<u32>())
                .iter()
                .sum::<usize>()
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

/// What touches what: by the place of a side, which is three times the triangle and the side, and by vertices.
#[derive(Default)]
struct Touches {
    pairs: Vec<(u32, Neighbour)>,
    /// Ends of edges, and triangles, beside a vertex that is none of theirs.
    ends: Vec<(u32, u32)>,
    fans: Vec<(u32, u32)>,
}

/// The place of a side of a triangle.
fn place(side: &Side) -> u32 {
    3 * side.triangle + u32::from(side.corner)
}

/// What lies across a side of a triangle, as seen from a neighbour.
fn as_neighbour(surface: &Surface, side: &Side) -> Neighbour {
    let corners = surface.triangles[side.triangle as usize];
    Neighbour { triangle: side.triangle, tip: corners[(side.corner as usize + 2) % 3] }
}

/// Every side of an edge with every other one, or with some of them if there are many.
fn pairs(surface: &Surface, edge: &[Side]) -> Vec<(u32, Neighbour)> {
    let step = edge.len().div_ceil(CROWD);
    let others = |side: &Side| {
        let own = side.triangle;
        let place = place(side);
        let rest = edge.iter().step_by(step).filter(move |other| other.triangle != own);
        rest.map(move |other| (place, as_neighbour(surface, other))).collect::<Vec<_>>()
    };
    edge.iter().flat_map(others).collect()
}

impl Touches {
    /// Finds which open sides lie on each other in part, and which vertices lie on them.
    ///
    /// Of two sides that do, the shorter one has an end within the longer one that is no end of that: it is enough to look
    /// for ends along each side. Boxes of sides would meet much more often.
    fn find_overlaps(&mut self, surface: &Surface, open: &[Side]) {
        let lines: Vec<[DVec3; 2]> = open.iter().map(|side| side.edge.map(|v| surface.vertices[v as usize])).collect();
        let lengths: Vec<f64> = lines.iter().map(|line| line[0].distance(line[1])).collect();
        // Open sides by the vertices at their ends.
        let mut at: Vec<(u32, u32)> = open.iter().zip(0..).flat_map(|(side, k)| side.edge.map(|v| (v, k))).collect();
        at.sort_unstable();
        let ends: Vec<&[(u32, u32)]> = at.chunk_by(|a, b| a.0 == b.0).collect();
        let points = ends.iter().map(|list| [list[0].0; 3]).collect();
        let tree = Tree::build(&Surface { vertices: surface.vertices.clone(), triangles: points });
        let most = MOST_LOOKS + MOST_LOOKS_EACH * open.len();
        let mut looks = 0;
        let mut others = Vec::new();
        for (k, long) in open.iter().enumerate() {
            let near = 2.0 * SLIVER * lengths[k];
            others.clear();
            tree.visit_along(lines[k], near, |point| {
                let list = ends[point as usize];
                looks += 1;
                if long.edge.contains(&list[0].0) || looks >= most {
                    return;
                }
                looks += list.len();
                // Each pair once, from the longer side.
                let is_shorter = |other: usize| (lengths[other], other) < (lengths[k], k);
                let found = list.iter().map(|&(_, other)| other as usize);
                others.extend(found.filter(|&o| is_shorter(o) && open[o].triangle != long.triangle));
            });
            others.sort_unstable();
            others.dedup();
            others.iter().for_each(|&other| self.lay(surface, [long, &open[other]], near));
        }
        for list in [&mut self.ends, &mut self.fans] {
            list.sort_unstable();
            list.dedup();
        }
    }

    /// Notes what two sides are to each other, if they have more than a point in common.
    fn lay(&mut self, surface: &Surface, sides: [&Side; 2], near: f64) {
        let [long, short] = sides.map(|side| side.edge.map(|v| surface.vertices[v as usize]));
        let length = long[0].distance(long[1]);
        let along = (long[1] - long[0]) / length;
        if short.iter().any(|&p| (p - long[0]).reject_from_normalized(along).length() > near) {
            return;
        }
        let [from, to] = short.map(|p| (p - long[0]).dot(along));
        if from.max(to).min(length) - from.min(to).max(0.0) <= near {
            return;
        }
        let neighbours = sides.map(|side| as_neighbour(surface, side));
        self.pairs.extend([(place(sides[0]), neighbours[1]), (place(sides[1]), neighbours[0])]);
        for (own, other, line) in [(sides[0], neighbours[1], short), (sides[1], neighbours[0], long)] {
            // A vertex within the other side has the other triangle beside it as well.
            let way = (line[1] - line[0]).normalize_or_zero();
            for &vertex in &own.edge {
                let at = (surface.vertices[vertex as usize] - line[0]).dot(way);
                if at > near && at < line[0].distance(line[1]) - near {
                    self.ends.push((vertex, other.tip));
                    self.fans.push((vertex, other.triangle));
                }
            }
        }
    }
}

/// Lists of the second values by the first numbers, one after the other, and where each begins.
fn lists<T: Copy + Default>(count: usize, pairs: &[(u32, T)]) -> (Vec<u32>, Vec<T>) {
    let mut start = vec![0u32; count + 1];
    pairs.iter().for_each(|pair| start[pair.0 as usize + 1] += 1);
    for k in 0..count {
        start[k + 1] += start[k];
    }
    let mut next = start.clone();
    let mut list = vec![T::default(); pairs.len()];
    for &(first, second) in pairs {
        list[next[first as usize] as usize] = second;
        next[first as usize] += 1;
    }
    (start, list)
}

#[cfg(test)]
mod tests {
    use super::*;
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
                let &[Neighbour { triangle, tip }] = topology.neighbours(t, k) else { panic!("one neighbour") };
                let other = triangle as usize;
                let back = (0..3).find(|&j| topology.neighbours(other, j)[0].triangle as usize == t).unwrap();
                assert_eq!(sphere.triangles[other][(back + 2) % 3], tip);
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
        let free = sides.filter(|&(t, k)| topology.neighbours(t, k).is_empty() && topology.bend(t, k) == Bend::Open);
        assert_eq!(free.count(), 3);
    }

    /// Each triangle with vertices of its own.
    fn torn(surface: &Surface) -> Surface {
        let vertices = (0..surface.triangles.len()).flat_map(|t| surface.corners(t)).collect();
        let triangles = (0..surface.triangles.len() as u32).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]).collect();
        Surface { vertices, triangles }
    }

    #[test]
    fn neighbours_are_found_by_where_they_are() {
        let sphere = Surface::sphere(1.0, 2);
        let sound = Topology::build(&sphere);
        let mut torn = torn(&sphere);
        for t in (0..torn.triangles.len()).step_by(3) {
            torn.triangles[t].swap(1, 2);
        }
        let found = Topology::by_geometry(&torn);
        for t in 0..sphere.triangles.len() {
            let all = |topology: &Topology| {
                let mut all: Vec<u32> = (0..3).flat_map(|k| topology.neighbours(t, k)).map(|n| n.triangle).collect();
                all.sort_unstable();
                all
            };
            assert_eq!(all(&found), all(&sound));
            for vertex in torn.triangles[t] {
                assert!(found.fan(vertex).contains(&(t as u32)) && found.fan(vertex).len() >= 5);
                assert_eq!(found.fan(vertex).len(), found.ends(vertex).len());
            }
        }
        assert_eq!(Topology::by_geometry(&sphere), Topology { first: found_first(&sphere), ..sound });
    }

    /// Every vertex stands for itself.
    fn found_first(surface: &Surface) -> Vec<u32> {
        (0..surface.vertices.len() as u32).collect()
    }

    /// Two triangles on one side of an edge and one on the other, with a sliver between them or without.
    #[test]
    fn edges_that_lie_on_each_other_in_part_are_neighbours() {
        let places = [[0.0, 0.0], [2.0, 0.0], [1.0, -1.0], [0.7, 0.0], [0.5, 1.0], [1.5, 1.0]];
        let vertices: Vec<DVec3> = places.iter().map(|&[x, y]| DVec3::new(x, y, 0.0)).collect();
        let rest = [[0, 2, 1], [0, 3, 4], [3, 1, 5], [3, 5, 4]];
        for (triangles, shift) in [(rest.to_vec(), 0), ([&[[0, 1, 3]], &rest[..]].concat(), 1)] {
            let topology = Topology::by_geometry(&Surface { vertices: vertices.clone(), triangles });
            let across = |t: u32, side: usize| -> Vec<[u32; 2]> {
                let found = topology.neighbours((t + shift) as usize, side);
                let mut found: Vec<_> = found.iter().map(|n| [n.triangle - shift, n.tip]).collect();
                found.sort_unstable();
                found
            };
            assert_eq!(across(0, 2), [[1, 4], [2, 5]]);
            assert_eq!(across(1, 0), [[0, 2]]);
            assert_eq!(across(2, 0), [[0, 2]]);
            assert_eq!(across(0, 0), [[0; 2]; 0]);
            // The vertex within the long edge has the triangle on the other side beside it.
            assert!(topology.fan(3).contains(&shift) && topology.ends(3).contains(&2));
            assert!(shift == 0 || (topology.normal(0) == DVec3::ZERO && !topology.fan(3).contains(&0)));
        }
    }

    /// Every side once had every other one of its edge, which for 100 000 triangles on one edge did not fit into memory.
    #[test]
    fn neighbours_are_bounded_at_a_crowded_edge() {
        let count = 3000;
        let tip = |k: u32| DVec3::new(f64::from(k).cos(), f64::from(k).sin(), 0.0);
        let vertices = [DVec3::Z, -DVec3::Z].into_iter().chain((0..count).map(tip)).collect();
        let fan = Surface { vertices, triangles: (0..count).map(|k| [0, 1, 2 + k]).collect() };
        let topology = Topology::by_geometry(&fan);
        for t in 0..count as usize {
            assert!((CROWD / 2..=CROWD).contains(&topology.neighbours(t, 0).len()));
            // They go all around, so that nothing touches the edge itself.
            let out = fan.vertices[2 + (t + 1) % count as usize];
            assert!(!topology.edge_holds(&fan, t, 0, out, 1e-9));
        }
        assert!(topology.fan(0).len() == count as usize && topology.bytes() < 2000 * count as usize);
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
