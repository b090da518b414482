//! Shapes from files, and what is wrong with shapes: the message names the scene, its line, the file and a way out.

use crate::support::{Desk, files};
use barchan::DVec3;
use barchan::shape::{Surface, write_stl_binary};

/// Without what takes longer than the run: a page, and more than one frame.
const BARE: &str = "--no-report --set output.frame_interval=0";

/// A cube with corners that single precision can hold.
fn cube() -> Surface {
    Surface::cuboid(DVec3::splat(0.125))
}

fn corners(surface: &Surface) -> impl Iterator<Item = [DVec3; 3]> {
    surface.triangles.iter().map(|t| t.map(|k| surface.vertices[k as usize]))
}

fn stl_text(surface: &Surface) -> String {
    let vertex = |p: &DVec3| format!("vertex {} {} {}\n", p.x, p.y, p.z);
    let facet = |t: [DVec3; 3]| {
        let vertices: String = t.iter().map(vertex).collect();
        format!("facet normal 0 0 0\nouter loop\n{vertices}endloop\nendfacet\n")
    };
    format!("solid part\n{}endsolid part\n", corners(surface).map(facet).collect::<String>())
}

fn obj(surface: &Surface) -> String {
    let vertices = surface.vertices.iter().map(|p| format!("v {} {} {}\n", p.x, p.y, p.z));
    let faces = surface.triangles.iter().map(|t| format!("f {} {} {}\n", t[0] + 1, t[1] + 1, t[2] + 1));
    vertices.chain(faces).collect()
}

fn ply(surface: &Surface) -> String {
    let vertices = surface.vertices.iter().map(|p| format!("{} {} {}\n", p.x, p.y, p.z));
    let faces = surface.triangles.iter().map(|t| format!("3 {} {} {}\n", t[0], t[1], t[2]));
    format!(
        "ply\nformat ascii 1.0\nelement vertex {}\nproperty double x\nproperty double y\nproperty double z\n\
         element face {}\nproperty list uchar uint vertex_indices\nend_header\n{}",
        surface.vertices.len(),
        surface.triangles.len(),
        vertices.chain(faces).collect::<String>()
    )
}

/// A desk with the cube in every format, in a folder beside scenes.
fn desk_with_parts() -> Desk {
    let desk = Desk::new();
    std::fs::create_dir_all(desk.path("scenes/parts")).unwrap();
    desk.write("scenes/parts/text.stl", &stl_text(&cube()));
    std::fs::write(desk.path("scenes/parts/binary.stl"), write_stl_binary(&cube())).unwrap();
    desk.write("scenes/parts/cube.obj", &obj(&cube()));
    desk.write("scenes/parts/cube.ply", &ply(&cube()));
    desk
}

/// A scene with one body of a shape that falls onto the floor.
fn falling(shape: &str) -> String {
    format!(
        "time = {{ step = 1e-3, end = 0.1 }}\n[[body]]\nshape.half-space = {{}}\n\
         [[body]]\nshape.{shape}\nposition = [0, 0, 0.13]\nmotion = \"dynamic\"\nvelocity = [0.1, 0, -1]\n"
    )
}

#[test]
fn every_format_is_read_from_a_folder_beside_the_scene() {
    let desk = desk_with_parts();
    let Surface { vertices, triangles } = cube();
    let points: Vec<[f64; 3]> = vertices.iter().map(|p| p.to_array()).collect();
    desk.write(
        "scenes/inline.toml",
        &falling(&format!("mesh = {{ vertices = {points:?}, triangles = {triangles:?} }}")),
    );
    let inline = desk.json(&format!("run scenes/inline.toml --out inline {BARE}"));
    assert!(inline["contacts"].as_u64().unwrap() >= 3, "{inline}");
    for name in ["text.stl", "binary.stl", "cube.obj", "cube.ply"] {
        desk.write("scenes/a.toml", &falling(&format!("mesh.file = \"parts/{name}\"")));
        let said = desk.barchan("check scenes/a.toml");
        let words = "shapes       mesh of 0.25 x 0.25 x 0.25 m: 12 triangles, closed, 39.06 kg\n";
        assert!(said.code == 0 && said.out.contains(words), "{name}: {said:?}");
        let run = desk.json(&format!("run scenes/a.toml --out run --force {BARE}"));
        assert_eq!(run["contacts"], inline["contacts"], "{name}");
        let [found, expected] = [&run, &inline].map(|run| run["energy"]["potential"].as_f64().unwrap());
        assert!((found - expected).abs() < 1e-9 * expected, "{name}: {found}, not {expected}");
        // The run's own scene names the file wherever it is read from.
        let written = desk.read("run/scene.toml");
        assert!(written.contains(&format!("scenes/parts/{name}")), "{written}");
        desk.write("scenes/a.toml", &falling(&format!("polyhedron.file = \"parts/{name}\"")));
        let said = desk.barchan("check scenes/a.toml");
        assert!(
            said.out.contains("shapes       polyhedron of 0.25 x 0.25 x 0.25 m: 12 triangles, 1 convex"),
            "{said:?}"
        );
    }
    assert_eq!(desk.json(&format!("run scenes/a.toml --out poly {BARE}"))["contacts"], 4);
    // The run's own scene runs again from anywhere.
    let again = desk.hash(&format!("run run/scene.toml --out again {BARE}"));
    assert!(desk.read("run/summary.json").contains(&again), "{again}");
}

#[test]
fn files_that_cannot_be_used_are_named_with_the_line_of_the_scene() {
    let desk = desk_with_parts();
    let bytes = std::fs::read(desk.path("scenes/parts/binary.stl")).unwrap();
    std::fs::write(desk.path("scenes/parts/short.stl"), &bytes[..bytes.len() - 7]).unwrap();
    let text = desk.read("scenes/parts/cube.ply");
    desk.write("scenes/parts/short.ply", &text[..text.len() - 30]);
    desk.write("scenes/parts/cube.obj", "v 0 0 0\nv 1 0 0\nv 0 1 nothing\nf 1 2 3\n");
    desk.write("scenes/parts/notes.txt", "a cube");
    std::fs::create_dir(desk.path("scenes/parts/folder.stl")).unwrap();
    for (file, words) in [
        ("absent.stl", "cannot be read: No such file"),
        ("folder.stl", "cannot be read: Is a directory"),
        ("short.stl", "triangles"),
        ("short.ply", "line "),
        ("cube.obj", "line 3: "),
        ("notes.txt", "unknown format: expected a file that ends in .stl, .obj or .ply"),
    ] {
        for shape in ["mesh", "polyhedron"] {
            desk.write("scenes/a.toml", &falling(&format!("{shape}.file = \"parts/{file}\"")));
            let place = format!("scenes/a.toml:5: body[1].shape.{shape}.file: ");
            for command in ["check", "run"] {
                let said = desk.barchan(&format!("{command} scenes/a.toml"));
                said.refused(2, &[&place, &format!("scenes/parts/{file}: "), words]);
            }
        }
    }
    assert!(!files(&desk.path("")).iter().any(|file| file.starts_with("runs")));
}

/// Wherever a scene may give a shape, the file is beside the scene.
#[test]
fn files_are_found_from_lattices_fills_mixtures_and_parts() {
    let desk = desk_with_parts();
    desk.write(
        "scenes/many.toml",
        "[[lattice]]\ncounts = [2, 2, 1]\nspacing = 1.0\nshape.mesh.file = \"parts/cube.ply\"\n\
         [[lattice]]\ncounts = [2, 2, 1]\norigin = [0, 0, 1]\nspacing = 1.0\n\
         mixture = [{ shape.polyhedron.file = \"parts/cube.obj\" }, { radius = 0.1 }]\n\
         [[fill]]\nmin = [0, 0, 2]\nmax = [2, 2, 4]\ncount = 4\nshape.polyhedron.file = \"parts/text.stl\"\n\
         [[fill]]\nmin = [0, 0, 5]\nmax = [2, 2, 7]\ncount = 4\n\
         mixture = [{ shape.mesh = { file = \"parts/binary.stl\", convex_parts = 2 } }]\n\
         [[body]]\nposition = [0, 0, 9]\nshape.composite.parts = [\n\
         { shape.polyhedron.file = \"parts/cube.obj\" },\n\
         { shape.polyhedron.file = \"parts/cube.ply\", position = [0.3, 0, 0] },\n]\n",
    );
    let said = desk.barchan("check scenes/many.toml");
    assert_eq!(said.code, 0, "{said:?}");
    let size = "of 0.25 x 0.25 x 0.25 m: 12 triangles";
    for words in [
        format!("4 meshes {size}, closed, "),
        format!("4 meshes {size}, 1 convex part, "),
        format!("polyhedra {size}, 1 convex part, "),
        "composite of 0.55 x 0.25 x 0.25 m: 24 triangles, 2 convex parts, ".into(),
    ] {
        assert!(said.out.contains(&words), "no {words:?} in {}", said.out);
    }
    assert_eq!(desk.json("run scenes/many.toml --steps 2 --set time.step=1e-3 --out run")["bodies"], 17);
    let hole = Surface { triangles: cube().triangles[1..].to_vec(), ..cube() };
    desk.write("scenes/parts/text.stl", &stl_text(&hole));
    desk.write(
        "scenes/open.toml",
        "[[fill]]\nmin = [0, 0, 2]\nmax = [2, 2, 4]\ncount = 4\nshape.mesh.file = \"parts/text.stl\"\n",
    );
    let words =
        ["scenes/open.toml:5: fill[0].shape: the mesh of ", "parts/text.stl cannot be dynamic: it has holes: 3 edges"];
    desk.barchan("run scenes/open.toml").refused(2, &words);
}

/// The funnel of the project, written as binary STL and read again, is the funnel that the scenario makes.
#[test]
fn the_funnel_goes_through_a_file() {
    let desk = Desk::new();
    std::fs::create_dir(desk.path("plant")).unwrap();
    let set = "--set bodies=30 --set segments=24";
    let scene = |line: &str| {
        let output = desk.command(line).current_dir(desk.path("plant")).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    desk.write("plant/file.toml", &scene(&format!("new mesh-funnel {set} --meshes parts")));
    desk.write("plant/inline.toml", &scene(&format!("new mesh-funnel {set}")));
    assert!(desk.read("plant/file.toml").contains("file = \"parts/mesh-funnel-1.stl\""));
    // 24 segments of 8 edges, two triangles each.
    assert_eq!(std::fs::metadata(desk.path("plant/parts/mesh-funnel-1.stl")).unwrap().len(), 84 + 50 * 24 * 16);
    let run =
        |name: &str| desk.json(&format!("run plant/{name}.toml --set time.step=1e-3 --steps 300 --out {name} {BARE}"));
    let (file, inline) = (run("file"), run("inline"));
    assert!(inline["contacts"].as_u64().unwrap() > 10, "{inline}");
    assert_eq!(file["contacts"], inline["contacts"]);
    assert_eq!(file["state_hash"], inline["state_hash"]);
    // Nothing that is there is replaced, and a scene without meshes has nothing to write.
    let again = desk.command("new mesh-funnel --meshes plant/parts").output().unwrap();
    assert_eq!(again.status.code(), Some(1), "{again:?}");
    desk.barchan("new packing --meshes parts").refused(2, &["packing has no meshes", "leave --meshes out"]);
}

#[test]
fn faults_of_fixed_meshes_are_told_before_the_run() {
    let desk = desk_with_parts();
    let turned = Surface { triangles: cube().triangles.iter().map(|&[a, b, c]| [a, c, b]).collect(), ..cube() };
    desk.write("scenes/parts/turned.obj", &obj(&turned));
    let ball = "[[body]]\nshape.sphere.radius = 1e-4\nposition = [0, 0, 1]\n";
    let scene = |file: &str| format!("{ball}[[body]]\nshape.mesh.file = \"parts/{file}\"\n");
    desk.write("scenes/turned.toml", &scene("turned.obj"));
    let place = "WARNING: scenes/turned.toml:5: body[1].shape.mesh.file: ";
    let unit = "WARNING: scenes/turned.toml:5: body[1].shape: the mesh is 0.25 m across, 1250 times as much as";
    let said = desk.barchan("check scenes/turned.toml");
    assert!(said.code == 0 && said.out.contains(place) && said.out.contains(unit), "{said:?}");
    for words in ["parts/turned.obj: it is inside out", "triangle ", "turn all of its triangles around"] {
        assert!(said.out.contains(words), "{said:?}");
    }
    for ranks in ["", "--ranks 2"] {
        let said = desk.barchan(&format!("run scenes/turned.toml --steps 1 {ranks} --set time.step=1e-4 --quiet"));
        assert_eq!([place, unit].map(|words| said.err.matches(words).count()), [1, 1], "{said:?}");
        assert_eq!(said.code, 0, "{said:?}");
    }
    desk.write("scenes/sound.toml", &scene("cube.obj").replace("1e-4", "1e-2"));
    let said = desk.barchan("run scenes/sound.toml --steps 1 --set time.step=1e-4 --quiet");
    assert!(said.code == 0 && said.err.is_empty(), "{said:?}");
}

/// A mesh in a scene, moved by forces.
fn dynamic(surface: &Surface) -> String {
    let points: Vec<[f64; 3]> = surface.vertices.iter().map(|p| p.to_array()).collect();
    let triangles = &surface.triangles;
    format!("[[body]]\nshape.mesh = {{ vertices = {points:?}, triangles = {triangles:?} }}\nmotion = \"dynamic\"\n")
}

#[test]
fn shapes_that_cannot_be_used_are_named_with_a_way_out() {
    let open = Surface { triangles: cube().triangles[1..].to_vec(), ..cube() };
    let turned = Surface { triangles: cube().triangles.iter().map(|&[a, b, c]| [a, c, b]).collect(), ..cube() };
    let mut crossing = cube();
    crossing.vertices.extend(cube().vertices.iter().map(|&p| p + DVec3::splat(0.05)));
    crossing.triangles.extend(cube().triangles.iter().map(|t| t.map(|k| k + 8)));
    let remedy = "or give its mass, centre and inertia (body[0].mass), or use motion = \"fixed\"";
    let body = |shape: &str| format!("[[body]]\nshape.{shape}\n");
    let table: &[(String, &[&str])] = &[
        (body("polyhedron.points = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]]"), &["points", "plane"]),
        (
            body("polyhedron.points = [[0, 0, 0], [1, 0, 0], [0, 1, 0]]"),
            &["points", "needs 4 points or more at different places, found 3"],
        ),
        (body("polyhedron = {}"), &["points", "points, or a file: neither is given"]),
        (body("polyhedron = { points = [[0, 0, 0]], file = \"a.stl\" }"), &["points, or a file: both are given"]),
        (
            body("polyhedron = { points = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], margin = 0.3 }"),
            &["margin: must be less than about 0.2113, or nothing is left between the faces, but is 0.3"],
        ),
        (
            body("box = { half_extents = [0.1, 0.2, 0.3], margin = 0.1 }"),
            &["margin: must be less than the smallest half extent, 0.1, but is 0.1"],
        ),
        (body("cylinder = { radius = 0.1, half_height = 0.05, margin = 0.06 }"), &["margin: must be less than"]),
        (body("composite.parts = []"), &["parts: a composite needs at least one part"]),
        (
            body("composite.parts = [{ shape.mesh.file = \"a.stl\" }]"),
            &["parts: part 0 is a mesh, and parts are convex", "as polyhedra"],
        ),
        (body("mesh = { vertices = [[0, 0, 0]], file = \"a.stl\" }"), &["vertices and triangles, or a file: both"]),
        (body("mesh = {}"), &["vertices and triangles, or a file: neither"]),
        (
            body("mesh = { vertices = [[0, 0, 0]], triangles = [[0, 1, 2]] }"),
            &["mesh.triangles: triangle 0 refers to vertex 1, but there are 1, counted from 0: correct its index"],
        ),
        (dynamic(&open), &["motion: the mesh cannot be dynamic: it has holes", "triangle", "close the hole", remedy]),
        (dynamic(&turned), &["motion: the mesh cannot be dynamic: it is inside out", "triangle", remedy]),
        (
            dynamic(&crossing),
            &["motion: the mesh cannot be dynamic: it goes through itself", "unite the parts", remedy],
        ),
    ];
    let desk = Desk::new();
    for (text, words) in table {
        desk.write("a.toml", &format!("name = \"faulty\"\n{text}"));
        let said = desk.barchan("check a.toml");
        said.refused(2, words);
        let line = said.err.lines().find(|line| line.starts_with("error: ")).unwrap();
        assert!(["a.toml:3: ", "a.toml:4: "].iter().any(|place| line.contains(place)), "{text}: {line}");
        assert!(line.contains("body[0]."), "{text}: {line}");
    }
}
