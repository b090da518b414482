//! Two spheres collide.

use super::{Parameter, ParameterRange, Scenario};
use crate::scene::{BodySpec, OutputOptions, Scene, Time};
use crate::shape::Shape;
use crate::world::Material;
use glam::DVec3;

const DESCRIPTION: &str = "Two equal spheres fly at each other without gravity, head-on or, with an offset, at a slant. \
    Known answer (conservation of momentum, Newton's law of restitution e): momentum and angular momentum stay as \
    they are, and along the line of centres the spheres part at e times the speed of approach.";

pub(super) static SCENARIO: Scenario = Scenario {
    name: "head-on",
    summary: "two spheres collide: momentum exact, rebound e times approach",
    parameters: &[
        Parameter { name: "offset", default: 0.0, range: ParameterRange::Fraction, help: "of the paths, in diameters" },
        Parameter {
            name: "restitution",
            default: 0.7,
            range: ParameterRange::Fraction,
            help: "coefficient of restitution e",
        },
        Parameter {
            name: "friction",
            default: 0.0,
            range: ParameterRange::NotNegative,
            help: "coefficient of friction",
        },
    ],
    build: |parameters| {
        let radius = 0.01;
        let half_offset = parameters.get("offset") * radius;
        let sphere = |side: f64| BodySpec {
            velocity: DVec3::new(-side, 0.0, 0.0),
            material: "steel".into(),
            ..BodySpec::new(Shape::sphere(radius), side * DVec3::new(2.5 * radius, half_offset, 0.0))
        };
        Scene {
            name: SCENARIO.name.into(),
            description: DESCRIPTION.into(),
            gravity: DVec3::ZERO,
            time: Time { step: 1e-4.into(), end: 0.05, ..Time::default() },
            output: OutputOptions { frame_interval: Some(1e-3), ..OutputOptions::default() },
            body: vec![sphere(-1.0), sphere(1.0)],
            material: vec![Material {
                name: "steel".into(),
                density: 7800.0,
                friction: parameters.get("friction"),
                restitution: parameters.get("restitution"),
            }],
            ..Scene::default()
        }
    },
};
