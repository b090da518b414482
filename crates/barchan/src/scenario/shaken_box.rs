//! A closed box that shakes spheres of many sizes: kinematic motion, a fill and a distribution.

use super::offers;
use super::{Parameter, ParameterRange, Scenario};
use crate::scene::{BodySpec, Fill, OutputOptions, Radius, Scene, Time};
use crate::shape::Shape;
use crate::world::{Material, Motion, Oscillation};
use glam::DVec3;

const DESCRIPTION: &str = "A closed box shakes spheres of radii between 4 and 8 mm up and down. Known answer (textbook \
    mechanics): a body that lies on the floor leaves it in every cycle iff the largest acceleration of the box, \
    amplitude times (2π times frequency) squared, exceeds gravity; by default it is 2.0 times gravity.";

pub(super) static SCENARIO: Scenario = Scenario {
    name: "shaken-box",
    summary: "spheres of many sizes in a box that oscillates vertically",
    parameters: &[
        Parameter { name: "bodies", default: 2000.0, range: ParameterRange::Count, help: "how many spheres" },
        Parameter { name: "amplitude", default: 0.005, range: ParameterRange::NotNegative, help: "of the shake, m" },
        Parameter { name: "frequency", default: 10.0, range: ParameterRange::NotNegative, help: "of the shake, 1/s" },
        Parameter { name: "friction", default: 0.4, range: ParameterRange::NotNegative, help: "between all surfaces" },
    ],
    build: |parameters| {
        let bodies = parameters.count("bodies");
        // 17 % by volume; the base grows with the number of spheres.
        let edge = (2e-5 * bodies as f64).sqrt().max(0.04);
        let half = DVec3::new(0.5 * edge, 0.5 * edge, 0.15);
        let centre = DVec3::new(0.0, 0.0, half.z);
        let shake = Oscillation {
            amplitude: DVec3::new(0.0, 0.0, parameters.get("amplitude")),
            frequency: parameters.get("frequency"),
            phase: 0.0,
        };
        let friction = parameters.get("friction");
        let material = Material { name: "beads".into(), friction, restitution: 0.2, ..Material::default() };
        Scene {
            name: SCENARIO.name.into(),
            description: DESCRIPTION.into(),
            time: Time { step: 5e-4.into(), end: 2.0, ..Time::default() },
            output: OutputOptions { frame_interval: Some(0.02), ..OutputOptions::default() },
            body: vec![BodySpec {
                motion: Motion::Kinematic,
                oscillation: Some(shake),
                material: material.name.clone(),
                ..BodySpec::new(Shape::container(half), centre)
            }],
            fill: vec![Fill {
                material: material.name.clone(),
                ..Fill::new(centre - half, centre + half, bodies, Radius::Uniform([0.004, 0.008]))
            }],
            material: vec![material],
            adjustable: offers::shake().into_iter().chain([offers::gravity(), offers::friction()]).collect(),
            ..Scene::default()
        }
    },
};
