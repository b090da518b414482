//! A run that is written down, finished or under way in another process: its frames as a film, and its
//! table as it grows.

use super::about;
use super::run_state::RunState;
use super::stored_scene::StoredScene;
use super::stream::FrameStream;
use super::table::Table;
use crate::server::{Controls, Hub, Seek, Wishes};
use barchan::output::{FrameError, StepRow, StoredFrames};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Time between two looks at the directory.
const LOOK: Duration = Duration::from_millis(500);
/// Time between two words on how it stands.
const POST: Duration = Duration::from_millis(100);
/// The shortest and the longest that a frame is shown while the film runs.
const SHOWN: [Duration; 2] = [Duration::from_millis(40), Duration::from_millis(500)];
/// How long it waits before it looks whether it is to stop.
const NAP: Duration = Duration::from_millis(50);

/// Why a run cannot be shown.
#[derive(Debug, thiserror::Error)]
pub enum FollowError {
    /// Its frames cannot be found.
    #[error(transparent)]
    Frames(#[from] FrameError),
    /// There is no thread to be had.
    #[error("cannot start a thread: {0}")]
    Thread(#[from] std::io::Error),
}

/// A run that is followed.
#[derive(Debug)]
pub struct Follow {
    directory: PathBuf,
    about: Value,
    hub: Arc<Hub>,
    stream: FrameStream,
    frames: StoredFrames,
    table: Table,
    scene: StoredScene,
    /// What has become of the run, and a sentence about it.
    run_state: (RunState, String),
    /// The frame that is shown.
    index: usize,
    /// Runs that have been in this place.
    runs: u64,
    paused: bool,
    speed: Option<f64>,
    /// When the frame that is shown came up.
    since: Instant,
    /// Steps and bodies of the last frame that was read.
    step: u64,
    bodies: usize,
    /// Why the frames cannot be found.
    lost: Option<String>,
    /// A frame that could not be read, and why. It is not tried again until there is reason to.
    unread: Option<(u64, String)>,
    /// The table has more than was read so far.
    table_goes_on: bool,
    /// Rows of the table so far, and those of them that missed the tolerance.
    rows: u64,
    missed: u64,
    /// The step of the last row.
    row_step: u64,
}

impl Follow {
    /// Looks up a run. It may have no frames yet.
    ///
    /// # Errors
    /// If the directory is not that of a run.
    pub fn open(directory: &Path) -> Result<Self, FollowError> {
        let frames = StoredFrames::open(directory)?;
        let stored = StoredScene::of_run(directory);
        let scene = stored.scene();
        let folder = || directory.file_name().map_or_else(|| "run".into(), |name| name.to_string_lossy().into_owned());
        let name = scene.map_or_else(folder, |scene| scene.name.clone());
        let about = scene.map_or_else(|| json!({ "kind": "stored", "name": name }), |s| about(s, "stored"));
        let controls = Controls { step: true, reset: true, seek: true, ..Controls::default() };
        let hub = Arc::new(Hub::new(&about, controls));
        let mut follow = Self {
            stream: FrameStream::start(Arc::clone(&hub))?,
            table: Table::new(directory.join("steps.csv")),
            directory: directory.into(),
            about,
            hub,
            frames,
            scene: stored,
            run_state: RunState::of(directory),
            index: 0,
            runs: 0,
            paused: false,
            speed: Some(1.0),
            since: Instant::now(),
            step: 0,
            bodies: 0,
            lost: None,
            unread: None,
            table_goes_on: false,
            rows: 0,
            missed: 0,
            row_step: 0,
        };
        if !follow.is_over() {
            follow.index = follow.last();
        }
        Ok(follow)
    }

    /// What viewers are told of the run at once.
    pub fn about(&self) -> &Value {
        &self.about
    }

    /// Where viewers are served from.
    pub fn hub(&self) -> Arc<Hub> {
        Arc::clone(&self.hub)
    }

    /// Shows the run until `stop` says so: from its beginning if it is over, else as it comes.
    pub fn run(&mut self, paused: bool, stop: impl Fn() -> bool) {
        self.paused = paused;
        let mut looked = None::<Instant>;
        let mut posted = None::<Instant>;
        let is_due = |last: Option<Instant>, interval| last.is_none_or(|last: Instant| last.elapsed() >= interval);
        let mut patience = Duration::ZERO;
        while !stop() {
            let wishes = self.hub.wishes(patience, false);
            let asked = wishes != Wishes::default();
            self.grant(wishes);
            let look = is_due(looked, LOOK);
            if look {
                looked = Some(Instant::now());
                self.look();
            }
            if look || self.table_goes_on {
                self.read_table();
            }
            self.play();
            self.show();
            if asked || is_due(posted, POST) {
                posted = Some(Instant::now());
                self.post();
            }
            // A viewer that waits for a frame is not let wait for long.
            patience = if self.is_awaited() { self.stream.wait(true).max(Duration::from_millis(1)) } else { NAP };
            if self.is_playing() {
                patience = patience.min(SHOWN[0] / 4);
            }
            if self.table_goes_on {
                patience = Duration::ZERO;
            }
        }
    }

    fn grant(&mut self, wishes: Wishes) {
        let Wishes { pause, steps, reset, speed, set: _, seek } = wishes;
        let last = self.last();
        // Whoever asks for a frame gets another try.
        if reset || seek.is_some() || steps > 0 {
            self.unread = None;
        }
        let mut go = |index: usize| (self.index, self.since) = (index.min(last), Instant::now());
        if reset {
            go(0);
        }
        if let Some(seek) = seek {
            go(match seek {
                Seek::Frame(index) => index,
                Seek::Time(time) => nearest(self.frames.times(), time),
            });
            self.paused = true;
        }
        if steps > 0 {
            let index = self.index + steps as usize;
            (self.index, self.since) = (index.min(last), Instant::now());
            self.paused = true;
        }
        if let Some(pause) = pause {
            // A film at its end begins anew.
            if !pause && self.is_over() && self.index == last {
                (self.index, self.since) = (0, Instant::now());
            }
            self.paused = pause;
        }
        if let Some(speed) = speed {
            self.speed = speed;
        }
    }

    /// Looks what frames the run has written in the meantime.
    fn look(&mut self) {
        // In this order: what a run that is over has written is all there.
        let before = self.run_state.0;
        self.run_state = RunState::of(&self.directory);
        self.scene.look();
        let was_last = self.index == self.last();
        match StoredFrames::open(&self.directory) {
            Ok(frames) => {
                if frames.len() < self.frames.len() {
                    self.begin_again();
                }
                if frames.times() != self.frames.times() || before != self.run_state.0 {
                    self.unread = None;
                }
                self.frames = frames;
                self.lost = None;
            }
            Err(error) => self.lost = Some(error.to_string()),
        }
        // A run under way is watched as it comes.
        if was_last && !self.paused && !self.is_over() {
            self.index = self.last();
        }
        self.index = self.index.min(self.last());
    }

    /// Reads the next piece of the table.
    fn read_table(&mut self) {
        let growth = self.table.read();
        if growth.is_another {
            // From its first row, with what comes next.
            self.begin_again();
            self.table_goes_on = true;
            return;
        }
        let column = |name| StepRow::COLUMNS.iter().position(|column| *column == name);
        let step = column("step");
        let converged = column("converged");
        for row in growth.rows {
            self.rows += 1;
            self.missed += u64::from(converged.is_some_and(|k| row[k] == 0.0));
            self.row_step = step.map_or(0.0, |k| row[k]) as u64;
            self.hub.add_row(row);
        }
        self.table_goes_on = growth.goes_on;
    }

    /// Another run has taken the place of the one that was shown, or the same goes on from an earlier step. Who
    /// has seen the last frame stays with the last: the film does not begin anew for what goes on.
    fn begin_again(&mut self) {
        self.runs += 1;
        if self.index != self.last() {
            self.index = 0;
        }
        (self.rows, self.missed, self.row_step) = (0, 0, 0);
        self.table = Table::new(self.directory.join("steps.csv"));
        self.hub.restart();
    }

    /// Turns to the next frame when it is time.
    fn play(&mut self) {
        let times = self.frames.times();
        let (Some(now), Some(next)) = (times.get(self.index), times.get(self.index + 1)) else { return };
        let [shortest, longest] = SHOWN;
        let apart = self.speed.map_or(0.0, |speed| (next - now) / speed);
        let apart = Duration::try_from_secs_f64(apart).unwrap_or_default().clamp(shortest, longest);
        if !self.paused && self.since.elapsed() >= apart {
            self.index += 1;
            self.since = Instant::now();
        }
    }

    /// Reads the frame and sends it, if somebody waits for it.
    fn show(&mut self) {
        let state = self.state();
        if !self.is_awaited() || !self.stream.wait(true).is_zero() {
            return;
        }
        match self.frames.read(self.index) {
            Ok(frame) => {
                (self.step, self.bodies, self.unread) = (frame.step, frame.bodies.len(), None);
                self.stream.send_stored(frame, state);
            }
            Err(error) => self.unread = Some((state, error.to_string())),
        }
    }

    /// Whether a viewer waits for the frame at which the film stands, and it may be read.
    fn is_awaited(&self) -> bool {
        let state = self.state();
        let failed = self.unread.as_ref().is_some_and(|(unread, _)| *unread == state);
        self.hub.wants_frame() && !self.frames.is_empty() && self.stream.is_new(state) && !failed
    }

    /// Another number for every frame.
    fn state(&self) -> u64 {
        (self.runs << 40) + self.index as u64
    }

    fn last(&self) -> usize {
        self.frames.len().saturating_sub(1)
    }

    fn is_playing(&self) -> bool {
        !self.paused && self.index < self.last()
    }

    /// Whether there will be no more frames, unless somebody lets the run go on.
    fn is_over(&self) -> bool {
        self.run_state.0 != RunState::Running
    }

    /// What is amiss with the frame at which the film stands, or with all of them.
    fn message(&self) -> Option<&str> {
        let state = self.state();
        let unread = self.unread.as_ref().filter(|(unread, _)| *unread == state);
        unread.map(|(_, why)| why).or(self.lost.as_ref()).map(String::as_str)
    }

    fn post(&self) {
        let (run_state, text) = &self.run_state;
        let state = match () {
            () if self.paused => "paused",
            () if self.index < self.last() => "running",
            () if self.is_over() => "ended",
            () => "waiting",
        };
        self.hub.post(&json!({
            "type": "status",
            "state": state,
            "message": self.message(),
            "step": self.step,
            "time": self.frames.times().get(self.index).copied().unwrap_or(0.0),
            "end": self.scene.scene().map(|scene| scene.time.last()),
            "bodies": self.bodies,
            "missed": self.missed,
            "judged": self.rows,
            "frame": self.index,
            "frames": self.frames.len(),
            "run": run_state.told(text, self.row_step, self.scene.scene()),
            "speed": self.speed,
            "parameters": {},
        }));
    }
}

/// The number of the time that is nearest to this one.
fn nearest(times: &[f64], time: f64) -> usize {
    let far = |k: usize| (times[k] - time).abs();
    (0..times.len()).min_by(|a, b| far(*a).total_cmp(&far(*b))).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn the_nearest_time() {
        let times = [0.0, 0.1, 0.2, 0.25];
        let found = [-1.0, 0.04, 0.06, 0.22, 0.24, 9.0].map(|time| nearest(&times, time));
        assert_eq!(found, [0, 0, 1, 2, 3, 3]);
        assert_eq!(nearest(&[], 1.0), 0);
    }
}
