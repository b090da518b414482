//! What a run has written itself is not written over by what is made of it.

use crate::failure::Failure;
use barchan::output::RunDirectory;
use std::path::Path;

/// Refuses a file of the run in a directory, but for the one of this name, which may be made anew.
pub(crate) fn files_of_run(run: &Path, file: &Path, but_for: Option<&str>) -> Result<(), Failure> {
    let is_excepted = but_for.is_some_and(|name| file.file_name() == Some(name.as_ref()));
    if is_excepted || !RunDirectory::owns(run, file) {
        return Ok(());
    }
    let message = "is a file of the run itself, or would lie among them: choose another name";
    Err(Failure::Input(format!("{} {message}", file.display())))
}
