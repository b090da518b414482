//! A convex polyhedron: the hull of points, which a scene lists or takes from a file, with edges that may be rounded.

use super::{Convex, Form, Solid, Surface, close, points_of_file};
use barchan_convex::{Core, Hull};
use barchan_mesh::{self as mesh, Moments, convex_hull};
use glam::{DMat3, DQuat, DVec3};
use serde::{Deserialize, Serialize};
use std::sync::{Arc, OnceLock};

/// The convex hull of points.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(from = "PolyhedronText", into = "PolyhedronText")]
pub struct Polyhedron {
    /// A copy lists no points here.
    text: PolyhedronText,
    /// The text of a copy with its points, for who asks.
    listed: OnceLock<PolyhedronText>,
    /// Made when it is first asked for.
    made: OnceLock<Result<Arc<Faceted>, (&'static str, String)>>,
}

/// What a scene says of a polyhedron.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PolyhedronText {
    /// A mesh file whose vertices are the points.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The points, if there is no file.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub points: Vec<DVec3>,
    /// A factor on all points.
    #[serde(default = "super::one")]
    pub scale: f64,
    /// The radius by which edges are rounded; the faces stay where they are.
    #[serde(default)]
    pub margin: f64,
}

/// A polyhedron at scale 1. Many bodies share it.
#[derive(Debug, PartialEq)]
pub(crate) struct Faceted {
    /// Corners and faces, as they are seen.
    pub(crate) outer: mesh::Polyhedron,
    /// The radius by which edges are rounded.
    pub(crate) margin: f64,
    /// What is left without the rounding, about its own middle,
    core: Hull,
    /// which is here.
    centre: DVec3,
    moments: Moments,
    reach: f64,
    inradius: f64,
}

/// Why corners and faces, with a margin, are no polyhedron.
#[derive(Debug)]
pub(crate) enum Unsound {
    /// The margin takes all of it away; it must be less than this.
    NothingLeft { limit: f64 },
    /// It has no volume.
    Hollow,
}

impl Faceted {
    /// Of corners and faces, with the margin at scale 1.
    pub(crate) fn new(outer: mesh::Polyhedron, margin: f64) -> Result<Self, Unsound> {
        let inner = outer.shrunk(margin).ok_or_else(|| Unsound::NothingLeft { limit: largest_margin(&outer) })?;
        let moments = Moments::grown(&inner, margin);
        if moments.volume <= 0.0 {
            return Err(Unsound::Hollow);
        }
        let centre = moments.centre;
        let core = Hull::new(inner.points.iter().map(|p| *p - centre).collect(), &inner.faces);
        let height = |face: usize| core.points()[core.corners(face)[0] as usize].dot(core.normal(face));
        let inradius = (0..core.face_count()).map(height).fold(f64::INFINITY, f64::min) + margin;
        let reach = inner.points.iter().map(|p| p.length()).fold(0.0, f64::max) + margin;
        Ok(Self { outer, margin, core, centre, moments, reach, inradius })
    }

    /// The same in another frame: a point p is there where `turn`·(p − `origin`) is.
    fn in_frame(&self, origin: DVec3, turn: DQuat) -> Result<Self, Unsound> {
        let points = self.outer.points.iter().map(|&p| turn * (p - origin)).collect();
        Self::new(mesh::Polyhedron { points, faces: self.outer.faces.clone() }, self.margin)
    }
}

impl From<PolyhedronText> for Polyhedron {
    fn from(text: PolyhedronText) -> Self {
        Self { text, listed: OnceLock::new(), made: OnceLock::new() }
    }
}

impl From<Polyhedron> for PolyhedronText {
    fn from(polyhedron: Polyhedron) -> Self {
        polyhedron.text().clone()
    }
}

impl PartialEq for Polyhedron {
    fn eq(&self, other: &Self) -> bool {
        match (self.made.get(), other.made.get()) {
            (Some(Ok(a)), Some(Ok(b))) => self.text.scale == other.text.scale && (Arc::ptr_eq(a, b) || a == b),
            _ => self.text() == other.text(),
        }
    }
}

impl Polyhedron {
    /// The convex hull of points.
    pub fn new(points: Vec<DVec3>, margin: f64) -> Self {
        PolyhedronText { file: None, points, scale: 1.0, margin }.into()
    }

    /// Of what was made before, at another scale.
    pub(crate) fn of(faceted: Arc<Faceted>, scale: f64) -> Self {
        let text = PolyhedronText { file: None, points: Vec::new(), scale, margin: faceted.margin * scale };
        Self { made: OnceLock::from(Ok(faceted)), ..text.into() }
    }

    /// What a scene says of it, or would say of a copy.
    pub fn text(&self) -> &PolyhedronText {
        let is_listed = self.text.file.is_some() || !self.text.points.is_empty();
        match self.made.get() {
            Some(Ok(made)) if !is_listed => {
                self.listed.get_or_init(|| PolyhedronText { points: made.outer.points.clone(), ..self.text.clone() })
            }
            _ => &self.text,
        }
    }

    /// The factor on all lengths.
    pub(crate) fn scale(&self) -> f64 {
        self.text.scale
    }

    /// At scale 1, or what is wrong.
    fn made(&self) -> &Result<Arc<Faceted>, (&'static str, String)> {
        self.made.get_or_init(|| {
            let PolyhedronText { file, scale, margin, .. } = &self.text;
            let fault = |message: String| (if file.is_some() { "file" } else { "points" }, message);
            let from_file = file.as_ref().map(|file| points_of_file(file));
            let points = from_file.transpose().map_err(fault)?;
            let points = points.as_ref().unwrap_or(&self.text.points);
            let outer = convex_hull(points).map_err(|error| fault(error.to_string()))?;
            let faceted = Faceted::new(outer, margin / scale).map_err(|unsound| match unsound {
                Unsound::NothingLeft { limit } => {
                    // To four digits.
                    let limit = format!("{:.3e}", limit * scale).parse().unwrap_or(limit * scale);
                    let message = format!(
                        "must be less than about {limit:?}, or nothing is left between the faces, but is {margin:?}"
                    );
                    ("margin", message)
                }
                Unsound::Hollow => fault("enclose no volume".into()),
            })?;
            Ok(Arc::new(faceted))
        })
    }

    /// At scale 1.
    ///
    /// # Panics
    /// If it has faults.
    pub(crate) fn faceted(&self) -> &Arc<Faceted> {
        match self.made() {
            Ok(faceted) => faceted,
            Err((key, message)) => panic!("a polyhedron that has faults is asked for its form: {key}: {message}"),
        }
    }

    /// The same, a factor larger. Corners and faces are shared.
    pub(crate) fn scaled(&self, factor: f64) -> Self {
        Self::of(self.faceted().clone(), self.text.scale * factor)
    }

    /// The same in the frame of its principal axes.
    pub(crate) fn in_frame(&self, origin: DVec3, turn: DQuat) -> Self {
        let scale = self.text.scale;
        let moved = self.faceted().in_frame(origin / scale, turn);
        Self::of(Arc::new(moved.unwrap_or_else(|unsound| panic!("a turned polyhedron: {unsound:?}"))), scale)
    }
}

/// By how much all faces can be moved inwards until nothing is left, to three digits.
fn largest_margin(outer: &mesh::Polyhedron) -> f64 {
    let mut low = 0.0;
    let mut high = outer.points.iter().map(|p| p.distance(outer.points[0])).fold(0.0, f64::max);
    while high - low > 1e-4 * high {
        let middle = 0.5 * (low + high);
        if outer.shrunk(middle).is_some() { low = middle } else { high = middle }
    }
    low
}

impl Form for Polyhedron {
    fn faults(&self) -> Vec<(&'static str, String)> {
        let PolyhedronText { file, points, scale, margin } = &self.text;
        let mut faults = Vec::new();
        close::positive("scale", *scale, &mut faults);
        close::not_negative(*margin, &mut faults);
        if self.made.get().is_none() && file.is_some() != points.is_empty() {
            let found = if file.is_some() { "both are given" } else { "neither is given" };
            faults.push(("points", format!("a polyhedron has points, or a file: {found}")));
        }
        if faults.is_empty() {
            faults.extend(self.made().as_ref().err().cloned());
        }
        faults
    }

    fn solid(&self) -> Solid<'_> {
        let scale = self.text.scale;
        let faceted = self.faceted();
        let core = Core::Hull { hull: &faceted.core, scale };
        Solid::One(Convex { core, rounding: faceted.margin * scale, centre: faceted.centre * scale })
    }

    fn reach(&self) -> f64 {
        self.faceted().reach * self.text.scale
    }

    fn size(&self) -> f64 {
        self.faceted().inradius * self.text.scale
    }

    fn half_box(&self, r: &DMat3) -> [DVec3; 2] {
        let scale = self.text.scale;
        let faceted = self.faceted();
        let mut low = DVec3::INFINITY;
        let mut high = DVec3::NEG_INFINITY;
        for &p in faceted.core.points() {
            let p = *r * p;
            low = low.min(p);
            high = high.max(p);
        }
        let centre = *r * faceted.centre;
        [(centre + low - faceted.margin) * scale, (centre + high + faceted.margin) * scale]
    }

    fn moments(&self) -> Option<Moments> {
        Some(self.faceted().moments.scaled(self.text.scale))
    }

    fn surface(&self) -> Surface {
        let scale = self.text.scale;
        let faceted = self.faceted();
        let surface = if faceted.margin > 0.0 {
            let points: Vec<DVec3> = faceted.core.points().iter().map(|p| *p + faceted.centre).collect();
            let corners: Vec<_> =
                (0..faceted.core.face_count()).map(|face| faceted.core.corners(face).to_vec()).collect();
            Surface::rounded_faces(&points, &corners, faceted.margin, close::SEGMENTS)
        } else {
            Surface::from_faces(&faceted.outer.points, &faceted.outer.faces)
        };
        surface.mapped(|p| p * scale)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shape::{Cuboid, Shape};

    #[test]
    fn a_margin_that_is_too_large_is_named_as_it_was_given() {
        let points = Surface::cuboid(DVec3::ONE).vertices;
        let text = |margin| PolyhedronText { file: None, points: points.clone(), scale: 0.1, margin };
        assert_eq!(Polyhedron::from(text(0.09)).faults(), []);
        let faults = Polyhedron::from(text(0.11)).faults();
        assert!(faults.len() == 1 && faults[0].0 == "margin", "{faults:?}");
        let message = &faults[0].1;
        assert!(message.contains("about 0.1,") && message.ends_with("but is 0.11"), "{message}");
    }

    #[test]
    fn a_rounded_box_has_the_mass_of_a_box_with_a_margin() {
        for margin in [0.0, 0.01, 0.07] {
            let half_extents = DVec3::new(0.2, 0.1, 0.3);
            let cuboid: Shape = Cuboid { half_extents, margin }.into();
            let points = Surface::cuboid(half_extents).vertices;
            let [own, expected] = [Polyhedron::new(points, margin).into(), cuboid].map(|shape: Shape| {
                let mass = shape.mass_properties(1000.0).expect("a volume");
                (mass.mass, mass.inertia)
            });
            assert!((own.0 / expected.0 - 1.0).abs() < 1e-9, "{margin}: {} and {}", own.0, expected.0);
            assert!((own.1 / expected.1 - 1.0).abs().max_element() < 1e-9, "{margin}: {} and {}", own.1, expected.1);
        }
    }
}
