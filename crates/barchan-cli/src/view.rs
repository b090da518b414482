//! `barchan view`: a scene or a run in the browser, live.

use crate::args::ViewArgs;
use crate::browser;
use crate::failure::{Failure, note, print};
use crate::interrupt;
use crate::target::Target;
use barchan::output::hash_text;
use barchan::output::human::{counted, grouped, short};
use barchan::scenario;
use barchan_view::live::{self, Outcome, Show, Watch, WatchOptions};
use barchan_view::server::{Hub, Limits, ListenAddress, Server};
use rayon::ThreadPoolBuilder;
use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;

/// Simulated seconds a second, until a viewer chooses another speed: small scenes would be over before
/// anybody has seen them.
const SPEED: f64 = 1.0;

/// Shows a scene, or follows a run.
pub(crate) fn run(args: &ViewArgs) -> Result<(), Failure> {
    interrupt::listen()?;
    let directory = Path::new(&args.target);
    if directory.is_dir() && scenario::find(&args.target).is_err() {
        return follow(args, directory);
    }
    let target = Target::load(&args.target, args.overrides.on_ranks(1))?;
    let pool = ThreadPoolBuilder::new().num_threads(args.threads.map_or(0, |n| n as usize)).build();
    let pool = pool.map_err(|error| Failure::Failed(format!("cannot start the threads: {error}")))?;
    pool.install(|| show(args, &target))
}

fn show(args: &ViewArgs, target: &Target) -> Result<(), Failure> {
    let scene = &target.scene;
    target.warn();
    // The world first: nobody needs a page for a scene that cannot be built.
    let show = Show::new(scene).map_err(|error| target.blame(error))?;
    let controls = live::controls(scene);
    let parameters = live::parameters(&controls);
    let about = live::about(scene, "scene");
    let hub = Arc::new(Hub::new(&about, controls));
    let mut server = serve(args.place(), live::page(&about), &hub)?;
    let options = WatchOptions { time: scene.time, paused: args.paused, speed: Some(SPEED) };
    let mut watch = Watch::new(hub, parameters, options).map_err(no_thread)?;
    announce(&server, !args.no_open)?;
    let outcome = show.run(&mut watch, interrupt::requested).map_err(|error| target.blame(error))?;
    server.stop();
    print(&tell(&outcome))
}

fn follow(args: &ViewArgs, directory: &Path) -> Result<(), Failure> {
    if !args.overrides.set.is_empty() {
        return Err(Failure::Input("--set changes a scene, and a run that is written down cannot be changed".into()));
    }
    let mut follow = live::Follow::open(directory).map_err(|error| Failure::Input(error.to_string()))?;
    let hub = follow.hub();
    let mut server = serve(args.place(), live::page(follow.about()), &hub)?;
    announce(&server, !args.no_open)?;
    follow.run(args.paused, interrupt::requested);
    server.stop();
    Ok(())
}

/// Starts the server.
pub(crate) fn serve(place: ListenAddress, page: String, hub: &Arc<Hub>) -> Result<Server, Failure> {
    if !place.address.is_loopback() {
        note(format_args!(
            "warning: whoever reaches {} and has its token can watch this run and steer it; nothing is encrypted",
            place.address
        ));
    }
    Server::start(place, page, Arc::clone(hub), Limits::default()).map_err(|error| {
        let port = place.port.map_or_else(String::new, |port| format!(", port {port}"));
        Failure::Failed(format!("cannot listen on {}{port}: {error}", place.address))
    })
}

pub(crate) fn no_thread(error: std::io::Error) -> Failure {
    Failure::Failed(format!("cannot start a thread: {error}"))
}

/// The address on a line of its own, for people and programs.
fn announce(server: &Server, open: bool) -> Result<(), Failure> {
    let url = server.url();
    print(&format!("{url}\n"))?;
    let opened = open && browser::open(&url);
    note(if opened { "opening it in a browser; Ctrl-C ends it" } else { "open it in a browser; Ctrl-C ends it" });
    Ok(())
}

/// What it came to.
fn tell(outcome: &Outcome) -> String {
    let Outcome { steps, time, missed, state_hash, changed } = outcome;
    let mut text = format!("steps        {}, to {} s\n", grouped(*steps), short(*time));
    if *missed > 0 {
        let _ = writeln!(
            text,
            "WARNING: {} of {} missed the tolerance",
            grouped(*missed),
            counted(*steps, "step", "steps")
        );
    }
    for (key, value) in changed {
        let _ = writeln!(text, "changed      {key} = {value}");
    }
    let _ = writeln!(text, "state hash   {}", hash_text(*state_hash));
    text
}
