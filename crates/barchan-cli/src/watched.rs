//! `--view` of `barchan run` and `barchan restart`: a run that is written down and can be watched on the way.

use crate::failure::{Failure, note};
use crate::interrupt;
use crate::view::{no_thread, serve};
use barchan::run::Progress;
use barchan::scene::Scene;
use barchan_view::live::{self, Next, Watch, WatchOptions};
use barchan_view::server::{Controls, Hub, Place, Server};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A run with viewers.
pub(crate) struct Watched {
    watch: Watch,
    server: Server,
}

impl Watched {
    /// Starts the server, if one was asked for, on a port if one was. Viewers can hold the run, but not
    /// change it: the scene that is written down has to repeat it.
    pub(crate) fn start(view: Option<Option<u16>>, scene: &Scene) -> Result<Option<Self>, Failure> {
        let Some(port) = view else { return Ok(None) };
        let controls = Controls { step: true, ..Controls::default() };
        let about = live::about(scene, "run");
        let hub = Arc::new(Hub::new(&about, controls));
        let place = Place { port, ..Place::default() };
        let server = serve(place, live::page(&about), &hub)?;
        let options = WatchOptions { steps_total: scene.time.steps(), ..WatchOptions::default() };
        let watch = Watch::new(hub, BTreeMap::new(), options).map_err(no_thread)?;
        note(format_args!("watch it at {}", server.url()));
        Ok(Some(Self { watch, server }))
    }

    /// Tells viewers of a step, and waits as long as they want to.
    pub(crate) fn stepped(&mut self, progress: &Progress<'_>) {
        self.watch.stepped(progress.simulation, progress.report);
        if progress.step >= progress.steps_total {
            return;
        }
        loop {
            match self.watch.next(progress.simulation, interrupt::requested) {
                Next::Step | Next::Stop => return,
                // Nobody was offered that.
                Next::Reset | Next::Adjust(_) => {}
            }
        }
    }

    /// Sends everybody away.
    pub(crate) fn end(mut self) {
        self.server.stop();
    }
}
