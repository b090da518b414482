//! A convex solid at a surface of triangles.
//!
//! Every triangle that the solid may reach is looked at by itself. The way from its nearest point counts if it is a
//! normal of the surface there ([`Facet::is_normal`]); otherwise a neighbour has a nearer point. Where the solid cuts into a
//! triangle the way out is along the normal of the face, if the solid stands over it. So nothing catches on inner edges,
//! and a wall of triangles holds as the plane does that it is cut from. What is left of all points is [reduced](super::reduce).

use super::reduce::Gathered;
use super::solids::{Stand, keyed};
use super::triangles::{Facet, Place, flat};
use super::{ContactPoint, FeatureKey};
use crate::shape::Scaled;
use barchan_convex::{Closest, Core, Manifold, Placed, Touch, closest};
use glam::DVec3;

/// Numbers of features of triangles: edges and corners by their triangle; faces are one, so that contacts keep their
/// impulses when they slide from one to the next.
const FACE: u32 = 0;

/// Slack with which a point of a triangle counts as on an edge, in sizes of the triangle.
const ON_EDGE: f64 = 1e-6;
/// The same where the solid cuts into the triangle, and the point is not as certain.
const CUT_EDGE: f64 = 1e-4;
/// Steps in search of the way out at an edge or a corner, and the smallest.
const STEPS: usize = 200;
const SMALLEST: f64 = 1e-7;
/// A direction that is nearer to the normal of a face is that normal.
const SQUARE: f64 = 1e-5;
/// The point that is nearest is one of the corners if none is nearer by this much, in sizes of the smaller body.
const DEEPER: f64 = 1e-6;
/// What its feature is called otherwise.
const DEEPEST: u32 = (1 << 30) + 1;
/// What lies over a triangle along a direction with a larger cosine to its normal lies nearly flat over it.
const BESIDE: f64 = 0.98;
/// How much deeper along the normal of a face than along the shortest way out an overlap may be: in depths, and in
/// reaches of the smaller of the two bodies.
const SOONEST: f64 = 2.0;
const SHALLOW: f64 = 0.05;

/// A convex solid at a mesh.
pub(super) struct Guest<'a> {
    /// Where it stands.
    pub(super) solid: &'a Placed<'a>,
    /// Its number among the parts of its body.
    pub(super) part: u32,
    /// Where its body is: which side of a sheet that is on decides to which side it is pushed.
    pub(super) home: DVec3,
    /// How far it may be through a face with all of it and still be pushed out. What has an inside is stopped before that,
    /// but a triangle of a surface that lies flush is through as soon as it touches.
    pub(super) through: f64,
    /// The outward normal of such a triangle: it is pushed out by faces that it looks at.
    pub(super) outward: DVec3,
}

/// The rim of a triangle, in the size of the smaller of two.
const RIM: f64 = 0.01;
/// Triangles look at each other if their normals make a smaller cosine.
const OPPOSITE: f64 = -0.7;

/// Calls `found` for every contact of a convex solid A with a mesh B, with a gap up to `reach`.
pub(super) fn visit(
    &Guest { solid: a, part, home, through, outward }: &Guest<'_>,
    (b, mesh): (&Stand<'_>, Scaled<'_>),
    reach: f64,
    found: &mut dyn FnMut(ContactPoint),
) {
    // Everything in the frame of the mesh.
    let back = b.r.transpose();
    let local = Placed { position: back * (a.position - b.x), rotation: back * a.rotation, ..*a };
    let to_world =
        |touch: ContactPoint| ContactPoint { point: b.x + b.r * touch.point, normal: b.r * touch.normal, ..touch };
    let bound = a.reach() + through;
    let extent = a.core.extent() + a.rounding + through;
    let gathered = Gathered::new(a.reach());
    let home = back * (home - b.x);
    let outward = back * outward;
    let mut search = Search {
        a: &local,
        part,
        home,
        through,
        outward,
        mesh,
        reach,
        bound,
        extent,
        gathered,
        spare: None,
        behind: None,
    };
    let [low, high] = local.aabb();
    let scale = 1.0 / mesh.scale;
    let around = reach.max(through);
    mesh.triangles.tree.visit((low - around) * scale, (high + around) * scale, |triangle| search.look_at(triangle));
    let Search { mut gathered, spare, behind, .. } = search;
    // A contact that was found is never dropped.
    if !gathered.has_overlap() {
        spare.or(behind).into_iter().for_each(|point| gathered.push(point));
    }
    gathered.finish(&mut |touch| found(to_world(touch)));
}

/// What is found of one solid, in the frame of the mesh.
struct Search<'a, 'b> {
    a: &'a Placed<'b>,
    part: u32,
    /// As the guest has them.
    home: DVec3,
    through: f64,
    outward: DVec3,
    mesh: Scaled<'a>,
    reach: f64,
    /// The radius of a ball about the solid, and half of the edges of a box about it that is turned as it is.
    bound: f64,
    extent: DVec3,
    gathered: Gathered,
    /// The deepest overlap whose normal is that of no place, for want of something better.
    spare: Option<ContactPoint>,
    /// The shortest way out for a solid whose core is wholly behind faces that its rounding still reaches.
    behind: Option<ContactPoint>,
}

impl Search<'_, '_> {
    fn look_at(&mut self, triangle: u32) {
        if Facet::is_beyond(self.mesh, triangle, (self.a.position, self.bound), self.reach) {
            return;
        }
        let Some(facet) = Facet::new(self.mesh, triangle, self.home) else { return };
        if matches!(self.a.core, Core::Point) {
            return self.ball(&facet);
        }
        let height = |p: DVec3| (p - facet.corners[0]).dot(facet.normal);
        let along = |d: DVec3| self.a.position + self.a.rotation * self.a.core.support(self.a.rotation.transpose() * d);
        // Not above the triangle by too much, and not wholly behind it.
        let lowest = height(along(-facet.normal)) - self.a.rounding;
        let highest = height(along(facet.normal)) + self.a.rounding;
        if lowest > self.reach || highest <= -self.through {
            return;
        }
        if self.is_beside(&facet) {
            return;
        }
        let triangle = flat(facet.seen());
        // A triangle of a surface that looks at this one, and is through it in part or with all of it.
        if lowest < 0.0 && lowest >= -self.through && self.outward.dot(facet.normal) < OPPOSITE {
            let way_out = self.out_of(&triangle, &facet);
            if self.is_pressed(&triangle, &way_out, &facet) {
                self.gather(&triangle, (&way_out, false), &facet);
                return;
            }
        }
        if highest > 0.0 {
            self.solid(&triangle, &facet);
        }
    }

    /// Whether a triangle of a surface is through another one along its normal by more than its rim.
    fn is_pressed(&self, triangle: &Placed<'_>, along: &Closest, facet: &Facet<'_>) -> bool {
        let (Core::Triangle(own), Core::Triangle(other)) = (self.a.core, triangle.core) else { return true };
        let size = self.a.reach().min(triangle.reach());
        let without_rim = |corners: [DVec3; 3], reach: f64| corners.map(|p| p * (1.0 - RIM * size / reach));
        let own = Placed { core: Core::Triangle(without_rim(own, self.a.reach())), ..*self.a };
        let other = Placed { core: Core::Triangle(without_rim(other, triangle.reach())), ..*triangle };
        let mut manifold = Manifold::default();
        manifold.add_along(&own, &other, along, self.reach);
        // What is only the deepest point may be anywhere.
        manifold.touches().iter().filter(|touch| touch.gap < 0.0 && touch.key[0] != DEEPEST).any(|touch| {
            let on_b = touch.point - touch.normal * (0.5 * touch.gap);
            facet.place(on_b, RIM * RIM * size) == Place::Face && facet.nearest(on_b).1 == Place::Face
        })
    }

    /// Whether a triangle is aside of the box about the solid that is turned as it is, by more than the reach.
    fn is_beside(&self, facet: &Facet<'_>) -> bool {
        let back = self.a.rotation.transpose();
        let [p, q, r] = facet.corners.map(|corner| back * (corner - self.a.position));
        let extent = self.extent + self.reach;
        (p.min(q).min(r) - extent).max_element() > 0.0 || (p.max(q).max(r) + extent).min_element() < 0.0
    }

    /// A ball touches where its centre is nearest.
    fn ball(&mut self, facet: &Facet<'_>) {
        let centre = self.a.position;
        let (nearest, place) = facet.nearest(centre);
        let way = centre - nearest;
        let distance = way.length();
        let height = (centre - facet.corners[0]).dot(facet.normal);
        if place == Place::Face {
            // Behind the face by less than its radius, it is pushed out the way it came.
            return self.push(centre - facet.normal * height, facet.normal, height);
        }
        if distance > self.reach + self.a.rounding || height < 0.0 {
            return;
        }
        let d = if distance > 0.0 { way / distance } else { facet.normal };
        if facet.is_normal(d, place) {
            self.push(nearest, d, distance);
        }
    }

    /// Notes where a ball touches, at a point of the surface.
    fn push(&mut self, on_mesh: DVec3, normal: DVec3, distance: f64) {
        let gap = distance - self.a.rounding;
        if gap <= self.reach {
            let key = FeatureKey { on_a: keyed(self.part, 0), on_b: FACE };
            self.gathered.push(ContactPoint { point: on_mesh + normal * (0.5 * gap), normal, gap, key });
        }
    }

    /// Any other solid.
    fn solid(&mut self, triangle: &Placed<'_>, facet: &Facet<'_>) {
        let Some(nearest) = closest(self.a, triangle, self.reach) else { return };
        let slack = if nearest.gap + self.a.rounding > 0.0 { ON_EDGE } else { CUT_EDGE };
        let place = facet.place(nearest.on_b, slack * triangle.core.reach());
        if facet.is_normal(nearest.normal, place) {
            let exact = self.squared(&nearest, triangle, facet);
            self.gather(triangle, (&exact, true), facet);
        } else if nearest.gap + self.a.rounding <= 0.0 {
            self.cut(triangle, &nearest, (facet, place));
        } else if nearest.normal.dot(facet.normal) > BESIDE {
            // A neighbour is nearer, but what lies nearly flat over this one as well has its other end here.
            let along = self.out_of(triangle, facet);
            if along.gap <= self.reach {
                self.gather(triangle, (&along, false), facet);
            }
        } else if nearest.gap <= 0.0 && place == Place::Face && nearest.normal.dot(facet.normal) < 0.0 {
            let out = self.out_of(triangle, facet);
            if self.behind.is_none_or(|behind| out.gap > behind.gap) {
                self.behind = Some(self.at(nearest.on_b, facet.normal, out.gap));
            }
        }
    }

    /// The same along the normal of the face, if only rounding tells the two apart.
    fn squared(&self, nearest: &Closest, triangle: &Placed<'_>, facet: &Facet<'_>) -> Closest {
        if nearest.normal.distance_squared(facet.normal) > SQUARE * SQUARE {
            return *nearest;
        }
        let along = self.out_of(triangle, facet);
        let is_same = (along.gap - nearest.gap).abs() <= SQUARE * self.a.reach().min(triangle.core.reach());
        if is_same { along } else { *nearest }
    }

    /// The way out along the normal of a face.
    fn out_of(&self, triangle: &Placed<'_>, facet: &Facet<'_>) -> Closest {
        let support = self.a.rotation * self.a.core.support(self.a.rotation.transpose() * -facet.normal);
        let lowest = self.a.position + support - facet.normal * self.a.rounding;
        let gap = (lowest - triangle.position).dot(facet.normal);
        Closest { gap, normal: facet.normal, on_a: lowest, on_b: lowest - facet.normal * gap }
    }

    /// The one contact at a point, for want of something better.
    fn at(&self, point: DVec3, normal: DVec3, gap: f64) -> ContactPoint {
        ContactPoint { point, normal, gap, key: FeatureKey { on_a: keyed(self.part, 1), on_b: 1 } }
    }

    /// The solid cuts into a triangle, and would leave it the soonest in a direction that is none of the surface: out along
    /// the best of those that are, unless that is far.
    fn cut(&mut self, triangle: &Placed<'_>, nearest: &Closest, (facet, place): (&Facet<'_>, Place)) {
        let smaller = self.a.reach().min(self.mesh.triangles.reach * self.mesh.scale);
        let enough = SOONEST * -nearest.gap + SHALLOW * smaller;
        let along = self.out_of(triangle, facet);
        let mut least =
            if -along.gap <= enough { self.gather(triangle, (&along, false), facet) } else { f64::INFINITY };
        let mut last = (nearest.normal, nearest.gap);
        if least > 0.0 && place != Place::Face {
            let (normal, gap) = self.way_out((facet, place), nearest.on_b);
            if -gap <= enough {
                let on_a = nearest.on_b + normal * gap;
                least = self.gather(triangle, (&Closest { gap, normal, on_a, on_b: nearest.on_b }, false), facet);
                last = (normal, gap);
            }
        }
        if least > 0.0 && self.spare.is_none_or(|spare| last.1 < spare.gap) {
            self.spare = Some(self.at(0.5 * (nearest.on_a + nearest.on_b), last.0, last.1));
        }
    }

    /// Of the normals of the surface at a point of an edge or a corner, the one along which the solid leaves it the soonest,
    /// and how far it is beyond along that: by small steps to the sides.
    fn way_out(&self, (facet, place): (&Facet<'_>, Place), from: DVec3) -> (DVec3, f64) {
        let beyond = |d: DVec3| {
            let lowest = self.a.position + self.a.rotation * self.a.core.support(self.a.rotation.transpose() * -d);
            (lowest - from).dot(d) - self.a.rounding
        };
        let first = (facet.normal, beyond(facet.normal));
        let mut best = first;
        let better = |d: DVec3, best: &(DVec3, f64)| {
            let gap = beyond(d);
            (gap > best.1 && facet.is_normal(d, place)).then_some((d, gap))
        };
        let between = facet.between_normals(place);
        best = better(between, &best).unwrap_or(best);
        let mut step = 0.5;
        for _ in 0..STEPS {
            if step < SMALLEST {
                break;
            }
            let (u, v) = facet.sides(best.0, place);
            let sides = [u, -u, v, -v].into_iter().filter(|side| *side != DVec3::ZERO);
            match sides.map(|side| (best.0 + side * step).normalize()).find_map(|d| better(d, &best)) {
                Some(found) => best = found,
                None => step *= 0.5,
            }
        }
        if best.0.distance_squared(first.0) <= SQUARE * SQUARE { first } else { best }
    }

    /// Takes in the points where the solid and a triangle face each other along a normal, as far as they lie on the
    /// triangle. Returns the least of their gaps. Where the two are nearest is exact, or only along a face that is given.
    fn gather(&mut self, triangle: &Placed<'_>, (nearest, is_exact): (&Closest, bool), facet: &Facet<'_>) -> f64 {
        let mut manifold = Manifold::default();
        manifold.add_along(self.a, triangle, nearest, self.reach);
        let size = self.a.reach().min(triangle.core.reach());
        let is_on_triangle = |on_b: DVec3| facet.nearest(on_b).0.distance(on_b) <= 1e-3 * size;
        // The way out of all of a large solid is no depth at a corner of the mesh: points have depths of their own.
        let is_curved = matches!(self.a.core, Core::Cylinder { .. } | Core::Cone { .. } | Core::Ellipsoid { .. });
        let is_deepest_known = is_curved || is_exact;
        let mut least = f64::INFINITY;
        for touch in manifold.touches().iter().filter(|touch| is_deepest_known || touch.key[0] != DEEPEST) {
            if is_on_triangle(touch.point - touch.normal * (0.5 * touch.gap)) {
                self.gathered.push(self.contact(touch, facet));
                least = least.min(touch.gap);
            }
        }
        // Ends of what is curved may not be where it is nearest.
        let is_missed = if is_deepest_known { least > nearest.gap + DEEPER * size } else { least.is_infinite() };
        if is_missed && is_on_triangle(nearest.on_b) {
            let point = 0.5 * (nearest.on_a + nearest.on_b);
            let key = [DEEPEST; 2];
            self.gathered.push(self.contact(&Touch { point, normal: nearest.normal, gap: nearest.gap, key }, facet));
            least = nearest.gap;
        }
        least
    }

    fn contact(&self, touch: &Touch, facet: &Facet<'_>) -> ContactPoint {
        // Corners of the solid keep their names from triangle to triangle. What has none is named for the triangle.
        let is_own = touch.key[0] < 1 << 30;
        let on_b = if is_own { FACE } else { 2 + facet.number() };
        let key = FeatureKey { on_a: keyed(self.part, touch.key[0]), on_b };
        ContactPoint { point: touch.point, normal: touch.normal, gap: touch.gap, key }
    }
}
