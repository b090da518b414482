//! The folder of a run's checkpoints: names, what there is, and what may go.

use super::atomic::AtomicFile;
use super::names::{is_number, partial_of};
use super::{Attach, OutputError};
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// A folder of checkpoints.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckpointFolder {
    path: PathBuf,
}

impl CheckpointFolder {
    /// The name of the folder in a run directory.
    pub const NAME: &'static str = "checkpoints";

    /// That of a run directory, whether it is there or not.
    pub fn of_run(directory: &Path) -> Self {
        Self { path: directory.join(Self::NAME) }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The head of a step's checkpoint.
    pub fn head(&self, step: u64) -> PathBuf {
        self.path.join(format!("step-{step:09}.head"))
    }

    /// A rank's part of it.
    pub fn part(&self, step: u64, rank: usize) -> PathBuf {
        self.path.join(format!("step-{step:09}.part-{rank:04}"))
    }

    /// Steps of which there are heads, ascending; none if there is no folder.
    ///
    /// # Errors
    /// If the folder cannot be read.
    pub fn steps(&self) -> Result<Vec<u64>, OutputError> {
        let heads = self.files()?.into_iter().filter(|file| file.kind == Kind::Head).map(|file| file.step);
        Ok(heads.collect::<BTreeSet<_>>().into_iter().collect())
    }

    /// Makes the folder.
    ///
    /// # Errors
    /// If it cannot be made.
    pub fn make(&self) -> Result<(), OutputError> {
        fs::create_dir_all(&self.path).attach("create directory", &self.path)
    }

    /// Writes a file whole, and brings it and its name to the disk.
    ///
    /// # Errors
    /// If that fails; then nothing has that name that had not before.
    pub fn write(&self, path: &Path, bytes: &[u8]) -> Result<(), OutputError> {
        let mut file = AtomicFile::create(path)?;
        file.write_all(bytes).attach("write", path)?;
        file.finish()?;
        sync_directory(&self.path)
    }

    /// Removes all checkpoints but the last `keep` whole ones up to `newest`, and what was left by
    /// those that never became whole. What was set aside stays.
    ///
    /// # Errors
    /// If a file cannot be removed.
    pub fn prune(&self, newest: u64, keep: usize) -> Result<(), OutputError> {
        let steps = self.steps()?;
        let kept: Vec<u64> = steps.into_iter().rev().filter(|step| *step <= newest).take(keep).collect();
        self.remove(|file| match file.kind {
            Kind::Head | Kind::Part => !kept.contains(&file.step),
            Kind::Partial => true,
            Kind::Aside => false,
        })
    }

    /// Gives checkpoints after a step other names, under which nobody takes them for checkpoints of the
    /// run: they could not be used here, but may be valid.
    ///
    /// # Errors
    /// If a file cannot be renamed.
    pub(crate) fn set_aside_after(&self, step: u64) -> Result<(), OutputError> {
        let steps = self.steps()?;
        let mut files = self.files()?;
        // The head last: if this ends half-way, it can be done again.
        files.sort_by_key(|file| std::cmp::Reverse(file.kind));
        let is_whole = |file: &&Named| matches!(file.kind, Kind::Head | Kind::Part) && steps.contains(&file.step);
        for file in files.iter().filter(is_whole).filter(|file| file.step > step) {
            let mut name = file.path.clone().into_os_string();
            name.push(ASIDE_SUFFIX);
            fs::rename(&file.path, name).attach("rename", &file.path)?;
        }
        Ok(())
    }

    fn remove(&self, is_to_go: impl Fn(&Named) -> bool) -> Result<(), OutputError> {
        let mut files = self.files()?;
        files.sort_by_key(|file| file.kind);
        for file in files.iter().filter(|file| is_to_go(file)) {
            match fs::remove_file(&file.path) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                result => result.attach("remove", &file.path)?,
            }
        }
        Ok(())
    }

    /// Removes all checkpoints, those set aside too, and the folder if nothing else is in it.
    ///
    /// # Errors
    /// If a file cannot be removed.
    pub fn clear(&self) -> Result<(), OutputError> {
        self.remove(|_| true)?;
        // Stays if somebody put something into it.
        let _ = fs::remove_dir(&self.path);
        Ok(())
    }

    /// The files that are of checkpoints, by their names.
    fn files(&self) -> Result<Vec<Named>, OutputError> {
        let entries = match fs::read_dir(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries.attach("read directory", &self.path)?,
        };
        let mut files = Vec::new();
        for entry in entries {
            let entry = entry.attach("read directory", &self.path)?;
            if let Some((step, kind)) = entry.file_name().to_str().and_then(parse_name) {
                files.push(Named { path: entry.path(), step, kind });
            }
        }
        Ok(files)
    }
}

/// How the names of files end that were set aside.
const ASIDE_SUFFIX: &str = ".aside";

/// A file with what its name says.
struct Named {
    path: PathBuf,
    step: u64,
    kind: Kind,
}

/// What a file is. Of what is to go, heads go first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Head,
    Part,
    Partial,
    Aside,
}

/// What a name says, if it is one of a checkpoint.
fn parse_name(name: &str) -> Option<(u64, Kind)> {
    let partial = partial_of(name);
    let aside = name.strip_suffix(ASIDE_SUFFIX);
    let (step, kind) = partial.or(aside).unwrap_or(name).strip_prefix("step-")?.split_once('.')?;
    let is_head = kind == "head";
    let is_part = kind.strip_prefix("part-").is_some_and(|rank| is_number(rank, 4));
    let step = step.parse().ok().filter(|_| is_number(step, 9))?;
    let kind = match (partial, aside) {
        (Some(_), _) => Kind::Partial,
        (_, Some(_)) => Kind::Aside,
        _ if is_head => Kind::Head,
        _ => Kind::Part,
    };
    (is_head || is_part).then_some((step, kind))
}

/// Brings the names in a directory to the disk.
pub(crate) fn sync_directory(path: &Path) -> Result<(), OutputError> {
    if cfg!(unix) {
        match File::open(path).and_then(|directory| directory.sync_all()) {
            // Some file systems cannot; then there is nothing to be done.
            Err(error) if error.kind() == io::ErrorKind::InvalidInput => {}
            result => result.attach("synchronise", path)?,
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::scratch::{Scratch, names};

    #[test]
    fn the_last_ones_are_kept_and_nothing_else_is_touched() {
        let scratch = Scratch::new();
        let folder = CheckpointFolder::of_run(scratch.path());
        assert!(folder.steps().unwrap().is_empty());
        folder.clear().unwrap();
        folder.make().unwrap();
        let write = |path: PathBuf| fs::write(path, "x").unwrap();
        for step in [10, 20, 30, 1_000_000_000_000] {
            write(folder.head(step));
            write(folder.part(step, 0));
            write(folder.part(step, 12_345));
        }
        // One that never became whole, one half-written, and somebody's notes.
        write(folder.part(25, 0));
        write(folder.path().join(".step-000000040.head.partial"));
        write(folder.path().join("step-notes.head"));
        assert_eq!(folder.steps().unwrap(), [10, 20, 30, 1_000_000_000_000]);
        folder.prune(30, 2).unwrap();
        let expected = [
            "step-000000020.head",
            "step-000000020.part-0000",
            "step-000000020.part-12345",
            "step-000000030.head",
            "step-000000030.part-0000",
            "step-000000030.part-12345",
            "step-notes.head",
        ];
        assert_eq!(names(folder.path()), expected);
        // What is set aside is no checkpoint, and stays until all go.
        folder.set_aside_after(20).unwrap();
        assert_eq!(folder.steps().unwrap(), [20]);
        folder.prune(20, 1).unwrap();
        let aside = ["head", "part-0000", "part-12345"].map(|kind| format!("step-000000030.{kind}.aside"));
        assert_eq!(names(folder.path())[3..6], aside);
        folder.clear().unwrap();
        assert_eq!(names(folder.path()), ["step-notes.head"]);
        fs::remove_file(folder.path().join("step-notes.head")).unwrap();
        folder.clear().unwrap();
        assert!(!folder.path().exists());
    }
}
