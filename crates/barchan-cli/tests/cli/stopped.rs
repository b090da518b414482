//! Signals to commands that make one file: they stop soon, and leave nothing half-written.

use crate::support::{Desk, Said, files};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// A run that has, by its index, more frames than anybody waits for.
fn endless() -> Desk {
    let desk = Desk::new();
    desk.json("run packing --set bodies=300 --steps 1 --out r");
    let index = desk.read("r/frames.pvd");
    let (start, rest) = index.split_once("<DataSet").unwrap();
    let entries: String =
        (0..50_000).map(|k| format!("<DataSet timestep=\"{k}\" file=\"frames/frame-000000.vtp\"/>\n")).collect();
    let end = rest.rfind("/>").unwrap() + 2;
    desk.write("r/frames.pvd", &format!("{start}{entries}{}", &rest[end..]));
    desk
}

/// Starts a command, and signals it as soon as its partial file is there.
#[track_caller]
fn stops(desk: &Desk, line: &str, name: &str, signals: &[&str]) {
    let before = files(&desk.path(""));
    let child =
        desk.command(&format!("{line} -o {name}")).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let start = Instant::now();
    while !desk.path(&format!(".{name}.partial")).exists() {
        assert!(start.elapsed() < Duration::from_secs(60), "{line}: no partial file in a minute");
        std::thread::sleep(Duration::from_millis(5));
    }
    for signal in signals {
        let id = child.id().to_string();
        // It may have obeyed the first already.
        let _ = Command::new("kill").args([&format!("-{signal}"), &id]).stderr(Stdio::null()).status();
    }
    let said = Said::from(child.wait_with_output().unwrap());
    assert_eq!(said.code, 130, "{line}: {said:?}");
    if signals.len() == 1 {
        assert_eq!(said.err, format!("interrupted; {name} is not written\n"), "{line}");
    }
    // What an encoder would still write it writes within a moment.
    std::thread::sleep(Duration::from_millis(100));
    assert_eq!(files(&desk.path("")), before, "{line}");
}

#[test]
#[cfg(unix)]
fn nothing_half_written_is_left() {
    let desk = endless();
    stops(&desk, "export r --all", "x.csv", &["INT"]);
    stops(&desk, "export r --all", "x.csv", &["INT", "INT"]);
    stops(&desk, "export r --vtkhdf", "x.vtkhdf", &["TERM"]);
    stops(&desk, "render r --video --size 64x48", "x.png", &["INT"]);
    if Command::new("ffmpeg").arg("-version").stdout(Stdio::null()).status().is_err() {
        eprintln!("partly skipped: no ffmpeg");
        return;
    }
    stops(&desk, "render r --video --size 64x48", "x.mp4", &["TERM"]);
    stops(&desk, "render r --video --size 64x48", "x.gif", &["INT", "INT"]);
}
