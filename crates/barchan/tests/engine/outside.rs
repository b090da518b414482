//! Bodies that leave the box of the scene: kept, removed or the end of the run; alone and on ranks.

use barchan::DVec3;
use barchan::comm::{Communicator, Solo, threads};
use barchan::output::{LostSummary, RunDirectory, Summary};
use barchan::partition::{DomainOptions, OutsideRule, PartitionName};
use barchan::run::{Progress, Resumption, Run, RunError, RunOptions};
use barchan::scene::{BodySpec, CheckpointOptions, Scene, Time};
use barchan::shape::Shape;
use barchan::step::{Simulation, StepError};
use barchan::world::Motion;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

const RADIUS: f64 = 0.01;
const H: f64 = 1e-3;

fn domain(rule: OutsideRule) -> DomainOptions {
    DomainOptions { min: Some(DVec3::splat(-1.0)), max: Some(DVec3::ONE), outside: rule, ..DomainOptions::default() }
}

/// Spheres that fly apart without meeting, by the golden angle: body k at (1 + k/10) m/s. The last two are fixed and
/// moved, and outside from the start.
fn burst(rule: OutsideRule) -> Scene {
    let flying = (0..40u32).map(|k| {
        let (k, z) = (f64::from(k), 1.0 - f64::from(2 * k + 1) / 40.0);
        let (sin, cos) = (2.399_963 * k).sin_cos();
        let d = DVec3::new(cos * (1.0 - z * z).sqrt(), sin * (1.0 - z * z).sqrt(), z);
        BodySpec { velocity: (1.0 + 0.1 * k) * d, ..BodySpec::new(Shape::sphere(RADIUS), 0.3 * d) }
    });
    let outside = |motion, x: f64| BodySpec { motion, ..BodySpec::new(Shape::sphere(RADIUS), DVec3::new(0.0, 0.0, x)) };
    Scene {
        time: Time { step: H.into(), end: 0.4, ..Time::default() },
        gravity: DVec3::ZERO,
        body: flying.chain([outside(Motion::Fixed, 1.5), outside(Motion::Kinematic, -1.5)]).collect(),
        domain: domain(rule),
        ..Scene::default()
    }
}

/// Grains on a small table of fixed spheres, from which some roll down.
fn table() -> Scene {
    let at = |x: i32, y: i32, z: f64, pitch: f64| DVec3::new(f64::from(x), f64::from(y), 0.0) * pitch + DVec3::Z * z;
    let fixed = (0..49).map(|k| BodySpec {
        motion: Motion::Fixed,
        ..BodySpec::new(Shape::sphere(RADIUS), at(k % 7 - 3, k / 7 - 3, 0.0, 0.019))
    });
    let grains = (0..108).map(|k| {
        let place = at(k % 6 - 3, k / 6 % 6 - 3, 0.021 + 0.0205 * f64::from(k / 36), 0.0205);
        BodySpec::new(Shape::sphere(RADIUS), place + DVec3::new(0.004, 0.003, 0.0))
    });
    let (low, high) = (DVec3::new(-0.15, -0.15, -0.05), DVec3::new(0.15, 0.15, 1.0));
    Scene {
        time: Time { step: H.into(), end: 0.5, ..Time::default() },
        body: fixed.chain(grains).collect(),
        domain: DomainOptions { min: Some(low), max: Some(high), ..domain(OutsideRule::Remove) },
        ..Scene::default()
    }
}

fn carry_on(_: &Progress<'_>) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

fn whole(scene: &Scene) -> Summary {
    Run::start(scene, &RunOptions::default()).unwrap().to_end(carry_on).unwrap()
}

/// When body k of the burst leaves, in steps.
fn leaves(scene: &Scene, k: usize) -> u64 {
    let BodySpec { position, velocity, .. } = &scene.body[k];
    (1..).find(|&n| (*position + n as f64 * H * *velocity).abs().max_element() > 1.0).unwrap()
}

#[test]
fn bodies_that_leave_are_removed_in_the_step_in_which_they_do() {
    let scene = burst(OutsideRule::Remove);
    let mut simulation = Simulation::from_scene(&scene).unwrap();
    let mut lost = 0;
    for step in 1..=400u64 {
        let report = simulation.step().unwrap();
        let gone: Vec<u64> = (0..40).filter(|&k| leaves(&scene, k) == step).map(|k| k as u64).collect();
        assert_eq!(report.lost.bodies, gone.len() as u64, "step {step}");
        let mass = 2500.0 * 4.0 / 3.0 * std::f64::consts::PI * RADIUS.powi(3) * gone.len() as f64;
        assert!((report.lost.mass - mass).abs() < 1e-12);
        assert!(gone.iter().all(|&id| simulation.world.bodies.index_of(id).is_none()), "step {step}");
        lost += gone.len();
        assert_eq!(simulation.world.bodies.len(), 42 - lost);
    }
    assert!(lost > 20, "{lost}");
    // Those that the scene has put there stay.
    assert!([40, 41].iter().all(|&id| simulation.world.bodies.index_of(id).is_some()));
}

#[test]
fn by_default_bodies_are_kept() {
    assert_eq!(Scene::default().domain.outside, OutsideRule::Keep);
    let summary = whole(&burst(OutsideRule::Keep));
    assert_eq!((summary.bodies, summary.lost), (42, LostSummary::default()));
    assert!(!summary.table().contains("lost"));
}

#[test]
fn what_was_lost_is_told() {
    let scene = burst(OutsideRule::Remove);
    let mut seen = Vec::new();
    let summary = Run::start(&scene, &RunOptions::default()).unwrap().to_end(|progress| {
        seen.push(progress.lost);
        ControlFlow::Continue(())
    });
    let summary = summary.unwrap();
    let mut all: Vec<u64> = (0..40).map(|k| leaves(&scene, k)).filter(|&step| step <= 400).collect();
    all.sort_unstable();
    let lost = summary.lost;
    assert_eq!((lost.bodies, summary.bodies), (all.len() as u64, 42 - all.len() as u64));
    assert!((lost.first.unwrap() / (all[0] as f64 * H) - 1.0).abs() < 1e-9);
    assert!((lost.last.unwrap() / (all[all.len() - 1] as f64 * H) - 1.0).abs() < 1e-9);
    assert_eq!(seen.last(), Some(&lost.bodies));
    assert!(seen.is_sorted() && seen[0] == 0);
    let told = format!("lost         {} bodies of", lost.bodies);
    assert!(summary.table().contains(&told), "{}", summary.table());
}

#[test]
fn a_run_that_is_to_stop_names_body_step_and_place() {
    let scene = burst(OutsideRule::Stop);
    let (step, body) = (0..40).map(|k| (leaves(&scene, k), k as u64)).min().unwrap();
    let check = |error: &RunError| {
        let RunError::Step(StepError::Outside { step: found, body: who, position }) = error else {
            panic!("{error}");
        };
        assert_eq!((*found, *who), (step, body));
        assert!(position.abs().max_element() > 1.0);
        let text = error.to_string();
        let start = format!("step {step}: body {body} has left the box between domain.min and domain.max, at [");
        assert!(text.starts_with(&start) && text.contains(&position.x.to_string()), "{text}");
    };
    let failure = Run::start(&scene, &RunOptions::default()).unwrap().to_end(carry_on).unwrap_err();
    check(&failure.error);
    assert_eq!(failure.summary.steps, step - 1);
    // On ranks one speaks, and all stop.
    let errors = threads::run(3, 1, |comm| {
        let run = Run::start_on(&scene, &RunOptions::default(), comm).unwrap();
        run.to_end(carry_on).unwrap_err().error
    });
    let errors = errors.unwrap();
    let speaking: Vec<&RunError> = errors.iter().filter(|error| !error.is_elsewhere()).collect();
    assert_eq!(speaking.len(), 1);
    check(speaking[0]);
}

#[test]
fn ranks_and_periodic_space_lose_the_same() {
    for periodic in [[false; 3], [true, false, false], [true, true, false]] {
        let mut scene = burst(OutsideRule::Remove);
        scene.domain.periodic = periodic;
        let alone = whole(&scene);
        assert!(alone.lost.bodies > 3, "{periodic:?}: {:?}", alone.lost);
        for (ranks, partition) in
            [(2, PartitionName::Morton), (3, PartitionName::Morton), (4, PartitionName::Cartesian)]
        {
            scene.domain.partition = partition;
            let summaries = threads::run(ranks, 1, |comm| {
                Run::start_on(&scene, &RunOptions::default(), comm).unwrap().to_end(carry_on).unwrap()
            });
            for summary in summaries.unwrap() {
                assert_eq!(summary.lost, alone.lost, "{periodic:?} on {ranks} ranks");
                assert_eq!((summary.bodies, &summary.state_hash), (alone.bodies, &alone.state_hash));
            }
        }
    }
}

/// A fresh directory, removed at the end.
struct Place(PathBuf);

impl Place {
    fn new(name: &str) -> Self {
        Self(std::env::temp_dir().join(format!("barchan-outside-{}-{name}", std::process::id())))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn until(step: u64) -> impl FnMut(&Progress<'_>) -> ControlFlow<()> {
    move |progress| if progress.step >= step { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
}

fn recorded(path: &Path, scene: &Scene, stop: u64, comm: Box<dyn Communicator>) -> Summary {
    let mut run = Run::start_on(scene, &RunOptions::default(), comm).unwrap();
    run.record_by(|| RunDirectory::create(path, false)).unwrap();
    run.to_end(until(stop)).unwrap()
}

/// The column of lost bodies.
fn lost_column(path: &Path) -> Vec<u64> {
    let text = std::fs::read_to_string(path.join("steps.csv")).unwrap();
    let column = text.lines().next().unwrap().split(',').position(|name| name == "lost").expect("a column");
    text.lines().skip(1).map(|line| line.split(',').nth(column).unwrap().parse().unwrap()).collect()
}

#[test]
fn a_run_that_has_lost_bodies_goes_on_exactly() {
    let scene = Scene { checkpoint: CheckpointOptions { steps: 50, ..CheckpointOptions::default() }, ..table() };
    for ranks in [1, 2] {
        let summary = |path: &Path, stop: u64| {
            let all = threads::run(ranks, 1, |comm| recorded(path, &scene, stop, comm));
            all.unwrap().swap_remove(0)
        };
        let (straight, broken) = (Place::new(&format!("straight-{ranks}")), Place::new(&format!("broken-{ranks}")));
        let expected = summary(&straight.0, u64::MAX);
        assert!(expected.lost.bodies > 10, "{:?}", expected.lost);
        let half = summary(&broken.0, 350);
        assert!(half.lost.bodies > 0 && half.lost.bodies < expected.lost.bodies, "{:?}", half.lost);
        let resumed =
            threads::run(ranks, 1, |comm| match Run::resume(&broken.0, &RunOptions::default(), comm).unwrap() {
                Resumption::Going(run) => run.to_end(carry_on).unwrap(),
                Resumption::AtEnd(_) => panic!("it has not come to its end"),
            });
        let resumed = resumed.unwrap().swap_remove(0);
        assert_eq!((&resumed.state_hash, resumed.lost), (&expected.state_hash, expected.lost), "{ranks} ranks");
        assert_eq!(lost_column(&broken.0), lost_column(&straight.0));
        assert_eq!(lost_column(&broken.0).iter().sum::<u64>(), expected.lost.bodies);
    }
}

#[test]
fn threads_do_not_matter_when_bodies_leave() {
    let on = |count: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(count).build().unwrap();
        pool.install(|| {
            Run::start_on(&table(), &RunOptions::default(), Box::new(Solo)).unwrap().to_end(carry_on).unwrap()
        })
    };
    let (one, two) = (on(1), on(2));
    assert_eq!((one.state_hash, one.lost), (two.state_hash, two.lost));
}
