//! Whether two shapes keep a distance, by their true surfaces: for those who look for a free place.
//!
//! Convex solids are taken pair by pair. A surface of triangles is kept clear of by each triangle that is near; if it is
//! closed, nothing may stand inside of it either, where no triangle is near. That is told by a ray: from inside, it
//! crosses the surface an odd number of times.

use super::solids::Stand;
use super::triangles::flat;
use crate::shape::{Scaled, Shape, Solid};
use barchan_convex::{Closest, Core, Placed, are_apart, closest};
use glam::{DMat3, DVec3};

/// A bounded shape where it stands.
#[derive(Clone, Debug)]
pub(crate) struct Standing {
    pub(crate) shape: Shape,
    pub(crate) x: DVec3,
    pub(crate) r: DMat3,
}

impl Standing {
    /// Whether it is at least `gap` away from another one. What is unbounded is in nobody's way.
    pub(crate) fn is_clear_of(&self, other: &Self, gap: f64) -> bool {
        match (self.stand(), other.stand()) {
            (Some(a), Some(b)) => are_clear(&a, &b, gap),
            _ => true,
        }
    }

    /// Calls `found` for every two convex solids that are nearer than `gap`. Triangles are left out.
    pub(crate) fn overlaps(&self, other: &Self, gap: f64, found: &mut dyn FnMut(Closest)) {
        let (Some(a), Some(b)) = (self.stand(), other.stand()) else { return };
        a.convex_parts(|_, own| {
            b.convex_parts(|_, other| {
                let limit = own.reach() + other.reach() + gap;
                if (own.position - other.position).length_squared() < limit * limit {
                    closest(&own, &other, gap).into_iter().for_each(&mut *found);
                }
            });
        });
    }

    /// The radius of a ball about the origin that lies within one of its convex solids; 0 if there is none.
    pub(crate) fn inner_radius(shape: &Shape) -> f64 {
        let at_rest = Self { shape: shape.clone(), x: DVec3::ZERO, r: DMat3::IDENTITY };
        let origin = Placed { core: Core::Point, rounding: 0.0, position: DVec3::ZERO, rotation: DMat3::IDENTITY };
        let mut inner = 0.0f64;
        if let Some(stand) = at_rest.stand() {
            stand.convex_parts(|_, part| {
                let gap = closest(&origin, &part, 0.0).map_or(0.0, |found| found.gap);
                // A hair less: it must never claim what is free.
                inner = inner.max(-gap * (1.0 - 1e-6));
            });
        }
        inner
    }

    fn stand(&self) -> Option<Stand<'_>> {
        Some(Stand { solid: self.shape.solid()?, x: self.x, r: self.r, shape: &self.shape })
    }
}

fn are_clear(a: &Stand<'_>, b: &Stand<'_>, gap: f64) -> bool {
    match (a.solid, b.solid) {
        (Solid::Triangles(mesh), Solid::Triangles(other)) => {
            let seen = |t: u32| triangle(mesh, t).map(|p| b.r.transpose() * (a.x + a.r * p - b.x));
            let count = mesh.triangles.surface.triangles.len() as u32;
            (0..count).all(|t| is_clear_of_triangles(&flat(seen(t)), other, gap))
                && !(count > 0 && is_inside(seen(0)[0], other))
                && !first_vertex(other).is_some_and(|p| is_inside(a.r.transpose() * (b.x + b.r * p - a.x), mesh))
        }
        (_, Solid::Triangles(mesh)) => is_clear_of_mesh(a, (b, mesh), gap),
        (Solid::Triangles(mesh), _) => is_clear_of_mesh(b, (a, mesh), gap),
        _ => {
            let mut clear = true;
            a.convex_parts(|_, own| {
                b.convex_parts(|_, other| {
                    let limit = own.reach() + other.reach() + gap;
                    let may_meet = (own.position - other.position).length_squared() < limit * limit;
                    clear = clear && (!may_meet || are_apart(&own, &other, gap));
                });
            });
            clear
        }
    }
}

/// Convex solids beside a mesh, in the frame of the mesh.
fn is_clear_of_mesh(a: &Stand<'_>, (b, mesh): (&Stand<'_>, Scaled<'_>), gap: f64) -> bool {
    let back = b.r.transpose();
    let mut clear = true;
    a.convex_parts(|_, part| {
        let local = Placed { position: back * (part.position - b.x), rotation: back * part.rotation, ..part };
        clear = clear && is_clear_of_triangles(&local, mesh, gap) && !is_inside(local.position, mesh);
    });
    clear
}

/// Whether no triangle is nearer than `gap`.
fn is_clear_of_triangles(solid: &Placed<'_>, mesh: Scaled<'_>, gap: f64) -> bool {
    let [low, high] = solid.aabb();
    let scale = 1.0 / mesh.scale;
    let mut clear = true;
    mesh.triangles.tree.visit((low - gap) * scale, (high + gap) * scale, |t| {
        clear = clear && are_apart(solid, &flat(triangle(mesh, t)), gap);
    });
    clear
}

/// Whether a point lies inside of a closed mesh, which it is not on: by a ray along x.
fn is_inside(p: DVec3, mesh: Scaled<'_>) -> bool {
    if !mesh.triangles.is_closed {
        return false;
    }
    let p = p / mesh.scale;
    let far = DVec3::new(f64::MAX, p.y, p.z);
    let mut is_inside = false;
    mesh.triangles.tree.visit(p, far, |t| {
        let [a, b, c] = mesh.triangles.surface.corners(t as usize);
        is_inside ^= is_crossed(p, [a, b, c]);
    });
    is_inside
}

/// Whether a ray from p along x crosses a triangle. Edges belong to one of the two triangles that share them.
fn is_crossed(p: DVec3, corners: [DVec3; 3]) -> bool {
    // Seen along the ray: an odd number of edges passes above p (in z).
    let mut is_within = false;
    for k in 0..3 {
        let a = corners[k];
        let b = corners[(k + 1) % 3];
        if (a.y > p.y) != (b.y > p.y) {
            // The same arithmetic for both triangles of an edge.
            let [a, b] = if a.y < b.y { [a, b] } else { [b, a] };
            is_within ^= p.z < a.z + (b.z - a.z) * ((p.y - a.y) / (b.y - a.y));
        }
    }
    let normal = (corners[1] - corners[0]).cross(corners[2] - corners[0]);
    // Where the plane of the triangle is met: ahead or behind.
    is_within && (corners[0] - p).dot(normal) * normal.x > 0.0
}

/// A corner of a mesh.
fn first_vertex(mesh: Scaled<'_>) -> Option<DVec3> {
    mesh.triangles.surface.vertices.first().map(|p| *p * mesh.scale)
}

fn triangle(mesh: Scaled<'_>, t: u32) -> [DVec3; 3] {
    mesh.triangles.surface.corners(t as usize).map(|p| p * mesh.scale)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shape::{Part, Surface};
    use glam::DQuat;

    fn at(shape: &Shape, x: DVec3) -> Standing {
        Standing { shape: shape.clone(), x, r: DMat3::IDENTITY }
    }

    #[test]
    fn nothing_stands_in_a_closed_mesh_nor_near_its_surface() {
        let mesh = Shape::mesh(Surface::sphere(1.0, 3));
        let open = Shape::mesh(Surface {
            triangles: Surface::sphere(1.0, 3).triangles[1..].to_vec(),
            ..Surface::sphere(1.0, 3)
        });
        let small = Shape::cuboid(DVec3::splat(0.05));
        let wall = at(&mesh, DVec3::X);
        let sheet = at(&open, DVec3::X);
        for k in 0..400u32 {
            let t = f64::from(k);
            let way = DVec3::new(t.sin(), (1.3 * t).cos(), (2.1 * t).sin()).normalize();
            let body = |distance: f64| at(&small, DVec3::X + way * distance);
            for (distance, outside, off) in
                [(0.0, false, true), (0.5, false, true), (1.0, false, false), (1.2, true, true)]
            {
                assert_eq!(body(distance).is_clear_of(&wall, 0.0), outside, "{way} {distance}");
                assert_eq!(wall.is_clear_of(&body(distance), 0.0), outside, "{way} {distance}");
                assert_eq!(body(distance).is_clear_of(&sheet, 0.0), off, "{way} {distance}");
            }
            assert!(!body(1.2).is_clear_of(&wall, 0.2));
        }
        // Meshes in each other, either way round.
        let inner = at(&Shape::mesh(Surface::cuboid(DVec3::splat(0.1))), DVec3::X);
        assert!(!inner.is_clear_of(&wall, 0.0) && !wall.is_clear_of(&inner, 0.0));
        assert!(at(&inner.shape, DVec3::ZERO + 3.0 * DVec3::Y).is_clear_of(&wall, 0.0));
    }

    #[test]
    fn parts_are_kept_clear_of_one_by_one() {
        let ball = |x: f64| Part::new(Shape::sphere(0.5)).at(DVec3::X * x, DQuat::IDENTITY);
        let pair = Shape::composite(vec![ball(-2.0), ball(2.0)]);
        let middle = at(&Shape::cuboid(DVec3::ONE), DVec3::ZERO);
        assert!(at(&pair, DVec3::ZERO).is_clear_of(&middle, 0.4));
        assert!(!at(&pair, DVec3::ZERO).is_clear_of(&middle, 0.6));
        assert!(!at(&pair, DVec3::X).is_clear_of(&middle, 0.0));
        assert_eq!(Standing::inner_radius(&pair), 0.0);
        assert!((Standing::inner_radius(&Shape::cuboid(DVec3::new(1.0, 2.0, 3.0))) - 1.0).abs() < 1e-5);
        assert!((Standing::inner_radius(&Shape::sphere(2.0)) - 2.0).abs() < 1e-5);
    }
}
