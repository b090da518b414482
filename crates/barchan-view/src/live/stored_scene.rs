//! `scene.toml` of a run directory. A restart with a later end writes it anew.

use barchan::scene::Scene;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// The scene of a run that another process may be writing.
#[derive(Debug)]
pub(super) struct StoredScene {
    path: PathBuf,
    /// When the file was written that was read last, and its length; `None` if there was none.
    stamp: Option<(SystemTime, u64)>,
    scene: Option<Scene>,
}

impl StoredScene {
    /// Reads the scene of a run directory.
    pub(super) fn of_run(directory: &Path) -> Self {
        let mut stored = Self { path: directory.join("scene.toml"), stamp: None, scene: None };
        stored.look();
        stored
    }

    /// The scene, if there is one that can be read.
    pub(super) fn scene(&self) -> Option<&Scene> {
        self.scene.as_ref()
    }

    /// Reads it again if it was written anew.
    pub(super) fn look(&mut self) {
        // The stamp first: what is written from now on is seen with the next look.
        let about = fs::metadata(&self.path);
        let stamp = about.and_then(|about| Ok((about.modified()?, about.len()))).ok();
        if stamp != self.stamp {
            self.stamp = stamp;
            let text = fs::read_to_string(&self.path).ok().filter(|text| !text.is_empty());
            self.scene = text.and_then(|text| Scene::from_toml(&text, "scene.toml").ok());
        }
    }
}
