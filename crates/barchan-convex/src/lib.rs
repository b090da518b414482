//! Distances and overlaps of convex shapes.
//!
//! A shape is a [`Core`], known by its support function alone, and a radius by which it is rounded: a capsule is a rounded
//! segment, a sphere a rounded point, a box with round edges a rounded box. [`closest`] finds how far two of them are
//! apart, or how deep they overlap, and where:
//!
//! 1. the distance of the cores by the algorithm of Gilbert, Johnson and Keerthi (`gjk`). Cores that do not meet are all
//!    that is needed where the overlap is not deeper than the rounding;
//! 2. the depth of cores that do meet by the expanding polytope of van den Bergen (`epa`).
//!
//! Nothing is allocated, and nothing is taken over from one call to the next, so that a result does not depend on what came
//! before. All tolerances are relative to the size of the two shapes.

mod closest;
mod core;
mod epa;
mod gjk;
mod simplex;

pub use closest::{Closest, closest};
pub use core::{Core, Placed};
