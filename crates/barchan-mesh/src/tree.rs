//! A static tree of bounding boxes over the triangles of a surface.
//!
//! Triangles are split in two by the surface area heuristic: of sixteen slices along each axis the cut is taken that has the
//! least sum of area times number on both sides. Nodes are in the order of a walk to the left, and each knows where the walk
//! goes on if its box is missed, so that a search is one loop without a stack:
//!
//! ```text
//! node = 0
//! while node < count:  hit and inner -> node + 1;  hit and leaf -> report, skip(node);  missed -> skip(node)
//! ```
//!
//! Boxes are in single precision about the middle of the surface, rounded outwards. They hold every triangle, and a little
//! more.

use glam::{DVec3, Vec3};

use crate::Surface;
use crate::triangle;

/// Leaves have at most so many triangles.
const LEAF: usize = 4;
/// Slices along an axis of which the best cut is taken.
const SLICES: usize = 16;
/// Nodes as deep as this are split into equal halves, which bounds the depth for any surface.
const DEEP: usize = 64;

/// A box of the tree and what is in it.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Node {
    low: Vec3,
    /// First triangle of a leaf, as a place in `order`; `u32::MAX` for an inner node.
    first: u32,
    high: Vec3,
    /// Where the walk goes on behind this node and all below it. A leaf's triangles end where `count` of them are over.
    skip: u32,
    count: u32,
}

/// A tree over the triangles of a surface. It knows nothing of the surface but boxes: methods that need triangles are given
/// the surface from which the tree was built.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tree {
    middle: DVec3,
    nodes: Vec<Node>,
    order: Vec<u32>,
}

/// A box while the tree is built.
#[derive(Clone, Copy)]
struct Span {
    low: DVec3,
    high: DVec3,
}

impl Span {
    const NONE: Self = Self { low: DVec3::INFINITY, high: DVec3::NEG_INFINITY };

    fn with(self, other: Self) -> Self {
        Self { low: self.low.min(other.low), high: self.high.max(other.high) }
    }

    fn area(self) -> f64 {
        let edges = (self.high - self.low).max(DVec3::ZERO);
        edges.x * edges.y + edges.y * edges.z + edges.z * edges.x
    }
}

/// The next number in single precision that is not above.
fn below(x: DVec3) -> Vec3 {
    let near = |x: f64| if f64::from(x as f32) > x { (x as f32).next_down() } else { x as f32 };
    Vec3::new(near(x.x), near(x.y), near(x.z))
}

/// The next number in single precision that is not below.
fn above(x: DVec3) -> Vec3 {
    -below(-x)
}

/// What the tree is built from, and what has been built.
struct Builder<'a> {
    spans: &'a [Span],
    tree: Tree,
}

impl Builder<'_> {
    fn centre(&self, triangle: u32) -> DVec3 {
        let span = self.spans[triangle as usize];
        0.5 * (span.low + span.high)
    }

    /// Builds the node of `order[from..to]` and all below it.
    fn node(&mut self, from: usize, to: usize, depth: usize) {
        let all = self.tree.order[from..to].iter().fold(Span::NONE, |sum, &t| sum.with(self.spans[t as usize]));
        let at = self.tree.nodes.len();
        let leaf = to - from <= LEAF;
        self.tree.nodes.push(Node {
            low: below(all.low),
            high: above(all.high),
            first: if leaf { from as u32 } else { u32::MAX },
            count: if leaf { (to - from) as u32 } else { 0 },
            skip: 0,
        });
        if !leaf {
            let middle = self.split(from, to, depth);
            self.node(from, middle, depth + 1);
            self.node(middle, to, depth + 1);
        }
        self.tree.nodes[at].skip = self.tree.nodes.len() as u32;
    }

    /// Sorts `order[from..to]` into two parts, and says where the second one begins.
    fn split(&mut self, from: usize, to: usize, depth: usize) -> usize {
        let centres = self.tree.order[from..to].iter().fold(Span::NONE, |sum, &t| {
            let centre = self.centre(t);
            sum.with(Span { low: centre, high: centre })
        });
        let extent = centres.high - centres.low;
        let mut best = (f64::INFINITY, 0, 0);
        if depth < DEEP {
            for axis in 0..3 {
                if extent[axis] > 0.0 {
                    let cut = self.best_cut(from, to, axis, centres.low[axis], extent[axis]);
                    if cut.0 < best.0 {
                        best = (cut.0, axis, cut.1);
                    }
                }
            }
        }
        if best.0.is_finite() {
            // Those before the cut first; both parts keep their order, so that the tree is the same everywhere.
            let axis = best.1;
            let slice = |t: u32| slice_of(self.centre(t)[axis], centres.low[axis], extent[axis]);
            let part = &self.tree.order[from..to];
            let mut sorted: Vec<u32> = part.iter().copied().filter(|&t| slice(t) < best.2).collect();
            let count = sorted.len();
            sorted.extend(part.iter().copied().filter(|&t| slice(t) >= best.2));
            self.tree.order[from..to].copy_from_slice(&sorted);
            return from + count;
        }
        // All centres in one place, or very deep: equal halves along the longest axis.
        let axis = extent.max_position();
        let mut part = self.tree.order[from..to].to_vec();
        part.sort_by(|&a, &b| self.centre(a)[axis].total_cmp(&self.centre(b)[axis]).then(a.cmp(&b)));
        self.tree.order[from..to].copy_from_slice(&part);
        from + (to - from) / 2
    }

    /// The cost of the best cut along an axis, and the first slice behind it.
    fn best_cut(&self, from: usize, to: usize, axis: usize, low: f64, extent: f64) -> (f64, usize) {
        let mut slices = [(Span::NONE, 0usize); SLICES];
        for &t in &self.tree.order[from..to] {
            let slice = &mut slices[slice_of(self.centre(t)[axis], low, extent)];
            slice.0 = slice.0.with(self.spans[t as usize]);
            slice.1 += 1;
        }
        // Costs of all that is behind each cut, then cuts from the left.
        let mut behind = [(Span::NONE, 0usize); SLICES + 1];
        for k in (0..SLICES).rev() {
            behind[k] = (behind[k + 1].0.with(slices[k].0), behind[k + 1].1 + slices[k].1);
        }
        let mut before = (Span::NONE, 0usize);
        let mut best = (f64::INFINITY, 0);
        for k in 1..SLICES {
            before = (before.0.with(slices[k - 1].0), before.1 + slices[k - 1].1);
            if before.1 > 0 && behind[k].1 > 0 {
                let cost = before.0.area() * before.1 as f64 + behind[k].0.area() * behind[k].1 as f64;
                if cost < best.0 {
                    best = (cost, k);
                }
            }
        }
        best
    }
}

/// In which slice a coordinate is.
fn slice_of(x: f64, low: f64, extent: f64) -> usize {
    (((x - low) / extent * SLICES as f64) as usize).min(SLICES - 1)
}

impl Tree {
    /// The tree of a surface.
    pub fn build(surface: &Surface) -> Self {
        let (low, high) = surface.bounds().unwrap_or_default();
        let middle = 0.5 * (low + high);
        let spans: Vec<Span> = (0..surface.triangles.len())
            .map(|t| {
                let [a, b, c] = surface.corners(t).map(|p| p - middle);
                Span { low: a.min(b).min(c), high: a.max(b).max(c) }
            })
            .collect();
        let order = (0..surface.triangles.len() as u32).collect();
        let mut builder = Builder { spans: &spans, tree: Self { middle, nodes: Vec::new(), order } };
        if !spans.is_empty() {
            builder.node(0, spans.len(), 0);
        }
        builder.tree
    }

    /// About which point boxes are given to tests.
    pub(crate) fn middle(&self) -> DVec3 {
        self.middle
    }

    /// Every triangle of leaves whose box passes a test, in an order of its own. The test is given boxes about the middle.
    #[inline]
    pub(crate) fn walk(&self, mut hit: impl FnMut(Vec3, Vec3) -> bool, mut found: impl FnMut(u32)) {
        let mut at = 0;
        while let Some(node) = self.nodes.get(at) {
            if !hit(node.low, node.high) {
                at = node.skip as usize;
                continue;
            }
            if node.count > 0 {
                let first = node.first as usize;
                self.order[first..first + node.count as usize].iter().for_each(|&t| found(t));
            }
            at += 1;
        }
    }

    /// Visits every triangle whose bounding box meets a box, and some that are near to it. Nothing is allocated, and the order
    /// is always the same.
    #[inline]
    pub fn visit(&self, low: DVec3, high: DVec3, found: impl FnMut(u32)) {
        let low = below(low - self.middle);
        let high = above(high - self.middle);
        self.walk(|l, h| l.cmple(high).all() && low.cmple(h).all(), found);
    }

    /// Visits every triangle whose bounding box comes as near to a segment, and some others.
    pub(crate) fn visit_along(&self, [from, to]: [DVec3; 2], near: f64, found: impl FnMut(u32)) {
        let reach = std::cell::Cell::new(1.0);
        self.walk(self.ray_test(from, to - from, near, &reach), found);
    }

    /// The first triangle that a ray meets, from either side, and how far it is in lengths of the direction; none beyond
    /// `longest`.
    pub fn cast(&self, surface: &Surface, origin: DVec3, direction: DVec3, longest: f64) -> Option<(f64, u32)> {
        let mut best: Option<(f64, u32)> = None;
        let reach = std::cell::Cell::new(longest);
        let hit = self.ray_test(origin, direction, 0.0, &reach);
        self.walk(hit, |t| {
            if let Some(met) = triangle::ray(surface.corners(t as usize), origin, direction) {
                let better = best.is_none_or(|(far, other)| met.far < far || (met.far == far && t < other));
                if met.far <= longest && better {
                    best = Some((met.far, t));
                    reach.set(met.far);
                }
            }
        });
        best
    }

    /// Whether a ray meets a box before its end, where boxes are larger by a length on each side.
    fn ray_test<'a>(
        &self,
        origin: DVec3,
        direction: DVec3,
        around: f64,
        reach: &'a std::cell::Cell<f64>,
    ) -> impl FnMut(Vec3, Vec3) -> bool + 'a {
        let from = origin - self.middle;
        let inverse = direction.recip();
        move |low, high| {
            let mut enter: f64 = 0.0;
            let mut leave = reach.get();
            for k in 0..3 {
                let near = f64::from(low[k]) - around - from[k];
                let far = f64::from(high[k]) + around - from[k];
                if direction[k] == 0.0 {
                    if near > 0.0 || far < 0.0 {
                        return false;
                    }
                    continue;
                }
                let a = near * inverse[k];
                let b = far * inverse[k];
                enter = enter.max(a.min(b));
                leave = leave.min(a.max(b));
            }
            // Rounding must not lose a triangle that is flat in the face of its box.
            enter <= leave + 1e-12 * (enter.abs() + leave.abs())
        }
    }

    /// Whether a point is inside of a closed surface: whether the surface goes around it. Points on the surface may be either.
    ///
    /// A ray counts the triangles that it meets, with the sign of the side. One that comes near an edge is not believed, and
    /// another one is tried; after those, the solid angles of all triangles are added.
    pub fn inside(&self, surface: &Surface, point: DVec3) -> bool {
        // Directions that no drawing has.
        for direction in [
            DVec3::new(0.6134, 0.7039, 0.3519),
            DVec3::new(-0.2887, 0.3313, 0.8983),
            DVec3::new(0.5189, -0.8317, 0.1973),
            DVec3::new(-0.7417, -0.2239, -0.6323),
        ] {
            let reach = std::cell::Cell::new(f64::INFINITY);
            let mut turns = 0;
            let mut sure = true;
            let hit = self.ray_test(point, direction, 0.0, &reach);
            self.walk(hit, |t| {
                if let Some(met) = triangle::ray(surface.corners(t as usize), point, direction) {
                    sure &= met.clear;
                    turns += if met.outwards { 1 } else { -1 };
                }
            });
            if sure {
                return turns != 0;
            }
        }
        let angle: f64 = (0..surface.triangles.len()).map(|t| triangle::solid_angle(surface.corners(t), point)).sum();
        angle.abs() > std::f64::consts::TAU
    }

    /// The point of the surface that is nearest to a point, and its triangle. Of several that are as near, the one of the
    /// triangle with the lowest number. None without triangles.
    pub fn nearest(&self, surface: &Surface, point: DVec3) -> Option<(DVec3, u32)> {
        let from = point - self.middle;
        let reach = std::cell::Cell::new(f64::INFINITY);
        let mut best: Option<(DVec3, u32)> = None;
        let hit = |low: Vec3, high: Vec3| {
            let outside = (low.as_dvec3() - from).max(from - high.as_dvec3()).max(DVec3::ZERO);
            outside.length_squared() <= reach.get() * (1.0 + 1e-12)
        };
        self.walk(hit, |t| {
            let on = triangle::nearest(surface.corners(t as usize), point);
            let far = on.distance_squared(point);
            if far < reach.get() || (far == reach.get() && best.is_some_and(|(_, other)| t < other)) {
                reach.set(far);
                best = Some((on, t));
            }
        });
        best
    }

    /// Bytes of memory that the tree has.
    pub fn bytes(&self) -> usize {
        self.nodes.capacity() * size_of::<Node>() + self.order.capacity() * size_of::<u32>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    /// A surface with long thin triangles, of two parts, far from the origin.
    fn surface() -> Surface {
        let sphere = Surface::ellipsoid(DVec3::new(0.5, 3.0, 0.2), 3);
        let shift = DVec3::new(1000.0, -200.0, 3.0);
        Surface::merged([&sphere, &Surface::cylinder(0.7, 1.5, 60).mapped(|p| p + 4.0 * DVec3::X)])
            .mapped(|p| p + shift)
    }

    #[test]
    fn visits_are_those_of_brute_force() {
        let surface = surface();
        let tree = Tree::build(&surface);
        let mut random = Random::new(1);
        let (low, high) = surface.bounds().unwrap();
        for k in 0..2000 {
            let centre = low + (high - low) * (0.6 * random.point() + 0.5);
            let half = (0.5 * random.point().abs()).powf(1.0 + f64::from(k % 3));
            let mut found = Vec::new();
            tree.visit(centre - half, centre + half, |t| found.push(t));
            found.sort_unstable();
            assert!(found.windows(2).all(|pair| pair[0] < pair[1]), "a triangle twice");
            let mut outside = 0;
            for t in 0..surface.triangles.len() {
                let [a, b, c] = surface.corners(t);
                let meets = a.min(b).min(c).cmple(centre + half).all() && a.max(b).max(c).cmpge(centre - half).all();
                let visited = found.binary_search(&(t as u32)).is_ok();
                assert!(visited || !meets, "triangle {t} is missed");
                outside += usize::from(visited && !meets);
            }
            // Whole leaves are visited, but not much more.
            assert!(outside <= 40 + found.len(), "{outside} of {}", found.len());
        }
    }

    #[test]
    fn rays_and_nearest_points_are_those_of_brute_force() {
        let surface = surface();
        let tree = Tree::build(&surface);
        let mut random = Random::new(2);
        let (low, high) = surface.bounds().unwrap();
        let mut met = 0;
        for _ in 0..1000 {
            let point = low + (high - low) * (0.8 * random.point() + 0.5);
            let target = low + (high - low) * (0.5 * random.point() + 0.5);
            let direction = target - point;
            let all = 0..surface.triangles.len();
            let brute = all
                .clone()
                .filter_map(|t| triangle::ray(surface.corners(t), point, direction).map(|met| (met.far, t as u32)))
                .min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            assert_eq!(tree.cast(&surface, point, direction, f64::INFINITY), brute);
            met += usize::from(brute.is_some());
            if let Some((far, _)) = brute {
                assert_eq!(tree.cast(&surface, point, direction, 0.99 * far), None);
            }
            let near = all.map(|t| triangle::nearest(surface.corners(t), point).distance_squared(point));
            let (on, _) = tree.nearest(&surface, point).unwrap();
            assert_eq!(on.distance_squared(point), near.fold(f64::INFINITY, f64::min));
        }
        assert!(met > 200, "{met}");
    }

    #[test]
    fn points_are_inside_or_outside() {
        let surface = surface();
        let tree = Tree::build(&surface);
        let mut random = Random::new(3);
        let (low, high) = surface.bounds().unwrap();
        let mut inside = 0;
        for _ in 0..2000 {
            let point = low + (high - low) * (0.6 * random.point() + 0.5);
            let angle: f64 =
                (0..surface.triangles.len()).map(|t| triangle::solid_angle(surface.corners(t), point)).sum();
            assert_eq!(tree.inside(&surface, point), angle.abs() > std::f64::consts::TAU);
            inside += usize::from(angle.abs() > std::f64::consts::TAU);
        }
        assert!(inside > 50, "{inside}");
    }

    #[test]
    fn the_middle_of_a_box_is_inside_though_every_ray_is_special() {
        let cube = Surface::cuboid(DVec3::ONE);
        let tree = Tree::build(&cube);
        for k in 0..27 {
            let p = DVec3::new(f64::from(k % 3), f64::from(k / 3 % 3), f64::from(k / 9)) - 1.0;
            assert!(tree.inside(&cube, 0.999 * p) && (k == 13 || !tree.inside(&cube, 1.001 * p)));
        }
    }

    #[test]
    fn strange_surfaces_have_trees() {
        let empty = Tree::build(&Surface::default());
        empty.visit(DVec3::NEG_INFINITY, DVec3::INFINITY, |_| panic!("nothing is there"));
        assert_eq!(empty.nearest(&Surface::default(), DVec3::ZERO), None);
        // Many triangles in one place, and places at all scales.
        let mut surface = Surface { vertices: vec![DVec3::ZERO, DVec3::X, DVec3::Y], triangles: vec![[0, 1, 2]; 1000] };
        for k in 0..500 {
            let first = surface.vertices.len() as u32;
            surface.vertices.extend([DVec3::X, DVec3::Y, DVec3::Z].map(|p| p * 0.5f64.powi(k)));
            surface.triangles.push([first, first + 1, first + 2]);
        }
        let tree = Tree::build(&surface);
        let mut found = 0;
        tree.visit(DVec3::splat(-2.0), DVec3::splat(2.0), |_| found += 1);
        assert_eq!(found, 1500);
        assert_eq!(tree, Tree::build(&surface));
        assert!(tree.bytes() < 100 * 1500);
    }
}
