//! What every shape of finite extent says of itself.

use super::Part;
use barchan_convex::{Core, Placed};
use barchan_mesh::{Moments, Surface};
use glam::{DMat3, DVec3};

/// A convex solid in the frame of its shape.
#[derive(Clone, Copy, Debug)]
pub struct Convex<'a> {
    /// What is left if the rounding is taken away.
    pub core: Core<'a>,
    /// By how much it is rounded.
    pub rounding: f64,
    /// Where the core's origin is in the frame of the shape.
    pub centre: DVec3,
}

impl<'a> Convex<'a> {
    /// The solid of a shape that stands at x and is turned by r.
    #[inline]
    pub fn placed(&self, x: DVec3, r: &DMat3) -> Placed<'a> {
        Placed { core: self.core, rounding: self.rounding, position: x + *r * self.centre, rotation: *r }
    }
}

/// What a shape consists of, as the narrow phase sees it.
#[derive(Clone, Copy, Debug)]
pub enum Solid<'a> {
    /// One convex solid.
    One(Convex<'a>),
    /// Several, glued.
    Parts(&'a [Part]),
    /// A surface of triangles.
    Triangles(super::Scaled<'a>),
}

/// What every shape of finite extent says of itself, in its own frame.
pub trait Form {
    /// What is wrong with it: the key to blame, and what was found and what is expected. The rest may be asked only if
    /// that is nothing.
    fn faults(&self) -> Vec<(&'static str, String)>;

    /// What it consists of.
    fn solid(&self) -> Solid<'_>;

    /// The radius of a ball about the origin that holds it.
    fn reach(&self) -> f64;

    /// The length by which margins, overlaps and steps are measured: about the radius of the largest ball within.
    fn size(&self) -> f64;

    /// The lowest and the highest corner of a box that holds it, seen from its origin, when it is turned by r.
    fn half_box(&self, r: &DMat3) -> [DVec3; 2];

    /// Volume, centre and second moments; `None` if it encloses no volume.
    fn moments(&self) -> Option<Moments>;

    /// Its surface in triangles, to be looked at.
    fn surface(&self) -> Surface;
}

/// Checks and settings that shapes share.
pub(super) mod close {
    use glam::DVec3;

    /// Corners of a circle where a round shape is drawn.
    pub(crate) const AROUND: u32 = 24;
    /// Corners of a quarter circle where edges are rounded.
    pub(crate) const SEGMENTS: u32 = 4;
    /// How often the faces of an icosahedron are cut into four to draw what is round.
    pub(crate) const SUBDIVISIONS: u32 = 3;

    /// Notes a length that is not positive.
    pub(crate) fn positive(key: &'static str, x: f64, faults: &mut Vec<(&'static str, String)>) {
        if x <= 0.0 || !x.is_finite() {
            faults.push((key, format!("must be greater than 0, but is {x:?}")));
        }
    }

    /// Notes lengths along the axes of which one is not positive.
    pub(crate) fn all_positive(key: &'static str, lengths: DVec3, faults: &mut Vec<(&'static str, String)>) {
        let worst = lengths.to_array().into_iter().find(|x| !x.is_finite()).unwrap_or(lengths.min_element());
        positive(key, worst, faults);
    }

    /// Notes a rounding that does not fit into a shape whose smallest half extent is `limit`.
    pub(crate) fn margin(margin: f64, limit: f64, faults: &mut Vec<(&'static str, String)>) {
        if !not_negative(margin, faults) {
            return;
        }
        if margin >= limit {
            let message = format!("must be less than the smallest half extent, {limit:?}, but is {margin:?}");
            faults.push(("margin", message));
        }
    }

    /// Whether a rounding is none or some; otherwise that is noted.
    pub(crate) fn not_negative(margin: f64, faults: &mut Vec<(&'static str, String)>) -> bool {
        let is_sound = margin >= 0.0 && margin.is_finite();
        if !is_sound {
            faults.push(("margin", format!("must not be negative, but is {margin:?}")));
        }
        is_sound
    }
}
