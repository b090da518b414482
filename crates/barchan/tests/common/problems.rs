//! Contact problems from real steps, for tests of solvers.

use super::common::{run, simulation};
use barchan::DVec3;
use barchan::problem::Problem;
use barchan::scene::{BodySpec, Fill, Scene};
use barchan::shape::Shape;
use barchan::step::Simulation;
use barchan::world::Material;
use std::sync::LazyLock;

/// The contact problem of a settled bed.
fn settled(bodies: usize, friction: f64) -> Problem {
    let mut bed = simulation("sedimentation", &[("bodies", bodies.to_string()), ("friction", friction.to_string())]);
    run(&mut bed, 400);
    bed.problem().clone()
}

/// Spheres of two materials and many sizes that have just hit the floor and each other.
fn impact() -> Problem {
    let material = vec![
        Material { name: "ice".into(), friction: 0.0, ..Material::default() },
        Material { name: "rubber".into(), friction: 0.9, restitution: 0.5, ..Material::default() },
    ];
    let mut scene = Scene { material, ..Scene::default() };
    scene.body.push(BodySpec::new(Shape::half_space(), DVec3::ZERO));
    let side = DVec3::new(0.2, 0.2, 0.0);
    for (k, material) in ["ice", "rubber"].into_iter().enumerate() {
        let low = DVec3::new(0.0, 0.0, 0.12 * k as f64);
        let radius = barchan::scene::Radius::Uniform([0.008, 0.02]);
        let fill = Fill::new(low, low + side + 0.12 * DVec3::Z, 60, radius);
        scene.fill.push(Fill { velocity: DVec3::new(0.3, 0.0, -3.0), material: material.into(), ..fill });
    }
    let mut simulation = Simulation::from_scene(&scene).expect("a sound scene");
    run(&mut simulation, 30);
    simulation.problem().clone()
}

pub(crate) static BED: LazyLock<Problem> = LazyLock::new(|| settled(220, 0.5));
pub(crate) static SMOOTH: LazyLock<Problem> = LazyLock::new(|| settled(180, 0.0));
pub(crate) static IMPACT: LazyLock<Problem> = LazyLock::new(impact);

/// The problems with their names; each has enough contacts to be worth solving.
pub(crate) fn problems() -> [(&'static str, &'static Problem); 3] {
    let all = [("bed", &*BED), ("smooth bed", &*SMOOTH), ("impact", &*IMPACT)];
    for (name, problem) in all {
        assert_eq!(problem.check(), Ok(()));
        assert!(problem.contacts() > 100, "{name} has {} contacts", problem.contacts());
    }
    all
}
