//! Bad input: exit code 2, and a message that names the place, the key and what is expected.

use crate::support::{Desk, files};

/// Runs a scene with this text and expects these words.
#[track_caller]
fn refuses(text: &str, words: &[&str]) {
    let desk = Desk::new();
    desk.write("a.toml", text);
    desk.barchan("run a.toml").refused(2, words);
    // Nothing was started.
    assert_eq!(files(&desk.path("")), ["a.toml"]);
}

#[test]
fn no_such_scenario() {
    let desk = Desk::new();
    desk.barchan("run sedimentaton").refused(2, &["\"sedimentaton\"", "did you mean \"sedimentation\"?"]);
    desk.barchan("new bunce").refused(2, &["did you mean \"bounce\"?"]);
    desk.barchan("list nothing-like-it").refused(2, &["there is no such scenario", "\"packing\""]);
}

#[test]
fn unreadable_files() {
    let desk = Desk::new();
    desk.barchan("run absent.toml").refused(2, &["cannot read absent.toml: No such file"]);
    desk.barchan("check scenes/absent").refused(2, &["cannot read scenes/absent"]);
    std::fs::create_dir(desk.path("folder.toml")).unwrap();
    desk.barchan("run folder.toml").refused(2, &["cannot read folder.toml: Is a directory"]);
    std::fs::write(desk.path("binary.toml"), [0xff, 0xfe, 0x00]).unwrap();
    desk.barchan("run binary.toml").refused(2, &["cannot read binary.toml", "UTF-8"]);
}

/// Directories that cannot be looked into are not the same as directories without a run.
#[test]
#[cfg(unix)]
fn directories_that_cannot_be_read() {
    let desk = Desk::new();
    // A circle is as unreadable as what is forbidden, for everybody.
    std::os::unix::fs::symlink("circle", desk.path("circle")).unwrap();
    for line in ["restart circle", "export circle", "report circle", "render circle -o x.png"] {
        desk.barchan(line).refused(1, &["cannot read circle/", "symbolic links"]);
    }
    desk.json("run bounce --steps 1 --out run");
    let allow = |mode| {
        let mode = std::os::unix::fs::PermissionsExt::from_mode(mode);
        std::fs::set_permissions(desk.path("run"), mode).unwrap();
    };
    allow(0o000);
    if std::fs::read_dir(desk.path("run")).is_ok() {
        eprintln!("partly skipped: this user may read everything");
    } else {
        for line in ["restart run", "export run", "report run -o x.html", "render run -o x.png"] {
            desk.barchan(line).refused(1, &["cannot read run/", "Permission denied"]);
        }
    }
    allow(0o700);
}

#[test]
fn what_exists_is_a_file_whatever_its_name() {
    let desk = Desk::new();
    desk.write("bounce", "nonsense = 1\n");
    desk.barchan("run bounce").refused(2, &["bounce:1: nonsense: unknown key \"nonsense\""]);
}

#[test]
fn unknown_keys_with_the_nearest_known_one() {
    refuses("\n[solver]\ntolernce = 1e-3\n", &["a.toml:3: ", "tolernce", "did you mean \"tolerance\"?"]);
    refuses("gravty = [0, 0, 0]\n", &["a.toml:1: ", "did you mean \"gravity\"?"]);
}

#[test]
fn values_of_the_wrong_kind() {
    refuses("\nseed = \"seven\"\n", &["a.toml:2: seed: "]);
    refuses("gravity = 9.81\n", &["a.toml:1: gravity: "]);
    refuses("this is no TOML\n", &["a.toml:1: "]);
}

#[test]
fn values_out_of_range() {
    refuses("[[body]]\nshape.sphere.radius = -0.5\n", &["a.toml:2: ", "radius: ", "greater than 0, but is -0.5"]);
    refuses("gravity = [0, 0, nan]\n", &["a.toml:1: gravity[2]: must be a finite number"]);
    refuses("[time]\nstep = 1e-3\nend = inf\n", &["a.toml:3: time.end: must be a finite number"]);
}

#[test]
fn every_fault_has_a_line_of_its_own() {
    let desk = Desk::new();
    desk.write("a.toml", "[time]\nstep = 0\nend = -1\n");
    let said = desk.barchan("run a.toml");
    said.refused(2, &["error: a.toml:2: time.step: ", "error: a.toml:3: time.end: "]);
}

#[test]
fn fills_without_room() {
    let fill = "[[fill]]\nmin = [0, 0, 0]\nmax = [1, 1, 1]\nradius = 0.05\n";
    refuses(&format!("\n{fill}count = 1500\n"), &["a.toml:", "fill[0]"]);
    // This one only placing can tell.
    let words = ["a.toml:2: fill[0]: only ", "of 900 spheres found room", "Enlarge the box"];
    refuses(&format!("\n{fill}count = 900\nattempts = 50\n"), &words);
}

#[test]
fn bad_overrides() {
    let desk = Desk::new();
    let run = |set: &str| desk.barchan(&format!("run packing --set {set}"));
    run("bodies").refused(2, &["--set", "bodies=1000"]);
    run("bodeis=3").refused(2, &["--set bodeis: ", "did you mean \"bodies\"?"]);
    run("bodies=many").refused(2, &["--set bodies: must be a number"]);
    run("solver.tolernce=1").refused(2, &["--set solver.tolernce", "did you mean \"tolerance\"?"]);
    run("time.step=0").refused(2, &["--set time.step: must be greater than 0"]);
    run("material.7.friction=1").refused(2, &["--set material.7.friction"]);
    for wrong in ["soon", "-1", "inf"] {
        desk.barchan(&format!("run packing --time {wrong}")).refused(2, &["--time", "seconds, 0 or more"]);
    }
    for wrong in ["1h", "-1", "nan"] {
        let said = desk.barchan(&format!("run packing --checkpoint-seconds {wrong}"));
        said.refused(2, &[&format!("'{wrong}' for '--checkpoint-seconds"), "a number of seconds, 0 or more"]);
    }
    // Checkpoints of which none is kept.
    for option in ["--checkpoint-steps", "--checkpoint-seconds"] {
        let said = desk.barchan(&format!("run packing --set checkpoint.keep=0 {option} 5"));
        said.refused(2, &[&format!("{option} asks for checkpoints"), "checkpoint.keep is 0"]);
    }
    assert!(files(&desk.path("")).is_empty());
}

#[test]
fn an_existing_run_stays_unless_told() {
    let desk = Desk::new();
    desk.barchan("run bounce --steps 5 --out kept");
    let before = [desk.read("kept/summary.json"), desk.read("kept/steps.csv"), desk.read("kept/scene.toml")];
    desk.barchan("run bounce --steps 9 --out kept").refused(2, &["kept already holds a run", "--force"]);
    assert_eq!(before, [desk.read("kept/summary.json"), desk.read("kept/steps.csv"), desk.read("kept/scene.toml")]);
    // Nor does a scene that cannot be built cost it.
    desk.write("full.toml", "[[fill]]\nmin = [0,0,0]\nmax = [1,1,1]\nradius = 0.05\ncount = 900\nattempts = 50\n");
    desk.barchan("run full.toml --out kept --force").refused(2, &["found room"]);
    assert_eq!(before[0], desk.read("kept/summary.json"));
    desk.write("kept/notes.txt", "mine");
    assert_eq!(desk.barchan("run bounce --steps 9 --out kept --force").code, 0);
    assert_eq!(desk.read("kept/steps.csv").lines().count(), 10);
    assert_eq!(desk.read("kept/notes.txt"), "mine");
}
