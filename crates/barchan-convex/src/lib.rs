//! Distances and overlaps of convex shapes.
//!
//! A shape is a [`Core`], known by its support function alone, and a radius by which it is rounded: a capsule is a rounded
//! segment, a sphere a rounded point, a box with round edges a rounded box. [`manifold`] finds where two of them touch, in up
//! to four points, [`above_plane`] where one touches a plane, and [`gap`] only how far they are apart, or how deep they
//! overlap. What handles which pair is said in `pairs`:
//!
//! 1. Spheres, capsules, boxes and ellipsoids have functions of their own for where two of them are nearest to each other.
//! 2. In general ([`closest`]) it is found by the distance of the cores by the algorithm of Gilbert, Johnson and Keerthi
//!    (`gjk`), which is all that is needed where the overlap is not deeper than the rounding, and by the expanding polytope
//!    of van den Bergen (`epa`) for the depth of cores that meet.
//! 3. The parts that face each other there (`feature`) are laid over each other (`clip`, and `rectangles` for boxes), which
//!    gives the other points.
//!
//! Nothing is allocated, and nothing is taken over from one call to the next, so that a result does not depend on what came
//! before. All tolerances are relative to the size of the two shapes.

mod apart;
mod boxes;
mod clip;
mod closest;
mod core;
mod ellipsoids;
mod epa;
mod feature;
mod gjk;
mod hull;
mod manifold;
mod pairs;
mod plane;
mod rectangles;
mod segments;
mod simplex;
mod sphere;

pub use apart::are_apart;
pub use closest::{Closest, closest};
pub use core::{Core, Placed};
pub use hull::Hull;
pub use manifold::{Manifold, Touch};
pub use pairs::{gap, manifold};
pub use plane::above_plane;
pub use segments::Capsule;
