//! A row of dominoes, the first of which is pushed.

use super::Scenario;
use super::boxed::{count, floor, friction, length};
use super::offers;
use crate::scene::{BodySpec, Scene, Time};
use crate::shape::Shape;
use crate::world::Material;
use glam::DVec3;

const DESCRIPTION: &str = "Dominoes of 48 x 24 x 7.5 mm stand in a row; the first is pushed over and takes the others with \
    it. Known answer (McLachlan et al. 1983, Stronge 1987): after a few dominoes the wave travels at a steady speed, \
    which does not depend on the push and goes with the root of gravity times height: about 1 to 1.5 times that where \
    gaps are a third to a half of the height.";

/// Half of the edges of a domino, m.
const HALF: DVec3 = DVec3::new(0.00375, 0.012, 0.024);

pub(super) static SCENARIO: Scenario = Scenario {
    name: "dominoes",
    summary: "a row of dominoes falls: the wave travels at a steady speed",
    parameters: &[
        count("bodies", 30.0, "how many dominoes"),
        length("gap", 0.4, "between two, in terms of their height"),
        length("push", 4.0, "angular velocity of the first, rad/s"),
        friction(0.3),
    ],
    build: |parameters| {
        let bodies = parameters.count("bodies");
        let pitch = 2.0 * (HALF.x + parameters.get("gap") * HALF.z);
        let spin = DVec3::Y * parameters.get("push");
        let domino = |k: u64| BodySpec::new(Shape::cuboid(HALF), DVec3::new(k as f64 * pitch, 0.0, HALF.z));
        // The first turns about its lower edge.
        let first =
            BodySpec { angular_velocity: spin, velocity: spin.cross(DVec3::new(-HALF.x, 0.0, HALF.z)), ..domino(0) };
        Scene {
            name: SCENARIO.name.into(),
            description: DESCRIPTION.into(),
            time: Time { end: 0.5 + bodies as f64 * pitch / 0.4, ..Time::default() },
            body: [floor(), first].into_iter().chain((1..bodies).map(domino)).collect(),
            material: vec![Material {
                name: "domino".into(),
                density: 1500.0,
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
    fn all_fall_one_after_another_at_a_steady_speed() {
        let set = [("bodies", "16")].map(|(k, v)| (k.into(), v.into()));
        let mut scene = SCENARIO.scene(&set).unwrap();
        // Bodies keep their places in memory.
        scene.broad_phase.reorder_interval = 0;
        let mut simulation = Simulation::from_scene(&scene).unwrap();
        let mut fallen = vec![f64::INFINITY; 16];
        while simulation.world.time < scene.time.end {
            simulation.step().unwrap();
            let world = &simulation.world;
            for (k, time) in fallen.iter_mut().enumerate() {
                let up = world.bodies.orientation[1 + k] * DVec3::Z;
                if up.z < 15f64.to_radians().cos() {
                    *time = time.min(world.time);
                }
            }
        }
        assert!(fallen.is_sorted() && fallen[15].is_finite(), "{fallen:?}");
        let pitch = scene.body[2].position.x;
        let speed =
            |a: usize, b: usize| (b - a) as f64 * pitch / (fallen[b] - fallen[a]) / (9.81 * 2.0 * HALF.z).sqrt();
        let [early, late] = [speed(5, 9), speed(9, 13)];
        assert!((0.7..1.8).contains(&early) && (late / early - 1.0).abs() < 0.15, "{early} {late}");
    }
}
