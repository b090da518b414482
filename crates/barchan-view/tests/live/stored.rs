//! Runs that are written down: what is damaged, what is long, and what is replaced.

use crate::client::{Client, Door, serve};
use barchan::comm::Solo;
use barchan::output::RunDirectory;
use barchan::run::{Resumption, Run, RunOptions};
use barchan::scenario;
use barchan_view::live::Follow;
use barchan_view::server::Limits;
use serde_json::{Value, json};
use std::fmt::Write;
use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// A directory that goes with the test.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("barchan-stored-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A run that is followed while a viewer, who was there first, does what it does.
fn followed(directory: &Path, paused: bool, viewer: impl FnOnce(&mut Client) + Send) {
    let mut follow = Follow::open(directory).unwrap();
    let server = serve(&follow.hub(), Limits::default());
    let mut client = Client::new(Door::of(&server));
    client.hear("hello");
    std::thread::scope(|scope| {
        let viewing = scope.spawn(|| viewer(&mut client));
        follow.run(paused, || viewing.is_finished());
        viewing.join().unwrap();
    });
}

/// What is told in this time.
fn statuses(client: &mut Client, time: Duration) -> Vec<Value> {
    let end = Instant::now() + time;
    let mut told = Vec::new();
    while Instant::now() < end {
        told.push(client.hear("status"));
    }
    told
}

#[test]
fn a_frame_that_cannot_be_read_is_tried_once() {
    let scratch = Scratch::new("damaged");
    let set = [("output.frame_interval".to_owned(), "0.001".to_owned())];
    let scene = scenario::find("bounce").unwrap().scene(&set).unwrap();
    let options = RunOptions { steps: Some(40), ..RunOptions::default() };
    let directory = RunDirectory::create(&scratch.0, true).unwrap();
    let run = Run::start(&scene, &options).unwrap().record_in(directory).unwrap();
    run.to_end(|_| ControlFlow::Continue(())).unwrap();
    let index = fs::read_to_string(scratch.0.join("frames.pvd")).unwrap();
    let file = index.split("file=\"").nth(2).unwrap().split('"').next().unwrap();
    let sound = scratch.0.join(file);
    let aside = sound.with_extension("aside");
    fs::rename(&sound, &aside).unwrap();

    followed(&scratch.0, true, |client| {
        client.ready();
        client.frame();
        client.say(&json!({ "type": "seek", "frame": 1 }));
        client.ready();
        client.until(|status| status["frame"] == 1 && status["message"].as_str().is_some_and(|why| why.contains(file)));
        // Nothing says that it is sound again: that nobody notices shows that it is not read again and again.
        fs::rename(&aside, &sound).unwrap();
        let told = statuses(client, Duration::from_millis(1500));
        assert!(told.len() > 5 && told.iter().all(|status| status["message"].is_string()), "{told:?}");
        // Who asks gets another try, and other frames were never in question.
        client.say(&json!({ "type": "seek", "frame": 1 }));
        client.frame();
        client.until(|status| status["frame"] == 1 && status["message"].is_null());
        // So does what the run writes: an end that comes is news.
        fs::rename(&sound, &aside).unwrap();
        client.say(&json!({ "type": "seek", "frame": 0 }));
        client.ready();
        client.frame();
        client.ready();
        client.say(&json!({ "type": "seek", "frame": 1 }));
        client.until(|status| status["frame"] == 1 && status["message"].is_string());
        fs::rename(&aside, &sound).unwrap();
        fs::rename(scratch.0.join("summary.json"), scratch.0.join("summary.aside")).unwrap();
        client.frame();
        client.until(|status| status["message"].is_null());
    });
}

fn table(rows: usize) -> String {
    let mut text = String::from("step,time,converged\n");
    for row in 1..=rows {
        writeln!(text, "{row},{:.50},{}", row as f64 * 1e-3, u8::from(row % 10 != 0)).unwrap();
    }
    text
}

#[test]
fn a_long_table_does_not_keep_viewers_waiting() {
    let scratch = Scratch::new("long");
    let rows = 200_000;
    fs::write(scratch.0.join("steps.csv"), table(rows)).unwrap();
    followed(&scratch.0, false, |client| {
        let first = client.hear("status");
        let judged = first["judged"].as_u64().unwrap();
        assert!(judged > 1000 && judged < rows as u64 / 2, "{first}");
        client.until(|status| status["judged"] == rows && status["missed"] == rows / 10);
        // A shorter one is that of another run, and its rows count once.
        fs::write(scratch.0.join("new.csv"), table(500)).unwrap();
        fs::rename(scratch.0.join("new.csv"), scratch.0.join("steps.csv")).unwrap();
        client.until(|status| status["judged"] == 500 && status["missed"] == 50);
        let told = statuses(client, Duration::from_millis(1200));
        assert!(told.iter().all(|status| status["judged"] == 500), "{told:?}");
    });
}

#[test]
#[cfg(unix)]
fn what_has_become_of_a_run_is_told() {
    let scratch = Scratch::new("its fate");
    let scene = scenario::find("bounce").unwrap().scene(&[]).unwrap();
    let options = RunOptions { steps: Some(40), ..RunOptions::default() };
    let record = || {
        let directory = RunDirectory::create(&scratch.0, true).unwrap();
        Run::start(&scene, &options).unwrap().record_in(directory).unwrap()
    };
    let under_way = record();
    followed(&scratch.0, false, |client| {
        let becomes = |client: &mut Client, run_state: &str, state: &str| {
            let status = client.until(|status| status["run"]["state"] == run_state && status["state"] == state);
            status["run"]["text"].as_str().unwrap().to_owned()
        };
        becomes(client, "running", "waiting");
        // Killed: nobody has it, and it has left no summary.
        drop(under_way);
        let text = becomes(client, "killed", "ended");
        let restart = format!("`barchan restart '{}'`", scratch.0.display());
        assert!(text.ends_with(&format!("There is no checkpoint: {restart} begins anew.")), "{text}");
        let stop = |step| if step == 30 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
        record().to_end(|progress| stop(progress.step)).unwrap();
        let text = becomes(client, "interrupted", "ended");
        assert_eq!(text, format!("It was stopped after step 30. {restart} goes on."));
        let status = client.until(|status| status["run"]["step"] == 30);
        assert_eq!(status["run"]["steps"], 40);
        // Killed once more, with a checkpoint.
        fs::remove_file(scratch.0.join("summary.json")).unwrap();
        let text = becomes(client, "killed", "ended");
        assert!(text.ends_with(&format!("{restart} goes on after step 30.")), "{text}");
        record().to_end(|_| ControlFlow::Continue(())).unwrap();
        becomes(client, "finished", "ended");
        let strict = RunOptions { strict: true, ..options };
        let mut impossible = scene.clone();
        (impossible.solver.tolerance, impossible.solver.max_iterations) = (1e-300, 1);
        impossible.body[1].position.z = 0.0;
        let directory = RunDirectory::create(&scratch.0, true).unwrap();
        let run = Run::start(&impossible, &strict).unwrap().record_in(directory).unwrap();
        run.to_end(|_| ControlFlow::Continue(())).unwrap_err();
        let text = becomes(client, "failed", "ended");
        assert!(text.contains("missed the tolerance"), "{text}");
        let elsewhere = scratch.0.with_extension("moved");
        fs::rename(&scratch.0, &elsewhere).unwrap();
        becomes(client, "gone", "ended");
        fs::rename(&elsewhere, &scratch.0).unwrap();
        becomes(client, "failed", "ended");
    });
}

#[test]
#[cfg(unix)]
fn a_restart_is_shown_as_it_goes_on_to_its_later_end() {
    let scratch = Scratch::new("later");
    let set = [("output.frame_interval".to_owned(), "0.001".to_owned())];
    let scene = scenario::find("bounce").unwrap().scene(&set).unwrap();
    let options = |steps| RunOptions { steps: Some(steps), ..RunOptions::default() };
    let directory = RunDirectory::create(&scratch.0, true).unwrap();
    let run = Run::start(&scene, &options(40)).unwrap().record_in(directory).unwrap();
    run.to_end(|_| ControlFlow::Continue(())).unwrap();
    // It was killed some steps after its last checkpoint and its last frame.
    let path = scratch.0.join("steps.csv");
    let mut table = fs::read_to_string(&path).unwrap();
    let cells = table.lines().last().unwrap().split_once(',').unwrap().1.to_owned();
    (41..=45).for_each(|step| writeln!(table, "{step},{cells}").unwrap());
    fs::write(&path, table).unwrap();
    fs::remove_file(scratch.0.join("summary.json")).unwrap();

    followed(&scratch.0, false, |client| {
        // The film has come to its last frame.
        let before = client.until(|status| status["state"] == "ended" && status["judged"] == 45);
        assert_eq!((&before["frame"], &before["run"]["steps"]), (&json!(4), &json!(40)));
        let resumed = Run::resume(&scratch.0, &options(90), Box::new(Solo)).unwrap();
        let Resumption::Going(run) = resumed else { panic!("it is not at its end") };
        let end = Instant::now() + Duration::from_secs(10);
        let after = loop {
            let status = client.hear("status");
            assert_eq!(status["frame"], 4, "it begins anew: {status}");
            if status["judged"] == 40 && status["run"]["steps"] == 90 {
                break status;
            }
            assert!(Instant::now() < end, "it is not seen to go on: {status}");
        };
        assert_eq!(after["run"]["state"], "running");
        assert!((after["end"].as_f64().unwrap() - 0.009).abs() < 1e-9, "{after}");
        run.to_end(|_| ControlFlow::Continue(())).unwrap();
        client.until(|status| status["frame"] == 9 && status["judged"] == 90 && status["run"]["state"] == "finished");
    });
}
