//! The shapes of bodies: a closed enum, one file a shape.
//!
//! To add a shape: write its file with what [`Form`] asks for, and add a variant here. What is convex needs no more: the
//! [narrow phase](crate::narrow) knows it by its core. A shape lives in its body's frame; where it stands and how it is
//! turned belongs to the body.

mod capsule;
mod composite;
mod cone;
mod container;
mod cuboid;
mod cylinder;
mod ellipsoid;
mod exchange;
mod form;
mod half_space;
mod mesh;
mod pack;
mod polyhedron;
mod settle;
mod sphere;
mod union;

pub use barchan_mesh::{Surface, write_stl_binary};
pub use capsule::Capsule;
pub use composite::{Composite, Overlaps, Part};
pub use cone::Cone;
pub use container::{Container, Face};
pub use cuboid::Cuboid;
pub use cylinder::Cylinder;
pub use ellipsoid::Ellipsoid;
pub(crate) use exchange::ShapeExchange;
pub use form::{Convex, Form, Solid};
pub use half_space::HalfSpace;
pub use mesh::{Mesh, MeshText, Scaled, Triangles};
pub use polyhedron::{Polyhedron, PolyhedronText};
pub use settle::{GivenMass, Settled};
pub use sphere::Sphere;

use form::close;

use barchan_mesh::Moments;
use glam::{DMat3, DQuat, DVec3};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Mass and principal moments of inertia of a solid of given density.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MassProperties {
    /// Mass.
    pub mass: f64,
    /// Moments about the axes of the body frame, which are the principal axes.
    pub inertia: DVec3,
}

/// The shape of a body.
///
/// Sixteen bytes, so that a column of a million of them stays small: what is larger than a
/// number or two stands behind a shared pointer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Shape {
    /// A ball.
    Sphere(Sphere),
    /// All that lies below a plane.
    HalfSpace(HalfSpace),
    /// The outside of a box: bodies live within its inner walls.
    Container(Arc<Container>),
    /// A box.
    Box(Arc<Cuboid>),
    /// A cylinder with round caps.
    Capsule(Arc<Capsule>),
    /// A cylinder.
    Cylinder(Arc<Cylinder>),
    /// A cone.
    Cone(Arc<Cone>),
    /// An ellipsoid.
    Ellipsoid(Arc<Ellipsoid>),
    /// The convex hull of points.
    Polyhedron(Arc<Polyhedron>),
    /// A surface of triangles.
    Mesh(Arc<Mesh>),
    /// Several convex shapes, glued.
    Composite(Arc<Composite>),
}

macro_rules! shared {
    ($($variant:ident: $type:ty,)*) => {
        $(impl From<$type> for Shape {
            fn from(shape: $type) -> Self {
                Self::$variant(Arc::new(shape))
            }
        })*
    };
}
shared! {
    Container: Container,
    Box: Cuboid,
    Capsule: Capsule,
    Cylinder: Cylinder,
    Cone: Cone,
    Ellipsoid: Ellipsoid,
    Polyhedron: Polyhedron,
    Mesh: Mesh,
    Composite: Composite,
}

impl Shape {
    /// A sphere of radius `radius`.
    pub fn sphere(radius: f64) -> Self {
        Self::Sphere(Sphere { radius })
    }

    /// The half-space below the plane z = 0 of the body frame.
    pub fn half_space() -> Self {
        Self::HalfSpace(HalfSpace {})
    }

    /// A closed container with the given inner half extents.
    pub fn container(half_extents: DVec3) -> Self {
        Container { half_extents, open: Vec::new() }.into()
    }

    /// A box with sharp edges.
    pub fn cuboid(half_extents: DVec3) -> Self {
        Cuboid { half_extents, margin: 0.0 }.into()
    }

    /// A capsule along z; its caps lie beyond `half_height`.
    pub fn capsule(radius: f64, half_height: f64) -> Self {
        Capsule { radius, half_height }.into()
    }

    /// A cylinder along z with sharp edges.
    pub fn cylinder(radius: f64, half_height: f64) -> Self {
        Cylinder { radius, half_height, margin: 0.0 }.into()
    }

    /// A cone along z, tip up.
    pub fn cone(radius: f64, half_height: f64) -> Self {
        Cone { radius, half_height }.into()
    }

    /// An ellipsoid.
    pub fn ellipsoid(radii: DVec3) -> Self {
        Ellipsoid { radii }.into()
    }

    /// The convex hull of points.
    pub fn polyhedron(points: Vec<DVec3>) -> Self {
        Polyhedron::new(points, 0.0).into()
    }

    /// A surface of triangles.
    pub fn mesh(surface: Surface) -> Self {
        Mesh::new(surface).into()
    }

    /// Convex shapes, glued.
    pub fn composite(parts: Vec<Part>) -> Self {
        Composite::new(parts).into()
    }

    /// Every shape by the name that scene files use, with its numbers.
    pub const FORMS: &'static [(&'static str, &'static str)] = &[
        ("sphere", "{ radius }"),
        ("half-space", "{}"),
        ("container", "{ half_extents, open }"),
        ("box", "{ half_extents, margin }"),
        ("capsule", "{ radius, half_height }"),
        ("cylinder", "{ radius, half_height, margin }"),
        ("cone", "{ radius, half_height }"),
        ("ellipsoid", "{ radii }"),
        ("polyhedron", "{ points or file, scale, margin }"),
        ("mesh", "{ file, or vertices and triangles, scale, convex_parts }"),
        ("composite", "{ parts, overlaps }"),
    ];

    /// The name that scene files use.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Sphere(_) => "sphere",
            Self::HalfSpace(_) => "half-space",
            Self::Container(_) => "container",
            Self::Box(_) => "box",
            Self::Capsule(_) => "capsule",
            Self::Cylinder(_) => "cylinder",
            Self::Cone(_) => "cone",
            Self::Ellipsoid(_) => "ellipsoid",
            Self::Polyhedron(_) => "polyhedron",
            Self::Mesh(_) => "mesh",
            Self::Composite(_) => "composite",
        }
    }

    /// What a bounded shape says of itself; `None` if it is unbounded.
    #[inline]
    pub fn form(&self) -> Option<&dyn Form> {
        match self {
            Self::Sphere(shape) => Some(shape),
            Self::HalfSpace(_) | Self::Container(_) => None,
            Self::Box(shape) => Some(&**shape),
            Self::Capsule(shape) => Some(&**shape),
            Self::Cylinder(shape) => Some(&**shape),
            Self::Cone(shape) => Some(&**shape),
            Self::Ellipsoid(shape) => Some(&**shape),
            Self::Polyhedron(shape) => Some(&**shape),
            Self::Mesh(shape) => Some(&**shape),
            Self::Composite(shape) => Some(&**shape),
        }
    }

    /// What is wrong with it: the key to blame, and what was found and what is expected. A shape with faults must not be
    /// asked for anything else.
    pub fn faults(&self) -> Vec<(&'static str, String)> {
        match (self, self.form()) {
            (_, Some(form)) => form.faults(),
            (Self::Container(container), None) => {
                let mut faults = Vec::new();
                close::all_positive("half_extents", container.half_extents, &mut faults);
                faults
            }
            (_, None) => Vec::new(),
        }
    }

    /// Radius about the body's origin of a ball that holds the shape; `None` if unbounded.
    #[inline]
    pub fn bounding_radius(&self) -> Option<f64> {
        match self {
            Self::Sphere(s) => Some(s.radius),
            _ => self.form().map(Form::reach),
        }
    }

    /// The length by which margins, overlaps and steps are measured: about the radius of the largest ball within.
    /// Infinite for what is unbounded.
    #[inline]
    pub fn size(&self) -> f64 {
        match self {
            Self::Sphere(s) => s.radius,
            _ => self.form().map_or(f64::INFINITY, Form::size),
        }
    }

    /// Whether it fills an unbounded part of space, as walls do.
    #[inline]
    pub fn is_unbounded(&self) -> bool {
        matches!(self, Self::HalfSpace(_) | Self::Container(_))
    }

    /// How far a turn can carry a point of the surface outwards: zero for what is round about
    /// the body's origin (the r̄ of the |ω|r̄ term of S4 eq. 6).
    pub fn spin_reach(&self) -> f64 {
        match self {
            Self::Sphere(_) => 0.0,
            _ => self.bounding_radius().unwrap_or(f64::INFINITY),
        }
    }

    /// The lowest and the highest corner of a box that holds it, seen from its origin, when it is turned by r.
    pub(crate) fn half_box(&self, r: &DMat3) -> [DVec3; 2] {
        self.form().map_or([DVec3::NEG_INFINITY, DVec3::INFINITY], |form| form.half_box(r))
    }

    /// What it consists of; `None` if it is unbounded.
    #[inline]
    pub fn solid(&self) -> Option<Solid<'_>> {
        match self {
            Self::Sphere(shape) => Some(shape.solid()),
            Self::Box(shape) => Some(shape.solid()),
            _ => self.form().map(Form::solid),
        }
    }

    /// Volume, centre and second moments; `None` if it encloses no volume.
    pub fn moments(&self) -> Option<Moments> {
        self.form().and_then(Form::moments)
    }

    /// Its surface in triangles, to be looked at; `None` if it is unbounded.
    pub fn surface(&self) -> Option<Surface> {
        self.form().map(Form::surface)
    }

    /// Whether forces can move it: it encloses a volume.
    pub fn has_mass(&self) -> bool {
        match self {
            Self::Mesh(mesh) => mesh.has_inside(),
            _ => !self.is_unbounded(),
        }
    }

    /// Mass properties at `density`, of what stands in the frame of its principal axes ([`Shape::settle`]); `None` for
    /// shapes without a finite mass.
    pub fn mass_properties(&self, density: f64) -> Option<MassProperties> {
        self.settle(density, None).map(|settled| settled.mass)
    }

    /// The same, a factor larger. Half-spaces stay.
    #[must_use]
    pub fn scaled(&self, factor: f64) -> Self {
        if factor == 1.0 {
            return self.clone();
        }
        match self {
            Self::Sphere(Sphere { radius }) => Self::sphere(radius * factor),
            Self::HalfSpace(_) => self.clone(),
            Self::Container(c) => Container { half_extents: c.half_extents * factor, open: c.open.clone() }.into(),
            Self::Box(c) => Cuboid { half_extents: c.half_extents * factor, margin: c.margin * factor }.into(),
            Self::Capsule(c) => Self::capsule(c.radius * factor, c.half_height * factor),
            Self::Cylinder(c) => {
                let Cylinder { radius, half_height, margin } = **c;
                Cylinder { radius: radius * factor, half_height: half_height * factor, margin: margin * factor }.into()
            }
            Self::Cone(c) => Self::cone(c.radius * factor, c.half_height * factor),
            Self::Ellipsoid(e) => Self::ellipsoid(e.radii * factor),
            Self::Polyhedron(p) => p.scaled(factor).into(),
            Self::Mesh(m) => m.scaled(factor).into(),
            Self::Composite(c) => c.scaled(factor).into(),
        }
    }

    /// The same in another frame: a point p is there where `turn`·(p − `origin`) is. Shapes that are not made of points
    /// or parts become composites of one part.
    fn in_frame(&self, origin: DVec3, turn: DQuat) -> Self {
        match self {
            Self::HalfSpace(_) | Self::Container(_) => self.clone(),
            Self::Polyhedron(p) => p.in_frame(origin, turn).into(),
            Self::Mesh(m) => m.in_frame(origin, turn).into(),
            Self::Composite(c) => c.in_frame(origin, turn).into(),
            _ => Composite::new(vec![Part::new(self.clone()).in_frame(origin, turn)]).into(),
        }
    }

    /// Gives files other names, which follow from the shape and the name that it has.
    pub(crate) fn rename_files(&mut self, name: &dyn Fn(&Self, &str) -> String) {
        let renamed: Self = match &*self {
            Self::Polyhedron(p) => {
                let Some(file) = &p.text().file else { return };
                Polyhedron::from(PolyhedronText { file: Some(name(self, file)), ..p.text().clone() }).into()
            }
            Self::Mesh(m) => {
                let Some(file) = &m.text().file else { return };
                Mesh::from(MeshText { file: Some(name(self, file)), ..m.text().clone() }).into()
            }
            Self::Composite(c) => {
                let mut c = (**c).clone();
                c.parts.iter_mut().for_each(|part| part.shape.rename_files(name));
                c.into()
            }
            _ => return,
        };
        *self = renamed;
    }
}

/// The triangles of a file, or what is wrong with it.
fn from_file(file: &str) -> Result<Surface, String> {
    barchan_mesh::read(std::path::Path::new(file)).map_err(|error| error.to_string())
}

/// The points of a file, or what is wrong with it.
fn points_of_file(file: &str) -> Result<Vec<DVec3>, String> {
    barchan_mesh::read_points(std::path::Path::new(file)).map_err(|error| error.to_string())
}

/// A factor that changes nothing.
fn one() -> f64 {
    1.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shape_is_sixteen_bytes() {
        assert_eq!(size_of::<Shape>(), 16);
    }
}
