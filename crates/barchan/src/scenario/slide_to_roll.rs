//! A sphere that slides first and rolls then.

use super::{Parameter, ParameterRange, Scenario};
use crate::scene::{BodySpec, OutputOptions, Scene, Time};
use crate::shape::Shape;
use crate::world::Material;
use glam::DVec3;

const DESCRIPTION: &str = "A sphere is set sliding, without spin, on a level floor. Known answer (textbook mechanics): \
    friction slows it and spins it up until it rolls, from the time 2 v0 / (7 μ g) on, at (5/7) v0, whatever the \
    friction; by default from 0.1456 s on.";

pub(super) static SCENARIO: Scenario = Scenario {
    name: "slide-to-roll",
    summary: "a sliding sphere comes to roll at 5/7 of its speed",
    parameters: &[
        Parameter { name: "speed", default: 1.0, range: ParameterRange::Positive, help: "at the start, v0, m/s" },
        Parameter {
            name: "friction",
            default: 0.2,
            range: ParameterRange::NotNegative,
            help: "coefficient of friction",
        },
    ],
    build: |parameters| {
        let radius = 0.1;
        let floor = BodySpec::new(Shape::half_space(), DVec3::ZERO);
        let sphere = BodySpec {
            velocity: DVec3::new(parameters.get("speed"), 0.0, 0.0),
            ..BodySpec::new(Shape::sphere(radius), DVec3::new(0.0, 0.0, radius))
        };
        let material = Material { name: "wood".into(), friction: parameters.get("friction"), ..Material::default() };
        Scene {
            name: SCENARIO.name.into(),
            description: DESCRIPTION.into(),
            time: Time { step: 1e-3.into(), end: 0.5, ..Time::default() },
            output: OutputOptions { frame_interval: Some(0.01), ..OutputOptions::default() },
            body: [floor, sphere].map(|body| BodySpec { material: material.name.clone(), ..body }).to_vec(),
            material: vec![material],
            ..Scene::default()
        }
    },
};
