//! `steps.csv` for plots: few enough rows to draw, and none of the extremes lost.
//!
//! The table of a long run has millions of rows. It is read line by line, and only what the page shows is
//! kept.

use super::lines::{self, Length};
use super::thinning::{Curves, Means, Ranges};
use serde_json::{Value, json};
use std::io::{self, BufRead};

/// Rows that a page shows at most.
const ROWS: usize = 2000;
/// Ranges of missed steps that a page lists.
const RANGES: usize = 1000;
/// Stretches of steps over which the times of stages are averaged, at most.
const STRETCHES: usize = 800;
/// The stages, in the page's order.
const STAGES: [&str; 7] = [
    "seconds_exchange",
    "seconds_broad",
    "seconds_narrow",
    "seconds_solve",
    "seconds_integrate",
    "seconds_output",
    "seconds_checkpoint",
];

/// Columns whose smallest and largest value in every stretch of time are kept.
const EXTREMES: [&str; 7] =
    ["kinetic", "potential", "contacts", "max_penetration", "mean_penetration", "iterations", "residual"];
/// The columns that the page has a use for beside the stages, if the table has them.
const WANTED: [&str; 12] = [
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
    "operator_applications",
];

/// What the table says.
#[derive(Debug)]
pub(super) struct Steps {
    columns: Columns,
    /// Rows that could be read.
    total: usize,
    missed: usize,
    /// Lines that could not be read.
    pub(super) damaged: usize,
    /// The last row, the largest value of each column, and the sum of each.
    last: Vec<f64>,
    largest: Vec<f64>,
    sums: Vec<f64>,
    curves: Curves,
    stages: Means<{ STAGES.len() }>,
    missed_ranges: Ranges,
}

/// The columns of a table that the page has a use for.
#[derive(Debug)]
struct Columns {
    names: Vec<&'static str>,
    /// For each cell of a line the place of its column in a row.
    cells: Vec<Option<usize>>,
    time: Option<usize>,
    converged: Option<usize>,
    stages: [Option<usize>; STAGES.len()],
}

impl Columns {
    fn of(header: &str) -> Self {
        let header: Vec<&str> = header.trim_end().split(',').collect();
        let names: Vec<&str> = WANTED.into_iter().chain(STAGES).filter(|name| header.contains(name)).collect();
        let place = |name: &str| names.iter().position(|other| *other == name);
        let mut cells: Vec<Option<usize>> = header.iter().map(|name| place(name)).collect();
        // Of two columns with the same name the first counts.
        for k in 0..cells.len() {
            if cells[..k].contains(&cells[k]) {
                cells[k] = None;
            }
        }
        let time = place("time");
        let converged = place("converged");
        let stages = STAGES.map(place);
        Self { cells, time, converged, stages, names }
    }

    fn place(&self, name: &str) -> Option<usize> {
        self.names.iter().position(|other| *other == name)
    }

    /// Reads a line into a row; `None` if it is damaged.
    fn parse(&self, line: &[u8], row: &mut [f64]) -> Option<()> {
        let mut cells = std::str::from_utf8(line).ok()?.trim_end().split(',');
        for place in &self.cells {
            let cell = cells.next()?;
            if let Some(place) = *place {
                row[place] = cell.parse().ok()?;
            }
        }
        cells.next().is_none().then_some(())
    }
}

impl Steps {
    /// Reads the table. The last line of a run that is under way may be half there: it is left out, and
    /// so are lines that cannot be read.
    ///
    /// # Errors
    /// If the file cannot be read on.
    pub(super) fn read(mut table: impl BufRead) -> io::Result<Self> {
        let mut line = Vec::new();
        lines::next(&mut table, &mut line)?;
        let mut steps = Self::new(Columns::of(&String::from_utf8_lossy(&line)));
        let mut row = vec![0.0; steps.columns.names.len()];
        while let Some(length) = lines::next(&mut table, &mut line)? {
            let parsed = steps.columns.parse(&line, &mut row).filter(|()| length == Length::Whole);
            match parsed {
                Some(()) => steps.push(&row),
                None => steps.damaged += 1,
            }
        }
        steps.curves.shrink(ROWS);
        Ok(steps)
    }

    fn new(columns: Columns) -> Self {
        let width = columns.names.len();
        let extremes = EXTREMES.into_iter().filter_map(|name| columns.place(name)).collect();
        let seconds = columns.stages.into_iter().flatten().collect();
        Self {
            curves: Curves::new(width, extremes, seconds, columns.converged),
            stages: Means::new(STRETCHES),
            missed_ranges: Ranges::new(RANGES),
            last: Vec::new(),
            largest: vec![f64::NAN; width],
            sums: vec![0.0; width],
            columns,
            total: 0,
            missed: 0,
            damaged: 0,
        }
    }

    fn push(&mut self, row: &[f64]) {
        // A table of other columns altogether has no steps.
        if row.is_empty() {
            return;
        }
        let value = |column: Option<usize>| column.map_or(f64::NAN, |column| row[column]);
        let time = value(self.columns.time);
        let seconds = self.columns.stages.map(value);
        let slowest = seconds.iter().filter(|s| s.is_finite()).sum();
        self.stages.push(time, slowest, seconds);
        if value(self.columns.converged) == 0.0 {
            self.missed += 1;
            self.missed_ranges.push(self.total, time);
        }
        self.curves.push(row);
        self.total += 1;
        for (k, &x) in row.iter().enumerate() {
            self.sums[k] += x;
            self.largest[k] = self.largest[k].max(x);
        }
        self.last.clear();
        self.last.extend_from_slice(row);
    }

    /// Rows.
    pub(super) fn len(&self) -> usize {
        self.total
    }

    /// How many steps missed the tolerance.
    pub(super) fn missed_count(&self) -> usize {
        self.missed
    }

    /// The last value of a column; NaN if there is none.
    pub(super) fn last(&self, name: &str) -> f64 {
        self.columns.place(name).and_then(|column| self.last.get(column).copied()).unwrap_or(f64::NAN)
    }

    /// The largest value of a column.
    pub(super) fn max(&self, name: &str) -> f64 {
        self.columns.place(name).map_or(f64::NAN, |column| self.largest[column])
    }

    /// The sum of a column.
    pub(super) fn sum(&self, name: &str) -> f64 {
        self.columns.place(name).map_or(f64::NAN, |column| self.sums[column])
    }

    /// What the page reads as `config.steps`.
    pub(super) fn to_json(&self) -> Value {
        let number = |x: &f64| if x.is_finite() { json!(x) } else { Value::Null };
        let row = |row: &[f64]| Value::Array(row.iter().map(number).collect());
        json!({
            "columns": self.columns.names,
            "rows": self.curves.rows().map(row).collect::<Vec<_>>(),
            "stages": self.stages(),
            "total": self.len(),
            "missed": self.missed_count(),
            "missed_ranges": self.missed_ranges.times().collect::<Vec<_>>(),
        })
    }

    /// What the stages took, by stretches of steps: time at the end, seconds of the slowest step, and the
    /// mean seconds of each stage.
    fn stages(&self) -> Vec<Vec<f64>> {
        let finite = |x: f64| if x.is_finite() { x } else { 0.0 };
        let stretches = self.stages.stretches().iter();
        let numbers = stretches.map(|mean| [mean.time, mean.slowest].into_iter().chain(mean.means()));
        numbers.map(|numbers| numbers.map(finite).collect()).collect()
    }
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
        Steps::read(text.as_bytes()).unwrap()
    }

    fn read(text: &str) -> Steps {
        Steps::read(text.as_bytes()).unwrap()
    }

    /// The page's script lists what it is given.
    #[test]
    fn the_list_of_the_page_is_whole() {
        let script = include_str!("../../page/main.js");
        let listed = script.lines().find_map(|line| line.strip_prefix("//   steps ")).unwrap();
        let listed: Vec<&str> = listed.trim().trim_matches(['{', '}']).split(',').map(str::trim).collect();
        let mut given = read("step\n1\n").to_json();
        for name in listed {
            assert!(given.as_object_mut().unwrap().remove(name).is_some(), "{name} is not given");
        }
        assert_eq!(given, json!({}), "the page's list lacks these");
    }

    #[test]
    fn few_rows_are_all_shown() {
        let json = table(3, |k| (k as f64, k != 1)).to_json();
        assert_eq!(json["columns"], json!(["step", "time", "converged", "kinetic", "seconds_solve"]));
        assert_eq!(json["rows"][1], json!([2.0, 0.5, 0.0, 1.0, 0.5]));
        assert_eq!((&json["total"], &json["missed"]), (&json!(3), &json!(1)));
        assert_eq!(json["missed_ranges"], json!([[0.5, 0.5]]));
        assert_eq!(json["stages"][2], json!([1.0, 0.5, 0.0, 0.0, 0.0, 0.5, 0.0, 0.0, 0.0]));
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
        let steps = read("step,time,kinetic\n1,0.1,NaN\n2,0.2\nx,y,z\n3,0.3,inf\n4,0.");
        assert_eq!((steps.len(), steps.damaged), (2, 2));
        assert!(steps.last("kinetic") == f64::INFINITY && steps.last("residual").is_nan());
        assert_eq!(steps.to_json()["rows"], json!([[1.0, 0.1, null], [3.0, 0.3, null]]));
        assert_eq!(read("").len(), 0);
        assert_eq!(read("step,time\n").to_json()["total"], 0);
        assert_eq!(read("step,time,step\n1,0.5,7\n2,1.0,8,\n").to_json()["rows"], json!([[1.0, 0.5]]));
        assert_eq!(read("a,b\n1,2\n3,4\n").len(), 0);
        // A disk that was full, or a machine that went down, may leave anything.
        let mut bytes = b"step,time\r\n1,0.5\r\n\xff,1\n".to_vec();
        bytes.extend([0; 200_000]);
        bytes.extend(b"\n2,1.0\n");
        let steps = Steps::read(&bytes[..]).unwrap();
        assert_eq!((steps.len(), steps.damaged, steps.last("time")), (2, 2, 1.0));
    }
}
