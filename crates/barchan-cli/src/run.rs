//! `barchan run`: a scene to its end, with something to watch and a summary.

use crate::args::RunArgs;
use crate::drive::{Voice, announce, cannot_dump, drive, on_ranks, over, refuse, unwritten};
use crate::failure::Failure;
use crate::interrupt;
use crate::ranks;
use crate::target::Target;
use crate::watched::Watched;
use barchan::comm::Communicator;
use barchan::output::{RunDirectory, default_path};
use barchan::run::Run;

/// Runs a scenario or a scene file.
pub(crate) fn run(args: &RunArgs) -> Result<(), Failure> {
    on_ranks(&args.control, |comm| on_rank(args, comm))
}

/// One rank of the run, which may be the only one.
fn on_rank(args: &RunArgs, mut comm: Box<dyn Communicator>) -> Result<(), Failure> {
    let target = prepare(args, comm.size());
    let target = ranks::agree(&mut *comm, target)?;
    simulate(args, &target, comm)
}

/// The scene, if it can be run so.
fn prepare(args: &RunArgs, ranks: usize) -> Result<Target, Failure> {
    let mut set = args.overrides.on_ranks(ranks);
    if let Some(solver) = args.solver {
        set.push(("solver.name".into(), solver.0.name().into()));
    }
    let target = Target::load(&args.target, set)?;
    refuse(&args.control, &target.scene, ranks)?;
    Ok(target)
}

fn simulate(args: &RunArgs, target: &Target, comm: Box<dyn Communicator>) -> Result<(), Failure> {
    let scene = &target.scene;
    let control = &args.control;
    let options = control.options();
    let voice = Voice::of(control, &*comm);
    if voice.speaks() {
        interrupt::answer();
    }
    announce(&voice, scene, options.steps_of(scene));
    if voice.speaks() {
        target.warn();
    }
    // The world first: a scene that cannot be built must not cost an earlier run its directory,
    let run = Run::start_on(scene, &options, comm).map_err(|error| over(target.blame(error)))?;
    let mut run = run.dump_problems(control.dump_problem.iter().copied()).map_err(cannot_dump)?;
    // and neither must a port that is taken.
    let watched = Watched::start(control.view, run.scene()).map_err(over)?;
    let recorded = run.record_by(|| match &args.out {
        Some(path) => RunDirectory::create(path, args.force),
        None => RunDirectory::create(default_path(&scene.name)?, false),
    });
    // Failures are told before the run goes, and with it the communicator that keeps the ranks together.
    recorded.map_err(|error| over(unwritten(error, &voice)).told())?;
    // Whichever rank has something to say names the directory.
    let path = run.directory().map(|directory| directory.path().to_owned()).unwrap_or_default();
    drive(run, &voice, &path, &control.dump_problem, watched)
}
