//! Grains on a rough slope, which rest or flow.

use super::offers;
use super::{Parameter, ParameterRange, Scenario};
use crate::scene::{Lattice, OutputOptions, Radius, Scene, Time};
use crate::world::{Material, Motion};
use glam::DVec3;

const DESCRIPTION: &str = "A layer of grains on a rough slope, periodic along and across it: z is normal to the slope, \
    which falls towards +x. Known answer (GDR MiDi 2004, Jop, Forterre and Pouliquen 2006): below an angle of about 21 \
    degrees it comes to rest, above it it flows, at a speed that grows with the angle. Friction of grains hardly \
    matters, for they roll.";

/// The distance of grains at the start, in the largest diameter.
const LOOSE: f64 = 1.01;

pub(super) static SCENARIO: Scenario = Scenario {
    name: "slope",
    summary: "a layer of grains on a rough slope: rests at 18 degrees, flows at 26",
    parameters: &[
        Parameter { name: "angle", default: 26.0, range: ParameterRange::Degrees, help: "of the slope, degrees" },
        Parameter { name: "nx", default: 10.0, range: ParameterRange::Count, help: "grains along the slope" },
        Parameter { name: "ny", default: 8.0, range: ParameterRange::Count, help: "grains across it" },
        Parameter { name: "nz", default: 10.0, range: ParameterRange::Count, help: "layers" },
        super::grains::RADIUS,
        super::grains::friction(0.5),
    ],
    build: |parameters| {
        let radius = parameters.get("radius");
        let spacing = 2.0 * LOOSE * radius;
        let narrow = |name| u32::try_from(parameters.count(name)).unwrap_or(u32::MAX);
        let [nx, ny, nz] = ["nx", "ny", "nz"].map(narrow);
        let angle = parameters.get("angle").to_radians();
        let material = Material { name: "grains".into(), friction: parameters.get("friction"), ..Material::default() };
        let floor = Lattice {
            origin: DVec3::new(0.5 * spacing, 0.5 * spacing, 0.0),
            motion: Motion::Fixed,
            material: material.name.clone(),
            ..Lattice::cubic([nx, ny, 1], DVec3::splat(spacing), Radius::Uniform([0.7 * radius, radius]))
        };
        let layer = Lattice {
            origin: DVec3::new(0.6 * spacing, 0.4 * spacing, spacing),
            material: material.name.clone(),
            ..Lattice::cubic([nx, ny, nz], DVec3::splat(spacing), Radius::Uniform([0.8 * radius, radius]))
        };
        let mut scene = Scene {
            name: SCENARIO.name.into(),
            description: DESCRIPTION.into(),
            gravity: 9.81 * DVec3::new(angle.sin(), 0.0, -angle.cos()),
            time: Time { end: 3.0, ..Time::default() },
            output: OutputOptions { frame_interval: Some(0.1), ..OutputOptions::default() },
            lattice: vec![floor, layer],
            material: vec![material],
            adjustable: vec![offers::gravity(), offers::tilt(), offers::friction()],
            ..Scene::default()
        };
        let size = spacing * DVec3::new(f64::from(nx), f64::from(ny), 2.0 * f64::from(nz) + 2.0);
        scene.domain.min = Some(DVec3::new(0.0, 0.0, -spacing));
        scene.domain.max = Some(size);
        scene.domain.periodic = [true, true, false];
        scene
    },
};
