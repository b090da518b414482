//! The direction of the module graph, held by reading the sources.
//!
//! Data flow from the scene to the output; code may lean on what comes before it and never on
//! what comes after. That solvers see mathematics only, the compiler holds: they are in a crate
//! that knows nothing of the engine.

use std::fs;
use std::path::{Path, PathBuf};

/// A module may use those before it. (A step needs a scene to start from, so the scene language
/// stands before it; the options of each stage live with the stage.)
const ORDER: &[&str] = &[
    "util",
    "comm",
    "shape",
    "world",
    "broad",
    "partition",
    "narrow",
    "dynamics",
    "scene",
    "domain",
    "step",
    "frame",
    "scenario",
    "output",
    "checkpoint",
    "run",
];

fn sources() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

/// Every Rust file below a directory.
fn files(directory: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).expect("a directory").map(|e| e.expect("an entry").path()) {
        if entry.is_dir() {
            found.extend(files(&entry));
        } else if entry.extension().is_some_and(|e| e == "rs") {
            found.push(entry);
        }
    }
    found
}

/// The code of a file without comments and without its tests.
fn code(file: &Path) -> String {
    let text = fs::read_to_string(file).expect("a readable file");
    let lines = text.lines().take_while(|line| line.trim() != "#[cfg(test)]");
    lines.map(|line| line.split("//").next().unwrap_or("")).collect::<Vec<_>>().join("\n")
}

/// What stands behind each `prefix`: a name, or the names at the top level of a group in braces.
fn names_behind(code: &str, prefix: &str) -> Vec<String> {
    let mut names = Vec::new();
    for (at, _) in code.match_indices(prefix) {
        let rest = &code[at + prefix.len()..];
        let Some(group) = rest.strip_prefix('{') else {
            names.push(rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect());
            continue;
        };
        let (mut depth, mut word, mut path) = (0, String::new(), false);
        for c in group.chars() {
            match c {
                '{' => depth += 1,
                '}' if depth == 0 => break,
                '}' => depth -= 1,
                ',' if depth == 0 => {
                    names.push(std::mem::take(&mut word));
                    path = false;
                }
                ':' => path = true,
                c if depth == 0 && !path && !c.is_whitespace() => word.push(c),
                _ => {}
            }
        }
        names.push(word);
    }
    names.retain(|name| !name.is_empty());
    names
}

/// The module that a file belongs to.
fn module_of(file: &Path) -> String {
    let path = file.strip_prefix(sources()).expect("a source file");
    let first = path.components().next().expect("a path").as_os_str().to_string_lossy().into_owned();
    first.trim_end_matches(".rs").to_owned()
}

#[test]
fn modules_use_only_what_comes_before_them() {
    let rank = |module: &str| ORDER.iter().position(|m| *m == module);
    let (mut faults, mut uses) = (Vec::new(), 0);
    for file in files(&sources()) {
        let module = module_of(&file);
        if module == "lib" {
            continue;
        }
        let Some(own) = rank(&module) else {
            faults.push(format!("{}: module {module} has no place in the order", file.display()));
            continue;
        };
        for name in names_behind(&code(&file), "crate::") {
            // What is no module is re-exported from elsewhere.
            let Some(other) = rank(&name) else { continue };
            uses += 1;
            if other > own {
                faults.push(format!("{}: {module} must not use {name}", file.display()));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(uses > 50, "only {uses} uses found: does this test still read the sources?");
}

#[test]
fn every_module_has_its_place() {
    let library = code(&sources().join("lib.rs"));
    for name in names_behind(&library, "pub mod ") {
        assert!(ORDER.contains(&name.as_str()), "module {name} has no place in the order");
    }
}

#[test]
fn the_order_in_the_document_is_this_one() {
    let document = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ARCHITECTURE.md");
    let text = fs::read_to_string(&document).expect("a readable document");
    let line = ORDER.join(" < ");
    assert!(text.lines().any(|l| l == line), "ARCHITECTURE.md lacks the line\n{line}");
}

#[test]
fn groups_are_taken_apart() {
    let code = "use crate::{broad::{self, Aabb}, world::Motion, DVec3}; use crate::util::sort;";
    assert_eq!(names_behind(code, "crate::"), ["broad", "world", "DVec3", "util"]);
}
