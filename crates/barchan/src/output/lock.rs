//! Who writes a run: one process at a time, told by a lock on a file of it. The system takes the lock away
//! when the process ends, however it does. Where the file system knows no locks, nothing keeps others away.

use super::OutputError;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

#[cfg(unix)]
type Held = nix::fcntl::Flock<File>;
#[cfg(not(unix))]
type Held = File;

/// Keeps other processes away, as long as it or a copy of it lives.
#[derive(Clone, Debug)]
pub(super) struct Lock {
    _held: Arc<Held>,
}

impl Lock {
    /// Takes the lock of the run in a directory. Those who look whether it is held hold it for a moment: it
    /// is asked for more than once.
    #[cfg(unix)]
    pub(super) fn take(mut file: File, directory: &Path) -> Result<Option<Self>, OutputError> {
        use nix::errno::Errno;
        for _ in 0..10 {
            file = match Held::lock(file, nix::fcntl::FlockArg::LockExclusiveNonblock) {
                Ok(held) => return Ok(Some(Self { _held: Arc::new(held) })),
                Err((file, Errno::EWOULDBLOCK)) => file,
                Err(_) => return Ok(None),
            };
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        Err(OutputError::InUse { path: directory.to_owned() })
    }

    /// Without locks, all are welcome.
    #[cfg(not(unix))]
    pub(super) fn take(file: File, _: &Path) -> Result<Option<Self>, OutputError> {
        Ok(Some(Self { _held: Arc::new(file) }))
    }
}

/// Whether a process holds the lock on a file; `None` where the system does not tell.
#[cfg(unix)]
pub(super) fn is_held(path: &Path) -> Option<bool> {
    use nix::errno::Errno;
    let file = File::open(path).ok()?;
    // Shared: those who only look do not see each other.
    match Held::lock(file, nix::fcntl::FlockArg::LockSharedNonblock) {
        Ok(_) => Some(false),
        Err((_, Errno::EWOULDBLOCK)) => Some(true),
        Err(_) => None,
    }
}

/// Whether a process holds the lock on a file; `None` where the system does not tell.
#[cfg(not(unix))]
pub(super) fn is_held(_: &Path) -> Option<bool> {
    None
}
