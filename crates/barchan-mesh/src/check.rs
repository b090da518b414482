//! What is wrong with a surface, in words that help.
//!
//! A surface as it comes from a file may have holes, fins, triangles that are seen from the wrong side, and parts that go
//! through each other. A body that is moved by others needs a volume ([`MeshFault::forbids_volume`]); a fixed one needs only
//! triangles ([`MeshFault::forbids_surface`]). All tolerances are relative to the size of the surface or of a triangle.
//!
//! Deliberately absent: triangles that overlap in one plane, and those that go through a neighbour with which they share a
//! vertex, do not count as self-intersections.

mod crossings;

use glam::DVec3;

use crate::edges::{Side, edges, sides};
use crate::{Moments, Surface, brief};

/// A triangle has no area if its height is below this part of its longest edge.
const FLAT: f64 = 1e-10;
/// A surface encloses nothing if its volume is below this part of its bounding box's diagonal cubed.
const EMPTY: f64 = 1e-12;

/// One kind of fault of a surface: how often it has it, and where for example.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum MeshFault {
    /// No triangles at all.
    #[error("it has no triangles: check that the file holds a surface")]
    Nothing,
    /// A triangle refers to a vertex that is not there.
    #[error("triangle {triangle} refers to vertex {vertex}, but there are {count}, counted from 0: correct its index")]
    OutOfRange {
        /// The triangle.
        triangle: usize,
        /// What it refers to.
        vertex: u32,
        /// Number of vertices.
        count: usize,
    },
    /// A coordinate of a triangle is infinite or not a number.
    #[error("a corner of triangle {triangle} is at {at}, which is not a place: give finite coordinates")]
    NotFinite {
        /// The triangle.
        triangle: usize,
        /// Its corner.
        at: DVec3,
    },
    /// Triangles without area.
    #[error(
        "{}, triangle {triangle} at {at} for example: remove them",
        counted(*count, "triangle has no area", "triangles have no area")
    )]
    Degenerate {
        /// How many.
        count: usize,
        /// One of them.
        triangle: usize,
        /// A corner of it.
        at: DVec3,
    },
    /// Edges with one triangle only.
    #[error(
        "it has holes: {}, that from {from} to {to} of triangle {triangle} for example; close the hole, or weld vertices that \
         ought to be one",
        counted(*count, "edge has one triangle only", "edges have one triangle only")
    )]
    Open {
        /// How many edges.
        count: usize,
        /// The triangle at one of them.
        triangle: usize,
        /// Where that edge begins.
        from: DVec3,
        /// Where it ends.
        to: DVec3,
    },
    /// Edges with more than two triangles.
    #[error(
        "{}, that from {from} to {to} of triangle {triangle} has {meeting} for example; take the surface apart there",
        counted(*count, "edge has more than two triangles", "edges have more than two triangles")
    )]
    Crowded {
        /// How many edges.
        count: usize,
        /// A triangle at one of them.
        triangle: usize,
        /// How many triangles that edge has.
        meeting: usize,
        /// Where that edge begins.
        from: DVec3,
        /// Where it ends.
        to: DVec3,
    },
    /// Neighbours that are seen from different sides.
    #[error(
        "{}, triangles {triangle} and {neighbour} for example; turn one of them around, so that corners are in order as seen \
         from outside",
        counted(*count, "pair of neighbours has opposite windings", "pairs of neighbours have opposite windings")
    )]
    Winding {
        /// How many pairs.
        count: usize,
        /// One of a pair.
        triangle: usize,
        /// The other one.
        neighbour: usize,
    },
    /// A negative volume.
    #[error(
        "it is inside out (its volume is {:?}, triangle {triangle} is one of those that look inwards); turn all of \
         its triangles around",
        brief(*volume)
    )]
    InsideOut {
        /// The volume.
        volume: f64,
        /// A triangle whose normal points inwards.
        triangle: usize,
    },
    /// No volume.
    #[error("it is closed but encloses nothing, triangle {triangle} lies on the others; give it a volume")]
    Hollow {
        /// The first triangle.
        triangle: usize,
    },
    /// Parts that do not hang together.
    #[error(
        "it has {count} parts that do not hang together, triangle {triangle} is the first one of another part; that is no \
         fault if a body of several parts or with cavities is meant"
    )]
    Components {
        /// How many.
        count: usize,
        /// The first triangle that is not of the first part.
        triangle: usize,
    },
    /// Triangles that go through others.
    #[error(
        "it goes through itself: {}{}, {triangle} and {other} for example at {at}; unite the parts",
        if *is_all { "" } else { "at least " },
        counted(*count, "pair of triangles crosses", "pairs of triangles cross")
    )]
    Crossing {
        /// How many pairs were found.
        count: usize,
        /// Whether these are all: it is not looked for more than some thousands.
        is_all: bool,
        /// One of a pair.
        triangle: usize,
        /// The other one.
        other: usize,
        /// A corner of the first one.
        at: DVec3,
    },
    /// Triangles of which too many lie among each other.
    #[error(
        "whether it goes through itself is not known: so many of its triangles lie among each other that only the first \
         {triangle} of {all} were looked at; cut long thin triangles into shorter ones"
    )]
    Unsearched {
        /// The first triangle that was not looked at to the end.
        triangle: usize,
        /// How many there are.
        all: usize,
    },
}

/// How many there are of something.
fn counted(count: usize, one: &str, several: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { several })
}

impl MeshFault {
    /// Whether such a surface cannot be used at all, not even by a fixed body.
    pub fn forbids_surface(&self) -> bool {
        matches!(self, Self::Nothing | Self::OutOfRange { .. } | Self::NotFinite { .. })
    }

    /// Whether what such a surface encloses cannot be measured: no body of finite mass without a mass and inertia that are
    /// given.
    pub fn forbids_volume(&self) -> bool {
        !matches!(self, Self::Degenerate { .. } | Self::Components { .. } | Self::Unsearched { .. })
    }

    /// The same of a surface whose lengths are given in another unit: `scale` of them make one of the file's.
    #[must_use]
    pub fn scaled(&self, scale: f64) -> Self {
        match *self {
            Self::InsideOut { volume, triangle } => Self::InsideOut { volume: volume * scale.powi(3), triangle },
            ref other => other.clone(),
        }
    }

    /// A triangle for example; none if there is no triangle.
    pub fn triangle(&self) -> Option<usize> {
        match *self {
            Self::Nothing => None,
            Self::OutOfRange { triangle, .. }
            | Self::NotFinite { triangle, .. }
            | Self::Degenerate { triangle, .. }
            | Self::Open { triangle, .. }
            | Self::Crowded { triangle, .. }
            | Self::Winding { triangle, .. }
            | Self::InsideOut { triangle, .. }
            | Self::Hollow { triangle }
            | Self::Components { triangle, .. }
            | Self::Crossing { triangle, .. }
            | Self::Unsearched { triangle, .. } => Some(triangle),
        }
    }
}

impl Surface {
    /// Everything that is wrong, the worst first. Where triangles cannot be read at all, only that.
    pub fn faults(&self) -> Vec<MeshFault> {
        if let Some(fault) = self.unreadable() {
            return vec![fault];
        }
        let sides = sides(self);
        let mut faults: Vec<MeshFault> =
            [self.open(&sides), self.crowded(&sides), self.windings(&sides)].into_iter().flatten().collect();
        // Only what is closed has an inside.
        if faults.is_empty() {
            faults.extend(self.inside_out());
        }
        faults.extend(self.crossings());
        faults.extend(self.degenerate());
        faults.extend(self.components(&sides));
        faults
    }

    fn unreadable(&self) -> Option<MeshFault> {
        if self.triangles.is_empty() {
            return Some(MeshFault::Nothing);
        }
        for (triangle, corners) in self.triangles.iter().enumerate() {
            for &vertex in corners {
                let Some(&at) = self.vertices.get(vertex as usize) else {
                    return Some(MeshFault::OutOfRange { triangle, vertex, count: self.vertices.len() });
                };
                if !at.is_finite() {
                    return Some(MeshFault::NotFinite { triangle, at });
                }
            }
        }
        None
    }

    /// Whether a triangle has no area to speak of.
    pub(crate) fn is_degenerate(&self, triangle: usize) -> bool {
        self.is_thinner(triangle, FLAT)
    }

    /// Whether a triangle's height is below a part of its longest edge.
    pub(crate) fn is_thinner(&self, triangle: usize, part: f64) -> bool {
        let [a, b, c] = self.corners(triangle);
        let longest = (b - a).length_squared().max((c - b).length_squared()).max((a - c).length_squared());
        self.doubled_area(triangle).length() <= part * longest
    }

    fn degenerate(&self) -> Option<MeshFault> {
        let mut flat = (0..self.triangles.len()).filter(|&t| self.is_degenerate(t));
        let triangle = flat.next()?;
        Some(MeshFault::Degenerate { count: 1 + flat.count(), triangle, at: self.corners(triangle)[0] })
    }

    /// Both ends of a side.
    fn ends(&self, side: &Side) -> [DVec3; 2] {
        side.edge.map(|k| self.vertices[k as usize])
    }

    fn open(&self, sides: &[Side]) -> Option<MeshFault> {
        let mut open = edges(sides).filter(|edge| edge.len() == 1);
        let side = open.next()?[0];
        let [from, to] = self.ends(&side);
        Some(MeshFault::Open { count: 1 + open.count(), triangle: side.triangle as usize, from, to })
    }

    fn crowded(&self, sides: &[Side]) -> Option<MeshFault> {
        let mut crowded = edges(sides).filter(|edge| edge.len() > 2);
        let edge = crowded.next()?;
        let [from, to] = self.ends(&edge[0]);
        let triangle = edge[0].triangle as usize;
        Some(MeshFault::Crowded { count: 1 + crowded.count(), triangle, meeting: edge.len(), from, to })
    }

    fn windings(&self, sides: &[Side]) -> Option<MeshFault> {
        let mut wrong = edges(sides).filter(|edge| edge.len() == 2 && edge[0].forward == edge[1].forward);
        let edge = wrong.next()?;
        let triangle = edge[0].triangle as usize;
        Some(MeshFault::Winding { count: 1 + wrong.count(), triangle, neighbour: edge[1].triangle as usize })
    }

    fn inside_out(&self) -> Option<MeshFault> {
        let volume = Moments::of_surface(self).volume;
        if volume.abs() <= EMPTY * self.size().powi(3) {
            return Some(MeshFault::Hollow { triangle: 0 });
        }
        // At the highest vertex, the triangle that is most level looks up in a surface that is the right way round.
        let top = |t: usize| self.corners(t).iter().fold(f64::NEG_INFINITY, |top, p| top.max(p.z));
        let level = |t: usize| self.doubled_area(t).normalize_or_zero().z.abs();
        let triangle = (0..self.triangles.len())
            .max_by(|&a, &b| (top(a), level(a)).partial_cmp(&(top(b), level(b))).unwrap_or(std::cmp::Ordering::Equal));
        (volume < 0.0).then(|| MeshFault::InsideOut { volume, triangle: triangle.unwrap_or(0) })
    }

    fn components(&self, sides: &[Side]) -> Option<MeshFault> {
        let part = self.parts_by(sides);
        let triangle = part.iter().position(|&p| p != 0)?;
        Some(MeshFault::Components { count: 1 + *part.iter().max()? as usize, triangle })
    }

    /// For each triangle, the number of the part to which it belongs: triangles of one part hang together by edges. Parts are
    /// numbered by their first triangle.
    pub fn parts(&self) -> Vec<u32> {
        self.parts_by(&sides(self))
    }

    fn parts_by(&self, sides: &[Side]) -> Vec<u32> {
        // Each triangle points to one with a lower number in its part, or to itself.
        let mut root: Vec<u32> = (0..self.triangles.len() as u32).collect();
        let find = |root: &mut Vec<u32>, mut t: u32| {
            while root[t as usize] != t {
                root[t as usize] = root[root[t as usize] as usize];
                t = root[t as usize];
            }
            t
        };
        for edge in edges(sides) {
            for pair in edge.windows(2) {
                let a = find(&mut root, pair[0].triangle);
                let b = find(&mut root, pair[1].triangle);
                root[a.max(b) as usize] = a.min(b);
            }
        }
        let mut number = vec![u32::MAX; self.triangles.len()];
        let mut count = 0;
        for t in 0..self.triangles.len() as u32 {
            let first = find(&mut root, t);
            if first == t {
                number[t as usize] = count;
                count += 1;
            }
            number[t as usize] = number[first as usize];
        }
        number
    }
}

#[cfg(test)]
mod tests;
