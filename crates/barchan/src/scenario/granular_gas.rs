//! A cooling granular gas (S4 7.2.1), of spheres.

use super::scaling::{self, PER_RANK, RANKS, size};
use super::{Parameter, Range, Scenario};
use crate::scene::{BodySpec, Lattice, OutputOptions, Scene, Time};
use crate::shape::Shape;
use crate::world::Material;
use glam::DVec3;

const DESCRIPTION: &str = "A granular gas cools down: spheres 1 cm in diameter start on a grid of 1.1 cm with random \
    velocities up to 0.35 m/s, in a box or, with periodic = 1, in a cell that repeats itself. Set-up of section 7.2.1 \
    of Preclik and Rüde, Ultrascale simulations of non-smooth granular dynamics, where composite particles fill 23 % \
    of the box (3.8 % on a grid of 2 cm); whole spheres fill 39 % (6.5 %). Steps of 100 µs, 10 sweeps with ω = 0.75, \
    1 000 steps, 25³ or 10³ particles a process. Known answer: kinetic energy only falls, and in the periodic cell \
    momentum stays as it is.";

pub(super) static SCENARIO: Scenario = Scenario {
    name: "granular-gas",
    summary: "a granular gas cools down, in a box or a periodic cell (Preclik and Rüde, 7.2.1)",
    parameters: &[
        size("nx", 25.0, "spheres along x"),
        size("ny", 25.0, "spheres along y"),
        size("nz", 25.0, "spheres along z"),
        PER_RANK,
        RANKS,
        Parameter { name: "spacing", default: 0.011, range: Range::Positive, help: "of the grid, m" },
        Parameter { name: "speed", default: 0.2, range: Range::NotNegative, help: "largest along each axis, m/s" },
        Parameter { name: "friction", default: 0.1, range: Range::NotNegative, help: "coefficient of friction" },
        Parameter { name: "periodic", default: 0.0, range: Range::Flag, help: "1 for a periodic cell without walls" },
    ],
    build: |parameters| {
        let counts = scaling::counts(parameters, [true; 3]);
        let (radius, spacing) = (0.005, parameters.get("spacing"));
        let material = Material { name: "grains".into(), friction: parameters.get("friction"), ..Material::default() };
        let half = 0.5 * spacing * DVec3::from(counts.map(f64::from));
        let periodic = parameters.flag("periodic");
        let walls = BodySpec { material: material.name.clone(), ..BodySpec::new(Shape::container(half), DVec3::ZERO) };
        let mut scene = Scene {
            name: SCENARIO.name.into(),
            description: DESCRIPTION.into(),
            gravity: DVec3::ZERO,
            time: Time { step: 1e-4, end: 0.1 },
            output: OutputOptions { frame_interval: 5e-3, ..OutputOptions::default() },
            body: if periodic { Vec::new() } else { vec![walls] },
            lattice: vec![Lattice {
                origin: 0.5 * spacing - half,
                velocity_jitter: parameters.get("speed"),
                material: material.name.clone(),
                ..Lattice::cubic(counts, spacing, radius)
            }],
            material: vec![material],
            ..Scene::default()
        };
        (scene.domain.min, scene.domain.max) = (Some(-half), Some(half));
        scene.domain.periodic = [periodic; 3];
        scene
    },
};

#[cfg(test)]
mod tests {
    use super::*;

    fn scene(pairs: &[(&str, &str)]) -> Scene {
        SCENARIO.scene(&pairs.iter().map(|&(k, v)| (k.into(), v.into())).collect::<Vec<_>>()).unwrap()
    }

    #[test]
    fn walls_or_periods_enclose_the_gas() {
        let boxed = scene(&[("nx", "5"), ("ny", "6"), ("nz", "7")]);
        assert_eq!((boxed.body_count(), boxed.domain.periodic), (211, [false; 3]));
        let world = boxed.build().unwrap();
        let fastest = world.bodies.velocity.iter().map(|v| v.length()).fold(0.0, f64::max);
        assert!((0.25..0.2 * 3.0f64.sqrt()).contains(&fastest), "{fastest}");
        let endless = scene(&[("per_rank", "5"), ("ranks", "4"), ("periodic", "1")]);
        assert_eq!((endless.body_count(), endless.domain.periodic), (500, [true; 3]));
        // The grid goes on across the borders.
        assert!((endless.lattice[0].closest_image(&endless.periods()) - 0.011).abs() < 1e-12);
        assert_eq!(endless.build().unwrap().bodies.len(), 500);
    }
}
