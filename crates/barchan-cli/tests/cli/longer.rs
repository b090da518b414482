//! What a restart can be told: a later end, viewers, other checkpoints, problems to write.

use crate::restart::{copy, same};
use crate::support::{Desk, files};
use crate::view::View;
use serde_json::Value;
use std::net::TcpListener;

/// Steps of half a millisecond, with frames and iterations.
const LINE: &str = "run packing --set bodies=100 --set output.frame_interval=0.02 --set output.history=true";

#[test]
fn a_longer_run_is_the_one_that_was_as_long_from_the_beginning() {
    let desk = Desk::new();
    // The first ends between two frames.
    desk.json(&format!("{LINE} --time 0.05 --out short"));
    desk.json(&format!("{LINE} --time 0.1 --out whole --dump-problem 150"));
    for (options, about) in [
        ("--time 0.1 --dump-problem 150", "by time"),
        ("--steps 200 --dump-problem 150 --threads 1", "by steps"),
        ("--time 0.1 --dump-problem 150", "watched"),
    ] {
        let run = about.replace(' ', "-");
        copy(&desk.path("short"), &desk.path(&run));
        let line = format!("restart {run} --json --quiet {options}");
        let said = if about == "watched" {
            let view = View::of_run(&desk, &line);
            view.visit();
            view.wait()
        } else {
            desk.barchan(&line)
        };
        assert_eq!(said.code, 0, "{said:?}");
        assert_eq!(said.err.contains("watch it at http://127.0.0.1:"), about == "watched", "{said:?}");
        // Port 0 is any that is free, and not the usual one.
        assert!(!said.err.contains(":8737/"), "{said:?}");
        let json: Value = serde_json::from_str(&said.out).unwrap();
        assert_eq!([&json["steps"], &json["restarted_at"]], [200, 100].map(Value::from).each_ref());
        same(&desk, &run, "whole", about);
    }
}

#[test]
fn a_restart_changes_when_checkpoints_are_taken() {
    let desk = Desk::new();
    desk.json(&format!("{LINE} --steps 20 --out run"));
    desk.json("restart run --steps 50 --checkpoint-steps 12 --checkpoint-seconds 0");
    let scene = desk.read("run/scene.toml");
    assert!(scene.contains("steps = 12") && scene.contains("seconds = 0.0"), "{scene}");
    let heads = |desk: &Desk| {
        let names = files(&desk.path("run/checkpoints"));
        names.into_iter().filter(|name| name.ends_with(".head")).collect::<Vec<_>>()
    };
    assert_eq!(heads(&desk), ["step-000000048.head", "step-000000050.head"]);
    // That holds from then on.
    desk.json("restart run --steps 70");
    assert_eq!(heads(&desk), ["step-000000060.head", "step-000000070.head"]);
}

#[test]
fn what_a_restart_cannot_do_costs_nothing() {
    let desk = Desk::new();
    desk.json(&format!("{LINE} --steps 20 --out run"));
    let contents = || -> Vec<_> {
        let read = |name: String| (std::fs::read(desk.path("run").join(&name)).unwrap(), name);
        files(&desk.path("run")).into_iter().map(read).collect()
    };
    let before = contents();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    for (options, code, words) in [
        ("--time 0.005".into(), 2, "the run is at step 20 already, and cannot end at step 10: ask for a later end"),
        ("--time later".into(), 2, "expected a simulated time in seconds"),
        ("--time 1 --steps 40".into(), 2, "cannot be used with"),
        ("--steps 40 --dump-problem 20".into(), 2, "--dump-problem: step 20 is done: the run goes on after step 20"),
        ("--steps 40 --dump-problem 41".into(), 2, "--dump-problem: there is no step 41: the run has 40"),
        ("--steps 40 --dump-problem 30 --ranks 2".into(), 2, "a part of the contact problem only"),
        ("--steps 40 --view --ranks 2".into(), 2, "--view is for a run on one rank"),
        ("--steps 40 --checkpoint-seconds 1h".into(), 2, "a number of seconds, 0 or more"),
        (format!("--steps 40 --view={port}"), 1, "cannot listen on 127.0.0.1, port"),
    ] {
        let said = desk.barchan(&format!("restart run {options}"));
        said.refused(code, &[words]);
        assert_eq!(said.err.matches("error: ").count(), 1, "{said:?}");
    }
    assert!(contents() == before, "something was touched");
    assert_eq!(desk.json("restart run --steps 40")["steps"], 40);
}
