//! How much a file may yield when its filters are undone.
//!
//! Chunks of a valid file do not share bytes, and deflate saves no more than a certain ratio. So all arrays
//! of a file together, each read once, yield no more than its length times that ratio. A file that yields more
//! has chunks that share bytes: a few kilobytes of them could keep a machine busy for days.

use crate::error::Fault;
use std::sync::atomic::{AtomicU64, Ordering};

/// The most that deflate can save: 1032 bytes of one.
pub(crate) const DEFLATE_RATIO: u64 = 1032;

/// Bytes that may still be made of a file.
#[derive(Debug)]
pub(crate) struct Allowance {
    /// Bytes of the file.
    file: u64,
    left: AtomicU64,
}

impl Allowance {
    /// For a file of so many bytes.
    pub(crate) fn new(file: u64) -> Self {
        Self { file, left: AtomicU64::new(file.saturating_mul(DEFLATE_RATIO)) }
    }

    /// Pays for so many chunks of so many bytes, before they are made.
    pub(crate) fn spend(&self, chunks: u64, size: u64) -> Result<(), Fault> {
        let wanted = chunks.saturating_mul(size);
        let pay = |left: u64| left.checked_sub(wanted);
        match self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, pay) {
            Ok(_) => Ok(()),
            Err(left) => Err(Fault::new(format!(
                "{chunks} chunks of {size} bytes are more than the {left} bytes that may still be inflated of a file \
                 of {} bytes: do chunks share their data?",
                self.file
            ))),
        }
    }
}

impl Clone for Allowance {
    fn clone(&self) -> Self {
        Self { file: self.file, left: AtomicU64::new(self.left.load(Ordering::Relaxed)) }
    }
}
