//! The Morton curve through the cell (S1 IV-A), and the cells that a box meets on it.
//!
//! Space is cut into 2²¹ cells an axis. Points outside belong to the nearest cell, so the curve
//! owns all of space. Along an axis that repeats, cells beyond the ends of the period hold
//! nothing: there, too, points belong to the nearest cell that does.

use super::Periods;
use crate::broad::Aabb;
use crate::world::reorder::{MORTON_BITS, MortonFrame, morton_key};
use glam::DVec3;

/// The key behind the last.
pub(super) const END: u64 = 1 << (3 * MORTON_BITS);

/// A box of cells, both corners included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cells {
    pub(super) low: [u32; 3],
    pub(super) high: [u32; 3],
}

impl Cells {
    /// The cells whose keys are those from `start`, 2^`bits` of them; `start` is a multiple of that.
    pub(super) fn of_keys(start: u64, bits: u32) -> Self {
        let low = morton_cell(start);
        let high = std::array::from_fn(|axis| low[axis] + (1 << ((bits + 2 - axis as u32) / 3)) - 1);
        Self { low, high }
    }

    /// How many there are.
    #[inline]
    pub(super) fn count(&self) -> u64 {
        (0..3).map(|axis| u64::from(self.high[axis] - self.low[axis] + 1)).product()
    }
}

/// Collects every third bit of `x`.
fn gather(x: u64) -> u32 {
    let x = x & 0x1249_2492_4924_9249;
    let x = (x | x >> 2) & 0x10c3_0c30_c30c_30c3;
    let x = (x | x >> 4) & 0x100f_00f0_0f00_f00f;
    let x = (x | x >> 8) & 0x001f_0000_ff00_00ff;
    let x = (x | x >> 16) & 0x001f_0000_0000_ffff;
    ((x | x >> 32) & 0x1f_ffff) as u32
}

/// The cell that a key stands for.
fn morton_cell(key: u64) -> [u32; 3] {
    [gather(key), gather(key >> 1), gather(key >> 2)]
}

/// The Morton curve through the cell.
#[derive(Clone, Copy, Debug)]
pub struct Curve {
    frame: MortonFrame,
    periods: Periods,
    /// The box that it was laid through.
    extent: Aabb,
    /// Cells a length.
    scale: f64,
    /// The first and the last cells that hold points, also as numbers to compare with.
    cells: Cells,
    first: DVec3,
    last: DVec3,
}

impl Curve {
    /// The curve through a box that most of the bodies lie in, and through the periodic cell.
    pub fn around(extent: &Aabb, periods: &Periods) -> Self {
        let mut low = DVec3::ZERO;
        let mut high = DVec3::ZERO;
        for axis in 0..3 {
            let of = if periods.repeats(axis) { [periods.low, periods.high] } else { [extent.low, extent.high] };
            let [from, to] = of.map(|corner| corner[axis]);
            // Nothing is known about an axis without bodies, and nothing is cut there.
            if from.is_finite() && to.is_finite() && from <= to {
                (low[axis], high[axis]) = (from, to);
            }
        }
        let frame = MortonFrame::around(low, high);
        let scale = f64::from(1u32 << MORTON_BITS) / frame.edge;
        let mut cells = Cells { low: [0; 3], high: [(1 << MORTON_BITS) - 1; 3] };
        for axis in (0..3).filter(|&axis| periods.repeats(axis)) {
            let at = |x: f64| (x - frame.origin[axis]) * scale;
            cells.low[axis] = at(periods.low[axis]) as u32;
            // A period that ends on a border ends with the cell below it.
            let last = (at(periods.high[axis]).ceil() as u32).saturating_sub(1);
            cells.high[axis] = last.clamp(cells.low[axis], cells.high[axis]);
        }
        let number = |cell: [u32; 3]| DVec3::from_array(cell.map(f64::from));
        let extent = Aabb { low, high };
        Self { frame, periods: *periods, extent, scale, cells, first: number(cells.low), last: number(cells.high) }
    }

    /// The box that it was laid through. [`Curve::around`] it lays the same curve again.
    pub fn extent(&self) -> Aabb {
        self.extent
    }

    /// The periodic cell that it goes through.
    pub fn periods(&self) -> &Periods {
        &self.periods
    }

    /// The key of a point.
    #[inline]
    pub fn key(&self, x: DVec3) -> u64 {
        let t = ((x - self.frame.origin) * self.scale).max(self.first).min(self.last);
        morton_key([t.x as u32, t.y as u32, t.z as u32])
    }

    /// Points spread evenly over the box that it was laid through.
    pub(super) fn lattice(&self) -> impl Iterator<Item = DVec3> {
        let Aabb { low, high } = self.extent;
        (0..4096u32).map(move |i| {
            let place = DVec3::from_array([i % 16, i / 16 % 16, i / 256].map(f64::from));
            low + (high - low) * (place + 0.5) / 16.0
        })
    }

    /// All cells that hold points.
    pub(super) fn cells(&self) -> Cells {
        self.cells
    }

    /// How many cells a length is.
    pub(super) fn count(&self, length: f64) -> f64 {
        length * self.scale
    }

    /// The cells, as closed boxes, that a box meets.
    #[inline]
    pub(super) fn cells_of(&self, hull: &Aabb) -> Cells {
        let low = (hull.low - self.frame.origin) * self.scale;
        let high = (hull.high - self.frame.origin) * self.scale;
        let within = |t: DVec3| t.max(self.first).min(self.last);
        let from = within(low);
        let to = within(high);
        Cells {
            low: std::array::from_fn(|axis| {
                let cell = from[axis] as u32;
                // On a border, the cell below is met too.
                cell - u32::from(f64::from(cell) == low[axis] && cell > self.cells.low[axis])
            }),
            high: [to.x as u32, to.y as u32, to.z as u32],
        }
    }

    /// A box that all points of these cells lie in. Infinite where cells are the outermost, except
    /// along axes that repeat.
    pub(super) fn outside(&self, cells: &Cells) -> Aabb {
        self.outline(cells, 1.0)
    }

    /// A box whose points, without those on its borders, all lie in these cells.
    pub(super) fn inside(&self, cells: &Cells) -> Aabb {
        self.outline(cells, -1.0)
    }

    /// The box that cells make up, with so many more at each end: no rounding then puts a point on
    /// the wrong side.
    fn outline(&self, cells: &Cells, more: f64) -> Aabb {
        let mut low = self.periods.low;
        let mut high = self.periods.high;
        for axis in 0..3 {
            let at = |cell: f64| self.frame.origin[axis] + cell / self.scale;
            if cells.low[axis] > self.cells.low[axis] {
                low[axis] = low[axis].max(at(f64::from(cells.low[axis]) - more));
            }
            if cells.high[axis] < self.cells.high[axis] {
                high[axis] = high[axis].min(at(f64::from(cells.high[axis]) + 1.0 + more));
            }
        }
        Aabb { low, high }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2²¹ cells from 0 to 16.
    fn curve(repeats: [bool; 3]) -> Curve {
        let low = DVec3::new(0.5, 1.0, 0.0);
        let high = DVec3::splat(8.0);
        Curve::around(&Aabb { low, high }, &Periods::new(low, high, repeats))
    }

    #[test]
    fn cells_are_found_by_their_keys() {
        for cell in [[0, 0, 0], [1, 2, 3], [0x1f_ffff, 0, 0x10_0000], [0x1f_ffff; 3]] {
            assert_eq!(morton_cell(morton_key(cell)), cell);
        }
        for bits in 0..=63 {
            let cells = Cells::of_keys(0, bits);
            assert_eq!(cells.count(), 1 << bits);
            assert_eq!(morton_key(cells.high), (1 << bits) - 1);
        }
        let cells = Cells::of_keys(5 << 7, 7);
        assert_eq!(morton_key(cells.low), 5 << 7);
        assert_eq!(morton_key(cells.high), (5 << 7) + 127);
    }

    #[test]
    fn points_outside_belong_to_the_nearest_cell_that_holds_points() {
        let open = curve([false; 3]);
        assert_eq!(open.key(DVec3::splat(-1e300)), 0);
        assert_eq!(open.key(DVec3::INFINITY), END - 1);
        let closed = curve([true; 3]);
        // Rounding may put a point just on the upper end.
        assert_eq!(closed.key(DVec3::splat(8.0)), closed.key(DVec3::splat(8.0f64.next_down())));
        assert_eq!(closed.key(DVec3::splat(8.0)), morton_key([(1 << 20) - 1; 3]));
        assert_eq!(closed.key(DVec3::splat(-9.0)), morton_key([1 << 16, 1 << 17, 0]));
    }

    #[test]
    fn a_box_on_a_border_meets_both_sides() {
        let curve = curve([false; 3]);
        let cells = curve.cells_of(&Aabb { low: DVec3::splat(4.0), high: DVec3::splat(4.0) });
        assert_eq!((cells.low, cells.high), ([(1 << 19) - 1; 3], [1 << 19; 3]));
        let outside = curve.cells_of(&Aabb { low: DVec3::splat(17.0), high: DVec3::INFINITY });
        assert_eq!((outside.low, outside.high), ([0x1f_ffff; 3], [0x1f_ffff; 3]));
        let edge = curve.cells_of(&Aabb { low: DVec3::NEG_INFINITY, high: DVec3::ZERO });
        assert_eq!((edge.low, edge.high), ([0; 3], [0; 3]));
    }

    #[test]
    fn a_periodic_cell_is_held_whatever_the_scene_is() {
        let periods = Periods::new(DVec3::splat(-100.0), DVec3::splat(300.0), [true, false, false]);
        for extent in [Aabb::EMPTY, Aabb { low: DVec3::ZERO, high: DVec3::ONE }] {
            let curve = Curve::around(&extent, &periods);
            let keys = [-100.0, 100.0, 299.9].map(|x| curve.key(DVec3::new(x, 0.5, 0.5)));
            assert!(keys[0] < keys[1] && keys[1] < keys[2]);
        }
    }
}
