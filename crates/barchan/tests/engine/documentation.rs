//! The documents beside the code, held to what the code says.
//!
//! `docs/scene-language.md` must name every key and hold examples that can be built, as must `docs/shapes.md`;
//! `docs/solvers.md` must have every solver, and every option with its default;
//! `docs/problem-files.md` must hold problems that can be read;
//! `docs/outputs.md` must name every column, every key of the summary and every field of a frame.

use barchan::cone::AnyProblem;
use barchan::cone::solver::{SolverName, SolverOptions};
use barchan::frame::Frame;
use barchan::output::{BODY_COLUMNS, ByRank, CONTACT_COLUMNS, FrameOptions, FrameWriter, Share, StepRow, Summary};
use barchan::scenario::SCENARIOS;
use barchan::scene::Scene;
use barchan::shape::Shape;
use barchan::step::Simulation;
use barchan::util::formula::function_names;
use std::path::Path;

fn document(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The fenced blocks of a language.
fn blocks(text: &str, language: &str) -> Vec<String> {
    let (mut found, mut open) = (Vec::<String>::new(), false);
    for line in text.lines() {
        if let Some(fence) = line.strip_prefix("```") {
            open = !open && fence.trim() == language;
            if open {
                found.push(String::new());
            }
        } else if open && let Some(block) = found.last_mut() {
            *block += line;
            *block += "\n";
        }
    }
    found
}

/// Asserts that the text has each name in code quotes.
fn assert_names<'a>(text: &str, file: &str, names: impl IntoIterator<Item = &'a str>) {
    for name in names {
        assert!(text.contains(&format!("`{name}`")), "{file} does not name `{name}`");
    }
}

#[test]
fn every_key_of_a_scene_is_documented() {
    let text = document("scene-language.md");
    for scenario in SCENARIOS {
        let scene = scenario.scene(&[]).expect("a sound scenario").to_toml();
        for line in scene.lines() {
            // Sections, keys, and keys that are left out behind a #.
            let line = line.trim_start_matches("# ");
            if line.starts_with('[') {
                let section = line.split(']').next().unwrap_or("").trim_start_matches('[');
                assert!(text.contains(&format!("[{section}]")), "scene-language.md lacks the section {section}");
            } else if let Some((key, _)) = line.split_once(" = ") {
                let is_key = key.chars().all(|c| c.is_ascii_lowercase() || c == '_');
                assert_names(&text, "scene-language.md", is_key.then_some(key));
            }
        }
        assert_names(&text, "scene-language.md", [scenario.name]);
    }
    for function in function_names() {
        assert!(text.contains(&format!("`{function}(")), "scene-language.md does not name the function {function}");
    }
}

/// Every file below a directory of the repository, by its path from the root.
fn files(directory: &Path, root: &Path, found: &mut Vec<String>) {
    for entry in std::fs::read_dir(directory).expect("a directory").map(|entry| entry.expect("an entry").path()) {
        let name = entry.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if entry.is_dir() && !["target", "runs", "node_modules"].contains(&name.as_str()) && !name.starts_with('.') {
            files(&entry, root, found);
        } else if entry.is_file() {
            found
                .push(entry.strip_prefix(root).expect("a file of the repository").to_string_lossy().replace('\\', "/"));
        }
    }
}

/// Links lead to files, and source files that are named exist.
#[test]
fn every_file_that_a_document_names_exists() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the repository");
    let mut all = Vec::new();
    for part in ["crates", "docs", "fuzz", "scripts", "tests"] {
        files(&root.join(part), &root, &mut all);
    }
    let mut named = 0;
    let top = ["ARCHITECTURE.md", "BENCHMARKS.md", "CHANGELOG.md", "CONTRIBUTING.md", "README.md"];
    let documents = top.iter().map(|name| (*name).to_owned());
    for document in documents.chain(all.clone().into_iter().filter(|file| file.starts_with("docs/"))) {
        if !document.ends_with(".md") {
            continue;
        }
        let path = root.join(&document);
        let text = std::fs::read_to_string(&path).expect("a readable document");
        let folder = path.parent().expect("a folder");
        for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let target = link.split('#').next().unwrap_or("");
            if !target.is_empty() && !target.contains("://") {
                assert!(folder.join(target).exists(), "{document} links to {target}");
            }
        }
        // Code quotes that look like a source file; capitals are placeholders.
        for word in text.split('`').skip(1).step_by(2) {
            let is_file = [".rs", ".sh"].iter().any(|end| word.ends_with(end));
            let is_path = word.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || "/._-".contains(c));
            if is_file && is_path {
                named += 1;
                let end = format!("/{word}");
                let exists = all.iter().any(|file| file == word || file.ends_with(&end));
                // Paths of the engine leave out crates/barchan/src, those of other crates begin with their name.
                let in_crate = word.split_once('/').map(|(first, rest)| format!("crates/{first}/{rest}"));
                assert!(exists || in_crate.is_some_and(|file| all.contains(&file)), "{document} names {word}");
            }
        }
    }
    assert!(named > 10, "only {named} files found");
}

/// Solvers, and their options with the defaults that the code has.
#[test]
fn every_option_of_a_solver_is_documented_with_its_default() {
    let text = document("solvers.md");
    assert_names(&text, "solvers.md", SolverName::ALL.iter().map(|(_, name, _)| *name));

    let options = serde_json::to_value(SolverOptions::default()).expect("options are JSON");
    let mut defaults = Vec::new();
    for (key, value) in options.as_object().expect("an object") {
        match value.as_object() {
            Some(inner) => defaults.extend(inner.iter().map(|(name, value)| (format!("{key}.{name}"), value))),
            None => defaults.push((key.clone(), value)),
        }
    }
    assert!(defaults.len() > 20, "{defaults:?}");
    for (key, value) in defaults {
        let row = format!("| `solver.{key}` | ");
        let line = text.lines().find_map(|line| line.strip_prefix(row.as_str()));
        let written = line.unwrap_or_else(|| panic!("solvers.md has no row for solver.{key}"));
        let written = written.split(" | ").next().unwrap_or("").trim_matches('`');
        let written: serde_json::Value = serde_json::from_str(written).expect("a default is JSON");
        assert!(written == *value || written.as_f64().is_some_and(|x| value.as_f64() == Some(x)), "solver.{key}");
    }
}

/// Examples are whole scenes, or parts that say all they need.
#[test]
fn every_example_of_a_scene_can_be_built() {
    let [language, shapes] = ["scene-language.md", "shapes.md"].map(|name| blocks(&document(name), "toml"));
    assert!(language.len() > 5 && shapes.len() >= Shape::FORMS.len(), "{} and {}", language.len(), shapes.len());
    for text in language.into_iter().chain(shapes) {
        let scene = Scene::from_toml(&text, "example").unwrap_or_else(|error| panic!("{error}\n{text}"));
        scene.build().unwrap_or_else(|error| panic!("{error}\n{text}"));
    }
}

/// Examples of problems are whole files.
#[test]
fn every_example_of_a_problem_can_be_read() {
    let examples = blocks(&document("problem-files.md"), "text");
    assert_eq!(examples.len(), 2);
    for text in examples {
        let problem = AnyProblem::read(text.as_bytes(), "example").unwrap_or_else(|error| panic!("{error}\n{text}"));
        assert!(problem.contacts() > 0);
    }
}

#[test]
fn every_output_is_documented() {
    let text = document("outputs.md");
    let columns = StepRow::COLUMNS.iter().chain(&BODY_COLUMNS).chain(&CONTACT_COLUMNS);
    assert_names(&text, "outputs.md", columns.copied());

    let summary = serde_json::to_value(Summary::default()).expect("a summary is JSON");
    for (key, value) in summary.as_object().expect("an object") {
        assert_names(&text, "outputs.md", [key.as_str()]);
        for inner in value.as_object().into_iter().flatten() {
            assert_names(&text, "outputs.md", [format!("{key}.{}", inner.0).as_str()]);
        }
    }

    let shared = serde_json::to_value(ByRank::new("", vec![Share::default()])).expect("rows are JSON");
    let keys = shared.as_object().expect("an object").keys().map(|key| format!("by_rank.{key}"));
    for key in keys.chain(shared["total"].as_object().expect("an object").keys().cloned()) {
        assert_names(&text, "outputs.md", [key.as_str()]);
    }

    let scene = SCENARIOS[0].scene(&[("bodies".into(), "1".into())]).expect("a scene");
    let (mut frame, run) =
        (Frame::default(), std::env::temp_dir().join(format!("barchan-docs-{}", std::process::id())));
    frame.capture(&Simulation::from_scene(&scene).expect("a world"), 0);
    let mut writer = FrameWriter::create(&run, FrameOptions::of(&scene)).expect("a directory");
    writer.write(&frame).expect("a frame");
    for (file, least) in [("frame", 10), ("contacts", 6), ("walls", 6)] {
        let file = std::fs::read(run.join(format!("frames/{file}-000000.vtp"))).expect("a file");
        let file = String::from_utf8_lossy(&file);
        let names: Vec<_> = file.split("Name=\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
        assert!(names.len() > least, "{names:?}");
        let plumbing = ["connectivity", "offsets"];
        assert_names(&text, "outputs.md", names.into_iter().filter(|name| !plumbing.contains(name)));
    }
    std::fs::remove_dir_all(&run).expect("it was made");
}
