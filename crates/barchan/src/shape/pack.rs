//! Shapes as bytes, for messages between ranks and for checkpoints.
//!
//! Shapes have a code and their numbers. What several of them share (corners and faces of a polyhedron, triangles of a
//! mesh, a composite) is written once by those who write: in the column of a checkpoint here, in messages by
//! [`super::exchange`]. It is shared again when it is read. What is made of such numbers is made anew, with the same
//! bits.
//!
//! Parts are convex. Their bytes have no codes for other shapes, so that nothing that is read has parts in parts.

use super::mesh::Triangles;
use super::polyhedron::Faceted;
use super::{
    Capsule, Composite, Cone, Cuboid, Cylinder, Ellipsoid, Form, Mesh, Overlaps, Part, Polyhedron, Shape, Sphere,
    Surface,
};
use crate::util::bulk::PackColumn;
use crate::util::pack::{Pack, Unpacker, pack_text, unpack_text};
use barchan_mesh::{self as mesh, Moments};
use glam::{DMat3, DQuat, DVec3};
use rayon::prelude::*;
use std::collections::HashMap;
use std::sync::Arc;

/// Writes the shapes that parts may have and that share something.
pub(super) trait WriteParts {
    /// Writes what follows the code of a polyhedron.
    fn polyhedron(&mut self, polyhedron: &Polyhedron, out: &mut Vec<u8>);
}

/// Writes the shapes that share something.
pub(super) trait WriteShapes: WriteParts {
    /// Writes what follows the code of a mesh.
    fn mesh(&mut self, mesh: &Mesh, out: &mut Vec<u8>);

    /// Writes what follows the code of a composite.
    fn composite(&mut self, composite: &Arc<Composite>, out: &mut Vec<u8>);
}

/// Takes back what [`WriteParts`] wrote.
pub(super) trait ReadParts {
    /// A polyhedron.
    fn polyhedron(&mut self, from: &mut Unpacker<'_>) -> Option<Arc<Polyhedron>>;
}

/// Takes back what [`WriteShapes`] wrote.
pub(super) trait ReadShapes: ReadParts {
    /// A mesh.
    fn mesh(&mut self, from: &mut Unpacker<'_>) -> Option<Arc<Mesh>>;

    /// A composite.
    fn composite(&mut self, from: &mut Unpacker<'_>) -> Option<Arc<Composite>>;
}

/// What has been written of a column, by where it stands in memory.
#[derive(Default)]
struct Written {
    facets: HashMap<*const Faceted, u32>,
    triangles: HashMap<*const Triangles, u32>,
}

/// What has been read of a column, in the order of writing.
#[derive(Default)]
struct Read {
    facets: Vec<Arc<Faceted>>,
    triangles: Vec<Arc<Triangles>>,
}

impl WriteParts for Written {
    fn polyhedron(&mut self, polyhedron: &Polyhedron, out: &mut Vec<u8>) {
        polyhedron.scale().pack(out);
        let next = self.facets.len() as u32;
        let number = *self.facets.entry(Arc::as_ptr(polyhedron.faceted())).or_insert(next);
        number.pack(out);
        if number == next {
            pack_faceted(polyhedron.faceted(), out);
        }
    }
}

impl WriteShapes for Written {
    fn mesh(&mut self, mesh: &Mesh, out: &mut Vec<u8>) {
        mesh.scale().pack(out);
        let next = self.triangles.len() as u32;
        let number = *self.triangles.entry(Arc::as_ptr(mesh.triangles())).or_insert(next);
        number.pack(out);
        if number == next {
            pack_triangles(mesh.triangles(), self, out);
        }
    }

    fn composite(&mut self, composite: &Arc<Composite>, out: &mut Vec<u8>) {
        pack_composite(composite, self, out);
    }
}

impl ReadParts for Read {
    fn polyhedron(&mut self, from: &mut Unpacker<'_>) -> Option<Arc<Polyhedron>> {
        let scale = from.take::<f64>()?;
        let number = from.take::<u32>()? as usize;
        if number == self.facets.len() {
            self.facets.push(Arc::new(unpack_faceted(from)?));
        }
        Some(Arc::new(Polyhedron::of(self.facets.get(number)?.clone(), scale)))
    }
}

impl ReadShapes for Read {
    fn mesh(&mut self, from: &mut Unpacker<'_>) -> Option<Arc<Mesh>> {
        let scale = from.take::<f64>()?;
        let number = from.take::<u32>()? as usize;
        if number == self.triangles.len() {
            let triangles = unpack_triangles(from, self)?;
            self.triangles.push(Arc::new(triangles));
        }
        Some(Arc::new(Mesh::of(self.triangles.get(number)?.clone(), scale)))
    }

    fn composite(&mut self, from: &mut Unpacker<'_>) -> Option<Arc<Composite>> {
        unpack_composite(from, self).map(Arc::new)
    }
}

pub(super) fn pack_faceted(faceted: &Faceted, out: &mut Vec<u8>) {
    faceted.margin.pack(out);
    faceted.outer.points.pack_column(out);
    (faceted.outer.faces.len() as u32).pack(out);
    faceted.outer.faces.iter().for_each(|face| face.pack_column(out));
}

pub(super) fn unpack_faceted(from: &mut Unpacker<'_>) -> Option<Faceted> {
    let margin = from.take::<f64>().filter(|margin| *margin >= 0.0)?;
    let points = Vec::unpack_column(from)?;
    let count = from.take::<u32>()?;
    let mut faces = Vec::new();
    for _ in 0..count {
        let face = Vec::<u32>::unpack_column(from)?;
        let is_valid = face.len() >= 3 && face.iter().all(|&k| (k as usize) < points.len());
        faces.push(is_valid.then_some(face)?);
    }
    Faceted::new(mesh::Polyhedron { points, faces }, margin).ok()
}

pub(super) fn pack_triangles(triangles: &Triangles, writer: &mut dyn WriteParts, out: &mut Vec<u8>) {
    triangles.surface.vertices.pack_column(out);
    triangles.surface.triangles.pack_column(out);
    pack_parts(triangles.parts(), writer, out);
}

pub(super) fn unpack_triangles(from: &mut Unpacker<'_>, reader: &mut dyn ReadParts) -> Option<Triangles> {
    let vertices = Vec::unpack_column(from)?;
    let triangles = Vec::<[u32; 3]>::unpack_column(from)?;
    let is_valid = !triangles.is_empty() && triangles.iter().flatten().all(|&k| (k as usize) < vertices.len());
    let parts = unpack_parts(from, reader)?;
    is_valid.then(|| Triangles::new(Surface { vertices, triangles }, parts))
}

fn pack_parts(parts: &[Part], writer: &mut dyn WriteParts, out: &mut Vec<u8>) {
    (parts.len() as u32).pack(out);
    for part in parts {
        part.position.pack(out);
        part.orientation.pack(out);
        pack_convex(&part.shape, writer, out);
    }
}

fn unpack_parts(from: &mut Unpacker<'_>, reader: &mut dyn ReadParts) -> Option<Vec<Part>> {
    let count = from.take::<u32>()?;
    let mut parts = Vec::new();
    for _ in 0..count {
        let position = from.take::<DVec3>().filter(|position| position.is_finite())?;
        // The orientation keeps its bits: it is of unit length already.
        let orientation = from.take::<DQuat>().filter(|orientation| orientation.is_normalized())?;
        let code = from.take::<u8>()?;
        let shape = unpack_convex(code, from, reader)?;
        parts.push(Part { shape, position, orientation, rotation: DMat3::from_quat(orientation) });
    }
    Some(parts)
}

fn pack_moments(moments: &Moments, out: &mut Vec<u8>) {
    moments.volume.pack(out);
    moments.centre.pack(out);
    moments.second.to_cols_array().pack(out);
}

fn unpack_moments(from: &mut Unpacker<'_>) -> Option<Moments> {
    let volume = from.take()?;
    let centre = from.take()?;
    let second = DMat3::from_cols_array(&from.take()?);
    Some(Moments { volume, centre, second })
}

pub(super) fn pack_composite(composite: &Composite, writer: &mut dyn WriteParts, out: &mut Vec<u8>) {
    (composite.overlaps == Overlaps::Each).pack(out);
    let moments = composite.moments();
    moments.is_some().pack(out);
    moments.iter().for_each(|moments| pack_moments(moments, out));
    pack_parts(&composite.parts, writer, out);
}

pub(super) fn unpack_composite(from: &mut Unpacker<'_>, reader: &mut dyn ReadParts) -> Option<Composite> {
    let overlaps = if from.take()? { Overlaps::Each } else { Overlaps::Once };
    let moments = if from.take()? { Some(unpack_moments(from)?) } else { None };
    Some(Composite::known(unpack_parts(from, reader)?, overlaps, moments))
}

/// Writes a shape that parts may have; of another nothing that could be read.
fn pack_convex(shape: &Shape, writer: &mut dyn WriteParts, out: &mut Vec<u8>) {
    match shape {
        Shape::Sphere(s) => {
            0u8.pack(out);
            s.radius.pack(out);
        }
        Shape::Box(c) => {
            2u8.pack(out);
            c.half_extents.pack(out);
            c.margin.pack(out);
        }
        Shape::Capsule(c) => {
            3u8.pack(out);
            [c.radius, c.half_height].pack(out);
        }
        Shape::Cylinder(c) => {
            4u8.pack(out);
            [c.radius, c.half_height, c.margin].pack(out);
        }
        Shape::Cone(c) => {
            5u8.pack(out);
            [c.radius, c.half_height].pack(out);
        }
        Shape::Ellipsoid(e) => {
            6u8.pack(out);
            e.radii.pack(out);
        }
        Shape::Polyhedron(p) => {
            7u8.pack(out);
            writer.polyhedron(p, out);
        }
        Shape::HalfSpace(_) | Shape::Container(_) | Shape::Mesh(_) | Shape::Composite(_) => u8::MAX.pack(out),
    }
}

fn unpack_convex(code: u8, from: &mut Unpacker<'_>, reader: &mut dyn ReadParts) -> Option<Shape> {
    let shape: Shape = match code {
        0 => Shape::sphere(from.take()?),
        2 => Cuboid { half_extents: from.take()?, margin: from.take()? }.into(),
        3 => Capsule { radius: from.take()?, half_height: from.take()? }.into(),
        4 => Cylinder { radius: from.take()?, half_height: from.take()?, margin: from.take()? }.into(),
        5 => Cone { radius: from.take()?, half_height: from.take()? }.into(),
        6 => Ellipsoid { radii: from.take()? }.into(),
        7 => Shape::Polyhedron(reader.polyhedron(from)?),
        _ => return None,
    };
    is_sound(&shape).then_some(shape)
}

/// Whether what was read is a shape.
fn is_sound(shape: &Shape) -> bool {
    shape.faults().is_empty() && shape.bounding_radius().is_none_or(f64::is_finite)
}

/// Writes a shape.
pub(super) fn pack_shape(shape: &Shape, writer: &mut dyn WriteShapes, out: &mut Vec<u8>) {
    match shape {
        Shape::HalfSpace(_) | Shape::Container(_) => {
            1u8.pack(out);
            pack_text(shape, out);
        }
        Shape::Mesh(m) => {
            8u8.pack(out);
            writer.mesh(m, out);
        }
        Shape::Composite(c) => {
            9u8.pack(out);
            writer.composite(c, out);
        }
        _ => pack_convex(shape, writer, out),
    }
}

/// Takes back what [`pack_shape`] wrote.
pub(super) fn unpack_shape(from: &mut Unpacker<'_>, reader: &mut dyn ReadShapes) -> Option<Shape> {
    let shape = match from.take::<u8>()? {
        1 => unpack_text(from)?,
        8 => Shape::Mesh(reader.mesh(from)?),
        9 => Shape::Composite(reader.composite(from)?),
        code => return unpack_convex(code, from, reader),
    };
    is_sound(&shape).then_some(shape)
}

/// One shape alone, with all that it is.
impl Pack for Shape {
    fn pack(&self, out: &mut Vec<u8>) {
        pack_shape(self, &mut Written::default(), out);
    }

    fn unpack(from: &mut Unpacker<'_>) -> Option<Self> {
        unpack_shape(from, &mut Read::default())
    }
}

/// Where a shape behind a shared pointer stands in memory.
fn address(shape: &Shape) -> *const u8 {
    match shape {
        Shape::Sphere(_) | Shape::HalfSpace(_) => std::ptr::null(),
        Shape::Container(s) => Arc::as_ptr(s).cast(),
        Shape::Box(s) => Arc::as_ptr(s).cast(),
        Shape::Capsule(s) => Arc::as_ptr(s).cast(),
        Shape::Cylinder(s) => Arc::as_ptr(s).cast(),
        Shape::Cone(s) => Arc::as_ptr(s).cast(),
        Shape::Ellipsoid(s) => Arc::as_ptr(s).cast(),
        Shape::Polyhedron(s) => Arc::as_ptr(s).cast(),
        Shape::Mesh(s) => Arc::as_ptr(s).cast(),
        Shape::Composite(s) => Arc::as_ptr(s).cast(),
    }
}

/// Spheres are many: a column of radii, and what is not a sphere behind it, each shared shape once.
impl PackColumn for Vec<Shape> {
    fn pack_column(&self, out: &mut Vec<u8>) {
        let radius = |shape: &Shape| match shape {
            Shape::Sphere(sphere) => sphere.radius,
            _ => f64::NAN,
        };
        self.par_iter().map(radius).collect::<Vec<f64>>().pack_column(out);
        let mut known = HashMap::new();
        let mut written = Written::default();
        for shape in self.iter().filter(|shape| !matches!(shape, Shape::Sphere(_))) {
            let next = known.len() as u32;
            let number = if matches!(shape, Shape::HalfSpace(_)) {
                // It has no place in memory: a number that nobody looks for.
                known.insert(std::ptr::without_provenance(1 + known.len()), next);
                next
            } else {
                *known.entry(address(shape)).or_insert(next)
            };
            number.pack(out);
            if number == next {
                pack_shape(shape, &mut written, out);
            }
        }
    }

    fn unpack_column(from: &mut Unpacker<'_>) -> Option<Self> {
        let radii = Vec::<f64>::unpack_column(from)?;
        let mut shapes = Self::with_capacity(radii.len());
        let mut known: Vec<Shape> = Vec::new();
        let mut read = Read::default();
        for radius in radii {
            if !radius.is_nan() {
                let is_valid = radius > 0.0 && radius.is_finite();
                shapes.push(Shape::Sphere(is_valid.then_some(Sphere { radius })?));
                continue;
            }
            let number = from.take::<u32>()? as usize;
            if number == known.len() {
                known.push(unpack_shape(from, &mut read)?);
            }
            shapes.push(known.get(number)?.clone());
        }
        Some(shapes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shape::{Container, Face, MeshText};

    /// A prism over an L, which is cut into convex parts.
    fn angle() -> Surface {
        let base = [[0.0, 0.0], [2.0, 0.0], [2.0, 1.0], [1.0, 1.0], [1.0, 2.0], [0.0, 2.0]];
        let vertices = [0.0, 1.0].iter().flat_map(|&z| base.map(|[x, y]| DVec3::new(x, y, z))).collect();
        let ends = (1..5).flat_map(|k| [[0, k + 1, k], [6, 6 + k, 7 + k]]);
        let sides = (0..6).flat_map(|k| {
            let next = (k + 1) % 6;
            [[k, next, 6 + next], [k, 6 + next, 6 + k]]
        });
        Surface { vertices, triangles: ends.chain(sides).collect() }
    }

    fn all() -> Vec<Shape> {
        let tetrahedron = vec![DVec3::X, DVec3::Y, DVec3::Z, -DVec3::ONE];
        let turned = Part::new(Shape::capsule(0.1, 0.3)).at(DVec3::X, DQuat::from_rotation_y(0.3));
        let rounded: Shape = Polyhedron::new(tetrahedron.clone(), 0.1).into();
        let stones = [rounded.scaled(0.4), Shape::polyhedron(tetrahedron.clone()), rounded.scaled(0.7)];
        let stones = stones.map(|stone| Part::new(stone).at(0.2 * DVec3::Y, DQuat::from_rotation_x(0.2)));
        let both = vec![Part::new(Shape::sphere(1.0)), turned];
        let mut each = Composite::new(both.clone());
        each.overlaps = Overlaps::Each;
        let Surface { vertices, triangles } = angle();
        let angle: Shape = Mesh::from(MeshText { file: None, vertices, triangles, scale: 1.0, convex_parts: 4 }).into();
        vec![
            Shape::sphere(0.1),
            Shape::half_space(),
            Container { half_extents: DVec3::new(1.0, 2.0, 0.1), open: vec![Face::ALL[0]] }.into(),
            Cuboid { half_extents: DVec3::new(0.3, 1.0 / 3.0, 0.7), margin: 0.1 }.into(),
            Shape::capsule(0.3, 0.7),
            Cylinder { radius: 0.4, half_height: 1.0 / 7.0, margin: 0.01 }.into(),
            Shape::cone(0.5, 0.3),
            Shape::ellipsoid(DVec3::new(0.1, 0.2, 0.3)),
            Shape::polyhedron(tetrahedron).scaled(0.3),
            rounded.clone(),
            rounded.scaled(0.3),
            Shape::mesh(Surface::cuboid(DVec3::ONE)).scaled(2.0),
            angle.clone(),
            angle.scaled(0.5),
            Shape::composite(both),
            each.into(),
            Shape::composite(stones.to_vec()),
        ]
    }

    #[test]
    fn shapes_travel() {
        for shape in all() {
            let mut bytes = Vec::new();
            shape.pack(&mut bytes);
            let back = Shape::unpack(&mut Unpacker::new(&bytes)).expect("a shape");
            assert_eq!(back, shape);
            assert_eq!(back.mass_properties(1.0), shape.mass_properties(1.0), "to the last bit");
            for length in 0..bytes.len() {
                assert_eq!(Shape::unpack(&mut Unpacker::new(&bytes[..length])), None, "{shape:?} cut to {length}");
            }
        }
        assert_eq!(Shape::unpack(&mut Unpacker::new(&[99, 9])), None);
    }

    /// It would have to be read by a function that calls itself, as often as a file says.
    #[test]
    fn what_has_parts_is_no_part() {
        let head = |code: u8, out: &mut Vec<u8>| {
            code.pack(out);
            [0u8; 2].pack(out);
            1u32.pack(out);
            DVec3::ZERO.pack(out);
            DQuat::IDENTITY.pack(out);
        };
        let mut sound = Vec::new();
        head(9, &mut sound);
        Shape::sphere(1.0).pack(&mut sound);
        assert!(Shape::unpack(&mut Unpacker::new(&sound)).is_some());
        let mut nested = Vec::new();
        (0..1_000_000).for_each(|_| head(9, &mut nested));
        Shape::sphere(1.0).pack(&mut nested);
        assert_eq!(Shape::unpack(&mut Unpacker::new(&nested)), None);
        for shape in [Shape::mesh(Surface::cuboid(DVec3::ONE)), Shape::half_space(), Shape::composite(Vec::new())] {
            let mut bytes = Vec::new();
            head(9, &mut bytes);
            shape.pack(&mut bytes);
            assert_eq!(Shape::unpack(&mut Unpacker::new(&bytes)), None, "{shape:?}");
        }
    }

    #[test]
    fn a_column_shares_what_was_shared() {
        let mut shapes: Vec<Shape> =
            (1..50).map(|k| Shape::container(DVec3::splat(f64::from(k).sqrt() / 3e-7))).collect();
        shapes.extend(all());
        shapes.extend(all().iter().map(|shape| shape.scaled(0.5)));
        let pebble = Shape::polyhedron(vec![DVec3::X, DVec3::Y, DVec3::Z, -DVec3::ONE]);
        shapes.extend((1..100).map(|k| pebble.scaled(f64::from(k))));
        shapes.extend(std::iter::repeat_n(pebble, 100));
        let mut bytes = Vec::new();
        shapes.pack_column(&mut bytes);
        let back = Vec::<Shape>::unpack_column(&mut Unpacker::new(&bytes)).expect("shapes");
        assert_eq!(back, shapes);
        let (Shape::Polyhedron(a), Shape::Polyhedron(b)) = (&back[back.len() - 1], &back[back.len() - 150]) else {
            panic!("polyhedra");
        };
        assert!(Arc::ptr_eq(a.faceted(), b.faceted()));
    }
}
