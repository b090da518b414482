//! A table that grows while a run goes on, and so cannot appear at once like the other files.
//!
//! It grows by whole lines instead: the buffer goes to the file only at the end of a row, at
//! least every quarter of a second in which rows come, and after a failed write the file is
//! cut back to its last whole line.

use super::{Attach, OutputError};
use std::fs::File;
use std::io::{BufRead, BufReader, Seek, SeekFrom, Write as _};
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

    /// Goes on with a table that has this header, after the last line that `belongs`; what follows it is
    /// cut off, and so is half a line.
    pub(super) fn resume(
        path: impl Into<PathBuf>,
        header: &str,
        belongs: impl FnMut(&str) -> bool,
    ) -> Result<Self, OutputError> {
        let path = path.into();
        let written = whole_lines(&path, header, belongs)?.0;
        let mut file = File::options().write(true).open(&path).attach("open", &path)?;
        file.set_len(written).attach("cut", &path)?;
        file.seek(SeekFrom::End(0)).attach("open", &path)?;
        Ok(Self { path, file, pending: String::new(), written, last_flush: Instant::now() })
    }

    /// A second handle to the file, to bring it to the disk elsewhere.
    pub(super) fn handle(&self) -> Result<(File, PathBuf), OutputError> {
        Ok((self.file.try_clone().attach("open", &self.path)?, self.path.clone()))
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

/// Bytes and number of the lines behind the header, up to the first that does not belong or is no text,
/// and that header's bytes with them.
pub(super) fn whole_lines(
    path: &Path,
    header: &str,
    mut belongs: impl FnMut(&str) -> bool,
) -> Result<(u64, u64), OutputError> {
    let mut from = BufReader::with_capacity(FLUSH_BYTES, File::open(path).attach("open", path)?);
    let mut line = Vec::new();
    from.read_until(b'\n', &mut line).attach("read", path)?;
    if line.strip_suffix(b"\n") != Some(header.as_bytes()) {
        let found = if line.ends_with(b"\r\n") {
            "its lines end as on Windows (CR LF); this program writes and expects LF".into()
        } else {
            "it has other columns than this program writes".into()
        };
        return Err(OutputError::Table { path: path.to_owned(), found });
    }
    let mut bytes = line.len() as u64;
    let mut count = 0;
    loop {
        line.clear();
        from.read_until(b'\n', &mut line).attach("read", path)?;
        match line.strip_suffix(b"\n").and_then(|row| std::str::from_utf8(row).ok()) {
            Some(row) if belongs(row) => (bytes, count) = (bytes + line.len() as u64, count + 1),
            _ => return Ok((bytes, count)),
        }
    }
}

/// The step that a line begins with.
pub(super) fn step_of(line: &str) -> Option<u64> {
    line.split(',').next()?.parse().ok()
}

impl Drop for TableWriter {
    fn drop(&mut self) {
        let _ = self.flush();
    }
}
