//! What must hold whatever bytes come in: no panic, no hang, no memory without end, and what is
//! accepted is written and read again unchanged. For the tests here and for the targets in `fuzz/`.

use barchan::problem::AnyProblem;
use barchan::scene::Scene;
use barchan::step::Simulation;

/// Scenes of more bodies than this are not built.
const FEW: u64 = 300;

/// Bytes as a scene file.
pub(crate) fn scene(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let Ok(scene) = Scene::from_toml(text, "fuzz.toml") else { return };
    let written = scene.to_toml();
    match Scene::from_toml(&written, "written.toml") {
        Ok(again) => assert_eq!(again, scene, "a scene must not change when it is written:\n{written}"),
        Err(error) => panic!("a scene that was accepted is refused when it is written: {error}\n{written}"),
    }
    let fills: u64 = scene.fill.iter().map(|fill| fill.count).fold(0, u64::saturating_add);
    let sites: u64 = scene.lattice.iter().map(|lattice| lattice.body_count()).fold(0, u64::saturating_add);
    let attempts = scene.fill.iter().map(|fill| u64::from(fill.attempts)).fold(0, u64::saturating_add);
    if fills.saturating_add(sites) > FEW || attempts > 100_000 || scene.solver.max_iterations > 2000 {
        return;
    }
    if let Ok(mut simulation) = Simulation::from_scene(&scene) {
        // A state may stop being finite; then it says so.
        let _ = simulation.step().and_then(|_| simulation.step());
    }
}

/// Bytes as a file with a contact problem.
pub(crate) fn problem(bytes: &[u8]) {
    let Ok(problem) = AnyProblem::read(bytes, "fuzz.txt") else { return };
    let mut written = Vec::new();
    problem.write(&mut written).expect("memory takes all");
    match AnyProblem::read(written.as_slice(), "written.txt") {
        Ok(again) => assert_eq!(again, problem, "a problem must not change when it is written"),
        Err(error) => panic!("a problem that was accepted is refused when it is written: {error}"),
    }
}
