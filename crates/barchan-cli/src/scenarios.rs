//! `barchan list` and `barchan new`: what there is, and a scene to start from.

use crate::args::{ListArgs, NewArgs};
use crate::failure::{Failure, print};
use barchan::narrow;
use barchan::scenario::{self, SCENARIOS, Scenario};
use barchan::shape::write_stl_binary;
use std::fmt::Write as _;
use std::fs;
use std::io::{self, Write as _};
use std::path::Path;

/// What is listed beside scenarios: which function finds the contacts of which two shapes.
const PAIRS: &str = "pairs";

/// Prints a line a scenario, or the parameters of those named.
pub(crate) fn list(args: &ListArgs) -> Result<(), Failure> {
    if args.names.is_empty() {
        let width = SCENARIOS.iter().map(|scenario| scenario.name.len()).max().unwrap_or(0);
        let line = |s: &&Scenario| format!("{:width$}  {}\n", s.name, s.summary);
        return print(&SCENARIOS.iter().map(line).collect::<String>());
    }
    let mut text = String::new();
    for name in &args.names {
        match name.as_str() {
            PAIRS => text += &narrow::table(),
            name => describe(&mut text, scenario::find(name)?),
        }
    }
    print(&text)
}

fn describe(text: &mut String, scenario: &Scenario) {
    let _ = writeln!(text, "{}: {}", scenario.name, scenario.summary);
    for p in scenario.parameters {
        let _ = writeln!(text, "  --set {:<18} {}", format!("{}={}", p.name, p.default), p.help);
    }
}

/// Prints the scene of a scenario.
pub(crate) fn new(args: &NewArgs) -> Result<(), Failure> {
    let scenario = scenario::find(&args.scenario)?;
    match &args.meshes {
        Some(directory) => print(&with_files(scenario, &args.overrides.set, directory)?),
        None => print(&scenario.to_toml(&args.overrides.set)?),
    }
}

/// The scene with its meshes in files, which are written.
fn with_files(scenario: &Scenario, set: &[(String, String)], directory: &Path) -> Result<String, Failure> {
    let mut scene = scenario.scene(set)?;
    let name = scenario.name;
    let files = scene.meshes_to_files(|number| directory.join(format!("{name}-{number}.stl")).display().to_string());
    if files.is_empty() {
        return Err(Failure::Input(format!("{name} has no meshes to write to files: leave --meshes out")));
    }
    let failed = |what: &str, path: &Path, error: io::Error| {
        Failure::Failed(format!("cannot {what} {}: {error}", path.display()))
    };
    fs::create_dir_all(directory).map_err(|error| failed("create directory", directory, error))?;
    for (file, surface) in &files {
        let path = Path::new(file);
        let written = fs::File::create_new(path).and_then(|mut file| file.write_all(&write_stl_binary(surface)));
        written.map_err(|error| failed("write", path, error))?;
    }
    Ok(scene.to_toml())
}
