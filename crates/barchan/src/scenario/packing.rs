//! A random packing of equal spheres, settled from a dilute cloud.

use super::offers;
use super::{Parameter, ParameterRange, Scenario};
use crate::scene::{BodySpec, Fill, OutputOptions, Scene, Time};
use crate::shape::{Container, Face, Shape};
use crate::world::Material;
use barchan_cone::solver::SolverOptions;
use glam::DVec3;
use std::f64::consts::PI;
use std::sync::Arc;

const DESCRIPTION: &str = "Equal spheres fall from a dilute random cloud and settle to a random packing in a box 12 \
    diameters wide. Known answer (Silbert 2010): without friction a density of about 0.64 with about 6 contacts a \
    sphere, with large friction about 0.55 with about 4. Walls order the spheres next to them: measure some diameters \
    away from them.";

pub(super) static SCENARIO: Scenario = Scenario {
    name: "packing",
    summary: "a random packing of equal spheres: density and contacts depend on friction",
    parameters: &[
        Parameter { name: "bodies", default: 1000.0, range: ParameterRange::Count, help: "how many spheres" },
        Parameter { name: "friction", default: 0.5, range: ParameterRange::NotNegative, help: "0 for a close packing" },
    ],
    build: |parameters| {
        let bodies = parameters.count("bodies");
        let radius = 0.01;
        let width = 24.0 * radius;
        // A cloud of 20 % by volume, at least as high as a few spheres.
        let volume = bodies as f64 * 4.0 / 3.0 * PI * f64::powi(radius, 3);
        let height = (volume / 0.2 / (width * width)).max(6.0 * radius);
        let half = DVec3::new(0.5 * width, 0.5 * width, 0.5 * height);
        let centre = DVec3::new(0.0, 0.0, half.z);
        let walls = Shape::Container(Arc::new(Container { half_extents: half, open: vec![Face::HighZ] }));
        let material = Material { name: "beads".into(), friction: parameters.get("friction"), ..Material::default() };
        Scene {
            name: SCENARIO.name.into(),
            description: DESCRIPTION.into(),
            // The fall takes √(2·height/g), settling a while.
            time: Time { step: 5e-4.into(), end: 2.0, ..Time::default() },
            output: OutputOptions { frame_interval: Some(0.05), ..OutputOptions::default() },
            // Contacts are counted here: forces must be sharper than flow needs them.
            solver: SolverOptions { tolerance: 1e-2, ..SolverOptions::default() },
            body: vec![BodySpec { material: material.name.clone(), ..BodySpec::new(walls, centre) }],
            fill: vec![Fill {
                material: material.name.clone(),
                ..Fill::new(centre - half, centre + half, bodies, radius)
            }],
            material: vec![material],
            adjustable: vec![offers::gravity(), offers::tilt(), offers::friction()],
            ..Scene::default()
        }
    },
};
