//! Runs on ranks inside the process: they look like one run, and fail like one.

use crate::support::{Desk, Said};
use serde_json::Value;

/// Exactly one message, however many ranks have failed.
#[track_caller]
fn one_error(said: &Said) {
    assert_eq!(said.err.lines().filter(|line| line.starts_with("error: ")).count(), 1, "{said:?}");
}

#[test]
fn ranks_are_told_and_counted() {
    let desk = Desk::new();
    let line = "run granular-gas --set nx=6 --set ny=5 --set nz=4 --steps 40 --ranks 3 --json --out run";
    let said = desk.barchan(line);
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!(said.out.lines().count(), 1);
    assert_eq!(said.err.matches("3 ranks of 1 thread\n").count(), 1, "{}", said.err);
    let json: Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!([&json["bodies"], &json["steps"], &json["threads"], &json["ranks"]], [120, 40, 1, 3]);
    let by_rank = &json["by_rank"];
    assert_eq!(by_rank["partition"], "morton");
    assert_eq!(by_rank["rows"].as_array().unwrap().len(), 3);
    assert_eq!(by_rank["total"]["bodies"], 120);
    assert!(by_rank["total"]["messages"].as_u64().unwrap() > 40 && by_rank["total"]["reductions"].as_u64() > Some(40));
    assert_eq!(serde_json::from_str::<Value>(&desk.read("run/summary.json")).unwrap(), json);
    assert_eq!(desk.read("run/steps.csv").lines().count(), 41);
    assert!(desk.read("run/frames.pvd").contains("frames/frame-000000.pvtp") && desk.path("run/picture.png").exists());

    let said =
        desk.barchan("run granular-gas --set nx=6 --set ny=5 --set nz=4 --steps 4 --ranks 2 --threads 2 --quiet");
    assert!(said.out.contains("2 ranks of 2 threads") && said.out.contains("\nrank "), "{}", said.out);
    assert_eq!(said.err, "");
}

#[test]
fn falling_bodies_do_not_notice_ranks() {
    let desk = Desk::new();
    let line = "run sedimentation --set bodies=200 --steps 3";
    let one = desk.hash(line);
    assert_eq!(one, desk.hash(&format!("{line} --ranks 2")));
    assert_eq!(one, desk.hash(&format!("{line} --ranks 1")));
    assert_eq!(one, desk.hash(&format!("{line} --ranks 4 --set domain.partition=cartesian")));
}

#[test]
fn what_is_given_by_rank_grows_with_their_number() {
    let desk = Desk::new();
    let bodies =
        |rest: &str| desk.json(&format!("run granular-gas --set per_rank=4 --steps 1 {rest}"))["bodies"].clone();
    assert_eq!(bodies(""), 64);
    assert_eq!(bodies("--ranks 2"), 128);
    assert_eq!(bodies("--ranks 2 --set ranks=3"), 192);
}

#[test]
fn what_ranks_cannot_do_is_refused() {
    let desk = Desk::new();
    desk.barchan("run bounce --ranks 0").refused(2, &["--ranks"]);
    let said = desk.barchan("run packing --set bodies=50 --steps 2 --ranks 2 --dump-problem 1");
    said.refused(2, &["--dump-problem: each of 2 ranks has a part"]);
    one_error(&said);
    let said =
        desk.barchan("run packing --set bodies=50 --steps 2 --ranks 3 --solver scip --set solver.scip.system=direct");
    said.refused(2, &["solver.scip.system: \"direct\" needs all contacts on one rank"]);
    one_error(&said);
    let said = desk.barchan("run packing --set bodies=many --ranks 3");
    said.refused(2, &["--set bodies: must be a number"]);
    one_error(&said);
    assert!(!desk.path("runs").exists());
    let said = Said::from(desk.command("run bounce --ranks 2").env("PMI_SIZE", "4").output().unwrap());
    said.refused(2, &["--ranks is for a single process, but 4 were started (PMI_SIZE=4)"]);
}

#[test]
fn a_directory_in_use_is_refused_once() {
    let desk = Desk::new();
    let line = "run bounce --steps 5 --ranks 3 --out run";
    assert_eq!(desk.barchan(line).code, 0);
    let said = desk.barchan(line);
    said.refused(2, &["already holds a run"]);
    one_error(&said);
    // Pieces of more ranks than now are gone too.
    assert_eq!(desk.barchan(&format!("{line} --force").replace("--ranks 3", "--ranks 2")).code, 0);
    let frames = crate::support::files(&desk.path("run/frames"));
    assert!(frames.iter().all(|name| !name.contains("-0002")), "{frames:?}");
}

#[test]
fn a_failure_of_all_is_told_once() {
    let desk = Desk::new();
    let said = desk.barchan(
        "run packing --set bodies=60 --solver apgd --set solver.tolerance=1e-14 --set solver.max_iterations=1 \
         --steps 150 --ranks 2 --strict",
    );
    said.refused(1, &["of 150 steps missed the tolerance 1e-14"]);
    one_error(&said);
}
