//! What the simulation and its viewers have in common: the newest frame, what there is to plot, how it
//! stands, and what viewers ask for.
//!
//! The simulation leaves things here and never waits. Every viewer takes what is newest when it is able
//! to: frames that come faster than a browser draws are not seen by it, and cost it nothing.

use super::history::{History, StepNumbers};
use super::message::Request;
use super::viewer::Viewer;
use super::wishes::{Controls, Knob, Seek, Wishes};
use barchan::output::StepRow;
use barchan::scene::Scene;
use serde_json::{Value, json};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The version of what is said between server and viewers.
pub const PROTOCOL: u32 = 1;

/// Single steps that may wait to be taken.
const MOST_STEPS: u32 = 1000;

/// The place where simulation and viewers meet.
#[derive(Debug)]
pub struct Hub {
    controls: Controls,
    hello: String,
    state: Mutex<State>,
    /// Rings for the simulation.
    call: Condvar,
    /// Whether a viewer waits for a frame that is newer than the newest.
    wanted: AtomicBool,
    /// The scene with the numbers that it has now, for those who want to keep it.
    scene: Mutex<Option<Arc<Scene>>>,
}

#[derive(Debug, Default)]
struct State {
    viewers: Vec<Arc<Viewer>>,
    frame: Option<Arc<Vec<u8>>>,
    frame_number: u64,
    /// What bodies of frames look like, in the order in which it came.
    looks: Vec<Arc<Vec<u8>>>,
    status: Option<Arc<str>>,
    status_number: u64,
    /// Frames and words so far.
    version: u64,
    /// Viewers that have come so far.
    arrivals: usize,
    history: History,
    /// Starts that there have been: rows of an earlier one are no longer true.
    epoch: u64,
    wishes: Wishes,
}

/// How far a viewer has come.
#[derive(Debug, Default)]
pub(super) struct Cursor {
    greeted: bool,
    frame: u64,
    looks: usize,
    status: u64,
    epoch: u64,
    step: u64,
}

/// What is new for a viewer.
#[derive(Debug, Default)]
pub(super) struct News {
    pub(super) texts: Vec<String>,
    /// To be sent before the frame.
    pub(super) looks: Vec<Arc<Vec<u8>>>,
    pub(super) frame: Option<Arc<Vec<u8>>>,
    /// The version of everything, if the viewer has it all with this.
    pub(super) all: Option<u64>,
}

impl Hub {
    /// A place for a simulation that `about` describes: an object, which is part of the first message to
    /// every viewer.
    pub fn new(about: &Value, controls: Controls) -> Self {
        let knob = |knob: &Knob| {
            let Knob { key, label, min, max, value } = knob;
            json!({ "key": key, "label": label, "min": min, "max": max, "value": value })
        };
        let hello = json!({
            "type": "hello",
            "protocol": PROTOCOL,
            "about": about,
            "controls": { "step": controls.step, "reset": controls.reset, "seek": controls.seek, "save": controls.save },
            "parameters": controls.knobs.iter().map(knob).collect::<Vec<_>>(),
            "columns": StepRow::COLUMNS,
        });
        Self {
            controls,
            hello: hello.to_string(),
            state: Mutex::default(),
            call: Condvar::new(),
            wanted: AtomicBool::new(false),
            scene: Mutex::default(),
        }
    }

    /// Whether somebody waits for a frame that is newer than the newest.
    pub fn wants_frame(&self) -> bool {
        self.wanted.load(Ordering::Acquire)
    }

    /// How many viewers there are.
    pub fn viewers(&self) -> usize {
        self.lock().viewers.len()
    }

    /// Leaves a frame. The memory of the one before comes back, if nobody is sending it any more.
    pub fn publish(&self, frame: Vec<u8>) -> Vec<u8> {
        let mut state = self.lock();
        // Inside the lock, as where it is set: who asks from now on asks for a newer one.
        self.wanted.store(false, Ordering::Release);
        let before = state.frame.replace(Arc::new(frame));
        state.frame_number += 1;
        state.version += 1;
        state.ring();
        drop(state);
        before.and_then(Arc::into_inner).unwrap_or_default()
    }

    /// Leaves what bodies of the frames to come look like. Every viewer gets it once.
    pub fn publish_looks(&self, looks: Vec<u8>) {
        self.lock().looks.push(Arc::new(looks));
    }

    /// Whether the row of this step is wanted in full: see [`History::completes`].
    pub fn wants_row(&self, step: u64) -> bool {
        self.lock().history.completes(step)
    }

    /// Leaves what there is to plot of a step.
    pub fn add_row(&self, row: StepNumbers) {
        self.lock().history.push(row);
    }

    /// Says how it stands, and rings for all viewers.
    pub fn post(&self, status: &Value) {
        let mut state = self.lock();
        state.status = Some(status.to_string().into());
        state.status_number += 1;
        state.version += 1;
        state.ring();
    }

    /// Leaves the scene with the numbers that it has from now on.
    pub fn set_scene(&self, scene: &Scene) {
        let scene = Arc::new(scene.clone());
        *self.scene.lock().unwrap_or_else(PoisonError::into_inner) = Some(scene);
    }

    /// The scene as it is now, with its name, if viewers may have it. It is written by whoever asks, while the
    /// simulation is free to leave another.
    pub(super) fn scene(&self) -> Option<(String, String)> {
        let scene = self.scene.lock().unwrap_or_else(PoisonError::into_inner).clone();
        scene.filter(|_| self.controls.save).map(|scene| (scene.name.clone(), scene.to_toml()))
    }

    /// Back to the start: what was plotted is no longer true.
    pub fn restart(&self) {
        let mut state = self.lock();
        state.history.clear();
        state.epoch += 1;
        state.ring();
    }

    /// What viewers have asked for since the last call. Waits up to `patience` until there is something,
    /// or until a frame is wanted if `for_frame` says so.
    pub fn wishes(&self, patience: Duration, for_frame: bool) -> Wishes {
        let nothing = Wishes::default();
        let mut state = self.lock();
        if !patience.is_zero() {
            let idle = |state: &mut State| state.wishes == nothing && !(for_frame && self.wants_frame());
            state = match self.call.wait_timeout_while(state, patience, idle) {
                Ok((state, _)) => state,
                Err(poisoned) => poisoned.into_inner().0,
            };
        }
        std::mem::take(&mut state.wishes)
    }

    /// Notes what a viewer asks for.
    pub(super) fn wish(&self, request: Request) -> Result<(), String> {
        let mut state = self.lock();
        let wishes = &mut state.wishes;
        match request {
            Request::Ready {} => return Ok(()),
            Request::Pause {} => wishes.pause = Some(true),
            Request::Resume {} => wishes.pause = Some(false),
            Request::Speed { value } => wishes.speed = Some(value),
            Request::Step {} if self.controls.step => wishes.steps = (wishes.steps + 1).min(MOST_STEPS),
            Request::Reset {} if self.controls.reset => wishes.reset = true,
            Request::Seek { frame } if self.controls.seek => wishes.seek = Some(Seek::Frame(frame)),
            Request::Time { value } if self.controls.seek => wishes.seek = Some(Seek::Time(value)),
            Request::Set { key, value } => {
                let knob = self.controls.knobs.iter().find(|knob| knob.key == key);
                let knob = knob.ok_or_else(|| "there is no such parameter".to_owned())?;
                if !(knob.min..=knob.max).contains(&value) {
                    return Err(format!("{key} must lie between {} and {}", knob.min, knob.max));
                }
                wishes.set.insert(key, value);
            }
            Request::Step {} | Request::Reset {} | Request::Seek { .. } | Request::Time { .. } => {
                return Err("this run cannot do that".into());
            }
        }
        drop(state);
        self.call.notify_all();
        Ok(())
    }

    /// A viewer comes.
    pub(super) fn welcome(&self, viewer: &Arc<Viewer>) {
        let mut state = self.lock();
        state.viewers.push(Arc::clone(viewer));
        state.arrivals += 1;
    }

    /// A viewer has gone.
    pub(super) fn farewell(&self, viewer: &Arc<Viewer>) {
        self.lock().viewers.retain(|other| !Arc::ptr_eq(other, viewer));
    }

    /// How many viewers have come so far, and whether those who are there have drawn the last frame and got
    /// the last word.
    pub(super) fn attendance(&self) -> (usize, bool) {
        let state = self.lock();
        (state.arrivals, state.viewers.iter().all(|viewer| viewer.has(state.version)))
    }

    /// Sends all viewers away.
    pub(super) fn close(&self) {
        self.lock().viewers.iter().for_each(|viewer| viewer.close());
    }

    /// What is new for a viewer; a frame only if it is ready for one.
    pub(super) fn news(&self, cursor: &mut Cursor, ready: bool) -> News {
        let mut news = News::default();
        let mut rows = Vec::new();
        let state = self.lock();
        if !cursor.greeted {
            news.texts.push(self.hello.clone());
        }
        let restarted = !cursor.greeted || cursor.epoch != state.epoch;
        if restarted {
            (cursor.epoch, cursor.step) = (state.epoch, 0);
        }
        cursor.greeted = true;
        // Rows come with the next status: small scenes make thousands a second.
        if cursor.status != state.status_number || restarted {
            rows = state.history.after(cursor.step).to_vec();
            cursor.step = state.history.last_step().unwrap_or(cursor.step).max(cursor.step);
        }
        let mut status = None;
        if cursor.status != state.status_number {
            cursor.status = state.status_number;
            status = state.status.as_deref().map(str::to_owned);
        }
        if ready && cursor.frame != state.frame_number {
            cursor.frame = state.frame_number;
            news.frame = state.frame.clone();
            news.looks = state.looks[cursor.looks..].to_vec();
            cursor.looks = state.looks.len();
        } else if ready {
            news.all = Some(state.version);
            self.wanted.store(true, Ordering::Release);
            self.call.notify_all();
        }
        drop(state);
        if restarted || !rows.is_empty() {
            let rows = json!({ "type": "rows", "restart": restarted, "rows": rows });
            news.texts.push(rows.to_string());
        }
        // The last word is the status: it counts what rows only show.
        news.texts.extend(status);
        news
    }

    /// Nothing here is ever left half-done, so a thread that has panicked elsewhere does not matter.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn ring(&self) {
        self.viewers.iter().for_each(|viewer| viewer.ring());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hub() -> Hub {
        let knob = Knob { key: "gravity.2".into(), label: "g".into(), min: -20.0, max: 0.0, value: -9.81 };
        Hub::new(&json!({}), Controls { step: true, reset: true, knobs: vec![knob], ..Controls::default() })
    }

    #[test]
    fn the_last_wish_counts() {
        let hub = hub();
        let set = |value| hub.wish(Request::Set { key: "gravity.2".into(), value });
        assert_eq!((set(-1.0), set(-2.0)), (Ok(()), Ok(())));
        assert!(set(1.0).is_err() && set(-20.1).is_err());
        assert!(hub.wish(Request::Set { key: "gravity.1".into(), value: 0.0 }).is_err());
        assert!(hub.wish(Request::Seek { frame: 1 }).is_err());
        for _ in 0..5000 {
            hub.wish(Request::Step {}).unwrap();
        }
        hub.wish(Request::Pause {}).unwrap();
        hub.wish(Request::Resume {}).unwrap();
        let wishes = hub.wishes(Duration::ZERO, false);
        assert_eq!((wishes.pause, wishes.steps, wishes.set["gravity.2"]), (Some(false), MOST_STEPS, -2.0));
        assert_eq!(hub.wishes(Duration::ZERO, false), Wishes::default());
    }

    #[test]
    fn a_frame_goes_to_those_who_are_ready_and_is_wanted_by_those_who_have_it() {
        let hub = hub();
        let mut cursor = Cursor::default();
        assert!(hub.news(&mut cursor, false).frame.is_none() && !hub.wants_frame());
        assert!(hub.news(&mut cursor, true).frame.is_none() && hub.wants_frame());
        hub.publish(vec![1]);
        assert!(!hub.wants_frame());
        hub.publish(vec![2]);
        assert!(hub.news(&mut cursor, false).frame.is_none());
        assert_eq!(hub.news(&mut cursor, true).frame.as_deref(), Some(&vec![2]));
        assert!(hub.news(&mut cursor, true).frame.is_none() && hub.wants_frame());
        // Memory comes back once nobody sends it.
        let held = hub.news(&mut Cursor::default(), true).frame;
        assert_eq!(hub.publish(vec![3]), Vec::<u8>::new());
        drop(held);
        assert_eq!(hub.publish(vec![4]), vec![3]);
    }

    #[test]
    fn looks_come_once_and_before_the_frame() {
        let hub = hub();
        let looks = |news: News| news.looks.iter().map(|looks| looks[0]).collect::<Vec<u8>>();
        let mut cursor = Cursor::default();
        hub.publish_looks(vec![7]);
        assert_eq!(looks(hub.news(&mut cursor, true)), Vec::<u8>::new());
        hub.publish(vec![1]);
        assert_eq!(looks(hub.news(&mut cursor, true)), [7]);
        hub.publish_looks(vec![8]);
        hub.publish(vec![2]);
        assert_eq!(looks(hub.news(&mut cursor, true)), [8]);
        assert_eq!(looks(hub.news(&mut Cursor::default(), true)), [7, 8]);
    }

    #[test]
    fn rows_come_once_and_again_after_a_restart() {
        let hub = hub();
        let row = |step| StepRow { step, ..StepRow::default() }.numbers();
        hub.add_row(row(1));
        let mut cursor = Cursor::default();
        let rows = |news: News| -> Option<(bool, usize)> {
            let rows: Vec<Value> = news.texts.iter().map(|text| serde_json::from_str(text).unwrap()).collect();
            let rows = rows.into_iter().find(|text: &Value| text["type"] == "rows")?;
            Some((rows["restart"].as_bool()?, rows["rows"].as_array()?.len()))
        };
        assert_eq!(rows(hub.news(&mut cursor, false)), Some((true, 1)));
        hub.add_row(row(2));
        assert_eq!(rows(hub.news(&mut cursor, false)), None);
        hub.post(&json!({}));
        assert_eq!(rows(hub.news(&mut cursor, false)), Some((false, 1)));
        hub.restart();
        hub.add_row(row(1));
        assert_eq!(rows(hub.news(&mut cursor, false)), Some((true, 1)));
    }
}
