//! Newton's cradle.

use super::offers;
use super::{Parameter, ParameterRange, Scenario};
use crate::scene::{BodySpec, OutputOptions, Scene, Time};
use crate::shape::Shape;
use crate::world::Material;
use glam::DVec3;

const DESCRIPTION: &str = "A row of equal balls at rest without gravity; another comes along the row. Known answer \
    (Newton's law of restitution, e = 1): whatever the gaps between them, the last leaves with the speed of the first, \
    and all others are at rest.";

pub(super) static SCENARIO: Scenario = Scenario {
    name: "cradle",
    summary: "Newton's cradle: the last ball leaves with the speed of the first",
    parameters: &[
        Parameter { name: "balls", default: 5.0, range: ParameterRange::Count, help: "in all" },
        Parameter { name: "gap", default: 0.0, range: ParameterRange::NotNegative, help: "between balls, m" },
        Parameter { name: "speed", default: 1.0, range: ParameterRange::NotNegative, help: "of the first, m/s" },
        Parameter {
            name: "restitution",
            default: 1.0,
            range: ParameterRange::Fraction,
            help: "coefficient of restitution e",
        },
    ],
    build: |parameters| {
        let radius = 0.01;
        let count = parameters.count("balls").min(100_000);
        let apart = 2.0 * radius + parameters.get("gap");
        let material = Material {
            name: "steel".into(),
            friction: 0.0,
            restitution: parameters.get("restitution"),
            ..Material::default()
        };
        let ball = |k: u64| {
            // The first starts a little farther away.
            let x = if k == 0 { -0.3 * radius } else { k as f64 * apart };
            let speed = if k == 0 { parameters.get("speed") } else { 0.0 };
            let ball = BodySpec::new(Shape::sphere(radius), DVec3::new(x, 0.0, 0.0));
            BodySpec { velocity: DVec3::X * speed, material: "steel".into(), ..ball }
        };
        Scene {
            name: SCENARIO.name.into(),
            description: DESCRIPTION.into(),
            gravity: DVec3::ZERO,
            time: Time { end: 0.05, ..Time::default() },
            output: OutputOptions { frame_interval: Some(1e-3), ..OutputOptions::default() },
            body: (0..count).map(ball).collect(),
            material: vec![material],
            adjustable: vec![offers::restitution()],
            ..Scene::default()
        }
    },
};
