//! `--view` of `barchan run` and `barchan restart`: a run that is written down and can be watched on the way.

use crate::failure::{Failure, note};
use crate::interrupt;
use crate::view::{no_thread, serve};
use barchan::run::Progress;
use barchan::scene::Scene;
use barchan_view::live::{self, Ending, Next, RunState, Watch, WatchOptions};
use barchan_view::report;
use barchan_view::server::{Controls, Hub, ListenAddress, Server};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Time that a browser has to come, from when it was told where: short runs are over before it has opened.
const OPENING: Duration = Duration::from_secs(10);
/// Time that a viewer has to draw the last frame.
const DRAWING: Duration = Duration::from_secs(3);

/// A run with viewers.
pub(crate) struct Watched {
    watch: Watch,
    server: Server,
    since: Instant,
}

impl Watched {
    /// Starts the server, if one was asked for, on a port if one was. Viewers can hold the run, but not
    /// change it: the scene that is written down has to repeat it.
    pub(crate) fn start(view: Option<Option<u16>>, scene: &Scene) -> Result<Option<Self>, Failure> {
        let Some(port) = view else { return Ok(None) };
        let controls = Controls { step: true, ..Controls::default() };
        let about = live::about(scene, "run");
        let hub = Arc::new(Hub::new(&about, controls));
        let place = ListenAddress { port, ..ListenAddress::default() };
        let server = serve(place, live::page(&about), &hub)?;
        let options = WatchOptions { time: scene.time, ..WatchOptions::default() };
        let watch = Watch::new(hub, BTreeMap::new(), options).map_err(no_thread)?;
        note(format_args!("watch it at {}", server.url()));
        Ok(Some(Self { watch, server, since: Instant::now() }))
    }

    /// Tells viewers of a step, and waits as long as they want to. Whether the user wants to stop.
    pub(crate) fn stepped(&mut self, progress: &Progress<'_>) -> bool {
        self.watch.stepped(progress.simulation, progress.report, progress.missed);
        let mut is_last = progress.is_last;
        let mut stops = false;
        while !is_last {
            match self.watch.next(progress.simulation, interrupt::requested) {
                Next::Step => return false,
                Next::Stop => (is_last, stops) = (true, true),
                // Nobody was offered that.
                Next::Reset | Next::Adjust(_) => {}
            }
        }
        self.watch.take_last(progress.simulation);
        stops
    }

    /// Shows viewers the end of the run in this directory, which is still in use.
    pub(crate) fn over(&mut self, directory: &Path) {
        let report = directory.join(report::FILE).canonicalize().ok();
        let run_state = match RunState::of(directory) {
            // Nobody but this process writes it, and it does so no more.
            (RunState::Running, _) => (RunState::Failed, "It could not write its summary.".into()),
            run_state => run_state,
        };
        self.watch.over(Ending { run_state: Some(run_state), report });
    }

    /// Sends viewers away when they have seen the end. A browser that is only just opening is waited for,
    /// unless the user is in a hurry.
    pub(crate) fn see_off(mut self, quiet: bool) {
        // A Ctrl-C that ended the run ends it for those who never came; another one is not waited for.
        let was_stopped = interrupt::requested();
        let first = if was_stopped { Instant::now() } else { self.since + OPENING };
        let left = first.saturating_duration_since(Instant::now());
        if !quiet && !self.server.has_guests() && left > Duration::from_secs(1) {
            note(format_args!(
                "the page at {} stays {} s for a browser to come; Ctrl-C ends it",
                self.server.url(),
                left.as_secs()
            ));
        }
        self.server.linger(first, DRAWING, || !was_stopped && interrupt::requested());
        self.server.stop();
    }
}
