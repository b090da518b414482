//! Files that appear whole or not at all.
//!
//! A reader may look at any moment, the disk may fill, the process may be killed: in each case
//! a file under its final name must be complete. So bytes go to `.name.partial` beside the
//! target, are brought to the disk, and only then does a rename give them their name, which
//! the file system does in one step.

use super::{Attach, OutputError};
use std::fs::{self, File};
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// Bytes gathered before they go to the system.
const BUFFER: usize = 64 * 1024;

/// A file that takes its name when [`finish`](Self::finish) succeeds. Dropped before that, or
/// after an error, it leaves nothing behind.
#[derive(Debug)]
pub struct AtomicFile {
    path: PathBuf,
    partial: PathBuf,
    /// `None` once it has been handed over or given up.
    writer: Option<BufWriter<File>>,
    /// A write failed: what stands in the partial file is not to be trusted.
    failed: bool,
}

impl AtomicFile {
    /// Opens a partial file beside `path`.
    pub fn create(path: impl Into<PathBuf>) -> Result<Self, OutputError> {
        let path = destination(&path.into())?;
        let (file, partial) = create_partial(&path)?;
        Ok(Self::over(file, path, partial))
    }

    fn over(file: File, path: PathBuf, partial: PathBuf) -> Self {
        Self { path, partial, writer: Some(BufWriter::with_capacity(BUFFER, file)), failed: false }
    }

    /// The name that the file will have.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Brings everything to the disk and gives the file its name.
    pub fn finish(mut self) -> Result<(), OutputError> {
        self.deliver().attach("write", &self.path)
        // On error the drop of `self` removes the partial file.
    }

    fn deliver(&mut self) -> io::Result<()> {
        let writer = self.writer.as_mut().expect("a file is finished once");
        if self.failed {
            return Err(io::Error::other("an earlier write failed"));
        }
        writer.flush()?;
        // Network file systems report a full disk only here.
        match writer.get_ref().sync_data() {
            // Some special files cannot be synchronised; there is nothing to lose then.
            Err(e) if e.kind() == io::ErrorKind::InvalidInput => {}
            result => result?,
        }
        fs::rename(&self.partial, &self.path)?;
        self.writer = None;
        Ok(())
    }
}

impl Write for AtomicFile {
    #[inline]
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let result = self.writer.as_mut().expect("a finished file is gone").write(bytes);
        self.failed |= result.as_ref().is_err_and(|e| e.kind() != io::ErrorKind::Interrupted);
        result
    }

    fn flush(&mut self) -> io::Result<()> {
        let result = self.writer.as_mut().expect("a finished file is gone").flush();
        self.failed |= result.is_err();
        result
    }
}

/// What is known only at the end may stand at the beginning.
impl Seek for AtomicFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let result = self.writer.as_mut().expect("a finished file is gone").seek(to);
        self.failed |= result.is_err();
        result
    }
}

impl Drop for AtomicFile {
    fn drop(&mut self) {
        if let Some(writer) = self.writer.take() {
            // Without a last attempt to write what is still buffered.
            drop(writer.into_parts());
            let _ = fs::remove_file(&self.partial);
        }
    }
}

/// Writes a file whole: `fill` gives its bytes, and an error of `fill` leaves nothing behind.
pub fn write_whole(path: &Path, fill: impl FnOnce(&mut AtomicFile) -> io::Result<()>) -> Result<(), OutputError> {
    let mut file = AtomicFile::create(path)?;
    fill(&mut file).attach("write", path)?;
    file.finish()
}

/// A partial file that another program fills. Dropped before it has its name, it leaves nothing behind.
#[derive(Debug)]
pub(super) struct ForeignFile {
    path: PathBuf,
    partial: Option<PathBuf>,
}

impl ForeignFile {
    /// An empty one that is to become `path`.
    pub(super) fn create(path: &Path) -> Result<Self, OutputError> {
        let path = destination(path)?;
        let (_, partial) = create_partial(&path)?;
        Ok(Self { path, partial: Some(partial) })
    }

    /// The name by which the other program must know it.
    pub(super) fn partial(&self) -> &Path {
        self.partial.as_deref().unwrap_or(&self.path)
    }

    /// Brings it to the disk and gives it its name.
    pub(super) fn finish(mut self) -> Result<(), OutputError> {
        let sync = File::open(self.partial()).and_then(|file| file.sync_data());
        sync.and_then(|()| fs::rename(self.partial(), &self.path)).attach("write", &self.path)?;
        self.partial = None;
        Ok(())
    }
}

impl Drop for ForeignFile {
    fn drop(&mut self) {
        if let Some(partial) = &self.partial {
            let _ = fs::remove_file(partial);
        }
    }
}

/// Where a file of this name is written: where a link leads to. What is no file, a directory or a device,
/// is refused: nothing may take its name.
fn destination(path: &Path) -> Result<PathBuf, OutputError> {
    let Ok(there) = fs::metadata(path) else { return Ok(path.into()) };
    if there.is_dir() {
        return Err(io::Error::from(io::ErrorKind::IsADirectory)).attach("create", path);
    }
    if !there.is_file() {
        return Err(io::Error::other("it is a device or a pipe, expected a file")).attach("create", path);
    }
    if path.is_symlink() { fs::canonicalize(path).attach("create", path) } else { Ok(path.into()) }
}

fn create_partial(path: &Path) -> Result<(File, PathBuf), OutputError> {
    let partial = partial_path(path);
    let file = File::create(&partial).attach("create", path)?;
    Ok((file, partial))
}

/// `.name.partial` in the directory of `path`: where a file is written before it has its name. Of a link,
/// beside what it leads to.
pub fn partial_of_destination(path: &Path) -> PathBuf {
    partial_path(&destination(path).unwrap_or_else(|_| path.into()))
}

fn partial_path(path: &Path) -> PathBuf {
    let mut name = std::ffi::OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(PARTIAL_SUFFIX);
    path.with_file_name(name)
}

/// How the name of a partial file ends.
pub(super) const PARTIAL_SUFFIX: &str = ".partial";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::scratch::Scratch;

    #[test]
    #[cfg(unix)]
    fn links_are_followed_and_devices_stay() {
        let scratch = Scratch::new();
        let [file, link, pipe] = ["a.txt", "link.txt", "pipe"].map(|name| scratch.path().join(name));
        fs::write(&file, "old").unwrap();
        std::os::unix::fs::symlink("a.txt", &link).unwrap();
        write_whole(&link, |out| out.write_all(b"new")).unwrap();
        assert!(link.is_symlink() && fs::read(&file).unwrap() == b"new");
        nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::S_IRWXU).unwrap();
        let error = write_whole(&pipe, |out| out.write_all(b"new")).unwrap_err().to_string();
        assert!(error.contains("pipe: it is a device or a pipe, expected a file"), "{error}");
        assert_eq!(scratch.names(), ["a.txt", "link.txt", "pipe"]);
    }

    #[test]
    fn a_finished_file_has_its_name_and_replaces_the_old_one() {
        let scratch = Scratch::new();
        let path = scratch.path().join("a.txt");
        fs::write(&path, "old").unwrap();
        let mut file = AtomicFile::create(&path).unwrap();
        file.write_all(b"new").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
        file.finish().unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
        assert_eq!(scratch.names(), ["a.txt"]);
    }

    #[test]
    fn a_dropped_file_leaves_nothing() {
        let scratch = Scratch::new();
        let mut file = AtomicFile::create(scratch.path().join("a.txt")).unwrap();
        file.write_all(b"half").unwrap();
        assert_eq!(scratch.names(), [".a.txt.partial"]);
        drop(file);
        assert!(scratch.names().is_empty());
    }

    #[test]
    fn a_file_of_another_program_gets_its_name_or_goes() {
        let scratch = Scratch::new();
        let path = scratch.path().join("a.mp4");
        let file = ForeignFile::create(&path).unwrap();
        assert_eq!(scratch.names(), [".a.mp4.partial"]);
        drop(file);
        assert!(scratch.names().is_empty());
        let file = ForeignFile::create(&path).unwrap();
        fs::write(file.partial(), "whole").unwrap();
        file.finish().unwrap();
        assert_eq!(scratch.names(), ["a.mp4"]);
        // One that is lost.
        let file = ForeignFile::create(&path).unwrap();
        fs::remove_file(file.partial()).unwrap();
        let error = file.finish().unwrap_err().to_string();
        assert!(error.contains("cannot write") && scratch.names() == ["a.mp4"], "{error}");
        // Nothing takes the name of a directory.
        for wrong in [scratch.path().to_owned(), scratch.path().join("gone/a.mp4"), ".".into()] {
            assert!(ForeignFile::create(&wrong).is_err() && AtomicFile::create(&wrong).is_err());
        }
        assert_eq!(scratch.names(), ["a.mp4"]);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_full_disk_is_reported_and_leaves_nothing() {
        let scratch = Scratch::new();
        let path = scratch.path().join("a.bin");
        let partial = scratch.path().join(".a.bin.partial");
        // Few bytes fail at the end, many on the way.
        for bytes in [10, 10 * BUFFER] {
            fs::write(&partial, "").unwrap();
            let full = File::options().write(true).open("/dev/full").unwrap();
            let mut file = AtomicFile::over(full, path.clone(), partial.clone());
            let on_the_way = (0..bytes / 10).try_for_each(|_| file.write_all(&[7; 10]));
            assert_eq!(on_the_way.is_err(), bytes > BUFFER);
            let error = file.finish().unwrap_err().to_string();
            assert!(error.starts_with(&format!("cannot write {}: ", path.display())), "{error}");
            assert!(scratch.names().is_empty());
        }
    }

    #[test]
    fn an_error_while_filling_leaves_the_old_file() {
        let scratch = Scratch::new();
        let path = scratch.path().join("a.txt");
        write_whole(&path, |f| f.write_all(b"old")).unwrap();
        let fail = |f: &mut AtomicFile| {
            f.write_all(b"new")?;
            Err(io::Error::other("no more data"))
        };
        assert!(write_whole(&path, fail).unwrap_err().to_string().ends_with("no more data"));
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
        assert_eq!(scratch.names(), ["a.txt"]);
    }

    #[test]
    fn a_directory_that_vanished_is_an_error() {
        let scratch = Scratch::new();
        let directory = scratch.path().join("gone");
        fs::create_dir(&directory).unwrap();
        let mut file = AtomicFile::create(directory.join("a.txt")).unwrap();
        file.write_all(b"x").unwrap();
        fs::remove_dir_all(&directory).unwrap();
        assert!(file.finish().is_err());
        assert!(AtomicFile::create(directory.join("b.txt")).unwrap_err().to_string().contains("b.txt"));
    }
}
