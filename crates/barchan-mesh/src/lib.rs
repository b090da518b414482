//! Surfaces of triangles for bodies of any shape: read from files, checked, measured, searched, and turned into convex hulls.
//!
//! ```
//! use barchan_mesh::{Format, Moments, Surface, parse, principal, write_stl_binary};
//!
//! let surface = parse(&write_stl_binary(&Surface::cuboid(glam::DVec3::ONE)), Format::Stl)?;
//! assert!(surface.faults().is_empty());
//! let moments = Moments::of_surface(&surface);
//! let (inertia, frame) = principal(moments.inertia() * 7800.0);
//! # assert!((inertia.x - 7800.0 * 16.0 / 3.0).abs() < 1e-6 && frame == glam::DQuat::IDENTITY);
//! # Ok::<(), barchan_mesh::MeshError>(())
//! ```
//!
//! | module | what |
//! |---|---|
//! | `surface` | triangles over shared vertices, welded, moved and merged |
//! | `tessellate` | surfaces of simple shapes |
//! | `file` | STL, OBJ and PLY |
//! | `check` | what is wrong with a surface, in words that help |
//! | `moments`, `principal` | volume, centre and second moments; principal axes |
//! | `tree` | boxes over triangles: which are near, which a ray meets, what is inside |
//! | `topology` | neighbours, and how the surface bends between them |
//! | `hull` | convex polyhedra, convex hulls, and polyhedra moved inwards |
//! | `decompose` | a body as a union of convex parts |
//!
//! All tolerances are relative to the size of what is looked at, and results are the same on every run.
//!
//! Deliberately absent: the repair of surfaces, and colours, textures and materials of files.

mod check;
mod decompose;
mod edges;
mod file;
mod hull;
mod moments;
mod principal;
#[cfg(test)]
mod random;
mod surface;
mod tessellate;
mod topology;
mod tree;
mod triangle;

pub use check::MeshFault;
pub use decompose::{DecomposeError, decompose};
pub use file::{Format, MeshError, parse, read, read_points, write_stl_binary};
pub use hull::{HullError, Polyhedron, convex_hull};
pub use moments::Moments;
pub use principal::principal;
pub use surface::Surface;
pub use topology::{Bend, Neighbour, Topology};
pub use tree::Tree;

/// A number to four digits, for messages.
fn brief(x: f64) -> f64 {
    format!("{x:.3e}").parse().unwrap_or(x)
}
