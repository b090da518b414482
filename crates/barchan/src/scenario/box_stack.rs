//! A stack of boxes.

use super::Scenario;
use super::boxed::{count, floor, friction, length};
use super::offers;
use crate::scene::{Lattice, Scene, Time};
use crate::shape::Shape;
use crate::world::Material;
use glam::DVec3;

const DESCRIPTION: &str = "Cubes stand on each other. A stack is what iterative solvers find hard: the load of all boxes must \
    reach the floor, and what is missing of it shows as a creep. Known answer: nothing moves. The lowest contact carries \
    the weight of all boxes, each higher one that of a box less.";

pub(super) static SCENARIO: Scenario = Scenario {
    name: "box-stack",
    summary: "a stack of cubes: nothing moves",
    parameters: &[count("bodies", 10.0, "how many boxes"), length("edge", 0.1, "of a box, m"), friction(0.5)],
    build: |parameters| {
        let edge = parameters.get("edge");
        let counts = [1, 1, parameters.count("bodies").min(u32::MAX.into()) as u32];
        Scene {
            name: SCENARIO.name.into(),
            description: DESCRIPTION.into(),
            time: Time { end: 10.0, ..Time::default() },
            body: vec![floor()],
            lattice: vec![Lattice {
                origin: DVec3::Z * (0.5 * edge),
                ..Lattice::cubic(counts, edge, edge).of(Shape::cuboid(DVec3::splat(0.5 * edge)))
            }],
            material: vec![Material {
                name: "wood".into(),
                density: 600.0,
                friction: parameters.get("friction"),
                ..Material::default()
            }],
            adjustable: vec![offers::gravity(), offers::tilt(), offers::friction()],
            ..Scene::default()
        }
    },
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::step::Simulation;

    #[test]
    fn the_stack_stands() {
        let mut scene = SCENARIO.scene(&[]).unwrap();
        // Bodies keep their places in memory.
        scene.broad_phase.reorder_interval = 0;
        assert_eq!(scene.body_count(), 11);
        let mut simulation = Simulation::from_scene(&scene).unwrap();
        let before = simulation.world.bodies.position.clone();
        while simulation.world.time < 1.0 {
            simulation.step().unwrap();
        }
        for (x, y) in before.iter().zip(&simulation.world.bodies.position) {
            assert!(x.distance(*y) < 1e-3 * 0.1, "{x} {y}");
        }
    }
}
