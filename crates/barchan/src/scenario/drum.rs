//! Grains in a drum that turns.

use super::offers;
use super::{Parameter, ParameterRange, Scenario};
use crate::scene::{BodySpec, Lattice, OutputOptions, Radius, Scene, Time};
use crate::shape::Shape;
use crate::world::{Material, Motion, PairException};
use glam::{DQuat, DVec3};
use std::f64::consts::FRAC_PI_2;

const DESCRIPTION: &str = "A drum with flat sides turns about the y axis, a third full of grains. It is a prism of sixteen \
    faces, where four square boxes meet, with smooth ends. Known answer (Mellmann 2001): at this Froude number, \
    omega^2 R / g = 0.004, the surface is flat and rolling, at a steady angle of 20 to 35 degrees that grows with \
    friction and slowly with speed.";

/// Boxes whose intersection is the drum.
const BOXES: u32 = 4;

pub(super) static SCENARIO: Scenario = Scenario {
    name: "drum",
    summary: "grains in a turning drum: a steady surface at 20 to 35 degrees",
    parameters: &[
        Parameter { name: "drum", default: 0.08, range: ParameterRange::Positive, help: "radius of the drum, m" },
        Parameter { name: "width", default: 0.04, range: ParameterRange::Positive, help: "of the drum, m" },
        Parameter { name: "speed", default: 0.7, range: ParameterRange::NotNegative, help: "turning, rad/s" },
        super::grains::RADIUS,
        super::grains::friction(0.5),
    ],
    build: |parameters| {
        let radius = parameters.get("radius");
        let drum = parameters.get("drum");
        let width = parameters.get("width");
        let friction = parameters.get("friction");
        let material = |name: &str| Material { name: name.into(), friction, ..Material::default() };
        let wall = |k: u32| BodySpec {
            motion: Motion::Kinematic,
            orientation: Some(DQuat::from_rotation_y(FRAC_PI_2 * f64::from(k) / f64::from(BOXES))),
            angular_velocity: DVec3::new(0.0, parameters.get("speed"), 0.0),
            material: "drum".into(),
            ..BodySpec::new(Shape::container(DVec3::new(drum, drum, drum)), DVec3::ZERO)
        };
        // Smooth ends, so that they do not carry the grains up.
        let end = |side: f64| BodySpec {
            normal: Some(DVec3::Y * -side),
            material: "ends".into(),
            ..BodySpec::new(Shape::half_space(), DVec3::Y * (0.5 * width * side))
        };
        let spacing = 2.02 * radius;
        let most = |length: f64| (length / spacing).floor().max(1.0) as u32;
        // A block as wide as a third of the drum allows.
        let counts = [most(1.3 * drum), most(width), most(0.8 * drum)];
        let low = DVec3::new(-0.65 * drum, -0.5 * f64::from(counts[1]) * spacing, -0.66 * drum);
        Scene {
            name: SCENARIO.name.into(),
            description: DESCRIPTION.into(),
            time: Time { end: 6.0, ..Time::default() },
            output: OutputOptions { frame_interval: Some(0.1), ..OutputOptions::default() },
            body: (0..BOXES).map(wall).chain([end(-1.0), end(1.0)]).collect(),
            lattice: vec![Lattice {
                origin: low + 0.5 * spacing,
                material: "grains".into(),
                ..Lattice::cubic(counts, DVec3::splat(spacing), Radius::Uniform([0.8 * radius, radius]))
            }],
            pair: vec![PairException {
                materials: ["grains".into(), "ends".into()],
                friction: Some(0.0),
                restitution: None,
            }],
            material: vec![material("grains"), material("drum"), material("ends")],
            adjustable: vec![offers::gravity(), offers::friction()],
            ..Scene::default()
        }
    },
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::step::Simulation;

    /// The angle of the surface: of the line through the centres of mass of all grains and of the drum.
    #[test]
    fn the_heap_stands_at_its_angle() {
        let set = [("drum", "0.05"), ("width", "0.02"), ("time.end", "1.5")].map(|(k, v)| (k.into(), v.into()));
        let scene = SCENARIO.scene(&set).unwrap();
        let mut simulation = Simulation::from_scene(&scene).unwrap();
        let mut angles = Vec::new();
        while simulation.world.time < scene.time.end {
            simulation.step().unwrap();
            let bodies = &simulation.world.bodies;
            let grains = (0..bodies.len()).filter(|&i| bodies.inverse_mass()[i] > 0.0);
            let centre: DVec3 = grains.map(|i| bodies.position[i] / bodies.inverse_mass()[i]).sum();
            if simulation.world.time > 1.0 {
                angles.push((centre.x / -centre.z).atan().to_degrees());
            }
        }
        let mean = angles.iter().map(|a| a.abs()).sum::<f64>() / angles.len() as f64;
        assert!((18.0..38.0).contains(&mean), "{mean}");
        let inside = |x: &DVec3| (x.x * x.x + x.z * x.z).sqrt() < 0.05 / (FRAC_PI_2 / f64::from(2 * BOXES)).cos();
        assert!(simulation.world.bodies.position.iter().all(inside));
    }
}
