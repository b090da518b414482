//! Grains that flow down a channel with rough walls.

use super::offers;
use super::{Parameter, ParameterRange, Scenario};
use crate::scene::{BodySpec, Lattice, OutputOptions, Radius, Scene, Time};
use crate::shape::Shape;
use crate::world::{Material, Motion};
use glam::DVec3;

const DESCRIPTION: &str = "Grains flow down a chute, a channel with a rough bed and walls that rub: z is normal to the bed, \
    which falls towards +x, and space repeats itself along x. Known answer (Taberlet and others 2003): walls hold what is \
    deep, and only a layer of the depth h flows at the top, with tan(angle) = m + w h/W for the width W of the channel, \
    friction w of its walls and m of the grains among themselves: the steeper the chute, the deeper the flow. `slope` is \
    the same without walls.";

/// The distance of grains at the start, in the largest diameter; shifts at random take up what is between them, for rows
/// in line would slide over each other.
const LOOSE: f64 = 1.1;

pub(super) static SCENARIO: Scenario = Scenario {
    name: "chute",
    summary: "grains flow down a rough channel: walls hold what lies deep",
    parameters: &[
        Parameter { name: "angle", default: 30.0, range: ParameterRange::Degrees, help: "of the chute, degrees" },
        Parameter { name: "nx", default: 10.0, range: ParameterRange::Count, help: "grains along the chute" },
        Parameter { name: "ny", default: 8.0, range: ParameterRange::Count, help: "grains across it" },
        Parameter { name: "nz", default: 12.0, range: ParameterRange::Count, help: "layers" },
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
        let width = spacing * f64::from(ny);
        let wall = |normal: DVec3, y: f64| BodySpec {
            normal: Some(normal),
            material: material.name.clone(),
            ..BodySpec::new(Shape::half_space(), DVec3::new(0.0, y, 0.0))
        };
        let bed = Lattice {
            origin: DVec3::new(0.5 * spacing, 0.5 * spacing, 0.0),
            motion: Motion::Fixed,
            jitter: 0.5 * spacing - radius,
            material: material.name.clone(),
            ..Lattice::cubic([nx, ny, 1], spacing, Radius::Uniform([0.6 * radius, radius]))
        };
        let layers = Lattice {
            origin: DVec3::new(0.6 * spacing, 0.5 * spacing, spacing),
            jitter: 0.5 * spacing - radius,
            material: material.name.clone(),
            ..Lattice::cubic([nx, ny, nz], spacing, Radius::Uniform([0.8 * radius, radius]))
        };
        let body = vec![wall(DVec3::Y, 0.0), wall(-DVec3::Y, width)];
        let mut scene = Scene {
            name: SCENARIO.name.into(),
            description: DESCRIPTION.into(),
            gravity: 9.81 * DVec3::new(angle.sin(), 0.0, -angle.cos()),
            time: Time { end: 3.0, ..Time::default() },
            output: OutputOptions { frame_interval: Some(0.1), ..OutputOptions::default() },
            body,
            lattice: vec![bed, layers],
            material: vec![material],
            adjustable: vec![offers::gravity(), offers::tilt(), offers::friction()],
            ..Scene::default()
        };
        scene.domain.min = Some(DVec3::new(0.0, 0.0, -spacing));
        scene.domain.max = Some(DVec3::new(spacing * f64::from(nx), width, spacing * (2.0 * f64::from(nz) + 2.0)));
        scene.domain.periodic = [true, false, false];
        scene
    },
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::step::Simulation;

    /// The mean speed along the chute of the upper and of the lower half of the grains after a while.
    fn speeds(angle: &str) -> [f64; 2] {
        let set = [("angle", angle), ("nx", "6"), ("ny", "4"), ("nz", "10")];
        let set = set.map(|(key, value)| (key.to_owned(), value.to_owned()));
        let mut simulation = Simulation::from_scene(&SCENARIO.scene(&set).unwrap()).unwrap();
        while simulation.world.time < 2.0 {
            simulation.step().unwrap();
        }
        let bodies = &simulation.world.bodies;
        let mut grains: Vec<[f64; 2]> = (0..bodies.len())
            .filter(|&i| bodies.inverse_mass()[i] > 0.0)
            .map(|i| [bodies.position[i].z, bodies.velocity[i].x])
            .collect();
        grains.sort_by(|a, b| a[0].total_cmp(&b[0]));
        let mean = |part: &[[f64; 2]]| part.iter().map(|grain| grain[1]).sum::<f64>() / part.len() as f64;
        let (low, high) = grains.split_at(grains.len() / 2);
        [mean(high), mean(low)]
    }

    #[test]
    fn what_is_on_top_flows_and_what_is_deep_creeps() {
        let [high, low] = speeds("32");
        let [gentle, _] = speeds("22");
        println!("{high} above {low}, {gentle} on a gentle slope");
        assert!(high > 0.02 && high > 3.0 * low.abs(), "{high} above {low}");
        assert!(gentle < 0.1 * high, "{gentle} {high}");
    }
}
