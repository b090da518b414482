//! Fewer numbers than came in, and none that matters lost: curves, means and ranges of a table that is read
//! once, from its first row to its last.
//!
//! Nobody knows beforehand how long the table is. So each of the three keeps all at first. When it has
//! too much, two neighbours become one, and from then on each stands for twice as many rows. What is
//! kept is the same as if the length had been known.

use std::collections::BTreeSet;

/// Rows of which the extreme ones are kept.
#[derive(Debug)]
pub(super) struct Curves {
    /// Numbers a row.
    width: usize,
    /// Columns whose smallest and largest value in every stretch are kept.
    extremes: Vec<usize>,
    /// Columns whose largest sum is kept.
    sum: Vec<usize>,
    /// The column that is 0 where a row must be kept, one a stretch.
    flag: Option<usize>,
    /// The rows that are kept, by their numbers in the table, and their values one after the other.
    numbers: Vec<usize>,
    values: Vec<f64>,
    /// Rows so far.
    total: usize,
    /// Rows of a stretch.
    stretch: usize,
}

/// Rows that are kept while more may come.
const MOST_ROWS: usize = 16_000;

impl Curves {
    pub(super) fn new(width: usize, extremes: Vec<usize>, sum: Vec<usize>, flag: Option<usize>) -> Self {
        let numbers = Vec::new();
        let values = Vec::new();
        Self { width, extremes, sum, flag, numbers, values, total: 0, stretch: 1 }
    }

    pub(super) fn push(&mut self, row: &[f64]) {
        self.numbers.push(self.total);
        self.values.extend_from_slice(row);
        self.total += 1;
        if self.numbers.len() > MOST_ROWS {
            // Rows that came since the last time are not thinned yet: that may do.
            self.thin();
            self.shrink(MOST_ROWS / 2);
        }
    }

    /// Thins until there are no more rows than this.
    pub(super) fn shrink(&mut self, most: usize) {
        while self.numbers.len() > most && self.stretch < self.total {
            self.stretch *= 2;
            self.thin();
        }
    }

    pub(super) fn rows(&self) -> impl Iterator<Item = &[f64]> {
        self.values.chunks_exact(self.width.max(1))
    }

    /// Keeps of every stretch the rows with extreme values, and one that is flagged if any is; and the first
    /// row and the last of all.
    fn thin(&mut self) {
        let mut kept = BTreeSet::from([0, self.numbers.len() - 1]);
        let mut from = 0;
        while from < self.numbers.len() {
            let stretch = self.numbers[from] / self.stretch;
            let to = from + self.numbers[from..].partition_point(|number| number / self.stretch == stretch);
            self.keep(from..to, &mut kept);
            from = to;
        }
        let width = self.width;
        for (new, &old) in kept.iter().enumerate() {
            self.numbers[new] = self.numbers[old];
            self.values.copy_within(old * width..(old + 1) * width, new * width);
        }
        self.numbers.truncate(kept.len());
        self.values.truncate(kept.len() * width);
    }

    fn keep(&self, rows: std::ops::Range<usize>, kept: &mut BTreeSet<usize>) {
        let value = |row: usize, column: usize| self.values[row * self.width + column];
        kept.extend(self.flag.and_then(|flag| rows.clone().find(|&row| value(row, flag) == 0.0)));
        for &column in &self.extremes {
            kept.extend(largest(rows.clone(), |row| value(row, column)));
            kept.extend(largest(rows.clone(), |row| -value(row, column)));
        }
        if !self.sum.is_empty() {
            kept.extend(largest(rows, |row| self.sum.iter().map(|&column| value(row, column)).sum()));
        }
    }
}

/// The row with the largest value; none if no value is a number.
fn largest(rows: std::ops::Range<usize>, value: impl Fn(usize) -> f64) -> Option<usize> {
    let valued = rows.map(|row| (row, value(row))).filter(|(_, value)| !value.is_nan());
    valued.max_by(|a, b| a.1.total_cmp(&b.1)).map(|(row, _)| row)
}

/// Means over stretches of rows.
#[derive(Debug)]
pub(super) struct Means<const N: usize> {
    stretches: Vec<Mean<N>>,
    /// Rows of a stretch.
    length: usize,
    most: usize,
}

/// A stretch of rows.
#[derive(Clone, Debug)]
pub(super) struct Mean<const N: usize> {
    /// At its end.
    pub(super) time: f64,
    /// The slowest row.
    pub(super) slowest: f64,
    sums: [f64; N],
    count: usize,
}

impl<const N: usize> Mean<N> {
    pub(super) fn means(&self) -> [f64; N] {
        self.sums.map(|sum| sum / self.count as f64)
    }

    fn join(&mut self, next: &Self) {
        self.time = next.time;
        self.slowest = self.slowest.max(next.slowest);
        self.count += next.count;
        self.sums.iter_mut().zip(next.sums).for_each(|(sum, more)| *sum += more);
    }
}

impl<const N: usize> Means<N> {
    /// Of at most so many stretches.
    pub(super) fn new(most: usize) -> Self {
        Self { stretches: Vec::new(), length: 1, most }
    }

    pub(super) fn push(&mut self, time: f64, slowest: f64, sums: [f64; N]) {
        let row = Mean { time, slowest, sums, count: 1 };
        match self.stretches.last_mut() {
            Some(last) if last.count < self.length => last.join(&row),
            _ => self.stretches.push(row),
        }
        if self.stretches.len() > self.most {
            self.length *= 2;
            let pair = |pair: &[Mean<N>]| {
                let mut joined = pair[0].clone();
                pair[1..].iter().for_each(|next| joined.join(next));
                joined
            };
            self.stretches = self.stretches.chunks(2).map(pair).collect();
        }
    }

    pub(super) fn stretches(&self) -> &[Mean<N>] {
        &self.stretches
    }
}

/// Ranges of rows, as few as asked for: those that are closest are joined.
#[derive(Debug)]
pub(super) struct Ranges {
    /// First and last row, and their times.
    ranges: Vec<([usize; 2], [f64; 2])>,
    /// Rows between two ranges that are one.
    gap: usize,
    most: usize,
}

impl Ranges {
    pub(super) fn new(most: usize) -> Self {
        Self { ranges: Vec::new(), gap: 1, most }
    }

    pub(super) fn push(&mut self, row: usize, time: f64) {
        self.add([row; 2], [time; 2]);
        while self.ranges.len() > self.most {
            self.gap *= 2;
            for (rows, times) in std::mem::take(&mut self.ranges) {
                self.add(rows, times);
            }
        }
    }

    fn add(&mut self, rows: [usize; 2], times: [f64; 2]) {
        match self.ranges.last_mut() {
            Some(last) if rows[0] - last.0[1] <= self.gap => (last.0[1], last.1[1]) = (rows[1], times[1]),
            _ => self.ranges.push((rows, times)),
        }
    }

    /// From when to when.
    pub(super) fn times(&self) -> impl Iterator<Item = [f64; 2]> {
        self.ranges.iter().map(|(_, times)| *times)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_does_not_grow_with_the_table() {
        let mut curves = Curves::new(3, vec![1], vec![2], Some(0));
        let mut means = Means::<1>::new(800);
        let mut ranges = Ranges::new(1000);
        let mut most = 0;
        for row in 0..300_000_usize {
            let x = row as f64;
            curves.push(&[f64::from(u8::from(row % 7 != 0)), (x * 0.37).sin(), x]);
            means.push(x, 1.0, [x]);
            if row % 7 == 0 {
                ranges.push(row, x);
            }
            most = most.max(curves.numbers.len());
            assert!(means.stretches.len() <= 800 && ranges.ranges.len() <= 1000);
        }
        assert!(most <= MOST_ROWS + 1 && curves.values.capacity() <= 4 * (MOST_ROWS + 1) * 3, "{most}");
        let mean = means.stretches().iter().map(|stretch| stretch.sums[0]).sum::<f64>() / 300_000.0;
        assert!((mean - 149_999.5).abs() < 1e-6, "{mean}");
    }

    /// What is kept does not depend on what was thinned on the way.
    #[test]
    fn extremes_of_extremes_are_the_extremes_of_all() {
        let value = |row: usize| ((row * 7919) % 100_003) as f64;
        let total = 70_001;
        let mut curves = Curves::new(1, vec![0], Vec::new(), None);
        (0..total).for_each(|row| curves.push(&[value(row)]));
        curves.shrink(2000);
        assert!(curves.numbers.len() <= 2000 && curves.numbers.len() > 800);
        let mut wanted = BTreeSet::from([0, total - 1]);
        for from in (0..total).step_by(curves.stretch) {
            let rows = from..(from + curves.stretch).min(total);
            wanted.extend(rows.clone().max_by(|&a, &b| value(a).total_cmp(&value(b))));
            wanted.extend(rows.min_by(|&a, &b| value(a).total_cmp(&value(b))));
        }
        assert_eq!(curves.numbers, wanted.into_iter().collect::<Vec<_>>());
    }
}
