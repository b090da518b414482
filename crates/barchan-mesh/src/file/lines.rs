//! A text that is handed out line by line.
//!
//! Loaders say what is wrong with a text, and not where. This reader gives them one line at a time, so that a loader that
//! stops has stopped at the last line that it was given; and it rewrites each line first, so that what is of no concern never
//! reaches the loader.

use std::io::{self, Read, Seek, SeekFrom};

/// Lines of a text, rewritten.
pub(super) struct Lines<'a, F> {
    text: &'a [u8],
    rewrite: F,
    /// A line that comes last, and whether it has.
    end: &'static str,
    ended: bool,
    /// Where the next line begins.
    next: usize,
    /// Lines that were handed out.
    line: usize,
    current: Vec<u8>,
    taken: usize,
}

impl<'a, F: Fn(usize, &str) -> String> Lines<'a, F> {
    /// Lines of a text, as a function of their number and what is in them. One more is added at the end, if it is not empty.
    pub(super) fn new(text: &'a [u8], end: &'static str, rewrite: F) -> Self {
        Self { text, rewrite, end, ended: false, next: 0, line: 0, current: Vec::new(), taken: 0 }
    }

    /// The number of the line that was handed out last, counted from one.
    pub(super) fn line(&self) -> usize {
        self.line.max(1)
    }
}

impl<F: Fn(usize, &str) -> String> Read for Lines<'_, F> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.taken == self.current.len() {
            let rest = &self.text[self.next..];
            if rest.is_empty() {
                self.current = if self.ended { Vec::new() } else { self.end.into() };
                self.ended = true;
            } else {
                let end = rest.iter().position(|&b| b == b'\n').map_or(rest.len(), |k| k + 1);
                self.line += 1;
                let line = String::from_utf8_lossy(&rest[..end]);
                self.current = (self.rewrite)(self.line, line.trim()).into_bytes();
                self.current.push(b'\n');
                self.next += end;
            }
            self.taken = 0;
        }
        let count = into.len().min(self.current.len() - self.taken);
        into[..count].copy_from_slice(&self.current[self.taken..self.taken + count]);
        self.taken += count;
        Ok(count)
    }
}

impl<F> Seek for Lines<'_, F> {
    /// Back to the beginning, which is all that loaders need.
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        if to != SeekFrom::Start(0) {
            return Err(io::ErrorKind::Unsupported.into());
        }
        self.next = 0;
        self.line = 0;
        self.ended = false;
        self.current.clear();
        self.taken = 0;
        Ok(0)
    }
}
