//! A surface of triangles, which a scene lists or takes from a file: of any form where it is fixed or moved as
//! prescribed, closed where forces move it. If a scene asks for it, a closed one becomes convex parts.

use super::composite::Part;
use super::{Form, Polyhedron, Solid, from_file};
use barchan_convex::Hull;
use barchan_mesh::{MeshFault, Moments, Surface, Topology, Tree, convex_hull, decompose};
use glam::{DMat3, DQuat, DVec3};
use serde::{Deserialize, Serialize};
use std::sync::{Arc, OnceLock};

/// How much of its volume a convex part may have beyond the mesh.
const CONCAVITY: f64 = 0.01;
/// The size of what has no inside, as a part of the root of its area: that of a plate a tenth as thick as it is wide.
const SHEET: f64 = 0.05;

/// A surface of triangles.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(from = "MeshText", into = "MeshText")]
pub struct Mesh {
    /// A copy lists no triangles here.
    text: MeshText,
    /// The text of a copy with its triangles, for who asks.
    listed: OnceLock<MeshText>,
    /// Made when it is first asked for.
    made: OnceLock<Result<Arc<Triangles>, (&'static str, String)>>,
    /// The convex parts at scale, likewise.
    parts: OnceLock<Vec<Part>>,
}

/// What a scene says of a mesh.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MeshText {
    /// An STL, OBJ or PLY file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The corners of triangles, if there is no file.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub vertices: Vec<DVec3>,
    /// Three indices of vertices each, anticlockwise as seen from outside.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub triangles: Vec<[u32; 3]>,
    /// A factor on all vertices.
    #[serde(default = "super::one")]
    pub scale: f64,
    /// Into how many convex parts a closed mesh is cut, at most; 0 to keep its triangles.
    #[serde(default)]
    pub convex_parts: u32,
}

/// Triangles at scale 1, and what is known of them. Many bodies share it.
#[derive(Debug)]
pub struct Triangles {
    /// The triangles.
    pub(crate) surface: Surface,
    /// Where in space each of them is.
    pub(crate) tree: Tree,
    /// Who its neighbours are.
    pub(crate) topology: Topology,
    /// The middle of its box.
    pub(crate) centre: DVec3,
    /// Whether it has an inside.
    pub(crate) is_closed: bool,
    /// The convex hull about the middle, found when it is first asked for.
    hull: OnceLock<Hull>,
    /// What is wrong with the triangles, the worst first.
    faults: Vec<MeshFault>,
    moments: Option<Moments>,
    /// The length by which margins, overlaps and steps are measured.
    pub(crate) size: f64,
    parts: Vec<Part>,
    low: DVec3,
    high: DVec3,
    /// The radius of a ball about the origin that holds it.
    pub(crate) reach: f64,
}

/// Triangles, and a factor on their lengths.
#[derive(Clone, Copy, Debug)]
pub struct Scaled<'a> {
    /// At scale 1.
    pub triangles: &'a Triangles,
    /// The factor.
    pub scale: f64,
}

impl Triangles {
    /// A surface, and its convex parts if it is to be taken by these.
    pub(super) fn new(surface: Surface, parts: Vec<Part>) -> Self {
        let faults = surface.faults();
        Self::with_faults(surface, parts, faults)
    }

    /// The same of a surface whose faults are known.
    fn with_faults(surface: Surface, parts: Vec<Part>, faults: Vec<MeshFault>) -> Self {
        let is_closed = !faults.iter().any(MeshFault::forbids_volume);
        let moments = is_closed.then(|| Moments::of_surface(&surface));
        let area = area(&surface);
        // About half the thickness, as of a plate.
        let size = moments.map_or(SHEET * area.sqrt(), |moments| moments.volume / area);
        let (low, high) = surface.bounds().unwrap_or_default();
        let reach = surface.vertices.iter().map(|p| p.length()).fold(0.0, f64::max);
        let centre = 0.5 * (low + high);
        let hull = OnceLock::new();
        let tree = Tree::build(&surface);
        // Neighbours of a surface with faults are found by where they are.
        let harmless = |fault: &MeshFault| matches!(fault, MeshFault::Components { .. } | MeshFault::Unsearched { .. });
        let is_sound = faults.iter().all(harmless);
        let topology = if is_sound { Topology::build(&surface) } else { Topology::by_geometry(&surface) };
        Self { tree, topology, surface, hull, centre, is_closed, faults, moments, size, parts, low, high, reach }
    }

    /// The convex hull about its middle, which is all that planes ask for.
    pub(crate) fn hull(&self) -> &Hull {
        let about_middle = |points: &[DVec3]| points.iter().map(|p| *p - self.centre).collect();
        self.hull.get_or_init(|| match convex_hull(&self.surface.vertices) {
            Ok(hull) => Hull::new(about_middle(&hull.points), &hull.faces),
            // A flat mesh lies on one side of a plane or the other with all its vertices: its corners are enough.
            Err(_) => Hull::new(about_middle(&self.surface.vertices), self.surface.triangles.iter()),
        })
    }

    /// The lowest and the highest corner of a box that holds it when it is turned by r.
    pub(crate) fn box_turned(&self, r: &DMat3) -> [DVec3; 2] {
        let middle = *r * (0.5 * (self.low + self.high));
        let half = 0.5 * (self.high - self.low);
        let half = r.x_axis.abs() * half.x + r.y_axis.abs() * half.y + r.z_axis.abs() * half.z;
        [middle - half, middle + half]
    }

    /// Its convex parts; none if it is taken by its triangles.
    pub(super) fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// The same in another frame: a point p is there where `turn`·(p − `origin`) is.
    fn in_frame(&self, origin: DVec3, turn: DQuat) -> Self {
        let parts = self.parts.iter().map(|part| part.in_frame(origin, turn)).collect();
        Self::new(self.surface.mapped(|p| turn * (p - origin)), parts)
    }
}

impl From<MeshText> for Mesh {
    fn from(text: MeshText) -> Self {
        Self { text, listed: OnceLock::new(), made: OnceLock::new(), parts: OnceLock::new() }
    }
}

impl From<Mesh> for MeshText {
    fn from(mesh: Mesh) -> Self {
        mesh.text().clone()
    }
}

impl PartialEq for Mesh {
    fn eq(&self, other: &Self) -> bool {
        match (self.made.get(), other.made.get()) {
            (Some(Ok(a)), Some(Ok(b))) => {
                let is_same = || a.surface == b.surface && a.parts == b.parts;
                self.scale() == other.scale() && (Arc::ptr_eq(a, b) || is_same())
            }
            _ => self.text() == other.text(),
        }
    }
}

impl Mesh {
    /// Triangles with their corners, anticlockwise as seen from outside.
    pub fn new(surface: Surface) -> Self {
        let Surface { vertices, triangles } = surface;
        MeshText { file: None, vertices, triangles, scale: 1.0, convex_parts: 0 }.into()
    }

    /// Triangles that are only looked at, whatever faults they have, and what is said to be their reach if that is more.
    /// Their corners must be finite.
    pub(crate) fn to_be_seen(surface: Surface, reach: f64) -> Self {
        let triangles = Triangles::new(surface, Vec::new());
        let reach = triangles.reach.max(reach);
        Self::of(Arc::new(Triangles { reach, ..triangles }), 1.0)
    }

    /// Of what was made before, at another scale.
    pub(crate) fn of(triangles: Arc<Triangles>, scale: f64) -> Self {
        let convex_parts = triangles.parts.len() as u32;
        let text = MeshText { file: None, vertices: Vec::new(), triangles: Vec::new(), scale, convex_parts };
        Self { made: OnceLock::from(Ok(triangles)), ..text.into() }
    }

    /// Of what was made from the triangles of this one.
    fn like(&self, triangles: Arc<Triangles>, scale: f64) -> Self {
        let mut copy = Self::of(triangles, scale);
        copy.text.convex_parts = self.text.convex_parts;
        copy
    }

    /// Whether it encloses a volume.
    pub fn has_inside(&self) -> bool {
        self.triangles().is_closed
    }

    /// Why it encloses no volume, if that is so.
    pub fn open_because(&self) -> Option<String> {
        self.surface_faults().iter().find(|fault| fault.forbids_volume()).map(|fault| self.words(fault))
    }

    /// A fault of its triangles in words: a volume at its scale.
    pub(crate) fn words(&self, fault: &MeshFault) -> String {
        let text = fault.scaled(self.scale()).to_string();
        if let MeshFault::InsideOut { .. } = fault { text.replacen(", triangle", " m³, triangle", 1) } else { text }
    }

    /// What is wrong with its triangles, the worst first.
    pub(crate) fn surface_faults(&self) -> &[MeshFault] {
        &self.triangles().faults
    }

    /// What a scene says of it, or would say of a copy.
    pub fn text(&self) -> &MeshText {
        let is_listed = self.text.file.is_some() || !self.text.triangles.is_empty();
        match self.made.get() {
            Some(Ok(made)) if !is_listed => self.listed.get_or_init(|| {
                let Surface { vertices, triangles } = made.surface.clone();
                MeshText { vertices, triangles, ..self.text.clone() }
            }),
            _ => &self.text,
        }
    }

    /// The factor on all lengths.
    pub(crate) fn scale(&self) -> f64 {
        self.text.scale
    }

    /// At scale 1, or what is wrong.
    fn made(&self) -> &Result<Arc<Triangles>, (&'static str, String)> {
        self.made.get_or_init(|| {
            let MeshText { file, vertices, triangles, convex_parts, .. } = &self.text;
            let key = if file.is_some() { "file" } else { "triangles" };
            let surface = match file {
                Some(file) => from_file(file).map_err(|message| (key, message))?,
                None => Surface { vertices: vertices.clone(), triangles: triangles.clone() },
            };
            let faults = surface.faults();
            if let Some(fault) = faults.iter().find(|fault| fault.forbids_surface()) {
                return Err((key, fault.to_string()));
            }
            if area(&surface) <= 0.0 {
                return Err((key, "none of its triangles has an area: it can touch nothing".into()));
            }
            let mut parts = Vec::new();
            if *convex_parts > 0 {
                let hulls = decompose(&surface, *convex_parts, CONCAVITY);
                let hulls = hulls.map_err(|error| ("convex_parts", error.to_string()))?;
                parts.extend(hulls.into_iter().map(|hull| Part::new(Polyhedron::new(hull.points, 0.0).into())));
            }
            Ok(Arc::new(Triangles::with_faults(surface, parts, faults)))
        })
    }

    /// At scale 1.
    ///
    /// # Panics
    /// If it has faults.
    pub(crate) fn triangles(&self) -> &Arc<Triangles> {
        match self.made() {
            Ok(triangles) => triangles,
            Err((key, message)) => panic!("a mesh that has faults is asked for its form: {key}: {message}"),
        }
    }

    /// The same, a factor larger. Triangles are shared.
    pub(crate) fn scaled(&self, factor: f64) -> Self {
        self.like(self.triangles().clone(), self.scale() * factor)
    }

    /// The same in the frame of its principal axes.
    pub(crate) fn in_frame(&self, origin: DVec3, turn: DQuat) -> Self {
        let scale = self.scale();
        self.like(Arc::new(self.triangles().in_frame(origin / scale, turn)), scale)
    }
}

/// The area of all triangles.
fn area(surface: &Surface) -> f64 {
    (0..surface.triangles.len()).map(|t| 0.5 * surface.doubled_area(t).length()).sum()
}

impl Form for Mesh {
    fn faults(&self) -> Vec<(&'static str, String)> {
        let MeshText { file, vertices, triangles, scale, .. } = &self.text;
        let mut faults = Vec::new();
        super::close::positive("scale", *scale, &mut faults);
        if self.made.get().is_none() && file.is_some() != (vertices.is_empty() && triangles.is_empty()) {
            let found = if file.is_some() { "both are given" } else { "neither is given" };
            faults.push(("triangles", format!("a mesh has vertices and triangles, or a file: {found}")));
        }
        if faults.is_empty() {
            faults.extend(self.made().as_ref().err().cloned());
        }
        faults
    }

    fn solid(&self) -> Solid<'_> {
        let triangles = self.triangles();
        let scale = self.scale();
        if triangles.parts.is_empty() {
            Solid::Triangles(Scaled { triangles, scale })
        } else if scale == 1.0 {
            Solid::Parts(&triangles.parts)
        } else {
            Solid::Parts(self.parts.get_or_init(|| triangles.parts.iter().map(|part| part.scaled(scale)).collect()))
        }
    }

    fn reach(&self) -> f64 {
        self.triangles().reach * self.scale()
    }

    /// About half the thickness: volume over surface, as of a plate; of what has no inside, that of a thin plate.
    fn size(&self) -> f64 {
        self.triangles().size * self.scale()
    }

    fn half_box(&self, r: &DMat3) -> [DVec3; 2] {
        self.triangles().box_turned(r).map(|x| x * self.scale())
    }

    fn moments(&self) -> Option<Moments> {
        self.triangles().moments.map(|moments| moments.scaled(self.scale()))
    }

    fn surface(&self) -> Surface {
        self.triangles().surface.mapped(|p| p * self.scale())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shape::Shape;

    /// An L of two boxes, which share a face but no triangles.
    fn corner() -> Surface {
        let upright = Surface::cuboid(DVec3::new(0.5, 0.5, 1.5));
        let foot = Surface::cuboid(DVec3::new(0.5, 0.5, 0.5)).mapped(|p| p + DVec3::new(1.2, 0.0, -1.0));
        Surface::merged([&upright, &foot])
    }

    #[test]
    fn meshes_that_are_cut_into_parts_differ_from_others() {
        let Surface { vertices, triangles } = corner();
        let of = |convex_parts| {
            Mesh::from(MeshText {
                file: None,
                vertices: vertices.clone(),
                triangles: triangles.clone(),
                scale: 1.0,
                convex_parts,
            })
        };
        let [whole, cut, again] = [of(0), of(8), of(8)];
        assert_ne!(whole, cut);
        for mesh in [&whole, &cut, &again] {
            assert_eq!(mesh.faults(), []);
        }
        assert_ne!(whole, cut);
        assert_eq!(cut, again);
        assert_eq!(cut, cut.scaled(0.5).scaled(2.0));
        assert!(Arc::ptr_eq(cut.triangles(), cut.scaled(0.5).triangles()));
        assert_ne!(cut, cut.scaled(0.5));
    }

    #[test]
    fn copies_are_written_with_their_triangles() {
        for convex_parts in [0, 8] {
            let Surface { vertices, triangles } = corner();
            let mesh = Mesh::from(MeshText { file: None, vertices, triangles, scale: 2.0, convex_parts });
            let copy: Shape = mesh.scaled(0.1).into();
            let text = serde_json::to_string(&copy).expect("numbers");
            let back: Shape = serde_json::from_str(&text).expect("a mesh");
            assert_eq!(back.faults(), []);
            assert_eq!(back, copy);
        }
    }

    #[test]
    fn every_mesh_has_a_finite_size() {
        let cube = Surface::cuboid(DVec3::ONE);
        let mut open = cube.clone();
        open.triangles.truncate(10);
        let size = |surface: &Surface| Shape::mesh(surface.clone()).scaled(3.0).size();
        assert!((size(&cube) - 1.0).abs() < 1e-12);
        assert!((size(&open) - 3.0 * 0.05 * 20f64.sqrt()).abs() < 1e-12);
        let line = Surface { vertices: vec![DVec3::ZERO, DVec3::X, DVec3::X * 2.0], triangles: vec![[0, 1, 2]] };
        let faults = Shape::mesh(line).faults();
        assert!(faults.len() == 1 && faults[0].1.contains("none of its triangles has an area"), "{faults:?}");
    }
}
