//! Runs that stop anywhere and go on, against the same runs never stopped.

#[path = "../common/heap.rs"]
mod heap;
mod record;
mod refused;

use barchan::comm::{Communicator, Solo, threads};
use barchan::cone::solver::SolverName;
use barchan::output::{CheckpointFolder, RunDirectory, StepsWriter, StoredFrames, Summary};
use barchan::run::{Progress, Resumption, Run, RunOptions};
use barchan::scenario;
use barchan::scene::Scene;
use barchan::step::Simulation;
use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// A fresh directory, removed at the end.
struct Place(PathBuf);

impl Place {
    fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name = format!("barchan-restart-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        Self(std::env::temp_dir().join(name))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn scene(name: &str, set: &[(&str, &str)]) -> Scene {
    let set: Vec<_> = set.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    scenario::find(name).unwrap().scene(&set).unwrap()
}

/// Random numbers below a bound.
fn random(seed: u64) -> impl FnMut(u64) -> u64 {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    move |below| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state % below
    }
}

fn until(step: u64) -> impl FnMut(&Progress<'_>) -> ControlFlow<()> {
    move |progress| if progress.step >= step { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
}

fn options(steps: u64) -> RunOptions {
    RunOptions { steps: Some(steps), ..RunOptions::default() }
}

/// Starts a run in a directory and stops it after some of its steps.
fn start(path: &Path, scene: &Scene, steps: u64, stop: u64, comm: Box<dyn Communicator>) -> Summary {
    // Where steps have no fixed length, the scene says when it ends.
    let options = scene.time.steps().map_or_else(RunOptions::default, |_| options(steps));
    let mut run = Run::start_on(scene, &options, comm).unwrap();
    run.record_by(|| RunDirectory::create(path, false)).unwrap();
    run.to_end(until(stop)).unwrap()
}

/// Goes on with it, and stops again.
fn go_on(path: &Path, stop: u64, comm: Box<dyn Communicator>) -> Summary {
    match Run::resume(path, &RunOptions::default(), comm).unwrap() {
        Resumption::Going(run) => run.to_end(until(stop)).unwrap(),
        Resumption::AtEnd(_) => panic!("it has not come to its end"),
    }
}

/// The table without the columns that no two runs share.
fn rows(path: &Path) -> Vec<String> {
    let text = fs::read_to_string(path.join("steps.csv")).unwrap();
    let head: Vec<&str> = text.lines().next().unwrap().split(',').collect();
    let kept = |line: &str| {
        let cells = line.split(',').zip(&head).filter(|cell| !cell.1.starts_with("seconds")).map(|cell| cell.0);
        cells.collect::<Vec<_>>().join(",")
    };
    text.lines().map(kept).collect()
}

fn on_threads<R: Send>(threads: usize, work: impl FnOnce() -> R + Send) -> R {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(work)
}

/// All files but those of checkpoints and those with times in them, and what is in them.
fn files(path: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    let mut todo = vec![path.to_owned()];
    while let Some(directory) = todo.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let entry = entry.unwrap().path();
            let name = entry.strip_prefix(path).unwrap().to_owned();
            if entry.is_dir() {
                todo.push(entry);
            } else if !(name.starts_with("checkpoints")
                || name.starts_with("steps.csv")
                || name.starts_with("restarts.csv")
                || name.starts_with("summary.json"))
            {
                found.push((name, fs::read(entry).unwrap()));
            }
        }
    }
    found.sort();
    found
}

/// The steps of the frames.
fn frame_steps(path: &Path) -> Vec<u64> {
    let stored = StoredFrames::open(path).unwrap();
    (0..stored.len()).map(|k| stored.read(k).unwrap().step).collect()
}

/// Stops and goes on twice at random steps, each time on another number of threads.
#[track_caller]
fn check(scene: &Scene, steps: u64, seed: u64) {
    let (whole, broken) = (Place::new(), Place::new());
    let expected = on_threads(2, || start(&whole.0, scene, steps, u64::MAX, Box::new(Solo)));
    assert!(expected.solver.operator_applications > 0, "{}: no contacts", scene.name);
    let steps = expected.steps;
    let mut random = random(seed);
    let first = 1 + random(steps - 2);
    let second = first + 1 + random(steps - first - 1);
    on_threads(1, || start(&broken.0, scene, steps, first, Box::new(Solo)));
    let summary = on_threads(3, || go_on(&broken.0, second, Box::new(Solo)));
    assert_eq!((summary.steps, summary.restarted_at), (second, Some(first)));
    let found = on_threads(2, || go_on(&broken.0, u64::MAX, Box::new(Solo)));
    let about = format!("{} by {} stopped at {first} and {second}", scene.name, scene.solver.name.name());
    assert_eq!(found.state_hash, expected.state_hash, "{about}");
    assert_eq!(rows(&broken.0), rows(&whole.0), "{about}");
    assert_eq!((found.restarts, found.restarted_at, found.steps), (2, Some(second), steps));
    let solver = |summary: &Summary| format!("{:?} {} {}", summary.solver, summary.max_penetration, summary.contacts);
    assert_eq!(solver(&found), solver(&expected), "{about}");
    let (found, expected) = (files(&broken.0), files(&whole.0));
    assert_eq!(found.len(), expected.len(), "{about}");
    for (ours, theirs) in found.iter().zip(&expected) {
        assert_eq!(ours.0, theirs.0, "{about}");
        assert!(ours.1 == theirs.1, "{about}: {} differs", ours.0.display());
    }
}

#[test]
fn every_solver_goes_on_to_the_last_bit() {
    let mut seed = 1;
    for (name, ..) in SolverName::ALL {
        for friction in ["associated", "coulomb"] {
            let set = [
                ("bodies", "60"),
                ("broad_phase.reorder_interval", "7"),
                ("solver.name", name.name()),
                ("solver.friction", friction),
                ("solver.max_iterations", "60"),
                ("solver.tolerance", "1e-5"),
            ];
            if name.laws().iter().any(|law| law.name() == friction) {
                seed += 1;
                check(&scene("packing", &set), 90, seed);
            }
        }
    }
}

#[test]
fn every_kind_of_scene_goes_on_to_the_last_bit() {
    let gas = [("nx", "6"), ("ny", "5"), ("nz", "5"), ("speed", "1")];
    let reorder = ("broad_phase.reorder_interval", "9");
    check(&scene("granular-gas", &[&gas[..], &[reorder]].concat()), 80, 1);
    check(&scene("granular-gas", &[&gas[..], &[("periodic", "1"), reorder]].concat()), 80, 2);
    check(&scene("granular-gas", &[&gas[..], &[("periodic", "1"), ("solver.name", "apgd")]].concat()), 80, 3);
    check(&scene("hexagonal-packing", &[("nx", "6"), ("ny", "5"), ("nz", "4"), reorder]), 60, 4);
    let history = [("bodies", "80"), ("output.history", "true"), ("output.frame_interval", "0.003"), reorder];
    check(&scene("shaken-box", &history), 60, 5);
    check(&scene("sedimentation", &[("bodies", "200"), ("output.frame_interval", "0.004")]), 40, 6);
    check(&scene("bounce", &[("height", "0.005")]), 500, 7);
    check(&scene("excavator", &[("bodies", "120"), ("radius", "0.045"), ("time.step", "0.002"), reorder]), 60, 8);
    check(&scene("chain", &[("links", "9")]), 80, 9);
    // Motions by formulas, and a belt.
    check(&scene("vibrating-plate", &[("nx", "5"), ("ramp", "0.1"), ("time.step", "5e-4"), reorder]), 200, 11);
    check(&scene("conveyor", &[("nz", "3"), ("time.end", "0.15"), reorder]), 0, 12);
    // Steps of any length, with frames that are due between them.
    let slope =
        [("nx", "4"), ("ny", "3"), ("nz", "4"), ("time.end", "0.2"), ("output.frame_interval", "0.013"), reorder];
    let slope = scene("slope", &slope);
    assert_eq!(slope.time.steps(), None);
    for seed in 8..11 {
        check(&slope, 0, seed);
    }
}

#[test]
fn bodies_of_every_shape_go_on_to_the_last_bit() {
    let mut scene = heap::moving_heap(40);
    scene.broad_phase.reorder_interval = 9;
    scene.output.frame_interval = Some(0.013);
    // Where it stops, shapes of every kind touch.
    let mut simulation = Simulation::from_scene(&scene).unwrap();
    for step in 1..60 {
        simulation.step().unwrap();
        if step > 20 && step % 10 == 0 {
            heap::assert_all_kinds(heap::contacts_by_id(&simulation), 30);
        }
    }
    check(&scene, 60, 12);
    for ranks in [3, 8] {
        let (whole, broken) = (Place::new(), Place::new());
        let expected = spread(&whole.0, ranks, |path, comm| start(path, &scene, 60, u64::MAX, comm));
        spread(&broken.0, ranks, |path, comm| start(path, &scene, 60, 37, comm));
        let found = spread(&broken.0, ranks, |path, comm| go_on(path, u64::MAX, comm));
        assert_eq!(found.state_hash, expected.state_hash, "{ranks} ranks");
    }
}

#[test]
fn a_run_that_is_watched_by_checkpoints_is_the_same() {
    let place = Place::new();
    let plain = scene("packing", &[("bodies", "100")]);
    let expected = Run::start(&plain, &options(60)).unwrap().to_end(until(u64::MAX)).unwrap();
    let mut often = plain.clone();
    often.checkpoint.steps = 1;
    often.checkpoint.keep = 3;
    let found = start(&place.0, &often, 60, u64::MAX, Box::new(Solo));
    assert_eq!(found.state_hash, expected.state_hash);
    assert_eq!((found.checkpoints.written, found.checkpoints.failed), (60, 0));
    assert_eq!(CheckpointFolder::of_run(&place.0).steps().unwrap(), [58, 59, 60]);
    // It has come to its end, and says so without touching anything.
    let before = files(&place.0);
    let Resumption::AtEnd(summary) = Run::resume(&place.0, &RunOptions::default(), Box::new(Solo)).unwrap() else {
        panic!("it goes on beyond its end");
    };
    assert_eq!(*summary, found);
    assert_eq!(files(&place.0), before);
    // More steps take it further, as far as one that was asked for them at once.
    let Resumption::Going(run) = Run::resume(&place.0, &options(90), Box::new(Solo)).unwrap() else {
        panic!("it does not go on");
    };
    let longer = run.to_end(until(u64::MAX)).unwrap();
    let expected = Run::start(&plain, &options(90)).unwrap().to_end(until(u64::MAX)).unwrap();
    assert_eq!((longer.steps, longer.state_hash), (90, expected.state_hash));
    StepsWriter::check(&place.0.join("steps.csv"), 90).unwrap();
    // But not back.
    let error = Run::resume(&place.0, &options(30), Box::new(Solo)).err().unwrap().to_string();
    assert!(error.contains("at step 90 already, and cannot end at step 30"), "{error}");
}

/// A run on ranks.
fn spread(path: &Path, ranks: usize, work: impl Fn(&Path, Box<dyn Communicator>) -> Summary + Sync) -> Summary {
    threads::run(ranks, 1, |comm| work(path, comm)).unwrap().remove(0)
}

#[test]
fn as_many_ranks_go_on_to_the_last_bit() {
    let gas = [("nx", "7"), ("ny", "5"), ("nz", "5"), ("speed", "2"), ("broad_phase.reorder_interval", "9")];
    let balance = [("domain.balance_interval", "5"), ("domain.imbalance", "1.0")];
    let scenes = [
        scene("granular-gas", &[&gas[..], &balance[..]].concat()),
        scene("granular-gas", &[&gas[..], &balance[..], &[("periodic", "1")]].concat()),
        scene("granular-gas", &[&gas[..], &[("domain.partition", "cartesian"), ("periodic", "1")]].concat()),
        scene("packing", &[("bodies", "150"), ("solver.name", "apgd")]),
        scene("packing", &[("bodies", "150"), ("output.frame_interval", "0.01")]),
    ];
    for (scene, seed) in scenes.iter().zip(1..) {
        let (whole, broken) = (Place::new(), Place::new());
        let steps = 70;
        let expected = spread(&whole.0, 3, |path, comm| start(path, scene, steps, u64::MAX, comm));
        let stop = 1 + random(seed)(steps - 1);
        spread(&broken.0, 3, |path, comm| start(path, scene, steps, stop, comm));
        let found = spread(&broken.0, 3, |path, comm| go_on(path, u64::MAX, comm));
        assert_eq!(found.state_hash, expected.state_hash, "{} {seed} stopped at {stop}", scene.name);
        assert_eq!(rows(&broken.0), rows(&whole.0), "{} stopped at {stop}", scene.name);
        assert_eq!(found.by_rank.map(|ranks| ranks.rows.len()), Some(3));
    }
}

/// The numbers of a column of the table.
fn column(path: &Path, name: &str) -> Vec<f64> {
    let text = fs::read_to_string(path.join("steps.csv")).unwrap();
    let at = text.lines().next().unwrap().split(',').position(|head| head == name).unwrap();
    text.lines().skip(1).map(|line| line.split(',').nth(at).unwrap().parse().unwrap()).collect()
}

#[test]
fn another_number_of_ranks_goes_on_with_the_same_physics() {
    let gas = [("nx", "6"), ("ny", "5"), ("nz", "5"), ("speed", "2")];
    let apgd = [("solver.name", "apgd"), ("solver.tolerance", "1e-9"), ("solver.max_iterations", "20000")];
    let scenes = [
        scene("packing", &[&[("bodies", "100")], &apgd[..]].concat()),
        scene("granular-gas", &[&gas[..], &apgd[..], &[("periodic", "1")]].concat()),
    ];
    for scene in &scenes {
        let whole = Place::new();
        let steps = 60;
        start(&whole.0, scene, steps, u64::MAX, Box::new(Solo));
        for (before, after) in [(1, 3), (3, 1), (3, 2)] {
            let broken = Place::new();
            spread(&broken.0, before, |path, comm| start(path, scene, steps, 45, comm));
            let summary = spread(&broken.0, after, |path, comm| go_on(path, u64::MAX, comm));
            assert_eq!((summary.steps, summary.ranks, summary.restarted_at), (steps, after as u64, Some(45)));
            // The impulses have come along: the first solve after it takes as many iterations.
            let close = |name: &str, tolerance: f64| {
                for (k, (a, b)) in column(&whole.0, name).iter().zip(column(&broken.0, name)).enumerate() {
                    let about = format!("{}: {name} of step {}: {a} and {b}, {before} to {after}", scene.name, k + 1);
                    assert!((a - b).abs() <= tolerance * (1.0 + a.abs()), "{about}");
                }
            };
            close("bodies", 0.0);
            close("contacts", 0.0);
            close("kinetic", 1e-7);
            close("potential", 1e-7);
            let (ours, theirs) = (column(&broken.0, "iterations"), column(&whole.0, "iterations"));
            assert!((ours[45] - theirs[45]).abs() <= 3.0 + 0.1 * theirs[45], "{} and {}", ours[45], theirs[45]);
        }
    }
}
