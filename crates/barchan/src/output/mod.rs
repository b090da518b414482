//! What a run leaves behind, one file a format.
//!
//! | file | written by | how |
//! |---|---|---|
//! | `scene.toml` | [`RunDirectory::write_scene`] | whole, once |
//! | `steps.csv` | [`StepsWriter`] | grows by whole lines |
//! | `history.csv` | [`HistoryWriter`] | the same, where the scene asks for it |
//! | `joints.csv` | [`JointsWriter`] | the same, where the scene has joints |
//! | `frames/frame-000000.vtp`, ... | [`FrameWriter`] | whole, one a frame; on ranks a `.pvtp` with a piece of each |
//! | `frames/contacts-000000.vtp`, ... | [`FrameWriter`] | the same for contacts |
//! | `frames/walls-000000.vtp`, ... | [`FrameWriter`] | whole, whenever a wall has moved |
//! | `shapes/shape-000000000000001-box.vtp`, ... | [`FrameWriter`] | whole, one a surface that bodies of a frame have |
//! | `frames.pvd`, `contacts.pvd`, `walls.pvd` | [`FrameWriter`] | whole, again after every frame |
//! | `open_in_paraview.py` | [`FrameWriter`] | whole, with the first frame |
//! | `problem-STEP.txt` | [`RunDirectory::write_problem`] | whole, one a step asked for |
//! | `checkpoints/step-000000500.head`, ... | [`CheckpointFolder`] | whole, the last few |
//! | `restarts.csv` | [`RunDirectory`] | a line whenever the run goes on |
//! | `picture.png` | [`RunDirectory::write_picture`] | whole, once |
//! | `report.html` | the crate `barchan-view` | whole, at the end |
//! | `summary.json` | [`RunDirectory::write_summary`] | whole, at the end |
//!
//! Two promises hold for all of them. Nothing half-written ever stands under a final name:
//! whole files go through [`AtomicFile`], and the one file that grows does so line by line. And
//! no result is ever replaced unless the user asked for it: [`RunDirectory`] sees to that.
//!
//! [`StoredFrames`] reads frames back, and [`write_vtkhdf`] makes one file of all of them.
//!
//! Several ranks write one directory: frames in pieces, and everything else by rank 0.
//!
//! To add a format: write its file here and a method on [`RunDirectory`], and add the name to
//! the list of files that a run owns.

mod atomic;
mod by_rank;
mod checkpoint_folder;
mod csv;
pub mod history;
pub mod human;
pub mod joints;
mod lock;
mod names;
mod picture;
mod restarts;
mod run_directory;
mod steps;
mod summary;
mod table;
mod vtk;

pub use atomic::{AtomicFile, partial_of_destination, write_whole};
pub use by_rank::{ByRank, Share};
pub use checkpoint_folder::CheckpointFolder;
pub(crate) use checkpoint_folder::sync_directory;
pub use csv::{BODY_COLUMNS, CONTACT_COLUMNS, write_body_rows, write_contact_rows};
pub use history::HistoryWriter;
pub use joints::JointsWriter;
pub use picture::{
    Colouring, Look, PictureOptions, UnknownVideo, VideoError, VideoKind, VideoOptions, View, encode_image, render,
    render_on, write_image, write_png, write_video,
};
pub use run_directory::{RunDirectory, default_path};
pub use steps::{StepRow, StepsWriter};
pub use summary::{
    CheckpointSummary, LengthSummary, LostSummary, RunSeconds, SolverSummary, SteppingSummary, Summary, WorstOverlap,
    hash_text, peak_rss_bytes,
};
pub(crate) use vtk::indexed_times;
pub use vtk::{
    ExportError, FrameError, FrameOptions, FrameWriter, StoredFrames, examine_frame, frame_bytes, write_bodies,
    write_contacts, write_vtkhdf,
};

use crate::comm::{Communicator, Reduction};
use std::io;
use std::path::{Path, PathBuf};

/// Why an output could not be written.
#[derive(Debug, thiserror::Error)]
pub enum OutputError {
    /// The system refused.
    #[error("cannot {operation} {}: {source}", path.display())]
    Io {
        /// What was tried, as a verb: "write", "create".
        operation: &'static str,
        /// On what.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A directory holds something already.
    #[error(
        "{} already holds {found}: choose another directory, or pass --force to replace the run in it",
        path.display()
    )]
    Occupied {
        /// The directory.
        path: PathBuf,
        /// What was found in it.
        found: &'static str,
    },
    /// A scene file lies where no run was: it is somebody's work and not ours to replace.
    #[error("{} holds a scene.toml but no run: it will not be replaced, choose another directory", path.display())]
    ForeignScene {
        /// The directory.
        path: PathBuf,
    },
    /// The path of a run directory names something else.
    #[error("{} is not a directory", path.display())]
    NotADirectory {
        /// The path.
        path: PathBuf,
    },
    /// A directory holds no run that could go on.
    #[error("{} holds no run: there is no {missing} in it", path.display())]
    NoRun {
        /// The directory.
        path: PathBuf,
        /// The file that every run has.
        missing: &'static str,
    },
    /// Another process writes the same run.
    #[error("another process is writing to {}: wait for its end, or choose another directory", path.display())]
    InUse {
        /// The directory.
        path: PathBuf,
    },
    /// A table is not the one that this program writes.
    #[error("{} cannot be continued: {found}", path.display())]
    Table {
        /// The table.
        path: PathBuf,
        /// What is wrong with it.
        found: String,
    },
    /// Another rank could not write; it says why itself.
    #[error("another rank could not write its files")]
    Elsewhere {
        /// Whether that is a matter of what the user has asked for.
        is_input: bool,
    },
}

impl OutputError {
    /// Whether the user can mend it by asking for something else.
    pub fn is_input(&self) -> bool {
        match self {
            Self::Io { .. } => false,
            Self::Occupied { .. } | Self::ForeignScene { .. } | Self::NotADirectory { .. } => true,
            Self::NoRun { .. } | Self::InUse { .. } | Self::Table { .. } => true,
            Self::Elsewhere { is_input } => *is_input,
        }
    }
}

/// If any rank could not write, all of them could not, and the first of those that could not says
/// why. All call this.
pub(crate) fn agree<T>(comm: &mut dyn Communicator, result: Result<T, OutputError>) -> Result<T, OutputError> {
    let rank = comm.rank() as f64;
    // The half says what kind of error it is.
    let own = match &result {
        Ok(_) => f64::INFINITY,
        Err(error) => rank + if error.is_input() { 0.5 } else { 0.0 },
    };
    let mut first = [own];
    comm.all_reduce(Reduction::Min, &mut first);
    if first[0] == own { result } else { Err(OutputError::Elsewhere { is_input: first[0].fract() > 0.0 }) }
}

/// Attaches the operation and the path to an input or output error.
pub(crate) trait Attach<T> {
    /// Names what was tried on which path.
    fn attach(self, operation: &'static str, path: &Path) -> Result<T, OutputError>;
}

impl<T> Attach<T> for io::Result<T> {
    fn attach(self, operation: &'static str, path: &Path) -> Result<T, OutputError> {
        self.map_err(|source| OutputError::Io { operation, path: path.to_path_buf(), source })
    }
}

/// A fresh directory for a test, removed when it goes out of scope.
#[cfg(test)]
pub(crate) mod scratch {
    use std::path::{Path, PathBuf};
    use std::sync::atomic::{AtomicU32, Ordering};

    pub(crate) struct Scratch(PathBuf);

    impl Scratch {
        pub(crate) fn new() -> Self {
            static NEXT: AtomicU32 = AtomicU32::new(0);
            let name = format!("barchan-output-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
            let path = std::env::temp_dir().join(name);
            std::fs::create_dir_all(&path).unwrap();
            Self(path)
        }

        pub(crate) fn path(&self) -> &Path {
            &self.0
        }

        /// Names of the entries, sorted.
        pub(crate) fn names(&self) -> Vec<String> {
            names(&self.0)
        }
    }

    impl Drop for Scratch {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }

    /// Names of the entries of a directory, sorted.
    pub(crate) fn names(path: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(path).unwrap();
        let mut names: Vec<_> = entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}
