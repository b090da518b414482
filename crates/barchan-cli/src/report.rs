//! `barchan report`: the page of a run, made again from its directory. A run makes its own at its end.

use crate::args::ReportArgs;
use crate::failure::{Failure, print};
use crate::spare;
use barchan::output::human::bytes;
use barchan_view::report::{self, ReportError, ReportOptions, WrittenReport};
use std::path::Path;

/// Writes the page and says where it is.
pub(crate) fn run(args: &ReportArgs) -> Result<(), Failure> {
    if args.out.as_ref().is_some_and(|path| path.as_os_str() == "-") {
        return Err(Failure::Input("a page cannot go to standard output: name a file with -o".into()));
    }
    if let Some(path) = &args.out {
        spare::files_of_run(&args.directory, path, Some(report::FILE))?;
    }
    let budget = args.megabytes as usize * 1_000_000;
    let options = ReportOptions { out: args.out.clone(), budget, ..ReportOptions::default() };
    let report = report::write(&args.directory, &options)?;
    if args.json {
        let WrittenReport { path, bytes, frames, frames_total } = &report;
        let json = serde_json::json!({
            "path": path.display().to_string(), "bytes": bytes, "frames": frames, "frames_total": frames_total,
        });
        return print(&format!("{json}\n"));
    }
    let frames = match (report.frames, report.frames_total) {
        (0, _) => "no frames".into(),
        (shown, total) if shown < total => format!("{shown} of {total} frames"),
        (1, _) => "one frame".into(),
        (shown, _) => format!("{shown} frames"),
    };
    print(&format!("{}: {}, {frames}\n", report.path.display(), bytes(report.bytes as u64)))
}

/// The page of a run that has just ended, with the reason if it failed. A page that cannot be written is
/// worth a warning, which is given back, not a run.
pub(crate) fn after_run(directory: &Path, failure: Option<&Failure>) -> Option<String> {
    let failure = failure.map(|failure| match failure {
        Failure::Input(message) | Failure::Failed(message) | Failure::Unsolved(message) => message.clone(),
        _ => "another rank said why.".into(),
    });
    let written = report::write(directory, &ReportOptions { failure, ..ReportOptions::default() });
    written.err().map(|error| format!("warning: no report: {error}"))
}

impl From<ReportError> for Failure {
    fn from(error: ReportError) -> Self {
        if error.is_input() { Self::Input(error.to_string()) } else { Self::Failed(error.to_string()) }
    }
}
