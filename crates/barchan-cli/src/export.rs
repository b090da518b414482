//! `barchan export`: frames of a run as tables, or all of them as one VTKHDF file.

use crate::args::ExportArgs;
use crate::failure::{Failure, note};
use crate::interrupt::{self, Stoppable};
use crate::readable_frames::{self, Lost, Trouble};
use crate::spare;
use barchan::output::human::counted;
use barchan::output::{
    AtomicFile, BODY_COLUMNS, CONTACT_COLUMNS, ExportError, FrameError, StoredFrames, write_body_rows,
    write_contact_rows, write_vtkhdf,
};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::ops::Range;
use std::path::Path;

/// Writes what was asked for, to a file or to standard output.
pub(crate) fn run(args: &ExportArgs) -> Result<(), Failure> {
    let path = args.output.as_deref().filter(|path| path.as_os_str() != "-");
    if args.vtkhdf && path.is_none() {
        return Err(Failure::Input("a VTKHDF file cannot go to standard output: name one with -o".into()));
    }
    let stored = StoredFrames::open(&args.run)?;
    if let Some(path) = path {
        spare::files_of_run(&args.run, path, None)?;
    }
    let chosen = chosen(args, &stored)?;
    if args.contacts && !stored.has_contacts() {
        let why = "the run has written no contacts (output.contacts of its scene is false)";
        return Err(Failure::Input(format!("{}: {why}", args.run.display())));
    }
    let Some(path) = path else {
        let mut out = BufWriter::new(io::stdout().lock());
        return write_table(args, &stored, chosen, &mut out)
            .map_err(|error| match error {
                ExportError::Write(error) if error.kind() == ErrorKind::BrokenPipe => Failure::Unread,
                ExportError::Write(error) => Failure::Failed(format!("cannot write to standard output: {error}")),
                ExportError::Read(error) => error.into(),
            })?
            .fail_if_any("the table");
    };
    interrupt::listen_for(path)?;
    let written = match args.vtkhdf {
        true => vtkhdf(path, &stored),
        false => table(args, path, &stored, chosen),
    };
    if interrupt::requested() && written.is_err() {
        note(format_args!("interrupted; {} is not written", path.display()));
        return Err(Failure::Interrupted);
    }
    let lost = written?;
    note(format_args!("{}: {}", path.display(), counted(lost.kept() as u64, "frame", "frames")));
    lost.fail_if_any(path.display())
}

/// The numbers of the frames that were asked for: the last one by default. A VTKHDF file has all.
fn chosen(args: &ExportArgs, stored: &StoredFrames) -> Result<Range<usize>, Failure> {
    let count = stored.len();
    if (args.all || args.vtkhdf) && count > 0 {
        return Ok(0..count);
    }
    let index = args.frame.unwrap_or(count.saturating_sub(1));
    if index < count { Ok(index..index + 1) } else { Err(FrameError::NoSuchFrame { index, count }.into()) }
}

fn vtkhdf(path: &Path, stored: &StoredFrames) -> Result<Lost, Failure> {
    let read = |stored: &StoredFrames, index| stored.read_bodies(index).map(drop);
    readable_frames::make(stored, read, |stored| {
        let mut file = Stoppable(AtomicFile::create(path).map_err(|error| Trouble::Other(error.into()))?);
        write_vtkhdf(&mut file, stored).map_err(|error| match error {
            ExportError::Write(error) => Trouble::Other(unwritten(path, &error)),
            ExportError::Read(error) => Trouble::Frame(error),
        })?;
        file.0.finish().map_err(|error| Trouble::Other(error.into()))
    })
}

fn table(args: &ExportArgs, path: &Path, stored: &StoredFrames, chosen: Range<usize>) -> Result<Lost, Failure> {
    let mut file = Stoppable(AtomicFile::create(path)?);
    let lost = write_table(args, stored, chosen, &mut file).map_err(|error| match error {
        ExportError::Write(error) => unwritten(path, &error),
        ExportError::Read(error) => error.into(),
    })?;
    lost.refuse_all()?;
    file.0.finish()?;
    Ok(lost)
}

fn unwritten(path: &Path, error: &io::Error) -> Failure {
    Failure::Failed(format!("cannot write {}: {error}", path.display()))
}

/// Writes a table of frames; of several, those that can be read.
fn write_table(
    args: &ExportArgs,
    stored: &StoredFrames,
    chosen: Range<usize>,
    out: &mut dyn Write,
) -> Result<Lost, ExportError> {
    let mut lost = Lost::of(chosen.len());
    let header = if args.contacts { CONTACT_COLUMNS.join(",") } else { BODY_COLUMNS.join(",") };
    let read = |index| if args.contacts { stored.read_contacts(index) } else { stored.read_bodies(index) };
    let write = if args.contacts { write_contact_rows } else { write_body_rows };
    if args.all {
        writeln!(out, "{header}")?;
        for index in chosen {
            match read(index) {
                Ok(frame) => write(out, &frame)?,
                Err(error) => lost.leave_out(index, &error),
            }
        }
    } else {
        // If it cannot be read, not even the header is written.
        let frame = read(chosen.start)?;
        writeln!(out, "{header}")?;
        write(out, &frame)?;
    }
    out.flush()?;
    Ok(lost)
}
