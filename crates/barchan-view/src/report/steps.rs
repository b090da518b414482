//! `steps.csv` for plots: few enough rows to draw, and none of the extremes lost.

use serde_json::{Value, json};
use std::ops::RangeInclusive;

/// Rows that a page shows, about.
const ROWS: usize = 2000;
/// Ranges of missed steps that a page lists.
const RANGES: usize = 1000;
/// Stretches of steps over which the times of stages are averaged.
const STRETCHES: usize = 400;
/// The stages, in the page's order.
const STAGES: [&str; 6] =
    ["seconds_exchange", "seconds_broad", "seconds_narrow", "seconds_solve", "seconds_integrate", "seconds_output"];

/// Columns whose smallest and largest value in every stretch of time are kept.
const EXTREMES: [&str; 7] =
    ["kinetic", "potential", "contacts", "max_penetration", "mean_penetration", "iterations", "residual"];
/// The columns that the page has a use for, if the table has them.
const WANTED: [&str; 18] = [
    "step",
    "time",
    "bodies",
    "contacts",
    "iterations",
    "converged",
    "residual",
    "kinetic",
    "potential",
    "max_penetration",
    "mean_penetration",
    "seconds_exchange",
    "seconds_broad",
    "seconds_narrow",
    "seconds_solve",
    "seconds_integrate",
    "seconds_output",
    "operator_applications",
];

/// The table as read.
#[derive(Debug, Default)]
pub(super) struct Steps {
    columns: Vec<&'static str>,
    /// A value a column, row after row.
    values: Vec<f64>,
    /// Lines that could not be read.
    pub(super) damaged: usize,
}

impl Steps {
    /// Reads the table. The last line of a run that is under way may be half there: it is left out, and
    /// so are lines that cannot be read.
    pub(super) fn read(text: &str) -> Self {
        let mut lines = text.split_inclusive('\n').filter_map(|line| line.strip_suffix('\n'));
        let header: Vec<&str> = lines.next().unwrap_or_default().split(',').collect();
        let found = |name: &&str| header.iter().position(|column| column == name);
        let columns: Vec<&str> = WANTED.into_iter().filter(|name| found(name).is_some()).collect();
        let places: Vec<usize> = columns.iter().filter_map(found).collect();
        let mut steps = Self { columns, ..Self::default() };
        for line in lines {
            let cells: Vec<&str> = line.trim_end().split(',').collect();
            let row: Option<Vec<f64>> = places.iter().map(|&place| cells.get(place)?.parse().ok()).collect();
            match row {
                Some(row) if cells.len() == header.len() => steps.values.extend(row),
                _ => steps.damaged += 1,
            }
        }
        steps
    }

    /// Rows.
    pub(super) fn len(&self) -> usize {
        self.values.len().checked_div(self.columns.len()).unwrap_or(0)
    }

    /// The value of a column in a row; NaN if there is no such column.
    pub(super) fn value(&self, row: usize, name: &str) -> f64 {
        let column = self.columns.iter().position(|column| *column == name);
        column.map_or(f64::NAN, |column| self.values[row * self.columns.len() + column])
    }

    fn missed(&self, row: usize) -> bool {
        self.value(row, "converged") == 0.0
    }

    /// How many steps missed the tolerance.
    pub(super) fn missed_count(&self) -> usize {
        (0..self.len()).filter(|&row| self.missed(row)).count()
    }

    /// The largest value of a column.
    pub(super) fn max(&self, name: &str) -> f64 {
        (0..self.len()).map(|row| self.value(row, name)).fold(f64::NAN, f64::max)
    }

    /// The sum of a column.
    pub(super) fn sum(&self, name: &str) -> f64 {
        (0..self.len()).map(|row| self.value(row, name)).sum()
    }

    /// What the page reads as `config.steps`.
    pub(super) fn to_json(&self) -> Value {
        let number = |x: f64| if x.is_finite() { json!(x) } else { Value::Null };
        let row = |&row: &usize| {
            let start = row * self.columns.len();
            Value::Array(self.values[start..start + self.columns.len()].iter().copied().map(number).collect())
        };
        let ranges = self.missed_ranges();
        json!({
            "columns": self.columns,
            "rows": self.thinned(ROWS).iter().map(row).collect::<Vec<_>>(),
            "stages": self.stages(),
            "total": self.len(),
            "missed": self.missed_count(),
            "missed_ranges": ranges.iter().take(RANGES).map(|range| [range.start(), range.end()]).collect::<Vec<_>>(),
        })
    }

    /// What the stages took, by stretches of steps: time at the end, seconds of the slowest step, and the
    /// mean seconds of each stage.
    fn stages(&self) -> Vec<Vec<f64>> {
        let rows = self.len();
        let stretches = rows.min(STRETCHES);
        let finite = |x: f64| if x.is_finite() { x } else { 0.0 };
        let stretch = |k: usize| {
            let (from, to) = (k * rows / stretches, (k + 1) * rows / stretches);
            let slowest = (from..to).map(|row| self.seconds(row)).fold(0.0, f64::max);
            let mean =
                |name: &&str| finite((from..to).map(|row| self.value(row, name)).sum::<f64>() / (to - from) as f64);
            [finite(self.value(to - 1, "time")), finite(slowest)].into_iter().chain(STAGES.iter().map(mean)).collect()
        };
        (0..stretches).map(stretch).collect()
    }

    /// Rows to show: all, or of stretches of equal length those with the smallest and the largest value of
    /// any column that is drawn, and one that missed the tolerance if any did.
    fn thinned(&self, most: usize) -> Vec<usize> {
        let rows = self.len();
        if rows <= most {
            return (0..rows).collect();
        }
        let mut stretches = most / 2;
        loop {
            let kept = self.extremes(stretches);
            if kept.len() <= most || stretches <= most / (2 * (EXTREMES.len() + 2)) {
                return kept;
            }
            stretches = stretches * 3 / 4;
        }
    }

    fn extremes(&self, stretches: usize) -> Vec<usize> {
        let rows = self.len();
        let mut kept = vec![0, rows - 1];
        for k in 0..stretches {
            let stretch = k * rows / stretches..(k + 1) * rows / stretches;
            kept.extend(stretch.clone().find(|&row| self.missed(row)));
            let drawn = EXTREMES.into_iter().filter(|name| self.columns.contains(name));
            for name in drawn {
                kept.extend(extreme(stretch.clone(), |row| self.value(row, name)));
                kept.extend(extreme(stretch.clone(), |row| -self.value(row, name)));
            }
            kept.extend(extreme(stretch.clone(), |row| self.seconds(row)));
        }
        kept.sort_unstable();
        kept.dedup();
        kept
    }

    fn seconds(&self, row: usize) -> f64 {
        let stages = self.columns.iter().filter(|name| name.starts_with("seconds_"));
        stages.map(|name| self.value(row, name)).sum()
    }

    /// Steps that missed the tolerance, neighbours together; closest ranges are joined if there are too
    /// many to list.
    fn missed_ranges(&self) -> Vec<RangeInclusive<f64>> {
        let mut ranges: Vec<(usize, usize)> = Vec::new();
        for row in (0..self.len()).filter(|&row| self.missed(row)) {
            match ranges.last_mut() {
                Some(last) if last.1 + 1 == row => last.1 = row,
                _ => ranges.push((row, row)),
            }
        }
        let mut gap = 2;
        while ranges.len() > RANGES {
            ranges = ranges.into_iter().fold(Vec::new(), |mut joined: Vec<(usize, usize)>, range| {
                match joined.last_mut() {
                    Some(last) if range.0 - last.1 <= gap => last.1 = range.1,
                    _ => joined.push(range),
                }
                joined
            });
            gap *= 2;
        }
        ranges.into_iter().map(|(a, b)| self.value(a, "time")..=self.value(b, "time")).collect()
    }
}

/// The row with the largest value; none if no value is a number.
fn extreme(rows: std::ops::Range<usize>, value: impl Fn(usize) -> f64) -> Option<usize> {
    rows.filter(|&row| !value(row).is_nan()).max_by(|&a, &b| value(a).total_cmp(&value(b)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(rows: usize, row: impl Fn(usize) -> (f64, bool)) -> Steps {
        let mut text = String::from("step,time,kinetic,converged,seconds_solve\n");
        for k in 0..rows {
            let (kinetic, converged) = row(k);
            text += &format!("{},{:?},{kinetic:?},{},0.5\n", k + 1, k as f64 * 0.5, u8::from(converged));
        }
        Steps::read(&text)
    }

    #[test]
    fn few_rows_are_all_shown() {
        let json = table(3, |k| (k as f64, k != 1)).to_json();
        assert_eq!(json["columns"], json!(["step", "time", "converged", "kinetic", "seconds_solve"]));
        assert_eq!(json["rows"][1], json!([2.0, 0.5, 0.0, 1.0, 0.5]));
        assert_eq!((&json["total"], &json["missed"]), (&json!(3), &json!(1)));
        assert_eq!(json["missed_ranges"], json!([[0.5, 0.5]]));
        assert_eq!(json["stages"][2], json!([1.0, 0.5, 0.0, 0.0, 0.0, 0.5, 0.0, 0.0]));
    }

    #[test]
    fn a_single_peak_and_a_single_missed_step_survive_any_thinning() {
        let steps = table(100_000, |k| (if k == 31_415 { 9.0 } else { (k as f64).sin() }, k != 77_777));
        let json = steps.to_json();
        let rows = json["rows"].as_array().unwrap();
        assert!((500..=2200).contains(&rows.len()), "{}", rows.len());
        assert!(rows.iter().any(|row| row[3] == 9.0));
        assert!(rows.iter().any(|row| row[2] == 0.0 && row[0] == 77_778.0));
        assert_eq!((&rows[0][0], &rows[rows.len() - 1][0]), (&json!(1.0), &json!(100_000.0)));
        assert!(rows.windows(2).all(|pair| pair[0][0].as_f64() < pair[1][0].as_f64()));
        assert_eq!((&json["total"], &json["missed"]), (&json!(100_000), &json!(1)));
    }

    #[test]
    fn missed_steps_are_counted_however_many_there_are() {
        let steps = table(20_000, |k| (1.0, k % 3 != 0));
        let json = steps.to_json();
        assert_eq!(json["missed"], json!(6667));
        let ranges = json["missed_ranges"].as_array().unwrap();
        assert!(!ranges.is_empty() && ranges.len() <= RANGES);
        assert_eq!((&ranges[0][0], &ranges[ranges.len() - 1][1]), (&json!(0.0), &json!(9999.0)));
    }

    #[test]
    fn half_a_line_and_damaged_lines_are_left_out() {
        let steps = Steps::read("step,time,kinetic\n1,0.1,NaN\n2,0.2\nx,y,z\n3,0.3,inf\n4,0.");
        assert_eq!((steps.len(), steps.damaged), (2, 2));
        assert!(steps.value(0, "kinetic").is_nan() && steps.value(1, "residual").is_nan());
        assert_eq!(steps.to_json()["rows"][1], json!([3.0, 0.3, null]));
        assert_eq!(Steps::read("").len(), 0);
        assert_eq!(Steps::read("step,time\n").to_json()["total"], 0);
    }
}
