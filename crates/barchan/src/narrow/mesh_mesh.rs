//! Two surfaces of triangles: every triangle of one, as a flat solid, at the other.

use super::ContactPoint;
use super::convex_mesh::{self, Guest};
use super::reduce::Gathered;
use super::solids::{Stand, mirrored};
use super::triangles::{Facet, flat};
use crate::shape::Scaled;
use barchan_convex::Placed;
use glam::DVec3;

/// A closed surface is touched along directions that make a smaller cosine with its normal.
const OUTER: f64 = 0.1;
/// How far a triangle may be through a face of a closed surface, in the size of its own.
const SHALLOW: f64 = 0.25;

/// Calls `found` for every contact of two meshes, A and B, with a gap up to `reach`.
pub(super) fn visit(
    [(a, own), (b, other)]: [(&Stand<'_>, Scaled<'_>); 2],
    reach: f64,
    found: &mut dyn FnMut(ContactPoint),
) {
    // The finer one gives the triangles: its corners are what sticks out. Of two alike it is the same one whichever
    // comes first.
    let counts = [own, other].map(|mesh| mesh.triangles.surface.triangles.len());
    let offset = b.x - a.x;
    let is_later = counts[0] == counts[1] && offset[offset.abs().max_position()] < 0.0;
    if counts[0] < counts[1] || is_later {
        return visit([(b, other), (a, own)], reach, &mut |touch| found(mirrored(touch)));
    }
    // Of two solids the faces that look the other way are near as well.
    let part = if other.triangles.is_closed { SHALLOW } else { 1.0 };
    let through = if own.triangles.is_closed { part * own.triangles.size * own.scale } else { 0.0 };
    let around = reach.max(through);
    // What is inside of a closed surface is on the side of a sheet that it came from, also where a corner is through.
    let inside = a.x + a.r * (own.triangles.centre * own.scale);
    // What a surface that is deep within the other has: the face that looks the other way the least.
    let mut spare: Option<(f64, ContactPoint)> = None;
    let mut gathered = Gathered::new(own.triangles.surface.size() * own.scale);
    // The box of B in the frame of A.
    let back = a.r.transpose();
    let turn = back * b.r;
    let [low, high] = other.triangles.box_turned(&turn).map(|x| back * (b.x - a.x) + x * other.scale);
    let scale = 1.0 / own.scale;
    own.triangles.tree.visit((low - around) * scale, (high + around) * scale, |triangle| {
        let Some(facet) = Facet::new(own, triangle, DVec3::ZERO) else { return };
        let seen = flat(facet.corners);
        let solid = Placed { position: a.x + a.r * seen.position, rotation: a.r, ..seen };
        let outward = if own.triangles.is_closed { a.r * facet.normal } else { DVec3::ZERO };
        let home = if own.triangles.is_closed { inside } else { solid.position };
        let guest = Guest { solid: &solid, part: facet.number(), home, through, outward };
        convex_mesh::visit(&guest, (b, other), reach, &mut |touch| {
            // A closed surface touches with its outer side.
            let facing = touch.normal.dot(outward);
            if facing <= OUTER {
                gathered.push(touch);
            } else if touch.gap <= 0.0 && spare.is_none_or(|(least, _)| facing < least) {
                spare = Some((facing, touch));
            }
        });
    });
    // A contact that was found is never dropped.
    if let Some((_, touch)) = spare.filter(|_| !gathered.has_overlap()) {
        gathered.push(touch);
    }
    gathered.finish(found);
}
