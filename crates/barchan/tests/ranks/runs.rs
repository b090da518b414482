//! Whole runs across ranks: one directory, the tables of one process, frames in pieces, and an end
//! that all ranks come to together. Ranks are threads here.

use barchan::comm::{Communicator, threads};
use barchan::frame::Frame;
use barchan::output::{OutputError, RunDirectory, StoredFrames, Summary};
use barchan::run::{DumpError, Progress, Run, RunError, RunFailure, RunOptions};
use barchan::scenario;
use barchan::scene::Scene;
use std::collections::BTreeMap;
use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// A fresh directory, removed at the end.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name = format!("barchan-run-ranks-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let path = std::env::temp_dir().join(name);
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn scene(name: &str, set: &[(&str, &str)]) -> Scene {
    let set: Vec<_> = set.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    scenario::find(name).unwrap().scene(&set).unwrap()
}

/// Bodies that fly about and meet now and then: what ranks do to the last digits stays small.
fn gas() -> Scene {
    let set = [
        ("clumps", "0"),
        ("nx", "8"),
        ("ny", "7"),
        ("nz", "6"),
        ("output.frame_interval", "0.002"),
        ("solver.name", "apgd"),
    ];
    scene("granular-gas", &set)
}

fn steps(steps: u64) -> RunOptions {
    RunOptions { steps: Some(steps), ..RunOptions::default() }
}

fn carry_on(_: usize, _: &Progress<'_>) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

/// Runs a scene on ranks and gives what each of them got.
fn run(
    scene: &Scene,
    count: u64,
    ranks: usize,
    path: &Path,
    observe: impl Fn(usize, &Progress<'_>) -> ControlFlow<()> + Sync,
) -> Vec<Result<Summary, RunFailure>> {
    // Steps are counted.
    let mut scene = scene.clone();
    scene.time.step = scene.time.step.fixed().unwrap_or(1e-3).into();
    let body = |comm: Box<dyn Communicator>| {
        let rank = comm.rank();
        let mut run = Run::start_on(&scene, &steps(count), comm).unwrap();
        run.record_by(|| RunDirectory::create(path, false)).unwrap();
        run.to_end(|progress| observe(rank, progress))
    };
    threads::run(ranks, 1, body).unwrap()
}

/// The columns of a table by their names.
fn columns(path: &Path) -> BTreeMap<String, Vec<f64>> {
    let text = fs::read_to_string(path).unwrap();
    let mut lines = text.lines();
    let names: Vec<_> = lines.next().unwrap().split(',').map(String::from).collect();
    let rows: Vec<Vec<f64>> = lines.map(|line| line.split(',').map(|cell| cell.parse().unwrap()).collect()).collect();
    names.into_iter().enumerate().map(|(k, name)| (name, rows.iter().map(|row| row[k]).collect())).collect()
}

/// A frame of a run, as it is read back.
fn frame(run: &Path, index: usize) -> Frame {
    StoredFrames::open(run).unwrap().read(index).unwrap()
}

fn pixels(path: &Path) -> Vec<u8> {
    let file = std::io::BufReader::new(fs::File::open(path).unwrap());
    let mut reader = png::Decoder::new(file).read_info().unwrap();
    let mut image = vec![0; reader.output_buffer_size().unwrap()];
    reader.next_frame(&mut image).unwrap();
    image
}

/// Rows of steps are those of one process: counts exactly, sums but for rounding.
fn compare_steps(found: &BTreeMap<String, Vec<f64>>, expected: &BTreeMap<String, Vec<f64>>, ranks: usize) {
    for (name, values) in found {
        let expected = &expected[name];
        assert_eq!(values.len(), 60);
        let loose = name.starts_with("seconds_");
        let counts = ["step", "bodies", "contacts", "converged"].contains(&name.as_str());
        for (a, b) in values.iter().zip(expected).filter(|_| !loose) {
            if counts {
                assert_eq!(a, b, "{name} on {ranks} ranks");
            } else if ["time", "kinetic", "potential"].contains(&name.as_str()) {
                assert!((a - b).abs() <= 1e-9 * b.abs(), "{name} on {ranks} ranks: {a} and {b}");
            }
        }
    }
}

/// The summaries of all ranks, and the one that was written.
fn compare_summaries(summaries: &[Result<Summary, RunFailure>], path: &Path, ranks: usize) {
    // What rank 0 says is what stands in the file; the others have the same numbers, but no rows.
    let [first, second, ..] = summaries else { panic!("{summaries:?}") };
    let (first, second) = (first.as_ref().unwrap(), second.as_ref().unwrap());
    assert_eq!((&first.state_hash, first.bodies, first.contacts), (&second.state_hash, second.bodies, second.contacts));
    assert!(second.by_rank.is_none());
    let written = fs::read_to_string(path.join("summary.json")).unwrap();
    let written: Summary = serde_json::from_str(&written).unwrap();
    assert_eq!(&written, first);
    let by_rank = first.by_rank.as_ref().unwrap();
    assert_eq!((by_rank.rows.len(), first.ranks), (ranks, ranks as u64));
    assert_eq!(by_rank.total.bodies, first.bodies);
    assert_eq!(by_rank.total.contacts, first.contacts);
    let talks = |share: &barchan::output::Share| share.messages > 0 && share.bytes > 0 && share.reductions > 60;
    assert!(by_rank.rows.iter().all(talks), "{by_rank:?}");
    assert!(by_rank.total.copies > 0 && by_rank.imbalance_bodies >= 1.0 && by_rank.imbalance_busy >= 1.0);
    assert!(first.table().contains("ranks of 1 thread") && first.table().contains("\nrank "), "{}", first.table());
}

#[test]
fn ranks_leave_what_one_process_leaves() {
    let (scratch, scene) = (Scratch::new(), gas());
    let one = scratch.0.join("1");
    let summary = run(&scene, 60, 1, &one, carry_on).remove(0).unwrap();
    assert!(summary.by_rank.is_none() && summary.ranks == 1);
    let expected = columns(&one.join("steps.csv"));
    assert!(expected["contacts"].iter().sum::<f64>() > 100.0, "{:?}", expected["contacts"]);
    let alone = frame(&one, 2);
    let all_ids = alone.bodies.len();
    assert_eq!(all_ids, 8 * 7 * 6);

    for ranks in [2, 4] {
        let path = scratch.0.join(ranks.to_string());
        let summaries = run(&scene, 60, ranks, &path, carry_on);
        let found = columns(&path.join("steps.csv"));
        assert_eq!(found.keys().collect::<Vec<_>>(), expected.keys().collect::<Vec<_>>());
        compare_steps(&found, &expected, ranks);

        // Every body in one piece of each frame.
        let frames = fs::read_to_string(path.join("frames.pvd")).unwrap().matches(".pvtp").count();
        assert_eq!(frames, fs::read_to_string(one.join("frames.pvd")).unwrap().matches(".vtp").count());
        for number in 0..frames {
            let index = fs::read_to_string(path.join(format!("frames/frame-{number:06}.pvtp"))).unwrap();
            assert_eq!(index.matches("<Piece Source=").count(), ranks);
            let whole = frame(&path, number);
            assert!(whole.bodies.rank.is_sorted() && whole.bodies.rank.contains(&(ranks as u32 - 1)));
            let mut found = whole.bodies.id;
            found.sort_unstable();
            assert_eq!(found.len(), all_ids);
            found.dedup();
            assert_eq!(found.len(), all_ids, "a body twice in frame {number}");
            // Contacts and walls as those of one process.
            let alone = frame(&one, number);
            let pairs = |frame: &Frame| {
                let mut pairs = frame.contacts.ids.clone();
                pairs.iter_mut().for_each(|pair| pair.sort_unstable());
                pairs.sort_unstable();
                pairs
            };
            assert_eq!((whole.step, &whole.walls), (alone.step, &alone.walls));
            let (here, there) = (pairs(&frame(&path, number)), pairs(&alone));
            assert_eq!(here, there, "contacts of frame {number}");
        }

        // The same picture but for rounding.
        let (here, there) = (pixels(&path.join("picture.png")), pixels(&one.join("picture.png")));
        let different = here.iter().zip(&there).filter(|(a, b)| a.abs_diff(**b) > 8).count();
        assert!(here.len() == there.len() && different < here.len() / 1000, "{different} of {}", here.len());

        compare_summaries(&summaries, &path, ranks);
    }
}

#[test]
fn the_state_of_ranks_has_the_hash_of_one_as_long_as_nothing_meets() {
    let scratch = Scratch::new();
    let scene = scene("sedimentation", &[("bodies", "90")]);
    let hash = |ranks: usize| {
        let path = scratch.0.join(ranks.to_string());
        run(&scene, 3, ranks, &path, carry_on).remove(0).unwrap().state_hash
    };
    let one = hash(1);
    assert_eq!([hash(2), hash(3)], [one.clone(), one]);
}

#[test]
fn more_ranks_than_bodies_write_empty_pieces() {
    let scratch = Scratch::new();
    let scene = scene("head-on", &[]);
    let summaries = run(&scene, 20, 5, &scratch.0.join("run"), carry_on);
    assert_eq!(summaries[0].as_ref().unwrap().bodies, 2);
    assert_eq!(frame(&scratch.0.join("run"), 1).bodies.len(), 2);
    assert!((0..5).all(|rank| scratch.0.join(format!("run/frames/frame-000001-{rank:04}.vtp")).exists()));
    assert!(scratch.0.join("run/picture.png").exists());
}

/// It has to come to every exchange of the others all the same.
#[test]
fn a_rank_may_share_nothing() {
    let text = "[domain]\nmin = [0, -1, 0]\nmax = [3, 1, 1]\npartition = \"cartesian\"\nblocks = [3, 1, 1]\n\
                [[body]]\nshape = { half-space = {} }\n\
                [[body]]\nshape.sphere.radius = 0.1\nposition = [0.95, 0, 0.1]\n\
                [[body]]\nshape.sphere.radius = 0.1\nposition = [1.14, 0, 0.1]\n\
                [[body]]\nshape.sphere.radius = 0.1\nposition = [2.5, 0, 0.1]\n";
    let scratch = Scratch::new();
    let scene = Scene::from_toml(text, "apart").unwrap();
    let summary = run(&scene, 5, 3, &scratch.0.join("run"), carry_on).remove(0).unwrap();
    let copies: Vec<_> = summary.by_rank.unwrap().rows.iter().map(|row| row.copies).collect();
    assert_eq!((summary.contacts, copies), (4, vec![0, 1, 0]));
}

#[test]
fn an_observer_on_one_rank_stops_all() {
    let scratch = Scratch::new();
    let stop = |rank: usize, progress: &Progress<'_>| {
        assert_eq!(progress.report.bodies, 8 * 7 * 6);
        if rank == 2 && progress.step == 7 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let path = scratch.0.join("run");
    for summary in run(&gas(), 60, 3, &path, stop) {
        let summary = summary.unwrap();
        assert!(summary.interrupted && summary.steps == 7);
    }
    assert_eq!(columns(&path.join("steps.csv"))["step"].len(), 7);
    assert!(path.join("picture.png").exists() && path.join("summary.json").exists());
}

#[test]
fn a_directory_that_cannot_be_made_is_told_by_rank_0() {
    let scratch = Scratch::new();
    let file = scratch.0.join("file");
    fs::write(&file, "").unwrap();
    let errors = threads::run(3, 1, |comm| {
        let mut run = Run::start_on(&gas(), &steps(5), comm).unwrap();
        run.record_by(|| RunDirectory::create(&file, true)).unwrap_err()
    });
    let errors = errors.unwrap();
    assert!(matches!(errors[0], OutputError::NotADirectory { .. }), "{errors:?}");
    assert!(errors[1..].iter().all(|error| matches!(error, OutputError::Elsewhere { is_input: true })), "{errors:?}");
}

/// Exactly this rank says why.
fn assert_spokesman(results: &[Result<Summary, RunFailure>], expected: usize) -> &RunError {
    let speaks = |result: &Result<Summary, RunFailure>| !result.as_ref().unwrap_err().error.is_elsewhere();
    let found: Vec<_> = (0..results.len()).filter(|&rank| speaks(&results[rank])).collect();
    assert_eq!(found, [expected], "{results:?}");
    &results[expected].as_ref().unwrap_err().error
}

#[test]
fn a_rank_that_cannot_write_fails_all() {
    let scratch = Scratch::new();
    let path = scratch.0.join("run");
    // A directory stands where rank 1 wants to put its piece of the second frame.
    let spoil = |rank: usize, progress: &Progress<'_>| {
        if rank == 1 && progress.step == 1 {
            fs::create_dir(path.join("frames/frame-000001-0001.vtp")).unwrap();
        }
        ControlFlow::Continue(())
    };
    let results = run(&gas(), 60, 3, &path, spoil);
    let error = assert_spokesman(&results, 1).to_string();
    assert!(error.contains("frame-000001-0001.vtp"), "{error}");
    // The frame that is not whole is not in the index, and the summary tells how far it got.
    assert!(!path.join("frames/frame-000001.pvtp").exists());
    let written: Summary = serde_json::from_str(&fs::read_to_string(path.join("summary.json")).unwrap()).unwrap();
    assert!(written.interrupted && written.steps < 60 && written.steps > 1);
    assert!(results.iter().all(|result| result.as_ref().unwrap_err().summary.steps == written.steps));
}

#[test]
fn a_picture_that_cannot_be_written_fails_all() {
    let scratch = Scratch::new();
    let path = scratch.0.join("run");
    let spoil = |rank: usize, progress: &Progress<'_>| {
        if rank == 0 && progress.step == 3 {
            // The picture cannot take the place of a directory.
            fs::create_dir(path.join("picture.png")).unwrap();
        }
        ControlFlow::Continue(())
    };
    let results = run(&gas(), 10, 2, &path, spoil);
    let error = assert_spokesman(&results, 0).to_string();
    assert!(error.contains("picture.png"), "{error}");
    assert!(path.join("summary.json").exists());
}

#[test]
fn a_state_that_is_no_number_is_told_once() {
    let scratch = Scratch::new();
    // Repelled from the origin, faster and faster, on all ranks alike.
    let text = "gravity = [0, 0, 0]\n[time]\nend = 100.0\n[[force]]\n\
                well = { centre = [0, 0, 0], stiffness = -1e6 }\n\
                [[body]]\nshape.sphere.radius = 0.1\nposition = [0, 0, 1]\n\
                [[body]]\nshape.sphere.radius = 0.1\nposition = [0, 0, -1]\n";
    let scene = Scene::from_toml(text, "burst").unwrap();
    let results = run(&scene, 100_000, 2, &scratch.0.join("run"), carry_on);
    let speaks = |result: &&Result<Summary, RunFailure>| !result.as_ref().unwrap_err().error.is_elsewhere();
    let spoken: Vec<_> = results.iter().filter(speaks).collect();
    assert_eq!(spoken.len(), 1, "{results:?}");
    assert!(spoken[0].as_ref().unwrap_err().to_string().starts_with("step "), "{results:?}");
    assert!(scratch.0.join("run/summary.json").exists());
}

#[test]
fn strict_runs_are_told_once() {
    let set =
        [("bodies", "60"), ("solver.name", "apgd"), ("solver.tolerance", "1e-14"), ("solver.max_iterations", "1")];
    let scene = scene("packing", &set);
    let results = threads::run(2, 1, |comm| {
        // One rank that was told so is enough.
        let options = RunOptions { strict: comm.rank() == 1, ..steps(150) };
        Run::start_on(&scene, &options, comm).unwrap().to_end(|_| ControlFlow::Continue(()))
    });
    let results = results.unwrap();
    assert!(matches!(assert_spokesman(&results, 0), RunError::MissedTolerance { steps: 150, .. }), "{results:?}");
}

/// Each rank reads its scene and its arguments by itself.
#[test]
fn ranks_with_different_scenes_are_refused() {
    let refused = |margin: f64, count: u64| {
        let errors = threads::run(3, 1, |comm| {
            let (mut scene, mut count_here) = (gas(), 5);
            if comm.rank() == 2 {
                scene.contact.margin = margin;
                count_here = count;
            }
            Run::start_on(&scene, &steps(count_here), comm).err().unwrap()
        });
        let errors = errors.unwrap();
        assert!(errors[1..].iter().all(|error| error.is_elsewhere()), "{errors:?}");
        errors[0].to_string()
    };
    let margin = gas().contact.margin;
    let told = refused(0.375, 5);
    assert!(told.contains("different scenes: rank 2 with [contact] margin = 0.375, but rank 0 with"), "{told}");
    let told = refused(margin, 6);
    assert!(told.contains("different scenes: rank 2 with [time] end = "), "{told}");
}

#[test]
fn what_ranks_cannot_do_is_refused_before_the_run() {
    let direct = scene("packing", &[("bodies", "60"), ("solver.name", "scip"), ("solver.scip.system", "direct")]);
    let errors = threads::run(2, 1, |comm| Run::start_on(&direct, &steps(1), comm).err().unwrap());
    let errors = errors.unwrap();
    assert!(
        errors[0].to_string().contains("solver.scip.system: \"direct\" needs all contacts on one rank"),
        "{errors:?}"
    );
    assert!(errors[1].is_elsewhere() && !errors[0].is_elsewhere());
    assert!(Run::start(&direct, &steps(1)).is_ok());

    let auto = scene("packing", &[("bodies", "60"), ("solver.name", "scip")]);
    let refused = threads::run(2, 1, |comm| {
        let run = Run::start_on(&auto, &steps(1), comm).unwrap();
        run.dump_problems([1]).err().unwrap()
    });
    assert_eq!(refused, Ok(vec![DumpError::Ranks { ranks: 2 }; 2]));
}
