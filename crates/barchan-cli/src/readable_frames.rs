//! Frames that cannot be read are left out of what is made of all frames, with a loud word on each. The
//! command fails at its end then: what it has made lacks something.

use crate::failure::{Failure, note};
use crate::interrupt;
use barchan::output::human::counted;
use barchan::output::{FrameError, StoredFrames};
use std::fmt::Display;

/// Why something could not be made of frames.
pub(crate) enum Trouble {
    /// A frame cannot be read.
    Frame(FrameError),
    /// Anything else.
    Other(Failure),
}

impl From<FrameError> for Trouble {
    fn from(error: FrameError) -> Self {
        Self::Frame(error)
    }
}

/// Makes something of all frames. If one cannot be read, everything begins anew with those that can, as
/// `read` finds them: few files can be mended once they are begun, and damage is rare.
pub(crate) fn make(
    stored: &StoredFrames,
    read: impl Fn(&StoredFrames, usize) -> Result<(), FrameError>,
    make: impl Fn(&StoredFrames) -> Result<(), Trouble>,
) -> Result<Lost, Failure> {
    let mut lost = Lost { frames: Vec::new(), total: stored.len() };
    let first = match make(stored) {
        Ok(()) => return Ok(lost),
        Err(Trouble::Other(failure)) => return Err(failure),
        Err(Trouble::Frame(error)) => error,
    };
    for index in 0..stored.len() {
        if interrupt::requested() {
            return Err(Failure::Interrupted);
        }
        if let Err(error) = read(stored, index) {
            lost.leave_out(index, &error);
        }
    }
    // It can be read now, by chance: the next attempt is the user's.
    if lost.frames.is_empty() {
        return Err(first.into());
    }
    lost.refuse_all()?;
    make(&stored.without(&lost.frames)).map(|()| lost).map_err(|trouble| match trouble {
        Trouble::Frame(error) => error.into(),
        Trouble::Other(failure) => failure,
    })
}

/// Frames that were left out.
pub(crate) struct Lost {
    frames: Vec<usize>,
    total: usize,
}

impl Lost {
    /// Nothing, of so many frames.
    pub(crate) fn of(total: usize) -> Self {
        Self { frames: Vec::new(), total }
    }

    /// Leaves out a frame, and says so.
    pub(crate) fn leave_out(&mut self, index: usize, error: &FrameError) {
        note(format_args!("WARNING: frame {index} is left out: {error}"));
        self.frames.push(index);
    }

    /// How many are not.
    pub(crate) fn kept(&self) -> usize {
        self.total - self.frames.len()
    }

    /// Fails if there is nothing left.
    pub(crate) fn refuse_all(&self) -> Result<(), Failure> {
        if self.kept() > 0 {
            return Ok(());
        }
        Err(Failure::Failed(match self.total {
            1 => "the only frame cannot be read".into(),
            total => format!("none of {total} frames can be read"),
        }))
    }

    /// Fails if something is missing in what was made.
    pub(crate) fn fail_if_any(&self, made: impl Display) -> Result<(), Failure> {
        match self.frames.len() as u64 {
            0 => Ok(()),
            lost => Err(Failure::Failed(format!(
                "{made} lacks {lost} of {}, which cannot be read",
                counted(self.total as u64, "frame", "frames")
            ))),
        }
    }
}
