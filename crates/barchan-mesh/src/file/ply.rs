//! PLY: a header says which elements a file has, of which properties and how many; then they follow, as text or as numbers
//! in either order of bytes. What is read are the places x, y, z of the element `vertex` and the list `vertex_indices` (or
//! `vertex_index`) of the element `face`, whose polygons become fans of triangles.

use std::io::Cursor;

use glam::DVec3;
use ply_rs_bw::parser::{Parser, Reader};
use ply_rs_bw::ply::{ElementDef, Encoding, Header, PropertyAccess, PropertyAccessResult, PropertyType, ScalarType};

use super::{MeshError, short};
use crate::Surface;

/// The place of a vertex.
#[derive(Default)]
struct Vertex([f64; 3]);

/// The corners of a polygon. Negative ones are out of range.
#[derive(Default)]
struct Face(Vec<i64>);

/// An element that is not read.
struct Other;

impl Vertex {
    fn set(&mut self, key: &str, value: f64) -> PropertyAccessResult {
        match key {
            "x" => self.0[0] = value,
            "y" => self.0[1] = value,
            "z" => self.0[2] = value,
            _ => return PropertyAccessResult::Ignored,
        }
        PropertyAccessResult::Set
    }
}

impl Face {
    fn set_list(&mut self, key: &str, corners: Vec<i64>) -> PropertyAccessResult {
        if !is_corners(key) {
            return PropertyAccessResult::Ignored;
        }
        self.0 = corners;
        PropertyAccessResult::Set
    }
}

/// Whether a list of a face holds its corners.
fn is_corners(key: &str) -> bool {
    key == "vertex_indices" || key == "vertex_index"
}

/// Setters of a kind of element: what is done with a scalar, and what with a list of integers. All else is left.
macro_rules! setters {
    ($scalar:expr, $list:expr) => {
        setters!(@scalars $scalar, set_char i8, set_uchar u8, set_short i16, set_ushort u16, set_int i32, set_uint u32,
            set_float f32, set_double f64);
        setters!(@lists $list, set_list_char i8, set_list_uchar u8, set_list_short i16, set_list_ushort u16,
            set_list_int i32, set_list_uint u32);
        setters!(@ignored set_list_float f32, set_list_double f64);
    };
    (@scalars $do:expr, $($name:ident $type:ty),*) => {
        $(fn $name(&mut self, key: &str, value: $type) -> PropertyAccessResult { $do(self, key, f64::from(value)) })*
    };
    (@lists $do:expr, $($name:ident $type:ty),*) => {
        $(fn $name(&mut self, key: &str, list: Vec<$type>) -> PropertyAccessResult {
            $do(self, key, list.into_iter().map(i64::from).collect::<Vec<i64>>())
        })*
    };
    (@ignored $($name:ident $type:ty),*) => {
        $(fn $name(&mut self, _: &str, _: Vec<$type>) -> PropertyAccessResult { PropertyAccessResult::Ignored })*
    };
}

impl PropertyAccess for Vertex {
    fn new() -> Self {
        Self::default()
    }
    setters!(Self::set, |_: &mut Self, _: &str, _: Vec<i64>| PropertyAccessResult::Ignored);
}

impl PropertyAccess for Face {
    fn new() -> Self {
        Self::default()
    }
    setters!(|_: &mut Self, _: &str, _: f64| PropertyAccessResult::Ignored, Self::set_list);
}

impl PropertyAccess for Other {
    fn new() -> Self {
        Self
    }
    setters!(|_: &mut Self, _: &str, _: f64| PropertyAccessResult::Ignored, |_: &mut Self, _: &str, _: Vec<i64>| {
        PropertyAccessResult::Ignored
    });
}

/// All vertices, and the triangles of faces. Where faces are needed, the header must have them.
pub(super) fn parse(bytes: &[u8], needs_faces: bool) -> Result<Surface, MeshError> {
    if !bytes.starts_with(b"ply") {
        return Err(MeshError::at(1, "expected \"ply\""));
    }
    let mut reader = Reader::new(Cursor::new(bytes));
    let header = Parser::<Other>::new().read_header(&mut reader).map_err(|error| refused(&error))?;
    fits(&header, bytes.len() - reader.get_ref().position() as usize, needs_faces)?;
    let mut vertices: Vec<DVec3> = Vec::new();
    let mut faces = Vec::new();
    for (name, element) in &header.elements {
        match name.as_str() {
            "vertex" => {
                let places = Parser::<Vertex>::new().read_payload_for_element(&mut reader, element, &header);
                vertices =
                    places.map_err(|error| refused(&error))?.into_iter().map(|v| DVec3::from_array(v.0)).collect();
            }
            "face" => {
                let read = Parser::<Face>::new().read_payload_for_element(&mut reader, element, &header);
                faces = read.map_err(|error| refused(&error))?;
            }
            _ => {
                let read = Parser::<Other>::new().read_payload_for_element(&mut reader, element, &header);
                read.map_err(|error| refused(&error))?;
            }
        }
    }
    if let Some(k) = vertices.iter().position(|p| !p.is_finite()) {
        return Err(MeshError::new(format!("vertex {k} is at {}, expected finite numbers", vertices[k])));
    }
    triangles(vertices, &faces)
}

/// What the loader says.
fn refused(error: &ply_rs_bw::parser::ParseError) -> MeshError {
    let text = short(&error.to_string());
    let what = text.split_once(": ").filter(|_| error.line().is_some()).map_or(text.as_str(), |(_, what)| what);
    MeshError { line: error.line(), ..MeshError::new(what) }
}

/// Whether all elements are there that the header says, and as many as fit into the rest of the file.
fn fits(header: &Header, rest: usize, needs_faces: bool) -> Result<(), MeshError> {
    let text = header.encoding == Encoding::Ascii;
    let has = |element: &str, wanted: &dyn Fn(&str) -> bool| {
        header.elements.get(element).is_some_and(|e| e.properties.keys().any(|key| wanted(key)))
    };
    for axis in ["x", "y", "z"] {
        if !has("vertex", &|key| key == axis) {
            return Err(MeshError::new(format!("its header has no property {axis} of an element vertex")));
        }
    }
    if needs_faces && !has("face", &is_corners) {
        return Err(MeshError::new("its header has no list vertex_indices of an element face: expected a surface"));
    }
    let mut needed = 0u128;
    for (name, element) in &header.elements {
        if element.properties.is_empty() {
            return Err(MeshError::new(format!("its header has an element {name} without properties")));
        }
        needed += element.count as u128 * least(element, text) as u128;
    }
    // The last line of a text may lack its end.
    if needed > rest as u128 + 1 {
        let counts: Vec<String> = header.elements.iter().map(|(name, e)| format!("{} of {name}", e.count)).collect();
        return Err(MeshError::new(format!(
            "truncated: its header says {}, which is {needed} bytes at least, but {rest} follow it",
            counts.join(", ")
        )));
    }
    Ok(())
}

/// Bytes that an element has at least.
fn least(element: &ElementDef, text: bool) -> usize {
    let size = |scalar: &ScalarType| match scalar {
        ScalarType::Char | ScalarType::UChar => 1,
        ScalarType::Short | ScalarType::UShort => 2,
        ScalarType::Int | ScalarType::UInt | ScalarType::Float => 4,
        ScalarType::Double => 8,
    };
    let property = |kind: &PropertyType| match kind {
        // A digit and what ends it.
        _ if text => 2,
        PropertyType::Scalar(scalar) | PropertyType::List(scalar, _) => size(scalar),
    };
    element.properties.values().map(|p| property(&p.data_type)).sum()
}

fn triangles(vertices: Vec<DVec3>, faces: &[Face]) -> Result<Surface, MeshError> {
    let mut surface = Surface { vertices, triangles: Vec::new() };
    let count = surface.vertices.len();
    for (k, Face(corners)) in faces.iter().enumerate() {
        if let Some(corner) = corners.iter().find(|&&corner| corner < 0 || corner >= count as i64) {
            return Err(MeshError::new(format!(
                "face {k} refers to vertex {corner}, but there are {count}, counted from 0"
            )));
        }
        let fan = (1..corners.len().saturating_sub(1)).map(|i| [corners[0], corners[i], corners[i + 1]]);
        surface.triangles.extend(fan.map(|t| t.map(|corner| corner as u32)));
    }
    Ok(surface)
}
