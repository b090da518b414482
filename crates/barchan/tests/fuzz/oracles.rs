//! What must hold whatever bytes come in: no panic, no hang, no memory without end, and what is
//! accepted is written and read again unchanged. For the tests here and for the targets in `fuzz/`.

use barchan::checkpoint::{self, Part};
use barchan::comm::{Communicator, threads};
use barchan::cone::AnyProblem;
use barchan::frame::Frame;
use barchan::output::{
    PictureOptions, examine_frame, render, write_bodies, write_body_rows, write_contact_rows, write_contacts,
};
use barchan::scenario;
use barchan::scene::{Compression, Scene};
use barchan::step::Simulation;
use std::io::Cursor;
use std::sync::OnceLock;

/// Scenes of more bodies than this are not built.
const FEW: u64 = 300;
/// Steps of the runs whose checkpoints are changed.
pub(crate) const KEPT_STEPS: u64 = 30;

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

/// Bytes as a file of a checkpoint: as they are, and as if what follows the seal were sealed anew. A part
/// that is accepted is gone on from, alone and with a sound one of another rank, and may stop being finite,
/// no more.
pub(crate) fn checkpoint(bytes: &[u8]) {
    let _ = checkpoint::examine(bytes);
    let (_, part) = checkpoint::examine_unsealed(bytes.get(checkpoint::SEAL_LENGTH..).unwrap_or(bytes));
    let Ok(part) = part else { return };
    if part.state.bodies().len() > FEW as usize {
        return;
    }
    for (scene, sound) in kept_scenes().iter().zip(kept_parts()) {
        let pair = match part.place {
            [0, _] => [part.clone(), sound[1].clone()],
            _ => [sound[0].clone(), part.clone()],
        };
        for parts in [std::slice::from_ref(&part), &pair] {
            let Ok(mut simulation) = checkpoint::go_on(scene, parts) else { continue };
            let mut frame = Frame::default();
            frame.capture(&simulation, 0);
            // Numbers may be beyond what they can be in a run: then it says so.
            let _ = simulation.step().and_then(|_| simulation.step());
            frame.capture(&simulation, 0);
            simulation.write_snapshot(&mut Vec::new());
        }
    }
}

/// Small scenes of which there are checkpoints: one in a box, and one whose space repeats itself.
pub(crate) fn kept_scenes() -> &'static [Scene; 2] {
    static SCENES: OnceLock<[Scene; 2]> = OnceLock::new();
    let scene = |name: &str, set: &[(&str, &str)]| {
        let set: Vec<_> = set.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        scenario::find(name).and_then(|scenario| scenario.scene(&set)).expect("a scenario of ours")
    };
    let brief = ("solver.max_iterations", "20");
    SCENES.get_or_init(|| {
        [
            scene("shaken-box", &[("bodies", "5"), ("solver.name", "apgd"), brief]),
            scene("granular-gas", &[("nx", "3"), ("ny", "3"), ("nz", "3"), ("periodic", "1"), brief]),
        ]
    })
}

/// The parts of two ranks of those scenes, after [`KEPT_STEPS`].
fn kept_parts() -> &'static [Vec<Part>] {
    static PARTS: OnceLock<Vec<Vec<Part>>> = OnceLock::new();
    let part = |scene: &Scene, comm: Box<dyn Communicator>| {
        let place = [comm.rank() as u32, 2];
        let mut simulation = Simulation::on_ranks(scene, comm).expect("a scene of ours");
        (0..KEPT_STEPS).for_each(|_| drop(simulation.step().expect("a step of ours")));
        let mut bytes = Part::gather(&mut simulation, place, b"");
        Part::seal(&mut bytes);
        Part::read(&bytes).expect("a part of ours")
    };
    let parts = |scene| threads::run(2, 1, |comm| part(scene, comm)).expect("two ranks");
    PARTS.get_or_init(|| kept_scenes().iter().map(parts).collect())
}

/// Bytes as a file of a frame. What is accepted can be written again, as a table, and drawn.
pub(crate) fn frame(bytes: &[u8]) {
    let Ok(frame) = examine_frame(bytes) else { return };
    let mut written = Cursor::new(Vec::new());
    if frame.contacts.is_empty() {
        write_bodies(&mut written, &frame, Compression::Lz4).expect("memory takes all");
    } else {
        write_contacts(&mut written, &frame, Compression::Lz4).expect("memory takes all");
    }
    let again = examine_frame(&written.into_inner()).expect("a frame that was accepted is refused when it is written");
    assert_eq!((&again.bodies.id, &again.contacts.ids), (&frame.bodies.id, &frame.contacts.ids));
    let bits = |frame: &Frame| frame.bodies.position.iter().map(|x| x.to_array().map(f64::to_bits)).collect::<Vec<_>>();
    assert_eq!(bits(&again), bits(&frame), "places must not change when a frame is written");
    write_body_rows(&mut std::io::sink(), &frame).expect("nothing is written");
    write_contact_rows(&mut std::io::sink(), &frame).expect("nothing is written");
    frame.contact_counts();
    frame.bounds();
    if frame.bodies.len() + frame.walls.len() <= FEW as usize {
        render(&frame.to_bodies(), &PictureOptions { width: 24, height: 16, ..PictureOptions::default() });
    }
}
