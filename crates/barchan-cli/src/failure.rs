//! How a command fails, and with which exit code: 2 for what the user can mend in the input, 1
//! for what went wrong on the way, 3 for a problem that was not solved, 130 after an interrupt.
//!
//! Writing to a closed pipe (`barchan list | head -1`) is no failure: whoever read has enough.
//! The standard macros would panic then, so everything is printed through here.

use barchan::output::{FrameError, OutputError};
use barchan::run::RunError;
use barchan::scene::SceneError;
use barchan::step::StepError;
use std::fmt::Display;
use std::io::{self, ErrorKind, Write};
use std::process::ExitCode;

/// Why a command did not succeed.
#[derive(Debug)]
pub(crate) enum Failure {
    /// What was typed makes no sense.
    Usage(Box<clap::Error>),
    /// The input cannot be used.
    Input(String),
    /// Something went wrong on the way.
    Failed(String),
    /// A problem was not solved to its tolerance; the report is printed.
    Unsolved(String),
    /// The user stopped it; what there was is written.
    Interrupted,
    /// Nobody reads standard output any more.
    Unread,
    /// The user knows already, from here or from another rank; with the exit code.
    Told(u8),
}

impl Failure {
    /// Tells the user, and gives the exit code.
    pub(crate) fn report(self) -> ExitCode {
        ExitCode::from(self.tell())
    }

    /// The same, for a rank whose process does not end with it.
    pub(crate) fn told(self) -> Self {
        Self::Told(self.tell())
    }

    /// The same, of one rank alone.
    #[must_use]
    pub(crate) fn of_rank(self, rank: usize, ranks: usize) -> Self {
        let named = |message: &str| {
            let lines: Vec<_> = message.lines().map(|line| format!("rank {rank} of {ranks}: {line}")).collect();
            lines.join("\n")
        };
        match self {
            // The others were told something else, so that all the help would not help.
            Self::Usage(error) => {
                let text = error.to_string();
                let line = text.lines().next().unwrap_or_default();
                Self::Input(named(line.strip_prefix("error: ").unwrap_or(line)))
            }
            Self::Input(message) => Self::Input(named(&message)),
            Self::Failed(message) => Self::Failed(named(&message)),
            other => other,
        }
    }

    /// The same, with a sentence on what to do.
    #[must_use]
    pub(crate) fn with_advice(self, advice: &str) -> Self {
        match self {
            Self::Input(message) => Self::Input(format!("{message}. {advice}")),
            Self::Failed(message) => Self::Failed(format!("{message}. {advice}")),
            other => other,
        }
    }

    fn tell(&self) -> u8 {
        if let Self::Usage(error) = self {
            show(error);
        }
        if let Self::Input(message) | Self::Failed(message) | Self::Unsolved(message) = self {
            // A scene can have several faults.
            message.lines().for_each(|line| note(format_args!("error: {line}")));
        }
        self.code()
    }

    /// The exit code.
    pub(crate) fn code(&self) -> u8 {
        match self {
            Self::Usage(_) | Self::Input(_) => 2,
            Self::Failed(_) => 1,
            Self::Unsolved(_) => 3,
            Self::Interrupted => 130,
            Self::Unread => 0,
            Self::Told(code) => *code,
        }
    }
}

impl From<SceneError> for Failure {
    fn from(error: SceneError) -> Self {
        if error.is_elsewhere() { Self::Told(2) } else { Self::Input(error.to_string()) }
    }
}

impl From<StepError> for Failure {
    fn from(error: StepError) -> Self {
        Self::Failed(error.to_string())
    }
}

impl From<OutputError> for Failure {
    fn from(error: OutputError) -> Self {
        let make = if error.is_input() { Self::Input } else { Self::Failed };
        let failure = make(error.to_string());
        if matches!(error, OutputError::Elsewhere { .. }) { Self::Told(failure.code()) } else { failure }
    }
}

impl From<FrameError> for Failure {
    fn from(error: FrameError) -> Self {
        let is_input = matches!(error, FrameError::NotARun { .. } | FrameError::NoSuchFrame { .. });
        if is_input { Self::Input(error.to_string()) } else { Self::Failed(error.to_string()) }
    }
}

impl From<RunError> for Failure {
    fn from(error: RunError) -> Self {
        if error.is_elsewhere() { Self::Told(1) } else { Self::Failed(error.to_string()) }
    }
}

/// Prints help or a fault of what was typed, in colour where that can be seen.
pub(crate) fn show(error: &clap::Error) {
    // Nobody may be there to read it.
    let _ = error.print();
}

/// Prints to standard output.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    print_bytes(text.as_bytes())
}

/// The same with what is no text.
pub(crate) fn print_bytes(bytes: &[u8]) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    out.write_all(bytes).and_then(|()| out.flush()).map_err(|error| match error.kind() {
        ErrorKind::BrokenPipe => Failure::Unread,
        _ => Failure::Failed(format!("cannot write to standard output: {error}")),
    })
}

/// Prints a line to standard error, if anybody is there to read it. All at once: launchers put their
/// own lines between what is written in pieces.
pub(crate) fn note(line: impl Display) {
    let _ = io::stderr().write_all(format!("{line}\n").as_bytes());
}
