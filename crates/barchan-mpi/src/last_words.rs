//! How a rank ends the job: with one message, and for all ranks.

use mpi::topology::SimpleCommunicator;
use mpi::traits::Communicator as _;
use std::io::Write;
use std::panic::PanicHookInfo;
use std::sync::Mutex;
use std::time::Duration;

/// The stage this process is in. A panic on any of its threads tells it.
static STAGE: Mutex<&str> = Mutex::new("start");

pub(crate) fn set_stage(name: &'static str) {
    if let Ok(mut stage) = STAGE.lock() {
        *stage = name;
    }
}

pub(crate) fn stage() -> &'static str {
    STAGE.try_lock().map_or("unknown", |stage| *stage)
}

/// Says why, and ends all ranks.
pub(crate) fn end_job(rank: usize, size: usize, message: &str) -> ! {
    // In one piece, so that lines of different ranks do not mix.
    let line = format!("error: rank {rank} of {size}: {message}\n");
    let _ = std::io::stderr().lock().write_all(line.as_bytes());
    // Launchers stop to listen when a job ends: this one shall have heard it.
    std::thread::sleep(Duration::from_millis(200));
    // MPI may be in no state to end anything, say because this is not its thread. `mpirun` also
    // ends the job when one of its processes dies.
    std::thread::spawn(|| {
        std::thread::sleep(Duration::from_secs(5));
        std::process::abort();
    });
    SimpleCommunicator::world().abort(1)
}

/// Lets a panic on any thread of this process end all ranks.
pub(crate) fn end_job_on_panic(rank: usize, size: usize) {
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        if std::env::var_os("RUST_BACKTRACE").is_some() {
            before(info);
        }
        end_job(rank, size, &describe(info));
    }));
}

fn describe(info: &PanicHookInfo<'_>) -> String {
    let payload = info.payload();
    let owned = payload.downcast_ref::<String>().map(String::as_str);
    let message = owned.or_else(|| payload.downcast_ref::<&str>().copied()).unwrap_or("no message");
    let place = info.location().map_or_else(String::new, |location| format!(" at {location}"));
    format!("panicked in stage \"{}\"{place}: {message}", stage())
}
