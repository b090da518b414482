//! Runs that are killed at any moment and go on, against the same run never touched.

#[cfg(target_os = "linux")]
use crate::small_disk::SmallDisk;
use crate::support::{Desk, Said, files};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// A run of about a second that writes everything there is.
const RUN: &str = "run packing --set bodies=150 --steps 400 --set output.frame_interval=0.03 --set output.history=true \
                   --set broad_phase.reorder_interval=13 --checkpoint-steps 9 --quiet";

/// Random numbers below 1.
fn random(seed: u64) -> impl FnMut() -> f64 {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// A table without the columns that no two runs share.
fn rows(desk: &Desk, name: &str) -> Vec<String> {
    let text = desk.read(name);
    let head: Vec<&str> = text.lines().next().unwrap().split(',').collect();
    let kept = |line: &str| {
        let cells = line.split(',').zip(&head).filter(|cell| !cell.1.starts_with("seconds")).map(|cell| cell.0);
        cells.collect::<Vec<_>>().join(",")
    };
    text.lines().map(kept).collect()
}

/// All files but those that tell of times and restarts, and a page that a killed process had half written when its run
/// was at its end already: nobody writes it again before `barchan report` does.
fn results(desk: &Desk, run: &str) -> Vec<(String, Vec<u8>)> {
    let telling = ["checkpoints", "restarts.csv", "steps.csv", "summary.json", "report.html", ".report.html.partial"];
    let names = files(&desk.path(run)).into_iter().filter(|name| !telling.iter().any(|t| name.starts_with(t)));
    names.map(|name| (name.clone(), fs::read(desk.path(run).join(name)).unwrap())).collect()
}

fn hash(desk: &Desk, run: &str) -> Value {
    let summary: Value = serde_json::from_str(&desk.read(&format!("{run}/summary.json"))).unwrap();
    summary["state_hash"].clone()
}

#[track_caller]
pub(crate) fn same(desk: &Desk, run: &str, whole: &str, about: &str) {
    assert_eq!(hash(desk, run), hash(desk, whole), "{about}");
    assert_eq!(rows(desk, &format!("{run}/steps.csv")), rows(desk, &format!("{whole}/steps.csv")), "{about}");
    let ours = results(desk, run);
    let theirs = results(desk, whole);
    let names = |files: &[(String, Vec<u8>)]| files.iter().map(|file| file.0.clone()).collect::<Vec<_>>();
    assert_eq!(names(&ours), names(&theirs), "{about}");
    for (ours, theirs) in ours.iter().zip(&theirs) {
        assert!(ours.1 == theirs.1, "{about}: {} differs", ours.0);
    }
}

/// Starts a command and kills it after a while. Says whether it was still there to be killed.
fn kill_after(desk: &Desk, line: &str, run: &str, wait: Duration) -> bool {
    kill_when(desk, line, || {
        let is_there = desk.path(run).join("scene.toml").exists();
        if is_there {
            std::thread::sleep(wait);
        }
        is_there
    })
}

/// The same, as soon as something holds.
fn kill_when(desk: &Desk, line: &str, holds: impl Fn() -> bool) -> bool {
    let mut child = desk.command(line).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let start = Instant::now();
    while !holds() && start.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(1));
    }
    let alive = child.try_wait().unwrap().is_none();
    let _ = child.kill();
    child.wait().unwrap();
    alive
}

#[test]
fn a_run_killed_at_any_moment_goes_on_to_the_last_bit() {
    let desk = Desk::new();
    let start = Instant::now();
    assert_eq!(desk.barchan(&format!("{RUN} --out whole")).code, 0);
    let whole = start.elapsed();
    let mut random = random(5);
    let mut kills = 0;
    let mut anew = 0;
    let mut trials = 0;
    // A machine that is busy now and not later lets some come to their end before they are killed.
    while kills < 20 {
        let trial = trials;
        trials += 1;
        assert!(trials < 40, "only {kills} runs were killed");
        let run = format!("run{trial}");
        // Up to its end, and often within the first checkpoints.
        let moment = |random: f64| whole.mul_f64(random * random);
        kills += u32::from(kill_after(&desk, &format!("{RUN} --out {run}"), &run, moment(random())));
        // Some are killed again, while they go on.
        for _ in 0..trial % 3 {
            let threads = 1 + trial % 3;
            let line = format!("restart {run} --quiet --threads {threads}");
            kills += u32::from(kill_after(&desk, &line, &run, moment(random())));
        }
        let said = desk.barchan(&format!("restart {run} --quiet"));
        assert_eq!(said.code, 0, "trial {trial}: {said:?}");
        anew += u32::from(said.err.contains("beginning anew"));
        same(&desk, &run, "whole", &format!("trial {trial}: {said:?}"));
        fs::remove_dir_all(desk.path(&run)).unwrap();
    }
    assert!(anew < trials, "no run has gone on from a checkpoint");
}

#[test]
#[cfg(unix)]
fn a_run_that_was_told_to_stop_goes_on_and_nobody_else_may_write_it() {
    let desk = Desk::new();
    let long = "run packing --set bodies=150 --time 1000 --out run";
    let child = desk.command(long).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let rows = || fs::read_to_string(desk.path("run/steps.csv")).map_or(0, |text| text.lines().count());
    while rows() < 30 {
        std::thread::sleep(Duration::from_millis(20));
    }
    desk.barchan("restart run").refused(2, &["another process is writing to run"]);
    desk.barchan("run bounce --steps 1 --out run --force").refused(2, &["another process is writing to run"]);
    let done = Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap();
    assert!(done.success());
    let said = Said::from(child.wait_with_output().unwrap());
    assert_eq!(said.code, 130, "{said:?}");
    assert!(said.err.contains("`barchan restart run` goes on"), "{said:?}");
    let steps = rows() as u64 - 1;
    let total = steps + 40;
    let said = desk.barchan(&format!("restart run --steps {total} --threads 1 --json"));
    assert_eq!(said.code, 0, "{said:?}");
    assert!(said.err.contains("going on after step"), "{said:?}");
    let json: Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!(
        [&json["steps"], &json["restarted_at"], &json["restarts"]],
        [total, steps, 1].map(Value::from).each_ref()
    );
    desk.json(&format!("run packing --set bodies=150 --steps {total} --out whole"));
    same(&desk, "run", "whole", "after SIGTERM");
    // At its end there is nothing left to do, and more steps are.
    let before = results(&desk, "run");
    let said = desk.barchan("restart run --json");
    assert!(said.code == 0 && said.err.contains("is at its end") && said.err.contains("--steps N"), "{said:?}");
    assert_eq!(serde_json::from_str::<Value>(&said.out).unwrap()["state_hash"], json["state_hash"]);
    assert_eq!(results(&desk, "run"), before);
    assert_eq!(desk.json(&format!("restart run --steps {}", total + 5))["steps"], total + 5);
    assert!(desk.read("run/scene.toml").contains(&format!("end = {:?}", (total + 5) as f64 * 5e-4)));
    desk.barchan("restart run --steps 7").refused(2, &["at step", "cannot end at step 7"]);
}

#[test]
fn what_is_no_run_cannot_go_on() {
    let desk = Desk::new();
    desk.barchan("restart nowhere").refused(2, &["nowhere holds no run"]);
    fs::create_dir(desk.path("mine")).unwrap();
    desk.write("mine/scene.toml", "name = \"mine\"\n");
    desk.barchan("restart mine").refused(2, &["mine holds no run: there is no steps.csv in it"]);
    desk.barchan("restart mine/scene.toml").refused(2, &["is not a directory"]);
    assert_eq!(files(&desk.path("mine")), ["scene.toml"]);
}

pub(crate) fn copy(from: &Path, to: &Path) {
    for name in files(from) {
        fs::create_dir_all(to.join(&name).parent().unwrap()).unwrap();
        fs::copy(from.join(&name), to.join(&name)).unwrap();
    }
}

#[test]
fn damaged_checkpoints_are_passed_over() {
    let desk = Desk::new();
    let line = "run packing --set bodies=100 --set checkpoint.keep=3 --checkpoint-steps 20";
    desk.json(&format!("{line} --steps 70 --out run"));
    desk.json(&format!("{line} --steps 90 --out whole"));
    let names = files(&desk.path("run/checkpoints"));
    let expected = [40, 60, 70].map(|k| [format!("step-{k:09}.head"), format!("step-{k:09}.part-0000")]);
    assert_eq!(names, expected.as_flattened());
    type Damage = (&'static str, fn(&mut Vec<u8>), &'static str);
    let damages: [Damage; 6] = [
        ("part-0000", |bytes| bytes.truncate(bytes.len() - 1), "bytes, where"),
        ("part-0000", |bytes| bytes[5000] ^= 16, "its checksum is wrong"),
        ("part-0000", Vec::clear, "it is empty"),
        ("head", |bytes| bytes.truncate(39), "it has 39 bytes, where 40 are expected"),
        ("head", |bytes| bytes[8] += 1, "its checksum is wrong"),
        ("head", |bytes| *bytes = b"what is this?".to_vec(), "it is no file of a checkpoint"),
    ];
    for (trial, (kind, damage, words)) in damages.into_iter().enumerate() {
        let run = format!("run{trial}");
        copy(&desk.path("run"), &desk.path(&run));
        let name = format!("{run}/checkpoints/step-000000070.{kind}");
        let mut bytes = fs::read(desk.path(&name)).unwrap();
        damage(&mut bytes);
        fs::write(desk.path(&name), bytes).unwrap();
        let said = desk.barchan(&format!("restart {run} --steps 90 --json"));
        assert_eq!(said.code, 0, "{said:?}");
        let told = said.err.lines().find(|line| line.starts_with("WARNING: passed over")).unwrap_or_default();
        assert!(told.contains(&name) && told.contains(words), "{said:?}");
        let json: Value = serde_json::from_str(&said.out).unwrap();
        assert_eq!(json["restarted_at"], 60);
        assert!(json["passed_over"][0].as_str().unwrap().contains(words));
        same(&desk, &run, "whole", words);
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_costs_a_checkpoint_and_nothing_else() {
    let desk = Desk::new();
    let Some(disk) = SmallDisk::mount(desk.path("run/checkpoints")) else {
        return;
    };
    // Two checkpoints of about 50 kB, and no room for a third.
    let line = "run packing --set bodies=250 --checkpoint-steps 10";
    desk.json(&format!("{line} --steps 20 --out run --force"));
    let kept = files(disk.path());
    assert_eq!(kept.len(), 4, "{kept:?}");
    let filler = disk.path().join("filler");
    let mut size = 256 * 1024;
    while fs::write(&filler, vec![1; size]).is_err() {
        size -= 4096;
    }
    let said = desk.barchan("restart run --steps 60 --json");
    assert_eq!(said.code, 0, "{said:?}");
    let lost = said.err.matches("WARNING: a checkpoint is lost, and the run goes on: cannot write").count();
    assert!(lost >= 1 && said.err.contains("No space left"), "{said:?}");
    let json: Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!([&json["checkpoints"]["failed"], &json["checkpoints"]["written"]], [&Value::from(4), &Value::from(0)]);
    let there: Vec<_> = files(disk.path()).into_iter().filter(|name| name != "filler").collect();
    assert_eq!(there, kept, "the checkpoints before are still there, and nothing half-written");
    // They are used, and with room again all is well.
    fs::remove_file(&filler).unwrap();
    let said = desk.barchan("restart run --steps 60");
    assert!(said.code == 0 && said.err.contains("going on after step 20 of 60"), "{said:?}");
    desk.json(&format!("{line} --steps 60 --out whole"));
    same(&desk, "run", "whole", "after a full disk");
}

#[test]
fn ranks_go_on_too() {
    let desk = Desk::new();
    let line = "run packing --set bodies=150 --checkpoint-steps 10 --steps 300 --ranks 3";
    desk.json(&format!("{line} --out whole"));
    let has_head = || {
        fs::read_dir(desk.path("run/checkpoints"))
            .is_ok_and(|mut names| names.any(|name| name.unwrap().path().extension().is_some_and(|end| end == "head")))
    };
    assert!(kill_when(&desk, &format!("{line} --out run"), has_head), "it was over before it could be killed");
    let said = desk.barchan("restart run --ranks 3 --json");
    assert_eq!(said.code, 0, "{said:?}");
    let json: Value = serde_json::from_str(&said.out).unwrap();
    assert!((10..300).contains(&json["restarted_at"].as_u64().unwrap()), "{said:?}");
    same(&desk, "run", "whole", "three ranks");
    // What a killed rank has left half-written goes, though that rank is no more.
    desk.write("run/frames/.frame-000001-0002.vtp.partial", "half a frame");
    let said = desk.barchan("restart run --ranks 2 --steps 310 --json --quiet");
    assert!(said.code == 0 && said.err.contains("NOTE: the run was on 3 ranks, and goes on with 2"), "{said:?}");
    let json: Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!([&json["steps"], &json["ranks"], &json["restarted_at"]], [310, 2, 300].map(Value::from).each_ref());
    assert!(!desk.path("run/frames/.frame-000001-0002.vtp.partial").exists());
    let said = desk.barchan("restart run --ranks 2 --json");
    assert!(said.code == 0 && said.err.matches("is at its end").count() == 1, "{said:?}");
    assert_eq!(serde_json::from_str::<Value>(&said.out).unwrap()["steps"], 310);
    desk.barchan("restart nowhere --ranks 2").refused(2, &["nowhere holds no run"]);
}

#[test]
fn a_run_killed_after_seconds_goes_on_at_the_default_settings() {
    let desk = Desk::new();
    let line = "run packing --set bodies=100 --time 1000 --quiet --threads 1 --out run";
    let last = || {
        let names = fs::read_dir(desk.path("run/checkpoints")).ok()?.map(|name| name.unwrap().path());
        let heads = names.filter(|path| path.extension().is_some_and(|end| end == "head"));
        heads.filter_map(|path| path.file_stem()?.to_str()?.strip_prefix("step-")?.parse::<u64>().ok()).max()
    };
    assert!(kill_when(&desk, line, || last().is_some()), "it was over, or had no checkpoint within a minute");
    let step = last().unwrap();
    let json = desk.json(&format!("restart run --steps {}", step + 3));
    assert_eq!([&json["restarted_at"], &json["steps"]], [step, step + 3].map(Value::from).each_ref());
}

#[test]
fn a_strict_restart_judges_the_whole_run() {
    let desk = Desk::new();
    let said = desk.barchan("run packing --set bodies=60 --set solver.max_iterations=1 --steps 400 --out run --quiet");
    assert_eq!(said.code, 0, "{said:?}");
    // It is at its end, and has missed its tolerance on the way.
    assert_eq!(desk.barchan("restart run --quiet").code, 0);
    let said = desk.barchan("restart run --strict --quiet");
    assert!(said.code == 1 && said.err.contains("steps missed the tolerance"), "{said:?}");
}

#[test]
fn a_run_that_failed_at_its_end_says_so_again() {
    let desk = Desk::new();
    let line = "run bounce --steps 5 --set checkpoint.keep=0 --quiet";
    desk.barchan(&format!("{line} --out run"));
    let summary = desk.read("run/summary.json");
    desk.write("run/summary.json", &summary.replace("\"failure\": null", "\"failure\": \"no room for a picture\""));
    desk.barchan("restart run").refused(1, &["it failed at its end: no room for a picture", "is at its end"]);
    desk.barchan("restart run --dump-problem 5").refused(2, &["--dump-problem: step 5 is done"]);
    // What is there is not thrown away for a longer run.
    desk.barchan("restart run --steps 9").refused(2, &["run came to its end at step 5, and has kept no checkpoint"]);
    desk.barchan("run bounce --time 1e300 --out far")
        .refused(2, &["steps away; a run has at most 9 007 199 254 740 992"]);
    assert_eq!(desk.read("run/steps.csv").lines().count(), 6);
    // A strict run that fell short is at its end.
    let said =
        desk.barchan("run packing --set bodies=60 --set solver.max_iterations=1 --steps 300 --strict --out strict");
    assert_eq!(said.code, 1, "{said:?}");
    assert_eq!(desk.barchan("restart strict --quiet").code, 0);
}
