//! A file system that is soon full.

use std::path::{Path, PathBuf};
use std::process::Command;

/// A quarter of a megabyte, unmounted at the end.
pub(crate) struct SmallDisk(PathBuf);

impl SmallDisk {
    /// Mounts one on a new directory; says so and gives nothing where that is not allowed.
    pub(crate) fn mount(path: PathBuf) -> Option<Self> {
        std::fs::create_dir_all(&path).unwrap();
        let mount = Command::new("mount").args(["-t", "tmpfs", "-o", "size=256k", "tmpfs"]).arg(&path).output();
        let is_mounted = mount.is_ok_and(|output| output.status.success());
        if !is_mounted {
            eprintln!("skipped: not allowed to mount a small file system");
        }
        is_mounted.then_some(Self(path))
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).status();
    }
}
