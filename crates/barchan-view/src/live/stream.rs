//! Frames on their way to viewers: taken from the simulation when somebody waits for one, and made into
//! bytes on a thread of their own.
//!
//! All that the simulation spends on it is a copy. How often it may do so follows from what a frame
//! costs: the simulation is to lose no more than a few hundredths of its time.

use crate::server::Hub;
use crate::wire;
use barchan::frame::{Frame, Looks};
use barchan::step::Simulation;
use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::{Duration, Instant};

/// Time between two frames at least.
const INTERVAL: Duration = Duration::from_millis(33);

/// The part of the simulation's time that frames may cost.
const SHARE: f64 = 0.025;

/// Bodies that a frame has at most; beyond that they are thinned.
const MOST_BODIES: usize = 200_000;

/// Takes frames for viewers.
#[derive(Debug)]
pub struct FrameStream {
    hub: Arc<Hub>,
    encoder: SyncSender<Frame>,
    back: Receiver<(Frame, Duration)>,
    /// The memory for the next frame, unless it is under way.
    spare: Option<Frame>,
    /// The state of which the last frame was taken.
    shown: Option<u64>,
    taken: Option<Instant>,
    /// Seconds that the last copy took, and the last encoding.
    cost: [Duration; 2],
    cores: f64,
}

impl FrameStream {
    /// Starts the thread that encodes.
    ///
    /// # Errors
    /// If there is no thread to be had.
    pub fn start(hub: Arc<Hub>) -> io::Result<Self> {
        let (encoder, frames) = sync_channel::<Frame>(1);
        let (done, back) = sync_channel(1);
        let theirs = Arc::clone(&hub);
        std::thread::Builder::new().name("frames".into()).spawn(move || {
            let mut bytes = Vec::new();
            let mut looks = Looks::default();
            for frame in frames {
                let start = Instant::now();
                bytes.clear();
                let known = looks.list().len();
                wire::encode(&frame, MOST_BODIES, &mut looks, &mut bytes);
                if looks.list().len() > known {
                    let mut new = Vec::new();
                    wire::encode_looks(&looks.list()[known..], &mut new);
                    theirs.publish_looks(new);
                }
                bytes = theirs.publish(bytes);
                if done.send((frame, start.elapsed())).is_err() {
                    return;
                }
            }
        })?;
        let cores = std::thread::available_parallelism().map_or(1.0, |cores| cores.get() as f64);
        let spare = Some(Frame::default());
        Ok(Self { hub, encoder, back, spare, shown: None, taken: None, cost: [Duration::ZERO; 2], cores })
    }

    /// Whether viewers do not have this state yet.
    pub fn is_new(&self, state: u64) -> bool {
        self.shown != Some(state)
    }

    /// Takes a frame of the simulation if somebody waits for one that is new, and it is time. `state` is
    /// another number for every state that looks different. A simulation that stands still has nothing
    /// better to do.
    pub fn offer(&mut self, simulation: &Simulation, state: u64, still: bool) {
        if !self.hub.wants_frame() || !self.is_new(state) || self.wait(still) > Duration::ZERO {
            return;
        }
        let Some(mut frame) = self.spare.take() else { return };
        let start = Instant::now();
        frame.capture(simulation, 0);
        self.cost[0] = start.elapsed();
        self.taken = Some(start);
        self.send(frame, state);
    }

    /// Takes a frame of the last state, whatever it costs, unless viewers have it.
    pub fn take_last(&mut self, simulation: &Simulation, state: u64) {
        self.wait_for_frame();
        if let Some(mut frame) = self.spare.take_if(|_| self.shown != Some(state)) {
            frame.capture(simulation, 0);
            self.send(frame, state);
        }
    }

    /// Waits until the frame that is under way can be had by viewers.
    pub fn wait_for_frame(&mut self) {
        if self.spare.is_none() {
            self.spare = self.back.recv().ok().map(|(frame, _)| frame);
        }
    }

    /// Sends a frame that was stored, if the last one is done.
    pub fn send_stored(&mut self, frame: Frame, state: u64) {
        if self.wait(true) == Duration::ZERO {
            self.taken = Some(Instant::now());
            self.send(frame, state);
        }
    }

    fn send(&mut self, frame: Frame, state: u64) {
        // The encoder only goes with this.
        if self.encoder.send(frame).is_ok() {
            self.spare = None;
            self.shown = Some(state);
        }
    }

    /// How long it will be at least until a frame may be taken.
    pub fn wait(&mut self, still: bool) -> Duration {
        if let Ok((frame, seconds)) = self.back.try_recv() {
            (self.spare, self.cost[1]) = (Some(frame), seconds);
        }
        if self.spare.is_none() {
            return Duration::from_millis(2);
        }
        // While it copies, the simulation stands still. While it encodes, one of the cores is taken.
        let cost = self.cost[0] + self.cost[1].div_f64(self.cores);
        let interval = if still { INTERVAL } else { INTERVAL.max(cost.div_f64(SHARE)) };
        self.taken.map_or(Duration::ZERO, |taken| interval.saturating_sub(taken.elapsed()))
    }
}
