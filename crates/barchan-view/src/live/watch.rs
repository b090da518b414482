//! A simulation that is watched: when to take the next step, and what to tell viewers after it.

use super::run_state::RunState;
use super::stream::FrameStream;
use crate::server::{Hub, Wishes};
use barchan::output::StepRow;
use barchan::scene::{Scene, Time};
use barchan::step::{Simulation, StepReport};
use barchan::world::Energy;
use serde_json::json;
use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Time between two words on how it stands.
const POST: Duration = Duration::from_millis(100);

/// How long it waits before it looks whether it is to stop.
const NAP: Duration = Duration::from_millis(50);

/// A simulation this far behind the speed that was asked for does not try to make up for it.
const LAG: f64 = 0.25;

/// Seconds over which speeds are averaged.
const MEMORY: f64 = 1.0;

/// What to do next.
#[derive(Clone, Debug, PartialEq)]
pub enum Next {
    /// Take a step.
    Step,
    /// Go back to the start.
    Reset,
    /// Change these numbers of the scene.
    Adjust(BTreeMap<String, f64>),
    /// End it.
    Stop,
}

/// How it begins.
#[derive(Clone, Copy, Debug, Default)]
pub struct WatchOptions {
    /// Step and end of the whole run.
    pub time: Time,
    /// Standing still.
    pub paused: bool,
    /// Simulated seconds a second at most; as fast as it can without one.
    pub speed: Option<f64>,
}

/// How a run ended that is written down.
#[derive(Clone, Debug, Default)]
pub struct Ending {
    /// What became of it, as viewers know it, and a sentence about it.
    pub run_state: Option<(RunState, String)>,
    /// Where its page is.
    pub report: Option<PathBuf>,
}

impl Ending {
    fn is_failure(&self) -> bool {
        self.run_state.as_ref().is_some_and(|(run_state, _)| *run_state == RunState::Failed)
    }
}

/// A simulation that is watched.
#[derive(Debug)]
pub struct Watch {
    hub: Arc<Hub>,
    stream: FrameStream,
    time: Time,
    paused: bool,
    speed: Option<f64>,
    /// Single steps still to be taken.
    single: u32,
    reset: bool,
    failure: Option<String>,
    ending: Option<Ending>,
    /// When the clock was last set, and the simulated time then.
    anchor: (Instant, f64),
    /// Another number for every state that looks different.
    state: u64,
    figures: Figures,
    parameters: BTreeMap<String, f64>,
    posted: Option<Instant>,
    speeds: Speeds,
}

/// What is told about the last step.
#[derive(Clone, Copy, Debug, Default)]
struct Figures {
    step: u64,
    time: f64,
    bodies: usize,
    contacts: usize,
    iterations: u32,
    residual: f64,
    missed: u64,
}

/// Steps, and simulated seconds, a second: from the first look on, since a run that goes on begins anywhere.
#[derive(Debug, Default)]
struct Speeds {
    /// When it was last looked at, and steps and time then.
    last: Option<(Instant, u64, f64)>,
    rates: Option<[f64; 2]>,
}

impl Watch {
    /// Starts to watch a simulation.
    ///
    /// # Errors
    /// If there is no thread to be had for frames.
    pub fn new(hub: Arc<Hub>, parameters: BTreeMap<String, f64>, options: WatchOptions) -> io::Result<Self> {
        let stream = FrameStream::start(Arc::clone(&hub))?;
        let WatchOptions { time, paused, speed } = options;
        let now = Instant::now();
        Ok(Self {
            hub,
            stream,
            time,
            paused,
            speed,
            single: 0,
            reset: false,
            failure: None,
            ending: None,
            anchor: (now, 0.0),
            state: 0,
            figures: Figures::default(),
            parameters,
            posted: None,
            speeds: Speeds::default(),
        })
    }

    /// What to do next. Waits as long as there is nothing to do, and until `stop` says so.
    pub fn next(&mut self, simulation: &Simulation, stop: impl Fn() -> bool) -> Next {
        let mut patience = Duration::ZERO;
        let mut for_frame = false;
        loop {
            let wishes = self.hub.wishes(patience, for_frame);
            if stop() {
                return Next::Stop;
            }
            let set = self.grant(wishes);
            if !set.is_empty() {
                self.state += 1;
                self.parameters.extend(set.clone());
                self.post();
                return Next::Adjust(set);
            }
            if std::mem::take(&mut self.reset) {
                return Next::Reset;
            }
            let ahead = self.ahead();
            if self.single > 0 && !self.is_over() {
                self.single -= 1;
                return Next::Step;
            }
            if !self.stands() && ahead.is_zero() {
                return Next::Step;
            }
            self.single = 0;
            self.stream.offer(simulation, self.state, true);
            self.post_if_due();
            patience = if self.stands() { NAP } else { ahead.min(NAP) };
            // A viewer that waits for what it does not have yet is served at once, or when it is time.
            let is_new = self.stream.is_new(self.state);
            let wait = self.stream.wait(true);
            for_frame = is_new && wait.is_zero();
            if is_new && !wait.is_zero() && self.hub.wants_frame() {
                patience = patience.min(wait);
            }
        }
    }

    /// Tells viewers of a step, and how many so far have missed the solver's tolerance: a run that goes on has
    /// some before those that are watched.
    pub fn stepped(&mut self, simulation: &Simulation, report: &StepReport, missed: u64) {
        let world = &simulation.world;
        let solver = &report.solver;
        self.state += 1;
        self.figures = Figures {
            step: simulation.steps(),
            time: world.time,
            bodies: report.bodies,
            contacts: report.contacts,
            iterations: solver.iterations,
            residual: solver.residual,
            missed,
        };
        let whole = self.hub.wants_row(self.figures.step);
        let energy = if whole { world.energy_of(0..world.bodies.len()) } else { Energy::default() };
        self.hub.add_row(StepRow::of(self.figures.step, world.time, report, energy).numbers());
        self.stream.offer(simulation, self.state, false);
        if self.is_over() {
            self.post();
        } else {
            self.post_if_due();
        }
    }

    /// Tells viewers that it is back at its start.
    pub fn restarted(&mut self) {
        self.figures = Figures::default();
        self.failure = None;
        self.single = 0;
        self.state += 1;
        self.set_clock();
        self.speeds = Speeds::default();
        self.hub.restart();
        self.post();
    }

    /// Tells viewers that it cannot go on.
    pub fn failed(&mut self, why: String) {
        self.failure = Some(why);
        self.post();
    }

    /// Leaves the scene as it is from now on, for viewers to keep.
    pub fn set_scene(&self, scene: &Scene) {
        self.hub.set_scene(scene);
    }

    /// Takes a frame of the state that is the last, for those who are there and those who come late.
    pub fn take_last(&mut self, simulation: &Simulation) {
        self.stream.take_last(simulation, self.state);
    }

    /// Tells viewers that the run is over, for good. The last frame is there by then.
    pub fn over(&mut self, ending: Ending) {
        self.stream.wait_for_frame();
        self.ending = Some(ending);
        self.post();
    }

    /// Does what viewers wish, but for what only the owner of the simulation can do.
    fn grant(&mut self, wishes: Wishes) -> BTreeMap<String, f64> {
        let Wishes { pause, steps, reset, speed, set, seek: _ } = wishes;
        let before = (self.paused, self.speed);
        self.reset |= reset;
        if steps > 0 {
            self.paused = true;
            self.single = self.single.saturating_add(steps);
        }
        if let Some(pause) = pause {
            self.paused = pause;
        }
        if let Some(speed) = speed {
            self.speed = speed;
        }
        if before != (self.paused, self.speed) {
            self.set_clock();
            self.post();
        }
        set
    }

    fn is_over(&self) -> bool {
        self.failure.is_some() || self.time.is_over(self.figures.step, self.figures.time)
    }

    fn stands(&self) -> bool {
        self.paused || self.is_over()
    }

    /// How far the simulation is ahead of its clock.
    fn ahead(&mut self) -> Duration {
        let Some(speed) = self.speed else { return Duration::ZERO };
        let due = (self.figures.time - self.anchor.1) / speed;
        let ahead = due - self.anchor.0.elapsed().as_secs_f64();
        if ahead < -LAG {
            self.set_clock();
        }
        Duration::try_from_secs_f64(ahead).unwrap_or_default()
    }

    fn set_clock(&mut self) {
        self.anchor = (Instant::now(), self.figures.time);
    }

    fn post_if_due(&mut self) {
        if self.posted.is_none_or(|posted| posted.elapsed() >= POST) {
            self.post();
        }
    }

    fn post(&mut self) {
        let now = Instant::now();
        self.posted = Some(now);
        let Figures { step, time, bodies, contacts, iterations, residual, missed } = self.figures;
        let [rate, pace] = self.speeds.sample(now, step, time);
        let state = match () {
            () if self.failure.is_some() || self.ending.as_ref().is_some_and(Ending::is_failure) => "failed",
            () if self.is_over() || self.ending.is_some() => "ended",
            () if self.paused => "paused",
            () => "running",
        };
        let over = self.ending.as_ref().map(|Ending { run_state, report }| {
            let report = report.as_ref().map(|path| path.display().to_string());
            let (run_state, text) =
                run_state.as_ref().map_or((None, None), |(run_state, text)| (Some(run_state.name()), Some(text)));
            json!({ "state": run_state, "text": text, "report": report })
        });
        self.hub.post(&json!({
            "type": "status",
            "state": state,
            "message": self.failure,
            "step": step,
            "steps": self.time.steps(),
            "time": time,
            "bodies": bodies,
            "contacts": contacts,
            "iterations": iterations,
            "residual": residual,
            "missed": missed,
            "judged": step,
            "rate": rate,
            "pace": pace,
            "speed": self.speed,
            "parameters": self.parameters,
            "over": over,
        }));
    }
}

impl Speeds {
    fn sample(&mut self, now: Instant, step: u64, time: f64) -> [f64; 2] {
        let (before, steps, start) = *self.last.get_or_insert((now, step, time));
        let seconds = now.duration_since(before).as_secs_f64();
        if seconds >= 0.5 * POST.as_secs_f64() {
            let latest = [(step - steps) as f64 / seconds, (time - start) / seconds];
            let weight = 1.0 - (-seconds / MEMORY).exp();
            let blend = |old: f64, new: f64| old + weight * (new - old);
            self.rates = Some(self.rates.map_or(latest, |old| [blend(old[0], latest[0]), blend(old[1], latest[1])]));
            self.last = Some((now, step, time));
        }
        self.rates.unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_that_goes_on_is_no_faster_for_what_came_before() {
        let mut speeds = Speeds::default();
        let start = Instant::now();
        assert_eq!(speeds.sample(start, 10_000, 5.0), [0.0; 2]);
        let [rate, pace] = speeds.sample(start + Duration::from_secs(1), 10_100, 5.5);
        assert!((rate - 100.0).abs() < 1e-9 && (pace - 0.5).abs() < 1e-9, "{rate} {pace}");
    }
}
