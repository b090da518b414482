//! Distances, overlaps and contacts of convex shapes.

mod closest;
mod manifold;
mod pairs;
mod poses;
