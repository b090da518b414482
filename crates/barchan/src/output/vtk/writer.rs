//! Frames one after another, with their indexes.

use super::bodies::{BODIES, put_worn};
use super::contacts::CONTACTS;
use super::format::{FrameTime, Kind, PutExtra};
use super::reader::{Entry, index_entries, read_text};
use super::shapes;
use super::walls::{WALLS, quads};
use crate::broad::Aabb;
use crate::frame::{Frame, FrameWall, Looks, Worn};
use crate::output::atomic::write_whole;
use crate::output::human::counted;
use crate::output::names::{is_number, partial_of};
use crate::output::run_directory::FRAMES;
use crate::output::{Attach, OutputError};
use crate::scene::{Compression, Scene};
use crate::shape::Shape;
use std::fmt::Write as _;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// What there may be of a frame: how its files begin, and the index that names them.
pub(super) const PARTS: [(&str, &str); 3] =
    [("frame", "frames.pvd"), ("contacts", "contacts.pvd"), ("walls", "walls.pvd")];
const BODY_PART: usize = 0;
const CONTACT_PART: usize = 1;
const WALL_PART: usize = 2;

/// A script for ParaView that opens them as they are meant.
pub(in crate::output) const SCRIPT: &str = "open_in_paraview.py";

/// The indexes of frames.
pub(in crate::output) const INDEXES: [&str; 3] = [PARTS[0].1, PARTS[1].1, PARTS[2].1];

/// What frames show, and how.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FrameOptions {
    /// Whether contacts are shown.
    pub contacts: bool,
    /// Whether bodies tell their shapes even while all are spheres: other ranks may have others.
    pub shapes: bool,
    /// How arrays are compressed.
    pub compression: Compression,
    /// A box about which half-spaces are cut out.
    pub about: Aabb,
}

impl FrameOptions {
    /// What a scene asks for. The same on all ranks.
    pub fn of(scene: &Scene) -> Self {
        let output = &scene.output;
        let shapes = scene.has_shapes();
        Self { contacts: output.contacts, shapes, compression: output.compression, about: scene.extent() }
    }
}

/// Writes frames one after another and keeps their indexes.
#[derive(Debug)]
pub struct FrameWriter {
    run: PathBuf,
    options: FrameOptions,
    rank: u32,
    ranks: u32,
    /// Of every frame of which this rank has written its piece.
    moments: Vec<FrameTime>,
    /// Frames in the index.
    complete: usize,
    /// Which frame's file shows the walls of each frame.
    wall_files: Vec<Option<usize>>,
    /// The walls that were written last.
    walls: Vec<FrameWall>,
    /// Files of bodies and contacts of an earlier run's frames, which may have been on another number of
    /// ranks. Rank 0 has them.
    earlier: [Vec<Option<String>>; 2],
    /// What bodies look like.
    looks: Looks,
    /// Whether frames tell shapes from now on.
    has_shapes: bool,
}

impl FrameWriter {
    /// Frames go into `frames` within the directory of a run, which is made; indexes beside it.
    pub fn create(run: impl Into<PathBuf>, options: FrameOptions) -> Result<Self, OutputError> {
        Self::on_rank(run, options, 0, 1)
    }

    /// As [`FrameWriter::create`], for one of several ranks that write the same frames.
    pub fn on_rank(run: impl Into<PathBuf>, options: FrameOptions, rank: u32, ranks: u32) -> Result<Self, OutputError> {
        let run = run.into();
        let directory = run.join(FRAMES);
        fs::create_dir_all(&directory).attach("create directory", &directory)?;
        Ok(Self {
            run,
            options,
            rank,
            ranks,
            moments: Vec::new(),
            complete: 0,
            wall_files: Vec::new(),
            walls: Vec::new(),
            earlier: Default::default(),
            looks: Looks::default(),
            has_shapes: options.shapes,
        })
    }

    /// As [`FrameWriter::on_rank`], to go on behind the first `frames` frames of an earlier run in the
    /// same directory. What it has beyond them is written anew.
    pub fn resume(
        run: impl Into<PathBuf>,
        options: FrameOptions,
        rank: u32,
        ranks: u32,
        frames: usize,
    ) -> Result<Self, OutputError> {
        let mut writer = Self::on_rank(run, options, rank, ranks)?;
        writer.complete = frames;
        writer.moments = vec![FrameTime { time: 0.0, step: 0 }; frames];
        if rank != 0 || frames == 0 {
            return Ok(writer);
        }
        let entries = read_index(&writer.run, BODY_PART)?;
        if entries.len() < frames {
            let found = counted(entries.len() as u64, "frame", "frames");
            let fewer = format!("it has {found}, expected at least {frames}");
            let path = writer.run.join(INDEXES[BODY_PART]);
            return Err(io::Error::new(io::ErrorKind::InvalidData, fewer)).attach("go on with", &path);
        }
        // The step is told by the files, which are there.
        writer.moments = entries[..frames].iter().map(|entry| FrameTime { time: entry.time, step: 0 }).collect();
        let [contacts, walls] = [CONTACT_PART, WALL_PART].map(|part| read_index(&writer.run, part));
        let contacts = contacts?;
        let walls = walls?;
        let times = || writer.moments.iter().map(|moment| moment.time);
        writer.wall_files = times().map(|time| number_of(&entry_at(&walls, time)?.file)).collect();
        writer.earlier = [
            entries[..frames].iter().map(name_of).collect(),
            times().map(|time| entry_at(&contacts, time).and_then(name_of)).collect(),
        ];
        Ok(writer)
    }

    /// After [`FrameWriter::resume`]: drops files and entries of frames beyond those, and files that never
    /// became whole. `now` is where the run goes on: walls that stand still there have stood so when they
    /// were last written.
    pub fn drop_others(&mut self, now: &Frame) -> Result<(), OutputError> {
        if self.rank != 0 {
            return Ok(());
        }
        if self.wall_files.iter().any(Option::is_some) {
            self.walls.clone_from(&now.walls);
        }
        let directory = self.run.join(FRAMES);
        for entry in fs::read_dir(&directory).attach("read directory", &directory)? {
            let path = entry.attach("read directory", &directory)?.path();
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            let number = is_frame_file(name).then(|| name.split(['-', '.']).nth(1)?.parse().ok()).flatten();
            let is_partial = partial_of(name).is_some_and(is_frame_file);
            if is_partial || number.is_some_and(|number: usize| number >= self.complete) {
                fs::remove_file(&path).attach("remove", &path)?;
            }
        }
        if self.complete > 0 {
            return self.write_indexes();
        }
        for path in INDEXES.map(|name| self.run.join(name)) {
            match fs::remove_file(&path) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                result => result.attach("remove", &path)?,
            }
        }
        Ok(())
    }

    /// Writes the next frame, then the indexes with it, and returns where its bodies are. For one rank
    /// alone.
    pub fn write(&mut self, frame: &Frame) -> Result<PathBuf, OutputError> {
        let path = self.write_piece(frame)?;
        self.complete(self.count())?;
        Ok(path)
    }

    /// Writes this rank's piece of the next frame, and returns where its bodies are. The frame of one
    /// rank has one piece.
    pub fn write_piece(&mut self, frame: &Frame) -> Result<PathBuf, OutputError> {
        let worn = self.wear(frame)?;
        let put: PutExtra<'_> = &|column, out, range| put_worn(&worn, column, out, range);
        let path = self.piece(BODY_PART, &BODIES, &frame.bodies, self.has_shapes.then_some(put), frame)?;
        if self.options.contacts {
            self.piece(CONTACT_PART, &CONTACTS, &frame.contacts, None, frame)?;
        }
        if self.rank == 0 {
            let file = self.write_walls(frame)?;
            self.wall_files.push(file);
        }
        self.moments.push(frame.into());
        Ok(path)
    }

    /// What the bodies of a frame wear, if any is not a sphere. New looks get their files.
    fn wear(&mut self, frame: &Frame) -> Result<Vec<Worn>, OutputError> {
        let shapes = &frame.bodies.shape;
        self.has_shapes |= shapes.iter().any(|shape| !matches!(shape, Shape::Sphere(_)));
        if !self.has_shapes {
            return Ok(Vec::new());
        }
        let known = self.looks.list().len();
        let worn = shapes.iter().map(|shape| self.looks.wear(shape)).collect();
        if self.looks.list().len() > known {
            shapes::write(&self.run, &self.looks, known, self.options.compression)?;
        }
        Ok(worn)
    }

    fn piece<T>(
        &self,
        part: usize,
        kind: &Kind<T>,
        table: &T,
        extra: Option<PutExtra<'_>>,
        frame: &Frame,
    ) -> Result<PathBuf, OutputError> {
        let number = self.count();
        let name = if self.ranks == 1 { self.file_name(part, number) } else { piece_name(part, number, self.rank) };
        let path = self.run.join(FRAMES).join(name);
        write_whole(&path, |file| kind.write_with(file, table, extra, frame.into(), self.options.compression))?;
        Ok(path)
    }

    /// Walls that stand still need one file for all times.
    fn write_walls(&mut self, frame: &Frame) -> Result<Option<usize>, OutputError> {
        if frame.walls.is_empty() {
            return Ok(None);
        }
        if self.walls == frame.walls {
            return Ok(self.wall_files.last().copied().flatten());
        }
        let number = self.count();
        let path = self.run.join(FRAMES).join(walls_name(number));
        let quads = quads(&frame.walls, &self.options.about);
        write_whole(&path, |file| WALLS.write(file, &quads, frame.into(), self.options.compression))?;
        self.walls.clone_from(&frame.walls);
        Ok(Some(number))
    }

    /// Completes the first `frames` frames and puts them into the indexes, as far as that is not done.
    /// For rank 0, once the pieces of all ranks are there.
    pub fn complete(&mut self, frames: usize) -> Result<(), OutputError> {
        if frames <= self.complete {
            return Ok(());
        }
        for number in (self.complete..frames).filter(|_| self.ranks > 1) {
            self.put_together(BODY_PART, &BODIES, number)?;
            if self.options.contacts {
                self.put_together(CONTACT_PART, &CONTACTS, number)?;
            }
        }
        self.complete = frames;
        self.write_indexes()
    }

    fn write_indexes(&self) -> Result<(), OutputError> {
        // The index of bodies last: what it names is all there.
        if self.wall_files[..self.complete].iter().any(Option::is_some) {
            self.write_index(WALL_PART, |k| self.wall_files[k].map(walls_name))?;
        }
        if self.options.contacts {
            self.write_index(CONTACT_PART, |k| self.indexed_name(CONTACT_PART, k))?;
        }
        self.write_index(BODY_PART, |k| self.indexed_name(BODY_PART, k))?;
        let script = self.run.join(SCRIPT);
        if script.exists() {
            return Ok(());
        }
        write_whole(&script, |file| file.write_all(include_bytes!("open_in_paraview.py")))
    }

    fn put_together<T>(&self, part: usize, kind: &Kind<T>, number: usize) -> Result<(), OutputError> {
        let pieces = (0..self.ranks).map(|rank| piece_name(part, number, rank));
        let path = self.run.join(FRAMES).join(self.file_name(part, number));
        let text = kind.pieces_text(self.moments[number], pieces, self.has_shapes);
        write_whole(&path, |file| file.write_all(text.as_bytes()))
    }

    /// Number of frames so far, those included that are not complete yet.
    pub fn count(&self) -> usize {
        self.moments.len()
    }

    fn write_index(&self, part: usize, name: impl Fn(usize) -> Option<String>) -> Result<(), OutputError> {
        let mut text = String::from(
            "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"0.1\" byte_order=\"LittleEndian\">\n  \
             <Collection>\n",
        );
        for (k, FrameTime { time, .. }) in self.moments[..self.complete].iter().enumerate() {
            if let Some(name) = name(k) {
                let _ = writeln!(
                    text,
                    "    <DataSet timestep=\"{time:?}\" group=\"\" part=\"0\" file=\"{FRAMES}/{name}\"/>"
                );
            }
        }
        text += "  </Collection>\n</VTKFile>\n";
        write_whole(&self.run.join(INDEXES[part]), |file| file.write_all(text.as_bytes()))
    }

    /// The file of a frame in the index: of an earlier run the one that it has written, if any.
    fn indexed_name(&self, part: usize, k: usize) -> Option<String> {
        self.earlier[part].get(k).cloned().unwrap_or_else(|| Some(self.file_name(part, k)))
    }

    fn file_name(&self, part: usize, k: usize) -> String {
        format!("{}-{k:06}.{}", PARTS[part].0, if self.ranks == 1 { "vtp" } else { "pvtp" })
    }
}

fn piece_name(part: usize, k: usize, rank: u32) -> String {
    format!("{}-{k:06}-{rank:04}.vtp", PARTS[part].0)
}

fn walls_name(k: usize) -> String {
    format!("{}-{k:06}.vtp", PARTS[WALL_PART].0)
}

/// The entries of an index in the directory of a run; none if it is not there.
fn read_index(run: &Path, part: usize) -> Result<Vec<Entry>, OutputError> {
    let path = run.join(INDEXES[part]);
    match read_text(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        text => Ok(index_entries(&text.attach("read", &path)?)),
    }
}

/// The times of the frames in the index of a run, up to the first whose file is not named as its place
/// in the index says.
pub(crate) fn indexed_times(run: &Path) -> Result<Vec<f64>, OutputError> {
    let entries = read_index(run, BODY_PART)?;
    let named = entries.iter().enumerate().take_while(|(k, entry)| number_of(&entry.file) == Some(*k));
    Ok(named.map(|(_, entry)| entry.time).collect())
}

/// The entry of a time, in an index in the order of time.
fn entry_at(entries: &[Entry], time: f64) -> Option<&Entry> {
    let k = entries.partition_point(|entry| entry.time < time);
    entries.get(k).filter(|entry| entry.time == time)
}

/// The name of the file of an entry, without its directory; none if it is not the file of a frame.
fn name_of(entry: &Entry) -> Option<String> {
    name_in_frames(&entry.file).map(Into::into)
}

/// The number in a name such as `frames/walls-000012.vtp`.
fn number_of(file: &str) -> Option<usize> {
    Path::new(name_in_frames(file)?).file_stem()?.to_str()?.rsplit('-').next()?.parse().ok()
}

/// What is behind `frames/` in an entry of an index, if it is the name of a frame's file. An index is a file
/// as any other: it must not lead to devices, or out of its directory.
pub(super) fn name_in_frames(file: &str) -> Option<&str> {
    file.strip_prefix(FRAMES)?.strip_prefix('/').filter(|name| is_frame_file(name))
}

/// Whether this is the name of a file of a frame, or of a rank's piece of one.
pub(in crate::output) fn is_frame_file(name: &str) -> bool {
    let Some(rest) = PARTS.iter().find_map(|(stem, _)| name.strip_prefix(stem)?.strip_prefix('-')) else {
        return false;
    };
    if let Some(number) = rest.strip_suffix(".pvtp") {
        return is_number(number, 6);
    }
    rest.strip_suffix(".vtp").is_some_and(|numbers| match numbers.split_once('-') {
        Some((number, rank)) => is_number(number, 6) && is_number(rank, 4),
        None => is_number(numbers, 6),
    })
}
