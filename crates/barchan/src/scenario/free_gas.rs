//! A gas of spheres in a closed box (S2 section 6).

use super::scaling::{self, PER_RANK, RANKS, size};
use super::{Parameter, Range, Scenario};
use crate::scene::{BodySpec, Lattice, OutputOptions, Scene, Time};
use crate::shape::Shape;
use crate::world::Material;
use glam::DVec3;
use std::f64::consts::PI;

const DESCRIPTION: &str = "Spheres move at random in a closed box without external forces; they fill 1 % of it and \
    start on a grid. Set-up of section 6 of Iglberger and Rüde, Massively parallel rigid body dynamics simulations: \
    262 144 spheres on a grid of 128 × 128 × 16 for strong scaling (nx, ny, nz), blocks of 25³ or 50³ spheres a rank \
    for weak scaling (per_rank), 1 000 steps. The paper gives no sizes and speeds: here the radius is 1 cm \
    and the speed up to 0.1 m/s along each axis. Known answer (conservation of momentum): collisions \
    between spheres leave the momentum as it is, only walls change it.";

pub(super) static SCENARIO: Scenario = Scenario {
    name: "free-gas",
    summary: "spheres move at random in a closed box, 1 % by volume (Iglberger and Rüde, 6)",
    parameters: &[
        size("nx", 25.0, "spheres along x"),
        size("ny", 25.0, "spheres along y"),
        size("nz", 25.0, "spheres along z"),
        PER_RANK,
        RANKS,
        Parameter { name: "fraction", default: 0.01, range: Range::Positive, help: "of the box, by volume" },
        Parameter { name: "speed", default: 0.1, range: Range::NotNegative, help: "largest along each axis, m/s" },
        Parameter { name: "restitution", default: 1.0, range: Range::Fraction, help: "coefficient of restitution" },
        Parameter { name: "friction", default: 0.0, range: Range::NotNegative, help: "coefficient of friction" },
    ],
    build: |parameters| {
        let counts = scaling::counts(parameters, [true; 3]);
        let radius = 0.01;
        let spacing = radius * (4.0 / 3.0 * PI / parameters.get("fraction")).cbrt();
        let material = Material {
            name: "beads".into(),
            friction: parameters.get("friction"),
            restitution: parameters.get("restitution"),
            ..Material::default()
        };
        let half = 0.5 * spacing * DVec3::from(counts.map(f64::from));
        let mut scene = Scene {
            name: SCENARIO.name.into(),
            description: DESCRIPTION.into(),
            gravity: DVec3::ZERO,
            time: Time { step: 1e-3, end: 1.0 },
            output: OutputOptions { frame_interval: 0.05, ..OutputOptions::default() },
            body: vec![BodySpec {
                material: material.name.clone(),
                ..BodySpec::new(Shape::container(half), DVec3::ZERO)
            }],
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
        scene
    },
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_box_holds_as_much_as_it_says_and_grows_with_the_ranks() {
        let pairs = [("per_rank", "3"), ("ranks", "12"), ("fraction", "0.02")];
        let scene = SCENARIO.scene(&pairs.map(|(k, v)| (k.into(), v.into()))).unwrap();
        assert_eq!((scene.lattice[0].counts, scene.body_count()), ([9, 6, 6], 1 + 27 * 12));
        let size = scene.domain.max.unwrap() - scene.domain.min.unwrap();
        let filled = 27.0 * 12.0 * 4.0 / 3.0 * PI * 1e-6 / size.element_product();
        assert!((filled - 0.02).abs() < 1e-12, "{filled}");
        let world = scene.build().unwrap();
        let inside = |x: &DVec3| (x.abs() + 0.01).cmplt(0.5 * size).all();
        assert!(world.bodies.position.iter().all(inside));
        let crowded = SCENARIO.scene(&[("fraction".into(), "0.6".into())]).unwrap_err().to_string();
        assert!(crowded.contains("spheres would overlap"), "{crowded}");
    }
}
