//! The distance of two cores by the algorithm of Gilbert, Johnson and Keerthi (1988).
//!
//! The points nearest to each other are those of the difference A − B nearest to the origin. A simplex of support points
//! walks there: it takes in the support point towards the origin, and drops what does not help to hold its nearest point.

use crate::simplex::{Simplex, Vertex};
use crate::{Core, Placed};
use glam::{DMat3, DVec3};

/// Relative error of a distance, and its error in sizes of the shapes: the larger one will do.
const PRECISION: f64 = 1e-10;
const ENOUGH: f64 = 1e-11;
/// What rounding leaves of a distance, in sizes of the shapes: cores that are nearer than this meet.
const ROUNDING: f64 = 1e-13;
/// Steps at most. Polyhedra take few; surfaces that are curved gain a digit in two or three.
const STEPS: usize = 100;

/// What was found of two cores.
pub(crate) enum Found {
    /// They are so far apart that it does not matter where.
    Far,
    /// The points nearest to each other: a − b, and a.
    Apart(Vertex),
    /// They meet: a simplex of their difference that holds the origin.
    Meet(Simplex),
}

/// The difference A − B, in A's frame.
pub(crate) struct Difference<'a> {
    a: Core<'a>,
    b: Core<'a>,
    /// How B is turned, and back.
    turn: DMat3,
    back: DMat3,
    /// From A's origin to B's.
    offset: DVec3,
    /// The size of the cores.
    pub(crate) size: f64,
}

impl<'a> Difference<'a> {
    pub(crate) fn new(a: &Placed<'a>, b: &Placed<'a>) -> Self {
        let to_a = a.rotation.transpose();
        let turn = to_a * b.rotation;
        let offset = to_a * (b.position - a.position);
        Self { a: a.core, b: b.core, turn, back: turn.transpose(), offset, size: a.core.reach() + b.core.reach() }
    }

    /// The same with B moved.
    pub(crate) fn moved(&self, by: DVec3) -> Self {
        Self { offset: self.offset + by, ..*self }
    }

    /// Whether a part of its surface is curved.
    pub(crate) fn is_curved(&self) -> bool {
        self.a.is_curved() || self.b.is_curved()
    }

    /// The axes about which A and B are round, if they are.
    pub(crate) fn axes(&self) -> [DVec3; 2] {
        [DVec3::Z, self.turn.z_axis]
    }

    /// The point farthest along a direction.
    #[inline]
    pub(crate) fn support(&self, direction: DVec3) -> Vertex {
        let a = self.a.support(direction);
        let b = self.turn * self.b.support(self.back * -direction);
        Vertex { w: a - (self.offset + b), a }
    }

    /// Finds the points nearest to each other, unless they are farther apart than `reach`.
    pub(crate) fn nearest(&self, reach: f64) -> Found {
        self.nearest_from(if self.offset == DVec3::ZERO { DVec3::X } else { -self.offset }, reach)
    }

    /// The same, if there is a guess at the way from B to A, of any length.
    pub(crate) fn nearest_from(&self, guess: DVec3, reach: f64) -> Found {
        let size = self.size + self.offset.length();
        let mut simplex = Simplex::default();
        let mut v = guess;
        let first = self.support(-v);
        simplex.push(first);
        v = simplex.reduce();
        for _ in 0..STEPS {
            let length_squared = v.length_squared();
            if length_squared <= (ROUNDING * size).powi(2) {
                return Found::Meet(simplex);
            }
            let vertex = self.support(-v);
            // All of A − B lies beyond the plane through this point: a bound from below.
            let bound = v.dot(vertex.w);
            if bound > 0.0 && bound * bound > reach * reach * length_squared {
                return Found::Far;
            }
            let is_near =
                length_squared - bound <= (PRECISION * length_squared).max(ENOUGH * self.size * length_squared.sqrt());
            if is_near || simplex.vertices().iter().any(|known| known.w == vertex.w) {
                break;
            }
            let before = simplex;
            simplex.push(vertex);
            let next = simplex.reduce();
            if simplex.vertices().len() == 4 {
                return Found::Meet(simplex);
            }
            // Rounding has the last word.
            if next.length_squared() >= length_squared {
                simplex = before;
                break;
            }
            v = next;
        }
        Found::Apart(simplex.point())
    }
}
