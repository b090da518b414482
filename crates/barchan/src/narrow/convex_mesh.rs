//! A convex solid at a surface of triangles.
//!
//! Every triangle that the solid may reach is looked at by itself. The way from its nearest point counts if it is a
//! normal of the surface there ([`Facet::is_normal`]); otherwise a neighbour has a nearer point. Where the solid cuts into a
//! triangle the way out is along the normal of the face, if the solid stands over it. So nothing catches on inner edges,
//! and a wall of triangles holds as the plane does that it is cut from. What is left of all points is [reduced](super::reduce).

use super::reduce::Gathered;
use super::solids::{Stand, keyed};
use super::triangles::{Facet, Place};
use super::{ContactPoint, FeatureKey};
use crate::shape::Scaled;
use barchan_convex::{Closest, Core, Placed, Touch, closest, manifold_along};
use glam::{DMat3, DVec3};

/// Numbers of features of triangles: edges and corners by their triangle; faces are one, so that contacts keep their
/// impulses when they slide from one to the next.
const FACE: u32 = 0;

/// Slack with which a point of a triangle counts as on an edge, in sizes of the triangle.
const ON_EDGE: f64 = 1e-6;
/// The same where the solid cuts into the triangle, and the point is not as certain.
const CUT_EDGE: f64 = 1e-4;
/// How much deeper along the normal of a face than along the shortest way out an overlap may be: in depths, and in
/// reaches of the solid.
const SOONEST: f64 = 2.0;
const SHALLOW: f64 = 0.05;

/// Calls `found` for every contact of a convex solid A, part number `part` of its body, with a mesh B, with a gap up to
/// `reach`.
pub(super) fn visit(
    (a, part): (&Placed<'_>, u32),
    (b, mesh): (&Stand<'_>, Scaled<'_>),
    reach: f64,
    found: &mut dyn FnMut(ContactPoint),
) {
    // Everything in the frame of the mesh.
    let back = b.r.transpose();
    let local = Placed { position: back * (a.position - b.x), rotation: back * a.rotation, ..*a };
    let to_world =
        |touch: ContactPoint| ContactPoint { point: b.x + b.r * touch.point, normal: b.r * touch.normal, ..touch };
    let mut search = Search { a: &local, part, mesh, reach, gathered: Gathered::new(a.reach()), spare: None };
    let [low, high] = local.aabb();
    let scale = 1.0 / mesh.scale;
    mesh.triangles.tree.visit((low - reach) * scale, (high + reach) * scale, |triangle| search.look_at(triangle));
    let Search { mut gathered, spare, .. } = search;
    // A contact that was found is never dropped.
    if gathered.is_empty() {
        spare.into_iter().for_each(|point| gathered.push(point));
    }
    gathered.finish(&mut |touch| found(to_world(touch)));
}

/// What is found of one solid, in the frame of the mesh.
struct Search<'a, 'b> {
    a: &'a Placed<'b>,
    part: u32,
    mesh: Scaled<'a>,
    reach: f64,
    gathered: Gathered,
    /// The deepest overlap whose normal is that of no place, for want of something better.
    spare: Option<ContactPoint>,
}

impl Search<'_, '_> {
    fn look_at(&mut self, triangle: u32) {
        let Some(facet) = Facet::new(self.mesh, triangle, self.a.position) else { return };
        let height = |p: DVec3| (p - facet.corners[0]).dot(facet.normal);
        let along = |d: DVec3| self.a.position + self.a.rotation * self.a.core.support(self.a.rotation.transpose() * d);
        // Not above the triangle by too much, and not wholly behind it.
        let lowest = height(along(-facet.normal)) - self.a.rounding;
        if lowest > self.reach || height(along(facet.normal)) + self.a.rounding <= 0.0 {
            return;
        }
        if matches!(self.a.core, Core::Point) { self.ball(&facet) } else { self.solid(&facet) }
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
    fn solid(&mut self, facet: &Facet<'_>) {
        let middle = (facet.corners[0] + facet.corners[1] + facet.corners[2]) / 3.0;
        let core = Core::Triangle(facet.seen().map(|p| p - middle));
        let triangle = Placed { core, rounding: 0.0, position: middle, rotation: DMat3::IDENTITY };
        let Some(nearest) = closest(self.a, &triangle, self.reach) else { return };
        let slack = if nearest.gap + self.a.rounding > 0.0 { ON_EDGE } else { CUT_EDGE };
        let place = facet.place(nearest.on_b, slack * triangle.core.reach());
        if facet.is_normal(nearest.normal, place) {
            self.gather(&triangle, &nearest, facet);
        } else if nearest.gap + self.a.rounding <= 0.0 {
            self.cut(&triangle, &nearest, facet);
        }
    }

    /// The solid cuts into a triangle, and would leave it the soonest in a direction that is none of the surface: out along
    /// the normal of the face, unless that is far.
    fn cut(&mut self, triangle: &Placed<'_>, nearest: &Closest, facet: &Facet<'_>) {
        let support = self.a.rotation * self.a.core.support(self.a.rotation.transpose() * -facet.normal);
        let lowest = self.a.position + support - facet.normal * self.a.rounding;
        let gap = (lowest - triangle.position).dot(facet.normal);
        let is_near = -gap <= SOONEST * -nearest.gap + SHALLOW * self.a.reach();
        let along = Closest { gap, normal: facet.normal, on_a: lowest, on_b: lowest - facet.normal * gap };
        let count = if is_near { self.gather(triangle, &along, facet) } else { 0 };
        if count == 0 && self.spare.is_none_or(|spare| nearest.gap < spare.gap) {
            let key = FeatureKey { on_a: keyed(self.part, 1), on_b: 1 };
            let point = 0.5 * (nearest.on_a + nearest.on_b);
            self.spare = Some(ContactPoint { point, normal: nearest.normal, gap: nearest.gap, key });
        }
    }

    /// Takes in the points where the solid and a triangle face each other along a normal, as far as they lie on the
    /// triangle. Returns how many there are.
    fn gather(&mut self, triangle: &Placed<'_>, nearest: &Closest, facet: &Facet<'_>) -> usize {
        let manifold = manifold_along(self.a, triangle, nearest, self.reach);
        let mut count = 0;
        for touch in manifold.touches() {
            let on_b = touch.point - touch.normal * (0.5 * touch.gap);
            let (on_triangle, _) = facet.nearest(on_b);
            if on_triangle.distance(on_b) > 1e-3 * self.a.reach().min(triangle.core.reach()) {
                continue;
            }
            count += 1;
            self.gathered.push(self.contact(touch, facet));
        }
        count
    }

    fn contact(&self, touch: &Touch, facet: &Facet<'_>) -> ContactPoint {
        // Corners of the solid keep their names from triangle to triangle. What has none is named for the triangle.
        let is_own = touch.key[0] < 1 << 30;
        let on_b = if is_own { FACE } else { 2 + facet.number() };
        let key = FeatureKey { on_a: keyed(self.part, touch.key[0]), on_b };
        ContactPoint { point: touch.point, normal: touch.normal, gap: touch.gap, key }
    }
}
