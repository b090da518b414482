//! Shapes glued on one body: clumps of spheres, and what is concave.

use super::{Form, Shape, Solid, Surface, union};
use barchan_mesh::Moments;
use glam::{DMat3, DQuat, DVec3};
use serde::{Deserialize, Serialize};
use std::sync::OnceLock;

/// What rounding leaves of the square of a unit length.
const UNIT: f64 = 1e-15;

/// What becomes of mass where parts overlap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Overlaps {
    /// It is that of the solid which the parts make together.
    #[default]
    Once,
    /// Each part has its own.
    Each,
}

impl Overlaps {
    /// Every one with the name that scene files use, and a few words where that is not enough.
    pub const ALL: &'static [(Self, &'static str, &'static str)] =
        &[(Self::Once, "once", ""), (Self::Each, "each", "every part has its own mass")];
}

/// A part of a composite: a convex shape, and where it is glued on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(from = "PartText", into = "PartText")]
pub struct Part {
    /// Its shape.
    pub shape: Shape,
    /// Where its origin is in the frame of the whole.
    pub position: DVec3,
    /// How it is turned, of unit length.
    pub orientation: DQuat,
    /// The same as a matrix.
    pub(crate) rotation: DMat3,
}

/// A part as files have it.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct PartText {
    shape: Shape,
    #[serde(default)]
    position: DVec3,
    #[serde(default)]
    orientation: DQuat,
}

impl From<PartText> for Part {
    fn from(PartText { shape, position, orientation }: PartText) -> Self {
        Self::new(shape).at(position, orientation)
    }
}

impl From<Part> for PartText {
    fn from(Part { shape, position, orientation, .. }: Part) -> Self {
        Self { shape, position, orientation }
    }
}

impl Part {
    /// A shape at the origin.
    pub fn new(shape: Shape) -> Self {
        Self { shape, position: DVec3::ZERO, orientation: DQuat::IDENTITY, rotation: DMat3::IDENTITY }
    }

    /// The same elsewhere.
    #[must_use]
    pub fn at(self, position: DVec3, orientation: DQuat) -> Self {
        // What is of unit length keeps its bits, so that a part does not change when it is written and read.
        let is_unit = (orientation.length_squared() - 1.0).abs() <= UNIT;
        let orientation = if is_unit { orientation } else { orientation.normalize() };
        Self { position, orientation, rotation: DMat3::from_quat(orientation), ..self }
    }

    /// The same in another frame: a point p is there where `turn`·(p − `origin`) is.
    pub(crate) fn in_frame(&self, origin: DVec3, turn: DQuat) -> Self {
        self.clone().at(turn * (self.position - origin), turn * self.orientation)
    }

    /// The same, a factor larger.
    pub(super) fn scaled(&self, factor: f64) -> Self {
        Self { shape: self.shape.scaled(factor), position: self.position * factor, ..self.clone() }
    }

    /// Moments in the frame of the whole.
    fn moments(&self) -> Option<Moments> {
        Some(self.shape.moments()?.moved(self.orientation, self.position))
    }
}

/// Shapes glued on one body.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Composite {
    /// The parts.
    pub parts: Vec<Part>,
    /// What becomes of mass where they overlap.
    #[serde(default)]
    pub overlaps: Overlaps,
    /// Found when it is first asked for.
    #[serde(skip)]
    moments: OnceLock<Option<Moments>>,
    /// Reach and size, likewise.
    #[serde(skip)]
    measures: OnceLock<[f64; 2]>,
}

impl PartialEq for Composite {
    fn eq(&self, other: &Self) -> bool {
        self.parts == other.parts && self.overlaps == other.overlaps
    }
}

impl Composite {
    /// Parts that count their overlaps once.
    pub fn new(parts: Vec<Part>) -> Self {
        Self { parts, overlaps: Overlaps::Once, moments: OnceLock::new(), measures: OnceLock::new() }
    }

    /// The same, a factor larger.
    pub(crate) fn scaled(&self, factor: f64) -> Self {
        let moments = self
            .moments
            .get()
            .map_or_else(OnceLock::new, |known| OnceLock::from(known.map(|moments| moments.scaled(factor))));
        let parts = self.parts.iter().map(|part| part.scaled(factor)).collect();
        Self { parts, overlaps: self.overlaps, moments, measures: OnceLock::new() }
    }

    /// The same in another frame: a point p is there where `turn`·(p − `origin`) is.
    pub(crate) fn in_frame(&self, origin: DVec3, turn: DQuat) -> Self {
        let known = self.moments.get().copied().flatten();
        let moments =
            known.map_or_else(OnceLock::new, |moments| OnceLock::from(Some(moments.moved(turn, turn * -origin))));
        let parts = self.parts.iter().map(|part| part.in_frame(origin, turn)).collect();
        Self { parts, overlaps: self.overlaps, moments, measures: OnceLock::new() }
    }

    /// Its reach and its size.
    fn measures(&self) -> [f64; 2] {
        *self.measures.get_or_init(|| {
            let far = |part: &Part| part.position.length() + part.shape.bounding_radius().unwrap_or(0.0);
            let reach = self.parts.iter().map(far).fold(0.0, f64::max);
            [reach, self.parts.iter().map(|part| part.shape.size()).fold(f64::INFINITY, f64::min)]
        })
    }

    /// Parts whose moments together are known.
    pub(crate) fn known(parts: Vec<Part>, overlaps: Overlaps, moments: Option<Moments>) -> Self {
        Self { parts, overlaps, moments: OnceLock::from(moments), measures: OnceLock::new() }
    }
}

impl Form for Composite {
    fn faults(&self) -> Vec<(&'static str, String)> {
        if self.parts.is_empty() {
            return vec![("parts", "a composite needs at least one part, but has none".into())];
        }
        let mut faults = Vec::new();
        for (k, part) in self.parts.iter().enumerate() {
            let name = part.shape.name();
            let is_convex = !matches!(part.shape, Shape::Composite(_) | Shape::Mesh(_)) && !part.shape.is_unbounded();
            if !is_convex {
                let message = format!(
                    "part {k} is a {name}, and parts are convex: give the parts of a composite themselves, and a mesh \
                     as polyhedra (or take the mesh with convex_parts instead of the composite)"
                );
                faults.push(("parts", message));
                continue;
            }
            let own = part.shape.faults().into_iter();
            faults.extend(own.map(|(key, message)| ("parts", format!("part {k}, {name}.{key}: {message}"))));
            if !part.position.is_finite() {
                faults.push(("parts", format!("part {k}: the position must be finite, but is {}", part.position)));
            }
            let length = part.orientation.length();
            if !(0.5..2.0).contains(&length) {
                faults.push(("parts", format!("part {k}: the orientation must not be zero")));
            }
        }
        faults
    }

    fn solid(&self) -> Solid<'_> {
        Solid::Parts(&self.parts)
    }

    fn reach(&self) -> f64 {
        self.measures()[0]
    }

    fn size(&self) -> f64 {
        self.measures()[1]
    }

    fn half_box(&self, r: &DMat3) -> [DVec3; 2] {
        union_of_boxes(&self.parts, 1.0, r)
    }

    fn moments(&self) -> Option<Moments> {
        *self.moments.get_or_init(|| match self.overlaps {
            Overlaps::Once => union::moments(&self.parts),
            Overlaps::Each => {
                let all = self.parts.iter().map(Part::moments).collect::<Option<Vec<_>>>()?;
                all.into_iter().reduce(|sum, own| sum.plus(&own))
            }
        })
    }

    fn surface(&self) -> Surface {
        let own = |part: &Part| Some(part.shape.surface()?.mapped(|p| part.position + part.rotation * p));
        let surfaces: Vec<Surface> = self.parts.iter().filter_map(own).collect();
        Surface::merged(&surfaces)
    }
}

/// The box of parts at a scale, turned by r.
pub(super) fn union_of_boxes(parts: &[Part], scale: f64, r: &DMat3) -> [DVec3; 2] {
    let mut all = [DVec3::INFINITY, DVec3::NEG_INFINITY];
    for part in parts {
        let [low, high] = part.shape.half_box(&(*r * part.rotation));
        let x = *r * part.position;
        all = [all[0].min((x + low) * scale), all[1].max((x + high) * scale)];
    }
    all
}
