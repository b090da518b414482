//! What a run prints and leaves behind, and that it does not depend on how it was run.

use crate::support::{Desk, files};
use serde_json::Value;

/// Eight hundred spheres that have begun to pile up.
const BED: &str = "run sedimentation --set bodies=800 --steps 200";

fn keys(value: &Value) -> String {
    let mut keys: Vec<&str> = value.as_object().unwrap().keys().map(String::as_str).collect();
    keys.sort_unstable();
    keys.join(" ")
}

#[test]
fn json_is_one_object_with_the_promised_keys() {
    let desk = Desk::new();
    let said = desk.barchan("run sedimentation --set bodies=100 --steps 20 --threads 2 --json");
    assert_eq!(said.code, 0);
    assert_eq!(said.out.lines().count(), 1);
    let json: Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!(
        keys(&json),
        "bodies checkpoints contacts energy failure interrupted lost max_penetration mean_penetration passed_over \
         peak_rss_bytes ranks restarted_at restarts scenario seconds solver state_hash stepping steps threads time version \
         worst_overlap"
    );
    assert_eq!(keys(&json["energy"]), "kinetic potential");
    let solver = "cold_starts iterations_max iterations_mean name operator_applications residual_max steps_converged taken \
         tolerance";
    assert_eq!(keys(&json["solver"]), solver);
    assert_eq!(
        keys(&json["seconds"]),
        "broad checkpoint exchange integrate narrow other output report solve start total"
    );
    assert_eq!(json["scenario"], "sedimentation");
    assert_eq!([&json["bodies"], &json["steps"], &json["threads"], &json["ranks"]], [100, 20, 2, 1]);
    assert!((json["time"].as_f64().unwrap() - 0.02).abs() < 1e-12);
    // What else there is to say goes to the other stream.
    assert!(said.err.contains("100 bodies, 20 steps") && said.err.contains("frames.pvd in ParaView"), "{}", said.err);
}

/// Two spheres fly out of the box at 0.101 and 0.201 s.
const LEAVING: &str = "gravity = [0, 0, 0]\n[time]\nstep = 1e-3\nend = 0.3\n\
    [domain]\nmin = [-1, -1, -1]\nmax = [1, 1, 1]\noutside = \"RULE\"\n\
    [[body]]\nshape.sphere.radius = 0.1\nposition = [0.9, 0, 0]\nvelocity = [0.9999, 0, 0]\n\
    [[body]]\nshape.sphere.radius = 0.1\nposition = [-0.8, 0, 0]\nvelocity = [-0.9999, 0, 0]\n\
    [[body]]\nshape.sphere.radius = 0.1\n";

#[test]
fn bodies_that_leave_are_told_and_may_end_the_run() {
    let desk = Desk::new();
    desk.write("remove.toml", &LEAVING.replace("RULE", "remove"));
    let json = desk.json("run remove.toml --out run");
    let mass = 2.0 * 2500.0 * 4.0 / 3.0 * std::f64::consts::PI * 1e-3;
    let close = |value: &Value, expected: f64| (value.as_f64().unwrap() / expected - 1.0).abs() < 1e-9;
    assert_eq!((&json["bodies"], &json["lost"]["bodies"]), (&1.into(), &2.into()), "{json}");
    assert!(close(&json["lost"]["mass"], mass), "{json}");
    assert!(close(&json["lost"]["first"], 0.101) && close(&json["lost"]["last"], 0.201), "{json}");
    let said = desk.barchan("run remove.toml --out again");
    let told = "lost         2 bodies of 20.94 kg left the box and were removed, from 0.101 to 0.201 s\n";
    assert!(said.out.contains(told), "{}", said.out);

    desk.write("stop.toml", &LEAVING.replace("RULE", "stop"));
    let said = desk.barchan("run stop.toml --out stopped");
    assert_ne!(said.code, 0);
    let words = "step 101: body 0 has left the box between domain.min and domain.max, at [1.000";
    assert!(said.err.contains(words), "{}", said.err);
    desk.write("boxless.toml", "[domain]\noutside = \"remove\"\n");
    desk.barchan("check boxless.toml").refused(2, &["domain.min: is needed, because domain.outside"]);
    desk.write("typo.toml", "[domain]\noutside = \"delete\"\n");
    desk.barchan("check typo.toml").refused(2, &["typo.toml:2", "delete"]);
}

#[test]
fn friction_without_bounds_holds_a_strict_run() {
    let desk = Desk::new();
    // It fell through the plane, with a residual of 0 and exit code 0.
    let said = desk
        .barchan("run incline --set friction=1e160 --set angle=60 --set solver.friction=coulomb --strict --steps 300");
    assert_eq!(said.code, 0, "{}", said.err);
    let json =
        desk.json("run incline --set friction=1e160 --set angle=60 --set solver.friction=coulomb --strict --steps 300");
    assert!(json["max_penetration"].as_f64().unwrap() < 1e-5, "{json}");
    // Rolling: g sin θ · 5/7 along the plane for 0.3 s, and a spin that has 2/5 of its energy.
    let speed: f64 = 9.81 * 60f64.to_radians().sin() * 5.0 / 7.0 * 0.3;
    let mass = 2500.0 * 4.0 / 3.0 * std::f64::consts::PI * 1e-3;
    let kinetic = json["energy"]["kinetic"].as_f64().unwrap();
    assert!((kinetic / (0.7 * mass * speed * speed) - 1.0).abs() < 0.02, "{json}");
}

#[test]
fn the_state_is_the_same_on_any_number_of_threads() {
    let desk = Desk::new();
    let json = desk.json(&format!("{BED} --threads 1"));
    assert!(json["contacts"].as_u64().unwrap() > 1000, "{json}");
    for threads in [2, 3, 8] {
        assert_eq!(json["state_hash"], desk.hash(&format!("{BED} --threads {threads}")), "{threads} threads");
    }
}

#[test]
fn the_state_is_the_same_with_any_broad_phase() {
    let desk = Desk::new();
    let hash = |name: &str| desk.hash(&format!("{BED} --set broad_phase.name={name}"));
    let octree = hash("octree");
    for name in ["grid", "sweep-and-prune", "brute-force"] {
        assert_eq!(octree, hash(name), "{name}");
    }
    // The shorthand for the solver that is the default anyway.
    assert_eq!(octree, desk.hash(&format!("{BED} --solver auto")));
}

#[test]
fn a_scene_repeats_its_run() {
    let desk = Desk::new();
    let hash = desk.hash(&format!("{BED} --out first"));
    assert_eq!(hash, desk.hash("run first/scene.toml --out second"));
    assert_eq!(desk.read("first/scene.toml"), desk.read("second/scene.toml"));
    let new = desk.barchan("new sedimentation --set bodies=800");
    desk.write("mine.toml", &new.out);
    assert_eq!(hash, desk.hash("run mine.toml --steps 200"));
    assert_eq!(hash, desk.hash("run mine.toml --time 0.2"));
    assert_ne!(hash, desk.hash("run mine.toml --steps 200 --set seed=5"));
}

#[test]
fn a_run_leaves_its_files_and_says_where() {
    let desk = Desk::new();
    let said = desk.barchan("run sedimentation --set bodies=60 --time 0.05");
    assert_eq!(said.code, 0);
    assert!(said.out.starts_with("scenario     sedimentation\n"), "{}", said.out);
    assert!(
        said.out
            .contains("files        runs/sedimentation: open report.html, or picture.png, or frames.pvd in ParaView")
    );
    let frames = (0..4).flat_map(|k| ["contacts", "frame"].map(|part| format!("frames/{part}-{k:06}.vtp")));
    let indexes = ["contacts.pvd", "frames.pvd", "walls.pvd", "frames/walls-000000.vtp"];
    let others = ["open_in_paraview.py", "picture.png", "report.html", "scene.toml", "steps.csv", "summary.json"];
    let checkpoint = ["checkpoints/step-000000050.head", "checkpoints/step-000000050.part-0000"];
    let mut expected: Vec<String> = indexes.into_iter().chain(others).chain(checkpoint).map(String::from).collect();
    expected.extend(frames);
    expected.sort();
    assert_eq!(files(&desk.path("runs/sedimentation")), expected);
    assert_eq!(desk.read("runs/sedimentation/steps.csv").lines().count(), 51);
    let summary: Value = serde_json::from_str(&desk.read("runs/sedimentation/summary.json")).unwrap();
    assert_eq!([&summary["steps"], &summary["solver"]["steps_converged"]], [50, 50]);
    // The next one takes the next number.
    desk.barchan("run sedimentation --set bodies=60 --steps 1");
    assert_eq!(desk.read("runs/sedimentation-2/steps.csv").lines().count(), 2);
}

#[test]
fn no_steps_and_no_frames() {
    let desk = Desk::new();
    let json = desk.json("run bounce --steps 0 --out none");
    assert_eq!([&json["steps"], &json["contacts"]], [0, 0]);
    assert_eq!(json["interrupted"], false);
    assert_eq!(desk.read("none/steps.csv").lines().count(), 1);
    assert_eq!(files(&desk.path("none/frames")), ["contacts-000000.vtp", "frame-000000.vtp", "walls-000000.vtp"]);
    // The last state is there whatever the interval.
    let without = "run bounce --steps 3 --set output.frame_interval=0 --set output.contacts=false";
    desk.json(&format!("{without} --set checkpoint.keep=0 --out without"));
    let frames = ["frames.pvd", "frames/frame-000000.vtp", "frames/walls-000000.vtp", "open_in_paraview.py"];
    let others = ["picture.png", "report.html", "scene.toml", "steps.csv", "summary.json", "walls.pvd"];
    let names: Vec<_> = frames.into_iter().chain(others).collect();
    assert_eq!(files(&desk.path("without")), names);
    assert!(desk.read("without/frames.pvd").contains("timestep=\"0.0003"), "{}", desk.read("without/frames.pvd"));
}

#[test]
fn the_history_is_written_on_request() {
    let desk = Desk::new();
    desk.json("run head-on --set output.history=true --steps 2000 --out asked");
    let text = desk.read("asked/history.csv");
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("step,iteration,operator_applications,residual"));
    // The spheres meet in some step, and its first line is iteration 0.
    let first: Vec<&str> = lines.next().expect("an iteration").split(',').collect();
    assert_eq!((first.len(), first[1]), (4, "0"));
}

#[test]
fn progress_comes_in_lines_without_a_terminal_and_not_at_all_when_quiet() {
    let desk = Desk::new();
    let said = desk.barchan("run bounce --steps 10 --out loud");
    assert!(said.err.starts_with("bounce: 1 body, 10 steps of 1e-4 s, "), "{}", said.err);
    assert!(!said.err.contains('\u{1b}') && !said.out.contains('\u{1b}'), "{said:?}");
    let said = desk.barchan("run bounce --steps 10 --out quiet --quiet");
    assert_eq!(said.err, "");
    assert!(said.out.contains("state hash"));
}
