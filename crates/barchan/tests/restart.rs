//! Runs that stop anywhere and go on, against the same runs never stopped.

use barchan::checkpoint::{Head, VERSION, go_on as go_on_from, read_head, read_part};
use barchan::comm::{Communicator, Solo, threads};
use barchan::output::{CheckpointFolder, RunDirectory, StepsWriter, StoredFrames, Summary};
use barchan::run::{Progress, Resumption, Run, RunOptions};
use barchan::scenario;
use barchan::scene::Scene;
use barchan::solver::SolverName;
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
    let mut run = Run::start_on(scene, &options(steps), comm).unwrap();
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

/// Stops and goes on twice at random steps, each time on another number of threads.
#[track_caller]
fn check(scene: &Scene, steps: u64, seed: u64) {
    let (whole, broken) = (Place::new(), Place::new());
    let expected = on_threads(2, || start(&whole.0, scene, steps, u64::MAX, Box::new(Solo)));
    assert!(expected.solver.operator_applications > 0, "{}: no contacts", scene.name);
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

/// A run of 80 steps that was stopped after 50, with checkpoints of 40 and 50.
fn stopped(path: &Path) -> CheckpointFolder {
    let mut scene = scene("packing", &[("bodies", "60"), ("output.frame_interval", "0.01")]);
    scene.checkpoint.steps = 20;
    start(path, &scene, 80, 50, Box::new(Solo));
    let folder = CheckpointFolder::of_run(path);
    assert_eq!(folder.steps().unwrap(), [40, 50]);
    folder
}

/// Everything that there is, checkpoints too.
fn everything(path: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let of_folder = fs::read_dir(path.join("checkpoints")).unwrap().map(|entry| entry.unwrap().path());
    let more = of_folder.chain(["steps.csv", "summary.json"].map(|name| path.join(name)));
    let mut all: Vec<_> = more.map(|path| (path.clone(), fs::read(&path).unwrap_or_default())).collect();
    all.sort();
    all.extend(files(path));
    all
}

/// It does not go on, says why, and touches nothing.
#[track_caller]
fn refuses(path: &Path, words: &[&str]) {
    let before = everything(path);
    let error = Run::resume(path, &RunOptions::default(), Box::new(Solo)).err().unwrap();
    assert!(words.iter().all(|word| error.to_string().contains(word)), "{error}");
    assert!(error.is_input(), "{error}");
    assert!(everything(path) == before, "{error}");
}

#[test]
fn without_checkpoints_it_begins_anew() {
    let (whole, broken) = (Place::new(), Place::new());
    let scene = scene("packing", &[("bodies", "60"), ("output.frame_interval", "0.01")]);
    let expected = start(&whole.0, &scene, 80, u64::MAX, Box::new(Solo));
    let folder = stopped(&broken.0);
    folder.clear().unwrap();
    // Parts without a head are none.
    folder.make().unwrap();
    fs::write(folder.part(70, 0), "half a checkpoint").unwrap();
    let found = go_on(&broken.0, 30, Box::new(Solo));
    assert_eq!((found.restarts, found.restarted_at), (1, Some(0)));
    // And from there to the end.
    let found = go_on(&broken.0, u64::MAX, Box::new(Solo));
    assert_eq!((found.restarted_at, &found.state_hash), (Some(30), &expected.state_hash));
    assert_eq!(rows(&broken.0), rows(&whole.0));
    // A run at its end stays what it is, though nothing is left to go on from.
    folder.clear().unwrap();
    let resumed = Run::resume(&broken.0, &RunOptions::default(), Box::new(Solo)).unwrap();
    assert!(matches!(resumed, Resumption::AtEnd(summary) if summary.state_hash == found.state_hash));
}

#[test]
fn a_run_whose_checkpoints_cannot_be_used_is_not_thrown_away() {
    let place = Place::new();
    let folder = stopped(&place.0);
    // The newest lost its end.
    let (head, part) = (fs::read(folder.head(40)).unwrap(), fs::read(folder.part(50, 0)).unwrap());
    fs::write(folder.part(50, 0), &part[..part.len() / 2]).unwrap();
    // That one lost a bit, too.
    let mut damaged = head.clone();
    damaged[60] ^= 4;
    fs::write(folder.head(40), damaged).unwrap();
    let length = "step-000000050.part-0000: it has ";
    refuses(&place.0, &[length, "step-000000040.head: its checksum is wrong", "scene.toml --force --out"]);
    // Its name cannot be read as a file, which says nothing about what is in it.
    fs::remove_file(folder.head(40)).unwrap();
    fs::create_dir(folder.head(40)).unwrap();
    refuses(&place.0, &["step-000000040.head: it cannot be read"]);
    fs::remove_dir(folder.head(40)).unwrap();
    // The one before is well again: it goes on, and the newest is still there.
    fs::write(folder.head(40), head).unwrap();
    let found = go_on(&place.0, 45, Box::new(Solo));
    assert_eq!((found.restarted_at, found.passed_over.len()), (Some(40), 1));
    assert_eq!(folder.steps().unwrap(), [40, 45]);
    let aside = folder.path().join("step-000000050.part-0000.aside");
    assert_eq!(fs::read(aside).unwrap(), part[..part.len() / 2]);
}

#[test]
fn tables_that_cannot_go_on_are_named() {
    let place = Place::new();
    stopped(&place.0);
    let path = place.0.join("steps.csv");
    let table = fs::read(&path).unwrap();
    let text = String::from_utf8(table.clone()).unwrap();
    fs::write(&path, text.replace('\n', "\r\n")).unwrap();
    refuses(&place.0, &["steps.csv cannot be continued: its lines end as on Windows"]);
    fs::write(&path, text.replace("kinetic", "colour")).unwrap();
    refuses(&place.0, &["steps.csv cannot be continued: it begins with other columns"]);
    // Rows that are no text, or missing, are missing rows: an older checkpoint may do with those before.
    let place_of = |step: u64| text.find(&format!("\n{step},")).unwrap() + 1;
    let mut bytes = table.clone();
    bytes[place_of(30)] = 0xff;
    fs::write(&path, &bytes).unwrap();
    refuses(&place.0, &["step-000000040.head: ", "steps.csv has the rows of 29 steps only"]);
    fs::write(&path, &table[..place_of(44)]).unwrap();
    assert_eq!(go_on(&place.0, 60, Box::new(Solo)).restarted_at, Some(40));
    StepsWriter::check(&path, 60).unwrap();
}

#[test]
fn frames_are_looked_at_before_anything_is_touched() {
    let place = Place::new();
    stopped(&place.0);
    let path = place.0.join("frames.pvd");
    let index = fs::read_to_string(&path).unwrap();
    // Frames of steps 0, 20 and 40, and of 50, where the run was stopped.
    let lines: Vec<&str> = index.lines().collect();
    assert_eq!(lines.iter().filter(|line| line.contains("DataSet")).count(), 4);
    let without = |k: usize| [&lines[..k], &lines[k + 1..]].concat().join("\n");
    fs::write(&path, without(4)).unwrap();
    refuses(&place.0, &["step-000000040.head: in ", "frames.pvd, frame 1 is missing, where one of time 0.01"]);
    fs::remove_file(&path).unwrap();
    refuses(&place.0, &["frames.pvd, frame 0 is missing"]);
    // That of the stop is none of those that were due.
    fs::write(&path, without(6)).unwrap();
    assert_eq!(go_on(&place.0, u64::MAX, Box::new(Solo)).restarted_at, Some(50));
    assert_eq!(frame_steps(&place.0), [0, 20, 40, 60, 80]);
}

fn frame_steps(path: &Path) -> Vec<u64> {
    let stored = StoredFrames::open(path).unwrap();
    (0..stored.len()).map(|k| stored.read(k).unwrap().step).collect()
}

#[test]
fn a_frame_from_the_future_is_not_that_of_the_end() {
    let place = Place::new();
    let scene = scene("packing", &[("bodies", "60"), ("output.frame_interval", "0.01")]);
    start(&place.0, &scene, 53, u64::MAX, Box::new(Solo));
    assert_eq!(frame_steps(&place.0), [0, 20, 40, 53]);
    let end = StoredFrames::open(&place.0).unwrap().read(3).unwrap();
    assert!(!end.contacts.is_empty());
    // It goes further, and is killed with a frame more and no checkpoint.
    let folder = CheckpointFolder::of_run(&place.0);
    let kept = [folder.head(53), folder.part(53, 0)].map(|path| (path.clone(), fs::read(path).unwrap()));
    let Resumption::Going(run) = Run::resume(&place.0, &options(1000), Box::new(Solo)).unwrap() else {
        panic!("it does not go on");
    };
    run.to_end(until(60)).unwrap();
    assert_eq!(frame_steps(&place.0), [0, 20, 40, 60]);
    folder.clear().unwrap();
    folder.make().unwrap();
    kept.iter().for_each(|(path, bytes)| fs::write(path, bytes).unwrap());
    fs::remove_file(place.0.join("summary.json")).unwrap();
    // Nothing is left of that where it is to end as before.
    let Resumption::Going(run) = Run::resume(&place.0, &options(53), Box::new(Solo)).unwrap() else {
        panic!("its end is not written");
    };
    run.to_end(until(u64::MAX)).unwrap();
    assert_eq!(frame_steps(&place.0), [0, 20, 40, 53]);
    assert_eq!(StoredFrames::open(&place.0).unwrap().read(3).unwrap(), end);
}

#[test]
fn a_scene_that_was_changed_is_refused() {
    let place = Place::new();
    start(&place.0, &scene("bounce", &[]), 30, 10, Box::new(Solo));
    let path = place.0.join("scene.toml");
    let text = fs::read_to_string(&path).unwrap().replace("-9.81", "-1.62");
    fs::write(&path, text).unwrap();
    let error = Run::resume(&place.0, &RunOptions::default(), Box::new(Solo)).err().unwrap();
    assert!(error.is_input() && error.to_string().contains("was changed since"), "{error}");
}

#[test]
fn another_version_is_refused_and_not_thrown_away() {
    let place = Place::new();
    start(&place.0, &scene("bounce", &[]), 30, 10, Box::new(Solo));
    let path = CheckpointFolder::of_run(&place.0).head(10);
    let mut bytes = fs::read(&path).unwrap();
    assert_eq!(u32::from(bytes[8]), VERSION);
    bytes[8] += 1;
    let seal = xxhash_rust::xxh3::xxh3_64(&bytes[..32]);
    bytes[32..40].copy_from_slice(&seal.to_le_bytes());
    fs::write(&path, bytes).unwrap();
    let said = format!("it is of version {}, and this program reads version {VERSION}", VERSION + 1);
    refuses(&place.0, &["step-000000010.head: ", &said]);
}

#[test]
fn another_engine_is_told() {
    let place = Place::new();
    start(&place.0, &scene("bounce", &[]), 30, 10, Box::new(Solo));
    let folder = CheckpointFolder::of_run(&place.0);
    let engine = || match Run::resume(&place.0, &RunOptions::default(), Box::new(Solo)).unwrap() {
        Resumption::Going(run) => run.origin().engine.clone(),
        Resumption::AtEnd(_) => panic!("it has not come to its end"),
    };
    assert_eq!(engine(), None);
    // The same version on another machine is another engine, too.
    for other in ["0.0.7 (x86_64-linux-gnu)", &format!("{} (vax-vms)", env!("CARGO_PKG_VERSION"))] {
        let head = Head { engine: other.into(), ..read_head(&folder, 10).unwrap() };
        fs::write(folder.head(10), head.to_bytes()).unwrap();
        assert_eq!(engine().as_deref(), Some(other));
    }
}

#[test]
fn restarts_count_though_they_die_at_once() {
    let place = Place::new();
    let scene = scene("bounce", &[]);
    let resume = || match Run::resume(&place.0, &RunOptions::default(), Box::new(Solo)).unwrap() {
        Resumption::Going(run) => *run,
        Resumption::AtEnd(_) => panic!("it has not come to its end"),
    };
    // Before there is any checkpoint, and with half a line.
    let run = Run::start(&scene, &options(30)).unwrap();
    drop(run.record_in(RunDirectory::create(&place.0, false).unwrap()).unwrap());
    drop(resume());
    let table = place.0.join("restarts.csv");
    let text = fs::read_to_string(&table).unwrap();
    fs::write(&table, text.trim_end()).unwrap();
    let stopped = resume().to_end(until(10)).unwrap();
    assert_eq!((stopped.restarts, stopped.restarted_at), (2, Some(0)));
    // And after one.
    drop(resume());
    drop(resume());
    let found = resume().to_end(until(u64::MAX)).unwrap();
    assert_eq!((found.restarts, found.restarted_at, found.steps), (5, Some(10), 30));
    let steps: Vec<String> =
        fs::read_to_string(&table).unwrap().lines().map(|line| line.split(',').next().unwrap().into()).collect();
    assert_eq!(steps, ["step", "0", "0", "10", "10", "10"]);
    // Another run in its place has not gone on.
    let run = Run::start(&scene, &options(3)).unwrap();
    let run = run.record_in(RunDirectory::create(&place.0, true).unwrap()).unwrap();
    assert_eq!(run.to_end(until(u64::MAX)).unwrap().restarts, 0);
    assert!(!table.exists());
}

#[test]
fn a_run_goes_on_where_it_was_moved_to() {
    let (whole, broken, moved) = (Place::new(), Place::new(), Place::new());
    let scene = scene("packing", &[("bodies", "60"), ("output.frame_interval", "0.01")]);
    let expected = start(&whole.0, &scene, 60, u64::MAX, Box::new(Solo));
    start(&broken.0, &scene, 60, 30, Box::new(Solo));
    fs::rename(&broken.0, &moved.0).unwrap();
    // By another name.
    let name = Place::new();
    std::os::unix::fs::symlink(&moved.0, &name.0).unwrap();
    let Resumption::Going(run) = Run::resume(&name.0, &RunOptions::default(), Box::new(Solo)).unwrap() else {
        panic!("it has not come to its end");
    };
    // By which it is the same run: nobody else gets it.
    let error = Run::resume(&moved.0, &RunOptions::default(), Box::new(Solo)).err().unwrap();
    assert!(error.is_input() && error.to_string().contains("another process is writing"), "{error}");
    let found = run.to_end(until(u64::MAX)).unwrap();
    assert_eq!(found.state_hash, expected.state_hash);
    assert!(files(&moved.0) == files(&whole.0));
    fs::remove_file(&name.0).unwrap();
}

#[test]
fn every_second_is_in_some_line() {
    let place = Place::new();
    let mut scene = scene("packing", &[("bodies", "300"), ("output.frame_interval", "0.005")]);
    scene.checkpoint.steps = 5;
    let check = |summary: &Summary| {
        let seconds = &summary.seconds;
        assert!((seconds.sum() / seconds.total - 1.0).abs() < 0.01, "{seconds:?}");
        assert!(seconds.other < 0.2 * seconds.total, "{seconds:?}");
        assert!(seconds.start > 0.0 && seconds.checkpoint >= summary.checkpoints.longest_pause, "{seconds:?}");
        let told: f64 = column(&place.0, "seconds_checkpoint").iter().sum();
        assert!(told > 0.0 && told <= seconds.checkpoint * 1.0001, "{told} of {seconds:?}");
        let told: f64 = column(&place.0, "seconds_output").iter().sum();
        assert!(told > 0.0 && told <= seconds.output * 1.0001, "{told} of {seconds:?}");
        *seconds
    };
    let before = check(&start(&place.0, &scene, 60, 33, Box::new(Solo)));
    let after = check(&go_on(&place.0, u64::MAX, Box::new(Solo)));
    // What it had spent before it was stopped counts.
    assert!(after.start > before.start && after.checkpoint > 0.5 * before.checkpoint, "{before:?} {after:?}");
}

#[test]
fn a_simulation_goes_on_from_the_files_alone() {
    let mut small = scene("packing", &[("bodies", "60")]);
    small.checkpoint.steps = 20;
    for ranks in [1, 3] {
        let place = Place::new();
        spread(&place.0, ranks, |path, comm| start(path, &small, 40, u64::MAX, comm));
        let folder = CheckpointFolder::of_run(&place.0);
        let at = |step: u64| {
            let head = read_head(&folder, step).unwrap();
            let parts: Vec<_> = (0..ranks).map(|rank| read_part(&folder, &head, rank).unwrap()).collect();
            go_on_from(&small, &parts).unwrap()
        };
        let mut simulation = at(20);
        (0..20).for_each(|_| drop(simulation.step().unwrap()));
        let (found, expected) = (&simulation.world, &at(40).world);
        assert_eq!(simulation.steps(), 40);
        if ranks == 1 {
            assert_eq!(found.state_hash(), expected.state_hash());
        }
        let (a, b) = (&found.bodies, &expected.bodies);
        assert!((0..a.len()).all(|i| a.position[i].distance(b.position[b.index_of(a.id[i]).unwrap()]) < 1e-3));
        // A part alone is not the whole, and one of another scene is none.
        let head = read_head(&folder, 40).unwrap();
        let part = read_part(&folder, &head, 0).unwrap();
        let about = go_on_from(&scene("granular-gas", &[("periodic", "1")]), std::slice::from_ref(&part))
            .err()
            .unwrap()
            .to_string();
        assert!(about.contains("where there are 1") || about.contains("not divided as it was"), "{about}");
        assert_eq!(go_on_from(&small, std::slice::from_ref(&part)).is_ok(), ranks == 1);
        assert!(go_on_from(&small, &[part.clone(), part]).is_err());
    }
}

#[test]
fn a_restart_that_takes_no_step_shows_the_contacts() {
    // And on as many ranks as before also if the frame of its last step was lost.
    for (ranks, after, lost) in [(1, 1, true), (3, 3, true), (1, 3, false), (3, 1, false)] {
        let (whole, broken) = (Place::new(), Place::new());
        let interval = if lost { "0.0" } else { "0.05" };
        let scene = scene("packing", &[("bodies", "150"), ("output.frame_interval", interval)]);
        let expected = spread(&whole.0, ranks, |path, comm| start(path, &scene, 50, u64::MAX, comm));
        spread(&broken.0, ranks, |path, comm| start(path, &scene, 80, 50, comm));
        if lost {
            fs::remove_file(broken.0.join("frames.pvd")).unwrap();
        }
        let found = spread(&broken.0, after, |path, comm| match Run::resume(path, &options(50), comm).unwrap() {
            Resumption::Going(run) => run.to_end(until(u64::MAX)).unwrap(),
            Resumption::AtEnd(_) => panic!("it has not come to its end"),
        });
        assert_eq!((found.steps, &found.state_hash), (50, &expected.state_hash));
        let contacts = |summary: &Summary| {
            summary.by_rank.as_ref().map(|ranks| ranks.rows.iter().map(|row| row.contacts).collect::<Vec<_>>())
        };
        if ranks == after {
            assert_eq!(contacts(&found), contacts(&expected));
        }
        let last = |place: &Place| {
            let stored = StoredFrames::open(&place.0).unwrap();
            stored.read(stored.len() - 1).unwrap()
        };
        let (found, expected) = (last(&broken), last(&whole));
        assert!(expected.step == 50 && expected.contacts.len() > 10, "{}", expected.contacts.len());
        assert!(found == expected, "{ranks} ranks, then {after}");
    }
}

#[test]
fn a_lost_checkpoint_is_not_the_last() {
    let mut scene = scene("packing", &[("bodies", "150")]);
    scene.checkpoint.steps = 20;
    // Something stands in the way of these, and the run is stopped after step 45.
    for (ranks, lost, last) in [(1, &[40][..], 45), (1, &[40, 45], 20), (3, &[40, 45], 20)] {
        let place = Place::new();
        let folder = CheckpointFolder::of_run(&place.0);
        let found = spread(&place.0, ranks, |path, comm| {
            let rank = comm.rank();
            let mut run = Run::start_on(&scene, &options(80), comm).unwrap();
            run.record_by(|| RunDirectory::create(path, false)).unwrap();
            run.to_end(|progress| {
                if rank + 1 == ranks && progress.step == 30 {
                    lost.iter().for_each(|&step| fs::create_dir_all(folder.part(step, rank)).unwrap());
                }
                until(45)(progress)
            })
            .unwrap()
        });
        let told = &found.checkpoints;
        assert_eq!((found.steps, told.failed, told.last), (45, lost.len() as u64, Some(last)), "{told:?}");
        let left = folder.steps().unwrap();
        assert_eq!(left.last(), Some(&last), "{left:?}");
    }
}
