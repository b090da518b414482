//! What the directory of a run that went on says about it: frames, seconds, how often it went on.

use super::*;
use barchan::checkpoint::{go_on as go_on_from, read_head, read_part};

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
    let told: f64 = column(&place.0, "seconds_checkpoint").iter().sum();
    let after = check(&go_on(&place.0, u64::MAX, Box::new(Solo)));
    // What it had spent before it was stopped counts.
    assert!(after.start > before.start && after.checkpoint > told, "{before:?} {after:?}, {told}");
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
        assert!((0..a.len()).all(|i| a.position[i].distance(b.position[b.index_of(a.id()[i]).unwrap()]) < 1e-3));
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
