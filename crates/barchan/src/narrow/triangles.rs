//! A triangle among its neighbours: in which directions its corners and edges may push.
//!
//! The points of a surface that are nearest to something lie where the way there is a normal of the surface: along the
//! normal of a face, between those of the two faces at an edge, among those of all faces at a corner. Of the nearest points
//! of every triangle by itself, those whose way is no such normal are only nearest because the neighbour was not looked
//! at. That is what inner edges would trip bodies with.

use crate::shape::{Scaled, Triangles};
use barchan_convex::{Core, Placed};
use glam::{DMat3, DVec3};

/// What noise may add to a direction.
const NOISE: f64 = 1e-6;
/// A direction with a larger cosine to the normal of a face is that normal.
const FLAT: f64 = 1.0 - 5e-7;

/// A triangle of a mesh, in the frame of the mesh and at its scale.
#[derive(Clone, Copy)]
pub(super) struct Facet<'a> {
    mesh: &'a Triangles,
    scale: f64,
    triangle: u32,
    pub(super) corners: [DVec3; 3],
    /// Unit normal; towards the side that is looked from, if the mesh has no inside.
    pub(super) normal: DVec3,
    /// Whether it is seen from behind.
    is_turned: bool,
}

/// The part of a triangle on which a point lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// Its inside.
    Face,
    /// The edge from this corner to the next.
    Edge(usize),
    /// A corner.
    Corner(usize),
}

impl<'a> Facet<'a> {
    /// A triangle as seen from a point; `None` if it has no area to speak of.
    pub(super) fn new(mesh: Scaled<'a>, triangle: u32, seen_from: DVec3) -> Option<Self> {
        if mesh.triangles.topology.normal(triangle as usize) == DVec3::ZERO {
            return None;
        }
        let corners = corners(mesh.triangles, triangle).map(|p| p * mesh.scale);
        let normal = mesh.triangles.topology.normal(triangle as usize);
        if normal == DVec3::ZERO {
            return None;
        }
        // A sheet has no inside: it holds from both sides.
        let is_turned = !mesh.triangles.is_closed && (seen_from - corners[0]).dot(normal) < 0.0;
        let normal = if is_turned { -normal } else { normal };
        Some(Self { mesh: mesh.triangles, scale: mesh.scale, triangle, corners, normal, is_turned })
    }

    /// Whether a ball is wholly on one side of the plane of a triangle, farther from it than `reach` or behind what is
    /// closed: told before anything else is asked of the triangle.
    pub(super) fn is_beyond(mesh: Scaled<'_>, triangle: u32, (centre, radius): (DVec3, f64), reach: f64) -> bool {
        let corner = mesh.triangles.surface.triangles[triangle as usize][0];
        let from = centre - mesh.triangles.surface.vertices[corner as usize] * mesh.scale;
        let height = from.dot(mesh.triangles.topology.normal(triangle as usize));
        height > radius + reach || height < -(radius + if mesh.triangles.is_closed { 0.0 } else { reach })
    }

    /// A number that the triangle's features have in common.
    pub(super) fn number(&self) -> u32 {
        self.triangle
    }

    /// The point nearest to another one, and where on the triangle it lies.
    pub(super) fn nearest(&self, x: DVec3) -> (DVec3, Place) {
        let [p, q, r] = self.corners;
        // Voronoi regions of the corners, then of the edges (Ericson 2005, 5.1.5).
        let (pq, pr, px) = (q - p, r - p, x - p);
        let (d1, d2) = (pq.dot(px), pr.dot(px));
        if d1 <= 0.0 && d2 <= 0.0 {
            return (p, Place::Corner(0));
        }
        let qx = x - q;
        let (d3, d4) = (pq.dot(qx), pr.dot(qx));
        if d3 >= 0.0 && d4 <= d3 {
            return (q, Place::Corner(1));
        }
        let vc = d1 * d4 - d3 * d2;
        if vc <= 0.0 && d1 >= 0.0 && d3 <= 0.0 {
            return (p + pq * (d1 / (d1 - d3)), Place::Edge(0));
        }
        let rx = x - r;
        let (d5, d6) = (pq.dot(rx), pr.dot(rx));
        if d6 >= 0.0 && d5 <= d6 {
            return (r, Place::Corner(2));
        }
        let vb = d5 * d2 - d1 * d6;
        if vb <= 0.0 && d2 >= 0.0 && d6 <= 0.0 {
            return (p + pr * (d2 / (d2 - d6)), Place::Edge(2));
        }
        let va = d3 * d6 - d5 * d4;
        if va <= 0.0 && d4 - d3 >= 0.0 && d5 - d6 >= 0.0 {
            return (q + (r - q) * ((d4 - d3) / ((d4 - d3) + (d5 - d6))), Place::Edge(1));
        }
        let height = px.dot(self.normal);
        (x - self.normal * height, Place::Face)
    }

    /// Where on the triangle one of its points lies, to within a slack.
    pub(super) fn place(&self, point: DVec3, slack: f64) -> Place {
        let c = self.corners;
        if let Some(k) = (0..3).find(|&k| c[k].distance_squared(point) <= slack * slack) {
            return Place::Corner(k);
        }
        let off = |k: usize| {
            let along = c[(k + 1) % 3] - c[k];
            (point - c[k]).cross(along).length() / along.length()
        };
        (0..3).find(|&k| off(k) <= slack).map_or(Place::Face, Place::Edge)
    }

    /// Whether a unit vector that leads away from the surface is a normal of it at this place.
    pub(super) fn is_normal(&self, d: DVec3, place: Place) -> bool {
        if d.dot(self.normal) > FLAT {
            return true;
        }
        match place {
            Place::Face => d.dot(self.normal) > 0.0,
            Place::Edge(k) => {
                let from = self.corners[k];
                let along = self.along(k);
                let own = outward(along, self.corners[(k + 2) % 3] - from);
                self.leaves(d, own)
                    && self.mesh.topology.neighbours(self.triangle as usize, k).iter().all(|other| {
                        let over = outward(along, self.scaled(other.tip) - from);
                        self.leaves(d, over) && self.is_outside(d, other.triangle)
                    })
            }
            Place::Corner(k) => {
                let v = self.mesh.surface.triangles[self.triangle as usize][k];
                let x = self.corners[k];
                let leads_back = |&w: &u32| d.dot((self.scaled(w) - x).normalize_or_zero()) <= NOISE;
                self.mesh.topology.ends(v).iter().all(leads_back)
                    && self.mesh.topology.fan(v).iter().any(|&t| self.is_outside(d, t))
            }
        }
    }

    /// A direction between the normals of all faces at a place.
    pub(super) fn between_normals(&self, place: Place) -> DVec3 {
        let outer = |t: u32| {
            let normal = self.mesh.topology.normal(t as usize);
            if self.is_turned { -normal } else { normal }
        };
        let sum = match place {
            Place::Face => self.normal,
            Place::Edge(k) => {
                let out_of = |tip: DVec3| outward(self.along(k), tip - self.corners[k]);
                let own = out_of(self.corners[(k + 2) % 3]);
                match self.mesh.topology.neighbours(self.triangle as usize, k) {
                    [] => self.normal + own,
                    [other, ..] if self.mesh.is_closed => self.normal + outer(other.triangle),
                    // The side of a sheet that is seen goes on over the edge, however the neighbour is wound.
                    [other, ..] => {
                        let side = self.along(k).cross(own).dot(self.normal);
                        self.normal - self.along(k).cross(out_of(self.scaled(other.tip))) * side
                    }
                }
            }
            Place::Corner(k) => {
                let v = self.mesh.surface.triangles[self.triangle as usize][k];
                self.mesh.topology.fan(v).iter().map(|&t| outer(t)).map(|n| self.towards(n)).sum()
            }
        };
        sum.try_normalize().unwrap_or(self.normal)
    }

    /// Two directions across a normal in which it may be turned: at an edge only one.
    pub(super) fn sides(&self, normal: DVec3, place: Place) -> (DVec3, DVec3) {
        match place {
            Place::Edge(k) => (normal.cross(self.along(k)), DVec3::ZERO),
            _ => normal.any_orthonormal_pair(),
        }
    }

    /// The direction of an edge.
    fn along(&self, k: usize) -> DVec3 {
        (self.corners[(k + 1) % 3] - self.corners[k]).normalize_or_zero()
    }

    /// Whether a direction does not lead over a face, which lies the other way from its edge.
    fn leaves(&self, d: DVec3, outward: DVec3) -> bool {
        d.dot(outward) >= -NOISE
    }

    /// Whether a direction leads to the outer side of another triangle, where there is one.
    fn is_outside(&self, d: DVec3, triangle: u32) -> bool {
        if !self.mesh.is_closed {
            return true;
        }
        d.dot(self.mesh.topology.normal(triangle as usize)) >= -NOISE || d.dot(self.normal) >= -NOISE
    }

    /// The normal of another triangle at a corner, on the side of a sheet that is seen.
    fn towards(&self, normal: DVec3) -> DVec3 {
        if !self.mesh.is_closed && normal.dot(self.normal) < 0.0 { -normal } else { normal }
    }

    /// A vertex at the scale of this triangle.
    fn scaled(&self, vertex: u32) -> DVec3 {
        self.mesh.surface.vertices[vertex as usize] * self.scale
    }

    /// Its three corners, anticlockwise about the normal.
    pub(super) fn seen(&self) -> [DVec3; 3] {
        let [p, q, r] = self.corners;
        if self.is_turned { [p, r, q] } else { [p, q, r] }
    }
}

/// The corners of a triangle at scale 1.
fn corners(mesh: &Triangles, triangle: u32) -> [DVec3; 3] {
    mesh.surface.triangles[triangle as usize].map(|v| mesh.surface.vertices[v as usize])
}

/// The unit vector in the plane of a triangle that leads out of it across an edge, from the way to the third corner.
fn outward(along: DVec3, to_tip: DVec3) -> DVec3 {
    -to_tip.reject_from_normalized(along).normalize_or_zero()
}

/// A triangle about its middle.
pub(super) fn flat(corners: [DVec3; 3]) -> Placed<'static> {
    let middle = (corners[0] + corners[1] + corners[2]) / 3.0;
    let core = Core::Triangle(corners.map(|p| p - middle));
    Placed { core, rounding: 0.0, position: middle, rotation: DMat3::IDENTITY }
}
