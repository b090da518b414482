//! The directory of a comparison. As with runs, what stands there is never replaced by accident: a
//! directory that holds anything is refused, and `--force` removes the files of a comparison by
//! name and nothing else. `comparison.csv`, made first, tells a comparison from other directories.

use crate::failure::Failure;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

pub(super) const RESULTS: &str = "comparison.csv";
pub(super) const HISTORY: &str = "history.csv";
pub(super) const PROFILE: &str = "profile.svg";

/// The plot of a problem.
pub(super) fn residual_plot(problem: &str) -> String {
    format!("residual-{problem}.svg")
}

/// Makes the directory, or empties it of an earlier comparison if that is allowed.
pub(super) fn claim(path: Option<&Path>, overwrite: bool) -> Result<PathBuf, Failure> {
    let path = match path {
        Some(path) => path.to_owned(),
        None => free_path(Path::new("comparison")).map_err(|error| failed("create directory", "comparison", &error))?,
    };
    let shown = path.display();
    if path.exists() && !path.is_dir() {
        return Err(Failure::Input(format!("{shown} is not a directory")));
    }
    fs::create_dir_all(&path).map_err(|error| failed("create directory", &shown, &error))?;
    let entries = fs::read_dir(&path).and_then(Iterator::collect::<io::Result<Vec<_>>>);
    let entries = entries.map_err(|error| failed("read directory", &shown, &error))?;
    let is_ours = path.join(RESULTS).exists();
    if !entries.is_empty() && !is_ours {
        return Err(Failure::Input(format!("{shown} already holds files: choose another directory")));
    }
    if is_ours && !overwrite {
        return Err(Failure::Input(format!(
            "{shown} already holds a comparison: choose another directory, or pass --force to replace it"
        )));
    }
    for entry in entries {
        if entry.file_name().to_str().is_some_and(is_own) {
            fs::remove_file(entry.path()).map_err(|error| failed("remove", entry.path().display(), &error))?;
        }
    }
    // The mark, and the proof that the directory can be written.
    let mark = path.join(RESULTS);
    fs::File::create(&mark).map_err(|error| failed("create", mark.display(), &error))?;
    Ok(path)
}

/// The first free one of NAME, NAME-2, ... made.
fn free_path(name: &Path) -> io::Result<PathBuf> {
    let mut path = name.to_owned();
    for number in 2u32.. {
        match fs::create_dir(&path) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                path = PathBuf::from(format!("{}-{number}", name.display()));
            }
            result => return result.map(|()| path),
        }
    }
    Err(ErrorKind::AlreadyExists.into())
}

/// Whether a comparison writes files of this name.
fn is_own(name: &str) -> bool {
    [RESULTS, HISTORY, PROFILE].contains(&name) || (name.starts_with("residual-") && name.ends_with(".svg"))
}

fn failed(what: &str, path: impl std::fmt::Display, error: &io::Error) -> Failure {
    Failure::Failed(format!("cannot {what} {path}: {error}"))
}
