//! Writing scenes: every key, every default, a comment on each.
//!
//! One writer serves the scene that a user starts to edit from and the one that a run leaves
//! behind. Serde gives the values, the table of [`super::keys`] the order and the comments. In
//! a list the comments stand at the first entry only. Numbers are written with the fewest
//! digits that read back to the same bits.

use super::Scene;
use super::keys::{Key, SECTIONS, Section};
use serde_json::Value;
use std::fmt::Write;

/// Width beyond which a comment moves to a line of its own, and text is wrapped.
const WIDTH: usize = 100;

/// No line with a comment behind it is longer than this.
const LONGEST: usize = 120;

/// The scene as a tree of values; a number that is not finite becomes null.
pub(crate) fn tree(scene: &Scene) -> Value {
    serde_json::to_value(scene).expect("a scene is made of tables, lists, numbers and strings")
}

impl Scene {
    /// The scene as TOML, complete and with a comment on each key. Reading it gives the same
    /// scene, bit by bit (as long as its numbers are finite).
    pub fn to_toml(&self) -> String {
        let tree = tree(self);
        let mut out = format!(
            "# Barchan scene: {}\n# All lengths in m, times in s. A key behind a # is not set.\n\n",
            self.name.replace(['\n', '\r'], " ")
        );
        for section in SECTIONS {
            write_section(&mut out, section, &tree);
        }
        out
    }
}

fn write_section(out: &mut String, section: &Section, tree: &Value) {
    let path = section.path;
    let value = path.split('.').filter(|s| !s.is_empty()).fold(tree, |node, name| &node[name]);
    match value {
        Value::Array(list) if list.is_empty() => {
            let _ = write!(out, "\n# No [[{path}]]: {}.\n", section.about);
        }
        Value::Array(list) => {
            for (i, entry) in list.iter().enumerate() {
                out.push('\n');
                if i == 0 {
                    let _ = writeln!(out, "# {}.", capital(section.about));
                }
                let _ = writeln!(out, "[[{path}]]");
                // Each kind of force has a key of its own.
                write_keys(out, section.keys, entry, i == 0 || path == "force");
            }
        }
        table => {
            if !path.is_empty() {
                let _ = write!(out, "\n# {}.\n[{path}]\n", capital(section.about));
            }
            write_keys(out, section.keys, table, true);
            if path.is_empty() && table["material"].as_array().is_some_and(Vec::is_empty) {
                // An absent list of materials would read as the default one: not the same scene.
                out.push_str("material = []\n");
            }
        }
    }
}

/// A line a key, comments in a column of their own.
fn write_keys(out: &mut String, keys: &[Key], table: &Value, comments: bool) {
    let mut lines: Vec<(String, String)> = Vec::new();
    for key in keys {
        let line = match table.get(key.name) {
            Some(Value::String(text)) if key.name == "description" => format!("description = {}", paragraph(text)),
            Some(value) => wrapped(format!("{} = {}", key.name, inline(value))),
            None if comments && !key.example.is_empty() => format!("# {} = {}", key.name, key.example),
            None => continue,
        };
        lines.push((line, key.comment()));
    }
    let fits = |(line, about): &&(String, String)| line.len() + about.len() + 4 <= WIDTH && !line.contains('\n');
    let column = lines.iter().filter(fits).map(|line| line.0.len()).max().unwrap_or(0).min(48);
    for line @ (text, about) in &lines {
        let _ = if !comments {
            writeln!(out, "{text}")
        } else if fits(&line) && column.max(text.len()) + about.len() + 4 <= LONGEST {
            writeln!(out, "{text:column$}  # {about}")
        } else {
            let name = text.trim_start_matches("# ").split(' ').next().unwrap_or("");
            let about = commented(&format!("{name}: {about}"));
            writeln!(out, "{about}{text}")
        };
    }
}

/// A comment on as many lines as it needs.
fn commented(text: &str) -> String {
    let mut out = String::from("#");
    let mut width = 1;
    for word in text.split(' ') {
        let length = word.chars().count() + 1;
        if width > 1 && width + length > LONGEST {
            out.push_str("\n#");
            width = 1;
        }
        out.push(' ');
        out.push_str(word);
        width += length;
    }
    out + "\n"
}

/// A line of TOML that is not too long: lists go on on the next. Tables within a line may not, but lists in them may.
fn wrapped(line: String) -> String {
    if line.len() <= LONGEST {
        return line;
    }
    let mut out = String::with_capacity(line.len() + line.len() / 16);
    // Where the present line starts, and where it may end.
    let mut start = 0;
    let mut end = None;
    let mut open = Vec::new();
    let mut is_text = false;
    let mut is_escaped = false;
    for (i, c) in line.char_indices() {
        if i - start >= WIDTH
            && let Some(end) = end.take()
        {
            out.push_str(line[start..end].trim_end());
            out.push_str("\n    ");
            start = end;
        }
        match c {
            '"' if !is_escaped => is_text = !is_text,
            '[' | '{' if !is_text => {
                open.push(c);
                end = if c == '[' { Some(i + 1) } else { end };
            }
            ']' | '}' if !is_text => {
                open.pop();
            }
            ' ' if !is_text && line[..i].ends_with(',') && open.last() == Some(&'[') => end = Some(i + 1),
            _ => {}
        }
        is_escaped = c == '\\' && !is_escaped;
    }
    out.push_str(&line[start..]);
    out
}

/// A value on one line.
fn inline(value: &Value) -> String {
    match value {
        Value::Null => "nan".into(),
        Value::Bool(b) => b.to_string(),
        Value::Number(n) if n.is_f64() => format!("{:?}", n.as_f64().unwrap_or(f64::NAN)),
        Value::Number(n) => n.to_string(),
        Value::String(text) => format!("\"{}\"", escaped(text)),
        Value::Array(list) => format!("[{}]", list.iter().map(inline).collect::<Vec<_>>().join(", ")),
        Value::Object(table) if table.is_empty() => "{}".into(),
        Value::Object(table) => {
            let entries: Vec<String> = table.iter().map(|(key, value)| format!("{key} = {}", inline(value))).collect();
            format!("{{ {} }}", entries.join(", "))
        }
    }
}

/// The inside of a basic string.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            c if c.is_control() => {
                let _ = write!(out, "\\u{:04X}", c as u32);
            }
            c => out.push(c),
        }
    }
    out
}

/// A string over several lines if it is long; a backslash at the end of a line joins it to the
/// next and swallows the white space there, so lines may break before a visible character only.
fn paragraph(text: &str) -> String {
    let text = escaped(text);
    if text.len() + 16 <= WIDTH || text.starts_with(' ') {
        return format!("\"{text}\"");
    }
    let mut out = String::from("\"\"\"\\\n");
    let mut width = 0;
    for word in text.split_inclusive(' ') {
        let length = word.chars().count();
        if width > 0 && width + length > WIDTH - 2 && !word.starts_with(' ') {
            out.push_str("\\\n");
            width = 0;
        }
        out.push_str(word);
        width += length;
    }
    out + "\"\"\""
}

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::{
        Adjustable, BodySpec, Fill, JointSpec, Kind, Lattice, MotorSpec, NoContact, Orientation, Radius,
    };
    use crate::shape::{GivenMass, Shape};
    use crate::util::formula::VectorFormula;
    use crate::world::joint::{Spring, Strength};
    use crate::world::{ForceField, JointKind, Motion, Oscillation, PairException, Rotation, Turn, Waypoints};
    use glam::{DQuat, DVec3};

    /// A scene with something in every list, and every key that may be left out.
    fn joints() -> Vec<JointSpec> {
        let joint =
            |kind| JointSpec::new(kind, ["a \"1\"", "b"], DVec3::splat(1.0 / 3.0)).about(DVec3::new(0.1, -0.0, 1e-7));
        let gear = JointSpec { second_axis: Some(DVec3::Y), ratio: Some(-1.0 / 3.0), ..joint(JointKind::Gear) };
        let rope = JointSpec {
            name: "rope \\".into(),
            end: Some(DVec3::new(1.0, 0.1 + 0.2, 0.0)),
            limits: Some([-1.0 / 3.0, 0.0]),
            motor: Some(MotorSpec {
                speed: Some("sin(t)".parse().unwrap()),
                effort: Some(1e23),
                ..MotorSpec::default()
            }),
            spring: Some(Spring { stiffness: 0.1, damping: 1e-300, rest: -0.0 }),
            friction: 1.0 / 3.0,
            strength: Some(Strength { force: None, torque: Some(0.1) }),
            collide: true,
            ..joint(JointKind::Distance)
        };
        let motor = MotorSpec { position: Some(0.1.into()), response: Some(1.0 / 3.0), ..MotorSpec::default() };
        vec![gear, rope, JointSpec { motor: Some(motor), ..joint(JointKind::Cylindrical) }]
    }

    fn everything() -> Scene {
        let mut scene = Scene {
            name: "all \"of\" it\\".into(),
            description: "Words  with double spaces, a\nbreak, a\ttab, a \u{7f} and \"\"\" quotes. ".repeat(9),
            seed: u64::MAX,
            gravity: DVec3::new(0.1 + 0.2, -0.0, 1e-300),
            ..Scene::default()
        };
        scene.time.step = (1.0 / 3.0).into();
        scene.solver.tolerance = 1e23;
        scene.output.frame_interval = Some(0.1);
        scene.solver.friction = Some(barchan_cone::Friction::Associated);
        scene.pair.push(PairException {
            materials: ["default".into(), "default".into()],
            friction: Some(0.1),
            restitution: Some(0.0),
        });
        scene.force.push(ForceField::Central { centre: DVec3::X, strength: 1.0, softening: 0.5 });
        scene.force.push(ForceField::Drag { rate: 0.5, wind: DVec3::Y });
        scene.force.push(ForceField::Well { centre: DVec3::ZERO, stiffness: -2.0 });
        scene.domain.min = Some(DVec3::new(-10.0, 0.0, 0.0));
        scene.domain.max = Some(DVec3::new(100.0, 1.0 + 1.0 / 3.0, 0.3));
        scene.domain.partition = crate::partition::PartitionName::Cartesian;
        scene.domain.blocks = Some([3, 2, 1]);
        scene.domain.outside = crate::partition::OutsideRule::Remove;
        let body = BodySpec::new(Shape::sphere(0.5), DVec3::ONE);
        scene.body = vec![
            BodySpec { name: "a \"1\"".into(), force: Some(DVec3::X), torque: Some(DVec3::Y), ..body.clone() },
            BodySpec {
                motion: Motion::Kinematic,
                orientation: Some(DQuat::from_xyzw(0.1, 0.2, 0.3, 0.4)),
                oscillation: Some(Oscillation { amplitude: DVec3::Z, frequency: 3.0, phase: 0.5 }),
                path: Some(VectorFormula(["sin(t)", "-0.5", "if(t < 1, 0, 1/3)"].map(|text| text.parse().unwrap()))),
                waypoints: Some(Waypoints {
                    times: (0..9).map(|k| f64::from(k) / 3.0).collect(),
                    positions: vec![DVec3::splat(1.0 / 3.0); 9],
                    repeat: true,
                    smooth: false,
                }),
                turn: Some(Turn { axis: DVec3::X, angle: (1.0 / 3.0).into() }),
                surface_velocity: Some(DVec3::new(1.0, -0.0, 1.0 / 3.0).into()),
                ..body
            },
            BodySpec {
                name: "b".into(),
                mass: Some(GivenMass { mass: Some(0.1), centre: None, inertia: Some([1.0, 2.0, 2.5, 0.0, 0.1, 0.0]) }),
                ..BodySpec::new(Shape::cuboid(DVec3::ONE), DVec3::ZERO)
            },
            BodySpec { rotation: Rotation::Locked, ..BodySpec::new(Shape::sphere(0.1), DVec3::ZERO) },
            BodySpec { normal: Some(DVec3::Y), ..BodySpec::new(Shape::half_space(), DVec3::ZERO) },
        ];
        scene.no_contact.push(NoContact { groups: [0, 65535] });
        scene.joint = joints();
        scene.lattice.push(Lattice { count: Some(3), ..Lattice::cubic([2, 2, 2], DVec3::new(3.0, 4.0, 5.0), 1.0) });
        scene.lattice.push(Lattice::hexagonal([2, 2, 2], 2.0, 1.0));
        scene.fill.push(Fill::new(DVec3::ZERO, DVec3::splat(100.0), 5, Radius::Uniform([0.1, 0.3])));
        let corner =
            |k: u32| DVec3::new((0.7 * f64::from(k)).sin(), (1.1 * f64::from(k)).cos(), (1.7 * f64::from(k)).sin());
        let pebble = Shape::polyhedron((0..30).map(corner).collect());
        let kinds = vec![
            Kind { weight: 2.5, scale: Some(Radius::Uniform([0.5, 0.6])), ..Kind::of(pebble) },
            Kind { material: Some("default".into()), group: Some(3), ..Kind::spheres(0.1) },
        ];
        let fill = Fill::new(DVec3::ZERO, DVec3::splat(100.0), 5, 1.0);
        scene.fill.push(Fill { orientation: Some(Orientation::Aligned), ..fill.clone().mixed(kinds) });
        let turned = Orientation::Turned(DQuat::from_xyzw(0.1, 0.2, 0.3, 0.4));
        scene.fill.push(Fill {
            scale: Some(0.5.into()),
            orientation: Some(turned),
            ..fill.of(Shape::cuboid(DVec3::new(1.0, 0.5, 1.0 / 3.0)))
        });
        let lattice = Lattice { origin: DVec3::splat(200.0), ..Lattice::cubic([2, 2, 2], 9.0, 1.0) };
        scene.lattice.push(Lattice {
            scale: Some(Radius::Uniform([0.5, 2.0])),
            orientation: Some(Orientation::Random),
            ..lattice.clone().of(Shape::capsule(0.5, 1.0))
        });
        scene.lattice.push(lattice.mixed(vec![Kind::spheres(0.5)]));
        scene.adjustable.push(Adjustable::new("gravity.0", -0.0, 1.0 / 3.0 + 1.0, "pull \"x\""));
        scene
    }

    #[test]
    fn what_is_written_reads_back_to_the_last_bit() {
        // Fields about a centre are not for space that repeats itself.
        let mut repeating = everything();
        repeating.domain.periodic = [true, false, false];
        repeating.force.retain(|field| matches!(field, ForceField::Drag { .. }));
        for scene in [Scene::default(), everything(), repeating] {
            let text = scene.to_toml();
            let read = Scene::from_toml(&text, "text").unwrap_or_else(|e| panic!("{e}\n{text}"));
            assert_eq!(read, scene, "{text}");
            assert_eq!(read.gravity.y.to_bits(), scene.gravity.y.to_bits());
            assert_eq!(read.to_toml(), text);
            assert!(text.lines().all(|line| line.chars().count() <= LONGEST), "{text}");
        }
    }

    /// The paths of all keys of a tree that the writer puts on lines of their own.
    fn keys_of(scene: &Scene) -> Vec<(String, String)> {
        let is_section = |path: &str| SECTIONS.iter().any(|section| section.path == path);
        let mut found = Vec::new();
        let mut todo = vec![(String::new(), tree(scene))];
        while let Some((path, value)) = todo.pop() {
            let tables: Vec<Value> = match value {
                Value::Array(list) => list,
                table => vec![table],
            };
            for table in tables {
                let Value::Object(table) = table else { panic!("{path} is a section") };
                for (key, value) in table {
                    let below = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                    if is_section(&below) { todo.push((below, value)) } else { found.push((path.clone(), key)) }
                }
            }
        }
        found
    }

    #[test]
    fn every_key_has_a_line_and_every_line_a_key() {
        let keys = keys_of(&everything());
        for (path, key) in &keys {
            let section = SECTIONS.iter().find(|section| section.path == *path).unwrap();
            assert!(section.keys.iter().any(|k| k.name == key), "no words on {path}.{key}");
        }
        for section in SECTIONS {
            for key in section.keys {
                let used = keys.iter().any(|(path, name)| path == section.path && name == key.name);
                assert!(used, "{}.{} is no key of a scene", section.path, key.name);
            }
        }
    }

    #[test]
    fn the_default_scene_is_spelt_out() {
        let text = Scene::default().to_toml();
        assert!(text.contains("\ngravity = [0.0, 0.0, -9.81]"), "{text}");
        assert!(text.contains("\n[[material]]\nname = \"default\" "), "{text}");
        assert!(text.contains("\n[solver.apgd]\n"), "{text}");
        assert!(text.contains("\n# No [[body]]: "), "{text}");
        let empty = Scene { material: vec![], ..Scene::default() };
        assert!(Scene::from_toml(&empty.to_toml(), "text").unwrap_err().to_string().contains("at least one material"));
    }
}
