//! A column of grains that collapses on a plane: work moves from one side to the other.

use super::scaling::{self, PER_RANK, RANKS, size};
use super::{Parameter, Range, Scenario};
use crate::scene::{BodySpec, Lattice, OutputOptions, Radius, Scene, Time};
use crate::shape::Shape;
use crate::world::{Material, PairException};
use glam::DVec3;

const DESCRIPTION: &str = "A column of grains stands against a wall in a channel with smooth sides; it is released at \
    once and collapses along +x. Known answer (Lube, Huppert, Sparks and Freundt 2005, two-dimensional columns): from \
    the initial width d and height a d, the front runs out by 1.2 a d for a < 1.8 and by about 1.9 a^(2/3) d for \
    a > 2.8, whatever the grains. The grains start on a lattice, which first settles a little: take a as it is then. \
    Most of the work leaves the wall, so fixed domains lose their balance.";

pub(super) static SCENARIO: Scenario = Scenario {
    name: "column-collapse",
    summary: "a column of grains collapses along a channel: the run-out depends on its aspect ratio (Lube et al. 2005)",
    parameters: &[
        size("nx", 12.0, "grains along the channel"),
        size("ny", 8.0, "grains across it"),
        size("nz", 36.0, "grains upwards"),
        PER_RANK,
        RANKS,
        Parameter { name: "radius", default: 5e-3, range: Range::Positive, help: "of the largest grains, m" },
        Parameter { name: "friction", default: 0.5, range: Range::NotNegative, help: "of grains, floor and end wall" },
    ],
    build: |parameters| {
        let counts = scaling::counts(parameters, [true; 3]);
        let radius = parameters.get("radius");
        let (spacing, jitter) = (2.1 * radius, 0.049 * radius);
        let size = spacing * DVec3::from(counts.map(f64::from));
        let grains = Material { name: "grains".into(), friction: parameters.get("friction"), ..Material::default() };
        let sides = Material { name: "sides".into(), ..grains.clone() };
        let plane = |normal: DVec3, position: DVec3, material: &Material| BodySpec {
            normal: Some(normal),
            material: material.name.clone(),
            ..BodySpec::new(Shape::half_space(), position)
        };
        // A fall from the top, and as long again a few times for the run-out.
        let fall = (2.0 * size.z / 9.81).sqrt();
        Scene {
            name: SCENARIO.name.into(),
            description: DESCRIPTION.into(),
            time: Time { step: 1e-3 * (radius / 0.01).sqrt(), end: 5.0 * fall },
            output: OutputOptions { frame_interval: 0.1 * fall, ..OutputOptions::default() },
            body: vec![
                plane(DVec3::Z, DVec3::ZERO, &grains),
                plane(DVec3::X, DVec3::ZERO, &grains),
                plane(DVec3::Y, DVec3::ZERO, &sides),
                plane(-DVec3::Y, DVec3::new(0.0, size.y, 0.0), &sides),
            ],
            lattice: vec![Lattice {
                origin: DVec3::splat(0.5 * spacing),
                jitter,
                material: grains.name.clone(),
                // Unequal grains do not lock like a crystal.
                ..Lattice::cubic(counts, spacing, Radius::Uniform([0.8 * radius, radius]))
            }],
            pair: vec![PairException {
                materials: [grains.name.clone(), sides.name.clone()],
                friction: Some(0.0),
                restitution: None,
            }],
            material: vec![grains, sides],
            ..Scene::default()
        }
    },
};
