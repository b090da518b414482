//! What goes wrong in mid-run: exit code 1 (130 after an interrupt), everything so far written,
//! nothing half-written under a final name.

#[cfg(target_os = "linux")]
use crate::small_disk::SmallDisk;
use crate::support::{Desk, Said, files};
use serde_json::Value;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A run that would take hours.
const LONG: &str = "run sedimentation --set bodies=500 --time 1000 --out run";

/// Waits until the run has written rows.
fn under_way(desk: &Desk) {
    let start = Instant::now();
    let rows = || std::fs::read_to_string(desk.path("run/steps.csv")).map_or(0, |text| text.lines().count());
    while rows() < 5 {
        assert!(start.elapsed() < Duration::from_secs(60), "no steps in a minute");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn start(desk: &Desk, line: &str) -> Child {
    desk.command(line).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

fn signal(child: &Child, name: &str) {
    let done = Command::new("kill").args([&format!("-{name}"), &child.id().to_string()]).status().unwrap();
    assert!(done.success());
}

#[test]
#[cfg(unix)]
fn an_interrupt_writes_what_there_is() {
    for (name, ranks) in [("INT", ""), ("TERM", ""), ("INT", "--ranks 2")] {
        let desk = Desk::new();
        let child = start(&desk, &format!("{LONG} --json {ranks}"));
        under_way(&desk);
        signal(&child, name);
        let said = Said::from(child.wait_with_output().unwrap());
        assert_eq!(said.code, 130, "{said:?}");
        assert!(said.err.contains("stopping after this step") && said.err.contains("interrupted after step"));
        let json: Value = serde_json::from_str(&said.out).unwrap();
        assert_eq!(json["interrupted"], true);
        let written: Value = serde_json::from_str(&desk.read("run/summary.json")).unwrap();
        assert_eq!(written["state_hash"], json["state_hash"]);
        let rows = desk.read("run/steps.csv").lines().count() as u64 - 1;
        assert_eq!(json["steps"], rows);
        assert!(desk.path("run/picture.png").exists() && desk.path("run/frames.pvd").exists());
    }
}

#[test]
fn missed_tolerances_are_told_and_strict_fails() {
    let desk = Desk::new();
    let line = "run packing --set bodies=60 --set solver.tolerance=1e-14 --set solver.max_iterations=1 --steps 200";
    let said = desk.barchan(line);
    assert_eq!(said.code, 0);
    assert!(said.out.contains("WARNING: ") && said.out.contains("of 200 steps missed the tolerance"), "{}", said.out);
    let said = desk.barchan(&format!("{line} --strict --json --out strict"));
    said.refused(1, &["of 200 steps missed the tolerance 1e-14"]);
    let json: Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!([&json["steps"], &json["interrupted"]], [&Value::from(200), &Value::from(false)]);
    assert!(desk.path("strict/picture.png").exists() && desk.path("strict/summary.json").exists());
    assert_eq!(desk.barchan("run packing --set bodies=60 --steps 200 --strict").code, 0);
}

#[test]
fn a_state_that_is_no_number_stops_the_run() {
    let desk = Desk::new();
    // Repelled from the origin, faster and faster.
    desk.write(
        "burst.toml",
        "gravity = [0, 0, 0]\n[time]\nstep = 1e-3\nend = 100.0\n[[force]]\nwell = { centre = [0, 0, 0], stiffness = -1e6 }\n\
         [[body]]\nshape.sphere.radius = 0.1\nposition = [0, 0, 1]\n",
    );
    let said = desk.barchan("run burst.toml --out run");
    said.refused(1, &["error: step ", "position or velocity of body 0 is not finite"]);
    let summary: Value = serde_json::from_str(&desk.read("run/summary.json")).unwrap();
    let steps = summary["steps"].as_u64().unwrap();
    assert!(steps > 0 && said.err.contains(&format!("step {}: ", steps + 1)), "{said:?}");
    assert_eq!(desk.read("run/steps.csv").lines().count() as u64, steps + 1);
    assert!(!desk.path("run/picture.png").exists());
}

#[test]
fn numbers_too_large_to_compute_with_stop_the_run() {
    let desk = Desk::new();
    for scenario in ["bounce", "packing --set bodies=20"] {
        for gravity in ["[0,0,-1e300]", "[1e160,0,-1e160]"] {
            let said = desk.barchan(&format!("run {scenario} --set gravity={gravity} --time 1"));
            said.refused(1, &["error: step ", "body "]);
        }
    }
}

#[test]
fn directories_that_cannot_be_written() {
    let desk = Desk::new();
    desk.write("file", "mine");
    desk.barchan("run bounce --steps 1 --out file").refused(2, &["file is not a directory"]);
    desk.barchan("run bounce --steps 1 --out file/run").refused(1, &["cannot create directory file/run"]);
    desk.write("runs", "mine");
    desk.barchan("run bounce --steps 1").refused(1, &["cannot create directory runs"]);
    assert_eq!(files(&desk.path("")), ["file", "runs"]);
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_is_named_and_leaves_whole_files_only() {
    let desk = Desk::new();
    let Some(disk) = SmallDisk::mount(desk.path("disk")) else {
        return;
    };
    // Frames of about 27 kB: the disk fills at the tenth or so.
    let line = "run sedimentation --set bodies=300 --set output.frame_interval=0.001 --steps 100 --out disk/run";
    for (options, remedy) in [
        ("", "`barchan restart disk/run` begins anew"),
        ("--ranks 3 --force", "`barchan restart disk/run` begins anew"),
        ("--checkpoint-steps 2 --force", "`barchan restart disk/run` goes on after step "),
    ] {
        let said = desk.barchan(&format!("{line} {options}"));
        said.refused(1, &["cannot write disk/run/", "No space left", "Free some space", remedy]);
        assert_eq!(said.err.matches("error: ").count(), 1, "{said:?}");
        check_files(&desk, &disk);
    }
}

/// Whole files only, and rows that are whole.
#[cfg(target_os = "linux")]
#[track_caller]
fn check_files(desk: &Desk, disk: &SmallDisk) {
    let files = files(&disk.path().join("run"));
    assert!(files.iter().all(|name| !name.contains("partial")), "{files:?}");
    let frames: Vec<_> = files.iter().filter(|name| name.ends_with(".vtp")).collect();
    assert!(frames.len() > 3, "{files:?}");
    let tail = b"</AppendedData>\n</VTKFile>\n";
    for frame in frames {
        assert!(std::fs::read(disk.path().join("run").join(frame)).unwrap().ends_with(tail), "{frame} is whole");
    }
    let table = desk.read("disk/run/steps.csv");
    let columns = |line: &str| line.split(',').count();
    assert!(table.ends_with('\n') && table.lines().all(|line| columns(line) == columns(table.lines().next().unwrap())));
    if let Ok(text) = std::fs::read_to_string(disk.path().join("run/summary.json")) {
        let summary: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(summary["interrupted"], true);
        // Whichever rank it was that could not write.
        assert!(summary["failure"].as_str().unwrap().contains("No space left"), "{summary}");
    }
}
