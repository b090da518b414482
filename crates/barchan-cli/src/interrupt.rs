//! Ctrl-C: the first one asks the run to finish its step and write what there is, the second
//! ends the process at once. No file is ever half-written under its final name, so that is safe.
//! SIGTERM and SIGHUP count the same; the handler cannot tell them apart.

use crate::failure::{Failure, note};
use std::io::{IsTerminal, stderr};
use std::process::exit;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

static REQUESTS: AtomicU32 = AtomicU32::new(0);
static ANSWERS: AtomicBool = AtomicBool::new(false);

/// Starts to listen.
pub(crate) fn listen() -> Result<(), Failure> {
    let handler = || {
        if REQUESTS.fetch_add(1, Ordering::SeqCst) > 0 {
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
