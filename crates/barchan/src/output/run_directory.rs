//! The directory of a run: made once, never replaced by accident.
//!
//! Results cost hours. A directory that holds anything is refused; with `--force` the files
//! that a run writes are removed, one by one and by name, and everything else stays. A run
//! directory always holds a `steps.csv`, made first: that is how a run is told from a
//! directory in which a user keeps scenes.

use super::atomic::{PARTIAL_SUFFIX, write_whole};
use super::lock::{self, Lock};
use super::names::{is_number, whole_name};
use super::vtk::{INDEXES, SCRIPT, SHAPES, is_frame_file, is_shape_file};
use super::{
    Attach, CheckpointFolder, FrameOptions, FrameWriter, HistoryWriter, JointsWriter, OutputError, PictureOptions,
    StepsWriter, Summary, picture, restarts, sync_directory,
};
use crate::comm::Communicator;
use crate::world::Bodies;
use barchan_cone::ProblemRef;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

pub(super) const SCENE: &str = "scene.toml";
pub(super) const STEPS: &str = "steps.csv";
const HISTORY: &str = "history.csv";
const JOINTS: &str = "joints.csv";
const RESTARTS: &str = "restarts.csv";
pub(super) const SUMMARY: &str = "summary.json";
pub(super) const PICTURE: &str = "picture.png";
/// Written by those who look at runs.
const REPORT: &str = "report.html";
pub(super) const FRAMES: &str = "frames";

/// The files of a run, but for its scene, and its mark, `steps.csv`: that stays, so that a removal
/// which fails half-way can be repeated.
const OWN_FILES: [&str; 9] = [SUMMARY, PICTURE, REPORT, INDEXES[0], INDEXES[1], INDEXES[2], SCRIPT, HISTORY, JOINTS];

/// Whether a file is there. A directory that may not be entered is an error: nobody knows what it holds.
pub(super) fn is_file(path: &Path) -> io::Result<bool> {
    match fs::metadata(path) {
        Ok(about) => Ok(about.is_file()),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(false),
        Err(error) => Err(error),
    }
}

/// A directory into which one run writes.
#[derive(Clone, Debug)]
pub struct RunDirectory {
    path: PathBuf,
    /// Keeps other processes from writing the same run, as long as it lives; on rank 0.
    _lock: Option<Lock>,
}

impl RunDirectory {
    /// Makes the directory with its parents. One that exists must be empty, unless `overwrite`
    /// allows to remove the files of an earlier run from it.
    pub fn create(path: impl Into<PathBuf>, overwrite: bool) -> Result<Self, OutputError> {
        let path = path.into();
        if path.exists() && !path.is_dir() {
            return Err(OutputError::NotADirectory { path });
        }
        fs::create_dir_all(&path).attach("create directory", &path)?;
        // Its name is to outlive a power cut. A parent that may not be opened keeps no run from starting.
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let _ = sync_directory(parent);
        let empty = fs::read_dir(&path).attach("read directory", &path)?.next().is_none();
        if !empty {
            let holds_a_run = path.join(STEPS).exists();
            if !overwrite {
                let found = if holds_a_run { "a run" } else { "files" };
                return Err(OutputError::Occupied { path, found });
            }
            if !holds_a_run && path.join(SCENE).exists() {
                return Err(OutputError::ForeignScene { path });
            }
        }
        // The mark of a run, and the proof that the directory can be written.
        let mark = path.join(STEPS);
        let file = File::options().create(true).truncate(false).write(true).open(&mark).attach("create", &mark)?;
        let lock = Lock::take(file, &path)?;
        remove_run(&path)?;
        // Emptied and not removed: the lock is on it.
        File::options().write(true).truncate(true).open(&mark).attach("create", &mark)?;
        Ok(Self { path, _lock: lock })
    }

    /// Opens the directory of a run that is to go on.
    ///
    /// # Errors
    /// If there is no run, or another process writes it.
    pub fn reopen(path: impl Into<PathBuf>) -> Result<Self, OutputError> {
        let path = path.into();
        if path.exists() && !path.is_dir() {
            return Err(OutputError::NotADirectory { path });
        }
        for missing in [STEPS, SCENE] {
            let file = path.join(missing);
            if !is_file(&file).attach("read", &file)? {
                return Err(OutputError::NoRun { path, missing });
            }
        }
        let mark = path.join(STEPS);
        let file = File::options().write(true).open(&mark).attach("open", &mark)?;
        let lock = Lock::take(file, &path)?;
        Ok(Self { path, _lock: lock })
    }

    /// Whether a process writes the run in this directory; `None` where the system does not tell. One that
    /// wants to write it while this looks does not notice.
    pub fn is_in_use(path: &Path) -> Option<bool> {
        lock::is_held(&path.join(STEPS))
    }

    /// Removes the files of the run but for its scene, so that it can begin anew.
    ///
    /// # Errors
    /// If one cannot be removed.
    pub(crate) fn clear(&self) -> Result<(), OutputError> {
        remove_results(&self.path)
    }

    /// Removes what a run writes at its end: it goes on.
    ///
    /// # Errors
    /// If a file cannot be removed.
    pub(crate) fn remove_results(&self) -> Result<(), OutputError> {
        [SUMMARY, PICTURE, REPORT].iter().try_for_each(|name| remove(&self.path.join(name)))
    }

    /// Whether a path, however it is spelt, is that of a file that the run in this directory writes, or lies
    /// in a folder of its own.
    pub fn owns(run: &Path, file: &Path) -> bool {
        let parent = file.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let name = file.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let [parent, run] = [parent, run].map(|path| fs::canonicalize(path).ok());
        let (Some(parent), Some(run)) = (parent, run) else { return false };
        let is_result = OWN_FILES.contains(&name) || [SCENE, STEPS, RESTARTS].contains(&name) || is_problem(name);
        (parent == run && is_result)
            || parent == run.join(FRAMES)
            || parent == run.join(SHAPES)
            || parent == *CheckpointFolder::of_run(&run).path()
    }

    /// The scene as it was run.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn read_scene(&self) -> Result<String, OutputError> {
        let path = self.path.join(SCENE);
        fs::read_to_string(&path).attach("read", &path)
    }

    /// Notes that the run goes on after a step, in `restarts.csv`. Returns how often it has by now.
    ///
    /// # Errors
    /// If that cannot be written.
    pub(crate) fn note_restart(
        &self,
        step: u64,
        engine: &str,
        ranks: usize,
        threads: usize,
    ) -> Result<u64, OutputError> {
        restarts::append(&self.path.join(RESTARTS), &format!("{step},{engine},{ranks},{threads}"))
    }

    /// The summary of the run, if it has come to write one that can be read.
    pub fn read_summary(&self) -> Option<Summary> {
        serde_json::from_slice(&fs::read(self.path.join(SUMMARY)).ok()?).ok()
    }

    /// The checkpoints.
    pub fn checkpoints(&self) -> CheckpointFolder {
        CheckpointFolder::of_run(&self.path)
    }

    /// What must be brought to the disk so that the names of files are there, too.
    pub(crate) fn directories(&self) -> Vec<PathBuf> {
        [self.path.clone(), self.path.join(FRAMES), self.path.join(SHAPES)]
            .into_iter()
            .filter(|path| path.is_dir())
            .collect()
    }

    /// The directory that rank 0 has made with [`RunDirectory::create`], for another rank.
    pub fn join(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), _lock: None }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes the scene as it was run.
    pub fn write_scene(&self, text: &str) -> Result<(), OutputError> {
        write_whole(&self.path.join(SCENE), |file| file.write_all(text.as_bytes()))
    }

    /// Starts the table of steps.
    pub fn steps(&self) -> Result<StepsWriter, OutputError> {
        StepsWriter::create(self.path.join(STEPS))
    }

    /// Goes on with the table of steps after so many.
    ///
    /// # Errors
    /// If it does not have them.
    pub fn resume_steps(&self, steps: u64) -> Result<StepsWriter, OutputError> {
        StepsWriter::resume(self.path.join(STEPS), steps)
    }

    /// Steps of which the table of steps has rows, without a gap.
    ///
    /// # Errors
    /// If it is not such a table.
    pub fn count_steps(&self) -> Result<u64, OutputError> {
        StepsWriter::count(&self.path.join(STEPS))
    }

    /// Starts the table of iterations.
    pub fn history(&self) -> Result<HistoryWriter, OutputError> {
        HistoryWriter::create(self.path.join(HISTORY))
    }

    /// Whether the table of iterations can go on.
    ///
    /// # Errors
    /// If it is not such a table.
    pub fn check_history(&self) -> Result<(), OutputError> {
        HistoryWriter::check(&self.path.join(HISTORY))
    }

    /// Goes on with the table of iterations after so many steps.
    ///
    /// # Errors
    /// If it is not such a table.
    pub fn resume_history(&self, steps: u64) -> Result<HistoryWriter, OutputError> {
        HistoryWriter::resume(self.path.join(HISTORY), steps)
    }

    /// Starts the table of joints.
    pub fn joints(&self) -> Result<JointsWriter, OutputError> {
        JointsWriter::create(self.path.join(JOINTS))
    }

    /// Whether the table of joints can go on.
    ///
    /// # Errors
    /// If it is not such a table.
    pub fn check_joints(&self) -> Result<(), OutputError> {
        JointsWriter::check(&self.path.join(JOINTS))
    }

    /// Goes on with the table of joints after so many steps.
    ///
    /// # Errors
    /// If it is not such a table.
    pub fn resume_joints(&self, steps: u64) -> Result<JointsWriter, OutputError> {
        JointsWriter::resume(self.path.join(JOINTS), steps)
    }

    /// Starts the sequence of frames, of which this rank writes its part.
    pub fn frames(&self, options: FrameOptions, rank: usize, ranks: usize) -> Result<FrameWriter, OutputError> {
        FrameWriter::on_rank(&self.path, options, rank as u32, ranks as u32)
    }

    /// Goes on with the sequence of frames after so many.
    ///
    /// # Errors
    /// If those are not there.
    pub fn resume_frames(
        &self,
        options: FrameOptions,
        rank: usize,
        ranks: usize,
        frames: usize,
    ) -> Result<FrameWriter, OutputError> {
        FrameWriter::resume(&self.path, options, rank as u32, ranks as u32, frames)
    }

    /// Draws the bodies of all ranks, which all call this. Rank 0 writes the picture.
    pub fn write_picture(
        &self,
        comm: &mut dyn Communicator,
        bodies: &Bodies,
        options: &PictureOptions,
    ) -> Result<(), OutputError> {
        let image = picture::render_on(comm, bodies, options);
        image.map_or(Ok(()), |image| picture::write_image(&self.path.join(PICTURE), &image, options))
    }

    /// Writes the contact problem of a step.
    pub fn write_problem(&self, step: u64, problem: ProblemRef<'_>) -> Result<(), OutputError> {
        write_whole(&self.path.join(format!("problem-{step}.txt")), |file| problem.write(file))
    }

    /// Writes the summary.
    pub fn write_summary(&self, summary: &Summary) -> Result<(), OutputError> {
        summary.write(&self.path.join(SUMMARY))
    }
}

/// Claims the first free one of `runs/NAME`, `runs/NAME-2`, ... by making it. Two runs that
/// start at once get two directories.
pub fn default_path(name: &str) -> Result<PathBuf, OutputError> {
    default_path_in(Path::new("runs"), name)
}

fn default_path_in(root: &Path, name: &str) -> Result<PathBuf, OutputError> {
    fs::create_dir_all(root).attach("create directory", root)?;
    let stem = file_stem(name);
    let mut path = root.join(&stem);
    for number in 2u32.. {
        match fs::create_dir(&path) {
            Err(e) if e.kind() == ErrorKind::AlreadyExists => path = root.join(format!("{stem}-{number}")),
            result => {
                result.attach("create directory", &path)?;
                break;
            }
        }
    }
    Ok(path)
}

/// A name without anything that a path could trip over.
fn file_stem(name: &str) -> String {
    let keep = |c: char| if c.is_alphanumeric() || "-_.".contains(c) { c } else { '-' };
    let stem: String = name.trim_start_matches('.').chars().map(keep).collect();
    if stem.is_empty() { "run".into() } else { stem }
}

/// Removes the files that a run writes but for its mark, and nothing else.
fn remove_run(path: &Path) -> Result<(), OutputError> {
    remove_results(path)?;
    remove(&path.join(RESTARTS))?;
    remove(&path.join(format!(".{SCENE}{PARTIAL_SUFFIX}")))?;
    remove(&path.join(SCENE))
}

/// The same, and the scene stays, and how often it was gone on with.
fn remove_results(path: &Path) -> Result<(), OutputError> {
    let remove_all = |directory: &Path, is_own: fn(&str) -> bool| {
        for entry in fs::read_dir(directory).attach("read directory", directory)? {
            let entry = entry.attach("read directory", directory)?;
            if entry.file_name().to_str().is_some_and(is_own) {
                remove(&entry.path())?;
            }
        }
        Ok(())
    };
    remove_all(path, is_problem)?;
    CheckpointFolder::of_run(path).clear()?;
    remove_folder(&path.join(FRAMES), |folder| remove_all(folder, is_frame))?;
    remove_folder(&path.join(SHAPES), |folder| remove_all(folder, is_shape))?;
    for name in OWN_FILES {
        remove(&path.join(format!(".{name}{PARTIAL_SUFFIX}")))?;
        remove(&path.join(name))?;
    }
    Ok(())
}

/// Empties a folder, if it is there, and removes it unless somebody put something into it.
fn remove_folder(folder: &Path, empty: impl FnOnce(&Path) -> Result<(), OutputError>) -> Result<(), OutputError> {
    if folder.is_dir() {
        empty(folder)?;
        let _ = fs::remove_dir(folder);
    }
    Ok(())
}

/// Removes a file, if it is there.
fn remove(path: &Path) -> Result<(), OutputError> {
    match fs::remove_file(path) {
        Err(e) if e.kind() == ErrorKind::NotFound => Ok(()),
        result => result.attach("remove", path),
    }
}

/// Whether this is the name of a file of a frame, whole or partial.
fn is_frame(name: &str) -> bool {
    is_frame_file(whole_name(name))
}

/// Whether this is the name of the file of a shape, whole or partial.
fn is_shape(name: &str) -> bool {
    is_shape_file(whole_name(name))
}

/// Whether this is the name of a contact problem, whole or partial.
fn is_problem(name: &str) -> bool {
    let number = whole_name(name).strip_prefix("problem-").and_then(|n| n.strip_suffix(".txt"));
    number.is_some_and(|number| is_number(number, 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::scratch::{Scratch, names};

    #[test]
    fn a_run_is_never_overwritten() {
        let scratch = Scratch::new();
        let path = scratch.path().join("deep/run");
        let run = RunDirectory::create(&path, false).unwrap();
        run.write_scene("first").unwrap();
        let error = RunDirectory::create(&path, false).unwrap_err().to_string();
        assert!(error.contains("already holds a run") && error.contains("--force"), "{error}");
        assert!(error.contains(path.to_str().unwrap()));
        assert_eq!(fs::read_to_string(path.join(SCENE)).unwrap(), "first");
    }

    #[test]
    fn a_directory_with_other_files_is_refused() {
        let scratch = Scratch::new();
        fs::write(scratch.path().join("thesis.txt"), "years").unwrap();
        let error = RunDirectory::create(scratch.path(), false).unwrap_err().to_string();
        assert!(error.contains("already holds files"), "{error}");
        assert_eq!(scratch.names(), ["thesis.txt"]);
    }

    #[test]
    fn overwriting_removes_only_what_a_run_writes() {
        let scratch = Scratch::new();
        let path = scratch.path();
        RunDirectory::create(path, false).unwrap();
        for name in [
            SCENE,
            SUMMARY,
            PICTURE,
            REPORT,
            ".report.html.partial",
            "frames.pvd",
            "walls.pvd",
            SCRIPT,
            ".contacts.pvd.partial",
            ".summary.json.partial",
            "problem-7.txt",
            ".problem-12.txt.partial",
        ] {
            fs::write(path.join(name), "x").unwrap();
        }
        for name in ["notes.md", "problem-x.txt", "steps.csv.bak"] {
            fs::write(path.join(name), "x").unwrap();
        }
        fs::create_dir(path.join(FRAMES)).unwrap();
        for name in [
            "frame-000000.vtp",
            ".frame-000001.vtp.partial",
            "frame-000002.pvtp",
            "frame-000002-0013.vtp",
            ".frame-000003-12345.vtp.partial",
            "contacts-000002-0013.vtp",
            "walls-000000.vtp",
            "frame-best.vtp",
            "frame-000002-best.vtp",
        ] {
            fs::write(path.join(FRAMES).join(name), "x").unwrap();
        }
        let checkpoints = CheckpointFolder::of_run(path);
        checkpoints.make().unwrap();
        fs::write(checkpoints.head(7), "x").unwrap();
        fs::write(checkpoints.part(7, 0), "x").unwrap();
        RunDirectory::create(path, true).unwrap();
        assert_eq!(scratch.names(), [FRAMES, "notes.md", "problem-x.txt", STEPS, "steps.csv.bak"]);
        assert_eq!(names(&path.join(FRAMES)), ["frame-000002-best.vtp", "frame-best.vtp"]);
        fs::remove_dir_all(path.join(FRAMES)).unwrap();
        RunDirectory::create(path, true).unwrap();
        assert_eq!(scratch.names(), ["notes.md", "problem-x.txt", STEPS, "steps.csv.bak"]);
    }

    #[test]
    #[cfg(unix)]
    fn two_never_write_the_same_run() {
        let scratch = Scratch::new();
        let run = RunDirectory::create(scratch.path(), false).unwrap();
        run.write_scene("first").unwrap();
        for second in [RunDirectory::reopen(scratch.path()), RunDirectory::create(scratch.path(), true)] {
            assert!(second.unwrap_err().to_string().starts_with("another process is writing to "));
        }
        assert_eq!(run.read_scene().unwrap(), "first");
        let also = run.clone();
        drop(run);
        assert!(RunDirectory::reopen(scratch.path()).is_err());
        assert_eq!(RunDirectory::is_in_use(scratch.path()), Some(true));
        drop(also);
        assert_eq!(RunDirectory::is_in_use(scratch.path()), Some(false));
        assert_eq!(RunDirectory::is_in_use(&scratch.path().join("nowhere")), None);
        RunDirectory::reopen(scratch.path()).unwrap();
    }

    #[test]
    #[cfg(unix)]
    fn those_who_look_keep_nobody_from_writing() {
        let scratch = Scratch::new();
        RunDirectory::create(scratch.path(), false).unwrap().write_scene("first").unwrap();
        let over = std::sync::atomic::AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !over.load(std::sync::atomic::Ordering::Relaxed) {
                    RunDirectory::is_in_use(scratch.path());
                    std::thread::sleep(std::time::Duration::from_millis(1));
                }
            });
            let refused = (0..100).filter(|_| RunDirectory::reopen(scratch.path()).is_err()).count();
            over.store(true, std::sync::atomic::Ordering::Relaxed);
            assert_eq!(refused, 0);
        });
    }

    #[test]
    fn files_of_a_run_are_known_by_any_name() {
        let scratch = Scratch::new();
        let run = scratch.path().join("run");
        fs::create_dir_all(run.join(FRAMES)).unwrap();
        for name in [STEPS, SCENE, "frames.pvd", "problem-7.txt", "frames/x.csv", "frames/../summary.json"] {
            assert!(RunDirectory::owns(&run, &run.join(name)), "{name}");
        }
        for name in ["table.csv", "../steps.csv", "nowhere/steps.csv"] {
            assert!(!RunDirectory::owns(&run, &run.join(name)), "{name}");
        }
    }

    #[test]
    fn what_is_no_run_is_not_opened_as_one() {
        let scratch = Scratch::new();
        let error = |path: &Path| RunDirectory::reopen(path).unwrap_err().to_string();
        assert!(error(&scratch.path().join("nowhere")).ends_with("holds no run: there is no steps.csv in it"));
        fs::write(scratch.path().join(STEPS), "").unwrap();
        assert!(error(scratch.path()).ends_with("holds no run: there is no scene.toml in it"));
        assert!(error(&scratch.path().join(STEPS)).ends_with("is not a directory"));
    }

    #[test]
    fn a_users_scene_survives_even_force() {
        let scratch = Scratch::new();
        fs::write(scratch.path().join(SCENE), "mine").unwrap();
        let error = RunDirectory::create(scratch.path(), true).unwrap_err().to_string();
        assert!(error.contains("no run"), "{error}");
        assert_eq!(fs::read_to_string(scratch.path().join(SCENE)).unwrap(), "mine");
    }

    #[test]
    fn a_file_in_the_way_is_named() {
        let scratch = Scratch::new();
        let file = scratch.path().join("file");
        fs::write(&file, "").unwrap();
        assert!(RunDirectory::create(&file, true).unwrap_err().to_string().contains("is not a directory"));
        let error = RunDirectory::create(file.join("run"), false).unwrap_err().to_string();
        assert!(error.contains("cannot create directory"), "{error}");
    }

    #[test]
    fn default_paths_are_free_ones() {
        let scratch = Scratch::new();
        let claim = |name| default_path_in(scratch.path(), name).unwrap();
        assert_eq!(claim("settle"), scratch.path().join("settle"));
        assert_eq!(claim("settle"), scratch.path().join("settle-2"));
        assert_eq!(claim("settle"), scratch.path().join("settle-3"));
        assert_eq!(claim("../a b"), scratch.path().join("-a-b"));
        assert_eq!(claim(".."), scratch.path().join("run"));
        // A claimed directory is empty, and so free for the run that claimed it.
        RunDirectory::create(scratch.path().join("settle-2"), false).unwrap();
    }
}
