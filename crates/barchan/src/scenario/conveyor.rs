//! A belt that lifts ore from a hopper and throws it onto a heap.

use super::boxed::{count, floor, friction};
use super::offers;
use super::{Parameter, ParameterRange, Scenario};
use crate::scene::{BodySpec, Lattice, Orientation, OutputOptions, Radius, Scene, Time};
use crate::shape::Shape;
use crate::world::{Material, Motion, PairException};
use glam::{DQuat, DVec3};

const DESCRIPTION: &str = "A belt draws pieces of ore out of a hopper, carries them up between two smooth sides and throws \
    them onto a heap. The belt is a box at rest with a surface_velocity. Known answer (textbook mechanics): pieces that lie \
    on it come to its speed, if its slope is less than friction, tan(angle) < mu; at its head they leave with that speed \
    and fly parabolas. They are boxes: balls would roll back down.";

/// Thickness of belt and gate, and the length of the hopper, m.
const THICK: f64 = 0.01;
const HOPPER: f64 = 0.16;
/// The upper side of the belt at its tail, m.
const TAIL: f64 = 0.08;
/// Half the longest edge of a piece, m.
const PIECE: f64 = 0.008;
/// Gap below the gate, normal to the belt, m.
const GATE: f64 = 0.045;

pub(super) static SCENARIO: Scenario = Scenario {
    name: "conveyor",
    summary: "a belt lifts pieces of ore from a hopper and throws them onto a heap",
    parameters: &[
        Parameter { name: "speed", default: 0.8, range: ParameterRange::NotNegative, help: "of the belt, m/s" },
        Parameter { name: "angle", default: 15.0, range: ParameterRange::Degrees, help: "of the belt, degrees" },
        Parameter { name: "length", default: 0.8, range: ParameterRange::Positive, help: "of the belt, m" },
        count("ny", 4.0, "pieces across the belt"),
        count("nz", 14.0, "layers of pieces in the hopper"),
        friction(0.6),
    ],
    build: |parameters| {
        let angle = parameters.get("angle").to_radians();
        let length = parameters.get("length");
        let narrow = |name| u32::try_from(parameters.count(name)).unwrap_or(u32::MAX);
        let [ny, nz] = ["ny", "nz"].map(narrow);
        // Turned at random, no two pieces of the hopper touch.
        let spacing = 2.0 * PIECE * 3f64.sqrt();
        let width = spacing * f64::from(ny);
        let material =
            |name: &str| Material { name: name.into(), friction: parameters.get("friction"), ..Material::default() };
        let turn = DQuat::from_rotation_y(-angle);
        let (along, up) = (turn * DVec3::X, turn * DVec3::Z);
        let tail = DVec3::new(0.0, 0.0, TAIL);
        let plate = |centre: DVec3, half: DVec3| BodySpec {
            orientation: Some(turn),
            material: "belt".into(),
            motion: Motion::Fixed,
            ..BodySpec::new(Shape::cuboid(half), centre)
        };
        let belt = BodySpec {
            surface_velocity: Some((parameters.get("speed") * DVec3::X).into()),
            ..plate(tail + 0.5 * length * along - 0.5 * THICK * up, DVec3::new(0.5 * length, width, 0.5 * THICK))
        };
        // As high as the hopper is full, and more.
        let height = spacing * f64::from(nz) + 0.2;
        let gate_foot = tail + (HOPPER / angle.cos()) * along + GATE * up;
        // Smooth, so that pieces do not wedge between belt and gate.
        let gate = BodySpec {
            orientation: None,
            material: "sides".into(),
            ..plate(
                DVec3::new(gate_foot.x + 0.5 * THICK, 0.0, gate_foot.z + 0.5 * height),
                DVec3::new(0.5 * THICK, width, 0.5 * height),
            )
        };
        let wall = |normal: DVec3, place: DVec3, material: &str| BodySpec {
            normal: Some(normal),
            material: material.into(),
            ..BodySpec::new(Shape::half_space(), place)
        };
        let nx = (HOPPER / spacing).floor().max(1.0);
        let corner = DVec3::new(0.5 * HOPPER - 0.5 * spacing * (nx - 1.0), 0.5 * (spacing - width), 0.0);
        let lowest = tail + HOPPER * angle.tan() * DVec3::Z + spacing * DVec3::Z;
        let ore = Lattice {
            origin: corner + DVec3::new(0.0, 0.0, lowest.z),
            material: "ore".into(),
            orientation: Some(Orientation::Random),
            scale: Some(Radius::Uniform([0.75, 1.0])),
            ..Lattice::cubic([nx as u32, ny, nz], spacing, PIECE).of(Shape::cuboid(PIECE * DVec3::new(1.0, 0.9, 0.7)))
        };
        Scene {
            name: SCENARIO.name.into(),
            description: DESCRIPTION.into(),
            time: Time { end: 3.0, ..Time::default() },
            output: OutputOptions { frame_interval: Some(0.05), ..OutputOptions::default() },
            body: vec![
                belt,
                gate,
                BodySpec { material: "belt".into(), ..floor() },
                wall(DVec3::X, DVec3::ZERO, "sides"),
                wall(DVec3::Y, DVec3::new(0.0, -0.5 * width, 0.0), "sides"),
                wall(-DVec3::Y, DVec3::new(0.0, 0.5 * width, 0.0), "sides"),
            ],
            lattice: vec![ore],
            pair: vec![PairException {
                materials: ["ore".into(), "sides".into()],
                friction: Some(0.0),
                restitution: None,
            }],
            material: ["ore", "belt", "sides"].map(material).to_vec(),
            adjustable: vec![offers::gravity(), offers::friction()],
            ..Scene::default()
        }
    },
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::step::Simulation;

    #[test]
    fn pieces_come_to_the_speed_of_the_belt_and_end_on_a_heap() {
        let mut simulation = Simulation::from_scene(&SCENARIO.scene(&[]).unwrap()).unwrap();
        let along = DVec3::new(15f64.to_radians().cos(), 0.0, 15f64.to_radians().sin());
        let mut speeds = Vec::new();
        while simulation.world.time < 2.5 {
            simulation.step().unwrap();
            let bodies = &simulation.world.bodies;
            // Between the gate and the head.
            let rides = |i: &usize| {
                let x = bodies.position[*i];
                bodies.inverse_mass()[*i] > 0.0 && (0.45..0.7).contains(&x.x) && x.z > TAIL + x.x * along.z / along.x
            };
            speeds.extend((0..bodies.len()).filter(rides).map(|i| bodies.velocity[i].dot(along)));
        }
        let mean = speeds.iter().sum::<f64>() / speeds.len() as f64;
        let bodies = &simulation.world.bodies;
        let heap = |i: &usize| bodies.inverse_mass()[*i] > 0.0 && bodies.position[*i].x > 0.8;
        let heap = (0..bodies.len()).filter(heap).count();
        println!("{mean} m/s, {heap} of {} on the heap", bodies.len() - 6);
        assert!((mean / 0.8 - 1.0).abs() < 0.05, "{mean}");
        assert!(heap > bodies.len() / 4, "{heap}");
        assert!((0..bodies.len()).all(|i| bodies.position[i].z > -0.01), "nothing falls through");
    }
}
