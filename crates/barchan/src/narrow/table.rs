//! The table of pairs: which function finds the contacts of which two shapes.
//!
//! Every shape and every convex core is named here once more, without a wildcard, so that a new one does not compile before
//! it has its row. `docs/shapes.md` has the table as [`table()`] prints it.

use crate::shape::{Composite, Container, Part, Shape, Solid, Surface};
use barchan_convex::Core;
use glam::DVec3;
use std::fmt::Write;

/// The function that finds the contacts of two shapes, in either order; `None` for two walls, which never meet.
///
/// | name | what it is |
/// |---|---|
/// | `sphere_sphere`, `sphere_half_space`, `sphere_container` | closed forms, files of this module |
/// | `planes` | a bounded shape at a half-space or at the walls of a container |
/// | `sphere`, `segments`, `boxes`, `ellipsoids` | two convex solids, files of `barchan_convex` |
/// | `closest` | any two convex solids: `gjk` apart and `epa` in overlap, in `barchan_convex` |
/// | `solids` | part by part, each two by the function of their own shapes; spheres together by `balls` |
/// | `convex_mesh` | a convex solid, or each part of one, at triangles |
/// | `mesh_mesh` | triangles at triangles |
pub fn handler(a: &Shape, b: &Shape) -> Option<&'static str> {
    use Shape::{Box, Capsule, Composite, Cone, Container, Cylinder, Ellipsoid, HalfSpace, Mesh, Polyhedron, Sphere};
    Some(match (a, b) {
        (HalfSpace(_) | Container(_), HalfSpace(_) | Container(_)) => return None,
        (Sphere(_), Sphere(_)) => "sphere_sphere",
        (Sphere(_), HalfSpace(_)) | (HalfSpace(_), Sphere(_)) => "sphere_half_space",
        (Sphere(_), Container(_)) | (Container(_), Sphere(_)) => "sphere_container",
        (
            Box(_) | Capsule(_) | Cylinder(_) | Cone(_) | Ellipsoid(_) | Polyhedron(_) | Mesh(_) | Composite(_),
            HalfSpace(_) | Container(_),
        )
        | (
            HalfSpace(_) | Container(_),
            Box(_) | Capsule(_) | Cylinder(_) | Cone(_) | Ellipsoid(_) | Polyhedron(_) | Mesh(_) | Composite(_),
        ) => "planes",
        (
            Sphere(_) | Box(_) | Capsule(_) | Cylinder(_) | Cone(_) | Ellipsoid(_) | Polyhedron(_) | Mesh(_)
            | Composite(_),
            Sphere(_) | Box(_) | Capsule(_) | Cylinder(_) | Cone(_) | Ellipsoid(_) | Polyhedron(_) | Mesh(_)
            | Composite(_),
        ) => solids(&a.solid()?, &b.solid()?),
    })
}

/// The same of two bounded shapes of which one is no sphere.
fn solids(a: &Solid<'_>, b: &Solid<'_>) -> &'static str {
    match (a, b) {
        (Solid::Triangles(_), Solid::Triangles(_)) => "mesh_mesh",
        (Solid::Triangles(_), Solid::One(_) | Solid::Parts(_))
        | (Solid::One(_) | Solid::Parts(_), Solid::Triangles(_)) => "convex_mesh",
        (Solid::Parts(_), Solid::One(_) | Solid::Parts(_)) | (Solid::One(_), Solid::Parts(_)) => "solids",
        (Solid::One(a), Solid::One(b)) => cores(&a.core, &b.core),
    }
}

/// The same of two convex cores, as `barchan_convex::manifold` has it.
fn cores(a: &Core<'_>, b: &Core<'_>) -> &'static str {
    use Core::{Cone, Cuboid, Cylinder, Ellipsoid, Hull, Point, Segment, Triangle};
    match (a, b) {
        (Point, _) | (_, Point) => "sphere",
        (Segment { .. }, Segment { .. }) => "segments",
        (Cuboid { .. }, Cuboid { .. }) => "boxes",
        (Ellipsoid { .. }, Ellipsoid { .. }) => "ellipsoids",
        (
            Segment { .. }
            | Cuboid { .. }
            | Cylinder { .. }
            | Cone { .. }
            | Ellipsoid { .. }
            | Hull { .. }
            | Triangle(_),
            Segment { .. }
            | Cuboid { .. }
            | Cylinder { .. }
            | Cone { .. }
            | Ellipsoid { .. }
            | Hull { .. }
            | Triangle(_),
        ) => "closest",
    }
}

/// One of each shape, those that are bounded first.
fn one_of_each() -> Vec<Shape> {
    let corners = vec![DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z];
    let halves = DVec3::ONE;
    vec![
        Shape::sphere(1.0),
        Shape::cuboid(halves),
        Shape::capsule(1.0, 1.0),
        Shape::cylinder(1.0, 1.0),
        Shape::cone(1.0, 1.0),
        Shape::ellipsoid(halves),
        Shape::polyhedron(corners),
        Shape::mesh(Surface::cuboid(halves)),
        Composite::new(vec![Part::new(Shape::sphere(1.0))]).into(),
        Shape::half_space(),
        Container { half_extents: halves, open: Vec::new() }.into(),
    ]
}

/// The table of all pairs, in Markdown. Pairs stand once, the later shape in the row; two walls never meet.
pub fn table() -> String {
    let shapes = one_of_each();
    let cell = |row: usize, column: usize| match handler(&shapes[row], &shapes[column]) {
        _ if column > row => "",
        Some(function) => function,
        None => "—",
    };
    let first = shapes.iter().map(|shape| shape.name().len()).max().unwrap_or(0);
    let width = |column: usize| {
        let cells = (0..shapes.len()).map(|row| cell(row, column).chars().count());
        cells.chain([shapes[column].name().len()]).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..shapes.len()).map(width).collect();
    let mut text = format!("| {:first$} |", "");
    let mut rule = format!("|{:-<1$}|", "", first + 2);
    for (shape, width) in shapes.iter().zip(&widths) {
        let _ = write!(text, " {:width$} |", shape.name());
        let _ = write!(rule, "{:-<1$}|", "", width + 2);
    }
    let _ = writeln!(text, "\n{rule}");
    for (row, shape) in shapes.iter().enumerate() {
        let _ = write!(text, "| {:first$} |", shape.name());
        for (column, width) in widths.iter().enumerate() {
            let _ = write!(text, " {:width$} |", cell(row, column));
        }
        text.push('\n');
    }
    text
}
