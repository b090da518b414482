//! `barchan export`: frames of a run as tables, or all of them as one VTKHDF file.

use crate::args::ExportArgs;
use crate::failure::{Failure, note};
use barchan::output::{
    AtomicFile, BODY_COLUMNS, CONTACT_COLUMNS, ExportError, FrameError, StoredFrames, write_body_rows,
    write_contact_rows, write_vtkhdf,
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
        return write_table(args, &stored, chosen, &mut out).map_err(|error| match error {
            ExportError::Write(error) if error.kind() == ErrorKind::BrokenPipe => Failure::Unread,
            ExportError::Write(error) => Failure::Failed(format!("cannot write to standard output: {error}")),
            ExportError::Read(error) => unreadable(error),
        });
    };
    let frames = chosen.len();
    let mut file = AtomicFile::create(path)?;
    let written = match args.vtkhdf {
        true => write_vtkhdf(&mut file, &stored),
        false => write_table(args, &stored, chosen, &mut file),
    };
    written.map_err(|error| match error {
        ExportError::Write(error) => Failure::Failed(format!("cannot write {}: {error}", path.display())),
        ExportError::Read(error) => unreadable(error),
    })?;
    file.finish()?;
    note(format_args!("{}: {frames} frame{}", path.display(), if frames == 1 { "" } else { "s" }));
    Ok(())
}

/// The numbers of the frames that were asked for: the last one unless told. A VTKHDF file has all.
fn chosen(args: &ExportArgs, stored: &StoredFrames) -> Result<Range<usize>, Failure> {
    let count = stored.len();
    if (args.all || args.vtkhdf) && count > 0 {
        return Ok(0..count);
    }
    let index = args.frame.unwrap_or(count.saturating_sub(1));
    if index < count { Ok(index..index + 1) } else { Err(unreadable(FrameError::NoSuchFrame { index, count })) }
}

fn write_table(
    args: &ExportArgs,
    stored: &StoredFrames,
    chosen: Range<usize>,
    out: &mut dyn Write,
) -> Result<(), ExportError> {
    let header = if args.contacts { CONTACT_COLUMNS.join(",") } else { BODY_COLUMNS.join(",") };
    writeln!(out, "{header}")?;
    for index in chosen {
        let frame = stored.read(index)?;
        if args.contacts { write_contact_rows(out, &frame) } else { write_body_rows(out, &frame) }?;
    }
    Ok(out.flush()?)
}

/// A wrong number or directory is a matter of what was typed; the rest of the disk.
fn unreadable(error: FrameError) -> Failure {
    let is_input = matches!(error, FrameError::NotARun { .. } | FrameError::NoSuchFrame { .. });
    if is_input { Failure::Input(error.to_string()) } else { Failure::Failed(error.to_string()) }
}
