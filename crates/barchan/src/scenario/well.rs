//! Spheres and boxes fall into a well of fixed boxes (S2, figure 2).

use super::Scenario;
use super::boxed::{count, count_from, fall, floor, friction, length};
use super::offers;
use crate::scene::{BodySpec, Fill, Kind, Radius, Scene, Time};
use crate::shape::Shape;
use crate::world::{Material, Motion};
use glam::{DQuat, DVec3};
use std::f64::consts::PI;

const DESCRIPTION: &str = "Spheres and boxes, as many of one as of the other, fall into a round well that is built of fixed \
    boxes, course upon course. Figure 2 of Iglberger and Rüde, Massively parallel rigid body dynamics simulations: 500 000 \
    bodies and 3 000 fixed boxes (bodies = 500000, around = 60, courses = 50). The paper gives no sizes. The well is so \
    wide that the bodies fill about two thirds of it. Known answer: they come to rest in it, and none leaves it; bodies at \
    rest take 55 to 65 % of the room that they have.";

/// The part of the room that bodies take which lie loosely.
const LOOSE: f64 = 0.6;
/// How full the well becomes.
const FULL: f64 = 0.65;
/// The part of the room that they take while they fall.
const DILUTE: f64 = 0.18;

pub(super) static SCENARIO: Scenario = Scenario {
    name: "well",
    summary: "spheres and boxes fall into a well of fixed boxes (Iglberger and Rüde, figure 2)",
    parameters: &[
        count("bodies", 2000.0, "spheres and boxes together"),
        count_from("around", 3, 20.0, "boxes of a course of the well, at least 3"),
        count("courses", 10.0, "of the well, one upon the other"),
        length("radius", 0.01, "of the largest spheres, m"),
        friction(0.4),
    ],
    build: |parameters| {
        let radius = parameters.get("radius");
        let bodies = parameters.count("bodies");
        let around = parameters.count("around") as u32;
        let courses = parameters.count("courses") as u32;
        // The mean of both kinds, of 0.7 to 1 of the largest size.
        let edges = DVec3::new(1.0, 0.8, 0.65) * radius;
        let volume = bodies as f64 * 0.5 * (4.0 / 3.0 * PI * radius.powi(3) + 8.0 * edges.element_product()) * 0.63;
        // A brick is as long as it must be, half as thick and half as high.
        let tangent = (PI / f64::from(around)).tan();
        let height_of_one = f64::from(courses) * tangent;
        let inner = (volume / (LOOSE * FULL * PI * height_of_one)).cbrt().max(6.0 * radius);
        let half = DVec3::new(0.5, 1.0, 0.5) * (inner * tangent);
        let brick = |course: u32, k: u32| {
            let angle = 2.0 * PI * (f64::from(k) + 0.5 * f64::from(course % 2)) / f64::from(around);
            let out = DVec3::new(angle.cos(), angle.sin(), 0.0) * (inner + half.x);
            BodySpec {
                motion: Motion::Fixed,
                orientation: Some(DQuat::from_rotation_z(angle)),
                ..BodySpec::new(Shape::cuboid(half), out + DVec3::Z * (half.z * (2.0 * f64::from(course) + 1.0)))
            }
        };
        let well = (0..courses).flat_map(|course| (0..around).map(move |k| brick(course, k)));
        // A column that has room within the well, from just above its floor.
        let wide = 0.68 * inner;
        let column = (volume / (DILUTE * 4.0 * wide * wide)).max(8.0 * radius);
        let sizes = [0.7, 1.0];
        let kinds = vec![
            Kind::spheres(Radius::Uniform(sizes.map(|f| f * radius))),
            Kind { scale: Some(Radius::Uniform(sizes)), ..Kind::of(Shape::cuboid(edges)) },
        ];
        let low = DVec3::new(-wide, -wide, radius);
        let high = DVec3::new(wide, wide, radius + column);
        Scene {
            name: SCENARIO.name.into(),
            description: DESCRIPTION.into(),
            time: Time { end: 1.3 * fall(column) + 0.6, ..Time::default() },
            body: std::iter::once(floor()).chain(well).collect(),
            fill: vec![Fill::new(low, high, bodies, radius).mixed(kinds)],
            material: vec![Material {
                name: "stones".into(),
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

    #[test]
    fn bodies_stay_in_the_well() {
        let set = [("bodies", "60"), ("around", "10"), ("courses", "6")].map(|(k, v)| (k.into(), v.into()));
        let scene = SCENARIO.scene(&set).unwrap();
        assert_eq!(scene.body_count(), 1 + 60 + 60);
        let mut simulation = Simulation::from_scene(&scene).unwrap();
        while simulation.world.time < scene.time.end {
            simulation.step().unwrap();
        }
        let bodies = &simulation.world.bodies;
        let brick = scene.body[1].position;
        let rim = brick.x.hypot(brick.y) / (PI / 10.0).cos();
        for i in (0..bodies.len()).filter(|&i| bodies.inverse_mass()[i] > 0.0) {
            let x = bodies.position[i];
            assert!(x.z > 0.0 && x.x.hypot(x.y) < rim, "{x}");
            assert!(x.z < 12.0 * brick.z, "{x} lies higher than the well");
        }
    }

    #[test]
    fn the_figure_has_half_a_million_bodies() {
        let set = [("bodies", "500000"), ("around", "60"), ("courses", "50")].map(|(k, v)| (k.into(), v.into()));
        let scene = SCENARIO.scene(&set).unwrap();
        assert_eq!(scene.body_count(), 1 + 3000 + 500_000);
    }
}
