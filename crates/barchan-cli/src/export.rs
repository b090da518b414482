//! `barchan export`: frames of a run as tables.

use crate::args::ExportArgs;
use crate::failure::{Failure, note};
use barchan::output::{
    AtomicFile, BODY_COLUMNS, CONTACT_COLUMNS, FrameError, StoredFrames, write_body_rows, write_contact_rows,
};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::ops::Range;

/// Writes what was asked for, to a file or to standard output.
pub(crate) fn run(args: &ExportArgs) -> Result<(), Failure> {
    let stored = StoredFrames::open(&args.run).map_err(unreadable)?;
    let chosen = chosen(args, &stored)?;
    if args.contacts && !stored.has_contacts() {
        let why = "the run has written no contacts (output.contacts of its scene is false)";
        return Err(Failure::Input(format!("{}: {why}", args.run.display())));
    }
    let Some(path) = &args.output else {
        let mut out = BufWriter::new(io::stdout().lock());
        return write(args, &stored, chosen, &mut out).map_err(|error| match error {
            Trouble::Write(error) if error.kind() == ErrorKind::BrokenPipe => Failure::Unread,
            Trouble::Write(error) => Failure::Failed(format!("cannot write to standard output: {error}")),
            Trouble::Read(error) => unreadable(error),
        });
    };
    let frames = chosen.len();
    let mut file = AtomicFile::create(path)?;
    write(args, &stored, chosen, &mut file).map_err(|error| match error {
        Trouble::Write(error) => Failure::Failed(format!("cannot write {}: {error}", path.display())),
        Trouble::Read(error) => unreadable(error),
    })?;
    file.finish()?;
    note(format_args!("{}: {frames} frame{}", path.display(), if frames == 1 { "" } else { "s" }));
    Ok(())
}

/// The numbers of the frames that were asked for: the last one unless told.
fn chosen(args: &ExportArgs, stored: &StoredFrames) -> Result<Range<usize>, Failure> {
    let count = stored.len();
    if args.all && count > 0 {
        return Ok(0..count);
    }
    let index = args.frame.unwrap_or(count.saturating_sub(1));
    if index < count { Ok(index..index + 1) } else { Err(unreadable(FrameError::NoSuchFrame { index, count })) }
}

/// What can go wrong on the way.
enum Trouble {
    Read(FrameError),
    Write(io::Error),
}

fn write(args: &ExportArgs, stored: &StoredFrames, chosen: Range<usize>, out: &mut dyn Write) -> Result<(), Trouble> {
    let header = if args.contacts { CONTACT_COLUMNS.join(",") } else { BODY_COLUMNS.join(",") };
    writeln!(out, "{header}").map_err(Trouble::Write)?;
    for index in chosen {
        let frame = stored.read(index).map_err(Trouble::Read)?;
        let rows = if args.contacts { write_contact_rows(out, &frame) } else { write_body_rows(out, &frame) };
        rows.map_err(Trouble::Write)?;
    }
    out.flush().map_err(Trouble::Write)
}

/// A wrong number or directory is a matter of what was typed; the rest of the disk.
fn unreadable(error: FrameError) -> Failure {
    let is_input = matches!(error, FrameError::NotARun { .. } | FrameError::NoSuchFrame { .. });
    if is_input { Failure::Input(error.to_string()) } else { Failure::Failed(error.to_string()) }
}
