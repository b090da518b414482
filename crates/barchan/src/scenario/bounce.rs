//! A bouncing sphere.

use super::offers;
use super::{Parameter, ParameterRange, Scenario};
use crate::scene::{BodySpec, OutputOptions, Scene, Time};
use crate::shape::Shape;
use crate::world::Material;
use glam::DVec3;

const DESCRIPTION: &str = "A sphere is dropped on a level floor. Known answer (Newton's law of restitution e): the \
    clearance after rebound n is e^(2n) times that of the drop, h0, and it comes to rest (2 v0 / g) e / (1 - e) after \
    the first impact, at speed v0 = sqrt(2 g h0).";

pub(super) static SCENARIO: Scenario = Scenario {
    name: "bounce",
    summary: "a bouncing sphere: rebound n reaches e^(2n) of the height",
    parameters: &[
        Parameter {
            name: "height",
            default: 1.0,
            range: ParameterRange::NotNegative,
            help: "clearance at the start, m",
        },
        Parameter {
            name: "restitution",
            default: 0.8,
            range: ParameterRange::Fraction,
            help: "coefficient of restitution e",
        },
    ],
    build: |parameters| {
        let radius = 0.1;
        let floor = BodySpec::new(Shape::half_space(), DVec3::ZERO);
        let start = DVec3::new(0.0, 0.0, radius + parameters.get("height"));
        let sphere = BodySpec::new(Shape::sphere(radius), start);
        let restitution = parameters.get("restitution");
        let material = Material { name: "rubber".into(), restitution, ..Material::default() };
        Scene {
            name: SCENARIO.name.into(),
            description: DESCRIPTION.into(),
            time: Time { step: 1e-4.into(), end: 3.0, ..Time::default() },
            output: OutputOptions { frame_interval: Some(0.01), ..OutputOptions::default() },
            body: [floor, sphere].map(|body| BodySpec { material: material.name.clone(), ..body }).to_vec(),
            material: vec![material],
            adjustable: vec![offers::gravity(), offers::restitution()],
            ..Scene::default()
        }
    },
};
