//! Checkpoints and directories that cannot be used, or that others have written.

use super::*;
use barchan::checkpoint::{CheckpointHead, VERSION, read_head};

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
    refuses(&place.0, &["steps.csv cannot be continued: it has other columns"]);
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
        let head = CheckpointHead { engine: other.into(), ..read_head(&folder, 10).unwrap() };
        fs::write(folder.head(10), head.to_bytes()).unwrap();
        assert_eq!(engine().as_deref(), Some(other));
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
