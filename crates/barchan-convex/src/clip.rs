//! Lays the parts of two shapes that face each other over each other.
//!
//! Along the normal of the points which are nearest to each other, two parts ([`crate::feature`]) are seen as polygons or
//! edges. Corners of one within the other and crossings of their edges are where the shapes may touch next: two faces
//! overlap in a polygon, over which the gap is a linear function, so that its corners bound all of it. All that is asked of
//! corners and edges follows from how far the corners of one are within the lines of the edges of the other.

use crate::feature::{CORNERS, Feature};
use crate::manifold::{CROSSING, DEEPEST, FACE, FLUSH, Spot, spread};
use crate::{Closest, Manifold, Placed, Touch};
use arrayvec::ArrayVec;
use glam::{DVec2, DVec3};

/// Edges have numbers from here on.
const EDGES: u32 = 1 << 31;
/// Corners of an overlap at most.
const SPOTS: usize = 3 * CORNERS;
pub(crate) type Spots = ArrayVec<Spot, SPOTS>;

/// A name of the edge between two corners.
#[inline]
pub(crate) fn edge_name(from: u32, to: u32) -> u32 {
    EDGES | (from.min(to) & 0x7fff) << 16 | (from.max(to) & 0xffff)
}

/// Adds the points where two shapes touch, given where they are nearest to each other.
pub(crate) fn touches(a: &Placed<'_>, b: &Placed<'_>, nearest: &Closest, reach: f64, manifold: &mut Manifold) {
    let normal = nearest.normal;
    let origin = a.position;
    let above = a.feature(-normal, origin);
    let below = b.feature(normal, origin);
    let point = 0.5 * (nearest.on_a + nearest.on_b);
    if above.points().len() == 1 || below.points().len() == 1 {
        // A corner has one point at most; its name is that of what it touches.
        let name = |own: &Feature| if own.points().len() == 1 { own.ids()[0] } else { FACE };
        manifold.push(Touch { point, normal, gap: nearest.gap, key: [name(&above), name(&below)] });
        return;
    }
    let (t, u) = normal.any_orthonormal_pair();
    let sides = [&Side::new(&above, normal, [t, u]), &Side::new(&below, normal, [t, u])];
    let view = View {
        normal,
        axes: [t, u],
        origin,
        rounding: [a.rounding, b.rounding],
        reach,
        size: a.reach().min(b.reach()),
    };
    let overlap = Overlap { view, sides };
    let deepest = Touch { point, normal, gap: nearest.gap, key: [DEEPEST; 2] };
    if above.points().len() == 2 && below.points().len() == 2 {
        let radii = |rounding: f64, ends: [f64; 2]| ends.map(|radius| rounding + radius);
        overlap.edges(deepest, [radii(a.rounding, above.curvature), radii(b.rounding, below.curvature)], manifold);
    } else {
        overlap.faces(deepest, manifold);
    }
}

/// Two shapes as they are seen along the normal.
pub(crate) struct View {
    pub(crate) normal: DVec3,
    pub(crate) axes: [DVec3; 2],
    pub(crate) origin: DVec3,
    pub(crate) rounding: [f64; 2],
    pub(crate) reach: f64,
    /// Of the smaller shape.
    pub(crate) size: f64,
}

/// Two features seen along the normal.
struct Overlap<'a> {
    view: View,
    /// A's feature, which is above, and B's.
    sides: [&'a Side; 2],
}

/// A feature seen along the normal.
struct Side {
    flat: [DVec2; CORNERS],
    height: [f64; CORNERS],
    ids: [u32; CORNERS],
    len: usize,
    /// How its plane rises.
    slope: DVec2,
    /// The square of its extent, or nearly so.
    extent: f64,
}

impl Side {
    #[inline]
    fn new(feature: &Feature, normal: DVec3, axes: [DVec3; 2]) -> Self {
        let mut side = Self {
            flat: [DVec2::ZERO; CORNERS],
            height: [0.0; CORNERS],
            ids: [0; CORNERS],
            len: feature.points().len(),
            slope: DVec2::ZERO,
            extent: 0.0,
        };
        for (k, (&p, &id)) in feature.points().iter().zip(feature.ids()).enumerate() {
            side.flat[k] = DVec2::new(p.dot(axes[0]), p.dot(axes[1]));
            side.height[k] = p.dot(normal);
            side.ids[k] = id;
            side.extent = side.extent.max(side.flat[k].distance_squared(side.flat[0]));
        }
        let rise = feature.normal.dot(normal);
        if rise != 0.0 {
            side.slope = DVec2::new(feature.normal.dot(axes[0]), feature.normal.dot(axes[1])) / -rise;
        }
        side
    }

    fn is_face(&self) -> bool {
        self.len > 2
    }

    /// Number of its edges.
    fn edge_count(&self) -> usize {
        if self.is_face() { self.len } else { 1 }
    }

    /// The corner after one.
    fn next(&self, k: usize) -> usize {
        if k + 1 == self.len { 0 } else { k + 1 }
    }

    fn height_at(&self, flat: DVec2) -> f64 {
        self.height[0] + self.slope.dot(flat - self.flat[0])
    }

    /// A name of the edge from a corner to the next.
    fn edge_name(&self, i: usize) -> u32 {
        edge_name(self.ids[i], self.ids[self.next(i)])
    }

    /// How far points are on the left of the lines of the edges, a row an edge.
    #[inline]
    fn left_of_edges(&self, points: &[DVec2]) -> [[f64; CORNERS]; CORNERS] {
        let mut left = [[0.0; CORNERS]; CORNERS];
        for (i, row) in left.iter_mut().enumerate().take(self.edge_count()) {
            let from = self.flat[i];
            let edge = self.flat[self.next(i)] - from;
            let length_squared = edge.length_squared();
            // An edge seen end on has no sides.
            let across = if length_squared > 0.0 { edge.perp() / length_squared.sqrt() } else { DVec2::ZERO };
            for (value, &p) in row.iter_mut().zip(points) {
                *value = across.dot(p - from);
            }
        }
        left
    }
}

impl View {
    /// Where a point is seen.
    fn seen(&self, point: DVec3) -> DVec2 {
        let from = point - self.origin;
        DVec2::new(from.dot(self.axes[0]), from.dot(self.axes[1]))
    }

    /// A spot where the cores have these heights.
    #[inline]
    pub(crate) fn spot(&self, flat: DVec2, heights: [f64; 2], key: [u32; 2]) -> Spot {
        let high = heights[0] - self.rounding[0];
        let low = heights[1] + self.rounding[1];
        Spot { flat, height: 0.5 * (high + low), gap: high - low, key }
    }

    /// Adds the best of some spots, which are corners of a polygon, given the deepest point and where it is seen.
    pub(crate) fn choose(&self, spots: &mut Spots, deepest: Touch, flat: DVec2, flush: f64, manifold: &mut Manifold) {
        // Those within reach. None is deeper than the deepest: corners that a face only nearly holds may seem to be.
        spots.retain(|spot| spot.gap <= self.reach);
        spots.iter_mut().for_each(|spot| spot.gap = spot.gap.max(deepest.gap));
        let [t, u] = self.axes;
        let last = Spot { flat, gap: deepest.gap, ..Spot::default() };
        for choice in spread(spots, &last, flush, self.size) {
            manifold.push(match choice {
                None => deepest,
                Some(k) => {
                    let Spot { flat, height, gap, key } = spots[k];
                    let point = self.origin + t * flat.x + u * flat.y + self.normal * height;
                    Touch { point, normal: self.normal, gap, key }
                }
            });
        }
        manifold.deepen(deepest.gap);
    }
}

impl Overlap<'_> {
    fn flush(&self) -> f64 {
        FLUSH * self.sides[0].extent.min(self.sides[1].extent).sqrt()
    }

    /// Where two faces, or a face and an edge, overlap.
    fn faces(&self, deepest: Touch, manifold: &mut Manifold) {
        let flush = self.flush();
        let [above, below] = self.sides;
        let mut spots = Spots::new();
        // Corners of a face are in order as seen from outside: A's is seen from below here.
        let left = [below.left_of_edges(&above.flat[..above.len]), above.left_of_edges(&below.flat[..below.len])];
        let is_held = |own: usize, k: usize| {
            let sign = if own == 0 { 1.0 } else { -1.0 };
            let other = &self.sides[1 - own];
            other.is_face() && left[own][..other.len].iter().all(|row| sign * row[k] >= -flush)
        };
        let known = |spots: &[Spot], flat: DVec2| {
            spots.iter().position(|spot| spot.flat.distance_squared(flat) <= flush * flush)
        };
        // Corners of one that the other holds.
        for k in (0..above.len).filter(|&k| is_held(0, k)) {
            let flat = above.flat[k];
            spots.push(self.view.spot(flat, [above.height[k], below.height_at(flat)], [above.ids[k], FACE]));
        }
        for k in (0..below.len).filter(|&k| is_held(1, k)) {
            let flat = below.flat[k];
            // Corners that lie on each other are one point, with both their names.
            if let Some(same) = known(&spots, flat) {
                spots[same].key[1] = below.ids[k];
            } else {
                spots.push(self.view.spot(flat, [above.height_at(flat), below.height[k]], [FACE, below.ids[k]]));
            }
        }
        // Crossings of edges: either has its ends on both sides of the other.
        for i in 0..above.edge_count() {
            let j = above.next(i);
            for k in 0..below.edge_count() {
                let [p, q] = [left[0][k][i], left[0][k][j]];
                let l = below.next(k);
                let [r, s] = [left[1][i][k], left[1][i][l]];
                if p * q > 0.0 || r * s > 0.0 {
                    continue;
                }
                let edge = above.flat[j] - above.flat[i];
                if (p - q).powi(2) <= FLUSH * FLUSH * edge.length_squared() || r == s || spots.is_full() {
                    continue;
                }
                let t = p / (p - q);
                let flat = above.flat[i] + edge * t;
                if known(&spots, flat).is_none() {
                    let on_a = above.height[i] + t * (above.height[j] - above.height[i]);
                    let on_b = below.height[k] + r / (r - s) * (below.height[l] - below.height[k]);
                    spots.push(self.view.spot(flat, [on_a, on_b], [above.edge_name(i), below.edge_name(k)]));
                }
            }
        }
        self.view.choose(&mut spots, deepest, self.view.seen(deepest.point), flush, manifold);
    }

    /// Where two edges run beside each other; what is curved parts along the line of the two axes.
    fn edges(&self, deepest: Touch, radii: [[f64; 2]; 2], manifold: &mut Manifold) {
        let [above, below] = self.sides;
        let [d, e] = [above, below].map(|side| side.flat[1] - side.flat[0]);
        let [length_squared, other_squared] = [d.length_squared(), e.length_squared()];
        let is_crossing = d.perp_dot(e).powi(2) > CROSSING * CROSSING * length_squared * other_squared;
        if length_squared == 0.0 || other_squared == 0.0 || is_crossing {
            return manifold.push(deepest);
        }
        // Where the ends are along A's edge; B's may run the other way.
        let at = |flat: DVec2| (flat - above.flat[0]).dot(d) / length_squared;
        let ends = [at(below.flat[0]), at(below.flat[1])];
        let lower = usize::from(ends[1] < ends[0]);
        let spans = [[0.0, 1.0], [ends[lower], ends[1 - lower]]];
        let from_a = [spans[0][0] >= spans[1][0], spans[0][1] <= spans[1][1]];
        let shared = [spans[0][0].max(spans[1][0]), spans[0][1].min(spans[1][1])];
        let flush = self.flush();
        // Beside each other, not one behind the other.
        if (shared[1] - shared[0]) * length_squared.sqrt() <= flush {
            return manifold.push(deepest);
        }
        let mut spots: ArrayVec<Spot, 2> = ArrayVec::new();
        let mut touches: ArrayVec<Touch, 2> = ArrayVec::new();
        for k in [0, 1] {
            let t = shared[k];
            let v = (t - ends[0]) / (ends[1] - ends[0]);
            let flats = [above.flat[0] + d * t, below.flat[0] + e * v];
            let along = |[from, to]: [f64; 2], t: f64| from + t * (to - from);
            let heights = [along([above.height[0], above.height[1]], t), along([below.height[0], below.height[1]], v)];
            let radii = [along(radii[0], t), along(radii[1], v)];
            let key = if from_a[k] { [above.ids[k], FACE] } else { [FACE, below.ids[k ^ lower]] };
            let touch = self.between_axes(flats, heights, radii, key);
            if let Some(touch) = touch.filter(|touch| touch.gap <= self.view.reach) {
                spots.push(Spot { flat: flats[0], gap: touch.gap, ..Spot::default() });
                touches.push(touch);
            }
        }
        let last = Spot { flat: self.view.seen(deepest.point), gap: deepest.gap, ..Spot::default() };
        for choice in spread(&spots, &last, flush, self.view.size) {
            manifold.push(choice.map_or(deepest, |k| touches[k]));
        }
    }

    /// The point between two edges that are round about their axes; none if these have passed each other, aside of each
    /// other: there is no line to part along.
    fn between_axes(&self, flats: [DVec2; 2], heights: [f64; 2], radii: [f64; 2], key: [u32; 2]) -> Option<Touch> {
        let [t, u] = self.view.axes;
        let world = |flat: DVec2| t * flat.x + u * flat.y;
        let spot = self.view.spot(flats[1], heights, key);
        let radius = radii[0] + radii[1];
        let upright = spot.gap + radius;
        if radius == 0.0 || upright <= 0.0 {
            let point = self.view.origin + world(spot.flat) + self.view.normal * spot.height;
            let is_above = flats[0].distance_squared(flats[1]) <= self.flush().powi(2);
            return is_above.then_some(Touch { point, normal: self.view.normal, gap: spot.gap, key });
        }
        // From B's axis along the line of the two.
        let lateral = flats[0] - flats[1];
        let distance = (upright * upright + lateral.length_squared()).sqrt();
        let normal = (self.view.normal * upright + world(lateral)) / distance;
        let gap = distance - radius;
        let axis = heights[1] + self.view.rounding[1] - radii[1];
        let point = self.view.origin + world(flats[1]) + self.view.normal * axis + normal * (radii[1] + 0.5 * gap);
        Some(Touch { point, normal, gap, key })
    }
}
