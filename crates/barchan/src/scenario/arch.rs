//! A semicircular arch of stones without mortar.

use super::Scenario;
use super::boxed::{count, friction, length};
use super::offers;
use crate::scene::{BodySpec, Scene, Time};
use crate::shape::Shape;
use crate::world::{Material, Motion};
use glam::{DQuat, DVec3};
use std::f64::consts::PI;

const DESCRIPTION: &str = "Wedge-shaped stones make a semicircular arch of mean radius 1 m on two fixed springers. Known \
    answer (Milankovitch 1907, Heyman 1969): under its own weight it stands if its thickness is more than 0.1075 of its \
    mean radius, and if friction keeps stones from sliding (a coefficient of about 0.4). A thinner one folds about five \
    hinges: at the crown, which sinks, at the haunches, which move outwards, and at the springers. Finitely many joints \
    let it stand when a little thinner: of 21 stones, 0.107 stands and 0.106 falls.";

pub(super) static SCENARIO: Scenario = Scenario {
    name: "arch",
    summary: "a semicircular arch: it stands if thickness / mean radius > 0.1075 (Heyman 1969)",
    parameters: &[
        count("stones", 21.0, "of the arch"),
        length("thickness", 0.15, "in terms of the mean radius, less than 2: 0.108 stands, 0.106 falls"),
        length("depth", 0.3, "of the arch, m"),
        friction(0.8),
    ],
    build: |parameters| {
        let thickness = parameters.get("thickness").min(1.9);
        let stones = parameters.count("stones");
        let depth = 0.5 * parameters.get("depth");
        // A wedge about its place at the mean radius 1: x outwards, z along the arch.
        let turn = PI / stones as f64;
        let corner = |k: u32| {
            let side = |bit: u32| if k >> bit & 1 == 0 { -1.0 } else { 1.0 };
            let r = 1.0 + 0.5 * thickness * side(0);
            let (sine, cosine) = (0.5 * turn * side(1)).sin_cos();
            DVec3::new(r * cosine - 1.0, depth * side(2), r * sine)
        };
        let wedge = Shape::polyhedron((0..8).map(corner).collect());
        let stone = |k: u64| {
            let angle = turn * (k as f64 + 0.5);
            BodySpec {
                orientation: Some(DQuat::from_rotation_y(-angle)),
                ..BodySpec::new(wedge.clone(), DVec3::new(angle.cos(), 0.0, angle.sin()))
            }
        };
        let half = DVec3::new(0.75 * thickness, 1.25 * depth, 0.1);
        let springer = |side: f64| BodySpec {
            motion: Motion::Fixed,
            ..BodySpec::new(Shape::cuboid(half), DVec3::new(side, 0.0, -half.z))
        };
        let ground = BodySpec::new(Shape::half_space(), DVec3::Z * (-2.0 * half.z));
        Scene {
            name: SCENARIO.name.into(),
            description: DESCRIPTION.into(),
            time: Time { end: 4.0, ..Time::default() },
            body: [ground, springer(1.0), springer(-1.0)].into_iter().chain((0..stones).map(stone)).collect(),
            material: vec![Material {
                name: "stone".into(),
                friction: parameters.get("friction"),
                ..Material::default()
            }],
            adjustable: vec![offers::gravity(), offers::tilt(), offers::friction()],
            ..Scene::default()
        }
    },
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::step::Simulation;

    /// How far the keystone sinks.
    fn sinks(thickness: &str, end: f64) -> f64 {
        let mut scene = SCENARIO.scene(&[("thickness".into(), thickness.into())]).unwrap();
        // Bodies keep their places in memory.
        scene.broad_phase.reorder_interval = 0;
        assert_eq!(scene.body_count(), 24);
        let mut simulation = Simulation::from_scene(&scene).unwrap();
        let key = |simulation: &Simulation| simulation.world.bodies.position[3 + 10].z;
        let before = key(&simulation);
        while simulation.world.time < end {
            simulation.step().unwrap();
        }
        before - key(&simulation)
    }

    #[test]
    fn a_thick_arch_stands_and_a_thin_one_falls() {
        // Heyman's limit is 0.1075 for joints everywhere; 21 stones have theirs between 0.106 and 0.107.
        let stands = sinks("0.108", 3.0);
        assert!(stands.abs() < 1e-3, "{stands}");
        let falls = sinks("0.106", 3.0);
        assert!(falls > 0.1, "{falls}");
    }
}
