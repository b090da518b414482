//! Ctrl-C: the first one asks the run to finish its step and write what there is, the second
//! ends the process at once. No file is ever half-written under its final name, so that is safe.
//! SIGTERM and SIGHUP count the same; the handler cannot tell them apart.
//!
//! A command that makes one file stops at once on the first, and leaves nothing half-written behind. The
//! second ends it, should it be held up.

use crate::failure::{Failure, note};
use barchan::output::partial_of_destination;
use std::fs;
use std::io::{self, IsTerminal, Seek, SeekFrom, Write, stderr};
use std::path::{Path, PathBuf};
use std::process::exit;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

/// How long a command that makes one file may take to stop, when it is told twice.
const PATIENCE: Duration = Duration::from_secs(2);

static REQUESTS: AtomicU32 = AtomicU32::new(0);
static ANSWERS: AtomicBool = AtomicBool::new(false);
/// What goes before the process ends at once.
static UNFINISHED: OnceLock<PathBuf> = OnceLock::new();

/// Starts to listen.
pub(crate) fn listen() -> Result<(), Failure> {
    let handler = || {
        if REQUESTS.fetch_add(1, Ordering::SeqCst) > 0 {
            if let Some(path) = UNFINISHED.get() {
                // It is about to stop, and to end whoever else writes the file; this is for when it cannot.
                thread::sleep(PATIENCE);
                let _ = fs::remove_file(path);
            }
            exit(130);
        }
        if !ANSWERS.load(Ordering::SeqCst) {
            return;
        }
        // A progress bar may stand on the line.
        let clear = if stderr().is_terminal() { "\n" } else { "" };
        note(format_args!("{clear}stopping after this step; once more to stop at once"));
    };
    ctrlc::set_handler(handler).map_err(|error| Failure::Failed(format!("cannot listen to signals: {error}")))
}

/// Starts to listen, for a command that makes one file.
pub(crate) fn listen_for(path: &Path) -> Result<(), Failure> {
    // A command does this once.
    let _ = UNFINISHED.set(partial_of_destination(path));
    listen()
}

/// From here on there is something to stop, and this rank answers the user.
pub(crate) fn answer() {
    ANSWERS.store(true, Ordering::SeqCst);
}

/// Nothing is left to stop. Launchers end the other ranks with a signal when the first has left, and
/// that needs no answer.
pub(crate) fn be_quiet() {
    ANSWERS.store(false, Ordering::SeqCst);
}

/// Whether the user wants to stop.
pub(crate) fn requested() -> bool {
    REQUESTS.load(Ordering::SeqCst) > 0
}

/// A file that cannot be written any more once the user wants to stop.
pub(crate) struct Stoppable<W>(pub(crate) W);

impl<W: Write> Write for Stoppable<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if requested() { Err(io::Error::other("interrupted")) } else { self.0.write(bytes) }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

impl<W: Seek> Seek for Stoppable<W> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.0.seek(to)
    }
}
