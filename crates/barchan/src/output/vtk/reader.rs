//! Frames of a run, read back.

use super::bodies::{self, BODIES};
use super::contacts::{self, CONTACTS};
use super::format::{FrameTime, Kind};
use super::parse::{FileHead, LONGEST_HEAD, Piece, attribute, elements, moment};
use super::shapes::StoredLooks;
use super::walls::{self, WALLS};
use super::writer::{INDEXES, is_frame_file, name_in_frames};
use crate::frame::Frame;
use crate::output::run_directory::{STEPS, is_file};
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Why a frame cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum FrameError {
    /// The system refused.
    #[error("cannot read {}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Not the directory of a run.
    #[error("{} is not the directory of a run: it has neither a steps.csv nor a frames.pvd", path.display())]
    NotARun {
        /// The path.
        path: PathBuf,
    },
    /// A file is not what a run writes.
    #[error("{}: {what}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// A number beyond the last frame.
    #[error("there is no frame {index}: {}", frames_there(*count))]
    NoSuchFrame {
        /// The number asked for.
        index: usize,
        /// How many there are.
        count: usize,
    },
}

fn frames_there(count: usize) -> String {
    match count {
        0 => "the run has none yet".into(),
        1 => "the run has one, number 0".into(),
        _ => format!("the run has {count}, numbered from 0 to {}", count - 1),
    }
}

/// An entry of an index.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Entry {
    pub(super) time: f64,
    /// Relative to the index.
    pub(super) file: String,
}

/// The frames that a run has written, in the order of time.
#[derive(Clone, Debug)]
pub struct StoredFrames {
    run: PathBuf,
    times: Vec<f64>,
    /// Bodies, contacts and walls, where they are.
    files: [Vec<Option<String>>; 3],
    looks: StoredLooks,
}

impl StoredFrames {
    /// Looks up the frames of a run. They may be none yet.
    ///
    /// # Errors
    /// If the directory is not that of a run, or an index cannot be read.
    pub fn open(run: &Path) -> Result<Self, FrameError> {
        let mut is_run = false;
        for path in INDEXES.iter().chain(&[STEPS]).map(|name| run.join(name)) {
            is_run |= is_file(&path).map_err(|source| FrameError::Io { path, source })?;
        }
        if !is_run {
            return Err(FrameError::NotARun { path: run.into() });
        }
        let [bodies, contacts, walls] = INDEXES.map(|name| {
            let path = run.join(name);
            match read_text(&path) {
                Ok(text) => Ok(index_entries(&text)),
                Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
                Err(source) => Err(FrameError::Io { path, source }),
            }
        });
        let bodies = bodies?;
        let others = [contacts?, walls?];
        let file_at = |entries: &[Entry], time: f64| {
            // Each index is in the order of time.
            let k = entries.partition_point(|entry| entry.time < time);
            entries.get(k).filter(|entry| entry.time == time).map(|entry| entry.file.clone())
        };
        let times: Vec<f64> = bodies.iter().map(|entry| entry.time).collect();
        let [contacts, walls] = others.map(|entries| times.iter().map(|&time| file_at(&entries, time)).collect());
        let bodies = bodies.into_iter().map(|entry| Some(entry.file)).collect();
        Ok(Self { run: run.into(), times, files: [bodies, contacts, walls], looks: StoredLooks::of(run) })
    }

    /// Number of frames.
    pub fn len(&self) -> usize {
        self.times.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.times.is_empty()
    }

    /// Simulated times of the frames.
    pub fn times(&self) -> &[f64] {
        &self.times
    }

    /// Whether contacts were written.
    pub fn has_contacts(&self) -> bool {
        self.files[1].iter().any(Option::is_some)
    }

    /// Reads a frame, with the pieces of all ranks. Positions are as they were; other numbers have
    /// seven digits. Contacts and walls are missing where the run has not written any.
    ///
    /// # Errors
    /// If there is no such frame, or a file cannot be read or is damaged.
    pub fn read(&self, index: usize) -> Result<Frame, FrameError> {
        let mut frame = self.read_solids(index)?;
        if let Some(path) = self.file(1, index)? {
            read_pieces(&path, &CONTACTS, None, &mut |piece| contacts::read(piece, &mut frame.contacts))?;
        }
        Ok(frame)
    }

    /// Reads a frame without its contacts: what a picture shows.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn read_solids(&self, index: usize) -> Result<Frame, FrameError> {
        let mut frame = self.read_bodies(index)?;
        if let Some(path) = self.file(2, index)? {
            read_pieces(&path, &WALLS, None, &mut |piece| walls::read(piece).map(|walls| frame.walls = walls))?;
        }
        Ok(frame)
    }

    /// Reads the contacts of a frame, and nothing else of it.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn read_contacts(&self, index: usize) -> Result<Frame, FrameError> {
        let path = self.file(1, index)?;
        let mut frame = Frame { time: self.times[index], ..Frame::default() };
        if let Some(path) = path {
            let read = &mut |piece: &Piece<'_>| contacts::read(piece, &mut frame.contacts);
            frame.step = read_pieces(&path, &CONTACTS, None, read)?.step;
        }
        Ok(frame)
    }

    /// Reads a frame without its contacts and walls.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn read_bodies(&self, index: usize) -> Result<Frame, FrameError> {
        let path = self.file(0, index)?;
        let mut frame = Frame { time: self.times[index], ..Frame::default() };
        if let Some(path) = path {
            let find: bodies::FindShape<'_> = &|look, scale| self.looks.shape(look, scale);
            let read = &mut |piece: &Piece<'_>| bodies::read(piece, &mut frame.bodies, find);
            frame.step = read_pieces(&path, &BODIES, None, read)?.step;
        }
        Ok(frame)
    }

    /// The looks of bodies, if frames have them.
    pub(super) fn looks(&self) -> Option<&StoredLooks> {
        self.looks.are_there().then_some(&self.looks)
    }

    /// How many bodies a frame has. Only the heads of its files are read.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn body_count(&self, index: usize) -> Result<usize, FrameError> {
        let mut count = 0_usize;
        if let Some(path) = self.file(0, index)? {
            read_pieces(&path, &BODIES, Some(LONGEST_HEAD), &mut |piece| {
                count = count.checked_add(piece.items()).ok_or("it has more bodies than can be counted")?;
                Ok(())
            })?;
        }
        Ok(count)
    }

    /// The same frames but for some, by their numbers.
    #[must_use]
    pub fn without(&self, left_out: &[usize]) -> Self {
        let looks = self.looks.clone();
        let mut kept = Self { run: self.run.clone(), times: Vec::new(), files: Default::default(), looks };
        for index in (0..self.len()).filter(|index| !left_out.contains(index)) {
            kept.times.push(self.times[index]);
            for (kept, files) in kept.files.iter_mut().zip(&self.files) {
                kept.push(files[index].clone());
            }
        }
        kept
    }

    /// The file of bodies, contacts or walls of a frame.
    fn file(&self, part: usize, index: usize) -> Result<Option<PathBuf>, FrameError> {
        let count = self.len();
        let Some(file) = self.files[part].get(index).ok_or(FrameError::NoSuchFrame { index, count })? else {
            return Ok(None);
        };
        // Whoever made the index does not choose what is read.
        if name_in_frames(file).is_none() {
            let what = format!("{file:?} is not the name of a frame's file, such as \"frames/frame-000000.vtp\"");
            return Err(FrameError::Damaged { path: self.run.join(INDEXES[part]), what });
        }
        Ok(Some(self.run.join(file)))
    }
}

/// The frame of the bytes of a `.vtp` file: its bodies, contacts or walls, whichever they are. It does not
/// touch the disk.
///
/// # Errors
/// If the bytes are not those of such a file: what is wrong with them.
pub fn examine_frame(bytes: &[u8]) -> Result<Frame, String> {
    let head = FileHead::parse(bytes)?;
    let mut frame = Frame { time: head.moment.time, step: head.moment.step, ..Frame::default() };
    if head.piece(&CONTACTS).is_ok_and(|piece| piece.items() > 0) {
        contacts::read(&head.piece(&CONTACTS)?, &mut frame.contacts)?;
    } else if head.piece(&WALLS).is_ok_and(|piece| piece.items() > 0) {
        frame.walls = walls::read(&head.piece(&WALLS)?)?;
    } else {
        bodies::read(&head.piece(&BODIES)?, &mut frame.bodies, &|_, _| Ok(None))?;
    }
    Ok(frame)
}

/// Reads a `.vtp`, or all pieces that a `.pvtp` names; of each at most so many bytes.
fn read_pieces<T>(
    path: &Path,
    kind: &Kind<T>,
    most: Option<usize>,
    take: &mut dyn FnMut(&Piece<'_>) -> Result<(), String>,
) -> Result<FrameTime, FrameError> {
    let refuse = |source| FrameError::Io { path: path.into(), source };
    let damaged = |what| FrameError::Damaged { path: path.into(), what };
    if path.extension().is_some_and(|end| end == "pvtp") {
        let text = read_text(path).map_err(refuse)?;
        for piece in elements(&text, "Piece") {
            let name = attribute(piece, "Source").ok_or_else(|| damaged("a piece has no source".into()))?;
            // Pieces lie beside it and have no pieces of their own.
            if !name.ends_with(".vtp") || !is_frame_file(name) {
                return Err(damaged(format!("{name:?} is not the name of a piece")));
            }
            read_pieces(&path.with_file_name(name), kind, most, take)?;
        }
        return moment(&text).map_err(damaged);
    }
    let file = read_regular(path, most).map_err(refuse)?;
    let head = FileHead::parse(&file).map_err(damaged)?;
    take(&head.piece(kind).map_err(damaged)?).map_err(damaged)?;
    Ok(head.moment)
}

/// The bytes of a file, at most so many of them. What is no file, such as a device, may have no end.
fn read_regular(path: &Path, most: Option<usize>) -> io::Result<Vec<u8>> {
    if !fs::metadata(path)?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"));
    }
    let Some(most) = most else { return fs::read(path) };
    let mut bytes = Vec::new();
    fs::File::open(path)?.take(most as u64).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The text of an index.
pub(super) fn read_text(path: &Path) -> io::Result<String> {
    let text = String::from_utf8(read_regular(path, None)?);
    text.map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "it is not text"))
}

/// The frames that an index names.
pub(super) fn index_entries(text: &str) -> Vec<Entry> {
    let entry = |tag: &str| {
        let time = attribute(tag, "timestep")?.parse().ok()?;
        Some(Entry { time, file: attribute(tag, "file")?.into() })
    };
    elements(text, "DataSet").filter_map(entry).collect()
}

#[cfg(test)]
mod tests;
