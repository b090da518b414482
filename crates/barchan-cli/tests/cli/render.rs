//! Pictures and videos of a run.

use crate::support::{Desk, Said};
use std::fs;

/// Width and height of a PNG, and the number of its frames if it is animated.
fn png(desk: &Desk, name: &str) -> ([u32; 2], Option<u32>) {
    let bytes = fs::read(desk.path(name)).unwrap();
    assert!(bytes.starts_with(b"\x89PNG\r\n\x1a\n"), "{name}");
    let number = |at: usize| u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap());
    let control = bytes.windows(4).position(|w| w == b"acTL").map(|at| number(at + 4));
    ([number(16), number(20)], control)
}

fn run() -> Desk {
    let desk = Desk::new();
    let said =
        desk.barchan("run sedimentation --set bodies=60 --set output.frame_interval=0.02 --time 0.1 --out r --quiet");
    assert_eq!(said.code, 0, "{}", said.err);
    desk
}

#[test]
fn a_frame_becomes_a_picture() {
    let desk = run();
    let bytes = |line: &str, name: &str| {
        let said = desk.barchan(&format!("render r {line} --size 160x90 -o {name}"));
        assert_eq!((said.code, said.out.as_str()), (0, ""), "{}", said.err);
        assert_eq!(png(&desk, name), ([160, 90], None));
        fs::read(desk.path(name)).unwrap()
    };
    let last = bytes("", "last.png");
    assert_eq!(bytes("--frame 5", "fifth.png"), last);
    for (k, line) in ["--frame 0", "--azimuth 10", "--elevation -20", "--zoom 2", "--colour id"].iter().enumerate() {
        assert_ne!(bytes(line, &format!("{k}.png")), last, "{line} changes nothing");
    }
    // As large as the picture of the run itself by default.
    let said = desk.barchan("render r -o whole.png");
    assert_eq!(said.code, 0, "{}", said.err);
    assert_eq!(png(&desk, "whole.png"), png(&desk, "r/picture.png"));
}

#[test]
fn frames_become_a_video() {
    let desk = run();
    assert_eq!(desk.barchan("render r --video --size 80x60 --fps 10 -o run.png").code, 0);
    assert_eq!(png(&desk, "run.png"), ([80, 60], Some(6)));
    // Without ffmpeg there is a way out, and it is told.
    let said = Said::from(desk.command("render r --video -o run.mp4").env("PATH", "/nowhere").output().unwrap());
    assert_eq!(said.code, 2);
    assert!(said.err.contains("ffmpeg") && said.err.contains("animated PNG"), "{}", said.err);
    assert!(!desk.path("run.mp4").exists());
}

#[test]
fn a_video_does_without_frames_that_cannot_be_read() {
    let desk = run();
    let bytes = fs::read(desk.path("r/frames/frame-000002.vtp")).unwrap();
    fs::write(desk.path("r/frames/frame-000002.vtp"), &bytes[..bytes.len() / 2]).unwrap();
    fs::remove_file(desk.path("r/frames/frame-000004.vtp")).unwrap();
    // Nobody sees contacts in a picture.
    desk.write("r/frames/contacts-000001.vtp", "");
    for name in ["run.png", "run.gif"] {
        let said = desk.barchan(&format!("render r --video --size 80x60 -o {name}"));
        if said.err.contains("ffmpeg makes this kind") {
            eprintln!("skipped: no ffmpeg");
            continue;
        }
        said.refused(1, &["WARNING: frame 2 is left out: r/frames/frame-000002.vtp: ", "run"]);
        said.refused(1, &["WARNING: frame 4 is left out: cannot read r/frames/frame-000004.vtp: No such file"]);
        said.refused(1, &[&format!("{name} lacks 2 of 6 frames")]);
        assert!(desk.path(name).exists());
    }
    assert_eq!(png(&desk, "run.png"), ([80, 60], Some(4)));
}

#[test]
fn a_picture_goes_to_standard_output() {
    let desk = run();
    assert_eq!(desk.barchan("render r --size 80x60 -o x.png").code, 0);
    let output = desk.command("render r --size 80x60 -o -").output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    assert!(output.stdout == fs::read(desk.path("x.png")).unwrap());
    assert!(!desk.path("-").exists());
}

#[test]
fn what_cannot_be_drawn_is_said() {
    let desk = run();
    fs::create_dir(desk.path("empty")).unwrap();
    fs::create_dir(desk.path("empty.gif")).unwrap();
    for (line, code, expected) in [
        ("render r --frame 6 -o x.png", 2, "there is no frame 6: the run has 6, numbered from 0 to 5"),
        ("render empty -o x.png", 2, "empty"),
        ("render nowhere -o x.png", 2, "nowhere"),
        ("render r --size 0x5 -o x.png", 2, "such as 1200x900"),
        ("render r -o x.mp4", 2, "must end in .png"),
        ("render r --video -o x.foo", 2, "x.foo: unknown kind of video, expected a name that ends in .png, .apng"),
        ("render nowhere --video -o x", 2, ".mp4, .webm, .gif, .mkv, .mov, .avi (by ffmpeg)"),
        ("render r --video -o -", 2, "a video cannot go to standard output"),
        ("render r --elevation 90 -o x.png", 2, "between -89 and 89"),
        ("render r -o there/is/none.png", 1, "cannot create there/is/none.png"),
        ("render r --video -o there/is/none.mp4", 1, "cannot create there/is/none.mp4: No such file"),
        ("render r --video -o empty.gif", 1, "cannot create empty.gif: is a directory"),
        ("render r --frame last -o x.png", 2, "expected a whole number, 0 or more"),
        ("render r --frame -1 -o x.png", 2, "'-1' for '--frame <N>': expected a whole number, 0 or more"),
    ] {
        let said = desk.barchan(line);
        assert_eq!(said.code, code, "{line}: {}", said.err);
        assert!(said.err.contains(expected), "{line}: {}", said.err);
    }
    assert!(!desk.path("x.png").exists());
}
