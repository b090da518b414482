//! A table that grows while a run goes on, and so cannot appear at once like the other files.
//!
//! It grows by whole lines instead: the buffer goes to the file only at the end of a row, at
//! least every quarter of a second in which rows come, and after a failed write the file is
//! cut back to its last whole line.

use super::{Attach, OutputError};
use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

pub(super) const FLUSH_BYTES: usize = 64 * 1024;
const FLUSH_TIME: Duration = Duration::from_millis(250);

/// Writes a comma-separated table line by line.
#[derive(Debug)]
pub(super) struct TableWriter {
    path: PathBuf,
    file: File,
    /// Whole lines that are not yet in the file.
    pending: String,
    /// Bytes in the file: whole lines, too.
    written: u64,
    last_flush: Instant,
}

impl TableWriter {
    /// Starts the table with its header.
    pub(super) fn create(path: impl Into<PathBuf>, header: &str) -> Result<Self, OutputError> {
        let path = path.into();
        let file = File::create(&path).attach("create", &path)?;
        let pending = format!("{header}\n");
        let mut writer = Self { path, file, pending, written: 0, last_flush: Instant::now() };
        writer.flush()?;
        Ok(writer)
    }

    /// Where the table is.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Adds a line, which `put` writes without its end.
    pub(super) fn push(&mut self, put: impl FnOnce(&mut String)) -> Result<(), OutputError> {
        put(&mut self.pending);
        self.pending.push('\n');
        if self.pending.len() >= FLUSH_BYTES || self.last_flush.elapsed() >= FLUSH_TIME { self.flush() } else { Ok(()) }
    }

    /// Brings all lines so far to the file.
    pub(super) fn flush(&mut self) -> Result<(), OutputError> {
        self.last_flush = Instant::now();
        let result = self.file.write_all(self.pending.as_bytes());
        match result {
            Ok(()) => self.written += self.pending.len() as u64,
            // Half a line may have got through.
            Err(_) => {
                let _ = self.file.set_len(self.written);
            }
        }
        self.pending.clear();
        result.attach("write", &self.path)
    }
}

impl Drop for TableWriter {
    fn drop(&mut self) {
        let _ = self.flush();
    }
}
