//! `restarts.csv`: a line whenever a run goes on.

use super::{Attach, OutputError};
use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;

const HEADER: &str = "step,engine,ranks,threads";

/// Appends a row, and returns how many there are by now.
pub(super) fn append(path: &Path, row: &str) -> Result<u64, OutputError> {
    let mut file = File::options().create(true).append(true).read(true).open(path).attach("open", path)?;
    let mut text = String::new();
    file.read_to_string(&mut text).attach("read", path)?;
    let before = match text.as_str() {
        "" => format!("{HEADER}\n"),
        text if text.ends_with('\n') => String::new(),
        // The end of a line was lost with the process that wrote it.
        _ => "\n".into(),
    };
    file.write_all(format!("{before}{row}\n").as_bytes()).attach("write", path)?;
    Ok(text.lines().count().max(1) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::scratch::Scratch;

    #[test]
    fn rows_are_counted_though_a_line_was_cut_off() {
        let scratch = Scratch::new();
        let path = scratch.path().join("restarts.csv");
        assert_eq!([append(&path, "a").unwrap(), append(&path, "b").unwrap()], [1, 2]);
        std::fs::write(&path, format!("{HEADER}\na\nb")).unwrap();
        assert_eq!(append(&path, "c").unwrap(), 3);
        assert_eq!(std::fs::read_to_string(&path).unwrap(), format!("{HEADER}\na\nb\nc\n"));
    }
}
