//! Shapes as bytes, for messages between ranks and for checkpoints.
//!
//! Spheres are many and travel as their radius. Other shapes have a code and their numbers; what several of them share
//! (corners and faces of a polyhedron, triangles of a mesh, a whole shape) is written once in a column, and is shared
//! again when it is read. What is made of such numbers is made anew, with the same bits.

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

/// What has been written, by where it stands in memory.
#[derive(Default)]
struct Written {
    facets: HashMap<*const Faceted, u32>,
    triangles: HashMap<*const Triangles, u32>,
}

/// What has been read, in the order of writing.
#[derive(Default)]
struct Read {
    facets: Vec<Arc<Faceted>>,
    triangles: Vec<Arc<Triangles>>,
}

/// Writes the number of what is known, or a new number and the thing itself.
fn pack_once<T>(
    known: &mut HashMap<*const T, u32>,
    value: &Arc<T>,
    out: &mut Vec<u8>,
    pack: impl FnOnce(&T, &mut Vec<u8>),
) {
    let next = known.len() as u32;
    let number = *known.entry(Arc::as_ptr(value)).or_insert(next);
    number.pack(out);
    if number == next {
        pack(value, out);
    }
}

/// Takes back what [`pack_once`] wrote.
fn unpack_once<T>(
    known: &mut Vec<Arc<T>>,
    from: &mut Unpacker<'_>,
    unpack: impl FnOnce(&mut Unpacker<'_>) -> Option<T>,
) -> Option<Arc<T>> {
    let number = from.take::<u32>()? as usize;
    if number == known.len() {
        known.push(Arc::new(unpack(from)?));
    }
    known.get(number).cloned()
}

fn pack_faceted(faceted: &Faceted, out: &mut Vec<u8>) {
    faceted.margin.pack(out);
    faceted.outer.points.pack_column(out);
    (faceted.outer.faces.len() as u32).pack(out);
    faceted.outer.faces.iter().for_each(|face| face.pack_column(out));
}

fn unpack_faceted(from: &mut Unpacker<'_>) -> Option<Faceted> {
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

fn pack_triangles(triangles: &Triangles, written: &mut Written, out: &mut Vec<u8>) {
    triangles.surface.vertices.pack_column(out);
    triangles.surface.triangles.pack_column(out);
    pack_parts(triangles.parts(), written, out);
}

fn unpack_triangles(from: &mut Unpacker<'_>, read: &mut Read) -> Option<Triangles> {
    let vertices = Vec::unpack_column(from)?;
    let triangles = Vec::<[u32; 3]>::unpack_column(from)?;
    let is_valid = !triangles.is_empty() && triangles.iter().flatten().all(|&k| (k as usize) < vertices.len());
    let parts = unpack_parts(from, read)?;
    is_valid.then(|| Triangles::new(Surface { vertices, triangles }, parts))
}

fn pack_parts(parts: &[Part], written: &mut Written, out: &mut Vec<u8>) {
    (parts.len() as u32).pack(out);
    for part in parts {
        part.position.pack(out);
        part.orientation.pack(out);
        pack_shape(&part.shape, written, out);
    }
}

fn unpack_parts(from: &mut Unpacker<'_>, read: &mut Read) -> Option<Vec<Part>> {
    let count = from.take::<u32>()?;
    let mut parts = Vec::new();
    for _ in 0..count {
        let position = from.take::<DVec3>().filter(|position| position.is_finite())?;
        // The orientation keeps its bits: it is of unit length already.
        let orientation = from.take::<DQuat>().filter(|orientation| orientation.is_normalized())?;
        let shape = unpack_shape(from, read)?;
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

fn pack_shape(shape: &Shape, written: &mut Written, out: &mut Vec<u8>) {
    match shape {
        Shape::Sphere(s) => {
            0u8.pack(out);
            s.radius.pack(out);
        }
        Shape::HalfSpace(_) | Shape::Container(_) => {
            1u8.pack(out);
            pack_text(shape, out);
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
            p.scale().pack(out);
            pack_once(&mut written.facets, p.faceted(), out, pack_faceted);
        }
        Shape::Mesh(m) => {
            8u8.pack(out);
            m.scale().pack(out);
            let known = written.triangles.len() as u32;
            let number = *written.triangles.entry(Arc::as_ptr(m.triangles())).or_insert(known);
            number.pack(out);
            if number == known {
                pack_triangles(m.triangles(), written, out);
            }
        }
        Shape::Composite(c) => {
            9u8.pack(out);
            (c.overlaps == Overlaps::Each).pack(out);
            let moments = c.moments();
            moments.is_some().pack(out);
            moments.iter().for_each(|moments| pack_moments(moments, out));
            pack_parts(&c.parts, written, out);
        }
    }
}

fn unpack_shape(from: &mut Unpacker<'_>, read: &mut Read) -> Option<Shape> {
    let shape: Shape = match from.take::<u8>()? {
        0 => Shape::sphere(from.take()?),
        1 => unpack_text(from)?,
        2 => Cuboid { half_extents: from.take()?, margin: from.take()? }.into(),
        3 => Capsule { radius: from.take()?, half_height: from.take()? }.into(),
        4 => Cylinder { radius: from.take()?, half_height: from.take()?, margin: from.take()? }.into(),
        5 => Cone { radius: from.take()?, half_height: from.take()? }.into(),
        6 => Ellipsoid { radii: from.take()? }.into(),
        7 => {
            let scale = from.take::<f64>()?;
            Polyhedron::of(unpack_once(&mut read.facets, from, unpack_faceted)?, scale).into()
        }
        8 => {
            let scale = from.take::<f64>()?;
            let number = from.take::<u32>()? as usize;
            if number == read.triangles.len() {
                let triangles = unpack_triangles(from, read)?;
                read.triangles.push(Arc::new(triangles));
            }
            Mesh::of(read.triangles.get(number)?.clone(), scale).into()
        }
        9 => {
            let overlaps = if from.take()? { Overlaps::Each } else { Overlaps::Once };
            let moments = if from.take()? { Some(unpack_moments(from)?) } else { None };
            Composite::known(unpack_parts(from, read)?, overlaps, moments).into()
        }
        _ => return None,
    };
    let is_sound = shape.faults().is_empty() && shape.bounding_radius().is_none_or(f64::is_finite);
    is_sound.then_some(shape)
}

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
    use crate::shape::{Container, Face};

    fn all() -> Vec<Shape> {
        let tetrahedron = vec![DVec3::X, DVec3::Y, DVec3::Z, -DVec3::ONE];
        let turned = Part::new(Shape::capsule(0.1, 0.3)).at(DVec3::X, DQuat::from_rotation_y(0.3));
        vec![
            Shape::sphere(0.1),
            Shape::half_space(),
            Container { half_extents: DVec3::new(1.0, 2.0, 0.1), open: vec![Face::ALL[0]] }.into(),
            Cuboid { half_extents: DVec3::new(0.3, 1.0 / 3.0, 0.7), margin: 0.1 }.into(),
            Shape::capsule(0.3, 0.7),
            Cylinder { radius: 0.4, half_height: 1.0 / 7.0, margin: 0.01 }.into(),
            Shape::cone(0.5, 0.3),
            Shape::ellipsoid(DVec3::new(0.1, 0.2, 0.3)),
            Shape::polyhedron(tetrahedron.clone()).scaled(0.3),
            Polyhedron::new(tetrahedron, 0.1).into(),
            Shape::mesh(Surface::cuboid(DVec3::ONE)).scaled(2.0),
            Shape::composite(vec![Part::new(Shape::sphere(1.0)), turned]),
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
