//! The problems of a comparison: files, and a step of a scene.

use crate::args::CompareArgs;
use crate::failure::{Failure, note};
use crate::target::Target;
use barchan::cone::AnyProblem;
use barchan::step::Simulation;
use std::path::Path;

/// The step of a scene by default.
const STEP: u64 = 300;

/// A problem with a name that no other problem of the comparison has.
pub(super) struct Named {
    pub(super) name: String,
    /// The file, or the scene and its step.
    pub(super) source: String,
    pub(super) problem: AnyProblem,
}

/// Reads all files, then steps the scene.
pub(super) fn gather(args: &CompareArgs) -> Result<Vec<Named>, Failure> {
    let mut problems = Vec::new();
    for path in &args.problems {
        let problem = AnyProblem::load(path).map_err(|error| Failure::Input(error.to_string()))?;
        let source = path.display().to_string();
        problems.push(Named { name: stem(path), source, problem });
    }
    if let Some(scene) = &args.scene {
        problems.push(step_of(scene, args)?);
    }
    if let Some(empty) = problems.iter().find(|problem| problem.problem.contacts() == 0) {
        return Err(Failure::Input(format!("{}: no contacts, expected at least one", empty.source)));
    }
    distinguish(&mut problems);
    Ok(problems)
}

/// The contact problem of a step, as `run --dump-problem` writes it.
fn step_of(name: &str, args: &CompareArgs) -> Result<Named, Failure> {
    let target = Target::load(name, args.set.clone())?;
    let scene = &target.scene;
    let step = args.step.unwrap_or_else(|| STEP.min(scene.time.steps().unwrap_or(STEP).max(1)));
    note(format_args!("{}: on the way to step {step}", scene.name));
    let mut simulation = Simulation::from_scene(scene).map_err(|error| target.blame(error))?;
    for _ in 1..step {
        simulation.step()?;
    }
    let problem = AnyProblem::Bodies(simulation.pose().0.to_problem());
    let source = format!("step {step} of {name}");
    Ok(Named { name: clean(&format!("{}-{step}", scene.name)), source, problem })
}

/// The name of a file without its end.
fn stem(path: &Path) -> String {
    clean(&path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned()))
}

/// Without anything that the name of a file, or a table, could trip over.
fn clean(name: &str) -> String {
    let keep = |c: char| if c.is_alphanumeric() || "-_.".contains(c) { c } else { '-' };
    name.chars().map(keep).collect()
}

/// Gives problems of the same name their directory in front, and a number where that is no help.
fn distinguish(problems: &mut [Named]) {
    let clashes = |problems: &[Named], i: usize| problems.iter().filter(|p| p.name == problems[i].name).count() > 1;
    let fronts: Vec<_> = (0..problems.len())
        .map(|i| {
            let directory = Path::new(&problems[i].source).parent().and_then(Path::file_name);
            directory.filter(|_| clashes(problems, i)).map(|name| clean(&name.to_string_lossy()))
        })
        .collect();
    for (problem, front) in problems.iter_mut().zip(fronts) {
        if let Some(front) = front {
            problem.name = format!("{front}-{}", problem.name);
        }
    }
    for i in 1..problems.len() {
        let name = problems[i].name.clone();
        let mut number = 2;
        while problems[..i].iter().any(|before| before.name == problems[i].name) {
            problems[i].name = format!("{name}-{number}");
            number += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use barchan::cone::Problem;

    fn names(sources: &[&str]) -> Vec<String> {
        let named = |source: &&str| Named {
            name: stem(Path::new(source)),
            source: (*source).into(),
            problem: AnyProblem::Bodies(Problem::default()),
        };
        let mut problems: Vec<_> = sources.iter().map(named).collect();
        distinguish(&mut problems);
        problems.into_iter().map(|problem| problem.name).collect()
    }

    #[test]
    fn every_problem_has_a_name_of_its_own() {
        assert_eq!(names(&["a/one.txt", "b/two.dat"]), ["one", "two"]);
        assert_eq!(names(&["a/one.txt", "b/one.txt", "c.txt"]), ["a-one", "b-one", "c"]);
        assert_eq!(names(&["one.txt", "one.txt", "one.txt"]), ["one", "one-2", "one-3"]);
        assert_eq!(names(&["a b<c>.txt"]), ["a-b-c-"]);
    }
}
