//! Where columns lie, and what levels of size there are.
//!
//! The frame follows the boxes from search to search and changes only where it no longer fits them: a column that
//! shifts by a hair would put bodies out of order everywhere. What it was before decides the order of the sweep
//! and nothing else.

use super::super::Aabb;
use super::super::eight::Box32;
use super::super::levels::{Extent, LEVELS, Levels};
use super::order::NOTHING;
use glam::DVec3;

/// Bits of a row, and of a place in a row.
pub(super) const COLUMN_BITS: u32 = 13;
/// Columns along an axis at most.
const COLUMNS: f64 = (1u32 << COLUMN_BITS) as f64;
/// A new frame is larger than what it holds by this on either side, and its columns wider: bodies move.
const ROOM: f64 = 0.06;
/// The part of a column's width that its boxes may fill; the rest is for rounding.
const FULL: f64 = 0.99;
/// A frame and its columns may become too large by this factor before they are laid anew.
const LOOSE: f64 = 1.5;

/// What is known about the boxes of a level.
#[derive(Clone, Copy)]
pub(super) struct Level {
    /// Columns a unit of length in the frame, across the axis.
    pub(super) density: [f64; 2],
    /// How long boxes are along the axis, at most.
    pub(super) reach: f32,
    /// The box of all of them; empty if there are none.
    pub(super) single: Box32,
}

impl Default for Level {
    fn default() -> Self {
        Self { density: [0.0; 2], reach: 0.0, single: Box32::EMPTY }
    }
}

/// Rows of columns, and places in rows, of a level.
#[derive(Clone, Copy)]
pub(super) struct Near {
    /// Lowest and highest row.
    pub(super) rows: [u32; 2],
    /// Lowest and highest place.
    pub(super) places: [u32; 2],
    pub(super) level: usize,
}

impl Near {
    /// A column and those around it.
    pub(super) fn around(column: u32) -> Self {
        let mask = (1 << COLUMN_BITS) - 1;
        let row = column >> COLUMN_BITS & mask;
        let place = column & mask;
        let around = |at: u32| [at.saturating_sub(1), (at + 1).min(mask)];
        Self { rows: around(row), places: around(place), level: (column >> (2 * COLUMN_BITS)) as usize }
    }

    /// The row of a column.
    pub(super) fn row(column: u32) -> u32 {
        column >> COLUMN_BITS & ((1 << COLUMN_BITS) - 1)
    }

    /// A column of this level.
    pub(super) fn column(&self, row: u32, place: u32) -> u32 {
        (self.level as u32) << (2 * COLUMN_BITS) | row << COLUMN_BITS | place
    }
}

/// Coordinates of the sweep.
pub(super) struct Frame {
    /// The axis of the sweep.
    pub(super) axis: usize,
    origin: DVec3,
    edge: f64,
    pub(super) levels: [Level; LEVELS],
    sizes: Levels,
}

impl Default for Frame {
    fn default() -> Self {
        Self { axis: 0, origin: DVec3::ZERO, edge: 0.0, levels: [Level::default(); LEVELS], sizes: Levels::default() }
    }
}

impl Frame {
    /// Makes the frame fit boxes; `all` is the box of all of them.
    pub(super) fn follow(&mut self, boxes: &[Aabb], all: &Aabb) {
        let Some(extents) = self.sizes.measure(boxes) else { return };
        if !self.is_loosely_around(all) {
            self.lay(all, &extents);
        }
        for (level, extent) in extents.iter().enumerate() {
            self.fit(level, extent);
        }
    }

    /// Whether the frame holds all boxes and is not much too large.
    fn is_loosely_around(&self, all: &Aabb) -> bool {
        let is_around = all.low.cmpge(self.origin).all() && all.high.cmple(self.origin + self.edge).all();
        is_around && self.edge <= LOOSE * (1.0 + 2.0 * ROOM) * all.extent()
    }

    /// Lays the frame around all boxes, with the axis along which they are most in a row.
    fn lay(&mut self, all: &Aabb, extents: &[Extent; LEVELS]) {
        let edge = (1.0 + 2.0 * ROOM) * all.extent();
        // An empty or an endless world still needs a frame.
        self.edge = if edge > 0.0 && edge.is_finite() { edge } else { 1.0 };
        self.origin = all.low - ROOM / (1.0 + 2.0 * ROOM) * self.edge;
        let largest = extents.iter().map(|extent| extent.largest).fold(DVec3::splat(f64::MIN_POSITIVE), DVec3::max);
        let row = (all.high - all.low) / largest;
        self.axis = (0..3).rev().max_by(|&a, &b| row[a].total_cmp(&row[b])).unwrap_or(0);
        self.levels = [Level::default(); LEVELS];
    }

    /// Makes the columns of a level fit its boxes.
    fn fit(&mut self, level: usize, extent: &Extent) {
        let across = self.across();
        let largest = extent.largest / self.edge;
        let single = if extent.all.is_empty() { Box32::EMPTY } else { self.single(&extent.all) };
        let level = &mut self.levels[level];
        level.single = single;
        // Rounding outwards lengthens by less than this: coordinates in the frame are below one.
        level.reach = (largest[self.axis] * (1.0 + 1e-6) + 1e-6) as f32;
        for (density, axis) in level.density.iter_mut().zip(across) {
            // A width that cannot become smaller is never too large.
            let most = FULL / (largest[axis] * (1.0 + ROOM)).max(1.0 / COLUMNS);
            let is_full = largest[axis] * *density > FULL && *density > 0.0;
            if is_full || *density < most / LOOSE {
                *density = most;
            }
        }
    }

    /// The two axes across that of the sweep.
    fn across(&self) -> [usize; 2] {
        [(self.axis + 1) % 3, (self.axis + 2) % 3]
    }

    /// A box in single precision.
    #[inline]
    pub(super) fn single(&self, hull: &Aabb) -> Box32 {
        Box32::around(hull, self.origin, 1.0 / self.edge)
    }

    /// The row and the place of a coordinate.
    #[inline]
    fn cell(density: f64, x: f32) -> u32 {
        (f64::from(x) * density).clamp(0.0, COLUMNS - 1.0) as u32
    }

    /// The place of a box in the order of the sweep.
    #[inline]
    pub(super) fn key(&self, hull: &Aabb) -> u64 {
        if hull.is_empty() {
            return NOTHING;
        }
        let level = self.sizes.of(hull);
        let density = self.levels[level].density;
        let single = self.single(hull);
        let [row, place] = self.across();
        let column = Near { rows: [0; 2], places: [0; 2], level }
            .column(Self::cell(density[0], single.low(row)), Self::cell(density[1], single.low(place)));
        u64::from(column) << 32 | u64::from(ascending(single.low(self.axis)))
    }

    /// The columns of a level whose boxes may meet a box.
    #[inline]
    pub(super) fn near(&self, single: &Box32, level: usize) -> Near {
        let density = self.levels[level].density;
        let [row, place] = self.across();
        let ends = |density: f64, axis: usize| {
            // Those that begin in the column before may reach here, and none from farther.
            [Self::cell(density, single.low(axis)).saturating_sub(1), Self::cell(density, single.high(axis))]
        };
        Near { rows: ends(density[0], row), places: ends(density[1], place), level }
    }
}

/// An integer that grows with a number.
#[inline]
fn ascending(x: f32) -> u32 {
    let bits = x.to_bits();
    if bits >> 31 == 0 { bits | 1 << 31 } else { !bits }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_ascend_with_numbers() {
        let x = [f32::NEG_INFINITY, -1.0, -1e-45, 0.0, 1e-45, 0.5, 1.0, f32::MAX, f32::INFINITY];
        assert!(x.is_sorted_by(|a, b| ascending(*a) < ascending(*b)));
    }

    fn cube(x: f64, radius: f64) -> Aabb {
        let centre = DVec3::new(x, 0.5 * x, 0.1);
        Aabb { low: centre - radius, high: centre + radius }
    }

    /// Bodies that move and speed up a little leave columns and levels where they are.
    #[test]
    fn a_frame_stays_while_it_fits() {
        let row = |moved: f64, radius: f64| -> Vec<Aabb> {
            (0..100).map(|k| cube(f64::from(k) + moved, radius * (1.0 + 0.003 * f64::from(k)))).collect()
        };
        let all = |boxes: &[Aabb]| boxes.iter().fold(Aabb::EMPTY, |all, b| all.join(b));
        let mut frame = Frame::default();
        let mut follow = |boxes: &[Aabb]| {
            frame.follow(boxes, &all(boxes));
            boxes.iter().map(|b| frame.key(b) >> 32).collect::<Vec<_>>()
        };
        let rest = row(0.0, 0.4);
        let keys = follow(&rest);
        for (moved, radius) in [(0.5, 0.4), (-0.5, 0.4), (0.0, 0.41), (0.0, 0.39)] {
            follow(&row(moved, radius));
            assert_eq!(follow(&rest), keys, "{moved}, {radius}");
        }
        // And it follows where it must.
        follow(&row(0.0, 20.0));
        follow(&row(1e6, 0.4));
        assert!(frame.is_loosely_around(&all(&row(1e6, 0.4))));
        assert!(!frame.is_loosely_around(&all(&rest)));
    }
}
