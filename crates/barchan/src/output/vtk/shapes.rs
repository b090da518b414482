//! The looks of bodies that are not spheres, a file each: `shapes/shape-000000000000001-box.vtp`.
//!
//! The number in the name is what the array `shape` of a frame tells of a body, and the array `scale` has the factors on
//! the axes of the surface. Numbers follow from what a look is, so that ranks and runs that go on write the same file
//! under the same name: it is written once. Triangles stand there with corners of their own, so that ParaView draws their
//! edges sharp.

use super::format::{FrameTime, Kind, VtkColumn, VtkNumber, put_f32};
use super::parse::FileHead;
use crate::frame::{Look, Looks};
use crate::output::atomic::write_whole;
use crate::output::names::is_number;
use crate::output::{Attach, OutputError};
use crate::scene::Compression;
use crate::shape::{Mesh, Shape, Surface};
use glam::DVec3;
use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// The folder of these files in the directory of a run.
pub(in crate::output) const SHAPES: &str = "shapes";
/// Digits of the number of a look.
const DIGITS: usize = 15;

const TRIANGLES: Kind<Surface> = Kind {
    cells: "Polys",
    corners: 3,
    len: |surface| surface.triangles.len(),
    points: VtkColumn {
        name: "corner",
        number: VtkNumber::F32,
        components: 3,
        put: |out, surface, range| {
            put_f32(out, range.flat_map(|t| surface.corners(t)).flat_map(|x| x.to_array()));
        },
    },
    data: &[],
    extra: &[],
};

/// Writes those of the looks from `first` on that are not there yet.
pub(super) fn write(run: &Path, looks: &Looks, first: usize, compression: Compression) -> Result<(), OutputError> {
    let folder = run.join(SHAPES);
    fs::create_dir_all(&folder).attach("create directory", &folder)?;
    for look in &looks.list()[first..] {
        let path = folder.join(file_name(look));
        if !path.exists() {
            // Ranks may come to a look at the same time: each writes a file of its own, and they are all the same.
            let own = folder.join(own_name(&file_name(look)));
            write_whole(&own, |file| TRIANGLES.write(file, &look.surface, FrameTime::default(), compression))?;
            fs::rename(&own, &path).attach("write", &path)?;
        }
    }
    Ok(())
}

/// A name that no other rank gives to a file.
fn own_name(name: &str) -> String {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |time| time.as_nanos());
    format!(".{name}.{}-{:?}-{now}", std::process::id(), std::thread::current().id())
}

fn file_name(look: &Look) -> String {
    format!("shape-{:0DIGITS$}-{}.vtp", look.id, look.name)
}

/// Number and name of the look in a file of this name.
fn named(name: &str) -> Option<(u64, &'static str)> {
    let (number, shape) = name.strip_prefix("shape-")?.strip_suffix(".vtp")?.split_once('-')?;
    let known = Shape::FORMS.iter().find(|form| form.0 == shape)?.0;
    Some((is_number(number, DIGITS).then(|| number.parse().ok()).flatten()?, known))
}

/// Whether this is the name of the file of a look.
pub(in crate::output) fn is_shape_file(name: &str) -> bool {
    named(name).is_some()
}

/// The looks of a run that have been read so far. Copies share them.
#[derive(Clone, Debug)]
pub(super) struct StoredLooks {
    folder: PathBuf,
    known: Arc<Mutex<HashMap<u64, Option<Arc<Known>>>>>,
}

#[derive(Debug)]
struct Known {
    look: Look,
    /// What has its surface, at scale 1.
    unit: Shape,
}

impl StoredLooks {
    /// Of the run in a directory. Nothing is read yet.
    pub(super) fn of(run: &Path) -> Self {
        Self { folder: run.join(SHAPES), known: Arc::default() }
    }

    /// Whether the run has any.
    pub(super) fn are_there(&self) -> bool {
        self.folder.is_dir()
    }

    /// The shape that wears a look with these factors; `None` if there is no file of it.
    ///
    /// # Errors
    /// If the file is damaged or cannot be read, in words.
    pub(super) fn shape(&self, id: u64, scale: DVec3) -> Result<Option<Shape>, String> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let std::collections::hash_map::Entry::Vacant(entry) = known.entry(id) {
            entry.insert(self.read(id)?.map(Arc::new));
        }
        Ok(known[&id].as_ref().map(|known| known.look.shape(&known.unit, scale)))
    }

    fn read(&self, id: u64) -> Result<Option<Known>, String> {
        let Ok(entries) = fs::read_dir(&self.folder) else { return Ok(None) };
        let files = entries.flatten().filter_map(|entry| Some((named(entry.file_name().to_str()?)?, entry.path())));
        let Some(((_, name), path)) = files.into_iter().find(|((number, _), _)| *number == id) else { return Ok(None) };
        let damaged = |what: String| format!("{}: {what}", path.display());
        if !path.is_file() {
            return Err(damaged("it is not a regular file".into()));
        }
        let bytes = fs::read(&path).map_err(|error| damaged(error.to_string()))?;
        let surface = read_surface(&bytes).map_err(damaged)?;
        let look = Look { id, name, surface };
        let unit = Mesh::to_be_seen(look.surface.clone(), look.reach()).into();
        Ok(Some(Known { look, unit }))
    }

    /// A table that gives what has been read the numbers of its files.
    pub(super) fn looks(&self) -> Looks {
        let mut looks = Looks::default();
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.values().flatten().for_each(|known| looks.adopt(&known.look, &known.unit));
        looks
    }
}

/// The surface in the bytes of such a file.
fn read_surface(bytes: &[u8]) -> Result<Surface, String> {
    let head = FileHead::parse(bytes)?;
    let piece = head.piece(&TRIANGLES)?;
    let corners = piece.vectors("corner")?;
    if corners.is_empty() || !corners.iter().all(|x| x.is_finite()) {
        return Err("a shape has triangles with finite corners".into());
    }
    let count = u32::try_from(corners.len()).map_err(|_| "it has more triangles than can be counted")?;
    let triangles = (0..count / 3).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]).collect();
    let surface = Surface { vertices: corners, triangles }.welded();
    if surface.triangles.is_empty() { Err("all its triangles are without area".into()) } else { Ok(surface) }
}
