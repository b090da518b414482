//! `steps.csv` as it grows: only whole lines count, and each is read once.

use crate::server::StepNumbers;
use barchan::output::StepRow;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::PathBuf;

/// Bytes that are read at a time: a table of days is read piece by piece, and viewers are served in between.
const PIECE: u64 = 4 << 20;

/// A table that another process may be writing.
#[derive(Debug)]
pub(super) struct Table {
    path: PathBuf,
    offset: u64,
    /// Where each column of a row stands in a line; `None` until the header is there.
    columns: Option<Vec<Option<usize>>>,
}

/// What is new in a table.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Growth {
    /// Rows that have been added.
    pub(super) rows: Vec<StepNumbers>,
    /// It has become shorter: another run has taken its place.
    pub(super) is_another: bool,
    /// There is more to read at once.
    pub(super) goes_on: bool,
}

impl Table {
    pub(super) fn new(path: PathBuf) -> Self {
        Self { path, offset: 0, columns: None }
    }

    /// Reads what has been added. A table that cannot be read has nothing new.
    pub(super) fn read(&mut self) -> Growth {
        let mut growth = Growth::default();
        let Ok(mut file) = File::open(&self.path) else { return growth };
        let length = file.metadata().map_or(0, |about| about.len());
        if length < self.offset {
            growth.is_another = true;
            (self.offset, self.columns) = (0, None);
        }
        let mut bytes = Vec::new();
        let read = file.seek(SeekFrom::Start(self.offset)).and_then(|_| file.take(PIECE).read_to_end(&mut bytes));
        let Some(end) = bytes.iter().rposition(|byte| *byte == b'\n').filter(|_| read.is_ok()) else { return growth };
        self.offset += end as u64 + 1;
        growth.goes_on = bytes.len() as u64 == PIECE;
        for line in String::from_utf8_lossy(&bytes[..end]).lines() {
            let cells: Vec<&str> = line.split(',').collect();
            match &self.columns {
                Some(columns) => {
                    let cell = |place: &Option<usize>| place.and_then(|k| cells.get(k)?.parse().ok());
                    growth.rows.push(columns.iter().map(|place| cell(place).unwrap_or(f64::NAN)).collect());
                }
                None => {
                    let place = |name: &&str| cells.iter().position(|cell| cell == name);
                    self.columns = Some(StepRow::COLUMNS.iter().map(place).collect());
                }
            }
        }
        growth
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn whole_lines_are_read_once() {
        let path = std::env::temp_dir().join(format!("barchan-table-{}.csv", std::process::id()));
        let mut table = Table::new(path.clone());
        assert_eq!(table.read(), Growth::default());
        let mut file = File::create(&path).unwrap();
        write!(file, "time,step,unknown\n0.5,1,7\n1.0,").unwrap();
        let rows = table.read().rows;
        assert_eq!((rows.len(), rows[0][0], rows[0][1], rows[0].len()), (1, 1.0, 0.5, StepRow::COLUMNS.len()));
        assert!(rows[0][2].is_nan());
        assert_eq!(table.read(), Growth::default());
        write!(file, "2,7\nnonsense\n").unwrap();
        let rows = table.read().rows;
        assert_eq!((rows.len(), rows[0][0]), (2, 2.0));
        assert!(rows[1].iter().all(|x| x.is_nan()));
        File::create(&path).unwrap().write_all(b"step\n5\n").unwrap();
        let growth = table.read();
        assert!(growth.is_another && growth.rows[0][0] == 5.0);
        std::fs::remove_file(path).unwrap();
    }
}
