//! Reading scenes.
//!
//! The text becomes a document of spanned values, overrides are laid on top, and serde makes the
//! scene of it. What serde has to say is put in a user's words, with the line, the key path and,
//! for a name that does not exist, the nearest one that does. All faults are told, as far as they do not follow
//! from others: where keys or values could not be read, only values that the text has are judged, and not
//! whether names refer to something.

use super::error::{Fault, Location, SceneError};
use super::locate::{Source, path_of};
use super::{Scene, write::tree};
use super::{overrides, repair};
use crate::shape::Shape;
use crate::util::words::{nearest, quoted};
use serde_json::Value;
use std::path::Path;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

impl Scene {
    /// Reads and checks a scene. `origin` names the text in messages: a file name, say.
    ///
    /// # Errors
    /// If the text is not TOML (the first such fault is reported), or if it has unknown keys, values of the wrong
    /// kind or values out of range (all are reported).
    pub fn from_toml(text: &str, origin: &str) -> Result<Self, SceneError> {
        Self::from_toml_with(text, origin, &[])
    }

    /// Reads and checks a scene with overrides: pairs of a dotted key, such as
    /// `material.0.friction`, and a TOML value. A bare word is taken for a string.
    ///
    /// # Errors
    /// As [`Scene::from_toml`]; faults of an override name its key.
    pub fn from_toml_with(text: &str, origin: &str, overrides: &[(String, String)]) -> Result<Self, SceneError> {
        let source = Source { text, origin, overrides };
        let mut document =
            DeTable::parse(text).map_err(|e| SceneError::new(source.place(e.span()), "", capitalless(e.message())))?;
        let mut faults = Vec::new();
        for (k, (key, value)) in overrides.iter().enumerate() {
            faults.extend(overrides::apply(&mut document, k, key, value).err());
        }
        let reading = repair::read(&document, &source);
        let is_whole = reading.faults.is_empty() && faults.is_empty();
        let lacks_entries = reading.lacks_entries;
        // Overrides come after the text.
        faults.splice(0..0, reading.faults);
        let Some(mut scene) = reading.scene else { return Err(SceneError { faults }) };
        if let Some(folder) = Path::new(origin).parent() {
            scene.rename_files(&|_, file| placed(file, folder));
        }
        if !lacks_entries {
            let stands = |path: &str| is_whole || source.has(document.get_ref(), path);
            let problems = scene.validate().into_iter().filter(|p| stands(&p.path) && (is_whole || !p.is_reference()));
            for problem in problems {
                let place = source.place_of(document.get_ref(), &problem.path);
                faults.push(Fault { place, path: problem.path, message: problem.message });
            }
            // A vector of four numbers would pass for one of three: serde stops at the third.
            let mut longer = Vec::new();
            surplus(document.get_ref(), &tree(&scene), &source, "", &mut longer);
            // A list that lacks an entry which was refused is no longer than it should be.
            longer.retain(|list| !faults.iter().any(|fault| repair::is_within(&fault.path, &list.path)));
            faults.extend(longer);
        }
        if faults.is_empty() { Ok(scene) } else { Err(SceneError { faults }) }
    }
}

/// A file's place, if its name is relative to a folder.
fn placed(file: &str, folder: &Path) -> String {
    let path = folder.join(file);
    std::path::absolute(&path).unwrap_or(path).to_string_lossy().into_owned()
}

impl SceneError {
    /// The same error with lines: faults that were found after reading, when the world was
    /// built, are traced back to the text that the scene was read from. The arguments are those
    /// of [`Scene::from_toml_with`].
    #[must_use]
    pub fn located(mut self, text: &str, origin: &str, overrides: &[(String, String)]) -> Self {
        let source = Source { text, origin, overrides };
        let Ok(mut document) = DeTable::parse(text) else { return self };
        for (k, (key, value)) in overrides.iter().enumerate() {
            // They could be applied when the scene was read.
            let _ = overrides::apply(&mut document, k, key, value);
        }
        for fault in self.faults.iter_mut().filter(|fault| matches!(fault.place, Location::Whole(_))) {
            fault.place = source.place_of(document.get_ref(), &fault.path);
        }
        self
    }
}

/// Serde's complaint in a user's words.
pub(super) fn explain(error: &toml::de::Error, document: &DeTable<'_>, source: &Source<'_>) -> Fault {
    let message = error.message();
    let span = error.span().filter(|span| *span != (0..0));
    let place = source.place(span.clone());
    // All parts of an override share a span, and its key says enough.
    let path = match (&place, span) {
        (Location::Line { .. }, Some(span)) => path_of(document, &span),
        _ => String::new(),
    };
    let words: Vec<&str> = message.split('`').skip(1).step_by(2).collect();
    let message = match words.split_first() {
        Some((name, known)) if message.starts_with("unknown field") => unknown("key", name, known),
        Some((name, known)) if message.starts_with("unknown variant") => unknown("name", name, known),
        Some((name, _)) if message.starts_with("missing field") => format!("the key \"{name}\" is missing"),
        _ => of_shape(message, document, &path).unwrap_or_else(|| plain(message)),
    };
    Fault { place, path, message }
}

/// Where a name, a value or several entries stand in place of the table of a shape: what the table looks like.
fn of_shape(message: &str, document: &DeTable<'_>, path: &str) -> Option<String> {
    let form = |name: &str| Shape::FORMS.iter().find(|form| form.0 == name);
    let found = value_at(document, path)?;
    if let DeValue::String(name) = found
        && message.contains("unit variant")
    {
        let example = form(name).map_or_else(|| "of one entry".into(), |(name, form)| format!("{{ {name} = {form} }}"));
        return Some(format!("found the name \"{name}\" alone, expected a table {example}"));
    }
    if let DeValue::Table(table) = found
        && message.contains("more than 1 element")
    {
        let names = table.keys().map(|key| format!("\"{}\"", key.get_ref())).collect::<Vec<_>>().join(" and ");
        return Some(format!("the table has {names}; expected one of them"));
    }
    let (_, form) = form(path.rsplit('.').next()?)?;
    let (found, _) = message.split_once("expected struct ")?;
    Some(format!("{}expected a table {form}", plain(found)))
}

/// The value at a path.
fn value_at<'a, 'b>(document: &'a DeTable<'b>, path: &str) -> Option<&'a DeValue<'b>> {
    let mut segments = overrides::segments(path).into_iter();
    let first = document.get(segments.next()?.as_str())?.get_ref();
    segments.try_fold(first, |value, segment| match value {
        DeValue::Table(table) => table.get(segment.as_str()).map(Spanned::get_ref),
        DeValue::Array(array) => array.get(segment.parse::<usize>().ok()?).map(Spanned::get_ref),
        _ => None,
    })
}

/// What other programs call our keys and shapes, and what it is here. A remark says how it differs.
const ALIASES: &[(&str, &str, &str)] = &[
    ("height", "half_height", ", which is half of it"),
    ("length", "half_height", ", which is half of it"),
    ("size", "half_extents", ", which is half of it"),
    ("extents", "half_extents", ", which is half of it"),
    ("edges", "half_extents", ", which is half of it"),
    ("dimensions", "half_extents", ", which is half of it"),
    ("diameter", "radius", ", which is half of it"),
    ("vertices", "points", ""),
    ("cube", "box", ""),
    ("cuboid", "box", ""),
    ("block", "box", ""),
    ("ball", "sphere", ""),
    ("plane", "half-space", ""),
    ("ground", "half-space", ""),
    ("hull", "polyhedron", ""),
    ("convex", "polyhedron", ""),
    ("trimesh", "mesh", ""),
    ("compound", "composite", ""),
];

/// What stands before the name in a hint.
const MEANT: &str = "; did you mean \"";

/// The name that a fault hints at.
pub(super) fn hinted(fault: &Fault) -> Option<&str> {
    fault.message.split_once(MEANT)?.1.split('"').next()
}

/// "unknown key ...; did you mean ...? Known: ..."
fn unknown(what: &str, name: &str, known: &[&str]) -> String {
    let alias = ALIASES.iter().find(|(alias, ours, _)| *alias == name && known.contains(ours));
    let best = alias.map(|&(_, ours, remark)| (ours, remark));
    let best = best.or_else(|| Some((nearest(name, known.iter().copied())?, "")));
    let hint = best.map(|(best, remark)| format!("{MEANT}{best}\"{remark}?"));
    let list = if known.is_empty() { "none".into() } else { quoted(known.iter().copied()) };
    format!("unknown {what} \"{name}\"{} Known are {list}", hint.unwrap_or_else(|| ".".into()))
}

/// Rust's names of types in plain words.
fn plain(message: &str) -> String {
    let words = [
        ("invalid type: ", "found "),
        ("invalid value: ", "found "),
        ("invalid length ", "found an array of "),
        ("floating point ", "the number "),
        ("integer ", "the whole number "),
        ("string \"", "the string \""),
        ("boolean ", "the value "),
        ("found map", "found a table"),
        ("found sequence", "found an array"),
        ("a sequence of 3 f64 values", "an array of 3 numbers"),
        ("a sequence of 4 f64 values", "an array of 4 numbers"),
        ("tuple struct DVec3", "an array of 3 numbers"),
        ("an array of length", "an array of length"),
        ("expected a sequence", "expected an array"),
        ("expected f64", "expected a number"),
        ("expected u64", "expected a whole number that is not negative"),
        ("expected u32", "expected a whole number that is not negative"),
        ("expected u16", "expected a whole number from 0 to 65535"),
        ("expected a boolean", "expected true or false"),
        ("expected struct ", "expected a table: "),
        ("found unit variant, expected newtype variant", "found a name alone, expected a table of one entry"),
        ("wanted string or table", "expected a name or a table"),
        ("wanted exactly 1 element, found 0 elements", "the table is empty; expected one entry"),
        ("wanted exactly 1 element, more than 1 element", "the table has several entries; expected one"),
    ];
    words.iter().fold(capitalless(message), |text, (from, to)| text.replace(from, to)).replace('`', "")
}

/// Messages go on after a colon.
fn capitalless(message: &str) -> String {
    let mut chars = message.chars();
    chars.next().map_or_else(String::new, |first| first.to_lowercase().chain(chars).collect())
}

/// Arrays in the text that are longer than what became of them.
fn surplus(table: &DeTable<'_>, made: &Value, source: &Source<'_>, path: &str, faults: &mut Vec<Fault>) {
    for (key, value) in table {
        let mut here = path.to_owned();
        super::error::push_segment(&mut here, key.get_ref());
        surplus_value(value, &made[key.get_ref().as_ref()], source, &here, faults);
    }
}

fn surplus_value(value: &Spanned<DeValue<'_>>, made: &Value, source: &Source<'_>, path: &str, faults: &mut Vec<Fault>) {
    match (value.get_ref(), made) {
        (DeValue::Table(table), made) => surplus(table, made, source, path, faults),
        (DeValue::Array(array), Value::Array(made)) if array.len() > made.len() => faults.push(Fault {
            place: source.place(Some(value.span())),
            path: path.to_owned(),
            message: format!("found an array of {}, expected an array of {}", array.len(), made.len()),
        }),
        (DeValue::Array(array), Value::Array(made)) => {
            for (i, (value, made)) in array.iter().zip(made).enumerate() {
                surplus_value(value, made, source, &format!("{path}[{i}]"), faults);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::Motion;
    use glam::DVec3;

    fn error(text: &str) -> String {
        Scene::from_toml(text, "a.toml").unwrap_err().to_string()
    }

    fn set(text: &str, pairs: &[(&str, &str)]) -> Result<Scene, SceneError> {
        let pairs: Vec<_> = pairs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        Scene::from_toml_with(text, "a.toml", &pairs)
    }

    #[test]
    fn what_only_building_finds_is_traced_to_its_line() {
        let text = "\n[[fill]]\nmin = [0, 0, 0]\nmax = [1, 1, 1]\ncount = 900\nradius = 0.05\nattempts = 50\n";
        let error = Scene::from_toml(text, "a.toml").unwrap().build().unwrap_err().located(text, "a.toml", &[]);
        assert!(error.to_string().starts_with("a.toml:2: fill[0]: only "), "{error}");
    }

    #[test]
    fn an_empty_file_is_the_default_scene() {
        assert_eq!(Scene::from_toml("", "a.toml").unwrap(), Scene::default());
    }

    #[test]
    fn shapes_may_be_written_either_way() {
        let text = "[[body]]\nshape.sphere.radius = 1\n[[body]]\nshape.half-space = {}\nnormal = [0, 1, 1]\n\
                    [[body]]\nshape = { container = { half_extents = [1, 1, 1], open = [\"+z\"] } }\n\
                    motion = \"kinematic\"\n[[force]]\ndrag = { rate = 1.0 }\n";
        let scene = Scene::from_toml(text, "a.toml").unwrap();
        let motions: Vec<Motion> = scene.body.iter().map(|b| b.motion).collect();
        assert_eq!(motions, [Motion::Dynamic, Motion::Fixed, Motion::Kinematic]);
        assert_eq!(Scene::from_toml(&scene.to_toml(), "b.toml").unwrap(), scene);
    }

    #[test]
    fn an_unknown_key_gets_its_line_and_the_nearest_one() {
        let text = error("[time]\nstep = 1e-3\n\n[solver]\ntolernce = 1e-3\n");
        assert!(text.starts_with("a.toml:5: solver.tolernce: unknown key \"tolernce\"; did you mean \"tolerance\"?"));
        assert!(text.contains("Known are \"name\", \"friction\", \"tolerance\","), "{text}");
        let text =
            error("[[body]]\nshape = { sphere = { radius = 1.0 } }\n[[body]]\nshape = { spere = { radius = 1 } }");
        assert!(text.starts_with("a.toml:4: body[1].shape.spere: unknown name \"spere\"; did you mean \"sphere\"?"));
        let text = error("[solver]\nname = \"abgd\"");
        assert!(text.starts_with("a.toml:2: solver.name: unknown name \"abgd\"; did you mean \"apgd\"?"), "{text}");
        let text = error("[[lattice]]\ncounts = [1, 1, 1]\nspacing = 1.0\nradius = { unifrom = [1, 2] }");
        assert!(text.starts_with("a.toml:4: lattice[0].radius: unknown name \"unifrom\""), "{text}");
    }

    #[test]
    fn all_faults_are_reported_at_once() {
        let text = error(
            "sead = 1\ngravity = [0, \"down\", 0]\n[time]\nstop = 2.0\nstep = -1.0\n[solver]\ntolernce = 1\nname = \"abgd\"\n\
             [[materal]]\nname = \"glass\"\n[[body]]\nmaterial = \"glass\"\nshape = { spere = { radius = 1 } }\n\
             colour = \"red\"\n[[body]]\nposition = [0, 0]\n[domain]\nperiodic = [true, true, true]\n",
        );
        let starts = [
            "a.toml:1: sead: unknown key \"sead\"; did you mean \"seed\"?",
            "a.toml:2: gravity[1]: found the string \"down\", expected a number",
            "a.toml:4: time.stop: unknown key \"stop\"",
            "a.toml:7: solver.tolernce: unknown key",
            "a.toml:8: solver.name: unknown name \"abgd\"",
            "a.toml:9: materal: unknown key \"materal\"; did you mean \"material\"?",
            "a.toml:13: body[0].shape.spere: unknown name \"spere\"",
            "a.toml:14: body[0].colour: unknown key \"colour\"",
            "a.toml:15: body[1]: the key \"shape\" is missing",
            "a.toml:16: body[1].position: found an array of 2",
        ];
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), starts.len(), "{text}");
        for (line, start) in lines.iter().zip(starts) {
            assert!(line.starts_with(start), "expected {start}\n{text}");
        }
        // A value out of range is told beside them, but neither what follows from them nor a name that may be theirs.
        let text = error("[time]\nstep = -1.0\nstop = 1\n[[body]]\nshape.sphere.radius = 0\nmaterial = \"sand\"\n");
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines.len() == 3 && lines[0].contains("unknown key \"stop\""), "{text}");
        assert_eq!(
            lines[1..],
            [
                "a.toml:2: time.step: must be greater than 0, but is -1.0",
                "a.toml:5: body[0].shape.sphere.radius: must be greater than 0, but is 0.0"
            ]
        );
        let pairs = [("solver.tolernce", "1"), ("time.step", "fast"), ("a..b", "1"), ("time.end", "-1")];
        let text = set("sead = 1", &pairs).unwrap_err().to_string();
        for word in
            ["a.toml:1: sead", "--set solver.tolernce: ", "--set time.step: ", "--set a..b: ", "--set time.end: "]
        {
            assert_eq!(text.lines().filter(|line| line.starts_with(word)).count(), 1, "{word}: {text}");
        }
        assert_eq!(text.lines().count(), 5, "{text}");
        // There is an end to it.
        let many: String = (0..500).map(|k| format!("key{k} = 1\n")).collect();
        assert_eq!(error(&many).lines().count(), 50);
    }

    #[test]
    fn a_wrong_kind_of_value_is_named() {
        let cases = [
            (
                "[time]\nstep = \"fast\"",
                "a.toml:2: time.step: found the string \"fast\", expected a number or \"auto\"",
            ),
            ("gravity = 9.81", "a.toml:1: gravity: found the number 9.81, expected an array of 3 numbers"),
            ("gravity = [0, 1]", "a.toml:1: gravity: found an array of 2, expected an array of 3 numbers"),
            ("gravity = [0, 0, 0, 1]", "a.toml:1: gravity: found an array of 4, expected an array of 3"),
            ("\nseed = -1", "a.toml:2: seed: found the whole number -1, expected a whole number that is not negative"),
            ("[output]\nhistory = 1", "a.toml:2: output.history: found the whole number 1, expected true or false"),
            ("[[body]]\nposition = [0, 0, 0]", "a.toml:1: body[0]: the key \"shape\" is missing"),
        ];
        for (text, expected) in cases {
            assert_eq!(error(text), expected);
        }
        assert!(error("[time\nstep = 1").starts_with("a.toml:1: "));
        assert!(error("seed = 1\nseed = 2").starts_with("a.toml:2: duplicate key"));
    }

    #[test]
    fn shapes_in_other_words_are_understood() {
        let body = |line: &str| error(&format!("[[body]]\n{line}\n"));
        let cases = [
            (
                "shape = \"sphere\"",
                "a.toml:2: body[0].shape: found the name \"sphere\" alone, expected a table { sphere = { radius } }",
            ),
            ("shape.sphere = 0.1", "a.toml:2: body[0].shape.sphere: found the number 0.1, expected a table { radius }"),
            (
                "shape.box = 0.3",
                "a.toml:2: body[0].shape.box: found the number 0.3, expected a table { half_extents, margin }",
            ),
            (
                "shape = { sphere = { radius = 1 }, box = { half_extents = [1, 1, 1] } }",
                "a.toml:2: body[0].shape: the table has \"box\" and \"sphere\"; expected one of them",
            ),
            (
                "shape.sphere.radius = 1\nshape.box.half_extents = [1, 1, 1]",
                "a.toml:2: body[0].shape: the table has \"box\" and \"sphere\"; expected one of them",
            ),
        ];
        for (line, expected) in cases {
            assert_eq!(body(line), expected);
        }
        // One fault, not that a key is missing beside it.
        for (line, start) in [
            (
                "shape.cone = { radius = 1, height = 2 }",
                "unknown key \"height\"; did you mean \"half_height\", which is half",
            ),
            ("shape.box.size = [1, 2, 3]", "unknown key \"size\"; did you mean \"half_extents\", which is half of it?"),
            ("shape.cube.half_extents = [1, 2, 3]", "unknown name \"cube\"; did you mean \"box\"?"),
            ("shape.container = { half_extents = [1, 1, 1], open = [\"z\"] }", "unknown name \"z\""),
        ] {
            let text = body(line);
            assert!(text.contains(start) && text.lines().count() == 1, "{text}");
        }
        // What is missing besides is told.
        assert_eq!(body("shape.cone.height = 2").lines().count(), 2);
    }

    #[test]
    fn all_values_out_of_range_are_reported_with_their_lines() {
        let text = error(
            "[time]\nstep = -1.0\nend = nan\n[[material]]\nname = \"glass\"\nfriction = -0.5\n[[body]]\n\
             material = \"glas\"\nshape = { sphere = { radius = -0.1 } }\n",
        );
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(
            lines,
            [
                "a.toml:3: time.end: must be a finite number",
                "a.toml:2: time.step: must be greater than 0, but is -1.0",
                "a.toml:6: material[0].friction: must not be negative, but is -0.5",
                "a.toml:9: body[0].shape.sphere.radius: must be greater than 0, but is -0.1",
                "a.toml:8: body[0].material: unknown material \"glas\"; did you mean \"glass\"? Known are \"glass\"",
            ]
        );
    }

    #[test]
    fn overrides_do_what_an_edit_does() {
        let text = "gravity = [0, 0, -1]\n[[material]]\nname = \"a\"\n[[material]]\nname = \"b\"\n";
        let scene = set(
            text,
            &[
                ("solver.tolerance", "1e-4"),
                ("solver.apgd.metric", "identity"),
                ("gravity", "[0, 0, 0]"),
                ("material.1.friction", "0.3"),
                ("material[0].name", "c"),
                ("name", "two words"),
                ("force.0.drag.rate", "2"),
            ],
        )
        .unwrap();
        assert_eq!((scene.solver.tolerance, scene.gravity), (1e-4, DVec3::ZERO));
        assert_eq!((scene.material[1].friction, scene.material[0].name.as_str()), (0.3, "c"));
        assert_eq!((scene.name.as_str(), scene.force.len()), ("two words", 1));
        // A component of a vector, and a table where there was none.
        let scene = set(text, &[("gravity.2", "-3"), ("output.history", "true")]).unwrap();
        assert!(scene.gravity.z == -3.0 && scene.output.history);
    }

    #[test]
    fn materials_are_overridden_by_name() {
        let text = "[[material]]\nname = \"sand\"\n[[material]]\nname = \"wet sand\"\n[[material]]\n\
                    [[adjustable]]\nkey = \"material.sand.friction\"\nmin = 0\nmax = 1\n";
        let pairs = [
            ("material.sand.friction", "0.1"),
            ("material[wet sand].friction", "0.2"),
            ("material.default.friction", "0.3"),
        ];
        let mut scene = set(text, &pairs).unwrap();
        let friction: Vec<f64> = scene.material.iter().map(|material| material.friction).collect();
        assert_eq!(friction, [0.1, 0.2, 0.3]);
        // The one that is there without being named.
        let plain = set("", &[("material.default.density", "7"), ("material.default.friction", "0.4")]).unwrap();
        assert_eq!((plain.material.len(), plain.material[0].density, plain.material[0].friction), (1, 7.0, 0.4));
        assert_eq!(plain.material[0].name, "default");
        let error = |key| set(text, &[(key, "0.1")]).unwrap_err().to_string();
        assert_eq!(
            error("material.sadn.friction"),
            "--set material.sadn.friction: material has no entry \"sadn\"; did you mean \"sand\"? Expected a name, of \
             \"sand\", \"wet sand\", \"default\", or an index, from 0"
        );
        assert!(set("", &[("material.sand.friction", "1")]).unwrap_err().to_string().contains("of \"default\", or an"));
        let range = set(text, &[("material.sand.friction", "-1")]).unwrap_err().to_string();
        assert!(
            range.starts_with("--set material.sand.friction: material[0].friction: must not be negative"),
            "{range}"
        );
        // Names stand for numbers in adjustables alike.
        assert_eq!(scene.adjustable_value("material.wet sand.friction"), Ok(0.2));
        scene.set_adjustable("material.sand.friction", 0.9).unwrap();
        assert_eq!(scene.material[0].friction, 0.9);
        let twice = format!("{text}[[adjustable]]\nkey = \"material.0.friction\"\nmin = 0\nmax = 1\n");
        assert!(set(&twice, &[]).unwrap_err().to_string().contains("is listed twice"));
    }

    #[test]
    fn faults_of_overrides_name_them() {
        let text = "gravity = [0, 0, -1]\n[[material]]\nname = \"a\"\n[[body]]\nshape.sphere.radius = 1\n";
        let error = |key, value| set(text, &[("seed", "1"), (key, value)]).unwrap_err().to_string();
        let unknown = error("solver.tolernce", "1");
        assert!(unknown.starts_with("--set solver.tolernce: unknown key \"tolernce\"; did you mean \"tolerance\"?"));
        assert_eq!(error("time.step", "-1"), "--set time.step: must be greater than 0, but is -1.0");
        assert_eq!(
            error("time.step", "fast"),
            "--set time.step: found the string \"fast\", expected a number or \"auto\""
        );
        assert_eq!(error("material.0.friction", "-1"), "--set material.0.friction: must not be negative, but is -1.0");
        assert_eq!(
            error("material.4.friction", "1"),
            "--set material.4.friction: material has 1 entries, numbered from 0: there is no 4"
        );
        assert_eq!(
            error("material.friction", "1"),
            "--set material.friction: material has no entry \"friction\". Expected a name, of \"a\", or an index, from 0"
        );
        assert_eq!(
            error("body.ball.group", "1"),
            "--set body.ball.group: body is a list: an index must follow, not \"ball\""
        );
        assert!(error("gravity", "[0, 0").starts_with("--set gravity: cannot read the value \"[0, 0\""));
        assert!(error("a..b", "1").contains("dotted names"));
        assert!(error("gravity.0.x", "1").contains("gravity.0 is a"));
    }
}
