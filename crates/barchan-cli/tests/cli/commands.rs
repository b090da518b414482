//! `list`, `new`, `check`, and the manners of all commands.

use crate::support::Desk;
use barchan::scenario::SCENARIOS;
use std::process::Stdio;
use std::time::Instant;

#[test]
fn list_has_a_line_a_scenario() {
    let desk = Desk::new();
    let said = desk.barchan("list");
    assert_eq!((said.code, said.err.as_str()), (0, ""));
    let names: Vec<&str> = said.out.lines().map(|line| line.split(' ').next().unwrap()).collect();
    assert_eq!(names, SCENARIOS.iter().map(|s| s.name).collect::<Vec<_>>());
    let said = desk.barchan("list packing");
    assert!(said.out.contains("--set bodies=1000") && said.out.contains("how many spheres"), "{}", said.out);
}

#[test]
fn every_scenario_can_be_printed_checked_and_started() {
    let desk = Desk::new();
    for scenario in SCENARIOS.iter().map(|s| s.name) {
        let said = desk.barchan(&format!("new {scenario}"));
        assert_eq!(said.code, 0);
        assert!(said.out.starts_with("# Barchan scene: "), "{}", said.out);
        desk.write("scene.toml", &said.out);
        let said = desk.barchan("check scene.toml");
        assert!(said.code == 0 && said.out.starts_with("scene.toml is fine\n"), "{said:?}");
        assert_eq!(desk.json("run scene.toml --time 1e-4")["scenario"], scenario);
    }
}

#[test]
fn an_empty_scene_says_what_it_lacks() {
    let desk = Desk::new();
    let said = desk.barchan("new empty --set name=drum");
    assert!(said.code == 0 && said.out.contains("\nname = \"drum\"") && said.out.contains("\n#[[fill]]\n"), "{said:?}");
    desk.write("drum.toml", &said.out);
    for target in ["drum.toml", "empty"] {
        let said = desk.barchan(&format!("check {target}"));
        let words = "bodies       none yet: add some as [[body]], [[lattice]] or [[fill]]; `barchan new empty` prints examples\n";
        assert!(said.code == 0 && said.out.contains(words), "{said:?}");
    }
}

#[test]
fn help_tells_defaults_in_one_way() {
    let desk = Desk::new();
    let overview = desk.barchan("--help").out;
    let commands = overview.split("Commands:").nth(1).unwrap().split("Options:").next().unwrap();
    let names: Vec<&str> = commands.lines().filter(|line| line.starts_with("  ") && !line.starts_with("   ")).collect();
    assert!(names.len() >= 10, "{overview}");
    let mut defaults = 0;
    for name in names.iter().filter_map(|line| line.split_whitespace().next()).filter(|name| *name != "help") {
        let said = desk.barchan(&format!("{name} --help"));
        assert_eq!(said.code, 0, "{said:?}");
        let words = said.out.split_whitespace().collect::<Vec<_>>().join(" ");
        for phrase in ["by default", "unless told"] {
            assert!(!words.contains(phrase), "{name}: a default is [default: ...], not {phrase:?}: {}", said.out);
        }
        defaults += words.matches("[default").count();
    }
    assert!(defaults > 20, "{defaults}");
}

#[test]
fn check_names_bodies_that_start_in_each_other_and_steps_that_are_too_long() {
    let desk = Desk::new();
    let ball =
        |x: f64, z: f64| format!("[[body]]\nshape = {{ sphere = {{ radius = 0.1 }} }}\nposition = [{x}, 0.0, {z}]\n");
    let floor = "[[body]]\nshape = { half-space = {} }\nposition = [0.0, 0.0, 0.0]\n";
    let scene = |step: &str, balls: &[String]| format!("[time]\nstep = {step}\n{floor}{}", balls.concat());
    desk.write("sound.toml", &scene("0.001", &[ball(0.0, 0.1), ball(0.2, 0.1)]));
    let said = desk.barchan("check sound.toml");
    assert!(said.code == 0 && !said.out.contains("WARNING"), "{said:?}");
    desk.write("deep.toml", &scene("0.05", &[ball(0.0, 0.3), ball(0.15, 0.3), ball(1.0, -0.5)]));
    let said = desk.barchan("check deep.toml");
    assert_eq!(said.code, 0, "{said:?}");
    for words in [
        "WARNING: body 3 (sphere at 1, 0, -0.5) starts in, behind or outside of body 0",
        "starts in body",
        "by 50 % of a radius",
        "WARNING: gravity moves the smallest bodies by 25 % of their size in a step: a shorter time.step may be needed",
    ] {
        assert!(said.out.contains(words), "no {words:?} in {}", said.out);
    }
}

#[test]
fn check_explains_and_leaves_nothing_behind() {
    let desk = Desk::new();
    desk.write(
        "two.toml",
        "[time]\nstep = 0.01\nend = 0.995\n[output]\nframe_interval = 0.1\n\
         [[material]]\nname = \"glass\"\nfriction = 0.2\n[[material]]\nname = \"steel\"\nfriction = 0.4\n\
         [[pair]]\nmaterials = [\"steel\", \"glass\"]\nfriction = 0.05\n\
         [[body]]\nshape.half-space = {}\nmotion = \"fixed\"\n\
         [[body]]\nshape.sphere.radius = 0.1\nposition = [0, 0, 1]\nmaterial = \"steel\"\n",
    );
    let said = desk.barchan("check two.toml");
    assert_eq!(said.code, 0, "{said:?}");
    for words in [
        "1 fixed half-space, 1 sphere\n",
        "0.1 m\n",
        "from (-0.1, -0.1, 0.9) to (0.1, 0.1, 1.1) m",
        "glass: 2500 kg/m³, 1 body",
        "glass on steel: friction 0.05, restitution 0 (exception)",
        "steel on steel: friction 0.4",
        "100 steps of 0.01 s to 1 s, 0.005 s after its end",
        "auto, coulomb friction, to a residual (natural) of 5e-2",
        "11 frames of ",
        "memory       about ",
    ] {
        assert!(said.out.contains(words), "no {words:?} in {}", said.out);
    }
    assert_eq!(crate::support::files(&desk.path("")), ["two.toml"]);
}

#[test]
fn check_tells_what_becomes_of_bodies_that_leave() {
    let desk = Desk::new();
    let scene = |rule: &str| {
        format!("[domain]\nmin = [0, 0, -1]\nmax = [1, 1, 2]\nperiodic = [true, false, false]\noutside = \"{rule}\"\n")
    };
    for (rule, fate) in [("remove", "are removed"), ("stop", "end the run")] {
        desk.write("scene.toml", &scene(rule));
        let said = desk.barchan("check scene.toml");
        let words = format!("bodies that leave the box from (-inf, 0, -1) to (inf, 1, 2) m {fate}\n");
        assert!(said.out.contains(&words), "{}", said.out);
    }
    desk.write("scene.toml", &scene("keep"));
    assert!(!desk.barchan("check scene.toml").out.contains("leave"));
}

#[test]
fn check_notes_friction_that_counts_as_less() {
    let desk = Desk::new();
    let said = desk.barchan("check incline --set friction=1e160");
    assert!(said.out.contains("friction 1000 (the most there is: nothing slides), restitution 0"), "{}", said.out);
    for wrong in ["-1", "inf", "nan"] {
        let said = desk.barchan(&format!("check incline --set material.0.friction={wrong}"));
        said.refused(2, &["material.0.friction"]);
    }
}

#[test]
fn check_tells_of_scenes_that_no_machine_here_could_hold() {
    let desk = Desk::new();
    // The largest of S2 section 6, and a fill as large.
    let start = Instant::now();
    let said = desk.barchan("check free-gas --set per_rank=50 --ranks 9120");
    assert_eq!(said.code, 0, "{said:?}");
    let words = ["1 fixed container, 1 140 000 000 spheres", "9 120 ranges of the Morton curve", "with 125 000 bodies"];
    assert!(words.iter().all(|words| said.out.contains(words)), "{}", said.out);
    let said = desk.barchan("check free-gas --set per_rank=50 --ranks 12 --set domain.partition=cartesian");
    assert!(said.out.contains("3 x 2 x 2 blocks of (3.741, 3.741, 3.741) m"), "{}", said.out);
    desk.write(
        "fill.toml",
        "[[fill]]\nmin = [0, 0, 0]\nmax = [100, 100, 100]\ncount = 1_000_000_000\nradius = 0.003\n",
    );
    let said = desk.barchan("check fill.toml");
    assert!(said.out.contains("not tried: whether so many") && said.out.contains("about 1.50 TB"), "{}", said.out);
    assert!(start.elapsed().as_secs() < 20);
    desk.barchan("check free-gas --set per_rank=2000").refused(2, &["lattice: the scene has 8000000001 bodies"]);
    let blocks = "check free-gas --set domain.blocks=[2,2,1] --ranks 3";
    desk.barchan(blocks).refused(2, &["domain: 2 x 2 x 1 blocks are 4"]);
}

#[test]
fn check_refuses_what_run_would_refuse() {
    let desk = Desk::new();
    desk.write("bad.toml", "[time]\nstep = -1.0\n");
    desk.barchan("check bad.toml").refused(2, &["bad.toml:2: time.step: must be greater than 0"]);
}

#[test]
fn a_reader_that_leaves_is_no_error() {
    let desk = Desk::new();
    for line in ["list", "new sedimentation", "check bounce", "--help"] {
        let mut child = desk.command(line).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        // Closed before a byte is read.
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success() && output.stderr.is_empty(), "{line}: {output:?}");
    }
}

#[test]
fn a_listener_that_leaves_is_no_error_either() {
    let desk = Desk::new();
    let mut child = desk.command("run bounce --steps 5").stderr(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    drop(child.stderr.take());
    assert!(child.wait().unwrap().success());
}

#[test]
fn help_and_usage() {
    let desk = Desk::new();
    assert!(desk.barchan("--help").out.contains("barchan run sedimentation"));
    assert_eq!(desk.barchan("--version").code, 0);
    assert_eq!(desk.barchan("").code, 2);
    desk.barchan("chek").refused(2, &["'check'"]);
    desk.barchan("run bounce --stepps 3").refused(2, &["--steps"]);
    desk.barchan("run bounce --steps 3 --time 1").refused(2, &["--time"]);
    desk.barchan("run bounce --steps -3").refused(2, &[]);
    desk.barchan("run bounce --threads 0").refused(2, &["--threads"]);
    desk.barchan("run bounce --solver magic").refused(2, &["apgd"]);
}

#[test]
fn check_tells_what_shapes_consist_of_and_weigh() {
    let desk = Desk::new();
    desk.write(
        "shapes.toml",
        "[[body]]\nshape.box = { half_extents = [0.1, 0.2, 0.05] }\n\
         [[body]]\nshape.box = { half_extents = [0.1, 0.2, 0.05] }\nposition = [1, 0, 0]\n\
         [[body]]\nshape.composite = { parts = [{ shape.sphere.radius = 0.1 }, { shape.sphere.radius = 0.1, \
         position = [0.3, 0, 0] }] }\nposition = [2, 0, 0]\n\
         [[body]]\nshape.mesh = { vertices = [[0, 0, -5], [1000, 0, -5], [0, 1000, -5]], triangles = [[0, 1, 2]] }\n",
    );
    let said = desk.barchan("check shapes.toml");
    assert_eq!(said.code, 0, "{said:?}");
    for words in [
        "2 boxes, 1 composite, 1 fixed mesh\n",
        "shapes       2 boxes of 0.2 x 0.4 x 0.1 m: 12 triangles, 1 convex part, 20 kg each\n",
        "composite of 0.5 x 0.2 x 0.2 m: ",
        ", 2 convex parts, 20.94 kg\n",
        "mesh of 1000 x 1000 x 0 m: 1 triangle, open, fixed\n",
        "WARNING: shapes.toml:10: body[3].shape: the mesh is 1000.0 m across, 2500 times as much as half of the grains at \
         most (0.4 m): are its lengths in metres? A file in millimetres needs scale = 0.001",
    ] {
        assert!(said.out.contains(words), "no {words:?} in {}", said.out);
    }
}

#[test]
fn check_tells_shapes_of_lattices_and_fills() {
    let desk = Desk::new();
    desk.write(
        "many.toml",
        "[[lattice]]\ncounts = [10, 10, 10]\nspacing = 0.5\nshape.box = { half_extents = [0.1, 0.2, 0.05] }\n\
         [[fill]]\nmin = [0, 0, 10]\nmax = [10, 10, 20]\ncount = 400\nmixture = [\n\
         { radius = 0.02, weight = 3.0 },\n\
         { shape.polyhedron.points = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], scale = { uniform = [0.06, 0.12] } },\n]\n",
    );
    let said = desk.barchan("check many.toml");
    assert_eq!(said.code, 0, "{said:?}");
    for words in [
        "shapes       1 000 boxes of 0.2 x 0.4 x 0.1 m: 12 triangles, 1 convex part, 20 kg each\n",
        "\n             100 polyhedra of 1 x 1 x 1 m times 0.06 to 0.12: 4 triangles, 1 convex part, 0.09 to 0.72 kg each\n",
        // 300 spheres, and 1100 bodies with more contacts.
        "memory       about 55 MB",
        // A number and three factors a body beside what spheres have.
        "31 frames of 182 kB of bodies",
    ] {
        assert!(said.out.contains(words), "no {words:?} in {}", said.out);
    }
}

/// Balls about long and flat bodies say nothing of how deep they are in each other.
#[test]
fn check_measures_long_bodies_by_their_thickness() {
    let desk = Desk::new();
    let rod = |z: f64| {
        let shape = "shape.capsule = { radius = 0.01, half_height = 1 }";
        format!("[[body]]\n{shape}\nposition = [0, 0, {z}]\norientation = [0, 0.7071, 0, 0.7071]\n")
    };
    desk.write("rods.toml", &format!("[time]\nstep = 0.01\n{}{}", rod(0.1), rod(0.115)));
    let said = desk.barchan("check rods.toml");
    assert_eq!(said.code, 0, "{said:?}");
    for words in ["starts in body", "by 50 % of the size of a capsule (0.01 m)", "by 10 % of their size in a step"] {
        assert!(said.out.contains(words), "no {words:?} in {}", said.out);
    }
    assert_eq!(said.out.matches("WARNING").count(), 2, "{}", said.out);
}

#[test]
fn list_prints_the_table_of_pairs() {
    let said = Desk::new().barchan("list pairs");
    assert_eq!((said.code, said.out), (0, barchan::narrow::table()), "{}", said.err);
}
