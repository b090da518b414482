//! Closed gaps: coordinates in which bodies that have escaped are near the others.
//!
//! Cells and single-precision boxes are cut from a cube about all bodies. One body a million metres away makes
//! that cube so large that all others lie in one cell of it. So where bodies span far more than their size along
//! an axis, the wide empty gaps between them are made short: x becomes f(x), where f is
//!
//! - x itself on the run of coordinates where most bodies are,
//! - x plus a constant on every other run, and
//! - nearly constant in a closed gap, and constant beyond both ends.
//!
//! f never falls and never grows faster than x. Boxes that meet therefore still meet, so f may be used to prune
//! pairs that are compared in full afterwards, and it keeps the order along the axis. Runs are found from a
//! sample of a fixed number of bodies, so f is the same on any number of threads. What lies in a closed gap
//! without being in the sample is no mistake: it is only told apart less well.

use glam::DVec3;

/// Points of a sample at most, without the two ends.
const SAMPLE: usize = 1024;
/// Coordinates are left alone up to this many sizes of a body: cells and single precision suffice.
const WIDE: f64 = 16384.0;
/// A gap is worth closing if it is at least this part of what is left.
const PART: f64 = 1.0 / 64.0;
/// How much is added to the ends of a run: bodies that are not in the sample lie there. Sizes of a body, and a
/// part of the run.
const ROOM: (f64, f64) = (4.0, 0.125);
/// What a closed gap is long, in sizes of a body.
const CLOSED: f64 = 4.0;

/// Every how many of `count` bodies one is taken into a sample.
pub fn stride(count: usize) -> usize {
    count.div_ceil(SAMPLE).max(1)
}

/// The coordinates, and memory for finding them.
#[derive(Clone, Debug)]
pub struct Gaps {
    /// The pieces of f along each axis; without pieces it is x.
    pieces: [Vec<Piece>; 3],
    /// The ends of the run that stays as it is, along each axis.
    low: DVec3,
    high: DVec3,
    sample: Vec<DVec3>,
    sizes: Vec<f64>,
    coordinates: Vec<f64>,
    widths: Vec<(f64, usize)>,
}

/// A piece of f: from here on it is y + slope·(x − `from`), up to the next piece.
#[derive(Clone, Copy, Debug)]
struct Piece {
    from: f64,
    y: f64,
    slope: f64,
}

impl Default for Gaps {
    fn default() -> Self {
        Self {
            pieces: Default::default(),
            low: DVec3::NEG_INFINITY,
            high: DVec3::INFINITY,
            sample: Vec::new(),
            sizes: Vec::new(),
            coordinates: Vec::new(),
            widths: Vec::new(),
        }
    }
}

impl Gaps {
    /// Finds the gaps. `sample` has the middle and the size of some bodies, evenly chosen ([`stride`]); `low` and
    /// `high` are the ends of all.
    pub fn find(&mut self, sample: impl Iterator<Item = (DVec3, f64)>, low: DVec3, high: DVec3) {
        self.pieces.iter_mut().for_each(Vec::clear);
        (self.low, self.high) = (DVec3::NEG_INFINITY, DVec3::INFINITY);
        self.sample.clear();
        self.sizes.clear();
        for (x, size) in sample.filter(|(x, size)| x.is_finite() && size.is_finite()) {
            self.sample.push(x);
            self.sizes.push(size);
        }
        if self.sizes.is_empty() || !(high - low).is_finite() {
            return;
        }
        let middle = self.sizes.len() / 2;
        let size = *self.sizes.select_nth_unstable_by(middle, f64::total_cmp).1;
        for axis in 0..3 {
            if high[axis] - low[axis] > WIDE * size {
                self.close(axis, size, low[axis], high[axis]);
            }
        }
    }

    /// Whether any gap is closed; otherwise [`Self::map`] changes nothing.
    pub fn is_any_closed(&self) -> bool {
        self.pieces.iter().any(|pieces| !pieces.is_empty())
    }

    /// The coordinates of a point.
    #[inline]
    pub fn map(&self, x: DVec3) -> DVec3 {
        if x.cmpge(self.low).all() && x.cmple(self.high).all() {
            return x;
        }
        DVec3::from_array(std::array::from_fn(|axis| self.map_axis(axis, x[axis])))
    }

    fn map_axis(&self, axis: usize, x: f64) -> f64 {
        // To the last bit as in `map`, or boxes that touch would part.
        if self.low[axis] <= x && x <= self.high[axis] {
            return x;
        }
        let pieces = &self.pieces[axis];
        let next = pieces.partition_point(|piece| piece.from <= x);
        let Some(piece) = next.checked_sub(1).map(|k| pieces[k]) else { return pieces.first().map_or(x, |p| p.y) };
        // Nothing times infinity is no number, and rounding must not pass the next piece.
        let y = if piece.slope == 0.0 { piece.y } else { piece.y + piece.slope * (x - piece.from) };
        pieces.get(next).map_or(y, |next| y.min(next.y))
    }

    /// Closes the widest gaps along an axis.
    fn close(&mut self, axis: usize, size: f64, low: f64, high: f64) {
        let x = &mut self.coordinates;
        x.clear();
        x.extend(self.sample.iter().map(|x| x[axis].clamp(low, high)));
        x.extend([low, high]);
        x.sort_unstable_by(f64::total_cmp);
        choose(x, size, &mut self.widths);
        if self.widths.is_empty() {
            return;
        }
        let pieces = &mut self.pieces[axis];
        let anchor = lay(x, &self.widths, size, pieces);
        (self.low[axis], self.high[axis]) = (pieces[anchor].from, pieces[anchor + 1].from);
        // The run with most bodies stays where it is; the others come to it from both sides.
        pieces[anchor].y = pieces[anchor].from;
        pieces[anchor + 1].y = pieces[anchor + 1].from;
        for k in anchor + 2..pieces.len() {
            pieces[k].y = pieces[k - 1].y + pieces[k - 1].slope * (pieces[k].from - pieces[k - 1].from);
        }
        for k in (0..anchor).rev() {
            pieces[k].y = pieces[k + 1].y - pieces[k].slope * (pieces[k + 1].from - pieces[k].from);
        }
    }
}

/// Chooses the gaps to close between sorted coordinates: their widths and the coordinates before them, ascending.
fn choose(x: &[f64], size: f64, gaps: &mut Vec<(f64, usize)>) {
    gaps.clear();
    gaps.extend(x.windows(2).map(|ends| ends[1] - ends[0]).zip(0..));
    // Widest first; of equal ones the lowest.
    gaps.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    // Summed from the narrowest: what is left of a large number after taking another away is rounding.
    let left = |closed: usize| gaps[closed..].iter().rev().map(|gap| gap.0).sum::<f64>();
    let is_worth = |closed: usize| {
        let left = left(closed);
        left > WIDE * size && gaps.get(closed).is_some_and(|gap| gap.0 >= PART * left)
    };
    let closed = (0..=gaps.len()).find(|&closed| !is_worth(closed)).unwrap_or(0);
    gaps.truncate(closed);
    gaps.sort_unstable_by_key(|gap| gap.1);
}

/// Lays the pieces of runs and closed gaps, without their y, and returns that of the run with most coordinates.
fn lay(x: &[f64], gaps: &[(f64, usize)], size: f64, pieces: &mut Vec<Piece>) -> usize {
    let mut first = 0;
    let mut most = (0, 0);
    let ends = gaps.iter().map(|gap| gap.1).chain([x.len() - 1]);
    for (run, last) in ends.enumerate() {
        let count = last + 1 - first;
        if count > most.0 {
            most = (count, pieces.len());
        }
        // A run takes no more than a quarter of the gaps before and after it.
        let before = run.checked_sub(1).map_or(f64::INFINITY, |k| gaps[k].0);
        let after = gaps.get(run).map_or(f64::INFINITY, |gap| gap.0);
        let room = ROOM.0 * size + ROOM.1 * (x[last] - x[first]);
        pieces.push(Piece { from: x[first] - room.min(0.25 * before), y: 0.0, slope: 1.0 });
        pieces.push(Piece { from: x[last] + room.min(0.25 * after), y: 0.0, slope: 0.0 });
        first = last + 1;
    }
    // What is between two runs is a gap.
    for k in (1..pieces.len() - 1).step_by(2) {
        let width = pieces[k + 1].from - pieces[k].from;
        pieces[k].slope = (CLOSED * size / width).min(1.0);
    }
    most.1
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn closed(points: &[DVec3], size: f64) -> Gaps {
        let low = points.iter().copied().fold(DVec3::INFINITY, DVec3::min);
        let high = points.iter().copied().fold(DVec3::NEG_INFINITY, DVec3::max);
        let mut gaps = Gaps::default();
        // Twice: a first search must leave nothing behind.
        gaps.find(points.iter().map(|x| (1e3 * *x, size)), 1e3 * low, 1e3 * high);
        gaps.find(points.iter().step_by(stride(points.len())).map(|x| (*x, size)), low, high);
        gaps
    }

    fn row(count: usize) -> Vec<DVec3> {
        (0..count).map(|i| DVec3::new(0.01 * i as f64, 0.0, 0.0)).collect()
    }

    #[test]
    fn without_far_bodies_nothing_changes() {
        let gaps = closed(&row(5000), 0.01);
        assert!(!gaps.is_any_closed());
        for x in [DVec3::ZERO, DVec3::splat(-1e300), DVec3::INFINITY] {
            assert_eq!(gaps.map(x), x);
        }
        assert!(!closed(&[], 0.01).is_any_closed());
        assert!(!closed(&[DVec3::INFINITY, DVec3::ZERO], 0.01).is_any_closed());
        // Far apart, but evenly: there is no gap to close.
        let gas: Vec<DVec3> = (0..5000).map(|i| DVec3::splat(100.0 * f64::from(i))).collect();
        assert!(!closed(&gas, 0.01).is_any_closed());
    }

    #[test]
    fn bodies_that_have_escaped_are_near_and_the_others_stay() {
        for far in [1e6, -1e9, 1e12, -1e300] {
            let mut points = row(5000);
            points[2500].x = far;
            points[1234].x = 1e-3 * far;
            let gaps = closed(&points, 0.01);
            for (i, x) in points.iter().enumerate() {
                let y = gaps.map(*x);
                if i == 2500 || i == 1234 {
                    assert!(y.x.abs() < 100.0, "{far}: {y}");
                } else {
                    assert_eq!(y, *x);
                }
            }
        }
    }

    #[test]
    fn clusters_keep_their_shape() {
        let mut points = row(3000);
        points[1000..2000].iter_mut().for_each(|x| x.x += 1e6);
        points[2000..].iter_mut().for_each(|x| x.x -= 1e9);
        let gaps = closed(&points, 0.01);
        let all = gaps.map(DVec3::splat(1e300)).x - gaps.map(DVec3::splat(-1e300)).x;
        assert!(all < 60.0, "{all}");
        for cluster in points.chunks(1000) {
            let length = |x: &[DVec3]| x[x.len() - 1].x - x[0].x;
            let mapped: Vec<DVec3> = cluster.iter().map(|x| gaps.map(*x)).collect();
            assert!((length(&mapped) - length(cluster)).abs() < 1e-6);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(300))]
        /// What boxes that meet rely on: order stays, and nothing grows, also across the ends of pieces.
        #[test]
        fn coordinates_keep_their_order_and_never_grow(
            bulk in prop::collection::vec(-1.0..1.0f64, 1..200),
            far in prop::collection::vec((0.0..300.0f64, any::<bool>()), 0..80),
            at in 0.0..1e7f64,
        ) {
            let far = far.iter().map(|&(e, up)| if up { 10f64.powf(e) } else { -10f64.powf(e) });
            let points: Vec<DVec3> = bulk.iter().map(|x| at + x).chain(far).map(|x| DVec3::new(x, 0.0, -x)).collect();
            let gaps = closed(&points, 1e-3);
            let ends = gaps.pieces[0].iter().flat_map(|p| [p.from.next_down(), p.from, p.from.next_up()]);
            let mut x: Vec<f64> = points.iter().map(|x| x.x).chain(ends).collect();
            x.extend([f64::NEG_INFINITY, f64::INFINITY, -1e305, 1e305]);
            x.sort_unstable_by(f64::total_cmp);
            // Another axis inside or outside of its run: the same numbers.
            let map = |x: f64, y: f64| gaps.map(DVec3::new(x, y, 0.0)).x;
            for pair in x.windows(2) {
                let y = [map(pair[0], 0.0), map(pair[1], 0.0)];
                prop_assert!(y[0] <= y[1], "{:?} become {:?}", pair, y);
                prop_assert!(y[1] - y[0] <= (pair[1] - pair[0]) * (1.0 + 1e-12) + 1e-8, "{:?} become {:?}", pair, y);
            }
        }
    }
}
