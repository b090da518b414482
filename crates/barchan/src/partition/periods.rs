//! Space that repeats itself along some axes.

use super::{Holder, Partition};
use crate::broad::Aabb;
use glam::DVec3;

/// The periodic cell. Along an axis that does not repeat, it has no borders.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Periods {
    /// Lowest corner; −∞ along axes that do not repeat.
    pub low: DVec3,
    /// Highest corner; ∞ along axes that do not repeat.
    pub high: DVec3,
}

impl Default for Periods {
    fn default() -> Self {
        Self { low: DVec3::NEG_INFINITY, high: DVec3::INFINITY }
    }
}

impl Periods {
    /// The cell between two corners, repeated along some axes.
    pub fn new(low: DVec3, high: DVec3, repeats: [bool; 3]) -> Self {
        let mut this = Self::default();
        for axis in (0..3).filter(|&axis| repeats[axis]) {
            this.low[axis] = low[axis];
            this.high[axis] = high[axis];
        }
        this
    }

    /// Whether space repeats itself along an axis.
    #[inline]
    pub fn repeats(&self, axis: usize) -> bool {
        self.high[axis] < f64::INFINITY
    }

    /// Whether it does along any.
    #[inline]
    pub fn any(&self) -> bool {
        self.high.min_element() < f64::INFINITY
    }

    /// The lengths of the cell; infinite along axes that do not repeat.
    #[inline]
    pub fn length(&self) -> DVec3 {
        self.high - self.low
    }

    /// A difference of two places, by the shortest way.
    #[inline]
    pub fn shortest(&self, mut offset: DVec3) -> DVec3 {
        for axis in (0..3).filter(|&axis| self.repeats(axis)) {
            let length = self.high[axis] - self.low[axis];
            offset[axis] -= length * (offset[axis] / length).round();
        }
        offset
    }

    /// The offset that a number of periods is.
    #[inline]
    pub fn offset(&self, shift: [i8; 3]) -> DVec3 {
        let along = |axis: usize| {
            if shift[axis] == 0 { 0.0 } else { f64::from(shift[axis]) * (self.high[axis] - self.low[axis]) }
        };
        DVec3::new(along(0), along(1), along(2))
    }

    /// The shift that brings a point into the cell, by at most one period along each axis.
    #[inline]
    pub fn wrap_shift(&self, x: DVec3) -> [i8; 3] {
        std::array::from_fn(|axis| {
            if !self.repeats(axis) {
                0
            } else if x[axis] < self.low[axis] {
                1
            } else if x[axis] >= self.high[axis] {
                -1
            } else {
                0
            }
        })
    }

    /// A point wrapped into the cell by a shift. Rounding must not carry it past an end: it would have
    /// to be shifted again.
    #[inline]
    pub fn wrap(&self, x: DVec3, shift: [i8; 3]) -> DVec3 {
        let mut x = x + self.offset(shift);
        for axis in (0..3).filter(|&axis| shift[axis] != 0) {
            x[axis] = x[axis].clamp(self.low[axis], self.high[axis].next_down());
        }
        x
    }

    /// Calls `found` with each shift of a box whose centre is in the cell that meets the cell, and with
    /// what is inside.
    fn shifted(&self, hull: &Aabb, mut found: impl FnMut([i8; 3], &Aabb)) {
        let mut low = [0i8; 3];
        let mut high = [0i8; 3];
        for axis in (0..3).filter(|&axis| self.repeats(axis)) {
            high[axis] = i8::from(hull.low[axis] <= self.low[axis]);
            low[axis] = -i8::from(hull.high[axis] >= self.high[axis]);
        }
        for z in low[2]..=high[2] {
            for y in low[1]..=high[1] {
                for x in low[0]..=high[0] {
                    let shift = [x, y, z];
                    let offset = self.offset(shift);
                    // At both ends, since a box that just touches one may miss it by rounding.
                    let within = |x: DVec3| (x + offset).max(self.low).min(self.high);
                    found(shift, &Aabb { low: within(hull.low), high: within(hull.high) });
                }
            }
        }
    }

    /// Calls `found` with every shift to a next cell, and the way there.
    pub fn around(&self, mut found: impl FnMut([i8; 3], DVec3)) {
        let [x, y, z] = [0, 1, 2].map(|axis| i8::from(self.repeats(axis)));
        for z in -z..=z {
            for y in -y..=y {
                for x in (-x..=x).filter(|&x| [x, y, z] != [0; 3]) {
                    found([x, y, z], self.offset([x, y, z]));
                }
            }
        }
    }

    /// Whether a rank knows all regions that a box whose centre is in the cell meets.
    pub fn known(&self, partition: &dyn Partition, hull: &Aabb) -> bool {
        let mut known = true;
        self.shifted(hull, |_, here| known &= partition.knows(here));
        known
    }

    /// Lists the holders of a box whose centre is in the cell: for every shift, the ranks that the
    /// shifted box meets within the cell. Ascending.
    pub fn holders(&self, partition: &dyn Partition, hull: &Aabb, holders: &mut Vec<Holder>) {
        holders.clear();
        self.shifted(hull, |shift, here| partition.ranks_of(here, &mut |rank| holders.push(Holder { rank, shift })));
        holders.sort_unstable();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_come_home() {
        let periods = Periods::new(DVec3::splat(-1.0), DVec3::new(1.0, 2.0, 3.0), [true, false, true]);
        assert!(periods.any() && periods.repeats(0) && !periods.repeats(1));
        assert_eq!(periods.wrap_shift(DVec3::new(-1.1, 50.0, 3.0)), [1, 0, -1]);
        assert_eq!(periods.wrap_shift(DVec3::new(-1.0, 50.0, 2.9)), [0, 0, 0]);
        assert_eq!(periods.offset([1, 0, -1]), DVec3::new(2.0, 0.0, -4.0));
        // By less than rounding below, or on an end that the length does not bring back exactly.
        let home = |x: f64| periods.wrap(DVec3::new(x, 0.0, 0.0), periods.wrap_shift(DVec3::new(x, 0.0, 0.0))).x;
        assert_eq!((home(-1.0 - 1e-16), home(f64::from_bits(1.0f64.to_bits() + 1))), (-1.0, -1.0 + 2e-16));
        for (low, high) in [(-0.1, 0.3), (0.0, 2.0), (1e9, 1e9 + 0.1)] {
            let periods = Periods::new(DVec3::splat(low), DVec3::splat(high), [true; 3]);
            for x in [low - 1e-20, low.next_down(), high, high.next_up(), low, high.next_down()] {
                let x = DVec3::splat(x);
                assert_eq!(periods.wrap_shift(periods.wrap(x, periods.wrap_shift(x))), [0; 3], "{low} {high} {x}");
            }
        }
        assert!(!Periods::default().any());
        assert_eq!(Periods::default().wrap_shift(DVec3::splat(1e300)), [0; 3]);
    }
}
