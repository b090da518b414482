//! Grains on a plate that is shaken by a formula.

use super::offers;
use super::{Parameter, ParameterRange, Scenario};
use crate::scene::{BodySpec, Lattice, OutputOptions, Radius, Scene, Time};
use crate::shape::{Container, Face, Shape};
use crate::util::formula::{Formula, VectorFormula};
use crate::world::{Material, Motion};
use glam::DVec3;

const DESCRIPTION: &str = "A tray shakes grains up and down, ever more: z = A smooth(t/ramp) sin(2π f t), a formula. Known \
    answer (textbook mechanics): grains rest on the tray until its largest acceleration exceeds gravity, and leave it in \
    every cycle from then on; by default it grows to 3.0 times gravity.";

pub(super) static SCENARIO: Scenario = Scenario {
    name: "vibrating-plate",
    summary: "grains on a tray whose shaking, a formula, grows to three times gravity",
    parameters: &[
        Parameter {
            name: "nx",
            default: 12.0,
            range: ParameterRange::Count,
            help: "grains along each side of the tray",
        },
        Parameter { name: "nz", default: 4.0, range: ParameterRange::Count, help: "layers of grains" },
        Parameter { name: "amplitude", default: 0.00075, range: ParameterRange::NotNegative, help: "at last, m" },
        Parameter { name: "frequency", default: 31.5, range: ParameterRange::NotNegative, help: "of the shake, 1/s" },
        Parameter { name: "ramp", default: 1.0, range: ParameterRange::Positive, help: "until it is full, s" },
        super::grains::RADIUS,
        super::grains::friction(0.5),
    ],
    build: |parameters| {
        let radius = parameters.get("radius");
        let narrow = |name| u32::try_from(parameters.count(name)).unwrap_or(u32::MAX);
        let [nx, nz] = ["nx", "nz"].map(narrow);
        let spacing = 2.02 * radius;
        let [width, depth] = [nx, nz].map(|n| f64::from(n) * spacing);
        // Walls as high as the grains, and as much again for those that hop.
        let half = DVec3::new(0.5 * width, 0.5 * width, depth + 4.0 * radius);
        let shake = format!(
            "{:?}*smooth(t/{:?})*sin(2*pi*{:?}*t)",
            parameters.get("amplitude"),
            parameters.get("ramp"),
            parameters.get("frequency")
        );
        let still = || Formula::from(0.0);
        let shake = shake.parse().expect("a formula made of numbers");
        let friction = parameters.get("friction");
        let material = Material { name: "grains".into(), friction, restitution: 0.3, ..Material::default() };
        let tray = Container { half_extents: half, open: vec![Face::HighZ] };
        Scene {
            name: SCENARIO.name.into(),
            description: DESCRIPTION.into(),
            time: Time { end: 2.0, ..Time::default() },
            output: OutputOptions { frame_interval: Some(0.01), ..OutputOptions::default() },
            body: vec![BodySpec {
                motion: Motion::Kinematic,
                path: Some(VectorFormula([still(), still(), shake])),
                material: material.name.clone(),
                ..BodySpec::new(Shape::Container(tray.into()), DVec3::new(0.0, 0.0, half.z))
            }],
            lattice: vec![Lattice {
                origin: DVec3::new(0.5 * (spacing - width), 0.5 * (spacing - width), radius),
                material: material.name.clone(),
                ..Lattice::cubic([nx, nx, nz], spacing, Radius::Uniform([0.8 * radius, radius]))
            }],
            material: vec![material],
            adjustable: vec![offers::gravity(), offers::tilt(), offers::friction()],
            ..Scene::default()
        }
    },
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::step::Simulation;

    /// One grain, which does not rattle: on the tray while it shakes gently, and off it in every cycle later.
    #[test]
    fn grains_leave_the_tray_when_its_acceleration_exceeds_gravity() {
        let set = [("nx", "1"), ("nz", "1")].map(|(key, value)| (key.to_owned(), value.to_owned()));
        let mut simulation = Simulation::from_scene(&SCENARIO.scene(&set).unwrap()).unwrap();
        let [mut early, mut late] = [0.0f64; 2];
        while simulation.world.time < 1.5 {
            simulation.step().unwrap();
            let bodies = &simulation.world.bodies;
            let [tray, grain] = [0, 1].map(|id| bodies.index_of(id).unwrap());
            let Shape::Container(walls) = &bodies.shape()[tray] else { panic!("a tray") };
            let floor = bodies.position[tray].z - walls.half_extents.z;
            let height = bodies.position[grain].z - floor - bodies.shape()[grain].size();
            // It falls onto the tray at first. The acceleration passes gravity at the time 0.38.
            match simulation.world.time {
                t if (0.15..0.3).contains(&t) => early = early.max(height),
                t if t > 1.0 => late = late.max(height),
                _ => {}
            }
        }
        assert!(early < 2e-5, "{early}");
        assert!(late > 5e-4, "{late}");
    }
}
